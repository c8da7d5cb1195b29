"""Two machines that are watched: held up, let go on, played move by move, stopped; and nobody thinks for nobody."""

from __future__ import annotations

import json
from typing import Any

import pytest
from patience import ENDLESS, PATIENCE
from web_server import RED, Seat, Server, wait_until

from vauban.web.host import Settings
from vauban.web.levels import Level, levels
from vauban.web.table import PACES, WATCH, Sitter, Table, TableError, new_table

SLOW = Level("slow", "Slow", {"default": f"mcts:time={ENDLESS:g},rollouts=500000"}, ENDLESS)
STEADY = Level("steady", "Steady", {"default": "random:setups=human"}, 0.01)
"""A setup with the Flag where people put it: in classic it is not met by chance in a game's first moves."""


@pytest.fixture(scope="module")
def server():
    # A short pause between moves: a game should not be over before it is held up.
    found = Server(settings=Settings(0.0, 0.1, absence=0.2, warm_up=False), among=(*levels(), SLOW, STEADY))
    yield found
    found.close()


def watch(server: Server, red: str = "steady", blue: str = "steady") -> dict[str, Any]:
    return server.post("/api/games", variant="classic", against={"kind": "watch", "red": red, "blue": blue})


def sit(server: Server, made: dict[str, Any]) -> Seat:
    return server.sit(made["game"], WATCH, made["seats"][WATCH])


def nobody_thinks(server: Server) -> bool:
    """Return whether no process of those that think long is at work: one that was given up is ended."""
    return not server.host.deep.pids


def test_whoever_looks_on_by_a_link_sees_the_game_and_has_no_part_in_it(server):
    made = watch(server)
    with sit(server, made) as seat:
        link = seat.sight["watching"]["look"]
        assert link != made["seats"][WATCH]
        with server.sit(made["game"], WATCH, link) as guest:
            guest.until(lambda sight: sight["ply"] > 2)
            assert all(piece["type"] for piece in guest.sight["pieces"])
            assert guest.sight["watching"] == {"paused": False, "pace": "usual", "look": None}
            for what, more in {"pause": {"paused": True}, "step": {}, "pace": {"pace": "fast"}, "stop": {}}.items():
                assert guest.refused(what, **more)["key"] == "seat.look"
            assert not any(secret in text for text in guest.heard for secret in (link, made["seats"][WATCH]))
            assert guest.sight["over"] is None and not guest.sight["watching"]["paused"]
        with server.socket() as ws:
            ws.send(json.dumps({"do": "sit", "game": made["game"], "seat": "red", "secret": link}))
            assert json.loads(ws.recv(PATIENCE))["code"] == "game"


def test_a_paused_game_waits_and_goes_on_move_by_move(server):
    made = watch(server)
    with sit(server, made) as seat:
        seat.until(lambda sight: sight["ply"] >= 2)
        seat.do("pause", paused=True)
        ply = seat.until(lambda sight: sight["watching"]["paused"])["ply"]
        for more in (1, 2, 3):
            seat.do("step")
            assert seat.until(lambda sight, more=more: sight["ply"] >= ply + more)["watching"]["paused"]
        assert seat.sight["ply"] == ply + 3
    # It is paused for whoever comes back, too: also at a server that has to read it from the shelf.
    wait_until(lambda: made["game"] not in server.host.rooms)
    with sit(server, made) as seat:
        told = {"paused": True, "pace": "usual", "look": server.host.rooms[made["game"]].table.look}
        assert seat.sight["watching"] == told and seat.sight["ply"] == ply + 3
        assert seat.sight["thinking"] is None
        seat.do("pause", paused=False)
        seat.until(lambda sight: sight["ply"] > ply + 5)


def test_whoever_is_paused_or_stopped_thinks_no_longer(server):
    for what in ({"do": "pause", "paused": True}, {"do": "stop"}):
        made = watch(server, "slow", "slow")
        with sit(server, made) as seat:
            seat.until(lambda sight: sight["thinking"] is not None)
            wait_until(lambda: not nobody_thinks(server))
            seat.ws.send(json.dumps(what))
            seat.until(lambda sight: sight["thinking"] is None)
            wait_until(lambda: nobody_thinks(server))


