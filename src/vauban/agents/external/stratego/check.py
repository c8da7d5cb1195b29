"""Check that a foreign bot speaks the line protocol: `check` plays it in many situations and names its faults.

Situations: whole games against a random mover, against long Scout moves and early battles, against
an opponent that moves to and fro, each in both colours; being told to quit; the end of its input.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vauban.agents.adapter import build
from vauban.agents.base import Agent, choose_move, set_up
from vauban.agents.external.stratego.agent import BotError, ExternalAgent
from vauban.agents.random import RandomAgent
from vauban.board.stratego import Board, View
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import SCOUT
from vauban.games.stratego.setups import Row, random_setup
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move, squares_between

PATIENCE = 3
"""Wait this many time limits before calling a bot hung."""
FIRST_SECONDS = 180.0
"""For the first line after the very first start, when a program may compile or unpack itself."""
SHORT_GAME = 80
"""Plies of a game that is played for a situation's sake."""
GRACE = 3.0
"""Seconds after QUIT."""
TAIL = 14
"""Lines of the conversation that are shown with a fault."""

TO_AND_FRO = "against an opponent who moves to and fro"
SCOUTS_IN_FRONT = ("FB8sB478B8", "BB31555587", "6724B84976", "9966399999")

FAULT, WARNING = "fault", "warning"


@dataclass
class Finding:
    """Something that the author of a bot should know."""

    level: str
    """FAULT: it would lose games by it; WARNING: it works, but look at it."""
    situation: str
    sentence: str
    transcript: list[str] = field(default_factory=list)
    """The last lines of the conversation."""
    stderr: str = ""


@dataclass
class Trial:
    """One game of a check."""

    situation: str
    colour: str
    plies: int
    result: str
    """In words: won, lost, a draw, broken off, resigned, or what went wrong."""
    slowest: float
    """Seconds of its slowest answer."""


@dataclass
class Report:
    """The findings of a check."""

    command: str
    seconds: float
    variant: Variant = ucc.CLASSIC
    trials: list[Trial] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    start_seconds: float | None = None
    """Longest time for a setup, from the start of the program on."""
    quits: bool = True
    """Whether it ends when it is told to."""
    repeats: int = 0
    """In how many games it made a move that the repetition rules bar, which games have unless told otherwise."""

    @property
    def ok(self) -> bool:
        """True if it does nothing wrong."""
        return not any(finding.level == FAULT for finding in self.findings)

    def add(self, level: str, situation: str, sentence: str, agent: ExternalAgent | None = None) -> None:
        """Note something, the same sentence only once."""
        if all(finding.sentence != sentence for finding in self.findings):
            lines = [] if agent is None else agent.transcript[-TAIL:]
            self.findings.append(Finding(level, situation, sentence, lines, "" if agent is None else agent.stderr))


# ── Opponents ────────────────────────────────────────────────────────────────────────────────────


class _Runner:
    """Runs far with its Scouts and strikes whenever it can."""

    name = "runner"

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        if ucc.is_classic(variant):
            return ucc.parse_setup_rows(SCOUTS_IN_FRONT, 0, variant)  # in its own view, whatever its colour
        return random_setup(variant, rng)

    def choose_move(self, view: View) -> Move:
        pieces = view.pieces(1 - view.player)
        strikes = [move for move in view.legal_moves if move.target in pieces]
        runs = [move for move in view.legal_moves if squares_between(move, view.variant)]
        far = [move for move in runs if move not in strikes] if view.plies < 2 else strikes or runs
        return self._rng.choice(far or strikes or list(view.legal_moves))


class _Shuttler:
    """Moves one piece to and fro for ever, as rules without repetition rules allow."""

    name = "shuttler"

    def __init__(self, seed: int) -> None:
        self._anybody = RandomAgent(seed)

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        return random_setup(variant, rng)

    def choose_move(self, view: View) -> Move | None:
        own = [played.move for played in view.history if played.player == view.player]
        back = Move(own[-1].target, own[-1].source) if own else None
        if back is not None and back in view.legal_moves:
            return back
        move = choose_move(self._anybody, view)
        return None if move is None else Move(*move)


# ── The check ────────────────────────────────────────────────────────────────────────────────────


