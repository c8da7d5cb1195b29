"""The server as a browser meets it: whole games over HTTP and WebSocket, the wall, and people who mean no good."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import ENDLESS, PATIENCE
from web_server import BLUE, RED, WALLED, Seat, Server, wait_until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from vauban.board import Board
from vauban.board.stratego.words import ENDS
from vauban.errors import ConfigurationError
from vauban.games.stratego.pieces import LETTERS, PLAYERS, TYPES
from vauban.models import is_shipped
from vauban.notation.records import read_games, write_game
from vauban.notation.stratego.strados import strados_text
from vauban.web import host as module
from vauban.web import sight as wall
from vauban.web.app import Door, address_of, own_names
from vauban.web.commitment import verify
from vauban.web.files import PAGE
from vauban.web.host import Settings
from vauban.web.levels import Level, levels
from vauban.web.limits import SOCKETS_OF_ONE, Limits
from vauban.web.show import offered
from vauban.web.table import OFFER_PAUSE
from vauban.web.thinking import ChooseSetup, WeighDraw
from vauban.work.base import BusyError, WorkError

DUEL = "FBO..NS./BGO.M..N/........"
HOUR = {"kind": "bronstein", "minutes": 60, "seconds": 0}
RULED_OUT = Level("broken", "Broken", {"default": "nobody"}, 0.1)
MUTE = Level("mute", "Mute", {"default": f"mcts:time={ENDLESS:g},rollouts=500"}, ENDLESS)


@pytest.fixture(scope="module")
def server():
    found = Server(among=(*levels(), RULED_OUT, MUTE))
    yield found
    found.close()


def play_on(seat: Seat, rng: random.Random) -> None:
    """Play at random until the game is over."""
    while seat.my_turn()["over"] is None:
        seat.move(rng.choice(seat.sight["legal"]))


def give_up(seat: Seat) -> None:
    """Resign at the first turn."""
    seat.my_turn()
    seat.do("resign")
    seat.until(lambda sight: sight["over"])


def play_quietly(seat: Seat, rng: random.Random, plies: int) -> None:
    """Play so many plies, and take nothing."""
    while seat.my_turn()["ply"] < plies:
        seat.quiet_move(rng)


# ── Whole games ──────────────────────────────────────────────────────────────────────────────────


def hidden_is_hidden(seat: Seat, truth: dict[str, str]) -> None:
    """Search everything that a seat has heard before the end: nothing may tell a type that was not shown in battle."""
    shown: set[str] = set()
    for text in seat.heard:
        told = json.loads(text)
        if told.get("over"):
            break
        if told["say"] == "moves":
            continue
        for piece in told["pieces"]:
            if piece["side"] == seat.seat:
                continue
            if piece["type"] is not None:
                assert piece["revealed"], f"{piece} was never shown"
                assert truth[piece["from"]] == piece["type"]
                shown.add(piece["from"])
            assert set(piece) == {"at", "side", "type", "moved", "revealed", "from"}
        assert not any(salt in text for salt in ("salt", "seed", "agent", "secret"))
        # Outside of the pieces, battles and counts that are public, no type is named at all.
        rest = {key: value for key, value in told.items() if key not in ("pieces", "left", "last", "barred")}
        assert not any(kind.lower() in json.dumps(rest).lower().replace("flag_", "") for kind in TYPES), rest
        if told["legal"]:
            own = {piece["at"] for piece in told["pieces"] if piece["side"] == seat.seat}
            assert {move[: re.match("[a-z][0-9]+", move).end()] for move in told["legal"]} <= own
            assert set(told["reach"]) <= own


@pytest.mark.parametrize(("level", "side"), [("cadet", "red"), ("cadet", "blue")])
def test_a_whole_game_hides_what_is_hidden_keeps_its_promise_and_ends(server, level, side):
    made = server.level(level, side)
    with server.sit(made["game"], side, made["seats"][side]) as seat:
        assert set(made["seats"]) == {side}
        foe = PLAYERS[1 - PLAYERS.index(side)]
        promise = seat.sight["commitment"][foe]
        assert promise and seat.sight["commitment"][side] is None and seat.sight["over"] is None
        play_on(seat, random.Random(side + level))
        over = seat.sight["over"]
        setup, salt = over["setups"][foe], over["salts"][foe]
        assert verify(promise, setup, salt)
        assert not verify(promise, setup[::-1], salt)
        start = Board.from_setups(over["setups"]["red"], over["setups"]["blue"], "barrage")
        name = start.variant.square_name
        hidden_is_hidden(seat, {name(s): TYPES[p.kind].lower() for s, p in start.pieces().items()})
        assert not any(setup in text or salt in text for text in seat.heard if '"over":null' in text)
        # The record is the game that was seen.
        _, text, headers = server.ask("GET", f"/api/games/{made['game']}/record", secret=seat.secret)
        [game] = read_games(text.decode())
        assert headers["content-type"].startswith("text/plain")
        assert [move["text"] for move in seat.moves] == [text.split("{")[0] for text in _written(game.board)]
        assert game.end == over["end"] in ENDS


def _written(board: Board) -> list[str]:
    found = []
    for played in board.history:
        source, target = (board.variant.square_name(square) for square in played.move)
        battle = played.battle
        if battle is None:
            found.append(source + target)
        else:
            shown = f"{LETTERS[battle.attacker]}{battle.result}{LETTERS[battle.defender]}"
            found.append(f"{source}x{target}({shown})")
    return found


TWIN = BLUE.replace("F", "x").replace("S", "F").replace("x", "S").replace("B", "y").replace("G", "B").replace("y", "G")
"""Blue's army with pieces exchanged that neither move nor fight in `LINE`."""
LINE = "e3e4 d8d7 h3h4 d7e7 h4h3 e7f7 e4e5 f7e7 e5e4 a9a7 j2j5 a10a8 j5i5".split()  # noqa: SIM905


def heard_by_red(server: Server, blue: str) -> str:
    """All bytes that red hears in a game, but for its id."""
    red, friend = server.friends(blue=blue)
    with red, friend:
        for ply, move in enumerate(LINE):
            mover, other = (red, friend) if ply % 2 == 0 else (friend, red)
            mover.move(move)
            other.until(lambda sight, ply=ply: sight["ply"] == ply + 1)
            red.do("explain", move="c10c9", n=ply)
            red.wait_for("why")
        return "\n".join(red.heard).replace(red.game, "GAME")


def test_two_games_that_differ_in_what_is_hidden_sound_the_same_to_the_byte(server):
    assert sorted(TWIN) == sorted(BLUE) and TWIN != BLUE
    assert heard_by_red(server, BLUE) == heard_by_red(server, TWIN)


def heard_beside_the_moves(server: Server, blue: str) -> str:
    """All bytes that red hears of a clock, a draw that is declined, and a move that is taken back."""
    red, friend = server.friends(blue=blue, clock=HOUR)
    with red, friend:

        def both(right: Callable[[dict[str, Any]], bool]) -> None:
            for seat in (red, friend):
                seat.until(right)

        red.move("e3e4")
        both(lambda sight: sight["ply"] == 1)
        for what, by, to in (("draw", red, friend), ("draw", friend, red), ("take_back", red, friend)):
            by.do("take_back" if what == "take_back" else "offer_draw")
            both(lambda sight: sight["offer"] is not None)
            to.do(f"answer_{what}", accept=what == "take_back")
            both(lambda sight: sight["offer"] is None)
        both(lambda sight: sight["ply"] == 0)
        for ply, (seat, move) in enumerate([(red, "h3h4"), (friend, "d8d7")], 1):
            seat.move(move)
            both(lambda sight, ply=ply: sight["ply"] == ply)
        return "\n".join(red.heard).replace(red.game, "GAME")


