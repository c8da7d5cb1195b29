// Words for the ear: what a square holds, and what a move did.

import { family } from "./family.js";
import { other, SIDES } from "./sides.js";
import { square } from "./squares.js";
import { has, t } from "./strings.js";
import { typeName } from "./words.js";

/** Whose a piece is: "your", "red"; in some languages that depends on what it is. */
const owner = ({ side, type }, seat) =>
  seat === "watch" ? t(`owner.${side}`) : t(side === seat ? "own" : "enemy", { kind: type ?? "hidden" });

/** A piece: "your miner (3), has moved". */
export function pieceWords(piece, seat, extra = []) {
  const words = [family().called(piece, owner(piece, seat), piece.side === seat)];
  if (piece.moved) words.push(t("moved"));
  if (piece.revealed && piece.side === seat) words.push(t("known"));
  return [...words, ...extra.filter(Boolean)].join(", ");
}

/** A square for its label: "e4, your miner (3), has moved". A gate is called by whom it is for, and the square before it. */
export function squareWords(name, { piece, lake, gate, seat, extra = [] }) {
  const what = gate ? gateWords(gate, seat) : lake ? t("lake") : piece ? pieceWords(piece, seat) : t("empty");
  return [name, what, ...extra.filter(Boolean)].join(", ");
}

const gateWords = (side, seat) =>
  SIDES.includes(seat) ? t(side === seat ? "gate.own" : "gate.enemy") : t("gate.side", { side: t(`side.${side}`) });

/** A move as a sentence. */
export function moveWords(move, seat) {
  const who = seat === "watch" ? t(`Side.${move.side}`) : move.side === seat ? t("You") : t("Enemy");
  const own = move.side === seat;
  const { from, to } = move;
  return family().deed(move)?.words({ who, own, from, to }) ?? t(own ? "say.move.you" : "say.move", { who, from, to });
}

/** A row from left to right: only what stands on it. */
function rowWords(row, variant, pieces, seat) {
  const found = [];
  for (let column = 0; column < variant.columns; column++) {
    const name = square(column, row);
    const piece = pieces.find((each) => each.at === name);
    if (piece) found.push(`${name} ${pieceWords(piece, seat)}`);
    else if (variant.lakes?.includes(name)) found.push(`${name} ${t("lake")}`);
  }
  return t("say.row", { row: row + 1, what: found.join("; ") || t("empty") });
}

/** Where one's pieces stand, by type. */
function armyWords(pieces, side) {
  const { TYPES, named } = family();
  const types = new Set([...TYPES, ...pieces.map(({ type }) => type).filter((type) => type !== null)]);
  return [...types]
    .map((type) => [type, pieces.filter((piece) => piece.side === side && piece.type === type)])
    .filter(([, found]) => found.length)
    .map(([type, found]) => `${named(type)}: ${found.map((piece) => piece.at).join(", ")}`)
    .join("; ");
}

/** "2 spies": a family has a text for each of its types, where a plural is more than a number. */
export const countWords = (type, count) => t(has(`army.${type}`) ? `army.${type}` : "army.left", { count, type: typeName(type) });

/** What is left of both armies. */
function leftWords(left) {
  const { TYPES } = family();
  return SIDES.map(
    (side) =>
      `${t(`Side.${side}`)}: ${TYPES.filter((type) => left[side][type])
        .map((type) => countWords(type, left[side][type]))
        .join(", ")}`,
  ).join(". ");
}

/** What a single letter asks for; null if it asks for nothing. `pieces` are as the person may remember them. */
export function commandWords(letter, { sight, pieces, row, variant }) {
  const { seat, eyes, last, left } = sight;
  switch (letter) {
    case "l":
      return last ? moveWords(last, seat) : t("say.no_move");
    case "o":
      return rowWords(row, variant, pieces, seat);
    case "s":
      return armyWords(pieces, seat === "watch" ? (eyes ?? "red") : seat);
    case "p":
      return armyWords(pieces, other(seat === "watch" ? (eyes ?? "red") : seat)) || t("say.none_known");
    case "b":
      return family().counted(sight);
    case "w":
      return left ? leftWords(left) : null;
    default:
      return null;
  }
}
