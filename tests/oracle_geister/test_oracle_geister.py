"""The oracle of Geister against everything written down in docs/geister.md: golden counts, values, worked examples.

pytest tests/oracle_geister -m "not slow"     # under a minute on one core
pytest tests/oracle_geister                   # deeper counts, longer variants and more random games
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from .rules import (
    CAPTURED,
    EAST,
    ENDS,
    ESCAPE,
    ESCAPED,
    EVIL_CAPTURED,
    FIRST,
    G33A,
    G33B,
    G33C,
    G34,
    G43,
    G44,
    GOOD_CAPTURED,
    LIMIT,
    NORTH,
    ON_BOARD,
    PAPER,
    SECOND,
    SERVER,
    SMALL_VARIANTS,
    SOUTH,
    WEST,
    Geister,
    Rules,
    Turn,
    View,
    perft,
    random_playout,
    random_start,
    starts,
)


def play(game: Geister, text: str) -> Geister:
    """Play 'AN BE' (a ghost's name and a direction each), the two players in turn."""
    for word in text.split():
        game.push(4 * game.rules.names.index(word[0]) + "NEWS".index(word[1]))
    return game


def placed(game: Geister, first: dict[str, tuple[int, int]], second: dict[str, tuple[int, int]]) -> Geister:
    """Put named ghosts on squares, each in its owner's view; the others stay where they are."""
    for player, squares in enumerate((first, second)):
        for name, square in squares.items():
            game.ghosts[player][game.rules.names.index(name)].square = square
    return game


# --- the full game ---


def test_start_string_is_that_of_the_server() -> None:
    """Compare with the string of a start with red A B C D."""
    game = Geister(SERVER, "ABCD", "BCDE")
    assert game.server_board(FIRST) == "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"
    assert game.server_board(SECOND) == "14B24R34R44R15R25B35B45B41u31u21u11u40u30u20u10u"


def test_every_player_has_seventy_setups() -> None:
    """Count the choices of four evil ghosts of eight."""
    assert len(SERVER.setups()) == len(set(SERVER.setups())) == 70
    assert sum(1 for _ in starts(SERVER)) == 4900


@pytest.mark.parametrize("rules", [SERVER, PAPER])
@pytest.mark.parametrize(("depth", "count"), [(1, 8), (2, 64), (3, 768), (4, 9200)])
def test_perft_from_the_start(rules: Rules, depth: int, count: int) -> None:
    """Count the move sequences from the start."""
    assert perft(Geister(rules, "ABCD", "BCDE"), depth) == count


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "count"), [(5, 118_488), (6, 1_523_518)])
def test_deeper_perft_from_the_start(depth: int, count: int) -> None:
    """Count longer move sequences from the start."""
    assert perft(Geister(SERVER, "AFGH", "BCDE"), depth) == count


def test_first_legal_actions_in_both_encodings() -> None:
    """List by hand what the start allows: the front row north, the flanks sideways."""
    game = Geister(SERVER)
    a, b, c, d, e, h = 0, 1, 2, 3, 4, 7
    by_hand = [(a, NORTH), (a, WEST), (b, NORTH), (c, NORTH), (d, NORTH), (d, EAST), (e, WEST), (h, EAST)]
    assert game.legal() == [4 * ghost + direction for ghost, direction in by_hand]
    x_y = [SERVER.starts[ghost] for ghost, _ in by_hand]
    assert game.legal_squares() == [4 * (6 * y + x) + by_hand[i][1] for i, (x, y) in enumerate(x_y)]
    assert SERVER.ghost_actions == 32
    assert SERVER.square_actions == 144


def test_the_two_views_are_rotated() -> None:
    """Move ghost A north and look at it from the other side."""
    game = play(Geister(SERVER), "AN")
    assert game.view(FIRST).own_squares[0] == (1, 3)
    assert game.view(SECOND).opponent_squares[0] == (4, 2)
    assert game.server_board(SECOND)[24:27] == "42u"
    assert game.to_move == SECOND


