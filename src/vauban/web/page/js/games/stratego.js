// Stratego on the page.

import { BoardPlay } from "../boardplay.js";
import { warnings } from "../words.js";
import { battleCard, counter } from "./stratego/cards.js";
import { boards, fallen, remembered } from "./stratego/history.js";
import { army, named, short, token, TYPES } from "./stratego/pieces.js";
import { SetupEditor } from "./stratego/setup.js";

const STILL = ["bomb", "flag"];

export default {
  Play: BoardPlay,
  SetupEditor,
  screens: {
    setups: () => import("./stratego/workshop.js"),
    review: () => import("./stratego/review.js"),
    learn: () => import("./stratego/tutorial.js"),
    puzzles: () => import("./stratego/puzzles.js"),
    rules: () => import("./stratego/rules.js"),
  },

  // Pieces: the kinds in the order of all lists, what they are called, and how they and an army look.
  TYPES,
  named,
  short,
  token,
  army,

  // Positions: those that moves led through, who fell in a move, what a board shows of a piece.
  boards,
  fallen,
  remembered,

  // Beside the board: a fight, what is counted towards a draw, and what to know when one is near.
  battleCard,
  counter,
  warnings,

  /** The kinds that a hidden piece may be noted as: what has moved is none that never does. */
  guesses: (piece, left) => TYPES.filter((type) => left[type] !== undefined && !(piece.moved && STILL.includes(type))),
};