def test_clocks_offers_and_moves_taken_back_sound_the_same_whatever_is_hidden(server, monkeypatch):
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0, time=lambda: 0.0))  # no byte is left out
    heard = heard_beside_the_moves(server, BLUE)
    assert '"bank":3600.0' in heard and '"offer":{' in heard and '"note":{' in heard and '"took_back":true' in heard
    assert heard == heard_beside_the_moves(server, TWIN)


def test_a_leak_that_is_planted_in_the_server_is_heard(server, monkeypatch):
    honest = wall.sight

    def leaky(table, seat, *rest):
        board = table.board
        return honest(table, seat, *rest) | {"hint": None if board is None else board.piece_at("h10").kind}

    monkeypatch.setattr(wall, "sight", leaky)
    assert heard_by_red(server, BLUE) != heard_by_red(server, TWIN)


def test_a_friend_a_take_back_a_draw_and_a_rematch(server):
    red, blue = server.friends()
    with red, blue:
        assert red.sight["players"] == blue.sight["players"] == {"red": None, "blue": None}
        assert red.sight["commitment"] == {"red": None, "blue": None}
        red.move("e3e4")
        blue.until(lambda sight: sight["ply"] == 1)
        red.do("take_back")
        blue.until(lambda sight: sight["offer"] == {"kind": "take_back", "by": "red"})
        blue.do("answer_take_back", accept=True)
        red.until(lambda sight: sight["took_back"] and sight["ply"] == 0)
        assert red.moves == []
        red.move("h3h4")
        blue.until(lambda sight: sight["ply"] == 1 and sight["took_back"])
        assert [move["text"] for move in blue.moves] == ["h3h4"]
        blue.do("offer_draw")
        red.until(lambda sight: sight["offer"] == {"kind": "draw", "by": "blue"})
        assert red.refused("answer_draw", accept="yes")["code"] == "message"
        red.do("answer_draw", accept=True)
        assert blue.until(lambda sight: sight["over"])["over"]["end"] == "agreed"
        red.do("rematch")
        blue.until(lambda sight: sight["rematch"] == ["red"])
        blue.do("rematch")
        there = red.wait_for("rematch"), blue.wait_for("rematch")
        assert there[0]["game"] == there[1]["game"] != red.game
        assert [each["seats"] for each in there] == [{"blue": "red"}, {"red": "blue"}]
        with server.sit(there[0]["game"], "blue", red.secret) as again:
            assert (again.sight["phase"], again.sight["pieces"]) == ("setup", [])


