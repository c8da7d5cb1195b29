"""Learning to set up: the formulas' worked numbers, the table of setups, and a learner that learns."""

from __future__ import annotations

import io
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed

from vauban.errors import ConfigurationError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG
from vauban.games.stratego.setups import random_setup
from vauban.learn.ataraxos.setup_targets import remaining_surprise, setup_advantages, setup_loss
from vauban.learn.ataraxos.setups import SetupConfig, SetupLearner, SetupTable, iterations_to_remember
from vauban.learn.schedules import PowerLaw
from vauban.learn.trainee import Trainee
from vauban.learn.workers import ALONE, Workers
from vauban.nets.setup import Heads, SetupNetwork
from vauban.nets.transformer import Size
from vauban.sim.simulator import Simulator

PAYOFFS = torch.tensor([-1.0, 0.0, 1.0])
STEPS = torch.arange(40, dtype=torch.float64)


# ── Formulas ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("square", "surprise", "target", "advantage"),
    [
        (0, 41.0, 4.1, 0.5166667),
        (1, 39.0, 3.9, 0.4666667),
        (20, 10.5, 1.05, -0.0083333),
        (38, 0.15, 0.015, 0.3741667),
        (39, 0.05, 0.005, 0.4191667),
    ],
)
def test_setup_x_of_section_17_6(square: int, surprise: float, target: float, advantage: float) -> None:
    rest = remaining_surprise(-(2.0 - 0.05 * STEPS)[None])
    assert float(rest[0, square]) == pytest.approx(surprise, abs=1e-9)
    assert float(rest[0, square]) / 10 == pytest.approx(target, abs=1e-9)
    deltas = setup_advantages(
        torch.tensor([[0.0, 1 / 3, 2 / 3]], dtype=torch.float64),
        rest,
        torch.tensor([0.3, 0.2, 0.5], dtype=torch.float64).expand(1, 40, 3),
        (4.0 - 0.1 * STEPS)[None],
        PAYOFFS.double(),
        0.05,
    )
    assert float(deltas[0, square]) == pytest.approx(advantage, abs=5e-8)


def test_setup_y_of_section_17_6() -> None:
    rest = remaining_surprise(-torch.ones(1, 40))
    foreseen = torch.tensor([0.25, 0.25, 0.5]).expand(1, 40, 3)
    lost = torch.tensor([[1.0, 0.0, 0.0]])
    deltas = setup_advantages(lost, rest, foreseen, ((40 - STEPS) / 10).float()[None], PAYOFFS, 0.05)
    assert torch.allclose(deltas, torch.full((1, 40), -1.25), atol=1e-5)


def test_the_loss_of_two_setups_of_two_squares_is_what_one_gets_by_hand() -> None:
    # Two kinds only; the first square was filled with kind 0, the second was forced.
    old = torch.tensor([[[0.5, 0.5], [-1.0, 1.0]]]).clamp_min(0).log().expand(2, 2, 2)
    new = torch.tensor([[[0.75, 0.25], [-1.0, 1.0]]]).clamp_min(0).log().expand(2, 2, 2)
    heads = Heads(new, torch.zeros(2, 2, 3), torch.tensor([[0.5, 0.1], [0.5, 0.1]]))
    loss = setup_loss(
        heads,
        pieces=torch.tensor([[0, 1], [0, 1]]),
        old_log_policy=old,
        advantages=torch.tensor([[2.0, 1.0], [-2.0, 1.0]]),
        outcomes=torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        surprise=torch.tensor([[3.0, 1.0], [3.0, 1.0]]),
        shares=torch.tensor([0.75, 0.25]),
        clip=0.2,
    )
    # r = 1.5: clipped to 1.2 where the advantage is positive; not where it is negative.
    assert float(loss.policy) == pytest.approx((3 * (-2.4 - 1) + 1 * (3 - 1)) / 4 / 2)
    assert float(loss.outcome) == pytest.approx(math.log(3))
    assert float(loss.entropy) == pytest.approx((0.2**2 + 0) / 2, abs=1e-7)
    assert float(loss.divergence) == pytest.approx((0.75 * math.log(1.5) + 0.25 * math.log(0.5)) / 2)
    assert float(loss.clipped) == pytest.approx(0.5)


