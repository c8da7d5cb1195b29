// The boards of a game of Stratego, as the moves tell them; and what a board shows of them.

import { other } from "../../sides.js";

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
  const standing = new Map(now.map(({ at, side, type, moved, revealed }) => [at, { side, type, moved, revealed }]));
  for (const { from, to, side, battle } of [...moves].reverse()) {
    // What was there before the first move is seen of pieces that no move tells of alone.
    const { type } = battle && battle.result !== ">" ? { type: battle.attacker } : standing.get(to);
    if (!battle || battle.result === ">") standing.delete(to);
    if (battle?.result === "<") standing.set(to, { ...standing.get(to), revealed: false });
    if (battle && battle.result !== "<")
      standing.set(to, { side: other(side), type: battle.defender });
    standing.set(from, { side, type });
  }
  return [...standing].map(([at, piece]) => ({ moved: false, revealed: false, ...piece, id: at, at }));
}

function after(board, { from, to, battle, shows }) {
  const next = [];
  for (const piece of board) {
    if (piece.at === from) {
      if (battle && battle.result !== ">") continue;
      next.push({ ...piece, at: to, moved: true, revealed: piece.revealed || shows });
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
  const shown = last?.to === piece.at && last.shows;
  return memory === "tournament" && !shown ? null : piece.type;
}
