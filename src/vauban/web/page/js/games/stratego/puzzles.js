// Endgames with a known answer: red wins by force, and one move alone begins it. Nothing of it needs the server.

import { Board } from "../../board.js";
import { button, el, say } from "../../dom.js";
import { keep, recall, still } from "../../settings.js";
import { squareWords } from "../../speech.js";
import { t } from "../../strings.js";

const REPLY_MS = 700;

let puzzles = null;

/** All of them: {moves, shape, pieces, legal, best}, as scripts/make_puzzles.py writes them. */
async function load() {
  puzzles ??= await (await fetch("/static/puzzles.json")).json();
  return puzzles;
}

export function show(main, [chosen]) {
  const place = el("div");
  main.append(el("section", { class: "page" }, el("h1", {}, t("puzzles.title")), place));
  load().then(
    (all) => {
      const open = all.findIndex((_, i) => !solved().includes(i + 1)) + 1 || 1;
      place.replaceChildren(...puzzle(all, all[chosen - 1] ? Number(chosen) : open));
    },
    () => place.replaceChildren(el("p", { class: "error", role: "alert" }, t("offline.text"))),
  );
}

const solved = () => recall("puzzles", []);

function puzzle(all, number) {
  const { moves, shape } = all[number - 1];
  let task, picked, last, pieces, busy, helped;
  const text = el("p", { class: "lead", role: "status" });
  const board = new Board(shape, {
    label: t("puzzles.of", { n: number, all: all.length }),
    hooks: {
      press,
      canDrag: (at) => starts(at),
      dragStart: (at) => pick(at),
      drop: (from, to) => (task.legal.includes(from + to) ? perform(from + to) : pick(null)),
      label: (at) =>
        squareWords(at, {
          piece: pieces?.find((piece) => piece.at === at),
          lake: shape.lakes.includes(at),
          seat: "red",
          extra: [targets().includes(at) && t("target")],
        }),
    },
  });
  const again = button(t("puzzles.again"), begin);
  const solution = button(t("puzzles.show"), reveal);
  const next = el("a", { class: "button", href: `#/puzzles/${(number % all.length) + 1}` }, t("puzzles.next"));

  const starts = (at) => !busy && task.legal.some((move) => parts(move)[0] === at);
  const targets = () => (picked ? task.legal.map(parts).filter(([from]) => from === picked) : []).map(([, to]) => to);

  function begin() {
    [task, busy, helped, last] = [all[number - 1], false, false, []];
    text.textContent = t("puzzles.task", { moves });
    stand(task.pieces);
    pick(null);
  }

  function press(at) {
    if (targets().includes(at)) perform(picked + at);
    else pick(starts(at) && at !== picked ? at : null);
  }

  function pick(at) {
    picked = at;
    const strike = targets().filter((to) => pieces.some((piece) => piece.at === to));
    board.setArrows([]);
    board.setMarks({
      selected: picked ? [picked] : [],
      target: targets().filter((to) => !strike.includes(to)),
      strike,
      last,
    });
    board.relabel();
  }

  function stand(told) {
    const before = pieces ?? [];
    pieces = told.map(([id, at, side, type]) => ({ id, at, side, type }));
    const at = last[1];
    const fallen = before.filter((piece) => at && !pieces.some(({ id }) => id === piece.id));
    board.setPieces(pieces, { fallen: fallen.map((piece) => ({ ...piece, at })) });
  }

  function perform(move) {
    const found = task.best[move];
    if (!found) {
      pick(null);
      text.textContent = t("puzzles.wrong", { move: parts(move).join("–") });
      return;
    }
    const here = follow(move, found.pieces);
    if (!found.reply) {
      finish();
      return;
    }
    busy = true;
    text.textContent = t("puzzles.right");
    setTimeout(
      () => {
        // Another puzzle, or this one from the start, may be on the board by now.
        if (!board.element.isConnected || here !== last) return;
        busy = false;
        task = found.then;
        follow(found.reply, task.pieces);
        const [from, to] = parts(found.reply);
        text.textContent = t("puzzles.replied", { from, to });
      },
      still() ? 0 : REPLY_MS,
    );
  }

  function follow(move, told) {
    last = parts(move);
    stand(told);
    pick(null);
    return last;
  }

  function finish() {
    task = { ...task, legal: [] };
    pick(null);
    if (!helped) keep("puzzles", [...new Set([...solved(), number])]);
    list.replaceWith((list = numbers(all, number)));
    text.textContent = t(helped ? "puzzles.helped" : "puzzles.solved");
    next.classList.add("primary");
    next.focus();
  }

  function reveal() {
    const [best] = Object.keys(task.best);
    if (busy || !best) return;
    helped = true;
    const [from, to] = parts(best);
    pick(null);
    board.setArrows([{ from, to, weight: 0.6, kind: "own" }]);
    say(t("puzzles.best", { from, to }));
  }

  let list = numbers(all, number);
  begin();
  return [
    el("p", {}, t("puzzles.lead")),
    list,
    el(
      "div",
      { class: "lesson puzzle" },
      el("p", { class: "quiet" }, t("puzzles.of", { n: number, all: all.length })),
      text,
      board.element,
      el("div", { class: "answers start" }, again, solution, next),
    ),
  ];
}

/** Links to all puzzles, with those marked that have been solved in this browser. */
function numbers(all, current) {
  const done = solved();
  const link = (_, i) =>
    el(
      "a",
      {
        href: `#/puzzles/${i + 1}`,
        class: done.includes(i + 1) ? "solved" : "",
        "aria-current": i + 1 === current ? "true" : null,
        "aria-label": t(done.includes(i + 1) ? "puzzles.number.solved" : "puzzles.number", { n: i + 1 }),
      },
      String(i + 1),
    );
  return el("nav", { class: "numbers", "aria-label": t("puzzles.title") }, all.map(link));
}

/** The squares of a move: "a4a10" is ["a4", "a10"]. */
const parts = (move) => move.match(/[a-z]\d+/g);
