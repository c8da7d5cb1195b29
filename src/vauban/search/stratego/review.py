"""Review of a game: each side's forecasts, policies and beliefs, and the moments that decided it.

    found = review(board, load_model("runs/mine"))
    found.moments, found.to_json()

Every position is looked at through the eyes of the player on turn, by the networks of one model for both sides; all
positions of a game are looked at in batches. A review tells what was hidden: it is for games that are over, or for
those who may know everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from vauban.board.stratego import Board, Piece, Played
from vauban.games.base import Outcome
from vauban.games.randomness import REVIEWED_BELIEF
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import PLAYERS, TYPES
from vauban.nets.belief import BeliefNetwork
from vauban.nets.dtypes import working_copy
from vauban.nets.hidden import Kinds, Left
from vauban.nets.store import Model
from vauban.notation.stratego.moves import Move, MoveText, move_text
from vauban.notation.stratego.position import position_text
from vauban.notation.stratego.records import setups_of
from vauban.search.analysis import Analysis
from vauban.search.opinion import ask, look
from vauban.search.search import Search, SearchConfig
from vauban.search.stratego.moments import SMALLEST_SHARE, Moment, critical_positions, find_moments, located
from vauban.sim.store import Snapshot

AT_ONCE = 64
"""Positions between two reports of progress."""
SAMPLES = (32, 128)
"""Samples of the hidden pieces that are drawn for a position: the fewest and the most."""
NAMED = {"cpu": 100_000, "cuda": 10_000_000}
"""Pieces that a belief network names for a whole game, about: in longer games the samples become fewer, then the
positions. Between those, a belief is carried on."""
ROWS_AT_ONCE = {"cpu": 1024, "cuda": 32768}
"""Samples that are drawn together: more only take more memory."""
SEARCHED = SearchConfig(rollouts=192, depth=4)
"""The search at each critical position, unless the caller asks for something else: the same on every machine,
however slow or busy, so that it finds the same. On one core a position takes about 1.3 seconds in barrage and 2.4 in
classic, with the models that are shipped; there are seven at most."""
COMPARED = 8
"""Moves that a search compares: the one that was played and the network's likeliest. All moves would get a handful of
rollouts each, which say nothing."""
MOST_SEARCH_SECONDS = 120.0
"""Seconds of searching after which no further position is begun, and the review says so. For machines that are far
slower than usual."""

TOP = 5
"""Moves of a position that are told."""
Shares = npt.NDArray[np.float64]
"""Probabilities of the 12 types."""
Forecast = tuple[float, float, float]
"""The probabilities of loss, draw and win."""
Believed = dict[int, Shares]
"""A side's belief about the enemy's hidden pieces, by square."""


@dataclass(frozen=True, eq=False)
class Review:
    """A game that has been looked back on. Positions are counted from 0, the start, to the number of moves."""

    board: Board
    """The game at its end."""
    ended: Outcome | None
    """Its end; None if it was not finished."""
    model: str | None
    """The name of the model that has looked at it."""
    pieces: list[dict[int, Piece]]
    """By position, the true pieces by square."""
    turns: list[int]
    """By position, the player on turn."""
    outcomes: dict[int, Forecast]
    """By position a network has looked at: the outcome that the side on turn foresaw (loss, draw, win)."""
    policies: dict[int, dict[Move, float]]
    """By position a network has looked at: its policy, the likeliest move first."""
    beliefs: list[tuple[Believed, Believed]]
    """By position, the beliefs of red and blue."""
    counted: bool
    """Whether beliefs come from counting, not from a network."""
    searches: dict[int, Analysis]
    """Critical positions that have been searched."""
    unsearched: list[int]
    """Critical positions that have not been, because the search took too long (`MOST_SEARCH_SECONDS`)."""
    moments: list[Moment]
    seconds: float

    def outcome(self, side: int, position: int) -> Forecast | None:
        """Return a side's forecast (loss, draw, win): at its next own position, or the result; None without either."""
        for place in range(position, len(self.turns)):
            if place in self.outcomes and self.turns[place] == side:
                return self.outcomes[place]
        if self.ended is None:
            return None
        result = self.ended.utility if side == 0 else -self.ended.utility
        return float(result < 0), float(result == 0), float(result > 0)

    def value(self, side: int, position: int) -> float | None:
        """Return the result that a side foresees, from −1 to 1, at its next own position, or the result itself."""
        found = self.outcome(side, position) if self.outcomes else None
        return None if found is None else found[2] - found[0]

    def swing(self, side: int, ply: int) -> float | None:
        """Return how much a side's foresight rose by a move: from its last own position before it to the next one."""
        if self.board.outcome() is None and side not in self.turns[ply:]:
            return None  # it ended by something else than this move: by resignation, say
        for place in (ply - 1, ply - 2):
            if place in self.outcomes and self.turns[place] == side:
                after = self.value(side, ply)
                return None if after is None else after - self.outcomes[place][2] + self.outcomes[place][0]
        return None

    # ── In words and numbers ─────────────────────────────────────────────────────────────────────

    @property
    def unsearched_text(self) -> str:
        """Say where time was too short for all searches; nothing otherwise."""
        plies = ", ".join(str(place + 1) for place in self.unsearched)
        return f"Time was short: no search was made before these moves: {plies}." if plies else ""

    def to_json(self) -> dict[str, Any]:
        """Return everything, for the page and for programs."""
        return {**self.summary_json(), "plies": list(self.plies_json())}

    def summary_json(self) -> dict[str, Any]:
        """Return all but the positions."""
        board, name = self.board, self.board.variant.square_name
        start = board.start_position()
        setups = setups_of(start, board.variant)
        ended = self.ended
        return {
            "game": "stratego",
            "variant": board.variant.name,
            "rules": board.rules.text,
            "model": self.model,
            "belief_by": "counting" if self.counted else "network",
            "sides": list(PLAYERS),
            "truth": {"position": position_text(start)} if setups is None else dict(zip(PLAYERS, setups, strict=True)),
            "winner": None if ended is None or ended.winner is None else PLAYERS[ended.winner],
            "end": None if ended is None else ended.end,
            "moves": [self._move_json(number, played) for number, played in enumerate(board.history, 1)],
            "captured": {side: [_word(kind) for kind in board.captured(player)] for player, side in enumerate(PLAYERS)},
            "located": {
                side: None if found is None else {"ply": found[0], "at": name(found[1])}
                for side, found in zip(PLAYERS, (located(self, player) for player in (0, 1)), strict=True)
            },
            "moments": [each.to_json() for each in self.moments],
            "unsearched": self.unsearched,
            "seconds": round(self.seconds, 3),
        }

    def plies_json(self) -> Iterator[dict[str, Any]]:
        """Yield one position after the other."""
        for position, turn in enumerate(self.turns):
            outcomes = [self.outcome(side, position) if self.outcomes else None for side in (0, 1)]
            yield {
                "ply": position,
                "turn": PLAYERS[turn],
                "values": {
                    side: None if found is None else _rounded(found[2] - found[0])
                    for side, found in zip(PLAYERS, outcomes, strict=True)
                },
                "wdl": {
                    side: None if found is None else [_rounded(share) for share in found]
                    for side, found in zip(PLAYERS, outcomes, strict=True)
                },
                "policy": [
                    {**self._squares_json(move), "p": _rounded(share)}
                    for move, share in list(self.policies.get(position, {}).items())[:TOP]
                ],
                "search": self._search_json(position),
                "belief": {
                    side: {
                        self.board.variant.square_name(square): {
                            _word(kind): _rounded(shares[kind])
                            for kind in np.argsort(-shares, kind="stable").tolist()
                            if shares[kind] >= SMALLEST_SHARE
                        }
                        for square, shares in believed.items()
                    }
                    for side, believed in zip(PLAYERS, self.beliefs[position], strict=True)
                },
            }

    def _search_json(self, position: int) -> list[dict[str, Any]] | None:
        found = self.searches.get(position)
        if found is None:
            return None
        order = [place for place in np.argsort(-found.policy, kind="stable").tolist() if found.visits[place]]
        return [
            {
                **self._squares_json(self.board.game.decode(found.player, int(found.actions[place]))),
                "value": _rounded(found.values[place]),
                "visits": int(found.visits[place]),
                "before": _rounded(found.before[place]),
                "p": _rounded(found.policy[place]),
            }
            for place in order[:TOP]
        ]

    def _move_json(self, ply: int, played: Played) -> dict[str, Any]:
        battle = played.battle
        shown = None if battle is None else (battle.attacker, battle.defender, battle.result)
        return {
            "ply": ply,
            "side": PLAYERS[played.player],
            **self._squares_json(played.move),
            "text": move_text(MoveText(played.move, battle is not None, shown), self.board.variant),
            "battle": None
            if battle is None
            else {"attacker": _word(battle.attacker), "defender": _word(battle.defender), "result": battle.result},
        }

    def _squares_json(self, move: tuple[int, int]) -> dict[str, str]:
        source, target = (self.board.variant.square_name(square) for square in move)
        return {"from": source, "to": target}


