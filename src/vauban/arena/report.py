"""The report of one match or of a whole tournament: as data (`report_json`) and on a terminal (`report_text`).

The data is the report; the terminal's tables and the page of `vauban.arena.report_html` only show it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vauban.agents.external import prefix_of
from vauban.arena import betting
from vauban.arena.ratings import Ratings, rate
from vauban.arena.results import GameResult, ResultsError, Tally, in_order, match_agents, outcomes, tally
from vauban.arena.sprt import Hypotheses, run_sprt
from vauban.arena.statistics import is_balanced, los, los_exact, sign_test, summary, utility_summary

Report = dict[str, Any]

MOST_BINS = 30
SIGNIFICANT = 0.05
"""A sign test below this settles who is stronger."""
LARGEST_LOG = 300
"""Decimal logarithms beyond this are not written as numbers."""


# ── Data ─────────────────────────────────────────────────────────────────────────────────────────────


def report_json(
    matches: Iterable[Sequence[GameResult]],
    anchor: tuple[str, float] | None = None,
    hypotheses: Hypotheses | None = None,
) -> Report:
    """Return everything that is known of some matches, ready for JSON.

    Each match is the results of its games; matches of the same two agents are taken together. An
    `anchor` (agent, rating) sets one rating; `hypotheses` adds the state of a sequential test to
    every match. An agent that played against itself appears a second time, as "NAME #2".

    Where games are worth more than a win or a loss, as in poker, the report is of mean utilities (`stakes` is true).
    """
    played = _together(matches)
    if not played:
        raise ResultsError("there is no match to report on: at least one game has to be finished")
    if any(result.utility is not None for results in played.values() for result in results):
        return _stakes_json(played)
    names = list(dict.fromkeys(name for pair in played for name in pair))
    wins, draws = np.zeros((len(names), len(names)), int), np.zeros((len(names), len(names)), int)
    for (first, second), results in played.items():
        one, other = names.index(first), names.index(second)
        counted = tally(results)
        wins[one, other], wins[other, one] = counted.wins, counted.losses
        draws[one, other] = draws[other, one] = counted.draws
    tables = rate(names, wins, draws, anchor)
    # The strongest first, everywhere: then the tables read from the top, and cycles stand out in the matrix.
    agents = [table.agents[i] for table in tables for i in np.argsort(-table.ratings, kind="stable")]
    order = [names.index(name) for name in agents]
    wins, draws = wins[np.ix_(order, order)], draws[np.ix_(order, order)]
    games = wins + wins.T + draws
    rows = [_match(pair, results, hypotheses) for pair, results in played.items()]
    everything = [result for results in played.values() for result in results]
    winners = Counter(result.winner for result in everything)
    return {
        "stakes": False,
        "agents": agents,
        "games": len(everything),
        "seconds": sum(result.seconds for result in everything),
        "first_score": Tally(winners[0], winners[None], winners[1]).score,
        "matches": rows,
        "wins": wins.tolist(),
        "draws": draws.tolist(),
        "scores": _where(games, lambda i, j: (wins[i, j] + draws[i, j] / 2) / games[i, j]),
        "los": _where(games, lambda i, j: los(int(wins[i, j]), int(wins[j, i]))),
        "ratings": [_table(table, agents, wins, draws) for table in tables],
        "cycles": _cycles(rows),
        "ends": _ends(everything),
        "plies": _plies(everything),
        "notes": _notes(everything),
    }


def _stakes_json(played: dict[tuple[str, str], list[GameResult]]) -> Report:
    """Return the report of games with stakes: mean utilities in place of scores and ratings."""
    rows = [_stakes_match(pair, results) for pair, results in played.items()]
    worth: dict[str, list[float]] = {}
    for pair, results in played.items():
        for agent, name in enumerate(pair):
            worth.setdefault(name, []).extend(result.worth(agent) for result in results)
    means = {name: sum(values) / len(values) for name, values in worth.items()}
    agents = sorted(means, key=lambda name: -means[name])
    everything = [result for results in played.values() for result in results]
    return {
        "stakes": True,
        "agents": agents,
        "games": len(everything),
        "seconds": sum(result.seconds for result in everything),
        "first_utility": sum(result.utility or 0.0 for result in everything) / len(everything),
        "matches": rows,
        "standings": [{"agent": name, "games": len(worth[name]), "utility": means[name]} for name in agents],
        "ends": _ends(everything),
        "plies": _plies(everything),
        "notes": _notes(everything),
    }


def _stakes_match(pair: tuple[str, str], results: list[GameResult]) -> Report:
    row: Report = {"agents": list(pair), **utility_summary(results), "ends": _ends(results), "plies": _plies(results)}
    return row | {"verdict": _stakes_verdict(row)}


def _stakes_verdict(row: Report) -> str:
    low, high = row["utility_low"], row["utility_high"]
    if low is None or low <= 0 <= high:
        return "not settled" + ("" if low is None else ": the 95 % interval contains 0")
    return f"{row['agents'][0 if low > 0 else 1]} wins more: the 95 % interval excludes 0"


def _together(matches: Iterable[Sequence[GameResult]]) -> dict[tuple[str, str], list[GameResult]]:
    """Return the games of every two agents as one match, by the first and the second agent."""
    played: dict[tuple[str, str], list[GameResult]] = {}
    for match in matches:
        if not match:
            continue
        results = in_order(match)
        first, second = match_agents(results)
        if first == second:
            second = f"{first} #2"
            sides = ((first, second), (second, first))
            results = [replace(result, agents=sides[result.number % 2]) for result in results]
        swapped = (second, first) in played
        known = played.setdefault((second, first) if swapped else (first, second), [])
        start = 2 * (known[-1].pair + 1) if known else 0
        # In a match the other way round the games of a pair change places, so that the first is red in even games.
        known += in_order(replace(result, number=start + (result.number ^ swapped)) for result in results)
    return played


def _where(games: NDArray[np.int64], value: Callable[[int, int], float]) -> list[list[float | None]]:
    size = range(len(games))
    return [[float(value(i, j)) if games[i, j] else None for j in size] for i in size]


def _match(pair: tuple[str, str], results: list[GameResult], hypotheses: Hypotheses | None) -> Report:
    counted = tally(results)
    row: Report = {"agents": list(pair), **summary(results)}
    row["los_exact"] = los_exact(counted.wins, counted.losses)
    row["sign_test_one_sided"], row["sign_test_two_sided"] = sign_test(counted.wins, counted.losses)
    row["stronger"] = _stronger(row)
    row["verdict"] = _verdict(row)
    logs = [betting.log10_wealth_ratio(outcomes(results, agent)) for agent in (0, 1)]
    row["log10_wealth_ratios"] = logs
    row["wealth_ratios"] = [10**log if abs(log) < LARGEST_LOG else None for log in logs]
    row["ends"] = _ends(results)
    row["plies"] = _plies(results)
    if hypotheses:
        row["sprt"] = run_sprt(results, hypotheses).state()
    return row


def _stronger(row: Report) -> int | None:
    """Return which of the two is surely stronger, the first (0) or the second (1); None if that is not settled.

    The interval decides; in lopsided and short matches, where it covers less than it says, the sign test.
    """
    low, high = row["score_low"], row["score_high"]
    if is_lopsided(row):
        settled = row["sign_test_two_sided"] < SIGNIFICANT
    else:
        settled = low is not None and not low <= 0.5 <= high
    return (0 if row["wins"] > row["losses"] else 1) if settled else None


def _verdict(row: Report) -> str:
    """Say who is stronger, and by which figure; where the other figure would say something else, name it too."""
    sign = f"p = {p_value_text(row['sign_test_two_sided'])} (sign test)"
    settled = row["stronger"] is not None
    said = f"{row['agents'][row['stronger']]} is stronger" if settled else "not settled"
    if is_lopsided(row):
        return f"{said}: {sign}" if settled or row["wins"] != row["losses"] else said
    interval = (
        f"the 95 % interval {'excludes' if settled else 'contains'} 0 Elo (score)"
        if row["score_low"] is not None
        else ""
    )
    agreed = settled == (row["sign_test_two_sided"] < SIGNIFICANT)
    reasons = [reason for reason in (interval, "" if agreed else f"though {sign}") if reason]
    return f"{said}: {', '.join(reasons)}" if reasons else said


def _table(table: Ratings, agents: list[str], wins: NDArray[np.int64], draws: NDArray[np.int64]) -> Report:
    rows = []
    for index in np.argsort(-table.ratings, kind="stable"):
        at = agents.index(table.agents[index])
        low, high = table.interval(int(index))
        own = Tally(int(wins[at].sum()), int(draws[at].sum()), int(wins[:, at].sum()))
        rows.append(
            {
                "agent": table.agents[index],
                "rating": float(table.ratings[index]),
                "error": float(table.errors[index]),
                "low": low,
                "high": high,
                "games": own.games,
                "score": own.score,
            }
        )
    return {
        "model": "Davidson",
        "anchor": table.anchor,
        "prior": table.prior,
        "nu": table.nu,
        "log_likelihood": table.log_likelihood,
        "agents": rows,
    }


def _cycles(rows: list[Report]) -> list[list[str]]:
    """Return three agents each of whom surely beats the next: what no rating can show."""
    beats = set()
    for row in rows:
        first, second = row["agents"]
        if row["stronger"] is not None:
            beats.add((second, first) if row["stronger"] else (first, second))
    names = sorted({name for pair in beats for name in pair})
    return [
        [a, b, c]
        for a, *others in combinations(names, 3)
        for b, c in (others, others[::-1])
        if {(a, b), (b, c), (c, a)} <= beats
    ]


def _ends(results: Iterable[GameResult]) -> dict[str, int]:
    """Count games by their ends, the commonest first."""
    return dict(Counter(result.end for result in results).most_common())


def _plies(results: Sequence[GameResult]) -> Report:
    plies = np.array([result.plies for result in results])
    least, tenth, median, ninety, most = (float(value) for value in np.percentile(plies, (0, 10, 50, 90, 100)))
    width = next(
        width for power in range(9) for width in (10**power, 2 * 10**power, 5 * 10**power)
        if plies.max() // width - plies.min() // width < MOST_BINS
    )  # fmt: skip
    start = int(plies.min()) // width * width
    counts = np.bincount((plies - start) // width)
    return {
        "mean": float(plies.mean()),
        "median": median,
        "least": int(least),
        "most": int(most),
        "tenth": tenth,
        "ninetieth": ninety,
        "histogram": {"start": start, "width": width, "counts": counts.tolist()},
    }


def _notes(results: Iterable[GameResult]) -> list[Report]:
    """Count the notes of games, the commonest first; `agent` is who lost them."""
    found = Counter(
        (None if result.winner is None else result.agents[1 - result.winner], result.end, result.note)
        for result in results
        if result.note
    )
    return [{"agent": a, "end": end, "note": note, "games": n} for (a, end, note), n in found.most_common()]


# ── Words ────────────────────────────────────────────────────────────────────────────────────────────


def elo_text(row: Report) -> tuple[str, str]:
    """Return the Elo (score) of a match and its interval, with what JSON cannot say: infinite, or none."""
    if row["elo"] is None:
        point = "+inf" if row["elo_low"] is not None else "-inf"
    else:
        point = f"{row['elo']:+.1f}"
    if row["score_low"] is None:
        return point, "no interval"
    low = "-inf" if row["elo_low"] is None else f"{row['elo_low']:+.1f}"
    high = "+inf" if row["elo_high"] is None else f"{row['elo_high']:+.1f}"
    return point, f"{low} … {high}"


def tally_text(row: Report) -> str:
    return f"{row['wins']}–{row['draws']}–{row['losses']}"


def chance_text(value: float) -> str:
    """Return a probability, so that it never reads as certain."""
    return "<0.0001" if value < 0.0001 else ">0.9999" if value > 0.9999 else f"{value:.4f}"


def p_value_text(value: float) -> str:
    if value < 1e-300:
        return "<1e-300"
    return f"{value:.4f}" if value >= 0.001 else _power_text(math.log10(value))


def wealth_text(row: Report, agent: int) -> str:
    """Return the wealth ratio of who bets on the first or the second agent."""
    log = row["log10_wealth_ratios"][agent]
    if -3 < log < 5:
        return f"{10**log:.1f}" if log > 1 else f"{10**log:.3f}"
    return _power_text(log)


def _power_text(log: float) -> str:
    """Return a number by its decimal logarithm, however large or small: 2.1e-7."""
    power = math.floor(log)
    mantissa = round(10 ** (log - power), 1)
    if mantissa >= 10:  # 9.96 has been rounded to ten
        mantissa, power = mantissa / 10, power + 1
    return f"{mantissa:.1f}e{power:+d}"


def not_lost_text(row: Report) -> str:
    """Return Clopper–Pearson's interval of the share of games that the first agent won or drew."""
    return f"{100 * row['not_lost_low']:.1f} … {row['not_lost_high']:.1%}"


