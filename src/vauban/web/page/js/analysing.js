// Putting a position together, to make moves on: pieces on a board, or a text.

import { Board } from "./board.js";
import { button, choice, el, refill, say } from "./dom.js";
import { family, screenAddress, show as showFamily } from "./family.js";
import { picker } from "./picker.js";
import { analyse, drawSetup, readPosition } from "./protocol.js";
import { keepGame } from "./settings.js";
import { SIDES } from "./sides.js";
import { pieceWords, squareWords } from "./speech.js";
import { t } from "./strings.js";
import { TypeName } from "./words.js";

export function show(main, [name, text], offered) {
  const variants = offered.variants.filter(({ looks_back: looksBack }) => looksBack);
  const place = el("div");
  const open = (variant, given) => {
    showFamily(variant.family);
    place.replaceChildren(new PositionEditor(variant, given).element);
  };
  const first = variants.find((variant) => variant.name === name) ?? variants[0];
  main.append(
    el(
      "section",
      { class: "page analysing" },
      el("h1", {}, t("analysis.title")),
      el("p", { class: "lead" }, t("analysis.lead")),
      picker(
        "variant",
        t("variant"),
        variants.map((each) => [each.name, each.title]),
        first.name,
        (chosen) => open(variants.find((each) => each.name === chosen)),
      ),
      place,
    ),
  );
  open(first, text);
}

class PositionEditor {
  /** @param text a position; without one, two armies are drawn */
  constructor(variant, text) {
    this.variant = variant;
    this.pieces = []; // {id, at, side, type, moved, revealed}
    this.turn = "red";
    this.tool = null; // {side, type}, "remove", or a mark; null: pieces are moved
    this.picked = null;
    this.names = 0;
    this.board = new Board(variant, {
      label: t("position.board"),
      hooks: {
        press: (at) => this.#press(at),
        canDrag: (at) => Boolean(this.#piece(at)),
        dragStart: () => this.#pick(null),
        drop: (from, to) => this.#carry(from, to),
        label: (at) => this.#label(at),
      },
    });
    this.tools = el("div", { class: "position-tools" });
    this.turns = el("div");
    this.error = el("p", { class: "error", role: "status" });
    this.text = el("input", { type: "text", class: "code", spellcheck: "false", "aria-label": t("position.text") });
    this.open = button(t("analysis.open"), () => this.#analyse(), { class: "primary", disabled: true });
    const use = (key, side) => button(t(key), () => this.#take(side), { class: "small" });
    this.element = el(
      "div",
      { class: "position" },
      el("div", { class: "position-board" }, this.board.element),
      el(
        "div",
        { class: "position-side" },
        el(
          "div",
          { class: "toolbar" },
          button(t("position.armies"), () => this.#draw()),
          button(t("position.empty"), () => this.#set([])),
          button(t("flip"), () => this.board.flip()),
        ),
        this.tools,
        this.turns,
        el(
          "details",
          {},
          el("summary", {}, t("position.text")),
          this.text,
          el("div", { class: "line" }, use("position.use"), use("position.use.red", "red"), use("position.use.blue", "blue")),
        ),
        this.error,
        el("div", { class: "answers start" }, this.open),
      ),
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#pick(null);
    });
    this.#render();
    if (text) {
      this.text.value = text;
      this.#take();
    } else {
      this.#draw();
    }
  }

  #piece(at) {
    return this.pieces.find((piece) => piece.at === at);
  }

  // ── From the server ───────────────────────────────────────────────────────────────────────────

  /** Two armies as people set them up. */
  #draw() {
    const { name, setups } = this.variant;
    const army = async (side) => (await readPosition(name, { setup: await drawSetup(name, "human"), side })).pieces;
    if (setups) this.#ask(Promise.all(SIDES.map(army)).then((both) => ({ pieces: both.flat(), turn: "red" })));
  }

  /** What is written: a position, or the setup of a side. */
  #take(side) {
    const { name } = this.variant;
    const written = this.text.value.trim();
    if (!side) {
      this.#ask(readPosition(name, { text: written }));
      return;
    }
    const others = this.pieces.filter((piece) => piece.side !== side);
    this.#ask(readPosition(name, { setup: written, side }).then(({ pieces }) => ({ pieces: [...others, ...pieces] })));
  }

  async #ask(coming) {
    this.coming = coming;
    this.error.textContent = "";
    try {
      const { pieces, turn = this.turn, text } = await coming;
      if (this.coming !== coming) return;
      this.turn = turn;
      this.#set(pieces, text);
      say(t("position.taken"));
    } catch (error) {
      if (this.coming === coming) this.error.textContent = error.message || t("offline.text");
    }
  }

