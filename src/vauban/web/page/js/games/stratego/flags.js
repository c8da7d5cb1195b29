// "Find the flag": a position as red sees it, and the square on which all evidence puts blue's flag. Types of hidden
// pieces come onto the page with the answer, and not before.

import { Board } from "../../board.js";
import { button, el, say } from "../../dom.js";
import { countWords, squareWords } from "../../speech.js";
import { numberWords, t } from "../../strings.js";
import { percent } from "../../words.js";
import { readPieces, TYPES } from "./pieces.js";

/** @param of its name; done(counts): call it when the flag is found; next: leads on */
export function findFlag(puzzle, of, done, next) {
  const { shape, answer } = puzzle;
  const pieces = readPieces(puzzle.pieces);
  let over = false,
    helped = false;
  const text = el("p", { class: "lead", role: "status" }, t("flags.task"));
  const why = el("div", { class: "why" });
  const board = new Board(shape, {
    label: of,
    hooks: {
      press,
      label: (at) =>
        squareWords(at, {
          piece: shown().find((piece) => piece.at === at),
          lake: shape.lakes.includes(at),
          seat: "red",
        }),
    },
  });
  const reveal = button(t("flags.show"), () => {
    helped = true;
    finish();
  });

  const hidden = (at) => pieces.find((piece) => piece.at === at && piece.type === null);

  /** The pieces as they are to be seen: what was hidden is open when the flag has been found. */
  function shown() {
    return pieces.map(({ id, at, side, type, moved }) => ({
      id,
      at,
      side,
      type: type ?? (over ? puzzle.truth[at] : null),
      moved: side === "blue" && moved,
      marks: { moved: side === "blue" && moved },
    }));
  }

  function press(at) {
    const piece = hidden(at);
    if (over || !piece) return;
    if (at === answer) {
      finish();
      return;
    }
    text.textContent = t(piece.moved ? "flags.moved" : "flags.wrong", { at });
    board.setMarks({ barred: [at] });
  }

  function finish() {
    over = true;
    reveal.hidden = true;
    text.textContent = t(helped ? "flags.shown" : "flags.found", { at: answer });
    board.setPieces(shown());
    board.setMarks({ selected: [answer] });
    board.setHeat(puzzle.chances);
    why.replaceChildren(el("h3", {}, t("flags.why")), el("ul", {}, reasons().map((each) => el("li", {}, each))));
    say(reasons().join(" "));
    done(!helped);
  }

  function reasons() {
    const { bombs, chances, draws, network } = puzzle;
    const suspects = pieces.filter(({ at, moved }) => hidden(at) && !moved).length;
    const [, [second, least]] = Object.entries(chances).sort(([, a], [, b]) => b - a);
    const words = { draws: numberWords(draws), share: percent(chances[answer]), second, least: percent(least) };
    return [
      t("flags.why.still", { count: suspects }),
      bombs.length && t("flags.why.bombs", { count: bombs.length, squares: bombs.join(", ") }),
      t("flags.why.setups", words),
      t("flags.why.network", { share: percent(network) }),
    ].filter(Boolean);
  }

  const left = TYPES.filter((type) => puzzle.left[type]).map((type) => countWords(type, puzzle.left[type]));
  board.setPieces(shown());
  return [
    text,
    board.element,
    el("div", { class: "answers start" }, reveal, next),
    el("div", { class: "beside" }, el("p", { class: "quiet" }, t("flags.left", { list: left.join(", ") })), why),
  ];
}