@pytest.mark.parametrize("corner", [(0, 0), (5, 0)])
@pytest.mark.parametrize("forced", [False, True])
def test_good_ghosts_escape_from_the_corners_and_evil_ones_cannot(corner: tuple[int, int], forced: bool) -> None:
    """Stand on a corner with a ghost of each colour."""
    outwards = {(0, 0): [NORTH, WEST], (5, 0): [NORTH, EAST]}[corner]
    rules = replace(SERVER, escape_forced=forced)
    good = placed(Geister(rules, "ABCD", "ABCD"), {"F": corner}, {})
    escapes = [4 * 5 + direction for direction in outwards]
    assert good.escapes() == escapes
    if forced:
        assert good.legal() == escapes
    else:
        assert set(escapes) < set(good.legal())
        assert len(good.legal()) > 8
    for action in escapes:
        ended = good.after(action)
        assert (ended.end, ended.winner, ended.utilities) == (ESCAPE, FIRST, (1, -1))
        assert ended.history == [Turn(FIRST, action, escaped=True)]
        assert ended.ghosts[FIRST][5].fate == ESCAPED
        assert ended.legal() == []
        assert ended.server_board(FIRST)[15:18] == "88b"
        assert sum(map(sum, ended.observation(FIRST)[0])) == 3
    evil = placed(Geister(rules, "ABCF", "ABCD"), {"F": corner}, {})
    assert evil.escapes() == []
    assert not set(escapes) & set(evil.legal())


def test_no_escape_from_home_corners() -> None:
    """Stand on the corners of one's own side, and on the edge between the exits."""
    game = placed(Geister(SERVER, "ABCD", "ABCD"), {"E": (0, 5), "H": (5, 5), "F": (2, 0)}, {"G": (3, 3), "F": (2, 3)})
    assert game.escapes() == []
    assert 4 * 4 + WEST not in game.legal()
    assert 4 * 4 + SOUTH not in game.legal()


def test_captures_make_colours_public() -> None:
    """Take the second player's evil D with A, then A with H, and look at all that says so."""
    game = play(Geister(SERVER, "ABCD", "BCDE"), "AN AN AN AN AN")
    # A went (1,4) (1,3) (1,2) (1,1), where the second player's D began: rotated (5-4, 5-4) = (1, 1).
    assert game.history[-1] == Turn(FIRST, 0, 3, False)
    assert game.ghosts[SECOND][3].fate == CAPTURED
    view = game.view(FIRST)
    assert view.opponent_good == (None, None, None, False, None, None, None, None)
    assert view.opponent_squares[3] is None
    assert game.view(SECOND).opponent_good == (None,) * 8
    assert game.server_board(FIRST) == "11R24R34R44R15B25B35B45B43u31u21u99r40u30u20u10u"
    assert game.server_board(SECOND) == "12B24R34R99r15R25B35B45B44u31u21u11u40u30u20u10u"
    planes = game.observation(FIRST, history=True)
    assert planes[4] == [[1 / 3] * 6] * 6
    assert planes[9] == [[0.0] * 6] * 6
    assert planes[3] == planes[8] == [[0.0] * 6] * 6
    assert (planes[1][1][1], planes[6][1][1], planes[6][2][1]) == (1.0, 0.0, 1.0)
    assert (planes[2][1][1], planes[7][1][1]) == (0.0, 1.0)
    assert planes[10] == [[5 / 300] * 6] * 6
    # D captured; H of the second player is right behind and takes A back.
    play(game, "HN")
    assert game.history[-1] == Turn(SECOND, 4 * 7, 0, False)
    assert game.server_board(FIRST)[:3] == "99r"
    assert game.server_board(SECOND)[24:27] == "99r"
    assert game.view(SECOND).opponent_good[0] is False
    assert game.observation(SECOND)[4] == [[1 / 3] * 6] * 6


@pytest.mark.parametrize("limit", [9, 1])
def test_ends_by_capture_and_a_win_on_the_last_move(limit: int) -> None:
    """Capture the last ghost of a colour, also with the very last move allowed."""
    for evil, end, winner in (("A", GOOD_CAPTURED, FIRST), ("B", EVIL_CAPTURED, SECOND)):
        rules = replace(G33A, limit=limit)
        game = placed(Geister(rules, "A", evil), {"A": (1, 1), "B": (2, 2)}, {"A": (0, 0), "B": (1, 2)})
        game.push(NORTH)
        assert (game.end, game.winner) == (end, winner)
    game = placed(Geister(rules, "B", "A"), {"A": (0, 0)}, {"A": (0, 2), "B": (1, 2)})
    game.push(WEST)
    assert (game.end, game.winner) == (ESCAPE, FIRST)


