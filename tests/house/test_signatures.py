"""Signatures and transcripts: the program behaves as before, unless a change was meant (docs/signatures.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transcripts import FOLDER, file_of, transcripts
from typer.testing import CliRunner

from vauban import signature
from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.families import family_part
from vauban.learn.base import learners
from vauban.learn.config import load_config

PARTS = signature.parts()
TRANSCRIPTS = transcripts()


@pytest.mark.parametrize("name", PARTS)
def test_a_part_does_what_it_did(name: str) -> None:
    stored, learned_on = signature.stored()
    found = PARTS[name]()
    assert name in stored, f"no signature of {name} is stored: {signature.COMMAND} stores it"
    if not signature.comparable(name):
        assert PARTS[name]() == found, f"two runs of {name} differ"
        pytest.skip(f"stored for {learned_on}, and this is {signature.learned_on()}: two runs here agree")
    assert found == stored[name], f"{name} has changed; if that is meant, say why in the commit: {signature.COMMAND}"


@pytest.fixture
def coin_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Agents of a family of poker games, in a package with the family's name."""
    import vauban.agents

    (tmp_path / "kuhn").mkdir()
    (tmp_path / "kuhn" / "__init__.py").write_text('SIGNED = (("kuhn", None), ("kuhn", None))\n')
    monkeypatch.setattr(vauban.agents, "__path__", [*vauban.agents.__path__, str(tmp_path)])
    family_part.cache_clear()
    makers = {"bets": lambda settings, seed: Bets(), "fails": lambda settings, seed: Fails()}
    monkeypatch.setitem(vauban.agents.FAMILIES, "kuhn", makers)
    yield
    sys.modules.pop("vauban.agents.kuhn")
    family_part.cache_clear()


class Bets:
    def choose_move(self, view: Any) -> str:
        return str(view.legal_moves[-1])


class Fails:
    def choose_move(self, view: Any) -> str:
        raise RuntimeError("not today")


@pytest.mark.usefixtures("coin_bots")
def test_an_agent_is_signed_in_the_games_of_its_family() -> None:
    assert signature.parts()["agents/kuhn/bets"]() == signature.parts()["agents/kuhn/bets"]()


@pytest.mark.usefixtures("coin_bots")
def test_an_agent_that_fails_is_not_signed() -> None:
    with pytest.raises(ConfigurationError, match="'fails' lost a game by an error, which is not signed: failed: Runti"):
        signature.parts()["agents/kuhn/fails"]()


def test_every_learner_that_is_shipped_is_trained_by_some_line() -> None:
    runs = [load_config(preset, changes) for preset, changes in signature.SMALL_RUNS.values()]
    trained = {algorithm for config in runs for algorithm in config.algorithms}
    shipped = {name for name, kind in learners().items() if kind.__module__.startswith("vauban.")}
    assert shipped <= trained, f"no line trains {shipped - trained}: add a small run to SMALL_RUNS in signature.py"


@pytest.mark.parametrize("name", [name for name in PARTS if name.startswith("learners/")])
def test_the_line_of_a_learner_tells_of_what_it_has_learned(name: str) -> None:
    nothing = signature._Hash().text
    assert nothing not in signature.stored()[0][name], f"{name} hashes no weights and no tables"


def test_no_signature_is_stored_of_a_part_that_is_gone() -> None:
    gone = set(signature.stored()[0]) - set(PARTS)
    assert not gone, f"there are no such parts any more: {gone}; {signature.COMMAND} forgets them"


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_game_reads_as_it_did(name: str) -> None:
    path = file_of(name)
    assert path.exists(), f"no transcript of {name} is kept: python tests/transcripts.py writes it"
    kept = path.read_text(encoding="utf-8")
    assert TRANSCRIPTS[name] == kept, "if that is meant, say why in the commit: python tests/transcripts.py"


def test_no_transcript_is_kept_of_a_family_that_is_gone() -> None:
    assert set(FOLDER.iterdir()) == set(map(file_of, TRANSCRIPTS))


def test_a_hash_depends_on_numbers_and_not_on_what_holds_them() -> None:
    def hashed(*values: object) -> str:
        one = signature._Hash()
        one.add(*values)
        return one.text

    assert hashed(np.array([1, 2], np.int16)) == hashed(torch.tensor([1, 2])) == hashed([1, 2])
    assert hashed(np.array([0.5, -0.0], np.float32)) == hashed(torch.tensor([0.5, 0.0], dtype=torch.float64))
    assert hashed([1, 2]) != hashed([2, 1])
    assert hashed("ab", "c") != hashed("a", "bc")


def test_a_name_stands_for_all_parts_under_it() -> None:
    assert list(signature.chosen(["rules/isf", "games/"])) == [
        name for name in PARTS if name.startswith("games/") or name == "rules/isf"
    ]
    assert list(signature.chosen([])) == list(PARTS)
    with pytest.raises(ConfigurationError, match="did you mean 'games'"):
        signature.chosen(["gmaes"])


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the stored signatures that may be written."""
    path = tmp_path / "signatures.json"
    path.write_text(signature.FILE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(signature, "FILE", path)
    return path


def test_the_command_says_what_differs_until_it_is_stored(elsewhere: Path) -> None:
    table = json.loads(elsewhere.read_text())
    right = table["signatures"]["games/kuhn"]
    table["signatures"]["games/kuhn"] = "0" * 12
    del table["signatures"]["games/nano"]
    table["signatures"]["games/gone"] = "1" * 12
    elsewhere.write_text(json.dumps(table))
    command = ["bench", "signature", "games/kuhn", "games/nano", "games/tiny"]

    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert f"{right}  games/kuhn  differs from 000000000000" in done.stdout
    assert "games/nano  not stored" in done.stdout
    assert "2 of 3 differ from what is stored" in done.stdout

    done = CliRunner().invoke(app, [*command, "--json", "--write"])
    assert done.exit_code == 0
    assert json.loads(done.stdout.splitlines()[-1])["differ"] == ["games/nano", "games/kuhn"]
    assert CliRunner().invoke(app, command).exit_code == 0
    assert list(signature.stored()[0]) == list(PARTS), "others are kept, in order, and what is gone is forgotten"


def test_lines_of_learners_are_stored_together_for_one_kind_of_machine(elsewhere: Path) -> None:
    table = json.loads(elsewhere.read_text()) | {"learned_on": "torch 1.0, an abacus"}
    elsewhere.write_text(json.dumps(table))
    assert not signature.comparable("learners/kuhn")
    assert signature.comparable("games/kuhn")
    with pytest.raises(ConfigurationError, match="write all of them together"):
        signature.write({"learners/kuhn": "metrics 0 weights 0"})
    learners = {name: "metrics 0 weights 0" for name in PARTS if name.startswith("learners/")}
    signature.write(learners)
    assert signature.stored()[1] == signature.learned_on()
    assert signature.comparable("learners/kuhn")
