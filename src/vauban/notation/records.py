"""Records of games: texts that a board has replayed, and boards written as texts, for any game (docs/notation.md).

    [game] = read_games(text)
    game.board.outcome(), game.headers["Red"], game.comments
    write_game(game.board, game.headers, game.comments)    # the text again

A family with texts of its own has them in `vauban.notation.<family>.records`; every other game is written with the
headers Game (what makes it again), the setups or the Seed that it began from, and its actions as text. A family that
tells its games by headers of its own has `game_of(headers)`, `headers_of(game)` and `HEADERS` in
`vauban.notation.<family>.headers`; its header Game is then the family's name. A record is refused where it contradicts
the board, a result that the moves do not lead to for example.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vauban.board import Board
from vauban.errors import NotationError, VaubanError
from vauban.families import family_part
from vauban.games import base
from vauban.games.base import Game, Outcome, nearest
from vauban.notation.game import OLDEST, GameText, WrittenMove, form_of, game_text, parse_games

ENDS_UNSEEN: dict[str, tuple[str, ...]] = {
    "resigned": ("1-0", "0-1"),
    "agreed": ("1/2-1/2",),
    "time": ("1-0", "0-1", "1/2-1/2"),
    "illegal": ("1-0", "0-1"),
    "absent": ("1-0", "0-1"),
    "unfinished": ("*",),
}
"""Ends that no board shows, so that the record is believed, and the results that go with them."""

DECIDED = ("1-0", "0-1", "1/2-1/2")


@dataclass
class RecordedGame:
    """A game that was read from a record."""

    headers: dict[str, str]
    """As they stand in the record, unknown ones too."""
    game: Game
    """The game that was played, with its rules."""
    board: Any
    """The `Board` at the end of the game, with all moves in its history; None if the beginning is not known, so that
    nothing can be judged."""
    moves: list[Any]
    """The moves of the record, as they are written."""
    comments: dict[int, str]
    """By the number of moves made on the board: 1 is the comment after the first move, 0 the one before it."""
    result: str
    """"1-0", "0-1", "1/2-1/2" or "*"."""
    end: str | None
    """Its end, as in the header End; None if nothing is known of it."""

    @property
    def outcome(self) -> Outcome | None:
        """The result as one value, also of a game that was resigned, agreed or lost by time; None if there is none."""
        if self.result not in DECIDED:
            return None
        shown = None if self.board is None else self.board.outcome()
        if shown is not None:
            return Outcome(shown.winner, self.end or shown.end, shown.utility)
        winner = {"1-0": 0, "0-1": 1}.get(self.result)
        return Outcome(winner, self.end or "unfinished", {0: 1.0, 1: -1.0}.get(winner, 0.0))  # type: ignore[arg-type]


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


def read_games(text: str) -> list[RecordedGame]:
    """Read and replay all games of a text. The message of an error names the game and the move."""
    games = []
    for number, game in enumerate(parse_games(text), 1):
        try:
            games.append(replay(game))
        except VaubanError as error:
            raise NotationError(f"game {number}: {error}") from error
    return games


def replay(game: GameText) -> RecordedGame:
    """Replay one game."""
    name = game.headers.get("Game", OLDEST)
    part = family_part("notation", name, "records")
    if part is not None:
        found: RecordedGame = part.replay(game)
        return found
    board = _begin(name, game.headers)
    if form_of(game.headers).players is not None and game.first not in (None, board.turn):
        dots = ("1.", "1...")
        raise NotationError(
            f"{board.game.players[board.turn]} begins, so the first move number is {dots[board.turn]}, "
            f"not {dots[1 - board.turn]}"
        )
    comments = {} if game.comment is None else {0: game.comment}
    for number, written in enumerate(game.moves, 1):
        try:
            board.push(written.text)
        except VaubanError as error:
            raise NotationError(f"move {number}. {written.text}: {error}") from error
        if written.comment is not None:
            comments[number] = written.comment
    result, end = settle(game.result, game.headers.get("End"), board.outcome(), _results_of_end(board.game))
    moves = [written.text for written in game.moves]
    return RecordedGame(dict(game.headers), board.game, board, moves, comments, result, end)


def _begin(name: str, headers: Mapping[str, str]) -> Any:
    """Return the board of a record before its first move."""
    game = _game_of(name, headers)
    if "Position" in headers:
        return Board.from_position(headers["Position"], game, seed=_parse_seed(headers))
    texts = [headers[header] for header in _setup_headers(game) if header in headers]
    if len(texts) == 2:
        return Board.from_setups(texts[0], texts[1], game, seed=_parse_seed(headers))
    if "Seed" not in headers:
        wanted = " and ".join(_setup_headers(game)) or "Seed"
        raise NotationError(f"the header {wanted} is missing: how the game began is not known without it")
    return Board(game, seed=_parse_seed(headers))


def _game_of(name: str, headers: Mapping[str, str]) -> Game:
    """Return the game that the header Game makes again, or that a family's own headers tell."""
    part = family_part("notation", name, "headers")
    if part is not None:
        told: Game = part.game_of(headers)
        return told
    try:
        spec = json.loads(name) if name.startswith("{") else name
    except ValueError as error:
        raise NotationError(f"the header Game begins like JSON, and is none: {error}") from error
    game = base.from_spec(spec)
    if family_part("notation", game.family, "headers") is not None:
        raise NotationError(f'a game of {game.name!r} is written with the header [Game "{game.family}"]')
    return game


