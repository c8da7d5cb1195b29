// Any game, without a drawing of its own: text and buttons. And the hooks of a family (family.js), as they are for it.

import { el, say, svg, toast } from "../dom.js";
import { PlainPlay } from "../plainplay.js";
import { drawSetup } from "../protocol.js";
import { t } from "../strings.js";
import { typeName, TypeName } from "../words.js";

/** A setup as a line of text. */
class PlainSetup {
  constructor(variant, { side = "red", setup = null, change = () => {} } = {}) {
    this.side = side;
    const label = el("span", { class: "label" }, t("plain.setup"));
    this.text = el("input", { type: "text", class: "code", spellcheck: "false", onchange: () => change(this.value) });
    this.element = el("div", { class: "setup" }, el("label", { class: "field" }, label, this.text));
    if (setup) this.text.value = setup;
    else
      this.wish = drawSetup(variant.name, "random").then(
        (text) => {
          this.text.value = text;
          change(text);
          say(t("setup.drawn"));
        },
        (error) => toast(error.message || t("offline.text")),
      );
  }

  get value() {
    return this.text.value.trim() || null;
  }

  async settled() {
    await this.wish;
    return this.value;
  }

  setSide(side) {
    this.side = side;
  }
}

export default {
  /** Draws a game in progress beside the cards, and takes moves (plainplay.js, boardplay.js). */
  Play: PlainPlay,
  /** Makes a setup, in games that have some. */
  SetupEditor: PlainSetup,
  /** What stands on each square of a setup, for what games say about it (explorer.js): [[row, column, kind], …], from
   *  the back row and the owner's left, "empty" where nothing stands; null where the text is none. */
  places: () => null,
  /** Screens of its own, by their names in the address: each imports a module with `show(main, parts, offered)`. */
  screens: {},
  /** Texts of its own, by language: {key: text}, as in strings/en.js, or what imports a module of them. While its games
   *  are on the screen they win over the page's. */
  words: {},
  /** Which of the page's settings its boards go by: "memory", "numbering" (menu.js). */
  settings: [],

  // Pieces of games on a board: the kinds in the order of all lists, what they are called, and how they look.
  TYPES: [],
  named: (type) => (type === null ? t("piece.hidden") : typeName(type)),
  /** One piece in words: "your miner". `own`: whether it belongs to whoever is told. */
  called(piece, owner, own) {
    if (piece.type === null && !own) return t("piece.unknown", { owner });
    return t("piece.owned", { owner, type: this.named(piece.type) });
  },
  short: (type) => typeName(type).charAt(0).toUpperCase(),
  /** One piece in a sentence of a look back (`said` in the review): "Red's Miner". */
  told: ({ side, type }) => t("said.piece", { side: t(`side.${side}`), Type: TypeName(type) }),

  /** A piece as a picture: a disc with the letter of its type. `type` null is hidden; `kind` is its class. */
  token(side, type, kind = "token") {
    return svg(
      "svg",
      { class: `${kind} ${side}`, viewBox: "0 0 48 48", "aria-hidden": "true" },
      svg("circle", { class: "frame", fill: "currentColor", cx: 24, cy: 24, r: 19 }),
      type !== null && svg("text", { class: "rank", x: 24, y: 29 }, this.short(type)),
    );
  },

  /** A line of the pieces of an army: how many are left of how many. */
  army(side, whole, left) {
    const item = (type) => {
      const [alive, all] = [left[type] ?? 0, whole[type]];
      return el(
        "li",
        { class: alive ? "" : "gone" },
        this.token(side, type, "mini"),
        el("span", { "aria-hidden": "true" }, alive && alive < all ? `${alive}/${all}` : `${alive}`),
        el("span", { class: "unseen" }, t("army.item", { type: typeName(type), left: alive, all })),
      );
    };
    return el("ul", { class: `army ${side}` }, this.TYPES.filter((type) => whole[type]).map(item));
  },

  /** The kind that a look back shows on the board at first, how likely it was for each hidden piece; null for none. */
  heat: null,

  // Positions: those that moves led through (none: earlier ones cannot be looked at), who fell in a move, what a board
  // shows of a piece.
  boards: () => [],
  fallen: () => [],
  remembered: (piece) => piece.type,

  /** What a move did besides going somewhere; null: nothing. For the list of moves `sign` between its squares, `short`,
   *  and `label` for the ear; `words({who, own, from, to})`, the move as a sentence; `winner`, the side that it was good
   *  for, null for neither. */
  deed: () => null,

  // Beside the board: a fight, what is counted towards a draw (drawn, and for the ear), what to know when one is near.
  battleCard: () => null,
  counter: () => null,
  counted: () => null,
  warnings: () => [],

  /** The kinds that a hidden piece may be noted as. */
  guesses: () => [],
};
