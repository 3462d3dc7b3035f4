// The way to the same page in the other editions that lie beside this one.
//
// Their list, ../../editions.js as seen from the edition's html/, belongs to no edition: every build
// rewrites it, and the pages stay as they are. Where a book lies elsewhere, on a web site or copied out,
// nothing is asked for and nothing is shown.
(() => {
  "use strict";
  const name = document.currentScript.dataset.edition.normalize("NFC");
  const root = new URL(document.documentElement.dataset.content_root, document.location.href);
  const path = (url) => decodeURIComponent(url.pathname).normalize("NFC");
  if (!path(root).endsWith(`/editions/${name}/html/`)) return;

  const list = document.createElement("script");
  list.src = new URL("../../editions.js", root).href;
  list.onload = () => {
    const editions = window.sense7Editions;
    if (Array.isArray(editions) && editions.some((edition) => edition.name.normalize("NFC") !== name)) show(editions);
  };
  list.onerror = () => list.remove();
  document.head.append(list);

  function show(editions) {
    const page = path(new URL(document.location.href)).slice(path(root).length);
    const element = (tag, text = "") => Object.assign(document.createElement(tag), { textContent: text });
    const details = element("details");
    const items = element("ul");
    const links = [];
    for (const edition of editions) {
      const there = edition.pages.includes(page);
      const parts = [edition.name, "html", ...(there ? page : "book/index.html").split("/")];
      const link = element("a", edition.name);
      link.href = new URL(`../../${parts.map(encodeURIComponent).join("/")}`, root).href;
      if (edition.name.normalize("NFC") === name) link.setAttribute("aria-current", "page");
      else if (there) links.push(link);
      const item = element("li");
      item.append(link, " ", element("small", edition.label + (there ? "" : "; this page is not in it: opens its front page")));
      items.append(item);
    }
    details.append(element("summary", `Edition: ${name}`), items);
    // The place on the page goes along: an edition of the same notebooks has the same anchors.
    details.addEventListener("toggle", () => links.forEach((link) => { link.hash = document.location.hash; }));
    document.addEventListener("click", (event) => { if (!details.contains(event.target)) details.open = false; });
    details.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !details.open) return;
      details.open = false;
      details.firstElementChild.focus();
    });
    const nav = element("nav");
    nav.className = "sense7-editions";
    nav.setAttribute("aria-label", "Editions of this book");
    nav.append(details);
    // Beside the words on what data this edition shows: on every page, and with room for it on a telephone.
    (document.querySelector(".bd-header-announcement__content") ?? document.body).append(" ", nav);
  }
})();
