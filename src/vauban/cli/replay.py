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

from vauban.board.stratego import Board, Look, Played
from vauban.cli.output import Json, errors, print_json
from vauban.cli.terminal_picture import BRACKETS, QUIET, STYLES, draw, list_words, piece_words
from vauban.errors import ConfigurationError, NotationError, VaubanError
from vauban.games.base import nearest
from vauban.games.stratego.pieces import FLAG, PLAYERS
from vauban.games.stratego.variants import Variant
from vauban.notation import records
from vauban.notation.formats import to_notation
from vauban.notation.game import iterate_games
from vauban.notation.records import RecordedGame
from vauban.notation.stratego.moves import Move

VIEWS = ("all", *PLAYERS)
"""Whose knowledge is shown: both sides open, or what one player knew."""

KEYS = {
    "n": "next", " ": "next", "": "next", "\r": "next", "\n": "next", "\x1b[C": "next", "\x1b[B": "next",
    "b": "back", "p": "back", "\x7f": "back", "\x1b[D": "back", "\x1b[A": "back",
    "<": "first", "\x1b[H": "first", "\x1b[1~": "first", "\x1bOH": "first",
    ">": "last", "\x1b[F": "last", "\x1b[4~": "last", "\x1bOF": "last",
    "g": "go", "f": "flip", "v": "view", "q": "quit", "\x04": "quit",
}  # fmt: skip
"""What is typed, and what it does. A number goes to that ply."""
HELP = "→ n next · ← b back · < first · > last · g go to a ply · f flip the board · v whose view · q quit"

ENDS = {
    "flag": "the Flag was taken",
    "no_moves": "the other side could not move",
    "both_immobile": "neither side could move",
    "total_limit": "the game had reached its longest length",
    "battleless_limit": "too many plies without a battle",
    "resigned": "the other side resigned",
    "agreed": "agreed",
    "time": "time",
    "illegal": "the other side gave no legal answer",
    "unfinished": "the game was not finished",
}
"""How a game ended, in words."""


class Replay:
    """A game on its way from ply to ply, and how one looks at it."""

    def __init__(
        self, game: RecordedGame, view: str = "all", source: TextIO | None = None, target: TextIO | None = None
    ) -> None:
        if game.board is None:
            raise NotationError("some pieces of this game are not known (U), so it cannot be shown on a board")
        self.game = game
        self.board: Board = game.board.copy()
        self._later: list[Move] = []
        self.view = view
        self.bottom = PLAYERS.index(view) if view in PLAYERS else 0
        self.source = source or sys.stdin
        self.by_keys = self.source is sys.stdin and sys.stdin.isatty() and find_spec("termios") is not None
        """Whether single keys can be read; there is no such thing on Windows."""
        self.console = Console(file=target or sys.stdout, markup=False, emoji=False, highlight=False)

    @property
    def ply(self) -> int:
        """How many moves of the record have been made."""
        return len(self.board.history)

    @property
    def plies(self) -> int:
        """How many there are."""
        return len(self.board.history) + len(self._later)

    def go(self, ply: int) -> None:
        """Go to the position after so many moves of the record, as near as there is one."""
        while self.ply > max(ply, 0):
            self._later.append(self.board.pop())
        while self.ply < ply and self._later:
            self.board.push(self._later.pop())

    # ── Showing ──────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str | Text = "", style: str = "") -> None:
        self.console.print(Text(text, style) if isinstance(text, str) else text)

    def introduce(self) -> None:
        """Who played what."""
        headers = self.game.headers
        sides = [
            Text.assemble((f"{left}{name}{right}", style), f" {headers.get(name.capitalize(), '?')}")
            for name, (left, right), style in zip(PLAYERS, BRACKETS, STYLES, strict=True)
        ]
        self.say(Text.assemble(sides[0], "  –  ", sides[1], (f"   {self.board.variant.name}", QUIET)))

    def show(self) -> None:
        """The position as it stands."""
        look: Look = self.board if self.view == "all" else self.board.view(PLAYERS.index(self.view))
        history = self.board.history
        last = history[-1] if history else None
        for line in draw(look.variant, self.bottom, look.pieces(), last):
            self.say(line)
        for player, name in enumerate(PLAYERS):
            lost = look.captured(player)
            if lost:
                self.say(f"{name} lost: {list_words(lost)}", QUIET)
        shown = "" if self.view == "all" else f", as {self.view} knew it"
        self.say(f"After ply {self.ply} of {self.plies}{shown}.", QUIET)
        if last is not None:
            self.say(self._line(self.ply - 1), "bold")
        elif 0 in self.game.comments:
            self.say(f"{{{self.game.comments[0]}}}")
        if self.ply == self.plies:
            self.say(self.verdict(), "bold")

    def print_game(self) -> None:
        """The whole game, move by move."""
        self.introduce()
        self.go(0)
        self.show()
        self.say()
        while self.ply < self.plies:
            self.go(self.ply + 1)
            self.say(self._line(self.ply - 1))
        self.say()
        self.show()

    def verdict(self) -> str:
        """How the game ended."""
        who = {"1-0": "Red won", "0-1": "Blue won", "1/2-1/2": "A draw", "*": "No result"}[self.game.result]
        why = ENDS.get(self.game.end or "", "")
        note = self.game.headers.get("Note")
        return f"{who}{f': {why}' if why else ''}{f' ({note})' if note else ''}."

    def _line(self, index: int) -> str:
        """A move in words, with its number and the comment after it."""
        played = self.board.history[index]
        comment = self.game.comments.get(index + 1)
        number = f"{index + 1:>4}. "
        return number + move_words(played, self.board.variant) + (f"  {{{comment}}}" if comment else "")

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
                self.show()
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
            self.view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
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


