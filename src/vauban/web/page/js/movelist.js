// The moves so far, with what the fights showed; and lines that leave them.

import { button, el } from "./dom.js";
import { family } from "./family.js";
import { settings } from "./settings.js";
import { t } from "./strings.js";

export class MoveList {
  /** @param chosen(ply) is called when a move is pressed */
  constructor(chosen) {
    this.chosen = chosen;
    this.shown = [];
    this.items = [];
    this.element = el("ol", { class: "moves", "aria-label": t("moves"), tabindex: "0", "data-empty": t("moves.none") });
    // A list that becomes lower, because the window does, still shows the current move.
    new ResizeObserver(() => this.#follow()).observe(this.element);
  }

  /** Show these moves; marks the one after which the board stands. */
  set(moves, at = moves.length) {
    // Fights are told by rank: another numbering tells all of them anew.
    if (this.numbering !== settings.numbering) this.shown = [];
    this.numbering = settings.numbering;
    let same = 0;
    while (same < this.shown.length && this.shown[same] === moves[same]) same++;
    while (this.items.length > same) this.items.pop().remove();
    for (const move of moves.slice(same)) {
      this.items.push(moveItem(move, () => this.chosen(move.ply)));
      this.element.append(this.items.at(-1));
    }
    this.shown = [...moves];
    this.mark(this.items[at - 1]);
  }

  /** Show these lines, each behind the move with its number: [{ply, element}]. */
  setLines(lines) {
    for (const old of this.element.querySelectorAll(":scope > .branch")) old.remove();
    for (const { ply, element } of [...lines].reverse()) this.items[ply - 1].after(element);
  }

  /** Mark the current move, by its item; undefined marks none. */
  mark(item) {
    this.element.querySelector("[aria-current]")?.removeAttribute("aria-current");
    item?.firstChild.setAttribute("aria-current", "true");
    this.#follow();
  }

  /** Scroll the list, and nothing else, so that it shows the current move. */
  #follow() {
    // scrollIntoView would move the page under a finger.
    const item = this.element.querySelector("[aria-current]")?.parentElement;
    if (!item) return;
    if (item.offsetTop < this.element.scrollTop) this.element.scrollTop = item.offsetTop;
    const below = item.offsetTop + item.offsetHeight - this.element.clientHeight;
    if (below > this.element.scrollTop) this.element.scrollTop = below;
  }
}

/** A move in a list, to be pressed. */
export function moveItem(move, press) {
  const deed = family().deed(move);
  const text = move.from ? `${move.from}${deed?.sign ?? "–"}${move.to}` : (move.text ?? t("move.hidden"));
  const words = { ply: move.ply, side: t(`side.${move.side}`), from: move.from, to: move.to, text };
  const label = t(move.from ? "move.label" : "move.label.text", words) + (deed ? `, ${deed.label}` : "");
  return el(
    "li",
    { class: move.own ? `${move.side} own` : move.side },
    button(
      [
        el("span", { class: "number" }, `${move.ply}.`),
        el("span", {}, text),
        deed && el("span", { class: "fight" }, deed.short),
      ],
      press,
      { "aria-label": label },
    ),
  );
}
