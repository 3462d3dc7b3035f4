// Tab leads to the article before the side bar: there the side bar follows the article, and styles keep it on the left.
(() => {
  "use strict";
  const bar = document.getElementById("pst-primary-sidebar");
  document.getElementById("main-content")?.after(...(bar ? [bar] : []));
})();
