"""Playing the games of a match: one by one on boards, or many at once, with the same moves.

An agent that resigns, answers with what is no legal move, takes too long or raises an error loses that
game; all other games go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS, Agent, close, tell
from vauban.agents.external.agent import PREFIX, BotError, ExternalAgent
from vauban.agents.external.process import last_words
from vauban.arena.match import (
    FAILED,
    FORFEIT,
    ILLEGAL,
    LATE,
    OWN,
    RECORDED_ENDS,
    RESIGNED,
    FinishedGame,
    Match,
    replayed,
)
from vauban.arena.results import GameResult
from vauban.board.stratego import Board
from vauban.errors import ConfigurationError
from vauban.games.base import Outcome
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import Row, setup_text
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

Ints = npt.NDArray[np.int64]

GRACE = 0.05
"""Seconds above the time for a move that are not held against an agent: what our own bookkeeping may take."""


def play_games(match: Match, numbers: Sequence[int]) -> list[FinishedGame]:
    """Play games of a match, in the faster way that its agents allow; returns them in the order of the numbers."""
    return play_in_batch(match, numbers) if match.in_batches else play_on_boards(match, numbers)


class Forfeit(Exception):  # noqa: N818 – a way for a game to end
    """A player has lost other than on the board."""

    def __init__(self, player: int, reason: str, text: str = "", mute: bool = False) -> None:
        super().__init__()
        self.player = player
        self.reason = reason
        self.note = f"{reason}: {text}" if text else reason
        self.mute = mute
        """Whether he is a program that has not said a word."""


MISCHIEF = {"silent": LATE, "late": LATE, "crashed": FAILED}
"""By kind of `BotError`: the reason why the game is lost; all others are answers that are none."""


def _fault(player: int, error: Exception, where: str = "") -> Forfeit:
    """The game is lost by an agent's error. How far it had come is in its result."""
    if isinstance(error, BotError):
        return Forfeit(player, MISCHIEF.get(error.kind, ILLEGAL), str(error), mute=not error.spoke)
    return Forfeit(player, FAILED, f"{type(error).__name__}{where}: {error}")


def _result(
    match: Match, number: int, outcome: Outcome | None, forfeit: Forfeit | None, plies: int, seconds: float
) -> GameResult:
    names = match.names_in(number)
    if forfeit is not None:
        return GameResult(number, names, 1 - forfeit.player, FORFEIT, plies, seconds, forfeit.note)
    assert outcome is not None
    return GameResult(number, names, outcome.winner, outcome.end, plies, seconds)


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PairSetups:
    """The setups of a pair; an error in place of one that an agent did not manage to choose."""

    rows: tuple[Row | Exception | None, Row | Exception | None]
    """Red's and blue's, or the first agent's and the second's where these keep theirs; None: ask it in every game."""
    kept: bool

    @staticmethod
    def of(match: Match, pair: int) -> PairSetups:
        if match.setups != OWN:
            return PairSetups(match.drawn_setups(pair), any(match.programs))
        found: list[Row | Exception | None] = []
        for role in (0, 1):
            try:
                found.append(None if match.programs[role] else match.own_setup(pair, role))
            except Exception as error:
                found.append(error)
        return PairSetups((found[0], found[1]), True)

    def row_of(self, match: Match, number: int, player: int) -> Row | None:
        """A player's setup in a game of the pair; raises `Forfeit` where he has none."""
        row = self.rows[match.role(number, player) if self.kept else player]
        if isinstance(row, Exception):
            raise _fault(player, row, " at the setup")
        return row


# ── One by one ───────────────────────────────────────────────────────────────────────────────────


