"""Agents as a person writes them: a class with `choose_move(view)`, and perhaps `choose_setup(variant, player, rng)`.

    class Mine:
        def choose_move(self, view):
            return view.legal_moves[0]  # or its text, or an action's number; None resigns

    make("py:mine.py:Mine,depth=2", seed=7)
    build(Mine, seed=7)

A class that takes a `seed` is given one; further parameters are options. Every game has an agent of its own, so that it
may remember what it likes. A class that has `choose(views, seeds)` is an agent already, and is left as it is.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vauban.agents.base import RESIGNS, Actions, Agent, Row, Seeds
from vauban.agents.options import settings_of
from vauban.door import PREFIX, load, split
from vauban.errors import ConfigurationError, InvalidMoveError
from vauban.games.base import nearest

if TYPE_CHECKING:
    from vauban.board import View
    from vauban.games.base import Game
    from vauban.sim.store import Snapshot

WANTED = "an agent"
FORMS = "choose_move(view), or choose(views, seeds)"
WORDS = {"0": False, "1": True, "no": False, "yes": True, "false": False, "true": True}


class Adapted:
    """An agent made of what a person has written: it plays one game at a time, and can what that can."""

    def __init__(self, inner: Any, name: str) -> None:
        self.inner = inner
        self.name = name
        # Agents are asked for what they have: `SetsUp`, `Choosy`, `Listener`, `Closing`.
        if hasattr(inner, "choose_setup"):
            self.set_up = self._set_up
        if hasattr(inner, "check_plays"):
            self.check_plays = inner.check_plays
        if hasattr(inner, "told"):
            self.told = inner.told
        if hasattr(inner, "close"):
            self.close = inner.close

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        from vauban.board import View

        return np.array([self.answer(View.from_snapshot(views, row)) for row in range(len(views))], np.int64)

    def answer(self, view: View) -> int:
        return action_of(self.inner.choose_move(view), view)

    def _set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        assert game.setups is not None
        chosen = self.inner.choose_setup(game.described, player, rng)
        return game.setups.parse(chosen) if isinstance(chosen, str) else np.asarray(chosen)


def action_of(answer: Any, view: View) -> int:
    """Return the action behind what a person's agent answers: a move, its text, an action's number; None resigns."""
    if answer is None:
        return RESIGNS
    action = int(view.action_of(answer))
    # Two squares that no line joins are no action, and must not become another one.
    if isinstance(answer, tuple) and view.move_of(action) != answer:
        raise InvalidMoveError(f"{answer!r} is no move: no piece goes from one of these squares to the other")
    return action


# ── From a class to an agent ─────────────────────────────────────────────────────────────────────


def load_agent(text: str, seed: int, folder: Path | None = None) -> Agent:
    """Return the agent that py:FILE.py:NAME,OPTION=VALUE,… names; `folder`: where the file is looked for."""
    path, name, rest = split(text, WANTED)
    named = f"{PREFIX}{path if folder is None else folder / path.expanduser()}:{name}"
    return build(load(named, WANTED), seed, settings_of(rest, text, f"{named},") if rest else {}, text)


def build(made: Callable[..., Any], seed: int, settings: Mapping[str, str] | None = None, text: str = "") -> Agent:
    """Return an agent from a class, or from what else makes one.

    settings: its options, as text. text: what it is called; its `name`, or the class's, if not given.
    """
    text = text or str(getattr(made, "__name__", made))
    if not callable(made):
        raise ConfigurationError(f"{text} is no agent, but {_in_words(made)}: name a class with {FORMS}")
    arguments, options = _arguments(made, seed, settings or {}, text)
    return adapted(made(*arguments, **options), text)


def adapted(agent: Any, text: str = "") -> Agent:
    """Return an agent made of one that a person has written; what is an agent already is left as it is."""
    if hasattr(agent, "choose"):
        return agent  # type: ignore[no-any-return]
    text = text or type(agent).__name__
    if not hasattr(agent, "choose_move"):
        raise ConfigurationError(f"{text} is no agent: it lacks a method, {FORMS}")
    return Adapted(agent, str(getattr(agent, "name", text)))


def _in_words(made: Any) -> str:
    """Say what something is that makes no agent."""
    if hasattr(made, "choose_move") or hasattr(made, "choose"):
        return f"one that is made already, of the class {type(made).__name__}"
    if type(made).__module__ == "builtins":
        return repr(made)
    return f"an object of the class {type(made).__name__}"


def _arguments(
    made: Callable[..., Any], seed: int, settings: Mapping[str, str], text: str
) -> tuple[list[Any], dict[str, Any]]:
    """List what a class is made with: a seed, if it takes one, and the options."""
    try:
        known = dict(inspect.signature(made).parameters)
    except (TypeError, ValueError):
        known = {}
    arguments: list[Any] = []
    options: dict[str, Any] = {}
    needed = [each for each in known.values() if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD]
    if "seed" in known:
        options["seed"] = known.pop("seed") and seed
    elif needed and needed[0].name not in settings:
        arguments.append(seed)
        del known[needed[0].name]
    for key, value in settings.items():
        if key not in known or known[key].kind in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
            hint = nearest(key, list(known)) if known else "it has none"
            raise ConfigurationError(f"agent {text!r} has no option {key or value!r}: {hint}")
        options[key] = _converted(value, known[key], text)
    return arguments, options


def _converted(value: str, parameter: inspect.Parameter, text: str) -> Any:
    """Return an option as its default is, or as its annotation says."""
    kind = type(parameter.default).__name__
    if parameter.default is parameter.empty or parameter.default is None:
        kind = str(getattr(parameter.annotation, "__name__", parameter.annotation)).partition(" |")[0]
    try:
        if kind == "bool":
            return WORDS[value.lower()]
        return {"int": int, "float": float}.get(kind, str)(value)
    except (KeyError, ValueError):
        wanted = {"bool": "0 or 1", "int": "a whole number", "float": "a number"}[kind]
        raise ConfigurationError(f"{parameter.name}={value} of agent {text!r}: it must be {wanted}") from None
