"""People who mean no good, and things that go wrong: the server answers clearly, loses nothing, and shows nobody what
is another's."""

from __future__ import annotations

import asyncio
import json
import random
import re
import secrets
import socket
import sqlite3
import threading
import time
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patience import ENDLESS, PATIENCE
from web_server import BLUE, RED, Seat, Server, wait_until
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus

from vauban.web import app as application
from vauban.web import connections
from vauban.web import host as module
from vauban.web.connections import descriptors
from vauban.web.host import Host, Settings
from vauban.web.levels import Level, levels
from vauban.web.limits import Rate
from vauban.web.rooms import Client
from vauban.web.shelf import Shelf
from vauban.web.table import PERSON, SEATS, Event, Table, new_table

PATIENT = Level("patient", "Patient", {"default": f"mcts:time={ENDLESS:g},rollouts=500"}, ENDLESS)


@pytest.fixture(scope="module")
def server():
    found = Server(among=(*levels(), PATIENT))
    yield found
    found.close()


def refusal(server: Server, method: str, path: str, body: Any = None, secret: str | None = None) -> tuple[int, str]:
    status, found, _ = server.ask(method, path, body, secret)
    return status, found["error"]["code"]


# ── Invitations ──────────────────────────────────────────────────────────────────────────────────


def invitation(server: Server) -> tuple[str, dict[str, str], str]:
    made = server.post("/api/games", variant="barrage", against={"kind": "friend"}, side="red")
    return made["game"], made["seats"], made["friend"]["invitation"]


def test_whoever_makes_a_game_for_a_friend_never_sees_the_secret_of_the_friends_seat(server):
    game, seats, token = invitation(server)
    assert set(seats) == {"red"}
    with server.sit(game, "red", seats["red"]) as red:
        assert red.sight["invited"] == "blue"
        # The invitation is not a secret: it opens no seat by itself.
        for seat in SEATS:
            with server.socket() as ws:
                ws.send(json.dumps({"do": "sit", "game": game, "seat": seat, "secret": token}))
                assert json.loads(ws.recv(PATIENCE))["code"] == "game"
        seat, secret = server.join(game, token)
        red.until(lambda sight: sight["invited"] is None)
        assert seat == "blue"
        with server.sit(game, "blue", secret) as blue:
            red.do("setup", setup=RED)
            blue.do("setup", setup=BLUE)
            for each in (red, blue):
                each.until(lambda sight: sight["phase"] == "play")
        assert not any(secret in text for text in red.heard)


def test_an_invitation_is_taken_once_and_whoever_took_it_may_lose_the_answer(server):
    game, _, token = invitation(server)
    seat, secret = server.join(game, token)
    path = f"/api/games/{game}/join"
    # The same browser asks again, for its answer was lost; the seat is still its own.
    assert server.post(path, invitation=token, secret=secret)["seats"] == {seat: secret}
    other = secrets.token_urlsafe(24)
    assert refusal(server, "POST", path, {"invitation": token, "secret": other}) == (409, "invitation")
    with server.sit(game, seat, secret) as blue:  # and after a reload
        assert blue.sight["seat"] == "blue"


def test_of_many_who_take_an_invitation_at_once_one_gets_the_seat(server):
    game, _, token = invitation(server)
    statuses: list[int] = []

    def take() -> None:
        body = {"invitation": token, "secret": secrets.token_urlsafe(24)}
        statuses.append(server.ask("POST", f"/api/games/{game}/join", body)[0])

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [409] * 7


def test_wrong_invitations_and_weak_secrets_are_refused(server):
    game, seats, token = invitation(server)
    good = secrets.token_urlsafe(24)
    for there, body, expected in [
        (game, {"invitation": "x", "secret": good}, (404, "game")),
        (game, {"invitation": seats["red"], "secret": good}, (404, "game")),
        (game, {"invitation": "\ud800", "secret": good}, (404, "game")),
        ("nobody-is-here", {"invitation": token, "secret": good}, (404, "game")),
        ("..%2f..%2f", {"invitation": token, "secret": good}, (404, "http")),
        (game, {"invitation": token, "secret": "short"}, (400, "message")),
        (game, {"invitation": token, "secret": "x" * 65}, (400, "message")),
        (game, {"invitation": token, "secret": "ü" * 40}, (400, "message")),
        (game, {"invitation": token}, (400, "message")),
        (game, {"invitation": 7, "secret": good}, (400, "message")),
    ]:
        assert refusal(server, "POST", f"/api/games/{there}/join", body) == expected, body
    made = server.level()
    body = {"invitation": "-" * 32, "secret": good}
    assert refusal(server, "POST", f"/api/games/{made['game']}/join", body) == (404, "game")
    assert server.join(game, token)[0] == "blue", "nothing of this has used it up"
    assert game not in server.host.rooms, "nobody sits there, so nothing of it stays in memory"


