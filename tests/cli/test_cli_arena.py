"""The commands match, tournament, agents and replay: their output, their JSON, exit codes and complaints."""

from __future__ import annotations

import io
import json
import os
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from test_cli import result, vauban
from test_match import RESIGNS_AT_ONCE
from typer.testing import CliRunner, Result

from vauban import __version__
from vauban.arena.match import Match, records
from vauban.arena.schedule import play_match
from vauban.cli.main import app
from vauban.cli.replay import Replay
from vauban.errors import VaubanError
from vauban.notation.records import read_games

KEYS = {"wins", "draws", "losses", "games", "score", "elo", "elo_low", "elo_high", "mean_plies", "seconds"}


def here(*arguments: str) -> Result:
    """Run a command in this process, where everything is loaded already."""
    return CliRunner().invoke(app, list(arguments))


def told(*arguments: str, code: int = 0) -> dict:
    """Return the JSON object on the last line."""
    done = here(*arguments, "--json")
    assert done.exit_code == code, done.output + str(done.exception)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of two games."""
    match = Match("cadet", "random", 2, "barrage", seed=7)
    path = tmp_path_factory.mktemp("games") / "games.txt"
    path.write_text("\n".join(records(match, play_match(match))))
    return path


# ── vauban match ─────────────────────────────────────────────────────────────────────────────────

SMALL = ("match", "cadet", "random", "--game", "tiny", "--games", "12", "--seed", "5")


def test_a_match_is_the_same_again_with_any_number_of_workers(tmp_path: Path) -> None:
    saved = tmp_path / "games.txt"
    table = result(*SMALL, "--workers", "2", "--save", str(saved))
    assert table.keys() >= KEYS
    assert table["wins"] + table["draws"] + table["losses"] == table["games"] == 12
    again = told(*SMALL, "--workers", "1")
    timed = {"seconds", "wall_seconds", "workers"}
    assert {key: table[key] for key in table.keys() - timed} == {key: again[key] for key in again.keys() - timed}
    assert len(read_games(saved.read_text())) == 12


def test_a_match_is_reported_in_words_and_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = here(*SMALL, "--workers", "1", "--html", str(page))
    assert done.exit_code == 0
    assert "cadet" in done.stdout and "seed 5: 12 games" in done.stdout
    for wanted in ("<html", "cadet", "tiny", "two_square=3 chase=ataraxos", "human", "<b>5</b>", __version__):
        assert wanted in page.read_text()


def test_the_seed_that_was_drawn_is_told_and_makes_the_match_again() -> None:
    options = ("match", "random", "random", "--game", "tiny", "--games", "4", "--workers", "1")
    table = told(*options)
    again = told(*options, "--seed", str(table["seed"]))
    assert [table[key] for key in ("wins", "mean_plies")] == [again[key] for key in ("wins", "mean_plies")]


def test_a_program_can_take_the_place_of_an_agent(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(RESIGNS_AT_ONCE)
    command = shlex.join([sys.executable, "-u", str(bot)])
    table = told("match", "random", "--bot", command, "--games", "2", "--workers", "1")
    assert table["agents"] == ["random", f"bot:{command}"]
    assert (table["wins"], table["ends"]) == (2, {"forfeit": 2})
    assert table["notes"][0]["note"] == "resigned"


def test_games_that_repeat_are_warned_of() -> None:
    setups = ("--setups", "fixed:FLPJ")
    options = ("match", "charger", "charger", "--game", "tiny", "--games", "12", "--workers", "1", *setups)
    done = here(*options, "--json")
    table = json.loads(done.stdout.splitlines()[-1])
    assert table["different"] == 1
    shown = here(*options)
    assert "only 1 of 12 games differ" in shown.stderr and "take other setups" in shown.stderr
    assert "differ" not in here(*SMALL, "--workers", "1").stderr
    assert told("match", "random", "random", "--game", "kuhn", "--games", "40", "--workers", "1")["different"] < 20
    assert "differ" not in here("match", "random", "random", "--game", "kuhn", "--games", "40").stderr


def test_repeated_games_of_a_tournament_are_warned_of(tmp_path: Path) -> None:
    file = str(tmp_path / "t.db")
    options = ("--game", "tiny", "--games", "8", "--setups", "fixed:FLPJ", "--workers", "1")
    table = told("tournament", file, "charger", "fox", "random", *options, "--seed", "1")
    assert [each.partition(":")[0] for each in table["repeated"]] == ["charger – fox"]
    assert "charger – fox: only 2 of 8" not in here("tournament", file).stdout
    assert "charger – fox: only" in here("tournament", file).stderr


def test_progress_is_written_to_a_file_and_games_are_kept_as_they_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A match that is broken off in the middle leaves its games, its log and its report."""
    from vauban.arena import schedule

    def breaks_off(*arguments: object) -> object:
        """Play the first jobs, then do as Ctrl-C does."""
        match, _, _, watch = arguments
        games = [*schedule.Job(match, (0, 1)).run(print), *schedule.Job(match, (2, 3)).run(print)]
        watch(games[:2])
        watch(games)
        assert len(read_games(saved.read_text())) == 4
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("the signal has to end the match")

    saved, log = tmp_path / "games.txt", tmp_path / "log.txt"
    monkeypatch.setattr("vauban.arena.schedule.play_match", breaks_off)
    done = here(*SMALL, "--workers", "1", "--save", str(saved), "--log", str(log))
    assert done.exit_code == 130 and "Interrupted after 4 of 12 games." in done.stdout
    assert len(read_games(saved.read_text())) == 4
    lines = log.read_text().splitlines()
    assert [line[21:].split("  ")[0] for line in lines] == ["2 of 12", "4 of 12"]
    assert "cadet" in lines[1] and "random" in lines[1]