def test_barred_kinds_leave_the_gradient_finite() -> None:
    network, pieces = a_network("tiny"), torch.tensor([[10, 4, 5, 6]])
    with torch.no_grad():
        old = network(pieces).log_policy
    zero = torch.zeros(1, 4)
    loss = setup_loss(network(pieces), pieces, old, zero + 1, torch.tensor([[0.0, 0, 1]]), zero, torch.ones(1), 0.2)
    sum(loss[:4], torch.zeros(())).backward()  # type: ignore[no-untyped-call]
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in network.parameters())


# ── The table ────────────────────────────────────────────────────────────────────────────────────


def a_network(variant: str, seed: int = 0, size: Size = Size(1, 16, 2)) -> SetupNetwork:  # noqa: B008
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return SetupNetwork(Stratego(variant), size)


def a_learner(
    variant: str, seed: int = 0, device: str = "cpu", workers: Workers = ALONE, **options: Any
) -> SetupLearner:
    config = SetupConfig(**{"per_player": 32, "learning_rate": 3e-3, "expiry": 3, **options})
    trainee = Trainee(a_network(variant), torch.device(device), workers)
    return SetupLearner(trainee, Stratego(variant), config, plies=50, seed=seed, workers=workers)


def starts_of(game: Stratego, red: torch.Tensor, blue: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(game.setups.starts(red.cpu().numpy(), blue.cpu().numpy())).to(red.device)


def test_the_pool_has_as_many_setups_as_asked_for_and_a_simulator_takes_it() -> None:
    learner = a_learner("barrage")
    red, blue = learner.draw_pool(1)
    assert red.shape == blue.shape == (32, 40)
    assert red.dtype == torch.int8
    sim = Simulator(learner.game, 16, seed=1, setups=(red, blue))
    learner.note_ended(sim.starts, torch.zeros(16, dtype=torch.int64))
    assert int(learner.table.counts.sum()) == 32
    assert int(learner.table.counts[-1].sum()) == 0


def test_games_are_put_down_to_the_setups_of_both_players() -> None:
    learner = a_learner("classic")
    red, blue = learner.draw_pool(1)
    # Red 3 beats blue 5 twice and draws once; red 0 loses to blue 5.
    reds, blues = red[[3, 3, 3, 0]], blue[[5, 5, 5, 5]]
    learner.note_ended(starts_of(learner.game, reds[:1], blues[:1]), torch.tensor([2]))
    learner.note_ended(starts_of(learner.game, reds[1:], blues[1:]), torch.tensor([2, 1, 0]))
    table = learner.table
    counted = {
        tuple(row.tolist()): count.tolist() for row, count in zip(table.entries.setups, table.counts[:-1], strict=True)
    }
    assert counted.pop(tuple(red[3].tolist())) == [0, 1, 2]
    assert counted.pop(tuple(red[0].tolist())) == [1, 0, 0]
    assert counted.pop(tuple(blue[5].tolist())) == [2, 1, 1]
    assert all(count == [0, 0, 0] for count in counted.values())


def test_a_game_that_began_iterations_ago_is_found_until_its_setups_expire() -> None:
    learner = a_learner("classic")
    first = learner.draw_pool(1)
    game = starts_of(learner.game, first[0][:1], first[1][:1])
    for iteration, unknown in ((2, 0), (3, 0), (4, 2)):
        learner.draw_pool(iteration)
        learner.note_ended(game, torch.tensor([2]))
        assert learner.learn(iteration)["unknown"] == unknown


def test_every_game_of_a_simulator_is_found_however_many_iterations_it_lasts() -> None:
    learner = a_learner("tiny", expiry=None)  # games of 100 plies at most, 50 in an iteration
    sim = Simulator(learner.game, 32, seed=3, setups=learner.draw_pool(1))
    found = ended = 0
    for iteration in range(1, 6):
        if iteration > 1:
            sim.set_pools(learner.draw_pool(iteration))
        for _ in range(50):
            starts = sim.starts.clone()
            sim.step(sim.sample())
            over = sim.results.ended.bool()
            learner.note_ended(starts[over], 1 + sim.results.utility[over].long())
            ended += int(over.sum())
        metrics = learner.learn(iteration)
        assert metrics["unknown"] == 0
        found += metrics["games"]
    assert found == ended > 100


def test_setups_that_were_never_drawn_count_as_unknown() -> None:
    learner = a_learner("classic")
    red, _ = learner.draw_pool(1)
    foreign = torch.from_numpy(random_setup(learner.game.variant, random.Random(5)))[None]
    learner.note_ended(starts_of(learner.game, red[:1], foreign), torch.tensor([2]))
    metrics = learner.learn(1)
    assert (metrics["unknown"], metrics["games"], metrics["setups"]) == (1, 0.5, 1)


def test_before_a_pool_is_drawn_all_games_are_unknown_and_nothing_is_learned() -> None:
    learner = a_learner("tiny")
    before = [parameter.clone() for parameter in learner.trainee.network.parameters()]
    sim = Simulator(learner.game, 4, seed=1)
    learner.note_ended(sim.starts, torch.tensor([0, 1, 2, 0]))
    assert learner.learn(1)["unknown"] == 8
    assert all(torch.equal(old, new) for old, new in zip(before, learner.trainee.network.parameters(), strict=True))


def test_the_same_setup_is_kept_once_and_the_newest_time() -> None:
    learner = a_learner("nano")
    learner.draw_pool(1)
    assert len(learner.table) == 2  # all setups there are
    learner.draw_pool(2)
    assert len(learner.table) == 2
    assert learner.table.entries.iterations.tolist() == [2, 2]
    assert learner.learn(2)["merged"] == 64


def test_setups_of_one_key_are_not_mistaken_for_each_other() -> None:
    learner = a_learner("tiny")
    table: SetupTable = learner.table
    table._powers = torch.zeros_like(table._powers)
    red, blue = learner.draw_pool(1)
    assert len(table) == 1
    learner.note_ended(starts_of(learner.game, red, blue), torch.full((32,), 2))
    known = torch.cat([red, blue]).eq(table.entries.setups[0]).all(1).sum()
    assert int(table.counts[0].sum()) == int(known)


@pytest.mark.parametrize(
    ("variant", "plies", "iterations"), [("classic", 200, 21), ("classic", 202, 21), ("tiny", 200, 2)]
)
def test_setups_are_remembered_for_as_long_as_a_game_can_run(variant: str, plies: int, iterations: int) -> None:
    assert iterations_to_remember(Stratego(variant), plies) == iterations


def test_games_without_end_need_an_expiry() -> None:
    endless = Stratego("barrage", {"total_limit": None})
    with pytest.raises(ConfigurationError, match="expiry"):
        SetupLearner(Trainee(a_network("barrage"), torch.device("cpu")), endless, SetupConfig(), plies=200, seed=1)


@pytest.mark.parametrize("wrong", [{"per_player": 0}, {"epochs": 0}, {"average": 1.0}, {"reach": -1}, {"expiry": 1}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        SetupConfig(**wrong)


# ── Learning ─────────────────────────────────────────────────────────────────────────────────────


def in_a_corner(setups: torch.Tensor) -> torch.Tensor:
    """Return which setups of one row have the Flag at one of its ends."""
    return (setups[:, 0] == 1 + FLAG) | (setups[:, -1] == 1 + FLAG)


def play(learner: SetupLearner, iterations: range, games: int = 64, equal: bool = False) -> list[dict[str, float]]:
    """Let the Flag in the corner win (or all games be drawn); what the learner says of every iteration."""
    told = []
    for iteration in iterations:
        red, blue = learner.draw_pool(iteration)
        rng = np.random.default_rng((7, iteration))
        red, blue = (pool[torch.from_numpy(rng.integers(len(pool), size=games))] for pool in (red, blue))
        # Each worker has every so manieth of the games.
        red, blue = (pool[learner.workers.rank :: learner.workers.count] for pool in (red, blue))
        results = 1 + in_a_corner(red).long() - in_a_corner(blue).long()
        learner.note_ended(starts_of(learner.game, red, blue), torch.ones_like(results) if equal else results)
        told.append(learner.learn(iteration))
    return told


def corner_share(network: SetupNetwork) -> float:
    return float(in_a_corner(network.draw(1000, np.random.default_rng(0)).setups).float().mean())


NEEDS_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=NEEDS_GPU)])
def test_the_learner_finds_that_a_flag_in_the_corner_wins(device: str) -> None:
    learner = a_learner("tiny", device=device, temperature=PowerLaw(0.01))
    before = corner_share(learner.trainee.network)
    told = play(learner, range(1, 41))
    assert before < 0.65
    assert corner_share(learner.trainee.network) > 0.9
    assert told[-1]["entropy"] < told[0]["entropy"]
    assert told[-1]["entropy_loss"] < told[0]["entropy_loss"]


