"""Starts of Stratego with known counts (`vauban.board.perft`, docs/rules.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vauban.board.stratego import Board
from vauban.games.stratego.switches import Rules

SETUPS: dict[str, tuple[str, str, str]] = {
    "classic-1": (
        "classic",
        "LBNPBJNCBJ/OOBPNSFNPN/LTJOGLCMTP/BOOOTOTLOB",
        "TBFBNONOPL/BNBCJOCNBB/PONJPOSPLO/LTMOLTGJTO",
    ),
    "barrage-1": (
        "barrage",
        "F........O/B........O/.S..N...../.G..M.....",
        "........../..B......./..MFS...../.OO.GN....",
    ),
    "duel-1": ("duel", "B.F..N../..B..S.O/.N.M.G.O", "NF..S..B/.B..O.../M..G..NO"),
    "octa-1": ("octa-barrage", "F.B...../..S..N../.O.M.G.O", ".F....B./S..N..../O..MG..O"),
    "medium-1": ("medium", "FTLPJC", "CJFPLT"),
    "fives-1": ("fives", "FTLPJ", "JPFLT"),
    "tiny-1": ("tiny", "FLPJ", "JFPL"),
    "micro-1": ("micro", "FLP.", "P.FL"),
    "nano-1": ("nano", "FP", "PF"),
}
"""Starts at the beginning of a game: variant, red's setup, blue's setup."""

POSITIONS = {"dance-1": "3f/4/1J1l/F3 r 0 0 -,- 0:-,0:-"}
"""Starts in the middle of one, without limits: one made for the repetition rules."""
STARTS = (*SETUPS, *POSITIONS)
"""Names of all starts with known counts."""


def start(name: str, rules: str | Mapping[str, Any] | Rules | None = None) -> Board:
    """Return the board of a named start."""
    if name in POSITIONS:
        return Board.from_position(POSITIONS[name], None, rules)
    variant, red, blue = SETUPS[name]
    return Board.from_setups(red, blue, variant, rules)
