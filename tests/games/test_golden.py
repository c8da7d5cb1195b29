"""Golden numbers of the rules document, each with its section."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from vauban.board import Board
from vauban.board.perft import perft, start_board
from vauban.games.base import game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import can_move_first
from vauban.games.stratego.variants import VARIANTS
from vauban.sim.simulator import Simulator

SETUPS = {
    "classic": 1_411_873_643_675_199_617_616_832_128_000_000,
    "barrage": 1_550_398_449_600,
    "duel": 889_625_721_600,
    "octa-barrage": 14_827_095_360,
    "medium": 720,
    "fives": 120,
    "tiny": 24,
    "micro": 24,
    "nano": 2,
}


@pytest.mark.parametrize("name", SETUPS)
def test_rules_8_1_number_of_setups(name: str) -> None:
    assert VARIANTS[name].setup_count == SETUPS[name]


def test_rules_8_1_share_of_immobile_classic_setups() -> None:
    """The six open front squares must all hold Bombs or the Flag: C(34, 1) ways of C(40, 7) with the seven fixed."""
    classic = VARIANTS["classic"]
    blocked = np.full(40, 3, np.int8)
    for square in (30, 31, 34, 35, 38, 39):
        blocked[square] = 12
    assert not can_move_first(blocked, classic)
    for square in (30, 31, 34, 35, 38, 39):
        freed = blocked.copy()
        freed[square] = 3
        assert can_move_first(freed, classic)
    immobile = SETUPS["classic"] * 34 // math.comb(40, 7)
    assert immobile == 2_574_814_246_042_965_345_619_200_000


DEFAULT = ""
OFF = "two_square=off"
PERFT = [
    ("classic-1", DEFAULT, [10, 80, 948, 11_443, 147_508, 1_977_524]),
    ("barrage-1", DEFAULT, [36, 683, 25_468, 554_623, 20_133_252]),
    ("duel-1", DEFAULT, [20, 562, 11_686, 316_620]),
    ("octa-1", DEFAULT, [27, 643, 15_760, 375_656]),
    ("medium-1", DEFAULT, [5, 25, 235, 2_068, 19_580, 176_658, 1_915_687]),
    ("fives-1", DEFAULT, [4, 16, 132, 990, 7_759, 56_745, 513_439]),
    ("fives-1", "two_square=3 chase=off", [4, 16, 132, 990, 7_759, 56_745, 513_439]),
    ("fives-1", "cannot_move=eager", [4, 16, 132, 990, 7_759, 56_745, 513_439]),
    ("fives-1", OFF, [4, 16, 132, 990, 7_759, 56_745, 514_316]),
    ("fives-1", "two_square=off chase=isf", [4, 16, 132, 990, 7_759, 56_745, 514_316]),
    ("tiny-1", DEFAULT, [3, 9, 63, 375, 2_180, 11_808, 76_609, 473_850, 2_830_666]),
    ("tiny-1", "chase=off", [3, 9, 63, 375, 2_180, 11_808, 76_609, 473_850, 2_830_666]),
    ("tiny-1", "cannot_move=eager", [3, 9, 63, 375, 2_180, 11_808, 76_609, 473_848]),
    ("tiny-1", OFF, [3, 9, 63, 375, 2_180, 11_808, 76_885, 478_105, 2_861_871]),
    ("micro-1", DEFAULT, [3, 9, 51, 181, 704, 2_382, 10_303, 36_667, 126_507, 436_152]),
    ("micro-1", "cannot_move=eager", [3, 9, 51, 181, 704, 2_380, 10_303, 36_623, 126_413, 433_399]),
    ("micro-1", "two_square=off chase=off", [3, 9, 51, 181, 704, 2_382, 10_408, 37_942, 132_620, 460_426]),
    ("micro-1", "chase=off", [3, 9, 51, 181, 704, 2_382, 10_303, 36_667, 126_507, 436_162, 1_674_122]),
    ("micro-1", OFF, [3, 9, 51, 181, 704, 2_382, 10_408, 37_942, 132_620, 460_416, 1_802_103]),
    ("micro-1", "two_square=off chase=isf", [3, 9, 51, 181, 704, 2_382, 10_408, 37_942, 132_620, 460_352, 1_800_969]),
    ("nano-1", DEFAULT, [1, 1, 0]),
    ("nano-1", "two_square=off chase=off", [1, 1, 0]),
    ("dance-1", DEFAULT, [4, 12, 36, 80, 280, 797, 2_280, 5_022, 16_001, 45_345, 131_169]),
    ("dance-1", "two_square=off chase=off", [4, 12, 36, 80, 280, 797, 2_362, 5_492, 18_044, 52_083, 155_510]),
    ("dance-1", "chase=off", [4, 12, 36, 80, 280, 797, 2_280, 5_022, 16_005, 45_357, 131_257]),
    ("dance-1", "two_square=5 chase=off", [4, 12, 36, 80, 280, 797, 2_362, 5_492, 18_044, 52_083, 154_952]),
    ("dance-1", OFF, [4, 12, 36, 80, 280, 797, 2_362, 5_492, 18_040, 52_071, 155_422]),
    ("dance-1", "two_square=off chase=isf", [4, 12, 36, 80, 280, 797, 2_362, 5_492, 17_987, 51_912, 154_489]),
    ("dance-1", "chase=isf", [4, 12, 36, 80, 280, 797, 2_280, 5_022, 15_953, 45_201, 130_326]),
]


@pytest.mark.parametrize(("start", "rules", "nodes"), PERFT, ids=[f"{start} {rules}" for start, rules, _ in PERFT])
def test_rules_8_2_perft(start: str, rules: str, nodes: list[int]) -> None:
    assert perft(start_board(start, rules or None), len(nodes)) == nodes


def test_rules_8_3_the_most_legal_moves_known() -> None:
    board = Board.from_position(
        "O8O/1JJ1C1C1G1/3O1O1J2/1LP1P1P1P1/2~~L1~~L1/1L~~2~~F1/2T1T1T1T1/1NnO3O2/1fN1N1N1N1/O8O r 0 0 -,- 0:-,0:-"
    )
    assert len(board.legal_moves) == 172


# variant: games, mean plies, standard error, and how games ended (red's Flag win, blue's, no moves for blue, for red,
# both immobile, battleless limit, total limit).
RANDOM_PLAY = {
    "classic": (400, 757.4, 29.8, [148, 130, 35, 32, 0, 55, 0]),
    "barrage": (3000, 261.9, 3.4, [956, 972, 174, 177, 37, 684, 0]),
    "duel": (600, 202.8, 6.0, [232, 210, 71, 68, 5, 14, 0]),
    "octa-barrage": (600, 174.4, 5.2, [231, 224, 58, 60, 13, 14, 0]),
    "medium": (4000, 135.1, 0.8, [1129, 1047, 486, 475, 213, 0, 650]),
    "fives": (4000, 52.6, 0.2, [614, 579, 215, 194, 73, 0, 2325]),
    "tiny": (80000, 28.90, 0.05, [1084 * 20, 1098 * 20, 532 * 20, 529 * 20, 754 * 20, 0, 3 * 20]),
    "micro": (80000, 11.356, 0.018, [1061 * 20, 1021 * 20, 263 * 20, 248 * 20, 943 * 20, 0, 464 * 20]),
}
FEW_GAMES = {"tiny": 4000, "micro": 4000}
"""Games over which the ends were measured; the lengths were measured over 80,000."""


def play_out(name: str, games: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return lengths, ends and winners of a number of random games."""
    sim = Simulator(name, games, seed=3, restart=False, tracks=False)
    lengths = torch.zeros(games, dtype=torch.int64)
    while not bool(sim.over.all()):
        actions = sim.sample()
        sim.step(actions, check=False)
        ended = sim.results.ended.bool()
        lengths[ended] = sim.results.plies[ended].long()
    return lengths, sim.results.end, sim.results.winner


