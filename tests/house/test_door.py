"""Classes and games from a file or an installed package are loaded, and errors say what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vauban import door
from vauban.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _clean_modules() -> object:
    modules, path = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_class_is_loaded_from_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, "class Striker:\n    depth = 3\n")
    assert door.load(f"py:{path}:Striker", "an agent").depth == 3


def test_a_file_is_imported_once_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "class Striker: ...\n")
    monkeypatch.chdir(tmp_path)
    assert door.load("py:mine.py:Striker", "an agent") is door.load(f"py:{path}:Striker", "an agent")


def test_two_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        write(tmp_path / str(number), f"class Mine:\n    number = {number}\n")
    assert [door.load(f"py:{tmp_path / str(n)}/mine.py:Mine", "an agent").number for n in (1, 2)] == [1, 2]


def test_a_file_may_import_the_files_beside_it(tmp_path: Path) -> None:
    write(tmp_path, "depth = 4\n", "beside_the_agent.py")
    path = write(tmp_path, "from beside_the_agent import depth\nclass Striker:\n    depth = depth\n")
    assert door.load(f"py:{path}:Striker", "an agent").depth == 4


def test_the_options_behind_a_name_are_split_off() -> None:
    file, name, rest = door.split("py:C:\\bots\\mine.py:Striker,book=a:b.txt,depth=2", "an agent")
    assert (str(file), name, rest) == ("C:\\bots\\mine.py", "Striker", "book=a:b.txt,depth=2")


@pytest.mark.parametrize("text", ["py:mine.py", "py:mine:Striker", "py:", "py:mine.py:", "py:mine.py:a b"])
def test_a_text_without_a_file_or_a_name_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"does not name an agent: write py:FILE\.py:NAME"):
        door.load(text, "an agent")


def test_a_missing_file_is_named_with_the_folder_it_is_looked_for_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        door.load("py:nowhere.py:Striker", "an agent")
    assert str(caught.value) == f"there is no file nowhere.py to take an agent from: it is looked for in {Path.cwd()}"


def test_a_name_that_is_missing_is_answered_with_those_that_are_there(tmp_path: Path) -> None:
    path = write(tmp_path, "from pathlib import Path\nclass Striker: ...\ndef make(): ...\nclass _Hidden: ...\n")
    for name in ("Strikr", "_Hidden"):
        with pytest.raises(
            ConfigurationError, match=rf"has no '{name}', which should be a game: it has Striker, make$"
        ):
            door.load(f"py:{path}:{name}", "a game")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\nx = unknown\n", "NameError in line 2: name 'unknown' is not defined"),
        ("x = 1\n\ndef f(:\n", "SyntaxError in line 3: "),
        ("import no_such_module\n", "ModuleNotFoundError in line 1: No module named 'no_such_module'"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        door.load(f"py:{path}:Striker", "an agent")
    assert str(caught.value).startswith(f"{path} cannot be imported: {complaint}")
    path.write_text("class Striker: ...\n")
    assert door.load(f"py:{path}:Striker", "an agent"), "a file can be mended and loaded again"


def test_installed_packages_offer_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "their_agents-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vauban.test]\nstriker = their_agents:Striker\nlost = nowhere:Lost\n")
    write(tmp_path, "class Striker:\n    depth = 5\n", "their_agents.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = door.entry_points("vauban.test")
    assert found["striker"]().depth == 5
    with pytest.raises(ConfigurationError, match="'lost' of the package their-agents cannot be loaded from nowhere:Lo"):
        found["lost"]()


def test_what_two_packages_offer_by_one_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2):
        info = tmp_path / f"package_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: package-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[vauban.test]\nsame = module_{number}:Same\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigurationError, match="'same' is offered by several packages"):
        door.entry_points("vauban.test")["same"]()


def test_a_text_that_names_a_file_is_made_to_be_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert door.whole("py:mine.py:Striker,depth=2") == f"py:{Path.cwd()}/mine.py:Striker,depth=2"
    assert [door.whole(text) for text in ("fox:setups=own", "py:")] == ["fox:setups=own", "py:"]


def test_the_door_imports_no_room_above_it() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, vauban.door; print(*(m for m in sys.modules if m.startswith('vauban.')))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert sorted(told.stdout.split()) == ["vauban.door", "vauban.errors"]