def is_lopsided(row: Report) -> bool:
    """Return whether the interval of a match covers less than it says, because it is lopsided or short."""
    return not is_balanced(Tally(row["wins"], row["draws"], row["losses"]))


def sprt_text(test: Report) -> str:
    """Say where a sequential test stands."""
    said = {"H0": "H0 accepted", "H1": "H1 accepted", None: "goes on"}[test["decision"]]
    return f"{said}, LLR {test['llr']:.2f} in ({test['lower']:.2f}, {test['upper']:.2f})"


def scale_text(table: Report) -> str:
    """On what a table of ratings stands."""
    ratings = {row["agent"]: row["rating"] for row in table["agents"]}
    zero = f"{table['anchor']} set to {ratings[table['anchor']]:g}" if table["anchor"] else "mean 0"
    prior = "with a prior of half a win for each side for every two who met" if table["prior"] else "no prior"
    return f"{zero}, draw parameter ν = {table['nu']:.3f}, {prior}"


SCALES = (
    "Elo (score) is read off the score of one match; a rating (Davidson) is fitted to all games and models draws. "
    "Where there are draws, differences of ratings are larger. Neither is the rating of any website."
)
LOPSIDED = (
    "† lopsided or short: the interval covers less than 95 %, so the sign test decides; see the exact interval of the "
    "share not lost, too."
)
NOT_LOST = "not lost: the 95 % interval of the share of games that the first won or drew, by Clopper–Pearson."
WEALTH = "KT wealth: the wealth ratio of a bettor on the first, and of one on the second agent."


