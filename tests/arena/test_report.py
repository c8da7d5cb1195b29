"""The report of matches: the figures in its JSON, the tables on a terminal, the page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from test_statistics import match

from vauban.arena.ratings import rate
from vauban.arena.report import p_value_text, report_json, report_text, scale_text, short_names
from vauban.arena.report_html import report_html
from vauban.arena.results import GameResult, ResultsError
from vauban.arena.sprt import Hypotheses
from vauban.arena.statistics import los, los_exact, sign_test, summary
from vauban.errors import ConfigurationError

A_B = match("WWWDLWWDWW" * 12, agents=("A", "B"), plies=50)
B_C = match("WDWLWWLWDW" * 10, agents=("B", "C"), plies=81, seconds=0.5)
A_C = match("WWWWWWWWWL" * 10 + "D", agents=("A", "C"), plies=333)
THREE = [A_B, B_C, A_C]


def ladder(size: int, games: int = 20) -> list[list[GameResult]]:
    """Return a round robin of agents with long names, the stronger first."""
    rng = np.random.default_rng(4)
    names = [f"external:./bots/agent-{number} --level {number}" for number in range(size)]
    return [
        match(
            "".join(rng.choice(list("WDL"), games, p=(0.6, 0.1, 0.3))),
            agents=(names[i], names[j]),
            plies=10 * i + j + 1,
        )
        for i in range(size)
        for j in range(i + 1, size)
    ]


def text_of(report: dict[str, Any], width: int = 100) -> str:
    console = Console(width=width, file=StringIO(), force_terminal=False)
    console.print(report_text(report))
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


# ── Data ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_match_is_reported_with_its_summary() -> None:
    [row] = report_json([A_B])["matches"]
    assert row["agents"] == ["A", "B"]
    assert {key: row[key] for key in summary(A_B)} == summary(A_B)
    assert row["verdict"] == "A is stronger: the 95 % interval excludes 0 Elo (score)"
    assert row["ends"] == {"flag": 96, "total_limit": 24}
    assert (row["sign_test_one_sided"], row["sign_test_two_sided"]) == sign_test(84, 12)
    assert row["los_exact"] == los_exact(84, 12)


@pytest.mark.parametrize(
    ("letters", "stronger", "words"),
    [
        ("W" * 10, 0, "A is stronger: p = 0.0020 (sign test)"),
        ("L" * 10, 1, "B is stronger: p = 0.0020 (sign test)"),
        ("WWWW", None, "not settled: p = 0.1250 (sign test)"),
        ("D" * 10, None, "not settled"),
        ("WWLL" * 30, None, "not settled: the 95 % interval contains 0 Elo (score)"),
        ("WWWLWL" * 40, 0, "A is stronger: the 95 % interval excludes 0 Elo (score)"),
    ],
)
def test_the_words_about_who_is_stronger_agree_with_the_figures(letters: str, stronger: int | None, words: str) -> None:
    [row] = report_json([match(letters, agents=("A", "B"))])["matches"]
    assert (row["stronger"], row["verdict"]) == (stronger, words)
    if row["wins"] + row["losses"] and len(letters) < 100:
        assert (stronger is not None) == (row["sign_test_two_sided"] < 0.05)


def test_where_interval_and_sign_test_differ_both_are_named() -> None:
    """Pairs that cancel out make the interval narrow, and leave many decided games to the sign test."""
    [row] = report_json([match("WL" * 90 + "WW" * 5, agents=("A", "B"))])["matches"]
    assert row["sign_test_two_sided"] > 0.05
    assert row["verdict"].startswith("A is stronger: the 95 % interval excludes 0 Elo (score), though p = 0.")


def test_a_single_match_is_one_table_and_a_sentence_before_anything_else() -> None:
    lines = text_of(report_json([match("WWWL", agents=("A", "B"))])).splitlines()
    assert lines[0] == "Match" and "3–0–1" in "".join(lines[:6])
    first_after = next(line for line in lines[6:] if line.strip())
    assert first_after == "not settled: p = 0.6250 (sign test)."


def test_programs_are_called_by_their_files_in_tables() -> None:
    one, other = "bot:python3 -u /home/somebody/bots/striker.py --level 3", "bot:java -jar bots/Demon.jar -l5 -t"
    assert list(short_names([one, other, "fox"]).values()) == [
        "bot:striker.py --level 3",
        "bot:Demon.jar -l5 -t",
        "fox",
    ]
    text = text_of(report_json([match("WWWL", agents=(one, other))]))
    assert "bot:striker.py --level 3 is bot:python3 -u /home" in " ".join(text.split())
    assert text.index("Demon.jar") < text.index("bots/Demon.jar")
    twins = ["bot:python3 /first/striker.py", "bot:python3 /other/striker.py"]
    assert list(short_names(twins).values()) == twins


def test_the_matrices_are_those_of_the_matches_with_the_strongest_agent_first() -> None:
    report = report_json(THREE)
    assert report["agents"] == ["A", "B", "C"]
    assert report["wins"] == [[0, 84, 90], [12, 0, 60], [10, 20, 0]]
    assert report["draws"] == [[0, 24, 1], [24, 0, 20], [1, 20, 0]]
    assert report["scores"][0] == [None, pytest.approx(96 / 120), pytest.approx(90.5 / 101)]
    assert report["scores"][1][0] == pytest.approx(24 / 120)
    assert report["los"][1][2] == los(60, 20)
    assert report["los"][2][1] == los(20, 60)
    assert (report["games"], report["seconds"]) == (321, 120 * 1.5 + 100 * 0.5 + 101 * 1.5)


def test_the_ratings_are_those_of_all_games() -> None:
    report = report_json(THREE)
    [table] = report["ratings"]
    [fitted] = rate("ABC", report["wins"], report["draws"])
    assert [row["rating"] for row in table["agents"]] == pytest.approx(list(fitted.ratings))
    assert [row["error"] for row in table["agents"]] == pytest.approx(list(fitted.errors))
    assert (table["agents"][0]["low"], table["agents"][0]["high"]) == pytest.approx(fitted.interval(0))
    assert (table["model"], table["anchor"], table["prior"]) == ("Davidson", None, False)
    assert table["agents"][0]["games"] == 221
    [anchored] = report_json(THREE, anchor=("C", 1000))["ratings"]
    assert anchored["agents"][2] == {**anchored["agents"][2], "agent": "C", "rating": 1000, "error": 0}
    with pytest.raises(ConfigurationError, match="no agent 'D' to anchor"):
        report_json(THREE, anchor=("D", 0))


def test_two_matches_of_the_same_agents_are_taken_together_in_either_order_of_names() -> None:
    """B–A played as B's match: B's gains there are A's losses."""
    back = match("WLLDL", agents=("B", "A"))
    [row] = report_json([match("WWD", agents=("A", "B")), back])["matches"]
    assert row["agents"] == ["A", "B"]
    assert (row["wins"], row["draws"], row["losses"]) == (2 + 3, 1 + 1, 1)
    assert row["pairs"] == [0, 0, 1, 1, 1]  # WW, and WL and LD seen from the other side; the two odd games left out
    assert "2 unpaired games" in row["note"]


