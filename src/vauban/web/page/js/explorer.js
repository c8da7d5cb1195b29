// What games say about setups: how those fared that had the flag (an evil ghost) on a square, or a pattern in common.
// The figures are in explorer/GAME.json, which scripts/explore_setups.py writes; a figure is [setups, share of the
// points, lower and upper end of its 95 % interval].

import { Board } from "./board.js";
import { button, el, say } from "./dom.js";
import { family, ownScreen } from "./family.js";
import { square } from "./squares.js";
import { numberWords, t } from "./strings.js";
import { percent } from "./words.js";

const loaded = new Map();

/** The figures of a game. */
function load({ name }) {
  if (!loaded.has(name)) {
    const coming = fetch(`/static/explorer/${name}.json`).then((answer) => {
      if (!answer.ok) throw new Error(answer.statusText);
      return answer.json();
    });
    loaded.set(name, coming);
    // Whoever asks again later may be luckier.
    coming.catch(() => loaded.delete(name));
  }
  return loaded.get(name);
}

/** A setup of the network; null where none is known. */
export const exampleOf = async (variant) =>
  variant.explored ? load(variant).then(({ examples }) => examples[0].setup, () => null) : null;

// ── What holds for a setup ──────────────────────────────────────────────────────────────────────

/** Whether a setup, as squares [row, column, what stands there], meets the conditions of a pattern
 *  (scripts/explore_setups.py explains them). */
export function holds(pattern, places, columns) {
  return pattern.every((condition) => {
    const found = places.filter((place) => counts(condition, place, places, columns)).length;
    return found >= (condition.least ?? 1) && found <= (condition.most ?? places.length);
  });
}

function counts({ of, rows, edge, side, near }, [row, column, kind], places, columns) {
  const within = (value, range) => !range || (value >= range[0] && value <= range[1]);
  const half = (at) => Math.sign(2 * at - columns + 1);
  const flag = places.find(([, , other]) => other === "flag");
  return (
    of.includes(kind) &&
    within(row, rows) &&
    within(fromEdge(column, columns), edge) &&
    (!side || half(column) * half(flag[1]) === (side === "flag" ? 1 : -1)) &&
    (!near || places.some(([y, x, other]) => near.includes(other) && Math.abs(y - row) + Math.abs(x - column) === 1))
  );
}

const fromEdge = (column, columns) => Math.min(column, columns - 1 - column);

// ── Figures ─────────────────────────────────────────────────────────────────────────────────────

/** Whether a figure differs from the average for certain: "better", "worse", "unclear". */
const verdict = ([, , low, high], [, average]) => (low > average ? "better" : high < average ? "worse" : "unclear");

const points = (share) => Math.round(100 * share);

const figure = ([, share, low, high]) => t("explorer.figure", { points: percent(share), low: points(low), high: points(high) });

/** The interval on a line, with the average marked. */
const range = ([, share, low, high], [, average]) =>
  el(
    "span",
    { class: "range", "aria-hidden": "true", "--low": low, "--high": high, "--share": share, "--average": average },
    el("span", { class: "span" }),
    el("span", { class: "dot" }),
  );

/** Better or worse, as a sign and for the ear. */
const sign = (kind) =>
  el(
    "span",
    { class: `verdict ${kind}` },
    el("span", { "aria-hidden": "true" }, { better: "▲", worse: "▼", unclear: "·" }[kind]),
    el("span", { class: "unseen" }, t(`explorer.${kind}`)),
  );

// ── The explorer ────────────────────────────────────────────────────────────────────────────────

/** All figures of a game; where there are none, the way to those of the `others`. `use(setup)` puts a setup into the
 *  editor. */
export function explorer(variant, others, use) {
  const place = el("section", { class: "explorer", "aria-labelledby": "explorer-title" });
  const title = el("h2", { id: "explorer-title" }, t("explorer.title"));
  place.append(title);
  if (!variant.explored) {
    const known = others.filter(({ explored }) => explored);
    place.append(
      el("p", { class: "quiet" }, t("explorer.none", { variant: variant.title })),
      known.length
        ? el(
            "p",
            { class: "line" },
            t("explorer.others"),
            known.map(({ name, title }) => el("a", { href: ownScreen("setups", name) }, title)),
          )
        : "",
    );
    return place;
  }
  load(variant).then(
    (told) => place.replaceChildren(title, ...screens(told, variant, use)),
    () => place.append(el("p", { class: "error", role: "alert" }, t("offline.text"))),
  );
  return place;
}

function screens(told, variant, use) {
  const words = { games: numberWords(told.games), setups: numberWords(told.all[0]), all: percent(told.all[1]), variant: variant.title };
  return [
    el("p", {}, t(`explorer.lead.${told.sampler}`, words)),
    el("div", { class: "explorer-parts" }, map(told), patterns(told)),
    el("h3", {}, t("explorer.examples")),
    el("p", { class: "quiet" }, t("explorer.examples.text")),
    el("div", { class: "examples" }, told.examples.map((each) => example(each, told, variant, use))),
  ];
}

