// What stands beside the board of a game of Stratego: the last fights, the way to a draw.

import { el } from "../../dom.js";
import { other } from "../../sides.js";
import { t } from "../../strings.js";
import { NEAR_A_DRAW, quietWords, towardsDraw, warnings } from "../../words.js";
import { named, short, token } from "./pieces.js";

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

/** The same for the ear. */
export function counted(sight) {
  const [kind, counts] = towardsDraw(sight);
  const total = kind === "total" && `${t("counter.total", counts)}.`;
  return [quietWords(sight.battleless.count), total, ...warnings(sight)].filter(Boolean).join(" ");
}

const RESULTS = { ">": ["fight.won", "say.wins"], "<": ["fight.lost", "say.loses"], "=": ["fight.both", "say.both"] };

/** A fight in words. */
export function deed({ side, battle }) {
  if (!battle) return null;
  const [attacker, defender] = [named(battle.attacker), named(battle.defender)];
  const [told, said] = RESULTS[battle.result].map((key) => t(key));
  return {
    winner: { ">": side, "<": other(side), "=": null }[battle.result],
    sign: "×",
    short: `${short(battle.attacker)}${battle.result}${short(battle.defender)}`,
    label: `${attacker} × ${defender}: ${told}`,
    words: ({ who, from, to }) => t("say.battle", { who, from, to, attacker, defender, result: said }),
  };
}

/** Both pieces of a fight, and who is left. */
export function battleCard({ side, to, battle }) {
  if (!battle) return null;
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