def test_nobody_thinks_for_a_game_that_is_no_longer_watched(server):
    made = watch(server, "slow", "slow")
    with sit(server, made) as seat:
        seat.until(lambda sight: sight["thinking"] is not None)
        wait_until(lambda: not nobody_thinks(server))
    wait_until(lambda: nobody_thinks(server))
    assert made["game"] not in server.host.rooms
    with sit(server, made) as seat:  # whoever comes back finds it going on
        seat.until(lambda sight: sight["thinking"] is not None)


def test_a_page_that_is_reloaded_in_time_loses_no_thought():
    server = Server(settings=Settings(0.0, 0.0, absence=600.0, warm_up=False), among=(SLOW,))
    try:
        made = watch(server, "slow", "slow")
        with sit(server, made) as seat:
            seat.until(lambda sight: sight["thinking"] is not None)
            room = server.host.rooms[made["game"]]
        before = room.thinking
        with sit(server, made):
            assert room.thinking is before and before is not None
    finally:
        server.close()


def test_a_stopped_game_has_no_result_and_can_be_looked_back_on(server):
    made = watch(server)
    with sit(server, made) as seat:
        seat.until(lambda sight: sight["ply"] >= 1)
        seat.do("stop")
        over = seat.until(lambda sight: sight["over"] is not None)["over"]
        assert (over["winner"], over["end"]) == (None, "unfinished")
        assert seat.refused("pause", paused=True)["code"] == "over"
    _, record, _ = server.ask("GET", f"/api/games/{made['game']}/record", secret=made["seats"][WATCH])
    assert b'[Result "*"]' in record


def test_a_faster_pace_shortens_the_pause_between_moves_and_a_step_has_none():
    # At the usual pace no test would see a move.
    delay, plies = ENDLESS, 6
    server = Server(settings=Settings(0.0, delay, warm_up=False), among=(STEADY,))
    paces = dict(PACES)
    PACES["fast"] = 0.1 / delay
    try:
        made = watch(server)
        with sit(server, made) as seat:
            for ply in (1, 2):
                seat.do("step")
                seat.until(lambda sight, ply=ply: sight["ply"] >= ply)
            seat.do("pace", pace="fast")
            seat.do("pause", paused=False)
            seat.until(lambda sight: sight["ply"] >= 2 + plies)
            moves = [event for event in server.host.rooms[made["game"]].table.events if event["what"] == "move"]
            assert all(move["ms"] >= 100 for move in moves[2:])
    finally:
        PACES.update(paces)
        server.close()


def test_only_whoever_watches_two_machines_can_hold_them_up(server):
    made = server.level("recruit", setup=RED)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        assert seat.sight["watching"] is None
        for what, more in (("pause", {"paused": True}), ("step", {}), ("stop", {}), ("pace", {"pace": "fast"})):
            assert seat.refused(what, **more)["code"] == "seat"
        assert seat.sight["over"] is None
    with sit(server, watch(server)) as seat:
        seat.ignore_errors = True
        for what, more in (("pause", {}), ("pause", {"paused": 1}), ("pace", {"pace": "x"}), ("pace", {})):
            assert seat.refused(what, **more)["code"] == "message"


def test_a_table_is_the_same_when_it_is_made_of_its_events_again():
    machine = Sitter("machine", "Recruit", "recruit", "random", 1, 0.01)
    table = Table.made(new_table("fives", "watch", (machine, machine)))
    for seat in ("red", "blue"):
        table.give_setup(seat, "FTLPJ", "salt")
    table.pause(WATCH, True)
    table.set_pace(WATCH, "slow")
    again = Table.replayed(table.events)
    assert (again.paused, again.pace, len(again.events)) == (True, "slow", len(table.events))
    table.pause(WATCH, True)  # nothing changes, so nothing is kept
    assert len(again.events) == len(table.events)
    with pytest.raises(TableError, match="no pace"):
        table.set_pace(WATCH, "x" * 100)
