"""Playing the games of a match: one by one on boards, or many at once, with the same moves.

An agent that resigns, answers with what is no legal move, takes too long or raises an error loses that
game; all other games go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.agents.base import RESIGNS, Agent, AgentError, Program, Row, Seeds, choose_action, close, show, tell
from vauban.agents.external import PROTOCOLS, prefix_of
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
    action_words,
    begin,
    replayed,
)
from vauban.arena.results import GameResult
from vauban.errors import ConfigurationError, IllegalMoveError, InvalidMoveError
from vauban.games.base import Outcome
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
        """Whether the player is a program that has not said a word."""


def _fault(player: int, error: Exception, where: str = "") -> Forfeit:
    """Return the forfeit for an agent's error. How far the game had come is in its result."""
    if isinstance(error, AgentError):
        return Forfeit(player, error.reason, str(error), mute=not error.spoke)
    if isinstance(error, InvalidMoveError | IllegalMoveError):
        return Forfeit(player, ILLEGAL, str(error))
    return Forfeit(player, FAILED, f"{type(error).__name__}{where}: {error}")


def _result(
    match: Match, number: int, outcome: Outcome | None, forfeit: Forfeit | None, plies: int, seconds: float
) -> GameResult:
    names = match.names_in(number)
    if forfeit is not None:
        worst = match.game.utilities[0]
        utility = None if match.game.drawn else worst if forfeit.player == 0 else -worst
        return GameResult(number, names, 1 - forfeit.player, FORFEIT, plies, seconds, forfeit.note, utility)
    assert outcome is not None
    # Records hold 32 bits of it.
    exact = min(match.game.utilities, key=lambda worth: abs(worth - outcome.utility))
    utility = None if match.game.drawn else exact
    return GameResult(number, names, outcome.winner, outcome.end, plies, seconds, utility=utility)


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PairSetups:
    """The setups of a pair; an error in place of one that an agent did not manage to choose."""

    rows: tuple[Row | Exception | None, Row | Exception | None]
    """The first player's and the second's, or the first agent's and the second's where these keep theirs; None: there
    is none, or a program is asked for it in every game."""
    kept: bool

    @staticmethod
    def of(match: Match, pair: int) -> PairSetups:
        if not match.gives_setups:
            return PairSetups((None, None), False)
        if match.setups != OWN:
            return PairSetups(match.drawn_setups(pair), any(match.programs) and match.game.setups_chosen)
        found: list[Row | Exception | None] = []
        for role in (0, 1):
            try:
                found.append(None if match.programs[role] else match.own_setup(pair, role))
            except Exception as error:
                found.append(error)
        return PairSetups((found[0], found[1]), True)

    def row_of(self, match: Match, number: int, player: int) -> Row | None:
        """Return a player's setup in a game of the pair; raises `Forfeit` where the player has made none."""
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
            name = match.names[role]
            prefix = prefix_of(name)
            command, advice = name, ""
            if prefix is not None:
                command, advice = name.removeprefix(prefix), f". See what {PROTOCOLS[prefix].check} says of it"
            raise ConfigurationError(
                f"the program {command!r} has not said a word in any of its first games ({lost[0].note}){advice}"
            )


def _play_on_board(match: Match, number: int, setups: PairSetups) -> tuple[FinishedGame, Forfeit | None]:
    begun = perf_counter()
    agents: list[Agent] = []
    board: Any = None
    texts = ("", "")
    forfeit: Forfeit | None = None
    try:
        rows = [setups.row_of(match, number, player) for player in (0, 1)]
        for player in (0, 1):
            agents.append(_sit_down(match, number, player))
        if match.gives_setups:
            first, second = (_set_up(match, number, player, agents[player], rows[player]) for player in (0, 1))
            texts = _setup_texts(match, (first, second))
            board = begin(match, number, (first, second))
        else:
            board = begin(match, number, None)
        while not board.is_over:
            _play_move(match, number, board, agents)
    except Forfeit as lost:
        forfeit = lost
    finally:
        _rise(agents, board, forfeit)
    if forfeit is not None:
        _quote(forfeit, agents)
    outcome = None if board is None else board.outcome()
    plies = 0 if board is None else board.plies
    words = action_words(match.game)
    chosen = [] if board is None else zip(board.history, board.actions, strict=True)
    moves = " ".join(words[played.player][action] for played, action in chosen)
    return FinishedGame(_result(match, number, outcome, forfeit, plies, perf_counter() - begun), texts, moves), forfeit


def _sit_down(match: Match, number: int, player: int) -> Agent:
    role = match.role(number, player)
    try:
        agent = match.make(role, match.agent_seed(number, role))
    except Exception as error:
        if match.programs[role]:
            raise  # no game can be played without the program, which was there when the match was made
        raise _fault(player, error, " at the start") from error
    if isinstance(agent, Program):
        agent.meet(match.names[1 - role], match.bot_time)
    return agent


