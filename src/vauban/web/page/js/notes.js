// Private notes on enemy pieces. They stay in this browser, and move with the piece: its start square never changes.

import { button, dialog, el } from "./dom.js";
import { family } from "./family.js";
import { keep, recall } from "./settings.js";
import { t } from "./strings.js";
import { typeName } from "./words.js";

const MARKS = ["?", "!", "★", "✗"];

export class Notes {
  constructor(game) {
    this.name = `notes.${game}`;
    this.all = recall(this.name, {});
  }

  /** The note on the piece that started on a square; null if there is none. */
  on(start) {
    return this.all[start] ?? null;
  }

  set(start, note) {
    if (note) this.all[start] = note;
    else delete this.all[start];
    keep(this.name, Object.keys(this.all).length ? this.all : null);
  }

  /** What fits into a corner of the piece. */
  short(start) {
    const note = this.on(start);
    if (!note) return null;
    const { TYPES, short } = family();
    return TYPES.includes(note) ? short(note) : note;
  }

  /** A note for a sentence. */
  spoken(start) {
    const note = this.on(start);
    return note && t("note.spoken", { note: family().TYPES.includes(note) ? typeName(note) : note });
  }
}

/** What is known of an enemy piece, and a place to note a guess. Resolves when it is closed. */
export function pieceSheet({ piece, known, left, notes }) {
  return dialog(
    t("note.title", { square: piece.at }),
    (close) => {
      const set = (note) => {
        notes.set(piece.from, notes.on(piece.from) === note ? null : note);
        close(true);
      };
      const press = (note, face, label) =>
        button(face, () => set(note), {
          class: "note-button",
          "aria-pressed": String(notes.on(piece.from) === note),
          "aria-label": label,
        });
      return [
        el("p", {}, known),
        piece.type === null &&
          el(
            "div",
            { class: "note-types", role: "group", "aria-label": t("note.guess") },
            family().guesses(piece, left).map((type) =>
              press(
                type,
                [family().token(piece.side, type, "mini"), el("span", {}, typeName(type))],
                t("note.set", { type: typeName(type) }),
              ),
            ),
          ),
        el(
          "div",
          { class: "note-marks", role: "group", "aria-label": t("note.marks") },
          MARKS.map((mark) => press(mark, mark, t("note.set", { type: mark }))),
        ),
        el("p", { class: "quiet" }, t("note.private")),
        el(
          "div",
          { class: "answers" },
          notes.on(piece.from) &&
            button(t("note.clear"), () => {
              notes.set(piece.from, null);
              close(true);
            }),
          button(t("close"), () => close(), { class: "primary" }),
        ),
      ];
    },
    "sheet",
  );
}
