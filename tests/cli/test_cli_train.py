"""`vauban train` and `vauban models card`: starting, stopping, resuming and using a run."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import typer
from patience import PATIENCE
from rich.console import Console
from test_learn_run import SMALL, Clock, without_times
from typer.testing import CliRunner

from vauban.agents.stratego.cadet import CadetAgent
from vauban.cli.main import app
from vauban.cli.main import run as main
from vauban.cli.train import command_text, make_evaluator, stopped_by_signals
from vauban.cli.train_display import Display, done_line, duration, estimate_lines, line, seconds_left
from vauban.errors import ConfigurationError, VaubanError
from vauban.learn.ataraxos.moves import MoveConfig
from vauban.learn.base import Estimate
from vauban.learn.card import ROWS, curve_of, facts_of, steps_of
from vauban.learn.commands import commands_text, settings, with_newer_settings
from vauban.learn.config import config_table, load_config, parse_config, presets
from vauban.learn.journal import read_metrics
from vauban.learn.origin import STARTS, note_start, read_starts
from vauban.learn.readme import readme_text
from vauban.learn.run import RECENT, SOON, Run
from vauban.learn.workers import ALONE
from vauban.nets.dtypes import working_dtype
from vauban.nets.store import STRENGTH, ModelError, load_model, read_card, shipped_models

MEDIUM = "net:medium,setups=human"
"""An agent that plays nothing but medium."""
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a configuration in a folder of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(f'about = "Nothing much."\n{SMALL}')
    return path


def told(*arguments: str) -> str:
    """Return all that a command prints, errors included."""
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def json_line(said: str) -> str:
    """Return the line of JSON of a command; a busy machine can say late, behind it, what was compiled."""
    return [line for line in said.splitlines() if line.startswith("{")][-1]


def match_text(agent: str, variant: str) -> str:
    """Return the output of a match, as far as a card reads it."""
    return json.dumps({"agents": [agent, "random"], **dict.fromkeys(STRENGTH, 0), "variant": variant})


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "vauban", "train", "--device", "cpu", *arguments]
    return subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], words: str) -> list[str]:
    """Return the lines that a process prints until one has these words."""
    lines = []
    assert process.stderr is not None
    for said in process.stderr:
        lines.append(said)
        if words in said:
            return lines
    raise AssertionError(f"{words!r} was never said: {''.join(lines)}")


def test_a_run_from_the_estimate_to_the_card(config: Path, capfd: pytest.CaptureFixture[str]) -> None:
    changes = [
        "iterations=2",
        "minutes=30",
        "evaluation.every=10",
        "evaluation.games=6",
        "evaluation.ladder=['random']",
    ]
    arguments = [part for change in changes for part in ("--set", change)]
    done = CliRunner(env={"COLUMNS": "200"}).invoke(
        app, ["train", "small.toml", "--device", "cpu", *arguments, "--json"]
    )
    assert done.exit_code == 0, done.output
    output, words = done.stdout, capfd.readouterr().err + done.stderr
    for expected in (
        "training in runs/small, on cpu, in float32", "an iteration takes about", "has 288 moves",
        "30 minutes: enough for about 2", "all 2 iterations of the configuration", "score random",
        "To see it play: vauban match net:runs/small/model",
    ):  # fmt: skip
        assert expected in words, expected
    assert "dollars" not in words, "this machine costs nothing"
    last = json.loads(output.splitlines()[-1])
    assert last == read_metrics(Path("runs/small"))[-1]
    assert last["score_low.random"] <= last["score.random"] <= last["score_high.random"]

    match = told(
        "match", "net:runs/small", "random", "--games", "4", "--game", "tiny", "--seed", "3", "--setups", "own",
        "--workers", "1", "--json",
    )  # fmt: skip
    Path("strength.jsonl").write_text(json_line(match))
    shown = told("models", "card", "runs/small", "--name", "recruit", "--matches", "strength.jsonl")
    assert "vauban train small.toml --set iterations=2" in shown and "Written to models/recruit" in shown
    card = read_card(Path("models/recruit"))
    assert Path("models/recruit/README.md").read_text(encoding="utf-8") == readme_text(card, "models/recruit")
    training = card["training"]
    assert (card["name"], card["about"]) == ("recruit", "Nothing much.")
    assert (training["iterations"], training["moves"]) == (2, int(last["moves"]))
    assert training["configuration"]["ataraxos"]["moves"]["games"] == 24
    assert training["machine"] and training["commit"] and training["date"]
    assert training["curve"][-1]["score.random"] == round(last["score.random"], 5)
    [row] = card["strength"]
    assert row["command"].startswith("vauban match net:models/recruit random --games 4 --game tiny")
    assert row["score"] == json.loads(json_line(match))["score"]
    again = told(*shlex.split(row["command"])[1:], "--workers", "1", "--json")
    assert json.loads(json_line(again))["score"] == row["score"], "up to rounding, the command comes to the same"
    stored = load_model(Path("models/recruit"))
    trained = load_model(Path("runs/small"))
    assert card["networks"]["move"]["dtype"] == "bfloat16"
    for mine, its in zip(stored.player.parameters(), trained.player.parameters(), strict=True):
        assert (mine == its.bfloat16().float()).all()


def test_the_card_of_a_run_from_a_model_begins_with_the_models_history(config: Path) -> None:
    train = ("train", str(config), "--device", "cpu", "--set", "belief.minutes=0.001")
    told(*train, "--set", "iterations=2", "--out", "runs/first")
    told("models", "card", "runs/first", "--name", "first", "--out", "first")
    said = told(*train, "--set", "iterations=3", "--from", "./first", "--out", "runs/second")
    assert "it goes on from the networks of 'first', after iteration 2" in said
    told("models", "card", "runs/second", "--name", "second", "--out", "second")
    before, after = (read_card(Path(name))["training"] for name in ("first", "second"))
    first, second = after["command"].split(" && ")
    assert first == before["command"] and "--from ./first --out runs/second" in second
    assert [row["iteration"] for row in after["curve"]] == [1, 2, 3]
    assert after["iterations"] == 3 and after["moves"] > before["moves"]
    assert after["curve"][2]["minutes"] > before["curve"][1]["minutes"] > 0
    assert after["minutes"] >= before["minutes"], "rounded to hundredths"
    lines = read_metrics(Path("runs/second"))
    assert after["steps"]["move"] == before["steps"]["move"] + sum(line.get("moves.batches", 0) for line in lines)
    assert after["steps"]["belief"] == before["steps"]["belief"] + 3
    assert after["commit"] == before["commit"] and after["machine"] == before["machine"]
    said = told(*train, "--set", "iterations=2", "--from", "./first", "--out", "runs/over")
    assert "'ataraxos' is over: it has had 2 iterations of 2 (--set iterations=4 goes on)" in said
    said = told(*train, "--set", "iterations=3", "--from", "runs/first", "--out", "runs/third")
    assert "it goes on from the networks of 'first', after iteration 2" in said, "a run knows its own history"


def test_ctrl_c_ends_a_run_in_order(config: Path) -> None:
    running = start("small.toml")
    wait_for(running, "outcome loss")
    running.send_signal(signal.SIGINT)
    _, words = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert "stopping after this iteration" in words and "vauban train --resume runs/small" in words
    progress = json.loads(Path("runs/small/checkpoint/progress.json").read_text())
    assert progress["iteration"] == len(read_metrics(Path("runs/small"))) > 0
    [started] = map(json.loads, Path("runs/small/starts.jsonl").read_text().splitlines())
    assert started["command"] == "vauban train small.toml"
    assert Run.resume(Path("runs/small")).iteration == progress["iteration"]


def test_a_process_that_is_killed_goes_on_to_the_numbers_of_one_that_was_not(config: Path) -> None:
    running = start("small.toml", "--set", "save_every=0")
    wait_for(running, "outcome loss")
    while not Path("runs/small/model/card.json").exists():
        assert running.poll() is None
        time.sleep(0.01)
    running.kill()  # while it plays, learns or saves
    running.communicate()
    match = ("match", "net:runs/small", "random", "--games", "2", "--game", "tiny", "--workers", "1", "--json")
    assert json.loads(json_line(told(*match)))["games"] == 2, "what is left plays"
    run = Run.resume(Path("runs/small"))
    for _ in range(2):
        run.iterate()
    lines = read_metrics(Path("runs/small"))
    whole = Run.begin(parse_config(config.read_text()), Path("runs/whole"))
    assert [without_times(line) for line in lines] == [without_times(whole.iterate()) for _ in lines]


def test_a_second_ctrl_c_ends_it_at_once(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    said = io.StringIO()
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit) as left, stopped_by_signals(run, Display(run, Console(file=said, width=200))):
        signal.raise_signal(signal.SIGTERM)
        assert run.stopping and "stopping after this iteration" in said.getvalue()
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it went on")
    assert left.value.exit_code == 130
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_help_teaches_and_names_every_preset() -> None:
    text = told("train", "--help")
    whole = "".join(text.split())  # lines may end behind a hyphen
    assert all(name in whole for name in presets())
    for words in ("Example: vauban train laptop", "torchrun", "--resume", "docs/metrics.md"):
        assert words in " ".join(text.split())


def test_the_laptop_preset_is_saved_and_measured_in_its_first_minute() -> None:
    config = load_config("laptop")
    assert SOON / 60 < config.evaluation.every < 1 and config.evaluation.ladder == ("random",)
    assert config.evaluation.every * 8 <= config.minutes, "a newcomer sees it get better"


def test_show_prints_a_configuration_that_can_be_read_back() -> None:
    shown = told("train", "laptop", "--set", "ataraxos.moves.games=7", "--minutes", "3", "--show")
    config = parse_config(shown)
    assert (config.stages["ataraxos"].moves.games, config.minutes) == (7, 3.0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say what to train"),
        (["laptop", "--resume", "runs/x"], "say what to train"),
        (["--resume", "runs/x"], "there is no run in runs/x"),
        (["--resume", "runs/x", "--out", "y"], "stays in its folder"),
        (["--resume", "runs/x", "--from", "classic"], "has its own networks"),
        (["laptop", "--from", "clasic"], "did you mean 'classic'"),
        (["small.toml", "--from", "classic"], "plays classic, not 'tiny'"),
        (["small.toml", "--from", ""], "there is no model"),
        (["lapto"], "did you mean 'laptop'"),
        (["small.toml", "--device", "gpu"], "auto, cpu or cuda"),
        (
            ["small.toml", "--set", "evaluation.every=1", "--set", "evaluation.ladder=['caddet']"],
            "did you mean 'cadet'",
        ),
        (
            ["small.toml", "--set", "game=medium", "--set", "evaluation.every=1", "--set", "evaluation.ladder=['lp']"],
            "evaluation.ladder, 'lp': agent 'lp' plays what it has solved",
        ),
        (
            [
                "small.toml",
                "--set",
                "iterations=1",
                "--set",
                "evaluation.every=1",
                "--set",
                f"evaluation.ladder=['{MEDIUM}']",
            ],
            f"evaluation.ladder, '{MEDIUM}': the model 'medium' plays medium, not 'tiny'",
        ),
        (["small.toml", "--set", "evaluation.games=0"], "1 game or more"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_sentence(config: Path, arguments: list[str], words: str) -> None:
    with pytest.raises(VaubanError, match=words):
        told("train", *arguments)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "small.toml", "--device", "cpu", "--set", "iterations=1", "--out", "a_file"],
        ["train", "small.toml", "--device", "cpu", "--set", "iterations=1", "--out", "a_file/below"],
        ["models", "card", "run", "--name", "mine", "--out", "a_file"],
    ],
)
def test_a_file_in_the_place_of_a_folder_is_said_in_a_sentence(
    config: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Run.begin(parse_config(SMALL), Path("run")).save()
    Path("a_file").write_text("kept")
    monkeypatch.setattr(sys, "argv", ["vauban", *arguments])
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr().err
    assert ended.value.code == 2 and said.startswith("error: a_file") and "cannot be used as asked" in said, said
    assert Path("a_file").read_text() == "kept"


def test_a_configuration_that_is_no_utf_8_is_refused(config: Path) -> None:
    config.write_bytes(b"# caf\xe9\n" + config.read_bytes())
    with pytest.raises(ConfigurationError, match="small.toml is no UTF-8, from byte 5 on: save it as UTF-8"):
        told("train", "small.toml")
    Run.begin(parse_config(SMALL), Path("run"))
    Path("run/config.toml").write_bytes(config.read_bytes())
    with pytest.raises(ConfigurationError, match="run/config.toml is no UTF-8"):
        told("train", "--resume", "run")


def test_a_run_that_memory_has_no_room_for_says_which_settings_to_change(config: Path) -> None:
    """More games than any machine's addresses can count."""
    huge = ("--device", "cpu", "--set", f"ataraxos.moves.games={10**13}")
    fewer = f"--set ataraxos.moves.games={10**13 // 2} --set ataraxos.moves.slices=2"
    with pytest.raises(ConfigurationError, match=f"memory of cpu is not enough .* vauban train … {fewer}"):
        told("train", "small.toml", *huge)
    assert not Path("runs").exists()
    told("train", "small.toml", "--device", "cpu", "--set", "iterations=1")
    with pytest.raises(ConfigurationError, match=f"vauban train --resume runs/small {fewer}"):
        told("train", "--resume", "runs/small", *huge)