  #set(pieces, text = null) {
    this.pieces = pieces.map((piece) => ({ ...piece, id: `${(this.names += 1)}` }));
    this.#changed(text);
  }

  /** Show the position, and ask for its text, or what is wrong with it. */
  async #changed(text = null) {
    this.picked = null;
    this.#render();
    const { name } = this.variant;
    const turn = (this.asked = {});
    try {
      const told = text ? { text } : await readPosition(name, { pieces: this.pieces, turn: this.turn });
      if (this.asked !== turn) return;
      this.text.value = told.text;
      this.error.textContent = "";
      this.open.disabled = false;
    } catch (error) {
      if (this.asked !== turn) return;
      this.text.value = "";
      this.error.textContent = error.message || t("offline.text");
      this.open.disabled = true;
    }
  }

  async #analyse() {
    try {
      const { game, seats, family: name } = await analyse(this.variant.name, this.text.value);
      keepGame(game, { seats, kind: "import", family: name });
      location.hash = screenAddress(name, "review", game);
    } catch (error) {
      this.error.textContent = error.message || t("offline.text");
    }
  }

  // ── By hand ───────────────────────────────────────────────────────────────────────────────────

  #press(at) {
    const { tool } = this;
    const there = this.#piece(at);
    if (tool === null) {
      if (this.picked && this.picked !== at) this.#carry(this.picked, at);
      else this.#pick(there && this.picked !== at ? at : null);
    } else if (tool === "remove") {
      if (there) this.#put(at, null);
    } else if (typeof tool === "string") {
      if (!there) return;
      there[tool] = !there[tool];
      this.#changed();
    } else if (!this.variant.lakes?.includes(at) && !this.variant.gates?.[at]) {
      const same = there?.side === tool.side && there.type === tool.type;
      if (same) this.#put(at, null);
      else if (this.#left(tool.side, tool.type)) this.#put(at, tool);
    }
  }

  #pick(at) {
    this.picked = at;
    if (at) say(squareWords(at, { piece: this.#piece(at), seat: "watch", extra: [t("picked")] }));
    this.#render();
  }

  /** Put a piece on a square, or nothing. */
  #put(at, tool) {
    this.pieces = this.pieces.filter((piece) => piece.at !== at);
    if (tool) this.pieces.push({ ...tool, id: `${(this.names += 1)}`, at, moved: false, revealed: false });
    say(tool ? t("position.put", { piece: pieceWords(tool, "watch"), at }) : t("position.off", { at }));
    this.#changed();
  }

  /** Take a piece from one square to another; what stands there changes places with it. */
  #carry(from, to) {
    if (this.variant.lakes?.includes(to) || this.variant.gates?.[to]) return;
    const [piece, there] = [this.#piece(from), this.#piece(to)];
    if (!piece) return; // another position has come while it was carried
    piece.at = to;
    if (there) there.at = from;
    this.#changed();
  }

  /** How many pieces of a type a side has that are not on the board. */
  #left(side, type) {
    return this.variant.army[type] - this.pieces.filter((piece) => piece.side === side && piece.type === type).length;
  }

  // ── Showing it ────────────────────────────────────────────────────────────────────────────────

  #label(at) {
    return squareWords(at, {
      piece: this.#piece(at),
      lake: this.variant.lakes?.includes(at),
      gate: this.variant.gates?.[at],
      seat: "watch",
      extra: [at === this.picked && t("picked")],
    });
  }

  #render() {
    const marked = ({ moved, revealed }) => ({ moved: moved && !revealed, known: revealed });
    this.board.setPieces(this.pieces.map((piece) => ({ ...piece, marks: marked(piece) })));
    this.board.setMarks({ selected: this.picked ? [this.picked] : [] });
    const tool = (wanted, face, label, more = {}) =>
      button(
        face,
        () => {
          this.tool = wanted;
          this.#pick(null);
        },
        {
          class: "chip",
          "aria-pressed": String(JSON.stringify(this.tool) === JSON.stringify(wanted)),
          "aria-label": label,
          title: label,
          ...more,
        },
      );
    const kinds = family().TYPES.filter((type) => this.variant.army[type]);
    const row = (side) =>
      el(
        "div",
        { class: "chips", role: "group", "aria-label": t(`Side.${side}`) },
        kinds.map((type) => {
          const left = this.#left(side, type);
          const words = t("position.place", { side: t(`Side.${side}`), Type: TypeName(type), left });
          const face = [family().token(side, type, "mini"), el("span", { class: "quiet" }, String(left))];
          return tool({ side, type }, face, words, { class: left ? "chip" : "chip spent", "data-same": side + type });
        }),
      );
    const plain = (key) => tool(key, t(`position.${key ?? "hand"}`), t(`position.${key ?? "hand"}`));
    refill(
      this.tools,
      el("p", { class: "label" }, t("position.tools")),
      ...SIDES.map(row),
      el("div", { class: "chips" }, [null, "remove", ...this.variant.marks].map(plain)),
      this.variant.marks.length ? el("p", { class: "quiet" }, t("position.marks")) : "",
    );
    refill(
      this.turns,
      choice(
        "position-turn",
        t("position.turn"),
        SIDES.map((side) => [side, t(`Side.${side}`)]),
        this.turn,
        (side) => {
          this.turn = side;
          this.#changed();
        },
      ),
    );
  }
}