@pytest.mark.parametrize("name", RANDOM_PLAY)
def test_rules_8_4_uniformly_random_play(name: str) -> None:
    count, mean, error, ends = RANDOM_PLAY[name]
    games = 3000 if name == "classic" else 8000
    lengths, end, winner = play_out(name, games)
    ours = lengths.double().mean().item()
    own_error = lengths.double().std().item() / math.sqrt(games)
    assert abs(ours - mean) < 4 * math.hypot(error, own_error), f"mean length {ours}"
    kinds = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (5, 2), (4, 2)]
    few = FEW_GAMES.get(name, count)
    for (code, who), recorded in zip(kinds, ends, strict=True):
        share = recorded / count
        found = int(((end == code) & (winner == who)).sum()) / games
        spread = math.sqrt((share * (1 - share) + 1e-4) * (1 / few + 1 / games))
        assert abs(found - share) < 4 * spread, f"end {code} by {who}: {found} instead of {share}"


def test_rules_8_4_nano_exactly() -> None:
    """Mean 26/9 plies; Flag by red, by blue, both immobile in the proportion 7 : 2 : 27."""
    lengths, end, winner = play_out("nano", 40_000)
    assert abs(lengths.double().mean().item() - 26 / 9) < 5 * lengths.double().std().item() / 200
    shares = [int(((end == code) & (winner == who)).sum()) / 40_000 for code, who in ((1, 0), (1, 1), (3, 2))]
    for share, exact in zip(shares, (7 / 36, 2 / 36, 27 / 36), strict=True):
        assert abs(share - exact) < 5 * math.sqrt(exact * (1 - exact) / 40_000)
    assert abs(sum(shares) - 1) < 1e-9