@pytest.mark.parametrize("kind", ["level", "friend", "hotseat", "watch"])
def test_the_shelf_holds_no_secret_that_opens_a_seat_and_what_it_holds_opens_none(tmp_path, kind):
    file = tmp_path / "games.sqlite"
    server = Server(file)
    against = {"level": {"level": "recruit"}, "watch": {"red": "recruit", "blue": "recruit"}}.get(kind, {})
    wishes = {"setup": RED} if kind == "level" else {}
    made = server.post("/api/games", variant="barrage", against={"kind": kind} | against, **wishes)
    game, known = made["game"], dict(made["seats"])
    if kind == "friend":
        known["blue"] = server.join(game, made["friend"]["invitation"])[1]
        known["invitation"] = made["friend"]["invitation"]
    server.close()
    server = Server(file)
    try:
        kept = json.dumps(server.host.shelf.events(game))
        hashes = re.findall('"(sha256:[0-9a-f]{64})"', kept)
        assert len(hashes) == len(known)
        assert [what for what, secret in known.items() if secret in kept] == []
        for seat in set(known) & set(SEATS):
            for secret in hashes:
                with server.socket() as ws:
                    ws.send(json.dumps({"do": "sit", "game": game, "seat": seat, "secret": secret}))
                    assert json.loads(ws.recv(PATIENCE))["code"] == "game"
            with server.sit(game, seat, known[seat]) as mine:  # and whoever has the secret is let in
                assert mine.sight["seat"] == seat
    finally:
        server.close()


# ── Links to look back ───────────────────────────────────────────────────────────────────────────


def test_a_link_to_look_back_opens_the_finished_game_and_no_seat_in_the_next(server):
    made = server.level("cadet")
    with server.sit(made["game"], "red", made["seats"]["red"]) as red:
        red.move("e3e4")
        assert '"look"' not in "".join(red.heard)
        red.do("resign")
        look = red.until(lambda sight: sight["over"])["over"]["look"]
        assert look not in (red.secret, "")
        with server.sit(made["game"], "watch", look) as guest:
            assert all(piece["type"] for piece in guest.sight["pieces"])
            assert guest.refused("rematch")["code"] == "seat"
            red.do("rematch")
            there = red.wait_for("rematch")
            guest.until(lambda sight: sight["rematch"] == ["red"])
            guest.do("ping", n=1)
            guest.wait_for("pong")
            assert not any(there["game"] in text for text in guest.heard)
    for seat in ("red", "blue"):
        with server.socket() as ws:
            ws.send(json.dumps({"do": "sit", "game": made["game"], "seat": seat, "secret": look}))
            assert json.loads(ws.recv(PATIENCE))["code"] == "game"
    assert server.ask("GET", f"/api/games/{made['game']}/record", secret=look)[0] == 200
    assert server.ask("GET", f"/api/games/{made['game']}/review", secret=look)[0] in (200, 202)


def test_a_link_to_look_back_on_two_machines_has_no_part_in_their_next_game(server):
    made = server.post("/api/games", variant="barrage", against={"kind": "watch", "red": "recruit", "blue": "recruit"})
    path = f"/api/games/{made['game']}/record"
    with server.sit(made["game"], "watch", made["seats"]["watch"]) as owner:
        owner.do("stop")
        look = owner.until(lambda sight: sight["over"])["over"]["look"]
        assert look == owner.sight["watching"]["look"] != owner.secret
        assert {server.ask("GET", path, secret=secret)[0] for secret in (look, owner.secret)} == {200}
        with server.sit(made["game"], "watch", look) as guest:
            for what in ("rematch", "stop", "step"):
                assert guest.refused(what)["key"] == "seat.look"
            assert owner.sight["rematch"] == []
            owner.do("rematch")
            there = owner.wait_for("rematch")
            assert guest.refused("rematch")["code"] == "seat"
            assert not any(there["game"] in text for text in guest.heard)
        with server.sit(there["game"], "watch", owner.secret) as again:
            again.do("pause", paused=True)
            again.until(lambda sight: sight["watching"]["paused"])
    # Where people play, the link opens nothing before the end.
    table = Table.made(new_table("barrage", "hotseat", (PERSON, PERSON)))
    assert not table.knows(table.look)