def check(
    command: str,
    *,
    variant: Variant = ucc.CLASSIC,
    games: int = 2,
    seconds: float = 2.0,
    start_seconds: float = 10.0,
    first_seconds: float = FIRST_SECONDS,
    plies: int = 400,
    memory: int = 1024,
    cwd: str | Path | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda situation: None,
) -> Report:
    """Play a bot through all situations; `games` whole games, of at most `plies`, in colours by turns.

    An answer is waited for three times as long as `seconds`, to say how late it is. Before all games it is
    started once, with `first_seconds` for its first line. `tell` is told each situation as it begins.
    """
    report = Report(command, seconds, variant=variant)

    def fresh(number: int) -> ExternalAgent:
        # It is given more time than it has, so that we can say how late it is.
        return ExternalAgent(
            command,
            seed + number,
            seconds=PATIENCE * seconds,
            start_seconds=start_seconds,
            memory=memory,
            cwd=cwd,
            grace=GRACE if report.quits else 0.0,
        )

    tell("its first start")
    _start(report, fresh(0), first_seconds)
    no_setup: set[int] = set()
    for number, (situation, colour, opponent, length) in enumerate(_situations(games, plies, seed)):
        if colour not in no_setup:
            tell(f"as {ucc.COLOURS[colour]} {situation}")
            if not _try(report, fresh(number), situation, colour, opponent, length):
                no_setup.add(colour)  # it would only do the same again
    if not no_setup and report.quits:
        tell("told to quit")
        _try_to_quit(report, fresh(0), "when it is told to quit at its first turn", told=True)
        _try_to_quit(report, fresh(0), "when its input ends without QUIT", told=False)
    if (report.start_seconds or 0.0) > seconds:
        report.add(
            WARNING, "at its start", f"its setup came up to {report.start_seconds:.1f} s after its start: the manager "
            f"of 2012 gives it {seconds:g} s to begin, we give it {max(PATIENCE * seconds, start_seconds):g} s",
        )  # fmt: skip
    return report


def _situations(games: int, plies: int, seed: int) -> Iterator[tuple[str, int, Agent, int]]:
    for number in range(games):
        yield "against a random mover", number % 2, RandomAgent(seed + number), plies
    for colour in (0, 1):
        yield "against long Scout moves and early battles", colour, build(_Runner, seed), SHORT_GAME
        yield TO_AND_FRO, colour, build(_Shuttler, seed), SHORT_GAME


def _start(report: Report, agent: ExternalAgent, seconds: float) -> None:
    """Start it once before it is judged, and say if that took longer than it may take in a match."""
    process = agent.start()
    begun = time.monotonic()
    try:
        process.send(ucc.setup_line(0, agent.opponent, report.variant))
        process.end_input()  # what it may keep in a buffer comes then
        process.read_line(seconds)
    except BotError:  # the games will show it
        return
    finally:
        process.close(0.0)
    took = time.monotonic() - begun
    if took > agent.start_seconds:
        report.add(
            WARNING, "at its first start", f"its first line came {took:.0f} s after its very first start: start it "
            f"once before a match, in which it has {agent.start_seconds:g} s",
        )  # fmt: skip


def _repeats(board: Board, setups: tuple[Row, Row], colour: int) -> bool:
    """Return whether it made a move that the repetition rules bar, before its opponent did so."""
    strict = Board.from_setups(*setups, board.variant)
    for played in board.history:
        if strict.is_over:
            return False
        if played.move not in strict.legal_moves:
            return played.player == colour
        strict.push(played.move)
    return False


def _try(report: Report, agent: ExternalAgent, situation: str, colour: int, opponent: Agent, plies: int) -> bool:
    """Return one game, and what it shows; False if there was none, for want of a setup."""
    where = f"as {ucc.COLOURS[colour]} {situation}"
    trial = Trial(situation, ucc.COLOURS[colour], 0, "broken off", 0.0)
    report.trials.append(trial)
    rng = random.Random(f"{agent.seed} check")
    board: Board | None = None
    earlier: View | None = None
    try:
        begun = time.monotonic()
        game = Stratego(report.variant)
        own = agent.set_up(game, colour, rng)
        took = time.monotonic() - begun
        report.start_seconds = max(took, report.start_seconds or 0.0)
        if agent.returns:
            report.add(
                WARNING, where, "it ends its lines with a carriage return and a line feed (CR LF): we take that for a "
                "line feed, and other managers may not", agent,
            )  # fmt: skip
        other = set_up(opponent, game, 1 - colour, rng)
        pair = (own, other) if colour == 0 else (other, own)
        board = Board.from_setups(*pair, report.variant, f"{ucc.UCC_RULES} total_limit={plies}")
        while not board.is_over:
            if board.turn != colour:
                if board.plies and agent.spoke_unasked:
                    report.add(
                        WARNING, where, "it sent more than one line as its answer: the second is taken as the answer "
                        "to its next turn", agent,
                    )  # fmt: skip
                move = choose_move(opponent, board.view(board.turn))
                assert move is not None
            else:
                view = board.view(colour)
                begun = time.monotonic()
                answer = agent.choose_move(view)
                took = time.monotonic() - begun
                trial.slowest = max(trial.slowest, took)
                if took > report.seconds:
                    raise BotError("late", f"it answered after {took:.1f} s, and has {report.seconds:g} s")
                if answer is None:
                    trial.result = "it resigned"
                    if len(view.legal_moves):
                        report.add(WARNING, where, f"it resigned after {board.plies} plies", agent)
                    agent.ended("resigned")
                    break
                earlier, move = view, answer
            agent.told(board.push(move))
        outcome = board.outcome()
        report.repeats += _repeats(board, pair, colour)
        if outcome is not None:
            won = "a draw" if outcome.winner is None else "won" if outcome.winner == colour else "lost"
            trial.result = "broken off" if outcome.end == "total_limit" else f"{won} ({outcome.end})"
            agent.ended(outcome.end)
        agent.close()
        if agent.quit_by_itself is False and report.quits:
            report.quits = False
            report.add(FAULT, where, f"it does not end within {GRACE:g} s after QUIT", agent)
    except BotError as error:
        agent.close()
        trial.result = error.kind
        report.add(FAULT, where, _advice(report, error, agent, situation, colour, board, earlier), agent)
    finally:
        trial.plies = 0 if board is None else board.plies
        agent.close()
    return board is not None