def play_on_boards(match: Match, numbers: Sequence[int]) -> list[FinishedGame]:
    """Play games one after the other, each with agents made for it."""
    finished = []
    for pair, group in groupby(numbers, lambda number: number // 2):
        setups = PairSetups.of(match, pair)
        games = [_play_on_board(match, number, setups) for number in group]
        if pair == 0 and len(games) == min(2, match.games):
            _check_programs(match, [forfeit for _, forfeit in games])
        finished += [game for game, _ in games]
    return finished


def _check_programs(match: Match, forfeits: Sequence[Forfeit | None]) -> None:
    """Refuse a program that says nothing in the first games: it cannot be started, and figures would say nothing."""
    for role in (0, 1):
        lost = [each for number, each in enumerate(forfeits) if each and match.role(number, each.player) == role]
        if len(lost) == len(forfeits) and all(each.mute for each in lost):
            command = match.names[role].removeprefix(PREFIX)
            raise ConfigurationError(
                f"the program {command!r} has not said a word in any of its first games ({lost[0].note}). "
                "See what vauban bot-check says of it"
            )


def _play_on_board(match: Match, number: int, setups: PairSetups) -> tuple[FinishedGame, Forfeit | None]:
    begun = perf_counter()
    agents: list[Agent] = []
    board: Board | None = None
    texts = ("", "")
    forfeit: Forfeit | None = None
    try:
        rows = [setups.row_of(match, number, player) for player in (0, 1)]
        for player in (0, 1):
            agents.append(_sit_down(match, number, player))
        red, blue = (_set_up(match, number, player, agents[player], rows[player]) for player in (0, 1))
        texts = setup_text(red, match.variant), setup_text(blue, match.variant)
        board = Board.from_setups(red, blue, match.variant, match.game.rules)
        while not board.is_over:
            _play_move(board, agents, match.time)
    except Forfeit as lost:
        forfeit = lost
    finally:
        _rise(agents, board, forfeit)
    if forfeit is not None:
        _quote(forfeit, agents)
    outcome = None if board is None else board.outcome()
    plies = 0 if board is None else board.plies
    name = match.variant.square_name
    moves = [] if board is None else [name(p.move.source) + name(p.move.target) for p in board.history]
    result = _result(match, number, outcome, forfeit, plies, perf_counter() - begun)
    return FinishedGame(result, texts, " ".join(moves)), forfeit


def _sit_down(match: Match, number: int, player: int) -> Agent:
    role = match.role(number, player)
    try:
        agent = match.make(role, match.agent_seed(number, role))
    except Exception as error:
        if match.programs[role]:
            raise  # no game can be played without the program, which was there when the match was made
        raise _fault(player, error, " at the start") from error
    if isinstance(agent, ExternalAgent):
        agent.opponent = match.names[1 - role]
        agent.seconds = match.time or agent.seconds
    return agent


def _set_up(match: Match, number: int, player: int, agent: Agent, row: Row | None) -> Row:
    """The player's setup; a program is asked for it, or told it where its protocol has no words for the army."""
    if row is not None and not isinstance(agent, ExternalAgent):
        return row
    if isinstance(agent, ExternalAgent) and row is not None and match.variant.army != ucc.CLASSIC.army:
        agent.setup_given = lambda *_: row
    try:
        return match.ask_setup(agent, number // 2, match.role(number, player), player)
    except Exception as error:
        raise _fault(player, error, " at the setup") from error


def _play_move(board: Board, agents: Sequence[Agent], time: float | None) -> None:
    player = board.turn
    view = board.view(player)
    begun = perf_counter()
    try:
        move = agents[player].choose_move(view)
    except Exception as error:
        raise _fault(player, error) from error
    seconds = perf_counter() - begun
    # A program has a clock of its own, which knows when its answer came.
    if time is not None and seconds > time + GRACE and not isinstance(agents[player], ExternalAgent):
        raise Forfeit(player, LATE, f"more than {time:g} s for a move")
    if move is None:
        raise Forfeit(player, RESIGNED)
    _push(board, player, move)
    for each, agent in enumerate(agents):
        try:
            tell(agent, board.history[-1])
        except Exception as error:
            if not board.is_over:  # what has been decided on the board stays so
                raise _fault(each, error) from error


def _push(board: Board, player: int, move: Any) -> None:
    """Play what an agent has answered."""
    try:
        board.push(Move(*move))
    except Exception as error:  # it may have answered with anything
        raise Forfeit(player, ILLEGAL, str(error)) from error


def _rise(agents: Sequence[Agent], board: Board | None, forfeit: Forfeit | None) -> None:
    """Let the agents go when the game is over, or broken off."""
    outcome = None if board is None else board.outcome()
    for agent in agents:
        with suppress(Exception):  # the game is over: nothing that an agent does now changes it
            if isinstance(agent, ExternalAgent) and outcome is not None:
                agent.ended(outcome.end)
            elif isinstance(agent, ExternalAgent) and forfeit is not None and board is not None:
                agent.ended(RECORDED_ENDS[forfeit.reason])
            close(agent)


def _quote(forfeit: Forfeit, agents: Sequence[Agent]) -> None:
    """Add what a program that misbehaved has said on standard error, now that it is there to the end."""
    loser = agents[forfeit.player] if forfeit.player < len(agents) else None
    # A message about a crash has it already.
    if isinstance(loser, ExternalAgent) and loser.fault is not None and loser.fault.kind != "crashed":
        forfeit.note += last_words(loser.stderr)


# ── Many at once ─────────────────────────────────────────────────────────────────────────────────


def play_in_batch(match: Match, numbers: Sequence[int]) -> list[FinishedGame]:
    """Play games in step with each other: on every ply each agent answers for all games in which it is on turn."""
    batch = _Batch(match, numbers)
    try:
        while len(batch.live):
            batch.play_ply()
    finally:
        for agent in batch.agents:
            close(agent)
    return batch.finished()


class _Batch:
    """Games that began together, so that the same side is on turn in all of them.

    A game's place in `numbers` names it here; `games` says which game each row of the simulator plays.
    """

    def __init__(self, match: Match, numbers: Sequence[int]) -> None:
        begun = perf_counter()
        self.match = match
        self.numbers = np.array(numbers, np.int64)
        self.agents: Any = (match.make(0), match.make(1))
        self.seeds = np.array([[match.agent_seed(n, role) for n in numbers] for role in (0, 1)], np.uint64)
        self.texts = [("", "")] * len(numbers)
        self.forfeits: dict[int, Forfeit] = {}
        self.illegal: dict[int, int] = {}
        """By game: the action that was none, on which it ended."""
        self.outcomes: dict[int, Outcome | None] = {}
        self.log: list[tuple[Ints, Ints]] = []
        """For each ply: the games in which it was played, and the actions."""
        self.ply = 0
        self.games: Ints = np.zeros(0, np.int64)
        self.live: Ints = np.zeros(0, np.int64)
        """The rows whose games go on."""
        self._begin()
        self.seconds = np.full(len(numbers), (perf_counter() - begun) / len(numbers))

    def play_ply(self) -> None:
        """Play one ply in all games that go on."""
        begun = perf_counter()
        if 2 * len(self.live) <= self.sim.n:
            self._close_ranks()
        asked = self.live
        player = self.ply % 2
        actions = np.full(self.sim.n, RESIGNS, np.int64)
        self._ask(player, actions)
        before = self.sim.plies.copy()
        # A row without a legal action stays as it is: resigned and failed games, and answers that are none.
        self.sim.step(actions, check=False)
        stepped = self.sim.plies > before
        for row in self.live[~stepped[self.live]]:
            self.illegal[int(self.games[row])] = int(actions[row])
        self.live = self.live[stepped[self.live]]
        self.log.append((self.games[self.live], actions[self.live]))
        self._note_ends()
        self.ply += 1
        self.seconds[self.games[asked]] += (perf_counter() - begun) / len(asked)

    def finished(self) -> list[FinishedGame]:
        """All games, when none goes on."""
        games = np.concatenate([np.zeros(0, np.int64), *(games for games, _ in self.log)])
        actions = np.concatenate([np.zeros(0, np.int64), *(actions for _, actions in self.log)])
        order = np.argsort(games, kind="stable")  # within a game, by ply
        bounds = np.searchsorted(games[order], np.arange(len(self.numbers) + 1))
        texts = _move_texts(self.match.variant)
        found = []
        for game, number in enumerate(self.numbers.tolist()):
            chosen = actions[order[bounds[game] : bounds[game + 1]]].tolist()
            moves = " ".join(texts[ply % 2][action] for ply, action in enumerate(chosen))
            if game in self.illegal:
                self.forfeits[game] = self._refusal(game, moves)
            result = _result(
                self.match, number, self.outcomes.get(game), self.forfeits.get(game), len(chosen),
                float(self.seconds[game]),
            )  # fmt: skip
            found.append(FinishedGame(result, self.texts[game], moves))
        return found

    def _begin(self) -> None:
        ready, rows = [], []
        for pair, group in groupby(enumerate(self.numbers.tolist()), lambda item: item[1] // 2):
            setups = PairSetups.of(self.match, pair)
            for game, number in group:
                try:
                    red, blue = (setups.row_of(self.match, number, player) for player in (0, 1))
                except Forfeit as lost:
                    self.forfeits[game] = lost
                    continue
                assert red is not None and blue is not None  # programs do not play in batches
                ready.append(game)
                rows.append((red, blue))
                self.texts[game] = setup_text(red, self.match.variant), setup_text(blue, self.match.variant)
        if ready:
            self.games = np.array(ready, np.int64)
            self.live = np.arange(len(ready))
            self.sim = self._simulator(len(ready))
            self.sim.reset(setups=[np.stack([pair[player] for pair in rows]) for player in (0, 1)])
            self._note_ends()

    def _simulator(self, rows: int) -> Simulator:
        return Simulator(self.match.game, rows, seed=0, restart=False, threads=1, arrays="numpy")

    def _close_ranks(self) -> None:
        """Leave the rows of ended games behind."""
        records = self.sim.snapshot()[self.live]
        self.sim = self._simulator(len(self.live))
        self.sim.restore(records)
        self.games = self.games[self.live]
        self.live = np.arange(len(self.live))

    def _ask(self, player: int, actions: Ints) -> None:
        """Let the agents choose for the rows that go on; games that one gives up, or fails in, are taken out."""
        roles = (self.numbers[self.games[self.live]] + player) % 2
        rows_of = [self.live[roles == role] for role in (0, 1)]
        views = self.sim.views(player)
        views_of = [views[rows] for rows in rows_of]
        lost: list[int] = []
        for agent, seeds, rows, seen in zip(self.agents, self.seeds, rows_of, views_of, strict=True):
            for row, answer in zip(rows.tolist(), _answers(agent, seen, seeds[self.games[rows]]), strict=True):
                if isinstance(answer, Exception):
                    self.forfeits[int(self.games[row])] = _fault(player, answer)
                elif answer == RESIGNS:
                    self.forfeits[int(self.games[row])] = Forfeit(player, RESIGNED)
                else:
                    actions[row] = answer
                    continue
                lost.append(row)
        self.live = np.setdiff1d(self.live, lost)

    def _note_ends(self) -> None:
        over = self.sim.over
        for row in self.live[over[self.live]]:
            self.outcomes[int(self.games[row])] = self.sim.outcome(int(row))
        self.live = self.live[~over[self.live]]

    def _refusal(self, game: int, moves: str) -> Forfeit:
        """Why the last action of a game is no legal move, as a board would say it."""
        board = replayed(self.match, self.texts[game], moves)
        player = board.turn
        try:
            _push(board, player, self.match.game.decode(player, self.illegal[game]))
        except Forfeit as lost:
            return lost
        raise AssertionError(f"{self.match!r}: board and simulator disagree about a move")


def _answers(agent: Any, views: Snapshot, seeds: npt.NDArray[np.uint64]) -> list[int | Exception]:
    """An agent's action for each view; where one makes it fail, each is asked alone, to find out which."""
    if len(views) == 0:
        return []
    try:
        answers = np.asarray(agent.choose_actions(views, seeds))
        if answers.shape != (len(views),):
            raise TypeError(f"choose_actions answered with {answers.shape}, and was asked for {(len(views),)}")
        return list(answers.tolist())
    except Exception as error:
        if len(views) == 1:
            return [error]
    return [answer for row in range(len(views)) for answer in _answers(agent, views[row], seeds[row : row + 1])]


@lru_cache(4)
def _move_texts(variant: Variant) -> tuple[list[str], list[str]]:
    """By player and action: the squares of the move, as text."""
    game = Stratego(variant)
    red, blue = ([game.action_text(player, action) for action in range(game.action_count)] for player in (0, 1))
    return red, blue
