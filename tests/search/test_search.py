"""The search: its formulas against the document, its values against exact ones, its wall, its clock."""

from __future__ import annotations

import gc
import math
import weakref
from copy import deepcopy
from dataclasses import replace
from time import perf_counter

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.optimize import minimize
from torch import Tensor

from vauban.board import Board
from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.base import game as find_game
from vauban.games.stratego.game import Stratego
from vauban.nets.belief import BeliefNetwork, MarginalBelief, OrderedBelief, UniformBelief
from vauban.nets.magnet import action_sources, magnet_log_policy
from vauban.nets.move import MoveNetwork
from vauban.nets.plain import PlainNetwork
from vauban.nets.store import load_model
from vauban.nets.transformer import Size
from vauban.search.allocation import BELIEF, CONFIGURATIONS, DEPTH, MOVES, Plan, make_plan, rollout_counts
from vauban.search.draws import Draws
from vauban.search.opinion import ask, look, pick
from vauban.search.pace import Pace
from vauban.search.rollouts import Rollouts
from vauban.search.search import KEPT, Search, SearchConfig
from vauban.search.update import mirror_descent
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

SMALL = Size(depth=1, width=16, heads=2)


def opinionated(game: Game, seed: int = 1) -> MoveNetwork:
    """Return a network with random weights, large enough that it prefers some moves and outcomes to others."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = MoveNetwork(game, SMALL)
        with torch.no_grad():
            network.source_and_target.weight *= 4
            network.outcome.weight *= 3
    return network


def position(game: Game, plies: int, seed: int = 3, rows: int = 1) -> Snapshot:
    """Return views of the player on turn after random play, in games that go on."""
    sim = Simulator(game, 8 * rows, seed=seed, restart=False)
    for _ in range(plies):
        sim.step(sim.sample())
    live = torch.nonzero(~sim.over)[:rows, 0]
    assert len(live) == rows
    return sim.views(plies % 2)[live]


# ── The update ───────────────────────────────────────────────────────────────────────────────────

GOLDEN_VALUES = [0.10, 0.14, -0.05, 0.12]
GOLDEN_POLICY = [0.5, 0.3, 0.15, 0.05]
GOLDEN_MAGNET = [1 / 6, 1 / 2, 1 / 6, 1 / 6]


def updated(alpha: float, beta: float, magnet: list[float] = GOLDEN_MAGNET) -> npt.NDArray[np.float64]:
    numbers = (torch.tensor(each, dtype=torch.float64) for each in (GOLDEN_VALUES, GOLDEN_POLICY, magnet))
    values, policy, rho = numbers
    return mirror_descent(values, policy.log(), rho.log(), alpha, beta).exp().numpy()


@pytest.mark.parametrize(
    ("beta", "alpha", "expected"),
    [
        (0.02, 0.002, [0.1790462172, 0.7660999934, 0.0000655424, 0.0547882471]),
        (0.02, 0.0, [0.1752716958, 0.7770554356, 0.0000290820, 0.0476437866]),
        (0.05, 0.002, [0.3912951125, 0.5390286063, 0.0068701126, 0.0628061686]),
        (0.0, 0.002, [6.870408e-10, 0.9999848662, 1.84e-42, 1.513308e-5]),
    ],
)
def test_the_update_has_the_golden_numbers_of_17_5(beta: float, alpha: float, expected: list[float]) -> None:
    found = updated(alpha, beta)
    assert found == pytest.approx(expected, rel=0, abs=6e-11)
    tiny = np.array(expected) < 1e-8  # written with fewer digits
    assert found[tiny] == pytest.approx(np.array(expected)[tiny], rel=2e-3)


def test_a_uniform_magnet_has_the_golden_numbers_of_17_5() -> None:
    expected = [0.1931077, 0.7477306, 0.0000707, 0.0590911]
    assert updated(0.002, 0.02, [0.25] * 4) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_the_closed_form_is_the_maximum_of_equation_7(seed: int) -> None:
    """Found by a numerical optimiser over the logits, at a real position of micro."""
    game = find_game("micro")
    opinion = ask(opinionated(game, seed), position(game, 3, seed))
    there = opinion.legal[0] >= 0
    log_policy = opinion.log_policy[0, there].double()
    log_magnet = magnet_log_policy(action_sources(game), opinion.legal)[0, there].double()
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, len(log_policy))
    alpha, beta = rng.uniform(0.01, 0.3, 2)

    def loss(logits: npt.NDArray[np.float64]) -> float:
        log_pi = logits - np.logaddexp.reduce(logits)
        pi = np.exp(log_pi)
        return -(
            pi @ values - alpha * (pi @ (log_pi - log_magnet.numpy())) - beta * (pi @ (log_pi - log_policy.numpy()))
        )

    found = minimize(loss, np.zeros(len(values)), method="BFGS", options={"gtol": 1e-9})
    best = np.exp(found.x - np.logaddexp.reduce(found.x))
    closed = mirror_descent(torch.from_numpy(values), log_policy, log_magnet, alpha, beta).exp().numpy()
    assert closed == pytest.approx(best, abs=2e-5)
    assert loss(np.log(closed)) <= loss(np.log(best)) + 1e-12


def test_absent_actions_stay_absent_and_a_search_without_any_pull_is_refused() -> None:
    absent = torch.tensor([0.0, -torch.inf])
    assert mirror_descent(torch.tensor([0.3, torch.nan]), absent, absent, 0.1, 0.1).exp().tolist() == [1.0, 0.0]
    with pytest.raises(ConfigurationError, match="not both 0"):
        SearchConfig(alpha=0, beta=0)
    with pytest.raises(ConfigurationError, match="alpha and beta are finite"):
        SearchConfig(alpha=math.inf)


# ── Allocation ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rollouts", "legal", "counts", "configurations"),
    [
        (10, 4, [3, 3, 2, 2], 2),
        (11, 4, [2, 3, 3, 3], 2),
        (1000, 30, [34] * 10 + [33] * 20, 33),
        (1000, 27, [38] + [37] * 26, 37),
        (1000, 7, [142] + [143] * 6, 142),
        (100, 100, [1] * 100, 1),
    ],
)
def test_rollouts_are_shared_out_as_in_17_5(rollouts: int, legal: int, counts: list[int], configurations: int) -> None:
    plan = make_plan(legal, rollouts, 40)
    assert plan == Plan(rollouts, 40, configurations, legal)
    assert rollout_counts(plan.rollouts, plan.moves).tolist() == counts
    # Rollouts take the configurations in turn, so that every move meets every one.
    order = np.arange(rollouts) % configurations
    for block in np.split(order, np.cumsum(counts)[:-1]):
        assert set(block) == set(range(configurations))


def test_configurations_can_be_capped_and_fewer_rollouts_than_moves_go_to_the_likeliest() -> None:
    assert make_plan(7, 1000, 40, most=20) == Plan(1000, 40, 20, 7)
    assert make_plan(30, 12, 40) == Plan(12, 40, 1, 12)
    assert make_plan(30, 1000, 2, 0, Pace(0.5, 0.01, 0.001), 2.0).cut == (CONFIGURATIONS,), "2 plies stay 2"


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (100.0, Plan(1000, 40, 33, 30)),
        (41.2, Plan(1000, 40, 33, 30)),
        (20.9, Plan(1000, 20, 33, 30, (DEPTH,))),
        (5.0, Plan(1000, 4, 33, 30, (DEPTH,))),
        (1.5, Plan(240, 4, 8, 30, (DEPTH, CONFIGURATIONS))),
        (0.667, Plan(31, 4, 1, 30, (DEPTH, CONFIGURATIONS))),
        (0.601, Plan(15, 4, 1, 15, (DEPTH, CONFIGURATIONS, MOVES))),
        (0.01, Plan(2, 4, 1, 2, (DEPTH, CONFIGURATIONS, MOVES))),
    ],
)
def test_what_does_not_fit_the_time_is_cut_in_the_stated_order(time: float, expected: Plan) -> None:
    """A search costs half a second, and each ply 10 ms and a millisecond for each rollout."""
    pace = Pace(fixed=0.5, ply=0.01, row=0.001)
    plan = make_plan(30, 1000, 40, 0, pace, time)
    assert plan == expected
    assert pace.seconds(plan.rollouts, plan.depth) <= max(time, pace.seconds(2, 4))


def test_a_belief_that_would_take_half_of_the_time_is_not_asked() -> None:
    pace = Pace(fixed=0.1, ply=0.0, row=0.001, draw=0.4)
    assert make_plan(30, 1000, 40, 0, pace, 1.0) == Plan(125, 4, 4, 30, (DEPTH, CONFIGURATIONS))
    assert make_plan(30, 1000, 40, 0, pace, 0.8) == Plan(175, 4, 5, 30, (BELIEF, DEPTH, CONFIGURATIONS))
    assert make_plan(30, 20, 2, 0, pace, 0.8) == Plan(20, 2, 1, 20, (BELIEF,))

    game = find_game("barrage")
    torch.manual_seed(1)
    asked = []

    class Watched(BeliefNetwork):
        def sample(self, seen: Tensor, uniforms: Tensor, *, wait: bool = True) -> Tensor:
            asked.append(len(seen))
            return super().sample(seen, uniforms, wait=wait)

    search = Search(opinionated(game), Watched(game, SMALL, decoder_depth=1), SearchConfig(rollouts=8, depth=2))
    view = position(game, 20)
    for draw, often in ((0.1, 1), (60.0, 0)):
        search.paces[game.name] = Pace(0.0, 0.0, 0.01, draw)
        asked.clear()
        [found] = search.analyse(view, [1], time=1.0)
        assert (BELIEF in found.plan.cut, len(asked)) == (not often, often)
    assert search.paces[game.name].draw == 60.0, "what was not done says nothing about what it takes"


def test_without_a_belief_or_the_time_to_ask_it_all_that_is_possible_is_equally_likely() -> None:
    game = find_game("barrage")
    network, view = opinionated(game), position(game, 40)
    config = SearchConfig(rollouts=400, depth=2)

    def configurations(belief: OrderedBelief | None, time: float = 0.0) -> list[list[int]]:
        search = Search(network, belief, config)
        search.paces[game.name] = Pace(fixed=0.0, ply=0.0, row=1e-9, draw=60.0)
        [found] = search.analyse(view, [5], time=time)
        drawn: list[list[int]] = found.configurations.tolist()
        return drawn

    uniform, marginal = configurations(UniformBelief(game)), configurations(MarginalBelief(game))
    assert uniform != marginal, "where both draw the same, nothing is shown"
    assert configurations(None) == uniform
    assert configurations(MarginalBelief(game), time=1.0) == uniform, "to ask the belief would take a minute"


def test_a_machine_that_was_busy_for_a_moment_is_not_taken_for_slow() -> None:
    pace = Pace(fixed=0.1, ply=0.01, row=0.001, draw=0.2)
    usual = pace.corrected(0.1, 0.2, 1.0)
    assert (usual.fixed, usual.ply, usual.row, usual.draw) == pytest.approx((0.1, 0.01, 0.001, 0.2))
    busy = pace.corrected(30.0, 30.0, 300.0)
    assert busy.seconds(100, 10) < 1.6 * pace.seconds(100, 10)
    quick = pace.corrected(0.05, 0.1, 0.5)
    assert quick.seconds(100, 10) == pytest.approx(0.75 * pace.seconds(100, 10)), "half of it is believed"


def test_a_search_cut_short_looks_at_every_move_and_updates_by_the_same_formula() -> None:
    game = find_game("tiny")
    view, config = position(game, 4), SearchConfig(rollouts=400, depth=2)
    search = Search(opinionated(game), None, config)
    search.paces[game.name] = Pace(fixed=0.0, ply=0.0, row=0.03)  # 16 rollouts fit into a second
    [found] = search.analyse(view, [1], time=1.0 / 0.9)
    assert found.plan.cut == (CONFIGURATIONS,) and found.plan.configurations == 16 // len(found.actions) < 3
    assert found.visits.min() >= 1
    magnet = magnet_log_policy(action_sources(game), torch.tensor(found.actions)[None])
    before = torch.tensor(found.before).log()[None]
    values = torch.tensor(found.values)[None]
    expected = mirror_descent(values, before, magnet, config.alpha, config.beta).exp()[0]
    assert found.policy == pytest.approx(expected.numpy(), abs=1e-6)


# ── Values ───────────────────────────────────────────────────────────────────────────────────────


def exact_values(network: MoveNetwork, view: Snapshot, depth: int) -> npt.NDArray[np.float64]:
    """Compute the mean of rollouts: over all assignments of the hidden pieces and all moves of both sides, weighed."""
    game, viewer = view.game, view.viewer
    assert viewer is not None
    utilities = np.array(game.utilities)
    legal = ask(network, view).legal[0]
    actions = legal[legal >= 0]
    board = Simulator(game, 1, seed=0)
    board.restore(view)
    belief = UniformBelief(game)
    draws = torch.rand((1, 4000, belief.pieces), generator=torch.Generator().manual_seed(0))
    seen = board.observe("ataraxos", layout="squares", viewer=viewer)
    worlds = belief.sample(seen, draws)[0].unique(dim=0)  # all that there are, and all equally likely
    rows = len(actions) * len(worlds)
    sim = Simulator(game, rows, seed=0, restart=False)
    sim.determinise(view, viewer, worlds.repeat(len(actions), 1))
    sim.step(actions.repeat_interleave(len(worlds)))
    move = np.repeat(np.arange(len(actions)), len(worlds))
    weight = np.full(rows, 1 / len(worlds))
    for _ in range(depth - 1):
        legal, counts = sim.legal_actions()
        policy = network.legal_log_policy(
            network(sim.observe("ataraxos", layout="squares"))[0], legal
        ).exp().detach().numpy()  # fmt: skip
        children = counts.clamp_min(1).long()  # a game that is over goes on as it is
        parent = torch.repeat_interleave(torch.arange(sim.n), children).numpy()
        place = np.concatenate([np.arange(int(count)) for count in children])
        goes_on = (counts[parent] > 0).numpy()
        chosen = legal[parent, place]
        snapshot = sim.snapshot()[torch.from_numpy(parent)]
        sim = Simulator(game, len(parent), seed=0, restart=False)
        sim.restore(snapshot)
        sim.step(chosen, check=False)
        weight = weight[parent] * np.where(goes_on, policy[parent, place], 1.0)
        move = move[parent]
    foreseen = network(sim.observe("ataraxos", layout="squares"))[1].detach().softmax(-1).numpy() @ utilities
    foreseen *= np.where(sim.players.numpy() == viewer, 1, -1)
    results = sim.results.utility.numpy() * (1 if viewer == 0 else -1)
    values = np.where(sim.over.numpy(), results, foreseen)
    return np.bincount(move, weight * values)


@pytest.mark.parametrize(
    ("name", "rules", "plies", "depth"),
    [
        ("nano", None, 2, 4),
        ("micro", None, 3, 2),
        ("micro", None, 4, 4),
        pytest.param("micro", "total_limit=8", 3, 6, id="micro-to-the-end"),
        ("tiny", None, 5, 2),
    ],
)
def test_values_converge_to_the_exact_ones_as_rollouts_grow(
    name: str, rules: str | None, plies: int, depth: int
) -> None:
    game = find_game(name, rules)
    network = opinionated(game)
    view = position(game, plies)
    exact = exact_values(network, view, depth)
    assert np.ptp(exact) > 0.01, "moves that are all worth the same prove little"
    search = Search(network, None, SearchConfig(rollouts=400, depth=depth))
    errors = []
    for rollouts in (400, 12_000):
        search.config = replace(search.config, rollouts=rollouts)
        [found] = search.analyse(view, [7])
        each = rollouts / len(exact)
        assert found.values == pytest.approx(exact, abs=4.5 / np.sqrt(each))
        errors.append(np.abs(found.values - exact).mean())
    # Values lie between −1 and 1: a mean of k of them is wrong by 1/√k at most, most of the time.
    assert errors[1] < max(0.5 * errors[0], 0.01)
    assert found.visits.tolist() == rollout_counts(12_000, len(exact)).tolist()


def test_a_game_that_ends_inside_a_rollout_scores_its_result() -> None:
    """A known Flag can be taken: that move wins, whatever the network thinks; and a draw is a draw."""
    board = Board.from_position("3f!/3J/l3/FP2 r 20 0 -,- 0:-,0:-", "tiny")
    network = opinionated(board.game)
    search = Search(network, None, SearchConfig(rollouts=90, depth=4))
    [found] = search.analyse(board.view(0).snapshot(), [1])
    texts = [board.game.action_text(0, int(action)) for action in found.actions]
    win = next(place for place, text in enumerate(texts) if text.startswith("d3") and text.endswith("d4"))
    assert found.values[win] == 1.0 and found.outcomes[win].tolist() == [0, 0, 1]
    assert found.policy[win] == found.policy.max() > 0.9 > found.before[win]
    drawn = Board.from_position("l2f/4/3J/FP2 r 20 0 -,- 0:-,0:-", "tiny", "total_limit=22")
    [found] = search.analyse(drawn.view(0).snapshot(), [1])
    assert found.values == pytest.approx(0.0) and found.forecast == pytest.approx([0, 1, 0])


def test_blue_searches_as_red_does_from_the_same_side_of_the_board() -> None:
    red = Board.from_position("3f/l3/1J2/FP2 r 20 0 -,- 0:-,0:-", "tiny")
    blue = Board.from_position("2pf/2j1/3L/F3 b 20 0 -,- 0:-,0:-", "tiny")
    search = Search(opinionated(red.game), None, SearchConfig(rollouts=6000, depth=4))
    [mine], [other] = (search.analyse(board.view(board.turn).snapshot(), [5]) for board in (red, blue))
    # Actions are in the mover's frame, and listed in the order of the board's squares.
    first, second = np.argsort(mine.actions), np.argsort(other.actions)
    assert mine.actions[first].tolist() == other.actions[second].tolist()
    assert mine.before[first] == pytest.approx(other.before[second], abs=1e-6)
    assert mine.values[first] == pytest.approx(other.values[second], abs=0.12)


def test_moves_without_a_rollout_have_the_mean_value_and_the_others_decide() -> None:
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(rollouts=5, depth=2))
    [found] = search.analyse(position(game, 20), [1])
    searched = found.visits > 0
    assert searched.sum() == 5 and found.plan.moves == 5 and len(found.actions) > 5
    assert found.before[searched].min() >= found.before[~searched].max()
    mean = found.before[searched] @ found.values[searched] / found.before[searched].sum()
    assert found.values[~searched] == pytest.approx(mean)
    assert found.policy.sum() == pytest.approx(1)


@pytest.mark.parametrize("temperature", [0.25, 2.0])
def test_a_search_starts_from_the_policy_at_the_temperature_of_play_and_finds_the_same_values(
    temperature: float,
) -> None:
    game = find_game("micro")
    network, views = opinionated(game), position(game, 3)
    config = SearchConfig(rollouts=60, depth=2, alpha=0.002, beta=0.1)
    [usual] = Search(network, config=config).analyse(views, [5])
    [found] = Search(network, config=config, temperature=temperature).analyse(views, [5])
    powers = usual.before ** (1 / temperature)
    assert found.before == pytest.approx(powers / powers.sum(), rel=1e-4)
    assert found.values == pytest.approx(usual.values)
    ratio = found.policy / usual.policy
    expected = (found.before / usual.before) ** (config.beta / (config.alpha + config.beta))
    assert ratio / ratio[0] == pytest.approx(expected / expected[0], rel=1e-3)


def test_only_the_moves_that_are_to_be_compared_get_rollouts() -> None:
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(rollouts=30, depth=2))
    view = position(game, 20)
    [every] = search.analyse(view, [1])
    wanted = every.actions[np.argsort(every.before)[:3]].tolist()
    [found] = search.analyse(view, [1], among=[wanted])
    assert sorted(found.actions[found.visits > 0].tolist()) == sorted(wanted)
    assert found.visits.max() == 10 and (found.plan.moves, found.plan.configurations) == (3, 10)
    with pytest.raises(ConfigurationError, match="none of the actions"):
        search.analyse(view, [1], among=[[]])


def test_a_cap_on_moves_gives_their_rollouts_to_the_likeliest() -> None:
    game = find_game("barrage")
    view = position(game, 20)
    [every] = Search(opinionated(game), None, SearchConfig(rollouts=30, depth=2)).analyse(view, [1])
    capped = Search(opinionated(game), None, SearchConfig(rollouts=30, depth=2, moves=3))
    [found] = capped.analyse(view, [1])
    likeliest = every.actions[np.argsort(-every.before, kind="stable")[:3]]
    assert sorted(found.actions[found.visits > 0].tolist()) == sorted(likeliest.tolist())
    assert found.visits.max() == 10 and (found.plan.moves, found.plan.configurations) == (3, 10)
    wanted = every.actions[np.argsort(every.before)[:2]].tolist()
    [few] = capped.analyse(view, [1], among=[wanted])
    assert sorted(few.actions[few.visits > 0].tolist()) == sorted(wanted), "of fewer moves, all are tried"
    with pytest.raises(ConfigurationError, match="no negative numbers.*moves=-1"):
        SearchConfig(moves=-1)


def test_standard_errors_say_how_far_other_seeds_find_other_values() -> None:
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(rollouts=300, depth=2))
    view = position(game, 20)
    found = [search.analyse(view, [seed])[0] for seed in range(30)]
    apart = np.std([each.values for each in found], axis=0, ddof=1)
    told = np.mean([each.errors for each in found], axis=0)
    assert apart.mean() == pytest.approx(told.mean(), rel=0.35) and told.min() > 0
    [few] = Search(opinionated(game), None, SearchConfig(rollouts=5, depth=2)).analyse(view, [1])
    assert np.isinf(few.errors).all(), "one rollout alone does not tell"


# ── One and many ─────────────────────────────────────────────────────────────────────────────────


def test_many_games_at_once_are_searched_as_each_one_alone() -> None:
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(rollouts=40, depth=4))
    views = position(game, 21, rows=5)
    together = search.analyse(views, [1, 2, 3, 2**64 - 1, 5])
    for row, seed in enumerate([1, 2, 3, 2**64 - 1, 5]):
        [alone] = search.analyse(views[row], [seed])
        assert alone.plan == together[row].plan
        assert np.array_equal(alone.configurations, together[row].configurations)
        assert alone.values == pytest.approx(together[row].values, abs=1e-5)
        assert alone.policy == pytest.approx(together[row].policy, abs=1e-4)


def test_the_same_seed_gives_the_same_answer_and_another_one_another() -> None:
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(rollouts=40, depth=4))
    view = position(game, 20)
    one, same, other = (search.analyse(view, [seed])[0] for seed in (3, 3, 4))
    assert np.array_equal(one.values, same.values) and np.array_equal(one.policy, same.policy)
    assert not np.array_equal(one.values, other.values)
    assert not np.array_equal(one.configurations, other.configurations)


def test_an_analysis_tells_everything_about_the_position() -> None:
    game = Stratego("barrage")
    view = position(game, 30)
    [found] = Search(opinionated(game), None, SearchConfig(rollouts=300, depth=2)).analyse(view, [1])
    told = found.to_json()
    assert found.before.sum() == pytest.approx(1, abs=1e-6) and found.policy.sum() == pytest.approx(1)
    assert found.value == pytest.approx(found.forecast @ [-1, 0, 1])
    assert [each["move"] for each in told["moves"]] == [
        game.action_text(0, int(found.actions[place])) for place in np.argsort(-found.policy, kind="stable")
    ]
    sim = Simulator(game, 1, seed=0)
    sim.restore(view)
    assert len(found.belief()) == int(sim.hidden_counts(0)[0])
    totals = np.zeros(12)
    for kinds in found.belief().values():
        assert sum(kinds.values()) == pytest.approx(1)
        for kind, share in kinds.items():
            totals[kind] += share
    assert totals == pytest.approx(totals.round()), "each configuration gives out just the types that are hidden"
    assert (told["rollouts"], told["depth"], told["cut"]) == (300, 2, [])


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def test_what_is_hidden_changes_nothing_that_a_search_finds() -> None:
    game = Stratego("barrage")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        belief = BeliefNetwork(game, SMALL, decoder_depth=1)
    search = Search(opinionated(game), belief, SearchConfig(rollouts=30, depth=2))
    sim, twin = Simulator(game, 6, seed=3), Simulator(game, 6, seed=4)
    sim.play_random(20)
    views = sim.views(0)
    generator = torch.Generator().manual_seed(2)
    uniform = UniformBelief(game)
    draws = torch.rand((6, 1, uniform.pieces), generator=generator)
    others = uniform.sample(sim.observe("ataraxos", layout="squares", viewer=0), draws)[:, 0]
    twin.determinise(views, 0, others)
    assert (sim.hidden_values(0)[:, :8] != twin.hidden_values(0)[:, :8]).any(1).sum() >= 5
    for mine, other in zip(search.analyse(views, range(6)), search.analyse(twin.views(0), range(6)), strict=True):
        assert np.array_equal(mine.policy, other.policy) and np.array_equal(mine.values, other.values)


def test_whole_games_and_positions_of_the_other_player_are_refused() -> None:
    game = find_game("tiny")
    search = Search(opinionated(game), None, SearchConfig(rollouts=10, depth=2))
    sim = Simulator(game, 2, seed=1)
    with pytest.raises(ConfigurationError, match="whole games"):
        search.analyse(sim.snapshot(), [1, 2])
    with pytest.raises(ConfigurationError, match="view 0: blue is not on turn"):
        search.analyse(sim.views(1), [1, 2])
    with pytest.raises(ConfigurationError, match="2 positions need as many seeds, not 1"):
        search.analyse(sim.views(0), [1])
    with pytest.raises(ConfigurationError, match="an even depth"):
        SearchConfig(depth=3)


def test_a_game_without_pieces_and_rules_without_limits_cannot_be_searched() -> None:
    kuhn = find_game("kuhn")
    with pytest.raises(ConfigurationError, match="there is none for .*uhn"):
        Search(PlainNetwork(kuhn, SMALL)).analyse(Simulator(kuhn, 1, seed=1).views(0), [1])
    board = Board.random("tiny", 1, "total_limit=none")
    with pytest.raises(ConfigurationError, match="give a battleless_limit"):
        Search(opinionated(board.game)).analyse(board.view(0).snapshot(), [1])


# ── The clock ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("time", [0.15, 0.5])
def test_a_search_keeps_to_its_time(time: float) -> None:
    """Within a fifth, on a machine that has other things to do: the best of a few tries counts."""
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(rollouts=1000, depth=40, time=time))
    view = position(game, 20)
    tries = []
    for seed in range(12):
        [found] = search.analyse(view, [seed])
        tries.append((found.seconds / time, found.plan.cut))
        # A whole search does not fit, and depth is the first thing to go.
        if 0.5 < found.seconds / time < 1.2 and found.plan.cut[:1] == (DEPTH,):
            return
    pytest.fail(f"parts of the time that searches took, and what they left out: {tries}")


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["barrage", "classic"])
def test_what_is_shipped_answers_in_time_on_a_cpu(variant: str) -> None:
    """A second for a search that compares moves, a fraction of it for the network alone, in the median of ten."""
    model = load_model(variant)
    search = Search.of_model(model, SearchConfig(time=1.0))
    searched, asked = [], []
    for seed in range(10):
        view = position(model.game, 20 + 2 * seed, seed=seed)
        [found] = search.analyse(view, [seed])
        assert found.plan.moves >= 2 and found.plan.rollouts >= 8
        searched.append(found.seconds)
        begun = perf_counter()
        ask(model.player, view)
        asked.append(perf_counter() - begun)
    assert np.median(searched) < 1.2
    assert np.median(asked) < 0.2


def test_without_a_limit_nothing_is_cut_whatever_the_pace() -> None:
    game = find_game("tiny")
    search = Search(opinionated(game), None, SearchConfig(rollouts=20, depth=6))
    search.paces["tiny"] = Pace(100.0, 100.0, 100.0)
    view = position(game, 4)
    assert search.analyse(view, [1])[0].plan.cut == ()
    [hurried] = search.analyse(view, [1], time=0.01)
    assert hurried.plan == Plan(2, 4, 1, 2, (DEPTH, CONFIGURATIONS, MOVES)), "of one move alone nothing can be learnt"
    assert search.paces["tiny"].seconds(1, 2) < 400, "what a search took is remembered"


def test_rollouts_that_are_no_longer_kept_are_gone_at_once() -> None:
    """On a GPU each holds the memory of a captured graph, gigabytes: none may wait for the garbage collector."""
    game = Stratego("tiny")
    network, view = opinionated(game), position(game, 4)
    search = Search(network, None, SearchConfig(rollouts=32, depth=2, time=0))
    gc.disable()
    try:
        batches = []
        for rollouts in range(32, 34 + KEPT):
            search._analyse(view, np.zeros(1, np.uint64), replace(search.config, rollouts=rollouts))
            batches.append(weakref.ref(search._batches[next(reversed(search._batches))]))
        assert [batch() is None for batch in batches] == [True] * 2 + [False] * KEPT
    finally:
        gc.enable()


def test_places_are_picked_by_their_probability() -> None:
    policies = np.tile([0.0, 0.25, 0.0, 0.75, 0.0], (4, 1))
    assert pick(policies, np.array([1e-10, 0.2499, 0.2501, 1 - 1e-10])).tolist() == [1, 1, 3, 3]


# ── On a GPU ─────────────────────────────────────────────────────────────────────────────────────

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_configurations_drawn_by_replaying_are_those_of_the_belief(device: str) -> None:
    game = find_game("barrage")
    torch.manual_seed(1)
    belief = BeliefNetwork(game, SMALL, decoder_depth=1).to(device)
    seen = look(position(game, 30, rows=6), "ataraxos", torch.float32).to(device)
    uniforms = torch.rand((6, 64, belief.pieces), generator=torch.Generator().manual_seed(0)).to(device)
    with torch.inference_mode():
        draws = Draws(belief, seen[:1], 96)
        for row in range(6):
            drawn = draws.draw(seen[row : row + 1], uniforms[row : row + 1])
            expected = belief.sample(seen[row : row + 1], uniforms[row : row + 1])
            assert (drawn == expected).all(2).float().mean() > 0.95, "only rounding may change a sample"


@needs_gpu
@pytest.mark.parametrize("depth", [2, 10])
def test_cuda_rollouts_are_those_of_the_cpu(depth: int) -> None:
    """A captured ply and a plain one, with the same dice: only rounding may send a game another way."""
    game = find_game("barrage")
    network = opinionated(game)
    view, rows = position(game, 20), 256
    legal = ask(network, view).legal[0]
    first = legal[torch.arange(rows) % int((legal >= 0).sum())]
    belief = UniformBelief(game)
    draws = torch.rand((1, rows, belief.pieces), generator=torch.Generator().manual_seed(0))
    values = belief.sample(look(view, "ataraxos", torch.float32), draws)[0]
    found = []
    for device in ("cpu", "cuda"):
        player = deepcopy(network).to(device)
        batch = Rollouts(player, player, game, rows, view.format)
        views = view.repeat(rows).to(device)
        for _ in range(2):  # the first one captures, the second replays from the start
            numbers = torch.arange(rows, device=device)
            found.append(batch.run(views, values.to(device), first.to(device), numbers, depth).cpu())
    for other in found[1:]:
        assert ((other - found[0]).abs().amax(1) < 1e-3).float().mean() > 0.97


@needs_gpu
def test_cuda_finds_what_the_cpu_finds() -> None:
    game = find_game("barrage")
    views = position(game, 20, rows=3)
    config = SearchConfig(rollouts=600, depth=8)
    torch.manual_seed(1)
    belief = BeliefNetwork(game, SMALL, decoder_depth=1)
    for mine, other in zip(
        Search(opinionated(game), deepcopy(belief), config, "cpu").analyse(views, [1, 2, 3]),
        Search(opinionated(game), deepcopy(belief), config, "cuda").analyse(views, [1, 2, 3]),
        strict=True,
    ):
        assert mine.before == pytest.approx(other.before, abs=1e-3)
        assert mine.plan == other.plan and mine.visits.tolist() == other.visits.tolist()
        assert mine.values == pytest.approx(other.values, abs=0.3)
        assert mine.foreseen == pytest.approx(other.foreseen, abs=1e-2)


@needs_gpu
def test_a_search_on_cuda_rolls_out_and_draws_in_bfloat16_and_asks_for_the_policy_in_float32() -> None:
    game = find_game("barrage")
    torch.manual_seed(1)
    search = Search(opinionated(game), BeliefNetwork(game, SMALL, decoder_depth=1), device="cuda")
    assert isinstance(search._belief, BeliefNetwork)
    for running in (search._player, search._belief):
        assert {each.dtype for each in running.parameters()} == {torch.bfloat16}
    assert {each.dtype for each in search.network.parameters()} == {torch.float32}
    search.config = replace(search.config, rollouts=200, depth=4)
    [found] = search.analyse(position(game, 20), [1])
    assert np.isfinite(found.values).all() and found.policy.sum() == pytest.approx(1)


@needs_gpu
def test_a_search_on_cuda_keeps_to_its_time() -> None:
    game = find_game("barrage")
    search = Search(opinionated(game), None, SearchConfig(time=0.3), "cuda")
    seconds = [search.analyse(position(game, 20), [seed])[0].seconds for seed in range(6)]
    assert min(seconds) < 0.36
