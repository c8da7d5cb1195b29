"""`Table`: one game as an environment needs it, played by a `Simulator` of one whose memory is reused.

Both environments sit at such a table. It hands out arrays that are the caller's to keep, and tells a player nothing but
that player's own observation and mask. Nothing in it needs torch.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vauban.board import Board
from vauban.errors import ConfigurationError, IllegalActionError, IllegalMoveError, SetupError
from vauban.games.base import Game, Outcome, nearest
from vauban.games.base import game as find_game
from vauban.observe import base as observations
from vauban.sim.arrays import as_numpy
from vauban.sim.simulator import Simulator

RENDER_MODES = ("human", "ansi", "svg")
"""Ways to show a game."""
BOUND = 256.0
"""Every number of an observation lies between this and its negative: shares within 1, chips below 256."""
OPTIONS = ("setups",)
"""The keys of `reset(options=…)`."""

Observed = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]
Pool = Any
"""Setups to draw from: texts or rows for both players, or a pair of rows, one for each; rows may be tensors."""


class Table:
    """One game, begun anew as often as wanted."""

    def __init__(
        self,
        game: str | Game,
        rules: str | Mapping[str, Any] | None = None,
        observation: str | None = None,
        layout: str = "planes",
        setups: Pool | None = None,
    ) -> None:
        """The arguments are those of `pettingzoo.env` and `gymnasium.SinglePlayerEnv`."""
        self.game = find_game(game, rules)
        self.observation = observation or observations.default(self.game).name
        self.layout = layout
        # Board reads the record too (for pictures and reasons), and it wants one that tracks.
        self.sim = Simulator(self.game, 1, restart=False, setups=pool_of(self.game, setups), threads=1, arrays="numpy")
        self.number = -1
        """Number of this game among those of the seed: the first one after `reset(seed=…)` is 0."""
        self.actions: list[tuple[int, int]] = []
        """The actions of this game, with their players."""
        self._mask = self.sim.legal_mask()
        self._action = np.zeros(1, np.int16)
        self.shape = self.observe(0).shape

    # ── Playing ──────────────────────────────────────────────────────────────────────────────────

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game: the first one of a seed or, without one, the next one of the seed before."""
        setups = self._chosen_setups(options or {})
        if seed is not None:
            if not 0 <= seed < 2**64:
                raise ConfigurationError(f"a seed is a number from 0 to 2**64 - 1, not {seed}")
            self.sim.seed = int(seed)
        self.number = self.number + 1 if seed is None else 0
        self.actions = []
        self.sim.reset(setups, first_number=self.number)
        self.sim.legal_mask(self._mask)

    def play(self, action: Any) -> None:
        """Play the action of the player on turn; an illegal one is refused with the reason, and nothing changes."""
        number = self._check(action)
        self.actions.append((self.player, number))
        self._action[0] = number
        self.sim.step(self._action, check=False)
        self.sim.legal_mask(self._mask)

    @property
    def seed(self) -> int:
        """The seed of setups and chance. Not for players: it tells every card."""
        return self.sim.seed

    @property
    def player(self) -> int:
        """The player on turn: 0 or 1."""
        return int(self.sim.players[0])

    @property
    def over(self) -> bool:
        """True if the game has ended."""
        return bool(self.sim.over[0])

    @property
    def outcome(self) -> Outcome | None:
        """Return the game's outcome; None while it goes on."""
        return self.sim.outcome(0)

    def utility(self, player: int) -> float:
        """Return the game's worth to a player: 0 while it goes on, and the negative of the other's."""
        outcome = self.outcome
        if outcome is None:
            return 0.0
        return outcome.utility if player == 0 else 0.0 - outcome.utility

    # ── For players ──────────────────────────────────────────────────────────────────────────────

    def observe(self, player: int) -> Observed:
        """Return a player's observation, in the player's own frame, on turn or not."""
        seen: Observed = self.sim.observe(self.observation, layout=self.layout, viewer=player)[0]
        return seen

    def mask(self, player: int) -> Mask:
        """Return a mask of the player's legal actions: empty where the other one is on turn, or the game is over."""
        if player != self.player:
            return np.zeros(self.game.action_count, np.int8)
        mask: Mask = self._mask[0].astype(np.int8)
        return mask

    def is_legal(self, action: int) -> bool:
        """Return whether the player on turn may play this action."""
        return 0 <= action < self.game.action_count and bool(self._mask[0, action])

    # ── For people ───────────────────────────────────────────────────────────────────────────────

    def text(self, player: int | None = None) -> str:
        """Return the game as text: as one player may see it, or all of it."""
        game, board = self.game, self.board()
        lines = [(board if player is None else board.view(player)).as_text(self.observation)]
        if game.board == (1, 1) and (player is None or self.over):
            lines += [f"{game.players[who]} played {game.action_text(who, action)}" for who, action in self.actions]
        outcome = self.outcome
        if outcome is None:
            lines.append(f"ply {len(self.actions)}: {game.players[self.player]} is on turn")
        else:
            result = "a draw" if outcome.winner is None else f"{game.players[outcome.winner]} has won"
            lines.append(f"over after {len(self.actions)} plies: {outcome.end}, {result}")
        return "\n".join(lines)

    def board(self) -> Any:
        """Return the game as a `Board`, a copy."""
        return Board.from_snapshot(self.sim.snapshot())

    def render(self, mode: str | None, player: int | None = None) -> str | None:
        """Return the answer of `render` in a mode; "human" prints the text."""
        if mode is None:
            modes = " or ".join(map(repr, RENDER_MODES))
            raise ConfigurationError(f"nothing is rendered: make the environment with render_mode={modes}")
        if mode == "svg":
            board = self.board()
            return str(board.svg() if player is None else board.view(player).svg())
        if mode == "ansi":
            return self.text(player)
        print(self.text(player), end="\n\n")
        return None

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _check(self, action: Any) -> int:
        """Return the action as a number, if it is legal."""
        game, player = self.game, self.player
        if self.over:
            raise IllegalActionError("the game is over: call reset() to begin another")
        try:
            number = operator.index(action)
        except TypeError:
            raise IllegalActionError(
                f"an action is a whole number from 0 to {game.action_count - 1}, not {action!r}"
            ) from None
        if self.is_legal(number):
            return number
        if not 0 <= number < game.action_count:
            raise IllegalActionError(f"there is no action {number}: actions go from 0 to {game.action_count - 1}")
        who = f"action {number} of {game.players[player]} at ply {len(self.actions)}"
        try:
            self.board().push(number)
        except IllegalMoveError as reason:
            raise IllegalActionError(f"{who}: {reason}") from None
        raise IllegalActionError(f"{who} is not legal")

    def _chosen_setups(self, options: Mapping[str, Any]) -> list[npt.NDArray[np.int8]] | None:
        """Return the setups that the options of a reset name, if any, as rows."""
        for key in options:
            # Options of others (a wrapper, a test kit) are left alone, slips of the pen are not.
            if key not in OPTIONS and nearest(str(key), OPTIONS).startswith("did"):
                raise ConfigurationError(f"reset has no option {key!r}: {nearest(str(key), OPTIONS)}")
        chosen = options.get("setups")
        if chosen is None:
            return None
        if self.game.setups is None:
            raise ConfigurationError(f"{self.game.name!r} has no setups: leave the option 'setups' out")
        if not _can_be_given(self.game):
            raise _drawn_by_chance(self.game)
        if isinstance(chosen, str) or len(chosen) != 2:
            raise ConfigurationError(
                f"the option 'setups' is a pair, the setup of {self.game.players[0]} and that of "
                f"{self.game.players[1]}, not {chosen!r}"
            )
        rows = [_row(self.game, each) for each in chosen]
        outcome = Board.from_setups(rows[0], rows[1], self.game, seed=0).outcome()
        if outcome is not None:
            texts = " and ".join(repr(self.game.setups.text(row)) for row in rows)
            raise SetupError(
                f"with the setups {texts} the game is over at once ({outcome.end}): "
                "give setups in which a piece can move"
            )
        return [row[None] for row in rows]


