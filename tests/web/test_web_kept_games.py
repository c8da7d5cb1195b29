"""Games that were kept by an earlier version of the page: they load as they stood, and go on.

tests/data/shelf_v2.sqlite was written by the page as it was when moves were kept as two squares, as at commit d9f7f4c;
shelf_v2.json is what that page showed of each game, to each seat.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from web_server import BLUE, Seat, Server, wait_until

from vauban.web import sight as wall
from vauban.web.shelf import Shelf
from vauban.web.table import Table

DATA = Path(__file__).parent.parent / "data"
EXPECTED: dict[str, Any] = json.loads((DATA / "shelf_v2.json").read_text())
GAMES = {told["what"]: game for game, told in EXPECTED.items()}


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A copy of the shelf: to open one writes to it."""
    return Path(shutil.copy(DATA / "shelf_v2.sqlite", tmp_path_factory.mktemp("kept")))


@pytest.fixture(scope="module")
def server(kept):
    found = Server(kept)
    yield found
    found.close()


@pytest.mark.parametrize("what", GAMES)
def test_a_kept_game_stands_as_it_stood(tmp_path, what):
    shelf = Shelf(shutil.copy(DATA / "shelf_v2.sqlite", tmp_path))
    told = EXPECTED[GAMES[what]]
    table = Table.replayed(shelf.events(GAMES[what]))
    assert [move["text"] for move in wall.moves(table, 0)] == told["moves"]
    for seat, expected in told["seats"].items():
        seen = wall.sight(table, seat)
        if expected["last"] is not None:
            expected = expected | {"last": expected["last"] | {"shows": seen["last"]["shows"]}}
        assert {key: seen[key] for key in expected} == expected
    assert (shelf.review(GAMES[what]) is not None) == told["review"]
    shelf.close()


def _secrets(events: list[dict[str, Any]]) -> dict[str, str]:
    """The secrets of the seats, which that version kept as they were."""
    made, *rest = events
    joined = {("red", "blue")[event["by"]]: event["secret"] for event in rest if event["what"] == "joined"}
    return made["secrets"] | joined


def sit(server: Server, shelf: Path, what: str, seat: str) -> Seat:
    """Take a seat in a kept game by the secret that was kept with it."""
    kept = Shelf(shelf)
    secret = _secrets(kept.events(GAMES[what]))[seat]
    kept.close()
    return server.sit(GAMES[what], seat, secret)


def test_kept_games_go_on(server, kept):
    for what, seat in (("level, goes on", "red"), ("rematch", "red"), ("played on", "blue")):
        with sit(server, kept, what, seat) as me:
            ply = me.my_turn()["ply"]
            me.move(me.sight["legal"][0])
            assert me.until(lambda sight, ply=ply: sight["ply"] > ply)["ply"] > ply
    friends = "friends, an offer is open"
    with sit(server, kept, friends, "red") as red, sit(server, kept, friends, "blue") as blue:
        blue.do("answer_draw", accept=False)
        red.until(lambda sight: sight["note"] is not None)
        red.move(red.sight["legal"][0])
        assert blue.until(lambda sight: sight["ply"] == 11)["turn"] == "blue"
    with sit(server, kept, "hotseat", "blue") as blue:
        blue.move(blue.sight["legal"][0])
    with sit(server, kept, "watched, paused", "watch") as watcher:
        assert watcher.sight["watching"]["paused"]
        watcher.do("step")
        watcher.until(lambda sight: sight["ply"] == 13)
    wait_until(lambda: GAMES["hotseat"] not in server.host.rooms)
    # What is new is kept beside what is old: the whole game is read again.
    with sit(server, kept, "hotseat", "red") as red:
        assert red.sight["ply"] == 2 and red.my_turn()["legal"]


def test_an_invitation_of_a_kept_game_is_still_good(server, kept):
    shelf = Shelf(kept)
    [made, *_] = shelf.events(GAMES["friend is invited"])
    shelf.close()
    seat, secret = server.join(GAMES["friend is invited"], made["invitation"]["token"])
    with server.sit(GAMES["friend is invited"], seat, secret) as friend:
        assert friend.sight["variant"] == "classic"
        assert friend.refused("setup", setup=BLUE)["code"] == "setup"


def test_a_kept_game_is_looked_back_on(server, kept):
    shelf = Shelf(kept)
    secret = _secrets(shelf.events(GAMES["import"]))["watch"]
    shelf.close()
    assert server.ask("GET", f"/api/games/{GAMES['import']}/review", secret=secret)[0] == 200
    status, record, _ = server.ask("GET", f"/api/games/{GAMES['import']}/record", secret=secret)
    assert status == 200 and b'[Variant "duel"]' in record
