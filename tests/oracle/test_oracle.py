"""The oracle against everything written down: recorded games, hand-made cases, golden counts, worked examples.

    pytest tests/oracle -m "not slow"     # 15 seconds on one core
    pytest tests/oracle                   # all recorded material and deeper counts, about two minutes

The recorded material lies in the project's shared folder: $VAUBAN_SHARED, or `shared` beside the checkout.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from .observation import DEEPNASH_TYPES, TYPES, Observer
from .rules import (
    BATTLES,
    BLUE,
    CLASSIC_LAKES,
    DEFENDERS,
    RED,
    IsfChase,
    Oracle,
    Rules,
    pieces_from_setups,
    removed_in_battle,
)

SHARED = Path(os.environ.get("VAUBAN_SHARED") or Path(__file__).resolve().parents[3] / "shared")
VECTORS = SHARED / "vectors"
needs_vectors = pytest.mark.skipif(
    not VECTORS.is_dir(),
    reason=f"no recorded material at {VECTORS}; set VAUBAN_SHARED to the folder that holds vectors/",
)

NO_LIMITS = Rules()


# --- notation that a player can read ---


def square(text: str, columns: int = 10) -> int:
    """Return the number of a square: 'a1' → 0, 'j10' → 99."""
    return (int(text[1:]) - 1) * columns + "abcdefghij".index(text[0])


def moves(text: str, columns: int = 10) -> list[tuple[int, int]]:
    """Return pairs of squares: 'b3b1 h3xe3(O=O)' → [(b3, b1), (h3, e3)]."""
    found = re.findall(r"([a-j]\d+)x?([a-j]\d+)", text)
    return [(square(origin, columns), square(target, columns)) for origin, target in found]


def pieces(red: str, blue: str, columns: int = 10) -> dict[int, tuple[int, str]]:
    """Return the pieces of both sides on their squares: 'Fj1 Ob3', …"""
    placed = {}
    for owner, text in ((RED, red), (BLUE, blue)):
        for word in text.split():
            placed[square(word[1:], columns)] = (owner, word[0])
    return placed


def classic(rules: Rules, placed: dict[int, tuple[int, str]]) -> Oracle:
    return Oracle(10, 10, CLASSIC_LAKES, rules, placed)


def play(game: Oracle, line: list[tuple[int, int]]) -> Oracle:
    for move in line:
        game.push(move)
    return game


# --- battles and plain moves ---


def test_the_battle_table_says_what_the_ranks_say() -> None:
    # The words of docs/rules.md, against the table in rules.py.
    for attacker in BATTLES:
        for defender in DEFENDERS:
            if attacker == defender:
                expected = "AD"
            elif defender == "F" or (attacker, defender) in (("S", "M"), ("N", "B")):
                expected = "D"
            elif defender == "B":
                expected = "A"
            else:
                expected = "D" if TYPES.index(attacker) > TYPES.index(defender) else "A"
            assert removed_in_battle(attacker, defender) == expected, (attacker, defender)


def test_the_crowded_board_has_172_legal_moves() -> None:
    ranks = [
        "O8O",
        "1JJ1C1C1G1",
        "3O1O1J2",
        "1LP1P1P1P1",
        "2~~L1~~L1",
        "1L~~2~~F1",
        "2T1T1T1T1",
        "1NnO3O2",
        "1fN1N1N1N1",
        "O8O",
    ]
    placed = {}
    for row, rank in enumerate(reversed(ranks)):
        column = 0
        for sign in rank:
            if sign.isdigit():
                column += int(sign)
                continue
            if sign != "~":
                placed[10 * row + column] = (RED if sign.isupper() else BLUE, sign.upper())
            column += 1
        assert column == 10
    assert len(classic(NO_LIMITS, placed).legal()) == 172


def test_what_becomes_known_is_a_battle_and_a_long_scout_move() -> None:
    game = classic(NO_LIMITS, pieces("Fa1 Oa4 Mb1", "Fj10 Oj7 Mj9 Na7"))
    play(game, moves("b1c1 j7j6"))
    assert game.piece_at(square("j6")) == (BLUE, "O", square("j7"), True, False)
    game.push((square("a4"), square("a6")))
    assert game.piece_at(square("a6")).revealed
    play(game, moves("j6j5 a6xa7"))
    miner = game.piece_at(square("a7"))
    assert (miner.letter, miner.moved, miner.revealed) == ("N", False, True)
    assert game.battleless == 0 and game.plies == 5


def test_an_illegal_move_is_refused_with_its_reason() -> None:
    game = classic(NO_LIMITS, pieces("Fa1 Mb1", "Fj10 Mj9"))
    with pytest.raises(ValueError, match="moves like that"):
        game.push((square("a1"), square("a2")))
    play(game, moves("b1c1 j9j8 c1b1 j8j7 b1c1 j7j6"))
    assert game.barred() == {"two_square": moves("c1b1"), "chase": []}
    with pytest.raises(ValueError, match="barred by two_square"):
        game.push((square("c1"), square("b1")))


def test_a_position_can_be_over_before_the_first_move() -> None:
    # The end is judged once at the start, too.
    locked = pieces("Fa1 Ba2", "Fj10 Mj9")
    assert classic(NO_LIMITS, locked).winner == "blue"
    assert classic(NO_LIMITS, locked).end == "no_moves"
    assert classic(NO_LIMITS, locked).legal() == []
    assert classic(NO_LIMITS, pieces("Fa1", "Fj10")).end == "both_immobile"
    off_turn = pieces("Fa1 Ma2", "Fj10 Bj9")
    assert not classic(NO_LIMITS, off_turn).over
    assert classic(Rules(cannot_move="eager"), off_turn).winner == "red"
    assert Oracle(10, 10, CLASSIC_LAKES, NO_LIMITS, off_turn, to_move=BLUE).winner == "red"


# --- the repetition rules: examples in the documents ---


def test_a_scout_is_stopped_where_the_common_border_begins() -> None:
    # Two examples; the Miners of the other side pass the time.
    waiting = moves("a10a9 a9a10 b10b9 b9b10")
    first = classic(NO_LIMITS, pieces("Fa1 Od3", "Fj10 Na10 Nb10"))
    for move, wait in zip(moves("d3h3 h3b3 b3j3"), waiting, strict=False):
        play(first, [move, wait])
    left = [move for move in first.legal() if move[1] // 10 == 2]
    assert left == sorted(moves("j3i3 j3h3"))

    second = classic(NO_LIMITS, pieces("Fa1 Od3", "Fj10 Na10 Nb10"))
    for move, wait in zip(moves("d3f3 f3e3 e3j3"), waiting, strict=False):
        play(second, [move, wait])
    assert [move for move in second.legal() if move[1] // 10 == 2] == sorted(moves("j3i3 j3h3 j3g3 j3f3"))


@pytest.mark.parametrize("chase, barred", [("ataraxos", moves("d2a2")), ("isf", [])])
def test_the_side_to_move_is_not_compared(chase: str, barred: list) -> None:
    # Only Scouts make this example possible.
    game = classic(Rules(chase=chase), pieces("Fc4 Oi4 Oj2", "Fh1 Na1 Nb3 Ne1"))
    play(game, moves("j2b2 b3a3 b2a2 a3a4 a2e2 e1d1 e2d2 d1e1"))
    assert game.barred()["chase"] == barred


def test_six_plies_with_scouts_bar_a_board_that_had_the_same_side_on_turn() -> None:
    # As the published simulator does it.
    placed = {24: (RED, "F"), 25: (RED, "O"), 29: (RED, "O"), 66: (BLUE, "O"), 64: (BLUE, "O"), 62: (BLUE, "F")}
    game = play(classic(NO_LIMITS, placed), [(25, 65), (64, 54), (65, 55), (54, 94), (55, 95), (94, 54)])
    assert game.chase_length[RED] == 6
    assert (95, 65) in game.barred()["chase"] and (95, 65) not in game.barred()["two_square"]
    assert (95, 75) in game.legal()
    assert (95, 55) in game.barred()["two_square"]


def test_a_dead_attacker_still_begins_a_chase() -> None:
    game = classic(NO_LIMITS, pieces("Fj1 Ob3 Oe3 Me4", "Fj10 Oc4 Oh3"))
    play(game, moves("b3b1 h3xe3(O=O) e4d4 c4c1 b1b3 c1c3 b3b1"))
    assert game.chase_length[BLUE] == 6
    assert moves("c3c4")[0] in game.barred()["chase"]


CHASED = pieces("Fa1 Mc2 Bb4 Oe1", "Fj10 Nd3 Se4 Oj9")
MINER = square("d3")


@pytest.mark.parametrize(
    "line, lengths",
    [
        ("c2c3", [1, 0]),
        ("c2c3 d3d4", [2, 0]),
        ("c2c3 d3d4 c3c4", [3, 0]),
        # The Miner dies on the Marshal: red's chase is over, blue's begins next to the Bomb, dead attacker or not.
        ("c2c3 d3d4 c3c4 d4xc4", [0, 1]),
        # The Marshal takes the Miner and stands next to the Spy; the Scout takes the Spy and stands next to the Miner.
        ("c2c3 d3d4 c3c4 j9j8 c4xd4", [1, 0]),
        ("c2c3 d3d4 e1xe4", [1, 0]),
        # A move that is no evasion ends the chase, so does one that is no threat.
        ("c2c3 j9j8", [0, 0]),
        ("c2c3 d3d4 e1d1", [0, 0]),
    ],
)
def test_the_length_of_a_chase_is_counted_step_by_step(line: str, lengths: list[int]) -> None:
    assert play(classic(NO_LIMITS, CHASED), moves(line)).chase_length == lengths


@pytest.mark.parametrize(
    "line, red, blue",
    [
        ("c2c3", IsfChase({MINER}), None),
        ("c2c3 d3d4", IsfChase({MINER}, {MINER}, evaded=True), None),
        ("c2c3 d3d4 c3c4", IsfChase({MINER}, {MINER}), None),
        # A battle is no evasion, and a dead attacker threatens no piece, not even the Bomb beside it.
        ("c2c3 d3d4 c3c4 d4xc4", None, None),
        # A battle begins a new chase without evaders, though the old one was evaded.
        ("c2c3 d3d4 e1xe4", IsfChase({MINER}), None),
        ("c2c3 j9j8", None, None),
        ("c2c3 d3d4 e1d1", None, None),
    ],
)
def test_a_chase_of_the_federation_begins_goes_on_and_ends_as_written(line: str, red, blue) -> None:
    assert play(classic(Rules(chase="isf"), CHASED), moves(line)).isf_chase == [red, blue]


def move_of_action(action: int, player: int) -> tuple[int, int]:
    """Return an action number in the mover's frame as absolute squares."""
    k, origin = divmod(action, 100)
    row, column = divmod(origin, 10)
    if k < 9:
        target = 10 * (k if k < row else k + 1) + column
    else:
        target = 10 * row + (k - 9 if k - 9 < column else k - 8)
    return (origin, target) if player == RED else (99 - origin, 99 - target)


