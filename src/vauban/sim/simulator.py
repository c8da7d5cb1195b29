"""`Simulator`: many games at once, on the CPU or on a GPU.

    sim = Simulator("barrage", 4096, seed=1)
    while True:
        seen = sim.observe("ataraxos")          # (4096, 487, 10, 10), of the player on turn
        actions = choose(seen, sim.legal_mask())
        sim.step(actions)
        sim.results.utility[sim.results.ended.bool()]

A game that ends is begun anew in the same step (`restart=True`): what `step` leaves behind is the
first position of the new game, and `results` holds what the old one came to. With `restart=False`
ended games stay as they are, have no legal actions, and further actions leave them alone.

All outputs are torch tensors, and every method that fills one takes it as `out`. A step allocates
nothing; on a GPU it can be captured into a CUDA graph (after one call outside, which compiles).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from vauban.errors import ConfigurationError, IllegalActionError, RecordError, SetupError
from vauban.games.base import END, HISTORY, NUMBER, PLAYER, PLIES, Game, Outcome
from vauban.games.base import game as find_game
from vauban.observe import base as observations
from vauban.sim.cpu import CpuBatch
from vauban.sim.store import Pools, Results, Snapshot, Store

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
        restart: bool = True,
        setups: Sequence[torch.Tensor] | torch.Tensor | None = None,
        history: int = HISTORY,
        threads: int | None = None,
        stride: int | None = None,
    ) -> None:
        """Make `n` games and begin them.

        rules: of the game, if not its default ones (docs/rules.md).
        seed: what all randomness depends on, with the game's number (0 to n − 1; a game that is
            begun anew in a place gets the number of the old one plus n). Drawn and kept in `seed`
            if not given.
        tracks: keep what the observation `ataraxos` needs. Without it, rules alone are faster.
        restart: begin a new game where one ends.
        setups: a pool of setups (rows of `game.setup_size`: 0 for nothing, 1 + type, in their
            owner's frame) to draw from, or one pool for each player; drawn uniformly from all
            possible ones if not given.
        history: how many moves a record keeps, at least as many as the rules may look back.
        threads: on the CPU; all cores if not given.
        stride: how much a new game's number exceeds that of the old one in its place; n if not given. Several
            simulators that share the work of one have numbers of their own: `stride` games in all, and
            `reset(first_number=…)`.
        """
        self.game = find_game(game, rules)
        if type(n) is not int or n < 1:
            raise ConfigurationError(f"a simulator needs at least one game, and a whole number of them, not {n!r}")
        if threads is not None and (type(threads) is not int or threads < 1):
            raise ConfigurationError(f"threads is a whole number from 1, not {threads!r}")
        needed = self.game.history_needed()
        if needed is None or needed > history:
            looked = "without a bound" if needed is None else f"up to {needed} plies back"
            raise ConfigurationError(
                f"the rules of {self.game!r} look {looked}, and these records keep {history} moves: "
                + (f"give a battleless_limit below {history}" if needed is None else f"give history={needed}")
            )
        self.seed = secrets.randbits(63) if seed is None else seed
        if type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ConfigurationError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
        self.n = n
        self.stride = n if stride is None else stride
        self.tracks = tracks
        self.history = history
        self.restart = restart
        self._viewer: int | None = None
        try:
            self.device = torch.device(device)
        except RuntimeError as error:
            raise ConfigurationError(f'device is "cpu" or "cuda", not {device!r}') from error
        self._batch = self._make_batch(threads)
        self.threads = getattr(self._batch, "threads", 1)

        shape = self.game.shape(tracks, history)
        self.record_bytes = shape.size
        allocate = self._batch.allocate
        self.store = Store(
            allocate((n, shape.words), torch.int64),
            allocate((n, shape.halves), torch.int16),
            allocate((n, shape.bytes), torch.uint8),
        )
        self._starts: torch.Tensor = allocate((n, self.game.start_size), torch.int8)
        self._pools = self._make_pools(setups)
        self._faults = self._empty((n,), torch.uint8)
        self._actions = self._empty((n,), torch.int16)
        self._wide = self._empty((n,), torch.int64)
        self.results = Results(
            self._empty((n,), torch.uint8),
            self._empty((n,), torch.uint8),
            self._empty((n,), torch.uint8),
            self._empty((n,), torch.int32),
            self._empty((n,), torch.float32),
        )
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
            given = torch.as_tensor(starts)
            if given.shape != (self.n, self.game.start_size):
                raise ConfigurationError(
                    f"starts must be {self.n} rows of {self.game.start_size}, not {tuple(given.shape)}"
                )
            self.game.check_starts(given.cpu().numpy())
        self._viewer = None
        self._renumber(first_number)
        if given is None:
            self._batch.begin_all(self.store, self._starts, self._pools, self.seed)
            if self.over.any():
                raise SetupError("every pair of setups that was drawn would be over at once: nobody could move")
        else:
            self._starts.copy_(given)
            self._batch.begin_from(self.store, self._starts, self.seed)
        self._note_results()

    def set_pools(self, setups: Sequence[torch.Tensor] | torch.Tensor) -> None:
        """Draw the setups of new games from other pools from now on; games under way are left alone.

        Pools as large as the ones before are copied into them: a captured CUDA graph then sees them too.
        """
        pools = self._make_pools(setups)
        if all(new.shape == old.shape for new, old in zip(pools, self._pools, strict=True)):
            for new, old in zip(pools, self._pools, strict=True):
                old.copy_(new)
        else:
            self._pools = pools

    # ── What is the case ─────────────────────────────────────────────────────────────────────────

    @property
    def players(self) -> torch.Tensor:
        """Who is on turn in each game (uint8; a view of the records)."""
        return self.store.bytes[:, PLAYER]

    @property
    def over(self) -> torch.Tensor:
        """Which games are over (bool; with `restart`, none after a step)."""
        return self.store.bytes[:, END] != 0

    @property
    def plies(self) -> torch.Tensor:
        """How many plies each game has (int64; a view of the records)."""
        return self.store.words[:, PLIES]

    @property
    def numbers(self) -> torch.Tensor:
        """The number of each game (int64; a view of the records)."""
        return self.store.words[:, NUMBER]

    @property
    def starts(self) -> torch.Tensor:
        """What each game began from: a row of `game.start_size` (int8; of no meaning after a restore)."""
        return self._starts

    def outcome(self, row: int) -> Outcome | None:
        """How the last game that ended in this row came out; None if none has since the last reset."""
        end = int(self.results.end[row])
        return self.game.outcome(end, int(self.results.winner[row]), float(self.results.utility[row]))

    def legal_mask(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """Which actions are legal: bool, n × `game.action_count`."""
        out = self._output(out, (self.n, self.game.action_count), torch.bool)
        self._batch.mask_all(self.store, out)
        return out

    def legal_actions(
        self, out: torch.Tensor | None = None, counts: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The legal actions as lists (int16, n × `game.max_legal`, −1 behind the last) and how many (int32)."""
        out = self._output(out, (self.n, self.game.max_legal), torch.int16)
        counts = self._output(counts, (self.n,), torch.int32)
        self._batch.list_all(self.store, out, counts)
        return out, counts

    def observe(
        self,
        name: str,
        out: torch.Tensor | None = None,
        *,
        layout: str = "planes",
        dtype: torch.dtype = torch.float32,
        viewer: int | None = None,
    ) -> torch.Tensor:
        """What the player on turn (or the given viewer) sees, as numbers, in his own frame.

        layout: "planes" is n × channels × rows × columns; "squares" is n × squares × channels.
        dtype: float32 or bfloat16 (that of `out`, where it is given).
        """
        observation = observations.find(self.game, name)
        if observation.needs_tracking and not self.tracks:
            raise ConfigurationError(f"the observation {name!r} needs a simulator with tracks=True")
        if layout not in LAYOUTS:
            raise ConfigurationError(f"layout is {' or '.join(map(repr, LAYOUTS))}, not {layout!r}")
        if viewer is not None:
            _check_viewer(viewer)
        shape = self.observation_shape(name, layout)
        dtype = dtype if out is None else out.dtype
        if dtype not in (torch.float32, torch.bfloat16):
            raise ConfigurationError(f"observations are written as float32 or bfloat16, not {dtype}")
        out = self._output(out, (self.n, *shape), dtype)
        self._batch.observe_all(self.store, observation, -1 if viewer is None else viewer, out, layout == "squares")
        return out

    def observation_shape(self, name: str, layout: str = "planes") -> tuple[int, ...]:
        """The shape of one game's observation."""
        channels = observations.find(self.game, name).channels(self.game)
        rows, columns = self.game.board
        return (channels, rows, columns) if layout == "planes" else (rows * columns, channels)

    # ── Playing ──────────────────────────────────────────────────────────────────────────────────

    def sample(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """A legal action in each game, all equally likely (int16; −1 where the game is over)."""
        self._refuse_views()
        out = self._output(out, (self.n,), torch.int16)
        self._batch.sample_all(self.store, self.seed, out)
        return out

    def choose(self, legal: torch.Tensor, log_policy: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """One of the legal actions in each game, by a policy's probabilities (int16; −1 where the game is over).

        legal: as `legal_actions` lists them. log_policy: the logarithm of each one's weight (float32, the same shape).
        """
        self._refuse_views()
        out = self._output(out, (self.n,), torch.int16)
        self._output(legal, (self.n, self.game.max_legal), torch.int16)
        self._output(log_policy, (self.n, self.game.max_legal), torch.float32)
        self._batch.choose_all(self.store, self.seed, legal, log_policy, out)
        return out

    def step(self, actions: Any, check: bool = True) -> None:
        """Play one action in each game.

        An illegal action raises an error that names the game and the action; no game is changed
        then. On a GPU this waits for what was launched before; with `check=False` nothing waits,
        games with an illegal action just stay as they are, and `check_step` tells about them later.
        """
        self._refuse_views()
        given = torch.as_tensor(actions, device=self.device)
        halves = self._as_actions(given)
        if check:
            self._faults.zero_()
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

    def check_step(self, actions: torch.Tensor | None = None) -> None:
        """Raise an error if a step since the last check was given an illegal action; its games were left alone."""
        if self._faults.any():
            row = int(self._faults.argmax())
            self._faults.zero_()
            self._refuse(row, None if actions is None else int(actions[row]))

    def play_random(self, plies: int) -> torch.Tensor:
        """Play every game on at random for so many plies, restarting those that end; how many ended in each row."""
        self._refuse_views()
        if plies < 0:
            raise ConfigurationError(f"plies cannot be negative: {plies}")
        counts = self._empty((self.n,), torch.int32)
        self._batch.play_random(
            self.store, plies, self.seed, self.results, self._starts, self._pools, self.stride, counts
        )
        return counts

    # ── Records ──────────────────────────────────────────────────────────────────────────────────

    def snapshot(self) -> Snapshot:
        """A copy of all games as they are."""
        return Snapshot(self.game, self.tracks, self.history, Store(*(part.clone() for part in self.store)))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot: of n games, or of one, which all games then continue.

        Copies of one game are numbered from 0, so that each throws dice of its own. Views can be
        restored to be observed, not to be played: `determinise` makes games of them.
        """
        snapshot.check_fits(self.game, self.tracks, self.history)
        if len(snapshot) not in (1, self.n):
            raise RecordError(f"a snapshot of {len(snapshot)} games cannot fill {self.n}: give one game, or {self.n}")
        for mine, other in zip(self.store, snapshot.store, strict=True):
            mine.copy_(other.expand_as(mine))
        if len(snapshot) < self.n:
            self._renumber()
        self._viewer = snapshot.viewer
        if self.game.has_chance and self._viewer is None:
            self._batch.settle_all(self.store, self.seed)
        self._note_results()

    def replay(self, snapshot: Snapshot, actions: torch.Tensor) -> Iterator[int]:
        """Go through a rollout again: for each row of `actions`, yield its number before it is played.

            for t in sim.replay(snapshot, actions):
                sim.observe(…), sim.legal_mask(…)      # as they were before actions[t]
                sim.results                            # what actions[t − 1] brought

        Starts and chance come out as they did, since they depend on seed and game alone. After the
        last action the games are where the rollout left them.
        """
        self.restore(snapshot)
        for index, row in enumerate(actions):
            yield index
            self.step(row, check=False)

    def views(self, viewer: int) -> Snapshot:
        """The games as one player may know them: everything hidden from him is erased."""
        _check_viewer(viewer)
        snapshot = self.snapshot()
        self._batch.conceal_all(snapshot.store, viewer)
        return replace(snapshot, viewer=viewer)

    def hidden_counts(self, viewer: int, out: torch.Tensor | None = None) -> torch.Tensor:
        """How many things are hidden from the viewer in each game (int32)."""
        _check_viewer(viewer)
        out = self._output(out, (self.n,), torch.int32)
        self._batch.count_hidden(self.store, viewer, out)
        return out

    def hidden_values(self, viewer: int, out: torch.Tensor | None = None) -> torch.Tensor:
        """What is truly hidden from the viewer, as `determinise` takes it (int8, n × `game.hidden_size`, −1 behind)."""
        _check_viewer(viewer)
        out = self._output(out, (self.n, self.game.hidden_size), torch.int8)
        self._batch.tell_hidden(self.store, viewer, out)
        return out

    def determinise(self, views: Snapshot, viewer: int, values: Any) -> None:
        """Set all games to what a view becomes when its hidden things are these.

        views: one view, or n of them (from `views`, or records).
        values: for each game the hidden things in order, in Stratego the types of the hidden
            pieces by their squares in the viewer's frame (n × as many as are hidden, or more).
        Games are numbered from 0, since a view has no number: each throws dice of its own.
        An assignment that does not fit the view raises an error that names the game, and changes nothing.
        """
        _check_viewer(viewer)
        given = torch.as_tensor(values, device=self.device)
        if given.is_floating_point() or given.is_complex():
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

    def _assign(self, viewer: int, values: torch.Tensor) -> None:
        needed = int(self.hidden_counts(viewer).max())
        if values.dim() != 2 or len(values) != self.n or values.shape[1] < needed:
            raise RecordError(
                f"values must be {self.n} rows, one for each game, of at least {needed} hidden things, "
                f"not {tuple(values.shape)}"
            )
        given = values.clamp(-1, 127).to(torch.int8).contiguous()
        faults = self._empty((self.n,), torch.uint8)
        self._batch.assign_all(self.store, viewer, given, faults)
        if faults.any():
            row = int(faults.argmax())
            raise RecordError(
                f"game {row}: the values {values[row].tolist()} do not fit: they must be just what is hidden from "
                f"{self.game.players[viewer]}, and agree with what he has seen"
            )

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _note_results(self) -> None:
        """Let the results be those of the games as they stand: of the ones that are over."""
        for column in self.results:
            column.zero_()
        self._faults.zero_()
        self._batch.note_all(self.store, self.results)

    def _refuse_views(self) -> None:
        if self._viewer is not None:
            raise RecordError("views cannot be played, since hidden types are missing: determinise them first")

    def _renumber(self, first: int = 0) -> None:
        torch.arange(first, first + self.n, out=self._wide)
        self.store.words[:, NUMBER] = self._wide

    def _make_batch(self, threads: int | None) -> Any:
        if self.device.type == "cpu":
            return CpuBatch(self.game, self.tracks, self.history, threads)
        if self.device.type == "cuda":
            if not torch.cuda.is_available():
                raise ConfigurationError('device "cuda" is not available here: use device="cpu"')
            from vauban.sim.cuda import CudaBatch

            return CudaBatch(self.game, self.tracks, self.history, self.device)
        raise ConfigurationError(f'device is "cpu" or "cuda", not {str(self.device)!r}')

    def _make_pools(self, setups: Sequence[torch.Tensor] | torch.Tensor | None) -> Pools:
        if setups is None:
            none = self._empty((0, self.game.setup_size), torch.int8)
            return none, none
        alone = hasattr(setups, "ndim")
        pair = (torch.as_tensor(setups),) * 2 if alone else tuple(torch.as_tensor(each) for each in setups)
        if len(pair) != 2:
            raise ConfigurationError("setups is one pool for both players, or a pair of pools")
        for pool in pair:
            if pool.dim() != 2 or pool.shape[1] != self.game.setup_size or len(pool) == 0:
                raise ConfigurationError(
                    f"a pool of setups has rows of {self.game.setup_size} numbers, not {tuple(pool.shape)}"
                )
            self.game.check_setups(pool.cpu().numpy())
        first, second = (pool.to(self.device, torch.int8).contiguous() for pool in pair)
        return first, second

    def _starts_of(self, setups: Sequence[Any]) -> torch.Tensor:
        pair = [torch.as_tensor(each) for each in setups]
        if len(pair) != 2 or any(each.shape != (self.n, self.game.setup_size) for each in pair):
            raise ConfigurationError(
                f"setups must be two tensors of {self.n} rows of {self.game.setup_size}: "
                "the first player's and the second's"
            )
        for each in pair:
            self.game.check_setups(each.cpu().numpy())
        return torch.as_tensor(self.game.starts_from(pair[0].cpu().numpy(), pair[1].cpu().numpy()))

    def _empty(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def _output(self, out: torch.Tensor | None, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        if out is None:
            return torch.empty(shape, dtype=dtype, device=self.device)
        same_place = out.device.type == self.device.type
        if tuple(out.shape) != shape or out.dtype != dtype or not same_place or not out.is_contiguous():
            raise ConfigurationError(
                f"out must be a contiguous tensor of {dtype} {shape} on {self.device}, "
                f"not {out.dtype} {tuple(out.shape)} on {out.device}{'' if out.is_contiguous() else ', not contiguous'}"
            )
        return out

    def _as_actions(self, given: torch.Tensor) -> torch.Tensor:
        if given.shape != (self.n,) or given.is_floating_point() or given.dtype == torch.bool:
            raise ConfigurationError(
                f"step takes {self.n} whole numbers, one action for each game, not {given.dtype} {tuple(given.shape)}"
            )
        if given.dtype == torch.int16 and given.is_contiguous():
            return given
        # A number that 16 bits cannot hold is no action; it must not turn into one on the way.
        return self._actions.copy_(self._wide.copy_(given).clamp_(-1, self.game.action_count))

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


def _check_viewer(viewer: int) -> None:
    if type(viewer) is not int or viewer not in (0, 1):
        raise ConfigurationError(f"viewer is 0 or 1, not {viewer!r}")
