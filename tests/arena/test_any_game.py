"""Matches, tournaments and reports in every game, with and without setups, chance and stakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contenders import plain
from rich.console import Console
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.solved import SolvedAgent
from vauban.arena.match import Match, records
from vauban.arena.play import play_games, play_in_batch, play_on_boards
from vauban.arena.report import report_json, report_text
from vauban.arena.report_html import report_html
from vauban.arena.results import GameResult
from vauban.arena.statistics import utility_summary
from vauban.arena.tournament import Settings, Tournament
from vauban.cli.main import app
from vauban.errors import ConfigurationError, RecordError, VaubanError
from vauban.games import base
from vauban.games.base import NUMBER
from vauban.games.small import CARDS
from vauban.notation.records import read_games
from vauban.sim.simulator import Simulator
from vauban.solve import build_tree, evaluate, tabulate

AMBUSH = f"py:{Path(__file__).parents[2]}/examples/ambush.py:Ambush"
SMALL = ("kuhn", "leduc", "rps-x")


@pytest.mark.parametrize("name", SMALL)
def test_games_are_the_same_one_by_one_and_many_at_once(name: str) -> None:
    match = Match("random", "cfr+:iterations=10", 12, name, seed=3)
    assert match.in_batches and match.setups == "none"
    alone = play_on_boards(match, range(12))
    assert [plain(game) for game in play_in_batch(match, range(12))] == [plain(game) for game in alone]
    assert [plain(game) for game in play_in_batch(match, [7, 2])] == [plain(alone[7]), plain(alone[2])]


@pytest.mark.parametrize("name", SMALL)
def test_records_of_every_game_are_read_back(name: str) -> None:
    match = Match("random", "first", 6, name, seed=3)
    games = play_games(match, range(6))
    read = read_games("\n".join(records(match, games)))
    for recorded, game in zip(read, games, strict=True):
        outcome = recorded.board.outcome()
        assert (outcome.winner, outcome.end) == (game.result.winner, game.result.end)
        assert recorded.headers[match.game.players[0].title()] == game.result.agents[0]


def test_the_games_of_a_pair_share_their_deals_and_different_pairs_do_not() -> None:
    """In Leduc poker all players call: the gains depend on the cards alone."""
    match = Match("first", "first", 40, "leduc", seed=5)
    worth = [game.result.utility for game in play_games(match, range(40))]
    assert worth[::2] == worth[1::2]
    assert len(set(worth)) > 1
    assert utility_summary([game.result for game in play_games(match, range(40))])["utility"] == 0


def test_whose_turn_it_is_comes_from_the_record() -> None:
    """In Leduc poker the first player acts after the second in one round, and again first in the next."""
    games = play_games(Match("random", "random", 60, "leduc", seed=1), range(60))
    assert any(game.moves.split()[:3] == ["call", "call", "raise"] for game in games)
    assert all(game.result.end in ("fold", "showdown") for game in games)


def test_a_solved_policy_plays_as_it_was_solved() -> None:
    tree = build_tree("kuhn")
    agent: Any = make_agent("cfr+:iterations=300")
    table = tabulate(tree, lambda views, actions: agent.policy(views)[:, : actions.shape[1]])
    assert evaluate(tree, table).exploitability < 0.01
    sim = Simulator("kuhn", 4000, seed=1, restart=False, arrays="numpy")
    views = sim.views(0)
    views = views[np.flatnonzero(views.store.bytes[:, CARDS] == views.store.bytes[0, CARDS])]
    chosen = agent.choose(views, np.arange(len(views), dtype=np.uint64))
    assert chosen.mean() == pytest.approx(agent.policy(views)[0, 1], abs=0.05)


def test_a_solved_policy_knows_a_view_whatever_the_number_of_its_game() -> None:
    views = Simulator("kuhn", 3, seed=1, arrays="numpy").views(0)
    views.store.words[:, NUMBER] = [5, 6, 7]
    assert (SolvedAgent("uniform").policy(views) == 0.5).all()


def test_a_solved_policy_refuses_views_of_a_game_that_it_cannot_have_seen() -> None:
    views = Simulator("kuhn", 1, seed=1, arrays="numpy").views(0)
    views.store.bytes[0, CARDS] = 77
    with pytest.raises(RecordError, match="view 0"):
        SolvedAgent("uniform").policy(views)


def test_a_game_is_solved_once_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    from vauban.agents import solved

    built = []
    whole = solved._solve
    monkeypatch.setattr(solved, "_solutions", {})
    monkeypatch.setattr(solved, "_solve", lambda text, game: built.append(text) or whole(text, game))
    for _ in range(2):
        play_games(Match("cfr+:iterations=5", "uniform", 2, base.game("kuhn"), seed=1), range(2))
    assert sorted(built) == ["cfr+:iterations=5", "uniform"]


@pytest.mark.parametrize(
    ("agent", "game", "words"),
    [
        ("fox", "kuhn", "plays Stratego, not 'kuhn'"),
        ("cadet", "kuhn", "plays Stratego, not 'kuhn'"),
        ("lp", "classic", "too large to be solved exactly"),
        ("net:barrage", "medium", "plays barrage, not 'medium'"),
    ],
)
def test_who_cannot_play_a_game_is_refused_before_anything_is_played(
    agent: str, game: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(VaubanError, match=words):
        Match("random", agent, 2, game)
    with pytest.raises(VaubanError, match=words):
        Tournament.open(tmp_path / "cup.db", Settings(("random", agent), 2, game))
    assert not (tmp_path / "cup.db").exists()


def test_setups_are_refused_where_nothing_is_placed() -> None:
    with pytest.raises(ConfigurationError, match="players of 'kuhn' place nothing"):
        Match("random", "random", 2, "kuhn", setups="uniform")


def test_programs_are_refused_other_games() -> None:
    with pytest.raises(ConfigurationError, match="a program plays Stratego, not 'kuhn'"):
        Match("random", "bot:true", 2, "kuhn")


def test_the_usual_setups_are_those_of_people_in_stratego_and_of_the_agents_elsewhere() -> None:
    assert Match("random", "cadet", 2, "barrage").setups == "human"
    assert Match("random", "random", 2, AMBUSH).setups == "own"


def test_setups_are_drawn_uniformly_where_no_agent_chooses_any(tmp_path: Path) -> None:
    file = tmp_path / "firsts.py"
    file.write_text(
        "class First:\n    def choose_move(self, view):\n        return view.legal_moves[0]\n\nOther = First\n"
    )
    one, other = f"py:{file}:First", f"py:{file}:Other"
    assert Match(one, other, 2, AMBUSH).setups == "uniform"
    assert Match(one, "random", 2, AMBUSH).setups == "own"
    for agents, settled in (((one, other), "uniform"), ((one, other, "random"), "own")):
        with Tournament.open(tmp_path / f"{settled}.db", Settings(agents, 2, AMBUSH)) as cup:
            assert {match.setups for match in cup.matches} == {settled}, "one source of setups for all of a tournament"


def test_the_rules_of_a_report_are_the_text_that_the_game_gives(tmp_path: Path) -> None:
    """A game of one's own may call anything `rules`."""
    file = tmp_path / "plain.py"
    file.write_text(
        "from vauban.games.kuhn import Kuhn\n\n\n"
        "class Plain(Kuhn):\n    name, rules = 'plain', 'as always'\n\n\n"
        "class Told(Kuhn):\n    name, rules_text = 'told', 'one chip'\n"
    )
    for name, rules in (("Plain", None), ("Told", "one chip")):
        game = f"py:{file}:{name}"
        done = CliRunner().invoke(app, ["match", "random", "first", "--games", "2", "--game", game, "--json"])
        assert done.exit_code == 0, done.output or done.exception
        assert json.loads(done.stdout.splitlines()[-1])["rules"] == rules
        done = CliRunner().invoke(app, ["exploitability", game, "uniform"])
        assert done.exit_code == 0, done.output or done.exception
        assert ("rules one chip" in done.stdout) == (rules is not None)


