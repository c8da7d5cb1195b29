"""Observations against the oracle's, on every board; their names; their layouts."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from oracle.observation import Observer
from oracle.rules import Oracle
from oracle.rules import Rules as OracleRules

from vauban.board import Board
from vauban.errors import ConfigurationError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import LETTERS
from vauban.games.stratego.variants import VARIANTS
from vauban.nets.move import MoveNetwork
from vauban.nets.transformer import Size
from vauban.observe import base as observations
from vauban.observe.base import Observation, find
from vauban.sim.simulator import Simulator


def oracle_of(board: Board) -> Oracle:
    """Return an oracle at a board's start."""
    v = board.variant
    pieces = {square: (piece.player, LETTERS[piece.kind]) for square, piece in board.pieces().items()}
    return Oracle(v.rows, v.columns, set(v.lakes), OracleRules(**board.rules.as_dict()), pieces)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("observation", ["ataraxos", "deepnash"])
def test_observations_equal_the_oracles_bit_for_bit(name: str, observation: str) -> None:
    rng = random.Random(f"{name} {observation}")
    compared = 0
    for seed in range(3 if name in ("classic", "barrage") else 8):
        board = Board.random(name, seed)
        oracle = oracle_of(board)
        observer = Observer(oracle)
        while not board.is_over:
            if rng.random() < (0.05 if board.variant.squares > 40 else 0.5):
                wanted = getattr(observer, observation)()
                found = board.observe(observation).numpy().reshape(wanted.shape)
                differ = np.argwhere(found != wanted)
                names = find(board.game, observation).channel_names(board.game)
                assert not len(differ), f"ply {board.plies}, {names[differ[0][0]]}, square {differ[0][1]}"
                compared += 1
            move = rng.choice(list(board.legal_moves))
            observer.push(tuple(move))
            board.push(move)
    assert compared >= 5


def test_ataraxos_reference_6_13_protection_after_a_tie() -> None:
    """Red Flag 0, Miner 1, Sergeant 34, Captain 35; blue Captain 64, Scout 94, Miner 98, Flag 99."""
    pieces = {0: (0, 10), 1: (0, 2), 34: (0, 3), 35: (0, 5), 64: (1, 5), 94: (1, 1), 98: (1, 2), 99: (1, 10)}
    board = Board.from_pieces(pieces, "classic", "ataraxos")
    for move in [(35, 45), (64, 54), (1, 2), (54, 44), (2, 1), (94, 54), (1, 2), (98, 97), (45, 44)]:
        board.push(move)
    planes = board.observe("ataraxos").numpy().reshape(487, 100)
    assert [(c + 303, s) for c, s in np.argwhere(planes[303:355])] == [(314, 65), (317, 65), (328, 65)]


def test_ataraxos_reference_8_2_probabilities_to_the_bit() -> None:
    setup = "FBNNNNNOOB/BTTTTOOOOB/BLLLLSJJJB/OPPGMPPCCO"
    board = Board.from_setups(setup, setup, "classic", "ataraxos-train")
    board.push((34, 44))
    planes = board.observe("ataraxos").numpy().reshape(487, 100)
    words = {12: 0x3CCBAFA4, 13: 0x3E4BAFA4, 14: 0x3DFE9B8D, 22: 0x3CD20D21, 23: 0x3E1D89D9}
    for channel, bits in words.items():
        assert planes[channel, 60].view(np.uint32) == bits
    assert planes[12, 55].view(np.uint32) == 0x3CF83E10
    assert planes[14, 55].view(np.uint32) == 0x3E1B26CA
    assert planes[22, 55] == planes[23, 55] == 0


