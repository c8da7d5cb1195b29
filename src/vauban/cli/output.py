"""Helpers of all commands: tables, progress, JSON on the last line, complaints, files to be written."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from vauban.errors import ConfigurationError

# Texts of others may have words between colons, nowhere:X: for example, which are no emoji.
console = Console(emoji=False)
errors = Console(stderr=True, emoji=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")]


def print_json(table: dict[str, Any]) -> None:
    """Print the result for a program: one object on one line."""
    print(json.dumps(table, allow_nan=False))


def started_as() -> str:
    """Return `vauban` as this person has to type it: the name if the shell finds it, else as it was given."""
    given = sys.argv[0] if sys.argv else ""
    found = shutil.which("vauban")
    if Path(given).stem != "vauban" or (found is not None and Path(found).resolve() == Path(given).resolve()):
        return "vauban"
    return shlex.quote(given)


def complain(sentence: str) -> None:
    """Say what is wrong."""
    errors.print(f"[bold red]error:[/] {_plain(sentence)}", highlight=False, soft_wrap=True)


def warn(sentence: str) -> None:
    """Say what may mislead, though nothing is wrong."""
    errors.print(f"[bold yellow]warning:[/] {_plain(sentence)}", highlight=False, soft_wrap=True)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


@contextmanager
def progress_bar(what: str, total: int | None = None, log: Path | None = None) -> Iterator[Any]:
    """Show a progress bar on the terminal; yield a function (done, text) that moves it.

    log: a file that gets a line whenever it moves.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task(what, total=total)

        def move(done: int, text: str | None = None, total: int | None = None) -> None:
            bar.update(task, completed=done, description=text or what, total=total)
            if log is not None:
                whole = bar.tasks[task].total
                with complaining(log), log.open("a", encoding="utf-8") as file:
                    file.write(
                        f"{datetime.now():%Y-%m-%d %H:%M:%S}  {done:,.0f} of {whole or 0:,.0f}  {text or what}\n"
                    )

        yield move


@contextmanager
def ended_politely() -> Iterator[None]:
    """Take a request to end, such as `kill PID`, for Ctrl-C, so that what has been done is kept and told."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_files(tournament: Path | None = None, **outputs: Path | None) -> None:
    """Refuse files that cannot be written, or that are one, before hours are spent on what was to be in them."""
    taken = {} if tournament is None else {tournament.resolve(): "the tournament's own file"}
    for option, path in outputs.items():
        if path is None:
            continue
        if path.resolve() in taken:
            raise ConfigurationError(f"--{option} {path} is {taken[path.resolve()]} as well: name another file")
        taken[path.resolve()] = f"--{option}"
        there = path.exists()
        with complaining(path):
            path.open("a").close()
            if not there:
                path.unlink()


@contextmanager
def complaining(path: Path) -> Iterator[None]:
    """Say in a sentence why a file cannot be written."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
