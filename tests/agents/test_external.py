"""Other people's programs: real processes that play, misbehave and are cleaned up."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from patience import PATIENCE
from typer.testing import CliRunner

from vauban.agents.base import Closing, Listener, choose_move, close, set_up, tell
from vauban.agents.external.stratego.agent import BotError, ExternalAgent, why_illegal
from vauban.agents.external.stratego.check import Report, check
from vauban.agents.random import RandomAgent
from vauban.arena.match import Match
from vauban.arena.schedule import play_match
from vauban.board import Board
from vauban.cli.stratego.bots import bot_check
from vauban.errors import ConfigurationError
from vauban.games.base import game as find_game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG
from vauban.games.stratego.setups import Row
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="processes are looked for in /proc")

BOTS = Path(__file__).parents[1] / "bots"
ROOT = Path(__file__).parents[2]
CLASSIC = VARIANTS["classic"]
PLIES = 60


def bot(name: str, *arguments: str, seconds: float = PATIENCE, **options: object) -> ExternalAgent:
    command = [sys.executable, str(BOTS / f"{name}.py"), *arguments]
    return ExternalAgent(command, 1, seconds=seconds, start_seconds=PATIENCE, **options)  # type: ignore[arg-type]


def game(agents: list[object], plies: int = PLIES, seed: int = 1) -> Board:
    """Play a game to its end, or to a number of plies; raise any fault of a bot."""
    players: list[ExternalAgent] = agents  # type: ignore[assignment]
    try:
        rng = random.Random(seed)
        setups = [set_up(player, Stratego(CLASSIC), side, rng) for side, player in enumerate(players)]
        board = Board.from_setups(setups[0], setups[1], "classic", f"{ucc.UCC_RULES} total_limit={plies}")
        while not board.is_over:
            move = choose_move(players[board.turn], board.view(board.turn))
            if move is None:
                break
            played = board.push(move)
            for player in players:
                tell(player, played)
        return board
    finally:
        for player in players:
            close(player)


def faces(agent: ExternalAgent, colour: int, **options: int) -> Board:
    agents: list[object] = [RandomAgent(2), RandomAgent(2)]
    agents[colour] = agent
    return game(agents, **options)


def descendants() -> set[int]:
    """Return every process below this one."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(autouse=True)
def _nothing_stays_behind() -> Iterator[None]:
    before, descriptors = descendants(), open_files()
    yield
    left = descendants() - before
    assert not left, f"processes left behind: {left}"
    # Other tests' processes may end meanwhile, so there can be fewer.
    assert open_files() <= descriptors, "files left open"


# ── Bots that play ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("colour", [0, 1])
def test_a_good_bot_plays_in_both_colours_and_quits(colour: int) -> None:
    agent = bot("good")
    assert isinstance(agent, Listener) and isinstance(agent, Closing)
    board = faces(agent, colour, plies=200)
    assert board.plies == 200 or board.is_over
    assert agent.fault is None and agent.quit_by_itself
    assert agent.transcript[-1].startswith("> QUIT ")


@pytest.mark.parametrize("colour", [0, 1])
def test_a_bot_that_follows_the_events_alone_never_loses_the_thread(colour: int) -> None:
    agent = bot("tracker")
    board = faces(agent, colour, plies=500)
    assert (board.plies == 500 or board.is_over) and agent.fault is None
    assert sum(played.battle is not None for played in board.history) > 10


def test_two_bots_play_each_other_and_one_agent_plays_game_after_game() -> None:
    agents: list[object] = [bot("good"), bot("good")]
    first = game(agents)
    assert [played.move for played in game(agents).history] == [played.move for played in first.history]


def test_a_bot_finds_the_seed_in_its_environment() -> None:
    def moves(seed: int) -> list[Move]:
        agent = ExternalAgent([sys.executable, str(BOTS / "good.py")], seed, start_seconds=PATIENCE)
        return [played.move for played in faces(agent, 0).history]

    assert moves(7) == moves(7) != moves(8)


def test_a_bot_that_resigns_and_is_gone_at_once_has_resigned() -> None:
    agent = bot("resigns")
    board = faces(agent, 0)
    assert board.plies == 4 and not board.is_over and agent.fault is None


def test_a_second_line_is_the_answer_to_the_next_turn() -> None:
    board = faces(bot("two_answers"), 0)
    assert [ucc.move_words(played.move) for played in board.history[0:6:2]] == ["4 3 DOWN", "4 4 UP", "5 3 DOWN"]


