"""Finds puzzles in recorded games: src/vauban/web/page/puzzles.json.

    vauban match prober cadet --game barrage --setups own --games 300 --seed 1 --save games.txt
    python scripts/make_puzzles.py games.txt
    vauban match cadet prober --game medium --setups uniform --games 300 --seed 7 --save medium.txt
    python scripts/make_puzzles.py medium.txt --add --each 4

A puzzle is a position from which Red wins by force in two to four moves, with every rank known to both, and by one
first move only. It is judged without what was played before: no move is barred as a repetition at first. Of each
length the same number is kept, those with the most moves to choose from, one from a game.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.progress import track

from vauban.board import Board
from vauban.games.stratego.pieces import FLAG
from vauban.notation.records import read_games
from vauban.notation.stratego.moves import Move, square_text

FILE = Path("src/vauban/web/page/puzzles.json")
RED = 0
LENGTHS = (2, 3, 4)
"""Numbers of Red's moves."""
EACH = 8
"""Puzzles of each length, if not asked for otherwise."""


class Solver:
    """Finds forced wins on a board, which is left as it was."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._refutations: dict[int, Move] = {}
        """The defence that worked last, by the moves left: it is tried first."""

    def wins(self, moves: int) -> bool:
        """Return whether Red, on turn, wins within `moves` of its moves."""
        if moves == 1:
            # The last move captures the Flag, and need not be made to see it.
            return any(self._is_flag(move.target) for move in self.board.legal_moves)
        return any(True for _ in self.winning(moves))

    def winning(self, moves: int) -> Iterator[Move]:
        """Yield Red's moves that do so."""
        for move in self.board.legal_moves:
            if self._forces(move, moves):
                yield move

    def _forces(self, move: Move, moves: int) -> bool:
        if moves == 1:
            return self._is_flag(move.target)
        self.board.push(move)
        try:
            outcome = self.board.outcome()
            if outcome is not None:
                return outcome.winner == RED
            return self._defence(moves - 1) is None
        finally:
            self.board.pop()

    def _is_flag(self, square: int) -> bool:
        piece = self.board.piece_at(square)
        return piece is not None and piece.kind == FLAG

    def _defence(self, moves: int) -> Move | None:
        """Return a move of Blue, on turn, after which Red does not win within `moves` moves."""
        first = self._refutations.get(moves)
        for move in sorted(self.board.legal_moves, key=lambda each: each != first):
            if not self._loses(move, moves):
                self._refutations[moves] = move
                return move
        return None

    def _loses(self, move: Move, moves: int) -> bool:
        self.board.push(move)
        try:
            return not self.board.is_over and self.wins(moves)
        finally:
            self.board.pop()

    def reply(self, moves: int) -> Move:
        """Return the best move of Blue, on turn and lost within `moves` moves: the one that holds out longest."""
        lost = [move for move in self.board.legal_moves if self._loses(move, moves)]
        return next((move for move in lost if moves == 1 or not self._loses(move, moves - 1)), lost[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", type=Path, help="files with recorded games")
    parser.add_argument("--each", type=int, default=EACH, help=f"puzzles of each length ({EACH})")
    parser.add_argument("--add", action="store_true", help="behind those that are there, which keep their numbers")
    args = parser.parse_args()
    found: dict[int, list[tuple[int, dict[str, Any]]]] = {moves: [] for moves in LENGTHS}
    games = [game for file in args.games for game in read_games(file.read_text(encoding="utf-8"))]
    for game in track(games, "looking for puzzles"):
        board = game.board
        outcome = board.outcome() if board else None
        if board is None or outcome is None or outcome.winner != RED or outcome.end != "flag":
            continue
        for moves in reversed(LENGTHS):
            start = position_before(board, 2 * moves - 1)
            if start is None:
                continue
            solver = Solver(start)
            if not solver.wins(moves - 1) and len(list(solver.winning(moves))) == 1:
                found[moves].append((len(start.legal_moves), puzzle(solver, moves)))
                break
    kept = json.loads(FILE.read_text(encoding="utf-8")) if args.add else []
    for moves, puzzles in found.items():
        print(f"in {moves} moves: {len(puzzles)} found")
        kept += [each for _, each in sorted(puzzles, key=lambda each: -each[0])[: args.each]]
    FILE.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{FILE}: {len(kept)} puzzles, {FILE.stat().st_size:,} bytes")


def position_before(end: Board, plies: int) -> Board | None:
    """Return the position `plies` plies before the end of a game, as one without a past."""
    moves = [played.move for played in end.history[-plies:]]
    if len(moves) < plies:
        return None
    for _ in moves:
        end.pop()
    placed = {square: (piece.player, piece.kind or 0) for square, piece in end.pieces().items()}
    for move in moves:
        end.push(move)
    return Board.from_pieces(placed, end.game)


def puzzle(solver: Solver, moves: int) -> dict[str, Any]:
    """Return a puzzle as the page reads it."""
    variant = solver.board.variant
    lakes = [square_text(square, variant) for square in sorted(variant.lakes)]
    shape = {"columns": variant.columns, "rows": variant.rows, "lakes": lakes}
    return {"game": variant.name, "moves": moves, "shape": shape, **task(solver, moves)}


def task(solver: Solver, moves: int) -> dict[str, Any]:
    """Return a task with Red on turn: the pieces, all legal moves, and what follows the moves that win in time."""
    board = solver.board
    return {
        "pieces": pieces(board),
        "legal": " ".join(text(board, move) for move in board.legal_moves),
        "best": {text(board, move): answer(solver, move, moves - 1) for move in list(solver.winning(moves))},
    }


def answer(solver: Solver, move: Move, moves: int) -> dict[str, Any]:
    """Return the pieces after a move of Red; and unless it has won, Blue's reply and the next task."""
    board = solver.board
    board.push(move)
    told: dict[str, Any] = {"pieces": pieces(board)}
    if not board.is_over:
        reply = solver.reply(moves)
        told["reply"] = text(board, reply)
        board.push(reply)
        told["then"] = task(solver, moves)
        board.pop()
    board.pop()
    return told


def pieces(board: Board) -> str:
    """Return all pieces, such as "9j1F 98i10f": a number that stays with each, its square, red's capital letter."""
    return " ".join(
        f"{piece.identity}{square_text(square, board.variant)}{piece.letter}"
        for square, piece in board.pieces().items()
    )


def text(board: Board, move: Move) -> str:
    """Return a move as "a4a5"."""
    return square_text(move.source, board.variant) + square_text(move.target, board.variant)


if __name__ == "__main__":
    main()
