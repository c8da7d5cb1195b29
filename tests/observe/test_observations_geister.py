"""Observations of Geister: the published ones against the oracle, our own against the moves that were made."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from oracle_geister import rules as oracle

from vauban import Board
from vauban.games.base import game
from vauban.games.geister import Geister
from vauban.games.kernel import kernel
from vauban.observe.base import Observation, _observations, find, names, put
from vauban.observe.geister import DEEDS, FULL_NAMES, mark_full
from vauban.sim.simulator import Simulator

VARIANTS = {
    "geister": oracle.SERVER,
    "geister-33a": replace(oracle.G33A, limit=30, escape_forced=False),
    "geister-33b": replace(oracle.G33B, limit=30, escape_forced=False),
    "geister-33c": replace(oracle.G33C, limit=30, escape_forced=False),
    "geister-43": replace(oracle.G43, limit=30, escape_forced=False),
    "geister-34": replace(oracle.G34, limit=40, escape_forced=False),
    "geister-44": replace(oracle.G44, limit=60, escape_forced=False),
}


def played_by_both(name: str, forced: bool, seed: int):  # type: ignore[no-untyped-def]
    """Play a random game on a board and by the oracle; yield both after every ply, the start included."""
    rules = replace(VARIANTS[name], escape_forced=forced)
    rng = random.Random(seed)
    slow = oracle.random_start(rules, rng)
    setups = ["".join(rules.names[each] for each in evil) for evil in (slow.evil_first, slow.evil_second)]
    board = Board(name, f"escape={'forced' if forced else 'optional'}", setups=(setups[0], setups[1]))
    yield board, slow
    while not slow.over:
        action = rng.choice(slow.legal())
        number = slow.to_square_action(action)
        slow.push(action)
        board.push(number)
        yield board, slow
    assert board.is_over


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("forced", [False, True])
def test_the_published_planes_are_those_of_the_oracle(name: str, forced: bool) -> None:
    colours = VARIANTS[name].good, VARIANTS[name].evil
    shares = [max(number - 1, 1) for number in colours]  # the oracle's are of three, whatever the board
    for seed in range(2 if name == "geister" else 12):
        for board, slow in played_by_both(name, forced, seed):
            for player in (0, 1):
                for observation, history in (("geister", False), ("geister-history", True)):
                    expected = np.array(slow.observation(player, history=history), np.float64)
                    for place in ((3, 4), (3, 4, 8, 9))[history]:
                        expected[place] *= oracle.CAPTURED_DIVISOR / shares[place % 5 - 3]
                    seen = board.look_through(observation, "planes", player)
                    assert np.allclose(seen, expected, rtol=1e-6, atol=0), (observation, player, slow.history)


def test_the_full_game_is_observed_in_the_oracles_very_numbers() -> None:
    for board, slow in played_by_both("geister", False, 5):
        for player in (0, 1):
            expected = np.array(slow.observation(player, history=True), np.float32)
            assert (board.look_through("geister-history", "planes", player) == expected).all()


def test_the_worked_example_of_a_start() -> None:
    board = Board("geister", setups=("ABCD", "BCDE"))
    planes = board.look_through("geister", "planes", 0)
    ones = {plane: {(x, y) for y, x in zip(*np.nonzero(planes[plane]), strict=True)} for plane in range(6)}
    assert ones[1] == {(x, 4) for x in (1, 2, 3, 4)}
    assert ones[0] == {(x, 5) for x in (1, 2, 3, 4)}
    assert ones[2] == {(x, y) for x in (1, 2, 3, 4) for y in (0, 1)}
    assert not planes[3:].any()
    assert not board.look_through("geister-history", "planes", 0)[5:].any()


def test_progress_stops_at_one_whatever_the_limit() -> None:
    board = Board("geister", "paper total_limit=4", setups=("ABCD", "ABCD"))
    for played, expected in zip(range(1, 5), (0.25, 0.5, 0.75, 1.0), strict=True):
        board.push(board.legal_actions[0])
        assert board.plies == played and board.look_through("geister", "planes", 0)[5].min() == expected


# ── Our own ──────────────────────────────────────────────────────────────────────────────────────


def full(board: Board, player: int) -> dict[str, np.ndarray]:
    values = board.look_through("geister-full", "planes", player)
    return dict(zip(FULL_NAMES, values, strict=True))


def amount(count: int) -> float:
    return 0.0 if count == 0 else 1 / 3 if count == 1 else 2 / 3 if count < 4 else 1.0


def neighbours(square: tuple[int, int]) -> set[tuple[int, int]]:
    return {oracle.stepped(square, direction) for direction in range(4)}


class Deeds:
    """The counters of behaviour, by player and ghost, told from the moves of the oracle."""

    def __init__(self, rules: oracle.Rules) -> None:
        self.counts = {deed: np.zeros((2, rules.ghosts), int) for deed in DEEDS}

    def watch(self, before: oracle.Geister, after: oracle.Geister) -> None:
        turn = after.history[-1]
        ghost, direction = divmod(turn.action, 4)
        rules, player = after.rules, turn.player
        enemies = {rules.rotated(each.square) for each in after.ghosts[1 - player] if each.square is not None}
        source = before.ghosts[player][ghost].square
        target = after.ghosts[player][ghost].square or source
        assert source is not None and target is not None
        self.counts["moved"][player, ghost] += 1
        self.counts["forward"][player, ghost] += direction == oracle.NORTH
        offered = bool(neighbours(target) & enemies)
        self.counts["offered"][player, ghost] += offered
        fled = not offered and turn.captured is None and bool(neighbours(source) & enemies)
        self.counts["fled"][player, ghost] += fled
        for other, each in enumerate(after.ghosts[player]):
            if other != ghost and each.square is not None and neighbours(each.square) & enemies:
                self.counts["stood"][player, other] += 1


@pytest.mark.parametrize("name", VARIANTS)
def test_the_full_observation_says_what_happened(name: str) -> None:
    rules = VARIANTS[name]
    for seed in range(1 if name == "geister" else 6):
        deeds, before = Deeds(rules), None
        for board, slow in played_by_both(name, False, seed):
            if before is not None:
                deeds.watch(before, slow)
            before = slow.copy()
            for player in (0, 1):
                planes = full(board, player)

                def at(owner: int, square: tuple[int, int], viewer: int = player) -> tuple[int, int]:
                    x, y = square if owner == viewer else rules.rotated(square)
                    return y, x

                expected = {name: np.zeros((rules.height, rules.width)) for name in FULL_NAMES}
                for owner, side in ((player, "our"), (1 - player, "their")):
                    left = [ghost for ghost in slow.ghosts[owner] if ghost.square is not None]
                    evil_share = sum(not ghost.good for ghost in left) / max(len(left), 1)
                    for number, ghost in enumerate(slow.ghosts[owner]):
                        if ghost.square is None:
                            continue
                        place = at(owner, ghost.square)
                        if side == "their":
                            expected["their_good_chance"][place] = 1 - evil_share
                            expected["their_evil_chance"][place] = evil_share
                        kind = "their_ghosts" if side == "their" else f"our_{'good' if ghost.good else 'evil'}"
                        expected[kind][place] = 1
                        for deed in DEEDS:
                            expected[f"{side}_{deed}"][place] = amount(deeds.counts[deed][owner, number])
                    for good, colour, number in ((True, "good", rules.good), (False, "evil", rules.evil)):
                        share = slow.captured(owner, good) / max(number - 1, 1)
                        expected[f"{side}_{colour}_captured"][:] = share
                    for x in (0, rules.width - 1):
                        expected[f"{side}_exits"][at(owner, (x, 0))] = 1
                expected["plies_frac"][:] = slow.plies / rules.limit
                for back in range(1, min(8, slow.plies) + 1):
                    earlier = slow.replayed(slow.plies - back)
                    turn = slow.history[-back]
                    source = earlier.ghosts[turn.player][turn.action // 4].square
                    assert source is not None
                    expected[f"left[-{back}]"][at(turn.player, source)] = 1
                    if not turn.escaped:
                        target = at(turn.player, oracle.stepped(source, turn.action % 4))
                        expected[f"arrived[-{back}]"][target] = 1
                        expected[f"captured[-{back}]"][target] = turn.captured is not None
                for plane, values in expected.items():
                    assert np.allclose(planes[plane], values, rtol=1e-6, atol=0), (plane, player, slow.history)


def test_rules_that_matter_are_shown() -> None:
    board = Board("geister", "paper at_limit=second", setups=("ABCD", "ABCD"))
    first, second = full(board, 0), full(board, 1)
    assert (first["escape_forced"] == 1).all() and (first["limit_worth"] == -1).all()
    assert (second["limit_worth"] == 1).all()
    usual = full(Board("geister", setups=("ABCD", "ABCD")), 0)
    assert not usual["escape_forced"].any() and not usual["limit_worth"].any()


def test_a_ghost_that_stayed_on_an_exit_where_escapes_are_forced_is_shown_as_evil_to_both() -> None:
    board = Board("geister-43", "escape=forced", setups=("A", "A"))
    for move in ("b1a1", "c3d3", "a1a2", "d3d2", "a2a3", "d2d3"):
        board.push(move)
    assert not full(board, 1)["their_proven_evil"].any()
    board.push("c1c2")
    theirs, ours = full(board, 1)["their_proven_evil"], full(board, 0)["our_proven_evil"]
    assert np.argwhere(theirs).tolist() == [[2, 3]] and np.argwhere(ours).tolist() == [[0, 0]]
    seen = full(board, 1)
    assert seen["their_evil_chance"][2, 3] == 1 and seen["their_good_chance"][2, 3] == 0
    others = (seen["their_ghosts"] == 1) & (theirs == 0)
    assert (seen["their_good_chance"][others] == 1).all() and not seen["their_evil_chance"][others].any()


def test_a_game_can_be_observed_without_tracks_only_as_published() -> None:
    small = game("geister-33b")
    assert names(small) == ["geister-full", "geister", "geister-history"]
    assert [find(small, name).needs_tracking for name in names(small)] == [True, False, True]
    sim = Simulator(small, 4, seed=1, tracks=False)
    assert sim.observe("geister").shape == (4, 6, 3, 3)


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def twins(game: Geister, plies: int, viewer: int) -> tuple[Simulator, Simulator]:
    """Two batches that differ in the colours of the ghosts that are hidden from the viewer, and in nothing else."""
    sim, twin = Simulator(game, 256, seed=3), Simulator(game, 256, seed=3)
    sim.play_random(plies)
    views, values = sim.views(viewer), sim.hidden_values(viewer)
    generator = torch.Generator().manual_seed(plies)
    for row, count in enumerate(sim.hidden_counts(viewer).tolist()):
        values[row, :count] = values[row, torch.randperm(count, generator=generator)]
    twin.determinise(views, viewer, values)
    return sim, twin


def leaks(game: Geister) -> bool:
    found = False
    for viewer in (0, 1):
        for plies in (7, 40):
            sim, twin = twins(game, plies, viewer)
            assert (sim.snapshot().pack() != twin.snapshot().pack()).any(), "nothing was exchanged"
            for name in names(game):
                found |= not torch.equal(sim.observe(name, viewer=viewer), twin.observe(name, viewer=viewer))
    return found


@pytest.mark.parametrize("name", ["geister", "geister-44"])
def test_colours_that_are_hidden_change_no_observation(name: str) -> None:
    assert not leaks(Geister(name))


@kernel
def mark_with_a_leak(game, viewer, lane, lanes, codes):  # type: ignore[no-untyped-def]
    mark_full(game, viewer, lane, lanes, codes)
    if lane == 0 and game.words[5 - viewer] & np.uint64(0xFF):  # the enemy's evil ghosts on the first row
        put(codes, 0, 2, 1)


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = find(Geister(), "geister-full")
    leaky = Observation(
        honest.name, honest.family, honest.channels, honest.channel_names, mark_with_a_leak, honest.levels, True
    )
    monkeypatch.setitem(_observations, ("geister", "geister-full"), leaky)
    assert leaks(Geister())
