// The rules, with pictures of the two that are least understood.

import { figure } from "../../diagram.js";
import { el } from "../../dom.js";
import { t } from "../../strings.js";
import { token, TYPES } from "./pieces.js";

export function show(main, [anchor]) {
  const part = (key, ...content) =>
    el(
      "section",
      { id: `rule-${key}` },
      el("h2", {}, t(`rules.${key}`)),
      el("p", {}, t(`rules.${key}.text`)),
      ...content,
    );
  main.append(
    el(
      "article",
      { class: "page rules" },
      el("h1", {}, t("nav.rules")),
      part("aim"),
      part("moves"),
      part(
        "fights",
        el(
          "ul",
          { class: "ranking" },
          TYPES.map((type) =>
            el(
              "li",
              {},
              token("red", type, "token"),
              token("blue", type, "token"),
              el("span", {}, el("strong", {}, t(`Type.${type}`)), el("small", {}, t(`rules.type.${type}`))),
            ),
          ),
        ),
      ),
      part("known"),
      part(
        "two_square",
        el(
          "div",
          { class: "diagrams" },
          figure(
            { columns: 4, rows: 3 },
            { b2: ["red", "major"], d1: ["blue", null] },
            [["b1", "b2", "own"]],
            { last: ["b1", "b2"] },
            t("rules.two_square.1"),
          ),
          figure(
            { columns: 4, rows: 3 },
            { b1: ["red", "major"], d2: ["blue", null] },
            [["b2", "b1", "own"]],
            { last: ["b1", "b2"] },
            t("rules.two_square.2"),
          ),
          figure(
            { columns: 4, rows: 3 },
            { b2: ["red", "major"], d1: ["blue", null] },
            [["b1", "b2", "own"]],
            { last: ["b2"], barred: ["b1"], target: ["b3", "a2", "c2"] },
            t("rules.two_square.3"),
          ),
        ),
      ),
      part(
        "chase",
        el(
          "div",
          { class: "diagrams" },
          figure(
            { columns: 4, rows: 3 },
            { c2: ["red", "major"], d2: ["blue", "lieutenant"] },
            [["b2", "c2", "own"]],
            { last: ["b2", "c2"] },
            t("rules.chase.1"),
          ),
          figure(
            { columns: 4, rows: 3 },
            { c1: ["red", "major"], d1: ["blue", "lieutenant"] },
            [
              ["d2", "d1", "blue"],
              ["c2", "c1", "own"],
            ],
            { last: ["c2", "c1"] },
            t("rules.chase.2"),
          ),
          figure(
            { columns: 4, rows: 3 },
            { c1: ["red", "major"], d2: ["blue", "lieutenant"] },
            [["c2", "d2", "blue"]],
            { last: ["c1"], barred: ["c2"], target: ["b1", "d1"] },
            t("rules.chase.3"),
          ),
        ),
      ),
      part("end"),
      part("fair"),
    ),
  );
  if (anchor) requestAnimationFrame(() => document.getElementById(`rule-${anchor}`)?.scrollIntoView());
}