def test_a_belief_that_memory_has_no_room_for_says_which_settings_to_change(config: Path) -> None:
    """The same of the belief, when moves are done."""
    huge = ("--set", "iterations=1", "--set", "belief.minutes=1", "--set", f"belief.games={10**13}")
    fewer = f"vauban train --resume runs/small --set belief.games={10**13 // 2} --set belief.pool=1$"
    with pytest.raises(ConfigurationError, match=f"is not enough for belief.games={10**13}, belief.pool=3: .*{fewer}"):
        told("train", "small.toml", "--device", "cpu", *huge)


def test_a_run_that_is_over_leaves_no_thread_behind(config: Path) -> None:
    before = set(threading.enumerate())
    told("train", "small.toml", "--device", "cpu", "--set", "iterations=1")
    assert set(threading.enumerate()) == before


def test_a_small_game_ends_with_a_command_that_measures_it(config: Path) -> None:
    said = told("train", "ataraxos-kuhn", "--device", "cpu", "--set", "iterations=1", "--out", "run")
    words = "the model is in run/model. To see how good it is: vauban "
    command = next(line for line in said.splitlines() if words in line).partition(words)[2]
    assert command == "exploitability kuhn net:run/model"
    assert "exploitability" in json.loads(json_line(told(*shlex.split(command), "--json")))


