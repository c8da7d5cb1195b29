"""Words and counts for people: moves and types in words, a board by default, the ways that hidden pieces may be."""

from __future__ import annotations

import pickle
import random
from itertools import permutations
from math import comb

import pytest

from vauban import Board, Simulator
from vauban.errors import ConfigurationError
from vauban.games.stratego.pieces import TYPES, PieceType
from vauban.games.stratego.variants import find_variant, load_variant

MINE = """name = "skirmish"
rows = 6
columns = 6
lakes = ["c3", "d4"]
setup_rows = 2
army = "F1 S1 O2 N1 M1 B1"
total_limit = 300
"""


def test_a_board_without_arguments_is_a_game_that_can_be_played() -> None:
    board = Board()
    assert (board.variant.name, board.turn, board.plies, board.is_over) == ("classic", 0, 0, False)
    board.push(board.legal_moves[0])
    assert board.plies == 1


def test_moves_print_as_they_are_written() -> None:
    board = Board.from_setups("FLPJ", "JFPL", "tiny")
    assert repr(board.legal_moves) == "<3 legal moves: b1b2, c1c2, d1d2>"
    assert str(list(board.legal_moves)) == "[b1b2, c1c2, d1d2]"
    played = board.push("b1b2")
    assert repr(played) == "Played(move=b1b2, player=0, battle=None)" and str(board.history[0].move) == "b1b2"
    assert str(board.move_of("d4d3")) == "d4d3" == str(board.view(1).legal_moves[-1])
    assert repr(board.pop()) == "b1b2"
    assert f"{board.legal_moves[0]}" == "b1b2"
    assert pickle.loads(pickle.dumps(board.legal_moves[0])) == (1, 5)


def test_a_long_list_of_legal_moves_is_cut() -> None:
    shown = repr(Board("classic", seed=1).copy().legal_moves)
    assert len(shown) < 200
    board = Board.from_pieces({0: (0, 10), 44: (0, 1), 40: (0, 1), 49: (0, 1), 99: (1, 10)})
    assert repr(board.legal_moves).endswith(", …>")


def test_types_print_as_words_and_count_as_numbers() -> None:
    board = Board.from_setups("FLPJ", "JPLF", "tiny")
    for text in ("b1b2", "c4c3", "b2b3", "c3b3"):
        board.push(text)
    view = board.view(0)
    assert str(view.hidden_types()) == "{Lieutenant: 1, Major: 1, Flag: 1}"
    assert view.hidden_types() == {
        4: 1,
        6: 1,
        10: 1,
    }
    assert repr(view.history[-1].battle) == "Battle(attacker=Captain, defender=Lieutenant, result='>')"
    piece = view.piece_at("b3")
    assert piece is not None and repr(piece).startswith("Piece(player=1, kind=Captain, ")
    assert f"{piece.kind}" == "Captain" and piece.kind == 5 and TYPES[piece.kind] == "Captain"
    assert [str(kind) for kind in PieceType] == list(TYPES)


# ── Assignments ──────────────────────────────────────────────────────────────────────────────────


def test_the_ways_that_hidden_pieces_may_be_are_listed_and_counted() -> None:
    board = Board.from_setups("FLPJ", "JPLF", "tiny")
    view = board.view(0)
    assert view.count_assignments() == 24 == len(list(view.assignments()))
    for text in ("b1b2", "c4c3"):
        board.push(text)
    view = board.view(0)
    found = list(view.assignments())
    moved = view.hidden().index(view.variant.square("c3"))
    assert len(found) == len(set(found)) == view.count_assignments() == 18  # what has moved is no Flag
    assert all(each[moved] != PieceType.FLAG for each in found)
    assert str(found[0]).startswith("(") and "Flag" in str(found[0])
    worlds = Simulator("tiny", len(found), seed=1)
    worlds.determinise(view.snapshot(), 0, [list(each) for each in found])  # each of them fits


@pytest.mark.parametrize("variant", ["fives", "barrage"])
def test_counts_are_those_of_all_orders_in_the_middle_of_games(variant: str) -> None:
    """Against plain permutations, at some plies of random games."""
    rng, checked = random.Random(5), 0
    for seed in range(6):
        board = Board.random(variant, seed)
        while not board.is_over and board.plies < 60:
            board.push(rng.choice(list(board.legal_moves)))
            if board.is_over or rng.random() < 0.8:
                continue
            view = board.view(board.turn)
            kinds = [kind for kind, count in view.hidden_types().items() for _ in range(count)]
            if len(kinds) > 7:
                continue
            pieces = [view.piece_at(square) for square in view.hidden()]
            fits = {
                order for order in permutations(kinds)
                if all(kind < 10 or not piece.moved for kind, piece in zip(order, pieces, strict=True) if piece)
            }  # fmt: skip
            assert view.count_assignments() == len(fits)
            assert set(view.assignments()) == fits
            checked += 1
    assert checked > 5


def test_a_whole_army_is_counted_at_once() -> None:
    board = Board("classic", seed=3)
    assert board.view(0).count_assignments() == board.variant.setup_count


def test_other_games_list_theirs_too() -> None:
    geister = Board("geister", seed=1).view(0)
    assert geister.count_assignments() == comb(8, 4) == len(set(geister.assignments()))
    board = Board("kuhn", seed=1)
    assert board.view(0).count_assignments() == 2
    board.push("pass")
    with pytest.raises(ConfigurationError, match="ask when its player is on turn"):
        board.view(0).count_assignments()


# ── Variants of one's own ────────────────────────────────────────────────────────────────────────


def test_a_variant_prints_as_the_file_that_describes_it(tmp_path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    mine = load_variant(file)
    assert str(mine) == MINE.rstrip()
    for name in ("classic", "tiny"):
        again = tmp_path / f"{name}.toml"
        again.write_text(str(find_variant(name)))
        assert load_variant(again) == find_variant(name)
