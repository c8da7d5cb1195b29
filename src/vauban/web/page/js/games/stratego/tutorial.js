// The first minute of Stratego.

import { teach } from "../../lessons.js";

const LESSONS = [
  {
    key: "move",
    pieces: { c1: ["red", "captain"], a1: ["red", "flag"], d4: ["blue", "sergeant", false] },
    play: ["c1", ["c2", "b1", "d1"]],
  },
  {
    key: "attack",
    pieces: { c2: ["red", "captain"], a1: ["red", "flag"], c3: ["blue", "sergeant", false] },
    play: ["c2", ["c3"]],
    result: ">",
  },
  {
    key: "scout",
    pieces: { b1: ["red", "scout"], a1: ["red", "flag"], b4: ["blue", "marshal", false] },
    play: ["b1", ["b4"]],
    result: "<",
  },
  {
    key: "spy",
    pieces: { b3: ["red", "spy"], a1: ["red", "flag"], b4: ["blue", "marshal", true] },
    play: ["b3", ["b4"]],
    result: ">",
  },
  {
    key: "miner",
    pieces: { c3: ["red", "miner"], a1: ["red", "flag"], c4: ["blue", "bomb", true], d4: ["blue", "flag", false] },
    play: ["c3", ["c4"]],
    result: ">",
  },
  {
    key: "flag",
    pieces: { c4: ["red", "miner"], a1: ["red", "flag"], d4: ["blue", "flag", false] },
    play: ["c4", ["d4"]],
    result: ">",
  },
];

export const show = (main) => teach(main, "stratego", LESSONS);
