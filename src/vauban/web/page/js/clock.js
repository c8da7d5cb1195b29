// Clocks on the screen: the server keeps the time, this only lets it run on between two of its words.

import { el } from "./dom.js";
import { t } from "./strings.js";

const SOON = 30; // seconds: below it the clock is shown with tenths, and marked

export class Clock {
  constructor() {
    this.faces = {
      red: el("span", { class: "clock", role: "timer" }),
      blue: el("span", { class: "clock", role: "timer" }),
    };
    this.told = null;
    this.timer = setInterval(() => this.#paint(), 100);
  }

  close() {
    clearInterval(this.timer);
  }

  set(told) {
    this.told = told;
    this.since = performance.now();
    this.#paint();
  }

  /** What a side has left now: {bank, move} in seconds. */
  left(side) {
    const { bank, move } = this.told[side];
    if (this.told.running !== side) return { bank, move };
    const passed = (performance.now() - this.since) / 1000;
    // The bank stands still while free seconds are left: those are what lies between the two figures.
    const free = this.told.kind === "bronstein" ? 0 : this.#freeLeft(bank, move);
    return { bank: Math.max(0, bank - Math.max(0, passed - free)), move: Math.max(0, move - passed) };
  }

  #freeLeft(bank, move) {
    const { free = 0, cap = null } = this.told;
    const spent = Math.min(bank + free, cap ?? Infinity) - move;
    return spent <= free ? free - spent : 0;
  }

  words() {
    if (!this.told) return t("clock.no");
    return ["red", "blue"].map((side) => `${t(`Side.${side}`)}: ${spoken(this.left(side).bank)}`).join(", ");
  }

  #paint() {
    for (const [side, face] of Object.entries(this.faces)) {
      face.hidden = !this.told;
      if (!this.told) continue;
      const { bank, move } = this.left(side);
      const running = this.told.running === side;
      // A cap on the move matters only when it comes before the end of the bank.
      const capped = running && move < Math.min(bank, SOON);
      face.textContent = capped ? `${digits(bank)} (${digits(move)})` : digits(bank);
      face.classList.toggle("running", running);
      face.classList.toggle("soon", Math.min(bank, running ? move : bank) < SOON);
    }
  }
}

function digits(seconds) {
  if (seconds < SOON) return seconds.toFixed(1);
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

const spoken = (seconds) => t("clock.spoken", { minutes: Math.floor(seconds / 60), seconds: Math.floor(seconds % 60) });
