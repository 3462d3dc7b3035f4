// Below each page or section that a search found, the paragraph of it that has most of the words asked for.
//
// Sphinx would quote what stands around the last of them, which may be a button's name or a list of contents.
(() => {
  "use strict";
  const LONGEST = 260; // characters of a quotation
  const PARAGRAPHS = "p, li, dd, figcaption, caption";
  const list = document.getElementById("search-results");
  const asked = scorerWords(new URLSearchParams(document.location.search).get("q") ?? "");
  const pages = new Map();

  const pageAt = (address) => {
    if (!pages.has(address)) {
      const parsed = fetch(address).then((answer) => answer.text())
        .then((text) => new DOMParser().parseFromString(text, "text/html"));
      pages.set(address, parsed);
    }
    return pages.get(address);
  };

  const textOf = (element) => element.textContent.replace(/\s+/g, " ").trim();

  const shared = (text) => {
    const words = scorerWords(text);
    return asked.filter((word) => words.some((other) => scorerSame(word, other))).length;
  };

  function quotation(section) {
    const texts = [...section.querySelectorAll(PARAGRAPHS)].map(textOf).filter((text) => text !== "");
    const counts = texts.map(shared);
    const text = texts[counts.indexOf(Math.max(...counts))] ?? "";
    if (text.length <= LONGEST) return text;
    const words = text.split(" ");
    const first = words.findIndex((word) => shared(word) > 0);
    const start = words.slice(0, Math.max(first - 15, 0)).join(" ").length;
    const end = text.lastIndexOf(" ", start + LONGEST);
    return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  }

  async function quote(item) {
    const link = item.querySelector("a");
    const page = await pageAt(link.href.split("#")[0]);
    const section = page.getElementById(decodeURIComponent(link.hash.slice(1)));
    const text = quotation(section ?? page.querySelector("article"));
    if (text === "") return; // a section of figures and tables alone
    const paragraph = document.createElement("p");
    paragraph.className = "context";
    paragraph.textContent = text;
    item.append(paragraph);
  }

  if (list === null || document.location.protocol === "file:") return; // a page from disk may not read others
  const nearTheScreen = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) continue;
      nearTheScreen.unobserve(target);
      quote(target);
    }
  }, { rootMargin: "400px" });
  const observeItems = () => {
    list.querySelectorAll("ul.search > li:not([data-quoted])").forEach((item) => {
      item.dataset.quoted = "";
      nearTheScreen.observe(item);
    });
  };
  new MutationObserver(observeItems).observe(list, { childList: true, subtree: true });
  observeItems(); // of a search that was quicker than this script
})();
