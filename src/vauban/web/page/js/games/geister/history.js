// The boards of a game of Geister, as the moves tell them.

import { other } from "../../sides.js";

/** Who stood where after each move: the moves are undone from now on, and what they took comes back. */
export function boards(now, moves) {
  const standing = new Map(now.map((piece) => [piece.at, piece]));
  const board = () => [...standing].map(([at, piece]) => ({ ...piece, id: piece.from, at }));
  const all = [board()];
  for (const { from, to, side, captured, escaped, ghost } of [...moves].reverse()) {
    const moved = escaped ? { ...ghost, side } : standing.get(to);
    standing.delete(to);
    if (captured) standing.set(to, { ...captured, side: other(side) });
    standing.set(from, moved);
    all.unshift(board());
  }
  return all;
}

/** Who has left the board in a move, with its colour: where it was captured, or at the gate. */
export function fallen(board, move) {
  if (move?.captured) return board.filter(({ at }) => at === move.to).map((piece) => ({ ...piece, ...move.captured }));
  if (move?.escaped) return board.filter(({ at }) => at === move.from).map((piece) => ({ ...piece, ...move.ghost, at: move.to }));
  return [];
}