def walk_nano(rules: str | None) -> tuple[int, int]:
    """Count nodes and ends of the whole tree of nano, over the four pairs of setups."""
    nodes = ends = 0
    stack = [Board.from_setups(red, blue, "nano", rules) for red in ("FP", "PF") for blue in ("FP", "PF")]
    while stack:
        board = stack.pop()
        nodes += 1
        ends += board.is_over
        for move in board.legal_moves:
            child = board.copy()
            child.push(move)
            stack.append(child)
    return nodes, ends


def test_rules_2_the_whole_tree_of_nano() -> None:
    assert walk_nano(None) == (34, 14)
    assert walk_nano("two_square=off chase=off") == (42, 20)


@pytest.mark.slow
def test_rules_2_reachable_positions_of_micro() -> None:
    """Boards by type and owner with the side to move, without repetition rules and limits."""
    seen: dict[tuple[str, int], str] = {}
    moves = 0
    rules = "two_square=off chase=off total_limit=none"
    setups = ["".join(s) for s in __import__("itertools").permutations("FLP.")]
    queue = [Board.from_setups(red, blue, "micro", rules) for red in setups for blue in setups]
    while queue:
        board = queue.pop()
        key = (str(board), board.turn)
        if key in seen:
            continue
        outcome = board.outcome()
        seen[key] = outcome.end if outcome else ""
        moves += len(board.legal_moves)
        for move in board.legal_moves:
            child = type(board)._from_record(board.game, board._record)
            child.push(move)
            child._records.clear()
            queue.append(child)
    ends = list(seen.values())
    assert len(seen) == 259_408
    assert [ends.count(end) for end in ("", "flag", "no_moves", "both_immobile")] == [212_512, 46_544, 320, 32]
    assert moves == 950_944


def test_action_numbers_are_those_of_the_published_program() -> None:
    """Player, from, to, action: computed with the published simulator."""
    classic = Stratego("classic")
    table = [
        (0, 31, 41, 331), (0, 41, 31, 341), (0, 41, 40, 941), (0, 40, 41, 940), (0, 39, 59, 439), (0, 59, 39, 359),
        (0, 0, 90, 800), (0, 90, 0, 90), (0, 0, 9, 1700), (0, 9, 0, 909), (1, 61, 51, 338), (1, 51, 61, 348),
        (1, 51, 50, 1748), (1, 60, 50, 339), (1, 99, 9, 800),
    ]  # fmt: skip
    assert classic.action_count == 1800
    for player, source, target, action in table:
        assert classic.encode(player, source, target) == action
        assert classic.decode(player, action) == (source, target)
    for action in range(1800):
        for player in (0, 1):
            assert classic.encode(player, *classic.decode(player, action)) == action


def test_games_are_known_by_name() -> None:
    assert game("classic").action_count == 1800
