// What the server says in codes and figures, in words.

import { family } from "./family.js";
import { SIDES } from "./sides.js";
import { has, t } from "./strings.js";

export const NEAR_A_DRAW = 20;

/** What is offered, with titles, rules and sentences. */
export function wordedOffer(offered) {
  for (const variant of offered.variants) {
    variant.title = has(`variant.${variant.name}`) ? t(`variant.${variant.name}`) : variant.name;
    variant.rules = rulesWords(variant);
  }
  for (const level of offered.levels) {
    level.sentence = level.own ? t(level.program ? "level.program" : "level.own") : has(`level.${level.key}`) ? t(`level.${level.key}`) : "";
    if (has(`level.${level.key}.name`)) level.name = t(`level.${level.key}.name`);
    level.temper = has(`level.${level.key}.temper`) ? t(`level.${level.key}.temper`) : "";
  }
  return offered;
}

/** What is played, in a few sentences. @param rules that were chosen, {key: value}; those that are usual are not told */
export function rulesWords(variant, rules = {}) {
  const { name, army, columns, rows, battleless_limit: battleless } = variant;
  const total = rules.total_limit ?? variant.total_limit;
  const words = [];
  if (has(`variant.${name}.rules`)) {
    words.push(t(`variant.${name}.rules`));
  } else if (army) {
    const pieces = Object.values(army).reduce((sum, count) => sum + count, 0);
    words.push(t("variant.rules", { pieces, columns, rows }));
  }
  if (battleless && total) words.push(t("variant.limits", { battleless, total }));
  else if (battleless) words.push(t("variant.limit.battleless", { battleless }));
  else if (total) words.push(t("variant.limit.total", { total }));
  return [...words, otherRules(variant, rules)].join(" ").trim();
}

/** Those of the rules that are not the usual ones, in words; of numbers, what is counted tells. */
export function otherRules(variant, rules) {
  return Object.entries(unusual(variant, rules))
    .filter(([, value]) => typeof value === "string")
    .map(([key, value]) => t(`switch.${key}.${value}.told`))
    .join(" ");
}

/** Those of the rules, {key: value}, that are not the usual ones of a game. */
export function unusual(variant, rules = {}) {
  const usual = Object.fromEntries((variant.switches ?? []).map((each) => [each.key, each.usual]));
  return Object.fromEntries(Object.entries(rules).filter(([key, value]) => key in usual && usual[key] !== value));
}

/** What a type of pieces is called, in a sentence and at its beginning. */
export const typeName = (type) => (has(`type.${type}`) ? t(`type.${type}`) : type);
export const TypeName = (type) => (has(`Type.${type}`) ? t(`Type.${type}`) : type);

/** Why something was refused; the server's own sentence where it says what this page has no words for. */
export function refusal({ code, key = code, data = {}, text }) {
  return has(`error.${key}`) ? t(`error.${key}`, data) : text && t("error.other", { text });
}

/** Who sits on a side: machines and recorded games have names, people are called by where they sit. */
export function playerName(sight, side) {
  const own = side === sight.seat && sight.kind !== "hotseat";
  const level = `level.${sight.levels?.[side]}.name`;
  if (!own && has(level)) return t(level);
  if (sight.players[side] && !own) return sight.players[side];
  if (sight.kind === "hotseat" || !SIDES.includes(sight.seat)) return t(`Side.${side}`);
  return t(side === sight.seat ? "You" : "friend");
}

/** Why a move cannot be played: of the server's answer, or of what a rule bars; the rule's own sentence where the page
 *  has no words for it. */
export function why({ code, rule, from, to, ply = null, type = null, steps = [], targets = null, reason = "" }) {
  const key = code ?? rule;
  if (!has(`why.${key}`)) return reason;
  const words = { from, to, ply, kind: type, Type: type && TypeName(type), steps: steps.map((step) => step.join("–")).join(", ") };
  const said = t(key === "chase" && ply !== null ? "why.chase.ply" : `why.${key}`, words);
  if (!targets || key === "never") return said;
  return `${said} ${targets.length ? t("why.targets", { targets: targets.join(", ") }) : t("why.stays")}`;
}

/** How long a friend may be away. */
export const absenceWords = (minutes) =>
  has(`absence.${minutes}`) ? t(`absence.${minutes}`) : t("absence.minutes", { count: minutes });

/** How an offer was answered. */
export function answer({ kind, by, why: reason }, players) {
  return reason === null ? t(`answer.${kind}.declined`) : t(`answer.${kind}.${reason}`, { name: players[by] });
}

const LEAST_WAIT = 0.2; // seconds

/** The seconds that a machine usually takes for a move, as a figure; null where there is no wait to speak of. */
export const usualSeconds = (seconds) => (seconds < LEAST_WAIT ? null : Math.round(10 * seconds) / 10);

/** What is counted towards a draw: plies without a fight or, where only these are limited, all of them. */
export const towardsDraw = ({ battleless, total }) =>
  battleless.limit === null && total.limit !== null ? ["total", total] : ["battleless", battleless];

/** How many plies there was no fight. */
export const quietWords = (count) => t("counter.plain", { count });

/** What a player should know about a draw that is near. */
export function warnings({ phase, seat, battleless, total }) {
  if (phase !== "play" || !SIDES.includes(seat)) return [];
  return Object.entries({ battleless, total })
    .filter(([, counts]) => counts && counts.left !== null && counts.left <= NEAR_A_DRAW)
    .map(([key, { left }]) => t(`warning.${key}`, { left }));
}

/** A share of one, in per cent. */
export const percent = (share) =>
  share > 0 && share < 0.005 ? t("percent.least") : t("percent", { share: Math.round(100 * share) });

/** What is said of a moment that decided a game: sentences by name, with what is to be filled in. */
export function momentWords({ said }) {
  return said
    .map(({ key, ...data }) => {
      const words = t(`said.${key}`, filled(data));
      return words[0].toUpperCase() + words.slice(1);
    })
    .join(" ");
}

const filled = (data) => Object.fromEntries(Object.entries(data).map(([name, value]) => [name, inWords(value)]));

function inWords(value) {
  if (typeof value === "number") return percent(value);
  if (typeof value === "string") return SIDES.includes(value) ? t(`side.${value}`) : value;
  if (value.battle) return t(`fought.${value.battle}`, filled(value));
  if (value.side) return family().told(value);
  return t(value.only ? "said.kind.only" : "said.kind", { kind: value.type, Type: TypeName(value.type) });
}
