"""`Board`: moves, refusals with their reasons, taking back, texts, views, pictures."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban.board.stratego import Battle, Board
from vauban.errors import (
    ConfigurationError,
    IllegalMoveError,
    InvalidMoveError,
    NotationError,
    NotYourTurnError,
    SetupError,
)
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, SCOUT, SPY
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.stratego.moves import Move
from vauban.sim.simulator import Simulator

RED, BLUE = 0, 1


def free(pieces: dict[str, tuple[int, int]], rules: str | None = None, turn: int = 0) -> Board:
    """Return a free setup on the classic board, squares by name; the Flags stand in corners out of the way."""
    classic = VARIANTS["classic"]
    placed = {classic.square(name): piece for name, piece in pieces.items()}
    placed.setdefault(classic.square("a1"), (RED, FLAG))
    placed.setdefault(classic.square("j10"), (BLUE, FLAG))
    return Board.from_pieces(placed, "classic", rules, turn)


def play(board: Board, moves: str) -> Board:
    """Play moves, written one after another."""
    for move in moves.split():
        board.push(move)
    return board


# ── Moves and battles ────────────────────────────────────────────────────────────────────────────


def test_a_move_reports_its_battle() -> None:
    board = free({"e5": (RED, MINER), "e6": (BLUE, BOMB), "j9": (BLUE, MINER)})
    played = board.push("e5e6")
    assert played.battle == Battle(MINER, BOMB, ">")
    assert board.piece_at(board.variant.square("e6")).revealed
    assert board.captured(BLUE) == [BOMB]
    assert board.captured(RED) == []


@pytest.mark.parametrize(
    ("attacker", "defender", "sign"),
    [(SPY, MARSHAL, ">"), (MARSHAL, SPY, ">"), (SPY, SPY, "="), (SCOUT, MINER, "<"), (MARSHAL, BOMB, "<")],
)
def test_rules_1_3_battles(attacker: int, defender: int, sign: str) -> None:
    board = free({"e5": (RED, attacker), "e6": (BLUE, defender), "b1": (RED, MINER), "j9": (BLUE, MINER)})
    assert board.push("e5e6").battle.result == sign


def test_rules_1_4_a_scout_that_goes_far_is_revealed() -> None:
    board = free({"e2": (RED, SCOUT), "f2": (RED, SCOUT), "j9": (BLUE, MINER)})
    play(board, "e2e3 j9j8")
    assert not board.piece_at(board.variant.square("e3")).revealed
    play(board, "e3e5")
    assert board.piece_at(board.variant.square("e5")).revealed


def test_the_flag_taken_ends_the_game() -> None:
    board = free({"j9": (RED, MINER), "a10": (BLUE, MINER)})
    board.push("j9j10")
    outcome = board.outcome()
    assert (outcome.winner, outcome.end, outcome.utility) == (RED, "flag", 1.0)
    assert not board.legal_moves


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", "e5", "e5e", "z1z2", "e5-e6", "a0a1", "e5e11", "resign"])
def test_a_text_that_is_no_move_is_told_apart(text: str) -> None:
    with pytest.raises(InvalidMoveError):
        free({"e5": (RED, MINER), "j9": (BLUE, MINER)}).push(text)


@pytest.mark.parametrize(
    ("move", "kind", "words"),
    [
        ("j9j8", NotYourTurnError, "red is on turn"),
        ("c3c4", IllegalMoveError, "no piece on c3"),
        ("e5e7", IllegalMoveError, "moves one square"),
        ("b1b2", IllegalMoveError, "a Bomb never moves"),
        ("a1a2", IllegalMoveError, "a Flag never moves"),
        ("b5c5", IllegalMoveError, "c5 is a lake"),
        ("e5e4", IllegalMoveError, "a piece of your own"),
        ("e4h4", IllegalMoveError, "cannot pass over"),
        ("e5e5", (IllegalMoveError, InvalidMoveError), "."),
    ],
)
def test_a_move_that_is_not_legal_here_says_why(move: str, kind: type[Exception], words: str) -> None:
    board = free(
        {
            "e5": (RED, MINER), "e4": (RED, SCOUT), "g4": (RED, MINER), "b1": (RED, BOMB), "b5": (RED, MINER),
            "j9": (BLUE, MINER),
        }
    )  # fmt: skip
    before = board.text
    with pytest.raises(kind, match=words):
        board.push(move)
    assert board.text == before, "a refused move changes nothing"


def test_a_game_that_is_over_takes_no_moves() -> None:
    board = free({"j9": (RED, MINER), "a10": (BLUE, MINER)})
    board.push("j9j10")
    with pytest.raises(NotYourTurnError, match="the game is over .flag; red has won."):
        board.push("a10a9")


def test_the_two_square_rule_is_explained_with_its_squares() -> None:
    board = free({"e5": (RED, MINER), "j9": (BLUE, MINER), "c1": (RED, MINER)})
    play(board, "e5e6 j9j8 e6e5 j8j7 e5e6 j7j6")
    with pytest.raises(
        IllegalMoveError, match="two-square rule: this Miner has just gone e5–e6, e6–e5, e5–e6"
    ) as caught:
        board.push("e6e5")
    assert "e5" in str(caught.value)
    barred = board.why_barred((board.variant.square("e6"), board.variant.square("e5")))
    assert barred.rule == "two_square"


def test_the_chase_rule_names_the_position_that_would_come_back() -> None:
    """A Marshal chases a Miner around: the move that closes the circle is barred."""
    board = free({"e4": (RED, MARSHAL), "f5": (BLUE, MINER), "j2": (RED, MINER), "j9": (BLUE, MINER)})
    moves = "e4e5 f5f4 e5e4 f4f3 e4e3 f3f4 e3e4 f4f5"
    play(board, moves)
    barred = board.barred_moves("chase")
    e5 = Move(board.variant.square("e4"), board.variant.square("e5"))
    assert barred == [e5]
    with pytest.raises(IllegalMoveError, match="chasing rule: e4e5 would repeat the position after ply 1"):
        board.push(e5)
    assert board.why_barred(e5).ply == 1


def test_written_battles_that_contradict_the_board_are_refused() -> None:
    board = free({"e5": (RED, MINER), "e6": (BLUE, BOMB), "j9": (BLUE, MINER)})
    for text, words in (("e5xe6(O>B)", "shows a Scout"), ("e5xe6(N<B)", "wrong result"), ("e5xf5", "is empty")):
        with pytest.raises(NotationError, match=words):
            board.push(text)
    board.push("e5xe6(N>B)")


@pytest.mark.parametrize(
    ("red", "words"),
    [
        ("FLP", "has 1 rows|squares instead of 4"),
        ("FLPX", "'X' in row 1"),
        ("FLPP", "2 Captains, 1 too many; 1 Major is missing|1 too many"),
        ("FLPJ/FLPJ", "2 rows"),
        ("LLPJ", "1 Flag is missing"),
    ],
)
def test_a_setup_that_does_not_fit_says_what_is_wrong(red: str, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        Board.from_setups(red, "JFPL", "tiny")


def test_names_that_do_not_exist_are_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'barrage'"):
        Board.random("barage")
    with pytest.raises(ConfigurationError, match="did you mean 'chase'"):
        Board.random("tiny", rules="chaze=off")
    with pytest.raises(ConfigurationError, match="did you mean 'strategus'"):
        Board.random("tiny", rules="stratgus")
    with pytest.raises(ConfigurationError, match="two_square must be"):
        Board.random("tiny", rules="two_square=4")


# ── Taking back, copies, texts ───────────────────────────────────────────────────────────────────


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(sorted(VARIANTS)), seed=st.integers(0, 10**6), length=st.integers(1, 120))
def test_pushing_and_popping_come_back_to_the_same_board(name: str, seed: int, length: int) -> None:
    rng = random.Random(seed)
    board = Board.random(name, seed)
    texts = [board.text]
    moves = [list(board.legal_moves)]
    while len(texts) <= length and not board.is_over:
        board.push(rng.choice(board.legal_moves))
        texts.append(board.text)
        moves.append(list(board.legal_moves))
    while len(texts) > 1:
        assert board.text == texts.pop()
        assert list(board.legal_moves) == moves.pop()
        board.pop()
    assert board.text == texts[0]
    with pytest.raises(IndexError):
        board.pop()


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(VARIANTS)),
    rules=st.sampled_from([None, "strategus chase=isf", "ataraxos", "strategus two_square=5"]),
    seed=st.integers(0, 10**6),
    length=st.integers(0, 200),
)
def test_a_board_comes_back_from_its_text_and_plays_on_alike(
    name: str, rules: str | None, seed: int, length: int
) -> None:
    rng = random.Random(seed)
    board = Board.random(name, seed, rules)
    for _ in range(length):
        if board.is_over:
            break
        board.push(rng.choice(board.legal_moves))
    again = Board.from_position(board.text, board.variant, board.rules)
    assert again == board and hash(again) == hash(board)
    for _ in range(30):
        assert list(again.legal_moves) == list(board.legal_moves)
        assert again.outcome() == board.outcome()
        if board.is_over:
            break
        move = rng.choice(board.legal_moves)
        board.push(move)
        again.push(move)
        assert again.text == board.text


def test_a_copy_goes_its_own_way() -> None:
    board = Board.random("barrage", 1)
    other = board.copy()
    other.push(other.legal_moves[0])
    assert board.plies == 0 and other.plies == 1
    assert board != other


def test_games_of_any_length_are_judged() -> None:
    """Without limits a chase or a dance may be longer than a record holds at first."""
    board = free({"e5": (RED, MARSHAL), "j9": (BLUE, MINER), "j2": (RED, MINER)}, "isf")
    rng = random.Random(3)
    while board.battleless < 700:
        enemies = {square for square, piece in board.pieces(1 - board.turn).items()}
        board.push(rng.choice([move for move in board.legal_moves if move.target not in enemies]))
    again = Board.from_position(board.text, "classic", "isf")
    assert list(again.legal_moves) == list(board.legal_moves)
    assert again.position() == board.position()


def test_a_position_alone_has_its_own_board_and_no_limits() -> None:
    board = Board.from_position("3f/4/1J1l/F3 r 0 0 -,- 0:-,0:-")
    assert (board.variant.rows, board.variant.columns) == (4, 4)
    assert board.rules.total_limit is None and board.rules.battleless_limit is None
    odd = Board.from_position("2f1o/5/F1O2 b 7 3 -,- 0:-,0:-")
    assert (odd.variant.rows, odd.variant.columns, odd.turn, odd.plies, odd.battleless) == (3, 5, 1, 7, 3)


def test_a_position_without_a_flag_was_won_by_taking_it() -> None:
    board = Board.from_position("4/4/1J1l/F3 b 9 0 -,- 0:-,0:-")
    assert (board.outcome().winner, board.outcome().end) == (RED, "flag")


def test_a_view_is_shown_and_never_resumed() -> None:
    text = Board.random("tiny", 1).view(0).text
    with pytest.raises(NotationError, match="view"):
        Board.from_position(text, "tiny")


def test_a_battle_begins_a_chase_of_the_federations_text_that_survives_in_the_text() -> None:
    start = "9f/10/10/10/2~~2~~2/2~~2~~2/8n1/4p1O3/4l5/F3M5 r 0 0 -,- 0:-,0:-"
    board = play(Board.from_position(start, "classic", "chase=isf"), "e1e2 e3f3 g3i3 i4h4 i3h3 h4i4")
    again = Board.from_position(board.text, "classic", "chase=isf")
    assert board.parse_move("h3g3") not in board.legal_moves
    assert list(again.legal_moves) == list(board.legal_moves)


def test_a_limit_that_is_exceeded_comes_before_the_flag_in_a_text_too() -> None:
    rules = "total_limit=48 limits=exceeded chase=off"
    board = play(Board.from_position("f3/O3/4/2F1 r 48 3 -,- 0:-,0:-", "tiny", rules), "a3a4")
    assert board.outcome().end == "total_limit"
    assert Board.from_position(board.text, "tiny", rules).outcome() == board.outcome()


def test_boards_of_one_column_and_with_lakes_near_the_edge_can_be_given_alone() -> None:
    assert len(Board.from_position("f/o/1/O/F r 0 0 -,- 0:-,0:-").legal_moves) == 2
    assert Board.from_position("2f1/~3/3~/F1O1 r 0 0 -,- 0:-,0:-").variant.lakes == (7, 8)


def test_squares_and_turns_are_checked() -> None:
    board = Board.random("tiny", 1)
    assert board.piece_at("a1") == board.piece_at(0)
    for square in (-1, 16, 300, "e9"):
        with pytest.raises(ConfigurationError, match="square"):
            board.piece_at(square)
    for move in (None, 10**6, -1, (1,), ("a", "b"), (1.9, 5)):
        with pytest.raises(InvalidMoveError, match="is no move"):
            board.push(move)
    with pytest.raises(NotationError, match="on turn"):
        Board.from_pieces({0: (0, FLAG), 1: (0, MINER), 15: (1, FLAG)}, "tiny", turn=2)
    with pytest.raises(ConfigurationError, match="'two_square' and 'chase'"):
        board.barred_moves("foo")
    with pytest.raises(ConfigurationError, match="500 is no square of this board"):
        board.why_barred((0, 500))


# ── Pictures, observations, records ──────────────────────────────────────────────────────────────


def test_pictures_show_every_piece_and_hide_what_is_hidden() -> None:
    board = Board.from_setups("FLPJ", "JFPL", "tiny")
    assert str(board).splitlines()[0].split() == ["4", "l", "p", "f", "j"]
    root = ElementTree.fromstring(board.svg())
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "a1: red Flag" in titles and "c4: blue Flag" in titles and len(titles) == 8
    hidden = board.view(0).svg()
    assert "blue Flag" not in hidden and "a1: red Flag" in hidden and hidden.count("blue piece") == 4


def test_a_view_shows_what_its_player_sees_on_turn_or_not() -> None:
    board = Board.random("barrage", 3)
    sim = Simulator("barrage", 1, seed=1)
    sim.restore(board.snapshot())
    for player in (0, 1):
        assert torch.equal(board.view(player).observe(), sim.observe("ataraxos", viewer=player)[0])
    assert torch.equal(board.observe(layout="squares"), sim.observe("ataraxos", layout="squares")[0])


def test_every_board_can_be_observed() -> None:
    for board in (
        Board.from_position("f3/1o2/4/O1F1 r 0 0 -,- 0:-,0:-"),
        Board.random("classic", 1, "isf"),
        Board.random("classic", 1, "battleless_limit=400"),
    ):
        assert board.observe("ataraxos").shape[0] == 355 + board.variant.squares + 32


def test_a_board_goes_into_a_simulator_with_its_history() -> None:
    board = free({"e4": (RED, MARSHAL), "f5": (BLUE, MINER), "j2": (RED, MINER), "j9": (BLUE, MINER)})
    play(board, "e4e5 f5f4 e5e4 f4f3 e4e3 f3f4 e3e4 f4f5")
    sim = Simulator("classic", 3, seed=1, restart=False)
    sim.reset(records=board.snapshot())
    listed, counts = sim.legal_actions()
    for row in range(3):
        moves = [board.game.decode(board.turn, action) for action in listed[row, : counts[row]].tolist()]
        assert sorted(moves) == [tuple(move) for move in board.legal_moves], "the chase is remembered"


def test_importing_vauban_does_not_import_torch_or_numba() -> None:
    import subprocess
    import sys

    code = "import sys, vauban; print('torch' in sys.modules, 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False"] * 2
