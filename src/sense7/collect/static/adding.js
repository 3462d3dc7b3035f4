/* The step on which people add conversations of their own. */

function drawAdd() {
  const fault = make("p", { class: "fault", role: "alert" });
  const list = make("ol", { class: "added" });
  const drawList = () => list.replaceChildren(...state.conversations.map((conversation, place) => drawAdded(conversation, place)));
  const add = (text) => {
    fault.textContent = "";
    const found = text.length > LARGEST ? [] : readConversations(text);
    if (!found.length) { fault.textContent = text.length > LARGEST ? words.add_large : words.add_unread; return; }
    for (const { name, messages } of found) addConversation(state, name, messages);
    moveTo(position);
  };
  const file = make("input", { type: "file", id: "file", accept: ".jsonl,.json,.txt,text/plain,application/json", change: async () => {
    const [chosen] = file.files;
    if (chosen) add(chosen.size > 4 * LARGEST ? " ".repeat(LARGEST + 1) : await chosen.text());
  } });
  const pasted = make("textarea", { id: "paste", rows: 8, dir: "auto" });
  const next = button(words.continue, () => (state.conversations.length ? goTo(position + 1) : (fault.textContent = words.add_none)), "main");
  drawList();
  onOtherTab(drawList);
  return [
    make("p", { class: "hint", id: "add-hint" }, words.add_hint),
    make("div", { class: "question" }, make("label", { for: "file" }, words.add_file), file),
    make("div", { class: "question" }, make("label", { for: "paste" }, words.add_paste), pasted, button(words.add, () => add(pasted.value))),
    fault,
    list,
    actions(next),
  ];
}

function drawAdded(conversation, place) {
  const { messages } = textOf(conversation);
  const takeBack = () => {
    takeBackConversation(state, conversation);
    moveTo(position);
  };
  return make("li", {}, own("b", conversation.id, asWritten()), ` ${say("messages", { number: messages.length })} `,
    own("span", messages[0].content.slice(0, 80), asWritten("hint")),
    conversation.added ? make("button", { type: "button", class: "remove", "aria-label": say("remove", { number: place + 1 }), click: takeBack }, "\u00d7") : null);
}

drawings.add = drawAdd;
