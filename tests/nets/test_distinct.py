"""Asking a network once about observations that are alike gives what asking about all of them gives."""

from __future__ import annotations

import pytest
import torch

from vauban.games.base import game
from vauban.nets import distinct as module
from vauban.nets.distinct import different_rows, distinct
from vauban.nets.plain import PlainNetwork
from vauban.nets.transformer import Size
from vauban.sim.simulator import Simulator


def leduc() -> torch.Tensor:
    sim = Simulator("leduc", 500, seed=1)
    sim.play_random(3)
    seen: torch.Tensor = sim.observe("information_state", layout="squares")
    return seen


def test_the_answers_and_their_gradients_are_those_of_all_rows() -> None:
    torch.manual_seed(1)
    network, seen = PlainNetwork(game("leduc"), Size(1, 16, 1)), leduc()
    found = []
    for ask in (network, distinct(network)):
        network.zero_grad()
        choices, outcome = ask(seen)
        (choices.square().mean() + outcome.square().mean()).backward()  # type: ignore[no-untyped-call]
        found.append([choices, outcome, *(each.grad.clone() for each in network.parameters() if each.grad is not None)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_a_network_is_asked_about_different_rows_alone() -> None:
    seen, asked = leduc(), []

    def ask(rows: torch.Tensor) -> tuple[torch.Tensor]:
        asked.append(rows)
        return (rows.flatten(1),)

    assert torch.equal(distinct(ask)(seen)[0], seen.flatten(1))
    (rows,) = asked
    assert len(rows) == len(seen.flatten(1).unique(dim=0)) < len(seen) / 2


def test_rows_that_random_numbers_do_not_tell_apart_are_all_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_weights", lambda count: torch.zeros(count, dtype=torch.float64))
    first, place = different_rows(leduc())
    assert torch.equal(first, torch.arange(500)) and torch.equal(place, first)
