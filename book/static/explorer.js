/* The conversation explorer. Reads what src/sense7/explorer.py wrote, and shows it.
   Texts of the data only ever become text nodes; the state of the page stands in its address.
   What the data hold says explorer_schema.json beside that module; the types below are those of its names. */

/**
 * @typedef {Object} Message
 * @property {string} [role]
 * @property {string} [content]
 * @property {number} [seconds] since the conversation began
 * @property {string} [retry]
 * @property {string} [comment]
 * @property {string} [ratings] of an answer: one sign for each rating
 *
 * @typedef {Object} Judge
 * @property {string} name
 * @property {string} note "" unless it is simulated
 * @property {string[]} runs
 * @property {(number|string)[][]} scores one list for each conversation; why there is none, in words
 *
 * @typedef {Object} Data
 * @property {boolean} simulated whether nobody said or rated anything
 * @property {string[]} levels
 * @property {number} poorLevel the highest level that is poor
 * @property {?string} prompted the condition with the empathy prompt
 * @property {{background: string, ink: string}[]} colours of the levels
 * @property {{name: string, title: string, asked: boolean}[]} ratings of a turn
 * @property {{title: string, levels: number, asked: boolean}[]} answers before and after a conversation
 * @property {Object<string, Array>} conversations name of a fact -> that of each conversation
 * @property {{file: string, conversations: number, bytes: number}[]} texts
 * @property {Judge[]} judges the one to show first comes first
 *
 * @typedef {Object} Conversation
 * @property {number} place in the data
 * @property {number} part the file with its texts
 * @property {string} name
 * @property {?string} participant
 * @property {?string} condition
 * @property {?string} topic
 * @property {string} answers one sign for each
 * @property {?number} mean rating of its turns
 * @property {number} level nearest to the mean; 0 if no turn is rated
 * @property {?number} poorTurns
 * @property {?number} firstPoor its first poor turn
 * @property {string} overall rating of each turn, as signs
 * @property {string} lowest level of each rating, as signs
 * @property {string[]} repeat which conversations of its participant came before
 * @property {string} known its names, for a search
 * @property {?string} said its texts, for a search, once they are loaded
 * @property {Message[]} [messages] once they are loaded
 */