# ── Terminal ─────────────────────────────────────────────────────────────────────────────────────────

LONG_NAME = 24
"""Characters of an agent's text above which tables call a program by its file."""
MATRIX_COLUMNS = 6
"""Columns of a matrix that fit beside the names."""


def report_text(report: Report) -> Group:
    """Return the report as tables for the terminal, readable at 100 columns: give it to a rich console's `print`."""
    full, report = report, with_short_names(report)
    matches: list[Report] = report["matches"]
    known = _known_as(full, report)
    if report["stakes"]:
        return Group(*_stakes(report), *_ending(report), *_lengths(report), *_noted(report), *known)
    if len(matches) == 1:
        test = _sprt(matches) if "sprt" in matches[0] else []
        return Group(*_scores(matches), *test, *_details(report), *_noted(report), *known)
    parts = [*_scores(matches), *_evidence(matches)]
    if any("sprt" in row for row in matches):
        parts += _sprt(matches)
    for number, table in enumerate(report["ratings"], 1):
        if len(report["ratings"]) > 1:
            parts.append(Text(f"Group {number}, not comparable with the others:"))
        parts += _ratings(table)
    parts += _matrices(report)
    parts += [Text("Cycle: " + " beats ".join([*cycle, cycle[0]]) + ".\n") for cycle in report["cycles"]]
    parts += [*_ending(report), *_lengths(report)]
    parts += [*_noted(report), *known]
    parts.append(Text(SCALES, style="dim"))
    return Group(*parts)