def pool_of(game: Game, setups: Pool | None) -> Any:
    """Return a pool of setups as rows; None if none is given."""
    if setups is not None and not _can_be_given(game):
        raise _drawn_by_chance(game)
    if isinstance(setups, Sequence) and all(isinstance(each, str) for each in setups):
        if not setups:
            raise ConfigurationError("the pool of setups is empty: give at least one, or None to draw from all")
        return np.stack([_row(game, each) for each in setups])
    return setups


def _row(game: Game, setup: Any) -> npt.NDArray[np.int8]:
    """Return a setup as a row, from its text or from a row."""
    if not isinstance(setup, str):
        return np.asarray(as_numpy(setup), np.int8)
    if game.setups is None:
        raise ConfigurationError(f"{game.name!r} has no setups: leave {setup!r} out")
    return game.setups.parse(setup)


def _can_be_given(game: Game) -> bool:
    """Return whether setups can be given in place of those that players choose, or place by actions."""
    return game.setups_chosen or game.deploys


def _drawn_by_chance(game: Game) -> ConfigurationError:
    return ConfigurationError(f"nobody chooses setups in {game.name!r}, where chance draws them: leave 'setups' out")


def check_render_mode(mode: str | None) -> None:
    """Refuse a way to show a game that there is not."""
    if mode is not None and mode not in RENDER_MODES:
        raise ConfigurationError(f"there is no render_mode {mode!r}: use {' or '.join(map(repr, RENDER_MODES))}")