def test_before_the_end_neither_seat_gets_anything_that_shows_both_armies(server):
    red, blue = server.friends()
    with red, blue:
        look = server.host.rooms[red.game].table.look
        for secret, expected in [(red.secret, (409, "phase")), (blue.secret, (409, "phase")), (look, (404, "game"))]:
            for what in ("record", "review", "picture.svg"):
                assert refusal(server, "GET", f"/api/games/{red.game}/{what}", secret=secret) == expected
        with server.socket() as ws:
            ws.send(json.dumps({"do": "sit", "game": red.game, "seat": "watch", "secret": look}))
            assert json.loads(ws.recv(PATIENCE))["code"] == "game"
        red.do("resign")
        blue.until(lambda sight: sight["over"])
        for secret in (red.secret, blue.secret, look):
            status, found, _ = server.ask("GET", f"/api/games/{red.game}/picture.svg?ply=0&seat=blue", secret=secret)
            assert status == 200 and found.startswith(b"<svg")
            assert server.ask("GET", f"/api/games/{red.game}/record", secret=secret)[0] == 200


# ── Nonsense over HTTP ───────────────────────────────────────────────────────────────────────────

SCRAP = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
WORD = st.sampled_from(
    ["barrage", "classic", "level", "friend", "hotseat", "watch", "cadet", "red", "random", "human", "model", "none",
     "strategus", "bronstein", RED, "F" * 40, "", "\ud800", "\x00", "../x"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["variant", "kind", "setup", "against", "level", "red", "blue", "side", "clock", "minutes", "seconds", "takebacks",
     "text", "invitation", "secret"]
)  # fmt: skip
BODY = st.dictionaries(KEYS, WORD | SCRAP | st.dictionaries(KEYS, WORD | SCRAP, max_size=4), max_size=8)


@given(
    st.sampled_from(["/api/setups", "/api/setups/check", "/api/games", "/api/import", "/api/games/aaaaaaaaaaaa/join"]),
    BODY | SCRAP,
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fuzzed_requests_are_answered_with_a_sentence_and_never_fail(server, path, body):
    status, found, _ = server.ask("POST", path, json.dumps(body).encode())
    if status != 200:
        assert 400 <= status < 500, (status, found)
        assert found["error"]["code"] and found["error"]["text"].endswith((".", "?", "!")), found


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/setups/check", {"variant": "barrage", "setup": "\ud800" * 40}),
        ("/api/setups/check", {"variant": "barrage", "setup": "M" * 9000}),
        ("/api/setups", {"variant": "\ud800", "kind": "random"}),
        ("/api/setups", {"variant": "b" * 15_000, "kind": "random"}),
        ("/api/setups", {"variant": "barrage", "kind": "\udfff"}),
        ("/api/import", {"text": '[Variant "\ud800"]\n\n*'}),
        ("/api/import", {"text": '[Variant "barrage"]\n[RedSetup "\ud800"]\n\n*'}),
        ("/api/games", {"variant": "barrage", "against": {"kind": "level", "level": "\ud800" * 50}, "setup": RED}),
        ("/api/games", {"variant": "barrage", "against": {"kind": "friend"}, "clock": {"kind": "bronstein",
                        "minutes": float("nan"), "seconds": float("inf")}}),
        ("/api/games", {"variant": "barrage", "against": {"kind": "friend"}, "clock": {"kind": "\ud800"}}),
    ],
)  # fmt: skip
def test_letters_that_are_none_are_refused_in_letters_that_can_be_sent(server, path, body):
    begun = time.process_time()
    status, found, _ = server.ask("POST", path, body)
    assert status == 400 and len(found["error"]["text"]) < 2_000, found
    assert time.process_time() - begun < 5  # of work, however long that takes on a busy machine


