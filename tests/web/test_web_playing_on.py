"""Playing on from a position of a finished game, against the server and without it."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_server import Server

from vauban.agents.stratego.belief import PriorBelief
from vauban.board import Board
from vauban.games.stratego.pieces import TYPES
from vauban.notation.records import read_games, write_game
from vauban.web.commitment import verify
from vauban.web.stratego.playing_on import setups_with
from vauban.web.table import PERSON, Sitter, Table, TableError, new_table


@pytest.fixture(scope="module")
def server():
    found = Server()
    yield found
    found.close()


def played(variant: str, seed: int, plies: int) -> Board:
    """A game at random that has gone on for so many plies, or is over."""
    board, rng = Board.random(variant, seed), random.Random(seed)
    while not board.is_over and len(board.history) < plies:
        board.push(rng.choice(list(board.legal_moves)))
    return board


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["barrage", "medium", "fives"]), st.integers(0, 10**6), st.integers(0, 1))
def test_whatever_is_drawn_agrees_with_all_that_the_player_has_seen(variant: str, seed: int, player: int) -> None:
    board = played(variant, seed, 4 + seed % 60)
    if board.is_over:
        board.pop()
    hidden = PriorBelief(variant).sample(board.view(player), seed)
    red, blue = setups_with(board, hidden)
    again = Board.from_setups(red, blue, variant)
    for move in board.history:
        again.push(move.move)
    assert again.view(player).text == board.view(player).text
    assert {square: again.pieces()[square].kind for square in hidden} == hidden


def test_a_game_played_on_has_the_moves_of_the_other_and_takes_none_of_them_back() -> None:
    board = played("barrage", 3, 20)
    made = new_table(
        "barrage", "level", (PERSON, Sitter("machine", "M", "m", "random")), played_on={"ply": 20, "pieces": "true"}
    )
    table = Table.made(made)
    for player, setup in enumerate(setups_with(board, {})):
        table.give_setup(("red", "blue")[player], setup)
    for each in board.history:
        table.move(("red", "blue")[table.turn], "".join(map(board.variant.square_name, each.move)))
    assert table.board is not None and table.board.text == board.text
    with pytest.raises(TableError, match="no move of yours"):
        table.take_back("red")
    [move, *_] = table.board.legal_moves
    table.move("red", "".join(map(board.variant.square_name, move)))
    table.take_back("red")
    assert table.plies == 20
    assert Table.replayed(table.events).played_on == {"ply": 20, "pieces": "true"}
    table.resign("red")
    [game] = read_games(table.record())
    assert game.headers["PlayedOn"] == "from ply 20 of another game"


def test_nothing_is_left_to_play_where_a_game_is_over() -> None:
    board = played("fives", 1, 1000)
    with pytest.raises(TableError, match="nothing is left to play"):
        setups_with(board, {})


def test_a_record_that_begins_in_the_middle_cannot_be_played_on() -> None:
    middle = Board.from_position(played("fives", 1, 12).position(), "fives")
    with pytest.raises(TableError, match="does not begin at the start"):
        setups_with(middle, {})


@pytest.mark.parametrize("pieces", ["true", "drawn"])
def test_a_finished_game_is_played_on_against_a_level(server, pieces) -> None:
    board = played("barrage", 11, 24)
    other = server.post("/api/import", text=write_game(board, {}))
    secret = other["seats"]["watch"]
    path = f"/api/games/{other['game']}/play-on"
    made = server.post(path, secret=secret, ply=17, side="blue", level="cadet", pieces=pieces)
    assert set(made["seats"]) == {"blue"}
    before = board.copy()
    while len(before.history) > 17:
        before.pop()
    with server.sit(made["game"], "blue", made["seats"]["blue"]) as seat:
        assert seat.sight["played_on"] == {"ply": 17, "pieces": pieces}
        assert seat.sight["kind"] == "level" and seat.sight["over"] is None
        own = board.view(1).variant.square_name
        assert [(move["from"], move["to"]) for move in seat.moves[:17]] == [
            (own(each.move.source), own(each.move.target)) for each in before.history
        ]
        hidden = [piece for piece in seat.sight["pieces"] if piece["side"] == "red" and piece["type"] is None]
        assert len(hidden) >= len(before.view(1).hidden()) - 1  # the machine may have shown one by now
        promise = seat.sight["commitment"]["red"]
        assert seat.my_turn()["ply"] >= 17
        seat.do("resign")
        over = seat.until(lambda sight: sight["over"])["over"]
        assert verify(promise, over["setups"]["red"], over["salts"]["red"])
        truth = read_games(write_game(board, {}))[0].headers["RedSetup"]
        assert pieces == "drawn" or over["setups"]["red"] == truth
        assert sorted(over["setups"]["red"]) == sorted(truth)
        assert not any(kind.lower() in json.dumps(seat.sight["played_on"]) for kind in TYPES)


def test_what_cannot_be_played_on_is_refused_with_the_reason(server) -> None:
    board = played("barrage", 11, 24)
    other = server.post("/api/import", text=write_game(board, {}))
    path, secret = f"/api/games/{other['game']}/play-on", other["seats"]["watch"]
    good = {"secret": secret, "ply": 3, "side": "red", "level": "cadet", "pieces": "true"}
    for wrong, code in [
        ({"ply": 25}, "ply"),
        ({"ply": -1}, "ply"),
        ({"ply": True}, "ply"),
        ({"ply": "3"}, "ply"),
        ({"side": "green"}, "side"),
        ({"level": "nobody"}, "bad"),
        ({"pieces": "seen"}, "pieces"),
        ({"secret": "x" * 32}, "game"),
        ({"secret": None}, "game"),
    ]:
        status, found, _ = server.ask("POST", path, good | wrong)
        assert status in (400, 404) and found["error"]["code"] == code, (wrong, found)
    running = server.level()
    [own] = running["seats"].values()
    status, found, _ = server.ask("POST", f"/api/games/{running['game']}/play-on", good | {"secret": own})
    assert found["error"]["code"] == "phase"
