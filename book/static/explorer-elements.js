/* What the explorer makes its page of. Texts of the data only ever become text nodes. */
window.sense7Explorer = (() => {
  "use strict";

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  // A text of the data, apart from what stands around it: its direction, and marks that turn it, end with it.
  const own = (tag, text, attributes = {}) => make(tag, { dir: "auto", class: "own", ...attributes }, text);
  const unseen = (text) => make("span", { class: "unseen" }, text);
  const fold = (text) => text.normalize("NFC").toLowerCase();
  // Not by toLocaleString, whose first call takes a phone a tenth of a second.
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const count = (number, one, many = `${one}s`) => `${grouped(number)} ${number === 1 ? one : many}`;

  // Nearest level, halves to the even one, as the labels of the ground truth.
  function levelOf(value) {
    const below = Math.floor(value);
    const nearest = value - below === 0.5 ? below + (below % 2) : Math.round(value);
    return Math.min(5, Math.max(1, nearest));
  }

  return { make, own, unseen, fold, grouped, count, levelOf };
})();
