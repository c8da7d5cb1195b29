// Stratego on the page.

import { BoardPlay } from "../boardplay.js";
import { warnings } from "../words.js";
import { battleCard, counted, counter, deed } from "./stratego/cards.js";
import { boards, fallen, remembered } from "./stratego/history.js";
import { named, places, short, token, TYPES } from "./stratego/pieces.js";
import { SetupEditor } from "./stratego/setup.js";

const STILL = ["bomb", "flag"];

export default {
  Play: BoardPlay,
  SetupEditor,
  places,
  screens: {
    setups: () => import("../workshop.js"),
    review: () => import("../review.js"),
    learn: () => import("./stratego/tutorial.js"),
    puzzles: () => import("./stratego/puzzles.js"),
    rules: () => import("./stratego/rules.js"),
  },

  // The hooks are explained in plain.js.
  TYPES,
  named,
  short,
  token,
  settings: ["memory", "numbering"],

  boards,
  fallen,
  remembered,

  deed,
  battleCard,
  counter,
  counted,
  warnings,

  /** The kinds that a hidden piece may be noted as: what has moved is none that never does. */
  guesses: (piece, left) => TYPES.filter((type) => left[type] !== undefined && !(piece.moved && STILL.includes(type))),
};
