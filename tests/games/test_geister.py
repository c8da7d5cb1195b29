"""Geister against golden numbers computed elsewhere, and against an oracle written from the rules alone."""

from __future__ import annotations

import os
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle_geister import rules as oracle

from vauban.board import Board
from vauban.board.perft import perft
from vauban.errors import ConfigurationError, RecordError, SetupError
from vauban.games.base import from_spec, game
from vauban.games.geister import layout
from vauban.games.geister.game import Geister
from vauban.games.geister.variants import Variant
from vauban.sim.simulator import Simulator
from vauban.solve import build_tree, evaluate, solve_tree

PLIES = int(os.environ.get("VAUBAN_ORACLE_PLIES", "50000"))
"""Plies compared with the oracle in each mode of the full game."""


# ── Golden numbers of docs/geister.md ────────────────────────────────────────────────────────────

RANDOM_PLAY = {
    "escape=optional total_limit=100": (0.0791, 0.0800, 0.8408, 0.0620, 0.0485, 0.0487, 96.50, 15.16),
    "escape=optional total_limit=300": (0.4889, 0.4869, 0.0242, 0.2108, 0.3854, 0.3797, 159.87, 13.72),
    "escape=forced total_limit=100": (0.1074, 0.1085, 0.7841, 0.1292, 0.0434, 0.0434, 94.37, 15.16),
    "escape=forced total_limit=300": (0.4915, 0.4910, 0.0176, 0.3404, 0.3246, 0.3175, 149.88, 13.84),
}
"""By rules: wins of the first and of the second player, draws; ends by escape, by the last good ghost, by the last evil
one; mean plies, mean legal actions."""


@pytest.mark.parametrize("rules", RANDOM_PLAY)
def test_random_play_ends_as_often_in_each_way_as_it_should(rules: str) -> None:
    games = 100_000
    sim = Simulator("geister", games, rules=rules, seed=1, restart=False, arrays="numpy")
    legal = 0
    while not sim.over.all():
        legal += int(sim.legal_actions()[1].sum())
        sim.step(sim.sample())
    results = sim.results
    *shares, plies, wide = RANDOM_PLAY[rules]
    found = [(results.winner == who).mean() for who in (0, 1, 2)] + [(results.end == end).mean() for end in (1, 2, 3)]
    for share, golden in zip(found, shares, strict=True):
        # Ours of 100,000 games, the golden ones of 200,000.
        error = (golden * (1 - golden) * (1 / games + 1 / 200_000)) ** 0.5
        assert abs(share - golden) < 4 * error, (found, shares)
    assert abs(results.plies.mean() - plies) < 0.9
    assert abs(legal / results.plies.sum() - wide) < 0.03


@pytest.mark.parametrize("rules", ["server", "paper"])
@pytest.mark.parametrize("setups", [("ABCD", "BCDE"), ("EFGH", "EFGH")])
def test_sequences_of_moves_are_as_many_as_they_should_be(rules: str, setups: tuple[str, str]) -> None:
    """Whatever the colours and the rules: nothing can end or escape so early."""
    board: Board = Board("geister", rules, setups=setups)
    assert perft(board, 6) == [8, 64, 768, 9_200, 118_488, 1_523_518]