def _advice(
    report: Report,
    error: BotError,
    agent: ExternalAgent,
    situation: str,
    colour: int,
    board: Board | None,
    earlier: View | None,
) -> str:
    """Say what a bot did wrong, and what its author may look at."""
    sentence = f"{error.kind}: {error}"
    variant = report.variant
    if error.kind == "silent" and _answers_when_its_input_ends(agent, colour, variant):
        return (
            "silent: its output arrives only when it ends: flush after every line (Python: print(…, flush=True); "
            "C: setbuf(stdout, NULL); C++: std::endl; Java: System.out.flush())"
        )
    if error.kind == "bad setup" and colour == 1 and variant.setup_rows > 1:
        front = variant.rows - variant.setup_rows
        sentence = _then(
            sentence, f"BLUE gives its front row (y={front}) first and its back row (y={variant.rows - 1}) last"
        )
    if situation == TO_AND_FRO and board is not None and error.kind in ("late", "crashed"):
        sentence = _then(
            sentence, "Its opponent moved to and fro, which these rules allow: there is no two-square rule"
        )
    if board is None:
        return sentence
    told = board.history[-1] if board.history else None
    after = ucc.START if told is None else ucc.event_line(told, variant=variant)
    sentence = _then(sentence, f"It had just been told {after!r}")
    if error.kind == "unintelligible":
        words = (error.answer or "").split()
        if words[:1] == ["NO_MOVE"]:
            sentence += f". A bot that has no move says {ucc.SURRENDER}"
        elif any(word.upper() in ucc.DIRECTIONS and word not in ucc.DIRECTIONS for word in words):
            sentence += ". Directions are written in capitals"
        elif not words or not words[0].isdigit():
            sentence += ". What is not an answer belongs on standard error"
        return sentence
    answer = ucc.parse_answer(error.answer) if error.kind == "illegal" and error.answer else None
    move = None if answer is None else answer.move(variant)
    if move is None:
        return sentence
    piece = board.view(colour).piece_at(move.source)
    if earlier is not None and move in earlier.legal_moves:
        sentence += ". One turn earlier that was legal: it seems to have missed what happened since"
    elif piece is not None and piece.player != colour:
        sentence += f". It is {ucc.COLOURS[colour]}: its pieces began on y={_rows_of(colour, variant)}"
    elif piece is not None and piece.kind == SCOUT:
        sentence += ". A Scout runs over empty squares only, and may end on an enemy"
    return sentence


def _then(sentence: str, another: str) -> str:
    """Return two sentences, the last without a full stop, as messages are."""
    return f"{sentence} {another}" if sentence.endswith(("?", "!", ".")) else f"{sentence}. {another}"


def _rows_of(colour: int, variant: Variant) -> str:
    """Return the numbers of a player's rows, in words."""
    first = 0 if colour == 0 else variant.rows - variant.setup_rows
    last = first + variant.setup_rows - 1
    return f"{first} to {last}" if last > first else str(first)


def _answers_when_its_input_ends(agent: ExternalAgent, colour: int, variant: Variant) -> bool:
    """Return whether a silent bot has an answer in its buffer."""
    process = agent.start()
    try:
        process.send(ucc.setup_line(colour, agent.opponent, variant))
        process.end_input()
        return bool(process.read_line(agent.start_seconds).strip())
    except BotError:
        return False
    finally:
        process.close(0.0)


def _try_to_quit(report: Report, agent: ExternalAgent, where: str, *, told: bool) -> None:
    """See whether it ends when it should, right after its setup."""
    process = agent.start()
    try:
        process.send(ucc.setup_line(0, agent.opponent, report.variant))
        for _ in range(report.variant.setup_rows):
            process.read_line(agent.start_seconds)
        if told:
            whole = ucc.army_value(report.variant)
            process.send(f"{ucc.QUIT} {ucc.ending('agreed', 0, ('red', 'blue'), (whole, whole)).text}")
        if not process.close(GRACE):
            report.add(FAULT if told else WARNING, where, f"it does not end within {GRACE:g} s {where}")
    except BotError:
        report.add(FAULT, where, "it did not give its setup this time, though it did before")
    finally:
        process.close(0.0)
