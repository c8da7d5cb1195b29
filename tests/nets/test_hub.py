"""Models of others: fetched from a hub, from the web and from folders; refused; published."""

from __future__ import annotations

import base64
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
import torch
from test_learn_run import SMALL
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.cli.main import app
from vauban.errors import ConfigurationError, MissingLibraryError
from vauban.games.stratego.game import Stratego
from vauban.learn.config import parse_config
from vauban.learn.run import Run
from vauban.nets import hub
from vauban.nets.hub import check_stranger, fetch, own_name, split_address
from vauban.nets.kinds import describe
from vauban.nets.move import MoveNetwork
from vauban.nets.store import STRENGTH, ModelError, load_model, make_card, read_card, save_model, with_place
from vauban.nets.transformer import Size

COMMIT = "0123456789abcdef0123456789abcdef01234567"
Files = dict[str, bytes]


class House(ThreadingHTTPServer):
    """A web server that has files by address, and answers the requests of a hub's library that a model needs."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Caller)
        self.files: dict[str, Files] = {}
        """By OWNER/NAME: the files of the repository."""
        self.made: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.headers: dict[str, str] = {}
        """Said of every file, in place of what is true."""
        self.endpoint = f"http://127.0.0.1:{self.server_port}"


class Caller(BaseHTTPRequestHandler):
    server: House

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, data: bytes | Any, status: int = 200, **headers: str) -> None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/?]+)(/revision/[^?]+)?(\?.*)?", self.path):
            if found[1] not in self.server.files:
                self.answer({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
                return
            there = [{"rfilename": name, "size": len(data)} for name, data in self.server.files[found[1]].items()]
            self.answer({"id": found[1], "sha": COMMIT, "siblings": there})
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/(?:resolve/[^/]+/)?([^/?]+)", self.path):
            data = self.server.files.get(found[1], {}).get(found[2])
            if data is None:
                self.answer(b"", 404)
            else:
                self.answer(data, ETag=f'"{hash(data):x}"', X_Repo_Commit=COMMIT, **self.server.headers)
        else:
            self.answer(b"", 404)

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/api/repos/create":
            asked = json.loads(data)
            name = f"{asked['organization']}/{asked['name']}" if "organization" in asked else asked["name"]
            self.server.made.append(asked)
            self.server.files.setdefault(name, {})
            self.answer({"url": f"{self.server.endpoint}/{name}"})
        elif "/preupload/" in self.path:
            files = [{"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                     for each in json.loads(data)["files"]]  # fmt: skip
            self.answer({"files": files})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", self.path.partition("?")[0]):
            for line in map(json.loads, data.splitlines()):
                if line["key"] == "file":
                    content = base64.b64decode(line["value"]["content"])
                    self.server.files[found[1]][line["value"]["path"]] = content
            self.answer({"commitUrl": f"{self.server.endpoint}/{found[1]}/commit/{COMMIT}", "commitOid": COMMIT})
        else:
            self.answer({})


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[House]:
    """Return a server that the hub's library takes for the hub, in a folder of its own."""
    server = House()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(hub, "cache_base", lambda: tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def the_hub(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    """Return the house, if the library of the hub is installed."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="huggingface_hub is not installed")
    # As HF_ENDPOINT sets them when the library is first imported.
    monkeypatch.setattr(constants, "ENDPOINT", house.endpoint)
    template = house.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setenv("HF_TOKEN", "hf_anything")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    return house


def model_files(folder: Path, change: Callable[[dict[str, Any]], None] = lambda card: None) -> Files:
    """Return the files of a small model, its card changed."""
    game = Stratego("tiny")
    network = MoveNetwork(game, Size(depth=1, width=16, heads=2))
    agent = "net:models/mine,temperature=0"
    row = {**dict.fromkeys(STRENGTH, 0.5), "agent": agent, "opponent": "fox", "variant": "tiny",
           "command": f"vauban match {agent} fox --games 2", "date": "2026-11-19"}  # fmt: skip
    card = make_card(game, {"move": describe(network)}, name="mine", about="For tests.", strength=[row])
    save_model(folder, {"move": network}, card, torch.float32)
    card = read_card(folder)
    change(card)
    return {
        "card.json": json.dumps(card).encode(),
        "move.safetensors": (folder / "move.safetensors").read_bytes(),
        "README.md": b"# mine",
        "helper.py": b"raise SystemExit('code of a stranger has run')",
        "optimiser.pt": b"a pickle",
    }


def told(*arguments: str) -> str:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def left(folder: Path) -> list[str]:
    """Return the names of what a refused model has left behind."""
    return [path.name for path in folder.rglob("*") if path.is_file() or path.name.startswith(".fetching")]


# ── Fetched ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["folder", "web"])
def test_a_model_is_fetched_whole_and_nothing_else_with_it(house: House, tmp_path: Path, place: str) -> None:
    house.files["models/mine"] = model_files(tmp_path / "mine")
    (tmp_path / "mine" / "helper.py").write_text("raise SystemExit")
    address = str(tmp_path / "mine") if place == "folder" else f"{house.endpoint}/models/mine/"
    said = told("models", "fetch", address, "--out", "theirs")
    assert "Fetched into theirs." in said and "For tests." in said
    model = load_model("./theirs")
    assert model.card["name"] == "mine"
    assert {path.name for path in Path("theirs").iterdir()} <= {"card.json", "move.safetensors", "README.md"}
    assert not [path for path in house.asked if "helper" in path or "optimiser" in path]
    with pytest.raises(ConfigurationError, match="there is a folder theirs already: name another with --out"):
        told("models", "fetch", address, "--out", "theirs")
    told("models", "fetch", address)
    assert read_card(Path("models/mine")) == model.card


def test_a_model_of_the_hub_is_fetched_and_stands_wherever_a_model_is_named(the_hub: House, tmp_path: Path) -> None:
    the_hub.files["somebody/mine"] = model_files(tmp_path / "mine")
    told("models", "fetch", "hf:somebody/mine", "--out", "theirs")
    assert {path.name for path in Path("theirs").iterdir()} == {"card.json", "move.safetensors", "README.md"}
    said = told("models", "hf:somebody/mine")
    assert "fetching hf:somebody/mine; it is kept in" in said and "For tests." in said
    the_hub.asked.clear()
    agent = make_agent("net:hf:somebody/mine,temperature=0.5", 1)
    assert agent.name == "net:hf:somebody/mine,temperature=0.5"
    agent.check_plays(Stratego("tiny"))
    assert not the_hub.asked, "it is kept"
    with pytest.raises(ModelError, match="hf:somebody/yours: the hub says: .*is it spelled so, or private"):
        load_model("hf:somebody/yours")
    the_hub.shutdown()
    the_hub.server_close()
    with pytest.raises(ModelError, match="hf:somebody/yours: the hub cannot be reached: "):
        load_model("hf:somebody/yours")


@pytest.mark.parametrize(
    "text", ["hf:", "hf:name", "hf:../x", "hf:a/b/c", "hf:a/..", "hf:a/b@../x", "hf:a/b@", "hf:a b/c"]
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="write hf:OWNER/NAME"):
        split_address(text)


def test_addresses_have_revisions() -> None:
    assert split_address("hf:a/b") == ("a/b", "main")
    assert split_address("hf:a/b.c@refs/pr/1") == ("a/b.c", "refs/pr/1")


@pytest.mark.parametrize(
    "address", ["hf:a/mine", "hf:a/mine@v2", "hf:a/mine@refs/pr/1", "https://host/b/mine/", "b/mine"]
)
def test_a_fetched_model_is_named_as_where_it_comes_from(address: str) -> None:
    assert own_name(address) == "mine"


# ── Refused ──────────────────────────────────────────────────────────────────────────────────────


def _set(*path: str, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(card: dict[str, Any]) -> None:
        for name in path[:-1]:
            card = card[name]
        card[path[-1]] = to

    return change


def _renamed(card: dict[str, Any]) -> None:
    card["networks"]["../../evil"] = card["networks"]["move"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_renamed, "'../../evil': a part of a model is named by small letters"),
        (_set("networks", "move", "kind", to="evil"), "there is no kind of network 'evil'"),
        (_set("networks", "move", "observation_version", to=99), "it learned from version 99 of the observation"),
        (_set("networks", "move", "size", "width", to=1 << 20), "networks.move.size.width = 1,048,576, and"),
        (_set("networks", "move", "size", "depth", to=16000), "networks.move.size.depth = 16,000, and"),
        (_set("networks", "move", "size", "depth", to=8), "weights are missing"),
        (
            lambda card: card["networks"]["move"]["size"].update(width=16384, feedforward=16384),
            "its networks take .* GB, and 2 GB is the most",
        ),
        (_set("variant", to="py:helper.py:Evil"), "it plays 'py:helper.py:Evil', a game in a file"),
        (_set("variant", to="steps:py:helper.py:Evil"), "a game in a file"),
        (_set("variant", to="/etc/mine.toml"), "a game in a file of its author's machine"),
        (_set("networks", "belief", to={"kind": "belief"}), "'size' must be an object"),
        (_set("format", to=2), "a card of format 2"),
    ],
)  # fmt: skip
def test_a_strangers_model_that_does_not_fit_is_refused_and_not_kept(
    house: House, tmp_path: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    house.files["models/odd"] = model_files(tmp_path / "mine", change)
    address = f"{house.endpoint}/models/odd"
    with pytest.raises(ModelError, match=words) as caught:
        fetch(address, tmp_path / "out" / "theirs")
    assert address in str(caught.value) and "fetching-" not in str(caught.value)
    assert not left(tmp_path / "out")


def test_files_that_are_too_large_or_not_there_or_no_weights_are_refused(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = house.files["models/odd"] = model_files(tmp_path / "mine")
    address, out = f"{house.endpoint}/models/odd", tmp_path / "out" / "theirs"
    with monkeypatch.context() as smaller:
        smaller.setattr(hub, "LARGEST", len(files["move.safetensors"]) + (1 << 20))
        files["move.safetensors"] += bytes(1 << 21)
        with pytest.raises(ModelError, match=r"move.safetensors has [\d,]+ bytes, and .* MB is the most") as caught:
            fetch(address, out)
        assert str(caught.value).count(address) == 1
    files["move.safetensors"] = b"\x80\x04a pickle"
    with pytest.raises(ModelError, match="cannot be read as weights in safetensors format"):
        fetch(address, out)
    del files["move.safetensors"]
    with pytest.raises(ModelError, match="the card describes a network 'move', and there is no move.safetensors"):
        fetch(address, out)
    files["card.json"] = b"{"
    with pytest.raises(ModelError, match=r"card.json: cannot be read as a card"):
        fetch(address, out)
    del files["card.json"]
    with pytest.raises(ModelError, match="this is no model of Vauban: there is no card.json"):
        fetch(address, out)
    for headers, words in (
        ({"Content_Length": "100"}, "card.json cannot be fetched: only 2 of 100 bytes have come"),
        ({"Content_Length": "", "Transfer_Encoding": "chunked"}, "card.json cannot be fetched: IncompleteRead"),
    ):
        house.files["models/odd"] = {"card.json": b"9\r"}
        house.headers = headers
        with pytest.raises(ModelError, match=words):
            fetch(address, out)
    with pytest.raises(ModelError, match="cannot be fetched: URL can't contain control characters"):
        fetch("http://127.0.0.1/two words", out)
    with pytest.raises(ModelError, match="there is no such folder"):
        fetch("./nowhere", out)
    house.shutdown()
    house.server_close()
    with pytest.raises(ModelError, match="card.json cannot be fetched"):
        fetch(address, out)
    assert not left(tmp_path / "out")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1,000\r\n\r\n{}", "cannot be fetched"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}", "only 2 of 1,000 bytes have come"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "cannot be fetched"),
        (b"nonsense\r\n\r\n", "cannot be fetched"),
    ],
)
def test_an_answer_that_breaks_off_or_is_none_is_told_in_a_sentence(tmp_path: Path, answer: bytes, words: str) -> None:
    class Broken(StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            self.wfile.write(answer)

    with ThreadingTCPServer(("127.0.0.1", 0), Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/mine"
        with pytest.raises(ModelError, match=words) as caught:
            fetch(address, tmp_path / "out")
        server.shutdown()
    assert str(caught.value).startswith(f"{address}: card.json")


def test_every_kind_of_network_can_be_measured_without_memory() -> None:
    """Networks of strangers are measured by their shapes alone; shipped models may be fetched."""
    for name in ("barrage", "geister"):
        check_stranger(read_card(hub.store.SHIPPED / name), name)


def test_a_game_in_a_file_is_not_run_for_the_sake_of_a_model(tmp_path: Path) -> None:
    """Also not when somebody has copied the stranger's folder, with the file in it, by other means."""
    (tmp_path / "helper.py").write_text("raise SystemExit('code of a stranger has run')")
    evil = f"py:{tmp_path / 'helper.py'}:Evil"
    files = model_files(tmp_path / "mine", _set("variant", to=evil))
    (tmp_path / "mine" / "card.json").write_bytes(files["card.json"])
    with pytest.raises(ModelError, match=f"a game in a file, which is not run .* --game {re.escape(evil)}"):
        load_model(tmp_path / "mine")


def test_without_the_library_of_the_hub_its_models_say_how_to_get_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingLibraryError, match=re.escape('pip install "vauban-games[hub]"')):
        load_model("hf:somebody/mine")


# ── Published ────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_published_with_a_page_whose_commands_name_it_there(the_hub: House, tmp_path: Path) -> None:
    with closing(Run.begin(parse_config(SMALL), tmp_path / "run")) as run:
        run.iterate()
        run.save()
    said = told("models", "publish", "run/", "hf:somebody/mine", "--private")
    assert "It plays as net:hf:somebody/mine" in said
    assert the_hub.made[-1].get("private") or the_hub.made[-1].get("visibility") == "private"
    files = the_hub.files["somebody/mine"]
    assert set(files) == {"card.json", "README.md", "move.safetensors", "setup.safetensors"}
    page = files["README.md"].decode()
    assert page.startswith("---\nlicense: apache-2.0\nlibrary_name: vauban\n")
    assert "$ vauban match net:hf:somebody/mine random --game tiny" in page
    assert "ataraxos (version" in page
    told("models", "fetch", "hf:somebody/mine", "--out", "theirs")
    assert read_card(Path("theirs"))["training"]["iterations"] == 1


def test_a_model_is_published_with_its_matches(the_hub: House, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    model_files(tmp_path / "mine")
    (tmp_path / "mine" / "diary.txt").write_text("nobody's business")
    told("models", "publish", "./mine", "hf:somebody/mine")
    files = the_hub.files["somebody/mine"]
    assert set(files) == {"card.json", "README.md", "move.safetensors"}
    [row] = json.loads(files["card.json"])["strength"]
    assert row["agent"] == "net:hf:somebody/mine,temperature=0"
    assert row["command"] == "vauban match net:hf:somebody/mine,temperature=0 fox --games 2"


def test_a_place_that_is_none_of_the_hub_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="a model is published at hf:OWNER/NAME"):
        told("models", "publish", "barrage", "./folder")


def test_the_place_of_a_model_is_in_the_commands_of_its_matches() -> None:
    row = {"agent": "search:mine,time=1", "command": "vauban match search:mine,time=1 'py:a b.py:C' --games 2"}
    [moved] = with_place({"strength": [row]}, "./there")["strength"]
    assert moved == {"agent": "search:./there,time=1",
                     "command": "vauban match search:./there,time=1 'py:a b.py:C' --games 2"}  # fmt: skip
