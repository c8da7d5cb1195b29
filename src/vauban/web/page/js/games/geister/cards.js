// What stands beside the board of a game of Geister: the ghosts of both sides, the last capture, the way to a draw.

import { el } from "../../dom.js";
import { other } from "../../sides.js";
import { t } from "../../strings.js";
import { NEAR_A_DRAW, typeName, warnings } from "../../words.js";
import { short, token, TYPES } from "./ghosts.js";

/** All ghosts of a side by colour; those that were captured are crossed out. */
export function army(side, whole, left) {
  const group = (type) =>
    el(
      "li",
      {},
      Array.from({ length: whole[type] }, (_, i) => token(side, type, i < left[type] ? "mini" : "mini caught")),
      el("span", { class: "unseen" }, t("army.item", { type: typeName(type), left: left[type], all: whole[type] })),
    );
  return el("ul", { class: `army ghosts ${side}` }, TYPES.map(group));
}

/** A capture or an escape in words. */
export function deed({ side, captured, escaped }) {
  if (escaped)
    return {
      winner: side,
      sign: "→",
      short: t("ghost.out"),
      label: t("ghost.escaped"),
      words: ({ who, own, from }) => t(own ? "say.escape.you" : "say.escape", { who, from }),
    };
  if (!captured) return null;
  const type = typeName(captured.type);
  return {
    winner: captured.type === "good" ? side : other(side),
    sign: "×",
    short: short(captured.type),
    label: t("ghost.captured", { type }),
    words: ({ who, own, from, to }) => t(own ? "say.capture.you" : "say.capture", { who, from, to, type }),
  };
}

/** The ghost that a move has captured. */
export function captureCard({ side, to, captured }) {
  if (!captured) return null;
  const words = t("ghost.captured", { type: typeName(captured.type) });
  return el(
    "div",
    { class: "battle capture", role: "group", "aria-label": t("ghost.captured.at", { at: to }) },
    el(
      "figure",
      { class: "taken" },
      token(other(side), captured.type, "token"),
      el("figcaption", {}, el("span", {}, words), el("small", {}, t(`ghost.cost.${captured.type}`))),
    ),
  );
}

/** How many plies have passed of those after which there is a draw. */
export function counter({ total: { count, limit, left } }) {
  return el(
    "p",
    { class: `counter ${left <= NEAR_A_DRAW ? "near" : "quiet"}` },
    t("counter.total", { count, limit }),
    el("progress", { max: limit, value: count, "aria-hidden": "true" }),
  );
}

/** The same for the ear. */
export const counted = (sight) => [`${t("counter.total", sight.total)}.`, ...warnings(sight)].join(" ");
