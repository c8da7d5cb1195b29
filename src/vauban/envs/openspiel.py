"""Every game as a game of OpenSpiel, for its algorithms (docs/openspiel.md).

    import vauban.envs.openspiel as openspiel
    from open_spiel.python.algorithms import cfr, exploitability

    game = openspiel.load("geister-33a", "total_limit=6")
    solver = cfr.CFRSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    exploitability.nash_conv(game, solver.average_policy())

The way back, a game of OpenSpiel as ours, is `game("openspiel:NAME")` (`vauban.games.tabulated.openspiel`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.board.base import board_of, call, copy_of, new_record
from vauban.errors import ConfigurationError, MissingLibraryError, install_command
from vauban.games.base import CHANCE, END, PLAYER, Game
from vauban.games.base import game as find_game
from vauban.games.kernel import Record
from vauban.observe import base as observations
from vauban.sim.cpu import CpuBatch
from vauban.sim.store import Store
from vauban.solve.starts import all_starts, count_setups

try:
    import pyspiel
except ImportError as error:
    raise MissingLibraryError(f"vauban.envs.openspiel needs OpenSpiel: {install_command('openspiel')}") from error

NAME = "vauban"
"""`pyspiel.load_game("vauban(game=geister-33a,rules=total_limit:6)")` finds a game too; with ":" for "=" in the rules,
since "=" is OpenSpiel's own sign there."""
INFORMATION_STATE = "information_state"
"""The observation that forgets nothing, where a game has one."""
MOST_STARTS = 100_000
"""Pairs of setups that chance may draw between at the root."""
MOST_EVENTS = 2**16
"""OpenSpiel wants to know how many events chance has at most, and our games do not say."""


def load(game: str | Game, rules: str | Mapping[str, Any] | None = None) -> Any:
    """Return a game for OpenSpiel: `game` and `rules` as `vauban.game` takes them.

    Chance draws the setups at the root, each pair as likely, as in the solver; in steps (`steps:NAME`) players place
    their pieces by actions.
    """
    found = find_game(game, rules)
    definition = found.definition()
    if not isinstance(definition, str):
        raise ConfigurationError(
            f"{found!r} is described by a file alone, and OpenSpiel makes games from names: give the file's name "
            "(game('mine.toml')), or py:FILE.py:NAME"
        )
    rules_text = (found.rules_text or "").replace("=", ":")
    return VaubanGame({"game": definition} | ({"rules": rules_text} if rules_text else {}))


