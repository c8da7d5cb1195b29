"""Pictures of a position: as text for a terminal, and as SVG. One player is at the bottom, as in that player's view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vauban.games.geister.variants import FILES, Variant

if TYPE_CHECKING:
    from vauban.board.geister.look import Ghost, Look

MARKS = {"good": "+", "evil": "-", "unknown": "?"}
"""Marks of the colours behind a ghost's letter."""


def squares_in_view(v: Variant, bottom: int) -> list[list[int]]:
    """Return the squares row by row, as the player at the bottom sees them."""
    rows = [list(range(v.width * row, v.width * (row + 1))) for row in range(v.height)]
    return rows if bottom == 0 else [row[::-1] for row in rows[::-1]]


def sign(ghost: Ghost, bottom: int) -> str:
    """Return a ghost's letter, a capital for the player at the bottom, and the mark of its colour."""
    letter = ghost.letter.upper() if ghost.player == bottom else ghost.letter.lower()
    return letter + MARKS[ghost.colour]


def text(look: Look, bottom: int) -> str:
    """Return the board as lines of text: A+ is a good ghost, A- an evil one, a? one whose colour is not known.

    Arrows stand before the exits: above those of the player at the bottom, below those of the other.
    """
    v = look.variant
    ghosts = {ghost.square: ghost for player in (0, 1) for ghost in look.ghosts(player)}
    gap = " " * (3 * v.width - 5)
    lines = [f"   ↖ {gap}  ↗"]
    for row in squares_in_view(v, bottom):
        cells = [sign(ghosts[square], bottom) if square in ghosts else ". " for square in row]
        lines.append(f"{look.game.square_name(row[0])[1:]:>2} " + " ".join(cells).rstrip())
    lines.append(f"   ↙ {gap}  ↘")
    files = FILES[: v.width]
    lines.append("   " + "  ".join(files if bottom == 0 else files[::-1]))
    for player, name in enumerate(look.game.players):
        lost = look.captured(player)
        if lost:
            lines.append(f"{name} has lost {' '.join(sign(ghost, bottom) for ghost in lost)}")
    return "\n".join(lines)


# ── SVG ──────────────────────────────────────────────────────────────────────────────────────────

CELL, EDGE, TRAY = 48, 22, 34
"""Sizes of a square, of the margin with its name, and of the row of captured ghosts."""

STYLE = (
    ".vg-sq{fill:#f4f1fa;stroke:#cfc8e0}.vg-sq2{fill:#e9e4f4;stroke:#cfc8e0}.vg-ink{fill:#5b5570}"
    ".vg-exit{fill:none;stroke:#2f8f6b;stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}"
    ".vg-good{fill:#2f6fd0}.vg-evil{fill:#cf3d3d}.vg-unknown{fill:#857a9e}"
    ".vg-edge{stroke:#fff;stroke-width:1.5;stroke-linejoin:round}.vg-halo{fill:none;stroke:#d9a520;stroke-width:2}"
    "@media (prefers-color-scheme:dark){.vg-sq{fill:#2a2636;stroke:#4a4460}.vg-sq2{fill:#332e42;stroke:#4a4460}"
    ".vg-ink{fill:#b9b2cf}.vg-exit{stroke:#5cc79b}.vg-good{fill:#4f8ff0}.vg-evil{fill:#e25555}"
    ".vg-unknown{fill:#8f86a8}.vg-edge{stroke:#15121d}}"
)
BODY = "M7 40V20a13 13 0 0 1 26 0v20l-4.3-4-4.4 4-4.3-4-4.3 4-4.4-4z"
HORNS = "M9.5 13 8 3.5l7 5zM30.5 13 32 3.5l-7 5z"
HALO = '<ellipse class="vg-halo" cx="20" cy="4" rx="8" ry="2.4"/>'
EYES = (
    '<g fill="#fff"><ellipse cx="15" cy="18" rx="3.4" ry="4.2"/><ellipse cx="25" cy="18" rx="3.4" ry="4.2"/></g>'
    '<g fill="#221d2e"><circle cx="15" cy="19.5" r="1.8"/><circle cx="25" cy="19.5" r="1.8"/></g>'
)