PUBLISHED_LETTERS = dict(zip("CDEFGHIJKLMB", TYPES, strict=False))


def published_setups(red: str, blue: str) -> dict[int, tuple[int, str]]:
    """Return setups in the letters of the published simulator."""
    ours = ["".join(PUBLISHED_LETTERS.get(letter, ".") for letter in text) for text in (red, blue)]
    return pieces_from_setups(10, 10, *ours)


def test_a_chase_goes_on_while_another_piece_takes_over() -> None:
    # Computed with the published simulator. Squares are absolute, actions in the mover's frame.
    placed = published_setups("MBAAAAAAAADAAACAAAAAALAAAEAAAAKDAAAAAAAA", "BMAAAAALAAEAAAAAAAAADACAAAAAAAAAAAAAKAAD")
    actions = [
        int(word)
        for word in [
            "1314",
            "7",
            "225",
            "1739",
            "330",
            "1617",
            "1415",
            "1436",
            "1516",
            "1718",
            "1617",
            "119",
            "1031",
            "222",
            "118",
            "1032",
            "940",
            "331",
            "941",
            "229",
            "228",
            "1335",
            "1738",
            "941",
            "221",
            "334",
            "331",
            "920",
            "341",
            "444",
            "1335",
            "1354",
            "234",
            "555",
            "1324",
            "1365",
            "1425",
            "221",
            "1132",
            "331",
            "1233",
            "441",
            "334",
            "664",
            "226",
            "674",
            "236",
            "1264",
            "1426",
            "1263",
            "1425",
            "951",
            "1739",
            "950",
            "1738",
        ]
    ]
    game = classic(NO_LIMITS, placed)
    lengths = []
    for ply, action in enumerate(actions):
        if ply == 51:
            assert game.barred()["chase"] == [(35, 25)] == [move_of_action(664, BLUE)]
        game.push(move_of_action(action, game.to_move))
        lengths.append(game.chase_length[BLUE])
    assert lengths[43:55] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert game.barred()["chase"] == [(35, 25), (35, 36)]
    assert game.chase_length == [0, 12]


