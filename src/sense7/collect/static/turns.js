/* What was said, up to the reply that is rated. */

function drawConversation(step) {
  const { messages } = textOf(step.conversation);
  const reply = step.message - 1;
  let first = reply;
  while (first > 0 && messages[first - 1].role === "user") first -= 1;
  const earlier = messages.slice(0, first);
  return make("section", { class: "conversation", tabindex: 0, "aria-label": say("conversation", step) },
    earlier.length ? make("details", {}, make("summary", {}, say("earlier", { number: earlier.length })), drawMessages(earlier)) : null,
    drawMessages(messages.slice(first, reply + 1), true));
}

function drawMessages(messages, current = false) {
  return make("ol", { class: current ? "messages current" : "messages" },
    ...messages.map(({ role, content }) =>
      make("li", { class: role }, make("p", { class: "who" }, words[role]), own("div", content, asWritten("text")))));
}

/* A whole conversation, to remember it by. */
function drawWhole(step) {
  const { messages } = textOf(step.conversation);
  return make("details", { class: "whole" }, make("summary", {}, say("messages", { number: messages.length })), drawMessages(messages));
}
