// A position in a text, as a picture with words below it.

import { Board } from "./board.js";
import { el } from "./dom.js";

/** A board to look at: pieces as {square: [side, type]}, arrows, and marked squares. */
export function figure(shape, pieces, arrows, marks, caption) {
  const board = new Board(shape, { label: caption });
  board.setPieces(Object.entries(pieces).map(([at, [side, type]]) => ({ id: at, at, side, type })));
  board.setArrows(arrows.map(([from, to, kind]) => ({ from, to, weight: 0.2, kind })));
  board.setMarks(marks);
  board.grid.setAttribute("inert", "");
  return el("figure", { class: "diagram" }, board.element, el("figcaption", {}, caption));
}
