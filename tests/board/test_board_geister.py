"""`Board` and `View` of Geister: pictures, positions as text, reasons, and that they show nothing they must not."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vauban import Board
from vauban.board.base import copy_of
from vauban.board.geister import Ghost, View
from vauban.board.geister.look import CAPTURED, ESCAPED
from vauban.errors import ConfigurationError, IllegalMoveError, InvalidMoveError, NotationError, NotYourTurnError
from vauban.games.geister import Geister
from vauban.games.geister.variants import VARIANTS
from vauban.notation.geister.position import parse_position, position_text

RULES = ("server", "paper", "escape=forced at_limit=second")


def played(name: str, rules: str, seed: int, plies: int) -> Any:
    """A board after so many random plies, or where the game has ended before."""
    board = Board(name, rules, seed=seed)
    rng = random.Random(seed)
    while not board.is_over and board.plies < plies:
        board.push(rng.choice(board.legal_actions))
    return board


GAMES = {
    "name": st.sampled_from(sorted(VARIANTS)),
    "rules": st.sampled_from(RULES),
    "seed": st.integers(0, 10**6),
    "plies": st.integers(0, 90),
}


# ── Pictures ─────────────────────────────────────────────────────────────────────────────────────

BEGUN = """\
   ↖                ↗
 6 .  h? g? f? e? .
 5 .  .  c? b? a? .
 4 .  A+ .  .  .  .
 3 .  .  .  .  .  .
 2 .  .  B- C- D- .
 1 .  E- F+ G+ H+ .
   ↙                ↘
   a  b  c  d  e  f
second has lost d+"""
BEGUN_BY_SECOND = """\
   ↖                ↗
 1 .  h? g? f? e? .
 2 .  d? c? b? .  .
 3 .  .  .  .  .  .
 4 .  .  .  .  a? .
 5 .  A- B- C- .  .
 6 .  E+ F+ G+ H- .
   ↙                ↘
   f  e  d  c  b  a
