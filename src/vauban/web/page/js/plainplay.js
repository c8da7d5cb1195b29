// A game in progress that has no board of its own here: what one knows of it as text, and its moves as buttons.

import { button, el, say } from "./dom.js";
import { play as sound } from "./sounds.js";
import { t } from "./strings.js";
import { typeName } from "./words.js";

const pieceLine = ({ at, side, type }) =>
  `${at} ${t(`side.${side}`)}: ${type === null ? t("piece.hidden") : typeName(type)}`;

export class PlainPlay {
  looking = null;
  flip = null; // it has no other side
  below = "red";
  hint = null;

  /** @param screen what it is a part of (boardplay.js) */
  constructor(screen) {
    this.screen = screen;
    this.picture = el("pre", { class: "code", tabindex: "0", "aria-label": t("plain.position") });
    this.moves = el("div", { class: "line", role: "group", "aria-label": t("plain.choose") });
    this.element = el("div", { class: "board-place plain" }, this.picture, this.moves);
  }

  begun() {
    this.focus();
  }

  close() {}
  changed() {}
  refused() {}
  goOn() {}
  look() {}

  show() {
    const { picture, pieces = [], legal } = this.screen.sight;
    // Games with a drawing that is missing or broken send their pieces.
    this.picture.textContent = picture ?? pieces.map(pieceLine).join("\n");
    const held = this.moves.contains(document.activeElement);
    this.moves.replaceChildren(
      ...legal.map((move) => button(move, () => this.screen.send({ do: "move", move }), { class: "large" })),
    );
    if (held) this.focus();
  }

  focus() {
    (this.moves.querySelector("button") ?? this.picture).focus();
  }

  explain({ text = t("why.illegal") }) {
    say(text, { urgent: true });
  }

  questions() {
    return [];
  }

  news() {
    return [];
  }

  counts() {
    return [];
  }

  words(moves) {
    return moves.map(({ ply, side, text }) =>
      t("move.label.text", { ply, side: t(`side.${side}`), text: text ?? t("move.hidden") }),
    );
  }

  warnings() {
    return [];
  }

  sound() {
    sound("step");
  }
}
