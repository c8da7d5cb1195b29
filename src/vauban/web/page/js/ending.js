// How the game ended, and whether the machine kept its promise about its setup.

import { onlyLooks } from "./actions.js";
import { button, dialog, el } from "./dom.js";
import { keep, recall } from "./settings.js";
import { sha256 } from "./sha256.js";
import { SIDES } from "./sides.js";
import { has, t } from "./strings.js";
import { answer } from "./words.js";

/** Remember the promises at first sight: a server that changed them later would be caught. */
export function rememberPromises(game, commitment) {
  const kept = recall(`promise.${game}`, {});
  for (const side of SIDES) kept[side] ??= commitment[side];
  keep(`promise.${game}`, kept);
  return kept;
}

/** For each machine's side: true if setup and salt give what was promised before the first move. */
export async function verified(promised, { setups, salts }) {
  const found = {};
  for (const side of SIDES) {
    if (!promised[side]) continue;
    found[side] = Boolean(salts[side]) && (await sha256(`${salts[side]}:${setups[side]}`)) === promised[side];
  }
  return found;
}

/** Lines with a tick (or a cross) for each promise. */
export function promiseLines(found, players) {
  return Object.entries(found).map(([side, good]) =>
    el(
      "p",
      { class: `promise ${good ? "good" : "bad"}` },
      el("span", { "aria-hidden": "true" }, good ? "✓" : "✗"),
      t(good ? "promise.kept" : "promise.broken", { name: players[side] }),
    ),
  );
}

/** How it ended for whoever sits here: "won", "lost", "draw" or "unfinished"; for onlookers, and for two on one device, who won. */
export function verdict(sight, hotseat) {
  const { winner, end } = sight.over;
  if (end === "unfinished") return "unfinished";
  if (winner === null) return "draw";
  if (hotseat || !SIDES.includes(sight.seat)) return winner;
  return winner === sight.seat ? "won" : "lost";
}

/** How it ended, as who won and why; the rest is what there is to say beyond that. */
function endParts(sight, hotseat) {
  const how = verdict(sight, hotseat);
  const { end, detail } = sight.over;
  const key = end === "unfinished" ? "end.stopped" : `end.${end}`;
  const text = [`${key}.${how}`, key].find(has);
  const reason = text ? t(text) : end.replaceAll("_", " ");
  const said = end === "agreed" && sight.note ? answer(sight.note, sight.players) : detail && t("error.other", { text: detail });
  return { who: t(`end.${how}`), reason, more: said ? ` ${said}` : "" };
}

/** How it ended, as a sentence. */
export function endWords(sight, hotseat = sight.kind === "hotseat") {
  const { who, reason, more } = endParts(sight, hotseat);
  return t("end.of", { who, how: reason }) + more;
}

/** The end, as a dialog; resolves with "rematch", "review" or null. */
export function endDialog(sight, promises, hotseat, looksBack) {
  const how = verdict(sight, hotseat);
  const { who, reason, more } = endParts(sight, hotseat);
  return dialog(
    who,
    (close) => [
      el("p", { class: "reason" }, `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.${more}`),
      sight.took_back && el("p", { class: "quiet" }, t("casual")),
      ...promiseLines(promises, sight.players),
      el("p", { class: "asked" }),
      el(
        "div",
        { class: "answers" },
        button(t("end.look"), () => close()),
        !onlyLooks(sight) && button(t("rematch"), () => close("rematch")),
        looksBack && button(t("review"), () => close("review"), { class: "primary", autofocus: true }),
      ),
    ],
    `end ${how}`,
  );
}