second has lost D+"""


def begun() -> Any:
    board = Board.from_setups("BCDE", "ABCH", "geister")
    for move in ("b2b3", "b5b4", "b3b4"):
        board.push(move)
    return board


def test_a_player_is_at_the_bottom_of_the_own_view_with_capital_letters() -> None:
    board = begun()
    assert str(board.view(0)) == BEGUN
    assert str(board.view(1)) == BEGUN_BY_SECOND
    assert "h- g+ f+ e+" in str(board), "a whole board shows all colours"


def test_an_svg_picture_shows_shapes_and_titles_for_every_ghost() -> None:
    board = begun()
    whole, view = board.svg(), board.view(0).svg(240)
    for picture in (whole, view):
        root = ElementTree.fromstring(picture)
        titles = [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]
        assert len(titles) == 16 and "b4: first, ghost A, good" in titles
        assert "captured: second, ghost d, good" in titles
    assert view.count("unknown</title>") == 7 and "unknown</title>" not in whole
    assert 'height="240"' in view or 'width="240"' in view
    assert board.view(0)._repr_svg_() == board.view(0).svg()
    for name in VARIANTS:
        ElementTree.fromstring(Board(name, seed=1).view(1).svg())


# ── Positions ────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=150, deadline=None)
@given(**GAMES)
def test_a_position_is_read_back_from_its_text(name: str, rules: str, seed: int, plies: int) -> None:
    board = played(name, rules, seed, plies)
    again = Board.from_position(board.text, board.game)
    assert again == board and again.text == board.text and hash(again) == hash(board)
    assert again.outcome() == board.outcome() and again.legal_actions == board.legal_actions
    assert position_text(parse_position(board.text)) == board.text
    assert again.start_text == board.text
    for player in (0, 1):
        view = board.view(player)
        read = View.from_position(view.text, player, board.game)
        assert (read.text, str(read), read.svg()) == (view.text, str(view), view.svg())
        assert (read.look_through("geister", "planes", player) == view.look_through("geister", "planes", player)).all()
        assert read.legal_moves == view.legal_moves and read.outcome() == view.outcome()
    if not board.is_over:
        move = board.legal_actions[seed % len(board.legal_actions)]
        board.push(move)
        again.push(move)
        assert again == board


def test_a_view_cannot_be_played_on_and_belongs_to_one_player() -> None:
    view = begun().view(0)
    assert view.text == "1hgfe1/2cba1/1A4/6/2BCD1/1EFGH1 s BRRRRBBB ???b???? 3"
    with pytest.raises(NotationError, match="not a playable position"):
        Board.from_position(view.text, "geister")
    with pytest.raises(NotationError, match="no view of the second player"):
        View.from_position(view.text, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no position"),
        ("b1a/3/A1B x BR RB 0", "no position"),
        ("b1a/3/A1B f BR RB", "no position"),
        ("b1a/3/A1B f BR RB 01", "no position"),
        ("b1a/3/A1B f BR RB 9999999999", "at most 1,000,000,000 plies old"),
        ("b1a/3/A2 f BR RB 0", "the ghost B is on no square, and 'R' says otherwise"),
        ("b1a/3/A1B f bR RB 0", "the ghost A stands on the board, and 'b' says otherwise"),
        ("b1a/3/A1A f BR RB 0", "the ghost A stands on two squares"),
        ("b1a/4/A1B f BR RB 0", "not equally long"),
        ("b1a//A1B f BR RB 0", "the row '' is written"),
        ("b1a/3/A0B1 f BR RB 0", "the row 'A0B1' is written"),
        ("bca/3/A1B f BR RB 0", "the ghost c stands on the board, and the colours RB leave it out"),
        ("b1a/3/A1B f BRBRBRBRB RB 0", "at most 8"),
        ("b1a/3/3/A1B f BR RB 0", "3 × 4, and 'geister-33a' has 3 × 3"),
        ("b1a/3/A1B f BB RB 0", "the first player has 1 good and 1 evil ghosts"),
        ("b1a/3/A2 f B RB 0", "the colours B do not fit"),
        ("b2/3/A2 f Br bR 4", "ended more than once"),
    ],
)
def test_a_position_that_cannot_be_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises((NotationError, ConfigurationError), match=words.replace("(", r"\(")):
        Board.from_position(text, "geister-33a")


@settings(max_examples=200, deadline=None)
@given(st.text("ABCDabcd?RBPbre/ 0123fs", max_size=40))
def test_any_text_is_a_position_or_refused(text: str) -> None:
    try:
        position = parse_position(text)
    except NotationError:
        return
    assert parse_position(position_text(position)) == position


@pytest.mark.parametrize(
    ("text", "end", "winner"),
    [
        ("b1a/3/2B s eR RB 9", "escape", 0),
        ("b2/3/A1B f BR bR 9", "good_captured", 0),
        ("2a/3/A1B f BR Br 9", "evil_captured", 1),
        ("b1a/3/A1B f BR RB 30", "total_limit", None),
    ],
)
def test_a_position_in_which_the_game_is_over_says_how(text: str, end: str, winner: int | None) -> None:
    board = Board.from_position(text, "geister-33a")
    assert board.outcome().end == end and board.outcome().winner == winner and board.text == text
    assert board.legal_actions == []


def test_ghosts_that_are_proven_evil_stay_so_in_the_text() -> None:
    board = Board("geister-43", "escape=forced", setups=("A", "A"))
    for move in ("b1a1", "c3d3", "a1a2", "d3d2", "a2a3", "d2d3", "c1c2"):
        board.push(move)
    assert board.view(1).text.split()[2:4] == ["P?", "RB"]
    again = Board.from_position(board.text, board.game)
    assert (
        again.look_through("geister-full", "planes", 1)[4] == board.look_through("geister-full", "planes", 1)[4]
    ).all()
    assert board.view(1).ghosts(0)[0].evil is True and board.view(1).ghosts(0)[1].evil is None


# ── Moves ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "move", "error", "words"),
    [
        ("b1a/3/A1B f BR RB 0", "a2a3", IllegalMoveError, "a2a3 is not legal: there is no ghost on a2"),
        ("b1a/3/A1B f BR RB 0", "a3a2", IllegalMoveError, "the ghost on a3 is your opponent's"),
        ("b1a/3/AB1 f BR RB 0", "a1b1", IllegalMoveError, "your own ghost stands on b1; it may go to a2"),
        (
            "B1a/3/A1b f BR RB 0",
            "a3n",
            IllegalMoveError,
            "an evil ghost cannot leave the board; it may go to b3, to a2",
        ),
        ("b1a/3/A1B f BR RB 0", "a1w", IllegalMoveError, "leaves from a3 or c3 only, over its corner"),
        ("b1a/3/A1B s BR RB 0", "c3n", IllegalMoveError, "leaves from c1 or a1 only, over its corner"),
        (
            "A1a/3/b1B f BR RB 0",
            "a3s",
            InvalidMoveError,
            "'a3s' is no move: a direction stands for a way off the board",
        ),
        ("b1a/3/A1B f BR RB 0", "a1b2", InvalidMoveError, "a ghost moves one square along a row or a column"),
        ("b1a/3/A1B f BR RB 0", "a1a9", InvalidMoveError, "a9 is no square of this board, which goes from a1 to c3"),
        ("b1a/3/A1B f BR RB 0", 99, InvalidMoveError, "a number from 0 to 35"),
        ("b1a/3/2B s eR RB 9", "c3c2", NotYourTurnError, "the game is over"),
    ],
)
def test_a_refused_move_is_explained_and_changes_nothing(text: str, move: Any, error: type, words: str) -> None:
    board = Board.from_position(text, "geister-33a")
    with pytest.raises(error, match=words):
        board.push(move)
    assert board.text == text and board.history == []


def test_escapes_that_are_forced_are_named() -> None:
    board = Board.from_position("A1a/3/b1B f BR RB 0", "geister-33a", "escape=forced")
    with pytest.raises(IllegalMoveError, match=r"c1c2 is not legal: escapes are forced, so a3n, a3w are all"):
        board.push("c1c2")
    with pytest.raises(IllegalMoveError, match=r"it may go off the board \(a3n\), off the board \(a3w\)"):
        board.push("a3a2")
    assert board.push("a3n").escaped
    assert board.ghosts(0)[0] == Ghost(0, 0, None, False, False, ESCAPED)


def test_a_move_tells_what_it_captured() -> None:
    board = begun()
    assert [each.captured for each in board.history[:2]] == [None, None]
    assert board.history[2].captured == Ghost(1, 3, None, False, False, CAPTURED)
    assert board.view(1).history == board.history, "captures are seen by both"
    assert board.pop() == "b3b4" and board.captured(1) == []


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def shown(view: Any) -> tuple[Any, ...]:
    """All that a view shows."""
    ghosts = [view.ghosts(player) for player in (0, 1)]
    planes = tuple(view.look_through(name, "planes", view.player).tobytes() for name in ("geister", "geister-full"))
    texts = (view.text, str(view), view.svg(), repr(view))
    return *texts, view.legal_moves, ghosts, view.captured(0), view.captured(1), view.history, planes


def exchanged(board: Any, viewer: int, seed: int) -> Any:
    """The same game with the colours of the ghosts that are hidden from the viewer dealt anew."""
    position = parse_position(board.text)
    known = list(position.known[1 - viewer])
    places = [place for place, code in enumerate(known) if code in "BR"]
    colours = [known[place] for place in places]
    random.Random(seed).shuffle(colours)
    for place, colour in zip(places, colours, strict=True):
        known[place] = colour
    both = [position.known[viewer], "".join(known)] if viewer == 0 else ["".join(known), position.known[viewer]]
    text = " ".join([*board.text.split()[:2], *both, str(position.plies)])
    return Board.from_position(text, board.game)


def differences(rounds: int) -> tuple[int, int]:
    """In how many games the colours were other ones, and in how many the view was."""
    changed = leaked = 0
    for seed in range(rounds):
        board = played("geister", RULES[seed % 3], seed, 10 + seed)
        for viewer in (0, 1):
            if board.is_over:
                continue
            plain = Board.from_position(board.text, board.game)  # its twin has no history either
            twin = exchanged(board, viewer, seed)
            changed += twin.text != plain.text
            leaked += shown(twin.view(viewer)) != shown(plain.view(viewer))
    return changed, leaked


def test_colours_that_are_hidden_change_nothing_a_view_shows() -> None:
    changed, leaked = differences(40)
    assert changed > 50 and leaked == 0


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(board: Any, player: int) -> View:
        """Return a view from which nothing has been erased."""
        return View(board.game, copy_of(board._record), player, list(board.history))

    monkeypatch.setattr(type(Board("geister", seed=1)), "view", leaky)
    assert differences(5)[1] > 5


def test_a_view_has_no_colours_in_its_record() -> None:
    board = begun()
    for player in (0, 1):
        assert int(board.view(player)._record.words[4 + 1 - player]) == 0
    assert Geister("geister").are_views(board.view(0)._record.bytes[None]).all()