def short_names(agents: Iterable[str]) -> dict[str, str]:
    """Return what agents are called in tables: programs by their files, as far as that tells them apart."""
    names = list(agents)
    short = [_short_name(name) for name in names]
    return {name: each if short.count(each) == 1 else name for name, each in zip(names, short, strict=True)}


def _short_name(name: str) -> str:
    """Return bot:program.py --level 3 for bot:python3 -u /somewhere/program.py --level 3."""
    prefix = prefix_of(name)
    if prefix is None or len(name) <= LONG_NAME:
        return name
    words = name.removeprefix(prefix).split()
    place = next((n for n, word in enumerate(words[1:], 1) if "/" in word or "." in word), 0)
    return prefix + " ".join(Path(word).name if "/" in word else word for word in words[place:])


def with_short_names(report: Report) -> Report:
    """Return the report with short names in place of long ones, for people."""
    short = short_names(report["agents"])

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [renamed(each) for each in value]
        return short.get(value, value) if isinstance(value, str) else value

    found: Report = renamed(report)
    for row in found["matches"]:
        row["verdict"] = _stakes_verdict(row) if report["stakes"] else _verdict(row)
    return found


def _known_as(full: Report, report: Report) -> list[RenderableType]:
    """Say whom short names mean."""
    pairs = zip(report["agents"], full["agents"], strict=True)
    return [Text(f"{short} is {name}", style="dim") for short, name in pairs if short != name]


