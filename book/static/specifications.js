// Lets a reader choose among the analysis variants of a figure: sentence, estimate and curve follow at once.
//
// All of them were computed when the book was built and stand in the figure as JSON (figures/variants.py). The
// address keeps the choices, of every figure of the page: #specification-NAME.CHOICE=OPTION&...
(() => {
  "use strict";
  const PREFIX = "specification-";
  const element = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const asked = () => new URLSearchParams(document.location.hash.slice(1));
  const isOurs = () => [...asked().keys()].some((key) => key.startsWith(PREFIX) && key.includes("."));

  class Figure {
    constructor(figure) {
      this.figure = figure;
      this.data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
      this.known = this.data.rows.filter((row) => row[6] !== null).length;
      this.byCodes = new Map(this.data.rows.map((row) => [row[0].join(), row]));
      this.codes = this.data.choices.map(() => 0);
      this.addControl();
      this.show(this.codes);
      for (const svg of figure.querySelectorAll("svg:has(.sense7-here)")) {
        svg.style.cursor = "pointer";
        svg.addEventListener("click", (event) => this.chooseByPlace(svg, event));
      }
    }

    addControl() {
      const control = element("fieldset", { className: "control" });
      control.append(element("legend", { textContent: "Change the analysis" }));
      this.inputs = this.data.choices.map(([name, question, options], choice) => {
        const group = element("fieldset");
        group.append(element("legend", { textContent: question }));
        const inputs = options.map((option, code) => {
          const label = element("label");
          const input = element("input", { type: "radio", name: `${PREFIX}${this.data.name}.${name}`, value: option });
          input.addEventListener("change", () => this.choose(this.codes.map((old, place) => (place === choice ? code : old))));
          label.append(input, element("span", { textContent: option }));
          group.append(label);
          return input;
        });
        control.append(group);
        return inputs;
      });
      this.back = element("button", { type: "button", textContent: "Reset to main analysis" });
      this.back.addEventListener("click", () => {
        this.choose(this.codes.map(() => 0));
        this.inputs[0][0].focus();
      });
      control.append(this.back);
      this.figure.querySelector("details").before(control);
      this.check();
    }

    check() {
      this.inputs.forEach((inputs, choice) => { inputs[this.codes[choice]].checked = true; });
      this.back.disabled = this.codes.every((code) => code === 0);
    }

    choose(codes) {
      this.codes = codes;
      this.check();
      this.show(codes);
      keepInAddress();
    }

    chooseByPlace(svg, event) {
      const { x } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const [x0, dx] = geometry(svg.querySelector(".sense7-here"));
      const place = Math.round((x - x0) / dx);
      const row = this.data.rows.find((each) => each[6] === Math.min(Math.max(place, 0), this.known - 1));
      this.choose(row[0]);
    }

    // Options in the address of this page; those of an older edition, which are none here, are left alone.
    takeFromAddress() {
      const wanted = asked();
      this.codes = this.data.choices.map(([name, , options]) =>
        Math.max(0, options.indexOf(wanted.get(`${PREFIX}${this.data.name}.${name}`))));
      this.check();
      this.show(this.codes);
    }

    addTo(address) {
      this.data.choices.forEach(([name, , options], choice) => {
        if (this.codes[choice]) address.set(`${PREFIX}${this.data.name}.${name}`, options[this.codes[choice]]);
      });
    }

    show(codes) {
      const row = this.byCodes.get(codes.join());
      this.say(codes, row);
      this.figure.querySelectorAll(".sense7-here").forEach((here) => mark(here, row));
    }

    say(codes, row) {
      const { left_out: leftOut } = this.data;
      const lead = codes.every((code) => code === 0) ? this.data.default : "With these choices";
      const result = row ? row[5] : `not computed: ${leftOut}`;
      const rank = row && row[7] ? ` (${row[7]})` : "";
      const strong = element("strong", { textContent: result });
      this.figure.querySelector("output").replaceChildren(`${lead}: `, strong, `${rank}.`);
    }
  }

  // Where the first specification stands in a picture, and by how much places and estimates move it; ends of the line.
  function geometry(here) {
    return here.dataset.geometry.split(" ").map(Number);
  }

  function mark(here, row) {
    const [x0, dx, y0, dy, top, bottom] = geometry(here);
    const [line, interval, point] = here.children;
    const given = row && row[6] !== null;
    const [x, estimate, low, high] = given ? [x0 + dx * row[6], ...row.slice(1, 4)] : [];
    line.setAttribute("d", given ? `M${x} ${top}V${bottom}` : "");
    if (here.closest(".sense7-specifications details")) return; // options have no axis of estimates
    interval.setAttribute("d", given && low !== null ? `M${x} ${y0 + dy * low}V${y0 + dy * high}` : "");
    point.setAttribute("d", given ? `M${x} ${y0 + dy * estimate}h.01` : "");
  }

  const figures = [...document.querySelectorAll("figure.sense7-specifications")].map((figure) => new Figure(figure));
  if (!figures.length) return;

  // An ordinary anchor stays as long as nothing is chosen.
  function keepInAddress() {
    const address = new URLSearchParams();
    figures.forEach((figure) => figure.addTo(address));
    if (!`${address}` && !isOurs()) return;
    const { pathname, search } = document.location;
    history.replaceState(history.state, "", `${address}` ? `#${address}` : pathname + search);
  }

  function follow() {
    if (!isOurs()) return;
    figures.forEach((figure) => figure.takeFromAddress());
    const chosen = figures.find((figure) => figure.codes.some((code) => code))?.figure;
    for (let fold = chosen?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    chosen?.scrollIntoView();
  }

  follow();
  window.addEventListener("hashchange", follow);
  // Paper shows the choices of the book.
  matchMedia("print").addEventListener("change", ({ matches }) => {
    figures.forEach((figure) => figure.show(matches ? figure.codes.map(() => 0) : figure.codes));
  });
})();
