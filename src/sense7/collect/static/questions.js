/* A question as form fields. Each answer is stored and kept at once. */

let fields = 0;

function drawQuestion(question, answered) {
  const id = `question-${(fields += 1)}`;
  const draw = { scale: drawScale, text: drawText, number: drawNumber }[question.kind];
  const field = draw(question, id, (value) => {
    if (value === "") delete question.answers[question.key];
    else question.answers[question.key] = value;
    field.classList.remove("missing");
    field.querySelector(".unanswered")?.remove();
    answered();
  });
  return field;
}

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
  return field;
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
    input: (event) => store(event.target.value.trim() ? event.target.value : ""),
  });
  input.value = question.answers[question.key] ?? "";
  return make("div", { class: "question" }, worded(question, "label", { for: id }), input);
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
  input.value = question.answers[question.key] ?? "";
  return make("div", { class: "question" }, worded(question, "label", { for: id }), input, fault);
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
