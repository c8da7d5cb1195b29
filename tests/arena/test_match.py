"""Matches: pairs, seeds, the two ways to play, agents that misbehave, records, the sequential test."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path

import pytest
from contenders import Dice, Rogue, Slow, Untidy, plain

from vauban import __version__
from vauban.agents.external.stratego.agent import ExternalAgent
from vauban.arena import play
from vauban.arena.match import FinishedGame, Match, record_text, records
from vauban.arena.play import play_games, play_in_batch, play_on_boards
from vauban.arena.schedule import Schedule, play_match
from vauban.arena.sprt import Hypotheses, Sprt
from vauban.errors import ConfigurationError
from vauban.notation.records import read_games


def notes(games: list[FinishedGame]) -> set[str]:
    """Return the reasons for which games were forfeited."""
    return {game.result.note.partition(":")[0] for game in games if game.result.end == "forfeit"}


# ── Pairs and seeds ──────────────────────────────────────────────────────────────────────────────


def test_the_agents_of_a_pair_change_sides_and_the_setups_stay() -> None:
    games = play_match(Match("cadet", "random", 6, "barrage", seed=4))
    assert [game.result.number for game in games] == list(range(6))
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.result.agents == ("cadet", "random") and second.result.agents == ("random", "cadet")
        assert first.setups == second.setups
    assert len({game.setups for game in games}) == 3


def test_an_agent_that_chooses_its_setup_keeps_it_for_both_games_of_a_pair() -> None:
    games = play_match(Match("cadet", "random", 6, "barrage", seed=4, setups="own"))
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.setups == second.setups[::-1]
    assert len({setup for game in games for setup in game.setups}) == 6


@pytest.mark.parametrize("setups", ["human", "uniform", "own"])
def test_a_game_depends_on_the_match_and_its_number_alone(setups: str) -> None:
    match = Match("cadet", "random", 8, "barrage", seed=9, setups=setups)
    games = play_games(match, range(8))
    again = play_games(Match("cadet", "random", 3, "barrage", seed=9, setups=setups), [5, 2, 3])
    assert [plain(game) for game in again] == [plain(games[number]) for number in (5, 2, 3)]
    other = play_games(Match("cadet", "random", 8, "barrage", seed=10, setups=setups), range(8))
    assert not {plain(game)[1:] for game in games} & {plain(game)[1:] for game in other}


def test_neighbouring_seeds_share_no_game() -> None:
    seeds = [
        Match("random", "random", 1, "tiny", seed=seed).agent_seed(number, role)
        for seed in range(20)
        for number in range(50)
        for role in (0, 1)
    ]
    assert len(set(seeds)) == len(seeds)


def test_an_agent_can_play_against_itself() -> None:
    games = play_match(Match("random", "random", 4, "tiny", seed=1))
    assert all(game.result.agents == ("random", "random") for game in games)


# ── The two ways to play ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("a", "b", "games", "variant", "setups", "seen"),
    [
        (Dice, Rogue, 24, "medium", "uniform", {"resigned", "illegal", "failed"}),
        (Untidy, Rogue, 16, "medium", "own", {"illegal", "failed"}),
        (Dice, Dice, 4, "barrage", "human", set()),
    ],
)
def test_games_are_the_same_one_by_one_and_many_at_once(
    a: type, b: type, games: int, variant: str, setups: str, seen: set[str]
) -> None:
    match = Match(a, b, games, variant, seed=3, setups=setups)
    assert match.in_batches
    alone = play_on_boards(match, range(games))
    together = play_in_batch(match, range(games))
    assert [plain(game) for game in together] == [plain(game) for game in alone]
    few = play_in_batch(match, [3, 2, 0])
    assert [plain(game) for game in few] == [plain(alone[number]) for number in (3, 2, 0)]
    assert seen <= notes(alone)  # otherwise the test would show nothing


def test_compiled_agents_play_the_same_games_in_both_ways() -> None:
    match = Match("fox", "charger", 6, "barrage", seed=4, setups="own")
    assert match.in_batches
    assert [plain(g) for g in play_in_batch(match, range(6))] == [plain(g) for g in play_on_boards(match, range(6))]


def test_a_batch_looks_back_as_far_as_the_rules_ask_for() -> None:
    match = Match(Dice, Dice, 4, "tiny", "chase=ataraxos battleless_limit=none total_limit=700", seed=2)
    assert match.in_batches and match.game.format().history > 700
    assert [plain(g) for g in play_in_batch(match, range(4))] == [plain(g) for g in play_on_boards(match, range(4))]


def test_rules_without_a_bound_are_played_on_boards() -> None:
    match = Match(Dice, Dice, 2, "tiny", "chase=isf battleless_limit=none total_limit=none")
    assert not match.in_batches


# ── Agents that misbehave ────────────────────────────────────────────────────────────────────────


def test_an_agent_that_fails_loses_that_game_and_the_others_go_on() -> None:
    games = play_match(Match(Rogue, "random", 16, "fives", seed=3, setups="uniform"))
    assert len(games) == 16
    lost = [game.result for game in games if game.result.end == "forfeit"]
    assert notes(games) == {"resigned", "illegal", "failed"}
    assert all(result.agents[1 - result.winner] == "rogue" for result in lost if result.winner is not None)
    assert {result.end for result in (game.result for game in games)} > {"forfeit"}
    failed = next(result for result in lost if result.note.startswith("failed"))
    assert failed.note == "failed: RuntimeError: out of wits" and failed.plies in (4, 5)


def test_a_setup_that_is_none_loses_the_pair() -> None:
    games = play_match(Match("random", Untidy, 16, "medium", seed=2, setups="own"))
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.result.end == "forfeit") == (second.result.end == "forfeit")
    assert notes(games) == {"failed"}
    assert any("not in this army" in game.result.note for game in games)
    assert any(game.result.end != "forfeit" for game in games)


def test_an_agent_that_thinks_too_long_loses_on_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "perf_counter", lambda: Slow.now)  # all other agents take no time
    [game] = play_match(Match("random", Slow, 1, "tiny", seed=1, time=0.1))
    assert (game.result.winner, game.result.end, game.result.note) == (0, "forfeit", "time: more than 0.1 s for a move")
    assert play_match(Match("random", Slow, 1, "nano", seed=1, time=60))[0].result.end != "forfeit"


RESIGNS_AT_ONCE = """
input()
print("5B8B8B4B68\\n78B939B195\\ns499766593\\n946727589F")
for _ in range(11):
    input()
