/* Conversations that a person brings: JSON Lines, JSON, or text whose messages begin with User: and Assistant: */

const LARGEST = 3_000_000; // characters; a browser keeps about five million for all pages opened from disk
const LONGEST_MESSAGE = 32_767; // characters that a cell of a workbook holds

function readConversations(text) {
  const found = fromJson(text) ?? [{ messages: fromText(text) }];
  return found.map(checked).filter((conversation) => conversation !== null);
}

function fromJson(text) {
  try {
    const whole = JSON.parse(text);
    return Array.isArray(whole) && !whole.some((each) => each?.messages) ? [{ messages: whole }] : [whole].flat();
  } catch {
    try {
      const lines = text.split("\n").filter((line) => line.trim());
      return lines.length ? lines.map((line) => JSON.parse(line)) : null;
    } catch {
      return null;
    }
  }
}

function fromText(text) {
  const pieces = text.replaceAll("\r\n", "\n").split(/^[ \t]*(user|assistant)[ \t]*[:：]/im);
  const messages = [];
  for (let place = 1; place < pieces.length; place += 2) {
    messages.push({ role: pieces[place].toLowerCase(), content: pieces[place + 1].trim() });
  }
  return messages;
}

function checked(conversation) {
  const messages = Array.isArray(conversation?.messages) ? conversation.messages : [];
  const fits = messages.every(({ role, content } = {}) =>
    ["user", "assistant"].includes(role) && typeof content === "string" && content.length <= LONGEST_MESSAGE && content.isWellFormed?.() !== false);
  const plain = messages.map(({ role, content } = {}) => ({ role, content }));
  return fits && ratedMessages(plain).length ? { name: nameOf(conversation.id), messages: plain } : null;
}

/* Names are shown and stored as they are, so they hold nothing that is not seen, and begin like no formula. */
function nameOf(text) {
  const name = String(text ?? "").normalize("NFC").trim();
  return /^[^=+\-@\p{C}][^\p{C}]{0,99}$/u.test(name) ? name : null;
}
