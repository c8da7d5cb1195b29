"""The HTTP application: routes, the WebSocket, headers, and checks before anything is read.

    app = make_app(Host(Shelf(path), levels()), Limits(paced=False), own_names("127.0.0.1"))

A request under another name than the server's own, or from another site's page, is refused before it is read.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import mimetypes
import re
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vauban.errors import ConfigurationError, VaubanError
from vauban.web import files as page
from vauban.web import sight as wall
from vauban.web.host import Host, NoSuchGameError
from vauban.web.limits import BODY_BYTES, FLOOD, IMPORT_BYTES, MESSAGE_BYTES, Limits
from vauban.web.lines import read_line
from vauban.web.logs import tell
from vauban.web.offer import offer, static_folder
from vauban.web.reviews import ReviewError
from vauban.web.rooms import Client
from vauban.web.shelf import ClearedError, ConflictError, ShelfError, UnreadableError
from vauban.web.show import SIDES, TableError, shows
from vauban.web.table import Table
from vauban.words import sentence
from vauban.work.base import BusyError, WorkError

SIT_SECONDS = 10.0
"""Time for a new socket to sit down at a table."""
MOST_SAID = 600
"""Longest error message, in letters."""
MOST_PATH = 100
"""Longest path that is written down, in letters."""
MOST_MOVE = 40
"""Longest text of a move, in letters."""
MOST_BROWSER = 40
"""Longest name of a browser, in letters."""
BODY_SECONDS = 20.0
"""Time for a whole request to arrive."""
SEND_SECONDS = 20.0
"""Time for a socket to take what it is sent."""

COMPRESSED_BYTES = 2_000
"""Answers from this size on are compressed, where the client takes that; those with secrets are smaller."""
COMPRESSION = 4
"""Level of compression: beyond that a look back gets a tenth smaller, and takes twice as long."""

FAILURE = "Something went wrong at the server. Nothing was changed."

HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
POLICY = (
    "default-src 'self'; connect-src 'self' ws://{host} wss://{host}; img-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

log = logging.getLogger("vauban.web")

Json = dict[str, Any]


def make_app(host: Host, limits: Limits, names: Callable[[str], bool]) -> FastAPI:
    """Make the application; `names` says whether a Host header is one of the server's own names."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        host.start()
        yield
        await host.close()

    app = FastAPI(lifespan=living, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.host = host
    _add_pages(app)
    _add_games(app, host, limits)
    _add_socket(app, host, limits)
    app.add_exception_handler(HTTPException, _say_http)
    app.add_exception_handler(VaubanError, _say_error)
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_BYTES, compresslevel=COMPRESSION)
    app.add_middleware(Door, limits=limits, names=names)
    return app


# ── The door ─────────────────────────────────────────────────────────────────────────────────────


def own_names(host: str, public: str | None = None) -> Callable[[str], bool]:
    """Return a test for the names of a server that listens on a host; under any other name it is another site's page.

    On loopback these are the three names of this machine, and the address as it was given. Elsewhere they are any
    numeric address, the host's name as it was given, and this machine's own name. `public` adds the name of a proxy.
    """
    known = {"localhost"}
    if public is not None:
        if not _bare(public):
            raise ConfigurationError(f"{public!r} is no name: give it without https:// and path, as play.example.com")
        known.add(_bare(public))
    if is_loopback(host):
        known |= {host.lower(), "127.0.0.1", "::1"}
        return lambda name: _bare(name) in known
    machine = socket.gethostname().lower()
    known |= {host.lower(), machine, f"{machine}.local", socket.getfqdn().lower()}
    return lambda name: _bare(name) in known or _is_address(_bare(name))


def is_loopback(host: str) -> bool:
    """Say whether a host can be reached from this machine alone."""
    if host == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _bare(header: str) -> str:
    """Return the name in a Host header, without its port; empty if it is not a name."""
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?", header)
    return "" if match is None else (match[1] or match[2]).lower()


