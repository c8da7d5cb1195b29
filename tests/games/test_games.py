"""Games: their answers about themselves, and how they are found, made again, and refused."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from vauban import board as rooms
from vauban.board.base import board_of
from vauban.board.stratego import Board
from vauban.cli.main import app
from vauban.errors import ConfigurationError, InvalidMoveError
from vauban.families import family_part
from vauban.games import base
from vauban.games.small import SmallGame
from vauban.games.stratego import Stratego
from vauban.games.stratego.variants import Variant, parse_army
from vauban.notation.records import read_games, write_game
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
    """A game that leaves methods out."""

    name = family = "unfinished"
    action_count = max_legal = 2
    max_plies = 2
    ends = ("", "over")
    kernels = base.game("kuhn").kernels
    record_bytes = 4

    def __init__(self, rules: object = None) -> None:
        """Take no rules."""

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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", 5), ("version", None), ("players", ("one",)), ("action_count", "two"), ("max_legal", 0),
        ("start_size", -1), ("hidden_size", True), ("board", 3), ("ends", ("", 1)), ("kernels", None), ("max_plies", 0),
        ("has_chance", "no"), ("utilities", 5), ("utilities", ()), ("family", "my game!"), ("setups", 7), ("moves", 5),
        ("public_actions", "x"), ("hidden_kinds", 3), ("moves_in_a_row", 0), ("bounded", None), ("rules_text", 1),
    ],
)  # fmt: skip
def test_an_impossible_attribute_is_refused_with_its_meaning(name: str, value: object) -> None:
    game = Unfinished()
    game.utilities = (-1.0, 1.0)
    base.check_game(game)
    setattr(game, name, value)
    with pytest.raises(ConfigurationError, match=rf"the game Unfinished cannot have: {name}=.* \(.+\)$"):
        base.check_game(game)


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ([[0, 1]], "a row of two squares for each of its 2 actions"),
        ([[0, -1], [0, 4]], "0 to 3"),
        ([[-1, 0]] * 2, "0 to 3"),
    ],
)
def test_moves_that_lead_to_no_square_are_refused(moves: list[list[int]], said: str) -> None:
    game = Unfinished()
    game.utilities, game.board = (-1.0, 1.0), (2, 2)
    game.moves = np.array([[0, -1], [3, 0]])
    base.check_game(game)
    game.moves = np.array(moves)
    with pytest.raises(ConfigurationError, match=said):
        base.check_game(game)


def test_a_family_with_a_hyphen_has_parts_and_a_board_only_if_it_brings_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far_off").mkdir()
    (tmp_path / "far_off" / "__init__.py").write_text('WORD = "found"\n')
    monkeypatch.setattr(rooms, "__path__", [*rooms.__path__, str(tmp_path)])
    part = family_part("board", "far-off")
    assert part is not None and part.WORD == "found"
    game = Unfinished()
    game.family = "far-off"
    assert board_of(game) is rooms.Board


def test_a_class_that_leaves_methods_out_is_refused_with_their_names() -> None:
    class Silent(base.Game):
        """A game that cannot say a word."""

    with pytest.raises(ConfigurationError, match="the game 'silent' lacks methods: action_text, format"):
        base.register("silent", Silent)


THEIRS = f"""
import importlib.util
from pathlib import Path
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.variants import Variant, parse_army

spec = importlib.util.spec_from_file_location("their_coin", {str(EXAMPLE)!r})
coin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coin)


class Coin(coin.LiarsCoin):
    def __init__(self):
        pass


def broken():
    raise RuntimeError("not today")


mini = Variant("mini", 5, 5, (), 2, parse_army("F1 J2 P1"), total_limit=60)


def long(rules=None):
    return Stratego(mini, rules or "total_limit=80")