def test_odd_words_after_a_move_are_borne_and_repeated_to_the_mover_only() -> None:
    odd, heard = bot("odd_words"), bot("good")
    game([odd, heard], plies=12)
    echoes = [line for line in odd.transcript if line.startswith("> ") and "junk" in line]
    assert echoes and echoes[0].split()[-2:] == ["junk", "OK"]
    assert not any("junk" in line or "\r" in line for line in heard.transcript)
    assert all(len(line) <= 32 for line in heard.transcript if line.split()[-1] == "OK")


def test_standard_error_is_drained_and_its_end_is_kept() -> None:
    agent = bot("chatty")
    faces(agent, 1, plies=40)
    assert agent.fault is None
    assert len(agent.stderr) <= 64 * 1024 and agent.stderr.endswith("thinking \n")


def test_a_bot_can_be_stopped_while_the_other_thinks() -> None:
    agent = bot("good", pause=True)
    rng = random.Random(3)
    board = Board.from_setups(
        set_up(agent, Stratego(CLASSIC), 0, rng), set_up(RandomAgent(), Stratego(CLASSIC), 1, rng), "classic"
    )
    try:
        for _ in range(3):
            agent.told(board.push(choose_move(agent, board.view(0)) or pytest.fail("it resigned")))
            [program] = [pid for pid in descendants() if b"good.py" in _command(pid) and b"guard" not in _command(pid)]
            _until(lambda pid=program: _state(pid) == "T")  # type: ignore[misc]
            agent.told(board.push(board.legal_moves[0]))
    finally:
        agent.close()
    assert agent.quit_by_itself


def test_a_bot_that_reads_the_board_plays_barrage_with_a_setup_that_is_given() -> None:
    barrage = VARIANTS["barrage"]
    agent = bot("good", setup_given=RandomAgent().set_up)
    rng = random.Random(5)
    board = Board.from_setups(
        set_up(agent, Stratego(barrage), 0, rng), set_up(RandomAgent(), Stratego(barrage), 1, rng), "barrage"
    )
    try:
        for _ in range(10):
            move = choose_move(agent, board.view(0))
            assert move is not None
            agent.told(board.push(move))
            agent.told(board.push(board.legal_moves[0]))
    finally:
        agent.close()


ANY_BOARD = f"{sys.executable} {ROOT / 'examples' / 'any_board_bot.py'}"


@pytest.mark.parametrize("name", ["barrage", "duel", "micro"])
def test_a_program_plays_every_board_in_matches_with_setups_of_its_own(name: str) -> None:
    options = {"game": name, "rules": "ucc total_limit=60", "setups": "own", "seed": 1, "bot_time": PATIENCE}
    match = Match(f"bot:{ANY_BOARD}", "random", 2, **options)  # type: ignore[arg-type]
    for finished in play_match(match):
        assert finished.result.end != "forfeit", finished.result.note
        row = find_game(name).setups.parse(finished.setups[finished.result.number % 2])
        assert row[0] == 1 + FLAG, "its Flag stands in the corner of the back row"


def test_a_bot_that_knows_no_army_but_the_classic_one_plays_barrage_with_a_setup_that_is_drawn() -> None:
    command = f"bot:{sys.executable} {BOTS / 'good.py'}"
    for setups, ends in (("uniform", {"total_limit"}), ("own", {"forfeit"})):
        match = Match(
            command, "random", 1, game="barrage", rules="ucc total_limit=12", setups=setups, bot_time=PATIENCE
        )
        (finished,) = play_match(match)
        assert {finished.result.end} == ends, finished.result.note


def test_the_check_knows_every_board() -> None:
    report = check(ANY_BOARD, variant=VARIANTS["duel"], plies=30, seconds=PATIENCE)
    assert report.ok and not report.findings and len(report.trials) == 6
    source = f"{sys.executable} {BOTS / 'good.py'}"
    faults = check(source, variant=VARIANTS["duel"], plies=30, seconds=PATIENCE).findings
    assert any("has 10 characters instead of 8" in fault.sentence for fault in faults)


