"""Games from tables of their histories, made by hand: what they tell, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from vauban import Board
from vauban.errors import ConfigurationError
from vauban.games.base import CHANCE
from vauban.games.tabulated.game import TabulatedGame
from vauban.games.tabulated.tabulation import Tabulation, Tabulator
from vauban.sim.simulator import Simulator
from vauban.solve import CFRPlus, build_tree, evaluate, uniform

EVENTS = 300
"""More than one digit tells."""


def number_guess(events: int = EVENTS, seen: Callable[[int], object] = lambda _: "guess") -> Tabulation:
    """The first player sees a number and says low or high; the second, who does not see it, doubts or believes.

    Believing costs 0.25; a doubt costs 1.5 where the claim was true, and wins 1.5 where it was not.
    """
    tabulator = Tabulator("guess")
    weights = [1 / events] * events
    for number, drawn in enumerate(tabulator.chance(0, range(events), weights, ("start", "start"))):
        claims = tabulator.decision(drawn, 0, [0, 1], ["low", "high"], (number, "waits"))
        for claim, said in enumerate(claims):
            answers = tabulator.decision(
                said, 1, [3, 5], ["doubt", "believe"], ((number, claim), (claim, seen(number)))
            )
            true = claim == (number >= events // 2)
            for answer, end in enumerate(answers):
                worth = 0.25 if answer == 1 else (1.5 if true else -1.5)
                tabulator.end(end, worth, ((number, claim, answer), (claim, answer)))
    return tabulator.finished(6, None)


@pytest.fixture(scope="module")
def guess() -> TabulatedGame:
    return TabulatedGame("guess", number_guess())


def test_the_numbers_of_a_game_are_those_of_its_table(guess: TabulatedGame) -> None:
    assert (guess.action_count, guess.max_legal, guess.max_plies, guess.has_chance) == (6, 2, 2, True)
    assert guess.utilities == (-1.5, -0.25, 0.25, 1.5) and guess.moves_in_a_row == 1 and guess.public_actions
    tree = build_tree(guess)
    assert tree.histories == 1 + EVENTS * 7 and tree.information_sets == (EVENTS, 2)
    assert evaluate(tree, uniform(tree)).nash_conv == pytest.approx(0.875 - 0.0)
    assert guess.table.path(len(guess.table.kinds) - 1)[0] in range(EVENTS)


def test_a_hidden_history_is_told_by_digits_and_given_back(guess: TabulatedGame) -> None:
    board = Board(guess, seed=3)
    board.push("low")
    view = board.view(1)
    ways = list(view.assignments())
    assert len(ways) == EVENTS and all(len(way) == 2 for way in ways)
    again = Simulator(guess, EVENTS, seed=1, restart=False)
    again.determinise(view.snapshot().repeat(EVENTS), 1, np.array(ways))
    stands = again.snapshot()
    assert len({tuple(row) for row in stands.pack().tolist()}) == EVENTS, "each assignment is another history"
    assert (again.views(1).pack() == view.snapshot().pack()).all(), "all of which look alike"
    board.pop()
    assert board.view(0).count_assignments() == 1, "the first player sees all there is"


def test_views_tell_nothing_of_what_is_hidden(guess: TabulatedGame) -> None:
    seen = set()
    for seed in range(20):
        board = Board(guess, seed=seed)
        board.push("high")
        seen.add(board.view(1).text)
    assert len(seen) == 1


def test_solver_and_simulator_agree_on_what_play_is_worth(guess: TabulatedGame) -> None:
    tree = build_tree(guess)
    solver = CFRPlus(tree)
    solver.run(200)
    assert evaluate(tree, solver.average()).nash_conv < 0.02
    sim = Simulator(guess, 4000, seed=5, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    assert float(sim.results.utility.mean()) == pytest.approx(evaluate(tree, uniform(tree)).value, abs=0.05)


def test_a_player_who_would_have_to_forget_is_refused() -> None:
    tabulator = Tabulator("forgetful")
    first, second = tabulator.decision(0, 0, [0, 1], ["a", "b"], ("root", "waits"))
    tabulator.decision(first, 0, [0, 1], ["a", "b"], ("again", "waits"))
    with pytest.raises(ConfigurationError, match="of players who forget nothing"):
        tabulator.decision(second, 0, [0, 1], ["a", "b"], ("again", "waits"))


def test_histories_that_look_alike_have_the_same_actions() -> None:
    tabulator = Tabulator("unlike")
    first, second = tabulator.chance(0, [0, 1], [0.5, 0.5], ("", ""))
    tabulator.decision(first, 0, [0, 1], ["a", "b"], ("same", ""))
    with pytest.raises(ConfigurationError, match="look alike to the player on turn have different legal actions"):
        tabulator.decision(second, 0, [0, 2], ["a", "c"], ("same", ""))


def test_a_tree_beyond_the_limit_is_refused() -> None:
    tabulator = Tabulator("large", limit=2)
    with pytest.raises(ConfigurationError, match="'large' is too large: .* at most 2 histories"):
        tabulator.decision(0, 0, [0, 1], ["a", "b"], ("", ""))


def test_chances_keep_their_exact_proportions() -> None:
    tabulator = Tabulator("dice")
    for end, player in zip(tabulator.chance(0, [0, 1, 2], [1 / 6, 1 / 3, 1 / 2], ("", "")), (0, 1, 0), strict=True):
        for last in tabulator.decision(end, player, [0], ["go"], (end, end)):
            tabulator.end(last, 1.0, (last, last))
    game = TabulatedGame("dice", tabulator.finished(1, None))
    assert build_tree(game).chances.probability == pytest.approx([1 / 6, 1 / 3, 1 / 2], abs=1e-15)
    assert game.table.kinds[0] == CHANCE
    with pytest.raises(ConfigurationError, match="no fractions of small numbers"):
        Tabulator("odd").chance(0, [0, 1], [0.1234567891234, 0.8765432108766], ("", ""))


def test_actions_that_share_a_text_are_told_apart_by_number() -> None:
    tabulator = Tabulator("twins")
    for end in tabulator.decision(0, 0, [0, 1, 2], ["Go", "go", "stay"], ("", "")):
        tabulator.end(end, 0.0, (end, end))
    game = TabulatedGame("twins", tabulator.finished(4, None))
    assert [game.action_text(0, action) for action in range(4)] == ["Go #0", "go #1", "stay", "action 3"]