class Door:
    """Refuse requests that may not come in, and give every answer its headers."""

    def __init__(self, app: ASGIApp, limits: Limits, names: Callable[[str], bool]) -> None:
        self.app = app
        self.limits = limits
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        refusal = self._refusal(scope, headers, host)
        if scope["type"] == "websocket":
            if refusal is None:
                await self.app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            return

        begun, asked, status, sent = False, time.perf_counter(), 0, 0

        async def dressed(message: Message) -> None:
            nonlocal begun, status, sent
            if message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            if message["type"] == "http.response.start":
                begun, status = True, message["status"]
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer[name] = value
                answer["Content-Security-Policy"] = POLICY.format(host=host if self.names(host) else "none.invalid")
                # The page's files are small: browsers ask for them again, and are answered by their tag.
                fixed = scope["path"] == "/" or scope["path"].startswith("/static/")
                answer["Cache-Control"] = "no-cache" if fixed else "no-store"
            await send(message)

        try:
            await (refusal or self.app)(scope, receive, dressed)
        except ClientDisconnect:
            return  # the client has gone
        except Exception:
            log.exception("a request could not be answered")
            if begun:
                raise
            await _error(500, "failure", FAILURE)(scope, receive, dressed)
        finally:
            ms = round(1000 * (time.perf_counter() - asked))
            tell(
                "request", address=address_of(scope), method=scope["method"], path=written_path(scope["path"]),
                status=status, bytes=sent, ms=ms,
            )  # fmt: skip

    def _refusal(self, scope: Scope, headers: Headers, host: str) -> JSONResponse | None:
        if not self.names(host):
            return _error(421, "host", "This server is not known by that name: use the address that it gave.")
        origin = headers.get("origin")
        asked = scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD")
        # Browsers send the origin with all requests that could change something; other programs need not.
        missing = origin is None and scope["type"] == "websocket"
        if asked and (missing or (origin is not None and origin not in (f"http://{host}", f"https://{host}"))):
            return _error(403, "origin", "This came from another site's page: open the game's own page.")
        address = address_of(scope)
        if not self.limits.take("requests", address):
            return _error(429, "slow", "That is too much at once. Wait a little.")
        return None


def address_of(scope: Scope) -> str:
    """Return the address that limits go by: of an IPv6 address its network, since one client has 2^64 addresses."""
    client = scope.get("client")
    address = str(client[0]) if client else ""
    if ":" not in address or not _is_address(address):
        return address
    number = ipaddress.IPv6Address(address)
    return str(number.ipv4_mapped or ipaddress.IPv6Network((int(number), 64), strict=False))


def written_path(path: str) -> str:
    """Return a path as it is written down: without the name of a game, and shortened."""
    return re.sub(r"^/(api/games|ws)/[^/]+", r"/\1/{game}", path)[:MOST_PATH]


# ── Answers ──────────────────────────────────────────────────────────────────────────────────────


def _error(status: int, code: str, text: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "key": code, "data": {}, "text": text}}, status)


def told(error: VaubanError) -> Json:
    """Return an error as JSON: key and data for the page's own words, and a sentence for other clients."""
    code = code_of(error)[1]
    key, data = (error.key, error.data) if isinstance(error, TableError) else (code, {})
    return {"code": code, "key": key, "data": data, "text": said(error)}


def said(error: VaubanError) -> str:
    """Return an error's sentence, shortened: it may quote a long message."""
    text = sentence(error)
    return text if len(text) <= MOST_SAID else f"{text[: MOST_SAID // 2]} … {text[-MOST_SAID // 2 :]}"


def code_of(error: VaubanError) -> tuple[int, str]:
    """Return the HTTP status and the code of an error."""
    if isinstance(error, TableError):
        paces = {"slow": 429, "late": 408, "busy": 503}
        if error.code in paces:
            return paces[error.code], error.code
        return (409 if error.code in ("phase", "over", "turn", "offer", "invitation") else 400), error.code
    kinds: list[tuple[type[VaubanError], int, str]] = [
        (NoSuchGameError, 404, "game"), (BusyError, 503, "busy"), (WorkError, 502, "thinking"),
        (ReviewError, 502, "review"), (ConflictError, 409, "conflict"), (ClearedError, 410, "cleared"),
        (UnreadableError, 500, "unreadable"), (ShelfError, 503, "shelf"),
    ]  # fmt: skip
    return next(((status, code) for kind, status, code in kinds if isinstance(error, kind)), (400, "bad"))


