"""Puzzles: each has the answer that it claims, and a person can find it in a real browser."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from typing import Any

import pytest
from browser import violations
from conftest import HERE
from playwright.sync_api import Page, expect

from vauban.board import Board
from vauban.games.stratego.pieces import FLAG, LETTERS
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.stratego.moves import parse_square, square_text
from vauban.web.files import PAGE

sys.path.insert(0, str(HERE.parent / "scripts"))
import make_flag_puzzles as flags

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-puzzles")

PUZZLES: list[dict[str, Any]] = json.loads((PAGE / "puzzles.json").read_text(encoding="utf-8"))
FLAGS: list[dict[str, Any]] = json.loads((PAGE / "flags.json").read_text(encoding="utf-8"))


# ── Right ────────────────────────────────────────────────────────────────────────────────────────


def read_pieces(text: str) -> dict[str, tuple[str, bool]]:
    """Return pieces such as "9j1F 98i10u*" by square: the letter, and whether it has moved."""
    words = [re.fullmatch(r"\d+([a-z]\d+)([A-Za-z])(\*?)", word) for word in text.split()]
    return {word[1]: (word[2], bool(word[3])) for word in words if word is not None}


def board_of(puzzle: dict[str, Any]) -> Board:
    variant = VARIANTS[puzzle["game"]]
    placed = {
        parse_square(at, variant): (int(letter.islower()), LETTERS.index(letter.upper()))
        for at, (letter, _) in read_pieces(puzzle["pieces"]).items()
    }
    return Board.from_pieces(placed, puzzle["game"])


def texts(board: Board) -> list[str]:
    return [square_text(a, board.variant) + square_text(b, board.variant) for a, b in board.legal_moves]


def wins_by(board: Board, move: str, moves: int) -> bool:
    """Return whether red wins by this move within so many of its own, whatever blue does."""
    board.push(move)
    outcome = board.outcome()
    if outcome is not None:
        won = outcome.winner == 0
    else:
        won = moves > 1 and all(wins_after(board, reply, moves - 1) for reply in texts(board))
    board.pop()
    return won


def wins_after(board: Board, reply: str, moves: int) -> bool:
    board.push(reply)
    won = board.outcome() is None and any(wins_by(board, move, moves) for move in texts(board))
    board.pop()
    return won


def squares(told: dict[str, Any]) -> set[tuple[str, str]]:
    return {(at, letter) for at, (letter, _) in read_pieces(told["pieces"]).items()}


def follow(board: Board, task: dict[str, Any], moves: int) -> None:
    """Go through all that a puzzle foresees."""
    assert sorted(task["legal"].split()) == sorted(texts(board))
    assert squares(task) == standing(board)
    assert task["best"], "somebody who has come so far can win"
    for move, after in task["best"].items():
        board.push(move)
        assert squares(after) == standing(board)
        if "reply" not in after:
            outcome = board.outcome()
            assert outcome is not None and (outcome.winner, outcome.end) == (0, "flag")
        else:
            assert moves > 1
            board.push(after["reply"])
            follow(board, after["then"], moves - 1)
            board.pop()
        board.pop()


def standing(board: Board) -> set[tuple[str, str]]:
    return {(square_text(square, board.variant), piece.letter) for square, piece in board.pieces().items()}


def test_there_are_puzzles_of_three_lengths_and_none_twice() -> None:
    assert sorted({each["moves"] for each in PUZZLES}) == [2, 3, 4]
    assert len({json.dumps(each["pieces"]) for each in PUZZLES}) == len(PUZZLES) >= 20


@pytest.mark.parametrize("number", range(len(PUZZLES)))
def test_a_puzzle_goes_by_the_rules(number: int) -> None:
    puzzle = PUZZLES[number]
    follow(board_of(puzzle), puzzle, puzzle["moves"])


def how_long(number: int) -> list[pytest.MarkDecorator]:
    """Three moves are a matter of minutes, four one of hours: `follow` has to do for those."""
    return [] if PUZZLES[number]["moves"] == 2 else [pytest.mark.slow]


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=how_long(n)) for n, each in enumerate(PUZZLES) if each["moves"] < 4]
)
def test_one_move_alone_wins_in_time(number: int) -> None:
    puzzle = PUZZLES[number]
    board = board_of(puzzle)
    assert [move for move in texts(board) if wins_by(board, move, puzzle["moves"])] == list(puzzle["best"])


@pytest.mark.parametrize("number", range(len(FLAGS)))
def test_the_evidence_of_a_flag_speaks_for_its_square_alone(number: int) -> None:
    """Counted again, with other chance and fewer setups, it does so as clearly as is claimed."""
    puzzle = FLAGS[number]
    variant, answer = VARIANTS[puzzle["game"]], puzzle["answer"]
    rows = flags.drawn(puzzle["seen"], puzzle["left"], variant, 200, seed=99)
    last = variant.squares - 1
    shares = {
        square_text(last - place, variant): float((rows[:, place] == 1 + FLAG).mean())
        for place, sign in enumerate(puzzle["seen"])
        if sign == flags.STILL
    }
    assert shares.pop(answer) > max(shares.values()) * 2, "half as clear would be chance"
    others = sorted(puzzle["chances"].values())[:-1]
    assert puzzle["chances"][answer] >= flags.CLEAR * max(others, default=0)
    assert puzzle["truth"][answer] == "flag"
    assert dict(Counter(puzzle["truth"].values())) == puzzle["left"]


def test_a_flag_puzzle_shows_no_rank_that_red_has_not_seen() -> None:
    assert len(FLAGS) >= 12 and {each["game"] for each in FLAGS} == {"classic", "barrage"}
    for puzzle in FLAGS:
        pieces = read_pieces(puzzle["pieces"])
        hidden = {at for at, (letter, _) in pieces.items() if letter == "u"}
        assert hidden == set(puzzle["truth"]) and puzzle["answer"] in hidden
        assert not pieces[puzzle["answer"]][1], "it has moved"
        still = sum(not pieces[at][1] for at in hidden)
        assert still == puzzle["seen"].count(flags.STILL) >= 3


# ── On the page ──────────────────────────────────────────────────────────────────────────────────


def press(page: Page, move: str) -> None:
    source, target = square_pair(move)
    page.locator(f".puzzle [data-at={source}]").click()
    page.locator(f".puzzle [data-at={target}]").click()


def square_pair(move: str) -> tuple[str, str]:
    cut = next(at for at in range(1, len(move)) if move[at].isalpha())
    return move[:cut], move[cut:]


def test_a_puzzle_is_solved_by_clicks_and_remembered(visit):
    visitor = visit()
    page = visitor.open("#/puzzles").page
    task = PUZZLES[0]
    visitor.see(".puzzle .lead", has_text="capture the flag in 2 moves")
    visitor.picture("puzzle-light")
    wrong = next(move for move in task["legal"].split() if move not in task["best"])
    press(page, wrong)
    visitor.see(".puzzle .lead", has_text="does not force it")
    while "best" in task:
        move, after = next(iter(task["best"].items()))
        press(page, move)
        task = after.get("then", {})
        visitor.see(".puzzle .lead", has_text="Go on." if task else "Solved.")
    expect(page.get_by_role("link", name="Puzzle 1, solved")).to_be_visible()
    page.get_by_role("link", name="Next puzzle").click()
    visitor.see(".puzzle .quiet", has_text="Puzzle 2 of")
    page.reload()
    expect(page.get_by_role("link", name="Puzzle 1, solved")).to_be_visible()
    # Who asks for the puzzles is shown the first that is still open.
    visitor.open("#/puzzles")
    visitor.see(".puzzle .quiet", has_text="Puzzle 2 of")


def test_a_puzzle_is_solved_by_keyboard_and_with_help_it_does_not_count(visit):
    visitor = visit(reduced_motion="reduce")
    page = visitor.open("#/puzzles/2").page
    task = PUZZLES[1]
    while "best" in task:
        visitor.button("Show the move").click()
        expect(page.locator(".puzzle .arrow")).to_have_count(1)
        move, after = next(iter(task["best"].items()))
        for square in square_pair(move):
            page.locator(f".puzzle [data-at={square}]").focus()
            page.keyboard.press("Enter")
        task = after.get("then", {})
        visitor.see(".puzzle .lead", has_text="Go on." if task else "Once more without help?")
    expect(page.get_by_role("link", name="Puzzle 2, solved")).to_have_count(0)
    visitor.button("From the start").click()
    visitor.see(".puzzle .lead", has_text="Your turn")


def test_a_puzzle_that_is_not_there_leads_to_one_that_is(visit):
    visitor = visit()
    visitor.open("#/puzzles/999")
    visitor.see(".puzzle .quiet", has_text="Puzzle 1 of")


def test_the_flag_is_found_and_nothing_hidden_is_on_the_page_before(visit, axe):
    visitor = visit(reduced_motion="reduce")
    page = visitor.open("#/puzzles").page
    page.get_by_role("link", name="Find the flag").click()
    visitor.see(".puzzle .lead", has_text="Where is blue's flag?")
    puzzle = FLAGS[0]
    hidden = [page.locator(f".puzzle [data-at={at}]") for at in puzzle["truth"]]
    for cell in hidden:
        assert re.search(r", enemy piece\b", cell.get_attribute("aria-label") or "")
    # Hidden pieces have no type in their class either.
    assert page.locator(".puzzle .piece.blue.hidden").count() == len(hidden)
    assert page.locator(".puzzle .piece.blue.flag").count() == 0
    visitor.picture("flag-puzzle")
    wrong = next(at for at in puzzle["chances"] if at != puzzle["answer"])
    page.locator(f".puzzle [data-at={wrong}]").click()
    visitor.see(".puzzle .lead", has_text=f"Not on {wrong}")
    page.locator(f".puzzle [data-at={puzzle['answer']}]").focus()
    page.keyboard.press("Enter")
    visitor.see(".puzzle .lead", has_text=f"flag is on {puzzle['answer']}")
    visitor.see(".why li", has_text="have the flag here")
    assert page.locator(".puzzle .piece.blue.flag").count() == 1
    assert violations(page, axe) == []
    visitor.picture("flag-puzzle-found", whole=True)
    expect(page.get_by_role("link", name="Puzzle 1, solved")).to_be_visible()
    page.get_by_role("link", name="Next puzzle").click()
    visitor.see(".puzzle .quiet", has_text="Puzzle 2 of")
    visitor.button("Show the flag").click()
    visitor.see(".puzzle .lead", has_text="flag is on")
    expect(page.get_by_role("link", name="Puzzle 2, solved")).to_have_count(0)
