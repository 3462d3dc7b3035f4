/* The conversation explorer. Reads what src/sense7/book/explorer.py wrote, and shows it.
   Texts of the data only ever become text nodes; the state of the page stands in its address. */
(() => {
  "use strict";

  const A_PAGE = 25;
  const FORMAT = 1;
  const [UNASKED, UNDER_WAY, LOADED, FAILED] = ["unasked", "under way", "loaded", "failed"]; // a file of texts
  const NOT_GIVEN = "not given";
  const SORTS = {
    "": ["as in the file", () => 0],
    lowest: ["mean rating, lowest first", (a, b) => byNumber(a.truth, b.truth)],
    highest: ["mean rating, highest first", (a, b) => byNumber(a.truth, b.truth, -1)],
    poor: ["poor turns, most first", (a, b) => byNumber(a.poor, b.poor, -1)],
    longest: ["turns, most first", (a, b) => b.overall.length - a.overall.length],
  };
  const EMPTY = { text: "", condition: "", topic: "", label: "", poor: "", from: "", to: "", sort: "", page: "" };

  // What is missing comes last, whichever way the rest goes.
  function byNumber(a, b, sign = 1) {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (a - b);
  }

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
  const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

  class Explorer {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.parts = data.files.map(() => UNASKED);
      this.all = data.conversations.map(([name, participant, condition, topic, answers, truth, label, poor, overall], place) => {
        const names = [data.participants[participant], data.conditions[condition], data.topics[topic]];
        const [person, model, subject] = names.map((text) => (text === undefined ? null : text));
        const known = fold([name, person, model, subject].filter((text) => text !== null).join("\n"));
        return { place, name, person, model, subject, answers, truth, label, poor, overall, known, said: null };
      });
      this.byName = new Map(this.all.map((conversation) => [conversation.name, conversation]));
      data.colours.forEach(([colour, ink], place) => {
        root.style.setProperty(`--level-${place + 1}`, colour);
        root.style.setProperty(`--ink-${place + 1}`, ink);
      });
    }

    start() {
      this.status = make("p", { role: "status", class: "status" });
      this.list = make("ol", { class: "list", "aria-label": "Conversations" });
      this.pages = make("nav", { class: "pages", "aria-label": "Pages of the list" });
      this.overview = make("div", {}, this.makeFilters(), this.status, this.makeLegend(), this.list, this.pages, this.makeSize());
      this.reader = make("section", { class: "reader", "aria-label": "One conversation", hidden: true });
      this.root.replaceChildren(this.overview, this.reader);
      window.addEventListener("hashchange", () => this.show());
      this.show();
      this.root.dataset.state = "ready";
      if (this.data.atOnce) setTimeout(() => this.loadAll(), 0);
    }

    // --- the address ------------------------------------------------------------------

    static read() {
      const given = new URLSearchParams(location.hash.slice(1));
      const state = { ...EMPTY };
      for (const name of Object.keys(EMPTY)) if (given.has(name)) state[name] = given.get(name);
      return [state, given.get("conversation")];
    }

    static address(state, conversation = null) {
      const given = new URLSearchParams();
      if (conversation !== null) given.set("conversation", conversation);
      for (const [name, value] of Object.entries(state)) if (value !== "") given.set(name, value);
      return `#${given}`;
    }

    show() {
      const [state, name] = Explorer.read();
      const came = this.open;
      this.state = state;
      this.open = name;
      for (const [field, control] of Object.entries(this.controls)) control.value = state[field];
      this.find();
      this.overview.hidden = name !== null;
      this.reader.hidden = name === null;
      if (name !== null) {
        this.showConversation();
      } else {
        this.showList();
        // Back in the list, the keyboard goes on where it was.
        const link = came ? [...this.list.querySelectorAll("a")].find((one) => one.textContent === came) : null;
        if (link) link.focus();
      }
    }

    // --- filters ----------------------------------------------------------------------

    makeFilters() {
      const { conditions, topics, levels } = this.data;
      const options = (all, texts) => [["", all], ...texts.map((text) => [`=${text}`, text])];
      const some = (name) => (this.all.some((one) => one[name] === null) ? [["none", NOT_GIVEN]] : []);
      const select = (choices) =>
        make("select", { class: "form-select" }, ...choices.map(([value, text]) => make("option", { value }, text)));
      const number = () => make("input", { type: "number", min: 1, max: 5, step: 0.1, class: "form-control", inputmode: "decimal" });
      this.controls = {
        text: make("input", { type: "search", class: "form-control", autocomplete: "off", spellcheck: "false" }),
        condition: select([...options("all", conditions), ...some("model")]),
        topic: select([...options("all", topics), ...some("subject")]),
        label: select([["", "all"], ...levels.map((level, place) => [String(place + 1), level]), ["none", "not rated"]]),
        poor: select([["", "all"], ["yes", "at least one poor turn"], ["no", "no poor turn"], ["unknown", "not known"]]),
        from: number(),
        to: number(),
        sort: select(Object.entries(SORTS).map(([value, [text]]) => [value, text])),
      };
      const titles = {
        text: "Search the texts",
        condition: "Condition",
        topic: "Topic",
        label: "Label",
        poor: "Poor turns",
        from: "Mean rating from",
        to: "Mean rating to",
        sort: "Order",
      };
      const form = make("form", { class: "filters", role: "search", "aria-label": "Filter the conversations" });
      for (const [name, control] of Object.entries(this.controls)) {
        control.id = `explorer-${name}`;
        form.append(make("div", { class: `field field-${name}` }, make("label", { for: control.id }, titles[name]), control));
        control.addEventListener("input", () => this.change(name, control.value));
      }
      this.controls.from.placeholder = "1";
      this.controls.to.placeholder = "5";
      const reset = make("button", { type: "button", class: "btn btn-outline-secondary" }, "Show all");
      reset.addEventListener("click", () => {
        location.hash = "";
        this.controls.text.focus();
      });
      form.append(make("div", { class: "field field-reset" }, reset));
      form.addEventListener("submit", (event) => event.preventDefault());
      return form;
    }

    change(name, value) {
      const started = performance.now();
      this.state = { ...this.state, page: "", [name]: value };
      this.find();
      this.showList();
      performance.measure("explorer: filter", { start: started });
      clearTimeout(this.later);
      // Browsers refuse an address that changes with every key.
      this.later = setTimeout(() => history.replaceState(null, "", Explorer.address(this.state, this.open)), 250);
    }

    find() {
      const { state } = this;
      const words = fold(state.text).split(/\s+/).filter((word) => word !== "");
      const named = (wanted, text) => wanted === "" || (wanted === "none" ? text === null : wanted === `=${text}`);
      const bound = (text, otherwise) => (text === "" || Number.isNaN(Number(text)) ? otherwise : Number(text));
      const [from, to] = [bound(state.from, -Infinity), bound(state.to, Infinity)];
      const anyBound = from !== -Infinity || to !== Infinity;
      const poor = { yes: (one) => one.poor > 0, no: (one) => one.poor === 0, unknown: (one) => one.poor === null };
      const fits = (one) =>
        named(state.condition, one.model) &&
        named(state.topic, one.subject) &&
        (state.label === "" || one.label === (state.label === "none" ? 0 : Number(state.label))) &&
        (!Object.hasOwn(poor, state.poor) || poor[state.poor](one)) &&
        (!anyBound || (one.truth !== null && one.truth >= from && one.truth <= to)) &&
        words.every((word) => one.known.includes(word) || (one.said !== null && one.said.includes(word)));
      this.words = words;
      this.found = this.all.filter(fits);
      if (Object.hasOwn(SORTS, state.sort) && state.sort !== "") this.found.sort((a, b) => SORTS[state.sort][1](a, b) || a.place - b.place);
      if (words.length) this.loadAll();
    }

    // --- the list ---------------------------------------------------------------------

    showList() {
      const pages = Math.max(1, Math.ceil(this.found.length / A_PAGE));
      const page = Math.min(pages, Math.max(1, Math.trunc(Number(this.state.page)) || 1));
      const shown = this.found.slice((page - 1) * A_PAGE, page * A_PAGE);
      this.list.replaceChildren(...shown.map((one) => this.makeEntry(one)));
      this.list.start = (page - 1) * A_PAGE + 1;
      this.pages.replaceChildren(...(pages > 1 ? this.makePages(page, pages) : []));
      this.status.textContent = this.describe();
    }

    describe() {
      const total = this.all.length;
      const found = this.found.length;
      let words = found === total ? `All ${count(total, "conversation")}.` : `${found.toLocaleString("en")} of ${count(total, "conversation")}.`;
      if (this.words.length) {
        const failed = this.inState(FAILED);
        const missing = this.parts.length - this.inState(LOADED) - failed;
        if (failed) words += ` ${count(failed, "file")} of texts could not be loaded, so the search is not complete.`;
        else if (missing) words += ` Still searching: ${count(missing, "file")} of texts to come.`;
      }
      return found === 0 ? `${words} Nothing fits all filters; “Show all” takes them away.` : words;
    }

    inState(state) {
      return this.parts.filter((one) => one === state).length;
    }

    makeEntry(one) {
      const link = own("a", one.name, { href: Explorer.address(this.state, one.name) });
      const poor = one.poor === null ? "poor turns not known" : one.poor === 0 ? "no poor turn" : count(one.poor, "poor turn");
      const turns = count(one.overall.length, "turn");
      return make(
        "li",
        {},
        make("div", { class: "name" }, link),
        make("div", { class: "what" }, own("span", one.model ?? "condition not given"), ", ", own("span", one.subject ?? "topic not given")),
        make("div", { class: "mean" }, this.makeLabel(one)),
        make("div", { class: "poor" }, `${turns}, ${poor}`),
        this.data.ratings[0][1] ? make("div", { class: "strip" }, this.makeStrip(one)) : null,
      );
    }

    makeLabel(one) {
      if (one.label === 0) return make("span", { class: "level", "data-level": "-" }, "not rated");
      return make("span", { class: "level", "data-level": one.label }, unseen("mean rating "), `${one.truth.toFixed(2)} ${this.data.levels[one.label - 1]}`);
    }

    makeStrip(one) {
      const said = [...one.overall].map((sign) => this.word(sign)).join(", ");
      const strip = make("span", { class: "cells", role: "img", "aria-label": `overall rating by turn: ${said || "no turns"}` });
      for (const sign of one.overall) strip.append(make("span", { class: "level", "data-level": sign }, sign === "." ? "\u00a0" : sign));
      return strip;
    }

    makePages(page, pages) {
      const go = (to, text) =>
        to < 1 || to > pages
          ? make("span", { class: "off", "aria-hidden": "true" }, text)
          : make("a", { href: Explorer.address({ ...this.state, page: to === 1 ? "" : String(to) }) }, text);
      return [go(page - 1, "Previous page"), make("span", {}, `Page ${page} of ${pages}`), go(page + 1, "Next page")];
    }

    makeLegend() {
      const item = (sign, text) => make("li", {}, make("span", { class: "level", "data-level": sign, "aria-hidden": "true" }, sign === "." ? "\u00a0" : sign), ` ${text}`);
      const levels = this.data.levels.map((level, place) => item(String(place + 1), level));
      return make("ul", { class: "legend", "aria-label": "Levels" }, ...levels, item("-", "not rated"), item("?", "unreadable"), item(".", "blank"));
    }

    makeSize() {
      const size = `${(this.data.bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
      const when = this.data.atOnce ? "loaded in the background" : "loaded when one of them is opened, or all are searched";
      return make("p", { class: "hint" }, `The texts of all conversations: ${size} in ${count(this.parts.length, "file")}, ${when}.`);
    }

    word(sign) {
      return { "-": "not rated", "?": "unreadable", ".": "blank" }[sign] ?? this.data.levels[Number(sign) - 1];
    }

    // --- texts ------------------------------------------------------------------------

    loadAll() {
      this.parts.forEach((state, part) => state === UNASKED && this.load(part));
    }

    load(part) {
      this.parts[part] = UNDER_WAY;
      const script = make("script", { src: `${this.root.dataset.folder}${this.data.files[part]}` });
      script.addEventListener("load", () => this.take(part));
      script.addEventListener("error", () => this.arrived(part, FAILED));
      document.head.append(script);
    }

    take(part) {
      const { texts, conversations } = window.sense7Texts[part];
      const text = (place) => (place < 0 ? null : texts[place]);
      const first = part * this.data.textsAFile;
      conversations.forEach((rows, place) => {
        const messages = rows.map(([role, content, seconds, retry, comment, ratings]) => ({
          role: text(role),
          content: text(content),
          seconds,
          retry: text(retry),
          comment: text(comment),
          ratings: ratings || null,
        }));
        const conversation = this.all[first + place];
        conversation.messages = messages;
        conversation.said = fold(messages.flatMap((one) => [one.content, one.comment]).filter((one) => one !== null).join("\n"));
      });
      delete window.sense7Texts[part];
      this.arrived(part, LOADED);
    }

    arrived(part, state) {
      this.parts[part] = state;
      if (this.inState(LOADED) === this.parts.length) this.root.dataset.state = "loaded";
      if (this.words.length) {
        this.find();
        if (this.open === null) this.showList();
      }
      if (this.open !== null && this.waitsFor === part) this.showConversation();
    }

    // --- one conversation -------------------------------------------------------------

    showConversation() {
      const one = this.byName.get(this.open);
      const part = one ? Math.floor(one.place / this.data.textsAFile) : null;
      const title = make("h2", { tabindex: -1 }, "Conversation ", own("span", this.open));
      const content = [this.makeWay(one), title];
      if (!one) {
        content.push(make("p", {}, "There is no conversation of this name in this edition."));
      } else if (one.messages) {
        content.push(this.makeFacts(one), this.makeHeat(one), this.makeAfter(one), this.makeMessages(one));
        content.push(this.makeWay(one, "Other conversations, again"));
      } else if (this.parts[part] === FAILED) {
        const file = own("code", `${this.data.files[part]}`);
        content.push(make("p", { role: "alert" }, "Its texts could not be loaded: the file ", file, " is missing beside the book."));
        this.parts[part] = UNASKED; // opened again, it is tried again
      } else {
        content.push(make("p", { role: "status" }, "The texts are being loaded."));
        this.waitsFor = part;
        if (this.parts[part] === UNASKED) this.load(part);
      }
      this.reader.replaceChildren(...content);
      title.focus({ preventScroll: true });
      this.root.scrollIntoView();
    }

    makeWay(one, label = "Other conversations") {
      const place = one ? this.found.indexOf(one) : -1;
      const link = (other, text) => (other ? make("a", { href: Explorer.address(this.state, other.name) }, text) : null);
      return make(
        "nav",
        { class: "pages", "aria-label": label },
        make("a", { href: Explorer.address(this.state) }, "Back to the list"),
        place > 0 ? link(this.found[place - 1], "Previous") : null,
        place >= 0 ? make("span", {}, `${(place + 1).toLocaleString("en")} of ${this.found.length.toLocaleString("en")}`) : null,
        place >= 0 ? link(this.found[place + 1], "Next") : null,
        one ? make("a", { class: "permanent", href: Explorer.address({}, one.name) }, "Link to this conversation") : null,
      );
    }

    makeFacts(one) {
      const facts = make("dl", { class: "facts" });
      const add = (name, ...value) => facts.append(make("div", {}, make("dt", {}, name), make("dd", {}, ...value)));
      add("Participant", own("span", one.person ?? NOT_GIVEN));
      add("Condition", own("span", one.model ?? NOT_GIVEN));
      add("Topic", own("span", one.subject ?? NOT_GIVEN));
      add("Mean rating of turns", this.makeLabel(one));
      add("Poor turns", one.poor === null ? "not known" : String(one.poor));
      this.data.answers.slice(0, 2).forEach(([name, size, asked], place) => add(name, this.answer(one.answers[place], size, asked)));
      return facts;
    }

    answer(sign, size, asked) {
      if (!asked) return "never asked";
      return sign === "." ? "not rated or blank" : `${sign} of ${size}`;
    }

    makeHeat(one) {
      const turns = one.messages.filter((message) => message.ratings !== null);
      const heading = make("h3", {}, "Ratings by turn");
      if (!turns.length) return make("div", {}, heading, make("p", {}, "This conversation has no turn of the assistant."));
      const head = make("tr", {}, make("th", { scope: "col" }, "Rating"));
      turns.forEach((_, place) => {
        const button = make("button", { type: "button", "aria-label": `Go to turn ${place + 1}` }, String(place + 1));
        button.addEventListener("click", () => {
          const message = this.reader.querySelector(`[data-turn="${place + 1}"]`);
          message.focus({ preventScroll: true });
          message.scrollIntoView({ block: "center" });
        });
        head.append(make("th", { scope: "col" }, button));
      });
      const body = make("tbody");
      this.data.ratings.forEach(([title, asked], place) => {
        const row = make("tr", {}, make("th", { scope: "row" }, title));
        if (!asked) row.append(make("td", { class: "never", colspan: turns.length }, "never asked"));
        else turns.forEach((turn) => row.append(this.makeLevel("td", turn.ratings[place])));
        body.append(row);
      });
      const table = make("table", { class: "heat" }, make("caption", {}, "Each turn of the assistant as its user rated it"), make("thead", {}, head), body);
      const scroll = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ratings by turn" }, table);
      return make("div", {}, heading, this.makeLegend(), scroll);
    }

    makeLevel(tag, sign) {
      const word = this.word(sign);
      const shown = make("span", { "aria-hidden": "true" }, sign === "." ? "\u00a0" : sign);
      return make(tag, { class: "level", "data-level": sign, title: word }, shown, unseen(/[1-5]/.test(sign) ? `${sign} ${word}` : word));
    }

    makeAfter(one) {
      const facts = make("dl", { class: "facts" });
      this.data.answers.slice(2).forEach(([name, size, asked], place) => {
        const sign = one.answers[place + 2];
        const value = make("dd", {});
        if (asked && sign !== ".") value.append(make("span", { class: "level", "data-level": sign }, this.answer(sign, size, asked)));
        else value.append(this.answer(sign, size, asked));
        facts.append(make("div", {}, make("dt", {}, name), value));
      });
      return make("div", {}, make("h3", {}, "Ratings after the conversation"), facts);
    }

    makeMessages(one) {
      let turn = 0;
      const list = make("ol", { class: "messages" });
      for (const message of one.messages) {
        if (message.ratings !== null) turn += 1;
        list.append(this.makeMessage(message, message.ratings === null ? null : turn));
      }
      return make("div", {}, make("h3", {}, "What was said"), one.messages.length ? list : make("p", {}, "This conversation has no messages."));
    }

    makeMessage(message, turn) {
      const minutes = message.seconds === null ? null : Math.floor(Math.round(message.seconds) / 60);
      const clock = minutes === null ? "" : `, ${minutes}:${String(Math.round(message.seconds) % 60).padStart(2, "0")}`;
      const text = make(
        "div",
        { class: "text" },
        make("p", { class: "who" }, own("strong", message.role ?? "no role"), `${turn === null ? "" : `, turn ${turn}`}${clock}`, message.retry === null ? null : make("span", {}, ", retry: ", own("span", message.retry))),
        message.content === null ? make("p", { class: "hint" }, "no text") : this.makeText("p", message.content),
        message.comment === null ? null : make("div", { class: "comment" }, make("p", { class: "who" }, "The user’s comment on this turn"), this.makeText("p", message.comment)),
      );
      const item = make("li", { class: "message", "data-role": message.role ?? "" }, text);
      if (turn === null) return item;
      item.dataset.turn = turn;
      item.tabIndex = -1;
      const ratings = make("ul", { class: "ratings", "aria-label": `Ratings of turn ${turn}` });
      this.data.ratings.forEach(([title, asked], place) => {
        if (!asked) return;
        const sign = message.ratings[place];
        const word = this.word(sign);
        ratings.append(make("li", {}, make("span", { class: "title" }, title), " ", make("span", { class: "level", "data-level": sign }, /[1-5]/.test(sign) ? `${sign} ${word}` : word)));
      });
      item.append(ratings);
      return item;
    }

    // The words that were searched for are marked; what is marked and what is not, both are text.
    makeText(tag, text) {
      const element = own(tag, "");
      const words = this.words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
      if (!words.length) {
        element.append(text);
        return element;
      }
      let end = 0;
      for (const match of text.matchAll(new RegExp(words.join("|"), "gi"))) {
        element.append(text.slice(end, match.index), make("mark", {}, match[0]));
        end = match.index + match[0].length;
      }
      element.append(text.slice(end));
      return element;
    }
  }

  // After every deferred script, the data among them.
  document.addEventListener("DOMContentLoaded", () => {
    const root = document.getElementById("sense7-explorer");
    if (!root) return;
    const data = window.sense7Conversations;
    if (!data || data.format !== FORMAT) {
      const what = data ? "are of another version of this book" : "could not be loaded";
      const fix = "The folder “explorer” has to lie beside the folders of the pages, as the build made it.";
      root.replaceChildren(make("p", { role: "alert" }, `The conversations ${what}. ${fix}`));
      return;
    }
    const started = performance.now();
    new Explorer(root, data).start();
    performance.measure("explorer: first view", { start: started });
  });
})();