def test_games_for_stakes_are_not_evaluated() -> None:
    changes = ["game=kuhn", "rules=", "ataraxos.setup_network=false", "evaluation.every=1"]
    with pytest.raises(ConfigurationError, match="those of 'kuhn' are played for stakes"):
        make_evaluator(parse_config(SMALL, changes), torch.device("cpu"))


def test_games_without_setups_are_evaluated_and_their_command_asks_for_none(config: Path) -> None:
    changes = ["game=rock-paper-scissors", "iterations=1", "evaluation.every=10", "evaluation.games=4"]
    arguments = [part for change in changes for part in ("--set", change)]
    said = told("train", "ataraxos-kuhn", "--device", "cpu", *arguments, "--out", "run")
    assert "score random" in said and "vauban match net:run/model random --game rock-paper-scissors\n" in said


def test_rules_of_another_game_are_left_out_with_a_word(config: Path) -> None:
    said = told("train", "laptop", "--device", "cpu", "--set", "game=kuhn", "--show")
    assert "so 'kuhn' is played by its own (--set rules=… for others)" in said
    assert 'rules = ""' in said and 'about = ""' in said


def test_a_model_is_measured_against_what_it_was(tmp_path: Path) -> None:
    config = parse_config(SMALL, ["evaluation.every=1", "evaluation.games=2", "evaluation.ladder=[]",
                                  "evaluation.earlier=true"])  # fmt: skip
    evaluate = make_evaluator(config, torch.device("cpu"))
    assert evaluate is not None
    run = Run.begin(config, tmp_path / "run")
    run.save_model(tmp_path / "run" / "model")
    assert not evaluate(tmp_path / "run" / "model"), "there is none yet"
    run.save_model(tmp_path / "run" / "earlier" / "000001")
    assert 0 <= evaluate(tmp_path / "run" / "model")["score.earlier"] <= 1


