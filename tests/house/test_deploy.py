"""The files for hosts: the container, the service, and the servers in front."""

from __future__ import annotations

import configparser
import fnmatch
import json
import re
import shlex
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from vauban.cli.main import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PAGE = (ROOT / "docs" / "hosting.md").read_text()


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, each with all its lines as one."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in whole.splitlines())]


def options_of_play() -> set[str]:
    command = typer.main.get_command(app).commands["play"]  # type: ignore[attr-defined]
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def unknown_options(words: list[str]) -> list[str]:
    """Return what is no option of `vauban play` among the words of a command; all of them if it is another command."""
    if "play" not in words:
        return words
    given = [word.partition("=")[0] for word in words[words.index("play") :] if word.startswith("--")]
    return [name for name in given if name not in options_of_play()]


def test_everything_that_the_container_copies_is_there_and_is_sent_to_its_builder() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    sent = [line[1:] for line in ignored if line.startswith("!")]
    assert ignored[0] == "*", "what is not named is not sent"
    copied = [rest.split() for word, rest in instructions(DOCKERFILE) if word == "COPY" and "--from" not in rest]
    sources = [source for *each, _ in copied for source in each]
    assert {"src", "pyproject.toml", "constraints.txt"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, name) for name in sent), f"{source} is not sent to the builder"
    assert set(sent) == set(sources), "what is sent is needed"


def test_what_the_package_is_made_of_is_in_the_container() -> None:
    """setup.py and pyproject.toml read files beside them."""
    read = set(re.findall(r'"([\w.-]+\.(?:md|txt|toml))"', (ROOT / "setup.py").read_text())) | {"LICENSE"}
    assert "README.md" in read
    copied = {source for word, rest in instructions(DOCKERFILE) if word == "COPY" for source in rest.split()[:-1]}
    assert {name for name in read if (ROOT / name).exists()} <= copied


def test_the_container_runs_as_nobody_much_and_says_how_it_is() -> None:
    found = instructions(DOCKERFILE)
    last = len(found) - 1 - [word for word, _ in reversed(found)].index("FROM")
    final = dict(found[last:])
    assert final["USER"].isdigit() and int(final["USER"]) > 0
    assert final["VOLUME"] in final["CMD"], "games lie in the volume"
    assert "/api/health" in final["HEALTHCHECK"]
    assert [*json.loads(final["ENTRYPOINT"])] == ["vauban"]
    assert unknown_options(json.loads(final["CMD"])) == []
    assert all(arg.partition("=")[0] in ("PYTHON", "TORCH_INDEX", "EXTRAS") for word, arg in found if word == "ARG")


def test_the_service_starts_what_there_is() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DEPLOY / "vauban.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert unknown_options(words) == []
    assert unit["Service"]["DynamicUser"] == "yes" and unit["Service"]["ProtectSystem"] == "strict"
    for folder, key in (("/var/lib/", "StateDirectory"), ("/var/cache/", "CacheDirectory")):
        assert f"{folder}{unit['Service'][key]}" in f"{words} {unit['Service']['Environment']}"
    assert "MemoryDenyWriteExecute" not in unit["Service"], "the rules are compiled"


@pytest.mark.parametrize("name", ["nginx.conf", "nginx-several.conf"])
def test_nginx_is_told_to_pass_on_what_the_page_goes_by(name: str) -> None:
    text = (DEPLOY / name).read_text()
    for line in (
        "proxy_set_header Host $host;",
        "proxy_set_header Upgrade $http_upgrade;",
        "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    ):
        assert line in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_the_commands_of_the_files_are_there_and_the_page_of_docs_leads_to_each(path: Path) -> None:
    for command in re.findall(r"^#.*?\b(vauban play .*)$", path.read_text(), re.MULTILINE):
        assert unknown_options(shlex.split(command)) == [], command
    assert f"../deploy/{path.name}" in PAGE


def test_every_command_of_the_page_about_hosting_has_options_that_are_there() -> None:
    commands = re.findall(r"^\$ .*?\bvauban (play .*?)(?:  +#.*)?$", PAGE, re.MULTILINE)
    assert len(commands) > 5
    assert {command: wrong for command in commands if (wrong := unknown_options(shlex.split(command)))} == {}


def test_the_options_of_play_are_all_told_by_its_help() -> None:
    shown = CliRunner().invoke(app, ["play", "--help"], env={"COLUMNS": "200"}).output
    assert all(name in shown for name in options_of_play() if name != "--help")