def move_words(played: Played, variant: Variant) -> str:
    """A move as an onlooker would tell it."""
    source, target = (variant.square_name(square) for square in played.move)
    who, foe = PLAYERS[played.player], PLAYERS[1 - played.player]
    battle = played.battle
    if battle is None:
        return f"{who} {source}–{target}"
    article = "the" if battle.defender == FLAG else "a"
    fate = {">": f"{who} won", "<": f"{foe} won", "=": "both fell"}[battle.result]
    return (
        f"{who} {source}x{target}: {piece_words(battle.attacker)} against {article} "
        f"{piece_words(battle.defender)} of {foe}, {fate}"
    )


_KEY = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """The keys that are pressed at the terminal, without an echo; an arrow is one."""
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
            help="A file of recorded games, as play, match and tournament save them (also Strados, UCC, Gravon)."
        ),
    ],
    game: Annotated[int, typer.Option(help="Which game of the file, from 1.", min=1)] = 1,
    ply: Annotated[int | None, typer.Option(help="Print the position after so many plies, and end.", min=0)] = None,
    view: Annotated[str, typer.Option(help="Whose knowledge: all, red or blue.")] = "all",
    json: Json = False,
) -> None:
    """Go through a recorded game: forwards, backwards, to any ply, from either side.

    At a terminal: → or n next, ← or b back, < and > first and last, g go to a ply, f flip the board,
    v whose view, q quit. Elsewhere the game is printed move by move.

    Example: vauban replay games.txt --game 3

    Example: vauban replay games.txt --ply 120 --view blue
    """
    if view not in VIEWS:
        raise ConfigurationError(f"there is no view {view!r}: {nearest(view, VIEWS)}")
    found, games = read_game(file, game)
    table = Replay(found, view)
    if ply is not None and ply > table.plies:
        raise ConfigurationError(f"game {game} of {file} has {table.plies} plies, and no ply {ply}")
    if json:
        table.go(table.plies if ply is None else ply)
        print_json(
            {
                "game": game, "games": games, "headers": table.game.headers, "plies": table.plies,
                "ply": table.ply, "position": table.board.text, "result": table.game.result, "end": table.game.end,
                "moves": [move_words(played, table.board.variant) for played in table.board.history],
            }
        )  # fmt: skip
    elif ply is not None:
        table.introduce()
        table.go(ply)
        table.show()
    elif sys.stdin.isatty() and sys.stdout.isatty():
        table.run()
    else:
        table.print_game()


def read_game(file: Path, number: int) -> tuple[RecordedGame, int]:
    """A game of a file, and how many there are. What is wrong with others is said, and does not matter."""
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
