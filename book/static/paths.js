// Reading along a path: "next" and "previous" follow it, and the side bar marks its pages.
//
// The path stands in the address, ?path=five-minutes, and goes along with its links. Without a script the links at
// the end of each page lead along it.
(() => {
  "use strict";
  const paths = JSON.parse(document.currentScript.dataset.paths);
  const root = new URL(document.documentElement.dataset.content_root, document.location.href);
  const wanted = new URLSearchParams(document.location.search).get("path");
  const pages = Object.hasOwn(paths, wanted) ? paths[wanted] : null;
  const address = (page) => Object.assign(new URL(`${page}.html`, root), { search: `?path=${wanted}` }).href;
  const marked = new Set((pages ?? paths["half-an-hour"] ?? []).map((page) => new URL(`${page}.html`, root).pathname));

  for (const link of document.querySelectorAll(".bd-sidebar-primary nav a")) {
    if (!marked.has(link.pathname)) continue;
    link.classList.add("sense7-on-path");
    if (pages) link.search = `?path=${wanted}`;
  }
  if (!pages) return;
  const here = pages.findIndex((page) => new URL(`${page}.html`, root).pathname === document.location.pathname);
  if (here < 0) return;
  for (const line of document.querySelectorAll(".sense7-paths [data-path]")) line.hidden = line.dataset.path !== wanted;
  lead(document.querySelector(".prev-next-area .left-prev"), pages[here - 1]);
  lead(document.querySelector(".prev-next-area .right-next"), pages[here + 1]);

  function lead(link, page) {
    if (!link) return;
    link.hidden = !page;
    if (!page) return;
    link.href = address(page);
    const path = new URL(`${page}.html`, root).pathname;
    const known = [...document.querySelectorAll(".bd-sidebar-primary nav a")].find((other) => other.pathname === path);
    if (known) link.querySelector(".prev-next-title").textContent = known.textContent.trim();
  }
})();