def test_the_second_evaluation_is_of_the_second_model(tmp_path: Path) -> None:
    """A model that is written anew into the same folder must not be taken for the one before."""
    changes = ["evaluation.every=1", "evaluation.games=40", "ataraxos.moves.average=0", "ataraxos.setups.average=0"]
    config = parse_config(SMALL, changes)
    evaluate = make_evaluator(config, torch.device("cpu"))
    assert evaluate is not None
    run = Run.begin(config, tmp_path / "run")
    run.save_model(tmp_path / "run" / "model")
    first = evaluate(tmp_path / "run" / "model")
    assert first == evaluate(tmp_path / "run" / "model"), "the same model plays the same games"
    with torch.no_grad():
        for parameter in run.first.move.average.parameters():
            parameter.mul_(-3)
    run.save_model(tmp_path / "run" / "model")
    assert first != evaluate(tmp_path / "run" / "model")


def test_opponents_that_break_down_are_not_beaten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    config = parse_config(SMALL, ["evaluation.every=1", "evaluation.games=2", "evaluation.ladder=['cadet', 'random']"])
    evaluate = make_evaluator(config, torch.device("cpu"))
    assert evaluate is not None
    Run.begin(config, tmp_path / "run").save_model(tmp_path / "run" / "model")

    def break_down(*_: object) -> None:
        raise RuntimeError("no more paper")

    monkeypatch.setattr(CadetAgent, "choose", break_down)
    scores = evaluate(tmp_path / "run" / "model")
    assert set(scores) == {"score.random"}, "two games have no interval"
    assert "against cadet, 2 games ended in an error, so there is no score" in capfd.readouterr().err


