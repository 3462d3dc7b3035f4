// Long tables of results are sorted by the heads of their columns: ascending, descending, and as they were.
//
// Numbers are compared as numbers, whether they are shown as 1,234, 38.1%, "0.52 [0.40, 0.61]" or "< 0.001"; all
// else as text in which 10 comes after 9. What is missing is last in both directions. Only rows move: every cell
// stays the node that it was. On a phone each row of a table that is wider than the screen is a card.
(() => {
  "use strict";
  const LONGEST_UNSORTED = 10;
  const NUMBER = /^([<>≤≥]?)\s*([-+−]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+(?:e[-+]?\d+)?)(%?)(?=$|[\s[(;])/i;
  const MISSING = /^$|^[-–—]$|^(?:not available|none|nan)$/i;
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

  document.querySelectorAll("article table.dataframe").forEach((table) => {
    const rows = [...(table.tBodies[0]?.rows ?? [])];
    if (rows.length <= LONGEST_UNSORTED || table.tHead?.rows.length !== 1) return;
    const heads = [...table.tHead.rows[0].cells];
    if (rows.some((row) => row.cells.length !== heads.length)) return;
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = Object.assign(document.createElement("button"), { type: "button", className: "sense7-sort" });
      button.append(...head.childNodes);
      button.title = "Sort: ascending, descending, as it was";
      button.addEventListener("click", () => {
        const order = NEXT[head.ariaSort ?? "none"];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (order !== "none") head.ariaSort = order;
        table.tBodies[0].append(...sorted(rows, column, order));
      });
      head.append(button);
    });
  });

  function sorted(rows, column, order) {
    if (order === "none") return rows;
    const texts = new Map(rows.map((row) => [row, row.cells[column].textContent.trim()]));
    const known = rows.filter((row) => !MISSING.test(texts.get(row)));
    const numbers = new Map(known.map((row) => [row, numberOf(texts.get(row))]));
    const ofNumbers = known.every((row) => numbers.get(row));
    const collator = ofNumbers ? null : new Intl.Collator("en", { numeric: true });
    const compare = ofNumbers
      ? (a, b) => numbers.get(a)[0] - numbers.get(b)[0] || numbers.get(a)[1] - numbers.get(b)[1]
      : (a, b) => collator.compare(texts.get(a), texts.get(b));
    const sign = order === "ascending" ? 1 : -1;
    return [...known.sort((a, b) => sign * compare(a, b)), ...rows.filter((row) => MISSING.test(texts.get(row)))];
  }

  // The text of a conversation stands in the explorer.
  document.querySelectorAll("article table.dataframe").forEach((table) => {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => head.textContent.trim());
    const column = heads.indexOf("conversation in full");
    for (const row of column < 0 ? [] : table.tBodies[0].rows) {
      const name = row.cells[column].textContent.trim();
      if (!name) continue;
      const link = document.createElement("a");
      link.href = `${document.documentElement.dataset.content_root}book/explorer.html#conversation=${encodeURIComponent(name)}`;
      link.append(...row.cells[column].childNodes);
      row.cells[column].append(link);
    }
  });

  // What makes a card of a row is in companion.css, for narrow screens alone. The roles are those that a table loses
  // where it is laid out otherwise.
  const ROLES = { table: "table", thead: "rowgroup", tbody: "rowgroup", tr: "row", th: "rowheader", td: "cell" };
  const makeCards = (table) => {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
    for (const part of [table, ...table.querySelectorAll(Object.keys(ROLES).join())]) part.role = ROLES[part.localName];
    for (const head of table.tHead.rows[0].cells) head.role = "columnheader";
    for (const row of table.tBodies[0].rows) {
      [...row.cells].slice(1).forEach((cell, column) => { cell.dataset.head = heads[column + 1]; });
    }
    table.classList.add("sense7-cards");
  };
  const narrow = matchMedia("(max-width: 576px)");
  const watch = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      if (!narrow.matches || target.scrollWidth <= target.parentElement.clientWidth + 1) continue;
      watch.unobserve(target);
      makeCards(target);
    }
  });
  document.querySelectorAll("article table.table:not([role])").forEach((table) => {
    const isPlain = table.tHead?.rows.length === 1 && table.tBodies[0]?.rows[0]?.cells.length > 2;
    if (isPlain && !table.closest(".sense7-conversation")) watch.observe(table);
  });

  // The number that a text begins with, and on which side of it the value lies: "< 0.001" is below 0.001.
  function numberOf(text) {
    const [, bound, sign, digits, percent] = NUMBER.exec(text) ?? [];
    if (!digits) return null;
    const size = Number(digits.replaceAll(",", "")) / (percent ? 100 : 1);
    return [sign && sign !== "+" ? -size : size, { "<": -1, ">": 1 }[bound] ?? 0];
  }
})();
