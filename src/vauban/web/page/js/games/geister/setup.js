// The setup editor: a press on a ghost makes it evil, another one good again.

import { Board } from "../../board.js";
import { button, el, say, toast } from "../../dom.js";
import { Advice } from "../../explorer.js";
import { drawSetup } from "../../protocol.js";
import { SavedSetups } from "../../saved.js";
import { columnOf, rowOf, square } from "../../squares.js";
import { t } from "../../strings.js";
import { called } from "./ghosts.js";

/** What stands on each square of a setup: [row, column, "good" or "evil"]. */
export function places(text, { homes }) {
  const left = Math.min(...Object.values(homes).map(columnOf));
  return Object.entries(homes).map(([letter, at]) => [
    rowOf(at),
    columnOf(at) - left,
    text.includes(letter) ? "evil" : "good",
  ]);
}

export class SetupEditor {
  /** @param change(text) is called with every complete setup */
  constructor(variant, { side = "red", setup = null, change = () => {} } = {}) {
    this.variant = variant;
    this.side = side;
    this.change = change;
    this.evil = new Set(setup ?? "");
    this.wish = null; // the network's setup, while it is on its way
    const { homes, columns } = variant;
    this.letterAt = Object.fromEntries(Object.entries(homes).map(([letter, at]) => [at, letter]));
    this.board = new Board(
      { columns, rows: 1 + Math.max(...Object.values(homes).map(rowOf)) },
      {
        label: t("setup.board"),
        coordinates: false,
        hooks: { press: (at) => this.#press(at), label: (at) => this.#label(at) },
      },
    );
    this.board.setCursor(homes.A);
    this.count = el("p", { class: "evil-left", role: "status" });
    this.advice = new Advice(variant);
    this.saved = new SavedSetups(
      variant,
      {
        value: () => this.value,
        load: (text) => this.put(text),
        take: (text) => {
          this.#take(text);
          say(t("setup.imported"));
        },
        faults: (text) => this.#faults(text),
        tidy: (text) => text.toUpperCase().replace(/\s/g, ""),
      },
      t("ghost.letters", { letters: Object.keys(homes).join(" "), evil: variant.army.evil }),
    );
    this.element = el(
      "div",
      { class: "setup ghosts" },
      el(
        "div",
        { class: "toolbar" },
        button(t("setup.random"), () => this.#draw()),
        variant.network && button(t("setup.model"), () => this.#fromNetwork()),
        button(t("setup.mirror"), () => this.#mirror()),
        button(t("ghost.clear"), () => this.#take("")),
      ),
      this.board.element,
      el("p", { class: "quiet hint" }, t("ghost.hint")),
      this.count,
      this.advice.element,
      el("details", {}, el("summary", {}, t("setup.more")), this.saved.fields),
    );
    if (setup && !this.#faults(setup).length) this.#changed();
    else this.#draw();
  }

  /** How many ghosts are still to be made evil; less than none: so many are too many. */
  get missing() {
    return this.variant.army.evil - this.evil.size;
  }

  /** The setup as text; null until it is complete. */
  get value() {
    return this.missing === 0 ? [...this.evil].sort().join("") : null;
  }

  /** The same; what is missing is told. */
  async settled() {
    await this.wish;
    if (this.value === null) toast(this.count.textContent, { urgent: true });
    return this.value;
  }

  /** Put a setup on the board. */
  put(text) {
    this.#take(text);
  }

  setSide(side) {
    this.side = side;
    this.board.setPieces([]);
    this.#render();
  }

  #faults(text) {
    const { homes, army } = this.variant;
    const fine = new Set(text).size === text.length && text.length === army.evil;
    if (fine && [...text].every((letter) => letter in homes)) return [];
    return [t("ghost.letters", { letters: Object.keys(homes).join(" "), evil: army.evil })];
  }

  #draw() {
    const drawn = Object.keys(this.variant.homes)
      .map((letter) => [Math.random(), letter])
      .sort(([a], [b]) => a - b);
    this.#take(drawn.slice(0, this.variant.army.evil).map(([, letter]) => letter));
    say(t("setup.drawn"));
  }

  /** Put the network's setup on the board when it comes, unless something else was wanted meanwhile. */
  #fromNetwork() {
    const wish = drawSetup(this.variant.name, "model").then(
      (text) => {
        if (this.wish !== wish) return;
        this.#take(text);
        say(t("setup.drawn"));
      },
      (error) => toast(error.message || t("offline.text")),
    );
    this.wish = wish;
  }

  #mirror() {
    const { homes, columns } = this.variant;
    const across = (at) => square(columns - 1 - (at.charCodeAt(0) - 97), rowOf(at));
    const moved = [...this.evil].map((letter) => this.letterAt[across(homes[letter])] ?? letter);
    if (new Set(moved).size === this.evil.size) this.#take(moved);
    say(t("setup.mirrored"));
  }

  #take(letters) {
    this.evil = new Set(letters);
    this.#changed();
  }

  #press(at) {
    const letter = this.letterAt[at];
    if (!letter) return;
    if (!this.evil.delete(letter)) this.evil.add(letter);
    this.#changed();
    say(`${this.#label(at)}. ${this.count.textContent}`);
  }

  #changed() {
    this.wish = null;
    const { missing } = this;
    const key = missing === 0 ? "ghost.ready" : missing > 0 ? "ghost.more" : "ghost.fewer";
    this.count.textContent = t(key, { count: Math.abs(missing), evil: this.variant.army.evil });
    this.count.classList.toggle("wrong", missing !== 0);
    this.saved.show(this.value);
    this.advice.of(this.value);
    this.#render();
    if (this.value) this.change(this.value);
  }

  #type(letter) {
    return this.evil.has(letter) ? "evil" : "good";
  }

  #label(at) {
    const letter = this.letterAt[at];
    return letter ? called({ type: this.#type(letter), letter }, t("own")) : t("empty");
  }

  #render() {
    this.board.setPieces(
      Object.entries(this.variant.homes).map(([letter, at]) => ({ id: letter, at, side: this.side, type: this.#type(letter) })),
    );
  }
}