# ── The estimate, the display ────────────────────────────────────────────────────────────────────


def an_estimate() -> Estimate:
    return Estimate(
        {"drawing setups": 0.5, "playing": 2.0, "learning moves": 3.0, "learning setups": 0.5}, 10_000, 11.26, 42.0
    )


def test_an_estimate_in_sentences(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL, ["iterations=42400", "minutes=30", "belief.minutes=6"]), tmp_path / "run")
    first, limit, whole, belief = estimate_lines(run, an_estimate(), 4.0)
    assert "about 6 s (drawing setups 0.5, playing 2, learning moves 3, learning setups 0.5)" in first
    assert "10,000 moves; the GPU needs about 11.3 GB; compiling took 42 seconds" in first
    assert "30 minutes: enough for about 300 iterations, 3.00 million moves" in limit
    assert "all 42,400 iterations of the configuration: about 2.9 days from now" in whole
    assert belief == "then 6 minutes for the algorithm 'belief'"
    run.device = torch.device("cuda")  # nothing is done there: only the price is told
    _, limit, whole, belief = estimate_lines(run, an_estimate(), 4.0)
    assert limit.endswith("2.00 dollars at 4.00 an hour (--price)")
    assert "282.67 dollars" in whole and "0.40 dollars" in belief
    endless = Run.begin(parse_config(SMALL), tmp_path / "endless")
    assert "it has no end of its own: an hour brings 6.00 million moves" in estimate_lines(endless, an_estimate(), 4)[1]


def test_time_and_cost_that_cannot_be_measured_before_are_told_after_the_first_iterations(tmp_path: Path) -> None:
    clock = Clock()
    run = Run.begin(parse_config(SMALL, ["iterations=1001"]), tmp_path / "run", clock=clock)
    plain = Display(run, Console(file=io.StringIO(), width=200))
    plain.price = 4.0
    for seconds in (90, 6, 6, 6):  # the first one compiles
        clock.now += seconds
        plain.show(run.iterate())
    said = plain.console.file.getvalue()  # type: ignore[attr-defined]
    assert said.count("an iteration takes about 6 s and has") == 1, said
    assert "all 1,001 iterations of the configuration: about 100 minutes from now" in said


def test_a_run_that_has_had_its_minutes_says_what_makes_it_go_on(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL, ["minutes=5"]), tmp_path / "run")
    run.stages[0].seconds = 320
    assert done_line(run).endswith("it has had 5.3 minutes, and 5 are asked for (--minutes 10 goes on)")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.8, "1 second"),
        (1.6, "2 seconds"),
        (30, "30 seconds"),
        (3600, "60 minutes"),
        (36000, "10.0 hours"),
        (864000, "10.0 days"),
    ],
)
def test_durations_are_told_in_fitting_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_terminal_shows_a_display_and_a_file_gets_lines(tmp_path: Path) -> None:
    config = parse_config(SMALL, ["iterations=2", "minutes=8", "belief.minutes=60", "evaluation.every=100"])
    run = Run.begin(config, tmp_path / "run", evaluator=lambda _: {"score.fox": 0.5, "score_low.fox": 0.25,
                                                                   "score_high.fox": 0.75})  # fmt: skip
    terminal = Display(run, Console(file=io.StringIO(), force_terminal=True, width=150))
    plain = Display(run, Console(file=io.StringIO(), width=150))
    with terminal.open(), plain.open():
        while run.stages[1].learner is None and run.goes_on():
            last = run.iterate()
            terminal.show(last)
            plain.show(last)
    screen = Console(file=io.StringIO(), width=150)
    screen.print(terminal.render())
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    for words in (
        "belief · iteration 3 · 0.",
        "of 60 min",
        "belief",
        "nats a piece",
        "fox 50.0% (25.0% to 75.0%), at 0 min",
    ):
        assert words in shown, words
    lines = plain.console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 2, "the first, and the one with a score; the others came within five seconds"
    assert "score fox 50.0%" in lines[1]
    assert line(run, last).startswith("belief")


