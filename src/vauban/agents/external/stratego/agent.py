"""`ExternalAgent`: somebody else's program, in any language, through the UCC line protocol (docs/external-bots.md).

    bot = ExternalAgent("python3 examples/ucc_bot.py", seconds=2.0)
    setup = bot.set_up(game("classic"), 0, random.Random(1))    # starts the program
    move = bot.choose_move(board.view(0))
    bot.told(board.push(move))
    bot.ended("flag")
    bot.close()

A bot that misbehaves raises `BotError`: it has lost that game. A game has a process of its own, which
is gone after `close`. The manager of 2012 is followed, except where it waited for ever or named the
wrong loser; docs/external-bots.md says where.
"""

from __future__ import annotations

import math
import os
import random
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from vauban.agents.base import RESIGNS, Actions, Seeds
from vauban.agents.external import MEMORY
from vauban.agents.external.process import KINDS, BotError, BotProcess, check_command, last_words, split_command
from vauban.board.stratego import Played, View
from vauban.errors import ConfigurationError, InvalidMoveError, SetupError
from vauban.games.base import Game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, MOVABLE_TYPES, SCOUT, TYPES
from vauban.games.stratego.setups import Row
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move, squares_between
from vauban.sim.store import Snapshot
from vauban.words import shortened

__all__ = ["KINDS", "PREFIX", "BotError", "ExternalAgent", "make_program", "why_illegal"]

PREFIX = "bot:"
"""The text of such an agent is bot:COMMAND."""

SetupGiver = Callable[[Stratego, int, random.Random], Row]
"""Chooses a setup in a bot's place, such as another agent's `set_up`."""

LONGEST_GAME = 5000
"""Turns: with the time for one of them, what a bot may use of the processor."""
MOST_SECONDS = 10**6
"""For an answer: more is a mistake."""


