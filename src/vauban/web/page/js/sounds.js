// Short sounds made on the spot: a knock for a step, a clash for a fight, a few notes for the end.

import { family } from "./family.js";
import { settings } from "./settings.js";

let context = null;

function tone(frequency, start, length, shape, loudness) {
  const oscillator = context.createOscillator(),
    gain = context.createGain(),
    begin = context.currentTime + start;
  oscillator.type = shape;
  oscillator.frequency.setValueAtTime(frequency, begin);
  oscillator.frequency.exponentialRampToValueAtTime(frequency * 0.7, begin + length);
  gain.gain.setValueAtTime(loudness * settings.volume, begin);
  gain.gain.exponentialRampToValueAtTime(0.0001, begin + length);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(begin);
  oscillator.stop(begin + length);
}

const SOUNDS = {
  step: [[190, 0, 0.07, "triangle", 0.5]],
  won: [
    [220, 0, 0.09, "square", 0.12],
    [440, 0.07, 0.16, "triangle", 0.4],
    [660, 0.15, 0.2, "triangle", 0.3],
  ],
  lost: [
    [220, 0, 0.09, "square", 0.12],
    [196, 0.07, 0.2, "triangle", 0.5],
    [130, 0.18, 0.3, "triangle", 0.5],
  ],
  both: [
    [220, 0, 0.09, "square", 0.12],
    [196, 0.08, 0.25, "triangle", 0.5],
  ],
  end: [
    [392, 0, 0.2, "triangle", 0.4],
    [494, 0.15, 0.2, "triangle", 0.4],
    [587, 0.3, 0.45, "triangle", 0.4],
  ],
};

export function play(name) {
  // Browsers refuse sound before the first press, and say so in the console.
  if (!settings.sound || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  for (const each of SOUNDS[name]) tone(...each);
}

/** The sound of a move, as one side hears it. */
export function moveSound(move, seat) {
  const deed = family().deed(move);
  if (!deed) return "step";
  if (deed.winner === null) return "both";
  return deed.winner === seat || seat === "watch" ? "won" : "lost";
}
