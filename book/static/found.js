// Opens the folds in which lies what a reader looks for: words of a search, which Sphinx marks, and an address's target.
(() => {
  "use strict";

  const MARKING = 3000; // milliseconds in which Sphinx has marked the words; folds that a reader closes later stay so

  const openAround = (element) => {
    let fold = element.closest("details");
    while (fold !== null) {
      fold.open = true;
      fold = fold.parentElement.closest("details");
    }
  };

  const showTarget = () => {
    const target = document.getElementById(decodeURIComponent(document.location.hash.slice(1)));
    if (target === null || target.closest("details") === null) return;
    openAround(target);
    target.scrollIntoView();
  };

  const showMarked = () => {
    const marked = document.querySelectorAll("span.highlighted");
    marked.forEach(openAround);
    if (marked.length > 0 && document.location.hash === "") marked[0].scrollIntoView({ block: "center" });
  };

  const observer = new MutationObserver(showMarked);
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), MARKING);
  showMarked();
  showTarget();
  window.addEventListener("hashchange", showTarget);
})();
