// What a person has chosen, kept in the browser. One that keeps nothing gives the defaults with every visit.

const PREFIX = "vauban.";

// What the browser would not keep (private windows, full stores), by name: it lasts as long as the page.
const unkept = new Map();

/** Read something kept under a name; `otherwise` if there is nothing or it cannot be read. */
export function recall(name, otherwise) {
  try {
    const text = unkept.has(name) ? unkept.get(name) : localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Keep something; null forgets it. */
export function keep(name, value) {
  const text = value === null ? null : JSON.stringify(value);
  try {
    if (text === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
    unkept.delete(name);
  } catch {
    unkept.set(name, text);
  }
}

const DEFAULTS = {
  language: "browser", // or one of the server's
  theme: "system", // system | light | dark
  board: "paper", // one of BOARDS
  memory: "moved", // tournament | shown | moved
  numbering: "ten", // ten (10 is the marshal) | one | icons
  coordinates: true,
  below: true, // whichever army is one's own stands at the bottom
  confirm: null, // null: not asked yet (asked on the first touch)
  sound: true,
  volume: 0.4,
  motion: true,
  commands: true, // single-letter commands for screen readers and keyboards
};

/** The looks of a board (style.css). */
export const BOARDS = ["paper", "green", "wood", "blue", "contrast"];

const listeners = new Set();

export const settings = { ...DEFAULTS, ...recall("settings", {}) };

export function change(name, value) {
  settings[name] = value;
  keep("settings", settings);
  apply();
  for (const listener of listeners) listener(name);
}

/** Call back whenever a setting changes; returns what stops that. */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const night = matchMedia("(prefers-color-scheme: dark)");
night.addEventListener("change", () => change("theme", settings.theme));

export function apply() {
  const root = document.documentElement;
  root.dataset.theme = settings.theme === "system" ? (night.matches ? "dark" : "light") : settings.theme;
  root.dataset.board = settings.board;
  root.dataset.motion = settings.motion ? "full" : "none";
}

export function still() {
  return !settings.motion || matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// ── Games one sits in ───────────────────────────────────────────────────────────────────────────

const MOST_GAMES = 30;

/** All games this browser has a seat in, newest first: {id, seats, kind, variant, family, title, at, over}. */
export function games() {
  return recall("games", []);
}

/** The setups of a variant that were given names: [{name, setup}]. */
export const savedSetups = (variant) => recall(`setups.${variant}`, []);

export function game(id) {
  return games().find((entry) => entry.id === id) ?? null;
}

export function keepGame(id, changes) {
  const all = games();
  const old = all.find((entry) => entry.id === id);
  const entry = { id, seats: {}, at: Date.now(), over: null, ...old, ...changes };
  const sorted = [entry, ...all.filter((other) => other.id !== id)];
  // This is the only place where the keys of games that go on are kept: only finished ones are dropped.
  const dropped = sorted.filter((each) => each.over).slice(MOST_GAMES);
  keep(
    "games",
    sorted.filter((each) => !dropped.includes(each)),
  );
  for (const each of dropped) forgetRest(each.id);
}

export function forgetGame(id) {
  keep(
    "games",
    games().filter((entry) => entry.id !== id),
  );
  forgetRest(id);
}

function forgetRest(id) {
  keep(`notes.${id}`, null);
  keep(`promise.${id}`, null);
  keep(`lines.${id}`, null);
  for (const seat of SEATS) forgetKey(id, seat);
}

/** A random name by which the owner of a seat is told of other browsers on it; it says nothing else. */
export function browserName() {
  const name = recall("browser", null) ?? Math.random().toString(36).slice(2);
  keep("browser", name);
  return name;
}

// ── Secrets of seats ────────────────────────────────────────────────────────────────────────────

const MOST_KEYS = 100;
export const SEATS = ["watch", "red", "blue"];

/** The address of a seat: it opens nothing in another browser. */
export const addressOf = (id, seat) => `#/game/${encodeURIComponent(id)}/${encodeURIComponent(seat)}`;

/** The secrets that links have brought: [[game, seat, secret]], the newest first. Those of one's own games are kept
 *  with the games. No address holds any. */
const keys = () => recall("keys", []);

/** The secret of a seat; null if this browser has none. */
export function keyOf(id, seat) {
  const brought = keys().find(([game, place]) => game === id && place === seat);
  return game(id)?.seats[seat] ?? brought?.[2] ?? null;
}

/** Keep the secret that a link to a seat has brought. One's own seat keeps the secret that it has. */
export function keepKey(id, seat, secret) {
  if (keyOf(id, seat) !== null) return;
  keep("keys", [[id, seat, secret], ...keys()].slice(0, MOST_KEYS));
}

/** Forget a secret that a link has brought: it opens nothing, or is kept with one's games now. */
export function forgetKey(id, seat) {
  keep(
    "keys",
    keys().filter(([game, place]) => game !== id || place !== seat),
  );
}