def test_moves_that_nobody_told_of_are_taken_from_the_view() -> None:
    told, untold = bot("good"), bot("good")
    rng = random.Random(1)
    setups = [set_up(agent, Stratego(CLASSIC), 1, rng) for agent in (told, untold)]
    board = Board.from_setups(set_up(RandomAgent(), Stratego(CLASSIC), 0, rng), setups[0], "classic")
    told.told(board.push(board.legal_moves[0]))
    try:
        assert choose_move(told, board.view(1)) == choose_move(untold, board.view(1))
        assert told.transcript == untold.transcript
    finally:
        close(told)
        close(untold)


def script(body: str, *arguments: str, **options: object) -> ExternalAgent:
    """Return a bot in a few lines of Python."""
    options = {"seconds": 20.0, "start_seconds": 20.0, **options}
    return ExternalAgent([sys.executable, "-c", body, *arguments], 1, **options)  # type: ignore[arg-type]


def test_a_program_beside_us_is_started_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mybot.sh"
    file.write_text("#!/bin/sh\nexit 0\n")
    file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert ExternalAgent("./mybot.sh").command == ["./mybot.sh"]
    assert ExternalAgent("./mybot.sh", cwd=tmp_path).cwd == str(tmp_path)
    with pytest.raises(ConfigurationError, match=r"'mybot.sh' .* is not on the PATH; .* write \./mybot.sh"):
        ExternalAgent("mybot.sh")
    file.chmod(0o644)
    with pytest.raises(ConfigurationError, match="is not executable"):
        ExternalAgent("./mybot.sh")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seconds": float("inf")}, "at most 1,000,000, not inf"),
        ({"seconds": float("nan")}, "not nan"),
        ({"start_seconds": float("inf")}, "not inf"),
        ({"memory": 2**60}, "memory is in MiB"),
        ({"memory": -1}, "at least 0"),
    ],
)
def test_limits_that_are_none_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        script("", **options)


def test_lines_that_end_with_a_carriage_return_are_taken_and_noticed() -> None:
    agent = bot("crlf")
    try:
        board = Board.from_setups(set_up(agent, Stratego(CLASSIC), 0, random.Random(1)), good_rows(), "classic")
        assert choose_move(agent, board.view(0)) in board.legal_moves
        assert agent.returns and "␍" not in "".join(agent.transcript)
    finally:
        agent.close()


def good_rows() -> Row:
    return set_up(RandomAgent(), Stratego(CLASSIC), 1, random.Random(1))


# ── Bots that misbehave ──────────────────────────────────────────────────────────────────────────

MISBEHAVIOUR = {
    "silent": ("silent", "sent nothing within 0.4 s"),
    "unflushed": ("silent", "flush"),
    "late": ("late", "sent nothing within 0.8 s"),
    "half_line": ("late", "it sent '0 3 DO', and no end of the line"),
    "exits_at_once": ("crashed", "it ended with exit code 0"),
    "crashes_at_setup": ("crashed", "ValueError: no more rows"),
    "crashes": ("crashed", "exit code 1. Its last words on standard error: .*KeyError: 3"),
    "killed": ("crashed", "it was killed by SIGSEGV"),
    "babbles": ("babbling", "without ending the line"),
    "floods": ("illegal", "'0 3 DOWN' is not legal"),
    "illegal": ("illegal", "is a Flag, which never moves"),
    "rubbish": ("unintelligible", "is no answer: that is X Y DIRECTION"),
    "no_move": ("unintelligible", "'NO_MOVE' is no answer"),
    "bad_counts": ("bad setup", "9 Scouts, 1 too many.*1 Miner is missing|1 Miner is missing.*9 Scouts"),
    "short_row": ("bad setup", "has 9 characters instead of 10"),
    "eats_memory": ("crashed", "MemoryError"),
    "closes_output": ("crashed", "it closed its output"),
    "deaf": ("late", "sent nothing"),
}


@pytest.mark.parametrize(("colour", "name"), [(number % 2, name) for number, name in enumerate(MISBEHAVIOUR)])
def test_a_bot_that_misbehaves_loses_that_game_and_the_next_one_works(colour: int, name: str) -> None:
    kind, sentence = MISBEHAVIOUR[name]
    command = [sys.executable, str(BOTS / f"{name}.py")]
    start, seconds = (0.4 if kind == "silent" else 20.0), {"silent": 0.4, "late": 0.8}.get(kind, 20.0)
    agent = ExternalAgent(command, 1, seconds=seconds, start_seconds=start, memory=300)
    with pytest.raises(BotError, match=sentence) as caught:
        faces(agent, colour)
    assert caught.value.kind == kind and agent.fault is caught.value
    agent.command[1] = str(BOTS / "good.py")
    agent.seconds = agent.start_seconds = PATIENCE
    assert faces(agent, colour, plies=10).plies == 10 and agent.fault is None


