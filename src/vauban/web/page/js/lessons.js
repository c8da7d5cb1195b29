// The first minute with a game: small boards, each with one thing to do. Nothing of it needs the server.

import { Board } from "./board.js";
import { button, el, say, way } from "./dom.js";
import { family, ownScreen } from "./family.js";
import { keep } from "./settings.js";
import { squareWords } from "./speech.js";
import { t } from "./strings.js";

const SHAPE = { columns: 4, rows: 4 };

/** @param name of the family; what its lessons say is learn.KEY and learn.KEY.done, what is said at the end learn.done.NAME
 *  @param lessons each {key, pieces, play: [from, targets]}: who stands where, and what may be played. A piece is
 *    [side, type, open]: whether it is open from the start; `result` as in a battle, if one is fought; `gates` of the board
 */
export function teach(main, name, lessons) {
  const { named } = family();
  const place = el("div", { class: "lesson" });
  main.append(el("section", { class: "page" }, el("h1", {}, t("learn.title")), place));
  let number = 0;

  function next() {
    if (number === lessons.length) {
      keep(`learnt.${name}`, true);
      place.replaceChildren(
        el("p", { class: "lead" }, t(`learn.done.${name}`)),
        el(
          "div",
          { class: "answers start" },
          el("a", { class: "button", href: ownScreen("rules") }, t("nav.rules")),
          way(t("learn.play"), "#/"),
        ),
      );
      place.querySelector(".primary").focus();
      return;
    }
    lesson(lessons[number++]);
  }

  function lesson({ key, pieces, play: [from, targets], result, gates }) {
    let state = Object.entries(pieces).map(([at, [side, type, open = true]]) => ({ id: at, at, side, type, open }));
    let picked = false,
      done = false;
    const text = el("p", { class: "lead", role: "status" }, t(`learn.${key}`, { piece: named(pieces[from][1]) }));
    const go = button(t(number === lessons.length ? "learn.finish" : "learn.next"), next, {
      class: "primary",
      hidden: true,
    });
    const skip = el("a", { class: "button", href: "#/", onclick: () => keep(`learnt.${name}`, true) }, t("learn.skip"));
    const seen = (piece) => ({ ...piece, type: piece.open ? piece.type : null });
    const board = new Board({ ...SHAPE, gates }, {
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
            gate: gates?.[at],
            seat: "red",
            extra: [picked && !done && targets.includes(at) && t("target")],
          });
        },
      },
    });

    function perform(to) {
      done = true;
      const enemy = state.find((each) => each.at === to);
      const mover = state.find((each) => each.at === from);
      // Whoever goes through a gate leaves the board, like the loser of a battle.
      const gone = gates?.[to] || (enemy && result !== ">") ? mover : enemy;
      state = state
        .filter((each) => each !== gone)
        .map((each) => (each.at === from ? { ...each, at: to } : { ...each, open: each.open || each === enemy }));
      paint(gone ? [{ ...gone, at: to }] : []);
      text.textContent = t(`learn.${key}.done`, enemy ? { enemy: named(enemy.type) } : {});
      skip.hidden = number === lessons.length;
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
      el("p", { class: "quiet" }, t("learn.step", { n: number, all: lessons.length })),
      text,
      board.element,
      el("div", { class: "answers start" }, skip, go),
    );
    paint();
    board.focus(from);
  }

  next();
}