# --- the ends: examples computed with the published simulator ---

SPARSE = ("MAAAAE" + 33 * "A" + "D", "DAAAAE" + 24 * "A" + "M" + 9 * "A")


def exceeded(battleless: int | None, total: int | None) -> Rules:
    return Rules(battleless_limit=battleless, total_limit=total, limits="exceeded", cannot_move="eager")


def test_a_battleless_limit_must_be_exceeded_in_the_release() -> None:
    game = classic(exceeded(4, 4000), published_setups(*SPARSE))
    observer = Observer(game)
    seen = []
    for move in [(5, 6), (94, 93), (6, 5), (93, 94)]:
        game.push(move)
        observer.push(move)
        seen.append(float(observer.ataraxos()[42, 0]))
    assert seen == [0.25, 0.5, 0.75, 1.0] and not game.over
    game.push((5, 6))
    assert (game.winner, game.end, game.battleless) == ("draw", "battleless_limit", 5)


@pytest.mark.parametrize("total, winner, end", [(2, "draw", "total_limit"), (3, "red", "flag")])
def test_an_exceeded_limit_goes_before_the_flag(total: int, winner: str, end: str) -> None:
    game = play(classic(exceeded(None, total), published_setups(*SPARSE)), [(5, 6), (94, 93), (39, 69)])
    assert (game.winner, game.end) == (winner, end)


@pytest.mark.parametrize("cannot_move, winner", [("eager", "blue"), ("on_turn", None)])
def test_a_player_without_a_free_piece_after_an_own_move_loses_at_once_only_if_eager(cannot_move: str, winner) -> None:
    red = {0: "N", 1: "B", 10: "B", 5: "F", 39: "O"}
    blue = {0: "F", 5: "N", 6: "O", 15: "B", 30: "B"}
    placed = {at: (RED, letter) for at, letter in red.items()} | {
        99 - at: (BLUE, letter) for at, letter in blue.items()
    }
    game = play(classic(Rules(cannot_move=cannot_move), placed), [(39, 69)])
    assert game.winner == winner


# --- golden counts ---