def _word(kind: int) -> str:
    return TYPES[kind].lower()


def _rounded(number: float) -> float:
    return round(float(number), 3)


# ── Looking ──────────────────────────────────────────────────────────────────────────────────────


def review(
    board: Board,
    model: Model | None,
    *,
    search: Search | None = None,
    seed: int = 0,
    ended: Outcome | None = None,
    progress: Callable[[float], None] | None = None,
) -> Review:
    """Look back on a game with all its moves.

    model: whose networks look at it. Without one, nothing is foreseen, and beliefs come from counting.
    A model without a belief network counts too.
    search: looks at the critical positions as well. `Search.of_model(model, SEARCHED)` finds the same however busy the
    machine is; one with a limit of time finds what that allows.
    seed: of the searches.
    ended: how the game ended, where the board cannot tell (`RecordedGame.outcome`): by resignation, say.
    progress: called from time to time with the share that is done, 0 to 1.
    """
    begun = perf_counter()
    told = _Progress(progress)
    belief = None if model is None else model.find(BeliefNetwork)
    positions = all_positions(board)
    pieces = [each.pieces() for each in positions]
    kinds = Kinds(board.game)
    found = Review(
        board=board,
        ended=board.outcome() or ended,
        model=None,
        pieces=pieces,
        turns=[each.turn for each in positions],
        outcomes={},
        policies={},
        beliefs=[(_counted(each, 0, kinds), _counted(each, 1, kinds)) for each in pieces],
        counted=belief is None,
        searches={},
        unsearched=[],
        moments=[],
        seconds=0.0,
    )
    if model is not None:
        model.check_plays(board.game)
        views = _own_views(positions)
        looks = {} if belief is None else _places_to_look(found, belief)
        told.expect(sum(map(len, views)) + sum(map(len, looks.values())) * LOOK_COST + (search is not None) * 100)
        outcomes, policies = _foresee(board.game, model, views, told)
        found = replace(found, model=str(model.card["name"]), outcomes=outcomes, policies=policies)
        if belief is not None:
            found = replace(found, beliefs=_believe(found, belief, positions, looks, told))
        if search is not None and board.game.bounded:
            searches, unsearched = _search(found, search, views, seed, told)
            found = replace(found, searches=searches, unsearched=unsearched)
    moments = find_moments(found)
    told.finish()
    return replace(found, moments=moments, seconds=perf_counter() - begun)