def test_a_bad_row_is_judged_before_the_others_come() -> None:
    agent = script("print('FB8sB', flush=True); input(); input()")
    with pytest.raises(BotError, match="y=0, 'FB8sB', has 5 characters") as caught:
        set_up(agent, Stratego(CLASSIC), 0, random.Random(1))
    assert caught.value.kind == "bad setup"
    agent.close()


def test_what_a_bot_says_does_nothing_to_a_terminal() -> None:
    agent = script(
        "import sys; sys.stderr.write('\\x1b]0;hello\\x07\\n'); print('\\x1b[2J', flush=True); input(); input()"
    )
    with pytest.raises(BotError) as caught:
        set_up(agent, Stratego(CLASSIC), 0, random.Random(1))
    agent.close()
    said = str(caught.value) + agent.stderr + "".join(agent.transcript)
    assert "␛[2J" in said and "␛]0;hello␇" in agent.stderr
    assert not {character for character in said if character < " "} - {"\n"}


KILLS_ITS_GUARD = """
import os, signal, subprocess, sys
quiet = subprocess.DEVNULL
child = subprocess.Popen(["sleep", "600"], stdin=quiet, stdout=quiet, stderr=quiet)
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
print("FB8sB479B8", flush=True)
os.kill(os.getppid(), getattr(signal, sys.argv[2]))
signal.pause()
"""


@pytest.mark.parametrize("which", ["SIGKILL", "SIGSTOP"])
def test_a_bot_that_does_away_with_its_guard_does_not_stay_behind(which: str, tmp_path: Path) -> None:
    agent = script(KILLS_ITS_GUARD, str(tmp_path / "pids"), which, seconds=0.5)
    with pytest.raises(BotError) as caught:
        set_up(agent, Stratego(CLASSIC), 0, random.Random(1))
    assert which == "SIGSTOP" or "was killed by SIGKILL" in str(caught.value)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    _until(lambda: not any(_alive(pid) for pid in pids))


def test_a_check_starts_its_bot_under_limits_always(tmp_path: Path) -> None:
    file = tmp_path / "limits"
    body = f"import resource; open({str(file)!r}, 'a').write(f'{{resource.getrlimit(resource.RLIMIT_DATA)[0]}} ')"
    report = check(f"{sys.executable} -c {shlex.quote(body)}", memory=200, seconds=5.0)
    assert not report.ok
    starts = file.read_text().split()
    assert len(starts) >= 3 and set(starts) == {str(200 * 2**20)}


def test_after_its_fault_a_bot_is_not_asked_again() -> None:
    agent = bot("crashes_at_setup")
    with pytest.raises(BotError) as first:
        set_up(agent, Stratego(CLASSIC), 0, random.Random(1))
    with pytest.raises(BotError) as second:
        choose_move(agent, Board.random(seed=1).view(0))
    assert second.value is first.value


def test_a_flood_between_turns_costs_us_no_memory() -> None:
    agent = bot("floods")
    rng = random.Random(1)
    board = Board.from_setups(
        set_up(agent, Stratego(CLASSIC), 0, rng), set_up(RandomAgent(), Stratego(CLASSIC), 1, rng), "classic"
    )
    try:
        move = choose_move(agent, board.view(0))
        assert move == Move(30, 40)
        assert agent._process is not None and len(agent._process._incoming) <= 3 * 4096
        assert agent.spoke_unasked
    finally:
        agent.close()


def test_a_bot_that_does_not_listen_does_not_block_us() -> None:
    deaf = ExternalAgent(
        [sys.executable, "-c", "import time\nfor _ in range(4): print('x'*10, flush=True)\ntime.sleep(99)"]
    )
    with pytest.raises(BotError):
        set_up(deaf, Stratego(CLASSIC), 0, random.Random(1))
    assert deaf._process is not None
    deaf._process.send(*["x" * 1000] * 1000)  # a megabyte into a pipe of 64 KB
    deaf.close()