BOARDS = {
    # name: rows, columns, lakes, total_limit, battleless_limit (docs/rules.md, "Variants")
    "classic": (10, 10, CLASSIC_LAKES, 4000, 200),
    "barrage": (10, 10, CLASSIC_LAKES, 4000, 200),
    "duel": (8, 8, tuple(square(lake, 8) for lake in ("c4", "f4", "c5", "f5")), 2000, 200),
    "octa": (8, 8, tuple(square(lake, 8) for lake in ("c4", "f4", "c5", "f5")), 1000, 200),
    "medium": (6, 6, (), 200, None),
    "fives": (5, 5, (), 60, None),
    "tiny": (4, 4, (), 100, None),
    "micro": (3, 4, (), 20, None),
    "nano": (3, 2, (), 8, None),
    "dance": (4, 4, (), None, None),
}
STARTS = {
    "classic": ("LBNPBJNCBJ/OOBPNSFNPN/LTJOGLCMTP/BOOOTOTLOB", "TBFBNONOPL/BNBCJOCNBB/PONJPOSPLO/LTMOLTGJTO"),
    "barrage": ("F........O/B........O/.S..N...../.G..M.....", "........../..B......./..MFS...../.OO.GN...."),
    "duel": ("B.F..N../..B..S.O/.N.M.G.O", "NF..S..B/.B..O.../M..G..NO"),
    "octa": ("F.B...../..S..N../.O.M.G.O", ".F....B./S..N..../O..MG..O"),
    "medium": ("FTLPJC", "CJFPLT"),
    "fives": ("FTLPJ", "JPFLT"),
    "tiny": ("FLPJ", "JFPL"),
    "micro": ("FLP.", "P.FL"),
    "nano": ("FP", "PF"),
    "dance": ("F.../.J..", "F.../..../L..."),
}
CHASES = ("ataraxos", "isf", "off")
DEFAULT = [{}]
EAGER = [{"cannot_move": "eager"}]
ANY = [{"two_square": n, "chase": chase} for n in (0, 3, 5) for chase in CHASES]
TWO_SQUARE_OFF = [{"two_square": 0, "chase": chase} for chase in CHASES]
PERFT = [
    ("classic", DEFAULT, "10 80 948 11443 147508 1977524"),
    ("barrage", DEFAULT, "36 683 25468 554623 20133252"),
    ("duel", DEFAULT, "20 562 11686 316620"),
    ("octa", DEFAULT, "27 643 15760 375656"),
    ("medium", DEFAULT, "5 25 235 2068 19580 176658 1915687"),
    ("fives", DEFAULT + EAGER + [{"chase": "off"}], "4 16 132 990 7759 56745 513439"),
    ("fives", TWO_SQUARE_OFF, "4 16 132 990 7759 56745 514316"),
    ("tiny", [*DEFAULT, {"chase": "off"}], "3 9 63 375 2180 11808 76609 473850 2830666"),
    ("tiny", EAGER, "3 9 63 375 2180 11808 76609 473848"),
    ("tiny", TWO_SQUARE_OFF, "3 9 63 375 2180 11808 76885 478105 2861871"),
    ("micro", DEFAULT, "3 9 51 181 704 2382 10303 36667 126507 436152"),
    ("micro", EAGER, "3 9 51 181 704 2380 10303 36623 126413 433399"),
    ("micro", [{"two_square": 0, "chase": "off"}], "3 9 51 181 704 2382 10408 37942 132620 460426"),
    ("micro", [{"chase": "off"}], "3 9 51 181 704 2382 10303 36667 126507 436162 1674122"),
    ("micro", [{"two_square": 0}], "3 9 51 181 704 2382 10408 37942 132620 460416 1802103"),
    ("micro", [{"two_square": 0, "chase": "isf"}], "3 9 51 181 704 2382 10408 37942 132620 460352 1800969"),
    ("nano", ANY, "1 1 0"),
    ("dance", DEFAULT, "4 12 36 80 280 797 2280 5022 16001 45345 131169"),
    ("dance", [{"two_square": 0, "chase": "off"}], "4 12 36 80 280 797 2362 5492 18044 52083 155510"),
    ("dance", [{"chase": "off"}], "4 12 36 80 280 797 2280 5022 16005 45357 131257"),
    ("dance", [{"two_square": 5, "chase": "off"}], "4 12 36 80 280 797 2362 5492 18044 52083 154952"),
    ("dance", [{"two_square": 0}], "4 12 36 80 280 797 2362 5492 18040 52071 155422"),
    ("dance", [{"two_square": 0, "chase": "isf"}], "4 12 36 80 280 797 2362 5492 17987 51912 154489"),
    ("dance", [{"chase": "isf"}], "4 12 36 80 280 797 2280 5022 15953 45201 130326"),
]
# A count to depth N takes as many pushes as there are sequences of N − 1 plies.
QUICK_PUSHES = 2_000
QUICK_DANCE_PUSHES = 6_000  # the seventh to ninth ply of dance-1 tell all the rules apart
SLOW_PUSHES = 150_000


def start_of(name: str, switches: dict) -> Oracle:
    rows, columns, lakes, total, battleless = BOARDS[name]
    rules = Rules(**{"total_limit": total, "battleless_limit": battleless, **switches})
    return Oracle(rows, columns, lakes, rules, pieces_from_setups(rows, columns, *STARTS[name]))


def perft(game: Oracle, depth: int) -> int:
    """Return the number of legal sequences of exactly `depth` plies."""
    if depth == 1:
        return len(game.legal())
    total = 0
    for move in game.legal():
        after = game.copy()
        after.push(move)
        total += perft(after, depth - 1)
    return total


