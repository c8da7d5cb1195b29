"""Variants and rules as data: those that are shipped, users' own, and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vauban.board import Board
from vauban.errors import ConfigurationError
from vauban.games.stratego import layout, switches
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.switches import PRESETS, SWITCHES, Rules, parse_rules
from vauban.games.stratego.variants import VARIANTS, Variant, find_variant, parse_army, variant_from
from vauban.sim.simulator import Simulator

SKIRMISH = """
name = "skirmish"
rows = 6
columns = 5
lakes = ["c3", "c4"]
setup_rows = 2
army = "F1 O2 N1 M1 S1 B1"
total_limit = 300
battleless_limit = 100
"""


def test_a_variant_of_ones_own_is_played_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "skirmish.toml"
    path.write_text(SKIRMISH)
    variant = find_variant(str(path))
    assert (variant.name, variant.squares, variant.pieces, variant.total_limit) == ("skirmish", 30, 7, 300)
    sim = Simulator(Stratego(variant), 16, seed=1)
    sim.play_random(200)
    assert sim.observe("ataraxos").shape == (16, 355 + 30 + 32, 6, 5)
    board = Board.random(str(path), 3)
    board.push(board.legal_moves[0])
    assert board.variant == variant


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"c3", "c4"', '"c3"', "turned by 180"),
        ('"c3", "c4"', '"c1", "c6"', "setup rows"),
        ('"c3", "c4"', '"z9"', "no square"),
        ("rows = 6", "rows = 60", "at most 126 squares"),
        ("setup_rows = 2", "setup_rows = 4", "do not fit"),
        ("F1 O2", "F2 O2", "exactly one Flag"),
        ("F1 O2 N1 M1 S1 B1", "F1 B3", "can move"),
        ("F1 O2", "F1 X2", "'X2'"),
        ("F1 O2", "F1 O9", "do not fit on 10"),
        ("total_limit", "total_limits", "did you mean 'total_limit'"),
        ("total_limit = 300", "total_limit = 0", "1 or more"),
        ("rows = 6", 'rows = "six"', "must be int"),
        ('name = "skirmish"', "", "needs the entry 'name'"),
        ("rows = 6", "rows = ", "cannot be read"),
    ],
)
def test_a_variant_that_cannot_be_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "v.toml"
    path.write_text(SKIRMISH.replace(old, new, 1))
    with pytest.raises(ConfigurationError, match=words):
        find_variant(str(path))


def test_shipped_variants_are_unchanged_by_a_half_turn() -> None:
    for variant in VARIANTS.values():
        assert {variant.squares - 1 - lake for lake in variant.lakes} == set(variant.lakes)
        assert parse_army(variant.army_text) == variant.army


@given(st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.text(max_size=5), st.none())))
def test_tables_that_are_no_variants_are_refused_with_a_sentence(table: dict) -> None:
    with pytest.raises(ConfigurationError):
        variant_from(table)


# ── Rules ────────────────────────────────────────────────────────────────────────────────────────

CLASSIC, TINY = VARIANTS["classic"], VARIANTS["tiny"]

rules = st.builds(
    Rules,
    two_square=st.sampled_from([0, 3, 5]),
    chase=st.sampled_from(["ataraxos", "isf", "off"]),
    chase_compare=st.sampled_from(["identity", "type"]),
    battleless_limit=st.one_of(st.none(), st.integers(1, 5000)),
    total_limit=st.one_of(st.none(), st.integers(1, 9999)),
    limits=st.sampled_from(["reached", "exceeded"]),
    cannot_move=st.sampled_from(["on_turn", "eager"]),
)


@given(rules)
def test_rules_come_back_from_their_text_and_their_table(settled: Rules) -> None:
    assert parse_rules(settled.text, CLASSIC) == settled
    assert parse_rules(settled.as_dict(), TINY) == settled


def test_rules_1_8_presets() -> None:
    assert (
        parse_rules(None, CLASSIC)
        == parse_rules("strategus", CLASSIC)
        == Rules(3, battleless_limit=200, total_limit=4000)
    )
    assert parse_rules("ataraxos-train", CLASSIC) == Rules(
        3, battleless_limit=100, total_limit=4000, limits="exceeded", cannot_move="eager"
    )
    assert parse_rules("deepnash", CLASSIC) == Rules(3, chase="isf", battleless_limit=200, total_limit=2000)
    assert parse_rules("ucc", CLASSIC) == Rules(0, chase="off", total_limit=9998)
    assert parse_rules("isf", CLASSIC) == Rules(3, chase="isf")
    assert parse_rules("p2sro", CLASSIC) == Rules(3, chase="off", total_limit=4000)
    assert len(PRESETS) == 8


def test_rules_1_8_other_variants_keep_their_limits_unless_one_is_named() -> None:
    assert parse_rules("ucc", TINY) == Rules(0, chase="off", total_limit=100)
    assert parse_rules("ucc total_limit=50", TINY).total_limit == 50
    assert parse_rules("ataraxos battleless_limit=100", CLASSIC).battleless_limit == 100


@pytest.mark.parametrize(
    "text",
    ["two_square=2", "two_square=none", "chase=yes", "limits=maybe", "total_limit=-3", "total_limit=off",
     "chase=off ucc", "total_limit=1e3", "nonsense", "=3", "chase_compare=color"],
)  # fmt: skip
def test_rules_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        parse_rules(text, CLASSIC)


def test_limits_have_a_bound() -> None:
    for text in ("total_limit=99999999999999999999", "battleless_limit=" + "9" * 5000):
        with pytest.raises(ConfigurationError, match="1,000,000,000"):
            parse_rules(text, CLASSIC)


def test_lakes_may_come_in_any_order() -> None:
    variant = Variant("mine", 6, 5, (17, 12, 12), 1, parse_army("F1 O1 M1"))
    assert variant.lakes == (12, 17)
    board = Board.random(variant, 1)
    assert Board.from_position(board.text, variant) == board


def test_a_variant_is_plain_data() -> None:
    variant = Variant("mine", 4, 4, (), 1, parse_army("F1 O1 M1"))
    assert Board.random(variant, 1).variant is variant
    with pytest.raises(ConfigurationError, match="did you mean 'classic'"):
        find_variant("clasic")


def test_every_value_of_every_switch_is_in_the_text_and_in_its_parameter() -> None:
    for switch, values in SWITCHES.items():
        for value, number in (values or {"7": 7, "none": switches.NO_LIMIT}).items():
            game = Stratego("tiny", f"{switch}={value}")
            assert parse_rules(game.rules.text, game.variant) == game.rules, switch
            assert game.format(plies=9).parameters[layout.SWITCH[switch]] == number, (switch, value)


def test_a_new_switch_is_written_wherever_it_is_not_as_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is declared in `Rules`, which `SWITCHES` and `DEFAULTS` are read from: no text of rules can leave it out."""

    @dataclass(frozen=True)
    class Longer(Rules):
        flying: str = "off"

    before = Rules().text
    monkeypatch.setitem(SWITCHES, "flying", {"off": 0, "on": 1})
    monkeypatch.setitem(switches.DEFAULTS, "flying", "off")
    assert Longer(flying="on").text == f"{before} flying=on"
    assert Longer().text == before
    assert Longer(flying="on").number("flying") == 1
