"""Beliefs: masks, the closed forms and the network; their draws, and their scores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.layout import HIDDEN_COUNT
from vauban.games.stratego.pieces import BOMB, FLAG, MINER, MOVABLE_TYPES, SCOUT
from vauban.games.stratego.variants import VARIANTS
from vauban.nets.belief import Belief, BeliefNetwork, MarginalBelief, UniformBelief
from vauban.nets.hidden import Kinds, Left, masked_log_policy
from vauban.nets.policy import inverse_cdf
from vauban.nets.transformer import Block, Size
from vauban.sim.simulator import Simulator

SMALL = Size(depth=2, width=32, heads=4)
PIECES = Kinds(Stratego("classic"))
KINDS = PIECES.count


def network(game: Stratego, seed: int = 0, dropout: float = 0.2) -> BeliefNetwork:
    """Return a small network whose weights are large enough to have opinions."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        made = BeliefNetwork(game, SMALL, 2, dropout)
        with torch.no_grad():
            made.types.weight.mul_(6)
    return made


def beliefs(game: Stratego) -> list[Belief]:
    """Return all three."""
    return [UniformBelief(game), MarginalBelief(game), network(game)]


def draw(shape: tuple[int, ...], seed: int = 0) -> Tensor:
    """Return uniform numbers."""
    return torch.from_numpy(np.random.default_rng(seed).random(shape, np.float32))


