"""One page about one game: what `vauban.search.stratego.review` found, as HTML that needs nothing else.

Pictures, graph, styles and the little script for stepping through the game are inside; it prints well, and what the
script shows is beside it in words and pictures without one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from vauban import charts
from vauban.board.stratego import Board, Piece, picture
from vauban.games.stratego.pieces import FLAG, PLAYERS, RANKS, TYPES
from vauban.notation.stratego.moves import Move
from vauban.search.moments import Moment, searched_moves
from vauban.search.reviewing import all_positions
from vauban.search.stratego.review import Review

CELL, LEFT, TOP = 40, 20, 4
"""Places of squares in `picture.svg`."""
WIDTH, HEIGHT, MARGIN = 1000, 220, 34
"""Of the graph."""
MOST_COLUMNS = 250
"""Of the drawing of what was known: a long game is drawn in strokes of several plies."""
ROW = 15
MOST_MOVES = 5

KINDS = {"loss": "lost ground", "belief": "believed", "surprise": "was surprised", "flag": "captured the Flag"}


def report_html(found: Review, headers: Mapping[str, str] | None = None, result: str | None = None) -> str:
    """Return the page about a game that has been looked back on.

    headers: of its record; Red, Blue, Event and Date are shown. result: how it ended, in words, where the board cannot
    tell.
    """
    told = dict(headers or {})
    boards = all_positions(found.board)
    names = [f"{told[key]} ({key.lower()})" if key in told else key for key in map(str.capitalize, PLAYERS)]
    title = f"{names[0]} – {names[1]}"
    under = [
        found.board.variant.name, result or _result_words(found), f"{len(found.board.history)} moves",
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
    style, script = (_beside(name) for name in ("report.css", "report.js"))
    data = json.dumps(_data(found), separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>{''.join(parts)}</main>"
        f'<script type="application/json" id="data">{data}</script><script>{script}</script></body></html>\n'
    )


def _beside(name: str) -> str:
    """Return a file that lies beside this one."""
    return resources.files("vauban.web.stratego").joinpath(name).read_text(encoding="utf-8")


def _result_words(found: Review) -> str:
    ended = found.ended
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
    moves = '<h3 id="considered"></h3><table id="moves"></table>'
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
    x, y = _ply_scale(plies, MARGIN, WIDTH - MARGIN), charts.Scale(-1, 1, HEIGHT - 26, 14, 1)
    lines, drawn = [], []
    for side, name in enumerate(PLAYERS):
        own = [n for n in range(plies + 1) if (n in found.outcomes and found.turns[n] == side) or n == plies]
        points = [(n, value if side == 0 else -value) for n in own if (value := found.value(side, n)) is not None]
        drawn.append(points)
        lines.append(f'<polyline class="{name}" points="{charts.places(points, x, y)}"/>' if points else "")
    marks = []
    for number, moment in enumerate(found.moments, 1):
        # On the line of whom it concerns.
        line = drawn[moment.side] or [(0, 0.0)]
        value = float(np.interp(moment.ply, [n for n, _ in line], [value for _, value in line]))
        at = x.at(moment.ply), y.at(value)
        marks.append(charts.group(
            [charts.dot(*at, 9), charts.text(at[0], at[1] + 4, str(number), anchor="middle")],
            moment.text, "mark", f'data-ply="{moment.ply}"',
        ))  # fmt: skip
    parts = [
        charts.rect(MARGIN, 14, WIDTH - 2 * MARGIN, HEIGHT - 40, "frame", 'rx="6"'),
        charts.line(MARGIN, y.at(0), WIDTH - MARGIN, y.at(0), "zero"),
        charts.text(MARGIN + 6, 29, "red wins"), charts.text(MARGIN + 6, HEIGHT - 33, "blue wins"),
        *_ply_numbers(x, HEIGHT - 6), *lines, charts.line(MARGIN, 14, MARGIN, HEIGHT - 26, "now"), *marks,
    ]  # fmt: skip
    about = "A line for each side: the result that it foresaw at its own positions, red's win at the top."
    return charts.svg(WIDTH, HEIGHT, "Outlook of both sides, ply by ply", about, parts, "-outlook", 'class="graph"')


def _ply_scale(plies: int, start: float, end: float) -> charts.Scale:
    return charts.Scale.fitting(0, plies, start, end, min(12, plies))


def _ply_numbers(x: charts.Scale, y: float) -> list[str]:
    return [charts.text(x.at(ply), y, f"{ply:.0f}", anchor="middle") for ply in x.ticks]


def _data(found: Review) -> dict[str, Any]:
    """Collect what the script draws from: where every piece stood and what it was taken for, as changes by ply."""
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
        "considered": [_considered(found, n) for n in plies],
        "searched": sorted(found.searches),
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
    """Choose the player whose belief is shown at first: the winner."""
    ended = found.ended
    return 0 if ended is None or ended.winner is None else ended.winner


def _considered(found: Review, n: int) -> list[tuple[str, int, int, int, str, str]]:
    """The likely moves of a position and those that a search tried first, each once, the one that was played marked.

    Of each: its words, the network's share in percent, its squares, what a search found it worth and by how many
    rollouts.
    """
    shares = {move: round(100 * share) for move, share in found.policies.get(n, {}).items()}
    searched = searched_moves(found, n)
    likely = [move for move in list(shares)[:MOST_MOVES] if shares[move]]
    tried = set(list(searched)[:MOST_MOVES])
    rows = []
    for move in shares:  # the likeliest first
        if move not in likely and move not in tried:
            continue
        worth = searched.get(move)
        value = "" if worth is None else f"{worth.value:+.2f}".replace("-", "−")
        visits = "" if worth is None else f"{worth.visits} rollouts"
        rows.append((_move_words(found, n, move), shares[move], *move, value, visits))
    return rows


def _move_words(found: Review, n: int, move: Move) -> str:
    source, target = (found.board.variant.square_name(square) for square in move)
    history = found.board.history
    return f"{source}–{target}{' (played)' if n < len(history) and history[n].move == move else ''}"


def _track(found: Review, piece: Piece) -> dict[str, Any]:
    """Return a piece through the game."""
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
    left = f"<p>{escape(found.unsearched_text)}</p>" if found.unsearched else ""
    return (
        "<section><h2>The moments that decided it</h2><p>Each picture shows the board just before the move, with all "
        f'pieces open, and the move as an arrow.</p><ol class="moments">{items}</ol>{left}</section>'
    )


def _moment(found: Review, boards: list[Board], number: int, moment: Moment) -> str:
    drawn, arrow, when = picture.svg(boards[max(0, moment.ply - 1)], 330), "", "The start"
    if moment.ply:
        move = found.board.history[moment.ply - 1].move
        arrow, when = _arrow(boards[0], move.source, move.target), f"Move {moment.ply}"
    return (
        f"<li>{drawn.removesuffix('</svg>')}{arrow}</svg><div>"
        f'<p class="kind"><span class="badge">{number}</span>'
        f'<a href="#ply" data-ply="{moment.ply}">{when}</a> · '
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
        square = found.board.variant.square_name(piece.identity)
        parts += [
            charts.text(0, top + 12, f"{TYPES[piece.kind]} ({RANKS[piece.kind]})"),
            charts.text(first - 8, top + 12, square, anchor="end"),
            charts.rect(first, top + 2, width, ROW - 3, "row"),
        ]
        for kind, share, begin, end in _strokes(found, piece, stride):
            opacity = "" if kind == "shown" else f'fill-opacity="{share:g}"'
            parts.append(charts.rect(first + begin * unit, top + 2, (end - begin) * unit, ROW - 3, kind, opacity))
    parts += _ply_numbers(_ply_scale(plies, first, first + width), len(pieces) * ROW + 14)
    title = f"How well {PLAYERS[1 - side]} knew {PLAYERS[side]}'s pieces over the game"
    about = "A row for each piece: the darker, the more of the belief was on its true type."
    return charts.svg(WIDTH, len(pieces) * ROW + 20, title, about, parts, f"-{PLAYERS[side]}", 'class="known"')


def _strokes(found: Review, piece: Piece, stride: int) -> list[tuple[str, float, int, int]]:
    """Return a piece's row: the class, the share that was believed of its true type, from column to column."""
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
