"""One page about one game: what `vauban.search.review` found, as HTML that needs nothing else.

Pictures, graph, styles and the little script for stepping through the game are inside; it prints well, and what the
script shows is beside it in words and pictures without one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from vauban import picture
from vauban.board import Board, Piece
from vauban.games.stratego.pieces import FLAG, PLAYERS, RANKS, TYPES
from vauban.notation.moves import Move
from vauban.search.review import Moment, Review, searched_values

CELL, LEFT, TOP = 40, 20, 4
"""Where `picture.svg` puts squares."""
WIDTH, HEIGHT, MARGIN = 1000, 220, 34
"""Of the graph."""
MOST_COLUMNS = 250
"""Of the drawing of what was known: a long game is drawn in strokes of several plies."""
ROW = 15
MOST_MOVES = 5

KINDS = {"loss": "lost ground", "belief": "found the Flag", "surprise": "was surprised", "flag": "captured the Flag"}

STYLE = """
:root { color-scheme: light dark;
  --page: #f4f1e8; --card: #fffdf7; --ink: #26231b; --soft: #6d6656; --line: #ddd5c0; --faint: #ece6d6;
  --red: #b3392f; --blue: #27598f; --draw: #a79f8c; --heat: #d98c00; --accent: #8a6d1b; }
@media (prefers-color-scheme: dark) { :root {
  --page: #171510; --card: #211e17; --ink: #ece6d6; --soft: #a89f8a; --line: #3d382b; --faint: #2e2a20;
  --red: #e0695e; --blue: #6fa3e0; --draw: #7b7464; --heat: #f0ad33; --accent: #e0c068; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 18px 56px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h1 .red, b.red { color: var(--red); } h1 .blue, b.blue { color: var(--blue); }
.under { color: var(--soft); margin: 0 0 18px; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px;
  margin: 16px 0; }
h2 { font-size: 18px; margin: 0 0 4px; }
section > p { color: var(--soft); margin: 0 0 12px; max-width: 78ch; }
svg { display: block; max-width: 100%; height: auto; }
.graph text, .known text { fill: var(--soft); font-size: 12px; }
.graph .zero { stroke: var(--line); stroke-dasharray: 3 4; } .graph .frame { fill: var(--faint); }
.graph path { fill: none; stroke-width: 2; stroke-linejoin: round; }
.graph .red { stroke: var(--red); } .graph .blue { stroke: var(--blue); stroke-dasharray: 6 3; }
.graph .now { stroke: var(--ink); stroke-width: 1.5; }
.graph .mark circle { fill: var(--accent); } .graph .mark text { fill: var(--card); font-weight: 700; font-size: 11px; }
.graph .mark { cursor: pointer; }
.graph { min-width: 620px; }
.game { margin-top: 14px; display: grid;
  grid-template-columns: minmax(280px, 1fr) minmax(280px, 1fr); gap: 20px; align-items: start; }
.game svg { border-radius: 8px; width: 100%; }
.board .heat { fill: #f0a000; } .board .last { fill: none; stroke: #8a6d1b; stroke-width: 3; }
.board .arrows line { stroke-linecap: round; stroke: #26231b; } .board .arrows polygon { fill: #26231b; }
.board .belief text { font-size: 11px; font-weight: 700; fill: #26231b; stroke: #fffdf7; stroke-width: 3;
  paint-order: stroke; pointer-events: none; }
.board g[data-piece] { cursor: pointer; } .board g.chosen path { stroke: #ffd23f; stroke-width: 3.5; }
.controls { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 10px 0; }
.controls input[type=range] { flex: 1 1 180px; min-width: 120px; accent-color: var(--accent); }
button, select { font: inherit; color: inherit; background: var(--faint); border: 1px solid var(--line);
  border-radius: 8px; padding: 5px 11px; min-height: 36px; cursor: pointer; }
button:focus-visible, select:focus-visible, input:focus-visible, a:focus-visible, g:focus-visible {
  outline: 3px solid var(--accent); }
.says { font-weight: 600; min-height: 1.5em; margin: 0 0 8px; }
.bar { display: flex; height: 20px; border-radius: 6px; overflow: hidden; background: var(--faint); margin: 2px 0 8px; }
.bar span { display: block; font-size: 12px; line-height: 20px; text-align: center; color: #fff; overflow: hidden; }
.bar .win.red, .bar .loss.blue { background: #b3392f; } .bar .win.blue, .bar .loss.red { background: #27598f; }
.bar .drawn { background: #837b69; }
.fallen { margin: 0; font-size: 14px; }
h3 { font-size: 14px; margin: 12px 0 2px; color: var(--soft); font-weight: 600; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 3px 8px 3px 0; border-bottom: 1px solid var(--faint); }
td.n, th.n { text-align: right; } th { color: var(--soft); font-weight: 500; }
.share { display: inline-block; height: 9px; background: var(--heat); border-radius: 2px; vertical-align: baseline; }
tr.true td { font-weight: 700; }
.moments { display: grid; grid-template-columns: repeat(auto-fill, minmax(235px, 1fr)); gap: 16px; list-style: none;
  margin: 12px 0 0; padding: 0; }
.moments li { border: 1px solid var(--line); border-radius: 10px; overflow: hidden; display: flex;
  flex-direction: column; break-inside: avoid; background: var(--card); }
.moments svg { width: 100%; } .moments div { padding: 12px 14px; }
.moments p { margin: 4px 0 0; } .moments .kind { color: var(--soft); font-size: 13px; margin: 0; }
.badge { display: inline-block; min-width: 22px; height: 22px; line-height: 22px; border-radius: 11px;
  text-align: center; background: var(--accent); color: var(--card); font-weight: 700; font-size: 12px;
  margin-right: 8px; }
.moments a { color: inherit; }
.moves { columns: 6 120px; font-size: 13px; font-variant-numeric: tabular-nums; margin: 8px 0 0; padding: 0;
  list-style: none; }
.moves a { color: inherit; text-decoration: none; } .moves a:hover { text-decoration: underline; }
.moves .now { background: var(--faint); border-radius: 4px; font-weight: 700; }
.moves span { color: var(--soft); display: inline-block; min-width: 2.6em; }
.scroll { overflow-x: auto; } .known { min-width: 640px; } .known .cell { fill: var(--heat); }
.known .shown { fill: var(--draw); } .known .row { fill: var(--faint); }
footer { color: var(--soft); font-size: 13px; }
@media (max-width: 700px) { .game { grid-template-columns: 1fr; } section { padding: 14px; } }
@media print { body, section { background: none; } .live, .now { display: none; } section { border: 0; padding: 0; }
  .moments { grid-template-columns: 1fr 1fr; } }
"""

SCRIPT = r"""
const data = JSON.parse(document.getElementById("data").textContent);
const board = document.querySelector(".board svg");
const cells = [...board.querySelectorAll(":scope > rect")].slice(1);
const groups = [...board.querySelectorAll(":scope > g")];
const layers = ["under", "pieces", "arrows", "belief"].map(name => add(board, "g", { class: name }));
layers[1].append(...groups);
const at = id => document.getElementById(id);
let ply = 0, chosen = data.chosen;
function latest(list, n) {
  let found = null;
  for (const each of list) { if (each[0] > n) break; found = each[1]; }
  return found;
}
const corner = square => [+cells[square].getAttribute("x"), +cells[square].getAttribute("y")];
const hidden = (piece, n) => piece.shown === null || n < piece.shown;
const shares = (piece, n) => { const text = hidden(piece, n) ? latest(piece.belief, n) : null;
  return text === null ? null : text.match(/../g).map(part => parseInt(part, 16)); };
const percent = share => share + "%";
function add(parent, tag, attributes, text) {
  const made = document.createElementNS(parent.namespaceURI, tag);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return parent.appendChild(made);
}
function rows(table, lines) {
  table.textContent = "";
  for (const line of lines) {
    const row = add(table, "tr", line.true ? { class: "true" } : {});
    line.cells.forEach(text => add(row, "td", {}, text));
    if (line.bar === undefined) continue;
    add(add(row, "td", {}), "span", { class: "share", style: `width:${line.bar * 1.2}px` });
  }
}
function bar(side, n) {
  const wdl = data.wdl[n][side], box = at("bar-" + side);
  if (!box) return;
  box.textContent = "";
  box.hidden = !wdl;
  if (!wdl) return;
  const [loss, draw, win] = wdl.map(share => Math.round(share * 100));
  for (const [name, share] of [["win", win], ["drawn", draw], ["loss", loss]]) {
    const look = { class: `${name} ${data.sides[side]}`, style: `flex:${share} 0 0` };
    if (share) add(box, "span", look, share > 8 ? percent(share) : "");
  }
  box.setAttribute("aria-label", `${data.sides[side]}: win ${win}%, draw ${draw}%, loss ${loss}%`);
}
function show(n) {
  ply = Math.max(0, Math.min(n, data.says.length - 1));
  at("ply").value = ply;
  at("says").textContent = data.says[ply];
  const viewer = +at("viewer").value, kind = +at("kind").value;
  layers[0].textContent = layers[2].textContent = layers[3].textContent = "";
  data.pieces.forEach((piece, number) => {
    const square = latest(piece.at, ply), group = groups[number];
    group.style.display = square < 0 ? "none" : "";
    group.classList.toggle("chosen", chosen === number);
    if (square < 0) return;
    const [x, y] = corner(square);
    group.setAttribute("transform", `translate(${x} ${y})`);
    const path = group.querySelector("path");
    path.setAttribute("stroke-dasharray", hidden(piece, ply) ? "3 2" : "none");
    const found = viewer < 0 || piece.side === viewer ? null : shares(piece, ply);
    if (found) {
      add(layers[0], "rect", { x, y, ...data.cell, class: "heat", "fill-opacity": found[kind] / 100 });
      add(layers[3], "text", { x: x + data.cell.width / 2, y: y + data.cell.height - 2 }, percent(found[kind]));
    }
  });
  for (const square of data.moves[ply]) {
    const [x, y] = corner(square);
    add(layers[0], "rect", { x, y, ...data.cell, class: "last" });
  }
  [0, 1].forEach(side => {
    bar(side, ply);
    const lost = data.pieces.filter(each => each.side === side && latest(each.at, ply) < 0);
    at("lost-" + side).textContent = lost.map(each => data.types[each.kind]).join(", ") || "nothing";
  });
  rows(at("policy"), data.policy[ply].map(([move, share]) => ({ cells: [move, percent(share)], bar: share })));
  if (at("arrows").checked) data.policy[ply].forEach(([, share, from, to]) => arrow(from, to, share / 100));
  for (const link of document.querySelectorAll(".moves a")) link.classList.toggle("now", +link.dataset.ply === ply);
  at("searched").textContent = data.search[ply] ? "What a search found them worth, from −1 to 1" : "";
  rows(at("search"), (data.search[ply] || []).map(cells => ({ cells })));
  choice();
  const x = data.left + data.width * ply / Math.max(1, data.says.length - 1);
  for (const line of document.querySelectorAll("line.now")) { line.setAttribute("x1", x); line.setAttribute("x2", x); }
}
function arrow(from, to, share) {
  const middle = square => corner(square).map(n => n + data.cell.width / 2);
  const [x0, y0] = middle(from), [x1, y1] = middle(to);
  const far = Math.hypot(x1 - x0, y1 - y0), dx = (x1 - x0) / far, dy = (y1 - y0) / far, w = 2 + 6 * share;
  const group = add(layers[2], "g", { opacity: 0.35 + 0.5 * share }), bx = x1 - 12 * dx, by = y1 - 12 * dy;
  add(group, "line", { x1: x0 + 12 * dx, y1: y0 + 12 * dy, x2: bx, y2: by, "stroke-width": w });
  const s = w / 2 + 4, tip = [x1 - 3 * dx, y1 - 3 * dy];
  add(group, "polygon", { points: [tip, [bx - s * dy, by + s * dx], [bx + s * dy, by - s * dx]].join(" ") });
}
function choice() {
  const piece = chosen === null ? null : data.pieces[chosen], found = piece && shares(piece, ply);
  const name = piece && `${data.sides[piece.side]}'s ${data.types[piece.kind]}`;
  at("piece").textContent = !piece ? "Choose a piece on the board to see what it was taken for"
    : latest(piece.at, ply) < 0 ? `The chosen piece, ${name}, has fallen`
    : !found ? `The chosen piece, ${name}, has been seen`
    : `What ${data.sides[1 - piece.side]} took the chosen piece, ${name}, for`;
  const kinds = (found || []).map((share, kind) => ({ share, kind, true: kind === piece.kind }));
  rows(at("shares"), kinds.filter(each => each.share || each.true).sort((a, b) => b.share - a.share).map(each => ({
    cells: [data.types[each.kind] + (each.true ? " (true)" : ""), percent(each.share)],
    bar: each.share, true: each.true })));
}
const steps = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => data.says.length - 1 };
for (const key in steps) at(key).onclick = () => show(steps[key]());
at("ply").oninput = () => show(+at("ply").value);
at("viewer").onchange = at("kind").onchange = at("arrows").onchange = () => show(ply);
groups.forEach((group, number) => {
  const choose = () => { chosen = chosen === number ? null : number; show(ply); };
  group.dataset.piece = number;
  group.setAttribute("tabindex", 0);
  group.setAttribute("role", "button");
  group.onclick = choose;
  group.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } };
});
document.querySelectorAll("[data-ply]").forEach(each => each.addEventListener("click", event => {
  event.preventDefault();
  if (each.tagName === "A") board.scrollIntoView({ block: "center" });
  show(+each.dataset.ply); }));
addEventListener("keydown", event => {
  const key = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[event.key];
  if (key && !["INPUT", "SELECT"].includes(event.target.tagName)) { event.preventDefault(); show(steps[key]()); }
});
board.setAttribute("role", "group"); // its pieces can be chosen
show(data.begin);
"""


def report_html(found: Review, headers: Mapping[str, str] | None = None, result: str | None = None) -> str:
    """The page about a game that has been looked back on.

    headers: of its record; Red, Blue, Event and Date are shown. result: how it ended, in words, where the board cannot
    tell.
    """
    told = dict(headers or {})
    boards = _boards(found)
    names = [f"{told[key]} ({key.lower()})" if key in told else key for key in map(str.capitalize, PLAYERS)]
    title = f"{names[0]} – {names[1]}"
    under = [
        found.board.variant.name, result or _result_words(found.board), f"{len(found.board.history)} plies",
        *(told[key] for key in ("Event", "Date") if key in told),
        "read without a network" if found.model is None else f"read by the network “{found.model}”",
    ]  # fmt: skip
    parts = [
        f'<h1><span class="red">{escape(names[0])}</span> – <span class="blue">{escape(names[1])}</span></h1>',
        f'<p class="under">{escape(" · ".join(under))}</p>',
        _game_section(found, boards[0]),
        _moments_section(found, boards),
        _known_section(found),
        _moves_section(found),
        "<footer>Made by Vauban. Nobody saw any of this during the game: each side is judged by what it could know."
        "</footer>",
    ]
    data = json.dumps(_data(found), separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>{''.join(parts)}</main>"
        f'<script type="application/json" id="data">{data}</script><script>{SCRIPT}</script></body></html>\n'
    )


def _boards(found: Review) -> list[Board]:
    """The game after each number of moves."""
    back = found.board.copy()
    boards = [back.copy()]
    while back.history:
        back.pop()
        boards.append(back.copy())
    return boards[::-1]


def _result_words(board: Board) -> str:
    ended = board.outcome()
    if ended is None:
        return "not finished"
    return "a draw" if ended.winner is None else f"{PLAYERS[ended.winner]} won"


# ── The game, step by step ───────────────────────────────────────────────────────────────────────


def _game_section(found: Review, start: Board) -> str:
    graph = ""
    if found.outcomes:
        graph = (
            "<p>How each side saw its prospects when it was on turn, from what it could know then: the full line is "
            "red's own view, the broken one blue's, both drawn so that up is good for red. The outlook in words is the "
            "score a side expects, 100% for a win, 50% for a draw.</p>"
            f'<div class="scroll">{_graph(found)}</div>'
        )
    bars = "".join(
        f'<h3>{side.capitalize()} expects: win, draw, loss</h3><div class="bar" id="bar-{player}" role="img"></div>'
        for player, side in enumerate(PLAYERS)
    )
    moves = (
        '<h3>What the network would have played</h3><table id="policy"></table>'
        '<h3 id="searched"></h3><table id="search"></table>'
    )
    fallen = "".join(
        f'<p class="fallen"><b class="{side}">{side}</b> <span id="lost-{player}"></span></p>'
        for player, side in enumerate(PLAYERS)
    )
    viewers = "".join(
        f'<option value="{value}"{" selected" if value == _viewer(found) else ""}>{text}</option>'
        for value, text in ((-1, "none"), (0, "red's"), (1, "blue's"))
    )
    kinds = "".join(
        f'<option value="{kind}"{" selected" if TYPES[kind] == "Flag" else ""}>{TYPES[kind]}</option>'
        for kind in range(len(TYPES))
        if found.board.variant.army[kind]
    )
    buttons = "".join(
        f'<button id="{key}" aria-label="{label}">{sign}</button>'
        for key, label, sign in (
            ("first", "first position", "|◀"), ("back", "one ply back", "◀"),
            ("next", "one ply on", "▶"), ("last", "last position", "▶|"),
        )
    )  # fmt: skip
    return (
        f"<section><h2>The game</h2>{graph}"
        f'<div class="game live"><div class="board">{picture.svg(start, 560)}'
        f'<div class="controls">{buttons}<input type="range" id="ply" aria-label="ply" value="0" min="0" '
        f'max="{len(found.board.history)}"></div>'
        f'<div class="controls"><label>Belief on the board: <select id="viewer">{viewers}</select></label>'
        f'<label>about the <select id="kind">{kinds}</select></label>'
        f'<label{"" if found.outcomes else " hidden"}><input type="checkbox" id="arrows" checked> likely moves'
        "</label></div></div>"
        '<div><p class="says" id="says" aria-live="polite"></p>'
        f'<div{"" if found.outcomes else " hidden"}>{bars}{moves}</div>'
        f'<h3 id="piece"></h3><table id="shares"></table><h3>Fallen</h3>{fallen}</div></div>'
        "<noscript><p>Stepping through the game needs the script of this page; the rest does not.</p></noscript>"
        "</section>"
    )  # fmt: skip


def _graph(found: Review) -> str:
    plies = max(len(found.board.history), 1)
    inner = WIDTH - 2 * MARGIN

    def place(ply: int, value: float) -> tuple[float, float]:
        return MARGIN + inner * ply / plies, 14 + (HEIGHT - 40) * (1 - value) / 2

    lines, drawn = [], []
    for side, name in enumerate(PLAYERS):
        own = [n for n in range(plies + 1) if (n in found.outcomes and found.turns[n] == side) or n == plies]
        points = [(n, value if side == 0 else -value) for n in own if (value := found.value(side, n)) is not None]
        steps = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        drawn.append(points)
        lines.append(f'<path class="{name}" d="M{steps}"/>' if points else "")
    marks = []
    for number, moment in enumerate(found.moments, 1):
        # On the line of whom it concerns.
        line = drawn[moment.side] or [(0, 0.0)]
        x, y = place(moment.ply, float(np.interp(moment.ply, [n for n, _ in line], [value for _, value in line])))
        marks.append(
            f'<g class="mark" data-ply="{moment.ply}"><title>{escape(moment.text)}</title>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9"/><text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{number}'
            "</text></g>"
        )
    ticks = "".join(
        f'<text x="{place(n, 0)[0]:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{n}</text>' for n in _ticks(plies)
    )
    middle = place(0, 0)[1]
    return (
        f'<svg class="graph" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Outlook of both sides, ply by ply">'
        f'<rect class="frame" x="{MARGIN}" y="14" width="{inner}" height="{HEIGHT - 40}" rx="6"/>'
        f'<line class="zero" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{middle}" y2="{middle}"/>'
        f'<text x="{MARGIN + 6}" y="29">red wins</text><text x="{MARGIN + 6}" y="{HEIGHT - 33}">blue wins</text>'
        f'{ticks}{"".join(lines)}<line class="now" x1="{MARGIN}" x2="{MARGIN}" y1="14" y2="{HEIGHT - 26}"/>'
        f"{''.join(marks)}</svg>"
    )  # fmt: skip


def _ticks(plies: int) -> range:
    step = next(step for step in (5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if plies / step <= 12)
    return range(0, plies + 1, step)


def _data(found: Review) -> dict[str, Any]:
    """What the script draws from: where every piece stood and what it was taken for, as changes by ply."""
    plies = range(len(found.turns))
    pieces = {piece.identity: _track(found, piece) for piece in found.pieces[0].values()}
    outcomes = [[found.outcome(side, n) if found.outcomes else None for side in (0, 1)] for n in plies]
    return {
        "sides": PLAYERS,
        "types": TYPES,
        "left": MARGIN,
        "width": WIDTH - 2 * MARGIN,
        "begin": found.moments[0].ply if found.moments else 0,
        "pieces": list(pieces.values()),
        "says": ["The start.", *(_says(found, n) for n in plies[1:])],
        "wdl": [[None if each is None else [round(share, 3) for share in each] for each in pair] for pair in outcomes],
        "policy": [_policy(found, n) for n in plies],
        "search": {n: _searched(found, n) for n in found.searches},
        "moves": [[], *(list(played.move) for played in found.board.history)],
        "cell": {"width": CELL, "height": CELL},
        "chosen": next(
            (
                number
                for number, piece in enumerate(found.pieces[0].values())
                if piece.kind == FLAG and piece.player != _viewer(found)
            ),
            None,
        ),
    }


def _viewer(found: Review) -> int:
    """Whose belief is shown at first: the winner's."""
    ended = found.board.outcome()
    return 0 if ended is None or ended.winner is None else ended.winner


def _policy(found: Review, n: int) -> list[tuple[str, int, int, int]]:
    """The likely moves of a position, the one that was played marked, with their shares in percent and squares."""
    rows = [(move, round(100 * share)) for move, share in found.policies.get(n, {}).items()]
    return [(_move_words(found, n, move), share, *move) for move, share in rows[:MOST_MOVES] if share]


def _searched(found: Review, n: int) -> list[tuple[str, str]]:
    rows = list(searched_values(found, n).items())[:MOST_MOVES]
    return [(_move_words(found, n, move), f"{value:+.2f}".replace("-", "−")) for move, value in rows]


def _move_words(found: Review, n: int, move: Move) -> str:
    source, target = (found.board.variant.square_name(square) for square in move)
    history = found.board.history
    return f"{source}–{target}{' (played)' if n < len(history) and history[n].move == move else ''}"


def _track(found: Review, piece: Piece) -> dict[str, Any]:
    """A piece through the game."""
    places: list[tuple[int, int]] = []
    shares: list[tuple[int, str]] = []
    shown: int | None = None
    for n, pieces in enumerate(found.pieces):
        square = next((where for where, each in pieces.items() if each.identity == piece.identity), -1)
        if not places or places[-1][1] != square:
            places.append((n, square))
        if square < 0:
            break
        believed = found.beliefs[n][1 - piece.player].get(square)
        if pieces[square].revealed or believed is None:
            shown = n if shown is None else shown
            continue
        text = "".join(f"{round(100 * share):02x}" for share in believed)
        if not shares or shares[-1][1] != text:
            shares.append((n, text))
    return {"side": piece.player, "kind": piece.kind, "at": places, "shown": shown, "belief": shares}


def _says(found: Review, ply: int) -> str:
    played = found.board.history[ply - 1]
    source, target = (found.board.variant.square_name(square) for square in played.move)
    who = f"{ply}. {PLAYERS[played.player]}"
    battle = played.battle
    if battle is None:
        return f"{who} {source}–{target}"
    fate = {">": "wins", "<": "falls", "=": "both fall"}[battle.result]
    return f"{who} {source}–{target}: {TYPES[battle.attacker]} attacks {TYPES[battle.defender]}, {fate}"


# ── Moments ──────────────────────────────────────────────────────────────────────────────────────


def _moments_section(found: Review, boards: list[Board]) -> str:
    if not found.moments:
        return ""
    items = "".join(_moment(found, boards, number, each) for number, each in enumerate(found.moments, 1))
    return (
        "<section><h2>The moments that decided it</h2><p>Each picture shows the board just before the move, with all "
        f'pieces open, and the move as an arrow.</p><ol class="moments">{items}</ol></section>'
    )


def _moment(found: Review, boards: list[Board], number: int, moment: Moment) -> str:
    played = found.board.history[moment.ply - 1]
    drawn = picture.svg(boards[moment.ply - 1], 330)
    arrow = _arrow(boards[0], played.move.source, played.move.target)
    return (
        f"<li>{drawn.removesuffix('</svg>')}{arrow}</svg><div>"
        f'<p class="kind"><span class="badge">{number}</span>'
        f'<a href="#ply" data-ply="{moment.ply}">Ply {moment.ply}</a> · '
        f'<b class="{PLAYERS[moment.side]}">{PLAYERS[moment.side]}</b> {KINDS[moment.kind]}</p>'
        f"<p>{escape(moment.text)}</p></div></li>"
    )


def _arrow(board: Board, source: int, target: int) -> str:
    (x0, y0), (x1, y1) = _centre(board, source), _centre(board, target)
    length = max(abs(x1 - x0), abs(y1 - y0))
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    # What is printed on the piece that moves stays free.
    x0, y0 = x0 + 13 * dx, y0 + 13 * dy
    x2, y2 = x1 - 12 * dx, y1 - 12 * dy
    head = f"{x1:.1f},{y1:.1f} {x2 - 7 * dy:.1f},{y2 + 7 * dx:.1f} {x2 + 7 * dy:.1f},{y2 - 7 * dx:.1f}"
    shaft = f"M{x0:.1f},{y0:.1f}L{x2:.1f},{y2:.1f}"
    return (
        f'<g stroke="#26231b" stroke-linecap="round" stroke-linejoin="round"><path d="{shaft}" stroke-width="8"/>'
        f'<polygon points="{head}" fill="#ffd23f" stroke-width="3"/>'
        f'<path d="{shaft}" stroke="#ffd23f" stroke-width="5"/></g>'
    )


def _centre(board: Board, square: int) -> tuple[float, float]:
    row, column = divmod(square, board.variant.columns)
    return LEFT + column * CELL + CELL // 2, TOP + (board.variant.rows - 1 - row) * CELL + CELL // 2


# ── What was known ───────────────────────────────────────────────────────────────────────────────


def _known_section(found: Review) -> str:
    how = "by counting alone" if found.counted else "by the belief network"
    drawings = "".join(
        f"<h3>{PLAYERS[side].capitalize()}'s pieces, in the eyes of {PLAYERS[1 - side]}</h3>"
        f'<div class="scroll">{_known(found, side)}</div>'
        for side in (0, 1)
    )
    return (
        "<section><h2>What was known of each piece</h2><p>A row for each piece, time from left to right: the stronger "
        f"the colour, the more the other side believed in what it truly was ({how}). Grey: it had been seen. A row "
        f"ends where the piece fell.</p>{drawings}</section>"
    )


def _known(found: Review, side: int) -> str:
    pieces = [piece for piece in found.pieces[0].values() if piece.player == side]
    pieces.sort(key=lambda piece: (-(piece.kind or 0), piece.identity))
    plies = len(found.turns)
    stride = -(-plies // MOST_COLUMNS)
    first, width = 130, WIDTH - 150
    unit = width / -(-plies // stride)
    parts = []
    for row, piece in enumerate(pieces):
        top = row * ROW
        assert piece.kind is not None
        parts.append(
            f'<text x="0" y="{top + 12}">{TYPES[piece.kind]} ({RANKS[piece.kind]})</text>'
            f'<text x="{first - 8}" y="{top + 12}" text-anchor="end">'
            f"{found.board.variant.square_name(piece.identity)}</text>"
            f'<rect class="row" x="{first}" y="{top + 2}" width="{width}" height="{ROW - 3}"/>'
        )
        for kind, share, begin, end in _strokes(found, piece, stride):
            opacity = "" if kind == "shown" else f' fill-opacity="{share:g}"'
            parts.append(
                f'<rect class="{kind}" x="{first + begin * unit:.1f}" y="{top + 2}" '
                f'width="{(end - begin) * unit:.1f}" height="{ROW - 3}"{opacity}/>'
            )
    ticks = "".join(
        f'<text x="{first + width * n / plies:.1f}" y="{len(pieces) * ROW + 14}" text-anchor="middle">{n}</text>'
        for n in _ticks(plies)
    )
    height = len(pieces) * ROW + 20
    return (
        f'<svg class="known" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="How well '
        f"{PLAYERS[1 - side]} knew {PLAYERS[side]}'s pieces over the game\">{''.join(parts)}{ticks}</svg>"
    )


def _strokes(found: Review, piece: Piece, stride: int) -> list[tuple[str, float, int, int]]:
    """A piece's row: the class, the share that was believed of its true type, from column to column."""
    strokes: list[tuple[str, float, int, int]] = []
    for column, n in enumerate(range(0, len(found.turns), stride)):
        square = next((where for where, each in found.pieces[n].items() if each.identity == piece.identity), None)
        if square is None:
            break
        believed = found.beliefs[n][1 - piece.player].get(square)
        look = ("shown", 1.0) if believed is None else ("cell", round(float(believed[piece.kind or 0]), 2))
        if strokes and strokes[-1][:2] == look:
            strokes[-1] = (*look, strokes[-1][2], column + 1)
        else:
            strokes.append((*look, column, column + 1))
    return strokes


def _moves_section(found: Review) -> str:
    items = "".join(
        f'<li><span>{each["ply"]}.</span> <a href="#ply" data-ply="{each["ply"]}">{escape(each["text"])}</a></li>'
        for each in found.summary_json()["moves"]
    )
    return f'<section><h2>All moves</h2><ol class="moves">{items}</ol></section>'
