// Filters the picture of the ledger by the state of a claim: the key becomes a group of buttons. Without a script all rows are shown.
(() => {
  "use strict";
  for (const picture of document.querySelectorAll(".sense7-ledger-picture")) {
    const rows = [...picture.querySelectorAll(":scope > section li")];
    const buttons = [];
    const choose = (rule) => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.rule === rule));
      for (const row of rows) row.hidden = rule !== "" && row.dataset.rule !== rule;
      for (const part of picture.querySelectorAll(":scope > section")) part.hidden = !part.querySelector("li:not([hidden])");
    };
    const add = (item, rule) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.rule = rule;
      button.append(...item.childNodes);
      button.addEventListener("click", () => choose(button.getAttribute("aria-pressed") === "true" ? "" : rule));
      item.append(button);
      buttons.push(button);
    };
    const key = picture.querySelector(".sense7-verdicts");
    for (const item of [...key.children]) add(item, item.dataset.rule);
    const all = document.createElement("li");
    all.append(`all (${rows.length})`);
    key.prepend(all);
    add(all, "");
    choose("");
  }
})();