def _set_up(match: Match, number: int, player: int, agent: Agent, row: Row | None) -> Row:
    """Return the player's setup; a program is asked for it, and has the drawn one if it cannot set up that army."""
    if row is not None:
        if isinstance(agent, Program):
            agent.give_setup(match.game, row)
        if not isinstance(agent, Program) or not match.game.setups_chosen:
            return row
    try:
        return match.ask_setup(agent, number // 2, match.role(number, player), player)
    except Exception as error:
        raise _fault(player, error, " at the setup") from error


def _setup_texts(match: Match, rows: tuple[Row, Row]) -> tuple[str, str]:
    assert match.game.setups is not None
    first, second = map(match.game.setups.text, rows)
    return first, second


def _play_move(match: Match, number: int, board: Any, agents: Sequence[Agent]) -> None:
    player, time = board.turn, match.time
    view = board.view(player)
    begun = perf_counter()
    try:
        action = choose_action(agents[player], view, match.agent_seed(number, match.role(number, player)))
    except Exception as error:
        raise _fault(player, error) from error
    seconds = perf_counter() - begun
    # A program has a clock of its own, which knows when its answer came.
    if time is not None and seconds > time + GRACE and not isinstance(agents[player], Program):
        raise Forfeit(player, LATE, f"more than {time:g} s for a move")
    if action == RESIGNS:
        raise Forfeit(player, RESIGNED)
    _push(board, player, action)
    for each, agent in enumerate(agents):
        try:
            tell(agent, board.history[-1])
            show(agent, board, each)
        except Exception as error:
            if not board.is_over:  # what has been decided on the board stays so
                raise _fault(each, error) from error


def _push(board: Any, player: int, action: int) -> None:
    """Play what an agent has answered."""
    try:
        board.push(action)
    except Exception as error:  # it may have answered with anything
        raise Forfeit(player, ILLEGAL, str(error)) from error


def _rise(agents: Sequence[Agent], board: Any, forfeit: Forfeit | None) -> None:
    """Let the agents go when the game is over, or broken off."""
    outcome = None if board is None else board.outcome()
    for agent in agents:
        with suppress(Exception):  # the game is over: nothing that an agent does now changes it
            if isinstance(agent, Program) and outcome is not None:
                agent.ended(outcome.end)
            elif isinstance(agent, Program) and forfeit is not None and board is not None:
                agent.ended(RECORDED_ENDS[forfeit.reason])
            close(agent)


def _quote(forfeit: Forfeit, agents: Sequence[Agent]) -> None:
    """Add what a program that misbehaved has said on standard error, now that it is there to the end."""
    loser = agents[forfeit.player] if forfeit.player < len(agents) else None
    if isinstance(loser, Program):
        forfeit.note += loser.last_words()


# ── Many at once ─────────────────────────────────────────────────────────────────────────────────


def play_in_batch(match: Match, numbers: Sequence[int]) -> list[FinishedGame]:
    """Play games in step with each other: at every step each agent answers for all games in which it is on turn."""
    batch = _Batch(match, numbers)
    try:
        while len(batch.live):
            batch.play_step()
    finally:
        for agent in batch.agents:
            close(agent)
    return batch.finished()


class _Batch:
    """Games that are played in step with each other.

    A game's place in `numbers` names it here; `games` says which game each row of the simulator plays.
    """

    def __init__(self, match: Match, numbers: Sequence[int]) -> None:
        begun = perf_counter()
        self.match = match
        self.numbers = np.array(numbers, np.int64)
        self.agents = (match.make(0), match.make(1))
        self.seeds = np.array([[match.agent_seed(n, role) for n in numbers] for role in (0, 1)], np.uint64)
        self.texts = [("", "")] * len(numbers)
        self.forfeits: dict[int, Forfeit] = {}
        self.illegal: dict[int, int] = {}
        """By game: the action that was none, on which it ended."""
        self.outcomes: dict[int, Outcome | None] = {}
        self.log: list[tuple[Ints, Ints, Ints]] = []
        """For each step: the games in which it was played, by whom, and the actions."""
        self.plies = np.zeros(len(numbers), np.int64)
        """Plies of each game."""
        self.games: Ints = np.zeros(0, np.int64)
        self.live: Ints = np.zeros(0, np.int64)
        """The rows whose games go on."""
        self._begin()
        self.seconds = np.full(len(numbers), (perf_counter() - begun) / len(numbers))

    def play_step(self) -> None:
        """Play one action in all games that go on."""
        begun = perf_counter()
        if 2 * len(self.live) <= self.sim.n:
            self._close_ranks()
        asked = self.live
        actions = np.full(self.sim.n, RESIGNS, np.int64)
        players = np.array(self.sim.players, np.int64)
        for player in (0, 1):
            self._ask(player, self.live[players[self.live] == player], actions)
        given = actions[self.live]
        known = (given >= 0) & (given < self.match.game.action_count)
        legal = known & self.sim.legal_mask()[self.live, np.where(known, given, 0)]
        for row in self.live[~legal]:
            self.illegal[int(self.games[row])] = int(actions[row])
        self.live = self.live[legal]
        # A row without a legal action stays as it is: resigned and failed games, and answers that are none.
        self.sim.step(actions, check=False)
        self.plies[self.games[self.live]] = self.sim.plies[self.live]
        self.log.append((self.games[self.live], players[self.live], actions[self.live]))
        self._note_ends()
        self.seconds[self.games[asked]] += (perf_counter() - begun) / len(asked)

    def finished(self) -> list[FinishedGame]:
        """Return all games, when none goes on."""
        none = np.zeros((3, 0), np.int64)
        games, players, actions = np.concatenate([none, *(np.stack(step) for step in self.log)], axis=1)
        order = np.argsort(games, kind="stable")  # within a game, by step
        bounds = np.searchsorted(games[order], np.arange(len(self.numbers) + 1))
        words = action_words(self.match.game)
        found = []
        for game, number in enumerate(self.numbers.tolist()):
            own = order[bounds[game] : bounds[game + 1]]
            steps = zip(players[own].tolist(), actions[own].tolist(), strict=True)
            moves = " ".join(words[player][action] for player, action in steps)
            if game in self.illegal:
                self.forfeits[game] = self._refusal(game, moves)
            result = _result(
                self.match, number, self.outcomes.get(game), self.forfeits.get(game), int(self.plies[game]),
                float(self.seconds[game]),
            )  # fmt: skip
            found.append(FinishedGame(result, self.texts[game], moves))
        return found

    def _begin(self) -> None:
        ready: list[int] = []
        rows: list[Any] = []
        for pair, group in groupby(enumerate(self.numbers.tolist()), lambda item: item[1] // 2):
            setups = PairSetups.of(self.match, pair)
            for game, number in group:
                try:
                    pair_rows: list[Any] = [setups.row_of(self.match, number, player) for player in (0, 1)]
                except Forfeit as lost:
                    self.forfeits[game] = lost
                    continue
                ready.append(game)
                rows.append(pair_rows)
                if self.match.gives_setups:
                    self.texts[game] = _setup_texts(self.match, (pair_rows[0], pair_rows[1]))
        if not ready:
            return
        self.games = np.array(ready, np.int64)
        self.live = np.arange(len(ready))
        self.sim = self.match.simulator(len(ready))
        both = None
        if self.match.gives_setups:
            both = [np.stack(each) for each in zip(*rows, strict=True)]
        if self.match.game.has_chance:
            self._begin_pairs(both)
        else:
            self.sim.reset(setups=both)
        self._note_ends()

    def _begin_pairs(self, setups: list[npt.NDArray[np.int8]] | None) -> None:
        """Begin every game with the number of its pair, on which its chance depends."""
        one = self.match.simulator(1)
        begun = []
        for row, pair in enumerate((self.numbers[self.games] // 2).tolist()):
            one.reset(None if setups is None else [each[row : row + 1] for each in setups], first_number=pair)
            begun.append(one.snapshot())
        self.sim.restore(Snapshot.join(begun))

    def _close_ranks(self) -> None:
        """Leave the rows of ended games behind."""
        records = self.sim.snapshot()[self.live]
        self.sim = self.match.simulator(len(self.live))
        self.sim.restore(records)
        self.games = self.games[self.live]
        self.live = np.arange(len(self.live))

    def _ask(self, player: int, rows: Ints, actions: Ints) -> None:
        """Let the agents choose for rows in which a player is on turn; games that one gives up or fails in end."""
        if len(rows) == 0:
            return
        views = self.sim.views(player)
        roles = (self.numbers[self.games[rows]] + player) % 2
        lost: list[int] = []
        for role in (0, 1):
            own = rows[roles == role]
            answers = _answers(self.agents[role], views[own], self.seeds[role][self.games[own]])
            for row, answer in zip(own.tolist(), answers, strict=True):
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
        """Say why the last action of a game is no legal move, as a board would."""
        board = replayed(self.match, int(self.numbers[game]), self.texts[game], moves)
        player = board.turn
        try:
            _push(board, player, self.illegal[game])
        except Forfeit as lost:
            return lost
        raise AssertionError(f"{self.match!r}: board and simulator disagree about a move")


def _answers(agent: Agent, views: Snapshot, seeds: Seeds) -> list[int | Exception]:
    """Return an agent's action for each view; where one makes it fail, each is asked alone, to find out which."""
    if len(views) == 0:
        return []
    try:
        answers = np.asarray(agent.choose(views, seeds))
        if answers.shape != (len(views),):
            raise TypeError(f"choose answered with {answers.shape}, and was asked for {(len(views),)}")
        return list(answers.tolist())
    except Exception as error:
        if len(views) == 1:
            return [error]
    return [answer for row in range(len(views)) for answer in _answers(agent, views[row], seeds[row : row + 1])]