class ExternalAgent:
    """Asks a program outside for its setup and its moves."""

    def __init__(
        self,
        command: str | Sequence[str],
        seed: int = 0,
        *,
        seconds: float = 2.0,
        start_seconds: float = 10.0,
        memory: int = MEMORY,
        cwd: str | Path | None = None,
        grace: float = 1.0,
        pause: bool = False,
        opponent: str = "opponent",
        setup_given: SetupGiver | None = None,
    ) -> None:
        """`command` is split like a shell's line; no shell is asked.

        `seconds` is for each answer, up to the end of its line; the first line after the start may take
        `start_seconds`, if that is more: interpreters are slow to start on a busy machine.
        `memory` is in MiB, for each of its processes, 0 for no limit. `cwd` is where it is started.
        After QUIT it has `grace` seconds to end by itself; then it is killed.
        `pause` stops it while it is not on turn, as the manager of 2012 did; not unless asked, because a
        bot that is stopped in the middle of something (a connection, a clock) may come back confused.
        With `setup_given` the bot's own setup is asked for and put aside.
        The program finds `seed` in its environment as VAUBAN_SEED.
        """
        self.command = split_command(command)
        text = command if isinstance(command, str) else shlex.join(command)
        self.name = PREFIX + text
        self.seed = seed
        self.seconds = seconds
        self.start_seconds = start_seconds
        self.memory = memory
        self.cwd = None if cwd is None else str(cwd)
        self.grace = grace
        self.pause = pause
        self.opponent = opponent
        self.setup_given = setup_given
        self.fault: BotError | None = None
        """Its fault in this game, if it misbehaved."""
        self.quit_by_itself: bool | None = None
        """After `close`: whether it ended when it was told to."""
        self._process: BotProcess | None = None
        self._drawn: Row | None = None
        """The setup that it plays if it knows the classic army only."""
        self._forget()
        self._check(text)

    def _check(self, text: str) -> None:
        """Refuse what can never work."""
        check_command(self.command, text, memory=self.memory, cwd=self.cwd)
        for seconds in (self.seconds, self.start_seconds):
            if not 0 < seconds <= MOST_SECONDS:
                raise ConfigurationError(
                    f"a bot needs time for its answers: seconds must be above 0 and at most {MOST_SECONDS:,}, "
                    f"not {seconds:g}"
                )

    def _forget(self) -> None:
        """Forget all games."""
        self._player = 0
        self._variant = ucc.CLASSIC
        self._sent: list[Played] = []
        self._words: tuple[Move, str] | None = None
        self._goodbye: str | None = None
        self._resigned = False
        self._stderr = ""
        self._lines: list[str] = []

    # ── An agent ─────────────────────────────────────────────────────────────────────────────────

    def choose(self, views: Snapshot, seeds: Seeds) -> Actions:
        return np.array([self.answer(View.from_snapshot(views, row)) for row in range(len(views))], np.int64)

    def answer(self, view: View) -> int:
        move = self.choose_move(view)
        return RESIGNS if move is None else view.game.encode(view.player, *move)

    def check_plays(self, game: Game) -> None:
        """Refuse a game that a program cannot be told of."""
        ucc.variant_of(game)

    def check_sets_up(self, game: Game) -> None:
        """Refuse a game that the protocol has no setups for."""
        ucc.variant_of(game)

    def give_setup(self, game: Game, row: Row) -> None:
        """Give it a setup to play if it answers with the classic army where another one is asked for."""
        self._drawn = row

    def meet(self, opponent: str, seconds: float | None) -> None:
        """Begin a game against this opponent; with so many seconds for each answer, or as it was made."""
        self.opponent = opponent
        self.seconds = seconds or self.seconds

    def set_up(self, game: Stratego, player: int, rng: random.Random) -> Row:
        """Start the program for a new game and ask for its setup."""
        rows = self._begin(game.variant, player, judged=self.setup_given is None)
        if self.setup_given is not None:
            return self.setup_given(game, player, rng)
        try:
            return ucc.parse_setup_rows(rows, player, game.variant)
        except SetupError as error:
            if self._drawn is not None and _is_classic_army(rows, player):
                return self._drawn
            self._goodbye = f"{ucc.QUIT} {self._own_name} {ucc.COLOURS[player]} BAD_SETUP 0 0 0"
            return self._fail("bad setup", str(error))

    def choose_move(self, view: View) -> Move | None:
        """Show it the board, and ask."""
        if self._process is None and self.fault is None:
            self._begin(view.variant, view.player)
        if self._process is None:
            assert self.fault is not None
            raise self.fault
        self._catch_up(view)
        if self.pause:
            self._process.resume()
        if view.plies == 0:
            self._process.send(ucc.START)
        self._process.send(*ucc.board_rows(view, view.player))
        line = self._ask(self.seconds)
        if self.pause:
            self._process.pause()
        try:
            answer = ucc.parse_answer(line)
        except InvalidMoveError as error:
            return self._fail("unintelligible", str(error), line)
        if answer is None:
            self._resigned = True
            return None
        move = answer.move(view.variant)
        if move is None or move not in view.legal_moves:
            return self._fail("illegal", f"{shortened(line)} is not legal: {why_illegal(answer, view)}", line)
        self._words = (move, line)
        return move

    def told(self, played: Played) -> None:
        """Tell it what came of a move, its own too."""
        if self._process is None:
            return
        self._sent.append(played)
        words = None
        if played.player == self._player and self._words is not None and self._words[0] == played.move:
            words = self._words[1]  # the mover hears its own words again, odd ones too
        if played.battle is None or played.battle.defender != FLAG:  # nobody is told that: the game is over
            self._process.send(ucc.event_line(played, words, self._variant))

    def ended(self, end: str) -> None:
        """Keep what the bot is told with QUIT; `end` is one of `vauban.notation.stratego.ucc.WORDS_OF_END`."""
        names = [self.opponent, self.opponent]
        names[self._player] = self._own_name
        values = ucc.values_left(self._sent, self._variant)
        self._goodbye = f"{ucc.QUIT} {ucc.ending(end, len(self._sent), names, values).text}"

    def close(self) -> None:
        """Tell it to quit, give it a little time, and let nothing of it stay behind."""
        if self._process is None:
            return
        if self._goodbye is None:
            self._guess_the_end()
        assert self._goodbye is not None
        self._process.send(self._goodbye)
        self._let_go(self.grace)

    # ── What remains of it ───────────────────────────────────────────────────────────────────────

    @property
    def stderr(self) -> str:
        """The end of what it has said on standard error in its latest game."""
        return self._stderr if self._process is None else self._process.stderr

    def last_words(self) -> str:
        """Return what it has said on standard error before it misbehaved."""
        # A message about a crash has it already.
        return "" if self.fault is None or self.fault.kind == "crashed" else last_words(self.stderr)

    @property
    def transcript(self) -> list[str]:
        """The latest lines of its latest game: "> " before those to it, "< " before its own."""
        return self._lines if self._process is None else list(self._process.lines)

    @property
    def returns(self) -> bool:
        """True if it ends its lines with a carriage return and a line feed, in this game."""
        return self._process is not None and self._process.returns

    @property
    def spoke_unasked(self) -> bool:
        """True if it has said something that will be taken as its next answer."""
        return self._process is not None and self._process.waiting()

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    @property
    def _own_name(self) -> str:
        program = self.command[-1] if len(self.command) > 1 else self.command[0]
        return ucc.plain_name(Path(program).name)

    def _begin(self, variant: Variant, player: int, judged: bool = False) -> list[str]:
        """Start the program; the rows of its setup, empty ones after a bad one if they are `judged`."""
        self.close()
        self.fault = None
        self.quit_by_itself = None
        self._forget()
        self._variant, self._player = variant, player
        self._process = self.start()
        self._process.send(ucc.setup_line(player, self.opponent, variant))
        rows: list[str] = []
        while len(rows) < variant.setup_rows:
            rows.append(self._ask(self.seconds if rows else max(self.seconds, self.start_seconds)))
            if judged and len(rows[-1]) != variant.columns:  # nothing can mend that: no waiting for the others
                rows += [""] * (variant.setup_rows - len(rows))
        return rows

    def start(self) -> BotProcess:
        """Return the program in a process of its own, under its limits."""
        return BotProcess(
            self.command,
            cwd=self.cwd,
            memory=self.memory * 2**20,
            cpu_seconds=60 + math.ceil(LONGEST_GAME * self.seconds),
            environment={**os.environ, "VAUBAN_SEED": str(self.seed)},
        )

    def _ask(self, seconds: float) -> str:
        """Return its next line."""
        assert self._process is not None
        try:
            return self._process.read_line(seconds)
        except BotError as error:
            self.fault = error
            self._let_go(0.0)
            self.quit_by_itself = None  # it was not asked to
            raise

    def _fail(self, kind: str, sentence: str, answer: str | None = None) -> NoReturn:
        """It answered, and wrongly; it is still told to quit."""
        self.fault = BotError(kind, sentence, answer=answer, stderr=self.stderr)
        raise self.fault

    def _let_go(self, grace: float) -> None:
        assert self._process is not None
        self.quit_by_itself = self._process.close(grace)
        self._stderr, self._lines = self._process.stderr, list(self._process.lines)
        self._process = None

    def _guess_the_end(self) -> None:
        """Say of the end what is known to us, if nobody has said more."""
        taken = self._sent[-1].battle if self._sent else None
        if self._resigned:
            self.ended("resigned")
        elif self.fault is not None:
            self.ended("illegal")
        elif taken is not None and taken.defender == FLAG:
            self.ended("flag")
        else:
            self.ended("total_limit")
            assert self._goodbye is not None
            self._goodbye = self._goodbye.replace(" DRAW_DEFAULT ", " INTERNAL_ERROR ")

    def _catch_up(self, view: View) -> None:
        """Tell it of moves that nobody has told us of."""
        missing = view.plies - len(self._sent)
        if missing == 0:
            return
        news = view.history[-missing:] if 0 < missing <= len(view.history) else []
        if not news or any(played.player == self._player for played in news):
            raise ConfigurationError(
                f"a bot plays a game from its beginning, move by move: it was told of {len(self._sent)} plies, "
                f"and this game has {view.plies}"
            )
        for played in news:
            self.told(played)