def test_a_rematch_against_a_machine_comes_at_once_with_colours_changed(server):
    made = server.level("cadet", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        give_up(seat)
        seat.do("rematch")
        there = seat.wait_for("rematch")
        with server.sit(there["game"], "blue", seat.secret) as again:
            own = {piece["type"]: piece["from"] for piece in again.sight["pieces"] if piece["side"] == "blue"}
            assert own["flag"] == "j10"  # the same setup, from the other side
            assert again.my_turn()["ply"] == 1


def test_a_rematch_against_a_machine_with_another_setup(server):
    made = server.level("cadet", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        give_up(seat)
        assert seat.refused("rematch", keep=1)["code"] == "keep"
        seat.do("rematch", keep=False)
        there = seat.wait_for("rematch")
    with server.sit(there["game"], "blue", seat.secret) as again:
        # The machine has set up, and sealed it; it begins when the person has, too.
        assert again.sight["phase"] == "setup" and again.sight["ready"] == {"red": True, "blue": False}
        assert again.sight["commitment"]["red"] and again.sight["pieces"] == []
        again.do("setup", setup=WALLED)
        assert again.my_turn()["ply"] == 1
        own = {piece["type"]: piece["from"] for piece in again.sight["pieces"] if piece["side"] == "blue"}
        assert own["flag"] == "i10"


def test_a_machine_takes_back_at_once_and_answers_offers_of_a_draw(server):
    made = server.level("cadet", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.move("e3e4")
        seat.until(lambda sight: sight["ply"] == 2)
        seat.do("take_back")
        assert seat.until(lambda sight: sight["ply"] == 0)["took_back"]
        assert seat.moves == []
        seat.move("h3h4")
        seat.my_turn()
        seat.do("offer_draw")
        note = seat.until(lambda sight: sight["note"] is not None)
        assert note["offer"] is None
        assert note["note"] == {"kind": "draw", "by": "blue", "accept": False, "why": "play"}
        refused = seat.refused("offer_draw")
        assert (refused["key"], refused["data"]) == ("offer.soon", {"wait": OFFER_PAUSE})
        assert "not long ago" in refused["text"]


def test_a_machine_answers_an_offer_that_came_while_it_thought_before_it_moves():
    """With one process for both, its move is there before it has weighed the draw."""
    server = Server(settings=Settings(delay=0, workers=1, warm_up=False))
    try:
        made = server.level("strategist", "red", WALLED)
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            seat.quiet_move(random.Random(1))
            seat.do("offer_draw")
            sight = seat.until(lambda sight: sight["ply"] == 2)
            assert sight["offer"] is None
            assert (sight["note"]["by"], sight["note"]["accept"]) == ("blue", False)
            seat.quiet_move(random.Random(1))
            assert seat.sight["note"] is None
    finally:
        server.close()


def test_a_machine_that_takes_the_draw_makes_no_move_any_more():
    """Blue's Marshal has been lost on a Bomb."""
    board = Board.from_setups(RED, "..F....S../..B...G.../...N....../OO.......M", "barrage")
    for move in "e3e4 a7a6 e4e5 a6a5 e5e6 a5a4 e6e5 a4a3 e5e4 a3a2".split():  # noqa: SIM905
        board.push(move)
    server = Server(settings=Settings(delay=0, workers=1, warm_up=False))
    try:
        other = server.post("/api/import", text=write_game(board, {}))
        wanted = {"secret": other["seats"]["watch"], "ply": 10, "side": "red", "level": "strategist", "pieces": "true"}
        made = server.post(f"/api/games/{other['game']}/play-on", **wanted)
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            seat.move("h3h4")
            seat.do("offer_draw")
            sight = seat.until(lambda sight: sight["over"] is not None or sight["ply"] > 11)
            assert (sight["ply"], sight["over"]["end"]) == (11, "agreed")
    finally:
        server.close()


def test_an_offer_that_cannot_be_weighed_is_declined_and_the_next_one_weighed_again(server, monkeypatch, caplog):
    made = server.level("cadet", "red", WALLED)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        ask = server.host.quick.ask

        async def broken(task, *more, **named):
            if isinstance(task, WeighDraw):
                raise ZeroDivisionError
            return await ask(task, *more, **named)

        monkeypatch.setattr(server.host.quick, "ask", broken)
        seat.do("offer_draw")
        note = seat.until(lambda sight: sight["note"] is not None)["note"]
        assert note == {"kind": "draw", "by": "blue", "accept": False, "why": "unable"}
        assert server.host.rooms[made["game"]].weighing is None
        assert "ZeroDivisionError" in caplog.text


def test_two_at_one_device_and_two_machines(server):
    made = server.post("/api/games", variant="fives", against={"kind": "hotseat"})
    assert set(made["seats"]) == {"red", "blue"}
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.do("setup", setup="FTLPJ")
        seat.until(lambda sight: sight["ready"]["red"])
        # One socket may change its seat.
        seat.do("sit", game=made["game"], seat="blue", secret=made["seats"]["blue"])
        seat.until(lambda sight: sight["seat"] == "blue")
        assert seat.sight["pieces"] == []
        seat.do("setup", setup="FTLPJ")
        seat.until(lambda sight: sight["phase"] == "play")
        assert seat.sight["players"] == {"red": None, "blue": None}
        # Either seat is told of both in a rematch: they are at one device.
        seat.do("resign")
        seat.until(lambda sight: sight["over"] is not None)
        seat.do("rematch")
        assert seat.wait_for("rematch")["seats"] == {"red": "red", "blue": "blue"}
    against = {"kind": "watch", "red": "cadet", "blue": "cadet"}
    made = server.post("/api/games", variant="fives", against=against)
    with server.sit(made["game"], "watch", made["seats"]["watch"]) as seat:
        assert all(piece["type"] for piece in seat.sight["pieces"])
        assert "cannot play" in seat.refused("move", move="a1a2")["text"]
        seat.until(lambda sight: sight["over"] is not None)
        assert len(seat.moves) == seat.sight["ply"]


def test_a_watcher_looks_on_with_chosen_eyes_and_a_player_with_its_own_alone(server):
    against = {"kind": "watch", "red": "planner", "blue": "planner"}
    made = server.post("/api/games", variant="barrage", against=against)
    place = {"game": made["game"], "seat": "watch", "secret": made["seats"]["watch"]}
    with server.sit(**place) as seat:
        for eyes in ("red", "blue", None):
            seat.do("sit", **place, eyes=eyes)
            seat.until(lambda sight, eyes=eyes: sight["eyes"] == eyes)
            hidden = {piece["side"] for piece in seat.sight["pieces"] if piece["type"] is None}
            assert hidden == ({"red", "blue"} - {eyes} if eyes else set())
        for wrong in ("watch", "", 1, ["red"]):
            seat.refused("sit", **place, eyes=wrong)
    made = server.level()
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        place = {"game": made["game"], "seat": "red", "secret": made["seats"]["red"]}
        assert "a player sees its own side" in seat.refused("sit", **place, eyes="blue")["text"]


def test_a_game_without_aids_says_so_to_everybody_and_so_does_its_rematch(server):
    red, blue = server.friends(aids=False)
    with red, blue:
        assert (red.sight["aids"], blue.sight["aids"]) == (False, False)
        red.do("resign")
        blue.until(lambda sight: sight["over"] is not None)
        red.do("rematch")
        blue.do("rematch")
        told = red.wait_for("rematch")
        assert told["seats"] == {"blue": "red"}
        with server.sit(told["game"], "blue", red.secret) as again:
            assert again.sight["aids"] is False
    status, found, _ = server.ask(
        "POST", "/api/games", {"variant": "barrage", "against": {"kind": "friend"}, "aids": 1}
    )
    assert (status, found["error"]["code"]) == (400, "aids")
    made = server.level()
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        assert seat.sight["aids"] is True


def test_whoever_comes_back_is_shown_the_moves_not_seen_yet(server):
    made = server.level("cadet", "red", WALLED)
    rng = random.Random(4)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        play_quietly(seat, rng, 8)
        before, ply, moves = seat.sight, seat.sight["ply"], list(seat.moves)
    wait_until(lambda: made["game"] not in server.host.rooms)  # nobody is there: only the shelf remembers
    with server.sit(made["game"], "red", made["seats"]["red"], have=5) as seat:
        seat.my_turn()
        told = [json.loads(text) for text in seat.heard if '"say":"moves"' in text]
        assert (told[0]["first"], told[0]["moves"]) == (5, moves[5:])
        assert {**seat.sight, "n": 0} == {**before, "n": 0}
        assert ply == seat.sight["ply"]


def test_a_flag_falls_although_nobody_moves(server):
    red, blue = server.friends(clock={"kind": "bronstein", "minutes": 0.02, "seconds": 0})
    with red, blue:
        assert red.sight["clock"]["running"] == "red"
        over = blue.until(lambda sight: sight["over"] is not None)["over"]
        assert (over["end"], over["winner"], over["detail"]) == ("time", "blue", "")


def test_an_answer_is_shown_no_sooner_than_a_person_can_see_it():
    server = Server(settings=Settings(delay=0.35, workers=1, warm_up=False))
    try:
        made = server.level("cadet", "red")
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            seat.move("e3e4")
            assert seat.sight["thinking"] is None or seat.sight["thinking"]["side"] == "blue"
            seat.until(lambda sight: sight["ply"] == 2)
            answer = next(
                event for event in server.host.rooms[made["game"]].table.events[::-1] if event["what"] == "move"
            )
            assert answer["ms"] >= 350
    finally:
        server.close()


def test_a_worker_that_is_killed_in_a_game_is_replaced_and_the_game_goes_on(server):
    made = server.level("strategist", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.my_turn()
        seat.do("move", move="e3e4")
        seat.until(lambda sight: sight["thinking"] is not None)
        wait_until(lambda: server.host.deep.pids)
        for pid in server.host.deep.pids:
            os.kill(pid, signal.SIGKILL)
        assert seat.until(lambda sight: sight["ply"] == 2)["turn"] == "red"


def test_a_resignation_ends_a_long_thought(server):
    made = server.level("mute", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.my_turn()
        seat.move("e3e4")
        seat.until(lambda sight: sight["thinking"] is not None)
        assert seat.sight["thinking"]["expected"] == ENDLESS
        seat.do("take_back")
        seat.until(lambda sight: sight["ply"] == 0 and sight["thinking"] is None)
        seat.move("h3h4")
        seat.do("resign")
        assert seat.until(lambda sight: sight["over"])["over"]["end"] == "resigned"
    wait_until(lambda: made["game"] not in server.host.rooms)


def test_agents_that_think_long_freeze_no_other_game(server):
    slow = []
    for _ in range(3):  # more than there are processes for them
        made = server.level("mute", "red")
        slow.append(server.sit(made["game"], "red", made["seats"]["red"]))
        slow[-1].move("e3e4")
    made = server.level("cadet", "red", WALLED)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        play_quietly(seat, random.Random(9), 12)
    for each in slow:
        each.do("ping", n=1)
        assert each.wait_for("pong")
        assert each.sight["ply"] == 1
        each.do("resign")
        each.until(lambda sight: sight["over"])
        each.ws.close()
    # What nobody waits for any more is given up: the next one need not wait until it would have been thought out.
    made = server.level("strategist", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.move("e3e4")
        seat.until(lambda sight: sight["ply"] == 2)


def test_whoever_loads_a_network_makes_no_quick_opponent_wait():
    """Not for a move, and neither for a setup nor for an answer to an offer: loading takes seconds."""
    server = Server()
    try:
        server.post("/api/setups", variant="classic", kind="model")
        made = server.level("general", "red", WALLED)
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            play_quietly(seat, random.Random(3), 4)
            seat.do("offer_draw")
            assert seat.until(lambda sight: sight["note"])["note"]["kind"] == "draw"
        assert not server.host.quick.pids
    finally:
        server.close()


def test_whoever_searches_for_an_answer_to_an_offer_makes_no_quick_opponent_wait(monkeypatch):
    server = Server()
    try:
        asked: list[object] = []
        ask = server.host.quick.ask

        async def noted(task, *more, **named):
            asked.append(task)
            return await ask(task, *more, **named)

        monkeypatch.setattr(server.host.quick, "ask", noted)
        made = server.level("strategist", "red", WALLED)
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            seat.do("offer_draw")
            assert seat.until(lambda sight: sight["note"])["note"]["kind"] == "draw"
        assert [type(task) for task in asked] == [ChooseSetup]
    finally:
        server.close()


def test_networks_that_take_seconds_to_load_are_loaded_before_anybody_wants_them():
    server = Server(settings=Settings(workers=1))
    try:
        warmed = {(each.agent, each.variant) for each in server.host.deep._warm_ups}
        assert {("net:barrage", "barrage"), ("net:classic", "classic")} <= warmed
        assert ("alphabeta", "barrage") in warmed and ("alphabeta", "classic") not in warmed
        assert {each.agent for each in server.host.quick._warm_ups} == {"random", "charger", "prober", "fox", "cadet"}
    finally:
        server.close()


def test_a_clock_goes_on_while_whoever_is_on_turn_takes_back(server):
    """Thinking, taking back and thinking again would cost nothing otherwise."""
    made = server.level("recruit", "red", WALLED, clock={"kind": "bronstein", "minutes": 1, "seconds": 0})
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.quiet_move(random.Random(2))
        seat.until(lambda sight: sight["ply"] == 2)
        server.host.rooms[made["game"]].began -= 20
        seat.do("take_back")
        sight = seat.until(lambda sight: sight["ply"] == 0)
        assert sight["clock"]["running"] == "red" and sight["clock"]["red"]["bank"] < 41
        seat.quiet_move(random.Random(2))
        sight = seat.until(lambda sight: sight["ply"] == 2)
        assert sight["clock"]["red"]["bank"] < 41
        assert sight["clock"]["blue"]["bank"] > 50


def bank(seat: Seat, side: str = "red") -> float:
    """The seconds that a side's clock shows."""
    return float(seat.sight["clock"][side]["bank"])


def test_a_clock_goes_on_while_nobody_is_there(server):
    red, blue = server.friends(clock=HOUR)
    with red, blue:
        red.move("e3e4")
        blue.until(lambda sight: sight["ply"] == 1)
    room = server.host.rooms[red.game]
    wait_until(lambda: not room.clients)
    room.began -= 600
    with server.sit(red.game, "blue", blue.secret) as blue:
        assert 2980 < bank(blue, "blue") <= 3000 and bank(blue, "red") > 3590
        room.began -= 3000
    with server.sit(red.game, "red", red.secret) as red:
        assert red.until(lambda sight: sight["over"] is not None)["over"]["end"] == "time"


def test_time_that_was_used_before_a_server_ended_counts_and_the_time_without_it_does_not(tmp_path):
    first = Server(tmp_path / "games.sqlite")
    red, blue = first.friends(clock=HOUR)
    first.host.rooms[red.game].began -= 600
    first.close()
    for closed in (red, blue):
        closed.ws.close()
    for _ in range(2):  # nor is it counted twice
        again = Server(tmp_path / "games.sqlite")
        try:
            with again.sit(red.game, "red", red.secret) as seat:
                assert 2980 < bank(seat) <= 3000
        finally:
            again.close()
    again = Server(tmp_path / "games.sqlite")
    try:
        with again.sit(red.game, "red", red.secret) as seat:
            seat.move("e3e4")
            assert 2980 < bank(seat, "red") <= 3000 and bank(seat, "blue") > 3590
    finally:
        again.close()


def test_after_a_server_was_killed_the_move_begins_anew(tmp_path):
    """It could note nothing. Another server on its shelf finds what one finds that is started after it."""
    killed, after = Server(tmp_path / "games.sqlite"), Server(tmp_path / "games.sqlite")
    try:
        red, blue = killed.friends(clock=HOUR)
        red.move("e3e4")
        blue.until(lambda sight: sight["ply"] == 1)
        killed.host.rooms[red.game].began -= 600
        with after.sit(red.game, "blue", blue.secret) as seat:
            assert bank(seat, "blue") > 3590
        red.ws.close()
        blue.ws.close()
    finally:
        after.close()
        killed.close()


def test_a_machines_clock_does_not_tell_how_quickly_it_found_its_move():
    """Neither at the first move nor later: what is held back is charged."""
    server = Server(settings=Settings(delay=0.35, workers=1, warm_up=False))
    try:
        for _ in range(2):  # in the first game it has to start
            made = server.level("recruit", "blue", WALLED, clock=HOUR)
            with server.sit(made["game"], "blue", made["seats"]["blue"]) as seat:
                seat.until(lambda sight: sight["ply"] == 1)
                first = bank(seat)
                seat.quiet_move(random.Random(1))
                seat.until(lambda sight: sight["ply"] == 3)
                assert first < 3600 - 0.34 and bank(seat) < first - 0.34
    finally:
        server.close()


def test_two_machines_play_without_a_clock(server):
    """It would run while they are paused, or nobody watches, and so neither thinks."""
    against = {"kind": "watch", "red": "cadet", "blue": "cadet"}
    for clock in ({"kind": "strategus"}, HOUR):
        status, found, _ = server.ask("POST", "/api/games", {"variant": "fives", "against": against, "clock": clock})
        assert (status, found["error"]["code"]) == (400, "clock") and "without a clock" in found["error"]["text"]
    assert server.post("/api/games", variant="fives", against=against, clock={"kind": "none"})["seats"]


def test_a_review_that_nobody_asks_for_any_more_is_given_up_also_if_nobody_waits_behind_it(server):
    made = [server.level("cadet", "red", WALLED) for _ in range(2)]
    for each in made:
        with server.sit(each["game"], "red", each["seats"]["red"]) as seat:
            give_up(seat)

    def review(each: dict[str, Any]) -> int:
        return server.ask("GET", f"/api/games/{each['game']}/review", secret=each["seats"]["red"])[0]

    reviews = server.host.reviews
    assert [review(each) for each in made] == [202, 202]
    first, second = (reviews._making[each["game"]] for each in made)
    second.asked -= 89
    loop, last = first.task.get_loop(), made[1]["game"]
    loop.call_soon_threadsafe(reviews._give_up, last, second)
    assert review(made[1]) == 202, "it was asked for a moment ago"
    second.asked -= 91
    loop.call_soon_threadsafe(reviews._give_up, last, second)
    wait_until(lambda: second.task.cancelled() and last not in reviews._making)
    wait_until(lambda: review(made[0]) == 200)
    wait_until(lambda: review(made[1]) == 200)


def test_a_game_that_is_too_long_for_a_network_is_looked_back_on_by_counting(server, monkeypatch):
    monkeypatch.setattr("vauban.web.reviews.MOST_PLIES", 1)
    found = []
    for moves in (0, 1):
        made = server.level("cadet", "red", WALLED)
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            for _ in range(moves):
                seat.quiet_move(random.Random(1))
                seat.my_turn()
            give_up(seat)

        def review(made: dict[str, Any] = made) -> Any:
            return server.ask("GET", f"/api/games/{made['game']}/review", secret=made["seats"]["red"])

        wait_until(lambda: review()[0] == 200)
        found.append(review()[1])
    assert [each.get("most_plies") for each in found] == [None, 1]
    assert [each["model"] is None for each in found] == [False, True] and len(found[1]["plies"]) == 3


def test_whatever_is_asked_of_the_machines_is_asked_for_an_address(server, monkeypatch):
    # Owners take turns before each pool (tests/work/test_work_pool.py); an owner is an address.
    owners: dict[str, set[str]] = {}
    for name, pool in (("quick", server.host.quick), ("review", server.host.reviews.short.near)):

        def ask(task: Any, *more: Any, owner: str = "", ask: Any = pool.ask, name: str = name, **rest: Any) -> Any:
            owners.setdefault(name, set()).add(owner or more[-1])
            return ask(task, *more, **rest)

        monkeypatch.setattr(pool, "ask", ask)
    made = server.level("cadet", "red", WALLED)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.quiet_move(random.Random(1))
        seat.my_turn()
        give_up(seat)
    asked = f"/api/games/{made['game']}/review"
    wait_until(lambda: server.ask("GET", asked, secret=made["seats"]["red"])[0] == 200)
    assert owners == {"quick": {"127.0.0.1"}, "review": {"127.0.0.1"}}


def test_a_long_game_that_is_looked_back_on_makes_no_other_wait(server, monkeypatch):
    monkeypatch.setattr("vauban.web.reviews.SHORT", 0)
    long, short = server.level("cadet", "red", WALLED), server.level("cadet", "red", WALLED)
    for each, moves in ((long, 1), (short, 0)):
        with server.sit(each["game"], "red", each["seats"]["red"]) as seat:
            for _ in range(moves):
                seat.quiet_move(random.Random(1))
            give_up(seat)
    reviews, done = server.host.reviews, threading.Event()

    async def endless(*_: object) -> Any:
        await asyncio.to_thread(done.wait)
        raise BusyError("the test is over")

    monkeypatch.setattr(reviews.long.near, "ask", endless)

    def review(made: dict[str, Any]) -> int:
        return server.ask("GET", f"/api/games/{made['game']}/review", secret=made["seats"]["red"])[0]

    try:
        assert review(long) == 202
        wait_until(lambda: review(short) == 200)
        assert review(long) == 202
    finally:
        done.set()


def test_a_review_that_failed_is_told_once_and_forgotten_if_nobody_asks_again(server, monkeypatch):
    made = [server.level("cadet", "red", WALLED) for _ in range(2)]
    for each in made:
        with server.sit(each["game"], "red", each["seats"]["red"]) as seat:
            give_up(seat)
    reviews = server.host.reviews

    def review(each: dict[str, Any]) -> int:
        return server.ask("GET", f"/api/games/{each['game']}/review", secret=each["seats"]["red"])[0]

    async def broken(*_, **__):
        raise WorkError("The wheel is broken.")

    with monkeypatch.context() as patch:
        patch.setattr(reviews.short.near, "ask", broken)
        assert review(made[0]) == 202
        wait_until(lambda: reviews._making[made[0]["game"]].error is not None)
        assert (review(made[0]), review(made[0])) == (502, 202)
        wait_until(lambda: reviews._making[made[0]["game"]].error is not None)
    failed = reviews._making[made[0]["game"]]
    failed.asked -= 91
    failed.task.get_loop().call_soon_threadsafe(reviews._give_up, made[0]["game"], failed)
    wait_until(lambda: not reviews._making)
    assert review(made[1]) == 202
    wait_until(lambda: review(made[1]) == 200)
    assert not reviews._making


def test_a_level_that_cannot_play_says_so_and_nothing_hangs(server):
    status, found, _ = server.ask(
        "POST", "/api/games", {"variant": "barrage", "against": {"kind": "level", "level": "broken"}, "setup": RED}
    )
    assert (status, found["error"]["code"]) == (502, "thinking") and "no agent 'nobody'" in found["error"]["text"]


def test_a_machine_whose_move_fails_forfeits_with_a_sentence(server, monkeypatch):
    made = server.level("cadet", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        table = server.host.rooms[made["game"]].table
        broken = table.sitters[1].__class__("machine", "Cadet", "cadet", "nobody", 1, 0.1)
        table.sitters = (table.sitters[0], broken)
        seat.do("move", move="e3e4")
        over = seat.until(lambda sight: sight["over"] is not None)["over"]
        assert (over["winner"], over["end"]) == ("red", "illegal")
        assert "Cadet gave no legal move: There is no agent 'nobody'" in over["detail"]


def test_a_machine_whose_move_breaks_the_server_forfeits_and_the_server_says_so(server, monkeypatch, caplog):
    made = server.level("cadet", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:

        async def broken(*_, **__):
            raise ZeroDivisionError

        monkeypatch.setattr(server.host.quick, "ask", broken)
        seat.do("move", move="e3e4")
        over = seat.until(lambda sight: sight["over"] is not None)["over"]
        assert (over["winner"], over["end"]) == ("red", "illegal") and "Cadet gave no legal move" in over["detail"]
        assert "ZeroDivisionError" in caplog.text


def test_a_sight_that_cannot_be_made_is_logged_and_closes_its_socket(server, monkeypatch, caplog):
    red, blue = server.friends()
    with red, blue:

        def broken(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(wall, "sight", broken)
        red.do("move", move="e3e4")
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                red.hear()
        assert closed.value.rcvd.code == 1011
        assert "ZeroDivisionError" in caplog.text and red.secret not in caplog.text


def test_a_rematch_that_could_not_be_made_leaves_no_room_behind(server, monkeypatch):
    made = server.level("cadet", "red")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        give_up(seat)
        room = server.host.rooms[made["game"]]

        async def fail_when_all_are_gone(*_):
            while room.clients:
                await asyncio.sleep(0.01)
            raise WorkError("There is no setup.")

        monkeypatch.setattr(server.host, "_new_table", fail_when_all_are_gone)
        seat.do("rematch")
        seat.until(lambda sight: sight["rematch"] == ["red"])
    wait_until(lambda: made["game"] not in server.host.rooms)


# ── Setups, records, pictures, reviews, imports ──────────────────────────────────────────────────


def test_setups_are_drawn_and_checked(server):
    for kind in ("random", "human"):
        setup = server.post("/api/setups", variant="classic", kind=kind)["setup"]
        checked = server.post("/api/setups/check", variant="classic", setup=setup)
        assert checked["setup"] == setup and len(checked["rows"]) == 4 and len(checked["rows"][0]) == 10
    odd = server.post("/api/setups/check", variant="medium", setup="FTLPJC")
    assert odd["rows"] == [["flag", "sergeant", "lieutenant", "captain", "major", "colonel"]]
    front = "..........", RED.split("/")
    odd = "/".join([*front[1][1:], front[1][0]])
    assert server.post("/api/setups/check", variant="barrage", setup=odd)["warnings"] == ["front"]
    status, found, _ = server.ask("POST", "/api/setups/check", {"variant": "barrage", "setup": RED.replace("M", "S")})
    assert (status, found["error"]["code"]) == (400, "setup") and "1 Marshal is missing" in found["error"]["text"]
    # The Flag in a corner with a Bomb before it, and with nothing.
    for setup, warnings in (
        ("F........./B........./..S......./.OOMGN....", 0),
        ("F........./.B......../..S......./.OOMGN....", 1),
        ("..F......./.B......../...S....../.O.OMGN...", 0),  # a lake is before it
    ):
        found = server.post("/api/setups/check", variant="barrage", setup=setup)["warnings"]
        assert len(found) == warnings and set(found) <= {"open"}
    learned = server.post("/api/setups", variant="barrage", kind="model")["setup"]
    assert server.post("/api/setups/check", variant="barrage", setup=learned)["setup"] == learned
    status, found, _ = server.ask("POST", "/api/setups", {"variant": "duel", "kind": "model"})
    assert (status, found["error"]["code"]) == (400, "model")


def test_what_shows_both_armies_waits_for_the_end(server):
    made = server.level("cadet", "red", WALLED)
    secret = made["seats"]["red"]
    with server.sit(made["game"], "red", secret) as seat:
        play_quietly(seat, random.Random(1), 4)
        for what in ("record", "review", "picture.svg"):
            status, found, _ = server.ask("GET", f"/api/games/{made['game']}/{what}", secret=secret)
            assert (status, found["error"]["code"]) == (409, "phase")
        seat.do("resign")
        seat.until(lambda sight: sight["over"] is not None)
        plies = seat.sight["ply"]
    base = f"/api/games/{made['game']}"
    _, whole, headers = server.ask("GET", f"{base}/picture.svg?ply=2", secret=secret)
    _, seen, _ = server.ask("GET", f"{base}/picture.svg?ply=2&seat=red", secret=secret)
    assert headers["content-type"].startswith("image/svg") and whole.startswith(b"<svg") and whole != seen
    for query in ("ply=-1", f"ply={plies + 1}", "ply=x", "ply=2&seat=watch"):
        assert server.ask("GET", f"{base}/picture.svg?{query}", secret=secret)[0] == 400
    found: list[object] = []
    wait_until(lambda: found.append(server.ask("GET", f"{base}/review", secret=secret)) or found[-1][0] != 202)
    status, review, _ = found[-1]
    assert status == 200 and len(review["plies"]) == plies + 1
    assert server.ask("GET", f"{base}/review", secret=secret)[1] == review


def test_recorded_games_are_imported_and_bad_ones_refused_with_the_reason(server):
    board = Board.random("barrage", 5)
    rng = random.Random(5)
    while not board.is_over and len(board.history) < 30:
        board.push(rng.choice(list(board.legal_moves)))
    for text in (write_game(board, {"Red": "Anna", "Blue": "<b>Bert</b>"}), strados_text(board)):
        made = server.post("/api/import", text=text)
        assert set(made["seats"]) == {"watch"}
        with server.sit(made["game"], "watch", made["seats"]["watch"]) as seat:
            assert seat.sight["phase"] == "over" and len(seat.moves) == len(board.history)
            assert seat.sight["players"]["red"] in ("Anna", "Red")
            assert seat.refused("resign")["code"] == "seat"
    for text, words in [
        ("", "empty"),
        ("hello", "no game that can be read"),
        ('[Variant "nano"]\n\n*', "RedSetup"),
        ("<gravon/>", "needed"),
        ('[Variant "tiny"]\n[RedSetup "FLPJ"]\n[BlueSetup "FLPJ"]\n\n1. b1b2 *', "only these can be shown"),
        ("\x00\ud800" * 20, "no game"),
        (7, "missing"),
        ('[Variant "../../x.toml"]\n\n*', "no variant"),
    ]:
        status, found, _ = server.ask("POST", "/api/import", {"text": text})
        assert status == 400 and words in found["error"]["text"], found


def test_an_import_runs_no_code_and_makes_no_game_that_is_not_offered(server, tmp_path):
    ran = tmp_path / "ran"
    mine = tmp_path / "mine.py"
    mine.write_text(f"open({str(ran)!r}, 'w')\nMine = None\n")
    for name in (
        f"py:{mine}:Mine",
        f"steps:py:{mine}:Mine",
        f'{{\\"game\\": \\"py:{mine}:Mine\\", \\"rules\\": null}}',
    ):
        status, found, _ = server.ask("POST", "/api/import", {"text": f'[Game "{name}"]\n[Seed "1"]\n\n*'})
        assert (status, found["error"]["key"]) == (400, "import.variant"), name
    assert not ran.exists()


def test_of_several_games_the_first_is_imported_and_no_other_played(server):
    text = write_game(Board.random("barrage", 5), {})
    assert server.post("/api/import", text=f'{text}\n\n[Variant "barrage"]\n\n1. a1a1 *')["games"] == 2


# ── People who mean no good ──────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def game(server):
    """A game of two friends, with which nothing may happen."""
    red, blue = server.friends()
    yield red, blue
    red.ws.close()
    blue.ws.close()


def test_nobody_sits_down_without_the_right_secret(server, game):
    red, blue = game
    for there, seat, secret in [
        (red.game, "blue", red.secret),
        (red.game, "red", ""),
        (red.game, "red", red.secret[:-1]),
        (red.game, "watch", red.secret),
        (red.game, "red", "\ud800"),
        ("nobody", "red", red.secret),
        ("../" * 9, "red", red.secret),
        ("\ud800", "red", "x"),
        ("' OR 1=1 --", "red", red.secret),
        ("", "", ""),
        (red.game, "salt", red.secret),
        (red.game.lower() + "x", "red", red.secret),
    ]:
        with server.socket() as ws:
            ws.send(json.dumps({"do": "sit", "game": there, "seat": seat, "secret": secret}))
            told = json.loads(ws.recv(PATIENCE))
            assert (told["say"], told["code"]) == ("error", "game"), told
            assert told["text"] == "There is no such game, or this link does not open it."
            ws.send(json.dumps({"do": "move", "move": "e3e4"}))
            assert json.loads(ws.recv(PATIENCE))["code"] == "sit"
    assert blue.secret != red.secret
    for secret in ("", "x", red.secret + "x", "%00", "%F0%9F%98%80"):
        status, found, _ = server.ask("GET", f"/api/games/{red.game}/record", secret=secret)
        assert (status, found["error"]["code"]) == (404, "game")
    assert server.ask("GET", "/api/games/nobody/record", secret=red.secret)[1] == found


def test_moves_out_of_turn_and_nonsense_are_refused_and_change_nothing(server, game):
    red, blue = game
    before = red.sight
    for seat, what, more, code in [
        (blue, "move", {"move": "d8d7"}, "turn"),
        (red, "move", {"move": "e3e9"}, "move"),
        (red, "move", {"move": "d8d7"}, "move"),
        (red, "move", {"move": []}, "message"),
        (red, "move", {}, "message"),
        (red, "setup", {"setup": RED}, "phase"),
        (red, "answer_draw", {"accept": True}, "offer"),
        (red, "answer_take_back", {"accept": True}, "offer"),
        (red, "take_back", {}, "take_back"),
        (red, "rematch", {}, "phase"),
        (red, "fly", {}, "do"),
        (red, ["move"], {}, "do"),
        (red, None, {}, "do"),
        (red, "sit", {}, "message"),
        (red, "sit", {"game": red.game, "seat": "red", "secret": "x", "have": -1}, "message"),
    ]:
        told = seat.refused(what, n=17, **more)
        assert (told["code"], told["n"]) == (code, 17), told
        assert told["text"].endswith(".")
    red.do("ping", n="x")
    assert red.wait_for("pong") == {"say": "pong", "n": "x"}
    assert red.sight == before


@given(
    st.one_of(
        st.text(max_size=60),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["do", "game", "seat", "secret", "have", "n", "move", "eyes", "setup", "accept", "x"]
                    ),
                    inner,
                )
            ),
            max_leaves=8,
        ).map(json.dumps),
        st.builds(
            lambda do, rest: json.dumps({"do": do, **rest}),
            st.sampled_from(["sit", "setup", "move", "explain", "answer_draw", "answer_take_back", "rematch", "ping"]),
            st.dictionaries(
                st.sampled_from(["game", "seat", "secret", "have", "n", "move", "eyes", "setup", "accept"]),
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.integers()),
            ),
        ),
    )
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fuzzed_messages_are_answered_and_harm_nothing(server, game, message):
    red, _ = game
    ply = red.sight["ply"]
    try:
        message.encode()
    except UnicodeEncodeError:
        return
    red.ws.send(message)
    red.do("ping", n=99)
    answers = []
    while not answers or answers[-1] != {"say": "pong", "n": 99}:
        answers.append(red.hear())
        assert answers[-1]["say"] in ("error", "why", "pong", "sight", "moves")
        assert answers[-1].get("code") != "failure", answers
    assert red.sight["ply"] == ply


@pytest.mark.parametrize(
    "message",
    [
        "[" * 4000,
        '{"do":' * 500,
        '{"do":"move","n":' + "9" * 3900 + "}",
        '{"do":"ping","n":1e999}',
        "null",
        "[]",
        '"sit"',
        '{"do":"explain","move":"\\ud800\\u0000","n":"\\udfff"}',
        '{"do":"move","move":"e3\\u0000e4"}',
    ],
)
def test_strange_messages_get_a_clear_error_and_leave_the_socket_alive(server, game, message):
    red, _ = game
    red.ws.send(message)
    told = red.hear()
    assert told["say"] in ("error", "why", "pong") and told.get("code") != "failure"
    red.do("ping", n=1)
    while red.hear() != {"say": "pong", "n": 1}:
        pass


def test_a_huge_message_closes_its_socket_and_no_other(server, game):
    red, _ = game
    for message in ("x" * 5000, b"\x00\x01", "ü" * 3000):
        with server.socket() as ws:
            ws.send(message)
            with pytest.raises(ConnectionClosed):
                while True:
                    ws.recv(PATIENCE)
    red.do("ping", n=3)
    assert red.wait_for("pong")["n"] == 3


def test_huge_and_broken_requests_are_refused(server):
    for body, code in [
        (b"{" * 20_000, "size"),
        (b"[" * 16_000, "message"),
        (b"", "message"),
        (b"\xff\xfe", "message"),
        (b"7", "message"),
        (b'{"variant": 7}', "variant"),
        (b'{"variant": "barrage"}', "against"),
    ]:
        status, found, _ = server.ask("POST", "/api/games", body)
        assert status == 400 and found["error"]["code"] == code, found
    assert server.ask("POST", "/api/import", b'{"text": "' + b"x" * 300_000 + b'"}')[1]["error"]["code"] == "size"
    assert server.ask("POST", "/api/games", b"{}", Content_Type="text/plain")[0] == 400
    wanted = {"variant": "barrage", "against": {"kind": "level", "level": "cadet"}, "setup": RED}
    for change, code in [
        ({"against": {"kind": "level", "level": "emperor"}}, "bad"),
        ({"variant": "duel", "setup": DUEL, "against": {"kind": "level", "level": "general"}}, "bad"),
        ({"against": []}, "against"),
        ({"setup": None}, "setup"),
        ({"side": "green"}, "side"),
        ({"side": []}, "side"),
        ({"clock": "none"}, "clock"),
        ({"clock": {"kind": "x"}}, "bad"),
        ({"takebacks": 1}, "takebacks"),
        ({"against": {"kind": "level", "level": ["cadet"]}}, "bad"),
    ]:
        status, found, _ = server.ask("POST", "/api/games", wanted | change)
        assert (status, found["error"]["code"]) == (400, code), (change, found)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../host.py",
        "/static/..%2fhost.py",
        "/static/%2e%2e/levels.toml",
        "/static/....//host.py",
        "/static//etc/passwd",
        "/static/..\\host.py",
        "/static/%00",
        "/../../etc/passwd",
        "/static/js/../../host.py",
        "/docs",
        "/openapi.json",
        "/api",
    ],
)
def test_path_tricks_lead_nowhere(server, path):
    status, found, _ = server.ask("GET", path)
    assert status in (400, 404, 405), found
    assert b"import" not in json.dumps(found).encode() if not isinstance(found, bytes) else b"import" not in found


def test_other_sites_and_other_names_are_refused(server):
    wanted = {"variant": "barrage", "kind": "random"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"http://localhost:{server.port}"):
        status, found, _ = server.ask("POST", "/api/setups", wanted, Origin=origin)
        assert (status, found["error"]["code"]) == (403, "origin")
        with pytest.raises(InvalidStatus) as refusal:
            server.socket(origin)
        assert refusal.value.response.status_code == 403
    assert server.ask("POST", "/api/setups", wanted, Origin=server.origin)[0] == 200
    for name in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", "", "localhost@evil", "a b"):
        status, found, _ = server.ask("GET", "/api/offer", Host=name)
        assert (status, found["error"]["code"]) == (421, "host")
    for name in ("localhost", f"localhost:{server.port}", "[::1]:8300", "LOCALHOST"):
        assert server.ask("GET", "/api/offer", Host=name)[0] == 200
    with pytest.raises(InvalidStatus), connect(f"ws://127.0.0.1:{server.port}/ws", compression=None):
        pass


def test_beyond_loopback_addresses_in_numbers_and_the_given_name_are_names():
    names = own_names("games.example")
    assert names("games.example:8300") and names("192.168.1.7:8300") and names(f"{socket.gethostname()}")
    assert not names("evil.example") and not names("games.example.evil") and not names("")


def test_on_any_address_of_loopback_a_server_goes_by_that_address():
    names = own_names("127.0.0.2")
    assert names("127.0.0.2:8300") and names("localhost:8300") and names("127.0.0.1")
    assert not names("127.0.0.3") and not names("192.168.1.7")


def test_whoever_came_with_too_many_wrong_links_is_refused_before_the_next_is_tried():
    server = Server(paced=True, clock=lambda: 0.0, settings=Settings(delay=0, workers=1, warm_up=False))
    try:
        made = server.level()
        game, right = made["game"], made["seats"]["red"]
        path = f"/api/games/{game}/record"
        statuses = [server.ask("GET", path, secret="x" * 32)[0] for _ in range(30)]
        assert statuses[:20] == [404] * 20 and statuses[-1] == 429
        # Not even the right one: whoever guesses would learn that it is.
        assert server.ask("GET", path, secret=right)[0] == 429
        with server.socket() as ws:
            ws.send(json.dumps({"do": "sit", "game": game, "seat": "red", "secret": right}))
            assert json.loads(ws.recv(PATIENCE))["code"] == "slow"
    finally:
        server.close()


def test_right_links_are_not_counted():
    server = Server(paced=True, settings=Settings(delay=0, workers=1, warm_up=False))
    try:
        made = server.level()
        for _ in range(40):
            server.sit(made["game"], "red", made["seats"]["red"]).ws.close()
    finally:
        server.close()


def test_a_server_behind_another_goes_by_the_name_of_that_one():
    name, wanted = "play.example.com", {"variant": "barrage", "kind": "random"}
    server = Server(name=name)
    try:
        for host, status in ((name, 200), ("PLAY.example.com:443", 200), ("localhost", 200), ("example.com", 421)):
            assert server.ask("GET", "/api/offer", Host=host)[0] == status
        origin = f"https://{name}"
        assert server.ask("POST", "/api/setups", wanted, Host=name, Origin=origin)[0] == 200
        assert f"wss://{name};" in server.ask("GET", "/", Host=name)[2]["content-security-policy"]
        with server.socket(origin, name) as ws:
            ws.send('{"do": "ping"}')
            assert json.loads(ws.recv(PATIENCE))["code"] == "sit"
        assert server.ask("POST", "/api/setups", wanted, Host=name, Origin="https://evil.example")[0] == 403
        with pytest.raises(InvalidStatus):
            server.socket("https://evil.example", name)
    finally:
        server.close()


def let_in(server: Server, name: str, through: list[str]) -> int:
    """Return how many sockets are let in of those whose addresses another server tells, one after the other."""
    found = []
    try:
        for address in through:
            headers = {"X-Forwarded-For": address}
            found.append(server.socket(f"https://{name}", name, headers))
    except InvalidStatus:
        pass
    finally:
        for ws in found:
            ws.close()
    wait_until(lambda: not server.limits._sockets)
    return len(found)


def test_whoever_comes_through_a_server_before_this_one_is_limited_by_their_own_address():
    name, many = "play.example.com", SOCKETS_OF_ONE + 1
    server = Server(name=name, paced=True)
    try:
        everybody = [f"192.0.2.{number}" for number in range(many)]
        assert let_in(server, name, everybody) == many
        assert let_in(server, name, ["192.0.2.1"] * many) == SOCKETS_OF_ONE
        # What the client says comes before what the other server adds.
        assert let_in(server, name, [f"{each}, 192.0.2.1" for each in everybody]) == SOCKETS_OF_ONE
        statuses = [
            server.ask("GET", "/api/offer", Host=name, X_Forwarded_For=f"198.51.100.{number % 100}")[0]
            for number in range(400)
        ]
        assert set(statuses) == {200}
    finally:
        server.close()


def test_a_server_that_nobody_stands_before_believes_no_address_that_it_is_told():
    server = Server(paced=True)
    try:
        addresses = [f"192.0.2.{number}" for number in range(SOCKETS_OF_ONE + 1)]
        assert let_in(server, f"127.0.0.1:{server.port}", addresses) == SOCKETS_OF_ONE
    finally:
        server.close()


@pytest.mark.parametrize("name", ["https://play.example.com", "play.example.com/", "", "a b"])
def test_a_name_that_is_none_is_refused_before_anything_is_served(name):
    with pytest.raises(ConfigurationError, match="is no name"):
        own_names("127.0.0.1", name)


def test_the_page_asks_at_once_for_all_scripts_that_it_begins_with():
    """Otherwise a browser learns of them one by one, and waits for the server each time before it shows anything."""
    asked = re.findall(r'rel="modulepreload" href="/static/js/([\w/]+\.js)"', (PAGE / "index.html").read_text())
    needed = ["main.js"]
    for script in needed:  # which grows on the way
        imported = re.findall(r'^import\b[^;"]*"(\.[\w./]+\.js)"', (PAGE / "js" / script).read_text(), re.MULTILINE)
        found = [os.path.normpath(Path(script).parent / each) for each in imported]
        needed += [each for each in found if each not in needed]
    assert {"dom.js", "sides.js"} < set(needed)
    assert sorted(asked) == sorted(needed)


def test_every_answer_has_its_headers(server):
    for path in ("/", "/api/offer", "/nothing", "/static/index.html"):
        _, _, headers = server.ask("GET", path)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'self';") and "unsafe" not in policy and "http:" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == ("no-store" if path in ("/api/offer", "/nothing") else "no-cache")
    _, _, headers = server.ask("GET", "/")
    assert server.ask("GET", "/", If_None_Match=headers["etag"])[0] == 304


def test_addresses_of_one_network_are_one_address():
    def named(address: str) -> str:
        return address_of({"type": "http", "client": (address, 1)})

    assert named("192.0.2.7") == named("::ffff:192.0.2.7") == "192.0.2.7"
    assert named("2001:db8::1") == named("2001:db8::ffff:2") != named("2001:db8:0:1::1")
    assert named("fe80::1%eth0") == named("fe80::2") and named("somebody") == "somebody"
    assert address_of({"type": "http"}) == ""


def test_a_request_that_breaks_the_server_is_answered_with_the_same_headers(caplog):
    async def broken(scope, receive, send):
        raise ZeroDivisionError

    sent = []

    async def keep(message):
        sent.append(message)

    door = Door(broken, Limits(paced=False), own_names("127.0.0.1"))
    scope = {"type": "http", "method": "GET", "path": "/api/offer", "headers": [(b"host", b"127.0.0.1:1")]}
    asyncio.run(door(scope, None, keep))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    assert sent[0]["status"] == 500 and json.loads(sent[1]["body"])["error"]["code"] == "failure"
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "ZeroDivisionError" in caplog.text


def test_the_offer_has_variants_levels_and_clocks(server):
    _, offer, _ = server.ask("GET", "/api/offer")
    assert [variant["name"] for variant in offer["variants"]] == [
        "barrage",
        "classic",
        "duel",
        "octa-barrage",
        "medium",
        "fives",
        "geister",
        "geister-44",
        "geister-34",
        "geister-33b",
    ]
    barrage = offer["variants"][0]
    assert barrage["army"]["scout"] == 2 and barrage["lakes"][0] == "c5" and barrage["battleless_limit"] == 200
    assert {"key", "name", "seconds", "elo"} <= set(offer["levels"][0])
    learned = [variant["name"] for variant in offer["variants"] if variant["network"]]
    assert learned == [name for name in offered() if is_shipped(name)] != []
    assert "nobody" not in json.dumps(offer), "what plays for a level is nobody's business"


def test_nobody_is_proposed_a_setup_that_loses_at_once(server):
    """Of what people play in barrage, about a quarter leaves the Flag in the front row or in the open."""
    for _ in range(12):
        setup = server.post("/api/setups", variant="barrage", kind="human")["setup"]
        assert not server.post("/api/setups/check", variant="barrage", setup=setup)["warnings"]


@pytest.mark.parametrize("variant", ["classic", "barrage", "duel", "octa-barrage", "medium", "fives"])
def test_all_opponents_of_the_usual_games_were_measured_and_the_strongest_comes_last(variant):
    measured = [level.elo[variant] for level in levels() if level.plays(variant)]
    assert measured[0] == min(measured) == 0
    assert measured[-1] == max(measured)


def test_many_sockets_are_let_in_up_to_a_number_and_the_others_live_on(server, game):
    red, _ = game
    found: list[Any] = []
    refused = threading.Event()

    def knock() -> None:
        for _ in range(60):
            try:
                found.append(server.socket())
            except InvalidStatus:
                refused.set()

    threads = [threading.Thread(target=knock) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 240 and not refused.is_set()
    red.do("ping", n=5)
    assert red.wait_for("pong")["n"] == 5
    for ws in found:
        ws.close()


def test_strangers_are_paced():
    server = Server(paced=True, clock=lambda: 0.0, settings=Settings(delay=0, workers=1, warm_up=False))
    try:
        sockets = [server.socket() for _ in range(SOCKETS_OF_ONE)]
        with pytest.raises(InvalidStatus):
            server.socket()
        for ws in sockets:
            ws.close()
        # A house with one address: several people open the page, with all its files, and reload it.
        files = [path.relative_to(PAGE) for path in PAGE.rglob("*") if path.is_file()]
        for _ in range(4):
            assert {server.ask("GET", f"/static/{path.as_posix()}")[0] for path in files} == {200}
        statuses = [server.ask("GET", "/api/offer")[0] for _ in range(400)]
        assert 200 in statuses and 429 in statuses
    finally:
        server.close()


def test_wrong_secrets_messages_and_games_are_paced_by_address_and_come_back_with_time():
    now = [0.0]
    limits = Limits(True, lambda: now[0])
    for what, most in (("secrets", 20), ("games", 10), ("messages", 100)):
        assert [limits.take(what, "a") for _ in range(most + 1)] == [True] * most + [False]
        assert limits.take(what, "b")
    now[0] = 10.0
    assert [limits.take("secrets", "a") for _ in range(6)] == [True] * 5 + [False]
    free = Limits(False, lambda: now[0])
    assert all(free.take("games", "a") for _ in range(1000))


def test_a_slow_socket_misses_sights_but_no_move_and_keeps_nobody_waiting(server):
    against = {"kind": "watch", "red": "cadet", "blue": "cadet"}
    made = server.post("/api/games", variant="fives", against=against)
    place = {"game": made["game"], "seat": "watch", "secret": made["seats"]["watch"]}
    with server.sit(**place) as slow, server.sit(**place) as quick:  # the slow one does not listen for a while
        quick.until(lambda sight: sight["over"] is not None)
        slow.until(lambda sight: sight["over"] is not None)
        assert slow.moves == quick.moves and len(slow.moves) == slow.sight["ply"]


def test_the_setup_that_every_page_begins_with_waits_for_no_process():
    server = Server()
    try:
        assert server.post("/api/setups", variant="barrage", kind="human")["setup"]
        assert not server.host.quick.pids
    finally:
        server.close()


# ── For whoever runs the server ──────────────────────────────────────────────────────────────────


def test_long_answers_are_compressed_for_who_takes_that_and_short_ones_with_secrets_are_not(server):
    for path in ("/api/offer", "/static/js/review.js"):
        _, plain, as_it_is = server.ask("GET", path)
        assert "content-encoding" not in as_it_is
        status, found, headers = server.ask("GET", path, Accept_Encoding="gzip")
        assert (status, headers["content-encoding"]) == (200, "gzip") and "Accept-Encoding" in headers["vary"]
        assert found == plain and headers["content-security-policy"] == as_it_is["content-security-policy"]
        assert path != "/api/offer" or int(headers["content-length"]) < int(as_it_is["content-length"]) / 2
    wanted = {"variant": "barrage", "against": {"kind": "friend"}}
    _, made, headers = server.ask("POST", "/api/games", wanted, Accept_Encoding="gzip")
    assert made["seats"]["red"] and "content-encoding" not in headers


def test_a_server_says_whether_it_is_well(tmp_path):
    server = Server(tmp_path / "games.sqlite")
    try:
        made = server.level()
        with server.sit(made["game"], "red", made["seats"]["red"]):
            status, told, _ = server.ask("GET", "/api/health")
        assert (status, told["ok"], told["tables"]) == (200, True, 1)
        assert told["waiting"] == {"quick": 0, "deep": 0, "reviews": 0}
        assert (told["programs"], told["cluster"]) == (0, None)
        server.host.shelf.close()
        status, told, _ = server.ask("GET", "/api/health")
        assert (status, told["error"]["code"]) == (503, "shelf")
    finally:
        server.close()
