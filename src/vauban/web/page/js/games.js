// The games of this browser, and how those against machines ended. All of it stays in the browser.

import { ask, button, el } from "./dom.js";
import { rate, WIDEST } from "./rating.js";
import { screenAddress } from "./family.js";
import { forgetReview } from "./kept.js";
import { addressOf, forgetGame, games, keep, recall, savedSetups } from "./settings.js";
import { dateWords, t, timeWords } from "./strings.js";

const ENDS = ["won", "draw", "lost"];
const MOST_SHOWN = 8;

/** A list of games with links: to go on with those that go on, to look back on the others. Null if there are none. */
export function gameList(heading, found) {
  if (!found.length) return null;
  const item = (game) => {
    const row = el(
      "li",
      {},
      el(
        "a",
        { href: game.over ? screenAddress(game.family, "review", game.id) : addressOf(game.id, Object.keys(game.seats)[0]) },
        el("strong", {}, game.title ?? t("game")),
        ` · ${game.variant ?? ""}`,
      ),
      el("span", { class: "quiet" }, game.over ? `${t(`list.${game.over}`)} · ${dateWords(game.at)}` : timeWords(game.at)),
      button(
        "×",
        async () => {
          const sure = [t("list.forget"), t("list.forget.sure"), t("list.forget"), t("cancel"), "danger"];
          if (!game.over && !(await ask(...sure))) return;
          forgetGame(game.id);
          forgetReview(game.id);
          row.remove();
        },
        { class: "close", "aria-label": t("list.forget") },
      ),
    );
    return row;
  };
  return el("section", { class: "games" }, el("h2", {}, heading), el("ul", {}, found.map(item)));
}

export const running = () => games().filter((game) => !game.over);
const finished = () => games().filter((game) => game.over);

// ── Results ─────────────────────────────────────────────────────────────────────────────────────

/** Count a game against a level, and with a setup; @param how "won", "draw" or "lost" */
export function countResult(variant, level, setup, how) {
  count("results", variant, level, how);
  count("results.setups", variant, setup, how);
}

function count(store, variant, key, how) {
  const all = recall(store, {});
  const row = ((all[variant] ??= {})[key] ??= { won: 0, draw: 0, lost: 0 });
  row[how] += 1;
  keep(store, all);
}

/** One's own strength in a game, or that it cannot be told yet; null where no opponent was measured. */
function ratingLine({ name, title }, levels, results) {
  const measured = levels
    .filter(({ key, elo }) => results[key] && typeof elo?.[name] === "number")
    .map(({ key, elo }) => ({ elo: elo[name], ...results[key] }));
  const found = rate(measured);
  if (!found) return null;
  const said = found.error > WIDEST ? "rating.none" : "rating";
  return el("p", { class: "rating" }, t(said, { game: title, ...found }));
}

/** A table of what was won, drawn and lost; rows as [game, by what, counts]. */
function resultsTable(heading, rows) {
  const head = ["game", heading, ...ENDS].map((each) => el("th", { scope: "col" }, t(`results.${each}`)));
  const lines = rows.map(([game, by, counts]) =>
    el(
      "tr",
      {},
      el("td", {}, game),
      el("th", { scope: "row" }, by),
      ENDS.map((how) => el("td", {}, String(counts[how]))),
    ),
  );
  return el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines));
}

/** Won, drawn and lost by game and level, by saved setup, and the last games; null if none was counted. */
export function resultsBox({ variants, levels }) {
  const all = recall("results", {});
  const rows = variants.flatMap(({ name, title }) =>
    levels.filter(({ key }) => all[name]?.[key]).map((level) => [title, level.name, all[name][level.key]]),
  );
  if (!rows.length) return null;
  const withSetups = recall("results.setups", {});
  const named = variants.flatMap(({ name, title }) =>
    savedSetups(name)
      .filter(({ setup }) => withSetups[name]?.[setup])
      .map((saved) => [title, saved.name, withSetups[name][saved.setup]]),
  );
  const forget = async () => {
    const sure = [t("results.forget"), t("results.forget.sure"), t("results.forget"), t("cancel"), "danger"];
    if (!(await ask(...sure))) return;
    keep("results", null);
    keep("results.setups", null);
    for (const { id } of finished()) forgetGame(id);
    box.remove();
  };
  const box = el(
    "details",
    { class: "results options-box" },
    el("summary", {}, t("results")),
    resultsTable("level", rows),
    named.length ? resultsTable("setup", named) : null,
    el("p", { class: "quiet" }, t("results.text")),
    variants.map((variant) => ratingLine(variant, levels, all[variant.name] ?? {})),
    gameList(t("list.last"), finished().slice(0, MOST_SHOWN)),
    el("div", { class: "answers start" }, button(t("results.forget"), forget)),
  );
  return box;
}
