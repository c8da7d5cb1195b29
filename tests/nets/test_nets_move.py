"""The networks that play: sizes, outputs on recorded positions, from choices to a policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from vauban.games.base import game
from vauban.games.stratego.game import Stratego
from vauban.nets.move import MoveNetwork
from vauban.nets.plain import PlainNetwork
from vauban.nets.policy import utility_values
from vauban.nets.setup import SetupNetwork
from vauban.nets.stratego.ataraxos import fold
from vauban.nets.transformer import Size
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

SMALL = Size(depth=2, width=32, heads=4)


def parameters(network: torch.nn.Module) -> int:
    return sum(each.numel() for each in network.parameters())


def test_the_move_network_of_the_paper_has_14_716_419_parameters() -> None:
    assert parameters(MoveNetwork(Stratego("classic"), Size(depth=8, width=384, heads=8))) == 14_716_419


def test_the_parts_of_the_move_network_are_those_of_ref_11() -> None:
    network = MoveNetwork(Stratego("classic"), Size(depth=1, width=384, heads=8))
    sizes = {name: parameters(part) for name, part in network.named_children()}
    assert sizes == {
        "embed": 487 * 384 + 384, "blocks": 1_774_464, "norm": 768, "source_and_target": 295_680, "outcome": 1_155,
    }  # fmt: skip
    assert network.positions.shape == (93, 384)


def test_the_choices_of_actions_are_the_recorded_pairs_of_squares(vectors: Path) -> None:
    recorded = np.load(vectors / "ataraxos_move_network.npz")["index/srcdst_of_action"]
    ours = MoveNetwork(Stratego("classic"), SMALL).choice_of_action.numpy()
    assert (recorded < 0).sum() == 256
    np.testing.assert_array_equal(ours[recorded >= 0], recorded[recorded >= 0])


def test_folding_643_inputs_to_487_gives_the_recorded_weights(vectors: Path) -> None:
    arrays = np.load(vectors / "ataraxos_move_network.npz")
    folded = fold(torch.from_numpy(arrays["embedder.weight"]))
    np.testing.assert_array_equal(folded.numpy(), arrays["folded/embedder.weight"])


def test_the_value_token_has_its_position_and_no_content() -> None:
    """Squares that see nothing have the embedder's bias; the value token has not."""
    network = MoveNetwork(Stratego("tiny"), SMALL)
    seen = torch.zeros(1, 16, network.embed.in_features)
    tokens: list[torch.Tensor] = []
    network.blocks[0].register_forward_pre_hook(lambda _, given: tokens.append(given[0]))
    network(seen)
    torch.testing.assert_close(tokens[0][0, 0], network.positions[0])
    torch.testing.assert_close(tokens[0][0, 1:], network.positions[1:] + network.embed.bias)


@pytest.mark.parametrize("name", ["tiny", "duel", "kuhn", "leduc"])
def test_a_policy_is_a_distribution_over_the_legal_actions_and_nothing_else(name: str) -> None:
    played = game(name)
    sim = Simulator(played, 8, seed=3)
    kind = MoveNetwork if isinstance(played, Stratego) else PlainNetwork
    network = kind(played, SMALL)
    seen = sim.observe(network.observation, layout="squares")
    legal, _ = sim.legal_actions()
    choices, outcome = network(seen)
    policy = network.legal_log_policy(choices, legal).exp()
    assert outcome.shape == (8, len(played.utilities))
    assert utility_values(played, torch.device("cpu")).tolist() == list(played.utilities)
    torch.testing.assert_close(policy.sum(1), torch.ones(8))
    assert ((policy > 0) == (legal >= 0)).all()


def test_where_nothing_is_legal_the_policy_is_minus_infinity_and_no_nan() -> None:
    network = MoveNetwork(Stratego("tiny"), SMALL)
    choices = torch.randn(2, 16 * 16, generator=torch.Generator().manual_seed(1))
    legal = torch.full((2, 4), -1)
    legal[0, :2] = torch.tensor([5, 7])
    policy = network.legal_log_policy(choices, legal)
    assert policy[1].tolist() == [-torch.inf] * 4
    picked = choices[0, network.choice_of_action[[5, 7]]]
    torch.testing.assert_close(policy[0, :2], picked.log_softmax(0))


def test_learned_positions_begin_with_the_spread_of_tables_23_and_24() -> None:
    torch.manual_seed(1)
    move = MoveNetwork(Stratego("classic"), Size(depth=1, width=384, heads=8))
    setup = SetupNetwork(Stratego("classic"), Size(depth=1, width=512, heads=8))
    for network in (move, setup):
        assert network.positions.std().item() == pytest.approx(0.1, rel=0.03)
        assert network.positions.mean().item() == pytest.approx(0, abs=0.003)
        assert network.positions.abs().max() > 0.3, "as a normal distribution has it, not a uniform one"


def test_a_step_off_the_board_has_a_logit_of_its_own() -> None:
    """It used to share that of a move to the last square."""
    ambush = game(f"py:{Path(__file__).parents[2]}/examples/ambush.py:Ambush")
    assert ambush.moves is not None
    choice = MoveNetwork(ambush, SMALL, observations.names(ambush)[0]).choice_of_action.tolist()
    for (source, target), chosen in zip(ambush.moves.tolist(), choice, strict=True):
        assert chosen == source * 9 + (source if target < 0 else target)
    on_board = [chosen for chosen, target in zip(choice, ambush.moves[:, 1], strict=True) if target >= 0]
    off_board = [chosen for chosen, target in zip(choice, ambush.moves[:, 1], strict=True) if target < 0]
    assert off_board and not set(on_board) & set(off_board)


def test_a_plain_network_sees_every_square_of_a_board() -> None:
    sim = Simulator("geister-33b", 3, seed=1)
    network = PlainNetwork(game("geister-33b"), Size(1, 8, 1))
    seen = torch.zeros((3, *sim.observation_shape(network.observation, "squares")))
    seen[1, -1, 0] = seen[2, 0, 0] = 1.0
    choices, _ = network(seen)
    assert choices.shape == (3, game("geister-33b").action_count)
    assert not torch.equal(choices[0], choices[1]) and not torch.equal(choices[1], choices[2])
