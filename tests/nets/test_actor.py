"""The playing loop: its play is that of its parts, called one by one."""

from __future__ import annotations

import torch

from vauban.games.base import game
from vauban.nets.actor import Actor
from vauban.nets.plain import PlainNetwork
from vauban.nets.transformer import Size
from vauban.sim.simulator import Simulator


def test_an_actor_plays_what_its_parts_would_play_one_by_one() -> None:
    leduc = game("leduc")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = PlainNetwork(leduc, Size(1, 16, 1)).requires_grad_(False)
    sims = [Simulator(leduc, 32, seed=5) for _ in range(2)]
    actor, other = Actor(network, sims[0]), sims[1]
    for _ in range(12):
        thought = actor.choose()
        seen = other.observe(network.observation, layout="squares")
        legal, counts = other.legal_actions()
        choices, outcome = network(seen)
        log_policy = network.legal_log_policy(choices, legal)
        actions = other.choose(legal, log_policy)
        for mine, its in zip(thought, (legal, counts, log_policy, outcome), strict=True):
            assert torch.equal(mine, its)
        assert torch.equal(actor.actions, actions)
        actor.step()
        other.step(actions)
    sims[0].check_step()
    assert all(torch.equal(*parts) for parts in zip(sims[0].store, other.store, strict=True))


def test_an_actor_thinks_by_a_compiled_network() -> None:
    leduc = game("leduc")
    network = PlainNetwork(leduc, Size(1, 16, 1)).requires_grad_(False)
    compiled = torch.compile(network, backend="eager")
    thoughts = [Actor(network, Simulator(leduc, 4, seed=5), forward).think() for forward in (None, compiled)]
    assert torch.equal(thoughts[0].log_policy, thoughts[1].log_policy)