@pytest.mark.parametrize(
    "path",
    [
        "/static/%2e%2e%2fhost.py",
        "/static/..%5chost.py",
        "/static/%252e%252e%252fhost.py",
        "/static/js/..%2f..%2f..%2fhost.py",
        "/static/%c0%ae%c0%ae/host.py",
        "/static/%2fetc%2fpasswd",
        "/static/file:///etc/passwd",
        "/static/" + "a/" * 2_000,
        "/static/js",
        "/api/games/%2e%2e/record",
        "/api/games/%00/record",
        "/api/games/" + "x" * 5_000 + "/record",
        "/api/games/%F0%9F%98%80/review",
    ],
)
def test_more_path_tricks_lead_nowhere(server, path):
    status, found, _ = server.ask("GET", path, secret="x")
    assert 400 <= status < 500, found
    text = found if isinstance(found, bytes) else json.dumps(found).encode()
    assert b"import" not in text and b"root:" not in text and b"Traceback" not in text


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00" * 200,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_is_answered_or_hung_up_on_at_once(server, sent):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        with suppress(OSError):  # it may hang up before all is sent
            raw.sendall(sent)
            raw.shutdown(socket.SHUT_WR)
        found = b""
        with suppress(ConnectionError):
            while part := raw.recv(65_536):
                found += part
    assert found == b"" or found.startswith(b"HTTP/1.1 4"), found[:200]
    assert server.ask("GET", "/api/offer")[0] == 200


# ── Sockets ──────────────────────────────────────────────────────────────────────────────────────


def test_thousands_of_sockets_are_refused_beyond_a_number_and_games_go_on(monkeypatch):
    monkeypatch.setattr(application, "SIT_SECONDS", 600.0)
    wanted, most = 2_300, 2_000
    if descriptors(2 * wanted + 1_000) < 2 * wanted + 1_000:
        pytest.skip("this process may not open so many files")
    server = Server(sockets=most)
    try:
        red, blue = server.friends()
        taken = 2
        refused = 0
        held: list[Any] = []

        async def knock() -> None:
            nonlocal refused
            gate = asyncio.Semaphore(50)

            async def one() -> None:
                nonlocal refused
                async with gate:
                    try:
                        ws = await connect_async(
                            f"ws://127.0.0.1:{server.port}/ws",
                            origin=server.origin, compression=None, ping_interval=None, open_timeout=PATIENCE,
                        )  # fmt: skip
                    except InvalidStatus as error:
                        assert error.response.status_code == 403
                        refused += 1
                        return
                    held.append(ws)
                    await ws.send(json.dumps({"do": "sit", "game": red.game, "seat": "red", "secret": "x"}))

            await asyncio.gather(*(one() for _ in range(wanted)))
            # While all of them are there, the game goes on.
            await asyncio.to_thread(lambda: (red.move("e3e4"), blue.until(lambda sight: sight["ply"] == 1)))
            await asyncio.to_thread(lambda: blue.move("d8d7"))
            assert await asyncio.to_thread(lambda: server.ask("GET", "/api/offer")[0]) == 200
            await asyncio.gather(*(ws.close() for ws in held))

        asyncio.run(knock())
        assert len(held) == most - taken and len(held) + refused == wanted
        wait_until(lambda: sum(server.limits._sockets.values()) == taken)
        with server.sit(red.game, "red", red.secret) as again:
            assert again.sight["ply"] == 2
        red.ws.close()
        blue.ws.close()
        wait_until(lambda: not server.limits._sockets and not server.host.rooms)
    finally:
        server.close()


@pytest.fixture
def hasty(monkeypatch):
    """A server that has little patience."""
    monkeypatch.setattr(connections, "ASK_SECONDS", 0.4)
    monkeypatch.setattr(connections, "TAKE_SECONDS", 0.6)
    monkeypatch.setattr(connections, "CLOSE_SECONDS", 0.4)
    monkeypatch.setattr(application, "BODY_SECONDS", 0.4)
    monkeypatch.setattr(application, "SIT_SECONDS", 0.4)
    monkeypatch.setattr(application, "SEND_SECONDS", 0.6)
    found = Server(sockets=100)
    found.config.timeout_keep_alive = 1
    yield found
    found.close()


def hung_up(raw: socket.socket) -> bool:
    """Return whether the other side has hung up, within a time."""
    raw.settimeout(PATIENCE)
    try:
        while raw.recv(65_536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
        b"POST /api/setups HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
        b"GET /api/offer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n{",
    ],
)
def test_whoever_asks_too_slowly_is_let_go(hasty, sent):
    with socket.create_connection(("127.0.0.1", hasty.port)) as raw:
        raw.sendall(sent)
        assert hung_up(raw)
    assert hasty.ask("GET", "/api/offer")[0] == 200


