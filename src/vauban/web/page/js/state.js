// What a seat knows of a table: the newest sight and the moves so far; and the boards they led through.

import { family } from "./family.js";
import { SIDES } from "./sides.js";
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
    return this.sight?.pieces?.find((piece) => piece.at === at) ?? null;
  }

  get myTurn() {
    return this.sight?.phase === "play" && this.sight.turn === this.sight.seat;
  }

  /** The boards after 0, 1, … moves, as far as this seat knows them. */
  history() {
    this.boards ??= family().boards(this.sight.pieces, this.moves.slice(0, this.sight.ply));
    return this.boards;
  }
}