# ── Reports ──────────────────────────────────────────────────────────────────────────────────────


def stakes(*worth: float) -> list[GameResult]:
    """Return games of a match, by the worth of each to the first agent."""
    sides = (("a", "b"), ("b", "a"))
    return [
        GameResult(number, sides[number % 2], None, "showdown", 3, 0.1, "", value if number % 2 == 0 else -value)
        for number, value in enumerate(worth)
    ]


def test_the_mean_utility_and_its_interval_come_from_pairs() -> None:
    told = utility_summary(stakes(2, -1, 1, 1, -2, 1, 4, 0))
    pairs = np.array([0.5, 1.0, -0.5, 2.0])
    error = pairs.std(ddof=1) / 2
    assert (told["games"], told["pairs"], told["utility"]) == (8, 4, 0.75)
    assert told["utility_low"] == pytest.approx(0.75 - 1.959964 * error)
    assert told["utility_high"] == pytest.approx(0.75 + 1.959964 * error)


def test_too_few_games_have_no_interval() -> None:
    for few in (stakes(2), stakes(2, 1), stakes(1, 1, 1, 1)):
        told = utility_summary(few)
        assert told["utility_low"] is None and "no interval" in told["note"]


def test_games_with_stakes_are_reported_by_their_mean_utility() -> None:
    results = stakes(*([2, -1, 1, 1] * 20))
    report = report_json([results])
    assert report["stakes"] and "ratings" not in report
    assert report["matches"][0]["verdict"] == "a wins more: the 95 % interval excludes 0"
    assert report["standings"][0] == {"agent": "a", "games": 80, "utility": 0.75}
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(report_text(report))
    assert "+0.7500" in console.export_text() and "Elo" not in report_html(report, "x")
    assert "+0.7500" in report_html(report, "x")


def test_a_game_that_is_won_drawn_or_lost_is_reported_as_ever() -> None:
    games = play_games(Match("random", "first", 8, "rps", seed=1), range(8)) if "rps" in base.names() else []
    games = games or play_games(Match("random", "random", 8, "tiny", seed=1), range(8))
    assert not report_json([[game.result for game in games]])["stakes"]


# ── Tournaments ──────────────────────────────────────────────────────────────────────────────────


def test_a_tournament_at_poker_keeps_what_games_were_worth(tmp_path: Path) -> None:
    settings = Settings(("random", "uniform", "cfr+:iterations=20"), games=6, game="kuhn", seed=4)
    with Tournament.open(tmp_path / "t.db", settings) as tournament:
        tournament.play()
        report = report_json(tournament.results())
        assert report["stakes"] and report["games"] == 18
        assert len(list(tournament.records())) == 18
        means = dict.fromkeys(tournament.settings.agents, 0.0)
        for result in (each for match in tournament.results() for each in match):
            for side, name in enumerate(result.agents):
                means[name] += (result.utility, -result.utility)[side] / 12
        assert dict(tournament.standings()) == pytest.approx(means)
    with Tournament.open(tmp_path / "t.db") as again:
        assert again.settings.made.name == "kuhn" and report_json(again.results()) == report
