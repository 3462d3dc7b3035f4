/* One step at a time: drawn, answered, left. */

const root = document.getElementById("instrument");
let state = null;
let note = "";

function show(...content) {
  root.replaceChildren(...content);
  document.title = [root.querySelector("h1")?.textContent, settings.title].filter(Boolean).join(" \u2013 ");
  window.scrollTo(0, 0);
}

function heading(parts) {
  const [first, ...following] = parts.map((part) => make("span", { class: "part" }, part));
  return make("h1", { tabindex: -1 }, first, ...following.flatMap((part) => [make("span", { class: "unseen" }, ": "), part]));
}

/* After an answer: if the browser's store is full or closed, the person is told at once. */
function keepAnswer() {
  const before = canKeep;
  keep(state);
  if (before && !canKeep) root.querySelector("main").prepend(storeNote());
}

const noteBox = () => (note ? make("p", { class: "note", role: "status" }, note) : null);
const storeNote = () => (canKeep ? null : make("p", { class: "note fault", role: "alert" }, words.not_kept));

/* --- the beginning ---------------------------------------------------------------- */

function showStart() {
  const fault = make("p", { class: "fault", id: "start-fault", role: "alert" });
  const code = make("input", { id: "code", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: 40, "aria-describedby": "code-hint start-fault" });
  const agree = settings.consent ? make("input", { type: "checkbox", id: "agree" }) : null;
  const begin = (event) => {
    event.preventDefault();
    fault.textContent = "";
    const person = code.value.normalize("NFC").trim();
    const refuse = (key, field) => { fault.textContent = say(key, { person }); field.focus(); };
    if (agree && !agree.checked) return refuse("agree_missing", agree);
    if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,39}$/u.test(person)) return refuse("code_wrong", code);
    const before = keptAnswers(person);
    const begun = before ?? newState(person);
    if (!begun.conversations.length && !settings.add_conversations) return refuse("none_for_code", code);
    state = begun;
    note = before ? say("welcome_back", { person }) : "";
    keep(state);
    return goTo(state.step);
  };
  show(make("main", { class: "start" },
    own("h1", settings.title, { tabindex: -1 }),
    noteBox(),
    settings.introduction ? own("p", settings.introduction, { class: "text" }) : null,
    make("form", { novalidate: true, submit: begin },
      settings.consent ? make("section", { class: "question" }, make("h2", {}, words.consent), own("p", settings.consent, { class: "text" }),
        make("label", { class: "agree" }, agree, make("span", {}, words.agree))) : null,
      make("div", { class: "question" }, make("label", { for: "code" }, words.code), make("p", { class: "hint", id: "code-hint" }, words.code_hint), code),
      fault,
      make("div", { class: "actions" }, make("button", { class: "main" }, words.start))),
    make("p", { class: "hint" }, words.private),
    storeNote()));
  note = "";
}

/* --- steps -------------------------------------------------------------------------- */

function goTo(number) {
  showStep(number);
  location.hash = `#step-${number + 1}`;
}

