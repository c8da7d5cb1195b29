// The start screen: good defaults and one large button.

import { busy, button, choice, drawing, el, toast } from "./dom.js";
import { gameList, resultsBox, running } from "./games.js";
import { playersOf } from "./levels.js";
import { memoryChoice } from "./menu.js";
import { picker } from "./picker.js";
import { startGame } from "./protocol.js";
import { keep, keepGame, recall } from "./settings.js";
import { SetupEditor } from "./setup.js";
import { t } from "./strings.js";
import { usualSeconds } from "./words.js";

const USUAL = "barrage";
const MODES = ["level", "friend", "hotseat", "watch"];

// What was chosen, for the next visit; setups only as long as the page lives.
const setups = {};

export function show(main, _, offered) {
  // Not everybody plays every variant: a network plays what it has learned.
  const levels = () => playersOf(offered.levels, wish.variant);
  const usual = playersOf(offered.levels, USUAL);
  const easy = usual[Math.floor((usual.length - 1) / 3)].key;
  const bronstein = offered.clocks.find((clock) => clock.key === "bronstein");
  const wish = {
    mode: "level",
    variant: USUAL,
    level: easy,
    red: easy,
    blue: usual.at(-1).key,
    side: "red",
    clock: "none",
    minutes: bronstein.minutes,
    seconds: bronstein.seconds,
    move: 0,
    takebacks: true,
    aids: true,
    ...recall("wish", {}),
  };
  // It may have been kept for another version of the page.
  if (!offered.variants.some((each) => each.name === wish.variant)) wish.variant = USUAL;
  const variant = () => offered.variants.find((each) => each.name === wish.variant);
  const set = (name) => (value) => {
    wish[name] = value;
    keep("wish", wish);
    paint();
  };

  const against = el("div", { class: "against" });
  const army = el("div", { class: "army-place" });
  const play = button("", start, { class: "primary play" });
  const summary = el("p", { class: "quiet" });
  let editor = null,
    shown = "";

  function paint() {
    const now = variant();
    if (!play.disabled) play.textContent = t(wish.mode === "watch" ? "play.watch" : wish.mode === "friend" ? "play.friend" : "play");
    summary.textContent = now.rules;
    clockNumbers.hidden = wish.clock !== "bronstein";
    memory.hidden = !wish.aids;
    const face = `${wish.mode} ${wish.variant}`;
    if (face === shown) {
      if (editor && editor.side !== side()) editor.setSide(side());
      return;
    }
    shown = face;
    against.replaceChildren(...opponents());
    options.hidden = wish.mode === "watch";
    const own = wish.mode === "level" || wish.mode === "friend";
    army.hidden = !own;
    editor = own
      ? new SetupEditor(now, {
          side: side(),
          setup: setups[now.name],
          change: (text) => {
            setups[now.name] = text;
          },
        })
      : null;
    army.replaceChildren(...(editor ? [el("h2", {}, t("setup.yours")), editor.element] : []));
  }

  const side = () => (wish.side === "blue" ? "blue" : "red");

  function levelChoice(name, legend) {
    const known = levels();
    if (!known.some((level) => level.key === wish[name])) wish[name] = known[Math.floor((known.length - 1) / 3)].key;
    return picker(
      name,
      legend,
      known.map((level) => [
        level.key,
        el(
          "span",
          { class: "level" },
          el("strong", {}, level.name),
          el("em", {}, level.temper),
          el("span", { class: "elo" }, elo(level)),
        ),
        sentence(level),
      ]),
      wish[name],
      set(name),
      "stack levels",
    );
  }

  const sentence = ({ sentence: text, seconds }) => {
    const usual = usualSeconds(seconds);
    return usual === null ? text : t("level.seconds", { sentence: text, seconds: usual });
  };

  function elo(level) {
    const figure = level.elo[wish.variant];
    return figure === undefined ? t("elo.none") : t("elo", { elo: figure });
  }

  function opponents() {
    const scale = levels().some((level) => wish.variant in level.elo) ? [el("p", { class: "quiet scale" }, t("elo.scale"))] : [];
    if (wish.mode === "level") return [levelChoice("level", t("level")), ...scale];
    if (wish.mode === "watch") {
      return [levelChoice("red", t("watch.red")), levelChoice("blue", t("watch.blue")), ...scale];
    }
    return [el("p", { class: "lead" }, t(`mode.${wish.mode}.text`))];
  }

  async function start() {
    const clock =
      wish.clock === "bronstein"
        ? { kind: "bronstein", minutes: wish.minutes, seconds: wish.seconds, move: wish.move || null }
        : { kind: wish.clock };
    const kinds = {
      level: { kind: "level", level: wish.level },
      friend: { kind: "friend" },
      hotseat: { kind: "hotseat" },
      watch: { kind: "watch", red: wish.red, blue: wish.blue },
    };
    const asked = {
      variant: wish.variant,
      against: kinds[wish.mode],
      side: wish.mode === "hotseat" ? "red" : wish.side,
      clock: wish.mode === "watch" ? { kind: "none" } : clock,
      takebacks: wish.takebacks,
      aids: wish.aids,
    };
    const end = busy(play, t("play.preparing"));
    const done = () => {
      end();
      paint();
    };
    // A setup may still be on its way: one click is enough all the same.
    const needed = editor !== null,
      setup = await editor?.settled();
    if (!play.isConnected) return;
    if (needed && !setup) {
      done();
      return;
    }
    if (asked.against.kind === "level") asked.setup = setup;
    try {
      const { game, seats, friend } = await startGame(asked);
      const [[seat, secret]] = Object.entries(seats);
      const names = Object.fromEntries(offered.levels.map((level) => [level.key, level.name]));
      const title = {
        level: names[wish.level],
        friend: t("mode.friend"),
        hotseat: t("mode.hotseat"),
        watch: `${names[wish.red]} – ${names[wish.blue]}`,
      }[wish.mode];
      keepGame(game, {
        seats,
        kind: wish.mode,
        level: wish.mode === "level" ? wish.level : null,
        variant: variant().title,
        title,
        friend: friend ?? null,
        setup: asked.against.kind === "friend" ? setup : null,
      });
      location.hash = `#/game/${game}/${seat}/${secret}`;
    } catch (error) {
      done();
      toast(error.message || t("offline.text"));
    }
  }

  const number = (name, label, most) =>
    el(
      "label",
      { class: "field short" },
      el("span", { class: "label" }, label),
      el("input", {
        type: "number",
        min: name === "minutes" ? 1 : 0,
        max: most,
        value: wish[name],
        onchange: (event) => {
          const { target } = event;
          target.value = Math.min(most, Math.max(Number(target.min), Math.round(Number(target.value)) || 0));
          set(name)(Number(target.value));
        },
      }),
    );
  const clockNumbers = el(
    "div",
    { class: "line" },
    number("minutes", t("clock.minutes"), bronstein.most_minutes),
    number("seconds", t("clock.seconds"), bronstein.most_seconds),
    number("move", t("clock.move"), bronstein.most_minutes),
  );
  const allowed = (name, text, more) =>
    el(
      "label",
      { class: "check" },
      el("input", {
        type: "checkbox",
        name,
        checked: wish[name],
        onchange: (event) => set(name)(event.target.checked),
      }),
      el("span", {}, text, more && el("small", {}, more)),
    );
  const memory = memoryChoice("memory-home");
  const options = el(
    "details",
    { class: "options-box" },
    el("summary", {}, t("options")),
    choice(
      "side",
      t("side"),
      ["red", "blue", "random"].map((key) => [key, t(`side.choose.${key}`)]),
      wish.side,
      set("side"),
    ),
    choice(
      "clock",
      t("clock"),
      offered.clocks.map(({ key }) => [key, t(`clock.${key}`), t(`clock.${key}.more`)]),
      wish.clock,
      set("clock"),
      "stack",
    ),
    clockNumbers,
    allowed("takebacks", t("takebacks")),
    allowed("aids", t("aids"), t("aids.more")),
    memory,
  );

  main.append(
    el(
      "section",
      { class: "home" },
      el(
        "div",
        { class: "hero" },
        drawing("fort", "drawing emblem"),
        el("div", {}, el("h1", {}, t("headline")), el("p", {}, t("tagline"))),
      ),
      recall("learnt", false)
        ? null
        : el(
            "p",
            { class: "invite" },
            t("learn.invite"),
            " ",
            el("a", { href: "#/learn" }, t("learn.start")),
            button(
              "×",
              (event) => {
                keep("learnt", true);
                event.target.parentElement.remove();
              },
              { class: "close", "aria-label": t("learn.skip") },
            ),
          ),
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
          set("mode"),
        ),
        picker(
          "variant",
          t("variant"),
          offered.variants.map((each) => [
            each.name,
            each.title,
            t("variant.size", { columns: each.columns, rows: each.rows }),
          ]),
          wish.variant,
          set("variant"),
          "segments cards",
        ),
        summary,
        against,
        options,
      ),
      army,
      el("div", { class: "play-bar" }, play),
    ),
  );
  paint();
}
