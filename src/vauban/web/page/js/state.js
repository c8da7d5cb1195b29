// What a seat knows of a table: the newest sight and the moves so far; and the boards they led through.

import { other, SIDES } from "./pieces.js";
import { columnOf, rowOf } from "./squares.js";
import { playerName } from "./words.js";

export class Table {
  constructor() {
    this.sight = null;
    this.moves = [];
    this.boards = null;
  }

  /** Take a "sight" or "moves" message; true if moves are missing and must be asked for. */
  take(told) {
    this.boards = null;
    if (told.say === "moves") {
      // What these moves replace was taken back.
      this.moves.length = Math.min(this.moves.length, told.first);
      for (const move of told.moves) this.moves[move.ply - 1] = move;
      return false;
    }
    told.players = Object.fromEntries(SIDES.map((side) => [side, playerName(told, side)]));
    this.sight = told;
    this.moves.length = Math.min(this.moves.length, told.ply);
    return this.known() < told.ply;
  }

  /** How many moves are known without a gap. */
  known() {
    for (let i = 0; i < this.moves.length; i++) if (!this.moves[i]) return i;
    return this.moves.length;
  }

  /** The moves from a ply up to now; the last alone where the others are not known. */
  since(ply) {
    const { sight } = this;
    const all = this.known() >= sight.ply ? this.moves.slice(Math.max(0, ply), sight.ply) : [];
    return all.length || !sight.last || ply >= sight.ply ? all : [sight.last];
  }

  piece(at) {
    return this.sight?.pieces.find((piece) => piece.at === at) ?? null;
  }

  get myTurn() {
    return this.sight?.phase === "play" && this.sight.turn === this.sight.seat;
  }

  /** The boards after 0, 1, … moves, as far as this seat knows them. */
  history() {
    this.boards ??= boards(this.sight.pieces, this.moves.slice(0, this.sight.ply));
    return this.boards;
  }
}

/** Where a piece is after each move, by undoing all moves and then making them again.
 *
 * Undoing gives the start: battles show whatever died, and who lives is on the board now. A piece is
 * known by the square on which it started, so each board is a list of {id, at, side, type, moved, revealed}.
 */
export function boards(now, moves) {
  const start = rewind(now, moves);
  const all = [start];
  for (const move of moves) all.push(after(all.at(-1), move));
  return all;
}

function rewind(now, moves) {
  const standing = new Map(now.map((piece) => [piece.at, { side: piece.side, type: piece.type }]));
  for (const { from, to, side, battle } of [...moves].reverse()) {
    const attacker = battle && battle.result !== ">" ? { side, type: battle.attacker } : standing.get(to);
    if (!battle || battle.result === ">") standing.delete(to);
    if (battle && battle.result !== "<")
      standing.set(to, { side: other(side), type: battle.defender });
    standing.set(from, attacker);
  }
  return [...standing].map(([at, piece]) => ({ ...piece, id: at, at, moved: false, revealed: false }));
}

/** A scout alone goes further than one square, and so is known by it. */
const isFar = (from, to) => Math.abs(columnOf(from) - columnOf(to)) + Math.abs(rowOf(from) - rowOf(to)) > 1;

function after(board, { from, to, battle }) {
  const far = isFar(from, to);
  const next = [];
  for (const piece of board) {
    if (piece.at === from) {
      if (battle && battle.result !== ">") continue;
      next.push({ ...piece, at: to, moved: true, revealed: piece.revealed || Boolean(battle) || far });
    } else if (piece.at === to) {
      if (battle.result === "<") next.push({ ...piece, revealed: true });
    } else {
      next.push(piece);
    }
  }
  return next;
}

/** Who fell in a move, as pieces on the square of the battle; for the board to let them go. */
export function fallen(board, move) {
  if (!move?.battle) return [];
  const { from, to, battle } = move;
  const dead = [];
  const attacker = board.find((piece) => piece.at === from),
    defender = board.find((piece) => piece.at === to);
  if (battle.result !== ">" && attacker) dead.push({ ...attacker, at: to, type: battle.attacker });
  if (battle.result !== "<" && defender) dead.push({ ...defender, type: battle.defender });
  return dead;
}

/** What the board shows of an enemy piece, by what the person wants it to remember. */
export function remembered(piece, sight, memory) {
  if (piece.side === sight.seat || sight.phase === "over" || sight.seat === "watch") return piece.type;
  // Tournament style: what a fight (or a long run) has shown is hidden again with the next move.
  const { last } = sight;
  const shown = last?.to === piece.at && (last.battle || isFar(last.from, last.to));
  return memory === "tournament" && !shown ? null : piece.type;
}
