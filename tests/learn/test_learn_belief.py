"""Learning beliefs: the stream of positions, a step of training, and what is learned against the exact truth."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import NUMBER, PLAYER, PLIES
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.layout import BYTES, OWNER_BIT
from vauban.games.stratego.setups import mirrored, parse_setup
from vauban.learn.ataraxos.belief import (
    BeliefConfig,
    BeliefLearner,
    BeliefStage,
    mean_of_things,
)
from vauban.learn.ataraxos.positions import PositionStream, observe_positions
from vauban.learn.base import Place
from vauban.learn.trainee import Trainee
from vauban.nets.belief import MarginalBelief, OrderedBelief, UniformBelief
from vauban.nets.hidden import Kinds
from vauban.nets.move import MoveNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.transformer import Size
from vauban.observe.ataraxos import PLIES_SHARE
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

TINY = Stratego("tiny")
SMALL = BeliefConfig(depth=1, decoder_depth=1, width=32, heads=4, every=3, pool=4, warmup=10)


class Eager(PolicyNetwork):
    """A known policy: the logit of a move is the rank of the piece that moves, times `eagerness`."""

    def __init__(self, game: Stratego, eagerness: float) -> None:
        super().__init__()
        self.observation = "ataraxos"
        self.eagerness = torch.nn.Parameter(eagerness * torch.arange(12.0), requires_grad=False)
        self.sources = torch.tensor([game.decode(0, action)[0] for action in range(game.action_count)])
        self.choice_of_action = torch.arange(game.action_count)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        return (seen[:, :, :12] @ self.eagerness)[:, self.sources], torch.zeros(len(seen), 3)


def make_learner(config: BeliefConfig = SMALL, game: Stratego = TINY, seed: int = 1) -> BeliefLearner:
    """A learner with an untrained network."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = config.network(game)
    return BeliefLearner(Trainee(network, torch.device("cpu")), game, config, seed)


def streamed(count: int, games: int = 32, config: BeliefConfig = SMALL, eagerness: float = 0.0) -> list[Snapshot]:
    """The first batches of a stream."""
    sim = Simulator(TINY, games, seed=9)
    stream = PositionStream(sim, Eager(TINY, eagerness), None, np.random.default_rng(1), config)
    return list(itertools.islice(stream, count))


# ── The stream ───────────────────────────────────────────────────────────────────────────────────


def test_a_stream_gives_positions_of_many_games_and_stages_and_none_twice() -> None:
    batches = streamed(30)
    assert all(len(batch) == 32 for batch in batches)
    words = torch.cat([batch.store.words for batch in batches])
    names = set(zip(words[:, NUMBER].tolist(), words[:, PLIES].tolist(), strict=True))
    assert len(names) == 30 * 32
    for batch in batches[5:]:
        plies = batch.store.words[:, PLIES]
        assert plies.max() - plies.min() > 10, "a batch must mix the stages of games"
        assert 0.2 < batch.store.bytes[:, PLAYER].float().mean() < 0.8, "a batch must mix the players"


def test_a_stream_depends_on_its_seeds_alone() -> None:
    for mine, other in zip(streamed(3), streamed(3), strict=True):
        assert torch.equal(mine.pack(), other.pack())


def test_a_stream_begins_its_games_from_the_setups_it_is_given() -> None:
    setup = torch.as_tensor(parse_setup("FLPJ", TINY.variant))[None]
    calls = []

    def setups(rng: np.random.Generator) -> Tensor:
        calls.append(rng)
        return setup.repeat(4, 1)

    sim = Simulator(TINY, 16, seed=9)
    config = BeliefConfig(every=1, pool=1, warmup=0, refresh=50)
    stream = PositionStream(sim, Eager(TINY, 0.0), setups, np.random.default_rng(1), config)
    batches = list(itertools.islice(stream, 120))
    assert len(calls) == 3
    new = [b[b.store.words[:, PLIES] == 0] for b in batches]
    later = Snapshot.join([each for each in new[20:] if len(each)])
    looker = Simulator(TINY, len(later), seed=0)
    looker.restore(later)
    assert (looker.hidden_values(1)[:, :4] == looker.hidden_values(1)[0, :4]).all()
    assert sorted(looker.hidden_values(1)[0, :4].tolist()) == [4, 5, 6, 10]


