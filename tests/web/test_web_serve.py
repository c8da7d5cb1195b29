"""The server as a process: killed in the middle of a game and started again, ended by Ctrl-C, with its port taken."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastapi import FastAPI
from patience import PATIENCE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from web_server import RED, WALLED, Server, Talk, wait_until
from websockets.exceptions import ConnectionClosed

from vauban.errors import ConfigurationError
from vauban.web import serve as module
from vauban.web.limits import RATES
from vauban.web.shelf import Shelf

START = """
import sys
from pathlib import Path
from vauban.web.serve import serve
serve("127.0.0.1", int(sys.argv[1]), False, Path(sys.argv[2]))
"""


@contextmanager
def serving(shelf: Path, port: int = 0):
    """A server's process, and what can be said to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, str(port), str(shelf)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        match = re.fullmatch(r"Vauban is at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends it; games are kept\)\n", line)
        assert match is not None, line + process.stderr.read()
        yield process, Talk(int(match[1]))
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_a_server_killed_in_the_middle_of_a_game_goes_on_with_it_when_it_is_started_again(tmp_path):
    shelf, rng = tmp_path / "games.sqlite", random.Random(3)

    def play(seat, plies):
        while seat.my_turn()["over"] is None and seat.sight["ply"] < plies:
            seat.quiet_move(rng)

    with serving(shelf) as (process, talk):
        made = talk.level("cadet", "red", WALLED)
        place = (made["game"], "red", made["seats"]["red"])
        seat = talk.sit(*place)
        play(seat, 6)
        before, moves = seat.sight, list(seat.moves)
        # The last thing it hears is a move: the answer to it, and nothing before it, may be lost.
        move = min(before["legal"])
        seat.move(move)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    assert Path(f"{shelf}-wal").exists() or shelf.exists()

    with serving(shelf) as (process, talk):
        with talk.sit(*place) as seat:
            after = seat.my_turn()
            assert seat.moves[: len(moves)] == moves
            made = seat.moves[len(moves)]
            assert made["from"] + made["to"] == move, "a move that was shown is lost"
            assert after["commitment"] == before["commitment"]
            assert len(seat.moves) == after["ply"] >= len(moves) + 2
            play(seat, 10_000)
            assert seat.sight["over"] is not None
        status, found, _ = talk.ask("GET", f"/api/games/{place[0]}/record", secret=place[2])
        assert status == 200 and b"[End" in found

        # Ctrl-C ends it in order, and all its processes with it; whoever is there or about to ask hears of it.
        there, asking = talk.sit(*place), socket.create_connection(("127.0.0.1", talk.port))
        asking.sendall(b"GET / HT")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        asking.close()
        with pytest.raises(ConnectionClosed):
            there.ws.recv(PATIENCE)
        assert (process.returncode, out) == (0, "")
        assert "Traceback" not in err and place[2] not in err


def test_if_the_usual_port_is_taken_another_is_and_one_that_was_asked_for_is_not(tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port}: "):
            module.listen("127.0.0.1", port)
        monkeypatch.setattr(module, "PORT", port)
        with module.listen("127.0.0.1", port) as found:
            assert found.getsockname()[1] not in (0, port)
    for host, port in (("no.such.name.invalid", 0), ("127.0.0.1", 99_999), ("203.0.113.7", 0)):
        with pytest.raises(ConfigurationError, match="nothing can be served at"):
            module.listen(host, port)


def test_small_answers_are_sent_at_once_over_the_pages_own_listener():
    # Without TCP_NODELAY an answer in two pieces waits for the other end's delayed acknowledgement: 40 ms a request.
    server = Server()
    try:
        with server.socket():
            [connection] = server.connections
            chosen = connection.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert chosen, "TCP_NODELAY is not set on a connection that the page's listener accepted"
    finally:
        server.close()