def perft_cases() -> list:
    cases = []
    for name, rules, text in PERFT:
        counts = [int(word) for word in text.split()]
        for switches in rules:
            label = ",".join(f"{switch}={value}" for switch, value in switches.items()) or "default"
            quick = QUICK_DANCE_PUSHES if name == "dance" else QUICK_PUSHES
            for depth, count in enumerate(counts, start=1):
                pushes = counts[depth - 2] if depth > 1 else 1
                if pushes <= SLOW_PUSHES:
                    marks = [] if pushes <= quick else [pytest.mark.slow]
                    cases.append(
                        pytest.param(name, switches, depth, count, id=f"{name}-1-{label}-{depth}", marks=marks)
                    )
    return cases


@pytest.mark.parametrize("name, switches, depth, count", perft_cases())
def test_the_number_of_move_sequences_is_the_golden_one(name: str, switches: dict, depth: int, count: int) -> None:
    assert perft(start_of(name, switches), depth) == count


def test_the_trees_of_nano_have_the_golden_sizes() -> None:
    # Nodes and ends of all four pairs together, and with the repetition rules off.
    def size(game: Oracle) -> np.ndarray:
        total = np.array([1, int(game.over)])
        for move in game.legal():
            after = game.copy()
            after.push(move)
            total += size(after)
        return total

    for switches, same, mixed in (({}, (14, 6), (3, 1)), ({"two_square": 0, "chase": "off"}, (18, 9), (3, 1))):
        rules = Rules(total_limit=8, **switches)
        for red in ("FP", "PF"):
            for blue in ("FP", "PF"):
                found = size(Oracle(3, 2, (), rules, pieces_from_setups(3, 2, red, blue)))
                assert tuple(found) == (same if red == blue else mixed), (red, blue, switches)


def test_random_play_of_nano_has_the_golden_mean_and_ends() -> None:
    # Worked out by hand: 26/9 plies; red's Flag captures, blue's, both immobile as 7 : 2 : 27.
    def walk(game: Oracle, chance: Fraction) -> None:
        nonlocal mean
        if game.over:
            mean += chance * game.plies
            ends[game.winner, game.end] += chance
        for move in game.legal():
            after = game.copy()
            after.push(move)
            walk(after, chance / len(game.legal()))

    mean, ends = Fraction(0), Counter()
    for red in ("FP", "PF"):
        for blue in ("FP", "PF"):
            walk(Oracle(3, 2, (), Rules(total_limit=8), pieces_from_setups(3, 2, red, blue)), Fraction(1, 4))
    assert mean == Fraction(26, 9)
    expected = {("red", "flag"): 7, ("blue", "flag"): 2, ("draw", "both_immobile"): 27}
    assert ends == {end: Fraction(share, 36) for end, share in expected.items()}


# --- recorded material ---


def lines_of(name: str) -> list[dict]:
    path = VECTORS / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def as_moves(pairs: list) -> list[tuple[int, int]]:
    return [tuple(pair) for pair in pairs]


@needs_vectors
def test_all_repetition_cases_are_there() -> None:
    assert len(lines_of("repetition_cases.jsonl")) == 61


@needs_vectors
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in lines_of("repetition_cases.jsonl")])
def test_a_repetition_case_comes_out_as_written(case: dict) -> None:
    placed = {at: (RED, letter) for at, letter in case["red"]} | {at: (BLUE, letter) for at, letter in case["blue"]}
    game = play(classic(Rules(**case["rules"]), placed), as_moves(case["moves"]))
    assert ("red", "blue")[game.to_move] == case["to_move"]
    assert (game.winner, game.end) == (case["winner"], case["end"])
    assert game.barred() == {rule: as_moves(pairs) for rule, pairs in case["barred"].items()}
    assert game.legal() == as_moves(case["legal"])
    geometric = game.geometric(game.to_move)
    for expected in case["expect"]:
        move = tuple(expected["move"])
        assert move in geometric
        assert (move in game.legal()) == expected["legal"]
        if not expected["legal"] and expected["reason"]:
            # When both rules bar a move the reason given is two_square.
            rules = [rule for rule in ("two_square", "chase") if move in game.barred()[rule]]
            assert rules[0] == expected["reason"]


def chase_game_cases() -> list:
    """Return the games, every twelfth in the quick run, the others marked slow."""
    return [
        pytest.param(game, id=game["id"], marks=[] if number % 12 == 0 else [pytest.mark.slow])
        for number, game in enumerate(lines_of("chase_games.jsonl"))
    ]


@needs_vectors
@pytest.mark.parametrize("record", chase_game_cases())
def test_a_chase_game_bars_the_recorded_moves_at_every_ply_and_no_others(record: dict) -> None:
    game = classic(Rules(**record["rules"]), pieces_from_setups(10, 10, record["red"], record["blue"]))
    flags = {flag["ply"]: as_moves(flag["barred"]) for flag in record["flags"]}
    for move in as_moves(record["moves"]):
        assert game.barred()["chase"] == flags.get(game.plies, []), game.plies
        game.push(move)
    assert game.barred()["chase"] == flags[game.plies]
    barred = tuple(record["barred_move"])
    assert barred in game.barred()["chase"] and barred not in game.barred()["two_square"]


