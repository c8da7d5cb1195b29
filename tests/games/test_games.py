"""What a game answers about itself, and how games are found, made again, and refused."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from vauban.board.stratego import Board
from vauban.errors import ConfigurationError, InvalidMoveError
from vauban.games import base
from vauban.games.small import SmallGame
from vauban.games.stratego import Stratego
from vauban.games.stratego.variants import Variant, parse_army
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

EXAMPLE = Path(__file__).parents[2] / "examples" / "adding_a_game.py"
OWN = Variant("own", 6, 5, (12, 17), 2, parse_army("F1 O2 B1"), total_limit=50)


@pytest.mark.parametrize("name", base.names())
def test_every_action_is_read_from_its_text(name: str) -> None:
    game = base.game(name)
    legal = {player: set(range(game.action_count)) for player in (0, 1)}
    for player, actions in legal.items():
        for action in actions:
            assert game.parse_action(player, game.action_text(player, action).upper()) == action, "text and back"


def test_a_text_that_is_no_action_is_refused_with_what_would_be_one() -> None:
    with pytest.raises(InvalidMoveError, match="no move 'bett': did you mean 'bet'"):
        base.game("kuhn").parse_action(0, "bett")
    with pytest.raises(InvalidMoveError, match="known are 'heads', 'tails'"):
        base.game("matching-pennies").parse_action(0, "xyz")


@pytest.mark.parametrize("name", base.names())
def test_a_game_is_made_again_from_its_spec(name: str) -> None:
    game = base.game(name)
    again = base.from_spec(game.spec())
    assert repr(again) == repr(game) and again.format() == game.format()


def test_a_variant_of_ones_own_is_made_again_without_its_file() -> None:
    game = Stratego(OWN, "louvain two_square=5")
    again = base.from_spec(game.spec())
    assert isinstance(again, Stratego) and again.variant == OWN and again.rules == game.rules


def test_moves_are_squares_in_the_frame_of_the_mover() -> None:
    game = Stratego("barrage")
    for action in (0, 17, 1799):
        assert tuple(game.moves[action]) == game.decode(0, action)
        assert tuple(99 - game.moves[action]) == game.decode(1, action)
    assert base.game("kuhn").moves is None


@pytest.mark.parametrize("game", [Stratego("micro"), Stratego(OWN)], ids=["micro", "own"])
def test_setups_are_drawn_written_checked_and_found_again_in_starts(game: Stratego) -> None:
    rng = random.Random(1)
    first, second = (np.stack([game.setups.draw(rng) for _ in range(20)]) for _ in range(2))
    game.setups.check(first)
    assert all(np.array_equal(game.setups.parse(game.setups.text(row)), row) for row in first)
    starts = game.setups.starts(first, second)
    assert all(
        np.array_equal(one, other) for one, other in zip(game.setups.of_starts(starts), (first, second), strict=True)
    )
    every = game.setups.all()
    assert len(every) == game.setups.count == len({row.tobytes() for row in every})
    assert {row.tobytes() for row in first} <= {row.tobytes() for row in every}


def test_a_game_in_a_file_of_ones_own_is_played_by_naming_it() -> None:
    game = base.game(f"py:{EXAMPLE}:LiarsCoin")
    sim = Simulator(game, 8, seed=1, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    assert base.from_spec(game.spec()).name == "liars-coin"
    with pytest.raises(ConfigurationError, match="has no 'Liarscoin', which should be a game"):
        base.game(f"py:{EXAMPLE}:Liarscoin")
    with pytest.raises(ConfigurationError, match="is no game: make it a class that derives"):
        base.game(f"py:{EXAMPLE}:Any")


class Unfinished(SmallGame):
    """A game that does not say all it must."""

    name = family = "unfinished"
    action_count = max_legal = 2
    max_plies = 2
    ends = ("", "over")
    kernels = base.game("kuhn").kernels
    record_bytes = 4

    def __init__(self, rules: object = None) -> None:
        """There are no rules to choose."""

    def action_text(self, player: int, action: int) -> str:
        return str(action)


def test_a_game_that_leaves_something_out_is_refused_when_it_is_registered() -> None:
    with pytest.raises(ConfigurationError, match=r"Unfinished does not say: utilities \(all that a game can be worth"):
        base.register("unfinished", Unfinished)
    assert "unfinished" not in base.names()


@pytest.mark.parametrize("worths", [(1.0, -1.0), (-1.0, 2.0), (-1.0, -1.0, 1.0, 1.0)])
def test_utilities_that_cannot_be_are_refused(worths: tuple[float, ...]) -> None:
    game = Unfinished()
    game.utilities = worths
    with pytest.raises(ConfigurationError, match="what one gains the other loses"):
        base.check_game(game)


def test_observations_are_found_by_themselves_and_have_versions() -> None:
    for name in base.names():
        game = base.game(name)
        found = observations.names(game)
        assert found, f"{name} has no observation"
        assert all(observations.find(game, each).version >= 1 for each in found)


def test_squares_of_hidden_pieces_come_in_the_order_of_what_is_hidden_on_them() -> None:
    sim = Simulator("tiny", 40, seed=5, arrays="numpy", threads=1)
    sim.play_random(9)
    game, snapshot = sim.game, sim.snapshot()
    for viewer in (0, 1):
        values = sim.hidden_values(viewer)
        for row in range(sim.n):
            board = Board.from_snapshot(snapshot, row)
            squares = game.hidden_squares(snapshot.record(row), viewer)
            assert squares == board.view(viewer).hidden()
            assert [board.piece_at(square).kind for square in squares] == [kind for kind in values[row] if kind >= 0]


@pytest.mark.parametrize("name", ["classic", "micro"])
def test_squares_have_the_names_of_the_board(name: str) -> None:
    game = Stratego(name)
    assert all(game.square_name(square) == game.variant.square_name(square) for square in range(game.variant.squares))