def test_where_all_setups_are_as_good_the_temperature_brings_back_entropy() -> None:
    entropies = []
    for temperature in (0.3, 0.0):
        learner = a_learner("tiny", temperature=PowerLaw(temperature))
        with torch.no_grad():
            learner.trainee.network.piece.bias[FLAG] += 4.0
        told = play(learner, range(1, 41), equal=True)
        entropies.append((told[0]["entropy"], told[-1]["entropy"]))
    assert entropies[0][0] < 2.2
    assert entropies[0][1] > 2.9  # of log 24 = 3.18
    assert entropies[1][1] < 2.5


def test_each_game_of_a_setup_is_learned_from() -> None:
    learner = a_learner("micro")
    learner.draw_pool(1)
    counts = torch.zeros(len(learner.table), 3, dtype=torch.int64)
    counts[:3] = torch.tensor([[1, 0, 2], [0, 0, 0], [0, 3, 0]])
    each = learner.targets(counts, 0.05)
    assert each.weights.tolist() == [1, 2, 3]
    assert each.outcomes.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    # A lost game and a won one differ by the whole range of outcomes.
    assert torch.allclose(each.advantages[1] - each.advantages[0], torch.tensor(2.0))
    assert torch.equal(each.pieces[0], each.pieces[1])


def test_the_temperature_is_that_of_the_iteration() -> None:
    learner = a_learner("tiny", temperature=PowerLaw(0.4, 0.5), epochs=1)
    [told] = play(learner, range(16, 17))
    assert told["temperature"] == pytest.approx(0.1)
    expected = learner.targets(learner.table.counts[:-1], 0.1).advantages
    assert learner._batch is not None
    torch.testing.assert_close(learner._batch.advantages.sort(0).values, expected.sort(0).values)