GAME_SETS = {
    # name: plies, observations
    "uniform_barrage": (14748, 160),
    "uniform_classic": (6477, 86),
    "uniform_short": (2842, 28),
    "uniform_sparse1": (3483, 16),
    "uniform_sparse2": (3492, 13),
    "uniform_sparse3": (7325, 28),
    "uniform_sparse4": (10084, 66),
    "barrage_chase": (8397, 75),
    "barrage_chase_short": (2314, 26),
    "barrage_random": (9148, 92),
    "classic_chase": (8553, 80),
    "classic_random": (11704, 107),
    "sparse_chase": (6090, 26),
    "sparse_mixed": (19534, 75),
}


@needs_vectors
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name.startswith("uniform") else [pytest.mark.slow]) for name in GAME_SETS]
)
def test_recorded_games_have_the_same_legal_moves_ends_and_observations(name: str) -> None:
    header = json.loads((VECTORS / f"games_{name}.json").read_text())
    arrays = np.load(VECTORS / f"games_{name}.npz")
    rules = Rules(**header["rules"])
    moves_made = [divmod(int(code), 100) for code in arrays["moves"]]
    legal_ends = np.cumsum(arrays["legal_count"], dtype=np.int64)
    legal_codes = [divmod(int(code), 100) for code in arrays["legal"]]
    observations = recorded_observations(arrays)
    assert (len(moves_made), len(observations)) == GAME_SETS[name]

    ply_of_file = 0
    compared = 0
    for number, record in enumerate(header["games"]):
        placed = {
            at: (owner, TYPES[kind])
            for at, (kind, owner) in enumerate(zip(record["start_types"], record["start_owner"], strict=False))
            if owner >= 0
        }
        game = classic(rules, placed)
        observer = Observer(game)
        for ply in range(record["plies"] + 1):
            if (number, ply) in observations:
                assert_same_bits(observer.ataraxos(), observations[number, ply], f"{name}, game {number}, ply {ply}")
                assert_deepnash_agrees(observer)
                compared += 1
            if ply == record["plies"]:
                break
            last = int(legal_ends[ply_of_file])
            first = last - int(arrays["legal_count"][ply_of_file])
            assert game.legal() == legal_codes[first:last], (number, ply)
            game.push(moves_made[ply_of_file])
            observer.push(moves_made[ply_of_file])
            ply_of_file += 1
        assert game.winner == record["winner"], number
        assert game.end == (None if record["end"] == "unfinished" else record["end"]), number
        assert game.battleless == record["battleless"], number
    assert compared == len(observations) and ply_of_file == len(moves_made)


def recorded_observations(arrays: np.lib.npyio.NpzFile) -> dict[tuple[int, int], np.ndarray]:
    """Return (game, ply) → the whole observation, from its non-zero entries."""
    found = {}
    index, value = arrays["obs_index"], arrays["obs_value"]
    first = 0
    for (game, ply), count in zip(arrays["obs_at"].tolist(), arrays["obs_count"].tolist(), strict=False):
        planes = np.zeros(487 * 100, dtype=np.float32)
        planes[index[first : first + count]] = value[first : first + count]
        found[game, ply] = planes.reshape(487, 100)
        first += count
    return found


def assert_same_bits(found: np.ndarray, expected: np.ndarray, where: str) -> None:
    assert found.shape == expected.shape and found.dtype == expected.dtype == np.float32
    different = np.argwhere(found.view(np.uint32) != expected.view(np.uint32))
    shown = [f"channel {c} square {s}: {found[c, s]} for {expected[c, s]}" for c, s in different[:8]]
    assert not shown, f"{where}: {len(different)} entries differ: {shown}"


def assert_deepnash_agrees(observer: Observer) -> None:
    """Check that the common part of the two observations is equal in every bit; types are in another order."""
    ours, other = observer.ataraxos(), observer.deepnash()
    for kind, letter in enumerate(DEEPNASH_TYPES):
        for first_deepnash, first_ataraxos in ((1, 0), (13, 12), (25, 24)):
            assert np.array_equal(other[first_deepnash + kind], ours[first_ataraxos + TYPES.index(letter)])
    for age in range(32):
        # Move planes differ in their order and in how an attack is marked, not in where.
        assert np.array_equal(np.sign(other[37 + age]), ours[486 - age])
    assert np.array_equal(other[77:79], ours[41:43])
    assert not other[79:].any()


# --- worked observations, computed with the published simulator ---

SETUP_S = "MBEEEEEDDB BFFFFDDDDB BGGGGCIIIB DHHKLHHJJD".replace(" ", "")


def entries(text: str) -> dict[tuple[int, int], float]:
    """Return '86: 51 · 485: 31=−1 41=+1' as {(86, 51): 1, (485, 31): −1, (485, 41): 1}: entries as the document writes
    them.
    """
    found = {}
    for part in filter(None, text.replace("−", "-").split("·")):
        channel, squares = part.split(":")
        for word in squares.split():
            at, _, value = word.partition("=")
            found[int(channel), int(at)] = float(value or 1)
    return found


def entries_of(planes: np.ndarray, first: int, last: int) -> dict[tuple[int, int], float]:
    channels, squares = np.nonzero(planes[first : last + 1])
    return {(first + int(c), int(s)): float(planes[first + c, s]) for c, s in zip(channels, squares, strict=False)}


def squares_of(planes: np.ndarray, channel: int) -> list[int]:
    return np.flatnonzero(planes[channel]).tolist()


