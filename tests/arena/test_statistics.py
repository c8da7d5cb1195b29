"""Score, Elo, intervals, superiority, the sign test and the betting measure, against numbers computed elsewhere."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import permutations

import exact_betting
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vauban.arena import betting
from vauban.arena.results import GameResult, ResultsError, Tally, in_order, match_agents, outcomes, pair_counts, tally
from vauban.arena.statistics import (
    MOST_EXACT,
    Estimate,
    clopper_pearson,
    elo,
    estimate,
    expected_score,
    los,
    los_exact,
    sign_test,
    summary,
)


def close(shown: float, digits: int) -> object:
    """Match a number equal up to one unit in the last of `digits` significant digits."""
    if shown == 0 or math.isinf(shown):
        return pytest.approx(shown, abs=1e-9)
    return pytest.approx(shown, abs=10.0 ** (math.floor(math.log10(abs(shown))) + 1 - digits))


def match(
    letters: str, plies: int = 100, seconds: float = 1.5, agents: tuple[str, str] = ("A", "B")
) -> list[GameResult]:
    """Return a match in which the first agent won (W), drew (D) and lost (L) in this order."""
    results = []
    for number, letter in enumerate(letters):
        side = number % 2
        winner = {"W": side, "L": 1 - side, "D": None}[letter]
        players = agents if side == 0 else (agents[1], agents[0])
        end = "total_limit" if winner is None else "flag"
        results.append(GameResult(number, players, winner, end, plies, seconds))
    return results


# ── Results ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_agent_is_red_in_even_games_and_blue_in_odd_ones() -> None:
    red_wins = [GameResult(number, ("A", "B") if number % 2 == 0 else ("B", "A"), 0, "flag", 9, 1) for number in (0, 1)]
    assert outcomes(red_wins) == [1, -1]
    assert outcomes(red_wins, agent=1) == [-1, 1]
    assert tally(red_wins) == Tally(1, 0, 1)
    assert pair_counts(red_wins) == (0, 0, 1, 0, 0)


def test_an_agent_against_itself_is_counted_by_the_number_of_the_game() -> None:
    mirror = match("WWDL", agents=("A", "A"))
    assert match_agents(mirror) == ("A", "A")
    assert tally(mirror) == Tally(2, 1, 1)
    assert tally(mirror, agent=1) == Tally(1, 1, 2)
    assert pair_counts(mirror) == (0, 1, 0, 0, 1)


def test_every_pair_falls_into_its_cell_and_the_last_game_without_a_twin_into_none() -> None:
    played = match("LL" + "LD" + "DL" + "WL" + "DD" + "LW" + "WD" + "WW" + "W")
    assert pair_counts(played) == (1, 2, 3, 1, 1)
    assert pair_counts(played, agent=1) == (1, 1, 3, 2, 1)
    assert tally(played) == Tally(6, 5, 6)


def test_the_order_in_which_games_finish_changes_nothing() -> None:
    played = match("WLDWW")
    for order in permutations(played):
        assert outcomes(order) == [1, -1, 0, 1, 1]
        assert pair_counts(order) == (0, 0, 1, 1, 0)
        assert summary(order) == summary(played)


def test_results_of_two_matches_are_not_taken_for_one() -> None:
    with pytest.raises(ResultsError, match="game 1 is there twice"):
        in_order(match("WW") + match("DL")[1:])
    with pytest.raises(ResultsError, match=r"game 2 was played by \('A', 'C'\), expected \('A', 'B'\)"):
        match_agents(match("WW") + match("DLW", agents=("A", "C"))[2:])


def test_no_games_have_no_score() -> None:
    for call in (lambda: Tally(0, 0, 0).score, lambda: estimate((0, 0, 0)), lambda: summary([])):
        with pytest.raises(ResultsError, match="at least one has to be finished"):
            call()


# ── Score, Elo, interval ─────────────────────────────────────────────────────────────────────────────

inf = math.inf
GOLDEN = {  # wins, draws, losses: s, v, SE, score interval, elo, elo interval, SE_elo, LOS, LOS exact
    (15, 4, 1): (0.85, 0.0775, 0.06224949799, 0.7279932259, 0.9720067741, 301.3310667, 171.0190473, 616.2465372,
                 84.81447366, 0.9997673709, 0.9998626709),
    (42, 0, 8): (0.84, 0.1344, 0.05184592559, 0.7383838531, 0.9416161469, 288.0637214, 180.2470584, 483.0324576,
                 67.01309343, 0.9999992390, 0.9999996566),
    (60, 20, 20): (0.70, 0.16, 0.04, 0.6216014406, 0.7783985594, 147.1907141, 86.2250152, 218.2517776,
                   33.08910338, 0.9999961279, 0.9999971719),
    (55, 0, 45): (0.55, 0.2475, 0.04974937186, 0.4524930229, 0.6475069771, 34.86007029, -33.11110833, 105.6375709,
                  34.91859018, 0.8413447461, 0.8401363396),
    (120, 60, 70): (0.60, 0.18, 0.02683281573, 0.5474086476, 0.6525913524, 70.43650362, 33.04216083, 109.520276,
                    19.42223968, 0.9998568448, 0.9998623207),
    (510, 0, 490): (0.51, 0.2499, 0.01580822571, 0.479016447, 0.540983553, 6.949638428, -14.58943526, 28.54232598,
                    10.98907594, 0.7364553716, 0.7363418029),
    (50, 0, 50): (0.50, 0.25, 0.05, 0.4020018008, 0.5979981992, 0, -68.98875107, 68.98875107,
                  34.74355855, 0.5, 0.5),
    (3, 14, 3): (0.50, 0.075, 0.06123724357, 0.3799772081, 0.6200227919, 0, -85.06004278, 85.06004278,
                 42.55199515, 0.5, 0.5),
    (7, 2, 1): (0.80, 0.11, 0.1048808848, 0.5944372431, 1.0, 240.8239965, 66.41917788, inf,
                113.8729738, 0.9830525732, 0.98046875),
    (9, 0, 1): (0.90, 0.09, 0.09486832981, 0.7140614903, 1.0, 381.6970038, 158.9851851, inf,
                183.1146317, 0.9942939818, 0.994140625),
}  # fmt: skip


@pytest.mark.parametrize("games", GOLDEN, ids=lambda games: "-".join(map(str, games)))
def test_statistics_5_1_golden_table(games: tuple[int, int, int]) -> None:
    wins, draws, losses = games
    s, v, se, score_low, score_high, difference, elo_low, elo_high, elo_error, superior, superior_exact = GOLDEN[games]
    found = estimate((losses, draws, wins))
    assert found.score == pytest.approx(s, abs=1e-15)
    assert found.variance == pytest.approx(v, abs=1e-15)
    assert found.score_error == close(se, 10)
    assert (found.score_low, found.score_high) == (close(score_low, 10), close(score_high, 10))
    assert found.elo == close(difference, 10)
    assert found.elo_low is not None
    assert found.elo_low == close(elo_low, 9)
    assert found.elo_high == close(elo_high, 9)
    assert found.elo_error == close(elo_error, 10)
    assert los(wins, losses) == close(superior, 10)
    assert los_exact(wins, losses) == close(superior_exact, 10)
    assert ("upper end is infinite" in found.note) == math.isinf(elo_high)


@pytest.mark.parametrize(("games", "low", "elo_low"), [
    (10, 0.691502892181, 140.2171616), (20, 0.831566529017, 277.3874408), (100, 0.963783307355, 570.0282451),
])  # fmt: skip
def test_statistics_5_1_only_wins_have_an_exact_lower_end_and_only_losses_its_mirror(
    games: int, low: float, elo_low: float
) -> None:
    won, lost = estimate((0, 0, games)), estimate((games, 0, 0))
    assert (won.score_low, won.score_high) == (close(low, 12), 1)
    assert (won.elo_low, won.elo, won.elo_high) == (close(elo_low, 10), inf, inf)
    assert won.note.startswith("every game won")
    assert (lost.score_low, lost.score_high) == (0, close(1 - low, 10))
    assert (lost.elo_low, lost.elo, lost.elo_high) == (-inf, -inf, close(-elo_low, 9))
    assert lost.note.startswith("every game lost")
    assert clopper_pearson(games, games) == (close(low, 12), 1)


def test_statistics_5_1_twenty_wins() -> None:
    assert los(20, 0) == close(0.9999961279, 10)
    assert los_exact(20, 0) == close(0.9999995232, 10)
    assert los_exact(1, 0) == 0.75
    assert los(0, 0) == los_exact(0, 0) == 0.5


def test_the_likelihood_in_logarithms_continues_the_exact_one() -> None:
    for wins, losses in ((4000, 999), (2510, 2489)):
        assert wins + losses + 1 == MOST_EXACT
        ways, total = 1, 0
        for k in range(wins + 1):
            total, ways = total + ways, ways * (MOST_EXACT + 1 - k) // (k + 1)
        assert los_exact(wins, losses + 1) == pytest.approx(total / 2 ** (MOST_EXACT + 1), rel=1e-9)
    assert los_exact(50_000, 50_000) == pytest.approx(0.5)


def test_only_draws_have_no_interval() -> None:
    found = estimate((0, 12, 0))
    assert (found.elo, found.elo_low, found.elo_high) == (0, None, None)
    assert found.note == "all draws, no interval"


def test_few_games_may_leave_both_ends_infinite() -> None:
    found = estimate((1, 0, 1))
    assert (found.elo_low, found.elo_high) == (-inf, inf)
    assert found.note


def test_elo_and_expected_score_are_inverse() -> None:
    assert expected_score(5) == close(0.507195081709, 12)
    assert expected_score(10) == close(0.514387184166, 12)
    assert expected_score(50) == close(0.571463117408, 12)
    for difference in (-700.0, -50.0, 0.0, 3.5, 400.0):
        assert elo(expected_score(difference)) == pytest.approx(difference, abs=1e-9)
    assert (elo(0), elo(1)) == (-inf, inf)
    with pytest.raises(ResultsError, match="between 0 and 1, not at 1.2"):
        elo(1.2)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_the_other_agent_sees_everything_mirrored(wins: int, draws: int, losses: int) -> None:
    if wins + draws + losses == 0:
        return
    one, other = estimate((losses, draws, wins)), estimate((wins, draws, losses))
    assert one.score + other.score == pytest.approx(1)
    assert one.elo == pytest.approx(-other.elo, abs=1e-8)
    if one.elo_low is not None and other.elo_high is not None:
        assert one.elo_low == pytest.approx(-other.elo_high, abs=1e-6)
        assert one.elo_low <= one.elo
    assert los(wins, losses) + los(losses, wins) == pytest.approx(1)
    assert los_exact(wins, losses) + los_exact(losses, wins) == pytest.approx(1)


# ── Coverage of the intervals ────────────────────────────────────────────────────────────────────────


def covers(found: Estimate, score: float) -> bool:
    return found.score_low is not None and found.score_high is not None and found.score_low <= score <= found.score_high


def exact_coverage(games: int, win: float, draw: float, loss: float) -> float:
    """Return how often the interval contains the true score, summed over all possible results."""
    truth, total = win + draw / 2, 0.0
    for wins in range(games + 1):
        for draws in range(games - wins + 1 if draw else 1):
            losses = games - wins - draws
            if covers(estimate((losses, draws, wins)), truth):
                ways = math.comb(games, wins) * math.comb(games - wins, draws)
                # In logarithms: the ways are too many for a float, and the powers too small.
                logs = wins * math.log(win) + losses * math.log(loss) + (draws * math.log(draw) if draws else 0)
                total += math.exp(math.log(ways) + logs)
    return total


@pytest.mark.parametrize(("games", "chances", "shown"), [
    (20, (0.85, 0.10, 0.05), 0.903), (100, (0.95, 0, 0.05), 0.877), (400, (0.99, 0, 0.01), 0.907),
])  # fmt: skip
def test_statistics_5_1_coverage_at_the_edges(games: int, chances: tuple[float, float, float], shown: float) -> None:
    assert exact_coverage(games, *chances) == pytest.approx(shown, abs=0.0006)


BALANCED = [(0.5, 0.0, 0.5), (0.3, 0.4, 0.3), (0.05, 0.9, 0.05), (0.5, 0.2, 0.3), (0.7, 0.1, 0.2), (0.15, 0.3, 0.55)]


@pytest.mark.parametrize("games", [100, 400])
@pytest.mark.parametrize("chances", BALANCED, ids=str)
def test_the_interval_covers_within_two_points_of_95_percent_in_balanced_matches(
    chances: tuple[float, float, float], games: int
) -> None:
    win, draw, loss = chances
    played, often = np.unique(
        np.random.default_rng(7).multinomial(games, (loss, draw, win), 20_000), axis=0, return_counts=True
    )
    good = [covers(estimate([int(count) for count in row]), win + draw / 2) for row in played]
    assert np.average(good, weights=often) == pytest.approx(0.95, abs=0.02)


def test_the_interval_of_pairs_covers_where_setups_decide_and_that_of_games_is_far_too_wide() -> None:
    """In three of four pairs the setups decide both games, so that each agent wins one."""
    rng = np.random.default_rng(8)
    chances = np.array([0.05, 0.03, 0.75, 0.07, 0.10])
    truth = float(chances @ np.array([0, 0.25, 0.5, 0.75, 1]))
    played, often = np.unique(rng.multinomial(150, chances, 20_000), axis=0, return_counts=True)
    by_pairs, by_games = [], []
    for row in played:
        ll, ld, even, wd, ww = (int(count) for count in row)
        by_pairs.append(covers(estimate((ll, ld, even, wd, ww)), truth))
        by_games.append(covers(estimate((2 * ll + ld + even, ld + wd, 2 * ww + wd + even)), truth))
    assert np.average(by_pairs, weights=often) == pytest.approx(0.95, abs=0.02)
    assert np.average(by_games, weights=often) > 0.99


def test_clopper_pearson_covers_at_least_as_often_as_it_says_even_at_the_edges() -> None:
    for trials, p in ((20, 0.95), (100, 0.95), (100, 0.5), (400, 0.99)):
        total = 0.0
        for k in range(trials + 1):
            low, high = clopper_pearson(k, trials)
            if low <= p <= high:
                total += math.comb(trials, k) * p**k * (1 - p) ** (trials - k)
        assert 0.95 <= total < 0.985, (trials, p)


def test_clopper_pearson_ends_are_where_the_tails_have_two_and_a_half_percent() -> None:
    low, high = clopper_pearson(7, 20)
    assert sum(math.comb(20, k) * low**k * (1 - low) ** (20 - k) for k in range(7, 21)) == pytest.approx(0.025)
    assert sum(math.comb(20, k) * high**k * (1 - high) ** (20 - k) for k in range(8)) == pytest.approx(0.025)
    with pytest.raises(ResultsError, match="21 of 20 is no share"):
        clopper_pearson(21, 20)


# ── Pairs and the summary ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("pairs", "shown"), [
    ((5, 20, 50, 35, 15), (48.96256, 18.17969, 80.530677)),
    ((12, 140, 300, 160, 28), (14.122343, 2.7569998, 25.517985)),
])  # fmt: skip
def test_statistics_5_2_elo_from_pairs(pairs: tuple[int, ...], shown: tuple[float, float, float]) -> None:
    found = estimate(pairs)
    assert found.elo == close(shown[0], 7)
    assert found.elo_low == close(shown[1], 7)
    assert found.elo_high == close(shown[2], 8)


def test_the_summary_of_a_match_takes_elo_from_pairs_and_leaves_the_last_game_out() -> None:
    pairs = ["LL"] * 5 + ["LD"] * 20 + ["WL"] * 30 + ["DD"] * 20 + ["WD"] * 35 + ["WW"] * 15
    table = summary(match("".join(pairs) + "L", plies=50, seconds=2))
    assert table["pairs"] == [5, 20, 50, 35, 15]
    assert (table["elo"], table["elo_low"]) == (close(48.96256, 7), close(18.17969, 7))
    assert (table["wins"], table["draws"], table["losses"], table["games"]) == (95, 95, 61, 251)
    assert table["score"] == pytest.approx(142.5 / 251)
    assert table["los"] == los(95, 61)
    assert (table["mean_plies"], table["seconds"]) == (50, 502)
    assert table["note"] == "1 unpaired game left out of Elo (score) and its interval"


@pytest.mark.parametrize(("letters", "nulls", "note"), [
    ("WW" * 10, {"elo", "elo_high"}, "every pair won"),
    ("LL" * 10, {"elo", "elo_low"}, "every pair lost"),
    ("DD" * 10, {"elo_low", "elo_high", "score_low", "score_high"}, "all draws, no interval"),
    ("WL" * 10, {"elo_low", "elo_high", "score_low", "score_high"}, "every pair brought the same, no interval"),
    ("WWWL", {"elo_high"}, "clipped at 1: the upper end is infinite"),
    ("W", {"elo", "elo_high"}, "no complete pair"),
    ("D", {"elo_low", "elo_high", "score_low", "score_high"}, "all draws, no interval"),
])  # fmt: skip
def test_json_has_null_and_a_note_where_a_figure_is_infinite_or_missing(
    letters: str, nulls: set[str], note: str
) -> None:
    table = json.loads(json.dumps(summary(match(letters)), allow_nan=False))
    assert {key for key, value in table.items() if value is None} == nulls
    assert note in table["note"]


def test_a_lopsided_match_has_an_exact_bound_of_the_share_won_or_drawn() -> None:
    table = summary(match("W" * 15 + "D" * 4 + "L"))
    assert (table["not_lost_low"], table["not_lost_high"]) == clopper_pearson(19, 20)
    assert table["not_lost_low"] == close(0.7512672, 7)


# ── Betting and the sign test ────────────────────────────────────────────────────────────────────────

WEALTH = {
    "W": (4, 3), "L": (2, 3), "D": (1, 1), "WW": (20, 9), "WL": (4, 9), "LW": (7, 9), "LL": (5, 9),
    "WWL": (40, 81), "WLW": (40, 81), "LWW": (70, 81), "WWLDW": (160, 243), "WDWDW": (320, 81),
    "WWWLLL": (1792, 6561), "LLLWWW": (3952, 6561), "WLWLWLWL": (14080, 59049),
    "W" * 10: (1660392448, 4782969), "L" * 10: (1621477, 4782969), "W" * 15: (101883724169216, 10460353203),
    "W" * 15 + "L": (12735465521152, 31381059609), "L" + "W" * 15: (22287064662016, 31381059609),
}  # fmt: skip


def bets(letters: str) -> list[int]:
    return ["LDW".index(letter) - 1 for letter in letters]


@pytest.mark.parametrize("letters", WEALTH)
def test_statistics_5_4_golden_wealth(letters: str) -> None:
    exact = Fraction(*WEALTH[letters])
    assert exact_betting.wealth(bets(letters)) == exact
    ratio = exact / exact_betting.comparator(bets(letters))
    assert exact_betting.wealth_ratio(bets(letters)) == ratio
    assert betting.log10_wealth_ratio(bets(letters)) == pytest.approx(math.log10(ratio), abs=1e-12)


def test_statistics_5_4_step_by_step() -> None:
    wealth = [exact_betting.wealth(bets("WWLDW"[:played])) for played in range(1, 6)]
    assert wealth == [Fraction(4, 3), Fraction(20, 9), Fraction(40, 81), Fraction(40, 81), Fraction(160, 243)]


def test_statistics_5_4_comparator() -> None:
    assert exact_betting.comparator(bets("WWWLLLLL")) == Fraction(84375, 65536)
    assert exact_betting.comparator(bets("L")) == 2
    assert exact_betting.comparator(bets("LL")) == 4
    assert exact_betting.wealth_ratio(bets("L")) == Fraction(1, 3)
    assert exact_betting.wealth_ratio(bets("LL")) == Fraction(5, 36)
    assert exact_betting.comparator(bets("L" * 10)) == 1024
    assert float(exact_betting.wealth_ratio(bets("L" * 10))) == close(0.000331065, 6)
    assert all(exact_betting.comparator(bets(letters)) == 1 for letters in ("W", "WL", "LW", "D", "WWL", ""))


def test_statistics_5_4_the_published_series_of_15_wins_4_draws_1_loss() -> None:
    for place in range(16):
        decided = "W" * place + "L" + "W" * (15 - place)
        played = bets("DD" + decided[:8] + "DD" + decided[8:])
        assert 10 ** betting.log10_wealth_ratio(played) == close(405.832871 if place else 710.207525, 9)
        assert float(exact_betting.wealth_ratio(played, inclusive=True)) == close(
            2244.017052 if place else 1402.510658, 10
        )


def test_the_first_bet_is_two_thirds_and_never_less_than_half() -> None:
    assert exact_betting.share_on_win(0, 0) == Fraction(2, 3)
    assert all(exact_betting.share_on_win(wins, losses) > Fraction(1, 2) for wins in range(9) for losses in range(9))


def test_the_logarithm_is_that_of_the_exact_wealth_in_every_order_of_six_games() -> None:
    for code in range(3**6):
        outcomes = [code // 3**game % 3 - 1 for game in range(6)]
        exact = math.log10(exact_betting.wealth_ratio(outcomes))
        assert betting.log10_wealth_ratio(outcomes) == pytest.approx(exact, abs=1e-12), outcomes


def test_between_equals_the_bettor_does_not_gain_on_average() -> None:
    """Every order of six fair games together: a bet is fair if their mean wealth is 1; a look ahead is not."""
    orders = [[1 if code >> game & 1 else -1 for game in range(6)] for code in range(64)]
    assert sum(exact_betting.wealth(order) for order in orders) == 64
    assert sum(exact_betting.wealth(order, inclusive=True) for order in orders) > 64


def test_a_long_match_does_not_overflow() -> None:
    assert betting.log10_wealth_ratio([1] * 20_000) > 5_000
    assert betting.log10_wealth_ratio([-1] * 2_000) < -600


def test_statistics_5_4_sign_test() -> None:
    assert sign_test(15, 1) == (0.0002593994140625, 0.000518798828125)
    assert sign_test(38, 2)[0] == close(7.466951e-10, 7)
    assert sign_test(38, 2)[0] == 821 / 2**40
    assert sign_test(9, 1)[0] == 0.0107421875
    assert sign_test(0, 0) == (1, 1)
    assert sign_test(5, 5)[1] == 1
    assert sign_test(1, 15)[1] == sign_test(15, 1)[1]