def test_a_step_goes_down_the_weighed_sum_of_the_parts_of_the_loss() -> None:
    learner = a_learner("tiny", outcome_weight=0.3, entropy_weight=0.6, kl_weight=0.7, gradient_norm=1e9)
    play(learner, range(1, 3))
    network, batch = learner.trainee.working, learner._batch
    assert batch is not None
    loss = setup_loss(
        network(batch.pieces), batch.pieces, batch.log_policy, batch.advantages, batch.outcomes, batch.surprise,
        batch.weights, learner.config.clip,
    )  # fmt: skip
    assert loss.divergence.item() > 1e-4, "a network that has not moved since it drew has none"
    total = loss.policy + 0.3 * loss.outcome + 0.6 * loss.entropy + 0.7 * loss.divergence
    expected = torch.autograd.grad(total, list(network.parameters()))
    learner._sums.zero_()
    learner._train_batch()
    assert float(learner._sums[0]) == pytest.approx(total.item())
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


def test_setups_are_learned_with_the_gradient_norm_of_their_configuration() -> None:
    learner = a_learner("tiny", gradient_norm=0.01)
    [told] = play(learner, range(1, 2))
    assert told["gradient_norm"] > 0.02
    gradients = [each.grad.flatten() for each in learner.trainee.network.parameters() if each.grad is not None]
    assert float(torch.cat(gradients).norm()) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize(("reach", "kept"), [(0.0, 0.75), (0.25, 0.2), (99.0, 0.75)])
