/* The answers as a file, or as a text to copy where a browser saves none. */

function fileOf(state) {
  const content = {
    format: "sense7 ratings",
    version: 2,
    study_id: carried.id,
    study: carried.study,
    person: state.person,
    dimensions: state.dimensions,
    consented: state.consented,
    started: state.started,
    downloaded: new Date().toISOString(),
    answers: state.answers,
    conversations: state.conversations.map((conversation) => ({
      ...Object.fromEntries(["participant", "condition", "topic"].flatMap((key) => (textOf(conversation)[key] ? [[key, textOf(conversation)[key]]] : []))),
      id: conversation.id,
      messages: textOf(conversation).messages.map(({ role, content, seconds }) => ({ role, content, seconds })),
      before: conversation.before,
      turns: Object.entries(conversation.turns).filter(([, ratings]) => Object.keys(ratings).length)
        .map(([message, ratings]) => ({ message: Number(message), ...ratings })),
      after: conversation.after,
    })),
  };
  return { name: `ratings-${state.person}.json`, text: JSON.stringify(content, null, 1) };
}

/* Whether the browser could be asked; whether it saved the file, no page is told. */
function askToSave({ name, text }) {
  try {
    if (!("download" in HTMLAnchorElement.prototype)) return false;
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return true;
  } catch {
    return false;
  }
}

/* Whether the text of a field was copied. It stays selected, to be copied by hand. */
async function copyFrom(field) {
  field.focus();
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy") === true;
  }
}

function drawTextToCopy(text) {
  const field = make("textarea", { id: "answers-text", rows: 6, readonly: true, translate: "no", class: "notranslate" });
  field.value = text;
  const outcome = make("p", { class: "hint", role: "status" });
  const copy = async () => { outcome.textContent = (await copyFrom(field)) ? words.copied : words.copy_by_hand; };
  return make("div", { class: "question" }, make("label", { for: "answers-text" }, words.answers_text), field, button(words.copy, copy), outcome);
}