def test_equilibrium_a_7_move_planes_of_deepnash() -> None:
    """A plain move leaves −1, an attack by a Miner −2.25; the newest move is plane 37."""
    board = Board.from_pieces({0: (0, 10), 44: (0, 2), 54: (1, 1), 99: (1, 10), 90: (1, 2)}, "classic")
    board.push((44, 54))
    planes = board.observe("deepnash").numpy().reshape(82, 100)
    assert planes[37, 99 - 44] == np.float32(-2.25) and planes[37, 99 - 54] == 1
    board.push((90, 80))
    planes = board.observe("deepnash").numpy().reshape(82, 100)
    assert planes[37, 90] == -1 and planes[37, 80] == 1
    assert planes[38, 44] == np.float32(-2.25)
    assert not planes[79:82].any()


def test_every_channel_has_a_name_of_its_own() -> None:
    for name in VARIANTS:
        game = Stratego(name)
        for observation in ("ataraxos", "deepnash", "deepnash-printed"):
            found = find(game, observation)
            names = found.channel_names(game)
            assert len(names) == found.channels(game) == len(set(names))
    names = find(Stratego("classic"), "ataraxos").channel_names(Stratego("classic"))
    assert len(names) == 487
    assert (names[12], names[43], names[131], names[354]) == (
        "their_spy_prob", "we_threatened_spy", "our_deathstatus_attacked_visible_stronger_spy",
        "their_was_protected_against_hidden",
    )  # fmt: skip
    assert (names[355], names[454], names[455], names[486]) == (
        "start_square[0]", "start_square[99]", "src_dst_cell[-32]", "src_dst_cell[-1]",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["barrage", "fives"])
def test_layouts_and_types_hold_the_same_numbers(name: str) -> None:
    sim = Simulator(name, 70, seed=2)
    sim.play_random(31)
    planes = sim.observe("ataraxos")
    squares = sim.observe("ataraxos", layout="squares")
    assert torch.equal(planes.flatten(2).transpose(1, 2), squares)
    brief = sim.observe("ataraxos", dtype=torch.bfloat16)
    assert torch.equal(planes.to(torch.bfloat16), brief), "bfloat16 is the float32 rounded to nearest even"
    assert torch.equal(squares.to(torch.bfloat16), sim.observe("ataraxos", dtype=torch.bfloat16, layout="squares"))


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], Observation]:
    """The registry, as it is for a test alone."""
    observations.names(Stratego("tiny"))
    monkeypatch.setattr(observations, "_observations", dict(observations._observations))
    return observations._observations


def test_another_observation_of_a_family_does_not_change_what_is_seen_by_default(
    registered: dict[tuple[str, str], Observation],
) -> None:
    game = Stratego("tiny")
    seen = Board.random("tiny", 1).observe()
    first = replace(find(game, "deepnash"), name="aaa")
    before = dict(registered)
    registered.clear()
    registered.update({("stratego", "aaa"): first, **before})
    assert observations.names(game)[0] == "aaa"
    assert observations.default(game).name == "ataraxos"
    assert torch.equal(Board.random("tiny", 1).observe(), seen)
    assert MoveNetwork(game, Size(1, 16, 2)).observation == "ataraxos"
    with pytest.raises(ConfigurationError, match="'aaa' cannot be the default observation of 'stratego': 'ataraxos'"):
        observations.register(replace(first, default=True))


def test_a_game_without_observations_or_without_a_default_says_what_to_do(
    registered: dict[tuple[str, str], Observation],
) -> None:
    game = Stratego("tiny")
    del registered["stratego", "ataraxos"], registered["stratego", "deepnash-printed"]
    assert observations.default(game).name == "deepnash", "the only one need not be marked"
    observations.register(replace(find(game, "deepnash"), name="another"))
    with pytest.raises(ConfigurationError, match="none is the default: name one of 'deepnash', 'another'"):
        observations.default(game)
    del registered["stratego", "deepnash"], registered["stratego", "another"]
    words = "'tiny' has no observation, so nothing can see it: register one for its family 'stratego'"
    with pytest.raises(ConfigurationError, match=words):
        Board.random("tiny", 1).observe()
    with pytest.raises(ConfigurationError, match=words):
        MoveNetwork(game, Size(1, 16, 2))