LOOK_COST = 3
"""Cost of drawing a belief, in looks of a move network: for the progress only."""


class _Progress:
    """The progress of a review, reported from time to time."""

    def __init__(self, told: Callable[[float], None] | None) -> None:
        self._told = told
        self._total, self._done = 1, 0
        self.step(0)

    def expect(self, total: int) -> None:
        self._total = max(total, 1)

    def step(self, done: int) -> None:
        self._done += done
        if self._told is not None:
            self._told(min(self._done / self._total, 0.99))

    def finish(self) -> None:
        if self._told is not None:
            self._told(1.0)


def all_positions(board: Board) -> list[Board]:
    """Return the game after each number of moves."""
    back = board.copy()
    found = [back.copy()]
    while back.history:
        back.pop()
        found.append(back.copy())
    return found[::-1]


def _own_views(positions: Sequence[Board]) -> tuple[Views, Views]:
    """Return for each side the positions in which it is on turn, as it sees them."""
    places: tuple[list[int], list[int]] = ([], [])
    for place, board in enumerate(positions):
        if not board.is_over:
            places[board.turn].append(place)
    return Views.make(positions, 0, places[0]), Views.make(positions, 1, places[1])


@dataclass(frozen=True)
class Views:
    """Positions as one side sees them."""

    places: list[int]
    snapshot: Snapshot | None
    """None if there are none."""

    def __len__(self) -> int:
        return len(self.places)

    @staticmethod
    def make(positions: Sequence[Board], side: int, places: list[int]) -> Views:
        format = positions[0].game.format(plies=max(each.quiet for each in positions))
        rows = [positions[place].view(side).snapshot(format) for place in places]
        return Views(places, Snapshot.join(rows) if rows else None)

    def parts(self, size: int) -> Iterator[tuple[list[int], Snapshot]]:
        for start in range(0, len(self.places), size):
            assert self.snapshot is not None
            yield self.places[start : start + size], self.snapshot[start : start + size]


