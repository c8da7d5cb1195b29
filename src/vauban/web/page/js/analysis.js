// Pictures of what a review says about one position: chances, moves considered, what a piece was taken for.

import { el } from "./dom.js";
import { family } from "./family.js";
import { SIDES } from "./sides.js";
import { decimals, t } from "./strings.js";
import { percent, typeName } from "./words.js";

const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${decimals(Math.abs(value), 2)}`;
const WIDE_ENOUGH = 0.12; // of the bar, for a figure to fit in

/** A bar for each side that has an expectation: win, draw, loss. */
export function chances(wdl) {
  const sides = SIDES.filter((side) => wdl?.[side]);
  if (!sides.length) return [];
  const part = (kind, share) =>
    el("span", { class: kind, "--share": share }, share > WIDE_ENOUGH ? percent(share) : "");
  const bars = sides.map((side) => {
    const [loss, draw, win] = wdl[side];
    const words = { side: t(`Side.${side}`), win: percent(win), draw: percent(draw), loss: percent(loss) };
    return el(
      "div",
      { class: "chances" },
      el("span", { class: `who ${side}` }, t(`Side.${side}`)),
      el(
        "span",
        { class: "bar", role: "img", "aria-label": t("wdl", words) },
        part("win", win),
        part("draw", draw),
        part("loss", loss),
      ),
    );
  });
  return [...bars, el("p", { class: "legend quiet" }, t("wdl.legend"))];
}

/** The moves of the policy and of the search, each once: {from, to, p, value, visits}. */
export function considered({ policy, search }) {
  const found = new Map();
  // Of both the network's own share: what a search makes of it is told by its value.
  const searched = (search ?? []).map(({ before, ...move }) => ({ ...move, p: before }));
  for (const move of [...searched, ...(policy ?? [])]) {
    const name = move.from + move.to;
    found.set(name, { ...found.get(name), ...move });
  }
  return [...found.values()].sort((a, b) => (b.p ?? 0) - (a.p ?? 0));
}

/** A table of considered moves; the one that was played is marked. */
export function moveTable(moves, played) {
  const searched = moves.some(({ value }) => value !== undefined);
  const head = ["move", "weight", ...(searched ? ["value", "visits"] : [])];
  const row = ({ from, to, p = 0, value, visits }) => {
    const chosen = played?.from === from && played.to === to;
    return el(
      "tr",
      { class: chosen ? "played" : "" },
      el("td", {}, `${from}–${to}${chosen ? ` ${t("policy.played")}` : ""}`),
      el("td", {}, el("span", { class: "meter", "--share": p }), percent(p)),
      searched && el("td", {}, value === undefined ? "" : signed(value)),
      searched && el("td", {}, visits ?? ""),
    );
  };
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        head.map((each) => el("th", { scope: "col" }, t(`policy.${each}`))),
      ),
    ),
    el("tbody", {}, moves.map(row)),
  );
}

/** What one piece was taken for, beside what it is. */
export function beliefBars(piece, belief) {
  if (!piece) return [el("p", { class: "quiet" }, t("belief.choose"))];
  const { named, TYPES } = family();
  const believed = belief?.[piece.at];
  const heading = el("p", {}, t(believed ? "belief.piece" : "belief.open", { at: piece.at, type: named(piece.type) }));
  if (!believed) return [heading];
  const shown = TYPES.filter((type) => believed[type] >= 0.005 || type === piece.type);
  const bar = (type) => {
    const share = believed[type] ?? 0;
    const truth = type === piece.type;
    return el(
      "li",
      { class: truth ? "true" : "" },
      family().token(piece.side, type, "mini"),
      el("span", { class: "name" }, typeName(type), truth && el("strong", {}, ` ${t("belief.truth")}`)),
      el("span", { class: "meter", "--share": share }),
      el("span", { class: "share" }, percent(share)),
    );
  };
  return [heading, el("ul", { class: "bars" }, shown.map(bar))];
}