def test_whoever_drips_a_request_byte_by_byte_is_let_go(hasty):
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=PATIENCE) as raw:
        begun = time.monotonic()
        with pytest.raises(ConnectionError):
            raw.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
            while time.monotonic() < begun + PATIENCE:
                raw.sendall(b"y")
                time.sleep(0.02)


def test_a_socket_that_never_sits_down_is_closed(hasty):
    with hasty.socket() as ws, pytest.raises(ConnectionClosed):
        while True:
            ws.recv(PATIENCE)


def raw_socket(server: Server, buffer: int = 4_096) -> socket.socket:
    """A WebSocket by hand, which takes next to nothing into its buffer."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    raw.settimeout(PATIENCE)
    raw.connect(("127.0.0.1", server.port))
    head = (
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nOrigin: {server.origin}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
    )
    raw.sendall(head.encode())
    found = b""
    while b"\r\n\r\n" not in found:
        found += raw.recv(1)
    assert found.startswith(b"HTTP/1.1 101")
    return raw


def frame(opcode: int, payload: bytes) -> bytes:
    """A frame as a client sends it, masked by nothing."""
    assert len(payload) < 65_536
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return bytes([0x80 | opcode]) + length + b"\x00" * 4 + payload


def test_whoever_asks_and_never_reads_is_let_go_and_holds_nothing(hasty):
    red, blue = hasty.friends()
    with red, blue:
        sitting = json.dumps({"do": "sit", "game": red.game, "seat": "red", "secret": red.secret})
        for flood in (
            frame(1, json.dumps({"do": "explain", "move": "e3e9"}).encode()),
            frame(9, b"x" * 125),  # pings, which are answered below the application
        ):
            with raw_socket(hasty) as raw:
                raw.sendall(frame(1, sitting.encode()))
                with pytest.raises((ConnectionError, TimeoutError)):
                    for _ in range(10**6):
                        raw.sendall(flood * 100)
        wait_until(lambda: sum(hasty.limits._sockets.values()) == 2)
        red.move("e3e4")
        blue.until(lambda sight: sight["ply"] == 1)


def test_a_socket_that_asks_faster_than_a_person_can_is_closed_with_a_word(server, monkeypatch):
    monkeypatch.setattr(application, "FLOOD", Rate(0.1, 50))
    red, blue = server.friends()
    with red, blue:
        with pytest.raises(ConnectionClosed) as closed:
            for number in range(100):
                red.do("ping", n=number)
                red.wait_for("pong")
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "That is too much at once.")
        with server.sit(red.game, "red", red.secret) as again:  # who comes back is welcome
            again.move("e3e4")
            blue.until(lambda sight: sight["ply"] == 1)


@pytest.mark.parametrize("opcode", [0, 2, 3, 8, 9, 10, 11, 15])
@pytest.mark.parametrize("payload", [b"", b"\xff" * 100, b"{" * 4_000])
def test_strange_frames_harm_nobody_else(server, opcode, payload):
    with raw_socket(server, 65_536) as raw:
        with suppress(ConnectionError):
            raw.sendall(frame(opcode, payload) + frame(1, b"\xff\xfe"))
        assert hung_up(raw)
    assert server.ask("GET", "/api/offer")[0] == 200


def test_a_message_in_many_pieces_is_measured_as_a_whole(server):
    with raw_socket(server, 65_536) as raw:
        with suppress(ConnectionError):
            raw.sendall(b"\x01\xfe\x0f\xa0" + b"\x00" * 4 + b"x" * 4_000)
            for _ in range(50):
                raw.sendall(b"\x00\xfe\x0f\xa0" + b"\x00" * 4 + b"x" * 4_000)
        assert hung_up(raw)
    assert server.ask("GET", "/api/offer")[0] == 200


# ── All at once ──────────────────────────────────────────────────────────────────────────────────


def test_a_second_browser_on_a_seat_is_told_of_to_both_and_to_nobody_else(server):
    red, blue = server.friends()

    def come(browser: str) -> Seat:
        return server.sit(red.game, "red", red.secret, browser=browser)

    for seat in (red, blue):
        seat.ws.close()
    wait_until(lambda: red.game not in server.host.rooms)
    with come("mine") as first, come("mine") as tab:
        assert not first.sight["elsewhere"] and not tab.sight["elsewhere"], "two tabs of one browser"
        with come("another") as other, server.sit(red.game, "blue", blue.secret) as friend:
            assert other.sight["elsewhere"]
            first.until(lambda sight: sight["elsewhere"])
            friend.do("offer_draw")
            assert not friend.until(lambda sight: sight["offer"] is not None)["elsewhere"]
        # It is said as long as the table is in memory, also when the other has gone.
        first.do("answer_draw", accept=False)
        assert first.until(lambda sight: sight["offer"] is None)["elsewhere"]
        assert first.refused("sit", game=red.game, seat="red", secret=red.secret, browser="x" * 41)["code"] == "message"


def test_friends_are_told_who_is_away_and_the_win_can_be_claimed_after_the_absence_that_was_agreed(tmp_path):
    file = tmp_path / "games.sqlite"
    server = Server(file)
    red, blue = server.friends(absence=5)
    with red:
        with blue:
            red.until(
                lambda sight: sight["absence"] == {"after": 300, "away": {"red": False, "blue": False}, "absent": None}
            )
            red.move("e3e4")
        sight = red.until(lambda sight: sight["absence"]["away"]["blue"])
        assert 0 <= sight["absence"]["absent"] < 300
        assert red.refused("claim")["key"] == "claim"
    # It counts on while nobody is there, and from before the server was started again.
    server.close()
    shelf = Shelf(file)
    for side in ("red", "blue"):
        shelf.keep_absence(red.game, side, time.time() - 301)
    shelf._base.execute("UPDATE changes SET seconds = seconds - 301")
    shelf.close()
    server = Server(file)
    try:
        with server.sit(red.game, "red", red.secret) as again:
            assert again.sight["absence"]["absent"] >= 301
            with server.sit(red.game, "blue", blue.secret):
                again.until(lambda sight: not sight["absence"]["away"]["blue"])
                assert again.refused("claim")["key"] == "claim"
            again.until(lambda sight: sight["absence"]["away"]["blue"])
            assert again.refused("claim")["key"] == "claim", "who was there begins anew"
        shelf = server.host.shelf
        wait_until(lambda: red.game not in server.host.rooms)
        assert set(shelf.absences(red.game)) == {"red", "blue"}
        shelf.keep_absence(red.game, "blue", time.time() - 301)
        with server.sit(red.game, "red", red.secret) as again:
            again.do("claim")
            over = again.until(lambda sight: sight["over"] is not None)["over"]
            assert (over["winner"], over["end"]) == ("red", "absent")
    finally:
        server.close()


def test_two_tabs_of_one_seat_see_the_same_and_only_one_of_two_moves_is_made(server):
    made = server.level("cadet")
    place = (made["game"], "red", made["seats"]["red"])
    with server.sit(*place) as one, server.sit(*place) as two:
        for _ in range(5):
            if one.my_turn()["over"] is not None:
                break
            ply = one.sight["ply"]
            two.until(lambda sight, ply=ply: sight["ply"] == ply and bool(sight["legal"]))
            for seat in (one, two):
                seat.do("move", n=ply, move=min(one.sight["legal"]))
            for seat in (one, two):
                seat.ignore_errors = True
            one.until(lambda sight, ply=ply: sight["ply"] >= ply + 1)
            two.until(lambda sight, ply=ply: sight["ply"] >= ply + 1)
            one.my_turn()
        two.until(lambda sight: sight["ply"] == one.sight["ply"])
        assert one.moves == two.moves
        mine = [move for move in one.moves if move["side"] == "red"]
        assert len(mine) == (len(one.moves) + 1) // 2


def test_a_move_a_take_back_and_a_resignation_in_one_breath_leave_a_game_that_can_be_told(server):
    rng = random.Random(5)
    for _ in range(12):
        made = server.level(rng.choice(["cadet", "patient"]), rng.choice(["red", "blue"]))
        [(side, secret)] = made["seats"].items()
        with server.sit(made["game"], side, secret) as seat:
            if side == "red":
                seat.do("move", move="e3e4")
            for _ in range(6):
                seat.do(rng.choice(["take_back", "offer_draw", "rematch", "take_back"]))
            seat.do("resign")
            seat.do("resign")
            seat.do("take_back")
            seat.ignore_errors = True
            seat.until(lambda sight: sight["over"] is not None)
        wait_until(lambda game=made["game"]: game not in server.host.rooms)
        status, record, _ = server.ask("GET", f"/api/games/{made['game']}/record", secret=secret)
        assert status == 200 and b'[End "resigned"]' in record


def test_a_take_back_while_the_machine_thinks_lets_it_think_again_about_the_next_move(server):
    made = server.level("patient")
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        for move in ("e3e4", "h3h4", "e3e4"):
            seat.move(move)
            seat.until(lambda sight: sight["thinking"] is not None)
            seat.do("take_back")
            seat.until(lambda sight: sight["ply"] == 0 and sight["thinking"] is None)
        seat.do("resign")
        seat.until(lambda sight: sight["over"])


def test_a_rematch_that_is_asked_for_many_times_is_one(server):
    made = server.level("cadet")
    place = (made["game"], "red", made["seats"]["red"])
    with server.sit(*place) as one, server.sit(*place) as two:
        one.do("resign")
        for seat in (one, two):
            seat.until(lambda sight: sight["over"])
            for _ in range(3):
                seat.do("rematch")
        there = one.wait_for("rematch")
        assert two.wait_for("rematch") == there
        one.do("rematch")
        assert one.wait_for("rematch") == there


def test_a_rematch_is_a_new_game_and_paced_as_one():
    server = Server(paced=True, clock=lambda: 0.0)
    try:
        made = server.level("cadet")
        with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
            seat.do("resign")
            seat.until(lambda sight: sight["over"])
            while server.limits.take("games", "127.0.0.1"):
                pass
            told = seat.refused("rematch")
            assert (told["code"], told["key"]) == ("busy", "games")
            assert seat.sight["rematch"] == []
    finally:
        server.close()


def test_a_client_of_a_table_that_cannot_be_kept_is_told_and_finds_the_truth_after_coming_back(tmp_path):
    server = Server(tmp_path / "games.sqlite")
    try:
        red, blue = server.friends()
        red.move("e3e4")
        blue.until(lambda sight: sight["ply"] == 1)
        # Somebody else holds the file for longer than the server waits for it.
        server.host.shelf._base.execute("PRAGMA busy_timeout = 1")
        other = sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        told = blue.refused("move", move="d8d7")
        assert told["code"] == "shelf" and "nothing was changed" in told["text"]
        for seat in (red, blue):
            with pytest.raises(ConnectionClosed):
                while True:
                    seat.hear()
            assert seat.sight["ply"] == 1, "a move was shown that was not kept"
        other.execute("ROLLBACK")
        other.close()
        with server.sit(red.game, "red", red.secret) as red, server.sit(red.game, "blue", blue.secret) as blue:
            assert blue.sight["ply"] == 1
            blue.move("d8d7")
            red.until(lambda sight: sight["ply"] == 2)
    finally:
        server.close()


def test_two_servers_on_one_shelf_do_not_mix_up_a_game(tmp_path):
    first, second = Server(tmp_path / "games.sqlite"), Server(tmp_path / "games.sqlite")
    try:
        red, blue = first.friends()
        there = second.sit(red.game, "red", red.secret)
        red.move("e3e4")
        blue.until(lambda sight: sight["ply"] == 1)
        assert there.refused("move", move="h3h4")["code"] == "conflict"
        with pytest.raises(ConnectionClosed):
            while True:
                there.hear()
        with second.sit(red.game, "blue", blue.secret) as there:
            assert [move["text"] for move in there.moves] == ["e3e4"]
        red.ws.close()
        blue.ws.close()
    finally:
        first.close()
        second.close()


def test_a_game_that_was_kept_in_another_way_is_refused_with_a_sentence(server):
    made = server.level()
    server.host.shelf._base.execute("UPDATE events SET event = '{}' WHERE game = ? AND number = 1", (made["game"],))
    secret = made["seats"]["red"]
    assert refusal(server, "GET", f"/api/games/{made['game']}/record", secret=secret) == (500, "unreadable")
    with server.socket() as ws:
        ws.send(json.dumps({"do": "sit", "game": made["game"], "seat": "red", "secret": secret}))
        told = json.loads(ws.recv(PATIENCE))
        assert (told["code"], told["say"]) == ("unreadable", "error") and "cannot be read" in told["text"]


def test_a_promise_that_is_changed_in_the_middle_of_a_game_is_caught_by_whoever_kept_the_first(server):
    made = server.level()
    place = (made["game"], "red", made["seats"]["red"])
    with server.sit(*place) as red:
        promised = red.sight["commitment"]["blue"]
    wait_until(lambda: made["game"] not in server.host.rooms)
    base = server.host.shelf._base
    where = "WHERE game = ? AND json_extract(event, '$.what') = 'setup' AND json_extract(event, '$.by') = 1"
    base.execute(f"UPDATE events SET event = json_set(event, '$.setup', ?) {where}", (BLUE, made["game"]))
    with server.sit(*place) as red:
        assert red.sight["commitment"]["blue"] != promised


# ── Below the socket ─────────────────────────────────────────────────────────────────────────────


def test_a_long_game_is_read_beside_all_other_games_and_once_for_all_who_wait_for_it(monkeypatch):
    read_table, read = module._read_table, []
    begun, answered = threading.Event(), threading.Event()

    def slowly(game: str, events: list[Event]) -> Table:
        begun.set()
        read.append(
            (game, answered.wait(PATIENCE))
        )  # in vain, if it keeps those from their answers who are to wait for it
        return read_table(game, events)

    monkeypatch.setattr(module, "_read_table", slowly)

    async def story() -> None:
        host = Host(Shelf(":memory:"), levels(), Settings(warm_up=False))
        made = new_table("barrage", "friend", (PERSON, PERSON), invited="blue")
        game, token, secret = made["game"], made["invitation"]["token"], secrets.token_urlsafe(24)
        host.shelf.append(game, 0, [made])
        one, two = Client(), Client()
        seat = (game, "red", made["secrets"]["red"])
        joining = host.join(game, {"invitation": token, "secret": secret})
        waiting = [asyncio.create_task(each) for each in (host.sit(one, *seat), joining, host.sit(two, *seat))]
        await asyncio.to_thread(begun.wait, PATIENCE)
        answered.set()
        await asyncio.gather(*waiting)
        assert read == [(game, True)], "nobody was answered while the game was read"
        assert host._reading == {}
        assert one.room is two.room is host.rooms[game] and one.room.table.owns("blue", secret)
        host.shelf.close()

    asyncio.run(story())


def test_a_client_that_takes_nothing_is_lost_and_holds_no_more_than_a_few_answers():
    async def story() -> None:
        client = Client()
        for number in range(1_000):
            client.reply({"say": "pong", "n": number})
        assert client.lost
        found = [text async for text in client.outgoing(lambda _: {})]
        assert len(found) <= 1_000

    asyncio.run(story())


def test_a_socket_that_is_closed_at_the_very_moment_in_which_something_was_sent_leaves_nothing_behind():
    async def story() -> None:
        sent = asyncio.get_running_loop().create_future()

        texts: list[str] = []

        class Socket:
            async def send_text(self, text: str) -> None:
                texts.append(text)
                await sent

            async def close(self, code: int) -> None:
                pass

        client: Any = Client()
        host: Any = SimpleNamespace(look=lambda client: {})
        sending = asyncio.create_task(application._send(Socket(), client, host))  # type: ignore[arg-type]
        client.reply({"say": "pong"})
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(texts) == 1
        sent.set_result(None)
        await asyncio.sleep(0)
        sending.cancel()
        done, _ = await asyncio.wait({sending}, timeout=PATIENCE)
        assert done, "it waits for ever for what nobody will send"

    asyncio.run(story())


def test_a_server_that_is_stopped_while_machines_think_and_people_wait_ends(tmp_path):
    server = Server(tmp_path / "games.sqlite", among=(*levels(), PATIENT))
    with ExitStack() as stack:
        for _ in range(4):
            made = server.level("patient")
            seat: Seat = stack.enter_context(server.sit(made["game"], "red", made["seats"]["red"]))
            seat.move("e3e4")
            seat.until(lambda sight: sight["thinking"] is not None)
        server.close()  # which waits for it, and not as long as they would think
    again = Server(tmp_path / "games.sqlite", settings=Settings(delay=0, warm_up=False), among=(*levels(), PATIENT))
    try:
        with again.sit(made["game"], "red", made["seats"]["red"]) as seat:
            assert seat.sight["ply"] == 1
            seat.until(lambda sight: sight["thinking"] is not None)
    finally:
        again.close()
