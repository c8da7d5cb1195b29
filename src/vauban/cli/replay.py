"""`vauban replay`: a recorded game, step by step in the terminal, or printed.

At a terminal single keys step through the game; from other streams, lines with the same letters do.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console
from rich.text import Text

from vauban.board import Board, Look
from vauban.cli.output import Json, errors, print_json
from vauban.cli.show import QUIET, show_of
from vauban.errors import ConfigurationError, NotationError, VaubanError
from vauban.games.base import Outcome, nearest
from vauban.notation import records
from vauban.notation.formats import to_notation
from vauban.notation.game import iterate_games
from vauban.notation.records import RecordedGame

ALL = "all"
"""The view of an onlooker who sees both sides."""

KEYS = {
    "n": "next", " ": "next", "": "next", "\r": "next", "\n": "next", "\x1b[C": "next", "\x1b[B": "next",
    "b": "back", "p": "back", "\x7f": "back", "\x1b[D": "back", "\x1b[A": "back",
    "<": "first", "\x1b[H": "first", "\x1b[1~": "first", "\x1bOH": "first",
    ">": "last", "\x1b[F": "last", "\x1b[4~": "last", "\x1bOF": "last",
    "g": "go", "f": "flip", "v": "view", "q": "quit", "\x04": "quit",
}  # fmt: skip
"""Keys, and what they do. A number goes to that ply."""
HELP = "→ n next · ← b back · < first · > last · g go to a ply · f flip the board · v whose view · q quit"


class Replay:
    """A game on its way from ply to ply, and how one looks at it."""

    def __init__(
        self, game: RecordedGame, view: str = "all", source: TextIO | None = None, target: TextIO | None = None
    ) -> None:
        if game.board is None:
            raise NotationError("some pieces of this game are not known (U), so it cannot be shown on a board")
        self.game = game
        self.board: Board = game.board.copy()
        self._later: list[int] = []
        self.show = show_of(game.game)
        self.views = (ALL, *game.game.players)
        """The views that can be shown: both sides open, or one player's knowledge."""
        if view not in self.views:
            raise ConfigurationError(f"there is no view {view!r}: {nearest(view, self.views)}")
        self.view = view
        self.bottom = max(0, self.views.index(view) - 1)
        self.source = source or sys.stdin
        self.by_keys = self.source is sys.stdin and sys.stdin.isatty() and find_spec("termios") is not None
        """Whether single keys can be read; there is no such thing on Windows."""
        self.console = Console(file=target or sys.stdout, markup=False, emoji=False, highlight=False)

    @property
    def ply(self) -> int:
        """Moves of the record that have been made."""
        return len(self.board.history)

    @property
    def plies(self) -> int:
        """Moves of the record in all."""
        return len(self.board.history) + len(self._later)

    def go(self, ply: int) -> None:
        """Go to the position after so many moves of the record, as near as there is one."""
        while self.ply > max(ply, 0):
            self._later.append(self.board.actions[-1])
            self.board.pop()
        while self.ply < ply and self._later:
            self.board.push(self._later.pop())

    # ── Showing ──────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str | Text = "", style: str = "") -> None:
        self.console.print(Text(text, style) if isinstance(text, str) else text)

    def introduce(self) -> None:
        """Say who played what."""
        sides = [
            Text.assemble(self.show.player(player), f" {self.game.headers.get(name.title(), '?')}")
            for player, name in enumerate(self.game.game.players)
        ]
        self.say(Text.assemble(sides[0], "  –  ", sides[1], (f"   {self.game.game.name}", QUIET)))

    def draw(self) -> None:
        """Show the position as it stands."""
        look: Look = self.board if self.view == ALL else self.board.view(self.views.index(self.view) - 1)
        for line in self.show.picture(look, self.bottom, look.history):
            self.say(line)
        shown = "" if self.view == ALL else f", as {self.view} knew it"
        self.say(f"After ply {self.ply} of {self.plies}{shown}.", QUIET)
        if self.board.history:
            self.say(self._line(self.ply - 1), "bold")
        elif 0 in self.game.comments:
            self.say(f"{{{self.game.comments[0]}}}")
        if self.ply == self.plies:
            self.say(self.verdict(), "bold")

    def print_game(self) -> None:
        """Print the whole game, move by move."""
        self.introduce()
        self.go(0)
        self.draw()
        self.say()
        while self.ply < self.plies:
            self.go(self.ply + 1)
            self.say(self._line(self.ply - 1))
        self.say()
        self.draw()

    def verdict(self) -> str:
        """Say how the game ended."""
        said = self.show.ended(self.game.outcome or Outcome(None, "unfinished", 0.0))
        note = self.game.headers.get("Note")
        return f"{said.removesuffix('.')} ({note})." if note else said

    def _line(self, index: int) -> str:
        """Return a move in words, with its number and the comment after it."""
        comment = self.game.comments.get(index + 1)
        return f"{index + 1:>4}. {self.told(index)}" + (f"  {{{comment}}}" if comment else "")

    def told(self, index: int) -> str:
        """Return a move in words, as the view's owner knows it."""
        return self.show.told(self.board, self.board.history[index])

    # ── Stepping ─────────────────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """Do what is typed until it is enough."""
        self.go(0)
        lines = (line.strip() for line in self.source)
        with _keys() if self.by_keys else nullcontext(lines) as typed:
            while True:
                if self.by_keys:
                    self.console.clear()
                self.introduce()
                self.draw()
                self.say(HELP, QUIET)
                if not self._obey(next(typed, "q"), typed):
                    return

    def _obey(self, said: str, typed: Iterator[str]) -> bool:
        command = KEYS.get(said, "go" if said.isdigit() else "")
        if command == "quit":
            return False
        if command == "go":
            self._go_where(said if said.isdigit() else "", typed)
        elif command in ("next", "back", "first", "last"):
            self.go({"next": self.ply + 1, "back": self.ply - 1, "first": 0, "last": self.plies}[command])
        elif command == "flip":
            self.bottom = 1 - self.bottom
        elif command == "view":
            self.view = self.views[(self.views.index(self.view) + 1) % len(self.views)]
        return True

    def _go_where(self, digits: str, typed: Iterator[str]) -> None:
        """Go to the ply whose number is typed, digit by digit or as a line."""
        if self.by_keys:
            self.console.print(f"go to ply: {digits}", end="")
            for key in typed:
                if not key.isdigit():
                    break
                digits += key
                self.console.print(key, end="")
        elif not digits:
            digits = next(typed, "")
        if digits.isdigit():
            self.go(int(digits[:9]))