def _foresee(
    game: Stratego, model: Model, views: tuple[Views, Views], told: _Progress
) -> tuple[dict[int, Forecast], dict[int, dict[Move, float]]]:
    """Compute what the side on turn foresees, and would play, by position."""
    forecasts: dict[int, Forecast] = {}
    found: dict[int, dict[Move, float]] = {}
    for side in (0, 1):
        for places, part in views[side].parts(AT_ONCE):
            opinion = ask(model.player, part)
            legal, outcomes = opinion.legal.cpu().numpy(), opinion.outcome.double().cpu().numpy()
            policies = opinion.log_policy.double().exp().cpu().numpy()
            for place, actions, policy, outcome in zip(places, legal, policies, outcomes, strict=True):
                loss, draw, win = outcome.tolist()
                forecasts[place] = (loss, draw, win)
                found[place] = {
                    Move(*game.decode(side, int(actions[which]))): float(policy[which])
                    for which in np.argsort(-policy, kind="stable")[: int((actions >= 0).sum())]
                }
            told.step(len(places))
    return forecasts, found


def _search(
    found: Review, search: Search, views: tuple[Views, Views], seed: int, told: _Progress
) -> tuple[dict[int, Analysis], list[int]]:
    """Search the positions before the moves of the moments so far; return the analyses, and the positions for which
    time was too short.

    A limit on the time of each position limits the time of all.
    """
    begun = perf_counter()
    critical = critical_positions(found)
    searches: dict[int, Analysis] = {}
    for number, place in enumerate(critical):
        if not search.config.time and perf_counter() - begun > MOST_SEARCH_SECONDS:
            return searches, sorted(critical[number:])
        turn = found.turns[place]
        side = views[turn]
        assert side.snapshot is not None
        moves = list(dict.fromkeys([found.board.history[place].move, *found.policies[place]]))[:COMPARED]
        among = [found.board.game.encode(turn, *move) for move in moves]
        view = side.snapshot[side.places.index(place)]
        [searches[place]] = search.analyse(view, [seed % 2**64], among=[among])
        told.step(ceil(100 / len(critical)))
    return searches, []


# ── Believing ────────────────────────────────────────────────────────────────────────────────────


def _hidden(pieces: Mapping[int, Piece], side: int) -> dict[int, Piece]:
    """Return the pieces that are hidden from a side, in the order of its own frame."""
    found = [(square, piece) for square, piece in pieces.items() if piece.player != side and not piece.revealed]
    return dict(found if side == 0 else found[::-1])


