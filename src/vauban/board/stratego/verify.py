"""Replays of recorded cases and games, compared at every ply with what the rules say.

Reads files of hand-written repetition cases and of recorded chase games (.jsonl), and whole games
with legal moves and observations (.json with an .npz of the same name beside it).
docs/recorded-cases.md describes the formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from vauban.board.stratego import Board
from vauban.errors import NotationError, VaubanError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import PLAYERS, TYPES, type_of
from vauban.games.stratego.setups import parse_setup, start_from_setups
from vauban.games.stratego.variants import find_variant
from vauban.notation.stratego.moves import Move


@dataclass
class Report:
    """Numbers of what agreed, and the first disagreement."""

    cases: int = 0
    plies: int = 0
    observations: int = 0
    disagree: int = 0
    first: str | None = None
    """The first disagreement, for a person to read."""
    files: list[str] = field(default_factory=list)

    def miss(self, where: str, what: str, board: Board | None = None) -> None:
        """Count a disagreement and keep the first."""
        self.disagree += 1
        if self.first is None:
            shown = "" if board is None else f"\n\n{board}\n\n{board.text}"
            self.first = f"{where}: {what}{shown}"

    def compare(self, where: str, what: str, ours: Any, recorded: Any, board: Board) -> None:
        """Count a disagreement if the two differ."""
        if ours != recorded:
            self.miss(where, f"{what}: ours {ours}, recorded {recorded}", board)


def verify(paths: Iterable[Path], tick: Callable[[str], None] = lambda _: None) -> Report:
    """Replay all files; `tick` is called with the name of each."""
    report = Report()
    for path in paths:
        report.files.append(str(path))
        cases = report.cases
        try:
            _verify_file(path, report, tick)
        except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError, BadZipFile) as error:
            raise NotationError(f"{path}: cannot be read: {error}") from error
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise NotationError(
                f"{path}: not in a format that `vauban rules` knows ({type(error).__name__}: {error})"
            ) from error
        if report.cases == cases:
            raise NotationError(f"{path}: holds no cases and no games")
    return report


def _verify_file(path: Path, report: Report, tick: Callable[[str], None]) -> None:
    if path.suffix == ".jsonl":
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                case = json.loads(line)
                where = f"{path.name}, line {number} ({case['id']})"
                tick(where)
                if "expect" in case:
                    _verify_case(case, where, report)
                else:
                    _verify_chase_game(case, where, report)
    elif path.suffix == ".json":
        _verify_games(path, report, tick)
    else:
        raise NotationError(f"{path}: `vauban rules` reads .jsonl cases, and .json games with their .npz beside them")


def _verify_case(case: dict[str, Any], where: str, report: Report) -> None:
    """Replay a hand-written case: moves to play, then the moves that must be legal or barred, and whether the game is
    over.
    """
    report.cases += 1
    pieces = {
        square: (player, type_of(letter))
        for player, side in enumerate(("red", "blue"))
        for square, letter in case[side]
    }
    board = Board.from_pieces(pieces, case["board"], case["rules"])
    if not _play_all(board, case["moves"], where, report):
        return
    report.compare(where, "side to move", PLAYERS[board.turn], case["to_move"], board)
    legal = [list(move) for move in board.legal_moves]
    report.compare(where, "legal moves", legal, sorted(case["legal"]), board)
    for rule, expected_moves in case["barred"].items():
        barred = [list(move) for move in board.barred_moves(rule)]
        report.compare(where, f"moves barred by {rule}", barred, sorted(expected_moves), board)
    for expected in case["expect"]:
        move = Move(*expected["move"])
        text = board.move_text(move)
        report.compare(where, f"{text} legal", move in board.legal_moves, expected["legal"], board)
        if expected["reason"] is not None:
            bar = board.why_barred(move)
            report.compare(where, f"{text} barred by", bar.rule if bar else None, expected["reason"], board)
    _compare_end(board, case["winner"], case["end"], where, report)


def _verify_chase_game(case: dict[str, Any], where: str, report: Report) -> None:
    """Replay a recorded game: at every ply, compare all moves that the chase rule bars."""
    report.cases += 1
    # Some of these games were played with a part of the army that they name.
    variant = find_variant(case["army"])
    red, blue = (parse_setup(case[side], variant, whole=False) for side in PLAYERS)
    start = start_from_setups(red, blue, variant)
    pieces = {square: divmod(int(code) - 1, len(TYPES)) for square, code in enumerate(start) if code}
    board = Board.from_pieces(pieces, variant, case["rules"])
    flags = {flag["ply"]: sorted(flag["barred"]) for flag in case["flags"]}
    for ply in range(len(case["moves"]) + 1):
        barred = [list(move) for move in board.barred_moves("chase")]
        report.compare(f"{where}, ply {ply}", "moves barred by chase", barred, flags.get(ply, []), board)
        if ply < len(case["moves"]) and not _play_all(board, [case["moves"][ply]], where, report):
            return
    last = Move(*case["barred_move"])
    bar = board.why_barred(last)
    report.compare(where, f"{board.move_text(last)} barred by", bar.rule if bar else None, "chase", board)


def _verify_games(path: Path, report: Report, tick: Callable[[str], None]) -> None:
    """Replay whole games: at every ply compare the legal moves, at some the observation, and the end."""
    from vauban.sim.simulator import Simulator

    table = json.loads(path.read_text(encoding="utf-8"))
    beside = path.with_suffix(".npz")
    if not beside.is_file():
        raise NotationError(f"{path}: the recorded moves should be beside it in {beside.name}")
    arrays = dict(np.load(beside))
    game = Stratego(table["variant"], table["rules"])
    simulator = Simulator(game, 1, seed=0, restart=False, threads=1)
    legal_at = np.concatenate([[0], np.cumsum(arrays["legal_count"].astype(np.int64))])
    seen_at = np.concatenate([[0], np.cumsum(arrays["obs_count"].astype(np.int64))])
    seen = {(int(row), int(ply)): index for index, (row, ply) in enumerate(arrays["obs_at"])}
    squares = game.variant.squares
    ply_index = 0
    for number, recorded in enumerate(table["games"]):
        report.cases += 1
        where = f"{path.name}, game {number}"
        tick(where)
        pieces = {
            square: (owner, kind)
            for square, (kind, owner) in enumerate(zip(recorded["start_types"], recorded["start_owner"], strict=True))
            if owner >= 0
        }
        board = Board.from_pieces(pieces, game.variant, game.rules)
        for ply in range(recorded["plies"]):
            report.plies += 1
            codes = arrays["legal"][legal_at[ply_index] : legal_at[ply_index + 1]]
            legal = [[int(code) // 100, int(code) % 100] for code in codes]
            ours = [list(move) for move in board.legal_moves]
            report.compare(f"{where}, ply {ply}", "legal moves", ours, legal, board)
            if (number, ply) in seen:
                report.observations += 1
                index = seen[number, ply]
                part = slice(seen_at[index], seen_at[index + 1])
                wanted = np.zeros(simulator.observation_shape("ataraxos")[0] * squares, np.float32)
                wanted[arrays["obs_index"][part]] = arrays["obs_value"][part]
                simulator.restore(board.snapshot())
                found = simulator.observe("ataraxos").numpy().reshape(-1)
                _compare_observation(game, found, wanted, f"{where}, ply {ply}", report, board)
            code = int(arrays["moves"][ply_index])
            ply_index += 1
            try:
                board.push((code // 100, code % 100))
            except VaubanError as error:
                report.miss(f"{where}, ply {ply}", f"the recorded move is refused: {error}", board)
                ply_index += recorded["plies"] - ply - 1
                break
        else:
            end = None if recorded["end"] == "unfinished" else recorded["end"]
            _compare_end(board, recorded["winner"], end, where, report)
            report.compare(where, "plies since the last battle", board.battleless, recorded["battleless"], board)


def _compare_observation(game: Stratego, found: Any, wanted: Any, where: str, report: Report, board: Board) -> None:
    """Compare every bit of an observation; name the first channel and square that differ."""
    from vauban.observe.base import find

    differ = np.flatnonzero(found.view(np.uint32) != wanted.view(np.uint32))
    # Zero may carry a sign; it is the same number.
    differ = differ[(found[differ] != wanted[differ])]
    if len(differ):
        channel, square = divmod(int(differ[0]), game.variant.squares)
        name = find(game, "ataraxos").channel_names(game)[channel]
        report.miss(
            where,
            f"observation, channel {channel} ({name}), the mover's square {square}: "
            f"ours {found[differ[0]]!r}, recorded {wanted[differ[0]]!r} ({len(differ)} numbers differ)",
            board,
        )


def _play_all(board: Board, moves: list[list[int]], where: str, report: Report) -> bool:
    for source, target in moves:
        report.plies += 1
        try:
            board.push((source, target))
        except VaubanError as error:
            report.miss(f"{where}, ply {board.plies}", f"the recorded move is refused: {error}", board)
            return False
    return True


def _compare_end(board: Board, winner: str | None, end: str | None, where: str, report: Report) -> None:
    outcome = board.outcome()
    ours = (None, None)
    if outcome is not None:
        ours = ("draw" if outcome.winner is None else PLAYERS[outcome.winner], outcome.end)  # type: ignore[assignment]
    report.compare(where, "winner and end", ours, (winner, end), board)