def _setup_headers(game: Game) -> list[str]:
    """Return the names of the headers with the two setups; none for a game without setups."""
    return [] if game.setups is None else [f"{player.title()}Setup" for player in game.players]


def _parse_seed(headers: Mapping[str, str]) -> int | None:
    text = headers.get("Seed")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**64:
        raise NotationError(f"the Seed {text!r} is no whole number from 0 to 2**64 - 1")
    return int(text)


def _results_of_end(game: Game) -> dict[str, tuple[str, ...]]:
    """Return every value of the header End, and the results that may go with it."""
    return dict.fromkeys(game.ends[1:], DECIDED) | ENDS_UNSEEN


def settle(
    result: str | None,
    end: str | None,
    outcome: Outcome | None,
    results_of_end: Mapping[str, tuple[str, ...]],
    judged: bool = True,
) -> tuple[str, str | None]:
    """Return the result and the end, from what is written and what the board shows; refuse a contradiction.

    results_of_end: every End that the game knows, and the results that go with it.
    judged: False where no board could be played, so that the record is believed.
    """
    if end is not None:
        if end not in results_of_end:
            raise NotationError(f"there is no End {end!r}: {nearest(end, list(results_of_end))}")
        if result is not None and result not in results_of_end[end]:
            raise NotationError(
                f"the Result {result!r} does not go with the End {end!r}, but {' or '.join(results_of_end[end])}"
            )
    if end in ENDS_UNSEEN or not judged:
        if result is None and end is not None and end != "unfinished" and len(results_of_end[end]) > 1:
            raise NotationError(f"the End is {end!r}, and no Result says who won")
        if result is None:
            result = "*" if end is None else results_of_end[end][0]
        return result, end or ("unfinished" if result == "*" else None)
    if outcome is None:
        if end is not None:
            raise NotationError(f"the End is {end!r}, and on the board the game is not over after the last move")
        if result not in (None, "*"):
            raise NotationError(
                f"the Result is {result!r}, and on the board the game is not over after the last move: "
                f"an End must say why ({', '.join(end for end in ENDS_UNSEEN if end != 'unfinished')})"
            )
        return "*", "unfinished"
    shown = result_of(outcome)
    if result not in (None, shown) or end not in (None, outcome.end):
        written = " ".join(word for word in (result, end) if word is not None)
        raise NotationError(f"the record says {written}, and on the board the game ended {shown} ({outcome.end})")
    return shown, outcome.end


def result_of(outcome: Outcome) -> str:
    """Return an outcome as a result: "1-0", "0-1" or "1/2-1/2"."""
    return "1/2-1/2" if outcome.winner is None else ("1-0", "0-1")[outcome.winner]


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────


def write_game(
    board: Board, headers: Mapping[str, str] | None = None, comments: Mapping[int, str] | None = None
) -> str:
    """Write a board's whole game as a record; `read_games` reads it back.

    Headers such as the players' names and Date are yours; those that tell the game and how it began come from the
    board. Result and End are yours where the board cannot show them: `{"Result": "1-0", "End": "resigned"}`.
    Comments are by the number of moves made, 0 for the one before the first.
    """
    part = family_part("notation", board.game.family, "records")
    if part is not None:
        text: str = part.write_game(board, headers, comments)
        return text
    given = dict(headers or {})
    remarks = comments_of(board, comments)
    result, end = settle(given.get("Result"), given.get("End"), board.outcome(), _results_of_end(board.game))
    beginning = _beginning(board)
    filled = {"Game": beginning.pop("Game")}
    part = family_part("notation", board.game.family, "headers")
    told = () if part is None else part.HEADERS
    taken = {"Result", "End", "Seed", "Position", *_setup_headers(board.game), *told, *filled}
    filled |= {name: value for name, value in given.items() if name not in taken}
    filled |= beginning | {"Result": result, "End": end or "unfinished"}
    moves = [WrittenMove(played.text, remarks.get(number)) for number, played in enumerate(board.history, 1)]
    first = board.history[0].player if board.history and form_of(filled).players is not None else None
    return game_text(GameText(filled, moves, result, remarks.get(0), first))


def _beginning(board: Board) -> dict[str, str]:
    """Return the headers that make a board's game begin again."""
    game = board.game
    part = family_part("notation", game.family, "headers")
    headers: dict[str, str] = _spec_header(game) if part is None else {"Game": game.family, **part.headers_of(game)}
    if board.setups is not None and game.setups is not None:
        headers |= zip(_setup_headers(game), map(game.setups.text, board.setups), strict=True)
    elif not board.drawn:
        headers["Position"] = board.start_text
    if game.has_chance or (board.drawn and board.setups is None):
        headers["Seed"] = str(board.seed)
    return headers


def _spec_header(game: Game) -> dict[str, str]:
    """Return the header that makes a game again, of a family without headers of its own."""
    spec = game.spec()
    plain = spec["rules"] is None and isinstance(spec["game"], str)
    return {"Game": spec["game"] if plain else json.dumps(spec, ensure_ascii=False)}


def comments_of(board: Board, comments: Mapping[int, str] | None) -> dict[int, str]:
    """Return the comments, once each of them belongs to a move of the board."""
    remarks = dict(comments or {})
    for place in remarks:
        if not 0 <= place <= len(board.history):
            raise NotationError(f"there is a comment after move {place}, and the game has {len(board.history)} moves")
    return remarks
