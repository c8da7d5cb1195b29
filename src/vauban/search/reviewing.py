"""Looking back on a whole game: `look_back` makes its `Review`.

    found = look_back(board, load_model("geister"))
    found.moments, found.to_json()

A family that can look back has a class `Review` in `vauban.search.<family>.review`; all else is for any game.
`look_at` tells of one position alone what a review tells of each of them.
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
import torch

from vauban.errors import ConfigurationError
from vauban.families import family_part, family_parts
from vauban.games.base import Game, Outcome
from vauban.games.randomness import REVIEWED_BELIEF
from vauban.nets.belief import BeliefNetwork
from vauban.nets.dtypes import working_copy
from vauban.nets.hidden import Kinds, Left
from vauban.nets.store import Model
from vauban.search.analysis import Analysis
from vauban.search.moments import critical_positions, find_moments
from vauban.search.opinion import look
from vauban.search.player import Player
from vauban.search.review import Believed, Forecast, Review, Shares, Standing
from vauban.search.search import Search, SearchConfig
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
however slow or busy, so that it finds the same (docs/search.md has what it takes)."""
COMPARED = 8
"""Moves that a search compares: the one that was played and the network's likeliest. All moves would get a handful of
rollouts each, which say nothing."""
MOST_SEARCH_SECONDS = 120.0
"""Seconds of searching after which no further position is begun, and the review says so. For machines that are far
slower than usual."""
LOOK_COST = 3
"""Cost of drawing a belief, in looks of a move network: for the progress only."""


def review_of(game: Game) -> type[Review]:
    """Return the reviews of a game's family; refuse a game that nothing can look back on."""
    part = family_part("search", game.family, "review")
    if part is None:
        able = ", ".join(each.__name__.split(".")[2] for each in family_parts("search", "review"))
        raise ConfigurationError(
            f"nothing looks back on a whole game of {game.name!r} yet, only on games of these families: {able}; "
            "a single position can be searched (--ply)"
        )
    found: type[Review] = part.Review
    return found