# After each ply: the action, moved own, moved opponent, channel 42, all of 43–354, and 455–486 where it is listed.
GAME_A = [
    (331, [], [58], 0.01, "314: 58 · 328: 58", "486: 68=−1 58=+1"),
    (338, [41], [51], 0.02, "86: 51 · 262: 41 · 276: 41", "485: 31=−1 41=+1 · 486: 61=−1 51=+1"),
    (
        941,
        [48],
        [59],
        0.03,
        "53: 48 · 97: 59 · 108: 59 · 314: 59 · 328: 59",
        "484: 68=−1 58=+1 · 485: 38=−1 48=+1 · 486: 58=−1 59=+1",
    ),
    (
        339,
        [40],
        [50, 51],
        0.04,
        "64: 40 · 75: 40 · 86: 50 51 · 262: 40 · 276: 40 · 314: 51 · 315: 51 · 328: 51 · 341: 50 · 354: 50",
        "483: 31=−1 41=+1 · 484: 61=−1 51=+1 · 485: 41=−1 40=+1 · 486: 60=−1 50=+1",
    ),
    (
        440,
        [48],
        [49],
        0,
        "53: 48 · 110: 39 · 182: 49 · 262: 48 · 263: 48 · 276: 48",
        "482: 68=−1 58=+1 · 483: 38=−1 48=+1 · 484: 58=−1 59=+1 · 485: 39=−1 49=+1 · 486: 59=−1 49=+1",
    ),
    (
        1748,
        [],
        [50],
        0,
        "114: 31 · 121: 60 · 166: 50 · 242: 50",
        "481: 31=−1 41=+1 · 482: 61=−1 51=+1 · 483: 41=−1 40=+1 · 484: 60=−1 50=+1 · 485: 40=−1 50=+1"
        " · 486: 51=−1 50=+1",
    ),
    (330, [49], [59], 0.01, "83: 59 · 110: 39 · 125: 68 · 182: 49 · 226: 49", None),
    (449, [], [40], 0, "110: 30 · 114: 31 · 121: 60 · 166: 50 · 182: 40 · 242: 50", None),
]
GAME_B = [
    (334, "314: 55 · 328: 55"),
    (334, "262: 44 · 276: 44 · 314: 55 64 · 328: 55 64"),
    (1344, "86: 54 · 262: 35 44 · 276: 35 44 · 314: 54 · 315: 64 · 328: 54 64 · 341: 54 · 354: 54"),
    (444, "118: 34 · 129: 65 · 190: 45 · 220: 45 · 263: 35 · 276: 35 · 314: 64 · 328: 64"),
    (439, "118: 34 · 129: 65 · 160: 54 · 250: 54 · 262: 35 · 276: 35 · 315: 64 · 328: 64"),
    (
        330,
        "110: 39 · 118: 34 · 121: 69 · 129: 65 · 172: 59 · 190: 45 · 202: 59 · 220: 45 · 263: 35 · 276: 35"
        " · 314: 64 · 328: 64",
    ),
]
BOARD_AFTER_GAME_A = (
    "M@B@E@E@E@E@E@D@D@B@B@F@F@F@F@D@D@D@D@B@B@G@G@G@G@C@I@I@I@B@a@a@H@K@L@H@H@J@J@D@v.a@_@_@a@a@_@_@a@a@a@a@_@_@a@a@_@_@a@a@"
    "a@a@V@T@T@X@W@T@T@P@N@U@U@U@O@S@S@S@S@N@N@P@P@P@P@R@R@R@R@N@N@P@P@Q@Q@Q@Q@Q@N@Y@"
)


def worked_game() -> tuple[Oracle, Observer]:
    game = classic(exceeded(100, 4000), published_setups(SETUP_S, SETUP_S))
    return game, Observer(game)


def push_action(game: Oracle, observer: Observer, action: int) -> None:
    move = move_of_action(action, game.to_move)
    game.push(move)
    observer.push(move)


def board_string(game: Oracle) -> str:
    """Return a board as the published simulator writes it: 200 characters."""
    text = ""
    for at in range(100):
        piece = game.piece_at(at)
        if piece is None:
            text += "_@" if at in game.lakes else "a@"
            continue
        letter = ("CDEFGHIJKLMB", "OPQRSTUVWXYN")[piece.owner][TYPES.index(piece.letter)]
        text += (letter.lower() if piece.revealed else letter) + (".@"[not piece.moved])
    return text


def test_the_first_observation_is_the_worked_one() -> None:
    planes = worked_game()[1].ataraxos()
    assert squares_of(planes, 36) == list(range(40)) and squares_of(planes, 37) == list(range(60, 100))
    assert len(squares_of(planes, 38)) == 12
    expected = [0.025, 0.2, 0.125, 0.1, 0.1, 0.1, 0.075, 0.05, 0.025, 0.025, 0.025, 0.15]
    assert planes[12:24, 60] == pytest.approx(expected, abs=1e-7)
    starts = {(355 + at, at): 1.0 for at in [*range(40), *range(60, 100)]}
    assert entries_of(planes, 43, 486) == starts
    assert not planes[39:43].any()