def test_a_line_tells_how_far_how_fast_and_how_good_a_run_is(tmp_path: Path) -> None:
    clock = Clock()
    run = Run.begin(parse_config(SMALL, ["iterations=40", "minutes=8"]), tmp_path / "run", clock=clock)
    run.iterate()
    clock.now = 6
    told = run.iterate() | {
        "iteration": 10.0, "minutes": 1.0, "moves": 2e6, "games": 7654.0, "speed.moves_per_second": 1234.0,
        "speed.collect": 2500.0, "speed.moves": 2400.0, "moves.entropy": 1.25, "moves.update_kl": 0.0123,
        "memory.gigabytes": 5.62,
    }  # fmt: skip
    run.first.iteration, run.stages[0].seconds = 10, 60.0
    text = line(run, told, {"score.fox": 0.5, "score_low.fox": 0.25, "score_high.fox": 0.75})
    for words in (
        "10 of 40", "2.00 million moves", "7,654 games", "1,234 moves/s, playing 2,500, learning 2,400",
        "entropy 1.250", "KL 0.0123", "score fox 50.0%", "5.6 GB", "1.0 min", "3 minutes left",
    ):  # fmt: skip
        assert words in text, words
    assert "(25.0% to 75.0%)" not in text, "that was another iteration's"
    assert "(25.0% to 75.0%)" in line(run, told | {"score.fox": 0.5, "score_low.fox": 0.25, "score_high.fox": 0.75})
    run.stages[0].iterations, run.stages[0].minutes = 0, 0.0
    assert "left" not in line(run, told)


def test_the_time_that_is_left_is_told_by_the_latest_iterations(tmp_path: Path) -> None:
    """Compiling, measuring and the first iteration took a minute and a half here, each one since half a second."""
    clock = Clock()
    run = Run.begin(parse_config(SMALL, ["iterations=600"]), tmp_path / "run", clock=clock)
    clock.now = 90
    assert seconds_left(run) is None, "nothing is known before the first iteration"
    run.iterate()
    for _ in range(2):
        clock.now += 0.5
        told = run.iterate()
    assert seconds_left(run) == pytest.approx(597 * 0.5)
    assert "5 minutes left" in line(run, told)
    for _ in range(RECENT):
        clock.now += 2
        run.iterate()
    assert seconds_left(run) == pytest.approx((600 - 3 - RECENT) * 2), "older iterations are forgotten"


def test_iterations_of_seconds_have_a_line_each(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    plain = Display(run, Console(file=io.StringIO(), width=150))
    told = run.iterate()
    for seconds in (0.1, 0.1, 1.5, 1.5):
        plain.show(told | {"seconds.moves": seconds})
    assert len(plain.console.file.getvalue().splitlines()) == 3  # type: ignore[attr-defined]


def test_what_a_run_notices_is_said_once(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL), tmp_path / "run")
    plain = Display(run, Console(file=io.StringIO(), width=150))
    run.notes.append("something begins anew")
    plain.say_notes()
    run.notes.append("play has collapsed")
    plain.show(run.iterate())
    plain.say_notes()
    said = plain.console.file.getvalue()  # type: ignore[attr-defined]
    assert said.count("something begins anew") == said.count("play has collapsed") == 1


def test_bfloat16_is_for_gpus_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert working_dtype(torch.device("cpu")) == torch.float32
    for capability, dtype in (((7, 5), torch.float32), ((8, 0), torch.bfloat16), ((9, 0), torch.bfloat16)):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device, found=capability: found)
        assert working_dtype(torch.device("cuda")) == dtype


def test_the_command_of_a_run_is_kept_as_it_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command_text("mine.toml", None, ["seed=2"], 1) == "vauban train mine.toml --set seed=2"
    assert command_text("mine.toml", None, [], 1, Path("runs/mine")) == "vauban train mine.toml --out runs/mine"
    assert command_text(None, Path("runs/a b"), [], 1) == "vauban train --resume 'runs/a b'"
    assert command_text("mine.toml", None, [], 8) == "torchrun --nproc-per-node=8 -m vauban train mine.toml"
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    assert command_text("mine.toml", None, [], 16) == "torchrun --nnodes=2 --nproc-per-node=8 -m vauban train mine.toml"


# ── Cards ────────────────────────────────────────────────────────────────────────────────────────