def look_back(
    board: Any,
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
    kind = review_of(board.game)
    told = _Progress(progress)
    belief = None if model is None else model.find(BeliefNetwork)
    positions = all_positions(board)
    found = _counted_review(kind, board, positions, ended)
    if model is not None:
        player = Player(model, board.game)
        views = _own_views(kind, positions)
        looks = {} if belief is None else _places_to_look(found, belief)
        told.expect(sum(map(len, views)) + sum(map(len, looks.values())) * LOOK_COST + (search is not None) * 100)
        outcomes, policies = _foresee(found, player, views, told)
        found = replace(found, model=str(model.card["name"]), outcomes=outcomes, policies=policies)
        if belief is not None:
            found = replace(found, beliefs=_believe(found, belief, positions, looks, told), counted=False)
        # Rollouts play what the network has learned, and do not begin in whole moves if that is a game in steps.
        if search is not None and board.game.bounded and not player.in_steps:
            searches, unsearched = _search(found, search, positions, views, seed, told)
            found = replace(found, searches=searches, unsearched=unsearched)
    moments = find_moments(found)
    told.finish()
    return replace(found, moments=moments, seconds=perf_counter() - begun)


def look_at(board: Any, model: Model | None) -> dict[str, Any]:
    """Look at the position on a board alone: what a review tells of each of its positions, as JSON.

    The side on turn foresees and believes now, the other one believes what it did at its own last turn, without what
    has become impossible since. Without a model, beliefs come from counting.
    """
    kind = review_of(board.game)
    told = _Progress(None)
    positions = [board]
    if board.history:
        before = board.copy()
        before.pop()
        positions.insert(0, before)
    found = _counted_review(kind, board, positions)
    if model is not None:
        player = Player(model, board.game)
        last = len(positions) - 1
        own: list[list[int]] = [[], []]
        if not board.is_over:
            own[board.turn].append(last)
        views = Views.make(kind, positions, 0, own[0]), Views.make(kind, positions, 1, own[1])
        outcomes, policies = _foresee(found, player, views, told)
        found = replace(found, model=str(model.card["name"]), outcomes=outcomes, policies=policies)
        belief = model.find(BeliefNetwork)
        if belief is not None:
            latest = {side: last if side == board.turn else 0 for side in (0, 1)}
            looks = {side: [place] if _hidden(found.pieces[place], side) else [] for side, place in latest.items()}
            found = replace(found, beliefs=_believe(found, belief, positions, looks, told), counted=False)
    *_, now = found.plies_json()
    return {**now, "ply": len(board.history), "model": found.model, "belief_by": found.belief_by}


def _counted_review(kind: type[Review], board: Any, positions: Sequence[Any], ended: Outcome | None = None) -> Review:
    """Return a review of these positions by counting alone: nothing is foreseen, and no moment has been found."""
    pieces = [dict(kind.standing(each)) for each in positions]
    kinds = Kinds(board.game)
    return kind(
        board=board,
        ended=board.outcome() or ended,
        model=None,
        pieces=pieces,
        turns=[each.turn for each in positions],
        outcomes={},
        policies={},
        beliefs=[(_counted(kind, each, 0, kinds), _counted(kind, each, 1, kinds)) for each in pieces],
        counted=True,
        searches={},
        unsearched=[],
        moments=[],
        seconds=0.0,
    )


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


def all_positions(board: Any) -> list[Any]:
    """Return the game after each number of moves."""
    back = board.copy()
    found = [back.copy()]
    while back.history:
        back.pop()
        found.append(back.copy())
    return found[::-1]


@dataclass(frozen=True)
class Views:
    """Positions as one side sees them."""

    places: list[int]
    snapshot: Snapshot | None
    """None if there are none."""

    def __len__(self) -> int:
        return len(self.places)

    @staticmethod
    def make(kind: type[Review], positions: Sequence[Any], side: int, places: list[int]) -> Views:
        return Views(places, kind.views(positions, side, places) if places else None)

    def parts(self, size: int) -> Iterator[tuple[list[int], Snapshot]]:
        for start in range(0, len(self.places), size):
            assert self.snapshot is not None
            yield self.places[start : start + size], self.snapshot[start : start + size]


def _own_views(kind: type[Review], positions: Sequence[Any]) -> tuple[Views, Views]:
    """Return for each side the positions in which it is on turn, as it sees them."""
    places: tuple[list[int], list[int]] = ([], [])
    for place, board in enumerate(positions):
        if not board.is_over:
            places[board.turn].append(place)
    return Views.make(kind, positions, 0, places[0]), Views.make(kind, positions, 1, places[1])


def _foresee(
    found: Review, player: Player, views: tuple[Views, Views], told: _Progress
) -> tuple[dict[int, Forecast], dict[int, dict[Any, float]]]:
    """Compute what the side on turn foresees, and would play, by position."""
    forecasts: dict[int, Forecast] = {}
    policies: dict[int, dict[Any, float]] = {}
    for side in (0, 1):
        for places, part in views[side].parts(AT_ONCE):
            opinion = player.opinion(part)
            legal, outcomes = opinion.legal.cpu().numpy(), opinion.outcome.double().cpu().numpy()
            policies_of = opinion.log_policy.double().exp().cpu().numpy()
            for place, actions, shares, outcome in zip(places, legal, policies_of, outcomes, strict=True):
                loss, draw, win = outcome.tolist()
                forecasts[place] = (loss, draw, win)
                policy: dict[Any, float] = {}
                for which in np.flatnonzero(actions >= 0):
                    move = found.move_of(side, int(actions[which]))
                    policy[move] = policy.get(move, 0.0) + float(shares[which])
                policies[place] = dict(sorted(policy.items(), key=lambda each: -each[1]))
            told.step(len(places))
    return forecasts, policies


def _search(
    found: Review, search: Search, positions: Sequence[Any], views: tuple[Views, Views], seed: int, told: _Progress
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
        moves = list(dict.fromkeys([found.move_made(place + 1), *found.policies[place]]))[:COMPARED]
        actions: dict[Any, int] = {}
        for action in positions[place].legal_actions:
            actions.setdefault(found.move_of(turn, action), action)
        view = side.snapshot[side.places.index(place)]
        [searches[place]] = search.analyse(view, [seed % 2**64], among=[[actions[move] for move in moves]])
        told.step(ceil(100 / len(critical)))
    return searches, []


# ── Believing ────────────────────────────────────────────────────────────────────────────────────


def _hidden(pieces: Mapping[int, Standing], side: int) -> dict[int, Any]:
    """Return the pieces that are hidden from a side, in the order of its own frame."""
    found = [(square, piece) for square, piece in sorted(pieces.items()) if piece.player != side and not piece.revealed]
    return dict(found if side == 0 else found[::-1])


def _counted(kind: type[Review], pieces: Mapping[int, Standing], side: int, kinds: Kinds) -> Believed:
    """Compute a belief by counting: every consistent way to give out the kinds is equally likely."""
    hidden = _hidden(pieces, side)
    if not hidden:
        return {}
    counts = np.zeros(kinds.count, np.int64)
    for piece in hidden.values():
        assert piece.kind is not None
        counts[piece.kind] += 1
    bound = torch.tensor([kind.bound(piece) for piece in hidden.values()])
    left = Left(torch.from_numpy(counts).expand(len(hidden), -1), bound, (~bound).sum().expand(len(hidden)))
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
            if number % stride == 0 or _has_shown(pieces[max(place - 2, 0)], pieces[place])
        ]
    return looks


def _has_shown(before: Mapping[int, Standing], after: Mapping[int, Standing]) -> bool:
    """Return whether something has fallen or has become known between two positions."""
    first, last = ({each.identity: each.revealed for each in pieces.values()} for pieces in (before, after))
    return first != last


def _believe(
    found: Review, belief: BeliefNetwork, positions: Sequence[Any], looks: Mapping[int, list[int]], told: _Progress
) -> list[tuple[Believed, Believed]]:
    """Put the network's belief in the place of what was counted; between its looks a belief is carried on."""
    device = next(belief.parameters()).device
    belief = working_copy(belief, device)
    game = found.board.game
    believed: tuple[list[Believed], list[Believed]] = ([], [])
    for side, places in looks.items():
        named = sum(len(_hidden(found.pieces[place], side)) for place in places)
        samples = min(max(NAMED[device.type] // (2 * max(named, 1)), SAMPLES[0]), SAMPLES[1])
        known: dict[int, dict[int, Shares]] = {}
        for part, snapshot in Views.make(type(found), positions, side, places).parts(
            max(1, ROWS_AT_ONCE[device.type] // samples)
        ):
            dice = [np.random.default_rng((REVIEWED_BELIEF, side, place)) for place in part]
            uniforms = np.stack([each.random((samples, belief.pieces), np.float32) for each in dice])
            seen = look(snapshot.to(device), belief.observation, torch.float32)
            with torch.inference_mode():
                values = belief.sample(seen, torch.from_numpy(uniforms).to(device))
                drawn = belief.kinds.marginals(values).double().cpu().numpy()
            for row, (place, shares) in enumerate(zip(part, drawn, strict=True)):
                # The network names all that the game counts as hidden, also what everybody can tell by now.
                named_squares = game.hidden_squares(snapshot.record(row), side)
                identities = [found.pieces[place][square].identity for square in named_squares]
                known[place] = dict(zip(identities, shares, strict=False))
            told.step(LOOK_COST * len(part))
        latest: dict[int, Shares] = {}
        for place, pieces in enumerate(found.pieces):
            latest = known.get(place, latest)
            counted = found.beliefs[place][side]
            # Before the first look there is what was counted.
            believed[side].append(
                {
                    square: _carried(latest.get(pieces[square].identity, shares), shares)
                    for square, shares in counted.items()
                }
            )
    return list(zip(*believed, strict=True))


def _carried(shares: Shares, chances: Shares) -> Shares:
    """Return a belief without what has become impossible since; where nothing is left, the belief from counting."""
    possible = np.where(chances > 0, shares, 0.0)
    whole = possible.sum()
    return possible / whole if whole > 0 else chances
