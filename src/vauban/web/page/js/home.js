// The start screen: good defaults and one large button.

import { busy, button, choice, drawing, el, toast } from "./dom.js";
import { familyOf, screenAddress, show as showFamily } from "./family.js";
import { gameList, resultsBox, running } from "./games.js";
import { playersOf } from "./levels.js";
import { memoryChoice } from "./menu.js";
import { picker } from "./picker.js";
import { startGame } from "./protocol.js";
import { addressOf, keep, keepGame, onChange, recall, settings } from "./settings.js";
import { has, t } from "./strings.js";
import { nameField } from "./waiting.js";
import { rulesWords, unusual, usualSeconds } from "./words.js";

const MODES = ["level", "friend", "hotseat", "watch"];
const ABSENCES = [5, 60, 1440]; // minutes that a friend on turn may be away
const PLAY = { level: "play", friend: "play.friend", hotseat: "play", watch: "play.watch" };

// What was chosen, for the next visit; setups only as long as the page lives.
const setups = {};

export function show(main, _, offered) {
  const screen = new HomeScreen(main, offered);
  return onChange(() => screen.paintOptions());
}

class HomeScreen {
  constructor(main, offered) {
    this.offered = offered;
    this.bronstein = offered.clocks.find((clock) => clock.key === "bronstein");
    this.wish = this.#wished();
    this.editor = null;
    this.shown = "";
    this.headline = el("h1");
    this.tagline = el("p");
    this.invitation = el("div");
    this.summary = el("p", { class: "quiet" });
    this.against = el("div", { class: "against" });
    this.clockNumbers = this.#clockNumbers();
    this.memory = memoryChoice("memory-home");
    this.sides = this.#sides();
    this.options = el("details", { class: "options-box" });
    this.told = el("span", { class: "chosen" });
    this.army = el("div", { class: "army-place" });
    this.play = button("", () => this.#start(), { class: "primary play" });
    main.append(this.#page());
    this.#paint();
  }

  // ── What is chosen ────────────────────────────────────────────────────────────────────────────

  /** What was chosen last, or what is proposed. */
  #wished() {
    const [{ name: first }] = this.offered.variants;
    const wish = {
      mode: "level",
      variant: first,
      level: null, // nobody was chosen yet: an easy one in every game
      red: null,
      blue: null,
      side: "red",
      clock: "none",
      minutes: this.bronstein.minutes,
      seconds: this.bronstein.seconds,
      move: 0,
      whole: this.bronstein.whole,
      takebacks: true,
      aids: true,
      absence: ABSENCES[1],
      rules: {},
      ...recall("wish", {}),
    };
    // It may have been kept for another version of the page.
    if (!this.offered.variants.some((each) => each.name === wish.variant)) wish.variant = first;
    return this.#met(wish);
  }

  /** Whoever names an opponent of their own wants to play it: one that was not here at the last visit is proposed. */
  #met(wish) {
    const own = this.offered.levels.filter((level) => level.own);
    const known = recall("own", []);
    keep("own", own.length ? own.map(({ key }) => key) : null);
    const newcomer = own.find(({ key }) => !known.includes(key));
    if (!newcomer) return wish;
    const { variants } = newcomer;
    const met = { ...wish, mode: "level", level: newcomer.key, blue: newcomer.key };
    if (!variants.includes(wish.variant)) [met.variant] = variants;
    keep("wish", met);
    return met;
  }