def test_programs_have_a_time_of_their_own(tmp_path: Path) -> None:
    match = Match("random", "bot:true", 2, time=3.0, bot_time=7.0)
    assert (match.time, match.bot_time) == (3.0, 7.0)
    assert Match("random", "bot:true", 2, time=3.0).bot_time == 3.0
    done = here("match", "random", "bot:true", "--bot-time", "0")
    assert "above 0, not 0" in str(done.exception)


def test_the_exit_code_says_what_the_sequential_test_found() -> None:
    options = ("--game", "fives", "--games", "400", "--seed", "1", "--workers", "1", "--sprt", "0,60")
    better = told("match", "cadet", "random", *options)
    assert better["sprt"]["decision"] == "H1" and better["games"] < 400
    worse = told("match", "random", "cadet", *options, code=1)
    assert worse["sprt"]["decision"] == "H0" and worse["games"] == 2 * sum(worse["sprt"]["counts"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["match", "cadet"], "two agents"),
        (["match", "cadet", "random", "--bot", "true"], "these are 3"),
        (["match", "cadett", "random"], "did you mean 'cadet'"),
        (["match", "cadet", "random", "--game", "clasic"], "did you mean 'classic'"),
        (["match", "cadet", "random", "--setups", "humn"], "did you mean 'human'"),
        (["match", "cadet", "random", "--sprt", "20"], "two Elo differences"),
        (["match", "cadet", "random", "--sprt", "20,0"], "elo0"),
        (["match", "cadet", "random", "--alpha", "0.1"], "--sprt"),
        (["match", "cadet", "random", "--save", "/nowhere/games.txt"], "/nowhere/games.txt cannot be written"),
        (["match", "cadet", "random", "--save", "same.txt", "--html", "./same.txt"], "is --save as well"),
        (["match", "cadet", "random", "--game", ""], "''"),
        (["match", "cadet", "random", "--setups", ""], "no sampler of setups ''"),
        (["match", "cadet", "random", "--sprt", "0,inf"], "not all are finite"),
        (["match", "cadet", "random", "--sprt", "0,20", "--alpha", "nan"], "not all are finite"),
        (["match", "cadet", "random", "--time", "inf"], "above 0, not inf"),
        (["match", "cadet", "bot:cat", "--memory", "99999999999999"], "memory is in MiB"),
        (["tournament", "nowhere.db", "cadet", "random", "--html", "nowhere.db"], "the tournament's own file"),
        (["tournament", "nowhere.db", "cadet", "random", "--game", ""], "''"),
        (["agents", "bot"], "bot:COMMAND is a program of your own"),
        (["bot", "bot:cat", "--time", "1"], "--time is for agents of ours"),
        (["bot-check", "cat", "--seconds", "inf"], "seconds must be above 0 and at most"),
        (["exploitability", "kuhn", "bot:cat"], "does not say with what probabilities"),
        (["tournament", "nowhere.db"], "name the agents"),
        (["tournament", "README.md"], "README.md is no tournament"),
        (["agents", "cadett"], "did you mean 'cadet'"),
        (["replay", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["replay", "README.md"], "README.md: this is no game that can be read"),
    ],
)
def test_wrong_usage_ends_in_a_sentence(arguments: list[str], words: str) -> None:
    done = here(*arguments)
    assert isinstance(done.exception, VaubanError)  # which `run` turns into a sentence and exit code 2
    assert words in str(done.exception)
    assert not Path("nowhere.db").exists()


