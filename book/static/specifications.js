// Lets a reader choose among the specifications of a figure: sentence, estimate and curve follow at once.
//
// All of them were computed when the book was built and stand in the figure as JSON (figures/robustness.py). The
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
      this.curve = figure.querySelector(".sense7-curve");
      this.curve.style.cursor = "pointer";
      this.curve.addEventListener("click", (event) => this.chooseByPlace(event));
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
      this.back = element("button", { type: "button", textContent: this.data.default });
      this.back.addEventListener("click", () => {
        this.choose(this.codes.map(() => 0));
        this.inputs[0][0].focus();
      });
      control.append(this.back);
      this.figure.querySelector(".sense7-chosen").after(control);
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

    chooseByPlace(event) {
      const box = this.curve.getBoundingClientRect();
      const place = Math.floor((this.known * (event.clientX - box.left)) / box.width);
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
      const place = row ? row[6] : null;
      this.figure.classList.toggle("unknown", place === null);
      this.figure.style.setProperty("--here", place === null ? "-1%" : `${(100 * (place + 0.5)) / this.known}%`);
      for (const line of this.figure.querySelectorAll("[data-option]")) {
        const [choice, code] = line.dataset.option.split("-").map(Number);
        line.classList.toggle("taken", codes[choice] === code);
      }
      this.draw(place, place === null ? [null, null, null] : row.slice(1, 4));
      if (place !== null) this.label(row);
    }

    say(codes, row) {
      const { left_out: leftOut, agreement } = this.data;
      const lead = codes.every((code) => code === 0) ? this.data.default : "With these choices";
      const result = row ? row[5] : `not computed: ${leftOut}`;
      const rank = row && row[6] !== null ? ` By its estimate it is number ${row[6] + 1} of ${this.known}, from the lowest.` : "";
      const strong = element("strong", { textContent: result });
      this.figure.querySelector("output").replaceChildren(`${lead}: `, strong, `. ${agreement}${rank}`);
    }

    share(number) {
      const [low, high] = this.data.axis;
      return (number - low) / (high - low);
    }

    draw(place, [estimate, low, high]) {
      const x = (number) => this.data.width * this.share(number);
      const y = (number) => this.data.height * (1 - this.share(number));
      const set = (selector, d) => this.figure.querySelector(selector).setAttribute("d", d);
      const given = estimate !== null;
      const interval = low !== null;
      set(".sense7-chosen .interval", interval ? `M${x(low)} 48H${x(high)}` : "");
      set(".sense7-chosen .point", given ? `M${x(estimate)} 48h.1` : "");
      set(".sense7-curve .interval", interval ? `M${place + 0.5} ${y(low)}V${y(high)}` : "");
      set(".sense7-curve .point", given ? `M${place + 0.5} ${y(estimate)}h.001` : "");
    }

    // The estimate in words above its mark; inside the picture at either end.
    label(row) {
      const share = this.share(row[1]);
      const label = this.figure.querySelector(".sense7-chosen .estimate");
      label.textContent = row[5].split(" ")[0].replace(/,$/, "");
      label.style.left = `${100 * share}%`;
      label.style.transform = `translateX(${share < 0.2 ? 0 : share > 0.8 ? -100 : -50}%)`;
    }
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
    figures.find((figure) => figure.codes.some((code) => code))?.figure.scrollIntoView();
  }

  follow();
  window.addEventListener("hashchange", follow);
  // Paper shows the choices of the book.
  matchMedia("print").addEventListener("change", ({ matches }) => {
    figures.forEach((figure) => figure.show(matches ? figure.codes.map(() => 0) : figure.codes));
  });
})();