"""


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write a file of games that an installed package offers."""
    (tmp_path / "their_games.py").write_text(THEIRS)
    info = tmp_path / "their_games-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-games\nVersion: 1.0\n")
    offered = {"coin": "Coin", "mini": "mini", "long": "long", "broken": "broken", "path": "Path", "gone": "gone"}
    lines = [f"{name} = their_games:{what}" for name, what in offered.items()]
    (info / "entry_points.txt").write_text("\n".join(["[vauban.games]", *lines, "all = their_games"]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    base.names()
    for table in ("_makers", "_failed"):
        monkeypatch.setattr(base, table, dict(getattr(base, table)))
    monkeypatch.setattr(base, "_loaded", False)
    yield tmp_path / "their_games.py"
    for name in ("their_games", "their_coin"):
        sys.modules.pop(name, None)


def test_installed_packages_offer_games_in_any_form(theirs: Path) -> None:
    assert {"coin", "mini", "long"} <= set(base.names())
    assert base.game("coin").name == "liars-coin"
    assert base.game("long").max_plies == 80 and base.game("long", "total_limit=70").max_plies == 70
    for name in ("coin", "mini", "long"):
        game = base.game(name)
        again = base.from_spec(game.spec())
        assert type(again) is type(game) and again.format() == game.format(), "its spec makes it again"
    with pytest.raises(ConfigurationError, match="'coin' has no rules to choose, so 'isf' cannot be used"):
        base.game("coin", "isf")


def test_a_package_whose_games_are_broken_leaves_the_others_alone(theirs: Path) -> None:
    assert "classic" in base.names() and "coin" in base.names()
    said = base.failed()
    assert set(said) == {"broken", "path", "gone"}
    assert said["broken"] == "the game 'broken' cannot be made: RuntimeError: not today"
    assert "'path' is no game" in said["path"]
    with pytest.raises(ConfigurationError, match="'gone' of the package their-games cannot be loaded from their_g"):
        base.game("gone")
    done = CliRunner().invoke(app, ["games"])
    assert done.exit_code == 0 and "coin" in done.stdout
    assert said["gone"] in done.stderr.replace("\n", " ")


def test_a_name_that_a_game_has_is_refused_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    base.names()
    monkeypatch.setattr(base, "_makers", dict(base._makers))

    class Other(type(base.game("kuhn"))):  # type: ignore[misc]
        """Poker by other rules."""

    with pytest.raises(ConfigurationError, match=r"a game 'kuhn' already, of vauban\.games\.kuhn: register this"):
        base.register("kuhn", Other)
    assert type(base.game("kuhn")) is not Other
    base.register("other", Other)
    base.register("other", Other)


def test_a_package_does_not_replace_a_game_that_is_shipped(theirs: Path) -> None:
    points = theirs.parent / "their_games-1.0.dist-info" / "entry_points.txt"
    points.write_text("[vauban.games]\nclassic = their_games:mini\nmini = their_games:mini\n")
    assert base.game("classic").max_plies != 60 and base.game("mini").max_plies == 60
    assert "offers a game 'classic', and there is one already, of vauban.games" in base.failed()["classic"]


def test_a_game_that_is_shipped_keeps_its_name_when_a_package_was_here_before(monkeypatch: pytest.MonkeyPatch) -> None:
    class Early(type(base.game("leduc"))):  # type: ignore[misc]
        """A game of a module that was imported before any that is shipped."""

    shipped = base._makers["kuhn"]
    for table in ("_makers", "_failed"):
        monkeypatch.setattr(base, table, {})
    base.register("kuhn", Early)
    base.register("kuhn", shipped)
    assert base._makers["kuhn"] is shipped and "already, of test_games" in base._failed["kuhn"]


def test_a_game_of_a_file_is_written_so_that_it_is_found_from_any_folder(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(theirs.parent)
    game = base.game("py:their_games.py:Coin")
    text = write_game(Board(game, seed=1))
    monkeypatch.chdir("/")
    [again] = read_games(text)
    assert type(again.game) is type(game)
    assert type(base.from_spec(game.spec())) is type(game)


def test_a_file_may_hold_a_variant_or_a_function_that_makes_a_game(theirs: Path) -> None:
    assert base.game(f"py:{theirs}:mini").max_plies == 60
    assert base.game(f"py:{theirs}:long", "total_limit=70").max_plies == 70
    assert base.game(f"py:{theirs}:Coin").name == "liars-coin"
    with pytest.raises(ConfigurationError, match="cannot be made: RuntimeError: not today"):
        base.game(f"py:{theirs}:broken")


def test_a_class_is_taken_wherever_a_game_is(theirs: Path) -> None:
    coin = type(base.game(f"py:{theirs}:Coin"))
    assert Simulator(coin, 2, seed=1).game.name == "liars-coin"
    for other in (Path, 5):
        with pytest.raises(ConfigurationError, match="is no game: make it a class that derives"):
            base.game(other)  # type: ignore[arg-type]


def test_a_class_after_stratego_is_made_again_as_that_class(tmp_path: Path) -> None:
    path = tmp_path / "after.py"
    path.write_text("from vauban.games.stratego.game import Stratego\n\n\nclass After(Stratego):\n    version = 9\n")
    assert base.from_spec(base.game(f"py:{path}:After").spec()).version == 9


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


@pytest.mark.parametrize("first", ["vauban.games.stratego", "vauban.games.kuhn", "vauban.agents"])
def test_games_are_listed_in_one_order_whatever_was_imported_first(first: str) -> None:
    code = f"import {first}; from vauban.games.base import names; print(*names())"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert listed == [name for name in base.names() if type(base.game(name)).__module__.startswith("vauban.")]
    assert listed.index("geister") < listed.index("classic") < listed.index("kuhn")
