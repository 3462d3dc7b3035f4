/* The step on which people add conversations of their own. */

const REFUSALS_SHOWN = 50;

function drawAdd() {
  const fault = make("div", { role: "alert" });
  const outcome = make("div", { role: "status" });
  const list = make("ol", { class: "added" });
  const drawList = () => list.replaceChildren(...state.conversations.map((conversation, place) => drawAdded(conversation, place)));
  const sayFault = (text) => fault.replaceChildren(make("p", { class: "fault" }, text));
  const sayRefused = (refused) => fault.replaceChildren(make("div", { class: "note fault" }, make("p", {}, words.not_added), drawRefused(refused)));
  const add = (text) => {
    outcome.replaceChildren();
    fault.replaceChildren();
    if (text.length > LARGEST) return sayFault(words.add_large);
    const { read, refused, leftOut } = readConversations(text);
    if (!read.length && !refused.length) return sayFault(words.add_unread);
    for (const { name, messages } of read) addConversation(state, name, messages);
    if (refused.length) sayRefused(refused);
    if (!read.length || !keepAnswers()) return undefined;
    steps = stepsOf(state);
    updates.forEach((update) => update());
    pasted.value = "";
    file.value = "";
    const said = [say("added", { number: read.length }), leftOut ? say("add_left_out", { number: leftOut }) : ""];
    return outcome.replaceChildren(make("p", { class: "note" }, said.filter(Boolean).join(" ")));
  };
  const addFile = async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    if (chosen.size > 4 * LARGEST) { sayFault(words.add_large); return; }
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    const refusal = refusalOfBytes(bytes);
    if (refusal) sayRefused([{ name: chosen.name, reason: refusal, values: {} }]);
    else add(new TextDecoder().decode(bytes));
  };
  const file = make("input", { type: "file", id: "file", accept: ".jsonl,.json,.txt,text/plain,application/json", change: addFile });
  const pasted = make("textarea", { id: "paste", rows: 8, dir: "auto", ...asWritten() });
  const next = button(words.continue, () => (state.conversations.length ? goTo(position + 1) : sayFault(words.add_none)), "main");
  drawList();
  onOtherTab(drawList);
  return [
    make("p", { class: "hint", id: "add-hint" }, words.add_hint),
    make("div", { class: "question" }, make("label", { for: "file" }, words.add_file), file),
    make("div", { class: "question" }, make("label", { for: "paste" }, words.add_paste), pasted, button(words.add, () => add(pasted.value))),
    fault,
    outcome,
    list,
    actions(next),
  ];
}

/* Why the bytes of a file are no text that can be read; null if they are one. */
function refusalOfBytes(bytes) {
  const beginsLike = (...signs) => signs.every((sign, place) => bytes[place] === sign);
  const packings = [[0x50, 0x4b, 3, 4], [0x1f, 0x8b], [0x42, 0x5a, 0x68], [0xfd, 0x37, 0x7a, 0x58, 0x5a], [0x28, 0xb5, 0x2f, 0xfd]]; // zip, gz, bz2, xz, zst
  if (packings.some((signs) => beginsLike(...signs))) return "packed";
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).includes("\0") ? "encoding" : null;
  } catch {
    return "encoding";
  }
}

function drawRefused(refused) {
  const line = ({ name, reason, values }) =>
    make("li", {}, name ? own("b", name, asWritten()) : null, name ? ": " : null, say(reason, values, words.refused));
  const more = refused.length - REFUSALS_SHOWN;
  return make("ul", { class: "refused" }, ...refused.slice(0, REFUSALS_SHOWN).map(line), more > 0 ? make("li", {}, `+ ${more}`) : null);
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
