/* One step at a time: drawn, answered, left. */

const root = document.getElementById("instrument");
let state = null;
let steps = [];
let position = 0; // the step that this tab shows; every tab has its own
let note = "";
let checking = 0;
let updates = []; // what is drawn again when another tab answered

const onOtherTab = (update) => updates.push(update);

function show(...content) {
  root.replaceChildren(...content);
  document.title = [root.querySelector("h1")?.textContent, settings.title].filter(Boolean).join(" \u2013 ");
  window.scrollTo(0, 0);
}

function partsOfHeading(parts) {
  const [first, ...following] = parts.map((part) => make("span", { class: "part" }, part));
  return [first, ...following.flatMap((part) => [make("span", { class: "unseen" }, ": "), part])];
}

const noteBox = () => (note ? make("p", { class: "note", role: "status" }, note) : null);
const storeNote = () => (canKeep ? null : make("p", { class: "note fault", role: "alert" }, words.not_kept));

/* --- keeping -------------------------------------------------------------------------- */

/* Keep the answers, and say whether they still are this person's: removed for good in another tab, they stay removed. */
function keepAnswers() {
  if (wasRemoved(state)) {
    leaveRemoved();
    return false;
  }
  const before = canKeep;
  keep(state);
  if (before !== canKeep) showWhetherKept();
  askBeforeLeaving();
  clearTimeout(checking);
  checking = setTimeout(keepWhatIsLacking, 500);
  return true;
}

/* A while after an answer, and when the tab is left: what another tab overwrote at the same moment is kept again. */
function keepWhatIsLacking() {
  if (state && canKeep && !wasRemoved(state) && keptLacks(state)) keepAnswers();
}

/* If the browser's store is full or closed, the person is told at once. */
function showWhetherKept() {
  root.querySelector(".kept")?.replaceChildren(canKeep ? words.kept : "");
  root.querySelector(".store")?.replaceChildren(...[storeNote()].filter(Boolean));
}

const stay = (event) => {
  event.preventDefault();
  event.returnValue = true; // what browsers before 2024 ask for
};

/* Answers that are nowhere but in this tab are not left without a question. */
function askBeforeLeaving() {
  if (onlyHere()) window.addEventListener("beforeunload", stay);
  else window.removeEventListener("beforeunload", stay);
}

const onlyHere = () => state !== null && !canKeep && state.clock > 0;

/* What other tabs kept is shown, and nothing is written: else two tabs would answer each other without end. */
function takeOver(text = null) {
  if (!state) return;
  if (wasRemoved(state)) {
    sayOnce(words.deleted); // what is done here next leads to the beginning
    return;
  }
  const written = joinKept(state, answersIn(text)); // what that tab wrote, also if this one wrote over it
  if (!joinKept(state) && !written) return;
  updates.forEach((update) => update());
  sayOnce(words.other_tab);
}

function sayOnce(text) {
  if (root.querySelector(".other-tab")?.textContent === text) return;
  root.querySelector(".other-tab").replaceChildren(make("p", { class: "note" }, text));
}

function leaveRemoved() {
  note = words.deleted;
  leave();
}

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
    if (!begun.conversations.length) return refuse("none_for_code", code);
    note = before ? say("welcome_back", { person }) : "";
    return enter(begun, begun.step);
  };
  updates = [];
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

function enter(answers, number) {
  state = answers;
  steps = stepsOf(state);
  goTo(Math.max(0, Math.min(number, steps.length - 1)));
}

function goTo(number) {
  if (moveTo(number)) location.hash = `#step-${position + 1}`;
}

/* Keep, show a step, and say whether it is shown. */
function moveTo(number) {
  state.step = number;
  if (!keepAnswers()) return false;
  showStep(number);
  return true;
}

function stepInAddress() {
  const number = /^#step-(\d{1,6})$/.exec(location.hash)?.[1];
  return number === undefined ? null : Math.max(0, Math.min(Number(number), steps.length) - 1);
}

function showStep(number) {
  position = number;
  updates = [];
  const step = steps[number];
  const draw = drawings[step.kind] ?? drawQuestions;
  const place = { number: position + 1, total: steps.length };
  const header = make("header", {},
    make("progress", { value: position, max: steps.length - 1, "aria-label": say("progress", place) }),
    make("p", {}, own("span", state.person, asWritten()), make("span", { class: "kept" }, canKeep ? words.kept : "")));
  const title = make("h1", { tabindex: -1 }, ...partsOfHeading(stepTitle(step)));
  show(header, make("main", { class: step.kind }, title, noteBox(),
    make("div", { class: "other-tab", role: "status" }), make("div", { class: "store" }, storeNote()), ...draw(step)));
  note = "";
  title.focus({ preventScroll: true });
}

function actions(...further) {
  const sure = drawSure(words.leave_sure, words.leave_yes, leave);
  const change = () => (onlyHere() ? sure.ask() : leave());
  return make("div", {},
    make("div", { class: "actions" },
      position > 0 ? button(words.back, () => goTo(position - 1)) : button(words.someone_else, change),
      ...further),
    sure.box);
}