def one_setup(game: Stratego) -> SetupNetwork:
    """A network that always sets up in one way, or in its mirror image."""
    network = SetupNetwork(game, Size(1, 32, 4))
    with torch.no_grad():
        network.piece.weight.zero_()
        network.piece.bias.copy_(-100.0 * torch.arange(len(network.piece.bias)))
    return network


def a_stage(game: Stratego, config: BeliefConfig, policy: PolicyNetwork, setup: SetupNetwork | None) -> BeliefStage:
    """A belief about to be learned from games of these networks."""
    device = torch.device("cpu")
    stage = BeliefStage(game, config, Place(device, seed=1))
    networks = {"move": policy} | ({"setup": setup} if setup else {})
    stage.follow({part: Trainee(network, device) for part, network in networks.items()})
    return stage


def strange_run(strange: float, steps: int) -> BeliefStage:
    config = BeliefConfig(
        depth=1, decoder_depth=1, width=32, heads=4, every=3, pool=4, warmup=200, games=32, learning_rate=3e-3,
        average=0.9, steps=steps, validation=256, setups=40, strange=strange,
    )  # fmt: skip
    return a_stage(TINY, config, Eager(TINY, 0.0), one_setup(TINY))


def test_a_share_of_the_setups_is_drawn_uniformly() -> None:
    run = strange_run(0.25, steps=1)
    told = run.iterate()
    for pool in run.stream.state()["setups"]:
        usual = pool[0].numpy()
        own = [(pool.numpy() == each).all(1) for each in (usual, mirrored(usual, TINY.variant))]
        assert 30 <= int((own[0] | own[1]).sum()) < 40
        assert (pool.sort(1).values == pool[0].sort().values).all(), "all have the whole army"
    assert told["belief.strange_uniform"] != told["belief.uniform"], "measured on games of their own"
    assert 0 < told["belief.strange"] < 3


@pytest.mark.slow  # half a minute
def test_a_belief_that_has_met_strange_setups_does_not_take_them_for_its_own() -> None:
    narrow, broad = (strange_run(strange, steps=800) for strange in (0.01, 0.5))
    knows, learns = narrow.iterate(), broad.iterate()
    for told in (knows, learns):
        assert told["belief.validation"] < 0.6 * told["belief.uniform"]
    assert knows["belief.strange"] > 2 * knows["belief.strange_uniform"], "worse than knowing the rules alone"
    assert learns["belief.strange"] < 1.2 * learns["belief.strange_uniform"]


def test_a_belief_that_meets_no_strange_setups_is_not_measured_on_them() -> None:
    assert not [name for name in strange_run(0.0, steps=1).iterate() if "strange" in name]


def test_a_share_of_more_than_all_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1, not 1.5"):
        BeliefConfig(strange=1.5)


def starts_of(positions: Snapshot) -> list[bytes]:
    """Return the starts of games: the record has the owner and the type of every piece by the square it started on."""
    assert isinstance(positions.game, Stratego)
    squares = positions.game.variant.squares
    types = positions.store.bytes[:, BYTES + squares : BYTES + 2 * squares]
    return [bytes(row) for row in (types & (OWNER_BIT | 15)).numpy()]


def test_a_belief_is_measured_on_other_games_than_those_it_learns_from() -> None:
    game = Stratego("barrage")  # with so many setups that no two games begin alike
    config = BeliefConfig(
        depth=1, decoder_depth=1, width=16, heads=2, games=16, pool=3, warmup=6, steps=1, validation=48
    )
    run = a_stage(game, config, Eager(game, 0.0), None)
    learned = [*starts_of(next(run.stream)), *starts_of(next(run.stream))]
    run.iterate()
    learned += [start for positions in itertools.islice(run.stream, 20) for start in starts_of(positions)]
    unseen = [start for positions in run._validation for start in starts_of(positions)]
    for starts in (unseen, learned):
        assert 48 <= len(starts) > 1.5 * len(set(starts)), "several positions of a game have the same start"
    assert not set(unseen) & set(learned)


def test_every_position_counts_the_same_in_a_measurement_however_they_are_cut_into_batches() -> None:
    config = BeliefConfig(
        depth=1, decoder_depth=1, width=16, heads=2, games=100, pool=1, warmup=30, steps=1, validation=112
    )
    run = a_stage(TINY, config, Eager(TINY, 0.0), None)
    told = run.iterate()
    assert [len(batch) for batch in run._validation] == [100, 12]
    whole = run.learner.validate(Snapshot.join(run._validation))
    assert 100 < whole.positions <= 112
    apart = [run.learner.validate(batch) for batch in run._validation]
    for name in ("network", "marginal", "uniform"):
        assert abs(getattr(apart[0], name) - getattr(apart[1], name)) > 0.01, "alike in both, it would prove little"
        told_as = "belief.validation" if name == "network" else f"belief.{name}"
        assert told[told_as] == pytest.approx(getattr(whole, name), rel=1e-5)


