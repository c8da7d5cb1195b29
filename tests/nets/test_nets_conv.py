"""The published network of Deep CFR: its size, its outputs by piece, and that its statistics are kept everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.learn.trainee import Trainee
from vauban.nets.conv import ConvNetwork
from vauban.nets.kinds import describe
from vauban.nets.store import ModelError, load_model, make_card, read_card, save_model
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

CPU = torch.device("cpu")


def made(observation: str = "geister", **settings: int) -> ConvNetwork:
    torch.manual_seed(1)
    return ConvNetwork(game("geister", "paper"), observation=observation, **settings).eval()


def played(network: ConvNetwork, plies: int = 15) -> tuple[Simulator, torch.Tensor]:
    sim = Simulator("geister", 64, rules="paper", seed=2, restart=False)
    for _ in range(plies):
        sim.step(sim.sample())
    return sim, sim.observe(network.observation, layout="squares")


@pytest.mark.parametrize(("observation", "numbers"), [("geister", 36_992), ("geister-history", 37_312)])
def test_the_published_network_has_as_many_numbers_as_published(observation: str, numbers: int) -> None:
    network = made(observation)
    assert sum(each.numel() for each in network.state_dict().values() if each.is_floating_point()) == numbers
    assert sum(each.numel() for each in network.parameters()) == numbers - 128


def test_every_legal_action_has_an_output_and_squares_without_own_pieces_have_none() -> None:
    network = made()
    sim, seen = played(network)
    choices, outcome = network(seen)
    legal, _ = sim.legal_actions()
    there = legal >= 0
    assert choices.gather(1, legal.long().clamp_min(0))[there].isfinite().all()
    own = (seen[:, :, :2].sum(2) > 0).repeat_interleave(4, 1)
    assert torch.equal(choices.isfinite(), own)
    assert not outcome.any()


def test_outputs_go_with_the_pieces_from_the_top_left() -> None:
    """Of two positions the outputs are the same numbers if the layers before them say the same."""
    network = made()
    _, seen = played(network)
    with torch.no_grad():
        for layer in network.layers:
            layer.weight.zero_()  # type: ignore[operator, union-attr]
    choices = network(seen)[0]
    for row, own in zip(choices, seen[:, :, :2].sum(2) > 0, strict=True):
        outputs = row.view(36, 4)[own]
        assert torch.allclose(outputs, network(seen[:1])[0].view(36, 4)[seen[0, :, :2].sum(1) > 0][: len(outputs)])


@pytest.mark.parametrize("observation", ["geister", "geister-history"])
def test_the_convolutions_are_those_of_torch_to_the_last_bits(observation: str) -> None:
    """The network computes them as products of matrices, and tanh by another formula: so must the gradients be."""
    network = made(observation)
    _, seen = played(network)
    planes = seen.transpose(1, 2).unflatten(2, network.board)
    x = torch.tanh(network.mixed(torch.tanh(network.squares(planes)))).flatten(1)
    for layer in network.layers:
        after = layer(x)
        x = torch.relu(after + x if after.shape == x.shape else after)
    gradients = []
    for outputs in (network.output(network.norm(x)), network._outputs(seen)):
        network.zero_grad()
        outputs.square().mean().backward()
        gradients.append([outputs, *(each.grad for each in network.parameters())])
    for plain, own in zip(*gradients, strict=True):
        assert torch.allclose(plain, own, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("pieces", [8, 0])
def test_outputs_of_legal_actions_are_those_among_all(pieces: int) -> None:
    network = made(pieces=pieces)
    sim, seen = played(network)
    legal, _ = sim.legal_actions()
    among_all = network(seen)[0].gather(1, legal.long().clamp_min(0))
    there = legal >= 0
    assert there.sum() > 64
    assert torch.equal(network.of_legal(seen, legal)[there], among_all[there])


def test_an_output_for_every_action_does_without_pieces() -> None:
    network = made(pieces=0)
    _, seen = played(network)
    assert network(seen)[0].shape == (64, 144) and network(seen)[0].isfinite().all()


def test_games_that_it_cannot_see_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="needs a board"):
        ConvNetwork(game("kuhn"))
    with pytest.raises(ConfigurationError, match="does not say which channels show the own pieces"):
        ConvNetwork(game("micro"))
    assert ConvNetwork(game("micro"), pieces=0)


def test_observations_that_name_channels_of_own_pieces_have_each_piece_in_one() -> None:
    for name in ("geister", "geister-history", "geister-full"):
        found = observations.find(game("geister"), name)
        sim = Simulator("geister", 64, seed=3)
        marked = sim.observe(name, layout="squares")[:, :, list(found.pieces)]
        assert (marked.sum((1, 2)) == 8).all() and (marked.sum(2) <= 1).all()


# ── Statistics of batch normalisation ────────────────────────────────────────────────────────────


def trained(working: torch.dtype = torch.float32) -> Trainee[ConvNetwork]:
    trainee = Trainee(made(), CPU, working=working)
    trainee.network.train()
    trainee.working.train()
    _, seen = played(trainee.network)
    for _ in range(5):
        legal = trainee.working(seen.to(trainee.dtype))[0].clamp_min(-1)
        trainee.step(legal.float().square().mean(), 1e-2, 1.0)
    trainee.update_average(0.5)
    return trainee


@pytest.mark.parametrize("working", [torch.float32, torch.bfloat16])
def test_training_keeps_statistics_in_the_network_its_copy_and_its_average(working: torch.dtype) -> None:
    trainee = trained(working)
    mean = trainee.network.norm.running_mean
    assert mean is not None and mean.dtype == torch.float32 and mean.abs().sum() > 0
    for other in (trainee.working, trainee.average):
        assert torch.equal(mean, other.norm.running_mean.float())  # type: ignore[union-attr]
        assert int(other.norm.num_batches_tracked) == 5  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_network_with_statistics_is_saved_and_plays_as_before(tmp_path: Path, dtype: torch.dtype) -> None:
    network = trained().network.eval()
    card = make_card(game("geister", "paper"), {"mine": describe(network)}, name="m", about="a test", plays="mine")
    save_model(tmp_path, {"mine": network}, card, dtype)
    again = load_model(tmp_path).player
    _, seen = played(network)
    before, after = network(seen)[0], again(seen)[0]
    assert torch.allclose(before, after, atol=0 if dtype == torch.float32 else 0.05)
    assert read_card(tmp_path)["networks"]["mine"]["parameters"] == 36_992
    assert int(again.norm.num_batches_tracked) == 5  # type: ignore[union-attr, arg-type]


def test_whole_numbers_in_the_place_of_weights_are_refused(tmp_path: Path) -> None:
    network = made()
    card = make_card(game("geister", "paper"), {"mine": describe(network)}, name="m", about="a test", plays="mine")
    state = network.state_dict()
    state["norm.running_mean"] = state["norm.running_mean"].long()
    other = replace_state(network, state)
    with pytest.raises(ModelError, match=r"norm\.running_mean holds torch.int64, and this network has floating-point"):
        save_model(tmp_path, {"mine": other}, card)


def replace_state(network: ConvNetwork, state: dict[str, torch.Tensor]) -> ConvNetwork:
    network.norm.running_mean = state["norm.running_mean"]
    return network
