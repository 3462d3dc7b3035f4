// Tab leads to the article before the side bar: there the side bar follows the article, and styles keep it on the left.
(() => {
  "use strict";
  const bar = document.getElementById("pst-primary-sidebar");
  bar?.setAttribute("role", "complementary");
  bar?.setAttribute("aria-label", "Contents of the book");
  document.getElementById("main-content")?.after(...(bar ? [bar] : []));
})();
