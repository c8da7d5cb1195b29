"""The network of DeepNash: every published block's size, boards of all sizes, heads by the phase of a game in steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from vauban.agents.net import NetAgent, NetOptions
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.nets.kinds import describe
from vauban.nets.pyramid import PolicyHead, Pyramid, PyramidConfig, PyramidNetwork, ValueHead
from vauban.nets.store import make_card, save_model
from vauban.sim.simulator import Simulator

SMALL: dict[str, Any] = {"width": 8, "inner": 12, "outer_blocks": 1, "inner_blocks": 1}
STEPS = "steps:tiny"


def size(module: nn.Module) -> int:
    return sum(each.numel() for each in module.parameters())


# ── A.8: sizes ───────────────────────────────────────────────────────────────────────────────────


def test_every_block_of_the_published_torso_has_its_size() -> None:
    torso = Pyramid(82, 256, 320, 2, 2)
    assert size(torso.enter) == 189_184
    assert [size(each) for each in torso.down] == [590_208, 590_208, 656_000, 912_160, 922_080]
    assert [size(each) for each in torso.up] == [973_440, 963_200, 779_008, 623_104, 623_104]
    assert size(torso) == 7_821_696 and size(Pyramid(82, 256, 320, 1, 1)) == 4_712_864


def test_the_published_network_has_19_263_849_parameters() -> None:
    config = PyramidConfig()
    heads = [PolicyHead(channels, config, 1) for channels in (256, 257, 267)]
    assert [size(each) for each in heads] == [3_150_593, 3_152_897, 3_175_937]
    judge = ValueHead(267, config, 100)
    assert size(judge) == 1_962_726
    assert 7_821_696 + sum(map(size, heads)) + size(judge) == 19_263_849


def test_the_board_is_halved_and_comes_back_in_its_size() -> None:
    for rows, columns in ((10, 10), (5, 5), (3, 4), (7, 6)):
        torso = Pyramid(3, 8, 12, 1, 1)
        shapes = []
        torso.down[1].register_forward_hook(lambda _, __, out, shapes=shapes: shapes.append(tuple(out.shape)))
        out = torso(torch.randn(2, 3, rows, columns))
        assert out.shape == (2, 8, rows, columns)
        assert shapes == [(2, 8, (rows + 1) // 2, (columns + 1) // 2)]


# ── Games of whole moves ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["fives", "micro", "geister"])
def test_each_move_of_a_board_has_a_logit_of_its_own(name: str) -> None:
    played = game(name)
    assert played.moves is not None
    network = PyramidNetwork(played, **SMALL)
    choices = network.choice_of_action
    on_board = torch.from_numpy((played.moves[:, 1] >= 0) & (played.moves[:, 1] != played.moves[:, 0]))
    assert len(choices.unique()) == played.action_count
    squares = played.board[0] * played.board[1]
    assert torch.equal(choices % squares, torch.from_numpy(played.moves[:, 0]))
    ways = (choices // squares)[on_board]
    differences = torch.from_numpy(
        np.stack(np.divmod(played.moves[:, 1], played.board[1]), 1)
        - np.stack(np.divmod(played.moves[:, 0], played.board[1]), 1)
    )[on_board]
    for way in ways.unique():
        assert len(differences[ways == way].unique(dim=0)) == 1, "a way is the same step everywhere"
    sim = Simulator(played, 5, seed=1)
    sim.play_random(4)
    legal, _ = sim.legal_actions()
    logits, outcome = network(sim.observe(network.observation, layout="squares"))
    assert outcome.shape == (5, len(played.utilities)) and outcome.isfinite().all()
    torch.testing.assert_close(network.legal_log_policy(logits, legal).exp().sum(1), torch.ones(5))


def test_its_distribution_of_outcomes_has_the_worth_that_it_estimates() -> None:
    torch.manual_seed(2)
    network = PyramidNetwork(game("micro"), **SMALL)
    sim = Simulator("micro", 4, seed=1)
    seen = sim.observe("deepnash", layout="squares")
    choices, values = network.estimate(seen)
    same, outcome = network(seen)
    assert torch.equal(choices, same)
    torch.testing.assert_close(outcome.softmax(1) @ network.utilities, values, atol=1e-4, rtol=1e-4)


def test_an_agent_plays_by_it_and_judges(tmp_path: Path) -> None:
    played = game("micro")
    network = PyramidNetwork(played, **SMALL)
    card = make_card(played, {"move": describe(network)}, name="small", about="A test.")
    save_model(tmp_path / "small", {"move": network}, card)
    agent = NetAgent(NetOptions(model=str(tmp_path / "small")))
    views = Simulator(played, 6, seed=1).views(0)
    policy = agent.policy(views)
    assert policy.shape == (6, played.max_legal) and np.allclose(policy.sum(1), 1)
    seen = Simulator(played, 6, seed=1).observe("deepnash", layout="squares")
    with torch.no_grad():
        assert np.allclose(agent.judge(views), network.estimate(seen)[1].numpy(), atol=1e-3)


def test_games_without_a_board_and_widths_that_cannot_be_halved_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="needs a board of 2 × 2 or more, and 'kuhn' has none"):
        PyramidNetwork(game("kuhn"), **SMALL)
    with pytest.raises(ConfigurationError, match="are even and 2 or more"):
        PyramidConfig(width=7)


# ── Games in steps ───────────────────────────────────────────────────────────────────────────────


def test_the_whole_network_for_stratego_in_steps_has_the_published_size() -> None:
    assert size(PyramidNetwork(game("steps:classic"))) == 19_263_849


def _was_asked(head: nn.Module) -> bool:
    return any(each.grad is not None and bool(each.grad.any()) for each in head.parameters())


def test_in_steps_the_phase_picks_the_head() -> None:
    played = game(STEPS)
    torch.manual_seed(1)
    network = PyramidNetwork(played, **SMALL)
    names = {"deploy": set(), "select": set(), "aim": set()}
    sim = Simulator(played, 16, seed=1)
    for _ in range(40):
        seen = sim.observe(network.observation, layout="squares").requires_grad_(False)
        choices, _ = network.estimate(seen)
        for row in range(16):
            phase = "deploy" if seen[row, 0, 79] else "aim" if seen[row, 0, 80] else "select"
            network.zero_grad()
            choices[row].sum().backward(retain_graph=True)
            moved = {head for head in names if _was_asked(getattr(network, head))}
            assert moved == {phase}
            names[phase].add(row)
        sim.step(sim.sample())
    assert all(names.values()), "every phase was met"


def test_the_value_sees_the_piece_that_was_chosen() -> None:
    played = game(STEPS)
    torch.manual_seed(1)
    network = PyramidNetwork(played, **SMALL)
    sim = Simulator(played, 16, seed=1)
    while not bool((sim.observe("deepnash", layout="squares")[:, 0, 80] > 0).all()):
        sim.step(sim.sample())
    seen = sim.observe("deepnash", layout="squares")
    without = seen.clone()
    without[:, :, 1:13] = 0
    with torch.no_grad():
        assert not torch.equal(network.estimate(seen)[1], network.estimate(without)[1])