def svg(look: Look, bottom: int, size: int = 480) -> str:
    """Return the board as an SVG picture: good ghosts are blue with a halo, evil ones red with horns.

    The ghosts of the player at the bottom show their backs, the others their eyes. What was captured lies beside its
    owner's side.
    """
    v = look.variant
    width, height = CELL * v.width + 2 * EDGE, CELL * v.height + EDGE + 8 + 2 * TRAY
    scale = size / max(width, height)
    turn = "over" if look.is_over else f"{look.game.players[look.turn]} to move"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width * scale:g}" '
        f'height="{height * scale:g}" font-family="sans-serif" text-anchor="middle" role="img" '
        f'aria-label="{look.game.name}, {turn}"><style>{STYLE}</style>'
    ]
    ghosts = {ghost.square: ghost for player in (0, 1) for ghost in look.ghosts(player)}
    exits = [*look.exits(bottom), *look.exits(1 - bottom)]
    for y, row in enumerate(squares_in_view(v, bottom)):
        top = TRAY + 4 + CELL * y
        name = look.game.square_name(row[0])[1:]
        parts.append(f'<text class="vg-ink" x="{EDGE // 2}" y="{top + CELL // 2 + 4}" font-size="11">{name}</text>')
        for x, square in enumerate(row):
            left = EDGE + CELL * x
            shade = "vg-sq2" if (x + y) % 2 else "vg-sq"
            parts.append(f'<rect class="{shade}" x="{left}" y="{top}" width="{CELL}" height="{CELL}"/>')
            if square in exits:
                parts.append(_arrow(left, top, x == 0, y == 0))
            if square in ghosts:
                where = look.game.square_name(square)
                parts.append(_ghost(look, ghosts[square], bottom, left + 4, top + 3, 1.0, where))
    for x, square in enumerate(squares_in_view(v, bottom)[0]):
        name = FILES[square % v.width]
        across = EDGE + CELL * x + CELL // 2
        parts.append(
            f'<text class="vg-ink" x="{across}" y="{TRAY + CELL * v.height + 18}" font-size="11">{name}</text>'
        )
    for player, top in ((1 - bottom, 2), (bottom, height - TRAY + 2)):
        for place, ghost in enumerate(look.captured(player)):
            parts.append(_ghost(look, ghost, bottom, EDGE + 30 * place, top, 0.68, "captured"))
    parts.append("</svg>")
    return "".join(parts)


def _arrow(left: int, top: int, west: bool, north: bool) -> str:
    """Return the arrow in the corner of an exit."""
    x, y = (left + 5, 1) if west else (left + CELL - 5, -1)
    corner, down = (top + 5, 1) if north else (top + CELL - 5, -1)
    return (
        f'<path class="vg-exit" d="M{x + 9 * y} {corner + 9 * down}L{x} {corner}M{x + 7 * y} {corner}H{x}'
        f'V{corner + 7 * down}"/>'
    )


def _ghost(look: Look, ghost: Ghost, bottom: int, x: int, y: int, scale: float, where: str) -> str:
    """Return a ghost, with a title that says all that is known of it."""
    owner = look.game.players[ghost.player]
    size = "" if scale == 1.0 else f" scale({scale})"
    body = f'<path class="vg-{ghost.colour} vg-edge" d="{BODY}"/>'
    extra = f'<path class="vg-evil vg-edge" d="{HORNS}"/>' if ghost.evil else ""
    halo = HALO if ghost.evil is False else ""
    faces = ghost.player != bottom
    letter = ghost.letter.upper() if not faces else ghost.letter.lower()
    label = f"{letter}?" if ghost.evil is None else letter
    height, points = (34, 12) if faces else (30, 17)
    return (
        f'<g class="vg-{owner}" transform="translate({x} {y}){size}">'
        f"<title>{where}: {owner}, ghost {letter}, {ghost.colour}</title>"
        f"{extra}{body}{halo}{EYES if faces else ''}"
        f'<text x="20" y="{height}" font-size="{points}" font-weight="bold" fill="#fff">{label}</text></g>'
    )