def test_taking_only_one_players_positions_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="odd"):
        BeliefConfig(every=4)


def test_what_is_hidden_is_told_to_the_player_on_turn() -> None:
    sim = Simulator(TINY, 64, seed=3)
    sim.play_random(17)
    seen, values = observe_positions(Simulator(TINY, 64, seed=0), sim.snapshot(), "ataraxos", torch.float32)
    for row in range(64):
        viewer = int(sim.players[row])
        assert torch.equal(values[row], sim.hidden_values(viewer)[row])
        assert torch.equal(seen[row], sim.observe("ataraxos", layout="squares", viewer=viewer)[row])


# ── A step of training ───────────────────────────────────────────────────────────────────────────


def test_the_loss_is_the_mean_over_a_positions_pieces_and_then_over_positions() -> None:
    sim = Simulator(Stratego("duel"), 64, seed=3)
    sim.play_random(60)
    seen, values = observe_positions(Simulator(sim.game, 64, seed=0), sim.snapshot(), "ataraxos", torch.float32)
    assert isinstance(sim.game, Stratego)
    learner = make_learner(BeliefConfig(depth=1, decoder_depth=1, width=32, heads=4, dropout=0.0), sim.game)
    with torch.no_grad():
        logits = learner.trainee.network(seen, Kinds(sim.game).read(seen), values).double().numpy()
    log_policy = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    means = []
    for row, types in zip(log_policy, values.tolist(), strict=True):
        named = [kind for kind in types if kind >= 0]
        means.append(np.mean([-row[piece, kind] for piece, kind in enumerate(named)]))
    assert len({sum(kind >= 0 for kind in types) for types in values.tolist()}) > 2
    assert float(learner.learn(sim.snapshot()).loss) == pytest.approx(np.mean(means), rel=1e-5)


def test_a_step_has_the_gradient_norm_and_the_average_of_its_configuration() -> None:
    learner = make_learner(replace(SMALL, gradient_norm=0.01, average=0.75, learning_rate=1e-3))
    trainee = learner.trainee
    old = trainee.average.types.weight.clone()
    assert float(learner.learn(streamed(1)[0]).gradient_norm) > 0.02
    gradients = [each.grad.flatten() for each in trainee.network.parameters() if each.grad is not None]
    assert float(torch.cat(gradients).norm()) == pytest.approx(0.01, rel=1e-3)
    new = trainee.network.types.weight.detach()
    torch.testing.assert_close(trainee.average.types.weight, 0.75 * old + 0.25 * new)
    assert not torch.equal(old, new)


def test_positions_in_which_nothing_is_hidden_do_not_count() -> None:
    sim = Simulator(TINY, 2, seed=1)
    seen = sim.observe("ataraxos", layout="squares", viewer=0)
    seen[1] = 0
    means, counted = mean_of_things(torch.full((2, 4), 3.0), Kinds(TINY).read(seen))
    assert means.tolist() == [3.0, 0.0] and counted.tolist() == [True, False]


def test_training_depends_on_its_seeds_alone_and_leaves_torchs_dice_alone() -> None:
    batches = streamed(4)
    before = torch.get_rng_state()
    one, other, third = make_learner(), make_learner(), make_learner()
    third.seed = 2
    losses = []
    for batch in batches:
        losses.append(float(one.learn(batch).loss))
        torch.rand(3)
        assert float(other.learn(batch).loss) == losses[-1]
    torch.set_rng_state(before)
    assert float(third.learn(batches[0]).loss) != losses[0], "dropout must follow the seed"
    assert torch.equal(torch.get_rng_state(), before)


def test_a_resumed_training_goes_on_as_if_it_had_not_been_interrupted() -> None:
    batches = streamed(6)
    through, first, second = make_learner(), make_learner(), make_learner(seed=1)
    for batch in batches:
        through.learn(batch)
    for batch in batches[:3]:
        first.learn(batch)
    second.trainee.load_state(first.trainee.state())
    second.steps = first.steps
    for batch in batches[3:]:
        second.learn(batch)
    for name in ("network", "average"):
        mine, other = getattr(through.trainee, name), getattr(second.trainee, name)
        assert all(torch.equal(a, b) for a, b in zip(mine.parameters(), other.parameters(), strict=True))