def test_a_full_disk_does_not_take_the_report_along() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = here(*SMALL, "--workers", "1", "--html", "/dev/full", "--json")
    assert "/dev/full cannot be written: No space left" in str(done.exception)
    assert isinstance(done.exception, VaubanError) and json.loads(done.stdout.splitlines()[-1])["games"] == 12


def test_wrong_usage_has_exit_code_2() -> None:
    done = vauban("match", "cadet", "randm")
    assert done.returncode == 2
    assert "did you mean 'random'" in done.stderr and "Traceback" not in done.stderr


# ── vauban tournament ────────────────────────────────────────────────────────────────────────────


def test_a_tournament_is_played_reported_and_found_again(tmp_path: Path) -> None:
    file, saved, page = (str(tmp_path / name) for name in ("t.db", "games.txt", "t.html"))
    begin = ("tournament", file, "cadet", "random", "--games", "4", "--game", "tiny", "--seed", "1")
    table = told(*begin, "--workers", "1", "--save", saved, "--html", page)
    assert (table["played"], table["missing"], table["games"]) == (4, 0, 4)
    assert table["settings"]["seed"] == 1
    assert len(read_games(Path(saved).read_text())) == 4 and "<html" in Path(page).read_text()
    again = told("tournament", file, "--workers", "1")
    assert again == table
    words = here("tournament", file, "--workers", "1").stdout
    assert "tiny, rules two_square=3 chase=ataraxos" in words and "setups human" in words
    assert f"seed 1: 4 of 4 games, in {file}." in words
    done = here("tournament", file, "--games", "6")
    assert "begun with games 4, and this asks for 6" in str(done.exception)


def test_ratings_stand_on_an_anchor_and_results_go_to_other_programs(tmp_path: Path) -> None:
    file, pgn, log = (tmp_path / name for name in ("t.db", "t.pgn", "t.log"))
    names = ["charger", "fox:setups=human", "random"]
    options = ("--games", "4", "--game", "tiny", "--seed", "1", "--workers", "1")
    table = told("tournament", str(file), *names, *options, "--pgn", str(pgn), "--log", str(log))
    [free] = table["ratings"]
    assert free["anchor"] is None and sum(row["rating"] for row in free["agents"]) == pytest.approx(0)
    [held] = told("tournament", str(file), "--anchor", "fox:setups=human=1500.5")["ratings"]
    assert held["anchor"] == "fox:setups=human"
    moved = {row["agent"]: row["rating"] for row in held["agents"]}
    shift = 1500.5 - {row["agent"]: row["rating"] for row in free["agents"]}["fox:setups=human"]
    assert moved == pytest.approx({row["agent"]: row["rating"] + shift for row in free["agents"]})
    lines = log.read_text().splitlines()
    assert "12 of 12" in lines[-1] and all(f"{name} " in lines[-1] and "%" in lines[-1] for name in names)
    games = pgn.read_text().split("\n\n[White ")
    assert len(games) == 12 and games[0].startswith('[White "charger"]\n[Black "fox:setups=human"]\n[Result "')
    assert games[0].endswith(games[0].split('[Result "')[1].partition('"')[0])
    for text, words in (("random", "give an agent and its rating"), ("fox=0", "does not take part")):
        assert words in str(here("tournament", str(file), "--anchor", text).exception)


