/* The way through a study: its steps in order, and the questions of each. */

const UNKNOWN = "unknown"; // the official word for a dimension that was asked and not rated

function stepsOf(state) {
  const steps = [];
  const asked = (when) => settings.questions.some((question) => question.when === when);
  if (asked("before")) steps.push({ kind: "about", when: "before" });
  state.conversations.forEach((conversation, place) => {
    const common = { conversation, number: place + 1, total: state.conversations.length };
    const messages = ratedMessages(textOf(conversation).messages);
    if (settings.before.length) steps.push({ kind: "before", ...common });
    messages.forEach((message, turn) => steps.push({ kind: "turn", ...common, message, turn: turn + 1, turns: messages.length }));
    if (settings.after.length) steps.push({ kind: "after", ...common });
  });
  if (asked("after")) steps.push({ kind: "about", when: "after" });
  steps.push({ kind: "finish" });
  return steps;
}

/* Numbers, from 1, of the messages that are rated. */
function ratedMessages(messages) {
  const replies = messages.flatMap((message, place) => (message.role === "assistant" ? [place + 1] : []));
  if (Array.isArray(settings.turns)) return settings.turns.flatMap((turn) => replies[turn - 1] ?? []);
  return { all: replies, first: replies.slice(0, 1), last: replies.slice(-1) }[settings.turns];
}

const titleOf = (name) => words.dimensions[name][0];
const definitionOf = (name) => say("the_assistant", { definition: words.dimensions[name][1] });
const numbered = (scale) => words.scales[scale].map((word, place) => ({ value: place + 1, label: word }));

/* A question: where its answer is stored (answers, key) and known to other tabs (place), what it says, and what may be answered. */
function questionsOf(step, state) {
  return { about: aboutQuestions, before: beforeQuestions, turn: turnQuestions, after: afterQuestions }[step.kind]?.(step, state) ?? [];
}

function aboutQuestions(step, state) {
  return settings.questions
    .filter((question) => question.when === step.when)
    .map(({ name, text, kind, choices, lowest, highest }) => ({
      place: [null, "answers"], answers: state.answers, key: name, title: text, kind: kind === "choice" ? "scale" : kind, lowest, highest, list: true, own: true,
      options: choices?.map((choice) => ({ value: choice, label: choice })),
    }));
}

function beforeQuestions(step) {
  return settings.before.map((key) => ({
    place: [step.conversation.id, "before"], answers: step.conversation.before, key, title: words.questions[key],
    kind: key === "topic" ? "text" : "scale", options: key === "topic" ? null : numbered(key),
  }));
}

function turnQuestions(step, state) {
  const answers = (step.conversation.turns[step.message] ??= {});
  const options = levels.map((level, place) => ({ value: level, label: words.scales.turn[place] }));
  const place = [step.conversation.id, "turns", step.message];
  const rating = { place, answers, kind: "scale", options, apart: { value: UNKNOWN, label: words.not_applicable } };
  const questions = state.dimensions.map((key) => ({ ...rating, key, title: titleOf(key), hint: definitionOf(key) }));
  if (settings.overall) {
    questions.push({ ...rating, key: "overall", title: words.overall[0], hint: say("the_assistant", { definition: words.overall[1] }) });
  }
  if (settings.comment) questions.push({ place, answers, key: "comment", title: words.comment, kind: "text", long: true, optional: true });
  return questions;
}

function afterQuestions(step, state) {
  const answers = step.conversation.after;
  const place = [step.conversation.id, "after"];
  const experience = settings.after.filter((key) => key !== "empathy").map((key) => ({
    place, answers, key, title: words.questions[key], kind: "scale", options: numbered("experience"),
  }));
  const empathy = !settings.after.includes("empathy") ? [] : state.dimensions.map((key) => ({
    place, answers, key, title: titleOf(key), hint: definitionOf(key), kind: "scale", options: numbered("empathy"), group: "empathy",
  }));
  return [...experience, ...empathy];
}

const isMissing = ({ answers, key, optional }) => !optional && (answers[key] ?? "") === "";
const missingIn = (step, state) => questionsOf(step, state).filter(isMissing);

function stepTitle(step) {
  const parts = step.conversation ? [say("conversation", step)] : [];
  if (step.kind === "turn") parts.push(say("turn", { number: step.turn, total: step.turns }));
  else parts.push(words[{ about: "about_you", before: "before", after: "after", finish: "finish" }[step.kind]]);
  return parts;
}
