// The rules of Geister, with a picture of how a ghost escapes.

import { figure } from "../../diagram.js";
import { el } from "../../dom.js";
import { t } from "../../strings.js";
import { TypeName } from "../../words.js";
import { token, TYPES } from "./ghosts.js";

const SHAPE = { columns: 4, rows: 3, gates: { a4: "red", d4: "red" } };

export function show(main) {
  const part = (key, ...content) =>
    el("section", {}, el("h2", {}, t(`rules.${key}`)), el("p", {}, t(`rules.ghost.${key}`)), ...content);
  const kinds = TYPES.map((type) =>
    el(
      "li",
      {},
      token("red", type),
      token("blue", type),
      el("span", {}, el("strong", {}, TypeName(type)), el("small", {}, t(`rules.ghost.kind.${type}`))),
    ),
  );
  const picture = (pieces, arrow, marks, key) => figure(SHAPE, pieces, [arrow], marks, t(`rules.ghost.${key}`));
  main.append(
    el(
      "article",
      { class: "page rules" },
      el("h1", {}, t("nav.rules")),
      part("aim", el("ul", { class: "ranking" }, kinds)),
      part("moves"),
      part(
        "escape",
        el(
          "div",
          { class: "diagrams" },
          picture({ a3: ["red", "good"], c3: ["blue", null] }, ["a2", "a3", "own"], { last: ["a2", "a3"] }, "escape.1"),
          picture({ c2: ["blue", null] }, ["a3", "a4", "own"], { last: ["a3", "a4"] }, "escape.2"),
        ),
      ),
      part("known"),
      part("end"),
      part("fair"),
    ),
  );
}
