"""Transcripts: one game of each family in words, ply by ply, as kept in tests/data/transcripts.

    python tests/transcripts.py

writes them anew, for a change of the rules or of a text that is meant.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vauban.board import Board
from vauban.board.base import Look
from vauban.families import family_part
from vauban.games.base import Outcome, game, names
from vauban.games.stratego.pieces import LETTERS
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

FOLDER = Path(__file__).parent / "data" / "transcripts"
SHOWN = {"geister": "geister-33b", "stratego": "tiny", "stratego-steps": "steps:micro"}
"""By family: the game that is shown, if it is not the first one."""
SEEDS = {"tiny": 2, "leduc": 6}
"""By game: a seed whose game shows something; 1 for all others."""


def file_of(name: str) -> Path:
    """Return the file in which the transcript of a game is kept."""
    return FOLDER / f"{name.replace(':', '-')}.txt"


def transcripts() -> dict[str, str]:
    """Return the transcript of one game of each family, by the game's name."""
    ours = [name for name in names() if type(game(name)).__module__.startswith("vauban.")]
    families = {game(name).family: name for name in reversed(ours)} | SHOWN
    return {name: "\n".join(_lines(name, SEEDS.get(name, 1))) + "\n" for name in families.values()}


def _lines(name: str, seed: int) -> Iterator[str]:
    return _simulated(name, seed) if family_part("board", game(name).family) is None else _on_a_board(name, seed)


def _result(outcome: Outcome | None) -> str:
    assert outcome is not None
    return f"  result     winner {outcome.winner}, end {outcome.end}, utility {outcome.utility:g}"


def _on_a_board(name: str, seed: int) -> Iterator[str]:
    """Yield a game on a board: its texts are those that people read and write, or pictures."""
    board = Board.random(name, seed=seed)
    rng = random.Random(seed)
    written = type(board).text is not Look.text
    yield f"{name}: {board.game.rules_text}"
    while True:
        yield ""
        yield f"ply {board.plies}" + ("" if board.is_over else f", {board.game.players[board.turn]} to move")
        yield str(board)
        if written:
            yield f"  position   {board.text}"
        for player, who in enumerate(board.game.players):
            view = board.view(player)
            if written:
                yield f"  {who} sees".ljust(13) + view.text
            else:
                yield from (f"  {who} sees", *(f"    {line}" for line in str(view).splitlines()))
            hidden = board.game.hidden_squares(view._record, player)
            yield f"    hidden   {' '.join(map(board.game.square_name, hidden))}".rstrip()
        if board.is_over:
            break
        legal = sorted(board.legal_moves)
        yield f"  legal      {' '.join(board.move_text(move) for move in legal)}"
        move = rng.choice(legal)
        yield f"  plays      {board.move_text(move)}"
        played = board.push(move)
        yield from _shown(played)
    yield _result(board.outcome())


def _shown(played: Any) -> Iterator[str]:
    """Yield what a move has shown, where it has shown something."""
    if fight := getattr(played, "battle", None):
        yield f"  battle     {LETTERS[fight.attacker]} {fight.result} {LETTERS[fight.defender]}"
    if ghost := getattr(played, "captured", None):
        yield f"  captures   {ghost.letter} {ghost.colour}"


def _simulated(name: str, seed: int) -> Iterator[str]:
    """Yield a game in the simulator: views are the channels of an observation that are not 0."""
    sim = Simulator(name, 1, seed=seed, restart=False, threads=1)
    played = sim.game
    seen = observations.default(played).name
    channels = observations.find(played, seen).channel_names(played)
    yield f"{name}: observation {seen}"
    while True:
        over = bool(sim.over[0])
        player = int(sim.players[0])
        yield ""
        yield f"ply {int(sim.plies[0])}" + ("" if over else f", {played.players[player]} to move")
        for viewer, who in enumerate(played.players):
            values = np.asarray(sim.observe(seen, viewer=viewer)).reshape(-1)
            shown = [f"{channels[each]}={values[each]:g}" for each in np.flatnonzero(values)]
            hidden = np.asarray(sim.hidden_values(viewer))[0]
            yield f"  {who} sees {' '.join(shown)}".rstrip()
            yield f"    hidden   {' '.join(str(each) for each in hidden[hidden >= 0])}".rstrip()
        if over:
            break
        legal = np.flatnonzero(np.asarray(sim.legal_mask())[0])
        yield f"  legal      {' '.join(played.action_text(player, int(action)) for action in legal)}"
        actions = sim.sample()
        yield f"  plays      {played.action_text(player, int(actions[0]))}"
        sim.step(actions)
    yield _result(sim.outcome(0))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in transcripts().items():
        file_of(name).write_text(text, encoding="utf-8")
