// Families of games: what is drawn of a game, and how, is in the script of its family, and nowhere else.
//
// The script's default export has some of the hooks of games/plain.js, which has them all: what it leaves out is plain.

import PLAIN from "./games/plain.js";
import { addWords, speakOf, t } from "./strings.js";

const PLAIN_NAME = "plain"; // draws any game
const families = { [PLAIN_NAME]: PLAIN };
const listeners = [];
let offered = []; // {name, script, screens}, in their order
let current = PLAIN_NAME;

/** Load the families that the server names. One that cannot be loaded is plain; returns what is to be said of those. */
export async function loadFamilies(named) {
  offered = named;
  const said = [];
  const load = async ({ name, script }) => {
    try {
      return (await import(script)).default;
    } catch (error) {
      console.error(`${script} cannot be used`, error);
      said.push(t("broken.family", { family: name }));
      return {};
    }
  };
  const loaded = await Promise.all(named.map(load));
  for (const [i, { name }] of named.entries()) {
    families[name] = { ...PLAIN, ...loaded[i] };
    try {
      await addWords(name, families[name].words);
    } catch (error) {
      console.error(`the texts of ${name} cannot be used`, error);
    }
  }
  return said;
}

/** Whose games are on the screen from now on; of a family that is not here any more, plainly. */
export function show(name) {
  current = name;
  speakOf(name);
  for (const listener of listeners) listener();
}

/** Call back whenever games of another family may be on the screen. */
export const onFamily = (listener) => listeners.push(listener);

/** The family of the games that are on the screen. */
export const family = () => familyOf(current);

export const familyOf = (name) => families[name] ?? PLAIN;

// ── Screens of families ─────────────────────────────────────────────────────────────────────────

const hasScreen = (name, screen) => Object.hasOwn(familyOf(name).screens, screen);

/** The first family that has a screen: the one that an address without a family's name means. */
const firstWith = (screen) => offered.find(({ name }) => hasScreen(name, screen))?.name;

/** The address of a screen of a family; an older game's family is not known, and the first. */
export function screenAddress(name, screen, ...rest) {
  const first = firstWith(screen);
  const parts = name === undefined || name === first ? [screen, ...rest] : [name, screen, ...rest];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** The address of a screen of the family of the games that are on the screen. */
export const ownScreen = (screen, ...rest) => screenAddress(current, screen, ...rest);

/** The screens that the head of the page leads to for the family of the games that are on the screen. */
export function screensInHead() {
  const named = offered.find(({ name }) => name === current)?.screens ?? [];
  return named.filter((screen) => hasScreen(current, screen));
}

/** What an address means: {name, screen, load, rest}, of a family's screen; null if it means none. */
export function screenAt(parts) {
  const named = Object.hasOwn(families, parts[0]);
  const [screen, ...rest] = named ? parts.slice(1) : parts;
  const name = named ? parts[0] : firstWith(screen);
  return hasScreen(name, screen) ? { name, screen, load: familyOf(name).screens[screen], rest } : null;
}