async def _say_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, VaubanError)
    return JSONResponse({"error": told(error)}, code_of(error)[0])


async def _say_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {404: "There is nothing here by that name.", 405: "That cannot be done here."}
    return _error(error.status_code, "http", texts.get(error.status_code, str(error.detail)))


# ── Pages ────────────────────────────────────────────────────────────────────────────────────────


def _add_pages(app: FastAPI) -> None:
    # Browsers run modules of this type only, and Python's guess depends on the machine.
    mimetypes.add_type("text/javascript", ".js")
    mimetypes.add_type("application/manifest+json", ".webmanifest")
    files = StaticFiles(directory=page.PAGE, check_dir=False)

    @app.get("/")
    async def index(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    folders = {static_folder(show): show.files for show in shows() if show.files is not None}

    @app.get("/service-worker.js")
    async def worker() -> Response:
        # At the top: a worker has to do with what lies below its own address.
        script = await asyncio.to_thread(page.worker_script, {"/static": page.PAGE, **folders})
        return Response(script, media_type="text/javascript")

    for address, folder in folders.items():
        app.mount(address, StaticFiles(directory=folder))
    app.mount("/static", files)


# ── Games ────────────────────────────────────────────────────────────────────────────────────────


def _add_games(app: FastAPI, host: Host, limits: Limits) -> None:
    @app.get("/api/health")
    async def health() -> Response:
        return JSONResponse({"ok": True, **host.health()})

    @app.get("/api/offer")
    async def what_is_offered() -> Response:
        return JSONResponse(offer(host.games, host.levels))

    @app.post("/api/setups")
    async def draw_setup(request: Request) -> Response:
        return JSONResponse(await host.draw_setup(await body(request), address_of(request.scope)))

    @app.post("/api/setups/check")
    async def check_setup(request: Request) -> Response:
        return JSONResponse(host.check_setup(await body(request)))

    @app.post("/api/games")
    async def make_game(request: Request) -> Response:
        _pace(request)
        return JSONResponse(await host.make_game(await body(request), address_of(request.scope)))

    @app.post("/api/games/{game}/join")
    async def join(game: str, request: Request) -> Response:
        wanted = await body(request)
        with guarded(limits, address_of(request.scope)):
            return JSONResponse(await host.join(game, wanted))

    @app.post("/api/games/{game}/play-on")
    async def play_on(game: str, request: Request) -> Response:
        _pace(request)
        wanted = await body(request)
        with guarded(limits, address_of(request.scope)):
            table = await host.finished(game, str(wanted.get("secret", "")))
        return JSONResponse(await host.play_on(table, wanted, address_of(request.scope)))

    @app.post("/api/import")
    async def import_game(request: Request) -> Response:
        _pace(request)
        text = (await body(request, IMPORT_BYTES)).get("text")
        if not isinstance(text, str):
            raise TableError("message", "'text' is missing: it is a recorded game.")
        return JSONResponse(await host.import_game(text))

    @app.post("/api/analysis")
    async def analyse(request: Request) -> Response:
        _pace(request)
        return JSONResponse(await host.analyse(await body(request)))

    @app.post("/api/positions")
    async def read_position(request: Request) -> Response:
        wanted = await body(request)
        try:
            return JSONResponse(await host.read_position(wanted))
        except TableError as error:
            if error.code != "position":
                raise
            # A position that is being put together is not whole yet: that is an answer, and no fault of the request.
            return JSONResponse({"wrong": told(error)})

    @app.get("/api/games/{game}/record")
    async def record(game: str, request: Request) -> Response:
        table = await _finished(game, request)
        if "ply" not in request.query_params:
            return PlainTextResponse(table.record())
        board, ply = await _line(table, request)
        return PlainTextResponse(await asyncio.to_thread(table.line_record, board, ply))

    @app.get("/api/games/{game}/line")
    async def line(game: str, request: Request) -> Response:
        table = await _finished(game, request)
        return JSONResponse(await asyncio.to_thread(wall.line, table, *await _line(table, request)))

    @app.get("/api/games/{game}/line/why")
    async def explain(game: str, request: Request) -> Response:
        table = await _finished(game, request)
        board, _ = await _line(table, request)
        return JSONResponse(wall.explain_line(table, board, request.query_params.get("move", "")[:MOST_MOVE]))

    @app.get("/api/games/{game}/line/look")
    async def look_at(game: str, request: Request) -> Response:
        table = await _finished(game, request)
        board, ply = await _line(table, request)
        told = await asyncio.to_thread(table.line_record, board, ply)
        asked = host.reviews.look_at(table.variant, told, address_of(request.scope))
        return JSONResponse(await while_awaited(request, asked))

    @app.get("/api/games/{game}/review")
    async def review(game: str, request: Request) -> Response:
        found = host.reviews.ask(await _finished(game, request), address_of(request.scope))
        if isinstance(found, str):
            return Response(found, media_type="application/json")
        return JSONResponse({"progress": found}, 202)

    @app.get("/api/games/{game}/picture.svg")
    async def picture(game: str, request: Request) -> Response:
        table = await _finished(game, request)
        seat = request.query_params.get("seat")
        board, _ = await _line(table, request)
        if seat is not None and seat not in SIDES:
            raise TableError("seat", f"There is no seat {seat[:20]!r}: red or blue.")
        look = board if seat is None else board.view(SIDES.index(seat))
        return Response(table.show.picture(look), media_type="image/svg+xml")

    async def _finished(game: str, request: Request) -> Table:
        with guarded(limits, address_of(request.scope)):
            # In a header, because proxies write addresses into logs.
            return await host.finished(game, request.headers.get("vauban-secret", ""))

    async def _line(table: Table, request: Request) -> tuple[Any, int]:
        """Return the board that a request is about, after a move of the game or in a line; and that move's number."""
        ply, moves = request.query_params.get("ply", str(table.plies)), request.query_params.get("moves", "")
        if not re.fullmatch(r"[0-9]{1,6}", ply) or int(ply) > table.plies:
            raise TableError("ply", f"The game has {table.plies} moves, and no move {ply[:20]!r}.")
        return await asyncio.to_thread(read_line, table, int(ply), moves.split(".") if moves else []), int(ply)

    def _pace(request: Request) -> None:
        pace_games(limits, address_of(request.scope))


def pace_games(limits: Limits, address: str) -> None:
    """Refuse an address that asks for too many games."""
    if not limits.take("games", address):
        raise TableError("busy", "That is too many games at once. Wait a little.", "games")


async def while_awaited(request: Request, work: Coroutine[Any, Any, Json]) -> Json:
    """Do something as long as the client waits for it: who goes away gives it up."""

    async def leaving() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    doing, gone = asyncio.create_task(work), asyncio.create_task(leaving())
    try:
        await asyncio.wait({doing, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise ClientDisconnect
        return doing.result()
    finally:
        for task in (doing, gone):
            task.cancel()
        await asyncio.gather(doing, gone, return_exceptions=True)


@contextmanager
def guarded(limits: Limits, address: str) -> Iterator[None]:
    """Guard what is asked with a secret: after too many wrong ones an address is refused before another is tried."""
    if not limits.allows("secrets", address):
        raise TableError("slow", "Too many wrong links. Wait a little.")
    try:
        yield
    except NoSuchGameError:
        limits.take("secrets", address)
        raise


async def body(request: Request, most: int = BODY_BYTES) -> Json:
    """Read the JSON object that was sent; refuse anything else, and what is too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise TableError("message", "What is sent here is JSON: Content-Type: application/json.")
    parts, length = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                length += len(part)
                if length > most:
                    raise TableError("size", f"That is too long: {most:,} bytes are the most.")
                parts.append(part)
    except TimeoutError:
        raise TableError("late", f"The request did not come within {BODY_SECONDS:g} seconds.") from None
    return read_json(b"".join(parts))


def read_json(data: bytes | str) -> Json:
    """Parse a JSON object from an untrusted client."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise TableError("message", "This is no JSON.") from error
    if not isinstance(found, dict):
        raise TableError("message", "This is no JSON object.")
    return found


# ── The socket ───────────────────────────────────────────────────────────────────────────────────


def _add_socket(app: FastAPI, host: Host, limits: Limits) -> None:
    @app.websocket("/ws")
    @app.websocket("/ws/{game}")  # for a proxy before several servers; who sits down says the game all the same
    async def play(websocket: WebSocket) -> None:
        address = address_of(websocket.scope)
        if not limits.open_socket(address):
            await websocket.close(1013)
            return
        client = Client(address)
        sending: asyncio.Task[None] | None = None
        try:
            await websocket.accept()
            sending = asyncio.create_task(_send(websocket, client, host))
            await _listen(websocket, client, host, limits, address)
        finally:
            limits.close_socket(address)
            host.leave(client)
            if sending is not None:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)


async def _send(websocket: WebSocket, client: Client, host: Host) -> None:
    """Send what there is to send; close a socket that does not take it, or whose table is gone."""
    try:
        async for text in client.outgoing(host.look):
            if not await _took(websocket, text):
                break
    except Exception:
        log.exception("a table could not be shown")
    with suppress(Exception):
        await websocket.close(1011)


async def _took(websocket: WebSocket, text: str) -> bool:
    """Send a text; return False if the socket is gone, or does not take it: its listener finds out."""
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await websocket.send_text(text)
    except Exception:
        return False
    return True


async def _listen(websocket: WebSocket, client: Client, host: Host, limits: Limits, address: str) -> None:
    """Carry out messages until the socket is closed."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SIT_SECONDS
    pace = FLOOD.bucket(loop.time())
    while True:
        try:
            async with asyncio.timeout_at(deadline if client.room is None else None):
                message = await websocket.receive()
        except TimeoutError:
            await websocket.close(1008)
            return
        if message["type"] != "websocket.receive":
            return
        text = message.get("text")
        if text is None or len(text.encode("utf-8", "replace")) > MESSAGE_BYTES:
            await websocket.close(1009 if text is not None else 1003)
            return
        if not pace.take(loop.time()):  # faster than any person, so that everybody else would wait
            await websocket.close(1008, "That is too much at once.")
            return
        number = None
        try:
            if not limits.take("messages", address):
                raise TableError("slow", "That is too much at once. Wait a little.")
            wanted = read_json(text)
            number = wanted.get("n")
            if wanted.get("do") == "sit":
                await _sit(client, host, limits, address, wanted)
            else:
                if wanted.get("do") == "rematch":
                    pace_games(limits, address)
                host.do(client, wanted)
        except VaubanError as error:
            answer: Json = {"say": "error", **told(error)}
            client.reply(answer | {"n": number} if isinstance(number, int | str) else answer)
        except Exception:
            log.exception("a message could not be answered")
            client.reply({"say": "error", "code": "failure", "key": "failure", "data": {}, "text": FAILURE})


async def _sit(client: Client, host: Host, limits: Limits, address: str, wanted: Json) -> None:
    game, seat, secret = (wanted.get(key) for key in ("game", "seat", "secret"))
    have, number, eyes = wanted.get("have", 0), wanted.get("n"), wanted.get("eyes")
    browser = wanted.get("browser")
    if not (isinstance(game, str) and isinstance(seat, str) and isinstance(secret, str)):
        raise TableError("message", "To sit down takes a game, a seat and a secret.")
    if type(have) is not int or have < 0:
        raise TableError("message", "'have' is the number of moves that are known already.")
    if eyes is not None and not isinstance(eyes, str):
        raise TableError("message", "'eyes' is a side, or nothing.")
    if browser is not None and not (isinstance(browser, str) and len(browser) <= MOST_BROWSER):
        raise TableError("message", f"'browser' is a name of up to {MOST_BROWSER} letters, or nothing.")
    with guarded(limits, address):
        await host.sit(client, game, seat, secret, have, eyes, browser)
    client.show(number if isinstance(number, int | str) else None)
