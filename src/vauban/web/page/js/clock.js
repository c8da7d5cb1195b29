// Clocks on the screen: the server keeps the time, this only lets it run on between two of its words.

import { el } from "./dom.js";
import { SIDES } from "./sides.js";
import { decimals, t } from "./strings.js";
import { usualSeconds } from "./words.js";

const LONG = 3; // seconds of thinking after which they are counted, if that is not usual
const SOON = 30; // seconds: below it the clock is shown with tenths, and marked

/** Something that is painted anew every few moments, from what the server told last and when. */
class Ticking {
  constructor(milliseconds) {
    this.told = null;
    this.timer = setInterval(() => this.paint(), milliseconds);
  }

  close() {
    clearInterval(this.timer);
  }

  set(told) {
    this.told = told;
    this.since = performance.now();
    this.paint();
  }

  /** Seconds since the server told it. */
  get passed() {
    return (performance.now() - this.since) / 1000;
  }
}

export class Clock extends Ticking {
  constructor() {
    super(100);
    this.faces = {
      red: el("span", { class: "clock", role: "timer" }),
      blue: el("span", { class: "clock", role: "timer" }),
    };
    this.whole = el("p", { class: "quiet whole", role: "timer" });
  }

  /** What a side has left now: {bank, move} in seconds. */
  left(side) {
    const { bank, move } = this.told[side];
    if (this.told.running !== side) return { bank, move };
    const { passed } = this;
    // The bank stands still while free seconds are left: those are what lies between the two figures.
    const free = this.told.kind === "bronstein" ? 0 : this.#freeLeft(bank, move);
    return { bank: Math.max(0, bank - Math.max(0, passed - free)), move: Math.max(0, move - passed) };
  }

  #freeLeft(bank, move) {
    const { free = 0, cap = null } = this.told;
    const spent = Math.min(bank + free, cap ?? Infinity) - move;
    return spent <= free ? free - spent : 0;
  }

  /** Seconds that are left of the whole game; null if it may take any time. */
  get wholeLeft() {
    const { whole, running } = this.told ?? {};
    return whole === undefined ? null : Math.max(0, whole - (running ? this.passed : 0));
  }

  words() {
    if (!this.told) return t("clock.no");
    const sides = SIDES.map((side) => `${t(`Side.${side}`)}: ${spoken(this.left(side).bank)}`).join(", ");
    const whole = this.wholeLeft;
    return whole === null ? sides : `${sides}. ${t("clock.whole.left", { time: spoken(whole) })}`;
  }

  paint() {
    const whole = this.wholeLeft;
    if (whole !== null) this.whole.textContent = t("clock.whole.left", { time: digits(whole) });
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

/** How long a machine has been thinking: what is usual at first, and the seconds when it takes longer. */
export class ThinkingTime extends Ticking {
  constructor() {
    super(500);
    this.words = el("span");
    this.element = el("span", { class: "thinking" }, this.words, el("span", { class: "dots", "aria-hidden": "true" }));
  }

  paint() {
    if (!this.told) return;
    const { seconds, expected } = this.told;
    const passed = seconds + this.passed;
    const usual = usualSeconds(expected);
    const text =
      passed > Math.max(LONG, 2 * expected)
        ? t("thinking.long", { seconds: Math.floor(passed) })
        : usual === null
          ? t("thinking")
          : t("thinking.about", { seconds: usual });
    if (this.words.textContent !== text) this.words.textContent = text;
  }
}

function digits(seconds) {
  if (seconds < SOON) return decimals(seconds, 1);
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

const spoken = (seconds) => t("clock.spoken", { minutes: Math.floor(seconds / 60), seconds: Math.floor(seconds % 60) });
