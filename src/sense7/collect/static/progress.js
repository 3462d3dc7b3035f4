/* A person's answers, kept in the browser after each of them, apart for each study and each set of conversations.

   Several tabs may have them open. Each joins its copy with the kept one before it writes: of each question the latest
   answer counts, and one that was taken back is an answer, too. What another tab wrote is only read. */

const PLACE = `sense7-ratings:${carried.id}:${carried.page}`;
const REMOVED = `${PLACE}::removed`; // no code begins with a colon
const placeOf = (person) => `${PLACE}:${person}`;
const carriedById = new Map(carried.conversations.map((conversation) => [conversation.id, conversation]));

/* A browser's store, which may be missing, closed or full: null where an action failed. */
function stored(action, store = "localStorage") {
  try {
    return action(window[store]);
  } catch {
    return null;
  }
}

let canKeep = stored((store) => typeof store.getItem === "function") === true;

/* Join with what other tabs kept, and keep the whole; what was written is read again before it is said to be kept. */
function keep(state) {
  joinKept(state);
  const text = JSON.stringify(state);
  canKeep = stored((store) => {
    store.setItem(placeOf(state.person), text);
    store.setItem(PLACE, state.person);
    return store.getItem(placeOf(state.person)) === text;
  }) === true;
  stored((store) => store.setItem(PLACE, state.person), "sessionStorage");
}

function parsedOr(otherwise, text) {
  try {
    return text ? JSON.parse(text) : otherwise;
  } catch {
    return otherwise;
  }
}

const keptAnswers = (person) => answersIn(stored((store) => store.getItem(placeOf(person))));

function answersIn(text) {
  const kept = parsedOr(null, text);
  return Array.isArray(kept?.conversations) ? { clock: 0, times: {}, ...kept } : null;
}

/* Who rates in this tab; in a new tab, who rated last. */
function lastPerson() {
  const read = (store) => store.getItem(PLACE);
  return stored(read, "sessionStorage") ?? stored(read);
}

function forgetPerson() {
  stored((store) => store.setItem(PLACE, ""), "sessionStorage");
  stored((store) => store.removeItem(PLACE));
}

/* Sets of answers that were removed for good, by when they were begun: another tab may still have them in memory. */
const removedSets = () => parsedOr([], stored((store) => store.getItem(REMOVED)));
const wasRemoved = (state) => removedSets().includes(state.started);

function removeForGood(state) {
  const removed = [...removedSets(), state.started];
  stored((store) => store.removeItem(placeOf(state.person)));
  stored((store) => store.setItem(REMOVED, JSON.stringify(removed)));
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
    step: 0, // where a new tab begins
    clock: 0, // the latest of the times
    times: {}, // when each question was answered last, by its place
  };
}

const blank = (id) => ({ id, before: {}, turns: {}, after: {} });

const textOf = (conversation) => carriedById.get(conversation.id);

/* The next moment: later than all before, even if the computer's clock was set back. */
const tick = (state) => (state.clock = Math.max(Date.now(), state.clock + 1));

/* Answers of one part: about the person (no conversation), before or after a conversation, or on one of its messages. */
function answersAt(state, [conversation, part, message]) {
  const holder = conversation === null ? state : state.conversations.find((each) => each.id === conversation);
  return message === undefined ? holder[part] : (holder[part][message] ??= {});
}

function setAnswer(answers, key, value) {
  if (value === "" || value === undefined) delete answers[key];
  else answers[key] = value;
}

function giveAnswer(state, { place, key }, value) {
  setAnswer(answersAt(state, place), key, value);
  state.times[JSON.stringify([place, key])] = tick(state);
}

/* Take over what is newer in the kept answers; whether there was anything. */
function joinKept(state, kept = keptAnswers(state.person)) {
  if (!kept) return false;
  state.clock = Math.max(state.clock, kept.clock);
  if (kept.started < state.started) {
    state.started = kept.started;
    state.consented = kept.consented;
  }
  let changed = false;
  for (const [question, time] of Object.entries(kept.times)) {
    if (time <= (state.times[question] ?? 0)) continue;
    state.times[question] = time;
    const [place, key] = JSON.parse(question);
    setAnswer(answersAt(state, place), key, answersAt(kept, place)[key]);
    changed = true;
  }
  return changed;
}

/* Whether the kept answers lack any of these: another tab wrote at the same moment, before it saw them. */
function keptLacks(state) {
  const kept = keptAnswers(state.person);
  if (!kept) return false;
  return Object.entries(state.times).some(([question, time]) => time > (kept.times[question] ?? 0));
}

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