def test_the_average_follows_the_network_by_its_rate(reach: float, kept: float) -> None:
    learner = a_learner("tiny", average=0.75, reach=reach)
    old = learner.trainee.average.piece.weight.clone()
    play(learner, range(1, 2))
    assert torch.allclose(
        learner.trainee.average.piece.weight, kept * old + (1 - kept) * learner.trainee.network.piece.weight
    )


def test_all_is_told_of_an_iteration_and_batches_are_as_large_as_asked() -> None:
    learner = a_learner("barrage", batch=16, epochs=2)
    (told,) = play(learner, range(1, 2), games=20)
    assert told["games"] == 20
    assert 16 < told["setups"] <= 40
    rows = int((learner.table.counts[:-1] > 0).sum())  # setups, once for each outcome of their games
    assert rows >= told["setups"]
    assert told["steps"] == 2 * math.ceil(rows / 16)
    assert all(math.isfinite(value) for value in told.values())
    assert told["entropy"] == pytest.approx(math.log(learner.game.variant.setup_count), rel=0.5)
    assert told["gradient_norm"] > 0


def test_the_same_seed_learns_the_same_and_another_does_not() -> None:
    first, again, other = (a_learner("tiny", seed) for seed in (1, 1, 2))
    assert play(first, range(1, 3)) == play(again, range(1, 3)) != play(other, range(1, 3))


@pytest.mark.parametrize("where", ["between iterations", "before learning"])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(where: str) -> None:
    unbroken = a_learner("barrage")
    play(unbroken, range(1, 3), games=16)
    if where == "before learning":
        red, blue = unbroken.draw_pool(3)
        unbroken.note_ended(starts_of(unbroken.game, red, blue), torch.arange(32) % 3)
    file = io.BytesIO()
    torch.save([unbroken.state(), unbroken.trainee.state()], file)
    file.seek(0)
    resumed = a_learner("barrage")
    mine, its = torch.load(file, weights_only=True)
    resumed.load_state(mine)
    resumed.trainee.load_state(its)
    if where == "before learning":
        assert unbroken.learn(3) == resumed.learn(3)
    assert play(unbroken, range(4, 6), games=16) == play(resumed, range(4, 6), games=16)
    for name in ("network", "average"):
        mine, its = (getattr(learner.trainee, name).state_dict() for learner in (unbroken, resumed))
        assert all(torch.equal(mine[key], its[key]) for key in mine)


def work(rank: int, folder: str) -> None:
    """Be one of two workers: learn together, and write down what came of it."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    # With these numbers the last batch is often a single setup, too small for both.
    learner = a_learner("micro", workers=Workers(rank, 2), per_player=8, batch=2)
    told = play(learner, range(1, 6), games=7)
    torch.save([told, learner.trainee.network.state_dict()], f"{folder}/{rank}")
    distributed.destroy_process_group()


@pytest.mark.slow
def test_two_workers_learn_what_one_with_twice_the_games_does(tmp_path: Path) -> None:
    alone = a_learner("micro", per_player=16, batch=4)
    expected = play(alone, range(1, 6), games=7)
    assert any(told["setups"] % 4 == 1 for told in expected)
    torch.multiprocessing.spawn(work, (str(tmp_path),), nprocs=2)  # type: ignore[no-untyped-call]
    pieces = alone.table.entries.pieces
    for rank in range(2):
        told, weights = torch.load(tmp_path / str(rank), weights_only=True)
        for theirs, ours in zip(told, expected, strict=True):
            assert theirs == pytest.approx(ours, abs=1e-4)
        # What they say is compared: the bias of attention's keys has no effect, and Adam lets it drift with rounding.
        together = a_network("micro")
        together.load_state_dict(weights)
        with torch.no_grad():
            for theirs, ours in zip(together(pieces), alone.trainee.network(pieces), strict=True):
                assert torch.allclose(theirs, ours, atol=1e-4)
