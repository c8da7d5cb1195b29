"""Reservoirs: every item that was ever put in is as likely to be there as any other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from vauban.learn.buffers import Reservoir

CPU = torch.device("cpu")
COLUMNS = {"item": ((), torch.int64)}


def filled(capacity: int, items: int, together: int, seed: int) -> Reservoir:
    """Return a reservoir that was given the items 0, 1, … in parts of this size."""
    reservoir, generator = Reservoir(capacity, COLUMNS, CPU), torch.Generator().manual_seed(seed)
    for first in range(0, items, together):
        part = torch.arange(first, min(first + together, items))
        reservoir.add({"item": part}, torch.ones(len(part), dtype=torch.bool), generator)
    return reservoir


@pytest.mark.parametrize("together", [1, 7, 60, 300])
def test_each_item_stays_with_the_same_probability_however_they_come(together: int) -> None:
    """300 items into 20 places, many times. Counts of items are near binomial; their χ² has 299 degrees of freedom
    and is scaled by 1 − 20/300, since just 20 stay each time."""
    capacity, items = 20, 300
    counts = np.zeros(items)
    for seed in range(min(2000, 100 * together)):
        stayed = filled(capacity, items, together, seed).state()["item"].numpy()
        assert len(np.unique(stayed)) == capacity
        counts[stayed] += 1
    expected = counts.sum() / items
    statistic = ((counts - expected) ** 2 / expected).sum() / (1 - capacity / items)
    assert abs(statistic - 299) < 4.5 * np.sqrt(2 * 299)


def test_all_items_stay_while_there_is_room_in_their_order() -> None:
    assert filled(20, 20, 6, seed=1).state()["item"].tolist() == list(range(20))
    assert filled(20, 13, 6, seed=1).state()["item"].tolist() == list(range(13))


def test_items_that_are_masked_out_leave_no_gaps() -> None:
    reservoir = Reservoir(10, COLUMNS, CPU)
    reservoir.add({"item": torch.arange(8)}, torch.arange(8) % 2 == 0, torch.Generator().manual_seed(1))
    assert reservoir.state()["item"].tolist() == [0, 2, 4, 6]


def test_items_that_are_masked_out_neither_stay_nor_count() -> None:
    reservoir, generator = Reservoir(4, COLUMNS, CPU), torch.Generator().manual_seed(1)
    for first in range(0, 100, 10):
        items = torch.arange(first, first + 10)
        reservoir.add({"item": items}, items % 2 == 0, generator)
    assert int(reservoir.seen) == 50
    assert all(item % 2 == 0 for item in reservoir.state()["item"].tolist())


def test_only_what_is_there_is_drawn_and_all_of_it() -> None:
    reservoir = filled(50, 30, 10, seed=2)
    drawn = reservoir.draw(3000, torch.Generator().manual_seed(3))
    assert sorted(set(drawn.tolist())) == list(range(30))


def test_a_reservoir_goes_on_from_its_state_as_if_nothing_had_happened() -> None:
    whole, half = filled(20, 300, 30, seed=4), filled(20, 150, 30, seed=4)
    other, generator = Reservoir(20, COLUMNS, CPU), torch.Generator().manual_seed(4)
    assert other.fits(half.state())
    other.load_state(half.state())
    torch.rand(150, generator=generator, dtype=torch.float64)  # which the first half has drawn
    for first in range(150, 300, 30):
        part = torch.arange(first, first + 30)
        other.add({"item": part}, torch.ones(30, dtype=torch.bool), generator)
    assert other.state()["item"].tolist() == whole.state()["item"].tolist()
    assert int(other.seen) == 300


def test_the_state_of_another_kind_of_reservoir_does_not_fit() -> None:
    state = filled(20, 30, 10, seed=5).state()
    assert not Reservoir(20, {"item": ((2,), torch.int64)}, CPU).fits(state)
    assert not Reservoir(20, {"thing": ((), torch.int64)}, CPU).fits(state)
    assert not Reservoir(10, COLUMNS, CPU).fits(state)
    assert Reservoir(20, COLUMNS, CPU).fits(state)