  #set(name) {
    return (value) => {
      this.wish[name] = value;
      keep("wish", this.wish);
      this.#paint();
    };
  }

  get variant() {
    return this.offered.variants.find((each) => each.name === this.wish.variant);
  }

  /** The rules that were chosen for the variant, without the usual ones. */
  get rules() {
    return unusual(this.variant, this.wish.rules[this.wish.variant]);
  }

  #setRule(key) {
    return (value) => {
      const { rules, variant } = this.wish;
      const chosen = unusual(this.variant, { ...rules[variant], [key]: value });
      const { setsUp } = this;
      this.#set("rules")({ ...rules, [variant]: chosen });
      if (this.setsUp !== setsUp) this.#showArmy();
    };
  }

  /** Whether players set something up: by some rules, chance does. */
  get setsUp() {
    const { setups, switches } = this.variant;
    return setups && !switches.some(({ key, drawn = [] }) => drawn.includes(this.rules[key]));
  }

  /** Whether the opponent is a program: with one no move can be taken back. */
  get #program() {
    const chosen = this.#chosen("level");
    return this.wish.mode === "level" && this.levels.some(({ key, program }) => program && key === chosen);
  }

  /** Who plays the variant: a network plays what it has learned. */
  get levels() {
    return playersOf(this.offered.levels, this.wish.variant);
  }

  /**
   * The level that was chosen or, where it does not play the variant, the nearest: of a family's levels only the strongest
   * play some variants alone. Otherwise one begins as at first: with an easy one, and watches the strongest as blue.
   */
  #chosen(name) {
    const { levels, wish, offered } = this;
    if (levels.some((level) => level.key === wish[name])) return wish[name];
    const usual = levels.filter(({ own }) => !own);
    const known = offered.levels.find(({ key, own }) => key === wish[name] && !own);
    if (!known) return name === "blue" ? usual.at(-1).key : easyOne(usual);
    const here = offered.variants.filter((each) => each.family === this.variant.family).map((each) => each.name);
    const strong = name === "blue" || known.variants.some((each) => here.includes(each));
    return strong ? usual.at(-1).key : easyOne(usual);
  }

  /** The side whose colour the setup has. */
  get side() {
    return this.wish.side === "blue" ? "blue" : "red";
  }

  // ── Showing it ────────────────────────────────────────────────────────────────────────────────

  #page() {
    const { offered, wish } = this;
    return el(
      "section",
      { class: "home" },
      el(
        "div",
        { class: "hero" },
        drawing("fort", "drawing emblem"),
        el("div", {}, this.headline, this.tagline),
      ),
      this.invitation,
      gameList(t("list.running"), running()),
      resultsBox(offered),
      el(
        "div",
        { class: "choices" },
        choice(
          "mode",
          t("mode"),
          MODES.map((mode) => [mode, t(`mode.${mode}`)]),
          wish.mode,
          this.#set("mode"),
        ),
        picker(
          "variant",
          t("variant"),
          offered.variants.map((each) => [
            each.name,
            each.title,
            each.columns ? t("variant.size", { columns: each.columns, rows: each.rows }) : "",
          ]),
          wish.variant,
          this.#set("variant"),
          "segments cards",
        ),
        this.summary,
        this.options,
        this.against,
      ),
      this.army,
      el("div", { class: "play-bar" }, this.play),
    );
  }

  /** What the board remembers is a setting of the page. */
  paintOptions() {
    this.told.textContent = this.#chosenWords();
  }

  #paint() {
    const { wish } = this;
    if (!this.play.disabled) this.play.textContent = t(PLAY[wish.mode]);
    this.summary.textContent = rulesWords(this.variant, this.rules);
    this.clockNumbers.hidden = wish.clock !== "bronstein";
    this.memory.hidden = !wish.aids;
    if (this.takebacks) this.takebacks.hidden = this.#program;
    this.paintOptions();
    const face = `${wish.mode} ${wish.variant}`;
    if (face === this.shown) {
      if (this.editor && this.editor.side !== this.side) this.editor.setSide(this.side);
      return;
    }
    this.shown = face;
    this.#showFamily();
    this.against.replaceChildren(...this.#opponents());
    this.sides.hidden = wish.mode === "hotseat"; // red sets up first, and nobody is either side
    const options = this.#options();
    const title = el("span", {}, t(wish.mode === "watch" ? "nav.rules" : "options"));
    this.options.replaceChildren(el("summary", {}, title, this.told), ...options);
    this.options.hidden = !options.length;
    this.#showArmy();
  }

  /** What belongs to the family of the chosen game, here and in the head of the page. */
  #showFamily() {
    const { family } = this.variant;
    showFamily(family);
    const words = (own, otherwise) => t(has(own) ? own : otherwise);
    this.headline.textContent = words(`headline.${family}`, "headline");
    this.tagline.textContent = words(`tagline.${family}`, "tagline");
    const learnt = !("learn" in familyOf(family).screens) || recall(`learnt.${family}`, false);
    this.invitation.replaceChildren(...(learnt ? [] : [invitation(family)]));
  }

  /** The setup, for whoever makes one here: two on one device make theirs one after the other. */
  #showArmy() {
    const { variant } = this;
    const own = this.setsUp && ["level", "friend"].includes(this.wish.mode);
    const { SetupEditor } = familyOf(variant.family);
    this.editor = own
      ? new SetupEditor(variant, {
          side: this.side,
          setup: setups[variant.name],
          change: (text) => {
            setups[variant.name] = text;
          },
        })
      : null;
    this.army.hidden = !own;
    this.army.replaceChildren(...(own ? [el("h2", {}, t("setup.yours")), this.editor.element] : []));
  }

  // ── Opponents ─────────────────────────────────────────────────────────────────────────────────

  #opponents() {
    const { mode, variant } = this.wish;
    const rated = this.levels.some((level) => variant in level.elo);
    const scale = rated ? [el("p", { class: "quiet scale" }, t("elo.scale"))] : [];
    if (mode === "level") return [this.#levelChoice("level", t("level")), ...scale];
    if (mode === "watch")
      return [this.#levelChoice("red", t("watch.red")), this.#levelChoice("blue", t("watch.blue")), ...scale];
    return [el("p", { class: "lead" }, t(`mode.${mode}.text`)), mode === "friend" && nameField()].filter(Boolean);
  }

  #levelChoice(name, legend) {
    const { levels, wish } = this;
    return picker(
      name,
      legend,
      levels.map((level) => [
        level.key,
        el(
          "span",
          { class: "level" },
          el("strong", {}, level.name),
          el("em", {}, level.temper),
          el("span", { class: "elo" }, eloWords(level.elo[wish.variant])),
        ),
        levelWords(level),
      ]),
      this.#chosen(name),
      this.#set(name),
      "stack levels",
    );
  }

  // ── Options ───────────────────────────────────────────────────────────────────────────────────

  #options() {
    const { wish } = this;
    const rules = this.variant.switches.map((each) => this.#rule(each));
    this.takebacks = this.#allowed("takebacks", t("takebacks"));
    this.takebacks.hidden = this.#program;
    if (wish.mode === "watch") return rules;
    return [
      this.sides,
      ...rules,
      choice(
        "clock",
        t("clock"),
        this.offered.clocks.map(({ key }) => [key, t(`clock.${key}`), t(`clock.${key}.more`)]),
        wish.clock,
        this.#set("clock"),
        "stack",
      ),
      this.clockNumbers,
      wish.mode === "friend" &&
        choice(
          "absence",
          t("absence"),
          ABSENCES.map((minutes) => [minutes, t(`absence.${minutes}`)]),
          wish.absence,
          this.#set("absence"),
        ),
      this.takebacks,
      this.#allowed("aids", t("aids"), t("aids.more")),
      familyOf(this.variant.family).settings.includes("memory") && this.memory,
    ].filter(Boolean);
  }

  /** What is chosen of the options, while they are folded: the side, the clock, and what the board remembers. */
  #chosenWords() {
    const { mode, side, clock, minutes, seconds, aids } = this.wish;
    if (mode === "watch") return "";
    const remembers = familyOf(this.variant.family).settings.includes("memory");
    return [
      mode !== "hotseat" && t(`side.choose.${side}`),
      t(`clock.short.${clock}`, { minutes, seconds }),
      remembers && t(`memory.short.${aids ? settings.memory : "tournament"}`),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  /** A rule that can be chosen. */
  #rule({ key, usual, values, least, most }) {
    const value = this.rules[key] ?? usual;
    if (!values) return el("div", { class: "line" }, this.#number(t(`switch.${key}`), least, most, value, this.#setRule(key)));
    const words = (each) => [each, t(`switch.${key}.${each}`), t(`switch.${key}.${each}.more`)];
    return choice(`rule-${key}`, t(`switch.${key}`), values.map(words), value, this.#setRule(key), "stack");
  }

  #sides() {
    return choice(
      "side",
      t("side"),
      ["red", "blue", "random"].map((key) => [key, t(`side.choose.${key}`)]),
      this.wish.side,
      this.#set("side"),
    );
  }

  #clockNumbers() {
    const { most_minutes: minutes, most_seconds: seconds } = this.bronstein;
    return el(
      "div",
      { class: "line" },
      this.#clockNumber("minutes", t("clock.minutes"), 1, minutes),
      this.#clockNumber("seconds", t("clock.seconds"), 0, seconds),
      this.#clockNumber("move", t("clock.move"), 0, minutes),
      this.#clockNumber("whole", t("clock.whole"), 0, minutes),
    );
  }

  #clockNumber(name, label, least, most) {
    return this.#number(label, least, most, this.wish[name], this.#set(name));
  }

  #number(label, least, most, value, set) {
    return el(
      "label",
      { class: "field short" },
      el("span", { class: "label" }, label),
      el("input", {
        type: "number",
        min: least,
        max: most,
        value,
        onchange: ({ target }) => {
          target.value = Math.min(most, Math.max(least, Math.round(Number(target.value)) || 0));
          set(Number(target.value));
        },
      }),
    );
  }

  #allowed(name, text, more) {
    return el(
      "label",
      { class: "check" },
      el("input", {
        type: "checkbox",
        name,
        checked: this.wish[name],
        onchange: ({ target }) => this.#set(name)(target.checked),
      }),
      el("span", {}, text, more && el("small", {}, more)),
    );
  }

  // ── Starting ──────────────────────────────────────────────────────────────────────────────────

  async #start() {
    // What is chosen meanwhile is for the next game.
    const wish = { ...this.wish };
    for (const name of ["level", "red", "blue"]) wish[name] = this.#chosen(name);
    const { rules } = this;
    const { title, family } = this.variant;
    const end = busy(this.play, t("play.preparing"));
    const done = () => {
      end();
      this.#paint();
    };
    // A setup may still be on its way: one click is enough all the same.
    const needed = this.editor !== null,
      setup = await this.editor?.settled();
    if (!this.play.isConnected) return;
    if (needed && !setup) {
      done();
      return;
    }
    try {
      const { game, seats, friend } = await startGame(asked(wish, rules, setup));
      keepGame(game, {
        seats,
        kind: wish.mode,
        level: wish.mode === "level" ? wish.level : null,
        variant: title,
        family,
        title: this.#opponent(wish),
        friend: friend ?? null,
        setup: wish.mode === "friend" ? setup : null,
      });
      location.hash = addressOf(game, Object.keys(seats)[0]);
    } catch (error) {
      done();
      toast(error.message || t("offline.text"));
    }
  }

  /** What a game is called in the list of games: against whom it is. */
  #opponent({ mode, level, red, blue }) {
    const name = (key) => this.offered.levels.find((each) => each.key === key)?.name;
    if (mode === "level") return name(level);
    return mode === "watch" ? `${name(red)} – ${name(blue)}` : t(`mode.${mode}`);
  }
}