def _is_classic_army(rows: list[str], player: int) -> bool:
    """Return whether these rows are a setup of the competition's army."""
    try:
        ucc.parse_setup_rows(rows, player)
    except SetupError:
        return False
    return True


def make_program(command: str, seed: int, *, memory: int, folder: Path | None) -> ExternalAgent:
    """Return the agent of a command (`vauban.agents.external`)."""
    return ExternalAgent(command, seed, memory=memory, cwd=folder)


def why_illegal(answer: ucc.Answer, view: View) -> str:
    """Say why an answer is no legal move of the player who was asked."""
    move = answer.move(view.variant)
    here, v = f"({answer.x}, {answer.y})", view.variant
    if move is None:
        if answer.squares < 1:
            return f"it goes {answer.squares} squares (what follows the direction must be a number, 1 or more)"
        inside = 0 <= answer.x < v.columns and 0 <= answer.y < v.rows
        return "it leads off the board" if inside else f"{here} is not on the board"
    piece, target = view.piece_at(move.source), view.piece_at(move.target)
    if piece is None:
        return f"there is {'a lake' if move.source in v.lakes else 'no piece'} on {here}"
    if piece.player != view.player:
        return f"the piece on {here} is the opponent's"
    kind = piece.kind or 0
    there = f"({move.target % v.columns}, {move.target // v.columns})"
    if kind >= MOVABLE_TYPES:
        return f"the piece on {here} is a {TYPES[kind]}, which never moves"
    if move.target in v.lakes:
        return f"{there} is a lake"
    if target is not None and target.player == view.player:
        return f"{there} holds a piece of its own"
    if kind != SCOUT and answer.squares > 1:
        return f"the piece on {here} is a {TYPES[kind]}, and only Scouts move more than one square"
    if any(square in v.lakes or view.piece_at(square) is not None for square in squares_between(move, v)):
        return f"the way from {here} to {there} is not free"
    return f"a repetition rule bars it here (the rules are {view.rules.text})"
