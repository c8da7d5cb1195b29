"""Pictures of a position: as text for a terminal, and as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vauban.games.stratego.pieces import RANKS
from vauban.games.stratego.variants import FILES

if TYPE_CHECKING:
    from vauban.board.stratego.look import Look

PALETTE = {
    "land": "#e9e1c8", "line": "#b9ad8b", "lake": "#8fb7cf", "ink": "#3a3528",
    "red": "#b3392f", "blue": "#27598f", "paper": "#fdfaf1",
}  # fmt: skip


def text(look: Look) -> str:
    """Return the board as lines of text, blue's side on top; red's letters are capitals, ~ is a lake."""
    v = look.variant
    pieces = look.pieces()
    lines = []
    for row in reversed(range(v.rows)):
        cells = []
        for square in range(row * v.columns, (row + 1) * v.columns):
            cells.append("~" if square in v.lakes else pieces[square].letter if square in pieces else ".")
        lines.append(f"{row + 1:>2} " + " ".join(cells))
    lines.append("   " + " ".join(FILES[: v.columns]))
    return "\n".join(lines)


def svg(look: Look, size: int = 480) -> str:
    """Return the board as an SVG picture: pieces as shields, red's pointing up, blue's pointing down."""
    v = look.variant
    cell = 40
    width, height = cell * v.columns + 24, cell * v.rows + 24
    scale = size / max(width, height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width * scale:g}" '
        f'height="{height * scale:g}" font-family="sans-serif" text-anchor="middle" role="img" '
        f'aria-label="Stratego position, {"red" if look.turn == 0 else "blue"} to move">',
        f'<rect width="{width}" height="{height}" fill="{PALETTE["paper"]}"/>',
    ]
    pieces = look.pieces()
    for square in range(v.squares):
        row, column = divmod(square, v.columns)
        x, y = 20 + column * cell, (v.rows - 1 - row) * cell + 4
        fill = PALETTE["lake"] if square in v.lakes else PALETTE["land"]
        parts.append(f'<rect x="{x}" y="{y}" width="{cell}" height="{cell}" fill="{fill}" stroke="{PALETTE["line"]}"/>')
        piece = pieces.get(square)
        if piece is None:
            continue
        colour = PALETTE["red" if piece.player == 0 else "blue"]
        # Sides differ in shape as well as in colour.
        shape = "M6 34V14L20 5 34 14V34Z" if piece.player == 0 else "M6 6V26L20 35 34 26V6Z"
        dashes = "" if piece.revealed else ' stroke-dasharray="3 2"'
        label = "?" if piece.kind is None else RANKS[piece.kind]
        parts.append(
            f'<g transform="translate({x} {y})"><title>{v.square_name(square)}: {piece}'
            f"{', moved' if piece.moved else ''}{', revealed' if piece.revealed else ''}</title>"
            f'<path d="{shape}" fill="{colour}" stroke="{PALETTE["paper"]}" stroke-width="1.5"{dashes}/>'
            f'<text x="20" y="{27 if piece.player == 0 else 24}" font-size="15" font-weight="bold" '
            f'fill="{PALETTE["paper"]}">{label}</text>'
            + (
                f'<circle cx="31" cy="{31 if piece.player == 0 else 9}" r="2" fill="{PALETTE["paper"]}"/>'
                if piece.moved
                else ""
            )
            + "</g>"
        )
    for column in range(v.columns):
        x = 20 + column * cell + cell // 2
        parts.append(f'<text x="{x}" y="{height - 6}" font-size="11" fill="{PALETTE["ink"]}">{FILES[column]}</text>')
    for row in range(v.rows):
        y = (v.rows - 1 - row) * cell + cell // 2 + 8
        parts.append(f'<text x="10" y="{y}" font-size="11" fill="{PALETTE["ink"]}">{row + 1}</text>')
    parts.append("</svg>")
    return "".join(parts)
