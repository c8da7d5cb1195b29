"""Clocks: what a bank loses, when time is up, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vauban.errors import ConfigurationError
from vauban.web.clocks import CLOCKS, NONE, STRATEGUS, Clock, make_clock

MILLISECONDS = st.integers(0, 4_000_000)


def test_without_a_clock_nobody_loses_by_time():
    assert NONE.left((0, 0), 0) is None
    assert not NONE.is_up((0, 0), 1, 10**9)
    assert NONE.spend((0, 0), 0, 10**9) == (0, 0)


def test_strategus_has_15_minutes_3_free_seconds_a_move_and_3_minutes_for_one():
    assert (STRATEGUS.bank, STRATEGUS.free, STRATEGUS.cap) == (900_000, 3_000, 180_000)
    banks = STRATEGUS.banks()
    assert STRATEGUS.spend(banks, 0, 3_000) == (900_000, 900_000)
    assert STRATEGUS.spend(banks, 0, 3_001) == (899_999, 900_000)
    assert STRATEGUS.spend(banks, 1, 63_000) == (900_000, 840_000)


@pytest.mark.parametrize(("bank", "spent", "up"), [
    (900_000, 179_999, False), (900_000, 180_000, True),
    (10_000, 12_999, False), (10_000, 13_000, True),
    (0, 2_999, False), (0, 3_000, True),
])  # fmt: skip
def test_the_strategus_flag_falls_with_the_bank_or_after_three_minutes(bank, spent, up):
    assert STRATEGUS.is_up((bank, 0), 0, spent) is up


def test_a_bronstein_clock_gives_back_what_a_move_used_and_no_more():
    clock = make_clock({"kind": "bronstein", "minutes": 1, "seconds": 4})
    assert clock.banks() == (60_000, 60_000)
    assert clock.spend((60_000, 60_000), 0, 1_500) == (60_000, 60_000)
    assert clock.spend((60_000, 60_000), 0, 10_000) == (54_000, 60_000)
    # The bank runs at once: what would come back after the move does not save whoever has run out of it.
    assert not clock.is_up((3_000, 0), 0, 2_999)
    assert clock.is_up((3_000, 0), 0, 3_000)


def test_a_bronstein_clock_may_have_a_longest_time_for_one_move():
    clock = make_clock({"kind": "bronstein", "minutes": 10, "seconds": 4, "move": 2})
    banks = clock.banks()
    assert clock.left(banks, 0) == 120_000 and clock.shown(banks, 0, 30_000) == (570_000, 90_000)
    assert not clock.is_up(banks, 0, 119_999)
    assert clock.is_up(banks, 0, 120_000)
    assert clock.left((50_000, 0), 0) == 50_000  # the bank ends before


@given(
    st.sampled_from(
        [
            STRATEGUS,
            Clock("bronstein", 60_000, 4_000),
            Clock("bronstein", 60_000, 0),
            Clock("bronstein", 60_000, 9, 7_000),
        ]
    ),
    MILLISECONDS,
    MILLISECONDS,
    st.sampled_from([0, 1]),
)
def test_a_bank_never_grows_never_falls_below_nothing_and_leaves_the_other_alone(clock, bank, spent, player):
    banks = (bank, 77) if player == 0 else (77, bank)
    after = clock.spend(banks, player, spent)
    assert after[1 - player] == 77
    assert 0 <= after[player] <= bank
    if not clock.is_up(banks, player, spent):
        assert after[player] == bank - max(0, spent - clock.free)
    shown = clock.shown(banks, player, spent)
    assert min(shown) >= 0
    assert (shown[1] == 0) == clock.is_up(banks, player, spent)


LIMITS = st.none() | st.integers(1_000, 180 * 60_000)


@given(st.integers(1_000, 180 * 60_000), st.integers(0, 60_000), LIMITS, LIMITS)
def test_a_clock_is_read_back_to_the_millisecond(bank, free, cap, whole):
    clock = Clock("bronstein", bank, free, cap, whole)
    assert make_clock(clock.as_json()) == clock


def test_what_is_offered_can_be_made():
    for offered in CLOCKS:
        assert make_clock({"kind": offered["key"], **offered}).kind == offered["key"]
    assert make_clock(None) is NONE


@pytest.mark.parametrize("given_", [
    {}, {"kind": "hourglass"}, {"kind": ["none"]}, {"kind": "bronstein"}, {"kind": "bronstein", "minutes": 5},
    {"kind": "bronstein", "minutes": 0, "seconds": 5}, {"kind": "bronstein", "minutes": 1e9, "seconds": 5},
    {"kind": "bronstein", "minutes": 5, "seconds": -1}, {"kind": "bronstein", "minutes": "5", "seconds": 1},
    {"kind": "bronstein", "minutes": True, "seconds": 1}, {"kind": "bronstein", "minutes": float("nan"), "seconds": 1},
    *({"kind": "bronstein", "minutes": 5, "seconds": 1, key: limit} for key in ("move", "whole")
      for limit in (0, 181, -1, "x", True)),
    {"kind": "bronstein", "minutes": float("inf"), "seconds": 1}, {"kind": "bronstein", "minutes": 5, "seconds": 61},
])  # fmt: skip
def test_a_clock_that_is_none_is_refused_with_a_sentence(given_):
    with pytest.raises(ConfigurationError, match="clock"):
        make_clock(given_)
