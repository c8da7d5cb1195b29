"""The wall: what is hidden from a player changes nothing that the player sees.

Hidden pieces are resampled in thousands of positions; views, observations and masks stay the same.
A planted leak is caught.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vauban.board import Board
from vauban.games.base import Game
from vauban.games.kernel import kernel
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.history import kind_of
from vauban.games.stratego.layout import BYTES
from vauban.observe.ataraxos import mark as honest_mark
from vauban.observe.base import Observation, find, put
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot


def look(game: Game, snapshot: Snapshot):
    """Return one game of a snapshot, for reading."""
    from vauban.board.stratego import Look
    from vauban.games.kernel import Record

    words, halves, bytes_ = (part[0] for part in snapshot.numpy().store)
    return Look(game, Record(words.view("uint64"), halves.view("uint16"), bytes_, snapshot.format.parameters))


def shuffled(sim: Simulator, viewer: int, seed: int) -> torch.Tensor:
    """Return another assignment of the hidden types for every game: those of pieces alike in having moved are
    exchanged.
    """
    generator = torch.Generator().manual_seed(seed)
    width = int(sim.hidden_counts(viewer).max())
    values = torch.full((sim.n, width), -1, dtype=torch.int8)
    for row in range(sim.n):
        board = look(sim.game, sim.snapshot()[row])
        squares = [s for s, piece in board.pieces(1 - viewer).items() if not piece.revealed]
        squares = squares if viewer == 0 else squares[::-1]
        kinds = [board.piece_at(s).kind for s in squares]
        for moved in (False, True):
            places = [i for i, s in enumerate(squares) if board.piece_at(s).moved == moved]
            order = torch.randperm(len(places), generator=generator).tolist()
            mixed = [kinds[places[i]] for i in order]
            for place, kind in zip(places, mixed, strict=True):
                kinds[place] = kind
        values[row, : len(kinds)] = torch.tensor(kinds, dtype=torch.int8)
    return values


@pytest.mark.parametrize(
    ("name", "plies"), [("classic", 150), ("barrage", 60), ("duel", 50), ("medium", 20), ("tiny", 8)]
)
@pytest.mark.parametrize("rules", [None, "strategus chase=isf"])
def test_resampling_hidden_pieces_changes_nothing_a_player_sees(name: str, plies: int, rules: str | None) -> None:
    game = Stratego(name, rules)
    sim, twin = Simulator(game, 64, seed=9), Simulator(game, 64, seed=9)
    changed = 0
    for stage in range(6):
        sim.play_random(plies + 1)
        for viewer in (0, 1):
            views = sim.views(viewer)
            twin.determinise(views, viewer, shuffled(sim, viewer, stage))
            changed += int((twin.snapshot().pack() != sim.snapshot().pack()).any(1).sum())
            assert torch.equal(twin.views(viewer).pack(), views.pack()), "the view differs"
            for observation in ("ataraxos", "deepnash"):
                mine = sim.observe(observation, viewer=viewer)
                assert torch.equal(mine, twin.observe(observation, viewer=viewer)), f"{observation} differs"
            on_turn = sim.players == viewer
            assert torch.equal(sim.legal_mask()[on_turn], twin.legal_mask()[on_turn]), "the legal moves differ"
    assert changed > 300, "the resampling changed too little to mean anything"


def test_views_of_boards_that_differ_in_hidden_types_are_the_same() -> None:
    one = Board.from_setups("FLPJ", "JFPL", "tiny")
    other = Board.from_setups("FLPJ", "LFJP", "tiny")
    for board in (one, other):
        board.push("b1b2")
        board.push("a4a3")
        board.push("c1c2")
    assert one.view(0).text == other.view(0).text
    assert "u" in one.view(0).text and "l" not in one.view(0).text
    assert one.view(1).text != other.view(1).text
    assert (one.view(0).snapshot().pack() == other.view(0).snapshot().pack()).all()
    assert len(one.view(0).legal_moves) == 0, "the legal moves of the player on turn are secret"
    assert one.view(1).legal_moves == one.legal_moves or list(one.view(1).legal_moves) == list(one.legal_moves)


@kernel
def mark_with_a_leak(game, viewer, lane, lanes, codes):
    """Write the observation, with the type of one enemy piece in a channel that is always 0."""
    honest_mark(game, viewer, lane, lanes, codes)
    if lane == 0:
        identity = game.bytes[BYTES + (game.rules[2] - 1 if viewer == 0 else 0)]
        if identity != 255 and kind_of(game, np.int64(identity)) == 2:
            put(codes, 0, 275, 1)


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from vauban.observe import base

    honest = find(Stratego("barrage"), "ataraxos")
    leaky = Observation(
        "ataraxos", "stratego", honest.channels, honest.channel_names, mark_with_a_leak, honest.levels, True
    )
    monkeypatch.setitem(base._observations, ("stratego", "ataraxos"), leaky)
    # Every setup has a Miner on one of two squares of the corner, so that it is there half of the time.
    sim, twin = Simulator("classic", 256, seed=4), Simulator("classic", 256, seed=4)
    twin.determinise(sim.views(0), 0, shuffled(sim, 0, 1))
    assert not torch.equal(sim.observe("ataraxos", viewer=0), twin.observe("ataraxos", viewer=0))


def test_an_assignment_that_does_not_fit_is_refused() -> None:
    from vauban.errors import RecordError

    sim = Simulator("tiny", 2, seed=1)
    views = sim.views(0)
    good = sim.hidden_values(0)[:, :4]
    sim.determinise(views, 0, good)
    bad = good.clone()
    bad[1, 0] = 9
    with pytest.raises(RecordError, match="game 1"):
        sim.determinise(views, 0, bad)
    with pytest.raises(RecordError, match="hidden"):
        sim.determinise(views, 0, good[:, :2])
