"""Trees of Stratego in steps: from given setups they are worth what those of plain Stratego are, for every policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from vauban.board import Board
from vauban.errors import ConfigurationError
from vauban.games.base import STEP
from vauban.games.base import game as find_game
from vauban.games.stratego import StrategoSteps
from vauban.games.stratego.steps.layout import CHOSEN, DEPLOYING, TARGET
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.sim.stratego_steps import in_whole_moves
from vauban.solve import CFRPlus, Tree, build_tree, evaluate, solve_tree, tabulate, uniform
from vauban.solve.starts import starts_from_setups

Numbers = npt.NDArray[Any]


def in_steps(name: str, rules: str | None = None) -> StrategoSteps:
    game = find_game(f"steps:{name}", rules)
    assert isinstance(game, StrategoSteps)
    return game


def from_setups(game: StrategoSteps) -> tuple[Tree, Tree]:
    """Return the tree of the plain game, and that in steps from the same setups."""
    return build_tree(game.plain), build_tree(game, starts=starts_from_setups(game))


def from_one_start(game: StrategoSteps, first: str, second: str) -> tuple[Tree, Tree]:
    rows = [game.setups.parse(text)[None] for text in (first, second)]
    start = game.setups.starts(*rows)
    return build_tree(game.plain, starts=start), build_tree(game, starts=start)


# ── Values ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "rules", "setups"),
    [
        ("nano", None, None),
        ("micro", "total_limit=8", ("FLP.", "P.FL")),
        ("tiny", "total_limit=5", ("FLPJ", "JFPL")),
        ("barrage", "total_limit=2",
         ("F........O/B........O/.S..N...../.G..M.....", "........../..B......./..MFS...../.OO.GN....")),
    ],
    ids=["nano", "micro-1", "tiny-1", "barrage-1"],
)  # fmt: skip
def test_from_given_setups_the_value_is_that_of_plain_stratego(
    name: str, rules: str | None, setups: tuple[str, str] | None
) -> None:
    game = in_steps(name, rules)
    whole, steps = from_setups(game) if setups is None else from_one_start(game, *setups)
    assert solve_tree(steps).value == pytest.approx(solve_tree(whole).value, abs=1e-9)
    assert steps.histories > whole.histories and (steps.nodes.kind == 3).sum() == (whole.nodes.kind == 3).sum()


def test_from_all_setups_of_micro_both_values_lie_in_the_same_narrow_bounds() -> None:
    bounds = []
    for tree in from_setups(in_steps("micro", "total_limit=4")):
        solver = CFRPlus(tree)
        solver.run(300)
        bounds.append(evaluate(tree, solver.average()).bounds)
    (low, high), (other_low, other_high) = bounds
    assert high - low < 0.002 and other_high - other_low < 0.002
    assert max(low, other_low) <= min(high, other_high)


# ── Policies ─────────────────────────────────────────────────────────────────────────────────────


def some_policy(views: Snapshot, actions: Numbers) -> Numbers:
    """Return uneven probabilities for the legal actions of views of plain Stratego: they depend on view and action."""
    packed = np.asarray(views.pack()).astype(np.uint64)
    factors = np.random.default_rng(1).integers(1, 2**63, packed.shape[1], dtype=np.uint64)
    keys = (packed * factors).sum(1, dtype=np.uint64)[:, None]
    mixed = (keys ^ (actions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xD6E8FEB86659FD93)
    weights = np.where(actions >= 0, 0.05 + (mixed >> np.uint64(40)) / 2.0**24, 0)
    return np.asarray(weights / weights.sum(1, keepdims=True))


def its_two_steps(views: Snapshot, actions: Numbers) -> Numbers:
    """Return the same policy for Stratego in steps: the chance of a piece, then of a target given the piece."""
    whole = in_whole_moves(views)
    game = views.game
    assert isinstance(game, StrategoSteps) and views.viewer is not None
    sim = Simulator(whole.game, len(whole), format=whole.format, restart=False, threads=1, arrays="numpy")
    sim.restore(whole)
    legal = sim.legal_actions()[0].astype(np.int64)
    chances = some_policy(whole, legal)
    pairs = np.array([game.pair_of(action) for action in range(game.plain.action_count)])
    pieces, targets = (np.where(legal >= 0, pairs[legal, each], -1) for each in (0, 1))
    second = np.asarray(views.store.bytes)[:, STEP] == TARGET
    chosen = np.asarray(views.store.words)[:, CHOSEN]
    if views.viewer == 1:
        chosen = game.variant.squares - 1 - chosen
    answers = np.zeros(actions.shape)
    for column in range(actions.shape[1]):
        here = actions[:, column : column + 1]
        first = (chances * (pieces == here)).sum(1)
        joint = (chances * ((pieces == chosen[:, None]) & (targets == here))).sum(1)
        given = (chances * (pieces == chosen[:, None])).sum(1)
        answers[:, column] = np.where(second, joint / np.where(second, given, 1), first) * (here[:, 0] >= 0)
    return answers


@pytest.mark.parametrize(("name", "rules"), [("nano", None), ("micro", "total_limit=4")])
def test_a_policy_and_its_form_in_steps_have_the_same_value_best_responses_and_nash_conv(
    name: str, rules: str | None
) -> None:
    whole, steps = from_setups(in_steps(name, rules))
    one = evaluate(whole, tabulate(whole, some_policy))
    other = evaluate(steps, tabulate(steps, its_two_steps))
    assert other.value == pytest.approx(one.value, abs=1e-12)
    assert other.best_responses == pytest.approx(one.best_responses, abs=1e-12)
    assert other.nash_conv == pytest.approx(one.nash_conv, abs=1e-12) and one.nash_conv > 0.1


# ── Deployment ───────────────────────────────────────────────────────────────────────────────────


def test_uniform_deployment_is_worth_what_drawn_setups_are() -> None:
    """Only the value: a best response gains more where it may choose its setup."""
    game = in_steps("micro", "total_limit=4")
    given = build_tree(game, starts=starts_from_setups(game))
    chosen = build_tree(game)
    one, other = evaluate(given, uniform(given)), evaluate(chosen, uniform(chosen))
    assert other.value == pytest.approx(one.value, abs=1e-12)
    assert all(mine > theirs + 0.005 for mine, theirs in zip(other.best_responses, one.best_responses, strict=True))


def test_a_game_that_deploys_has_one_start_and_a_tree_is_of_the_starts_that_are_given() -> None:
    game = in_steps("nano")
    assert len(build_tree(game).starts) == 1 and not build_tree(game).starts.any()
    assert len(build_tree(game, starts=starts_from_setups(game)).starts) == len(build_tree("nano").starts)
    with pytest.raises(ConfigurationError, match="'kuhn' has no setups, so no starts can be made of them"):
        starts_from_setups(find_game("kuhn"))


def test_the_second_player_knows_no_more_of_a_deployment_than_how_far_it_is() -> None:
    """All histories of blue's deployment in which blue has placed alike are one information set."""
    tree = build_tree(in_steps("micro", "total_limit=2"))
    board = Board(tree.game, seed=0)
    for square in ("a1", "b1", "c1"):
        board.push(square)
    assert board.view(1).snapshot().store.bytes[0, STEP] == DEPLOYING + 3
    sets = np.flatnonzero(tree.groups.owner == 1)
    deploying = [each for each in sets.tolist() if tree.views(np.array([each])).store.bytes[0, STEP] >= DEPLOYING]
    # Nothing placed, one of 4 squares, one of 4 · 3 pairs of squares.
    assert len(deploying) == 1 + 4 + 12
