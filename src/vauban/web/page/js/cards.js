// What stands beside the board: the players with their armies, the last fights, the way to a draw.

import { el } from "./dom.js";
import { army, other, token } from "./pieces.js";
import { settings } from "./settings.js";
import { t } from "./strings.js";
import { NEAR_A_DRAW, quietWords, towardsDraw } from "./words.js";

/** A player's card: who, whose turn, the clock, what is left. Painted anew only when something on it changed. */
export function fillCard(card, side, sight, variant, { clock, thinking: time }) {
  const turn = sight.phase === "play" && sight.turn === side;
  const thinking = sight.thinking?.side === side;
  const name = sight.players[side];
  const key = JSON.stringify([side, turn, thinking, name, sight.left[side], settings.numbering]);
  if (card.dataset.key === key) return;
  card.dataset.key = key;
  card.classList.toggle("turn", turn);
  card.setAttribute("aria-label", t(`Side.${side}`));
  card.replaceChildren(
    el(
      "header",
      {},
      token(side, null, "mini"),
      el("strong", {}, name),
      name !== t(`Side.${side}`) && el("span", { class: "quiet" }, t(`side.${side}`)),
      thinking && time,
      turn && !thinking && el("span", { class: "turn-mark" }, t("turn.mark")),
      clock,
    ),
    army(side, variant.army, sight.left[side]),
  );
}

/** How many plies have passed of those after which there is a draw. */
export function counter(sight) {
  const [kind, { count, limit, left }] = towardsDraw(sight);
  if (limit === null) return el("p", { class: "counter quiet" }, quietWords(count));
  return el(
    "p",
    { class: `counter ${left <= NEAR_A_DRAW ? "near" : "quiet"}` },
    t(`counter.${kind}`, { count, limit }),
    el("progress", { max: limit, value: count, "aria-hidden": "true" }),
  );
}

/** Both pieces of a fight, and who is left. */
export function battleCard({ side, to, battle }) {
  const enemy = other(side);
  const attackerDies = battle.result !== ">",
    defenderDies = battle.result !== "<";
  const one = (owner, type, dies) =>
    el(
      "figure",
      { class: dies ? "dies" : "lives" },
      token(owner, type, "token"),
      el("figcaption", {}, el("span", {}, t(`type.${type}`)), el("small", {}, t(dies ? "fight.falls" : "fight.stays"))),
    );
  return el(
    "div",
    { class: "battle", role: "group", "aria-label": t("fight.at", { at: to }) },
    one(side, battle.attacker, attackerDies),
    el("span", { class: "versus" }, el("small", {}, to), t("fight.attacks")),
    one(enemy, battle.defender, defenderDies),
  );
}
