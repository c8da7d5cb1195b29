// Puzzles: endgames with a known answer, in which red wins by force and one move alone begins it; and positions in which
// the enemy's flag is to be found (flags.js). Nothing of it needs the server.

import { Board } from "../../board.js";
import { button, el, say } from "../../dom.js";
import { keep, recall, still } from "../../settings.js";
import { squareWords } from "../../speech.js";
import { t } from "../../strings.js";
import { findFlag } from "./flags.js";
import { readPieces } from "./pieces.js";

const REPLY_MS = 700;

/** The kinds of puzzles: where they are, what the solved ones are kept under, how they begin in the address, and what
 *  shows one. Endgames are {game, moves, shape, pieces, legal, best} (scripts/make_puzzles.py), the others as
 *  scripts/make_flag_puzzles.py writes them. */
const KINDS = {
  ends: { file: "puzzles.json", kept: "puzzles", address: "#/puzzles", puzzle: endgame },
  flag: { file: "flags.json", kept: "puzzles.flag", address: "#/puzzles/flag", puzzle: findFlag },
};
const loaded = {};

async function load(kind) {
  loaded[kind] ??= await (await fetch(`/static/${KINDS[kind].file}`)).json();
  return loaded[kind];
}

export function show(main, parts) {
  const kind = parts[0] === "flag" ? "flag" : "ends";
  const chosen = Number(parts[kind === "flag" ? 1 : 0]);
  const { kept, address, puzzle } = KINDS[kind];
  const place = el("div");
  const link = (key) =>
    el("a", { href: KINDS[key].address, "aria-current": key === kind ? "true" : null }, t(`puzzles.kind.${key}`));
  main.append(
    el(
      "section",
      { class: "page" },
      el("h1", {}, t("puzzles.title")),
      el("nav", { class: "kinds", "aria-label": t("puzzles.kinds") }, Object.keys(KINDS).map(link)),
      el("p", {}, t(`puzzles.lead.${kind}`)),
      place,
    ),
  );
  load(kind).then(
    (all) => {
      const solved = () => recall(kept, []);
      const open = all.findIndex((_, i) => !solved().includes(i + 1)) + 1 || 1;
      const number = all[chosen - 1] ? chosen : open;
      let list = numbers(all, number, address, solved());
      const next = el("a", { class: "button", href: `${address}/${(number % all.length) + 1}` }, t("puzzles.next"));
      const done = (counts) => {
        if (counts) keep(kept, [...new Set([...solved(), number])]);
        list.replaceWith((list = numbers(all, number, address, solved())));
        next.classList.add("primary");
        next.focus();
      };
      const of = t("puzzles.of", { n: number, all: all.length });
      const shown = puzzle(all[number - 1], of, done, next);
      place.replaceChildren(list, el("div", { class: "lesson puzzle" }, el("p", { class: "quiet" }, of), shown));
    },
    () => place.replaceChildren(el("p", { class: "error", role: "alert" }, t("offline.text"))),
  );
}

/** An endgame. `of` is its name; `done(counts)` is called when it is solved; `next` leads on. */
function endgame(whole, of, done, next) {
  const { moves, shape } = whole;
  let task, picked, last, pieces, busy, helped;
  const text = el("p", { class: "lead", role: "status" });
  const board = new Board(shape, {
    label: of,
    hooks: {
      press,
      canDrag: (at) => starts(at),
      dragStart: (at) => pick(at),
      drop: (from, to) => (legal().includes(from + to) ? perform(from + to) : pick(null)),
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

  const legal = () => (task.legal ? task.legal.split(" ") : []);
  const starts = (at) => !busy && legal().some((move) => parts(move)[0] === at);
  const targets = () => (picked ? legal().map(parts).filter(([from]) => from === picked) : []).map(([, to]) => to);

  function begin() {
    [task, busy, helped, last] = [whole, false, false, []];
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
    pieces = readPieces(told).map(({ id, at, side, type }) => ({ id, at, side, type }));
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
    task = { ...task, legal: "" };
    pick(null);
    text.textContent = t(helped ? "puzzles.helped" : "puzzles.solved");
    done(!helped);
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

  begin();
  return [text, board.element, el("div", { class: "answers start" }, again, solution, next)];
}

/** Links to all puzzles, with those marked that have been solved in this browser. */
function numbers(all, current, address, done) {
  const link = (_, i) =>
    el(
      "a",
      {
        href: `${address}/${i + 1}`,
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