def test_a_stubborn_bot_with_children_is_killed_with_all_of_them(tmp_path: Path) -> None:
    agent = bot("stubborn", str(tmp_path / "pids"))
    board = faces(agent, 0, plies=6)
    assert board.plies == 6 and agent.quit_by_itself is False
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 3 and not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_a_bot_does_not_outlive_us_even_if_we_are_killed(tmp_path: Path) -> None:
    program = (
        "import random, sys, time\n"
        "from vauban.agents.external.stratego.agent import ExternalAgent\n"
        "from vauban.games.stratego.game import Stratego\n"
        "agent = ExternalAgent(sys.argv[1:], start_seconds=600.0)\n"
        "agent.set_up(Stratego('classic'), 0, random.Random(1))\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", program, sys.executable, str(BOTS / "stubborn.py"), str(tmp_path / "pids")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ours:
        assert ours.stdout is not None and ours.stdout.readline() == b"ready\n"
        ours.send_signal(signal.SIGKILL)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    _until(lambda: not any(_alive(pid) for pid in pids))


def test_an_agent_that_is_forgotten_takes_its_process_with_it() -> None:
    before = descendants()
    agent = bot("good")
    set_up(agent, Stratego(CLASSIC), 0, random.Random(1))
    assert descendants() - before
    del agent
    _until(lambda: not descendants() - before)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() and _state(pid) != "Z"


def _until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


# ── The check for authors ────────────────────────────────────────────────────────────────────────

FOUND = {
    "silent": "silent: it sent nothing within 0.5 s",
    "unflushed": "its output arrives only when it ends: flush after every line",
    "crashes": "KeyError: 3",
    "illegal": "is a Flag, which never moves. It had just been told '",
    "rubbish": "Directions are written in capitals",
    "no_move": "A bot that has no move says SURRENDER",
    "bad_counts": "1 Miner is missing",
    "red_only": "It is BLUE: its pieces began on y=6 to 9",
    "stale": "One turn earlier that was legal",
    "debugs": "What is not an answer belongs on standard error",
    "half_line": "it sent '0 3 DO', and no end of the line within 0.75 s. It had just been told '",
    "slow": "late: it answered after",
    "stays": "it does not end within 3 s after QUIT",
    "two_answers": "it sent more than one line as its answer",
    "crlf": "it ends its lines with a carriage return",
    "late": "after every line? It had just been told '",
}


def checked(name: str) -> Report:
    quick = name in ("silent", "unflushed")
    seconds = {"slow": 0.4, "half_line": 0.25, "silent": 0.1, "unflushed": 0.1, "late": 0.4}.get(name, 5.0)
    command = f"{sys.executable} {BOTS / name}.py"
    start = 0.5 if quick else 20.0
    return check(command, games=1, plies=16, seconds=seconds, start_seconds=start, first_seconds=start)


@pytest.mark.parametrize("name", FOUND)
def test_the_check_tells_an_author_what_is_wrong(name: str) -> None:
    report = checked(name)
    assert FOUND[name] in str([finding.sentence for finding in report.findings])
    assert report.ok is (name in ("two_answers", "crlf"))


def test_the_check_finds_nothing_wrong_with_a_good_bot() -> None:
    app = typer.Typer()
    app.command()(bot_check)
    command = f"{sys.executable} {BOTS / 'good.py'}"
    done = CliRunner().invoke(app, [command, "--plies", "16", "--seconds", "5", "--json"])
    report = json.loads(done.stdout.splitlines()[-1])
    assert (done.exit_code, report["ok"], report["findings"]) == (0, True, [])
    assert [trial["colour"] for trial in report["trials"]] == ["RED", "BLUE", "RED", "RED", "BLUE", "BLUE"]


def test_a_bot_whose_very_first_start_is_slow_is_in_order(tmp_path: Path) -> None:
    command = f"{sys.executable} {BOTS / 'slow_at_first.py'} {tmp_path / 'unpacked'}"
    report = check(command, games=1, plies=4, seconds=5.0, start_seconds=2.5)
    assert report.ok and (tmp_path / "unpacked").exists()
    assert any(
        "s after its very first start: start it once before a match" in each.sentence for each in report.findings
    )


def test_the_check_counts_games_with_moves_that_repetition_rules_bar() -> None:
    report = check(f"{sys.executable} {BOTS / 'to_and_fro.py'}", games=2, plies=30, seconds=5.0, start_seconds=20.0)
    assert report.ok and report.repeats >= 2
    assert check(f"{sys.executable} {BOTS / 'resigns.py'}", plies=16, seconds=5.0, start_seconds=20.0).repeats == 0


@pytest.mark.slow
def test_our_bot_has_compiled_what_it_needs_before_it_reads_a_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from vauban.cli.main import run; run()", "bot", "charger"]
    subprocess.run(command, env={**os.environ, "VAUBAN_CACHE": str(tmp_path)}, stdin=subprocess.DEVNULL, check=True)
    assert list(tmp_path.rglob("*choose_all*.nbc"))


def test_the_check_is_also_written_for_people() -> None:
    app = typer.Typer()
    app.command()(bot_check)
    command = f"{sys.executable} {BOTS / 'illegal.py'}"
    done = CliRunner().invoke(app, [command, "--plies", "10", "--games", "1", "--seconds", "5"])
    assert done.exit_code == 1
    assert "FAULT as RED against a random mover" in done.stdout and "< 0 0 DOWN" in done.stdout
    assert done.stdout.rstrip().endswith("It would lose games by this.")


def test_the_check_sends_a_class_of_python_to_a_match() -> None:
    with pytest.raises(
        ConfigurationError, match=r"speaks no protocol: .* vauban match py:mine.py:Mine random --game tiny"
    ):
        bot_check("py:mine.py:Mine", game="tiny")


def test_the_example_for_authors_is_in_order_and_is_what_the_page_shows() -> None:
    source = (ROOT / "examples" / "ucc_bot.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "external-bots.md").read_text(encoding="utf-8")
    assert source.partition('"""\n\n')[2] in page, "docs/external-bots.md shows another bot than examples/ucc_bot.py"
    report = check(f"{sys.executable} {ROOT / 'examples' / 'ucc_bot.py'}", plies=60, seconds=5.0)
    assert report.ok and not report.findings


def test_the_program_on_the_page_plays_a_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "external-bots.md").read_text(encoding="utf-8")
    program = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[-1]
    exec(compile(program, "docs/external-bots.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("./ucc_bot RED SETUP\n") and " BLUE DRAW_DEFAULT 21 " in said


# ── What is refused before anything starts ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"command": ""}, "the command of a bot is empty"),
        ({"command": "python3 'mybot"}, "cannot be split into words: No closing quotation"),
        ({"command": "no-such-program -x"}, "the program 'no-such-program' .* cannot be found"),
        ({"command": str(BOTS / "good.py")}, "is not executable"),
        ({"command": "true", "seconds": 0.0}, "needs time"),
        ({"command": "true", "memory": -1}, "memory is in MiB"),
        ({"command": "true", "cwd": "no/such/folder"}, "there is no folder 'no/such/folder'"),
    ],
)
def test_a_bot_that_can_never_work_is_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        ExternalAgent(**options)  # type: ignore[arg-type]


def test_other_games_are_refused_with_a_reason() -> None:
    with pytest.raises(ConfigurationError, match="a program plays Stratego, not 'kuhn'"):
        bot("good").check_plays(find_game("kuhn"))


def test_a_game_in_its_middle_is_refused() -> None:
    agent = bot("good")
    board = Board.random(seed=1)
    for _ in range(4):
        board.push(board.legal_moves[0])
    try:
        with pytest.raises(ConfigurationError, match="from its beginning"):
            choose_move(agent, board.view(0))
    finally:
        agent.close()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("10 0 UP", "(10, 0) is not on the board"),
        ("0 0 UP", "it leads off the board"),
        ("0 3 DOWN x", "it goes 0 squares"),
        ("4 4 UP", "there is no piece on (4, 4)"),
        ("2 4 UP", "there is a lake on (2, 4)"),
        ("0 6 UP", "the piece on (0, 6) is the opponent's"),
        ("3 3 DOWN", "is a Bomb, which never moves"),
        ("2 3 DOWN", "(2, 4) is a lake"),
        ("0 2 DOWN", "(0, 3) holds a piece of its own"),
        ("1 3 DOWN 2", "is a Lieutenant, and only Scouts move more than one square"),
        ("0 3 DOWN 4", "the way from (0, 3) to (0, 7) is not free"),
    ],
)
def test_an_illegal_answer_is_explained(answer: str, reason: str) -> None:
    rows = ["FB8sB479B8", "BB31555583", "6724898974", "967B669999"]
    board = Board.from_setups(ucc.parse_setup_rows(rows, 0), ucc.parse_setup_rows(rows[::-1], 1))
    parsed = ucc.parse_answer(answer)
    assert parsed is not None and reason in why_illegal(parsed, board.view(0))