def test_the_agent_of_a_gauntlet_need_not_be_named_twice(tmp_path: Path) -> None:
    file = str(tmp_path / "t.db")
    table = told(
        "tournament",
        file,
        "cadet",
        "--gauntlet",
        "random",
        "--games",
        "2",
        "--game",
        "tiny",
        "--seed",
        "1",
        "--workers",
        "1",
    )
    assert table["settings"]["agents"] == ["random", "cadet"] and table["settings"]["gauntlet"] == "random"


# ── vauban agents ────────────────────────────────────────────────────────────────────────────────


def test_agents_are_listed_with_a_line_each() -> None:
    listed = here("agents").stdout.splitlines()
    assert any(line.startswith("cadet ") and "by the book" in line for line in listed)
    assert any(line.startswith("bot:COMMAND") for line in listed)
    table = told("agents")
    assert {"cadet", "random"} <= {agent["name"] for agent in table["agents"]}
    assert all(agent["description"] for agent in table["agents"])


def test_agents_are_listed_with_the_games_that_they_play() -> None:
    plays = {agent["name"]: agent["plays"] for agent in told("agents")["agents"]}
    wanted = {"random": "any game", "fox": "Stratego", "net": "what its model plays", "cfr+": "small games"}
    assert {name: plays[name] for name in wanted} == wanted


def test_agents_of_one_name_are_told_apart_by_the_game() -> None:
    plays = [agent["plays"] for agent in told("agents")["agents"] if agent["name"] == "mcts"]
    assert sorted(plays) == ["Geister", "Stratego"]
    assert told("agents", "mcts")["plays"] == told("agents", "mcts", "--game", "barrage")["plays"] == "Stratego"
    assert told("agents", "mcts", "--game", "geister")["plays"] == "Geister"
    assert told("agents", "fox", "--game", "geister")["plays"] == "Stratego"


def test_agents_of_other_families_are_left_out_where_a_game_is_named() -> None:
    listed = [agent["name"] for agent in told("agents", "--game", "geister-44")["agents"]]
    assert {"random", "runner", "mcts", "net"} <= set(listed) and "fox" not in listed
    assert listed.count("mcts") == 1


def test_an_agent_of_a_package_by_a_name_that_is_taken_is_listed_once_and_complained_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "their_agents-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vauban.agents]\nfox = their_agents:Fox\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    done = here("agents", "--json")
    assert [agent["name"] for agent in json.loads(done.stdout.splitlines()[-1])["agents"]].count("fox") == 1
    assert "fox: an installed package offers an agent of a name" in done.stderr


def test_an_agent_is_described_with_its_options() -> None:
    assert "by the book" in here("agents", "cadet").stdout
    known = [agent for game in ("classic", "geister") for agent in told("agents", "--game", game)["agents"]]
    assert {agent["name"] for agent in known} == {agent["name"] for agent in told("agents")["agents"]}
    for agent in known:
        game = {"Stratego": "classic", "Geister": "geister"}.get(agent["plays"], "kuhn")
        assert told("agents", agent["name"], "--game", game) == agent
        for option in agent["options"]:
            assert option["help"], f"{agent['name']}: nobody says what {option['name']} is for"


# ── vauban replay ────────────────────────────────────────────────────────────────────────────────


def test_without_a_terminal_a_game_is_printed_move_by_move(games: Path) -> None:
    text = here("replay", str(games), "--number", "2").stdout
    [_, game] = read_games(games.read_text())
    assert game.board is not None
    lines = text.splitlines()
    assert "[red] random" in lines[0] and "(blue) cadet" in lines[0]
    numbered = [line for line in lines if line.lstrip().startswith(tuple(f"{n}. " for n in range(1, 4000)))]
    assert len(numbered) == game.board.plies + 1  # the last stands below the last position too
    assert f"After ply 0 of {game.board.plies}." in text and f"After ply {game.board.plies}" in text
    assert lines[-1].startswith(("Red won", "Blue won", "A draw"))