def test_what_is_written_down_holds_no_secret_no_setup_and_no_move(tmp_path):
    log = tmp_path / "server.log"
    start = START.replace("Path(sys.argv[2]))", f"Path(sys.argv[2]), log_file={str(log)!r})")
    shelf = str(tmp_path / "games.sqlite")
    process = subprocess.Popen([sys.executable, "-c", start, "0", shelf], stdout=subprocess.PIPE, text=True)
    try:
        talk = Talk(int(re.search(r"127\.0\.0\.1:(\d+)/", process.stdout.readline())[1]))
        made = talk.level()
        with talk.sit(made["game"], "red", made["seats"]["red"]) as seat:
            seat.move("e3e4")
            seat.do("resign")
            look = seat.until(lambda sight: sight["over"])["over"]["look"]
        status, _, _ = talk.ask("GET", f"/api/games/{made['game']}/picture.svg?ply=1&seat=red", secret=look)
        assert status == 200
        assert talk.ask("GET", f"/api/games/{made['game']}/record", secret="wrong" * 8)[0] == 404
        assert talk.ask("GET", f"/ws/{made['game']}")[0] == 404
        assert talk.ask("GET", "/" + "x" * 500)[0] == 404
        friend = talk.post("/api/games", variant="barrage", against={"kind": "friend"})
        joined = talk.join(friend["game"], friend["friend"]["invitation"])
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
    text = log.read_text()
    told = [json.loads(line) for line in text.splitlines()]
    assert [each["status"] for each in told if each["what"] == "request"] == [200, 200, 404, 404, 404, 200, 200]
    lost = ["/api/games/{game}/record", "/ws/{game}", "/" + "x" * 99]
    assert [each["path"] for each in told if each.get("status") == 404] == lost
    over = next(each for each in told if each["what"] == "game over")
    assert (over["kind"], over["game"], over["end"]) == ("level", "barrage", "resigned")
    assert next(each for each in told if each["what"] == "game made")["levels"] == ["person", "cadet"]
    assert all({"time", "level", "what"} <= set(each) for each in told)
    secret = [*made["seats"].values(), *friend["seats"].values(), friend["friend"]["invitation"], joined[1], look, RED]
    secret += [made["game"], friend["game"], "e3e4", "wrong", "ply="]
    assert [each for each in secret if each in text] == []


@pytest.mark.parametrize("prefix", ["A", "a-", "über", "ninechars"])
def test_a_prefix_of_games_that_a_proxy_could_not_go_by_is_refused(prefix):
    with pytest.raises(ConfigurationError, match="up to 8 small letters and digits"):
        module.serve(prefix=prefix)


def test_a_proxy_on_another_machine_is_believed_and_one_that_is_none_refused():
    app = FastAPI()
    named = module.configuration(app, behind=True, proxies=["10.0.0.0/24"]).forwarded_allow_ips
    believed = ProxyHeadersMiddleware(app, named).trusted_hosts
    assert all(address in believed for address in ("127.0.0.1", "::1", "10.0.0.7")) and "10.0.1.7" not in believed
    with pytest.raises(ConfigurationError, match="an address or a network, as 10"):
        module.configuration(app, behind=True, proxies=["play.example.com"])
    with pytest.raises(ConfigurationError, match="together with the name"):
        module.serve(proxies=["10.0.0.5"])


def test_a_log_that_cannot_be_written_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be written: No such file"):
        module.serve(log_file=str(tmp_path / "none" / "server.log"))


def test_a_shelf_that_is_none_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(ConfigurationError, match="cannot be used as a shelf"):
        module.serve(port=0, browser=False, shelf=tmp_path / "text")


def test_a_damaged_shelf_is_refused_with_the_way_out_and_left_as_it_is(tmp_path):
    file = tmp_path / "games.sqlite"
    shelf = Shelf(file)
    for number in range(200):
        shelf.append(f"game{number}", 0, [{"what": "x" * 500}] * 5)
    shelf.close()
    data = bytearray(file.read_bytes())
    for place in range(8192, len(data) - 4096, 4096):
        data[place : place + 400] = b"\xff" * 400
    file.write_bytes(data)
    with pytest.raises(ConfigurationError, match=r"games.sqlite (is damaged|cannot be used).*") as refusal:
        module.serve(port=0, browser=False, shelf=file)
    assert "--shelf" in str(refusal.value)
    assert file.read_bytes() == bytes(data)


