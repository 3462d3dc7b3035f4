/* What the explorer can be asked for, and how its address says it. */
(() => {
  "use strict";

  const explorer = window.sense7Explorer;
  const NOT_GIVEN = "not given";
  const APART = ["0.5", "1", "1.5", "2"];

  /* The state of the page, as its address holds it; "" is the default of each. */
  const EMPTY = {
    ...{ text: "", condition: "", prompted: "", topic: "", participant: "", label: "", from: "", to: "" },
    ...{ turns_from: "", turns_to: "", poor: "", first: "", low: "", level: "", importance: "", desired: "" },
    ...{ repeat: "", apart: "", judge: "", sort: "", page: "", compare: "" },
  };
  const OPENED = ["conversation", "turn", "with", "with_turn"];
  const NAMED = ["condition", "topic", "participant", "judge"];

  /* A name is kept as "=name" while "none" stands for what is not given; the address holds the plain name where
     it can't be mistaken. */
  const kept = (text) => (text === "" || text === "none" || text.startsWith("=") ? text : `=${text}`);
  const plain = (text) => (/^=(none$|=|$)/.test(text) ? text : text.replace(/^=/, ""));

  // An address such as #how-to-read-this is an ordinary place on the page.
  const isState = (hash) => hash.length < 2 || hash.includes("=");

  function read(hash) {
    const given = new URLSearchParams(hash.slice(1));
    const take = (names) => Object.fromEntries(names.map((name) => [name, given.get(name)]));
    const state = { ...EMPTY };
    for (const [name, value] of Object.entries(take(Object.keys(EMPTY)))) {
      if (value !== null) state[name] = NAMED.includes(name) ? kept(value) : value;
    }
    return [state, take(OPENED)];
  }

  function address(state, opened = {}) {
    const given = new URLSearchParams();
    for (const name of OPENED) if ((opened[name] ?? null) !== null) given.set(name, opened[name]);
    for (const name of Object.keys(EMPTY)) {
      const value = state[name] ?? "";
      if (value !== "") given.set(name, NAMED.includes(name) ? plain(value) : value);
    }
    return `#${given}`;
  }

  // --- choices: each conversation stands under some values of each -----------------------

  const named = (field) => ({
    options: (data, all) => [
      ...[...new Set(all.map((one) => one[field]))]
        .filter((text) => text !== null)
        .sort()
        .map((text) => [`=${text}`, text]),
      ...(all.some((one) => one[field] === null) ? [["none", NOT_GIVEN]] : []),
    ],
    of: (one) => [one[field] === null ? "none" : `=${one[field]}`],
  });

  const answered = (place) => ({
    options: (data, all) => {
      const answer = data.answers[place];
      if (!answer.asked) return [];
      const levels = Array.from({ length: answer.levels }, (_, level) => [String(level + 1), `${level + 1} of ${answer.levels}`]);
      return [...levels, ...(all.some((one) => one.answers[place] === ".") ? [["none", NOT_GIVEN]] : [])];
    },
    of: (one) => [one.answers[place] === "." ? "none" : one.answers[place]],
  });

  const yes = (answer) => (answer ? ["yes"] : ["no"]);
  const isLow = (sign, state, data) => sign !== "." && Number(sign) <= (state.level === "1" ? 1 : data.poorLevel);

  /* Name -> title, whether it stands among the further filters, what can be chosen ([] where nothing can), and the
     values under which a conversation stands. */
  const CHOICES = {
    condition: { title: "Condition", ...named("condition") },
    topic: { title: "Topic", ...named("topic") },
    poor: {
      title: "Poor turns",
      options: () => [["yes", "at least one poor turn"], ["no", "no poor turn"], ["unknown", "not known"]],
      of: (one) => (one.poorTurns === null ? ["unknown"] : yes(one.poorTurns > 0)),
    },
    apart: {
      title: "Judge and user differ",
      options: (data) => (data.judges.length ? [...APART.map((by) => [by, `by ${by} ${by === "1" ? "level" : "levels"} or more`]), ["none", "no score"]] : []),
      of: (one) => (one.difference === null ? ["none"] : APART.filter((by) => Math.abs(one.difference) >= Number(by))),
    },
    prompted: {
      more: true,
      title: "Empathy prompt",
      options: (data) => (data.prompted === null ? [] : [["yes", "with the prompt"], ["no", "without"]]),
      of: (one, state, data) => (data.prompted === null ? [] : yes(one.condition === data.prompted)),
    },
    participant: { more: true, title: "Participant", ...named("participant") },
    repeat: {
      more: true,
      title: "Repeated conversations",
      options: () => [
        ["first", "the participant’s first"],
        ["later", "a later one"],
        ["condition", "again in the same condition"],
        ["topic", "again on the same topic"],
      ],
      of: (one) => one.repeat,
    },
    first: {
      more: true,
      title: "First poor turn",
      options: (data, all) => {
        const turns = new Set(all.map((one) => one.firstPoor).filter((turn) => turn !== null));
        return [...turns].sort((a, b) => a - b).map((turn) => [String(turn), `turn ${turn}`]);
      },
      of: (one) => (one.firstPoor === null ? [] : [String(one.firstPoor)]),
    },
    low: {
      more: true,
      title: "A turn rated low on",
      options: (data) => data.ratings.filter((rating) => rating.asked).map((rating) => [rating.name, rating.title]),
      of: (one, state, data) => data.ratings.flatMap(({ name }, place) => (isLow(one.lowest[place], state, data) ? [name] : [])),
    },
    level: {
      more: true,
      title: "Low means",
      all: (data) => data.levels.slice(0, data.poorLevel).reverse().join(" or "),
      options: (data) => [["1", data.levels[0]]],
      of: (one, state, data) => {
        const veryPoor = (place) => isLow(one.lowest[place], { level: "1" }, data);
        return data.ratings.some(({ name }, place) => (state.low === "" || state.low === name) && veryPoor(place)) ? ["1"] : [];
      },
    },
    label: {
      more: true,
      title: "Label",
      options: (data) => [...data.levels.map((level, place) => [String(place + 1), level]), ["none", "not rated"]],
      of: (one) => [one.level === 0 ? "none" : String(one.level)],
    },
    importance: { more: true, title: "Importance", ...answered(0) },
    desired: { more: true, title: "Empathy wished for", ...answered(1) },
  };

  const RANGES = [
    { names: ["from", "to"], title: "Mean rating", limits: { min: 1, max: 5, step: 0.1 }, of: (one) => one.mean },
    { names: ["turns_from", "turns_to"], title: "Turns", limits: { min: 0, step: 1 }, of: (one) => one.overall.length },
  ];

  function rangeTest(range, state) {
    const bound = (text, otherwise) => (text === "" || Number.isNaN(Number(text)) ? otherwise : Number(text));
    const [from, to] = [bound(state[range.names[0]], -Infinity), bound(state[range.names[1]], Infinity)];
    if (from === -Infinity && to === Infinity) return null;
    return (one) => range.of(one) !== null && range.of(one) >= from && range.of(one) <= to;
  }

  // --- what fits -------------------------------------------------------------------------

  /* Name -> test of each filter that is set; a range goes by its first name. */
  function tests(state, data, words) {
    const found = new Map();
    for (const [name, choice] of Object.entries(CHOICES)) {
      if (state[name] !== "") found.set(name, (one) => choice.of(one, state, data).includes(state[name]));
    }
    for (const range of RANGES) {
      const test = rangeTest(range, state);
      if (test) found.set(range.names[0], test);
    }
    const holds = (one, word) => one.known.includes(word) || (one.said !== null && one.said.includes(word));
    if (words.length) found.set("text", (one) => words.every((word) => holds(one, word)));
    return found;
  }

  /* The conversations that fit, and for each choice how many would fit with each of its values, the others kept;
     for a search or a range how many fit it alone. Choices that nobody sees are not counted. */
  function find(all, state, data, words, areFurtherShown) {
    const set = [...tests(state, data, words)];
    const shown = Object.entries(CHOICES).filter(([, choice]) => areFurtherShown || !choice.more);
    const counts = Object.fromEntries(shown.map(([name]) => [name, new Map()]));
    const alone = new Map(set.map(([name]) => [name, 0]));
    const add = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
    const found = [];
    for (const one of all) {
      const failed = set.filter(([name, test]) => (test(one) ? (add(alone, name), false) : true)).map(([name]) => name);
      if (failed.length === 0) found.push(one);
      if (failed.length > 1) continue;
      for (const [name, choice] of shown) {
        if (failed.length === 1 && failed[0] !== name) continue;
        add(counts[name], "");
        for (const value of choice.of(one, state, data)) add(counts[name], value);
      }
    }
    return { found, counts, alone };
  }

  // --- order -----------------------------------------------------------------------------

  // What is missing comes last, whichever way the rest goes.
  function byNumber(a, b, sign = 1) {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (a - b);
  }

  const size = (value) => (value === null ? null : Math.abs(value));
  const SORTS = {
    "": ["as in the file", () => 0],
    lowest: ["mean rating, lowest first", (a, b) => byNumber(a.mean, b.mean)],
    highest: ["mean rating, highest first", (a, b) => byNumber(a.mean, b.mean, -1)],
    poor: ["poor turns, most first", (a, b) => byNumber(a.poorTurns, b.poorTurns, -1)],
    longest: ["turns, most first", (a, b) => b.overall.length - a.overall.length],
    apart: ["judge and user, furthest apart first", (a, b) => byNumber(size(a.difference), size(b.difference), -1)],
    above: ["judge above the user first", (a, b) => byNumber(a.difference, b.difference, -1)],
    below: ["judge below the user first", (a, b) => byNumber(a.difference, b.difference)],
  };
  const OF_JUDGE = ["apart", "above", "below"];

  function sort(found, name) {
    if (name !== "" && Object.hasOwn(SORTS, name)) found.sort((a, b) => SORTS[name][1](a, b) || a.place - b.place);
  }

  Object.assign(explorer, { EMPTY, CHOICES, RANGES, SORTS, OF_JUDGE, NOT_GIVEN, isState, read, address, find, sort });
})();