# By variant, limit and switches: histories, terminal ones, those at the limit, decisions, information sets; then value
# and best responses of uniform play.
SMALL: list[tuple[str, int, str, tuple[int, ...], tuple[float, float, float]]] = [
    ("33a", 4, "", (980, 720, 60, 200, 30, 100), (0, 7 / 15, 2 / 15)),
    ("33a", 5, "", (3716, 2928, 588, 200, 294, 100), (1 / 120, 0.4666666667, 0.2527777778)),
    ("33a", 6, "", (14276, 11384, 588, 2304, 294, 1164), (-1 / 3600, 0.6513888889, 0.2736111111)),
    ("33a", 6, "escape=optional", (14676, 11760, 588, 2328, 294, 1164), (-0.0000925926, 0.6534722222, 0.2736111111)),
    ("33a", 7, "", (48212, 36816, 9092, 2304, 4630, 1164), (0.0046604938, 0.6861111111, 0.3874074074)),
    ("33a", 8, "", (150374, 113306, 9092, 27976, 4630, 14492), (-0.0004721451, 0.7503703704, 0.4103703704)),
    ("33b", 4, "", (2757, 2277, 81, 399, 27, 143), (0.0864883402, 0.5370370370, 0.2175925926)),
    ("33b", 5, "", (11825, 9421, 2005, 399, 731, 143), (0.0497942387, 0.5370370370, 0.3722222222)),
    ("33b", 6, "", (47083, 37151, 2005, 7927, 731, 3237), (0.0626030803, 0.6512051734, 0.4021898883)),
    ("33c", 5, "", (11933, 9529, 2005, 399, 731, 143), (-0.0072702332, 0.3950617284, 0.3415637860)),
    ("43", 5, "", (9116, 7288, 1524, 304, 762, 152), (0, 0.4714285714, 0.2988095238)),
    ("43", 6, "", (38076, 30184, 1524, 6368, 762, 3184), (0, 0.5845238095, 0.2988095238)),
    ("34", 7, "", (134188, 105088, 24156, 4944, 12078, 2472), (0.0019444444, 0.3877777778, 0.4112592593)),
    ("44", 5, "", (821180, 719992, 90100, 11088, 21066, 2352), (0, 0.1972552910, 0.1715629064)),
    ("33a", 4, "at_limit=second", (980, 720, 60, 200, 30, 100), (-0.5966666667, 0.1666666667, 1)),
    ("33a", 5, "at_limit=second", (3716, 2928, 588, 200, 294, 100), (-0.4586111111, 0.3333333333, 0.9166666667)),
    ("33a", 6, "at_limit=second", (14276, 11384, 588, 2304, 294, 1164), (-0.3765432099, 0.45, 0.9166666667)),
    ("33a", 7, "at_limit=second", (48212, 36816, 9092, 2304, 4630, 1164), (-0.2840823045, 0.6861111111, 0.87)),
    ("33b", 4, "at_limit=second", (2757, 2277, 81, 399, 27, 143), (-0.6012002743, 0.0740740741, 1)),
    ("33b", 5, "at_limit=second", (11825, 9421, 2005, 399, 731, 143), (-0.5109814488, 0.2469135802, 0.9179894180)),
    ("33c", 5, "at_limit=second", (11933, 9529, 2005, 399, 731, 143), (-0.5768250702, 0.2345679012, 0.9835390947)),
]


@pytest.mark.parametrize(("name", "limit", "switches", "counts", "uniform"), SMALL)
def test_small_boards_have_the_trees_and_the_uniform_values_of_the_table(
    name: str, limit: int, switches: str, counts: tuple[int, ...], uniform: tuple[float, float, float]
) -> None:
    tree = build_tree(f"geister-{name}", f"paper total_limit={limit} {switches}")
    # Chance, which draws the colours, is not counted.
    found = (tree.histories - 1, tree.count(3), tree.count(0), tree.count(1), *tree.information_sets)
    assert found == counts
    report = evaluate(tree, np.repeat(1 / tree.widths, tree.widths))
    assert (report.value, *report.best_responses) == pytest.approx(uniform, abs=1e-9)
    assert report.nash_conv == pytest.approx(uniform[1] + uniform[2], abs=1e-9)


VALUES = [
    ("33a", 4, "", 0.0), ("33a", 5, "", 0.0), ("33a", 6, "", 0.0), ("33a", 6, "escape=optional", 0.0),
    ("33a", 7, "", 0.0), ("33b", 4, "", 0.0), ("33b", 5, "", 0.0), ("33b", 6, "", 0.0), ("33c", 5, "", 0.0),
    ("43", 5, "", 0.0), ("33a", 4, "at_limit=second", -1.0), ("33a", 5, "at_limit=second", 0.0),
    ("33a", 6, "at_limit=second", 0.0), ("33a", 7, "at_limit=second", 0.0), ("33b", 4, "at_limit=second", -1.0),
    ("33b", 5, "at_limit=second", -1 / 3), ("33c", 5, "at_limit=second", -7 / 9),
]  # fmt: skip


@pytest.mark.parametrize(("name", "limit", "switches", "value"), VALUES)
def test_small_boards_have_the_values_of_the_table(name: str, limit: int, switches: str, value: float) -> None:
    tree = build_tree(f"geister-{name}", f"paper total_limit={limit} {switches}")
    assert solve_tree(tree).value == pytest.approx(value, abs=1e-6)


