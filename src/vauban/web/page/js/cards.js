// What stands beside the board: the players, with what is left to each.

import { el } from "./dom.js";
import { family } from "./family.js";
import { settings } from "./settings.js";
import { t } from "./strings.js";

/** A player's card: who, whose turn, the clock, what is left. Painted anew only when something on it changed. */
export function fillCard(card, side, sight, variant, { clock, thinking: time }) {
  const turn = sight.phase === "play" && sight.turn === side;
  const thinking = sight.thinking?.side === side;
  const name = sight.players[side];
  const away = side === sight.seat || sight.phase === "over" ? null : (sight.absence?.away[side] ?? null);
  const key = JSON.stringify([side, turn, thinking, name, away, sight.left?.[side], settings.numbering]);
  if (card.dataset.key === key) return;
  card.dataset.key = key;
  card.classList.toggle("turn", turn);
  card.setAttribute("aria-label", t(`Side.${side}`));
  card.replaceChildren(
    el(
      "header",
      {},
      family().token(side, null, "mini"),
      el("strong", {}, name),
      away !== null && el("span", { class: `presence ${away ? "away" : "here"}` }, t(away ? "presence.away" : "presence.here")),
      name !== t(`Side.${side}`) && el("span", { class: "quiet" }, t(`side.${side}`)),
      thinking && time,
      turn && !thinking && el("span", { class: "turn-mark" }, t("turn.mark")),
      clock,
    ),
    sight.left && variant.army ? family().army(side, variant.army, sight.left[side]) : "",
  );
}