def test_an_agent_against_itself_appears_twice() -> None:
    report = report_json([match("WWDL", agents=("A", "A"))])
    assert sorted(report["agents"]) == ["A", "A #2"]
    assert report["matches"][0]["agents"] == ["A", "A #2"]
    assert report["matches"][0]["pairs"] == [0, 1, 0, 0, 1]


def test_the_red_side_has_its_score() -> None:
    red = [
        GameResult(n, ("A", "B") if n % 2 == 0 else ("B", "A"), 0 if n < 3 else None, "flag", 7, 1) for n in range(4)
    ]
    assert report_json([red])["first_score"] == 3.5 / 4


def test_the_order_of_finishing_changes_nothing() -> None:
    straight = report_json(THREE, hypotheses=Hypotheses(0, 30))
    assert report_json([results[::-1] for results in THREE], hypotheses=Hypotheses(0, 30)) == straight


def test_bettors_on_both_agents_are_reported_even_where_their_wealth_is_beyond_numbers() -> None:
    [row] = report_json([match("WWLDW")])["matches"]
    assert row["wealth_ratios"][0] == pytest.approx(160 / 243)
    [row] = report_json([match("W" * 1500)])["matches"]
    assert row["wealth_ratios"] == [None, None]
    assert row["log10_wealth_ratios"][0] > 400 > -400 > row["log10_wealth_ratios"][1]


def test_a_sequential_test_is_reported_where_it_is_asked_for() -> None:
    assert "sprt" not in report_json([A_B])["matches"][0]
    [row] = report_json([A_B], hypotheses=Hypotheses(0, 50))["matches"]
    assert row["sprt"]["decision"] == "H1"
    assert row["sprt"]["model"] == "pentanomial"


def test_the_histogram_holds_every_game_once() -> None:
    plies = [3, 3, 4, 97, 150, 151, 512, 2000]
    results = [
        GameResult(n, ("A", "B") if n % 2 == 0 else ("B", "A"), 0, "flag", length, 1) for n, length in enumerate(plies)
    ]
    table = report_json([results])["plies"]
    bins = table["histogram"]
    for number, count in enumerate(bins["counts"]):
        low = bins["start"] + number * bins["width"]
        assert count == sum(low <= length < low + bins["width"] for length in plies)
    assert sum(bins["counts"]) == len(plies)
    assert len(bins["counts"]) <= 31
    assert (table["least"], table["median"], table["most"]) == (3, (97 + 150) / 2, 2000)
    assert table["mean"] == pytest.approx(sum(plies) / len(plies))


