/* A person's answers, kept in the browser after each of them, apart for each study and each set of conversations. */

const PLACE = `sense7-ratings:${carried.id}:${carried.page}`;
const placeOf = (person) => `${PLACE}:${person}`;
const carriedById = new Map(carried.conversations.map((conversation) => [conversation.id, conversation]));
let canKeep = true;

/* In place of the browser's store, which may be closed or full. */
function stored(action) {
  try {
    return action(window.localStorage);
  } catch {
    canKeep = false;
    return null;
  }
}

function keep(state) {
  stored((store) => {
    store.setItem(placeOf(state.person), JSON.stringify(state));
    store.setItem(PLACE, state.person);
  });
}

function keptAnswers(person) {
  const text = stored((store) => store.getItem(placeOf(person)));
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

const lastPerson = () => stored((store) => store.getItem(PLACE));

function forget(person) {
  stored((store) => {
    store.removeItem(placeOf(person));
    store.removeItem(PLACE);
  });
}

function newState(person) {
  const mine = carried.conversations.filter((each) => settings.conversations === "everyone" || each.participant === person);
  const now = new Date().toISOString();
  return {
    person,
    consented: settings.consent ? now : null,
    started: now,
    dimensions: orderFor(person),
    answers: {},
    conversations: mine.map((each) => blank(each.id)),
    step: 0,
  };
}

const blank = (id, more = {}) => ({ id, ...more, before: {}, turns: {}, after: {} });

/* What was said stands in the page, or in the answers where a person added it. */
const textOf = (conversation) => (conversation.added ? conversation : carriedById.get(conversation.id));

/* The order of the dimensions for a person: by study and code alone, so that it is the same on every visit. */
function orderFor(person) {
  const order = [...settings.dimensions];
  if (settings.order !== "shuffled") return order;
  let state = 2166136261;
  for (const letter of `${settings.seed}:${person}`) state = Math.imul(state ^ letter.codePointAt(0), 16777619) >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  for (let last = order.length - 1; last > 0; last -= 1) {
    const place = Math.floor(random() * (last + 1));
    [order[last], order[place]] = [order[place], order[last]];
  }
  return order;
}

/* The file that a person hands over. */
function download(state) {
  const content = {
    format: "sense7 ratings",
    version: 1,
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
      added: Boolean(conversation.added),
      messages: textOf(conversation).messages.map(({ role, content, seconds }) => ({ role, content, seconds })),
      before: conversation.before,
      turns: Object.entries(conversation.turns).filter(([, ratings]) => Object.keys(ratings).length)
        .map(([message, ratings]) => ({ message: Number(message), ...ratings })),
      after: conversation.after,
    })),
  };
  const name = `ratings-${state.person}.json`;
  const link = make("a", { href: URL.createObjectURL(new Blob([JSON.stringify(content, null, 1)], { type: "application/json" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return name;
}
