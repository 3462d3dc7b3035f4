// Filters the claims of the ledger by their state, in the picture and in the tables: the key becomes a group of buttons.
// The address keeps the choice: #state=met. Without a script all rows are shown.
(() => {
  "use strict";
  const picture = document.querySelector(".sense7-ledger-picture");
  if (picture === null) return;
  const claims = [...picture.querySelectorAll(":scope > section li")];
  const rows = [...claims, ...document.querySelectorAll(".sense7-ledger tr[data-rule]")];
  const parts = [...picture.querySelectorAll(":scope > section")];
  const tables = document.querySelectorAll("table.sense7-ledger");
  const buttons = [];

  function show(state) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.rule === state));
    for (const row of rows) row.hidden = state !== "" && row.dataset.rule !== state;
    for (const part of parts) part.hidden = !part.querySelector("li:not([hidden])");
    for (const table of tables) {
      const isEmpty = !table.querySelector("tbody tr:not([hidden])");
      const place = table.closest(".sense7-scroll");
      place.hidden = isEmpty;
      place.nextElementSibling.hidden = !isEmpty;
    }
  }

  function choose(state) {
    show(state);
    const { pathname, search } = document.location;
    history.replaceState(history.state, "", state === "" ? pathname + search : `#state=${state}`);
  }

  function add(item, state) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.rule = state;
    button.append(...item.childNodes);
    button.addEventListener("click", () => choose(button.getAttribute("aria-pressed") === "true" ? "" : state));
    item.append(button);
    buttons.push(button);
  }

  // A place on the page that is asked for is shown, whatever was chosen before.
  function follow() {
    const state = new URLSearchParams(document.location.hash.slice(1)).get("state") ?? "";
    show(buttons.some((button) => button.dataset.rule === state) ? state : "");
  }

  const key = picture.querySelector(".sense7-states");
  for (const item of key.children) add(item, item.dataset.rule);
  follow();
  window.addEventListener("hashchange", follow);
})();
