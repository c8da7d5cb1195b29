"""`Simulator`: many games at once, on the CPU or on a GPU.

    sim = Simulator("barrage", 4096, seed=1)
    while True:
        seen = sim.observe("ataraxos")          # (4096, 487, 10, 10), of the player on turn
        actions = choose(seen, sim.legal_mask())
        sim.step(actions)
        sim.results.utility[sim.results.ended.bool()]

A game that ends is begun anew in the same step (`restart=True`): `step` leaves the first position of the new game
behind, and `results` holds the result of the old one. With `restart=False`
ended games stay as they are, have no legal actions, and further actions leave them alone.

All outputs are torch tensors, or NumPy arrays with `arrays="numpy"`, which needs no torch; every method
that fills one takes it as `out`. A step allocates nothing; on a GPU it can be captured into a CUDA graph
(after one call outside, which compiles).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vauban.errors import ConfigurationError, IllegalActionError, RecordError, SetupError, need_torch
from vauban.games.base import END, NUMBER, PLAYER, PLIES, STEP, Format, Game, Outcome, Setups
from vauban.games.base import game as find_game
from vauban.observe import base as observations
from vauban.sim.arrays import OBSERVED_AS, Array, NumpyArrays, as_numpy
from vauban.sim.cpu import CpuBatch
from vauban.sim.store import Pools, Results, Snapshot, Store

if TYPE_CHECKING:
    import torch

LAYOUTS = ("planes", "squares")


class Simulator:
    """A batch of games of one kind."""

    def __init__(
        self,
        game: str | Game,
        n: int,
        device: str | torch.device = "cpu",
        seed: int | None = None,
        *,
        rules: str | Mapping[str, Any] | None = None,
        tracks: bool = True,
        format: Format | None = None,
        restart: bool = True,
        setups: Sequence[Array] | Array | None = None,
        threads: int | None = None,
        stride: int | None = None,
        arrays: str = "torch",
    ) -> None:
        """Make `n` games and begin them.

        rules: of the game, if not its default ones (docs/rules.md).
        seed: of all randomness, together with the game's number (0 to n − 1; a game that is
            begun anew in a place gets the number of the old one plus n). Drawn and kept in `seed`
            if not given.
        tracks: keep the history that the observation `ataraxos` needs. Without it, rules alone are faster.
        format: of the records, from `game.format`, in place of `tracks`.
        restart: begin a new game where one ends.
        setups: a pool of setups (rows of `game.setup_size`: 0 for nothing, 1 + type, in their
            owner's frame) to draw from, or one pool for each player; drawn uniformly from all
            possible ones if not given.
        threads: on the CPU; all cores if not given.
        stride: difference between the numbers of a new game and of the old one in its place; n if not given. Several
            simulators that share the work of one have numbers of their own: `stride` games in all, and
            `reset(first_number=…)`.
        arrays: "torch" for tensors, "numpy" for NumPy arrays, on the CPU alone.
        """
        self.game = find_game(game, rules)
        if type(n) is not int or n < 1:
            raise ConfigurationError(f"a simulator needs at least one game, and a whole number of them, not {n!r}")
        if threads is not None and (type(threads) is not int or threads < 1):
            raise ConfigurationError(f"threads is a whole number from 1, not {threads!r}")
        self.seed = secrets.randbits(63) if seed is None else seed
        if type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ConfigurationError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
        self.n = n
        self.stride = n if stride is None else stride
        self.format = self.game.format(tracks=tracks) if format is None else format
        self.restart = restart
        self._viewer: int | None = None
        self._arrays = _find_arrays(arrays, device)
        self.device = self._arrays.device
        self._batch = self._make_batch(threads)
        self.threads = getattr(self._batch, "threads", 1)

        zeros = self._arrays.zeros
        words, halves, bytes_ = self.format.shape
        self.record_bytes = self.format.shape.size
        self.store = Store(zeros((n, words), "int64"), zeros((n, halves), "int16"), zeros((n, bytes_), "uint8"))
        self._starts = zeros((n, self.game.start_size), "int8")
        self._pools = self._make_pools(setups)
        self._faults = zeros((n,), "uint8")
        self._actions = zeros((n,), "int16")
        self._wide = zeros((n,), "int64")
        self.results = Results(*(zeros((n,), kind) for kind in ("uint8", "uint8", "uint8", "int32", "float32")))
        self.reset()

    def __repr__(self) -> str:
        return f"Simulator({self.game!r}, {self.n}, {str(self.device)!r}, seed={self.seed})"

    # ── Beginning ────────────────────────────────────────────────────────────────────────────────

    def reset(
        self,
        setups: Sequence[Any] | None = None,
        starts: Any = None,
        records: Snapshot | None = None,
        first_number: int = 0,
    ) -> None:
        """Begin all games anew.

        setups: two rows of setups for each game, the first player's and the second's
            (2 tensors of n × `game.setup_size`).
        starts: a whole start for each game (n × `game.start_size`), for setups that are free.
        records: games that are under way, from a snapshot of one game or of n.
        Without any of these, starts are drawn. Games are numbered from `first_number`.
        """
        if sum(given is not None for given in (setups, starts, records)) > 1:
            raise ConfigurationError("reset takes setups, or starts, or records, not several of them")
        if records is not None:
            self.restore(records)
            return
        given = None
        if setups is not None:
            given = self._starts_of(setups)
        elif starts is not None:
            given = as_numpy(starts)
            if given.shape != (self.n, self.game.start_size):
                raise ConfigurationError(
                    f"starts must be {self.n} rows of {self.game.start_size}, not {tuple(given.shape)}"
                )
            self.game.check_starts(given)
        self._viewer = None
        self._renumber(first_number)
        if given is None:
            self._batch.begin_all(self.store, self._starts, self._pools, self.seed)
            if self.over.any():
                raise SetupError("every pair of setups that was drawn would be over at once: nobody could move")
        else:
            self._arrays.assign(self._starts, given)
            self._batch.begin_from(self.store, self._starts, self.seed)
        self._note_results()

    def set_pools(self, setups: Sequence[Array] | Array) -> None:
        """Draw the setups of new games from other pools from now on; games under way are left alone.

        Pools as large as the ones before are copied into them: a captured CUDA graph then sees them too.
        """
        pools = self._make_pools(setups)
        if all(new.shape == old.shape for new, old in zip(pools, self._pools, strict=True)):
            for new, old in zip(pools, self._pools, strict=True):
                self._arrays.assign(old, new)
        else:
            self._pools = pools

    # ── The present positions ────────────────────────────────────────────────────────────────────

    @property
    def players(self) -> Array:
        """The player on turn in each game (uint8; a view of the records)."""
        return self.store.bytes[:, PLAYER]

    @property
    def over(self) -> Array:
        """True for games that are over (bool; with `restart`, none after a step)."""
        return self.store.bytes[:, END] != 0

    @property
    def plies(self) -> Array:
        """Plies of each game (int64; a view of the records)."""
        return self.store.words[:, PLIES]

    @property
    def steps(self) -> Array:
        """Actions of the present ply so far, by game, where a move takes several (uint8; a view)."""
        return self.store.bytes[:, STEP]

    @property
    def numbers(self) -> Array:
        """The number of each game (int64; a view of the records)."""
        return self.store.words[:, NUMBER]

    @property
    def starts(self) -> Array:
        """The start of each game: a row of `game.start_size` (int8; of no meaning after a restore)."""
        return self._starts

    def outcome(self, row: int) -> Outcome | None:
        """Return the outcome of the last game that ended in this row; None if none has since the last reset."""
        end = int(self.results.end[row])
        return self.game.outcome(end, int(self.results.winner[row]), float(self.results.utility[row]))

    def legal_mask(self, out: Array | None = None) -> Array:
        """Return a mask of the legal actions: bool, n × `game.action_count`."""
        out = self._output(out, (self.n, self.game.action_count), "bool")
        self._batch.mask_all(self.store, out)
        return out

    def legal_actions(self, out: Array | None = None, counts: Array | None = None) -> tuple[Array, Array]:
        """Return the legal actions as lists (int16, n × `game.max_legal`, −1 behind the last) and their numbers
        (int32).
        """
        out = self._output(out, (self.n, self.game.max_legal), "int16")
        counts = self._output(counts, (self.n,), "int32")
        self._batch.list_all(self.store, out, counts)
        return out, counts

    def observe(
        self,
        name: str,
        out: Array | None = None,
        *,
        layout: str = "planes",
        dtype: torch.dtype | None = None,
        viewer: int | None = None,
    ) -> Array:
        """Observe the games as the player on turn (or the given viewer) sees them, as numbers, in that player's frame.

        layout: "planes" is n × channels × rows × columns; "squares" is n × squares × channels.
        dtype: of tensors, float32 (the default) or bfloat16 (that of `out`, where it is given).
        """
        observation = observations.find(self.game, name)
        if observation.needs_tracking and not self.format.tracks:
            raise ConfigurationError(f"the observation {name!r} needs a simulator with tracks=True")
        if layout not in LAYOUTS:
            raise ConfigurationError(f"layout is {' or '.join(map(repr, LAYOUTS))}, not {layout!r}")
        if viewer is not None:
            _check_viewer(viewer)
        shape = self.observation_shape(name, layout)
        kind = str(dtype or "float32").removeprefix("torch.") if out is None else self._arrays.kind(out)
        if kind not in OBSERVED_AS:
            raise ConfigurationError(f"observations are written as float32 or bfloat16, not {kind}")
        out = self._output(out, (self.n, *shape), kind)
        self._batch.observe_all(self.store, observation, -1 if viewer is None else viewer, out, layout == "squares")
        return out

    def observation_shape(self, name: str, layout: str = "planes") -> tuple[int, ...]:
        """Return the shape of one game's observation."""
        channels = observations.find(self.game, name).channels(self.game)
        rows, columns = self.game.board
        return (channels, rows, columns) if layout == "planes" else (rows * columns, channels)

    # ── Playing ──────────────────────────────────────────────────────────────────────────────────

    def sample(self, out: Array | None = None) -> Array:
        """Return a legal action in each game, all equally likely (int16; −1 where the game is over)."""
        self._refuse_views()
        out = self._output(out, (self.n,), "int16")
        self._batch.sample_all(self.store, self.seed, out)
        return out

    def choose(self, legal: Array, log_policy: Array, out: Array | None = None) -> Array:
        """Return one of the legal actions in each game, by a policy's probabilities (int16; −1 where the game is over).

        legal: as `legal_actions` lists them. log_policy: the logarithm of each one's weight (float32, the same shape).
        """
        self._refuse_views()
        out = self._output(out, (self.n,), "int16")
        self._output(legal, (self.n, self.game.max_legal), "int16")
        self._output(log_policy, (self.n, self.game.max_legal), "float32")
        self._batch.choose_all(self.store, self.seed, legal, log_policy, out)
        return out

    def step(self, actions: Any, check: bool = True) -> None:
        """Play one action in each game.

        An illegal action raises an error that names the game and the action; no game is changed
        then. On a GPU this waits for what was launched before; with `check=False` nothing waits,
        games with an illegal action just stay as they are, and `check_step` tells about them later.
        """
        self._refuse_views()
        given = self._arrays.take(actions)
        halves = self._as_actions(given)
        if check:
            self._arrays.clear(self._faults)
            self._batch.check_all(self.store, halves, self._faults)
            self.check_step(given)
        self._batch.step_all(
            self.store,
            halves,
            self.seed,
            self.results,
            self._faults,
            self.restart,
            self._starts,
            self._pools,
            self.stride,
        )

    def check_step(self, actions: Array | None = None) -> None:
        """Raise an error if a step since the last check was given an illegal action; its games were left alone."""
        if self._faults.any():
            row = int(self._faults.argmax())
            self._arrays.clear(self._faults)
            self._refuse(row, None if actions is None else int(actions[row]))

    def play_random(self, plies: int) -> Array:
        """Play every game on at random for `plies` plies, restarting those that end; return the number that ended in
        each row.
        """
        self._refuse_views()
        if plies < 0:
            raise ConfigurationError(f"plies cannot be negative: {plies}")
        counts = self._arrays.zeros((self.n,), "int32")
        self._batch.play_random(
            self.store, plies, self.seed, self.results, self._starts, self._pools, self.stride, counts
        )
        return counts

    # ── Records ──────────────────────────────────────────────────────────────────────────────────

    def snapshot(self, rows: Array | None = None) -> Snapshot:
        """Return a copy of all games as they are, or of those in some rows."""
        copied = map(self._arrays.copy, self.store) if rows is None else (part[rows] for part in self.store)
        return Snapshot(self.game, self.format, Store(*copied))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: of n games, or of one, which all games then continue.

        Copies of one game are numbered from 0, so that each throws dice of its own. Views can be
        restored to be observed, not to be played: `determinise` makes games of them.
        """
        snapshot.check_fits(self.game, self.format)
        if len(snapshot) not in (1, self.n):
            raise RecordError(f"a snapshot of {len(snapshot)} games cannot fill {self.n}: give one game, or {self.n}")
        for mine, other in zip(self.store, snapshot.store, strict=True):
            self._arrays.assign(mine, other)
        if len(snapshot) < self.n:
            self._renumber()
        self._viewer = snapshot.viewer
        if self.game.has_chance and self._viewer is None:
            self._batch.settle_all(self.store, self.seed)
        self._note_results()

    def replay(self, snapshot: Snapshot, actions: Array) -> Iterator[int]:
        """Go through a rollout again: for each row of `actions`, yield its number before it is played.

            for t in sim.replay(snapshot, actions):
                sim.observe(…), sim.legal_mask(…)      # as they were before actions[t]
                sim.results                            # those of actions[t − 1]

        Starts and chance come out as they did, since they depend on seed and game alone. After the
        last action the games are where the rollout left them.
        """
        self.restore(snapshot)
        for index, row in enumerate(actions):
            yield index
            self.step(row, check=False)

    def views(self, viewer: int, rows: Array | None = None) -> Snapshot:
        """Return the games, or those in some rows, as one player may know them: all that is hidden from that player is
        erased.
        """
        _check_viewer(viewer)
        snapshot = self.snapshot(rows)
        self._batch.conceal_all(snapshot.store, viewer)
        return replace(snapshot, viewer=viewer)

    def hidden_counts(self, viewer: int, out: Array | None = None) -> Array:
        """Count the things that are hidden from the viewer in each game (int32)."""
        _check_viewer(viewer)
        out = self._output(out, (self.n,), "int32")
        self._batch.count_hidden(self.store, viewer, out)
        return out

    def hidden_values(self, viewer: int, out: Array | None = None) -> Array:
        """Return the things hidden from the viewer, as `determinise` takes them: int8, n × `game.hidden_size`, −1
        behind.
        """
        _check_viewer(viewer)
        out = self._output(out, (self.n, self.game.hidden_size), "int8")
        self._batch.tell_hidden(self.store, viewer, out)
        return out

    def determinise(self, views: Snapshot, viewer: int, values: Any) -> None:
        """Set all games to a view with these values for its hidden things.

        views: one view, or n of them (from `views`, or records).
        values: for each game the hidden things in order, in Stratego the types of the hidden
            pieces by their squares in the viewer's frame (n × as many as are hidden, or more).
        Games are numbered from 0, since a view has no number: each throws dice of its own.
        An assignment that does not fit the view raises an error that names the game, and changes nothing.
        """
        _check_viewer(viewer)
        given = self._arrays.take(values)
        if not self._arrays.whole(given):
            raise RecordError(f"values are whole numbers, not {given.dtype}")
        before = self.snapshot()
        self.restore(views)
        try:
            self._assign(viewer, given)
        except RecordError:
            self.restore(before)
            raise
        self._viewer = None
        self._renumber()

    def _assign(self, viewer: int, values: Array) -> None:
        needed = int(self.hidden_counts(viewer).max())
        if values.ndim != 2 or len(values) != self.n or values.shape[1] < needed:
            raise RecordError(
                f"values must be {self.n} rows, one for each game, of at least {needed} hidden things, "
                f"not {tuple(values.shape)}"
            )
        given = self._arrays.values(values)
        faults = self._arrays.zeros((self.n,), "uint8")
        self._batch.assign_all(self.store, viewer, given, faults)
        if faults.any():
            row = int(faults.argmax())
            raise RecordError(
                f"game {row}: the values {values[row].tolist()} do not fit: they must be just what is hidden from "
                f"{self.game.players[viewer]}, and agree with what that player has seen"
            )

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _note_results(self) -> None:
        """Set the results to those of the games as they stand: of the games that are over."""
        for column in self.results:
            self._arrays.clear(column)
        self._arrays.clear(self._faults)
        self._batch.note_all(self.store, self.results)

    def _refuse_views(self) -> None:
        if self._viewer is not None:
            raise RecordError("views cannot be played, since hidden types are missing: determinise them first")

    def _renumber(self, first: int = 0) -> None:
        self._arrays.number(self._wide, first)
        self.store.words[:, NUMBER] = self._wide

    def _make_batch(self, threads: int | None) -> Any:
        if self._arrays.on_cpu:
            return CpuBatch(self.game, self.format, threads)
        from vauban.sim.cuda import CudaBatch

        return CudaBatch(self.game, self.format, self.device)

    def _make_pools(self, setups: Sequence[Array] | Array | None) -> Pools:
        if setups is None:
            none = self._arrays.zeros((0, self.game.setup_size), "int8")
            return none, none
        alone = hasattr(setups, "ndim")
        pair = (as_numpy(setups),) * 2 if alone else tuple(map(as_numpy, setups))
        if len(pair) != 2:
            raise ConfigurationError("setups is one pool for both players, or a pair of pools")
        for pool in pair:
            if pool.ndim != 2 or pool.shape[1] != self.game.setup_size or len(pool) == 0:
                raise ConfigurationError(
                    f"a pool of setups has rows of {self.game.setup_size} numbers, not {tuple(pool.shape)}"
                )
            _setups_of(self.game).check(pool)
        first, second = (self._arrays.copy(self._arrays.take(pool.astype(np.int8))) for pool in pair)
        return first, second

    def _starts_of(self, setups: Sequence[Any]) -> Array:
        pair = [as_numpy(each) for each in setups]
        if len(pair) != 2 or any(each.shape != (self.n, self.game.setup_size) for each in pair):
            raise ConfigurationError(
                f"setups must be two arrays of {self.n} rows of {self.game.setup_size}: "
                "the first player's and the second's"
            )
        for each in pair:
            _setups_of(self.game).check(each)
        return _setups_of(self.game).starts(pair[0], pair[1])

    def _output(self, out: Array | None, shape: tuple[int, ...], kind: str) -> Array:
        if out is None:
            return self._arrays.empty(shape, kind)
        if tuple(out.shape) != shape or self._arrays.kind(out) != kind or not self._arrays.fits(out):
            raise ConfigurationError(
                f"out must be a contiguous {self._arrays.noun} of {kind} {shape} on {self.device}, not "
                f"{out.dtype} {tuple(out.shape)} on {getattr(out, 'device', 'cpu')}"
            )
        return out

    def _as_actions(self, given: Array) -> Array:
        if given.shape != (self.n,) or not self._arrays.whole(given):
            raise ConfigurationError(
                f"step takes {self.n} whole numbers, one action for each game, not {given.dtype} {tuple(given.shape)}"
            )
        return self._arrays.actions(given, self._wide, self._actions, self.game.action_count)

    def _refuse(self, row: int, action: int | None) -> None:
        player, ply = int(self.players[row]), int(self.plies[row])
        if action is not None and not 0 <= action < self.game.action_count:
            raise IllegalActionError(
                f"game {row}: there is no action {action}: actions go from 0 to {self.game.action_count - 1}"
            )
        what = "an action" if action is None else f"action {action} ({self.game.action_text(player, action)})"
        raise IllegalActionError(
            f"game {row}: {what} is not legal for {self.game.players[player]} at ply {ply}; "
            "legal_mask and legal_actions say what is"
        )


def _setups_of(game: Game) -> Setups:
    if game.setups is None:
        raise ConfigurationError(f"{game.name!r} has no setups: leave them out")
    return game.setups


def _find_arrays(name: str, device: Any) -> Any:
    """Return the arrays of this name on a device."""
    if name == "numpy":
        return NumpyArrays(device)
    if name != "torch":
        raise ConfigurationError(f'arrays is "torch" or "numpy", not {name!r}')
    need_torch('tensors (arrays="numpy" gives NumPy arrays instead)')
    from vauban.sim.tensors import TorchArrays

    return TorchArrays(device)


def _check_viewer(viewer: int) -> None:
    if type(viewer) is not int or viewer not in (0, 1):
        raise ConfigurationError(f"viewer is 0 or 1, not {viewer!r}")