def test_one_position_can_be_asked_for(games: Path) -> None:
    text = here("replay", str(games), "--ply", "3", "--view", "blue").stdout
    assert "After ply 3" in text and "as blue knew it" in text
    assert "[ ?]" in text and "( ?)" not in text
    table = told("replay", str(games), "--ply", "3")
    assert table["ply"] == 3 and len(table["moves"]) == 3 and table["games"] == 2
    board = read_games(games.read_text())[0].board
    assert board is not None
    while board.plies > 3:
        board.pop()
    assert table["position"] == board.text


@pytest.mark.parametrize(
    ("more", "words"),
    [(["--number", "3"], "has 2 games"), (["--ply", "4000"], "no ply 4000"), (["--view", "green"], "no view 'green'")],
)
def test_what_is_not_in_the_file_is_refused(games: Path, more: list[str], words: str) -> None:
    assert words in str(here("replay", str(games), *more).exception)


def test_a_game_that_is_cut_off_does_not_keep_the_others_from_being_shown(games: Path, tmp_path: Path) -> None:
    text = games.read_text()
    cut = tmp_path / "cut.txt"
    for cut_off in (text + '\n[Variant "barr', text.rstrip()[:-40] + " {"):
        cut.write_text(cut_off)
        done = here("replay", str(cut), "--json")
        table = json.loads(done.stdout.splitlines()[-1])
        assert (done.exit_code, table["game"]) == (0, 1) and "before it can be read" in done.stderr
        assert "cut.txt: game" in str(here("replay", str(cut), "--number", "3").exception)


def replayed(games: Path, typed: str) -> tuple[Replay, str]:
    """Return a replay after lines were typed, and all that it has shown."""
    target = io.StringIO()
    table = Replay(read_games(games.read_text())[0], source=io.StringIO(typed), target=target)
    table.run()
    return table, target.getvalue()


def test_one_steps_forwards_and_backwards(games: Path) -> None:
    assert replayed(games, "n\nn\n\nb\nq\n")[0].ply == 2
    assert replayed(games, "b\n")[0].ply == 0
    table, shown = replayed(games, ">\nn\nq\n")
    assert table.ply == table.plies and "won" in shown
    assert replayed(games, ">\n<\nn\n")[0].ply == 1
    assert replayed(games, "5\n")[0].ply == 5
    assert replayed(games, "g\n4\nb\n")[0].ply == 3


def test_one_looks_from_either_side_and_with_either_player_s_eyes(games: Path) -> None:
    table, shown = replayed(games, "f\nv\n")
    assert (table.bottom, table.view) == (1, "red")
    first, flipped, as_red = shown.split("After ply 0")[:3]
    assert first.index("10 ") < first.index(" 1 ") and flipped.rindex("10 ") > flipped.index(" 1 ")
    assert "( ?)" not in flipped and "( ?)" in as_red and "[ ?]" not in as_red


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_at_a_terminal_single_keys_step_through_the_game(games: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from vauban.cli.main import run; run()", "replay", str(games)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        try:
            for expected, key in (("ply 0", b"\x1b[C"), ("ply 1", b"n"), ("ply 2", b"\x1b[D"), ("ply 1", b"q")):
                shown = ""
                while f"After {expected} " not in shown or "quit" not in shown:
                    assert select.select([ours], [], [], PATIENCE)[0], f"{expected} was not shown"
                    shown += os.read(ours, 4096).decode(errors="replace")
                os.write(ours, key)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            os.close(ours)


@pytest.mark.parametrize("command", ["match", "tournament", "agents", "replay"])
def test_help_teaches_with_an_example(command: str) -> None:
    text = here(command, "--help").stdout
    assert f"Example: vauban {command}" in text
