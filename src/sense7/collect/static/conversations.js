/* Conversations that a person brings, read by the rules of `sense7 import` (the package exchange), with its vocabulary.

   Tests give both readers the same examples. What is not read is refused by name, with the reason. */

const LARGEST = 3_000_000; // characters; a browser keeps about five million for all pages opened from disk
const LONGEST_MESSAGE = 32_767; // characters that a cell of a workbook holds
const LIKE_JSON = /^\s*(?:\{|\[\s*(?:$|[[{"\]]|(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN)\s*[,\]]))/;

const meanings = (table) => new Map(Object.entries(table).flatMap(([meaning, names]) => names.map((name) => [name, meaning])));
const { keys: KEYS, ...tables } = carried.vocabulary;
const ROLES = meanings(tables.roles);
const TEXTS = meanings(tables.texts);
const MARKERS = meanings(tables.markers);
const UNSEEN = meanings(tables.unseen);
const SPEAKERS = meanings(tables.speakers);
const SYSTEM = "system message";
const isSide = (side) => side === "user" || side === "assistant";

/* Why a conversation is not added: a key of the page's words, and its values. */
class Refusal extends Error {
  constructor(reason, values = {}) {
    super(reason);
    this.reason = reason;
    this.values = values;
  }
}

/* Conversations of a text, those that are refused, and how many parts are left out since neither side said them. */
function readConversations(text) {
  const result = { read: [], refused: [], leftOut: 0 };
  const records = recordsOf(text.replace(/^\ufeff/, ""));
  records.forEach((record, place) => {
    const numbered = records.length > 1 ? say("entry", { number: place + 1 }) : "";
    let name = null;
    try {
      if (record instanceof Refusal) throw record;
      name = nameOf(nameIn(record));
      const parts = partsOf(record);
      const messages = parts.filter((part) => !part.omitted);
      requireRatable(messages);
      result.read.push({ name, messages });
      result.leftOut += parts.length - messages.length;
    } catch (error) {
      if (!(error instanceof Refusal) && !(error instanceof RangeError)) throw error;
      const { reason = "form", values = { where: "" } } = error; // a RangeError: nested too deeply
      result.refused.push({ name: name ?? numbered, reason, values });
    }
  });
  return result;
}

/* A name is on one line, with nothing that is not seen, and begins like no formula of a spreadsheet program. */
function nameOf(text) {
  const seen = String(text ?? "").normalize("NFC").replace(/\s+/g, " ").replace(/\p{C}/gu, "").trim();
  const name = [...seen].slice(0, 100).join("");
  return /^[^=+\-@]/.test(name) ? name : null;
}

function nameIn(record) {
  const sample = Array.isArray(record?.samples) ? record.samples[0] : record;
  for (const about of [sample, sample?.metadata]) {
    const key = KEYS.conversation.find((each) => ["string", "number"].includes(typeof about?.[each]) && String(about[each]).trim());
    if (key) return about[key];
  }
  return null;
}

function requireRatable(messages) {
  if (!messages.length) throw new Refusal("no_message");
  messages.forEach(({ content }, place) => {
    const number = place + 1;
    if (/[\ud800-\udfff\ufffe\uffff]/u.test(content)) throw new Refusal("half", { number });
    if (content.length > LONGEST_MESSAGE) throw new Refusal("long", { number, most: LONGEST_MESSAGE.toLocaleString(document.documentElement.lang) });
  });
  if (!ratedMessages(messages).length) throw new Refusal("unrated");
}

/* --- records: JSON, JSON Lines, or plain text ------------------------------------------- */

function recordsOf(text) {
  if (!text.trim()) return [];
  if (!LIKE_JSON.test(text)) return [{ transcript: text }];
  try {
    return itemsOf(JSON.parse(text));
  } catch {
    const lines = text.split("\n").filter((line) => line.trim());
    const records = lines.map((line) => {
      try {
        return JSON.parse(line);
      } catch {
        return new Refusal("json");
      }
    });
    return records.every((record) => record instanceof Refusal) ? [new Refusal("json")] : records;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isMessages = (value) => Array.isArray(value) && isObject(value[0]) && "role" in value[0];

function itemsOf(value) {
  if (isObject(value) && "eval" in value && Array.isArray(value.samples)) return value.samples.map((sample) => ({ eval: value.eval, samples: [sample] }));
  return Array.isArray(value) && !isMessages(value) ? value : [value];
}

/* The messages of a record in order, and what is left out of it: { role, content } or { omitted }. */
function partsOf(record) {
  if (typeof record?.transcript === "string") return readTranscript(record.transcript);
  const about = isMessages(record) ? { messages: record } : record;
  if (isObject(about)) {
    if ("mapping" in about) return readChatGpt(about);
    if ("chat_messages" in about) return readList(about, "chat_messages");
    if ("eval" in about && "samples" in about) return readSample(about);
    const key = ["messages", "conversations", "conversation"].find((each) => each in about);
    if (key) return readList(about, key);
  }
  throw new Refusal("form", { where: "" });
}

function demand(holds, where) {
  if (!holds) throw new Refusal("form", { where });
}

function listAt(value, where) {
  demand(Array.isArray(value), where);
  return value;
}

function objectAt(value, where) {
  demand(isObject(value), where);
  return value;
}

/* --- plain text: a line such as "User: Hello" begins a message ------------------------- */

function readTranscript(text) {
  const names = [...SPEAKERS.keys()].sort((first, second) => second.length - first.length).join("|");
  const begins = new RegExp(`(^|\\n)(?:\\*\\*(${names})(?:\\*\\*[:\uff1a]|[:\uff1a]\\*\\*)|(?:#+ )?(${names})[:\uff1a])[ \\t]?`, "gi");
  const lines = [...text.matchAll(begins)].map((match) => ({
    start: match.index + match[1].length,
    end: match.index + match[0].length,
    name: (match[2] ?? match[3]).toLowerCase(),
  }));
  const before = lines.length ? text.slice(0, lines[0].start) : text;
  if (!lines.length) throw new Refusal("speakers");
  if (before.trim()) throw new Refusal("no_speaker", { line: before.slice(0, before.search(/\S/)).split("\n").length });
  // The file opens with its two speakers; such a line of any other name belongs to the text of a message.
  const sideOf = (name) => SPEAKERS.get(name);
  const speaking = [];
  for (const { name } of lines) {
    if (isSide(sideOf(name)) && !speaking.some((each) => sideOf(each) === sideOf(name))) speaking.push(name);
  }
  const starts = [];
  for (const line of lines) {
    const hasBegun = starts.some(({ name }) => speaking.includes(name));
    if (speaking.includes(line.name) || (line.name === "system" && !hasBegun)) starts.push(line);
  }
  const parts = starts.map(({ name, end }, place) => {
    const said = text.slice(end, starts[place + 1]?.start ?? text.length).replace(/[\r\n]+$/, "");
    return isSide(sideOf(name)) ? { role: sideOf(name), content: said } : { omitted: SYSTEM };
  });
  if (!["user", "assistant"].every((side) => parts.some(({ role }) => role === side))) throw new Refusal("speakers");
  return parts;
}

/* --- lists of messages ---------------------------------------------------------------- */

function readList(about, key) {
  const messages = unfolded(listAt(about[key], key));
  const branch = branchOf(about, messages, key);
  return [
    ...(about.system ? [{ omitted: SYSTEM }] : []),
    ...branch.flatMap((place) => readMessage(messages[place], `${key}[${place + 1}]`)),
    ...Array(messages.length - branch.length).fill({ omitted: "message of another branch" }),
  ];
}

function readSample(about) {
  const sample = objectAt(listAt(about.samples, "samples")[0] ?? { messages: [] }, "sample");
  const attached = new Map(Object.entries(objectAt(sample.attachments ?? {}, "attachments")).map(([name, text]) => [`attachment://${name}`, text]));
  return listAt(sample.messages, "messages").flatMap((message, place) => readMessage(message, `messages[${place + 1}]`, attached));
}

function sideOfRole(role, where) {
  demand(typeof role === "string", where);
  const name = role.trim().toLowerCase();
  const isModel = ROLES.get(name.split(/[-_ .:/\d]/)[0]) === "assistant"; // as in gpt-4 and claude-3-opus
  const side = ROLES.get(name) ?? (isModel ? "assistant" : undefined);
  if (!side) throw new Refusal("role", { role: role.slice(0, 40) });
  return side;
}

/* Texts and markers of a content, one of each part that a reader saw, and what is no text. */
function piecesOf(content, where, attached) {
  if (typeof content === "string") return [attached?.get(content) ?? content];
  if (Array.isArray(content)) return content.flatMap((part, place) => piecesOf(part, `${where}[${place + 1}]`, attached));
  if (content === null || content === undefined) return [{ omitted: "empty part", isEmpty: true }];
  objectAt(content, where);
  const type = content.type ?? content.content_type ?? ("text" in content ? "text" : null);
  const inner = [null, "text"].includes(type) && !("text" in content) ? ["parts", "content"].find((name) => name in content) : undefined;
  if (inner) return piecesOf(content[inner], `${where}.${inner}`, attached); // a content or a message in another
  const kind = String(type);
  if (TEXTS.has(kind)) {
    const text = content[TEXTS.get(kind)];
    return piecesOf(isObject(text) && "value" in text ? text.value : text, `${where}.${TEXTS.get(kind)}`, attached);
  }
  if (MARKERS.has(kind)) {
    const isSpoken = typeof content.transcript === "string" && content.transcript.trim();
    return [{ omitted: MARKERS.get(kind) }, isSpoken ? content.transcript : `[${MARKERS.get(kind)}]`];
  }
  if (UNSEEN.has(kind) || kind.endsWith("tool_result")) return [{ omitted: UNSEEN.get(kind) ?? "tool result" }];
  if (kind.startsWith("tool-")) return [{ omitted: "tool call" }];
  return [{ omitted: "part of unknown type", isEmpty: true, isUnknown: true }];
}

/* Texts before and after a tool call or the like are apart by a line break. */
function joined(pieces) {
  const unseen = Object.keys(tables.unseen);
  const leftOut = [];
  let text = "";
  let isInterrupted = false;
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      leftOut.push(piece);
      isInterrupted ||= unseen.includes(piece.omitted);
    } else if (piece) {
      const needsBreak = isInterrupted && text && !/\s$/.test(text) && !/^\s/.test(piece);
      text += needsBreak ? `\n${piece}` : piece;
      isInterrupted = false;
    }
  }
  return { text, leftOut };
}

const INSTEAD_OF_TEXT = ["tool_calls", "function_call", "refusal", "reasoning_content", "reasoning", "audio", "attachments", "files"];
const NO_TEXT = new Set(["role", "from", "sender", "name", "metadata", "seconds", "status", "index", "version", "user", "type",
  ...INSTEAD_OF_TEXT, ...Object.values(KEYS).flat()]);
const isFilled = (value) => (value ?? "") !== "" && !(Array.isArray(value) && !value.length);
const hasContent = (value) => (isObject(value) ? Object.keys(value).length > 0 : ["string", "object"].includes(typeof value) && isFilled(value));

/* Key under which the text of a message stands; refused if it stands under none that is known. */
function textKey(message, where) {
  const filled = KEYS.text.find((key) => isFilled(message[key]));
  if (filled) return filled;
  const present = KEYS.text.find((key) => key in message);
  const unread = Object.keys(message).filter((key) => !NO_TEXT.has(key) && !key.startsWith("_") && hasContent(message[key]));
  demand(!unread.length || present || INSTEAD_OF_TEXT.some((key) => hasContent(message[key])), `${where}: ${unread.slice(0, 6).join(", ")}`);
  return present ?? "content";
}

/* Whether a part has more in it than its type and name. */
function mayHoldText(content) {
  const parts = Array.isArray(content) ? content : [content];
  return parts.some((part) => isObject(part) && Object.entries(part).some(([name, value]) => value && !["type", "id"].includes(name)));
}

function readMessage(message, where, attached) {
  objectAt(message, where);
  const roleKey = ["role", "from", "sender"].find((key) => key in message) ?? "role";
  const byUser = message.isCreatedByUser; // LibreChat, whose sender is a label
  const side = typeof byUser === "boolean" ? { true: "user", false: "assistant" }[byUser] : sideOfRole(message[roleKey], `${where}.${roleKey}`);
  if (!isSide(side)) return [{ omitted: side }];
  const key = textKey(message, where);
  const content = message[key] ?? null;
  const pieces = [];
  if (roleKey === "sender") {
    for (const name of ["attachments", "files"]) { // an export of Claude has them beside the text
      for (const _ of listAt(message[name] || [], `${where}.${name}`)) pieces.push({ omitted: "file" }, "[file]");
    }
  }
  if (content !== null) pieces.push(...piecesOf(content, `${where}.${key}`, attached));
  if (message.refusal) pieces.push(...piecesOf(message.refusal, `${where}.refusal`));
  for (const call of [...listAt(message.tool_calls || [], `${where}.tool_calls`), message.function_call]) {
    if (call) pieces.push({ omitted: "tool call" });
  }
  for (const name of ["reasoning_content", "reasoning"]) {
    if (message[name]) pieces.push({ omitted: "reasoning" });
  }
  if (isObject(message.audio)) { // a spoken answer
    const spoken = piecesOf({ type: "audio", ...message.audio }, `${where}.audio`);
    pieces.push(...spoken.filter((piece) => typeof piece !== "string" || !content));
  }
  const { text: written, leftOut } = joined(pieces);
  const elsewhere = KEYS.text.map((name) => (name === key ? "" : message[name])).find((value) => typeof value === "string" && value);
  const text = written || elsewhere || "";
  demand(text || !leftOut.some((part) => part.isUnknown) || !mayHoldText(content), `${where}.${key}`);
  if (content === null && !text && !leftOut.length) return [{ omitted: "message without content" }, { role: side, content: text }];
  if (!text && leftOut.length && !leftOut.some((part) => part.isEmpty)) return leftOut;
  return [...leftOut, { role: side, content: text }];
}

/* --- trees of messages, in which an edit or a new attempt is a branch ------------------- */

const firstOf = (about, kind) => KEYS[kind].map((key) => about?.[key]).find((value) => (value ?? null) !== null) ?? null;

/* Messages that are held by others as their children stand behind these, which they then name as parent. */
function unfolded(messages) {
  const waiting = [...messages].reverse();
  const listed = [];
  while (waiting.length) {
    let message = waiting.pop();
    const key = isObject(message) ? KEYS.children.find((each) => Array.isArray(message[each])) : undefined;
    const inside = key ? message[key].filter(isObject) : [];
    if (inside.length) {
      const id = firstOf(message, "own") ?? `(message ${listed.length})`;
      message = { id, ...message, [key]: null };
      waiting.push(...inside.map((child) => ({ parent: id, ...child })).reverse());
    }
    listed.push(message);
  }
  return listed;
}

const secondsOf = (time) => {
  const seconds = typeof time === "string" ? Date.parse(time) / 1000 : time;
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : -1;
};

/* Places of the messages from the root to the current one, or else to the leaf below the newest; all where none has a parent. */
function branchOf(about, messages, where, rooted = false) {
  const all = [...messages.keys()];
  const listed = messages.map((message) => (isObject(message) ? message : {}));
  const byChildren = KEYS.children.find((key) => listed.some((message) => Array.isArray(message[key]) ? message[key].length : message[key]));
  const parentKeys = listed.map((message) => KEYS.parent.find((key) => key in message));
  if (!byChildren && !all.some((place) => parentKeys[place] && listed[place][parentKeys[place]] !== null)) return all;
  const parents = new Map();
  let last = null;
  messages.forEach((message, place) => {
    objectAt(message, `${where}[${place + 1}]`);
    const name = String(firstOf(message, "own") ?? `message ${place + 1}`);
    demand(!parents.has(name), `${where}: ${name.slice(0, 40)}`);
    const named = parentKeys[place] ? message[parentKeys[place]] : null;
    if (parentKeys[place]) parents.set(name, named === null ? null : String(named));
    else parents.set(name, byChildren ? null : last);
    last = name;
  });
  const names = [...parents.keys()];
  names.forEach((name, place) => { // those without a parent, from who names them as a child
    const children = byChildren && Array.isArray(messages[place][byChildren]) ? messages[place][byChildren] : [];
    for (const child of children.map(String)) {
      if (parents.has(child) && parents.get(child) === null) parents.set(child, name);
    }
  });
  const absent = new Set([...parents.values()].filter((parent) => parent !== null && !parents.has(parent)));
  if (absent.size === 1 && !rooted) {
    for (const name of names) if (absent.has(parents.get(name))) parents.set(name, null);
  }
  let current = firstOf(about, "current");
  if (current !== null) current = String(current);
  if (current === null || !parents.has(current)) {
    const times = messages.map((message) => secondsOf(firstOf(message, "time")));
    const newest = all.reduce((best, place) => (times[place] >= times[best] ? place : best), 0);
    current = names[newest];
    const childOf = new Map(names.map((name) => [parents.get(name), name]));
    const below = new Set([current]);
    while (childOf.has(current) && !below.has(childOf.get(current))) {
      current = childOf.get(current);
      below.add(current);
    }
  }
  const path = new Set();
  while (current !== null) {
    demand(parents.has(current) && !path.has(current), `${where}: ${current.slice(0, 40)}`);
    path.add(current);
    current = parents.get(current);
  }
  return [...path].reverse().map((name) => names.indexOf(name));
}

/* --- the data export of ChatGPT --------------------------------------------------------- */

function readChatGpt(about) {
  const nodes = objectAt(about.mapping, "mapping");
  const names = Object.keys(nodes);
  const listed = names.map((name) => ({
    id: name, parent: nodes[name]?.parent ?? null, children: nodes[name]?.children ?? null, time: nodes[name]?.message?.create_time ?? null,
  }));
  const path = branchOf(about, listed, "mapping", true).map((place) => names[place]);
  const parts = path.flatMap((name) => {
    const { message } = objectAt(nodes[name], `mapping.${name.slice(0, 40)}`);
    return message ? readNode(objectAt(message, "message"), `mapping.${name.slice(0, 40)}`) : [];
  });
  const elsewhere = names.filter((name) => !path.includes(name) && nodes[name]?.message);
  return [...parts, ...elsewhere.map(() => ({ omitted: "message of another branch" }))];
}

function readNode(message, where) {
  if ("fragments" in message) return readFragments(message, where);
  if (!isObject(message.author)) return [{ omitted: "message without author" }];
  const side = sideOfRole(objectAt(message.author, `${where}.author`).role, `${where}.author.role`);
  const held = objectAt(message.content || { content_type: "text" }, `${where}.content`);
  const isText = ["text", "multimodal_text"].includes(held.content_type);
  const { text, leftOut } = isText ? joined(piecesOf(listAt(held.parts || [], `${where}.parts`), `${where}.parts`)) : { text: "", leftOut: [] };
  const instead = (what) => [...leftOut, { omitted: what }];
  if (message.metadata?.is_visually_hidden_from_conversation || message.weight === 0) return text || !isText ? instead("hidden message") : leftOut;
  if (!isSide(side)) return text || side !== SYSTEM ? instead(side) : leftOut; // an export begins with an empty one
  if ((message.recipient ?? "all") !== "all") return instead("tool call");
  if (!isText) return instead("content of another type");
  if (text || side === "user" || leftOut.some((part) => part.isEmpty)) return [...leftOut, { role: side, content: text }];
  return instead("empty message");
}

/* A message of an export of DeepSeek, whose fragments say by their types which side wrote them. */
function readFragments(message, where) {
  const sides = { REQUEST: "user", RESPONSE: "assistant" };
  let side = null;
  const pieces = listAt(message.fragments, `${where}.fragments`).flatMap((fragment, place) => {
    const at = `${where}.fragments[${place + 1}]`;
    const kind = String(objectAt(fragment, at).type);
    if (!(kind in sides)) return [{ omitted: kind === "THINK" ? "reasoning" : "fragment of another type" }];
    side = sides[kind];
    return piecesOf(fragment.content, `${at}.content`);
  });
  const { text, leftOut } = joined(pieces);
  if (!side) return leftOut.length ? leftOut : [{ omitted: "empty message" }];
  return [...leftOut, { role: side, content: text }];
}