# ── Ply by ply beside the oracle ─────────────────────────────────────────────────────────────────


def oracle_rules(played: Geister) -> oracle.Rules:
    """Return the oracle's rules of a game."""
    v, r = played.variant, played.rules
    return oracle.Rules(
        v.width, v.height, v.starts, v.good, v.evil, r.total_limit, r.escape == "forced",
        "second" if r.at_limit == "second" else "draw",
    )  # fmt: skip


ENDS = dict(zip(oracle.ENDS, ("escape", "good_captured", "evil_captured", "total_limit"), strict=True))


def compare(played: Geister, sim: Simulator, row: int, follower: oracle.Geister) -> None:
    """Compare whose turn it is, all ghosts with their fates, and what is legal."""
    words, bytes_ = sim.store.words[row].view(np.uint64), sim.store.bytes[row]
    for player in (0, 1):
        for number, ghost in enumerate(follower.ghosts[player]):
            place = int(bytes_[layout.PLACE + 8 * player + number])
            if ghost.square is None:
                fate = (
                    layout.ESCAPED if ghost.fate == oracle.ESCAPED
                    else layout.CAPTURED_GOOD if ghost.good else layout.CAPTURED_EVIL
                )  # fmt: skip
                assert place == fate
                continue
            own = ghost.square[1] * played.variant.width + ghost.square[0]
            absolute = own if player == 0 else played.variant.squares - 1 - own
            assert place == absolute
            bit = 1 << absolute
            assert bool(int(words[layout.PIECES + player]) & bit)
            assert bool(int(words[layout.EVIL + player]) & bit) != ghost.good
    actions, counts = sim.legal_actions()
    assert sorted(int(each) for each in actions[row, : int(counts[row])]) == sorted(follower.legal_squares())


MODES = [
    ("geister", "server"), ("geister", "paper total_limit=300"), ("geister", "paper"),
    ("geister-33b", "paper at_limit=second"), ("geister-44", "server"), ("geister-34", "escape=forced"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rules"), MODES)
def test_records_agree_with_the_oracle_ply_by_ply(name: str, rules: str) -> None:
    played = game(name, rules)
    assert isinstance(played, Geister)
    rng, plies, first = random.Random(5), 0, 0
    wanted = PLIES if name == "geister" else PLIES // 10
    while plies < wanted:
        sim = Simulator(played, 16, seed=9, restart=False, arrays="numpy")
        sim.reset(first_number=first)
        first += 16
        pairs = played.setups.of_starts(sim.starts)
        followers = [
            oracle.Geister(oracle_rules(played), *(played.setups.text(each[row]) for each in pairs))
            for row in range(16)
        ]
        while not sim.over.all():
            chosen = np.full(16, -1, np.int16)
            for row, follower in enumerate(followers):
                if not follower.over:
                    compare(played, sim, row, follower)
                    chosen[row] = rng.choice(follower.legal_squares())
                    follower.push_square(int(chosen[row]))
                    plies += 1
            sim.step(chosen)
        for row, follower in enumerate(followers):
            assert int(sim.results.plies[row]) == follower.plies
            assert int(sim.results.winner[row]) == (2 if follower.winner is None else follower.winner)
            assert follower.end is not None
            assert played.ends[int(sim.results.end[row])] == ENDS[follower.end]


# ── Hidden colours ───────────────────────────────────────────────────────────────────────────────


def after(played: Geister, first: str, second: str, moves: str) -> Simulator:
    """Return the game of these setups after some moves, written with blanks between them."""
    setups = [played.setups.parse(text)[None] for text in (first, second)]
    sim = Simulator(played, 1, seed=1, restart=False, arrays="numpy")
    sim.reset(setups)
    for move in moves.split():
        sim.step(np.array([played.parse_action(int(sim.players[0]), move)], np.int16))
    return sim


def test_a_ghost_that_stays_on_an_exit_is_known_to_be_evil_where_escapes_are_forced() -> None:
    tall = Variant("tall", 3, 4, ((0, 2), (1, 3)), 1, 1, 30)
    # The evil ghost A walks to the exit a4 and stays there.
    moves = "a2a3 c3c2 a3a4 c2c3 b1b2 c3c2"
    for escape, consistent in (("forced", 1), ("optional", 2)):
        sim = after(Geister(tall, {"escape": escape}), "A", "A", moves)
        view, consistent_ones = sim.views(1), 0
        for values in ([0, 1], [1, 0]):
            try:
                Simulator(sim.game, 1, arrays="numpy").determinise(view, 1, np.array([values], np.int8))
            except RecordError:
                continue
            consistent_ones += 1
        assert consistent_ones == consistent


def test_views_of_games_that_differ_in_hidden_colours_are_equal() -> None:
    played = Geister("geister", "server")
    moves = "b2b3 e5e4 b3b4 e4e3"
    views = [after(played, "ABCD", text, moves).views(0).numpy().store for text in ("ABCD", "EFGH", "ACEG")]
    for other in views[1:]:
        assert all(np.array_equal(*parts) for parts in zip(views[0], other, strict=True))


# ── Variants, rules and setups as text ───────────────────────────────────────────────────────────


def test_a_variant_is_read_from_a_file_and_made_again(tmp_path: Path) -> None:
    file = tmp_path / "narrow.toml"
    file.write_text(
        'name = "narrow"\nwidth = 4\nheight = 6\nstarts = [[1, 4], [2, 4], [1, 5], [2, 5]]\ngood = 2\nevil = 2\n'
    )
    made = game(str(file), "paper at_limit=second")
    assert isinstance(made, Geister)
    assert (made.variant.total_limit, made.rules.at_limit, made.rules.escape) == (300, "second", "forced")
    again = from_spec(made.spec())
    assert again.name == "narrow" and again.rules_text == made.rules_text
    assert pickle.loads(pickle.dumps(made)).rules_text == made.rules_text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"width": 1}, "at least 2 × 2"),
        ({"good": 0, "evil": 4}, "at least one good and one evil"),
        ({"good": 6, "evil": 6}, "at most 8"),
        ({"good": 3}, "5 ghosts need as many start squares"),
        ({"starts": ((1, 4), (1, 4), (1, 5), (2, 5))}, "same start square"),
        ({"starts": ((9, 4), (2, 4), (1, 5), (2, 5))}, "off the board"),
        ({"starts": ((1, 0), (2, 5), (1, 5), (2, 4))}, "turned by half a circle"),
        ({"total_limit": 0}, "total_limit"),
    ],
)
def test_a_variant_that_cannot_be_is_refused(change: dict[str, Any], words: str) -> None:
    sound = Variant("narrow", 4, 6, ((1, 4), (2, 4), (1, 5), (2, 5)), 2, 2)
    with pytest.raises(ConfigurationError, match=words):
        replace(sound, **change)