def test_a_circle_of_three_is_named() -> None:
    won = "WWWWD" * 20
    for names in ("ABC", "CAB", "ACB"):
        a, b, c = names
        report = report_json([match(won, agents=(a, b)), match(won, agents=(b, c)), match(won, agents=(c, a))])
        [cycle] = report["cycles"]
        assert sorted(cycle) == ["A", "B", "C"]
        start = cycle.index(a)
        assert cycle[start:] + cycle[:start] == [a, b, c]
        assert "Cycle: " in text_of(report)
    assert report_json(THREE)["cycles"] == []


def test_forfeits_are_gathered_under_the_agents_that_lost_by_them() -> None:
    late = "no move within 5.0 s"
    results = [
        GameResult(0, ("A", "B"), 0, "forfeit", 7, 1, late),
        GameResult(1, ("B", "A"), 1, "forfeit", 9, 1, late),
        GameResult(2, ("A", "B"), 1, "flag", 90, 1),
    ]
    report = report_json([results])
    assert report["notes"] == [{"agent": "B", "end": "forfeit", "note": late, "games": 2}]
    assert f"2 × forfeit of B: {late}" in text_of(report)


def test_nothing_in_the_report_is_infinite_or_unknown_to_json() -> None:
    for letters in ("W", "L", "D", "WW", "LL", "DD", "WL", "WWWL", "W" * 1500):
        report = report_json([match(letters)], hypotheses=Hypotheses(0, 5))
        assert json.loads(json.dumps(report, allow_nan=False)) == report
        assert report_html(report)
        assert text_of(report)


def test_no_matches_have_no_report() -> None:
    with pytest.raises(ResultsError, match="there is no match to report on"):
        report_json([[]])


# ── Terminal ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_terminal_says_which_elo_is_meant() -> None:
    text = text_of(report_json(THREE, anchor=("C", 0), hypotheses=Hypotheses(0, 30)))
    assert "Elo (score)" in text
    assert "rating (Davidson)" in text
    assert "C set to 0" in text
    assert "84–24–12" in text
    assert "SPRT (pentanomial): H0 0, H1 30 Elo (score), α = 0.05, β = 0.05" in text
    for line in text.splitlines():
        assert line.count("Elo") == line.count("Elo (score)"), line


def test_infinite_ends_are_printed_as_such() -> None:
    won = text_of(report_json([match("W" * 20)]))
    assert re.search(r"20–0–0 +100\.0% +\+inf +\+140\.2 … \+inf", won)
    assert "every pair won" in won
    lost = text_of(report_json([match("L" * 20)]))
    assert re.search(r"0–0–20 +0\.0% +-inf +-inf … -140\.2", lost)
    drawn = text_of(report_json([match("D" * 20)]))
    assert re.search(r"0–20–0 +50\.0% +\+0\.0 +no interval", drawn)
    assert "all draws, no interval" in drawn


def test_groups_that_never_met_are_told_apart() -> None:
    text = text_of(report_json([A_B, match("WWLD", agents=("C", "D"))]))
    assert "Group 1, not comparable with the others" in text
    assert "Group 2, not comparable with the others" in text


def test_a_large_tournament_is_readable_at_100_columns() -> None:
    report = report_json(ladder(9), hypotheses=Hypotheses(0, 30))
    text = text_of(report)
    assert max(map(len, text.splitlines())) <= 100
    assert "…" not in re.sub(r" … ", " ", text), "something was cut off"
    for row in report["matches"]:
        assert f" {row['wins']}–{row['draws']}–{row['losses']} " in text


def test_at_80_columns_no_heading_and_no_short_name_is_broken() -> None:
    names = ("charger", "alphabeta", "thermal", "mcts-louvain")
    games = [match("WWWDLWWDWW" * 12, agents=pair) for pair in pairwise(names)]
    text = text_of(report_json([*games, match("W" * 300, agents=("fox", "mcts:time=0.02,resample=4"))]), 80)
    assert max(map(len, text.splitlines())) <= 80
    for table in re.split(r"\n(?=[A-Z])", text)[:2]:
        assert re.search(r"^ first +second +", table, re.MULTILINE)
        for pair in pairwise(names):
            assert re.search(rf"^ {pair[0]} +{pair[1]} ", table, re.MULTILINE), table