def test_a_shelf_of_another_version_is_refused_and_a_folder_that_is_none_named(tmp_path):
    file = tmp_path / "games.sqlite"
    Shelf(file).close()
    with sqlite3.connect(file) as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigurationError, match=r"another version of Vauban \(99\)"):
        Shelf(file)
    with pytest.raises(ConfigurationError, match="cannot be used as a shelf"):
        Shelf(file / "below" / "games.sqlite")
    with pytest.raises(ConfigurationError, match="cannot be used as a shelf"):
        Shelf(tmp_path)


def test_a_shelf_that_can_be_read_only_is_refused_at_the_start_and_not_in_the_middle_of_a_game(tmp_path):
    file = tmp_path / "games.sqlite"
    Shelf(file).close()
    file.chmod(0o400)
    tmp_path.chmod(0o500)
    if os.access(file, os.W_OK):
        pytest.skip("whoever runs this may write everywhere")
    for each in (file, tmp_path / "another"):
        with pytest.raises(ConfigurationError, match="cannot be used as a shelf.*Permission"):
            Shelf(each)


def test_a_server_for_everybody_says_where_others_reach_it(tmp_path):
    start = START.replace("127.0.0.1", "0.0.0.0")
    process = subprocess.Popen(
        [sys.executable, "-c", start, "0", str(tmp_path / "games.sqlite")], stdout=subprocess.PIPE, text=True
    )
    try:
        lines = [process.stdout.readline() for _ in range(2)]
        port = re.fullmatch(r"Vauban is at http://localhost:(\d+)/ .*\n", lines[0])[1]
        other = re.fullmatch(rf"Others reach it at http://([^/:]+):{port}/; .*\n", lines[1])[1]
        talk = Talk(int(port))
        assert talk.ask("GET", "/api/offer", Host=f"{other}:{port}")[0] == 200
        assert talk.ask("GET", "/api/offer", Host="evil.example")[0] == 421
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_server_behind_another_is_told_its_name_and_paces_those_who_come_through_it(tmp_path):
    most = int(RATES["requests"].most)
    name, shelf = "play.example.com", str(tmp_path / "games.sqlite")
    # No time passes for its limits, however slow this machine is.
    start = START.replace("Path(sys.argv[2]))", f"Path(sys.argv[2]), {name!r}, clock=lambda: 0.0)")
    process = subprocess.Popen([sys.executable, "-c", start, "0", shelf], stdout=subprocess.PIPE, text=True)
    try:
        talk = Talk(int(re.search(r"127\.0\.0\.1:(\d+)/", process.stdout.readline())[1]))
        assert talk.ask("GET", "/api/offer", Host="example.com")[0] == 421
        statuses = [talk.ask("GET", "/api/offer", Host=name)[0] for _ in range(most + 1)]
        assert statuses == [200] * most + [429]
        told = [talk.ask("GET", "/api/offer", Host=name, X_Forwarded_For=f"192.0.2.{each}")[0] for each in range(100)]
        assert set(told) == {200}, "those who are told apart are limited one by one"
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_server_is_told_where_it_cannot_be_by_one_line_and_its_exit(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "vauban", "play", "--no-browser", "--port", port]
        done = subprocess.run(
            [*command, "--shelf", str(tmp_path / "s")], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"port {port}" in done.stderr + done.stdout


def test_the_processes_of_a_killed_server_end_with_it(tmp_path):
    with serving(tmp_path / "games.sqlite") as (process, talk):
        talk.post("/api/setups", variant="barrage", kind="human")
        children = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        every = list(children)
        for pid in children:
            every += [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        assert len(every) >= 2
        process.kill()
        process.wait(PATIENCE)

        def gone(pid: int) -> bool:
            stat = Path(f"/proc/{pid}/stat")
            try:
                return stat.read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                return True

        wait_until(lambda: all(gone(pid) for pid in every))
