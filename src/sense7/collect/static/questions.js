/* A question as form fields. Each answer is stored and kept at once, and shown when another tab gave it. */

let fields = 0;

function drawQuestion(question, answered) {
  const id = `question-${(fields += 1)}`;
  const draw = { scale: drawScale, text: drawText, number: drawNumber }[question.kind];
  const kept = () => question.answers[question.key] ?? "";
  let shown = kept();
  const isAnswered = () => {
    field.classList.remove("missing");
    field.querySelector(".unanswered")?.remove();
  };
  const [field, showAnswer] = draw(question, id, (value) => {
    shown = value;
    isAnswered();
    answered(question, value);
  });
  field.translate = false;
  field.classList.add("notranslate");
  onOtherTab(() => {
    if (kept() === shown) return; // what is being typed here stays as it is
    shown = kept();
    isAnswered();
    showAnswer(shown);
  });
  return field;
}

/* A text without what no workbook can hold, such as the vertical tab of a slide. */
const lineBreaks = new RegExp(carried.characters.line_breaks, "gu");
const unstorable = new RegExp(carried.characters.unstorable, "gu");
const storable = (text) => text.replace(lineBreaks, "\n").replace(unstorable, "");

const worded = (question, tag, attributes) => (question.own ? own(tag, question.title, attributes) : make(tag, attributes, question.title));

function drawScale(question, id, store) {
  const choice = ({ value, label }) =>
    make("label", {},
      make("input", { type: "radio", name: id, value, checked: question.answers[question.key] === value, change: () => store(value) }),
      question.own ? own("span", label) : make("span", {}, capital(label)));
  const field = make("fieldset", { class: `question ${question.list ? "list" : ""}`, "aria-describedby": question.hint ? `${id}-hint` : null },
    worded(question, "legend", {}),
    question.hint ? make("p", { class: "hint", id: `${id}-hint` }, question.hint) : null,
    make("div", { class: "scale" },
      make("div", { class: `levels levels-${question.options.length}` }, ...question.options.map(choice)),
      question.apart ? make("div", { class: "apart" }, choice(question.apart)) : null));
  field.addEventListener("keydown", (event) => chooseByKey(event, field));
  const showAnswer = (value) => {
    for (const input of field.querySelectorAll("input")) input.checked = input.value === String(value);
  };
  return [field, showAnswer];
}

/* 1 to 5 choose a level and 0 what stands apart; the next question follows. */
function chooseByKey(event, field) {
  if (!/^[0-9]$/.test(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
  const choices = event.key === "0" ? field.querySelectorAll(".apart input") : field.querySelectorAll(".levels input");
  const choice = choices[event.key === "0" ? 0 : Number(event.key) - 1];
  if (!choice) return;
  event.preventDefault();
  choice.click();
  choice.focus();
  const following = field.nextElementSibling?.querySelector?.("input:checked") ?? field.nextElementSibling?.querySelector?.("input, textarea");
  following?.focus();
  following?.closest(".question").scrollIntoView({ block: "nearest" });
}

function drawText(question, id, store) {
  const input = make(question.long ? "textarea" : "input", {
    id, dir: "auto", maxlength: question.long ? 5000 : 500, rows: question.long ? 3 : null, autocomplete: "off",
    input: () => {
      const text = question.long ? storable(input.value) : storable(input.value).replaceAll("\n", " ");
      store(text.trim() ? text : "");
    },
  });
  const showAnswer = (value) => { input.value = value; };
  showAnswer(question.answers[question.key] ?? "");
  return [make("div", { class: "question" }, worded(question, "label", { for: id }), input), showAnswer];
}

function drawNumber(question, id, store) {
  const limits = (question.lowest === undefined ? "" : say("at_least", question)) + (question.highest === undefined ? "" : say("at_most", question));
  const fault = make("p", { class: "fault", id: `${id}-fault`, role: "alert" });
  const input = make("input", {
    id, inputmode: "decimal", autocomplete: "off", class: "number", "aria-describedby": `${id}-fault`,
    input: () => {
      const text = input.value.trim().replace(",", ".");
      const number = /^[+-]?\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN;
      const wrong = text !== "" && !(number >= (question.lowest ?? -Infinity) && number <= (question.highest ?? Infinity));
      input.setAttribute("aria-invalid", wrong);
      fault.textContent = wrong ? say("number_wrong", { limits }) : "";
      store(text === "" || wrong ? "" : number);
    },
  });
  const showAnswer = (value) => {
    input.value = value;
    input.setAttribute("aria-invalid", false);
    fault.textContent = "";
  };
  showAnswer(question.answers[question.key] ?? "");
  return [make("div", { class: "question" }, worded(question, "label", { for: id }), input, fault), showAnswer];
}

/* Say which have no answer, and lead to the first. */
function markMissing(questions, drawn) {
  questions.forEach((question, place) => {
    if (!isMissing(question)) return;
    drawn[place].classList.add("missing");
    if (!drawn[place].querySelector(".unanswered")) {
      drawn[place].querySelector("legend, label").append(make("span", { class: "unanswered" }, ` ${words.missing_one}`));
    }
  });
  drawn[questions.findIndex(isMissing)].querySelector("input, textarea").focus();
}