def test_a_move_that_a_repetition_rule_bars_is_explained() -> None:
    rows = ["FB8sB479B8", "BB31555583", "6724898974", "967B669999"]
    board = Board.from_setups(ucc.parse_setup_rows(rows, 0), ucc.parse_setup_rows(rows[::-1], 1))
    for text in ("0 3 DOWN", "9 6 UP", "0 4 UP", "8 6 UP", "0 3 DOWN", "4 6 UP"):
        parsed = ucc.parse_answer(text)
        assert parsed is not None
        board.push(parsed.move() or pytest.fail(text))
    parsed = ucc.parse_answer("0 4 UP")
    assert parsed is not None and "a repetition rule bars it here" in why_illegal(parsed, board.view(0))


# ── The complete example of the protocol, our side as the manager ────────────────────────────────

RED_SETUP = ["5B8B8B4B68", "78B939B195", "s499766593", "946727589F"]
BLUE_SETUP = ["8859576999", "8717524398", "749B86B9s5", "B6BFB369B4"]
RED_ANSWERS = ["0 3 DOWN 3", "4 3 DOWN", "8 3 DOWN 2", "4 4 DOWN 1", "4 5 DOWN"]
BLUE_ANSWERS = ["5 6 UP", "5 5 UP", "5 4 UP", "0 6 UP", "9 6 UP 3"]