/* A question before something that can't be taken back. */
function drawSure(question, yes, action) {
  const box = make("div", { class: "skip", hidden: true },
    make("p", {}, question),
    button(words.keep, () => { box.hidden = true; }),
    button(yes, action));
  const ask = () => {
    box.hidden = false;
    box.querySelector("button").focus();
  };
  return { box, ask };
}

function leave() {
  state = null;
  forgetPerson();
  askBeforeLeaving();
  location.hash = "";
  showStart();
}

function drawQuestions(step) {
  const questions = questionsOf(step, state);
  const answered = (question, value) => {
    giveAnswer(state, question, value);
    keepAnswers();
  };
  const drawn = questions.map((question) => drawQuestion(question, answered));
  const fault = make("div", { class: "skip", hidden: true, role: "alert" });
  const submit = (event) => {
    event.preventDefault();
    const wrong = root.querySelector("[aria-invalid=true]");
    if (wrong) return wrong.focus();
    const missing = missingIn(step, state).length;
    if (!missing) return goTo(position + 1);
    fault.hidden = false;
    fault.replaceChildren(make("p", {}, say("missing", { number: missing })), button(words.go_on, () => goTo(position + 1)));
    return markMissing(questions, drawn);
  };
  const form = make("form", { novalidate: true, submit },
    ...introduction(step), ...withGroups(questions, drawn), fault,
    actions(make("button", { class: "main" }, words.continue)));
  if (step.kind !== "turn") return [form];
  return [make("div", { class: "sides" }, drawConversation(step), form)];
}

function introduction(step) {
  if (step.kind === "turn") return [make("p", asWritten("ask"), words.rate), make("p", { class: "hint keys" }, words.keys)];
  const hint = { before: "before_hint", after: "after_hint" }[step.kind];
  if (!hint) return [];
  const agreeing = step.kind === "after" && settings.after.some((key) => key !== "empathy");
  return [make("p", { class: "hint" }, words[hint]), drawWhole(step), agreeing ? make("p", asWritten("ask"), words.how_much) : null];
}

/* The seven dimensions after a conversation have a question of their own above them. */
function withGroups(questions, drawn) {
  const first = questions.findIndex((question) => question.group);
  return drawn.flatMap((field, place) => (place === first ? [make("p", asWritten("ask"), words.empathy_after), field] : [field]));
}

/* --- the end -------------------------------------------------------------------------- */

function drawFinish() {
  const open = make("section", {});
  drawOpen(open);
  onOtherTab(() => drawOpen(open));
  const outcome = make("p", { class: "note", hidden: true, role: "status" });
  const copying = make("div", {});
  const save = () => {
    if (!keepAnswers()) return;
    const file = fileOf(state);
    outcome.hidden = false;
    outcome.textContent = say(askToSave(file) ? "saved" : "not_saved", { file: file.name });
    copying.replaceChildren(drawTextToCopy(file.text));
  };
  const sure = drawSure(words.delete_sure, words.delete_yes, () => {
    removeForGood(state);
    leaveRemoved();
  });
  return [
    open,
    make("p", {}, button(words.download, save, "main")),
    outcome,
    copying,
    make("p", { class: "hint" }, words.send),
    make("div", { class: "delete" }, button(words.delete, sure.ask, "quiet"), sure.box),
    actions(),
  ];
}

drawings.finish = drawFinish;

/* Which steps have open questions. */
function drawOpen(section) {
  const missing = steps.flatMap((step, place) => (missingIn(step, state).length ? [place] : []));
  const link = (place) => {
    const follow = (event) => { event.preventDefault(); goTo(place); };
    return make("li", {}, make("a", { href: `#step-${place + 1}`, click: follow }, stepTitle(steps[place]).join(": ")));
  };
  if (missing.length) section.replaceChildren(make("p", {}, words.some_missing), make("ul", {}, ...missing.map(link)));
  else section.replaceChildren(make("p", {}, words.all_answered));
}

/* --- */

window.addEventListener("hashchange", () => {
  const number = state ? stepInAddress() : null;
  if (number !== null && number !== position) moveTo(number);
});
window.addEventListener("storage", (event) => {
  if (!state) return;
  if (event.key === placeOf(state.person)) takeOver(event.newValue);
  else if (event.key === REMOVED || event.key === null) takeOver();
});
// A tab that slept was told nothing.
window.addEventListener("pageshow", (event) => { if (event.persisted) takeOver(); });
document.addEventListener("visibilitychange", () => { if (document.hidden) keepWhatIsLacking(); else takeOver(); });
window.addEventListener("pagehide", keepWhatIsLacking);

const person = lastPerson();
const before = person ? keptAnswers(person) : null;
if (before) {
  note = say("welcome_back", { person });
  steps = stepsOf(before);
  enter(before, stepInAddress() ?? before.step);
} else {
  showStart();
}