def _noted(report: Report) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for note in report["notes"]:
        loser = f" of {note['agent']}" if note["agent"] else ""
        parts.append(Text(f"{note['games']} × {note['end']}{loser}: {note['note']}"))
    return parts


def utility_text(row: Report) -> tuple[str, str]:
    """Return the mean utility of a match and its interval."""
    low, high = row["utility_low"], row["utility_high"]
    return f"{row['utility']:+.4f}", "no interval" if low is None else f"{low:+.4f} … {high:+.4f}"


def _stakes(report: Report) -> list[RenderableType]:
    table, parts = _titled("Matches: what a game is worth to the first", ["first", "second"], ["games", "mean", "95 %"])
    said = []
    for row in report["matches"]:
        table.add_row(*_names(row), str(row["games"]), *utility_text(row))
        who = f"{row['agents'][0]} – {row['agents'][1]}: " if len(report["matches"]) > 1 else ""
        said += [Text(f"{who}{line}.") for line in (row["verdict"], row["note"]) if line]
    parts += [*said, Text("")]
    if len(report["agents"]) > 2:
        standings, more = _titled("All games", ["agent"], ["games", "mean"])
        for each in report["standings"]:
            standings.add_row(Text(each["agent"], style="bold"), str(each["games"]), f"{each['utility']:+.4f}")
        parts += more
    return parts


