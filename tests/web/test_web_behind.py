"""nginx before the page, by the files in `deploy`: a game through it, and games of several servers by their names."""

from __future__ import annotations

import http.client
import random
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from web_server import BLUE, RED, WALLED, Server, Talk, wait_until
from websockets.sync.client import ClientConnection

from vauban.web.host import Settings
from vauban.web.limits import RATES, Rate

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = "play.example.com"


class Through(Talk):
    """A client that knows the name of the server in front."""

    def ask(self, method: str, path: str, body: Any = None, secret: str | None = None, **headers: str) -> Any:
        return super().ask(method, path, body, secret, Host=NAME, Origin=f"https://{NAME}", **headers)

    def socket(self, *args: Any, game: str | None = None, **more: Any) -> ClientConnection:
        return super().socket(f"https://{NAME}", NAME, game=game)


def serving(prefix: str = "") -> Server:
    settings = Settings(delay=0.0, watch_delay=0.0, warm_up=False, prefix=prefix)
    return Server(settings=settings, paced=True, name=NAME)


@contextmanager
def before(file: str, folder: Path, ports: dict[int, int]) -> Iterator[Through]:
    """Run nginx by one of the files, with other ports in place of those that it names."""
    assert NGINX is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        ports = ports | {80: probe.getsockname()[1]}
    text = (DEPLOY / file).read_text()
    text = re.sub(r"listen 80;", f"listen 127.0.0.1:{ports[80]};", text)
    text = re.sub(r"127\.0\.0\.1:(83\d\d);", lambda found: f"127.0.0.1:{ports[int(found[1])]};", text)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = (
        f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log {folder}/access.log;\n{temporary}{text}\n}}\n"
    )
    (folder / "nginx.conf").write_text(whole)
    process = subprocess.Popen([NGINX, "-p", str(folder), "-e", str(folder / "error.log"), "-c", "nginx.conf"])
    try:
        wait_until(lambda: _listens(ports[80]) or process.poll() is not None)
        assert process.poll() is None, (folder / "error.log").read_text()
        yield Through(ports[80])
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def status_from(source: str, port: int, forged: str) -> int:
    """Ask how the server is from an address of this machine, with an address forged; return the status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, PATIENCE, source_address=(source, 0))
    try:
        connection.request("GET", "/api/health", headers={"Host": NAME, "X-Forwarded-For": forged})
        return connection.getresponse().status
    finally:
        connection.close()


def play(talk: Talk, made: dict[str, Any], moves: int = 3) -> str:
    """Play so many moves over the socket, give up, and return the record."""
    rng = random.Random(1)
    [(side, secret)] = made["seats"].items()
    with talk.sit(made["game"], side, secret) as seat:
        for _ in range(moves):
            seat.my_turn()
            seat.quiet_move(rng)
        seat.do("resign")
        seat.until(lambda sight: sight["over"] is not None)
    status, record, _ = talk.ask("GET", f"/api/games/{made['game']}/record", secret=secret)
    assert status == 200
    return str(record)


def test_a_game_is_played_through_nginx_and_people_are_told_apart_by_their_addresses(tmp_path, monkeypatch):
    monkeypatch.setitem(RATES, "requests", Rate(0.0, 30))
    server = serving()
    try:
        with before("nginx.conf", tmp_path, {8300: server.port}) as talk:
            status, page, headers = talk.ask("GET", "/", Accept_Encoding="gzip")
            assert status == 200 and b"<html" in page and "content-security-policy" in headers
            assert talk.ask("GET", "/api/health")[0] == 200
            made = talk.level("cadet", setup=WALLED)
            assert "[End" in play(talk, made)
            assert made["seats"]["red"] not in (tmp_path / "access.log").read_text()
            # Whatever somebody writes there, nginx adds the address that it sees: that is what counts.
            forged = [status_from("127.0.0.2", talk.port, f"203.0.113.{n}") for n in range(31)]
            assert forged[0] == 200 and forged[-1] == 429
            assert status_from("127.0.0.3", talk.port, "203.0.113.1") == 200, "somebody else is let in"
    finally:
        server.close()


def test_games_of_several_servers_are_found_by_their_names(tmp_path):
    servers = [serving("a-"), serving("b-")]
    try:
        with before("nginx-several.conf", tmp_path, {8301: servers[0].port, 8302: servers[1].port}) as talk:
            made = [talk.level("cadet", setup=WALLED) for _ in range(8)]
            assert {each["game"][:2] for each in made} == {"a-", "b-"}, "new games go to both"
            for prefix in ("a-", "b-"):
                assert "[End" in play(talk, next(each for each in made if each["game"].startswith(prefix)))
            red, blue = talk.friends(RED, BLUE)
            red.quiet_move(random.Random(1))
            assert blue.until(lambda sight: sight["ply"] == 1)["turn"] == "blue"
            for each in (red, blue):
                each.ws.close()
    finally:
        for server in servers:
            server.close()
