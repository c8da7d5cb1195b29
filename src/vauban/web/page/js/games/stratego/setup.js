// The setup editor: an army in its setup rows, changed by dragging, by two clicks, or by keyboard.

import { Board } from "../../board.js";
import { button, el, say, toast } from "../../dom.js";
import { Advice } from "../../explorer.js";
import { family } from "../../family.js";
import { checkSetup, drawSetup } from "../../protocol.js";
import { SavedSetups } from "../../saved.js";
import { columnOf, rowOf, square } from "../../squares.js";
import { t } from "../../strings.js";
import { lettersOf, named, readSetup, setupFaults, shuffled, tidySetup, writeSetup } from "./pieces.js";

export class SetupEditor {
  /** @param change(text) is called with every complete setup */
  constructor(variant, { side = "red", setup = null, change = () => {} } = {}) {
    this.variant = variant;
    this.side = side;
    this.change = change;
    this.rows = setup && readSetup(setup, variant);
    this.picked = null;
    this.wish = null; // the setup that was asked for last, while it is on its way
    this.board = new Board(
      { columns: variant.columns, rows: variant.setup_rows, lakes: [] },
      {
        label: t("setup.board"),
        coordinates: false,
        hooks: {
          press: (at) => this.#press(at),
          canDrag: (at) => Boolean(this.#at(at)),
          dragStart: (at) => {
            this.picked = at;
            this.#render();
          },
          drop: (from, to) => this.#swap(from, to),
          label: (at) => this.#label(at),
        },
      },
    );
    this.advice = new Advice(variant);
    this.warnings = el("p", { class: "warnings", role: "status" });
    this.saved = new SavedSetups(
      variant,
      {
        value: () => this.value,
        load: (text) => this.put(text),
        take: (text) => this.#take(text),
        faults: (text) => setupFaults(text, variant),
        tidy: tidySetup,
      },
      t("setup.letters", { rows: variant.setup_rows, letters: lettersOf(variant.army).join(", ") }),
    );
    this.element = el(
      "div",
      { class: "setup" },
      el(
        "div",
        { class: "toolbar" },
        button(t("setup.human"), () => this.draw("human")),
        button(t("setup.random"), () => this.draw("random")),
        variant.network && button(t("setup.model"), () => this.draw("model")),
        button(t("setup.mirror"), () => this.#mirror()),
      ),
      this.board.element,
      el("p", { class: "quiet hint" }, t("setup.hint")),
      this.warnings,
      this.advice.element,
      el(
        "details",
        {},
        el("summary", {}, t("setup.more")),
        this.saved.fields,
        el(
          "div",
          { class: "field" },
          el("span", { class: "label" }, t("setup.army")),
          (this.armyPlace = el("div", {}, family().army(side, variant.army, variant.army))),
        ),
      ),
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.picked) {
        this.picked = null;
        this.#render();
      }
    });
    if (this.rows) this.#changed();
    else this.draw("human");
  }

  /** The setup as text; null until there is one. */
  get value() {
    return this.rows && writeSetup(this.rows);
  }

  /** The setup as text, when all that was asked for is on the board; null if it was refused, which has been told. */
  async settled() {
    if (!this.rows && !this.wish) this.draw("human");
    while (this.wish) if (!(await this.wish)) return null;
    return this.value;
  }

  /** Put a setup on the board; one that cannot be read changes nothing. */
  put(text) {
    const rows = readSetup(text, this.variant);
    if (!rows) return;
    this.rows = rows;
    this.#changed();
  }

  setSide(side) {
    this.side = side;
    this.armyPlace.replaceChildren(family().army(side, this.variant.army, this.variant.army));
    this.board.setPieces([]);
    this.#render();
  }

  draw(kind) {
    // Without the server there is at least an army to begin with; whether it can move is for the server to say.
    const drawn = drawSetup(this.variant.name, kind).catch((error) => {
      if (error.code !== "offline" || this.rows) throw error;
      return writeSetup(shuffled(this.variant));
    });
    this.#ask(drawn, t("setup.drawn"), toast);
  }

  #take(text) {
    this.#ask(
      checkSetup(this.variant.name, text).then(
        ({ setup }) => setup,
        (error) => {
          // Its letters have been counted here.
          if (error.code === "offline") return text;
          throw error;
        },
      ),
      t("setup.imported"),
      (refusal) => this.saved.refuse(refusal),
    );
  }

  /** Put a setup on the board when it comes, unless something else was wanted meanwhile; `refuse` tells why it is none. */
  #ask(coming, words, refuse) {
    const wish = coming.then(
      (text) => {
        if (this.wish !== wish) return true;
        this.rows = readSetup(text, this.variant);
        this.picked = null;
        this.#changed();
        say(words);
        return true;
      },
      (error) => {
        if (this.wish === wish) this.wish = null;
        refuse(error.message || t("offline.text"));
        return false;
      },
    );
    this.wish = wish;
  }

  #at(at) {
    return this.rows?.[rowOf(at)][columnOf(at)] ?? null;
  }

  #label(at) {
    const type = this.#at(at);
    const where = t("setup.where", { row: rowOf(at) + 1, column: columnOf(at) + 1 });
    return [type ? named(type) : t("empty"), where, at === this.picked && t("picked")].filter(Boolean).join(", ");
  }

  #press(at) {
    if (!this.rows) return;
    if (this.picked === null) {
      if (!this.#at(at)) return;
      this.picked = at;
      say(t("setup.picked", { type: named(this.#at(at)) }));
    } else if (this.picked === at) {
      this.picked = null;
    } else {
      this.#swap(this.picked, at);
      return;
    }
    this.#render();
  }

  #swap(from, to) {
    const a = this.#at(from),
      b = this.#at(to);
    this.rows[rowOf(from)][columnOf(from)] = b;
    this.rows[rowOf(to)][columnOf(to)] = a;
    const ids = this.ids;
    [ids[from], ids[to]] = [ids[to], ids[from]];
    this.picked = null;
    say(t("setup.swapped", { a: named(a), b: b ? named(b) : t("empty") }));
    this.#changed(true);
  }

  #mirror() {
    if (!this.rows) return;
    this.rows = this.rows.map((row) => row.reverse());
    this.#changed();
    say(t("setup.mirrored"));
  }

  /** The setup has changed: show it, tell of it, and ask the server what is odd about it. */
  async #changed(kept = false) {
    this.wish = null;
    if (!kept) this.#nameTokens();
    this.saved.show(this.value);
    this.advice.of(this.value);
    this.#render();
    const asked = this.value;
    this.change(asked);
    try {
      const { warnings } = await checkSetup(this.variant.name, asked);
      if (asked === this.value) this.warnings.textContent = warnings.map((code) => t(`setup.odd.${code}`)).join(" ");
    } catch (error) {
      if (asked === this.value && error.code !== "offline") this.saved.refuse(error.message);
    }
  }

  // Tokens keep their names while pieces are swapped, so that they glide; a new setup deals them anew.
  #nameTokens() {
    this.ids = {};
    const counts = {};
    for (const [row, types] of this.rows.entries()) {
      for (const [column, type] of types.entries()) {
        if (type) this.ids[square(column, row)] = `${type}${(counts[type] = (counts[type] ?? 0) + 1)}`;
      }
    }
  }

  #render() {
    const pieces = [];
    for (const [at, id] of Object.entries(this.ids ?? {})) {
      if (id) pieces.push({ id, at, side: this.side, type: this.#at(at) });
    }
    this.board.setPieces(pieces);
    this.board.setMarks({ selected: this.picked ? [this.picked] : [] });
  }
}
