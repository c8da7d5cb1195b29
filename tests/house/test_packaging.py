"""The package as pip sees it: the distribution's name, its extras, and the commands that install them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import vauban
from vauban.errors import DISTRIBUTION, install_command

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
SOURCES = [
    *(path for folder in ("src", "scripts", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
    *(ROOT / "src").rglob("*.md"),
]

REQUIREMENT = re.compile(r"pip install (?:-[-\w]+ )*(\"[^\"\n]+\"|[\w./-]+)")
"""The first requirement of an install command, behind its flags."""
OURS = re.compile(rf'"{DISTRIBUTION}(\[(?P<extras>[\w,]+)\])?"')


def wrong_installs(text: str) -> list[str]:
    """List the requirements of install commands that fail, or fetch another program, where a reader runs them."""
    wrong = []
    for requirement in REQUIREMENT.findall(text):
        ours = OURS.fullmatch(requirement)
        extras = (ours["extras"] or "").split(",") if ours else []
        known = requirement == "." or requirement.endswith("requirements-peers.txt")
        if not known and (ours is None or any(e and e not in PROJECT["optional-dependencies"] for e in extras)):
            wrong.append(requirement)
    return wrong


@pytest.mark.parametrize(
    "line",
    [
        'pip install "vauban[ray]"', "pip install vauban", 'pip install ".[ray]"', 'pip install "vauban-games[rays]"',
        "pip install scipy",
    ],
)  # fmt: skip
def test_a_wrong_install_line_is_noticed(line: str) -> None:
    assert wrong_installs(f"this needs it: `{line}`")


def test_right_install_lines_are_let_through() -> None:
    assert not wrong_installs('`pip install .`, `pip install "vauban-games[ray,solve]"`, pip install "vauban-games"')


def test_pages_name_install_commands_that_work_in_any_folder() -> None:
    assert {str(path): wrong for path in PAGES if (wrong := wrong_installs(path.read_text()))} == {}


def test_sources_make_install_commands_with_the_one_function() -> None:
    """There is thus one place to change, and no message names an extra that does not exist."""
    extras = set()
    for path in SOURCES:
        text = path.read_text()
        extras |= set(re.findall(r"install_command\(['\"](\w+)['\"]\)", text))
        if path.name != "errors.py":
            assert not wrong_installs(text), path
    assert {"cuda", "envs", "ray", "solve"} <= extras <= set(PROJECT["optional-dependencies"])


def test_the_distribution_is_called_otherwise_than_the_program_of_the_same_name() -> None:
    assert PROJECT["name"] == DISTRIBUTION == "vauban-games"
    assert install_command("ray") == 'pip install "vauban-games[ray]"'
    assert PROJECT["scripts"] == {"vauban": "vauban.cli.main:run"}


def test_the_version_does_not_depend_on_how_vauban_was_installed() -> None:
    """It stands in the package, and pyproject reads it there: no distribution of any name has to be there."""
    assert "version" in PROJECT["dynamic"]
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import vauban; print(vauban.__version__)"
    done = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == vauban.__version__


def test_a_new_game_needs_no_line_in_pyproject() -> None:
    """Whatever lies beside the code is packed, and modules of kernels say themselves that they are not annotated."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    package = ROOT / "src" / "vauban"
    packed = {path for glob in tools["setuptools"]["package-data"]["vauban"] for path in package.glob(glob)}
    beside = {path for path in package.rglob("*.*") if path.is_file() and path.suffix not in (".py", ".pyc", ".so")}
    assert beside <= packed, beside - packed
    games = [path.stem for path in (package / "games").iterdir() if path.stem not in ("__init__", "base")]
    for settings in (tools["mypy"], tools["ruff"], tools["setuptools"]):
        named = re.findall(rf"games[./](?:{'|'.join(games)})\b", str(settings))
        assert not named, f"{named} are named one by one"


IMPORTING = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    room = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(room, "__path__", ()), f"{name}."):
        if found.name != "vauban.games.kit":  # which plays on GPUs too
            importlib.import_module(found.name)
    assert "torch" not in sys.modules, f"something in {name} loads torch"
"""


def test_rooms_that_do_without_torch_load_it_by_no_detour() -> None:
    """The import contract sees what they import themselves; here everything is imported that these import."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [rooms] = [each["source_modules"] for each in contracts if each.get("forbidden_modules") == ["torch"]]
    done = subprocess.run([sys.executable, "-c", IMPORTING, *rooms], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