def test_a_curve_has_the_lines_that_were_measured_and_some_of_all() -> None:
    lines = [
        {"iteration": float(n), "minutes": n / 10, "moves": 9.0 * n, "moves.entropy": 1.0, "moves.outcome_loss": 0.5}
        for n in range(1, 1001)
    ]
    rows = curve_of([*lines, {"iteration": 1000.0, "belief.steps": 3.0}])
    assert len(rows) == ROWS
    assert (rows[0]["iteration"], rows[-1]["iteration"]) == (1, 1000)
    assert list(rows[0]) == ["iteration", "minutes", "moves", "entropy", "outcome_loss"]
    for each in lines[9::100]:
        each["score.random"] = 0.75
    rows = curve_of(lines)
    assert 2 * len(range(10, 1001, 100)) < len(rows) <= ROWS
    assert (rows[0]["iteration"], rows[-1]["iteration"]) == (1, 1000)
    scored = [row["iteration"] for row in rows if row.get("score.random") == 0.75]
    assert scored == list(range(10, 1001, 100))
    for each in lines:
        each["score.random"] = 0.75
    assert len(curve_of(lines)) == ROWS
    assert curve_of([]) == []


def test_a_card_counts_the_steps_of_each_network_and_says_what_the_belief_is_worth() -> None:
    lines = [
        {"moves.batches": 100.0, "setups.steps": 5.0},
        {"moves.batches": 50.0},
        {"belief.steps": 100.0, "belief.validation": 1.5, "belief.marginal": 2.0, "belief.uniform": 1.9},
        {"belief.steps": 200.0, "belief.validation": 1.2, "belief.marginal": 2.0, "belief.uniform": 1.9},
    ]
    assert steps_of(lines) == {"move": 150, "setup": 5, "belief": 200}
    assert facts_of(lines) == {"belief.validation": 1.2, "belief.marginal": 2.0, "belief.uniform": 1.9}
    assert steps_of(lines[:1]) == {"move": 100, "setup": 5}
    assert facts_of(lines[:2]) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no json", "a line of JSON for each match"),
        ('{"agents": ["cadet", "random"]}', "the first agent has to be the model"),
        ('{"agents": ["net:run", "random"]}', "a match without game, rules"),
        ('{"agents": ["net:runs/x", "random"]}', "a match of the model 'runs/x', and this one is 'mine'"),
        (match_text("net:./run/model", "barrage"), "a match of 'barrage', and the model plays tiny"),
        ("[1]", "a line of JSON for each match"),
    ],
)
def test_matches_that_are_none_of_the_model_are_refused(config: Path, text: str, words: str) -> None:
    run = Run.begin(parse_config(SMALL), Path("run"))
    run.save()
    Path("matches.jsonl").write_text(text)
    with pytest.raises(ModelError, match=words):
        told("models", "card", "run", "--name", "mine", "--matches", "matches.jsonl")
    assert not Path("models").exists()


