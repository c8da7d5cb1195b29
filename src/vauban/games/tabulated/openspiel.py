"""Games of OpenSpiel as ours: `openspiel:kuhn_poker`, `openspiel:liars_dice(numdice=1)` (docs/openspiel.md).

    game("openspiel:tic_tac_toe")

Their rules are in C++, so the whole tree is listed once a process, and our kernels play from the list. A game has to be
one of two players who win what the other loses, small enough, with chances that are told, and of players who forget
nothing. Players who choose at the same time are taken to choose one after the other, unseen.
"""

from __future__ import annotations

import gc
import random
import re
from collections.abc import Iterable
from functools import cache, partial
from typing import Any

from vauban.errors import ConfigurationError, install_command
from vauban.games.base import nearest, register_source
from vauban.games.tabulated.game import TabulatedGame
from vauban.games.tabulated.tabulation import MOST_HISTORIES, Tabulation, Tabulator, too_large

PREFIX = "openspiel"
PLAYS = 200
"""Random plays by which the size of a tree is estimated before it is walked."""
MUCH = 20.0
"""Factor by which such an estimate must exceed the limit to be believed."""


def register() -> None:
    """Make the games of OpenSpiel known by name."""
    register_source(PREFIX, make)


def make(text: str) -> TabulatedGame:
    """Return a game by the text that OpenSpiel loads it by."""
    return TabulatedGame(f"{PREFIX}:{text}", _tabulated(text), partial(_show, text))


def load(text: str) -> Any:
    """Return the game of OpenSpiel that a text names, in turns; refuse what cannot be played here."""
    try:
        import pyspiel
    except ImportError as error:
        raise ConfigurationError(
            f"'{PREFIX}:{text}' is a game of OpenSpiel, which is not installed: {install_command('openspiel')}"
        ) from error
    name = text.partition("(")[0]
    if name.startswith("python_"):
        import open_spiel.python.games  # noqa: F401 – which makes them known
    known = pyspiel.registered_names()
    if name not in known:
        raise ConfigurationError(f"OpenSpiel has no game {name!r}: {nearest(name, known, most=12)}")
    try:
        game = pyspiel.load_game(text)
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
    except (pyspiel.SpielError, RuntimeError) as error:
        reason = re.sub(r"^\S+:\d+ ", "", str(error).partition("\n")[0])
        raise ConfigurationError(f"OpenSpiel cannot load {text!r}: {reason}") from error
    _check(game, text, pyspiel.GameType)
    return game


def _check(game: Any, text: str, ways: Any) -> None:
    """Refuse a game that cannot be played here, with all that is in the way; `ways` has OpenSpiel's kinds of games."""
    kind = game.get_type()
    wrong = [
        sentence
        for sentence, holds in (
            (f"it has {game.num_players()} players", game.num_players() == 2),
            ("one does not win what the other loses", kind.utility == ways.Utility.ZERO_SUM),
            ("it draws its chances in secret", kind.chance_mode != ways.ChanceMode.SAMPLED_STOCHASTIC),
            ("its players do not take turns", kind.dynamics == ways.Dynamics.SEQUENTIAL),
            (
                "it does not tell what a player knows (no information state)",
                kind.provides_information_state_string or kind.information == ways.Information.PERFECT_INFORMATION,
            ),
        )
        if not holds
    ]
    if wrong:
        raise ConfigurationError(f"OpenSpiel's {text!r} cannot be played here: {', and '.join(wrong)}")


@cache
def _tabulated(text: str) -> Tabulation:
    game = load(text)
    name = f"{PREFIX}:{text}"
    guess = _estimate(game)
    if guess > MUCH * MOST_HISTORIES:
        raise too_large(name, f"about {guess:.1g}, estimated from {PLAYS} random plays", MOST_HISTORIES)
    # Millions of small objects that all stay: looking for waste among them takes longer than making them.
    collects = gc.isenabled()
    gc.disable()
    try:
        return _walked(game, Tabulator(name, _is_perfect(game)))
    finally:
        if collects:
            gc.enable()


def _show(text: str, history: list[int], viewer: int | None) -> str:
    """Return OpenSpiel's own picture: of the game, or of what a player observes."""
    state = load(text).new_initial_state()
    for action in history:
        state.apply_action(action)
    if viewer is None or _is_perfect(state.get_game()):
        return str(state).rstrip("\n")
    if state.get_game().get_type().provides_observation_string:
        return str(state.observation_string(viewer)).rstrip("\n")
    return str(state.information_state_string(viewer)).rstrip("\n")


def _is_perfect(game: Any) -> bool:
    """Return whether both players see everything."""
    kind = game.get_type()
    return bool(kind.information == type(kind).Information.PERFECT_INFORMATION)


def _estimate(game: Any) -> float:
    """Estimate the number of histories by random plays (Knuth), from a generator of its own."""
    draw = random.Random(0)
    total = 0.0
    for _ in range(PLAYS):
        state, ways = game.new_initial_state(), 1.0
        total += ways
        while not state.is_terminal():
            actions = state.legal_actions()
            ways *= len(actions)
            total += ways
            state.apply_action(draw.choice(actions))
            if ways > PLAYS * MUCH * MOST_HISTORIES:
                break
    return total / PLAYS


def _walked(game: Any, tabulator: Tabulator) -> Tabulation:
    """List all histories, depth first."""
    width, observe = _observer(game)
    waiting: list[tuple[int, Any, tuple[Any, Any]]] = [(0, game.new_initial_state(), (None, None))]
    while waiting:
        node, state, before = waiting.pop()
        known = before if tabulator.perfect else _known(state, before)
        if state.is_terminal():
            tabulator.end(node, state.returns()[0], known)
            children: Iterable[int] = ()
            actions: list[int] = []
        elif state.is_chance_node():
            actions, chances = map(list, zip(*state.chance_outcomes(), strict=True))
            children = tabulator.chance(node, actions, chances, known)
        else:
            player, actions = state.current_player(), state.legal_actions()
            texts = [state.action_to_string(player, action) for action in actions]
            children = tabulator.decision(node, player, actions, texts, known)
        if width and not state.is_chance_node():
            for player in tabulator.lack_tensors(node):
                tabulator.tensor(node, player, observe(state, player))
        waiting += [(child, state.child(action), known) for child, action in zip(children, actions, strict=True)]
    names = [f"number[{place}]" for place in range(width)] if width else None
    return tabulator.finished(game.num_distinct_actions(), names)


def _known(state: Any, before: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return what both players know; where the game does not say it (at chance, at the end), what they knew before."""
    try:
        return state.information_state_string(0), state.information_state_string(1)
    except RuntimeError:  # pyspiel.SpielError is one
        if not state.is_chance_node() and not state.is_terminal():
            raise
        return before


def _observer(game: Any) -> tuple[int, Any]:
    """Return how many numbers a player observes (its information state, where there is one), and how they are got."""
    kind = game.get_type()
    if kind.provides_information_state_tensor:
        return game.information_state_tensor_size(), lambda state, player: state.information_state_tensor(player)
    if kind.provides_observation_tensor:
        return game.observation_tensor_size(), lambda state, player: state.observation_tensor(player)
    return 0, None
