// The pieces of Stratego: names, letters, ranks as people print them, and the token that stands on a square.

import { svg, use } from "../../dom.js";
import { settings } from "../../settings.js";
import { t } from "../../strings.js";

/** Strongest first, then what never moves: the order of all lists of pieces. */
export const TYPES = [
  "marshal",
  "general",
  "colonel",
  "major",
  "captain",
  "lieutenant",
  "sergeant",
  "miner",
  "scout",
  "spy",
  "bomb",
  "flag",
];
const LETTERS = {
  M: "marshal",
  G: "general",
  C: "colonel",
  J: "major",
  P: "captain",
  L: "lieutenant",
  T: "sergeant",
  N: "miner",
  O: "scout",
  S: "spy",
  B: "bomb",
  F: "flag",
};
const LETTER_OF = Object.fromEntries(Object.entries(LETTERS).map(([letter, type]) => [type, letter]));

/** What is printed on a piece, by the numbering that the person has chosen; empty for pictures alone. */
export function rank(type, numbering = settings.numbering) {
  const place = TYPES.indexOf(type);
  if (type === null || type === "bomb" || type === "flag" || numbering === "icons") return "";
  // The older numbering counts the marshal as 1 and prints an S on the spy.
  if (numbering === "one") return type === "spy" ? t("short.spy") : String(place + 1);
  return String(10 - place);
}

/** A type in one or two letters, by the numbering that is printed on the pieces; beside pictures by ten: "10", "B". */
export const short = (type) => rank(type) || rank(type, "ten") || t(`short.${type}`);

/** "miner (3)": a type for sentences. */
export function named(type) {
  if (type === null) return t("piece.hidden");
  const number = rank(type);
  return number ? t("piece.ranked", { type: t(`type.${type}`), rank: number }) : t(`type.${type}`);
}

/** A setup as people write it, in small letters, with spaces or on several lines, as it is written here. */
export const tidySetup = (text) =>
  text
    .trim()
    .toUpperCase()
    .replace(/\s*(?:\/|\n)\s*/g, "/")
    .replace(/ /g, "");

/** A setup text as rows of types, back row first; null where it cannot be read. */
export function readSetup(text, variant) {
  const rows = text
    .trim()
    .split("/")
    .map((row) => [...row].map((letter) => LETTERS[letter.toUpperCase()] ?? null));
  const fits = rows.length === variant.setup_rows && rows.every((row) => row.length === variant.columns);
  return fits ? rows : null;
}

/** Pieces of a puzzle, out of a text such as "9j1F 98i10u*": a number, the square, the letter (red's capital, U for a
 *  hidden one), and a star on what has moved. */
export const readPieces = (text) =>
  text.split(" ").map((word) => {
    const [, id, at, letter, moved] = word.match(/^(\d+)([a-z]\d+)([A-Za-z])(\*?)$/);
    const side = letter === letter.toUpperCase() ? "red" : "blue";
    return { id: Number(id), at, side, type: LETTERS[letter.toUpperCase()] ?? null, moved: Boolean(moved) };
  });

/** What stands on each square of a setup: [row, column, type]. */
export const places = (text, variant) =>
  readSetup(text, variant)?.flatMap((types, row) => types.map((type, column) => [row, column, type ?? "empty"])) ?? null;

/** The army anywhere in its rows. */
export function shuffled({ columns, setup_rows: depth, army }) {
  const types = Object.entries(army).flatMap(([type, count]) => Array(count).fill(type));
  const all = [...types, ...Array(columns * depth - types.length).fill(null)]
    .map((type) => [Math.random(), type])
    .sort(([a], [b]) => a - b)
    .map(([, type]) => type);
  return Array.from({ length: depth }, (_, row) => all.slice(row * columns, (row + 1) * columns));
}

/** What is wrong with the text of a setup, in sentences; none if it can be one. */
export function setupFaults(text, variant) {
  const { columns, setup_rows: depth, army: whole } = variant;
  const rows = setupRows(text, variant);
  if (rows.length !== depth) return [t("fault.rows", { have: rows.length, want: depth })];
  const faults = [];
  const strange = new Map();
  for (const [place, row] of rows.entries()) {
    const where = { row: place + 1, text: row };
    if (row.length !== columns) faults.push(t("fault.length", { ...where, have: row.length, want: columns }));
    for (const [column, letter] of [...row].entries()) {
      if (letter === "." || letter in LETTERS) continue;
      strange.set(letter, [...(strange.get(letter) ?? []), t("fault.letter", { ...where, letter, place: column + 1 })]);
    }
  }
  for (const [letter, each] of strange) {
    faults.push(each.length === 1 ? each[0] : t("fault.letters", { letter, count: each.length }));
  }
  if (faults.length) return faults;
  const have = (type) => [...text].filter((letter) => LETTERS[letter] === type).length;
  const counted = TYPES.map((type) => ({ type: t(`Type.${type}`), have: have(type), want: whole[type] ?? 0 }));
  for (const [key, wrong] of [
    ["fault.many", counted.filter((each) => each.have > each.want)],
    ["fault.few", counted.filter((each) => each.have < each.want)],
  ]) {
    if (wrong.length) faults.push(t(key, { list: wrong.map((each) => t("fault.count", each)).join(", ") }));
  }
  return faults;
}

/** The rows of a setup's text; slashes may be left out. */
function setupRows(text, { columns, setup_rows: depth }) {
  const whole = text.trim();
  if (whole.includes("/") || whole.length !== columns * depth) return whole.split("/");
  return Array.from({ length: depth }, (_, row) => whole.slice(row * columns, (row + 1) * columns));
}

/** Which letter stands for which piece of an army. */
export const lettersOf = (whole) =>
  TYPES.filter((type) => whole[type]).map((type) => t("setup.letter", { letter: LETTER_OF[type], type: t(`type.${type}`) }));

export function writeSetup(rows) {
  return rows.map((row) => row.map((type) => (type ? LETTER_OF[type] : ".")).join("")).join("/");
}

// ── Drawing ─────────────────────────────────────────────────────────────────────────────────────

// The tower of red carries its figure lower than the shield of blue, which narrows towards the bottom.
const PLACES = { red: { figure: 11, alone: 12.5, rank: 41.2 }, blue: { figure: 7.2, alone: 9, rank: 38.2 } };

/** A piece as a picture of its own. `type` null is the hidden back. */
export function token(side, type, kind = "token") {
  const number = rank(type);
  const place = PLACES[side];
  const size = number ? 21 : 25;
  return svg(
    "svg",
    { class: `${kind} ${side}`, viewBox: "3 3 42 42.5", "aria-hidden": "true" },
    use(side, 0, 0, 48, "frame"),
    use(type ?? "hidden", 24 - size / 2, number ? place.figure : place.alone, size, "figure"),
    number && svg("text", { class: "rank", x: 24, y: place.rank }, number),
  );
}
