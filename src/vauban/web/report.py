"""One page about one game: what a review found (`vauban.search.review`), as HTML that needs nothing else.

Pictures, graph, styles and the little script for stepping through the game are inside; it prints well, and what the
script shows is beside it in words and pictures without one. What only a family has is in `vauban.web.<family>.report`,
a class below `Report`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, ClassVar

import numpy as np

from vauban import charts
from vauban.search.moments import SIDES, Moment, searched_moves
from vauban.search.review import Review
from vauban.search.reviewing import all_positions

WIDTH, HEIGHT, MARGIN = 1000, 220, 34
"""Of the graph."""
MOST_COLUMNS = 250
"""Of the drawing of what was known: a long game is drawn in strokes of several plies."""
ROW = 15
MOST_MOVES = 5

Spot = tuple[float, float]


class Report(ABC):
    """The page about a game of one family."""

    moment_words: ClassVar[Mapping[str, str]]
    """By kind of a moment, what its side did."""
    kinds: ClassVar[Sequence[str]]
    """Names of the hidden kinds."""
    first_kind: ClassVar[str]
    """The kind whose beliefs are shown at first."""
    cell: ClassVar[int]
    """The size of a square in the picture."""
    offset: ClassVar[Spot] = (0.0, 0.0)
    """A piece's distance from the edge of its square."""
    style: ClassVar[str] = ""
    """Styles of the picture on this page."""
    dashed: ClassVar[bool] = True
    """Whether pieces that are hidden have a broken outline."""
    pieces_word: ClassVar[str]
    piece_word: ClassVar[str]
    gone_words: ClassVar[tuple[str, str, str]] = ("Fallen", "has fallen", "has been seen")
    """Words for pieces that have left the board, for one that has, and for one whose kind has become known."""

    def __init__(self, found: Any) -> None:
        self.found = found
        self.boards: list[Any] = all_positions(found.board)

    # ── What a family adds ───────────────────────────────────────────────────────────────────────

    @abstractmethod
    def picture(self, board: Any, size: int) -> str:
        """Return a position as SVG: a group for each piece, in the order of the squares, and what else there is."""

    @abstractmethod
    def corner(self, square: int) -> Spot:
        """Return the upper left corner of a square in the picture."""

    def places(self) -> dict[str, Spot]:
        """Return the corners of all places that moves lead to, by name; the squares come first, in their order."""
        game = self.found.board.game
        rows, columns = game.board
        return {game.square_name(square): self.corner(square) for square in range(rows * columns)}

    @abstractmethod
    def says(self, ply: int) -> str:
        """Say what a move did."""

    @abstractmethod
    def kinds_here(self) -> Sequence[int]:
        """Return the hidden kinds that there are in this game."""

    @abstractmethod
    def piece_name(self, piece: Any) -> str:
        """Return what a piece is called, without its owner."""

    @abstractmethod
    def row_name(self, piece: Any) -> str:
        """Return what stands before a piece's row in the drawing of what was known."""

    def order(self, piece: Any) -> Any:
        """Return what rows are sorted by in the drawing of what was known."""
        return -(piece.kind or 0), piece.identity

    # ── The page ─────────────────────────────────────────────────────────────────────────────────

    def html(self, headers: Mapping[str, str] | None = None, result: str | None = None) -> str:
        """Return the page.

        headers: of its record; the players, Event and Date are shown. result: how it ended, in words, where the board
        cannot tell.
        """
        found = self.found
        told = dict(headers or {})
        names = [self._player_name(player, told) for player in (0, 1)]
        title = f"{names[0]} – {names[1]}"
        under = [
            found.board.game.name, result or _result_words(found), f"{len(found.board.history)} moves",
            *(told[key] for key in ("Event", "Date") if key in told),
            "read without a network" if found.model is None else f"read by the network “{found.model}”",
        ]  # fmt: skip
        parts = [
            f'<h1><span class="red">{escape(names[0])}</span> – <span class="blue">{escape(names[1])}</span></h1>',
            f'<p class="under">{escape(" · ".join(under))}</p>',
            self._game_section(),
            self._moments_section(),
            self._known_section(),
            self._moves_section(),
            "<footer>Made by Vauban. Nobody saw any of this during the game: each side is judged by what it could "
            "know.</footer>",
        ]
        style, script = (_beside(name) for name in ("report.css", "report.js"))
        data = json.dumps(self._data(), separators=(",", ":")).replace("<", "\\u003c")
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(title)}</title><style>{style}{self.style}</style></head><body><main>{''.join(parts)}</main>"
            f'<script type="application/json" id="data">{data}</script><script>{script}</script></body></html>\n'
        )

    def _player_name(self, player: int, headers: Mapping[str, str]) -> str:
        """Return who played a side."""
        side, header = SIDES[player], self.found.board.game.players[player].title()
        return f"{headers[header]} ({side})" if header in headers else side.title()

    # ── The game, step by step ───────────────────────────────────────────────────────────────────

    def _game_section(self) -> str:
        found = self.found
        graph = ""
        if found.outcomes:
            graph = (
                "<p>How each side saw its prospects when it was on turn, from what it could know then: the full line "
                "is red's own view, the broken one blue's, both drawn so that up is good for red. The outlook in words "
                "is the score a side expects, 100% for a win, 50% for a draw.</p>"
                f'<div class="scroll">{_graph(found)}</div>'
            )
        bars = "".join(
            f'<h3>{side.capitalize()} expects: win, draw, loss</h3><div class="bar" id="bar-{player}" role="img"></div>'
            for player, side in enumerate(SIDES)
        )
        moves = '<h3 id="considered"></h3><table id="moves"></table>'
        fallen = "".join(
            f'<p class="fallen"><b class="{side}">{side}</b> <span id="lost-{player}"></span></p>'
            for player, side in enumerate(SIDES)
        )
        viewers = "".join(
            f'<option value="{value}"{" selected" if value == _viewer(found) else ""}>{text}</option>'
            for value, text in ((-1, "none"), (0, "red's"), (1, "blue's"))
        )
        kinds = "".join(
            f'<option value="{kind}"{" selected" if self.kinds[kind] == self.first_kind else ""}>'
            f"{self.kinds[kind]}</option>"
            for kind in self.kinds_here()
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
            f'<div class="game live"><div class="board">{self.picture(self.boards[0], 560)}'
            f'<div class="controls">{buttons}<input type="range" id="ply" aria-label="ply" value="0" min="0" '
            f'max="{len(found.board.history)}"></div>'
            f'<div class="controls"><label>Belief on the board: <select id="viewer">{viewers}</select></label>'
            f'<label>about the <select id="kind">{kinds}</select></label>'
            f'<label{"" if found.outcomes else " hidden"}><input type="checkbox" id="arrows" checked> likely moves'
            "</label></div></div>"
            '<div><p class="says" id="says" aria-live="polite"></p>'
            f'<div{"" if found.outcomes else " hidden"}>{bars}{moves}</div>'
            f'<h3 id="piece"></h3><table id="shares"></table><h3>{self.gone_words[0]}</h3>{fallen}</div></div>'
            "<noscript><p>Stepping through the game needs the script of this page; the rest does not.</p></noscript>"
            "</section>"
        )  # fmt: skip

    def _data(self) -> dict[str, Any]:
        """Collect what the script draws from: where every piece stood and what it was taken for, as changes by ply."""
        found = self.found
        plies = range(len(found.turns))
        pieces = sorted(found.pieces[0].items())
        outcomes = [[found.outcome(side, n) if found.outcomes else None for side in (0, 1)] for n in plies]
        first = self.kinds.index(self.first_kind)
        names = list(self.places())
        moves = [[names.index(place) for place in self._ends(found.move_made(ply))] for ply in plies[1:]]
        return {
            "sides": SIDES,
            "types": self.kinds,
            "words": [self.piece_word, *self.gone_words[1:]],
            "dashed": self.dashed,
            "left": MARGIN,
            "width": WIDTH - 2 * MARGIN,
            "begin": found.moments[0].ply if found.moments else 0,
            "pieces": [self._track(piece) for _, piece in pieces],
            "says": ["The start.", *(self.says(ply) for ply in plies[1:])],
            "wdl": [
                [None if each is None else [round(share, 3) for share in each] for each in pair] for pair in outcomes
            ],
            "considered": [self._considered(n, names) for n in plies],
            "searched": sorted(found.searches),
            "moves": [[], *moves],
            "corners": list(self.places().values()),
            "cell": self.cell,
            "offset": self.offset,
            "chosen": next(
                (
                    number
                    for number, (_, piece) in enumerate(pieces)
                    if piece.kind == first and piece.player != _viewer(found)
                ),
                None,
            ),
        }

    def _ends(self, move: Any) -> tuple[str, str]:
        """Return where a move goes from and to, by name."""
        told = self.found.squares_json(move)
        return told["from"], told["to"]

    def _considered(self, n: int, names: Sequence[str]) -> list[tuple[str, int, int, int, str, str]]:
        """Return the likely moves of a position and those that a search tried first, each once, the one that was played
        marked.

        Of each: its words, the network's share in percent, the numbers of its places, what a search found it worth and
        by how many rollouts.
        """
        found = self.found
        shares = {move: round(100 * share) for move, share in found.policies.get(n, {}).items()}
        searched = searched_moves(found, n)
        likely = [move for move in list(shares)[:MOST_MOVES] if shares[move]]
        tried = set(list(searched)[:MOST_MOVES])
        played = found.move_made(n + 1) if n < len(found.board.history) else None
        rows = []
        for move in shares:  # the likeliest first
            if move not in likely and move not in tried:
                continue
            worth = searched.get(move)
            value = "" if worth is None else f"{worth.value:+.2f}".replace("-", "−")
            visits = "" if worth is None else f"{worth.visits} rollouts"
            source, target = self._ends(move)
            words = f"{source}–{target}{' (played)' if move == played else ''}"
            rows.append((words, shares[move], names.index(source), names.index(target), value, visits))
        return rows

    def _track(self, piece: Any) -> dict[str, Any]:
        """Return a piece through the game."""
        found = self.found
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
        name = self.piece_name(piece)
        return {
            "side": piece.player, "kind": piece.kind, "name": name, "at": places, "shown": shown, "belief": shares,
        }  # fmt: skip

    # ── Moments ──────────────────────────────────────────────────────────────────────────────────

    def _moments_section(self) -> str:
        found = self.found
        if not found.moments:
            return ""
        items = "".join(self._moment(number, each) for number, each in enumerate(found.moments, 1))
        left = f"<p>{escape(found.unsearched_text)}</p>" if found.unsearched else ""
        return (
            "<section><h2>The moments that decided it</h2><p>Each picture shows the board just before the move, with "
            f"all {self.pieces_word} open, and the move as an arrow.</p>"
            f'<ol class="moments">{items}</ol>{left}</section>'
        )

    def _moment(self, number: int, moment: Moment) -> str:
        drawn, arrow, when = self.picture(self.boards[max(0, moment.ply - 1)], 330), "", "The start"
        if moment.ply:
            arrow, when = self._arrow(self.found.move_made(moment.ply)), f"Move {moment.ply}"
        side = SIDES[moment.side]
        return (
            f"<li>{drawn.removesuffix('</svg>')}{arrow}</svg><div>"
            f'<p class="kind"><span class="badge">{number}</span>'
            f'<a href="#ply" data-ply="{moment.ply}">{when}</a> · '
            f'<b class="{side}">{side}</b> {self.moment_words[moment.kind]}</p>'
            f"<p>{escape(moment.text)}</p></div></li>"
        )

    def centre(self, place: str) -> Spot:
        """Return the middle of a place in the picture."""
        x, y = self.places()[place]
        return x + self.cell / 2, y + self.cell / 2

    def _arrow(self, move: Any) -> str:
        (x0, y0), (x1, y1) = map(self.centre, self._ends(move))
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

    # ── What was known ───────────────────────────────────────────────────────────────────────────

    def _known_section(self) -> str:
        how = "by counting alone" if self.found.counted else "by the belief network"
        word = self.pieces_word
        drawings = "".join(
            f"<h3>{SIDES[side].capitalize()}'s {word}, in the eyes of {SIDES[1 - side]}</h3>"
            f'<div class="scroll">{self._known(side)}</div>'
            for side in (0, 1)
        )
        gone = self.gone_words[1].removeprefix("has ").removeprefix("is ")
        return (
            f"<section><h2>What was known of each {self.piece_word}</h2><p>A row for each {self.piece_word}, time from "
            "left to right: the stronger the colour, the more the other side believed in what it truly was "
            f"({how}). Grey: it was known. A row ends where the {self.piece_word} had {gone}.</p>{drawings}</section>"
        )

    def _known(self, side: int) -> str:
        found, word = self.found, self.pieces_word
        pieces = sorted((piece for piece in found.pieces[0].values() if piece.player == side), key=self.order)
        plies = len(found.turns)
        stride = -(-plies // MOST_COLUMNS)
        first, width = 130, WIDTH - 150
        unit = width / -(-plies // stride)
        parts = []
        for row, piece in enumerate(pieces):
            top = row * ROW
            square = found.board.game.square_name(piece.identity)
            parts += [
                charts.text(0, top + 12, self.row_name(piece)),
                charts.text(first - 8, top + 12, square, anchor="end"),
                charts.rect(first, top + 2, width, ROW - 3, "row"),
            ]
            for kind, share, begin, end in _strokes(found, piece, stride):
                opacity = "" if kind == "shown" else f'fill-opacity="{share:g}"'
                parts.append(charts.rect(first + begin * unit, top + 2, (end - begin) * unit, ROW - 3, kind, opacity))
        parts += _ply_numbers(_ply_scale(plies, first, first + width), len(pieces) * ROW + 14)
        title = f"How well {SIDES[1 - side]} knew {SIDES[side]}'s {word} over the game"
        about = f"A row for each {self.piece_word}: the darker, the more of the belief was on its true kind."
        return charts.svg(WIDTH, len(pieces) * ROW + 20, title, about, parts, f"-{SIDES[side]}", 'class="known"')

    def _moves_section(self) -> str:
        items = "".join(
            f'<li><span>{each["ply"]}.</span> <a href="#ply" data-ply="{each["ply"]}">{escape(each["text"])}</a></li>'
            for each in self.found.summary_json()["moves"]
        )
        return f'<section><h2>All moves</h2><ol class="moves">{items}</ol></section>'


def _beside(name: str) -> str:
    """Return a file that lies beside this one."""
    return resources.files("vauban.web").joinpath(name).read_text(encoding="utf-8")


def _result_words(found: Review) -> str:
    ended = found.ended
    if ended is None:
        return "not finished"
    return "a draw" if ended.winner is None else f"{SIDES[ended.winner]} won"


def _viewer(found: Review) -> int:
    """Choose the player whose belief is shown at first: the winner."""
    ended = found.ended
    return 0 if ended is None or ended.winner is None else ended.winner


def _graph(found: Review) -> str:
    plies = max(len(found.board.history), 1)
    x, y = _ply_scale(plies, MARGIN, WIDTH - MARGIN), charts.Scale(-1, 1, HEIGHT - 26, 14, 1)
    lines, drawn = [], []
    for side, name in enumerate(SIDES):
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


def _strokes(found: Review, piece: Any, stride: int) -> list[tuple[str, float, int, int]]:
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