print("SURRENDER")
while not input().startswith("QUIT"):
    pass
"""


def program(tmp_path: Path, body: str) -> partial[ExternalAgent]:
    """Return a program that plays, or fails to, through the line protocol."""
    file = tmp_path / "bot.py"
    file.write_text(body)
    return partial(ExternalAgent, f"{shlex.quote(sys.executable)} -u {shlex.quote(str(file))}")


def test_a_program_that_ends_loses_and_leaves_the_match_whole(tmp_path: Path) -> None:
    crash = play_match(
        Match(program(tmp_path, "print('5B8B8B4B68')\nraise SystemExit(3)"), "random", 2, "classic", seed=1)
    )
    assert [game.result.winner for game in crash] == [1, 0]
    assert all(game.result.note.startswith("failed: ") for game in crash)
    assert list(records(Match("random", "random"), crash)) == []


@pytest.mark.parametrize("games", [1, 20])
def test_a_program_that_cannot_be_started_ends_the_match(games: int, tmp_path: Path) -> None:
    mute = program(tmp_path, "raise SystemExit('no such thing')")
    with pytest.raises(ConfigurationError, match="has not said a word in any of its first games .*no such thing"):
        play_match(Match("random", mute, games, "classic", seed=1))


def test_a_program_that_fails_only_once_does_not_end_the_match(tmp_path: Path) -> None:
    once = f"import pathlib\nif not (f := pathlib.Path({str(tmp_path / 'seen')!r})).exists():\n    f.touch(); exit(3)\n"
    games = play_match(Match(program(tmp_path, once + RESIGNS_AT_ONCE), "random", 2, "classic", seed=1))
    assert [game.result.note[:6] for game in games] == ["failed", "resign"]


def test_a_program_sets_up_by_itself_and_its_opponent_keeps_one_setup(tmp_path: Path) -> None:
    games = play_match(Match("random", program(tmp_path, RESIGNS_AT_ONCE), 2, "classic", seed=1, setups="uniform"))
    assert [game.result.winner for game in games] == [0, 1]
    assert [game.result.note for game in games] == ["resigned"] * 2
    assert games[0].setups[0] == games[1].setups[1]
    assert [game.result.plies for game in games] == [1, 0]


def test_a_program_is_given_an_army_that_its_protocol_does_not_know(tmp_path: Path) -> None:
    games = play_match(Match("random", program(tmp_path, RESIGNS_AT_ONCE), 2, "barrage", seed=1))
    assert [game.result.note for game in games] == ["resigned"] * 2
    assert games[0].setups == games[1].setups[::-1]


def test_the_note_of_a_lost_game_has_the_last_words_of_the_program(tmp_path: Path) -> None:
    body = RESIGNS_AT_ONCE.replace('"SURRENDER"', '"0 0 SIDEWAYS"')
    loud = program(tmp_path, f"import sys\nprint('I am lost', file=sys.stderr)\n{body}")
    [game] = play_match(Match(loud, "random", 1, seed=1))
    assert game.result.note.startswith("illegal: '0 0 SIDEWAYS' is no answer")
    assert game.result.note.endswith("Its last words on standard error: I am lost")


def test_a_program_is_refused_a_game_that_it_cannot_be_told_of() -> None:
    with pytest.raises(ConfigurationError, match="a program plays Stratego, not 'kuhn'"):
        Match("random", "bot:true", 2, "kuhn")


def test_a_program_is_started_in_the_folder_and_with_the_memory_of_its_match(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "import resource\nopen('limit', 'w').write(str(resource.getrlimit(resource.RLIMIT_DATA)[0]))\n"
        + RESIGNS_AT_ONCE
    )
    match = Match("random", f"bot:{sys.executable} -u bot.py", 1, seed=1, memory=300, folder=tmp_path)
    assert [game.result.note for game in play_match(match)] == ["resigned"]
    assert int((tmp_path / "limit").read_text()) == 300 * 2**20


def test_a_program_that_is_gone_ends_the_match_and_loses_no_games(tmp_path: Path) -> None:
    file = tmp_path / "bot.sh"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    match = Match("random", f"bot:{file}", 2, seed=1)
    file.unlink()
    with pytest.raises(ConfigurationError, match="cannot be found"):
        play_match(match)


# ── Records ──────────────────────────────────────────────────────────────────────────────────────


def test_records_are_read_back_with_agents_seed_and_number() -> None:
    match = Match("cadet", "random", 4, "barrage", seed=5)
    games = play_match(match)
    read = read_games("\n".join(records(match, reversed(games))))
    assert [game.headers["Number"] for game in read] == ["0", "1", "2", "3"]
    assert read[1].headers["Red"] == "random" and read[1].headers["Seed"] == "5"
    for recorded, game in zip(read, games, strict=True):
        assert recorded.board is not None and recorded.board.plies == game.result.plies
        assert recorded.headers["Program"] == f"Vauban {__version__}" and "Time" not in recorded.headers
        assert float(recorded.headers["Seconds"]) == round(game.result.seconds, 3)
        assert recorded.result == ("1-0", "0-1", "1/2-1/2")[2 if game.result.winner is None else game.result.winner]


def test_a_forfeited_game_keeps_its_moves_and_says_why() -> None:
    match = Match(Rogue, "random", 16, "fives", seed=3, setups="uniform")
    ends = {}
    for game in play_match(match):
        if game.result.end == "forfeit":
            [recorded] = read_games(record_text(match, game) or "")
            assert recorded.headers["Note"] == game.result.note and len(recorded.moves) == game.result.plies
            ends[game.result.note.partition(":")[0]] = recorded.end
    assert ends == {"resigned": "resigned", "illegal": "illegal", "failed": "illegal"}


# ── Whole matches ────────────────────────────────────────────────────────────────────────────────


def test_jobs_hold_whole_pairs_and_every_game_once() -> None:
    match = Match("random", "random", 1000, "tiny")
    schedule = Schedule([(match, range(999)), (match, [1, 4, 5, 9])], workers=3)
    games = play_games(match, [0, 1])
    numbers: list[list[int]] = [[], []]
    for index, _ in enumerate(schedule):
        place, job = schedule.taken[index]
        numbers[place] += job.numbers
        assert job.numbers[-1] % 2 or job.numbers[-1] in (998, 4, 9) or place == 1
        schedule.learn(index, games)
    assert numbers == [list(range(999)), [1, 4, 5, 9]]
    assert max(len(job.numbers) for _, job in schedule.taken) > 16
    assert len(schedule.taken[-1][1].numbers) <= 4


def test_the_sequential_test_ends_a_match_and_counts_only_what_it_looked_at() -> None:
    match = Match("cadet", "random", 400, "barrage", seed=2)
    test = Sprt(Hypotheses(0, 100))
    games = play_match(match, sprt=test)
    assert test.decision == "H1"
    assert 4 <= len(games) == 2 * sum(test.counts) < 400
    assert [plain(game) for game in games] == [plain(game) for game in play_games(match, range(len(games)))]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"games": 0}, "at least one game"),
        ({"a": "cadett"}, "did you mean 'cadet'"),
        ({"game": "clasic"}, "did you mean 'classic'"),
        ({"setups": "humane"}, "human"),
        ({"time": 0.0}, "above 0"),
        ({"time": float("inf")}, "above 0, not inf"),
        ({"a": "random:setups=zzz"}, "no sampler of setups 'zzz'"),
        ({"a": "fox:setups=list:/nonexistent"}, "/nonexistent: cannot be read"),
    ],
)
def test_what_cannot_be_played_is_refused_before_the_first_game(options: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Match(**({"a": "cadet", "b": "random"} | options))  # type: ignore[arg-type]