(() => {
  "use strict";

  const explorer = window.sense7Explorer;
  const { make, own, unseen, fold, grouped, count, address, CHOICES, RANGES, SORTS, Conversation } = explorer;
  const A_PAGE = 25;
  const [UNASKED, UNDER_WAY, LOADED, FAILED] = ["unasked", "under way", "loaded", "failed"]; // a file of texts

  // What begins slowly is cut into tasks, between which a browser answers a touch and draws.
  const nextTask = () => new Promise((resolve) => setTimeout(resolve));

  /**
   * Every conversation, with what follows from its facts.
   * @param {Data} data
   * @returns {Conversation[]}
   */
  function conversationsOf(data) {
    const facts = Object.entries(data.conversations);
    const parts = data.texts.flatMap(({ conversations }, part) => Array(conversations).fill(part));
    return data.conversations.name.map((_, place) => {
      const one = Object.fromEntries(facts.map(([fact, values]) => [fact, values[place]]));
      const isPoor = (sign) => Number(sign) >= 1 && Number(sign) <= data.poorLevel;
      const names = [one.name, one.participant, one.condition, one.topic].filter((text) => text !== null);
      one.place = place;
      one.part = parts[place];
      one.firstPoor = [...one.overall].findIndex(isPoor) + 1 || null;
      one.known = fold(names.join("\n"));
      one.said = null;
      return one;
    });
  }

  /* Which conversations of a participant came before, in the order of the workbook. */
  function markRepeats(all) {
    const seen = new Set();
    const again = (...key) => {
      const text = JSON.stringify(key);
      return key.includes(null) || seen.has(text) ? !key.includes(null) : (seen.add(text), false);
    };
    for (const one of all) {
      one.repeat = one.participant === null ? [] : [again("", one.participant) ? "later" : "first"];
      if (again("condition", one.participant, one.condition)) one.repeat.push("condition");
      if (again("topic", one.participant, one.topic)) one.repeat.push("topic");
    }
  }

  class Explorer {
    /**
     * @param {HTMLElement} root
     * @param {Data} data
     */
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.parts = data.texts.map(() => UNASKED);
      this.all = conversationsOf(data);
      markRepeats(this.all);
      this.useJudge("");
      this.byName = new Map(this.all.map((conversation) => [conversation.name, conversation]));
      data.colours.forEach(({ background, ink }, place) => {
        root.style.setProperty(`--level-${place + 1}`, background);
        root.style.setProperty(`--ink-${place + 1}`, ink);
      });
    }

    /* Scores of one judge, their mean over the runs, and how far that is from the user. */
    useJudge(name) {
      const { judges } = this.data;
      const judge = judges.find((one) => `=${one.name}` === name) ?? judges[0] ?? null;
      if (this.judge !== undefined && judge === this.judge) return;
      this.judge = judge;
      this.all.forEach((one, place) => {
        one.scores = judge ? judge.scores[place] : [];
        const known = one.scores.filter((score) => typeof score === "number");
        one.score = known.length ? known.reduce((sum, score) => sum + score, 0) / known.length : null;
        one.difference = one.score === null || one.mean === null ? null : one.score - one.mean;
      });
    }

    async start() {
      this.status = make("p", { role: "status", class: "status" });
      this.choosing = make("p", { class: "choosing", hidden: true });
      this.list = make("ol", { class: "list", "aria-label": "Conversations" });
      this.pages = make("nav", { class: "pages", "aria-label": "Pages of the list" });
      this.note = make("div");
      const head = make("div", { class: "head" }, this.status, this.makeCopy());
      this.overview = make("div", {}, this.makeFilters(), this.choosing, head, this.note, explorer.makeLegend(this.data), this.list, this.pages, this.makeSize());
      this.reader = make("section", { class: "reader", "aria-label": "One conversation", hidden: true });
      await nextTask();
      this.root.replaceChildren(this.overview, this.reader);
      window.addEventListener("hashchange", () => explorer.isState(location.hash) && this.show());
      this.show();
      this.root.dataset.state = "ready";
    }

    // --- the address ------------------------------------------------------------------

    show() {
      // An ordinary place on the page is where the browser goes; the explorer begins with the list.
      const [state, opened] = explorer.read(explorer.isState(location.hash) ? location.hash : "");
      const came = this.opened?.conversation ?? null;
      clearTimeout(this.later);
      this.state = state;
      this.opened = opened;
      for (const [field, control] of Object.entries(this.controls)) control.value = state[field];
      this.further.open ||= this.furtherNames.some((name) => state[name] !== "");
      this.find();
      this.overview.hidden = opened.conversation !== null;
      this.reader.hidden = opened.conversation === null;
      if (opened.conversation !== null) {
        this.showReader();
        return;
      }
      this.showList();
      // Back in the list, the keyboard goes on where it was.
      const link = came === null ? null : [...this.list.querySelectorAll(".name a")].find((one) => one.textContent === came);
      if (state.compare !== "") this.choosing.focus();
      else if (link) link.focus();
    }

    linkTo(conversation, state = this.state, more = {}) {
      return address(state, { conversation, ...more });
    }

    makeCopy() {
      const button = make("button", { type: "button", class: "btn btn-outline-secondary" }, "Copy link");
      const told = make("span", { role: "status", class: "hint" });
      button.addEventListener("click", async () => {
        this.keepAddress();
        try {
          await navigator.clipboard.writeText(location.href);
          told.replaceChildren("Link copied.");
        } catch {
          // Not every browser lets a page from disk write to the clipboard: the reader copies it.
          const field = make("input", { class: "form-control", readonly: true, "aria-label": "Link to copy" });
          field.value = location.href;
          told.replaceChildren("Copy this link: ", field);
          field.select();
        }
      });
      return make("span", { class: "copy" }, button, " ", told);
    }

    keepAddress() {
      clearTimeout(this.later);
      const now = address(this.state, this.opened);
      if (explorer.isState(location.hash) && now !== (location.hash || "#")) history.replaceState(null, "", now);
    }

    // --- filters ----------------------------------------------------------------------

    makeFilters() {
      this.controls = {};
      this.options = {};
      this.alone = {};
      const [first, further] = [make("div", { class: "fields" }), make("div", { class: "fields" })];
      this.addControl(first, "text", "Search the texts", make("input", { type: "search", class: "form-control", autocomplete: "off", spellcheck: "false" }));
      for (const [name, choice] of Object.entries(CHOICES)) this.addChoice(choice.more ? further : first, name, choice);
      for (const range of RANGES) this.addRange(further, range);
      this.addJudges(first);
      const sorts = Object.entries(SORTS).filter(([name]) => this.judge || !explorer.OF_JUDGE.includes(name));
      this.addControl(first, "sort", "Order", this.makeSelect(sorts.map(([value, [text]]) => [value, text])));
      const reset = make("button", { type: "button", class: "btn btn-outline-secondary" }, "Show all");
      reset.addEventListener("click", () => {
        // Not by location.hash, whose event comes later: an address that a filter still has to write would undo it.
        history.pushState(null, "", address({ compare: this.state.compare }));
        this.show();
        this.controls.text.focus();
      });
      this.further = make("details", { class: "further" }, make("summary", {}, "More filters"), further);
      this.further.addEventListener("toggle", () => this.further.open && this.find());
      this.furtherNames = [...further.querySelectorAll("[data-filter]")].map((control) => control.dataset.filter);
      first.append(make("div", { class: "field field-reset" }, reset));
      const form = make("form", { class: "filters", role: "search", "aria-label": "Filter the conversations" }, first, this.further);
      form.addEventListener("submit", (event) => event.preventDefault());
      return form;
    }

    addControl(place, name, title, control) {
      this.controls[name] = control;
      this.alone[name] = make("span", { class: "hint" });
      control.id = `explorer-${name}`;
      control.dataset.filter = name;
      control.addEventListener("input", () => this.change(name, control.value));
      const label = make("label", { for: control.id }, title);
      place.append(make("div", { class: `field field-${name}` }, label, " ", this.alone[name], control));
    }

    makeSelect(choices) {
      return make("select", { class: "form-select" }, ...choices.map(([value, text]) => make("option", { value }, text)));
    }

    addChoice(place, name, choice) {
      const choices = choice.options(this.data, this.all);
      if (!choices.length) return;
      const all = choice.all ? choice.all(this.data) : "all";
      const select = this.makeSelect([["", all], ...choices]);
      this.options[name] = [...select.options].map((option) => [option, option.textContent]);
      this.addControl(place, name, choice.title, select);
    }

    addRange(place, range) {
      range.names.forEach((name, end) => {
        const number = make("input", { type: "number", class: "form-control", inputmode: "decimal", ...range.limits });
        this.addControl(place, name, `${range.title} ${end ? "to" : "from"}`, number);
      });
    }

    addJudges(place) {
      if (this.data.judges.length < 2) return;
      const names = this.data.judges.map((judge, number) => [number ? `=${judge.name}` : "", judge.name]);
      this.addControl(place, "judge", "Judge", this.makeSelect(names));
    }

    change(name, value) {
      const started = performance.now();
      this.state = { ...this.state, page: "", [name]: value };
      this.find();
      this.showList();
      performance.measure("explorer: filter", { start: started });
      clearTimeout(this.later);
      // Browsers refuse an address that changes with every key.
      this.later = setTimeout(() => history.replaceState(null, "", address(this.state, this.opened)), 250);
    }

    find() {
      const { state } = this;
      this.words = fold(state.text).split(/\s+/).filter((word) => word !== "");
      this.useJudge(state.judge);
      const { found, counts, alone } = explorer.find(this.all, state, this.data, this.words, this.further.open);
      this.found = found;
      explorer.sort(found, state.sort);
      if (this.words.length) this.loadAll();
      this.showCounts(counts, alone);
    }

    // What each choice would leave, the other filters kept; what a search or a range leaves alone.
    showCounts(counts, alone) {
      for (const [name, options] of Object.entries(this.options)) {
        if (!counts[name]) continue;
        for (const [option, text] of options) option.textContent = `${text} (${grouped(counts[name].get(option.value) ?? 0)})`;
      }
      for (const name of ["text", ...RANGES.map((range) => range.names[0])]) {
        this.alone[name].textContent = alone.has(name) ? `fits ${grouped(alone.get(name))}` : "";
      }
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
      this.note.replaceChildren(...this.makeNotes());
      this.showChoosing();
    }

    /* While a conversation is compared, the list is where the other one is chosen. */
    showChoosing() {
      const { compare } = this.state;
      this.choosing.hidden = compare === "";
      this.choosing.tabIndex = -1;
      const cancel = make("a", { href: this.linkTo(compare, { ...this.state, compare: "" }) }, "Cancel");
      this.choosing.replaceChildren("Compare ", own("strong", compare), " with: choose a conversation of the list. ", cancel);
    }

    describe() {
      const total = this.all.length;
      const found = this.found.length;
      let words = found === total ? `All ${count(total, "conversation")}.` : `${grouped(found)} of ${count(total, "conversation")}.`;
      if (this.words.length) {
        if (this.inState(FAILED)) words += " The texts could not be loaded, so only names were searched.";
        else if (this.inState(LOADED) < this.parts.length) words += " Still searching the texts.";
      }
      return found === 0 ? `${words} Nothing fits all filters; “Show all” takes them away.` : words;
    }

    makeNotes() {
      return [explorer.makeNote(this.judge)].filter((note) => note !== null);
    }

    inState(state) {
      return this.parts.filter((one) => one === state).length;
    }

    makeEntry(one) {
      const { compare } = this.state;
      const plain = { ...this.state, compare: "" };
      const href = compare === "" ? this.linkTo(one.name) : this.linkTo(compare, plain, { with: one.name });
      const poor = one.poorTurns === null ? "poor turns not known" : one.poorTurns === 0 ? "no poor turn" : count(one.poorTurns, "poor turn");
      const judged = !this.judge ? "" : one.score === null ? "judge: no score" : `judge ${one.score.toFixed(2)}${one.mean === null ? "" : `, ${explorer.apart(one)}`}`;
      return make(
        "li",
        {},
        make("div", { class: "name" }, own("a", one.name, { href })),
        make("div", { class: "what" }, own("span", one.condition ?? "condition not given"), ", ", own("span", one.topic ?? "topic not given")),
        make("div", { class: "mean" }, explorer.makeLabel(this.data, one)),
        make("div", { class: "poor" }, `${count(one.overall.length, "turn")}, ${poor}`),
        compare === "" ? make("div", { class: "compare" }, make("a", { href: address({ ...plain, page: "", compare: one.name }) }, "Compare", unseen(` ${one.name}`))) : null,
        this.data.ratings[0].asked ? make("div", { class: "strip" }, this.makeStrip(one)) : null,
        this.makeHit(one),
        judged ? make("div", { class: Math.abs(one.difference ?? 0) >= 1 ? "judged parted" : "judged" }, judged) : null,
      );
    }

    /* Where a search found its first word, with what stands around it. */
    makeHit(one) {
      if (!this.words.length || one.said === null) return null;
      const texts = one.messages.flatMap((message) => [message.content ?? "", message.comment ?? ""]);
      const pattern = explorer.patternOf(this.words);
      for (const text of texts) {
        const at = text.search(pattern);
        if (at < 0) continue;
        const [from, to] = [Math.max(0, at - 60), at + 90];
        const part = `${from ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
        return make("div", { class: "hit" }, explorer.marked("span", part, this.words));
      }
      return null;
    }

    makeStrip(one) {
      const said = [...one.overall].map((sign) => explorer.word(this.data, sign)).join(", ");
      const strip = make("span", { class: "cells", role: "img", "aria-label": `overall rating by turn: ${said || "no turns"}` });
      for (const sign of one.overall) strip.append(make("span", { class: "level", "data-level": sign }, sign === "." ? "\u00a0" : sign));
      return strip;
    }

    makePages(page, pages) {
      const go = (to, text) =>
        to < 1 || to > pages
          ? make("span", { class: "off", "aria-hidden": "true" }, text)
          : make("a", { href: address({ ...this.state, page: to === 1 ? "" : String(to) }) }, text);
      return [go(page - 1, "Previous page"), make("span", {}, `Page ${page} of ${pages}`), go(page + 1, "Next page")];
    }

    makeSize() {
      const bytes = this.data.texts.reduce((sum, text) => sum + text.bytes, 0);
      const size = `${Math.round(bytes / 1e5) / 10} MB`;
      return make("p", { class: "hint" }, `The texts of all conversations: ${size}, loaded in one file when they are searched; that of one, when it is opened.`);
    }

    // --- texts ------------------------------------------------------------------------

    /* All texts are in one file, for a search. */
    loadAll() {
      const parts = [...this.parts.keys()].filter((part) => this.parts[part] === UNASKED);
      if (parts.length) this.load(parts, "texts.js");
    }

    load(parts, file) {
      for (const part of parts) this.parts[part] = UNDER_WAY;
      const script = make("script", { src: `${this.root.dataset.folder}${file}` });
      script.addEventListener("load", () => {
        parts.forEach((part) => this.take(part));
        this.arrived(parts, LOADED);
      });
      script.addEventListener("error", () => this.arrived(parts, FAILED));
      document.head.append(script);
    }

    take(part) {
      /** @type {Message[][]} */
      const conversations = window.sense7Texts[part];
      const first = this.all.findIndex((one) => one.part === part);
      conversations.forEach((messages, place) => {
        const texts = messages.flatMap((one) => [one.content ?? "", one.comment ?? ""]);
        this.all[first + place].messages = messages;
        this.all[first + place].said = fold(texts.join("\n"));
      });
    }

    arrived(parts, state) {
      for (const part of parts) this.parts[part] = state;
      if (this.inState(LOADED) === this.parts.length) this.root.dataset.state = "loaded";
      if (this.words.length) {
        this.find();
        if (this.opened.conversation === null) this.showList();
      }
      if (this.opened.conversation !== null && this.waitsFor.some((part) => parts.includes(part))) this.showReader();
    }

    // --- one conversation, or two -----------------------------------------------------

    showReader() {
      const { opened } = this;
      const names = [opened.conversation, opened.with].filter((name) => name !== null);
      const ones = names.map((name) => this.byName.get(name));
      this.waitsFor = ones.filter((one) => one && !one.messages).map((one) => one.part);
      const title = make("h2", { tabindex: -1 }, names.length > 1 ? "Conversations " : "Conversation ", own("span", names[0]));
      if (names.length > 1) title.append(" and ", own("span", names[1]));
      const missing = names.filter((_, place) => !ones[place]);
      const content = missing.length ? missing.map((name) => this.makeMissing(name)) : this.waitsFor.length ? [this.makeWaiting()] : this.makeOpened(ones);
      this.reader.replaceChildren(this.makeWay(ones), title, ...content);
      this.goTo(title);
    }

    makeMissing(name) {
      return make("p", {}, "There is no conversation of this name in this edition: ", own("span", name), ".");
    }

    makeWaiting() {
      const failed = this.waitsFor.find((part) => this.parts[part] === FAILED);
      if (failed !== undefined) {
        this.parts[failed] = UNASKED; // opened again, it is tried again
        const file = own("code", this.data.texts[failed].file);
        return make("p", { role: "alert" }, "Its texts could not be loaded: the file ", file, " is missing beside the book.");
      }
      for (const part of this.waitsFor) if (this.parts[part] === UNASKED) this.load([part], this.data.texts[part].file);
      return make("p", { role: "status" }, "The texts are being loaded.");
    }

    makeOpened(ones) {
      const sides = ones.map((one, place) => new Conversation(this.data, one, this.judge, this.words, (turn, ...text) => this.makeTurnLink(place, turn, text), ones.length > 1 ? "h4" : "h3"));
      const [notes, legend] = [this.makeNotes(), explorer.makeLegend(this.data)];
      // The talk comes first; what is known about it follows.
      const body = (side) => [side.makeMessages(), side.makeHeat(), side.makeAfter(), side.makeJudge()].filter((part) => part !== null);
      if (sides.length === 1) return [sides[0].makeLine(), ...body(sides[0]), ...notes, legend, sides[0].makeFacts(), this.makeWay(ones, "Other conversations, again")];
      const panels = sides.map((side, place) => {
        const only = make("a", { href: this.linkTo(side.one.name) }, "Read it alone");
        const heading = make("h3", {}, own("span", side.one.name));
        return make("div", { class: "side", role: "tabpanel", id: `explorer-side-${place}`, "aria-labelledby": `explorer-tab-${place}` }, heading, only, ...body(side));
      });
      const [tabs, choose] = explorer.makeTabs(sides, panels);
      this.chooseSide = choose;
      return [tabs, make("div", { class: "sides" }, ...panels), explorer.makeGlance(sides), ...notes, legend];
    }

    // --- turns ------------------------------------------------------------------------

    makeTurnLink(place, turn, text) {
      const names = ["turn", "with_turn"];
      const href = address(this.state, { ...this.opened, [names[1 - place]]: null, [names[place]]: String(turn) });
      const link = make("a", { href }, ...text);
      // To where the reader is already the address does not change.
      link.addEventListener("click", (event) => {
        if (location.hash !== link.hash) return;
        event.preventDefault();
        this.goTo(link);
      });
      return link;
    }

    /* The turn that the address names, else the head of the conversation. */
    goTo(otherwise) {
      const { opened } = this;
      const place = opened.with_turn !== null && opened.with !== null ? 1 : 0;
      const turn = Number(place ? opened.with_turn : opened.turn);
      const side = opened.with === null ? this.reader : this.reader.querySelector(`#explorer-side-${place}`);
      const message = Number.isInteger(turn) && turn > 0 && side ? side.querySelector(`[data-turn="${turn}"]`) : null;
      if (!message) {
        otherwise.focus({ preventScroll: true });
        this.root.scrollIntoView();
        return;
      }
      if (opened.with !== null) this.chooseSide(place);
      message.setAttribute("aria-current", "true");
      message.focus({ preventScroll: true });
      message.scrollIntoView({ block: "center" });
    }

    makeWay(ones, label = "Other conversations") {
      const [one] = ones;
      const single = ones.length === 1;
      const place = one && single ? this.found.indexOf(one) : -1;
      const link = (other, text) => (other ? make("a", { href: this.linkTo(other.name) }, text) : null);
      return make(
        "nav",
        { class: "pages", "aria-label": label },
        make("a", { href: address(this.state) }, "Back to the list"),
        place > 0 ? link(this.found[place - 1], "Previous") : null,
        place >= 0 ? make("span", {}, `${grouped(place + 1)} of ${grouped(this.found.length)}`) : null,
        place >= 0 ? link(this.found[place + 1], "Next") : null,
        one ? make("a", { href: address({ ...this.state, page: "", compare: one.name }) }, "Compare with another") : null,
        this.makeCopy(),
      );
    }
  }

  // After every deferred script, the data among them.
  document.addEventListener("DOMContentLoaded", async () => {
    const root = document.getElementById("sense7-explorer");
    if (!root) return;
    const data = window.sense7Conversations;
    if (!data) {
      const fix = "The folder “explorer” has to lie beside the folders of the pages, as the build made it.";
      root.replaceChildren(make("p", { role: "alert" }, `The conversations could not be loaded. ${fix}`));
      return;
    }
    const started = performance.now();
    await nextTask();
    const shown = new Explorer(root, data);
    await nextTask();
    await shown.start();
    performance.measure("explorer: first view", { start: started });
  });
})();