RED_HEARD_FIRST = """\
RED ./bluebot.py 10 10
START
5B8B8B4B68
78B939B195
s499766593
946727589F
..++..++..
..++..++..
##########
##########
##########
##########
0 3 DOWN 3 DIES 9 8
5 6 UP OK
5B8B8B4B68
78B939B195
s499766593
.46727589F
..++..++..
..++.#++..
#####.####
##########
##########
##########
4 3 DOWN OK
5 5 UP OK
"""
BLUE_HEARD_LAST = """\
4 4 DOWN OK
##########
##########
##########
.###..##.#
..++..++..
..++#.++#.
88595.6999
8717524398
749B86B9s5
B6BFB369B4
0 6 UP OK
4 5 DOWN KILLS 2 5
##########
##########
##########
.###..##.#
..++..++..
8.++..++#.
.859#.6999
8717524398
749B86B9s5
B6BFB369B4
QUIT ./bluebot.py BLUE VICTORY 5 142 138
"""
"""As recorded, but for the plain form of the opponent's words in the first line (there: 4 4 DOWN 1 OK)."""


def test_the_recorded_game_is_played_again_byte_for_byte_with_us_as_its_manager(tmp_path: Path) -> None:
    agents: list[ExternalAgent] = []
    for name, setup, answers in (("red", RED_SETUP, RED_ANSWERS), ("blue", BLUE_SETUP, BLUE_ANSWERS)):
        (tmp_path / name).write_text("\n".join([*setup, *answers]) + "\n")
        agents.append(bot("scripted", str(tmp_path / name), str(tmp_path / f"{name}.heard")))
    names = ("./redbot.py", "./bluebot.py")
    agents[0].opponent, agents[1].opponent = names[1], names[0]
    setups = [set_up(agent, Stratego(CLASSIC), side, random.Random(1)) for side, agent in enumerate(agents)]
    board = Board.from_setups(setups[0], setups[1], "classic", ucc.UCC_RULES)
    while not board.is_over:
        move = choose_move(agents[board.turn], board.view(board.turn))
        assert move is not None
        played = board.push(move)
        for agent in agents:
            agent.told(played)
    outcome = board.outcome()
    assert outcome is not None and (outcome.winner, outcome.end) == (1, "flag")
    for agent in agents:
        agent.command[1] = "bluebot.py"  # its own name in the last line is that of its program
        agent.command[2:] = []
        agent.ended(outcome.end)
        agent.close()
    red, blue = ((tmp_path / f"{name}.heard").read_text() for name in ("red", "blue"))
    assert red.startswith(RED_HEARD_FIRST) and "\n4 4 DOWN 1 OK\n0 6 UP OK\n" in red
    assert blue.startswith("BLUE ./redbot.py 10 10\n0 3 DOWN 3 DIES 9 8\n") and blue.endswith(BLUE_HEARD_LAST)
    assert "VICTORY_FLAG" not in red + blue
    assert red.endswith("QUIT ./bluebot.py BLUE VICTORY 5 142 138\n")
