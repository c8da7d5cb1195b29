// Geister on the page.

import { BoardPlay } from "../boardplay.js";
import { typeName, warnings } from "../words.js";
import { army, captureCard, counted, counter, deed } from "./geister/cards.js";
import { boards, fallen } from "./geister/history.js";
import { called, short, told, token, TYPES } from "./geister/ghosts.js";
import { places, SetupEditor } from "./geister/setup.js";
import { en } from "./geister/words.js";

export default {
  Play: BoardPlay,
  SetupEditor,
  places,
  screens: {
    setups: () => import("../workshop.js"),
    review: () => import("../review.js"),
    learn: () => import("./geister/tutorial.js"),
    rules: () => import("./geister/rules.js"),
  },
  words: { en, de: () => import("./geister/words-de.js") },

  // The hooks are explained in plain.js.
  TYPES,
  named: (type) => typeName(type ?? "ghost"),
  called,
  short,
  told,
  token,
  army,

  heat: "evil",
  boards,
  fallen,

  deed,
  battleCard: captureCard,
  counter,
  counted,
  warnings,

  guesses: () => TYPES,
};
