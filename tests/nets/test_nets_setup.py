"""The setup network: published numbers, legal setups in every variant, and sampling that agrees with training."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban.errors import SetupError
from vauban.games.stratego import setups as rules_of_setups
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, SPY
from vauban.games.stratego.setups import can_move_first
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army
from vauban.nets.policy import inverse_cdf
from vauban.nets.setup import REDRAWS, Sampled, SetupNetwork
from vauban.nets.transformer import Size

SMALL = Size(depth=2, width=16, heads=2)


def a_network(variant: str | Variant, seed: int = 0, **options: bool) -> SetupNetwork:
    """Return a small network with large weights, so that its output depends on its input."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = SetupNetwork(Stratego(variant), SMALL, **options)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(2.0)
    return network.eval()


def uniforms(network: SetupNetwork, rows: int, seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random((rows, network.places)))


def pieces_of(network: SetupNetwork, setups: torch.Tensor) -> torch.Tensor:
    """Return the kinds, as the network knows them, that setups are made of."""
    numbers = network.numbers.tolist()
    return setups.clone().apply_(numbers.index).long()


def can_begin(network: SetupNetwork, setups: torch.Tensor) -> list[bool]:
    assert network.game.setups is not None
    return network.game.setups.can_begin(setups.numpy()).tolist()


PUBLISHED_NAMES = {
    "embedder": "embed",
    "transformer": "blocks",
    "layer_norm1": "attention_norm",
    "mha.qkv_proj": "attention.project",
    "mha.out_proj": "attention.out",
    "layer_norm2": "feedforward_norm",
    "linear1": "feedforward.widen",
    "linear2": "feedforward.narrow",
    "norm_out": "norm",
    "value_out": "outcome",
    "reg_out": "entropy",
}