@pytest.mark.parametrize(("result", "winner", "utilities"), [("draw", None, (0, 0)), ("second", SECOND, (-1, 1))])
def test_end_at_the_limit(result: str, winner: int | None, utilities: tuple[int, int]) -> None:
    """Play to the limit without an event."""
    game = Geister(replace(SERVER, limit=4, limit_result=result))
    play(game, "AN AN AS")
    assert not game.over
    play(game, "AS")
    assert (game.over, game.end, game.winner, game.utilities) == (True, LIMIT, winner, utilities)


def test_worked_example_of_the_observation() -> None:
    """Compare the planes of the first player with red A B C D before the first move."""
    game = Geister(PAPER, "ABCD", "BCDE")
    nothing = [[0.0] * 6 for _ in range(6)]
    row = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    good = [*nothing[:5], row]
    evil = [*nothing[:4], row, nothing[5]]
    others = [row, row, *nothing[2:]]
    assert game.observation(FIRST) == [good, evil, others, nothing, nothing, nothing]
    assert game.observation(FIRST, history=True) == [good, evil, others] + [nothing] * 8
    play(game, "AN")
    planes = game.observation(FIRST, history=True)
    assert len(planes) == 11
    assert planes[5:10] == [good, evil, others, nothing, nothing]
    assert planes[1][4] == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    assert planes[1][3] == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert planes[10] == [[0.01] * 6] * 6
    second = game.observation(SECOND, history=True)
    assert second[2][2] == [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert second[7] == others
    assert game.observation(FIRST, divisor=1)[5] == [[1.0] * 6] * 6


def test_progress_is_clamped_at_one() -> None:
    """Play past the divisor."""
    game = play(Geister(SERVER), "AN AN AS AS")
    assert game.observation(FIRST, divisor=3)[5][0][0] == 1.0
    assert game.observation(FIRST, divisor=8)[5][0][0] == 0.5


def test_a_view_says_nothing_of_hidden_colours() -> None:
    """Play the same moves with other colours of the opponent."""
    views = {play(Geister(SERVER, "ABCD", evil), "AN AN BN").view(FIRST) for evil in ("ABCD", "EFGH", "ACEG")}
    assert len(views) == 1
    assert play(Geister(SERVER, "ABCE", "ABCD"), "AN AN BN").view(FIRST) not in views


def test_both_encodings_lead_to_the_same_games() -> None:
    """Play random games twice, once in each encoding, and replay them."""
    generator = random.Random(5)
    for _ in range(5):
        game = random_start(PAPER, generator)
        twin = game.copy()
        while not game.over:
            assert [game.to_ghost_action(one) for one in map(game.to_square_action, game.legal())] == game.legal()
            assert len(game.legal_squares()) == len(set(game.legal_squares())) == len(game.legal())
            action = generator.choice(game.legal())
            twin.push_square(twin.to_square_action(action))
            game.push(action)
        assert game == twin == game.replayed(game.plies)
        assert len(game.server_board(FIRST)) == len(game.server_board(SECOND)) == 48


def test_wrong_calls_are_refused() -> None:
    """Ask for games and moves that there are not."""
    with pytest.raises(ValueError, match="does not choose"):
        Geister(SERVER, "ABC", "ABCD")
    with pytest.raises(ValueError, match="does not choose"):
        Geister(SERVER, "ABCD", (0, 1, 2, 8))
    with pytest.raises(ValueError, match="not legal"):
        Geister(SERVER).push(SOUTH)
    with pytest.raises(ValueError, match="no own ghost"):
        Geister(SERVER).push_square(0)
    with pytest.raises(ValueError, match="limit_result"):
        Rules(limit_result="first")
    with pytest.raises(ValueError, match="one square"):
        Rules(3, 3, ((0, 1), (2, 1)), 1, 1)
    with pytest.raises(ValueError, match="do not fill"):
        replace(SERVER, good=3)
    with pytest.raises(ValueError, match="off the board"):
        replace(G33A, starts=((0, 2), (3, 2)))


# --- the small variants ---


@dataclass
class Tree:
    """Return the counts of a variant's game tree; the chance root is not counted, ends are."""

    histories: int = 0
    terminal: int = 0
    by_limit: int = 0
    decisions: list[int] = field(default_factory=lambda: [0, 0])
    information_sets: tuple[set[View], set[View]] = field(default_factory=lambda: (set(), set()))

    def walk(self, game: Geister) -> Fraction:
        """Count the histories from here on; give what the first player expects when both play uniformly."""
        self.histories += 1
        if game.over:
            self.terminal += 1
            self.by_limit += game.end == LIMIT
            return Fraction(game.utilities[FIRST])
        self.decisions[game.to_move] += 1
        self.information_sets[game.to_move].add(game.view(game.to_move))
        legal = game.legal()
        return sum((self.walk(game.after(action)) for action in legal), Fraction(0)) / len(legal)


def enumerate_tree(rules: Rules) -> tuple[Tree, Fraction]:
    """Walk the whole tree of a variant; give its counts and the value of uniform play to the first player."""
    tree = Tree()
    values = [tree.walk(game) for game in starts(rules)]
    return tree, sum(values, Fraction(0)) / len(values)


def best_response_to_uniform(rules: Rules, player: int) -> Fraction:
    """Give what a player gets at best against uniform play, deciding once for each information set."""

    def grouped(nodes: list[tuple[Geister, Fraction]]) -> Fraction:
        groups = defaultdict(list)
        for game, weight in nodes:
            groups[game.view(player)].append((game, weight))
        return sum((best(group) for group in groups.values()), Fraction(0))

    def best(nodes: list[tuple[Geister, Fraction]]) -> Fraction:
        if nodes[0][0].over:
            return sum((weight * game.utilities[player] for game, weight in nodes), Fraction(0))
        if nodes[0][0].to_move == player:
            legal = nodes[0][0].legal()
            assert all(game.legal() == legal for game, _ in nodes)
            return max(grouped([(game.after(action), weight) for game, weight in nodes]) for action in legal)
        return grouped(
            [(game.after(one), weight / len(game.legal())) for game, weight in nodes for one in game.legal()]
        )

    games = list(starts(rules))
    return grouped([(game, Fraction(1, len(games))) for game in games])


def variant(name: str, limit: int, forced: bool = True, result: str = "draw") -> Rules:
    """Take a small variant with another limit."""
    return replace(SMALL_VARIANTS[name], limit=limit, escape_forced=forced, limit_result=result)


# Variant, limit, escape forced; histories, terminal, by limit; decisions and information sets of both players;
# value of uniform play to the first player, and the best responses to uniform play.
TREES = [
    ("G33a", 4, True, 980, 720, 528, (60, 200), (30, 100), 0.0, 7 / 15, 2 / 15),
    ("G33a", 5, True, 3716, 2928, 2104, (588, 200), (294, 100), 1 / 120, 0.4666666667, 0.2527777778),
    ("G33b", 4, True, 2757, 2277, 1924, (81, 399), (27, 143), 0.0864883402, 0.5370370370, 0.2175925926),
    ("G33a", 6, True, 14276, 11384, 8504, (588, 2304), (294, 1164), -1 / 3600, 0.6513888889, 0.2736111111),
    ("G33a", 6, False, 14676, 11760, 8784, (588, 2328), (294, 1164), -0.0000925926, 0.6534722222, 0.2736111111),
    ("G33b", 5, True, 11825, 9421, 7528, (2005, 399), (731, 143), 0.0497942387, 0.5370370370, 0.3722222222),
    ("G33c", 5, True, 11933, 9529, 7656, (2005, 399), (731, 143), -0.0072702332, 0.3950617284, 0.3415637860),
    ("G43", 5, True, 9116, 7288, 6064, (1524, 304), (762, 152), 0.0, 0.4714285714, 0.2988095238),
]
LONGER_TREES = [
    ("G33a", 7, True, 48212, 36816, 25672, (9092, 2304), (4630, 1164), 0.0046604938, 0.6861111111, 0.3874074074),
    ("G33a", 8, True, 150374, 113306, 75438, (9092, 27976), (4630, 14492), -0.0004721451, 0.7503703704, 0.4103703704),
    ("G33b", 6, True, 47083, 37151, 28058, (2005, 7927), (731, 3237), 0.0626030803, 0.6512051734, 0.4021898883),
    ("G43", 6, True, 38076, 30184, 24464, (1524, 6368), (762, 3184), 0.0, 0.5845238095, 0.2988095238),
    ("G34", 7, True, 134188, 105088, 91820, (24156, 4944), (12078, 2472), 0.0019444444, 0.3877777778, 0.4112592593),
    ("G44", 5, True, 821180, 719992, 701736, (90100, 11088), (21066, 2352), 0.0, 0.1972552910, 0.1715629064),
]
TREE_NAMES = "name, limit, forced, histories, terminal, by_limit, decisions, sets, uniform, best_first, best_second"


def tree_id(row: tuple) -> str:
    """Name a row of the table."""
    return f"{row[0]}-{row[1]}" + ("" if row[2] else "-optional")


def check_tree(row: tuple) -> None:
    """Compare the whole tree of a variant, the value of uniform play, and both best responses."""
    name, limit, forced, histories, terminal, by_limit, decisions, sets, uniform, best_first, best_second = row
    rules = variant(name, limit, forced)
    tree, value = enumerate_tree(rules)
    assert (tree.histories, tree.terminal, tree.by_limit) == (histories, terminal, by_limit)
    assert tuple(tree.decisions) == decisions
    assert tuple(len(views) for views in tree.information_sets) == sets
    assert float(value) == pytest.approx(uniform, abs=6e-11)
    assert float(best_response_to_uniform(rules, FIRST)) == pytest.approx(best_first, abs=6e-11)
    assert float(best_response_to_uniform(rules, SECOND)) == pytest.approx(best_second, abs=6e-11)


@pytest.mark.parametrize("row", TREES, ids=tree_id)
def test_small_tree(row: tuple) -> None:
    """Compare the trees of the shortest variants."""
    check_tree(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", LONGER_TREES, ids=tree_id)
def test_longer_tree(row: tuple) -> None:
    """Compare the trees of the longer variants."""
    check_tree(row)


def test_uniform_values_are_exact_fractions() -> None:
    """Compare the values that are written as fractions."""
    assert enumerate_tree(variant("G33a", 4))[1] == 0
    assert enumerate_tree(variant("G33a", 5))[1] == Fraction(1, 120)
    assert best_response_to_uniform(variant("G33a", 4), FIRST) == Fraction(7, 15)
    assert best_response_to_uniform(variant("G33a", 4), SECOND) == Fraction(2, 15)


def check_decisive(name: str, limit: int, uniform: float, best_first: float, best_second: float) -> None:
    """Compare uniform play and both best responses where the second player wins at the limit."""
    rules = variant(name, limit, result="second")
    assert float(enumerate_tree(rules)[1]) == pytest.approx(uniform, abs=6e-11)
    assert float(best_response_to_uniform(rules, FIRST)) == pytest.approx(best_first, abs=6e-11)
    assert float(best_response_to_uniform(rules, SECOND)) == pytest.approx(best_second, abs=6e-11)


@pytest.mark.parametrize(
    ("name", "limit", "uniform", "best_first", "best_second"),
    [
        ("G33a", 4, -0.5966666667, 0.1666666667, 1.0),
        ("G33a", 5, -0.4586111111, 0.3333333333, 0.9166666667),
        ("G33b", 4, -0.6012002743, 0.0740740741, 1.0),
    ],
)
def test_decisive_tree(name: str, limit: int, uniform: float, best_first: float, best_second: float) -> None:
    """Compare the decisive versions of the shortest variants."""
    check_decisive(name, limit, uniform, best_first, best_second)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit", "uniform", "best_first", "best_second"),
    [
        ("G33a", 6, -0.3765432099, 0.4500000000, 0.9166666667),
        ("G33a", 7, -0.2840823045, 0.6861111111, 0.8700000000),
        ("G33b", 5, -0.5109814488, 0.2469135802, 0.9179894180),
        ("G33c", 5, -0.5768250702, 0.2345679012, 0.9835390947),
    ],
)
def test_longer_decisive_tree(name: str, limit: int, uniform: float, best_first: float, best_second: float) -> None:
    """Compare the decisive versions of the longer variants."""
    check_decisive(name, limit, uniform, best_first, best_second)


@pytest.mark.parametrize(
    ("rules", "size", "ghosts"),
    [(G33A, (3, 3), 2), (G33B, (3, 3), 3), (G33C, (3, 3), 3), (G43, (4, 3), 2), (G34, (3, 4), 2), (G44, (4, 4), 4)],
)
def test_random_games_of_small_variants_hold_together(rules: Rules, size: tuple[int, int], ghosts: int) -> None:
    """Play random games and look for ghosts that share a square or vanish."""
    generator = random.Random(3)
    assert (rules.width, rules.height, rules.ghosts) == (*size, ghosts)
    for _ in range(30):
        game = random_start(replace(rules, limit=30), generator)
        while not game.over:
            view = game.view(game.to_move)
            squares = [one for one in (*view.own_squares, *view.opponent_squares) if one is not None]
            assert len(set(squares)) == len(squares)
            assert all(rules.contains(one) for one in squares)
            assert all(
                (fate == ON_BOARD) == (square is not None)
                for fate, square in zip(view.opponent_fates, view.opponent_squares, strict=True)
            )
            assert game.legal()
            game.push(generator.choice(game.legal()))
        assert game.end in ENDS


# --- uniformly random play ---

GOLDEN_GAMES = 200_000
# Escape forced, limit; shares of: first wins, second wins, draw, escape, all good captured, all evil captured;
# mean plies, mean legal actions.
RANDOM_PLAY = {
    (False, 100): (0.0791, 0.0800, 0.8408, 0.0620, 0.0485, 0.0487, 96.50, 15.16),
    (False, 300): (0.4889, 0.4869, 0.0242, 0.2108, 0.3854, 0.3797, 159.87, 13.72),
    (True, 100): (0.1074, 0.1085, 0.7841, 0.1292, 0.0434, 0.0434, 94.37, 15.16),
    (True, 300): (0.4915, 0.4910, 0.0176, 0.3404, 0.3246, 0.3175, 149.88, 13.84),
}


def check_random_play(forced: bool, limit: int, games: int, seed: int) -> None:
    """Compare random games with the table, each number within four standard errors (of both samples)."""
    generator = random.Random(seed)
    rules = replace(SERVER, escape_forced=forced, limit=limit)
    seen: Counter[object] = Counter()
    plies, legal = [], []
    for _ in range(games):
        game = random_start(rules, generator)
        counts = random_playout(game, generator)
        seen.update([("winner", game.winner), ("end", game.end)])
        plies.append(game.plies)
        legal.append(sum(counts))
    *shares, mean_plies, mean_legal = RANDOM_PLAY[forced, limit]
    keys = [
        ("winner", FIRST),
        ("winner", SECOND),
        ("winner", None),
        ("end", ESCAPE),
        ("end", GOOD_CAPTURED),
        ("end", EVIL_CAPTURED),
    ]
    both = 1 / games + 1 / GOLDEN_GAMES
    for key, share in zip(keys, shares, strict=True):
        assert abs(seen[key] / games - share) < 4 * math.sqrt(share * (1 - share) * both), key
    assert seen["winner", None] == seen["end", LIMIT]

    def error(values: list[float]) -> float:
        mean = sum(values) / games
        return math.sqrt(sum((value - mean) ** 2 for value in values) / (games - 1) * both)

    assert abs(sum(plies) / games - mean_plies) < 4 * error([float(one) for one in plies]) + 0.005
    # The mean is over all plies of all games: a ratio of two sums.
    ratio = sum(legal) / sum(plies)
    spread = error([(one - ratio * length) * games / sum(plies) for one, length in zip(legal, plies, strict=True)])
    assert abs(ratio - mean_legal) < 4 * spread + 0.005


@pytest.mark.parametrize("forced", [False, True])
def test_random_play(forced: bool) -> None:
    """Compare two thousand random games of each mode with the table, limit 100."""
    check_random_play(forced, 100, 2000, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("forced", [False, True])
def test_longer_random_play(forced: bool) -> None:
    """Compare two thousand random games of each mode with the table, limit 300."""
    check_random_play(forced, 300, 2000, seed=12)


@pytest.mark.slow
@pytest.mark.parametrize("forced", [False, True])
def test_more_random_play(forced: bool) -> None:
    """Compare five thousand random games of each mode with the table, limit 100."""
    check_random_play(forced, 100, 5000, seed=13)
