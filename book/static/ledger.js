// Filters the picture of the ledger by verdict: the key becomes a group of buttons. Without a script all rows are shown.
(() => {
  "use strict";
  for (const picture of document.querySelectorAll(".sense7-ledger-picture")) {
    const rows = [...picture.querySelectorAll(":scope > section li")];
    const buttons = [];
    const choose = (verdict) => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
      for (const row of rows) row.hidden = verdict !== "" && row.dataset.verdict !== verdict;
      for (const part of picture.querySelectorAll(":scope > section")) part.hidden = !part.querySelector("li:not([hidden])");
    };
    const add = (item, verdict) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.verdict = verdict;
      button.append(...item.childNodes);
      button.addEventListener("click", () => choose(button.getAttribute("aria-pressed") === "true" ? "" : verdict));
      item.append(button);
      buttons.push(button);
    };
    const key = picture.querySelector(".sense7-verdicts");
    for (const item of [...key.children]) add(item, item.dataset.verdict);
    const all = document.createElement("li");
    all.append(`all (${rows.length})`);
    key.prepend(all);
    add(all, "");
    choose("");
  }
})();