def _titled(title: str, names: Sequence[str], numbers: Sequence[str]) -> tuple[Table, list[RenderableType]]:
    """Return a table of names, which give way if it grows too wide, and behind them numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in names:
        table.add_column(heading, overflow="fold", min_width=len("second"))
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    # The title stands outside, since a table folds its title to its own width.
    return table, [Text(title, style="italic"), table]


def _names(row: Report) -> list[Text]:
    return [Text(name, style="bold") for name in row["agents"]]


def _scores(matches: list[Report]) -> list[RenderableType]:
    titled = "Match" if len(matches) == 1 else "Matches"
    table, parts = _titled(titled, ["first", "second"], ["won–drawn\n–lost", "score", "Elo (score)", "95 %"])
    said = []
    for row in matches:
        mark = "†" if is_lopsided(row) else " "
        point, interval = elo_text(row)
        table.add_row(*_names(row), tally_text(row), f"{row['score']:.1%}", point, interval + mark)
        who = f"{row['agents'][0]} – {row['agents'][1]}: " if len(matches) > 1 else ""
        if len(matches) == 1:
            said.append(Text(f"{row['verdict']}.", style="bold"))
        if row["note"]:
            said.append(Text(f"{who}{row['note']}."))
    if any(map(is_lopsided, matches)):
        said.append(Text(LOPSIDED, style="dim"))
    return [*parts, *said, Text()] if said else parts


def _details(report: Report) -> list[RenderableType]:
    """Return the other figures of a single match, a line for each."""
    [row] = report["matches"]
    plies = row["plies"]
    lines = {
        "likelihood of superiority": chance_text(row["los"]),
        "sign test, two-sided p": p_value_text(row["sign_test_two_sided"]),
        "KT wealth, betting on each": f"{wealth_text(row, 0)}, {wealth_text(row, 1)}",
        "won or drawn by the first, exact 95 %": not_lost_text(row),
        "ends": ", ".join(f"{count} {end.replace('_', ' ')}" for end, count in row["ends"].items()),
        "plies of a game": f"{plies['mean']:.1f} on average, {plies['least']} … {plies['most']}",
        "seconds of a game": f"{row['seconds'] / row['games']:.3g}",
    }
    table = Table.grid(padding=(0, 2))
    for name, value in lines.items():
        table.add_row(Text(name, style="dim"), value)
    return [table, Text()]


def _evidence(matches: list[Report]) -> list[RenderableType]:
    columns = ["LOS", "sign\ntest p", "KT\nwealth", "", "not lost,\n95 %"]
    table, parts = _titled("Who is stronger", ["first", "second"], columns)
    for row in matches:
        sign = p_value_text(row["sign_test_two_sided"])
        wealth = wealth_text(row, 0), wealth_text(row, 1)
        table.add_row(*_names(row), chance_text(row["los"]), sign, *wealth, not_lost_text(row))
    return [*parts, Text(f"{WEALTH}\n{NOT_LOST}\n", style="dim")]


def _sprt(matches: list[Report]) -> list[RenderableType]:
    first = matches[0]["sprt"]
    title = (
        f"SPRT ({first['model']}): H0 {first['elo0']:g}, H1 {first['elo1']:g} Elo (score), "
        f"α = {first['alpha']:g}, β = {first['beta']:g}"
    )
    table, parts = _titled(title, ["first", "second"], ["pairs", "state"])
    for row in matches:
        table.add_row(*_names(row), str(sum(row["sprt"]["counts"])), sprt_text(row["sprt"]))
    return parts


def _ratings(ratings: Report) -> list[RenderableType]:
    table, parts = _titled(
        f"Rating (Davidson): {scale_text(ratings)}", ["agent"], ["rating (Davidson)", "95 %", "games", "score"]
    )
    for row in ratings["agents"]:
        interval = "set" if row["agent"] == ratings["anchor"] else f"{row['low']:+.1f} … {row['high']:+.1f}"
        figures = f"{row['rating']:+.1f}", interval, str(row["games"]), f"{row['score']:.1%}"
        table.add_row(Text(row["agent"], style="bold"), *figures)
    return parts


def _matrices(report: Report) -> list[RenderableType]:
    """Return tables of wins–draws–losses and the likelihood of superiority, for groups in which more than two met."""
    wins, draws, superior = report["wins"], report["draws"], report["los"]
    parts: list[RenderableType] = []
    for group in report["ratings"]:
        rows = [report["agents"].index(row["agent"]) for row in group["agents"]]
        if len(rows) > 2:
            parts += _matrix(
                report,
                rows,
                "Won–drawn–lost, row against column",
                lambda i, j: f"{wins[i][j]}–{draws[i][j]}–{wins[j][i]}",
            )
            parts += _matrix(
                report, rows, "Likelihood that the row is superior", lambda i, j: chance_text(superior[i][j])
            )
    return parts


def _matrix(report: Report, rows: list[int], title: str, cell: Callable[[int, int], str]) -> list[RenderableType]:
    """Return a matrix, its columns named by the numbers of the rows, in as many tables as the width asks for."""
    parts: list[RenderableType] = []
    for start in range(0, len(rows), MATRIX_COLUMNS):
        columns = rows[start : start + MATRIX_COLUMNS]
        table, block = _titled(title, ["agent"], [str(column + 1) for column in columns])
        for i in rows:
            cells = [Text("·", style="dim") if report["scores"][i][j] is None else Text(cell(i, j)) for j in columns]
            table.add_row(Text(f"{i + 1} {report['agents'][i]}"), *cells)
        parts += block
    return parts


def _ending(report: Report) -> list[RenderableType]:
    headings = [end.replace("_", "\n") for end in report["ends"]]
    table, parts = _titled("How games ended", ["first", "second"], headings)
    for row in report["matches"]:
        table.add_row(*_names(row), *(str(row["ends"].get(end, 0)) for end in report["ends"]))
    table.add_section()
    table.add_row("in all", "", *(str(count) for count in report["ends"].values()))
    table.add_row("", "", *(f"{count / report['games']:.1%}" for count in report["ends"].values()))
    return parts


def _lengths(report: Report) -> list[RenderableType]:
    table, parts = _titled(
        "Plies and seconds of a game",
        ["first", "second"],
        ["mean", "median", "10 %\n… 90 %", "least\n… most", "seconds"],
    )
    rows = [(_names(row), row["plies"], row["seconds"] / row["games"]) for row in report["matches"]]
    if len(rows) > 1:
        rows.append(([Text("in all"), Text()], report["plies"], report["seconds"] / report["games"]))
    for names, plies, seconds in rows:
        table.add_row(
            *names,
            f"{plies['mean']:.1f}",
            f"{plies['median']:.0f}",
            f"{plies['tenth']:.0f} … {plies['ninetieth']:.0f}",
            f"{plies['least']} … {plies['most']}",
            f"{seconds:.3g}",
        )
    return parts
