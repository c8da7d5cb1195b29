"""Words for people about a game of Stratego: limits and how near they are, odd setups, how a game ended.

The terminal says them as they stand here. The page, which is to be translated, has its own words for the same things.
"""

from __future__ import annotations

import numpy as np

from vauban.board.stratego.look import Look
from vauban.games.stratego.pieces import FLAG, PLAYERS, SCOUT
from vauban.games.stratego.setups import Row, can_move_first
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import Variant
from vauban.words import capital, moves_word

NEAR_A_DRAW = 20
"""Warn a person this many plies before a limit."""

ENDS = {
    "flag": ("you took the Flag", "your Flag was taken", ""),
    "no_moves": ("your opponent cannot move", "you cannot move", ""),
    "both_immobile": ("", "", "neither side can move"),
    "total_limit": ("", "", "the game has reached its longest length"),
    "battleless_limit": ("", "", "too many moves without a battle"),
    "resigned": ("your opponent resigned", "you resigned", ""),
    "agreed": ("", "", "agreed"),
    "time": ("your opponent's time is up", "your time is up", "the time for the whole game is up"),
    "illegal": ("your opponent gave no legal answer", "you gave no legal answer", ""),
    "absent": ("your opponent stayed away", "you stayed away", ""),
}
"""Ends of a game in words: if you won, if you lost, if it is a draw."""
ENDS_SEEN = {
    "flag": "the Flag was taken",
    "no_moves": "the other side cannot move",
    "both_immobile": "neither side can move",
    "total_limit": "the game has reached its longest length",
    "battleless_limit": "too many moves without a battle",
    "resigned": "the other side resigned",
    "agreed": "agreed",
    "time": "the other side's time is up",
    "illegal": "the other side gave no legal answer",
    "absent": "the other side stayed away",
    "unfinished": "the game was not finished",
}
"""The same, for an onlooker."""

ODD = {
    "front": "Your Flag stands in the front row.",
    "open": "Nothing stands before your Flag: a Scout could run straight at it.",
    "stuck": "None of your pieces could make a first move, so no game begins with it: leave one a way out.",
}
"""Oddities of a setup."""


def end_words(winner: int | None, end: str, person: int | None) -> str:
    """Say how a game ended, as a sentence to one of its players, or to an onlooker."""
    if person is None or end not in ENDS:
        who = "No result" if end == "unfinished" else "A draw" if winner is None else f"{capital(PLAYERS[winner])} won"
        drawn = ENDS[end][2] if winner is None and end in ENDS else ""
        return f"{who}: {drawn or ENDS_SEEN[end]}."
    place = 2 if winner is None else 0 if winner == person else 1
    return f"{('You win', 'You lose', 'A draw')[place]}: {ENDS[end][place]}."


def counter_words(look: Look) -> str:
    """Say how far the game is from its limits."""
    battleless = plies_left(0, look.rules.battleless_limit, look.rules)
    total = plies_left(0, look.rules.total_limit, look.rules)
    if battleless is None:
        said = f"{look.battleless} {moves_word(look.battleless)} without a battle"
    else:
        said = f"{look.battleless} of {battleless} {moves_word(battleless)} without a battle"
    return said if total is None else f"{said} · {look.plies} of {total} in all"


def plies_left(count: int, limit: int | None, rules: Rules) -> int | None:
    """Return the number of plies after which a limit makes the game a draw; None without a limit."""
    return None if limit is None else limit + (rules.limits == "exceeded") - count


def warnings(look: Look) -> list[str]:
    """Warn a person of a draw that is near."""
    said = []
    battleless = plies_left(look.battleless, look.rules.battleless_limit, look.rules)
    total = plies_left(look.plies, look.rules.total_limit, look.rules)
    if battleless is not None and battleless <= NEAR_A_DRAW:
        said.append(f"{battleless} more {moves_word(battleless)} without a battle, and the game is a draw.")
    if total is not None and total <= NEAR_A_DRAW:
        said.append(f"{total} more {moves_word(total)}, and the game is a draw.")
    return said


def oddities(setup: Row, variant: Variant) -> list[str]:
    """Name what is odd about a setup, with names out of `ODD`."""
    found = []
    flag = int(np.flatnonzero(setup == 1 + FLAG)[0])
    if variant.setup_rows > 1:
        if flag // variant.columns == variant.setup_rows - 1:
            found.append("front")
        elif _open_to_scouts(setup, variant, flag):
            found.append("open")
    if not can_move_first(setup, variant):
        found.append("stuck")
    return found


def _open_to_scouts(setup: Row, variant: Variant, flag: int) -> bool:
    """Return whether the Flag's file is empty as far as the enemy's army."""
    before = setup[flag + variant.columns :: variant.columns]
    lake = any(square % variant.columns == flag % variant.columns for square in variant.lakes)
    return variant.army[SCOUT] > 0 and not before.any() and not lake
