"""A game of one's own, in a file: it is trained, resumed from another folder, and its model plays."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vauban.cli.main import app
from vauban.learn.card import make_model
from vauban.learn.config import load_config
from vauban.learn.readme import readme_text
from vauban.learn.run import Run
from vauban.nets.store import load_model

LIARS_COIN = f"py:{Path(__file__).parents[2] / 'examples' / 'adding_a_game.py'}:LiarsCoin"
SMALL = (
    "rules=", "iterations=3", "ataraxos.moves.games=32", "ataraxos.moves.batch=64", "ataraxos.move_network.width=16",
)  # fmt: skip


def test_the_example_of_a_game_is_trained_and_its_model_is_judged_exactly(tmp_path: Path) -> None:
    run = Run.begin(load_config("ataraxos-kuhn", [f"game={LIARS_COIN}", *SMALL]), tmp_path / "run")
    while run.goes_on():
        told = run.iterate()
    assert told["moves.batches"] > 0 and told["play.ended"] > 0
    assert told["play.end.given_up"] + told["play.end.believed"] + told["play.end.doubted"] == pytest.approx(1)
    run.save()
    model = load_model(tmp_path / "run")
    assert (model.game.name, model.player.observation) == ("liars-coin", "coin")
    assert Run.resume(tmp_path / "run", changes=["iterations=4"]).iterate()["iteration"] == 4
    done = CliRunner().invoke(app, ["exploitability", LIARS_COIN, f"net:{tmp_path / 'run'}", "--json"])
    assert done.exit_code == 0, done.output
    assert 0 <= json.loads(done.stdout.splitlines()[-1])["exploitability"] < 2


def test_a_game_in_a_file_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(Path(LIARS_COIN.split(":")[1]).read_text().replace("liars-coin", "my-coin"))
    monkeypatch.chdir(tmp_path)
    config = load_config("ataraxos-kuhn", ["game=py:mine.py:LiarsCoin", *SMALL])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run = Run.begin(config, tmp_path / "run")
    run.iterate()
    run.save()
    assert Run.resume(tmp_path / "run").iterate()["iteration"] == 2
    assert load_model(tmp_path / "run").game.name == "my-coin"


def test_the_page_of_a_game_of_ones_own_has_commands_that_work(tmp_path: Path) -> None:
    ambush = f"py:{Path(__file__).parents[2] / 'examples' / 'ambush.py'}:Ambush"
    run = Run.begin(load_config("ataraxos-kuhn", [f"game={ambush}", *SMALL[1:]]), tmp_path / "run")
    run.iterate()
    run.save()
    card = make_model(tmp_path / "run", tmp_path / "model", "mine")
    page = readme_text(card, str(tmp_path / "model"))
    assert "Kuhn" not in page, "the preset was about another game"
    assert "- ambush\n" in page and "stratego" not in page and "search:" not in page
    [command] = [line for line in page.splitlines() if line.startswith("$ vauban match")]
    assert f"--game {ambush} --setups own" in command and "--rules" not in command
    words = shlex.split(command.replace("--games 100", "--games 2"))[2:]
    done = CliRunner().invoke(app, [*words, "--workers", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout.splitlines()[-1])["games"] == 2
