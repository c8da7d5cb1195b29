"""One game at one terminal: what the person types, and what he is told.

Everything that is shown during the game is drawn from the person's `View`; the board itself is
asked only for what the rules say about his own moves. Input and output are streams, so that a test
can play.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.text import Text

from vauban.agents.base import Agent, Listener, choose_move, describe, set_up, tell
from vauban.agents.stratego.cadet import CadetAgent
from vauban.board.stratego import Board, Look, Piece, Played
from vauban.board.stratego.words import ODD, counter_words, end_words, limit_words, oddities, warnings
from vauban.cli.output import started_as
from vauban.cli.terminal_picture import (
    BRACKETS,
    LOUD,
    MARKS,
    QUIET,
    STYLES,
    beside,
    draw,
    draw_armies,
    list_words,
    move_words,
    piece_words,
    wrapped,
)
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import nearest
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import LETTERS, PLAYERS, RANKS, TYPES
from vauban.games.stratego.setups import Row, mirrored, parse_setup, random_setup, setup_text
from vauban.games.stratego.switches import Rules
from vauban.games.stratego.variants import Variant
from vauban.notation.records import result_of, write_game
from vauban.notation.stratego.moves import Move, looks_like_a_move, parse_move_text
from vauban.notation.stratego.records import FILLED_IN, setups_of
from vauban.words import capital, moves_word, sentence

COMMANDS = {
    "moves": ("moves  or  moves {square}", "what may be played, by piece, or with one piece"),
    "why": ("why {move}", "whether a move may be played, and why not"),
    "undo": ("undo", "take your last move back, and the reply to it"),
    "save": ("save FILE", "write the game so far to a file"),
    "resign": ("resign", "give the game up"),
    "help": ("help", "this list"),
    "quit": ("quit", "leave; the game is kept, and you are told how to go on"),
}
SETUP_COMMANDS = {
    "swap": ("swap {swap}", "exchange what stands on two squares"),
    "mirror": ("mirror", "exchange left and right"),
    "suggest": ("suggest", "another setup by the book: the Flag behind, Bombs around it"),
    "random": ("random", "any setup at all"),
    "ready": ("ready", "begin"),
    "help": ("help", "this list"),
    "quit": ("quit", "leave"),
}
"""By command: how it is typed, with {places} for squares of the board in play, and what it does."""
ALIASES = {"?": "help", "q": "quit", "exit": "quit"}
RULE_NAMES = {"two_square": "two-square rule", "chase": "chasing rule"}


class Leaving(Exception):  # noqa: N818 – nothing went wrong
    """The person wants to leave."""


class TerminalGame:
    """One game at one terminal, from the setup to the last question."""

    def __init__(
        self,
        agent: Agent,
        person: int,
        seed: int,
        variant: str | Variant = "barrage",
        rules: str | Rules | None = None,
        *,
        board: Board | None = None,
        headers: Mapping[str, str] | None = None,
        comments: Mapping[int, str] | None = None,
        source: TextIO | None = None,
        target: TextIO | None = None,
        shelf: Path | None = None,
    ) -> None:
        """`board` is a game to go on with; `shelf` is where unfinished games are kept."""
        self.agent = agent
        self.person = person
        self.seed = seed
        self.game = Stratego(variant, rules) if board is None else board.game
        self.board = board
        self.headers = dict(headers or {})
        self.comments = dict(comments or {})
        self.undone = read_number(self.headers.get("TakenBack")) or 0
        self.resigner: int | None = None
        """Who gave the game up."""
        self._reported = 0 if board is None else max(0, len(board.history) - 2)
        self.source = source or sys.stdin
        self.console = Console(file=target or sys.stdout, markup=False, emoji=False, highlight=False)
        self.shelf = shelf or default_shelf()
        self.files: set[Path] = set()
        """Where this game has been written, or was read from: it may be written there again."""
        self._newcomer = True
        self._doubt: Path | None = None
        self._edited: str | None = None
        """The text of a setup that the person has made, until it is in a game that is kept."""

    def run(self) -> int:
        """Play; the exit code: 0, or 130 after Ctrl-C."""
        try:
            self._introduce()
            _warm_up()
            if self.board is None:
                self.board = self._begin(self._choose_setup())
            for played in self.board.history:
                tell(self.agent, played)
            self._play(self.board)
            self._finish(self.board)
        except KeyboardInterrupt:
            self.say()
            self._leave()
            return 130
        except (EOFError, Leaving):
            self._leave()
        return 0

    # ── Talking ──────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str | Text = "", style: str = "") -> None:
        """Print a line or a sentence."""
        self.console.print(Text(text, style) if isinstance(text, str) else text)

    def ask(self, prompt: str) -> str:
        """The next line that the person types; EOFError if there is none."""
        if self.source is sys.stdin and sys.stdin.isatty() and self.console.file is sys.stdout:
            with suppress(ImportError):  # there is none on Windows
                import readline  # noqa: F401 – arrow keys and earlier lines
            try:
                return input(prompt).strip()
            except EOFError:
                self.say()
                raise
        self.console.print(Text(prompt), end="")
        line = self.source.readline()
        if not line:
            self.say()
            raise EOFError
        if not self.source.isatty():
            self.say(line.rstrip("\n"))  # so that a transcript shows what was typed
        return line.strip()

    def _introduce(self) -> None:
        v, r = self.game.variant, self.game.rules
        me, foe = self.person, 1 - self.person
        self.say()
        self.say(
            Text.assemble(
                f"Stratego, {v.name}: you are ",
                (f"{BRACKETS[me][0]}{PLAYERS[me]}{BRACKETS[me][1]}", STYLES[me]),
                ", ",
                (f"{BRACKETS[foe][0]}{PLAYERS[foe]}{BRACKETS[foe][1]}", STYLES[foe]),
                f" is {self.agent.name}. Red begins.",
            )
        )
        manners = describe(self.agent).partition("\n")[0]
        if manners:
            self.say(f"{capital(self.agent.name)}: {manners[0].lower()}{manners[1:]}", QUIET)
        self.say(f"Take the Flag. {limit_words(r)}".rstrip(), QUIET)

    def _help(self, commands: Mapping[str, tuple[str, str]], first: tuple[str, str], **places: str) -> None:
        """List what can be typed; `places` are squares of this board for the examples."""
        lines = [(usage.format(**places), meaning) for usage, meaning in (first, *commands.values())]
        indent = 3 + max(len(usage) for usage, _ in lines)
        for usage, meaning in lines:
            said = wrapped(meaning, max(20, self.console.width - indent))
            self.say(Text.assemble(f"  {usage:<{indent - 3}} ", (said[0], QUIET)))
            for more in said[1:]:
                self.say(" " * indent + more, QUIET)

    def _say_wrapped(self, head: str, text: str) -> None:
        """Print a text that may need several lines, those after the first indented."""
        indent = len(head) + 1
        for number, line in enumerate(wrapped(text, max(20, self.console.width - indent))):
            self.say(f"{'' if number else head:<{indent}}{line}", QUIET)

    def _say_command(self, path: Path) -> None:
        """Print the command that goes on with a saved game, unbroken, to be copied."""
        self.console.print(Text(f"  {started_as()} terminal --load {shlex.quote(str(path))}"), soft_wrap=True)

    def _two_places(self) -> str:
        """Two squares of the person's setup, for examples."""
        v = self.game.variant
        other = min(v.columns + 1 if v.setup_rows > 1 else 1, v.setup_rows * v.columns - 1)
        places = (0, other) if self.person == 0 else (v.squares - 1, v.squares - 1 - other)
        return " ".join(map(v.square_name, places))

    def _some_move(self, board: Board) -> tuple[str, str]:
        """The squares of a move that the person may play now, forward if there is one, for examples."""
        moves = board.view(self.person).legal_moves
        step = board.variant.columns * (1 if self.person == 0 else -1)
        chosen = next((move for move in moves if move.target - move.source == step), moves[0])
        return board.variant.square_name(chosen.source), board.variant.square_name(chosen.target)

    # ── Setup ────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, own: Row) -> Board:
        foe = 1 - self.person
        other = set_up(self.agent, self.game, foe, random.Random(f"{self.seed} setup"))
        pair = (own, other) if self.person == 0 else (other, own)
        return Board.from_setups(*pair, self.game.variant, self.game.rules)

    def _choose_setup(self) -> Row:
        """Let the person edit a setup until he is ready."""
        v = self.game.variant
        rng = random.Random(f"{self.seed} suggestions")
        changes: dict[str, Callable[[Row], Row]] = {
            "mirror": lambda setup: mirrored(setup, v),
            "suggest": lambda _: CadetAgent().set_up(self.game, self.person, rng),
            "random": lambda _: random_setup(v, rng),
        }
        setup = changes["suggest"](np.zeros(0, np.int8))
        self._show_setup(setup)
        while True:
            line = self.ask("setup> ")
            words = line.split() or [""]
            command = ALIASES.get(words[0].lower(), words[0].lower())
            try:
                if command == "ready":
                    return setup
                if command == "quit":
                    raise Leaving
                if command in ("help", ""):
                    self._help(SETUP_COMMANDS, ("a setup's text", self._setup_letters()), swap=self._two_places())
                    continue
                if command == "swap":
                    setup = self._swapped(setup, words[1:])
                elif command in changes:
                    setup = changes[command](setup)
                elif set(line.upper()) <= {*LETTERS, ".", "/"}:
                    setup = parse_setup(line, v)
                else:
                    self.say(f"There is no command {words[0]!r} here: {nearest(command, list(SETUP_COMMANDS))}")
                    continue
                self._edited = setup_text(setup, v)
                self._show_setup(setup)
            except VaubanError as error:
                self.say(sentence(error))

    def _show_setup(self, setup: Row) -> None:
        v = self.game.variant
        room = v.setup_rows * v.columns
        squares = range(room) if self.person == 0 else range(v.squares - 1, v.squares - 1 - room, -1)
        pieces = {
            square: Piece(self.person, int(code) - 1, square, False, False)
            for square, code in zip(squares, setup, strict=True)
            if code
        }
        rows = sorted({square // v.columns for square in squares})
        army = [
            f"{RANKS[kind]} {TYPES[kind]}{f' ×{count}' if count > 1 else ''} ({LETTERS[kind]})"
            for kind, count in enumerate(v.army)
            if count
        ]
        self.say()
        for line in draw(v, self.person, pieces, rows=rows):
            self.say(line)
        self._say_wrapped("Army:", ", ".join(army))
        self.say(f"As text: {setup_text(setup, v)}", QUIET)
        for odd in oddities(setup, v):
            self.say(ODD[odd], LOUD)
        hint = f"swap {self._two_places()} · mirror · suggest · random · ready · help, or a setup's text"
        self.say(hint, QUIET)

    def _setup_letters(self) -> str:
        """What a setup's text is made of."""
        letters = ", ".join(
            f"{LETTERS[kind]} {TYPES[kind]}" for kind, count in enumerate(self.game.variant.army) if count
        )
        return f"your own, back row first, by letters, as it is printed below the board: {letters}; . is empty"

    def _swapped(self, setup: Row, names: list[str]) -> Row:
        v = self.game.variant
        if len(names) != 2:
            raise ConfigurationError(f"swap needs two squares, e.g. swap {self._two_places()}")
        places = []
        for name in names:
            square = v.square(name.lower())
            place = square if self.person == 0 else v.squares - 1 - square
            if place >= len(setup):
                raise ConfigurationError(f"{name} is not in your setup rows")
            places.append(place)
        changed = setup.copy()
        changed[places] = setup[places[::-1]]
        return changed

    # ── Play ─────────────────────────────────────────────────────────────────────────────────────

    def _play(self, board: Board) -> None:
        if board.turn == self.person:
            self._show(board)
        while not board.is_over and self.resigner is None:
            if board.turn != self.person:
                move = choose_move(self.agent, board.view(board.turn))
                if move is None:
                    self.resigner = board.turn
                    continue
                played = board.push(move)
                tell(self.agent, played)
                if not board.is_over:
                    self._show(board)
                continue
            try:
                self._obey(board, self.ask(f"{PLAYERS[self.person]}> "))
            except VaubanError as error:
                self.say(sentence(error))

    def _look(self, board: Board) -> Look:
        """What is drawn while the game goes on."""
        return board.view(self.person)

    def _show(self, board: Board) -> None:
        look = self._look(board)
        self.say()
        self.say(Text.assemble((f"Move {look.plies // 2 + 1}", "bold"), (f" · {counter_words(look)}", QUIET)))
        self._draw(look, board.history)
        self._report(board)
        for warning in warnings(look):
            self.say(warning, LOUD)
        if self._newcomer:
            self._newcomer = False
            self.say(f"A move is written {''.join(self._some_move(board))}. help lists what else you can type.", QUIET)
            self.say(MARKS, QUIET)

    def _report(self, board: Board) -> None:
        """Say what has happened since the person was asked last."""
        for played in board.history[self._reported :]:
            self.say(move_words(played, self.person, board.variant), "bold" if played.battle else "")
        self._reported = len(board.history)

    def _draw(self, look: Look, history: Sequence[Played]) -> None:
        picture = draw(look.variant, self.person, look.pieces(), history[-1] if history else None)
        for line in beside(picture, draw_armies(look, self.person), self.console.width):
            self.say(line)
        lost, took = look.captured(self.person), look.captured(1 - self.person)
        if lost or took:
            both = [("Lost:", list_words(lost) or "nothing"), ("Taken:", list_words(took) or "nothing")]
            together = "   ".join(f"{head} {text}" for head, text in both)
            if len(together) <= self.console.width:
                self.say(together, QUIET)
            else:
                for head, text in both:
                    self._say_wrapped(head, text)

    def _obey(self, board: Board, line: str) -> None:
        words = line.split()
        if not words:
            return
        command = ALIASES.get(words[0].lower(), words[0].lower())
        if command in COMMANDS:
            orders: dict[str, Callable[[list[str]], object]] = {
                "moves": lambda rest: self._moves(board, rest),
                "why": lambda rest: self._why(board, self._read_move(board, rest)),
                "undo": lambda _: self._undo(board),
                "save": lambda _: self._save(board, line.partition(" ")[2].strip()),
                "resign": lambda _: self._resign(),
                "help": lambda _: self._explain(board),
                "quit": lambda _: self._quit(),
            }
            orders[command](words[1:])
            return
        if not looks_like_a_move(_joined(words)):
            example = "".join(self._some_move(board))
            self.say(
                f"{line!r} is neither a move (such as {example}) nor a command: {nearest(command, list(COMMANDS))}"
            )
            return
        move = self._read_move(board, words)
        if move not in board.legal_moves:
            self._why(board, move)
            return
        tell(self.agent, board.push(move))

    def _explain(self, board: Board) -> None:
        """What can be typed, and what the marks on the board mean."""
        source, target = self._some_move(board)
        first = (f"{source}{target}  or  {source} {target}", "a move, from square to square")
        self._help(COMMANDS, first, square=source, move=source + target)
        self.say("On the board: [ ] red · ( ) blue · ~~~~ a lake", QUIET)
        self.say(MARKS, QUIET)

    def _read_move(self, board: Board, words: list[str]) -> Move:
        """The move that was typed; what it says of a battle is not compared with the board, which would tell."""
        if not words:
            raise ConfigurationError(f"why needs a move, e.g. why {''.join(self._some_move(board))}")
        return parse_move_text(_joined(words), self.game.variant).move

    def _moves(self, board: Board, words: list[str]) -> None:
        name = board.variant.square_name
        pieces = board.view(self.person).pieces()

        def goal(move: Move) -> str:
            return ("x" if move.target in pieces else "") + name(move.target)

        if words:
            square = board.variant.square(words[0].lower())
            piece = pieces.get(square)
            if piece is None or piece.kind is None or piece.player != self.person:
                self.say(f"{words[0]} holds no piece of yours.")
                return
            goals = [goal(move) for move in board.legal_moves if move.source == square]
            self.say(f"{name(square)} {piece_words(piece.kind)}: {' '.join(goals) or 'no legal move'}")
            for rule in ("two_square", "chase"):
                barred = [name(move.target) for move in board.barred_moves(rule) if move.source == square]
                if barred:
                    self.say(
                        f"Barred by the {RULE_NAMES[rule]}: {' '.join(barred)} (ask why {name(square)}{barred[0]})"
                    )
            return
        for square, group in groupby(board.legal_moves, lambda move: move.source):
            kind = pieces[square].kind
            assert kind is not None
            self.say(f"  {name(square):<4}{piece_words(kind):<15}{' '.join(map(goal, group))}")

    def _why(self, board: Board, move: Move) -> None:
        """Say whether a move may be played; if not, why not."""
        name = board.variant.square_name
        text = f"{name(move.source)}{name(move.target)}"
        if move in board.legal_moves:
            met = board.view(self.person).piece_at(move.target)
            if met is None:
                self.say(f"{text} may be played.")
            else:
                what = "a piece that is not known yet" if met.kind is None else f"a {piece_words(met.kind)}"
                self.say(f"{text} may be played: it strikes {what}.")
            return
        barred = board.why_barred(move)
        try:
            board.copy().push(move)
        except VaubanError as error:
            self.say(sentence(error))
        if barred is None or barred.ply is None:
            return
        earlier = board.copy()
        while earlier.plies > barred.ply:
            earlier.pop()
        look = self._look(earlier)
        self.say(f"This is the position after ply {barred.ply}, which it would repeat:")
        for line in draw(look.variant, self.person, look.pieces(), earlier.history[-1] if earlier.history else None):
            self.say(line)

    def _undo(self, board: Board) -> None:
        if not any(played.player == self.person for played in board.history):
            self.say("There is no move of yours to take back.")
            return
        if isinstance(self.agent, Listener):
            self.say(f"{self.agent.name} does not let moves be taken back.")
            return
        board.pop()
        while board.turn != self.person:
            board.pop()
        self.undone += 1
        self._reported = max(0, len(board.history) - 2)
        self.comments = {place: text for place, text in self.comments.items() if place <= len(board.history)}
        self._show(board)

    def _resign(self) -> None:
        if self.ask("Give the game up? yes or no> ").lower() in ("y", "yes"):
            self.resigner = self.person
        else:
            self.say("The game goes on.")

    def _quit(self) -> None:
        raise Leaving

    # ── The end ──────────────────────────────────────────────────────────────────────────────────

    def _finish(self, board: Board) -> None:
        """Say who won and how, open both sides, offer to save."""
        self._report(board)
        outcome = board.outcome()
        if outcome is not None:
            winner, end = outcome.winner, outcome.end
        else:
            winner, end = int(self.resigner == 0), "resigned"
        self.say()
        self.say(end_words(winner, end, self.person), "bold")
        self.say(f"{board.plies} {moves_word(board.plies)}. Both sides, open:", QUIET)
        self._draw(board, board.history)
        setups = setups_of(board.start_position(), board.variant)
        for player, setup in enumerate(setups or ()):
            self.say(f"{capital(PLAYERS[player]):<4} began from {setup}", QUIET)
        while True:
            name = self.ask("Type a file's name to save this game, or Enter to leave> ")
            name = name[5:].strip() if name.startswith("save ") else name
            if name.lower() in ("", "n", "no", "q", "quit", "exit"):
                self.say("Goodbye.")
                return
            if name.lower() in ("y", "yes", "save"):
                continue
            try:
                if self._save(board, name):
                    return
            except VaubanError as error:
                self.say(sentence(error))

    def _leave(self) -> None:
        """Keep a game that has begun, and say how to go on with it."""
        board = self.board
        if (board is None or not board.history) and self._edited is not None and self.resigner is None:
            self.say("Goodbye. Your setup is not kept: to have it again, type this at setup>")
            self.console.print(Text(f"  {self._edited}"), soft_wrap=True)
            return
        if board is None or board.is_over or self.resigner is not None or not board.history:
            self.say("Goodbye.")
            return
        path = self.shelf / f"{datetime.now():%Y-%m-%d-%H%M%S}-{board.variant.name}.txt"
        try:
            self.shelf.mkdir(parents=True, exist_ok=True)
            path.write_text(self.record(), encoding="utf-8")
        except (OSError, VaubanError) as error:
            self.say(f"Goodbye. This game could not be kept: {error}.")
            return
        self.say("Goodbye. Go on with this game by")
        self._say_command(path)

    def summary(self) -> dict[str, Any]:
        """The game for a program; one that was left has the result "*"."""
        outcome = None if self.board is None else self.board.outcome()
        result, end = "*", "unfinished"
        if self.resigner is not None:
            result, end = ("0-1", "1-0")[self.resigner], "resigned"
        elif outcome is not None:
            result, end = result_of(outcome), outcome.end
        plies = 0 if self.board is None else self.board.plies
        return {"result": result, "end": end, "plies": plies, "you": PLAYERS[self.person]}

    def record(self) -> str:
        """The game so far as a text, with what is needed to go on."""
        assert self.board is not None
        names = ["person", "person"]
        names[1 - self.person] = self.agent.name
        own = {
            "Red": self.headers.get("Red", names[0]),
            "Blue": self.headers.get("Blue", names[1]),
            "Date": f"{datetime.now():%Y-%m-%d}",
            "Person": PLAYERS[self.person],
            "Opponent": self.agent.name,
            "Seed": str(self.seed),
        }
        if self.undone:
            own["TakenBack"] = str(self.undone)
        if self.resigner is not None:
            own |= {"Result": ("0-1", "1-0")[self.resigner], "End": "resigned"}
        kept = {name: value for name, value in self.headers.items() if name not in FILLED_IN}
        return write_game(self.board, kept | own, self.comments)

    def _save(self, board: Board, name: str) -> bool:
        """Write the game to a file. True if that was done."""
        if not name:
            raise ConfigurationError("save needs a file's name, e.g. save game.txt")
        try:
            return self._write(board, Path(name).expanduser())
        except (OSError, ValueError, RuntimeError) as error:  # no such folder, no such name, no such home
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise ConfigurationError(f"{name!r} cannot be written: {reason}") from error

    def _write(self, board: Board, path: Path) -> bool:
        if path.exists() and path.absolute() not in self.files and self._doubt != path.absolute():
            self._doubt = path.absolute()
            self.say(f"{path} is there already. Type the same line again to write over it, or choose another name.")
            return False
        path.write_text(self.record(), encoding="utf-8")
        self.files.add(path.absolute())
        self._edited = None
        if board.is_over or self.resigner is not None:
            self.say(f"Saved as {path}.")
        else:
            self.say(f"Saved as {path}: both armies are in it, so do not look. Go on with it by")
            self._say_command(path)
        return True


def _warm_up() -> None:
    """Have all kernels of a board compiled or loaded now, so that no move has to wait for them."""
    board = Board.from_setups("FP", "FP", "nano")
    move = board.view(0).legal_moves[0]
    board.why_barred(move)
    board.push(move)


def _joined(words: list[str]) -> str:
    """A typed move without spaces, hyphens and what it says about a battle's result."""
    return "".join(words).lower().replace("-", "").partition("(")[0]


def default_shelf() -> Path:
    """Where unfinished games are kept."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "vauban"


def read_number(text: str | None) -> int | None:
    """The number in a header; None if there is none."""
    return int(text) if text is not None and re.fullmatch(r"-?[0-9]{1,18}", text) else None