def test_game_a_is_seen_as_worked_out() -> None:
    game, observer = worked_game()
    for ply, (action, moved_own, moved_opponent, battleless, board, last_moves) in enumerate(GAME_A, start=1):
        push_action(game, observer, action)
        planes = observer.ataraxos()
        assert squares_of(planes, 39) == moved_own and squares_of(planes, 40) == moved_opponent, ply
        assert set(planes[41]) == {np.float32(ply) / np.float32(4000)}
        assert set(planes[42]) == {np.float32(battleless)}
        assert entries_of(planes, 43, 354) == entries(board), ply
        if last_moves is not None:
            assert entries_of(planes, 455, 486) == entries(last_moves), ply
        assert {c for c, _ in entries_of(planes, 455, 486)} == set(range(487 - ply, 487))
        if ply == 5:
            assert planes[17, 49] == 1 and planes[355 + 68, 49] == 1
            assert [len(squares_of(planes, c)) for c in (36, 37, 38)] == [39, 39, 13]
        if ply == 6:
            assert [len(squares_of(planes, c)) for c in (36, 37, 38)] == [39, 38, 14]
    assert board_string(game) == BOARD_AFTER_GAME_A


def test_game_b_is_seen_as_worked_out() -> None:
    game, observer = worked_game()
    for ply, (action, board) in enumerate(GAME_B, start=1):
        push_action(game, observer, action)
        planes = observer.ataraxos()
        assert entries_of(planes, 43, 354) == entries(board), ply
        if ply == 1:
            # Spy, Scout, Miner, Flag, Bomb of an unmoved piece; Spy and Miner of the moved one: exact words.
            words = planes[[12, 13, 14, 22, 23], 60].view(np.uint32).tolist()
            assert words == [0x3CCBAFA4, 0x3E4BAFA4, 0x3DFE9B8D, 0x3CD20D21, 0x3E1D89D9]
            assert planes[[12, 14, 22, 23], 55].view(np.uint32).tolist() == [0x3CF83E10, 0x3E1B26CA, 0, 0]
        if ply == 4:
            assert [len(squares_of(planes, c)) for c in (36, 37, 38)] == [39, 39, 14]
        if ply == 5:
            assert planes[13, 40] == 1
        if ply == 6:
            assert [len(squares_of(planes, c)) for c in (36, 37, 38)] == [38, 38, 16]


def test_a_tie_leaves_an_empty_square_that_counts_as_protected() -> None:
    # No recording covers this case.
    red = {0: "F", 1: "N", 34: "T", 35: "P"}
    blue = {64: "P", 94: "O", 98: "N", 99: "F"}
    placed = {at: (RED, letter) for at, letter in red.items()} | {at: (BLUE, letter) for at, letter in blue.items()}
    game = classic(NO_LIMITS, placed)
    observer = Observer(game)
    for move in [(35, 45), (64, 54), (1, 2), (54, 44), (2, 1), (94, 54), (1, 2), (98, 97), (45, 44)]:
        game.push(move)
        observer.push(move)
    assert entries_of(observer.ataraxos(), 303, 354) == entries("314: 65 · 317: 65 · 328: 65")


def test_deepnash_shows_the_golden_probabilities_and_move_marks() -> None:
    # After one ordinary move of an unrevealed piece.
    game, observer = worked_game()
    push_action(game, observer, 334)
    planes = observer.deepnash()
    moved, unmoved = 55, 60
    assert planes[13 + 2, moved] == np.float32(8) / np.float32(33)
    assert planes[13 + 11, moved] == planes[13 + 0, moved] == 0
    assert planes[13 + 11, unmoved] == pytest.approx(0.153846, abs=1e-6)
    assert planes[13 + 0, unmoved] == pytest.approx(0.025641, abs=1e-6)
    assert planes[13 + 2, unmoved] == pytest.approx(0.198912, abs=1e-6)
    assert squares_of(planes, 0) == sorted(CLASSIC_LAKES)
    assert entries_of(planes, 37, 76) == {(37, 65): -1.0, (37, 55): 1.0}
    for action in (334, 1344, 444):
        push_action(game, observer, action)
    # The Marshals have met: the newest plane marks the attack by its type, red's view of blue's 55×45.
    planes = observer.deepnash()
    assert planes[37, 55] == np.float32(-(2 + 10 / 12)) and planes[37, 45] == 1
    assert set(planes[77]) == {np.float32(4) / np.float32(4000)} and not planes[78:].any()


def test_deepnash_marks_a_miner_attack() -> None:
    game = classic(NO_LIMITS, pieces("Fa1 Na2 Ma10", "Fj10 Ba3 Mj9"))
    observer = Observer(game)
    game.push((square("a2"), square("a3")))
    observer.push((square("a2"), square("a3")))
    assert observer.deepnash()[37, 99 - square("a2")] == np.float32(-2.25)


def test_observations_of_a_small_board_have_its_own_squares() -> None:
    game = start_of("micro", {})
    observer = Observer(game)
    assert observer.ataraxos().shape == (355 + 12 + 32, 12) and observer.deepnash().shape == (82, 12)
    for move in moves("b1b2 d3d2", columns=4):
        game.push(move)
        observer.push(move)
    planes = observer.ataraxos()
    b2, d2, d3 = (square(name, 4) for name in ("b2", "d2", "d3"))
    assert planes[355 + square("b1", 4), b2] == 1 and planes[355 + d3, d2] == 1
    assert set(planes[41]) == {np.float32(2) / np.float32(20)} and not planes[42].any()
    assert entries_of(planes, 355 + 12 + 31, 355 + 12 + 31) == {(398, d3): -1.0, (398, d2): 1.0}
