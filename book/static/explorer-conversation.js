/* One conversation, or two beside each other: what is known of them, the judge and the user, what was said. */
(() => {
  "use strict";

  const { make, own, unseen, count, levelOf, NOT_GIVEN, address } = window.sense7Explorer;

  const word = (data, sign) => ({ "-": "not rated", "?": "unreadable", ".": "blank" })[sign] ?? data.levels[Number(sign) - 1];
  const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
  const labelled = (data, value) => `${value.toFixed(2)} (${data.levels[levelOf(value) - 1]})`;

  function answer(sign, { levels, asked }) {
    if (!asked) return "never asked";
    return sign === "." ? "not rated or blank" : `${sign} of ${levels}`;
  }

  function makeLabel(data, one) {
    if (one.level === 0) return make("span", { class: "level", "data-level": "-" }, "not rated");
    const text = `${one.mean.toFixed(2)} ${data.levels[one.level - 1]}`;
    return make("span", { class: "level", "data-level": one.level }, unseen("mean rating "), text);
  }

  function makeLegend(data) {
    const item = (sign, text) => make("li", {}, make("span", { class: "level", "data-level": sign, "aria-hidden": "true" }, sign === "." ? "\u00a0" : sign), ` ${text}`);
    const levels = data.levels.map((level, place) => item(String(place + 1), level));
    return make("ul", { class: "legend", "aria-label": "Levels" }, ...levels, item("-", "not rated"), item("?", "unreadable"), item(".", "blank"));
  }

  /* How far the judge is from the user, in words; "" where that is not known. */
  function apart(one) {
    if (one.difference === null) return "";
    const by = Math.abs(one.difference).toFixed(2);
    return by === "0.00" ? "as the user" : `${by} ${one.difference > 0 ? "above" : "below"} the user`;
  }

  // A judge that is simulated says so wherever its scores stand.
  const makeNote = (judge) => (judge?.note ? make("p", { class: "note" }, own("span", judge.note)) : null);

  /* Any of the words, as they stand. */
  const patternOf = (words) => new RegExp(words.map((one) => one.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "gi");

  // The words that were searched for are marked; what is marked and what is not, both are text.
  function marked(tag, text, words) {
    const element = own(tag, "");
    let end = 0;
    for (const match of words.length ? text.matchAll(patternOf(words)) : []) {
      element.append(text.slice(end, match.index), make("mark", {}, match[0]));
      end = match.index + match[0].length;
    }
    element.append(text.slice(end));
    return element;
  }

  class Conversation {
    /* `link` makes a link to one of its turns, of the number and what it shows. */
    constructor(data, one, judge, words, link, heading = "h3") {
      Object.assign(this, { data, one, judge, words, link });
      this.head = (text) => make(heading, {}, text);
    }

    /* What is known of it: title and text or element. */
    facts() {
      const { data, one } = this;
      const name = (text) => own("span", text ?? NOT_GIVEN);
      return [
        ["Participant", name(one.participant)],
        ["Condition", name(one.condition)],
        ["Topic", name(one.topic)],
        ["Mean rating of turns", makeLabel(data, one)],
        ...(this.judge ? [["Judge’s mean score", one.score === null ? "none" : `${one.score.toFixed(2)}, ${apart(one) || "user did not rate"}`]] : []),
        ["Turns", String(one.overall.length)],
        ["Poor turns", one.poorTurns === null ? "not known" : String(one.poorTurns)],
        ["First poor turn", one.firstPoor === null ? "none" : `turn ${one.firstPoor}`],
        ...data.answers.slice(0, 2).map((asked, place) => [asked.title, answer(one.answers[place], asked)]),
      ].filter(([title]) => title !== "First poor turn" || one.poorTurns !== null);
    }

    /* Who talked about what, and how it was rated, in one line above the talk. */
    makeLine() {
      const { one } = this;
      return make("p", { class: "what" }, own("span", one.condition ?? "condition not given"), ", ", own("span", one.topic ?? "topic not given"), ", ", makeLabel(this.data, one));
    }

    makeFacts() {
      const rows = this.facts().map(([title, value]) => make("div", {}, make("dt", {}, title), make("dd", {}, value)));
      return make("dl", { class: "facts" }, ...rows);
    }

    // --- judge and user -------------------------------------------------------------------

    makeJudge() {
      const { data, one, judge } = this;
      if (!judge) return null;
      const heading = this.head("The judge and the user");
      const known = one.scores.filter((score) => typeof score === "number");
      const sentence = make("p", {}, own("strong", judge.name), `: ${this.judgeInWords(known)}`);
      const scale = known.length && one.mean !== null ? this.makeScale(known) : null;
      const runs = one.scores.map((score, place) => this.makeRun(`run ${place + 1}`, score));
      const head = ["", "score", "label", "minus the user"].map((title) => make(title ? "th" : "td", title ? { scope: "col" } : {}, title));
      const table = make("table", { class: "runs" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, this.makeRun("user", one.mean ?? "not rated"), ...runs));
      const fold = make("details", {}, make("summary", {}, `Each run (${one.scores.length})`), table);
      return make("div", { class: "judge" }, heading, sentence, scale, fold);
    }

    judgeInWords(known) {
      const { data, one } = this;
      const none = one.scores.length - known.length;
      const without = none ? ` ${count(none, "run")} gave no score.` : "";
      if (!known.length) return `no run gave a score.`;
      const mean = `mean score ${labelled(data, one.score)} over ${count(known.length, "run")}`;
      if (one.mean === null) return `${mean}. The user did not rate this conversation.${without}`;
      const other = known.filter((score) => levelOf(score) !== one.level).length;
      const parted = other ? `${other} of ${count(known.length, "run")} ${other === 1 ? "gives" : "give"} another label` : "every run gives the same label";
      return `${mean}, ${apart(one)}, whose mean rating is ${labelled(data, one.mean)}; ${parted}.${without}`;
    }

    makeRun(title, score) {
      const { data, one } = this;
      const head = make("th", { scope: "row" }, title);
      if (typeof score !== "number") return make("tr", {}, head, make("td", { colspan: 3 }, `no score: ${score}`));
      const level = title === "user" ? one.level : levelOf(score);
      const label = make("td", {}, make("span", { class: "level", "data-level": level }, `${level} ${data.levels[level - 1]}`));
      const minus = title === "user" || one.mean === null ? "" : signed(score - one.mean);
      const parted = minus !== "" && level !== one.level;
      const text = parted ? `${minus}, another label` : minus;
      return make("tr", parted ? { class: "parted" } : {}, head, make("td", {}, score.toFixed(2)), label, make("td", {}, text));
    }

    // From 1 to 5: where the user stands, and every run; runs with the same score stand on each other.
    makeScale(known) {
      const place = (element, score) => {
        element.style.setProperty("--at", String((Math.min(5, Math.max(1, score)) - 1) / 4));
        return element;
      };
      const ticks = [1, 2, 3, 4, 5].map((level) => place(make("span", { class: "tick" }, String(level)), level));
      const stacked = new Map();
      const dots = known.map((score) => {
        const dot = place(make("span", { class: levelOf(score) === this.one.level ? "dot" : "dot parted" }), score);
        dot.style.setProperty("--over", String(stacked.get(score) ?? 0));
        stacked.set(score, (stacked.get(score) ?? 0) + 1);
        return dot;
      });
      const user = place(make("span", { class: "user" }, make("span", {}, "user")), this.one.mean);
      const text = `On the scale from 1 to 5: user ${this.one.mean.toFixed(2)}; runs ${known.map((score) => score.toFixed(2)).join(", ")}`;
      const scale = make("div", { class: "scale", role: "img", "aria-label": text }, ...ticks, ...dots, user);
      scale.style.setProperty("--stack", String(Math.max(...stacked.values())));
      const key = make("p", { class: "hint" }, "Line: the user’s mean rating. Dots: the judge’s runs; hollow where the label is another.");
      return make("div", {}, scale, key);
    }

    // --- ratings --------------------------------------------------------------------------

    makeHeat() {
      const { data, one } = this;
      const turns = one.messages.filter((message) => message.ratings !== undefined);
      const heading = this.head("Ratings by turn");
      if (!turns.length) return make("div", {}, heading, make("p", {}, "This conversation has no turn of the assistant."));
      const links = turns.map((_, place) => make("th", { scope: "col" }, this.link(place + 1, unseen("turn "), String(place + 1))));
      const body = make("tbody");
      data.ratings.forEach(({ title, asked }, place) => {
        const row = make("tr", {}, make("th", { scope: "row" }, title));
        if (!asked) row.append(make("td", { class: "never", colspan: turns.length }, "never asked"));
        else turns.forEach((turn) => row.append(this.makeLevel(turn.ratings[place])));
        body.append(row);
      });
      const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Rating"), ...links));
      const table = make("table", { class: "heat" }, make("caption", {}, "Each turn of the assistant as its user rated it"), head, body);
      return make("div", {}, heading, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Ratings by turn" }, table));
    }

    makeLevel(sign) {
      const name = word(this.data, sign);
      const shown = make("span", { "aria-hidden": "true" }, sign === "." ? "\u00a0" : sign);
      return make("td", { class: "level", "data-level": sign, title: name }, shown, unseen(/[1-5]/.test(sign) ? `${sign} ${name}` : name));
    }

    makeAfter() {
      const facts = make("dl", { class: "facts" });
      this.data.answers.slice(2).forEach((asked, place) => {
        const sign = this.one.answers[place + 2];
        const value = make("dd", {});
        if (asked.asked && sign !== ".") value.append(make("span", { class: "level", "data-level": sign }, answer(sign, asked)));
        else value.append(answer(sign, asked));
        facts.append(make("div", {}, make("dt", {}, asked.title), value));
      });
      return make("div", {}, this.head("Ratings after the conversation"), facts);
    }

    // --- what was said --------------------------------------------------------------------

    makeMessages() {
      const { messages } = this.one;
      let turn = 0;
      const list = make("ol", { class: "messages" });
      for (const message of messages) {
        if (message.ratings !== undefined) turn += 1;
        list.append(this.makeMessage(message, message.ratings === undefined ? null : turn));
      }
      return make("div", {}, this.head("What was said"), messages.length ? list : make("p", {}, "This conversation has no messages."));
    }

    makeMessage(message, turn) {
      const minutes = message.seconds === undefined ? null : Math.floor(Math.round(message.seconds) / 60);
      const clock = minutes === null ? "" : `, ${minutes}:${String(Math.round(message.seconds) % 60).padStart(2, "0")}`;
      const text = make(
        "div",
        { class: "text" },
        make(
          "p",
          { class: "who" },
          own("strong", message.role ?? "no role"),
          turn === null ? null : make("span", {}, ", ", this.link(turn, `turn ${turn}`)),
          clock,
          this.data.simulated ? make("span", { class: "simulated" }, ", simulated") : null,
          message.retry === undefined ? null : make("span", {}, ", retry: ", own("span", message.retry)),
        ),
        message.content === undefined ? make("p", { class: "hint" }, "no text") : this.makeText("p", message.content),
        message.comment === undefined ? null : make("div", { class: "comment" }, make("p", { class: "who" }, "The user’s comment on this turn"), this.makeText("p", message.comment)),
      );
      const item = make("li", { class: "message", "data-role": message.role ?? "" }, text);
      if (turn === null) return item;
      item.dataset.turn = turn;
      item.tabIndex = -1;
      item.append(this.makeRatings(message.ratings, turn));
      return item;
    }

    makeRatings(signs, turn) {
      const ratings = make("ul", { class: "ratings", "aria-label": `Ratings of turn ${turn}` });
      this.data.ratings.forEach(({ title, asked }, place) => {
        if (!asked) return;
        const name = word(this.data, signs[place]);
        const level = make("span", { class: "level", "data-level": signs[place] }, /[1-5]/.test(signs[place]) ? `${signs[place]} ${name}` : name);
        ratings.append(make("li", {}, make("span", { class: "title" }, title), " ", level));
      });
      return ratings;
    }

    makeText(tag, text) {
      return marked(tag, text, this.words);
    }
  }

  // --- two beside each other ----------------------------------------------------------------

  /* Facts of both in one table; a row in which they differ says so. */
  function makeGlance(sides) {
    const facts = sides.map((side) => new Map(side.facts()));
    const titles = [...new Set(facts.flatMap((own) => [...own.keys()]))];
    const text = (value) => (typeof value === "string" ? value : (value?.textContent ?? "none"));
    const rows = titles.map((title) => {
      const values = facts.map((own) => own.get(title) ?? "none");
      const differ = text(values[0]) !== text(values[1]);
      const head = make("th", { scope: "row" }, title, differ ? unseen(", differs") : null);
      return make("tr", differ ? { class: "differs" } : {}, head, ...values.map((value) => make("td", {}, value)));
    });
    const head = sides.map((side) => make("th", { scope: "col" }, own("span", side.one.name)));
    return make("table", { class: "glance" }, make("caption", {}, "Both at a glance; rows in bold differ"), make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...rows));
  }

  /* Tabs that a narrow screen shows: there one conversation is seen at a time. */
  function makeTabs(sides, panels) {
    const tabs = sides.map((side, place) =>
      make("button", { type: "button", role: "tab", id: `explorer-tab-${place}`, "aria-controls": `explorer-side-${place}` }, own("span", side.one.name)),
    );
    const choose = (chosen) => {
      tabs.forEach((tab, place) => {
        tab.setAttribute("aria-selected", String(place === chosen));
        tab.tabIndex = place === chosen ? 0 : -1;
        panels[place].classList.toggle("off-screen", place !== chosen);
      });
    };
    tabs.forEach((tab, place) => {
      tab.addEventListener("click", () => choose(place));
      tab.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        choose(1 - place);
        tabs[1 - place].focus();
      });
    });
    choose(0);
    return [make("div", { class: "tabs", role: "tablist", "aria-label": "Conversation to show" }, ...tabs), choose];
  }

  Object.assign(window.sense7Explorer, { Conversation, makeGlance, makeTabs, makeLabel, makeLegend, makeNote, word, apart, address, marked, patternOf });
})();