def test_a_variant_of_ones_own_is_trained_resumed_and_measured(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = 'name = "mine"\nrows = 4\ncolumns = 4\nsetup_rows = 1\narmy = "F1 S1 O1 N1"\ntotal_limit = 60\n'
    Path("mine.toml").write_text(mine)
    told("train", "small.toml", "--device", "cpu", "--set", "game=mine.toml", "--set", "iterations=1", "--out", "run")
    match = ("match", "net:./run", "random", "--games", "2", "--game", "mine.toml", "--workers", "1", "--json")
    Path("matches.jsonl").write_text(json_line(told(*match)))
    told("models", "card", "run", "--name", "mine", "--matches", "matches.jsonl")
    command = read_card(Path("models/mine"))["strength"][0]["command"]
    assert f"--game {Path('mine.toml').absolute()}" in command
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert Run.resume(Path("../run")).iteration == 1


def test_matches_in_which_an_agent_broke_down_are_refused(config: Path) -> None:
    run = Run.begin(parse_config(SMALL), Path("run"))
    run.save()
    Path("bad.py").write_text("class Bad:\n    def choose_move(self, view):\n        raise RuntimeError('lost')\n")
    match = ("match", "net:./run", "py:bad.py:Bad", "--games", "2", "--game", "tiny", "--workers", "1", "--json")
    Path("matches.jsonl").write_text(json_line(told(*match)))
    with pytest.raises(
        ModelError, match="'py:.*bad.py:Bad' broke down in 2 of the games .failed: RuntimeError.*play .* again"
    ):
        told("models", "card", "run", "--name", "mine", "--matches", "matches.jsonl")
    assert not Path("models").exists()


@pytest.mark.parametrize("name", ["", "..", "a/b"])
def test_a_model_is_called_by_what_a_folder_can_be_called_by(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"without slashes, not '{name}'"):
        told("models", "card", "runs/small", "--name", name)


def test_a_folder_without_a_run_has_no_card(config: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no run in nowhere"):
        told("models", "card", "nowhere", "--name", "mine")


def test_a_card_lists_changes_by_hand_between_two_commands() -> None:
    had = {"minutes": 3, "moves": {"clip": 0.2, "magnet_weight": {"coefficient": 0.1, "decay": 0.3, "ceiling": 1.0}}}
    has = {
        "minutes": 5.0,
        "moves": {"clip": 0.1, "magnet_weight": {"coefficient": 0.2, "decay": 0.4, "ceiling": "inf"}},
    }
    resumed = "vauban train --resume runs/small --minutes 5 --set moves.magnet_weight.decay=0.4"
    starts = [
        {"command": "vauban train small.toml", "configuration": had},
        {"command": resumed, "configuration": has},
        {"command": "vauban train --resume runs/small", "configuration": has},
    ]
    assert commands_text(starts) == (
        f"vauban train small.toml && {resumed} --set moves.clip=0.1 --set moves.magnet_weight.coefficient=0.2 "
        "--set moves.magnet_weight.ceiling=inf"
    )


def test_a_card_lists_settings_that_its_preset_has_changed_since() -> None:
    then = json.loads(json.dumps(config_table(load_config("laptop", ["seed=2"]))))
    command = "vauban train laptop --out runs/mine --set seed=2"
    assert commands_text([{"command": command, "configuration": then}]) == command
    then["ataraxos"]["moves"]["clip"] = 0.5
    assert commands_text([{"command": command, "configuration": then}]) == f"{command} --set ataraxos.moves.clip=0.5"


def test_a_card_lists_settings_that_its_preset_has_gained_since() -> None:
    """A run that had no such setting behaves as the setting's default makes it."""
    command = "vauban train ataraxos-h200-barrage"
    then = json.loads(json.dumps(config_table(load_config("ataraxos-h200-barrage"))))
    assert then["ataraxos"]["moves"].pop("reach") != MoveConfig().reach
    assert commands_text([{"command": command, "configuration": then}]) == f"{command} --set ataraxos.moves.reach=0.0"


def test_a_card_says_that_there_was_no_setup_network() -> None:
    then = json.loads(json.dumps(config_table(load_config("ataraxos-h200-barrage", ["ataraxos.setup_network=false"]))))
    command = "vauban train ataraxos-h200-barrage"
    assert (
        commands_text([{"command": command, "configuration": then}]) == f"{command} --set ataraxos.setup_network=false"
    )


def test_a_card_resumes_a_run_in_the_folder_where_it_begins() -> None:
    config = json.loads(json.dumps(config_table(load_config("laptop"))))
    longer = {**config, "minutes": 9.0}
    for begun, folder in (
        ("vauban train laptop", "runs/laptop"),
        ("vauban train laptop --out runs/mine", "runs/mine"),
    ):
        starts = [
            {"command": begun, "configuration": config},
            {"command": "vauban train --resume elsewhere/moved --set minutes=9", "configuration": longer},
        ]
        assert commands_text(starts) == f"{begun} && vauban train --resume {folder} --set minutes=9"


@pytest.mark.parametrize("name", shipped_models())
def test_the_commands_of_a_shipped_model_lead_to_its_configuration(name: str) -> None:
    """Every run that is resumed or gone on from has been made before, and ends with the settings in the card."""
    training = load_model(name).card["training"]
    made: dict[str, tuple[str, list[str]]] = {}
    for each in training["command"].split(" && "):
        words = shlex.split(each)
        assert words[:2] == ["vauban", "train"]
        given, changes = dict(pairwise(words)), [word for option, word in pairwise(words) if option == "--set"]
        if "--from" in given:
            assert given["--from"] in made
        if "--resume" in given:
            folder = given["--resume"]
            preset, before = made[folder]
        else:
            folder, preset, before = given.get("--out", f"runs/{words[2]}"), words[2], []
        made[folder] = (preset, [*before, *changes])
        config = config_table(load_config(*made[folder]))
    known, today = with_newer_settings(training["configuration"]), settings(json.loads(json.dumps(config)))
    today.pop("about")  # left out today where a command names another game than the preset
    assert {key: today[key] for key in today} == {key: known[key] for key in today}


def test_a_start_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    assert read_starts(tmp_path) == []
    note_start(tmp_path, "vauban train tiny.toml", {"seed": 1}, torch.device("cpu"), ALONE, 0)
    with (tmp_path / STARTS).open("a") as file:
        file.write('{"command": "vauban tr')
    [found] = read_starts(tmp_path)
    assert found["command"] == "vauban train tiny.toml"
    note_start(tmp_path, "vauban train --resume runs/tiny", {"seed": 1}, torch.device("cpu"), ALONE, 5)
    assert [each["iteration"] for each in read_starts(tmp_path)] == [0, 5]