def observed(sim: Simulator, viewer: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return a player's observation."""
    return sim.observe("ataraxos", layout="squares", viewer=viewer, dtype=dtype)


# ── Masks and closed forms ───────────────────────────────────────────────────────────────────────

COUNTS = {SCOUT: 2, MINER: 1, FLAG: 1, BOMB: 2}
MOVED = (False, True, False, False, True, False)
ALL, STEPS, FIXED = {SCOUT, MINER, FLAG, BOMB}, {SCOUT, MINER}, {FLAG, BOMB}


def left_after(taken: list[int]) -> Left:
    """Return what is left of the published program's worked example after some pieces."""
    counts = torch.tensor([COUNTS.get(kind, 0) - taken.count(kind) for kind in range(KINDS)])
    piece = len(taken)
    return Left(counts, torch.tensor(MOVED[piece]), torch.tensor(MOVED[piece:].count(False)))


@pytest.mark.parametrize(
    ("taken", "allowed"),
    [
        ([BOMB, SCOUT, MINER, BOMB, SCOUT, FLAG], [ALL, STEPS, ALL, FIXED, {SCOUT}, {FLAG}]),
        ([SCOUT, MINER, BOMB, BOMB, SCOUT, FLAG], [ALL, STEPS, FIXED, FIXED, {SCOUT}, {FLAG}]),
    ],
)
def test_masks_are_those_of_reference_17_7(taken: list[int], allowed: list[set[int]]) -> None:
    for piece, expected in enumerate(allowed):
        mask = PIECES.allowed(left_after(taken[:piece]))
        assert set(mask.nonzero()[:, 0].tolist()) == expected, f"piece {piece}"
        assert taken[piece] in expected


def test_probabilities_after_masking_are_those_of_reference_17_7() -> None:
    logits = torch.full((KINDS,), 3.0)
    logits[[SCOUT, MINER, FLAG, BOMB]] = torch.tensor([-0.1, 0.5, 1.0, 0.3])
    chances = masked_log_policy(logits, PIECES.allowed(left_after([]))).exp()
    expected = [0.1366473, 0.2489876, 0.4105112, 0.2038538]
    assert chances[[SCOUT, MINER, FLAG, BOMB]].tolist() == pytest.approx(expected, abs=1e-7)
    assert chances.count_nonzero() == 4


def test_the_uniform_posterior_is_that_of_reference_17_7() -> None:
    left = left_after([])
    unmoved = PIECES.uniform_chances(left)
    moved = PIECES.uniform_chances(left._replace(bound=torch.tensor(True)))
    kinds = [SCOUT, MINER, FLAG, BOMB]
    assert unmoved[kinds].tolist() == pytest.approx([0.1666667, 0.0833333, 0.25, 0.5], abs=1e-7)
    assert moved[kinds].tolist() == pytest.approx([0.6666667, 0.3333333, 0.0, 0.0], abs=1e-7)


def test_a_uniform_number_falls_on_the_type_whose_interval_holds_it() -> None:
    chances = torch.zeros(KINDS)
    chances[[SCOUT, FLAG]] = torch.tensor([0.25, 0.75])
    uniforms = torch.tensor([0.0, 0.2499, 0.2501, 0.9999999, 1.0])
    assert inverse_cdf(chances.log().expand(5, -1), uniforms).tolist() == [SCOUT, SCOUT, FLAG, FLAG, FLAG]


def test_marginals_are_the_shares_of_the_samples() -> None:
    values = torch.tensor([[[SCOUT, FLAG, -1], [BOMB, FLAG, -1], [SCOUT, FLAG, -1], [SCOUT, FLAG, -1]]])
    shares = PIECES.marginals(values)
    assert shares.shape == (1, 3, KINDS)
    assert shares[0, :, [SCOUT, BOMB, FLAG]].tolist() == [[0.75, 0.25, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]


# ── What an observation shows ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", VARIANTS)
def test_hidden_pieces_are_read_off_the_observation(name: str, dtype: torch.dtype) -> None:
    game = Stratego(name)
    sim = Simulator(game, 32, seed=3)
    pieces, squares = game.variant.pieces, game.variant.squares
    for plies in (0, 3, 40, 150):
        sim.play_random(plies)
        for viewer in (0, 1):
            hidden = Kinds(game).read(observed(sim, viewer, dtype))
            first = HIDDEN_COUNT + 12 * (1 - viewer)
            assert torch.equal(hidden.counts, sim.store.bytes[:, first : first + KINDS].long())
            assert torch.equal(hidden.present.sum(1).int(), sim.hidden_counts(viewer))
            assert not (hidden.bound & ~hidden.present).any()
            truth = sim.hidden_values(viewer)[:, :pieces]
            assert torch.equal(truth >= 0, hidden.present)
            assert (truth[hidden.bound] < MOVABLE_TYPES).all()
            ascending = hidden.squares.masked_fill(~hidden.present, squares).diff(dim=1)
            assert ((ascending > 0) | ~hidden.present[:, 1:]).all()


# ── What is drawn ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", VARIANTS)
def test_every_sample_fits_the_position_it_was_drawn_for(name: str) -> None:
    game = Stratego(name)
    sim = Simulator(game, 24, seed=11)
    samples = 3
    for stage, plies in enumerate((1, 12, 100)):
        sim.play_random(plies)
        for viewer in (0, 1):
            rows = (sim.players == viewer).nonzero()[:, 0]
            if len(rows) == 0:
                continue
            views = sim.views(viewer)[rows]
            seen = observed(sim, viewer)[rows]
            hidden = Kinds(game).read(seen)
            worlds = Simulator(game, len(rows) * samples, seed=0)
            for belief in beliefs(game):
                values = belief.sample(seen, draw((len(rows), samples, belief.pieces), stage))
                assert values.dtype == torch.int8
                assert torch.equal(values >= 0, hidden.present[:, None].expand_as(values))
                assert torch.equal(PIECES.one_hot(values).sum(2), hidden.counts[:, None].expand(-1, samples, -1))
                assert (values[hidden.bound[:, None].expand_as(values)] < MOVABLE_TYPES).all()
                worlds.determinise(views.repeat(samples), viewer, values.flatten(0, 1))
                for sample in range(samples):
                    assert belief.log_likelihood(seen, values[:, sample]).isfinite().all()


def test_equal_uniforms_give_equal_samples_and_others_do_not() -> None:
    game = Stratego("barrage")
    seen = observed(Simulator(game, 8, seed=1), 0)
    for belief in beliefs(game):
        values = belief.sample(seen, draw((8, 16, 8)))
        assert torch.equal(values, belief.sample(seen, draw((8, 16, 8))))
        assert not torch.equal(values, belief.sample(seen, draw((8, 16, 8), 1)))
        assert not torch.equal(values[:, 0], values[:, 1])


def test_samples_depend_on_nothing_that_is_hidden() -> None:
    game = Stratego("barrage")
    sim, twin = Simulator(game, 64, seed=5), Simulator(game, 64, seed=5)
    sim.play_random(31)
    for viewer in (0, 1):
        rows = sim.players == viewer
        other = UniformBelief(game).sample(observed(sim, viewer), draw((64, 1, 8), 7))[:, 0]
        truth = sim.hidden_values(viewer)
        twin.determinise(sim.views(viewer), viewer, torch.where(rows[:, None], other, truth[:, :8]))
        assert not torch.equal(twin.hidden_values(viewer), truth)
        for belief in beliefs(game):
            mine = belief.sample(observed(sim, viewer), draw((64, 3, 8)))
            assert torch.equal(mine, belief.sample(observed(twin, viewer), draw((64, 3, 8))))


def test_uniforms_of_another_shape_are_refused() -> None:
    game = Stratego("tiny")
    seen = observed(Simulator(game, 2, seed=1), 0)
    with pytest.raises(ConfigurationError, match="2 \\(positions\\) × samples × 4"):
        UniformBelief(game).sample(seen, draw((2, 3, 5)))


# ── What is said of it ───────────────────────────────────────────────────────────────────────────


def positions_of_duel() -> tuple[Stratego, Tensor, Tensor]:
    """Return a game, a middle position in which few pieces are hidden, and all that these may be."""
    game = Stratego("duel")
    sim = Simulator(game, 256, seed=2)
    sim.play_random(200)
    counts = sim.hidden_counts(0)
    seen = observed(sim, 0)
    moved = Kinds(game).read(seen).bound.sum(1)
    row = int(((counts == 5) & (moved > 0) & (moved < 4)).nonzero()[0])
    hidden = Kinds(game).read(seen[row : row + 1])
    types = [kind for kind in range(KINDS) for _ in range(int(hidden.counts[0, kind]))]
    all_ = sorted(set(itertools.permutations(types)))
    fitting = [v for v in all_ if all(k < MOVABLE_TYPES or not m for k, m in zip(v, hidden.bound[0], strict=False))]
    assert len(fitting) < len(all_)
    return game, seen[row : row + 1], torch.tensor(fitting, dtype=torch.int8)


def test_the_likelihoods_of_all_that_can_be_add_up_to_one() -> None:
    game, seen, values = positions_of_duel()
    for belief in beliefs(game):
        total = belief.log_likelihood(seen.repeat(len(values), 1, 1), values).sum(1).exp().sum()
        assert abs(float(total) - 1) < 1e-5, type(belief).__name__


def test_all_that_can_be_is_equally_likely_to_the_uniform_belief() -> None:
    game, seen, values = positions_of_duel()
    likelihood = UniformBelief(game).log_likelihood(seen.repeat(len(values), 1, 1), values).sum(1).exp()
    torch.testing.assert_close(likelihood, torch.full((len(values),), 1 / len(values)))


def test_an_impossible_assignment_has_no_likelihood() -> None:
    game = Stratego("tiny")
    seen = observed(Simulator(game, 1, seed=1), 0)
    for belief in beliefs(game):
        assert belief.log_likelihood(seen, torch.tensor([[FLAG, FLAG, 4, 5]])).sum() == -torch.inf


def test_samples_come_as_often_as_their_likelihood_says() -> None:
    game, seen, values = positions_of_duel()
    samples = 20_000
    for belief in beliefs(game):
        drawn = belief.sample(seen, draw((1, samples, belief.pieces)))[0, :, : values.shape[1]]
        expected = samples * belief.log_likelihood(seen.repeat(len(values), 1, 1), values).sum(1).exp()
        found = (drawn[:, None] == values).all(2).sum(0)
        assert found.sum() == samples
        likely = expected > 5
        squares = ((found - expected) ** 2 / expected)[likely].sum()
        freedom = int(likely.sum())
        assert squares < freedom + 5 * (2 * freedom) ** 0.5, type(belief).__name__


# ── The network ──────────────────────────────────────────────────────────────────────────────────


def test_the_network_of_the_paper_has_57_1_million_parameters() -> None:
    with torch.device("meta"):
        made = BeliefNetwork(Stratego("classic"), Size(depth=6, width=512, heads=8), decoder_depth=6)
    layers = 18 * 3_152_384
    embeddings = 487 * 512 + 512 + 92 * 512 + 12 * 512 + 512 + 40 * 512
    rest = 2 * 1024 + 512 * 12 + 12
    assert sum(parameter.numel() for parameter in made.parameters()) == layers + embeddings + rest == 57_075_212


@pytest.mark.parametrize("name", ["barrage", "duel"])
def test_decoding_step_by_step_is_what_one_pass_over_all_pieces_says(name: str) -> None:
    game = Stratego(name)
    sim = Simulator(game, 6, seed=4)
    sim.play_random(70)
    seen, belief = observed(sim, 1), network(game).eval()
    hidden = Kinds(game).read(seen)
    uniforms = draw((6, 2, belief.pieces))
    drawn = belief.sample(seen, uniforms)
    for sample in range(2):
        values = torch.full((6, belief.pieces), -1)
        counts = hidden.counts
        for piece in range(belief.pieces):
            with torch.no_grad():
                logits = belief(seen, hidden, values)[:, piece]
            left = Left(counts, hidden.bound[:, piece], hidden.unbound[:, piece])
            chosen = inverse_cdf(masked_log_policy(logits, PIECES.allowed(left)), uniforms[:, sample, piece])
            values[:, piece] = torch.where(hidden.present[:, piece], chosen, -1)
            counts = counts - PIECES.one_hot(values[:, piece])
        assert torch.equal(drawn[:, sample].long(), values)


def test_a_piece_is_named_before_those_behind_it_are_known() -> None:
    game = Stratego("barrage")
    sim = Simulator(game, 4, seed=6)
    seen, belief = observed(sim, 0), network(game).eval()
    hidden = Kinds(game).read(seen)
    values = sim.hidden_values(0)[:, :8]
    changed = values.clone()
    changed[:, 5] = (changed[:, 5] + 1) % KINDS
    with torch.no_grad():
        difference = (belief(seen, hidden, values) - belief(seen, hidden, changed)).abs().amax((0, 2))
    assert (difference[:6] == 0).all()
    assert (difference[6:] > 0).all()


def test_a_position_is_answered_alike_alone_and_among_others() -> None:
    game = Stratego("duel")
    sim = Simulator(game, 32, seed=8)
    sim.play_random(90)
    seen, belief = observed(sim, 0), network(game)
    values = sim.hidden_values(0)
    assert len(set(sim.hidden_counts(0).tolist())) > 2
    together = belief.log_likelihood(seen, values)
    for row in range(0, 32, 5):
        alone = belief.log_likelihood(seen[row : row + 1], values[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], atol=1e-4, rtol=1e-4)


def test_nothing_but_tokens_of_hidden_pieces_is_looked_at() -> None:
    game = Stratego("duel")
    sim = Simulator(game, 16, seed=8)
    sim.play_random(90)
    seen, belief = observed(sim, 0), network(game).eval()
    hidden = Kinds(game).read(seen)
    assert not hidden.present.all()
    values = sim.hidden_values(0)
    elsewhere = hidden._replace(squares=torch.where(hidden.present, hidden.squares, 3))
    with torch.no_grad():
        difference = (belief(seen, hidden, values) - belief(seen, elsewhere, values)).abs().amax(2)
    assert (difference[hidden.present] == 0).all()


def test_dropout_is_for_training_alone() -> None:
    game = Stratego("barrage")
    sim = Simulator(game, 4, seed=6)
    seen, belief = observed(sim, 0), network(game, dropout=0.5)
    hidden, values = Kinds(game).read(seen), sim.hidden_values(0)
    belief.train()
    assert not torch.equal(belief(seen, hidden, values), belief(seen, hidden, values))
    drawn, likelihood = belief.sample(seen, draw((4, 8, 8))), belief.log_likelihood(seen, values)
    assert belief.training, "it must go on in the mode that it was in"
    belief.eval()
    assert torch.equal(drawn, belief.sample(seen, draw((4, 8, 8))))
    assert torch.equal(likelihood, belief.log_likelihood(seen, values))


def test_in_training_every_layer_drops_its_share_and_makes_up_for_it_by_the_rest() -> None:
    torch.manual_seed(1)
    stream = torch.randn(8, 20, 32)
    for silent in ("attention.out", "feedforward.narrow"):
        block = Block(SMALL, dropout=0.2)
        with torch.no_grad():
            for parameter in block.get_submodule(silent).parameters():
                parameter.zero_()
            added, whole = block.train()(stream) - stream, block.eval()(stream) - stream
        dropped = added == 0
        assert dropped.float().mean().item() == pytest.approx(0.2, abs=0.03), silent
        torch.testing.assert_close(added[~dropped], whole[~dropped] / 0.8, atol=1e-5, rtol=1e-4)


def test_all_layers_of_encoder_and_decoder_drop_in_training() -> None:
    """No layer adds anything to the stream where nearly everything is dropped."""
    game = Stratego("barrage")
    sim = Simulator(game, 4, seed=6)
    seen, belief = observed(sim, 0), network(game, dropout=1 - 1e-9)
    hidden, values = Kinds(game).read(seen), sim.hidden_values(0)
    unchanged: list[bool] = []
    layers = [*belief.encoder, *belief.decoder, *belief.recall]
    for layer in layers:
        layer.register_forward_hook(lambda _, given, after: unchanged.append(torch.equal(given[0], after)))
    for training in (True, False):
        belief.train(training)
        unchanged.clear()
        with torch.no_grad():
            belief(seen, hidden, values)
        assert unchanged == [training] * len(layers)


def test_positions_begin_as_the_weights_of_a_linear_layer_do() -> None:
    """Table 25 has them Kaiming uniform; the published program's layers have it as ±1/√inputs."""
    belief = BeliefNetwork(Stratego("classic"), Size(depth=1, width=512, heads=8), decoder_depth=1)
    for positions, inputs in ((belief.positions, 92), (belief.order, 40)):
        bound = inputs**-0.5
        assert positions.shape == (inputs, 512)
        assert 0.99 * bound < positions.abs().max().item() <= bound
        assert positions.std().item() == pytest.approx(bound / 3**0.5, rel=0.03)


def test_a_position_in_which_nothing_is_hidden_spoils_no_gradient() -> None:
    game = Stratego("tiny")
    sim = Simulator(game, 2, seed=1)
    seen, belief = observed(sim, 0), network(game)
    values = sim.hidden_values(0)
    seen[0] = 0
    values[0] = -1
    hidden = Kinds(game).read(seen)
    belief(seen, hidden, values)[hidden.present].square().mean().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in belief.parameters())
    assert (belief.sample(seen, draw((2, 3, 4)))[0] == -1).all()


def test_a_network_without_a_decoder_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="decoder"):
        BeliefNetwork(Stratego("tiny"), SMALL, 0)
