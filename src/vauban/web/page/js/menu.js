// The settings and the list of keys.

import { button, choice, dialog, el } from "./dom.js";
import { change, settings } from "./settings.js";
import { t } from "./strings.js";

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

export function openSettings() {
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
      choice(
        "theme",
        t("theme"),
        ["system", "light", "dark"].map((key) => [key, t(`theme.${key}`)]),
        settings.theme,
        (value) => change("theme", value),
      ),
      memoryChoice("memory-setting"),
      choice(
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
const REVIEW_KEYS = ["steps", "ends"];

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
      el(
        "p",
        {},
        el("a", { href: "#/learn", onclick: () => close() }, t("help.learn")),
        " · ",
        el("a", { href: "#/rules", onclick: () => close() }, t("nav.rules")),
      ),
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
