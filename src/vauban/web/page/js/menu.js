// The settings and the list of keys.

import { button, choice, dialog, el } from "./dom.js";
import { family, ownScreen } from "./family.js";
import { BOARDS, change, settings } from "./settings.js";
import { SIDES } from "./sides.js";
import { languageName, t } from "./strings.js";

export function memoryChoice(name) {
  return choice(
    name,
    t("memory"),
    ["tournament", "shown", "moved"].map((key) => [key, t(`memory.${key}`), t(`memory.${key}.more`)]),
    settings.memory,
    (value) => change("memory", value),
    "stack",
  );
}

/** The choice of a language: the page is built anew in it. */
function languageChoice(languages) {
  const choices = [["browser", t("language.browser")], ...languages.map((each) => [each, languageName(each)])];
  const known = languages.includes(settings.language) ? settings.language : "browser";
  return choice("language", t("language"), choices, known, (value) => {
    change("language", value);
    location.reload();
  });
}

/** A piece of a board, with a piece of each side. */
const swatch = (key) =>
  el("span", { class: "swatch", "data-board": key }, SIDES.map((side) => family().token(side, null, "mini")));

/** @param languages of the page; with one alone there is nothing to choose */
export function openSettings(languages) {
  const box = (name, text) =>
    el(
      "label",
      { class: "check" },
      el("input", {
        type: "checkbox",
        checked: Boolean(settings[name]),
        onchange: (event) => change(name, event.target.checked),
      }),
      el("span", {}, text),
    );
  return dialog(
    t("settings"),
    (close) => [
      languages.length > 1 && languageChoice(languages),
      choice(
        "theme",
        t("theme"),
        ["system", "light", "dark"].map((key) => [key, t(`theme.${key}`)]),
        settings.theme,
        (value) => change("theme", value),
      ),
      choice(
        "board",
        t("settings.board"),
        BOARDS.map((key) => [key, [swatch(key), t(`board.${key}`)]]),
        settings.board,
        (value) => change("board", value),
      ),
      family().settings.includes("memory") && memoryChoice("memory-setting"),
      family().settings.includes("numbering") && choice(
        "numbering",
        t("numbering"),
        ["ten", "one", "icons"].map((key) => [key, t(`numbering.${key}`)]),
        settings.numbering,
        (value) => change("numbering", value),
      ),
      el(
        "div",
        { class: "checks" },
        box("coordinates", t("settings.coordinates")),
        box("below", t("settings.below")),
        box("confirm", t("settings.confirm")),
        box("motion", t("settings.motion")),
        box("commands", t("settings.commands")),
        box("sound", t("settings.sound")),
      ),
      el(
        "label",
        { class: "slider" },
        el("span", {}, t("settings.volume")),
        el("input", {
          type: "range",
          min: 0,
          max: 1,
          step: 0.1,
          value: settings.volume,
          onchange: (event) => change("volume", Number(event.target.value)),
        }),
      ),
      el(
        "div",
        { class: "answers" },
        button(t("close"), () => close(), { class: "primary" }),
      ),
    ],
    "settings",
  );
}

const KEYS = ["arrows", "enter", "escape", "typed", "n", "l", "c", "o", "s", "p", "b", "w", "help"];
const GUIDES = { learn: "help.learn", rules: "nav.rules" }; // screens of families that explain their games
const REVIEW_KEYS = ["steps", "ends", "enter", "typed"];

/** Links to what explains the games on the screen. */
function guides(close) {
  const { screens } = family();
  return Object.entries(GUIDES)
    .filter(([screen]) => screen in screens)
    .flatMap(([screen, key], i) => [
      i ? " · " : "",
      el("a", { href: ownScreen(screen), onclick: () => close() }, t(key)),
    ]);
}

export function openHelp() {
  const list = (keys) =>
    el(
      "dl",
      { class: "keys" },
      keys.flatMap((key) => [
        el(
          "dt",
          {},
          t(`key.${key}`)
            .split(" ")
            .map((each) => el("kbd", {}, each)),
        ),
        el("dd", {}, t(`key.${key}.does`)),
      ]),
    );
  return dialog(
    t("help"),
    (close) => [
      el("p", {}, guides(close)),
      el("h3", {}, t("help.board")),
      list(KEYS),
      el("h3", {}, t("help.review")),
      list(REVIEW_KEYS),
      el(
        "div",
        { class: "answers" },
        button(t("close"), () => close(), { class: "primary", autofocus: true }),
      ),
    ],
    "help",
  );
}