class VaubanGame(pyspiel.Game):  # type: ignore[misc]
    """A game of ours."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        given = dict(params or {})
        self.frame = _frame(str(given.get("game", "kuhn")), str(given.get("rules", "")).replace(":", "="))
        super().__init__(self.frame.kind, self.frame.info, given)

    def new_initial_state(self) -> VaubanState:
        """Return the root."""
        return VaubanState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> VaubanObserver:
        """Return what observes states: with perfect recall, an information state."""
        if params:
            raise ConfigurationError(f"observations of OpenSpiel have no parameters here: leave {params!r} out")
        return VaubanObserver(self.frame, iig_obs_type is not None and iig_obs_type.perfect_recall)


class VaubanState(pyspiel.State):  # type: ignore[misc]
    """A history of a game of ours."""

    # OpenSpiel copies a state by copying each attribute, deeply: these are few and small.
    def __init__(self, game: VaubanGame) -> None:
        super().__init__(game)
        self._frame = game.frame
        self._record: Record | None = None
        """None at the root of a game with setups: chance has still to draw them."""
        self._known = (b"", b"")
        """By player: all that it has seen and done, hashed."""
        self._own: tuple[str, str] = ("", "")
        """By player: its actions so far, as text."""
        if len(self._frame.starts) == 1:
            self._record = self._frame.begun(0)
            self._look(-1, -1)

    def current_player(self) -> int:
        """Return who is on turn."""
        if self._record is None:
            return int(pyspiel.PlayerId.CHANCE)
        if self._record.bytes[END]:
            return int(pyspiel.PlayerId.TERMINAL)
        player = int(self._record.bytes[PLAYER])
        return int(pyspiel.PlayerId.CHANCE) if player == CHANCE else player

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self._record is not None and bool(self._record.bytes[END])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the events, by number in the list of them, and their probabilities."""
        if self._record is None:
            count = len(self._frame.starts)
            return [(index, 1 / count) for index in range(count)]
        game = self._frame.game
        count = call(game, game.kernels.legal_count, self._record)
        weights = [int(call(game, game.kernels.chance_weight, self._record, index)) for index in range(count)]
        total = sum(weights)
        return [(index, weight / total) for index, weight in enumerate(weights)]

    def returns(self) -> list[float]:
        """Return what the game is worth to both players; 0 while it goes on."""
        if not self.is_terminal():
            return [0.0, 0.0]
        worth = float(call(self._frame.game, self._frame.game.kernels.utility, self._record))
        return [worth, 0.0 - worth]

    def _legal_actions(self, player: int) -> list[int]:
        return self._frame.legal(self._record)

    def _apply_action(self, action: int) -> None:
        frame = self._frame
        if self._record is None:
            self._record = frame.begun(action)
            self._look(-1, -1)
            return
        player = int(self._record.bytes[PLAYER])
        record = copy_of(self._record)
        if player == CHANCE:
            action = int(call(frame.game, frame.game.kernels.legal_action, record, action))
        else:
            own = list(self._own)
            own[player] += f" {frame.game.action_text(player, action)}"
            self._own = own[0], own[1]
        call(frame.game, frame.game.kernels.play, record, action)
        self._record = record
        self._look(player, action)

    def _look(self, player: int, action: int) -> None:
        """Add to what the players know what they see now and, to the mover's, its action."""
        assert self._record is not None
        first, second = (
            hashlib.blake2b(
                known + (action if who == player else -1).to_bytes(8, "little", signed=True) + seen, digest_size=16
            ).digest()
            for who, known, seen in zip((0, 1), self._known, self._frame.views(self._record), strict=True)
        )
        self._known = first, second

    def _action_to_string(self, player: int, action: int) -> str:
        if player not in (0, 1):
            return f"event {action}"
        return self._frame.game.action_text(player, action)

    def information_state(self, player: int) -> str:
        """Return a text that tells apart what a player knows: its actions, and a hash of all that it has seen."""
        return f"{self._frame.game.players[player]}:{self._own[player]} #{self._known[player].hex()}"

    @property
    def record(self) -> Record | None:
        """The game as our kernels know it; None before the setups are drawn."""
        return self._record

    def __str__(self) -> str:
        return "setups are drawn" if self._record is None else self._frame.picture(self._record, None)


class VaubanObserver:
    """Writes what a player observes into OpenSpiel's tensors and texts."""

    def __init__(self, frame: _Frame, recalls: bool) -> None:
        self._frame = frame
        self._recalls = recalls
        name = INFORMATION_STATE if recalls and frame.tells_information_state else frame.observation
        self._name = name
        rows, columns = frame.game.board
        self.tensor = np.zeros(observations.find(frame.game, name).channels(frame.game) * rows * columns, np.float32)
        self.dict = {name: self.tensor.reshape(-1, rows, columns)}

    def set_from(self, state: VaubanState, player: int) -> None:
        """Fill the tensor with what a player observes."""
        if state.record is None:
            self.tensor.fill(0)
        else:
            self._frame.observe(state.record, self._name, player, self.dict[self._name])

    def string_from(self, state: VaubanState, player: int) -> str:
        """Return it as text."""
        if self._recalls:
            return state.information_state(player)
        return "" if state.record is None else self._frame.picture(state.record, player)


