// While a page loads, its closed folds are not laid out.
//
// The theme measures every block of code and every table, to give Tab a stop where one can be scrolled. To measure what
// lies in a closed fold, a browser lays out the whole fold: most of the page. So closed folds are absent until the
// theme is done, and what can be scrolled in a fold is looked for when it is opened. Afterwards the browser's own search
// finds what lies in closed folds.
(() => {
  "use strict";
  const THEME_IS_DONE = 1000; // milliseconds after loading; it measures again where scripts have changed the page
  const SCROLLING = "pre, .cell_output > .output, .pst-scrollable-table-container";

  window.addEventListener("load", () => {
    setTimeout(() => document.documentElement.classList.remove("sense7-loading"), THEME_IS_DONE);
  });

  // A toggle does not bubble: it is caught on its way down.
  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (!target.open) return;
      const blocks = [...target.querySelectorAll(SCROLLING)];
      const scrolls = blocks.map((block) => block.scrollWidth > block.clientWidth || block.scrollHeight > block.clientHeight);
      blocks.forEach((block, place) => { block.tabIndex = scrolls[place] ? 0 : -1; });
    },
    true,
  );
})();