def published_network(folder: Path) -> tuple[SetupNetwork, dict[str, np.ndarray]]:
    """Return the small network of the recorded vectors, and its arrays."""
    config = json.loads((folder / "ataraxos_setup_network.json").read_text())["config"]
    arrays = dict(np.load(folder / "ataraxos_setup_network.npz"))
    network = SetupNetwork(
        Stratego("classic"),
        Size(config["depth"], config["width"], config["heads"], config["feed_forward"] // config["width"]),
        count_prior=config["count_prior"],
        flag_side=config["flag_right_half"],
    )
    assert network.counts.tolist() == config["piece_counts"]
    weights = {}
    for name, array in arrays.items():
        if not name.startswith("weights/"):
            continue
        key = name.removeprefix("weights/")
        for published, ours in PUBLISHED_NAMES.items():
            key = key.replace(published, ours)
        if key == "positional_encoding":
            key, array = "positions", array[0]
        weights[key.replace("linear.", "piece.") if key.startswith("linear.") else key] = torch.from_numpy(array)
    network.load_state_dict(weights)
    return network, arrays


def test_the_network_of_the_paper_has_12_647_954_parameters() -> None:
    with torch.device("meta"):
        network = SetupNetwork(Stratego("classic"), Size(depth=4, width=512, heads=8))
    assert sum(parameter.numel() for parameter in network.parameters()) == 12_647_954


def test_published_weights_say_what_was_recorded_section_10(vectors: Path) -> None:
    network, arrays = published_network(vectors)
    with torch.no_grad():
        heads = network(torch.from_numpy(arrays["setups"]).long())
    expected = torch.from_numpy(arrays["out/log_probs"])
    allowed = expected > -1e9
    assert torch.equal(heads.log_policy > -torch.inf, allowed)
    assert torch.allclose(heads.log_policy[allowed].double(), expected[allowed], atol=1e-4, rtol=1e-4)
    assert torch.allclose(heads.outcome.double(), torch.from_numpy(arrays["out/value_logits"]), atol=1e-4)
    assert torch.allclose(heads.entropy.double(), torch.from_numpy(arrays["out/entropy"]), atol=1e-4)


def test_published_weights_say_so_to_nine_digits_in_float64(vectors: Path) -> None:
    network, arrays = published_network(vectors)
    with torch.no_grad():
        heads = network.double()(torch.from_numpy(arrays["setups"]).long())
    assert torch.allclose(heads.outcome, torch.from_numpy(arrays["out/value_logits"]), atol=1e-9, rtol=0)
    assert torch.allclose(heads.entropy, torch.from_numpy(arrays["out/entropy"]), atol=1e-9, rtol=0)


@settings(max_examples=40, deadline=None)
@given(
    variant=st.sampled_from(sorted(VARIANTS)),
    seed=st.integers(0, 2**31),
    count_prior=st.booleans(),
    flag_side=st.booleans(),
)
def test_every_sample_is_a_setup_of_its_variant(variant: str, seed: int, count_prior: bool, flag_side: bool) -> None:
    network = a_network(variant, seed, count_prior=count_prior, flag_side=flag_side)
    drawn = network.sample(uniforms(network, 8, seed))
    network.game.setups.check(drawn.setups.numpy())
    assert drawn.setups.dtype == torch.int8
    assert torch.equal(pieces_of(network, drawn.setups), drawn.pieces)
    if flag_side:
        columns = (drawn.pieces == FLAG).int().argmax(1) % network.game.variant.columns
        assert (columns >= network.game.variant.columns // 2).all()


@pytest.mark.parametrize("extreme", [0.0, 1 - 2**-53])
def test_the_most_extreme_uniform_numbers_still_draw_legal_setups(extreme: float) -> None:
    network = a_network("barrage", flag_side=True)
    drawn = network.sample(torch.full((3, network.places), extreme, dtype=torch.float64))
    network.game.setups.check(drawn.setups.numpy())


@pytest.mark.parametrize("variant", ["classic", "barrage", "tiny", "nano"])
@pytest.mark.parametrize("published", [False, True])
def test_sampling_with_a_cache_says_what_one_pass_says(variant: str, published: bool) -> None:
    network = a_network(variant, 3, count_prior=published, flag_side=published)
    drawn = network.sample(uniforms(network, 5, 4))
    with torch.no_grad():
        heads = network(drawn.pieces)
    assert torch.equal(heads.log_policy == -torch.inf, drawn.log_policy == -torch.inf)
    assert torch.allclose(heads.log_policy.exp(), drawn.log_policy.exp(), atol=1e-5)
    assert torch.allclose(heads.outcome.softmax(-1), drawn.outcome, atol=1e-5)
    assert torch.allclose(heads.entropy, drawn.entropy, atol=1e-4)
    assert torch.allclose(drawn.log_policy.exp().sum(-1), torch.ones(5, network.places), atol=1e-5)


def test_what_is_said_before_a_square_does_not_depend_on_what_comes_after() -> None:
    network = a_network("tiny")
    pieces = pieces_of(network, torch.tensor([[11, 5, 6, 7], [11, 5, 7, 6]]))
    with torch.no_grad():
        heads = network(pieces)
    for part in heads:
        assert torch.equal(part[0, :3], part[1, :3])
    assert not torch.equal(heads.entropy[0, 3], heads.entropy[1, 3])


def test_samples_come_as_often_as_their_probability() -> None:
    network = a_network("nano", 1)
    drawn = network.sample(uniforms(network, 4000, 5))
    first = drawn.log_policy[0, 0].exp()
    assert 0.05 < first[FLAG] < 0.95
    share = (drawn.pieces[:, 0] == FLAG).float().mean()
    assert abs(share - first[FLAG]) < 4 * (first[FLAG] * (1 - first[FLAG]) / 4000) ** 0.5


def test_the_inverse_cdf_walks_through_the_entries_in_order() -> None:
    log_policy = torch.tensor([[0.0, 0.25, 0.0, 0.75, 0.0]]).log().expand(5, 5)
    picked = inverse_cdf(log_policy, torch.tensor([0.0, 0.2499, 0.25, 0.9999, 1 - 2**-53], dtype=torch.float64))
    assert picked.tolist() == [1, 1, 3, 3, 3]


def test_a_network_in_bfloat16_draws_legal_setups() -> None:
    network = a_network("barrage").to(torch.bfloat16)
    drawn = network.sample(uniforms(network, 6, 0))
    network.game.setups.check(drawn.setups.numpy())
    assert drawn.log_policy.dtype == drawn.outcome.dtype == drawn.entropy.dtype == torch.float32


def test_the_count_prior_of_a_silent_network_places_pieces_in_proportion_to_what_is_left() -> None:
    network = a_network("classic", count_prior=True)
    with torch.no_grad():
        network.piece.weight.zero_()
        network.piece.bias.zero_()
        first = network(torch.zeros(1, 40, dtype=torch.int64)).log_policy[0, 0].exp()
    assert torch.allclose(first, network.counts / 40)


def test_a_network_of_stratego_knows_the_types_a_lake_and_a_free_square() -> None:
    network = a_network("barrage")
    assert network.numbers[torch.tensor([0, 11, 13, 10])].tolist() == [1, 12, 0, 11]
    assert network.kinds == 14
    assert network.counts[12] == 0, "a lake is never placed"


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_mirroring_is_that_of_the_rules_and_undoes_itself(variant: str) -> None:
    network = a_network(variant)
    setups = network.sample(uniforms(network, 4, 1)).setups
    turned = setups[:, network.mirror]
    assert torch.equal(turned[:, network.mirror], setups)
    for one, other in zip(setups, turned, strict=True):
        assert rules_of_setups.mirrored(one, network.game.variant).tolist() == other.tolist()


STUBBORN = Variant("stubborn", 6, 4, (8, 11, 12, 15), 2, parse_army("F1 S1 B5"), 100)
"""Seven pieces on eight squares with lakes before the outer columns: one setup in many cannot move."""


@pytest.mark.parametrize("variant", [*sorted(VARIANTS), STUBBORN], ids=str)
def test_who_can_move_first_is_as_the_rules_say(variant: str | Variant) -> None:
    network = a_network(variant)
    setups = network.sample(uniforms(network, 64, 2)).setups
    expected = [can_move_first(row, network.game.variant) for row in setups]
    assert can_begin(network, setups) == expected


def test_drawn_setups_can_all_move_and_half_are_mirrored() -> None:
    network = a_network(STUBBORN)
    assert not all(can_begin(network, network.sample(uniforms(network, 400, 3)).setups))
    drawn = network.draw(400, np.random.default_rng(3))
    network.game.setups.check(drawn.setups.numpy())
    assert all(can_begin(network, drawn.setups))
    plain = network.numbers[drawn.pieces]
    turned = plain[:, network.mirror]
    as_placed = (drawn.setups == plain).all(1)
    assert (as_placed | (drawn.setups == turned).all(1)).all()
    assert 150 < int(as_placed.sum()) < 250
    with torch.no_grad():
        assert torch.allclose(network(drawn.pieces).entropy, drawn.entropy, atol=1e-4)


def test_the_same_generator_draws_the_same_setups() -> None:
    network = a_network("duel")
    one, other = (network.draw(10, np.random.default_rng(8)) for _ in range(2))
    for mine, its in zip(one, other, strict=True):
        assert torch.equal(mine, its)
    assert not torch.equal(one.setups, network.draw(10, np.random.default_rng(9)).setups)


def test_a_network_that_always_locks_itself_in_is_refused() -> None:
    # On one column with a Bomb or the Flag in front nothing moves; the Spy comes first with certainty.
    network = a_network(Variant("shaft", 4, 1, (), 2, parse_army("F1 S1"), 50))
    with torch.no_grad():
        network.piece.bias[0] += 1000.0
    with pytest.raises(SetupError, match="leave their owner without a move"):
        network.draw(3, np.random.default_rng(0))


def test_setups_are_refused_only_when_the_last_redraw_is_stuck_too() -> None:
    shaft = Variant("shaft", 4, 1, (), 2, parse_army("F1 S1"), 50)
    locked, free = a_network(shaft), a_network(shaft)
    with torch.no_grad():
        locked.piece.bias[SPY] += 1000.0
        free.piece.bias[FLAG] += 1000.0

    def draw(freed: int) -> Sampled:
        """Return three setups that are locked in until the last redraw, which frees the first of them."""
        calls = itertools.count()

        def sample(numbers: torch.Tensor) -> Sampled:
            good = freed if next(calls) == REDRAWS else 0
            parts = zip(free.sample(numbers), locked.sample(numbers), strict=True)
            return Sampled(*(torch.cat([new[:good], old[good:]]) for new, old in parts))

        return locked.draw(3, np.random.default_rng(0), sample)

    assert all(can_begin(locked, draw(3).setups))
    with pytest.raises(SetupError, match="of 3 setups .* 2 leave their owner without a move"):
        draw(1)