def _counted(pieces: Mapping[int, Piece], side: int, kinds: Kinds) -> Believed:
    """Compute a belief by counting: every consistent way to give out the types is equally likely."""
    hidden = _hidden(pieces, side)
    if not hidden:
        return {}
    counts = np.zeros(len(TYPES), np.int64)
    for piece in hidden.values():
        assert piece.kind is not None
        counts[piece.kind] += 1
    moved = torch.tensor([piece.moved for piece in hidden.values()])
    left = Left(torch.from_numpy(counts).expand(len(hidden), -1), moved, (~moved).sum().expand(len(hidden)))
    chances = kinds.uniform_chances(left).double().numpy()
    return dict(zip(hidden, chances, strict=True))


def _places_to_look(found: Review, belief: BeliefNetwork) -> dict[int, list[int]]:
    """Return for each side the positions at which its belief is drawn: its own ones, or in long games some of them."""
    board, pieces, turns = found.board, found.pieces, found.turns
    named_at_most = NAMED[next(belief.parameters()).device.type] / 2
    last = len(turns) - board.is_over
    looks: dict[int, list[int]] = {}
    for side in (0, 1):
        # No player has been on turn before the first move, but both have a belief.
        own = sorted({0, *(place for place in range(last) if turns[place] == side)})
        own = [place for place in own if _hidden(pieces[place], side)]
        named = SAMPLES[0] * sum(len(_hidden(pieces[place], side)) for place in own)
        stride = max(ceil(named / named_at_most), 1)
        looks[side] = [
            place
            for number, place in enumerate(own)
            if number % stride == 0 or any(played.battle for played in board.history[max(place - 2, 0) : place])
        ]
    return looks


def _believe(
    found: Review, belief: BeliefNetwork, positions: Sequence[Board], looks: Mapping[int, list[int]], told: _Progress
) -> list[tuple[Believed, Believed]]:
    """Put the network's belief in the place of what was counted; between its looks a belief is carried on."""
    device = next(belief.parameters()).device
    belief = working_copy(belief, device)
    believed: tuple[list[Believed], list[Believed]] = ([], [])
    for side, places in looks.items():
        hidden = {place: _hidden(found.pieces[place], side) for place in places}
        named = sum(map(len, hidden.values()))
        samples = min(max(NAMED[device.type] // (2 * max(named, 1)), SAMPLES[0]), SAMPLES[1])
        known: dict[int, dict[int, Shares]] = {}
        for part, snapshot in Views.make(positions, side, places).parts(max(1, ROWS_AT_ONCE[device.type] // samples)):
            dice = [np.random.default_rng((REVIEWED_BELIEF, side, place)) for place in part]
            uniforms = np.stack([each.random((samples, belief.pieces), np.float32) for each in dice])
            seen = look(snapshot.to(device), belief.observation, torch.float32)
            with torch.inference_mode():
                values = belief.sample(seen, torch.from_numpy(uniforms).to(device))
                drawn = belief.kinds.marginals(values).double().cpu().numpy()
            for place, shares in zip(part, drawn, strict=True):
                identities = [piece.identity for piece in hidden[place].values()]
                known[place] = dict(zip(identities, shares, strict=False))
            told.step(LOOK_COST * len(part))
        latest: dict[int, Shares] = {}
        for place, pieces in enumerate(found.pieces):
            latest = known.get(place, latest)
            counted = found.beliefs[place][side]
            believed[side].append(
                {square: _carried(latest[pieces[square].identity], shares) for square, shares in counted.items()}
            )
    return list(zip(*believed, strict=True))


def _carried(shares: Shares, chances: Shares) -> Shares:
    """Return a belief without what has become impossible since; where nothing is left, the belief from counting."""
    possible = np.where(chances > 0, shares, 0.0)
    whole = possible.sum()
    return possible / whole if whole > 0 else chances