function stepInAddress() {
  const number = Number(/^#step-(\d{1,6})$/.exec(location.hash)?.[1] ?? 0) - 1;
  return Math.max(0, Math.min(number, stepsOf(state).length - 1));
}

function showStep(number) {
  const steps = stepsOf(state);
  const step = steps[number];
  state.step = number;
  keep(state);
  const position = { number: number + 1, total: steps.length };
  const draw = { add: drawAdd, finish: drawFinish }[step.kind] ?? drawQuestions;
  show(
    make("header", {},
      make("progress", { value: number, max: steps.length - 1, "aria-label": say("progress", position) }),
      make("p", {}, own("span", state.person), make("span", {}, canKeep ? words.kept : ""))),
    make("main", { class: step.kind }, heading(stepTitle(step)), noteBox(), storeNote(), ...draw(step, steps, number)));
  note = "";
  root.querySelector("h1").focus({ preventScroll: true });
}

function actions(number, ...further) {
  return make("div", { class: "actions" },
    number > 0 ? button(words.back, () => goTo(number - 1)) : button(words.someone_else, leave),
    ...further);
}

function leave() {
  state = null;
  stored((store) => store.removeItem(PLACE));
  location.hash = "";
  showStart();
}

function drawQuestions(step, steps, number) {
  const questions = questionsOf(step, state);
  const drawn = questions.map((question) => drawQuestion(question, keepAnswer));
  const fault = make("div", { class: "skip", hidden: true, role: "alert" });
  const submit = (event) => {
    event.preventDefault();
    const wrong = root.querySelector("[aria-invalid=true]");
    if (wrong) return wrong.focus();
    const missing = missingIn(step, state).length;
    if (!missing) return goTo(number + 1);
    fault.hidden = false;
    fault.replaceChildren(make("p", {}, say("missing", { number: missing })), button(words.go_on, () => goTo(number + 1)));
    return markMissing(questions, drawn);
  };
  const form = make("form", { novalidate: true, submit },
    ...introduction(step), ...withGroups(questions, drawn), fault,
    actions(number, make("button", { class: "main" }, words.continue)));
  if (step.kind !== "turn") return [form];
  return [make("div", { class: "sides" }, drawConversation(step), form)];
}

function introduction(step) {
  if (step.kind === "turn") return [make("p", { class: "ask" }, words.rate), make("p", { class: "hint keys" }, words.keys)];
  const hint = { before: "before_hint", after: "after_hint" }[step.kind];
  if (!hint) return [];
  const agreeing = step.kind === "after" && settings.after.some((key) => key !== "empathy");
  return [make("p", { class: "hint" }, words[hint]), drawWhole(step), agreeing ? make("p", { class: "ask" }, words.how_much) : null];
}

/* The seven dimensions after a conversation have a question of their own above them. */
function withGroups(questions, drawn) {
  const first = questions.findIndex((question) => question.group);
  return drawn.flatMap((field, place) => (place === first ? [make("p", { class: "ask" }, words.empathy_after), field] : [field]));
}

/* --- a person's own conversations -------------------------------------------------- */

function drawAdd(step, steps, number) {
  const fault = make("p", { class: "fault", role: "alert" });
  const add = (text) => {
    fault.textContent = "";
    const found = text.length > LARGEST ? [] : readConversations(text);
    if (!found.length) { fault.textContent = text.length > LARGEST ? words.add_large : words.add_unread; return false; }
    for (const { name, messages } of found) state.conversations.push(blank(freeName(name), { added: true, messages }));
    showStep(number);
    return true;
  };
  const file = make("input", { type: "file", id: "file", accept: ".jsonl,.json,.txt,text/plain,application/json", change: async () => {
    const [chosen] = file.files;
    if (chosen) add(chosen.size > 4 * LARGEST ? " ".repeat(LARGEST + 1) : await chosen.text());
  } });
  const pasted = make("textarea", { id: "paste", rows: 8, dir: "auto" });
  const next = button(words.continue, () => (state.conversations.length ? goTo(number + 1) : (fault.textContent = words.add_none)), "main");
  return [
    make("p", { class: "hint", id: "add-hint" }, words.add_hint),
    make("div", { class: "question" }, make("label", { for: "file" }, words.add_file), file),
    make("div", { class: "question" }, make("label", { for: "paste" }, words.add_paste), pasted, button(words.add, () => add(pasted.value))),
    fault,
    make("ol", { class: "added" }, ...state.conversations.map(drawAdded)),
    actions(number, next),
  ];
}

function freeName(name) {
  const taken = new Set([...state.conversations.map((conversation) => conversation.id), ...carriedById.keys()]);
  const base = name ?? "added";
  let number = 1;
  let free = name ?? "added-1";
  while (taken.has(free)) free = `${base}-${(number += 1)}`;
  return free;
}

function drawAdded(conversation, place) {
  const { messages } = textOf(conversation);
  const remove = () => { state.conversations.splice(place, 1); showStep(state.step); };
  return make("li", {}, own("b", conversation.id), ` ${say("messages", { number: messages.length })} `,
    own("span", messages[0].content.slice(0, 80), { class: "hint" }),
    conversation.added ? make("button", { type: "button", class: "remove", "aria-label": say("remove", { number: place + 1 }), click: remove }, "\u00d7") : null);
}

/* --- the end -------------------------------------------------------------------------- */

function drawFinish(step, steps, number) {
  const missing = steps.flatMap((each, place) => (missingIn(each, state).length ? [[place, stepTitle(each).join(": ")]] : []));
  const saved = make("p", { class: "note", hidden: true, role: "status" });
  const save = () => {
    const file = download(state);
    saved.hidden = false;
    saved.textContent = say("saved", { file });
  };
  return [
    missing.length
      ? make("section", {}, make("p", {}, words.some_missing), make("ul", {}, ...missing.map(([place, title]) => make("li", {}, make("a", { href: `#step-${place + 1}` }, title)))))
      : make("p", {}, words.all_answered),
    make("p", {}, button(words.download, save, "main")),
    saved,
    make("p", { class: "hint" }, words.send),
    drawDelete(),
    actions(number),
  ];
}

function drawDelete() {
  const sure = make("div", { class: "skip", hidden: true },
    make("p", {}, words.delete_sure),
    button(words.keep, () => { sure.hidden = true; }),
    button(words.delete_yes, () => { forget(state.person); note = words.deleted; leave(); }));
  return make("div", { class: "delete" }, button(words.delete, () => { sure.hidden = false; sure.querySelector("button").focus(); }, "quiet"), sure);
}

/* --- */

window.addEventListener("hashchange", () => { if (state && stepInAddress() !== state.step) showStep(stepInAddress()); });
window.addEventListener("storage", (event) => {
  if (!state || event.key !== placeOf(state.person) || !event.newValue) return;
  const { step } = state;
  state = keptAnswers(state.person);
  note = words.other_tab;
  showStep(Math.min(step, stepsOf(state).length - 1));
});

const person = lastPerson();
state = person ? keptAnswers(person) : null;
if (state) {
  note = say("welcome_back", { person });
  goTo(state.step);
} else {
  showStart();
}
