"""Games on the page that have no board there: shown as text, played by buttons; nothing hidden is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from web_server import Server

from vauban.errors import VaubanError
from vauban.web import sight as wall
from vauban.web.show import SIDES, show_of
from vauban.web.table import PERSON, Table, TableError, new_table

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
COIN = f"py:{EXAMPLES / 'adding_a_game.py'}:LiarsCoin"
AMBUSH = f"py:{EXAMPLES / 'ambush.py'}:Ambush"


@pytest.fixture(scope="module")
def server():
    found = Server(games=("kuhn", "leduc", COIN, AMBUSH))
    yield found
    found.close()


def table(seed: int, variant: str = "kuhn") -> Table:
    """A game of two people, with the cards of a seed."""
    return Table.made(new_table(variant, "hotseat", (PERSON, PERSON)) | {"seed": seed, "game": "same"})


@pytest.mark.parametrize("variant", ["kuhn", "leduc", COIN])
def test_a_game_without_setups_begins_at_once_and_is_played_to_its_end(variant):
    for seed in range(4):
        at = table(seed, variant)
        assert at.phase == "play" and at.show.family == "plain"
        while at.phase == "play":
            for seat in SIDES:
                assert bool(wall.sight(at, seat)["legal"]) == (at.turn == SIDES.index(seat))
            with pytest.raises(TableError) as refused:
                at.move(SIDES[at.turn], "fly")
            assert refused.value.code == "move"
            at.move(SIDES[at.turn], wall.sight(at, SIDES[at.turn])["legal"][-1])
        again = Table.replayed(json.loads(json.dumps(at.events)))
        assert again.over == at.over and wall.sight(again, "red") == wall.sight(at, "red")
        assert [move["text"] for move in wall.moves(again, 0)] == [move["text"] for move in wall.moves(at, 0)]


def test_what_the_other_side_holds_changes_nothing_that_one_is_sent():
    """Of all cards that can be dealt: games in which one's own is the same look the same."""
    said: dict[str, set[str]] = {}
    boards = set()
    for seed in range(60):
        at = table(seed)
        boards.add(str(at.board))
        first = wall.sight(at, "red")
        at.move("red", "pass")
        told = [first, wall.sight(at, "red"), wall.moves(at, 0, "red"), wall.explain(at, "red", "bet")]
        said.setdefault(first["picture"], set()).add(json.dumps(told))
    assert len(boards) == 6, "three cards, two players"
    assert len(said) == 3 and all(len(found) == 1 for found in said.values())


def test_a_move_that_is_made_in_the_open_is_told_at_once():
    at = table(1)
    at.move("red", "bet")
    assert [move["text"] for move in wall.moves(at, 0, "blue")] == ["bet"]


def test_a_move_that_is_made_in_secret_is_told_when_the_game_is_over():
    at = table(1, "matching-pennies")
    at.move("red", "heads")
    assert wall.moves(at, 0, "blue")[0]["text"] is None and wall.moves(at, 0, "red")[0]["text"] == "heads"
    at.move("blue", "tails")
    assert [move["text"] for move in wall.moves(at, 0, "blue")] == ["heads", "tails"]


@pytest.mark.parametrize("variant", ["kuhn", COIN])
def test_a_machine_plays_it_and_what_is_not_there_is_refused(server, variant):
    made = server.post("/api/games", variant=variant, against={"kind": "level", "level": "random"}, side="red")
    [secret] = made["seats"].values()
    with server.sit(made["game"], "red", secret) as seat:
        while seat.my_turn()["over"] is None:
            seat.do("move", move=seat.sight["legal"][0], n=seat.sight["ply"])
            seat.until(lambda sight, ply=seat.sight["ply"]: sight["ply"] > ply)
        assert seat.sight["over"]["end"] != "illegal"
    status, found, _ = server.ask("GET", f"/api/games/{made['game']}/picture.svg", secret=secret)
    assert (status, found["error"]["code"]) == (400, "picture")


def test_somebody_elses_board_game_is_set_up_and_played_to_its_end(server):
    setup = server.post("/api/setups", variant=AMBUSH, kind="random")["setup"]
    assert server.post("/api/setups/check", variant=AMBUSH, setup=setup)["setup"] == setup
    wished = {"variant": AMBUSH, "against": {"kind": "level", "level": "random"}, "side": "red"}
    status, found, _ = server.ask("POST", "/api/games", wished | {"setup": "nonsense"})
    assert (status, found["error"]["code"]) == (400, "setup")
    made = server.post("/api/games", **wished, setup=setup)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        assert seat.sight["commitment"]["blue"], "the machine's setup is sealed"
        while seat.my_turn()["over"] is None:
            seat.do("move", move=seat.sight["legal"][-1])
            seat.until(lambda sight, ply=seat.sight["ply"]: sight["ply"] > ply)
        assert seat.sight["over"]["end"] != "illegal"
        assert seat.sight["over"]["setups"]["red"] == setup


def test_friends_begin_when_both_are_there(server):
    made = server.post("/api/games", variant="kuhn", against={"kind": "friend"}, side="red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as red:
        assert red.sight["phase"] == "setup"
        seat, secret = server.join(made["game"], made["friend"]["invitation"])
        assert red.until(lambda sight: sight["phase"] == "play")["legal"] == ["pass", "bet"]
        with server.sit(made["game"], seat, secret) as blue:
            assert blue.sight["legal"] == []


def test_they_are_offered_with_somebody_who_plays_them_and_stratego_is_as_it_was(server):
    offer = server.ask("GET", "/api/offer")[1]
    families = {each["name"]: each["family"] for each in offer["variants"]}
    assert (
        families["kuhn"] == "plain" and families["barrage"] == "stratego" and offer["variants"][0]["name"] == "barrage"
    )
    playing = {level["key"]: level["variants"] for level in offer["levels"]}
    assert "kuhn" in playing["random"] and "kuhn" not in playing["recruit"]
    with pytest.raises(VaubanError, match="no game 'nothing'"):
        show_of("nothing")
