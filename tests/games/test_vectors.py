"""Recorded cases and games, replayed: every legal move, every observation, every end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from vauban.board.stratego.verify import verify
from vauban.errors import NotationError

DATA = Path(__file__).parents[1] / "data"
OURS = sorted(DATA.glob("games_uniform_*.json"))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_recorded_games_agree(path: Path) -> None:
    report = verify([path])
    assert report.first is None, report.first
    assert report.plies > 1000 and report.observations > 10 and report.disagree == 0


@pytest.mark.parametrize(
    "name",
    ["barrage_chase", "barrage_chase_short", "barrage_random", "classic_chase", "classic_random", "sparse_chase",
     "sparse_mixed"],
)  # fmt: skip
def test_published_games_agree(name: str, vectors: Path) -> None:
    report = verify([vectors / f"games_{name}.json"])
    assert report.first is None, report.first
    assert report.plies > 2000 and report.observations > 20


def test_repetition_cases_agree(vectors: Path) -> None:
    report = verify([vectors / "repetition_cases.jsonl"])
    assert report.first is None, report.first
    assert report.cases == 61


def test_chase_games_agree(vectors: Path) -> None:
    report = verify([vectors / "chase_games.jsonl"])
    assert report.first is None, report.first
    assert (report.cases, report.plies) == (146, 122_579)


def damaged(folder: Path, change) -> Path:
    """Return a copy of a small recorded set with something changed."""
    source = DATA / "games_uniform_short.json"
    table = json.loads(source.read_text())
    arrays = dict(np.load(source.with_suffix(".npz")))
    change(table, arrays)
    (folder / "set.json").write_text(json.dumps(table))
    np.savez(folder / "set.npz", **arrays)
    return folder / "set.json"


def drop_a_legal_move(table, arrays) -> None:
    arrays["legal"] = np.delete(arrays["legal"], 3)
    arrays["legal_count"][0] -= 1


def change_an_observation(table, arrays) -> None:
    arrays["obs_value"][20] += 0.25


def change_the_winner(table, arrays) -> None:
    table["games"][0]["winner"] = "red" if table["games"][0]["winner"] != "red" else "blue"


def play_something_else(table, arrays) -> None:
    arrays["moves"][1] = 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (drop_a_legal_move, "legal moves"),
        (change_an_observation, "observation, channel"),
        (change_the_winner, "winner and end"),
        (play_something_else, "the recorded move is refused"),
    ],
)
def test_a_planted_disagreement_is_found(tmp_path: Path, change, words: str) -> None:
    report = verify([damaged(tmp_path, change)])
    assert report.disagree >= 1
    assert words in report.first


def test_games_without_their_arrays_are_refused(tmp_path: Path) -> None:
    shutil.copy(DATA / "games_uniform_short.json", tmp_path)
    with pytest.raises(NotationError, match=r"games_uniform_short\.npz"):
        verify([tmp_path / "games_uniform_short.json"])


@pytest.mark.parametrize("text", ["", "[]", "{", '{"variant": "barrage"}', "null"])
def test_files_that_are_no_recordings_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    (tmp_path / "x.npz").write_bytes(b"")
    with pytest.raises(NotationError, match=r"x\.json"):
        verify([tmp_path / "x.json"])
