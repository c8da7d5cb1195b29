"""The package as pip sees it: the distribution's name, its extras, and the commands that install them."""

from __future__ import annotations

import re
import runpy
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


def test_every_extra_is_on_the_page_about_installing() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for extra in PROJECT["optional-dependencies"].keys() - {"dev", "docs"}:  # of those who work on Vauban itself
        assert f'`pip install "{DISTRIBUTION}[{extra}]"`' in page, extra


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


def test_the_long_description_has_absolute_links(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}
    monkeypatch.setattr("setuptools.setup", lambda **options: given.update(options))
    runpy.run_path(str(ROOT / "setup.py"))
    text = given["long_description"]
    assert not re.findall(r"\]\((?!https://|#)|src=\"(?!https://)", text)
    home = PROJECT["urls"]["Source"]
    assert f"({home}/raw/main/docs/pictures/start.png)" in text and f"({home}/blob/main/docs/arena.md)" in text


def test_what_stands_for_links_can_be_mistaken_by_nobody() -> None:
    """`.invalid` is a name that no host can ever have; or the project has links of its own."""
    hosts = {url.split("/")[2] for url in PROJECT["urls"].values()}
    assert hosts == {"example.invalid"} or "example.invalid" not in hosts


def test_the_light_package_is_light() -> None:
    assert not [each for each in PROJECT["dependencies"] if re.match("torch|safetensors|scipy|ray|gymnasium", each)]
    assert {"torch", "safetensors"} == {
        re.split("[><=]", each)[0] for each in PROJECT["optional-dependencies"]["learn"]
    }


def test_the_models_in_the_wheel_are_not_too_large_for_it() -> None:
    """docs/models.md: what does not fit is published on a hub."""
    assert sum(path.stat().st_size for path in (ROOT / "src/vauban/models").rglob("*.safetensors")) < 64e6


def test_the_files_of_the_ecosystem_are_well_formed_and_agree() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the files that other programs read")
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]
    read = {path.name: yaml.safe_load(path.read_text()) for path in files}
    assert read["CITATION.cff"]["version"] == vauban.__version__
    assert read["CITATION.cff"]["license"] == PROJECT["license"]
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in read["test.yml"]["jobs"].values():
        for step in job["steps"]:
            for target in re.findall(r"make ([\w-]+)", step.get("run", "")):
                assert target in made
    [oldest] = [each["versions"] for each in read["test.yml"]["jobs"]["light"]["strategy"]["matrix"]["include"]]
    tried = {name: version.removesuffix(".*") for name, version in (each.split("==") for each in oldest.split())}
    allowed = (re.match(r"([\w-]+)>=([\d.]+)", each) for each in PROJECT["dependencies"])
    assert tried == {match[1]: match[2] for match in allowed if match}


# ── Releases ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository that could be released."""
    files = {
        "src/vauban/__init__.py": '__version__ = "1.2.3"\n',
        "CHANGELOG.md": "# Changes\n\n## 1.2.3\n\n* new\n",
        "CITATION.cff": "version: 1.2.3\n",
        "pyproject.toml": '[project.urls]\nSource = "https://somewhere.org/vauban"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@e", *words], cwd=tmp_path, check=True)
    return tmp_path


def check_release(root: Path) -> tuple[int, str]:
    """Return the exit code of the check before a release, and what it says."""
    command = [sys.executable, str(ROOT / "scripts/release.py"), "--check", "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_release_is_let_through_where_nothing_is_in_the_way(repository: Path) -> None:
    assert check_release(repository) == (0, "nothing is in the way of 1.2.3 but the tests\n")


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("new.txt", "", "not committed: new.txt"),
        ("CHANGELOG.md", "# Changes\n\n## Unreleased\n", "CHANGELOG.md has no heading '## 1.2.3'"),
        ("CITATION.cff", "version: 1.2.2\n", "CITATION.cff names another version"),
        ("pyproject.toml", '[project.urls]\nSource = "https://example.invalid/x"\n', "are placeholders"),
    ],
)
def test_a_release_is_refused_with_what_is_in_the_way(repository: Path, file: str, text: str, words: str) -> None:
    (repository / file).write_text(text)
    code, said = check_release(repository)
    assert code == 1 and words in said


def test_a_version_is_released_once(repository: Path) -> None:
    subprocess.run(["git", "tag", "v1.2.3"], cwd=repository, check=True)
    code, said = check_release(repository)
    assert code == 1 and "v1.2.3 is tagged already" in said


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