/** What the server is asked for. A setup goes with it against a level; in a friend's game it is sent later. */
function asked(wish, rules, setup) {
  const { mode, variant, level, red, blue, side, takebacks, aids } = wish;
  const against = { level: { level }, watch: { red, blue } }[mode];
  return {
    variant,
    against: { kind: mode, ...against },
    side: mode === "hotseat" ? "red" : side,
    clock: mode === "watch" ? { kind: "none" } : clockOf(wish),
    takebacks,
    aids,
    ...(Object.keys(rules).length && { rules }),
    ...(mode === "level" && setup && { setup }),
    ...(mode === "friend" && { absence: wish.absence }),
  };
}

function clockOf({ clock, minutes, seconds, move, whole }) {
  if (clock !== "bronstein") return { kind: clock };
  return { kind: clock, minutes, seconds, move: move || null, whole: whole || null };
}

/** Whom a newcomer may well beat. */
const easyOne = (levels) => levels[Math.floor((levels.length - 1) / 3)].key;

const eloWords = (elo) => (elo === undefined ? t("elo.none") : t("elo", { elo }));

/** How a level plays, and how long it takes, where that can be felt. */
function levelWords({ sentence, seconds }) {
  const usual = usualSeconds(seconds);
  return usual === null ? sentence : t("level.seconds", { sentence, seconds: usual });
}

/** For whoever has not learned the game here. */
function invitation(family) {
  const skip = (event) => {
    keep(`learnt.${family}`, true);
    event.target.parentElement.remove();
  };
  return el(
    "p",
    { class: "invite" },
    t("learn.invite"),
    " ",
    el("a", { href: screenAddress(family, "learn") }, t("learn.start")),
    button("×", skip, { class: "close", "aria-label": t("learn.skip") }),
  );
}