def test_validation_has_the_closed_forms_beside_the_network() -> None:
    learner = make_learner()
    begun = Simulator(TINY, 64, seed=5)
    scores = learner.validate(begun.snapshot())
    assert scores.uniform == pytest.approx(np.log(24) / 4, rel=1e-5)
    assert scores.marginal == pytest.approx(np.log(24) / 4, rel=1e-5)
    begun.play_random(25)
    scores = learner.validate(begun.snapshot())
    seen, values = observe_positions(Simulator(TINY, 64, seed=0), begun.snapshot(), "ataraxos", torch.float32)
    hidden = Kinds(TINY).read(seen)
    beliefs = (learner.trainee.average, MarginalBelief(TINY), UniformBelief(TINY))
    for belief, score in zip(beliefs, scores[:3], strict=True):
        likelihood = belief.log_likelihood(seen, values).sum(1) / hidden.present.sum(1)
        assert score == pytest.approx(-float(likelihood.mean()), rel=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_learns_and_draws_what_fits() -> None:
    game = Stratego("barrage")
    config = replace(SMALL, games=64)
    trainee = Trainee(config.network(game), torch.device("cuda"))
    learner = BeliefLearner(trainee, game, config, seed=1)
    sim = Simulator(game, config.games, "cuda", seed=1)
    policy = MoveNetwork(game, Size(1, 32, 4)).to("cuda", torch.bfloat16)
    stream = PositionStream(sim, policy, None, np.random.default_rng(1), config)
    losses = [float(learner.learn(positions).loss) for positions in itertools.islice(stream, 60)]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    assert all(np.isfinite(score) for score in learner.validate(sim.snapshot()))
    sim.play_random(20)
    rows = (sim.players == 0).nonzero()[:, 0]
    seen = sim.observe("ataraxos", layout="squares", viewer=0, dtype=torch.bfloat16)[rows]
    uniforms = torch.from_numpy(np.random.default_rng(1).random((len(rows), 5, 8), np.float32)).cuda()
    values = trainee.working.sample(seen, uniforms)
    worlds = Simulator(game, 5 * len(rows), "cuda", seed=1)
    worlds.determinise(sim.views(0)[rows].repeat(5), 0, values.flatten(0, 1))


# ── Against the exact posterior ──────────────────────────────────────────────────────────────────


class Truth(NamedTuple):
    """Positions, and what the hidden pieces are in them, with exact probabilities."""

    seen: Tensor
    values: Tensor
    """positions × setups × pieces."""
    posterior: Tensor
    """positions × setups: 0 for setups that contradict what was seen."""


def exact_posterior(game: Stratego, policy: PolicyNetwork, games: int, plies: int, seed: int) -> Truth:
    """Play games by a known policy from uniform setups, and work out at every ply what the player on turn can know.

    Every setup that the enemy can have had is played through again with the moves of the game. Its probability is the
    product of those of the enemy's moves in it; it is out when a move was not legal, or shows the player something
    else than was seen.
    """
    sim = Simulator(game, games, seed=seed, restart=False)
    orders = torch.tensor(list(itertools.permutations(range(game.setup_size))))
    setups = len(orders)
    enemy_squares = (slice(game.start_size - game.setup_size, None), slice(0, game.setup_size))
    worlds = []
    for squares in enemy_squares:
        starts = sim.starts.repeat_interleave(setups, 0)
        starts[:, squares] = sim.starts[:, squares][:, orders].flatten(0, 1)
        world = Simulator(game, games * setups, seed=0, restart=False)
        world.reset(starts=starts)
        worlds.append(world)
    weights = [torch.zeros(games, setups), torch.zeros(games, setups)]
    found = []
    for ply in range(plies):
        viewer = ply % 2
        going = ~sim.over
        seen = sim.observe("ataraxos", layout="squares")
        values = worlds[viewer].hidden_values(viewer)[:, : game.variant.pieces].view(games, setups, -1)
        found.append(Truth(seen[going], values[going], weights[viewer][going].softmax(1)))
        actions = sim.choose(*log_policy_of(policy, sim))
        repeated = actions.repeat_interleave(setups)
        legal, log_policy = log_policy_of(policy, worlds[1 - viewer])
        played = torch.where(legal == repeated[:, None], log_policy, -torch.inf).logsumexp(1)
        weights[1 - viewer] += played.view(games, setups)
        sim.step(actions)
        for player, world in enumerate(worlds):
            world.step(repeated, check=False)
            known = sim.views(player).pack().repeat_interleave(setups, 0)
            agrees = (world.views(player).pack() == known).all(1).view(games, setups)
            weights[player].masked_fill_(~agrees, -torch.inf)
    return Truth(*(torch.cat(parts) for parts in zip(*found, strict=True)))


def log_policy_of(policy: PolicyNetwork, sim: Simulator) -> tuple[Tensor, Tensor]:
    """The legal actions of the players on turn, and the logarithm of the policy over them."""
    legal, _ = sim.legal_actions()
    choices, _ = policy(sim.observe(policy.observation, layout="squares"))
    return legal, policy.legal_log_policy(choices, legal)


def divergence_from(truth: Truth, belief: OrderedBelief) -> float:
    """KL(exact posterior ‖ belief), in nats, the mean over positions."""
    positions, setups = truth.posterior.shape
    likelihood = belief.log_likelihood(truth.seen.repeat_interleave(setups, 0), truth.values.flatten(0, 1))
    log_ratio = truth.posterior.log() - likelihood.sum(1).view(positions, setups)
    return float(torch.where(truth.posterior > 0, truth.posterior * log_ratio, 0.0).sum(1).mean())


def test_the_exact_posterior_of_a_game_that_begins_is_uniform() -> None:
    truth = exact_posterior(TINY, Eager(TINY, 1.0), 8, 1, 5)
    assert torch.allclose(truth.posterior, torch.full((8, 24), 1 / 24))
    assert abs(divergence_from(truth, UniformBelief(TINY))) < 1e-5


def test_the_exact_posterior_gives_the_truth_as_much_as_its_own_entropy_says() -> None:
    truth = exact_posterior(TINY, Eager(TINY, 1.0), 400, 14, 5)
    assert torch.allclose(truth.posterior.sum(1), torch.ones(len(truth.seen)))
    last = truth.posterior[-int((truth.seen[:, 0, PLIES_SHARE] == truth.seen[-1, 0, PLIES_SHARE]).sum()) :]
    assert len(last) > 200
    # The setup that was truly there is the first of the list. One position of a game: they are independent.
    entropy = -(last * last.clamp_min(1e-30).log()).sum(1)
    surprise = -last[:, 0].log()
    difference = surprise - entropy
    assert abs(float(difference.mean())) < 3 * float(difference.std()) / len(last) ** 0.5
    assert float(entropy.mean()) < 0.9 * np.log(24)


def train_against(truth: Truth, eagerness: float, steps: int, config: BeliefConfig, games: int) -> float:
    """Return a network's distance from the exact posterior after training on games of the same policy."""
    learner = make_learner(config)
    sim = Simulator(TINY, games, seed=9)
    stream = PositionStream(sim, Eager(TINY, eagerness), None, np.random.default_rng(1), config)
    for positions in itertools.islice(stream, steps):
        learner.learn(positions)
    return divergence_from(truth, learner.trainee.average)


LEARNING = BeliefConfig(
    depth=1, decoder_depth=1, width=32, heads=4, dropout=0.0, learning_rate=3e-3, gradient_norm=1.0, average=0.98,
    every=3, pool=16, warmup=60,
)  # fmt: skip


def test_a_short_training_comes_closer_to_the_exact_posterior_than_the_closed_forms() -> None:
    truth = exact_posterior(TINY, Eager(TINY, 1.0), 40, 40, 5)
    assert divergence_from(truth, UniformBelief(TINY)) > 0.25
    assert divergence_from(truth, MarginalBelief(TINY)) > 0.25
    assert train_against(truth, 1.0, 200, LEARNING, 256) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(("eagerness", "closed_form", "bound"), [(0.0, 0.007, 0.007), (1.0, 0.28, 0.08)])
def test_a_longer_training_comes_close_to_the_exact_posterior(
    eagerness: float, closed_form: float, bound: float
) -> None:
    truth = exact_posterior(TINY, Eager(TINY, eagerness), 40, 40, 5)
    assert divergence_from(truth, UniformBelief(TINY)) == pytest.approx(closed_form, abs=0.01)
    config = replace(LEARNING, depth=2, decoder_depth=2, learning_rate=1e-3, average=0.99)
    learned = train_against(truth, eagerness, 1500, config, 256)
    print(f"eagerness {eagerness}: KL from the exact posterior {learned:.4f}")
    assert learned < bound
