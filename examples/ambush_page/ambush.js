// Ambush on the page: its board, its two pieces, its words, and a screen with its rules. All else is plain.

import { BoardPlay } from "/static/js/boardplay.js";
import { svg } from "/static/js/dom.js";

const FIGURES = {
  king: "M12 34 L12 18 L18 25 L24 14 L30 25 L36 18 L36 34 Z",
  guard: "M24 12 L35 17 L33 29 L24 37 L15 29 L13 17 Z",
};

export default {
  Play: BoardPlay,
  TYPES: ["king", "guard"],
  screens: { rules: () => import("./rules.js") },
  guesses: () => ["king", "guard"],

  token(side, type, kind = "token") {
    return svg(
      "svg",
      { class: `${kind} ${side} ambush`, viewBox: "0 0 48 48", "aria-hidden": "true" },
      svg("rect", { class: "frame", fill: "currentColor", x: 6, y: 6, width: 36, height: 36, rx: 9 }),
      type !== null && svg("path", { fill: "#fff", d: FIGURES[type] }),
    );
  },

  words: {
    en: {
      "variant.ambush": "Ambush",
      "variant.ambush.rules": "A King and a Guard each on 3 × 3 squares. After eight moves it is a draw.",
      "headline.ambush": "Nine squares, two secrets",
      "tagline.ambush": "Take the King.",
      "type.king": "king",
      "type.guard": "guard",
      "Type.king": "King",
      "Type.guard": "Guard",
      "end.king_taken": "the King was taken",
      "end.too_long": "eight moves without a King taken",
      "ambush.rules":
        "Each side places a King and a Guard on its back row, in secret. A move goes one square in any of the four directions, onto a free square or an enemy.",
    },
  },
};