class _Frame:
    """The part that all states of a game share; it is never copied, and sent elsewhere by name."""

    def __init__(self, name: str, rules: str) -> None:
        self.name, self.rules = name, rules
        self.game = game = find_game(name, rules or None)
        self.starts = _live_starts(game)
        self.format = game.format(plies=game.max_plies)
        names = observations.names(game)
        self.tells_information_state = INFORMATION_STATE in names
        self.observation = "observation" if "observation" in names else observations.default(game).name
        self._batch = CpuBatch(game, self.format, threads=1)
        ways = pyspiel.GameType
        chance = game.has_chance or len(self.starts) > 1
        self.kind = ways(
            short_name=NAME,
            long_name=f"Vauban: {game.name}",
            dynamics=ways.Dynamics.SEQUENTIAL,
            chance_mode=ways.ChanceMode.EXPLICIT_STOCHASTIC if chance else ways.ChanceMode.DETERMINISTIC,
            information=ways.Information.IMPERFECT_INFORMATION,
            utility=ways.Utility.ZERO_SUM,
            reward_model=ways.RewardModel.TERMINAL,
            max_num_players=2,
            min_num_players=2,
            provides_information_state_string=True,
            provides_information_state_tensor=self.tells_information_state,
            provides_observation_string=True,
            provides_observation_tensor=True,
            parameter_specification={"game": "kuhn", "rules": ""},
        )
        assert game.max_actions is not None
        self.info = pyspiel.GameInfo(
            num_distinct_actions=game.action_count,
            max_chance_outcomes=max(len(self.starts), MOST_EVENTS if game.has_chance else 0),
            num_players=2,
            min_utility=game.utilities[0],
            max_utility=game.utilities[-1],
            utility_sum=0.0,
            max_game_length=game.max_actions,
        )

    def __deepcopy__(self, _: Any) -> _Frame:
        return self

    def __reduce__(self) -> Any:
        return _frame, (self.name, self.rules)

    def begun(self, start: int) -> Record:
        """Return a game that begins from one of the starts."""
        record = new_record(self.format)
        call(self.game, self.game.kernels.begin, record, self.starts[start])
        return record

    def legal(self, record: Record | None) -> list[int]:
        """Return the legal actions, the lowest first."""
        assert record is not None
        kernels = self.game.kernels
        count = call(self.game, kernels.legal_count, record)
        return sorted(int(call(self.game, kernels.legal_action, record, index)) for index in range(count))

    def views(self, record: Record) -> list[bytes]:
        """Return what each player sees, as bytes."""
        seen = []
        for player in (0, 1):
            view = copy_of(record)
            call(self.game, self.game.kernels.conceal, view, player)
            seen.append(b"".join(part.tobytes() for part in view[:3]))
        return seen

    def picture(self, record: Record, viewer: int | None) -> str:
        """Return a picture as text: of the game, or of what a player sees."""
        kind = board_of(self.game)
        if viewer is not None:
            record = copy_of(record)
            call(self.game, self.game.kernels.conceal, record, viewer)
            return str(kind.views(self.game, record, viewer, []))
        board = object.__new__(kind)
        board._take_place(self.game, record, 0)
        return str(board)

    def observe(self, record: Record, name: str, viewer: int, out: npt.NDArray[np.float32]) -> None:
        """Write a player's observation."""
        parts = record.words.view(np.int64), record.halves.view(np.int16), record.bytes
        store = Store(*(part[None] for part in parts))
        self._batch.observe_all(store, observations.find(self.game, name), viewer, out[None], False)


@cache
def _frame(name: str, rules: str) -> _Frame:
    return _Frame(name, rules)


def _live_starts(game: Game) -> Sequence[npt.NDArray[np.int8]]:
    """Return the starts from which a game goes on; refuse what OpenSpiel could not use."""
    if game.max_actions is None:
        raise ConfigurationError(f"{game!r} has no longest game, which OpenSpiel wants to know: give it a total_limit")
    pairs = count_setups(game) ** 2
    if pairs > MOST_STARTS:
        raise ConfigurationError(
            f"{game!r} has {pairs:.3g} pairs of setups, too many for a list of what chance may draw: take it in steps "
            "(steps:NAME in Stratego), where armies are placed by actions, or a smaller game"
        )
    format = game.format(plies=game.max_plies)
    live = []
    for start in all_starts(game):
        record = new_record(format)
        call(game, game.kernels.begin, record, start)
        if not record.bytes[END]:
            live.append(start)
    return live


pyspiel.register_game(_frame("kuhn", "").kind, VaubanGame)
