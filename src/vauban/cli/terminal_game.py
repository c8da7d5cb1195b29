"""One game of any kind at one terminal: what the person types, and what is told.

Everything that is shown during the game is drawn from the person's `View`. Input and output are streams, so that a test
can play.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from vauban.agents.base import RESIGNS, Agent, Listener, choose_action, describe, set_up, tell
from vauban.agents.external import prefix_of
from vauban.agents.setups import make_sampler, usual_setups
from vauban.board import Board
from vauban.cli.output import started_as
from vauban.cli.show import LOUD, QUIET, show_of
from vauban.errors import ConfigurationError, InvalidMoveError, VaubanError
from vauban.games.base import Game, Outcome
from vauban.notation.records import result_of, write_game
from vauban.words import capital, sentence

COMMANDS = {
    "moves": "what you may play",
    "undo": "take your last move back, and the reply to it",
    "save FILE": "write the game so far to a file",
    "resign": "give the game up",
    "quit": "leave; the game is kept, and you are told how to go on",
}
SETUP_COMMANDS = {
    "ready": "begin with the setup that is shown",
    "random": "draw another one",
    "a setup": "as the text above, back row first",
    "quit": "leave",
}
ALIASES = {"?": "help", "q": "quit", "exit": "quit"}


class TerminalGame:
    """One game at one terminal, from the setup to the last question."""

    def __init__(
        self,
        agent: Agent,
        person: int,
        seed: int,
        game: Game,
        *,
        board: Any = None,
        headers: Mapping[str, str] | None = None,
        source: TextIO | None = None,
        target: TextIO | None = None,
        shelf: Path | None = None,
    ) -> None:
        """`board` is a game to go on with; `shelf` is where unfinished games are kept."""
        self.agent, self.person, self.seed, self.game, self.board = agent, person, seed, game, board
        self.headers = dict(headers or {})
        self.show = show_of(game)
        self.resigner: int | None = None
        self.told = 0 if board is None else max(0, len(board.history) - 2)
        """Number of moves that the person has been told of."""
        self.source = source or sys.stdin
        self.console = Console(file=target or sys.stdout, markup=False, emoji=False, highlight=False)
        self.shelf = shelf or Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "vauban"
        self.files: set[Path] = set()
        """Files that hold this game: it may be written there again."""

    def run(self) -> int:
        """Play; the exit code: 0, or 130 after Ctrl-C."""
        try:
            self._introduce()
            if self.board is None:
                self.board = self._begin()
            for played in self.board.history:
                tell(self.agent, played)
            self._play()
            self._finish()
        except KeyboardInterrupt:
            self.say()
            self._leave()
            return 130
        except EOFError:
            self._leave()
        return 0

    # ── Talking ──────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str | Text = "", style: str = "", whole: bool = False) -> None:
        """Print a line or a sentence; a whole one is not broken, so that it can be copied."""
        self.console.print(Text(text, style) if isinstance(text, str) else text, soft_wrap=whole)

    def ask(self, prompt: str) -> str:
        """Return the next line that the person types; EOFError if there is none."""
        if self.source is sys.stdin and sys.stdin.isatty() and self.console.file is sys.stdout:
            with suppress(ImportError):  # there is none on Windows
                import readline  # noqa: F401 – arrow keys and earlier lines
            return input(prompt).strip()
        self.console.print(Text(prompt), end="")
        line = self.source.readline()
        if not line:
            self.say()
            raise EOFError
        if not self.source.isatty():
            self.say(line.rstrip("\n"))  # so that a transcript shows what was typed
        return line.strip()

    def _introduce(self) -> None:
        me, foe = self.show.player(self.person), self.show.player(1 - self.person)
        self.say(Text.assemble(f"{capital(self.game.name)}: you are ", me, ", ", foe, f" is {self.agent.name}."))
        manners = describe(self.agent).partition("\n")[0]
        if manners:
            self.say(f"{capital(self.agent.name)}: {manners[0].lower()}{manners[1:]}", QUIET)

    def _help(self, commands: Mapping[str, str]) -> None:
        for usage, meaning in commands.items():
            self.say(Text.assemble(f"  {usage:<10} ", (meaning, QUIET)))

    # ── Play ─────────────────────────────────────────────────────────────────────────────────────

    def _begin(self) -> Any:
        if self.game.setups is None or not self.game.setups_chosen:
            return Board(self.game, seed=self.seed)
        other = set_up(self.agent, self.game, 1 - self.person, random.Random(f"{self.seed} setup"))
        own = self._choose_setup()
        return Board(self.game, seed=self.seed, setups=(own, other) if self.person == 0 else (other, own))

    def _choose_setup(self) -> Any:
        """Let the person draw setups, or type one, until one is accepted."""
        assert self.game.setups is not None
        rng = random.Random(f"{self.seed} suggestions")
        draw = make_sampler(usual_setups(self.game) or "uniform", self.game)
        row = draw(rng)
        while True:
            for drawn in self.show.setup(row, self.person):
                self.say(drawn)
            written = f"a setup as the text above, {self.show.setup_words}"
            self.say(f"ready begins, random draws another; or type {written}.", QUIET)
            line = self.ask("setup> ")
            order = ALIASES.get(line.lower(), line.lower())
            if order == "quit":
                raise EOFError
            if order == "help":
                self._help(SETUP_COMMANDS)
                continue
            if line == "ready":
                return row
            try:
                row = draw(rng) if line == "random" else self.game.setups.parse(line)
            except VaubanError as error:
                self.say(sentence(error))

    def _play(self) -> None:
        board, shown = self.board, -1
        while not board.is_over and self.resigner is None:
            if board.turn != self.person:
                action = choose_action(self.agent, board.view(board.turn))
                if action == RESIGNS:
                    self.resigner = board.turn
                else:
                    tell(self.agent, board.push(action))
                continue
            if shown != board.plies:
                self._show()
                shown = board.plies
            try:
                self._obey(self.ask(f"{self.game.players[self.person]}> "))
            except VaubanError as error:
                self.say(sentence(error))

    def _look(self) -> Any:
        """Return what is shown while the game goes on."""
        return self.board.view(self.person)

    def _show(self) -> None:
        look = self._look()
        self.say(f"\nPly {look.plies + 1}", "bold")
        self._picture(look, look.history)
        self._tell(look.history)
        for note in self.show.notes(look):
            self.say(note, QUIET)
        if len(look.history) < 2:
            self.say(f"Type a move such as {self.board.move_text(self.board.legal_moves[0])}, or help.", QUIET)

    def _picture(self, look: Any, history: Any) -> None:
        for line in self.show.picture(look, self.person, history):
            self.say(line)

    def _tell(self, history: Any) -> None:
        """Say what has been played since the person was told last."""
        for played in history[self.told :]:
            self.say(self.show.told(self.board, played, self.person), LOUD)
        self.told = len(history)

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        orders = {
            "": lambda: None,
            "moves": lambda: self.say(", ".join(map(self.board.move_text, self.board.legal_moves))),
            "undo": self._undo,
            "save": lambda: self._save(rest.strip()),
            "resign": self._resign,
            "help": lambda: self._help({self.board.move_text(self.board.legal_moves[0]): "a move", **COMMANDS}),
            "quit": self._quit,
        }
        order = orders.get(ALIASES.get(word.lower(), word.lower()))
        if order is not None:
            order()
            return
        look = self._look()
        try:
            # Judged by the view: what a text says of hidden pieces is not compared with the board, which would tell.
            action = look.action_of(line)
        except InvalidMoveError:
            try:
                action = look.action_of("".join(line.lower().replace("-", "").split()))
            except InvalidMoveError as error:
                raise InvalidMoveError(f"{error}; help lists what else you can type") from None
        tell(self.agent, self.board.push(action))

    def _undo(self) -> None:
        if not any(played.player == self.person for played in self.board.history):
            raise ConfigurationError("there is no move of yours to take back")
        if isinstance(self.agent, Listener):
            raise ConfigurationError(f"{self.agent.name} does not let moves be taken back")
        self.board.pop()
        while self.board.turn != self.person:
            self.board.pop()
        self.told = 0
        self.headers["TakenBack"] = str(int(self.headers.get("TakenBack", "0")) + 1)

    def _resign(self) -> None:
        if self.ask("Give the game up? yes or no> ").lower() in ("y", "yes"):
            self.resigner = self.person

    def _quit(self) -> None:
        raise EOFError

    # ── The end ──────────────────────────────────────────────────────────────────────────────────

    def outcome(self) -> Outcome | None:
        """Return the game's outcome: on the board, or because a player gave it up."""
        if self.resigner is not None:
            return Outcome(1 - self.resigner, "resigned", (-1.0, 1.0)[self.resigner])
        outcome: Outcome | None = None if self.board is None else self.board.outcome()
        return outcome

    def _finish(self) -> None:
        """Say who won and how, open both sides, offer to save."""
        outcome = self.outcome()
        assert outcome is not None
        if len(self._look().history) < len(self.board.history):
            self.told = 0  # what was hidden until now is told from the beginning
        self._tell(self.board.history)
        self.say("\n" + self.show.ended(outcome, self.person), "bold")
        self._picture(self.board, self.board.history)
        while name := self.ask("Type a file's name to save this game, or Enter to leave> "):
            try:
                self._save(name.removeprefix("save "))
                return
            except VaubanError as error:
                self.say(sentence(error))

    def _leave(self) -> None:
        """Keep a game that has begun, and say how to go on with it."""
        if self.board is None or self.outcome() is not None or not self.board.history:
            self.say("Goodbye.")
            return
        path = self.shelf / f"{datetime.now():%Y-%m-%d-%H%M%S-%f}-{self.game.name}.txt"
        try:
            self.shelf.mkdir(parents=True, exist_ok=True)
            self._save(str(path))
        except (OSError, VaubanError) as error:
            self.say(f"This game could not be kept: {error}.")

    def _save(self, name: str) -> None:
        """Write the game to a file, which may be written over if it is this game's own."""
        if not name:
            raise ConfigurationError("save needs a file's name, e.g. save game.txt")
        try:
            path = Path(name).expanduser()
            if path.exists() and path.absolute() not in self.files:
                raise ConfigurationError(f"{path} is there already: choose another name")
            path.write_text(self.record(), encoding="utf-8")
        except (OSError, ValueError, RuntimeError) as error:  # no such folder, no such name, no such home
            if isinstance(error, VaubanError):
                raise
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise ConfigurationError(f"{name!r} cannot be written: {reason}") from error
        self.files.add(path.absolute())
        self.say(
            f"Saved as {path}." + (" It holds what is hidden: do not look. Go on by" if not self.outcome() else "")
        )
        if not self.outcome():
            named = self.headers.get("Opponent", "")
            opponent = f" --opponent {shlex.quote(named)}" if prefix_of(named) else ""
            self.say(f"  {started_as()} terminal --load {shlex.quote(str(path))}{opponent}", whole=True)

    def record(self) -> str:
        """Return the game so far as a text, with what is needed to go on."""
        names = ["person", "person"]
        names[1 - self.person] = self.agent.name
        own = dict(zip((player.title() for player in self.game.players), names, strict=True)) | self.headers
        own |= {"Person": self.game.players[self.person], "Seed": str(self.seed)}
        own.setdefault("Opponent", self.agent.name)
        own.setdefault("Date", f"{datetime.now():%Y-%m-%d}")
        own.pop("Result", None), own.pop("End", None)
        outcome = self.outcome()
        if self.resigner is not None and outcome is not None:
            own |= {"Result": result_of(outcome), "End": "resigned"}
        return write_game(self.board, own)

    def summary(self) -> dict[str, Any]:
        """Return the game for a program; one that was left has the result "*"."""
        outcome = self.outcome()
        return {
            "result": "*" if outcome is None else result_of(outcome),
            "end": "unfinished" if outcome is None else outcome.end,
            "plies": 0 if self.board is None else self.board.plies,
            "you": self.game.players[self.person],
        }


def read_number(text: str | None) -> int | None:
    """Return the number in a header; None if there is none."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,18}", text) else None