@pytest.mark.parametrize(
    ("value", "text"), [(9.96e-5, "1.0e-4"), (9.94e-5, "9.9e-5"), (2.14e-7, "2.1e-7"), (0.02, "0.0200")]
)
def test_a_mantissa_is_never_ten(value: float, text: str) -> None:
    assert p_value_text(value) == text


def test_the_prior_is_named_as_it_is_added() -> None:
    [table] = report_json([match("W" * 20)])["ratings"]
    wins = np.array([[0, 20.5], [0.5, 0]])
    [same] = rate(["A", "B"], wins, np.zeros((2, 2)), prior=False)
    assert [row["rating"] for row in table["agents"]] == pytest.approx(same.ratings)
    assert "with a prior of half a win for each side for every two who met" in scale_text(table)


def test_names_are_printed_as_they_are() -> None:
    assert "[bold]x[/]" in text_of(report_json([match("WL", agents=("[bold]x[/]", "B"))]))


# ── Page ─────────────────────────────────────────────────────────────────────────────────────────────


class Page(HTMLParser):
    """Checks that what is opened is closed, and keeps tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    html = report_html(report_json(THREE))
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not {"src", "href", "srcset"} & {name for _, attributes in page.tags for name in attributes}
    assert not re.search(r"https?:|url\(|@import", html)


def test_the_page_has_light_and_dark() -> None:
    html = report_html(report_json([A_B]))
    light, dark = html.split("prefers-color-scheme: dark")
    assert set(re.findall(r"(--\w+):", dark)) == set(re.findall(r"(--\w+):", light))
    assert set(re.findall(r"var\((--\w+)\)", html)) <= set(re.findall(r"(--\w+):", light))


def test_every_drawing_has_a_title_and_a_description() -> None:
    page = Page(report_html(report_json(THREE)))
    drawings = [attributes for tag, attributes in page.tags if tag == "svg"]
    keys = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(drawings) == 5  # ratings, scores, superiority, ends, lengths
    assert len(keys) == len(set(keys))
    for attributes in drawings:
        assert attributes["role"] == "img"
        assert set((attributes["aria-labelledby"] or "").split()) <= set(keys)


def test_the_page_says_which_elo_is_meant_and_shows_the_figures() -> None:
    report = report_json(THREE, anchor=("C", 0), hypotheses=Hypotheses(0, 30))
    page = Page(report_html(report, "Spring & summer"))
    text = "\n".join(page.text)
    assert "Spring & summer" in text
    for wanted in ("Elo (score)", "rating (Davidson)", "84–24–12", "H1 accepted", "C set to 0", "total limit"):
        assert wanted in text
    assert f"+{report['ratings'][0]['agents'][0]['rating']:.1f}" in text
    for words in page.text:
        assert words.count("Elo") == words.count("Elo (score)"), words


def test_the_page_says_how_the_games_were_played() -> None:
    page = Page(report_html(report_json([A_B]), "x", {"variant": "barrage", "rules": "a<b", "seed": "7"}))
    assert "variant barrage · rules a<b · seed 7" in "".join(page.text)


def test_one_game_is_not_some_games() -> None:
    assert "7 plies: 1 game<" in report_html(report_json([match("W", plies=7)]))


def test_drawings_stay_inside_their_frames() -> None:
    """Every rectangle, circle and text of every drawing, for few and many agents and for odd results."""
    for matches in ([A_B], THREE, ladder(12, 4), [match("W")], [match("D" * 9, plies=1)], [match("LL" * 40, plies=2)]):
        html = report_html(report_json(matches))
        drawings = re.findall(r'viewBox="0 0 (\d+) (\d+)"[^>]*>(.*?)</svg>', html, re.DOTALL)
        assert drawings
        for width, height, inside in drawings:
            for x, y, w, h in re.findall(r'<rect[^>]*?x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"', inside):
                assert float(x) >= 0 <= float(y)
                assert float(x) + float(w) <= float(width) + 0.5
                assert float(y) + float(h) <= float(height) + 0.5
            for x, y in re.findall(r'<(?:circle|text)[^>]*? c?x="(.*?)" c?y="(.*?)"', inside):
                assert 0 <= float(x) <= float(width) + 0.5
                assert 0 <= float(y) <= float(height)


def test_names_and_notes_cannot_write_into_the_page() -> None:
    evil = '<script>alert("x")</script>'
    results = [GameResult(0, (evil, "B"), 0, evil, 7, 1, evil), GameResult(1, ("B", evil), None, "flag", 7, 1)]
    html = report_html(report_json([results, match("WLD", agents=("B", "C"))]), title=evil)
    assert "<script" not in html
    assert evil in "".join(Page(html).text)