def test_presets_and_switches_are_read_and_written() -> None:
    assert game("geister").rules_text == "escape=optional colours=chosen total_limit=300 at_limit=draw"
    assert game("geister", "paper").rules_text == "escape=forced colours=chance total_limit=100 at_limit=draw"
    assert game("geister-33b", "paper").max_plies == 30  # a preset's limit is meant for the full board
    assert not game("geister", "paper").setups_chosen and game("geister").setups_chosen
    for rules, words in (
        ("papers", "did you mean 'paper'"), ("escape=often", "optional or forced"), ("limit=3", "there is no switch"),
        ("server paper", "a preset comes first"), ("total_limit=none", "must be a number"),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError, match=words):
            game("geister", rules)


def test_a_setup_names_the_evil_ghosts() -> None:
    setups = Geister().setups
    assert setups.count == len(setups.all()) == 70
    for row in setups.all():
        assert np.array_equal(setups.parse(setups.text(row).lower()), row)
    for text in ("ABC", "AABC", "ABCI", ""):
        with pytest.raises(SetupError, match="names the 4 evil ghosts among ABCDEFGH"):
            setups.parse(text)


def test_escapes_are_written_with_a_direction_of_the_board() -> None:
    played = Geister()
    assert played.action_text(0, 0) == "a6n" and played.action_text(0, 2) == "a6w"
    assert played.action_text(1, 0) == "f1s" and played.action_text(1, 2) == "f1e"
    assert played.action_text(0, 4 * 25) == "b2b3" and played.action_text(1, 4 * 25) == "e5e4"
    for player in (0, 1):
        texts = [played.action_text(player, action) for action in range(played.action_count)]
        assert len(set(texts)) == played.action_count
        assert [played.parse_action(player, text) for text in texts] == list(range(played.action_count))