_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """Yield the keys that are pressed at the terminal, without an echo; an arrow is one."""
    import termios
    import tty

    number = sys.stdin.fileno()

    def pressed() -> Iterator[str]:
        while keys := os.read(number, 64).decode(errors="replace"):
            yield from _KEY.findall(keys)

    before = termios.tcgetattr(number)
    tty.setcbreak(number, termios.TCSADRAIN)  # what was typed already is not lost
    try:
        yield pressed()
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


# ── The command ──────────────────────────────────────────────────────────────────────────────────


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file of recorded games, as play, match and tournament save them (also Strados, UCC, "
            "Gravon, Geister logs)."
        ),
    ],
    number: Annotated[int, typer.Option(help="Number of the game in the file, from 1.", min=1)] = 1,
    ply: Annotated[int | None, typer.Option(help="Print the position after so many plies, and end.", min=0)] = None,
    view: Annotated[str, typer.Option(help="The view to show: all, or a player's, such as red.")] = ALL,
    json: Json = False,
) -> None:
    """Go through a recorded game: forwards, backwards, to any ply, from either side.

    At a terminal: → or n next, ← or b back, < and > first and last, g go to a ply, f flip the board,
    v whose view, q quit. Elsewhere the game is printed move by move.

    Example: vauban replay games.txt --number 3

    Example: vauban replay games.txt --ply 120 --view blue
    """
    found, games = read_game(file, number)
    table = Replay(found, view)
    if ply is not None and ply > table.plies:
        raise ConfigurationError(f"game {number} of {file} has {table.plies} plies, and no ply {ply}")
    if json:
        table.go(table.plies if ply is None else ply)
        print_json(
            {
                "game": number, "games": games, "headers": table.game.headers, "plies": table.plies,
                "ply": table.ply, "position": table.board.text, "result": table.game.result, "end": table.game.end,
                "moves": [table.told(index) for index in range(table.ply)],
            }
        )  # fmt: skip
    elif ply is not None:
        table.introduce()
        table.go(ply)
        table.draw()
    elif sys.stdin.isatty() and sys.stdout.isatty():
        table.run()
    else:
        table.print_game()


def read_game(file: Path, number: int) -> tuple[RecordedGame, int]:
    """Return a game of a file, and how many there are. What is wrong with others is said, and does not matter."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}") from error
    found: RecordedGame | None = None
    count = 0
    try:
        for count, game in enumerate(iterate_games(to_notation(data)), 1):
            if count == number:
                found = records.replay(game)
    except VaubanError as error:
        where = f"game {number}: " if count == number and found is None else ""
        if found is None:
            raise NotationError(f"{file}: {where}{error}") from error
        errors.print(Text(f"{file}: {error}; the {count} before it can be read"), soft_wrap=True)
    if count == 0:
        raise NotationError(f"{file}: there is no game in it")
    if found is None:
        raise ConfigurationError(f"{file} has {count} {'game' if count == 1 else 'games'}, and no game {number}")
    return found, count
