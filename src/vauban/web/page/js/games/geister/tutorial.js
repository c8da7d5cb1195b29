// The first minute of Geister.

import { teach } from "../../lessons.js";

const GATES = { a5: "red", d5: "red" };
const LESSONS = [
  {
    key: "ghost.move",
    pieces: { b1: ["red", "good"], c1: ["red", "evil"], c4: ["blue", "good", false] },
    play: ["b1", ["b2", "a1"]],
  },
  {
    key: "ghost.good",
    pieces: { b2: ["red", "evil"], b3: ["blue", "good", false], d4: ["blue", "evil", false] },
    play: ["b2", ["b3"]],
    result: ">",
  },
  {
    key: "ghost.evil",
    pieces: { c2: ["red", "good"], c3: ["blue", "evil", false], a4: ["blue", "good", false] },
    play: ["c2", ["c3"]],
    result: ">",
  },
  {
    key: "ghost.corner",
    pieces: { a3: ["red", "good"], c3: ["blue", "evil", false] },
    play: ["a3", ["a4"]],
    gates: GATES,
  },
  {
    key: "ghost.escape",
    pieces: { a4: ["red", "good"], c4: ["blue", "evil", false] },
    play: ["a4", ["a5"]],
    gates: GATES,
  },
];

export const show = (main) => teach(main, "geister", LESSONS);