/** The setup rows, front row on top, with the points and the share of the setups on each square. */
function map({ rows, columns, kind, places, all, sampler }) {
  const cell = (row, column) => {
    const { played, share } = places.find((each) => each.row === row && each.edge === fromEdge(column, columns));
    const [often, where] = [percent(share), t("setup.where", { row: row + 1, column: column + 1 })];
    const figures = played && { points: percent(played[1]), low: points(played[2]), high: points(played[3]) };
    const label = `${where}: ${t(played ? "explorer.map.cell" : "explorer.map.rare", { ...figures, share: often })}`;
    return el(
      "td",
      { class: played ? verdict(played, all) : "rare", title: label },
      el("strong", { "aria-hidden": "true" }, played ? points(played[1]) : "–"),
      el("small", { "aria-hidden": "true" }, often.replace(/\s/g, "")),
      el("span", { class: "unseen" }, label),
    );
  };
  const line = (row) =>
    el(
      "tr",
      {},
      Array.from({ length: columns }, (_, column) => cell(row, column)),
    );
  return el(
    "div",
    {},
    el("h3", {}, t(`explorer.map.${kind}`)),
    el(
      "table",
      { class: "place-map", "--columns": columns, "aria-label": t(`explorer.map.${kind}`) },
      el("tbody", {}, Array.from({ length: rows }, (_, i) => line(rows - 1 - i))),
    ),
    el("p", { class: "quiet" }, t("explorer.map.text"), " ", t(`explorer.map.${sampler}`)),
    el("p", { class: "quiet" }, t("explorer.caution")),
  );
}

function patterns({ patterns: all, all: average }) {
  const sorted = all.toSorted((a, b) => b.played[1] - a.played[1]);
  const head = (key, more) => el("th", { scope: "col", title: more && t(more) }, t(key));
  const line = ({ key, played, network }) =>
    el(
      "tr",
      { class: verdict(played, average) },
      el("th", { scope: "row" }, sign(verdict(played, average)), " ", t(`pattern.${key}`)),
      el("td", { class: "points" }, figure(played), range(played, average)),
      el("td", { class: "tried" }, numberWords(played[0])),
      el("td", {}, percent(network)),
    );
  return el(
    "div",
    { class: "box" },
    el("h3", {}, t("explorer.patterns")),
    el(
      "table",
      { class: "patterns" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head("explorer.pattern"),
          head("explorer.points"),
          el("th", { scope: "col", class: "tried" }, t("explorer.tried")),
          head("explorer.network", "explorer.network.more"),
        ),
      ),
      el("tbody", {}, sorted.map(line)),
    ),
  );
}

/** A setup to look at, and to take. */
function example({ setup, network, played }, { rows, columns, kind, examples }, variant, use) {
  const board = new Board({ columns, rows, lakes: [] }, { label: t("explorer.examples"), coordinates: false });
  const standing = family().places(setup, variant).filter(([, , type]) => type !== "empty");
  board.setPieces(
    standing.map(([row, column, type]) => ({ id: square(column, row), at: square(column, row), side: "red", type })),
  );
  board.grid.setAttribute("inert", "");
  const one = examples.some((each) => each.played) || kind !== "flag";
  return el(
    "figure",
    { class: "diagram" },
    board.element,
    el(
      "figcaption",
      {},
      t(one ? "explorer.example.often" : "explorer.example.flag", { share: percent(network) }),
      played && ` ${t("explorer.example.played", { count: played[0], figure: figure(played) })}`,
    ),
    button(
      t("explorer.use"),
      () => {
        use(setup);
        say(t("explorer.used"));
      },
      { class: "small" },
    ),
  );
}

// ── Advice ──────────────────────────────────────────────────────────────────────────────────────

/** What the figures say about the setup that is in an editor; nothing is asked for before it is opened. */
export class Advice {
  constructor(variant) {
    this.variant = variant;
    this.setup = null;
    this.list = el("div", { role: "status" });
    this.element = el(
      "details",
      { class: "advice", hidden: !variant.explored, ontoggle: () => this.#tell() },
      el("summary", {}, t("advice.title")),
      this.list,
    );
  }

  /** Tell of this setup from now on; null: it is not complete. */
  of(setup) {
    this.setup = setup;
    this.#tell();
  }

  async #tell() {
    if (!this.element.open || !this.variant.explored) return;
    const { setup, variant } = this;
    let told;
    try {
      told = await load(variant);
    } catch {
      this.list.replaceChildren(el("p", { class: "error" }, t("offline.text")));
      return;
    }
    if (setup !== this.setup) return;
    const places = setup && family().places(setup, variant);
    this.list.replaceChildren(
      places ? el("ul", {}, said(told, places).map((each) => this.#line(told, ...each))) : el("p", {}, t("advice.waiting")),
    );
  }

  #line(told, words, played) {
    const kind = verdict(played, told.all);
    return el(
      "li",
      { class: kind },
      sign(kind),
      el("span", { class: "name" }, words),
      el("span", { class: "share" }, t("advice.count", { figure: figure(played), count: played[0], setups: numberWords(played[0]) })),
      range(played, told.all),
    );
  }
}

/** What holds for a setup: [words, figure], the place of its flag first, then the patterns that differ most. */
function said({ kind, columns, all, places: spots, patterns: known }, places) {
  const flag = kind === "flag" && places.find(([, , type]) => type === kind);
  const spot = flag && spots.find(({ row, edge }) => row === flag[0] && edge === fromEdge(flag[1], columns));
  const far = ({ played: [, share] }) => Math.abs(share - all[1]);
  const found = known.filter(({ when }) => holds(when, places, columns)).toSorted((a, b) => far(b) - far(a));
  return [
    ...(spot?.played ? [[t("advice.place"), spot.played]] : []),
    ...found.map(({ key, played }) => [t(`pattern.${key}`), played]),
  ];
}
