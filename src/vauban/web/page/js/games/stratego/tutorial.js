// The first minute: six small boards, each with one thing to do. Nothing of it needs the server.

import { Board } from "../../board.js";
import { button, el, say, way } from "../../dom.js";
import { keep } from "../../settings.js";
import { squareWords } from "../../speech.js";
import { t } from "../../strings.js";
import { named } from "./pieces.js";

// Each lesson: who stands where, what may be played, and what it does. A piece is [side, type, shown from the start].
const LESSONS = [
  {
    key: "move",
    pieces: { c1: ["red", "captain"], a1: ["red", "flag"], d4: ["blue", "sergeant", false] },
    play: ["c1", ["c2", "b1", "d1"]],
  },
  {
    key: "attack",
    pieces: { c2: ["red", "captain"], a1: ["red", "flag"], c3: ["blue", "sergeant", false] },
    play: ["c2", ["c3"]],
    result: ">",
  },
  {
    key: "scout",
    pieces: { b1: ["red", "scout"], a1: ["red", "flag"], b4: ["blue", "marshal", false] },
    play: ["b1", ["b4"]],
    result: "<",
  },
  {
    key: "spy",
    pieces: { b3: ["red", "spy"], a1: ["red", "flag"], b4: ["blue", "marshal", true] },
    play: ["b3", ["b4"]],
    result: ">",
  },
  {
    key: "miner",
    pieces: { c3: ["red", "miner"], a1: ["red", "flag"], c4: ["blue", "bomb", true], d4: ["blue", "flag", false] },
    play: ["c3", ["c4"]],
    result: ">",
  },
  {
    key: "flag",
    pieces: { c4: ["red", "miner"], a1: ["red", "flag"], d4: ["blue", "flag", false] },
    play: ["c4", ["d4"]],
    result: ">",
  },
];
const SHAPE = { columns: 4, rows: 4, lakes: [] };

export function show(main) {
  const place = el("div", { class: "lesson" });
  main.append(el("section", { class: "page" }, el("h1", {}, t("learn.title")), place));
  let number = 0;

  function next() {
    if (number === LESSONS.length) {
      keep("learnt.stratego", true);
      place.replaceChildren(
        el("p", { class: "lead" }, t("learn.done")),
        el(
          "div",
          { class: "answers start" },
          el("a", { class: "button", href: "#/rules" }, t("nav.rules")),
          way(t("learn.play"), "#/"),
        ),
      );
      place.querySelector(".primary").focus();
      return;
    }
    lesson(LESSONS[number++]);
  }

  function lesson({ key, pieces, play: [from, targets], result }) {
    let state = Object.entries(pieces).map(([at, [side, type, open = true]]) => ({ id: at, at, side, type, open }));
    let picked = false,
      done = false;
    const text = el("p", { class: "lead", role: "status" }, t(`learn.${key}`, { piece: named(pieces[from][1]) }));
    const go = button(t(number === LESSONS.length ? "learn.finish" : "learn.next"), next, {
      class: "primary",
      hidden: true,
    });
    const seen = (piece) => ({ ...piece, type: piece.open ? piece.type : null });
    const board = new Board(SHAPE, {
      label: t("learn.title"),
      coordinates: false,
      hooks: {
        press: (at) => {
          if (done) return;
          if (at === from) picked = !picked;
          else if (picked && targets.includes(at)) return perform(at);
          else say(t("learn.hint"));
          return paint();
        },
        canDrag: (at) => !done && at === from,
        dragStart: () => {
          picked = true;
          paint();
        },
        drop: (_, to) => {
          if (targets.includes(to)) perform(to);
          else paint();
        },
        label: (at) => {
          const piece = state.find((each) => each.at === at);
          return squareWords(at, {
            piece: piece && seen(piece),
            seat: "red",
            extra: [picked && targets.includes(at) && t("target")],
          });
        },
      },
    });

    function perform(to) {
      done = true;
      const enemy = state.find((each) => each.at === to);
      const loser = enemy && (result === ">" ? enemy : state.find((each) => each.at === from));
      state = state
        .filter((each) => each !== loser)
        .map((each) => (each.at === from ? { ...each, at: to } : { ...each, open: each.open || each === enemy }));
      paint(loser ? [{ ...loser, at: to }] : []);
      text.textContent = t(`learn.${key}.done`, enemy ? { enemy: named(enemy.type) } : {});
      go.hidden = false;
      go.focus();
    }

    function paint(fallen = []) {
      board.setPieces(state.map(seen), { fallen });
      const open = picked && !done ? targets : [];
      const enemies = open.filter((at) => state.some((piece) => piece.at === at));
      board.setMarks({
        selected: picked && !done ? [from] : [],
        target: open.filter((at) => !enemies.includes(at)),
        strike: enemies,
        last: done ? [] : picked ? [] : [from],
      });
    }

    place.replaceChildren(
      el("p", { class: "quiet" }, t("learn.step", { n: number, all: LESSONS.length })),
      text,
      board.element,
      el(
        "div",
        { class: "answers start" },
        el("a", { class: "button", href: "#/", onclick: () => keep("learnt.stratego", true) }, t("learn.skip")),
        go,
      ),
    );
    paint();
    board.focus(from);
  }

  next();
}
