"""A real browser for tests: Chromium at a real server, watched over while a visitor uses the page."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE
from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request, WebSocket, expect

SCREENSHOTS = Path(__file__).parent.parent / "build" / "screenshots"
MOST_BYTES = 500_000
"""Most bytes of all files of the page together, with the texts of one language."""
TRANSLATED = re.compile(r"/strings/(?!en\.js)\w+\.js$|/words-\w+\.js$")
"""The texts of other languages, which come beside the English ones."""
ICON = "/static/icon.svg"
"""A file that Chromium requests when it has time, perhaps only after the page was left, and then refuses to itself. Its
answers show that it is served."""
BLOCKED = "Service Worker registration blocked by Playwright"
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}

QUIET = "FB.NGS..../O.MO....../........../.........."
"""A setup in which the Miner can step between d1 and c1, and the Spy along the back row, without being reached."""

expect.set_options(timeout=1000 * PATIENCE)


def chromium_path() -> str | None:
    """Return the path of Chromium: VAUBAN_CHROMIUM, or one of the names it is installed by."""
    names = (os.environ.get("VAUBAN_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


class Serving:
    """The process of `vauban play`, which can be killed and started again at the same address."""

    def __init__(self, folder: Path, program: tuple[str, ...] = ("-m", "vauban"), more: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.more = more
        self.program = program
        self.port = 0
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        wishes = ["play", "--no-browser", "--port", str(self.port), "--shelf", str(self.folder / "games.sqlite")]
        wishes += self.more
        errors = (self.folder / "stderr.txt").open("w")
        self.process = subprocess.Popen(
            [sys.executable, *self.program, *wishes], stdout=subprocess.PIPE, stderr=errors, text=True
        )
        errors.close()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert match is not None, line + self.complaints()
        self.port = int(match[1])

    def close(self) -> None:
        """Kill it, as a power cut would."""
        self.process.kill()
        self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def complaints(self) -> str:
        """Return what the server has written besides the line with its address, and besides its compiling."""
        lines = (self.folder / "stderr.txt").read_text().splitlines()
        return "\n".join(line for line in lines if not re.match(r"compiling what|  \w+( of \S+ …|: \d+ s)$", line))


ELSEWHERE = """
import sys
from pathlib import Path
from vauban.web import files
files.PAGE = Path(sys.argv.pop(1))
from vauban.cli.main import run
run()
"""
"""A server whose page lies in another folder."""


def elsewhere(folder: Path, page: Path, *more: str) -> Serving:
    """Start a server with a copy of the page."""
    return Serving(folder, ("-c", ELSEWHERE, str(page)), more)


class Visitor:
    """A visitor with a browser: one page, and everything that reaches it."""

    def __init__(self, browser: Browser, address: str, **look: Any) -> None:
        self.address = address
        self.host = urlsplit(address).netloc
        # A worker would answer in the place of what tests put between the page and the server (`route`).
        self.context = browser.new_context(**({"service_workers": "block"} | DESKTOP | look))
        self.context.set_default_timeout(1000 * PATIENCE)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.forgiven: list[str] = []
        self.frames: list[str] = []
        self.bodies: dict[str, list[bytes]] = {}
        self.unread: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("requestfinished", self._finished)
        self.page.on("websocket", self._socket)

    # ── Watching ─────────────────────────────────────────────────────────────────────────────────

    def _console(self, message: ConsoleMessage) -> None:
        if BLOCKED in message.text:
            return
        if message.type in ("error", "warning") and ICON not in message.text + message.location["url"]:
            self.complaints.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data") and parts.netloc != self.host:
            self.complaints.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        # The browser itself gives up requests that are on their way when the page is left.
        if request.failure != "net::ERR_ABORTED" and not request.url.endswith(ICON):
            self.complaints.append(f"failed: {request.method} {request.url}: {request.failure}")

    def _finished(self, request: Request) -> None:
        answer = request.response()
        if answer is None or not answer.url.startswith("http"):
            return
        if answer.status >= 400:
            self.complaints.append(f"refused: {request.method} {request.url}: {answer.status}")
        try:
            body = answer.body()
        except Error:
            self.unread.append(request.url)  # the page was left before it could be read
        else:
            self.bodies.setdefault(urlsplit(request.url).path, []).append(body)

    def _socket(self, socket: WebSocket) -> None:
        if urlsplit(socket.url).netloc != self.host:
            self.complaints.append(f"another host: {socket.url}")
        socket.on("framereceived", lambda text: self.frames.append(str(text)))

    def forgive(self, pattern: str) -> None:
        """Expect complaints of a kind, e.g. about a server that was killed."""
        self.forgiven.append(pattern)

    def check(self) -> None:
        """Check for errors, other hosts, failed requests and a heavy page."""
        left = [text for text in self.complaints if not any(re.search(each, text) for each in self.forgiven)]
        assert not left, left
        counted = (path for path in self.bodies if not path.startswith("/api/") and not TRANSLATED.search(path))
        weight = sum(max(map(len, self.bodies[path])) for path in counted)
        assert weight < MOST_BYTES, f"the page weighs {weight} bytes"

    # ── Acting ───────────────────────────────────────────────────────────────────────────────────

    def open(self, fragment: str = "") -> Visitor:
        """Open the page, all of it, also where only the fragment of its address is another one."""
        self.page.goto("about:blank")
        self.page.goto(self.address + fragment, wait_until="load")
        expect(self.page.locator("h1").first).to_be_attached()
        return self

    def see(self, selector: str, **more: Any) -> Locator:
        """Wait for something on the screen; return it."""
        found = self.page.locator(selector, **more).first
        expect(found).to_be_visible()
        return found

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def choose(self, **wishes: str) -> None:
        """Set radio buttons of the start screen: mode, variant, level, side, …"""
        for name, value in wishes.items():
            wanted = self.page.locator(f"input[name={name}][value={value}]")
            if not wanted.is_visible():
                wanted.locator("xpath=ancestor::details[1]/summary").click()
            wanted.check()

    def picture(self, name: str, whole: bool = False) -> None:
        """Keep a screenshot, in which nothing moves any more."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        # What has just been scrolled into sight is painted with the next frame.
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole, animations="disabled")

    def fits(self) -> None:
        """Check that nothing is wider than the screen."""
        inner, needed = self.page.evaluate("[innerWidth, document.documentElement.scrollWidth]")
        assert needed <= inner, f"the page is {needed} wide on a screen of {inner}"

    def give(self, setup: str) -> Locator:
        """Put a setup into the editor, by its text; return the field of that text."""
        text = self.page.locator(".setup input.code")
        if not text.is_visible():
            self.page.get_by_text("Saved setups, text").click()
        text.fill(setup)
        self.page.evaluate("document.getElementById('live').textContent = ''")
        self.button("Use this text").click()
        expect(self.page.locator("#live")).to_have_text("The setup was taken from the text.")
        expect(text).to_have_value(setup)
        return text

    def start(self, setup: str | None = None, **wishes: str) -> Player:
        """Start a game from the start screen, by mouse."""
        self.open()
        self.choose(**({"mode": "level", "level": "recruit"} | wishes))
        self.see(".setup .piece")
        if setup is not None:
            self.give(setup)
        self.button("Play").click()
        self.see(".bottom-card.turn")
        return Player(self)

    def resign(self) -> None:
        self.button("Resign").click()
        self.page.locator("dialog").get_by_role("button", name="Resign").click()
        self.see("dialog.end")


# ── Players ──────────────────────────────────────────────────────────────────────────────────────

NATURAL = ("flag", "no_moves", "both_immobile", "battleless_limit")
"""Ends that the rules know: no player has given up."""
FOOLISH = 50.0
"""Cost of a lost fight: more than any way. But rather that than to walk about until the game is drawn."""
RANKS = {"marshal": 10, "general": 9, "miner": 3, "scout": 2, "spy": 1, "bomb": 0, "flag": 0}
CELLS = "[...document.querySelectorAll('.table .cell')].map(c => [c.dataset.at, c.ariaLabel, c.className])"

CLICKED = "void (window.clicked = new Promise(done => addEventListener('click', () => setTimeout(done), {once: true})))"
"""In the page: begin to wait for a click, and for all its effects at once."""

TYPED = """text => { for (const key of text)
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true})); }"""
"""In the page: type a text at once. A letter alone becomes a command after a moment, which a busy machine may take."""

Cells = dict[str, tuple[list[str], set[str]]]
"""For each square the words of its label between commas, and its marks."""


class Player:
    """Plays barrage by what the page shows: straight at the enemy, at pieces that never moved before others.

    `press` touches a square: by mouse, finger or keyboard.
    """

    def __init__(self, visitor: Visitor, press: Callable[[str], None] | None = None, seed: int = 1) -> None:
        self.visitor = visitor
        self.page = visitor.page
        self.press = press or (lambda at: self.cell(at).click())
        self.rng = random.Random(seed)

    def tap(self, at: str) -> None:
        """Press with a finger. The page hears of it as a click, which a browser makes of it later."""
        self.page.evaluate(CLICKED)
        self.cell(at).tap()
        self.page.evaluate("window.clicked")

    def type(self, move: str) -> None:
        """Type a move, without a pause between its letters."""
        self.page.evaluate(TYPED, move)

    def cell(self, at: str) -> Locator:
        return self.page.locator(f".table .cell[data-at={at}]")

    def cells(self) -> Cells:
        found = self.page.evaluate(CELLS)
        return {at: (label.split(", ")[1:], set(marks.split())) for at, label, marks in found}

    def marked(self, *kinds: str) -> set[str]:
        """Return the squares that bear one of these marks."""
        return {at for at, (_, marks) in self.cells().items() if marks & set(kinds)}

    def plies(self) -> int:
        return self.page.locator(".moves li").count()

    def over(self) -> bool:
        return self.page.locator("dialog.end").count() > 0

    def find(self) -> tuple[str, str]:
        """Return a move that the page offers; its piece is picked up."""
        for source, target in plans(self.cells(), self.rng):
            self.press(source)
            if target in self.marked("target", "strike"):
                return source, target
            self.press(source)
        for at, (words, _) in self.cells().items():
            if words[0].startswith("your "):
                self.press(at)
                targets = self.marked("target", "strike")
                if targets:
                    return at, self.rng.choice(sorted(targets))
        raise AssertionError("the page shows no move")

    def move(self) -> None:
        """Make one move, without waiting for its effects."""
        self.press(self.find()[1])

    def step(self, source: str, target: str) -> None:
        """Make this move, and wait for the answer to it."""
        before = self.plies()
        self.press(source)
        self.press(target)
        self.answered(before)

    def turn(self) -> None:
        """Make one move, and wait for the answer to it (or the end)."""
        before = self.plies()
        self.move()
        self.answered(before)

    def answered(self, before: int) -> None:
        """Wait for the answer to a move that was made after `before` plies, or for the end."""
        # The answer may end the game: then neither player is on turn, and the end is told a moment later.
        mine = f".table:has(.moves li:nth-child({before + 2})):has(.bottom-card.turn)"
        self.page.locator(f"{mine}, dialog.end").first.wait_for()

    def turns(self, number: int) -> None:
        for _ in range(number):
            if not self.over():
                self.turn()

    def to_the_end(self, most: int = 400) -> int:
        """Play until the rules say that the game is over; return the number of moves."""
        for played in range(most):
            if self.over():
                over = next(told["over"] for told in map(json.loads, reversed(self.visitor.frames)) if told.get("over"))
                assert over["end"] in NATURAL, over
                return played
            self.turn()
        pytest.fail(f"after {most} moves the game is not over")


def plans(cells: Cells, rng: random.Random) -> list[tuple[str, str]]:
    """Return first steps towards the enemy, the most promising first."""
    found = []
    for at, (words, _) in cells.items():
        kind = words[0].removeprefix("your ").split(" (")[0]
        if words[0].startswith("your ") and RANKS[kind]:
            found += [(cost + rng.random(), at, step) for cost, step in _ways(cells, at, kind)]
    return [(at, step) for _, at, step in sorted(found)]


def _ways(cells: Cells, start: str, kind: str) -> Iterator[tuple[float, str]]:
    """Yield, for every enemy piece that this one can reach, the cost of the way and the fight, and the first step."""
    first: dict[str, str] = {}
    edge, distance = [start], 0
    while edge:
        distance += 1
        found = []
        for at in edge:
            for to in reach(at, kind, cells):
                if to in first or to == start:
                    continue
                first[to] = first.get(at, to)
                words = cells[to][0]
                if words[0] == "empty":
                    found.append(to)
                else:
                    yield distance + _risk(kind, words), first[to]
        edge = found


def reach(at: str, kind: str, cells: Cells) -> Iterator[str]:
    """Yield the squares to which a piece may go if no rule about repetition is against it."""
    column, row = ord(at[0]), int(at[1:])
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        for far in range(1, 10 if kind == "scout" else 2):
            to = f"{chr(column + far * dx)}{row + far * dy}"
            words = cells.get(to, (["lake"], set()))[0]
            if words[0] == "lake" or words[0].startswith("your "):
                break
            yield to
            if words[0] != "empty":
                break


def _risk(kind: str, words: list[str]) -> float:
    """Return the cost of an attack on such a piece, in moves."""
    enemy = words[0].removeprefix("enemy ").split(" (")[0]
    if enemy == "piece":
        return {"spy": 6.0, "miner": 1.0}.get(kind, 0.0) + 2.0 * ("has moved" in words)
    if enemy == "flag" or (enemy, kind) in (("bomb", "miner"), ("marshal", "spy")):
        return -5.0
    if enemy == "bomb" or RANKS[enemy] > RANKS[kind]:
        return FOOLISH
    return 2.0 if RANKS[enemy] == RANKS[kind] else -1.0


# ── First positions ────────────────────────────────────────────────────────────────────────────────

SCOUTS = "F.......S./B......G../....N..M../O........O"
"""A setup with a Scout at either end of the front row."""
CUT = """[...document.querySelectorAll("button:not(.cell), .face")]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"""
"""In the page: the words of buttons that are narrower than their content."""


def hotseat(visitor: Visitor, setup: str = SCOUTS) -> Player:
    """Begin a game of two on one device, both with the same setup, up to the first hand-over."""
    visitor.open()
    visitor.choose(mode="hotseat")
    visitor.button("Play").click()
    for side in ("Red", "Blue"):
        if side == "Blue":
            cross(visitor, side)
        visitor.see("h1", has_text=f"Set up your army: {side.lower()}")
        visitor.see(f".setup .piece.{side.lower()}")
        expect(visitor.page.locator(f".setup .piece:not(.{side.lower()})")).to_have_count(0)
        visitor.give(setup)
        visitor.button("Ready").click()
    return Player(visitor)


def cross(visitor: Visitor, side: str) -> None:
    """Pass the screen between two people: it shows nothing of either."""
    visitor.see(".handover h1", has_text=f"{side}, it is your turn")
    expect(visitor.page.locator(".piece, .moves, .card")).to_have_count(0)
    if side == "Blue":
        visitor.picture("handover-light")
    visitor.button(f"I am {side}").click()


def friends(host: Visitor, guest: Visitor, setup: str = QUIET, switch: str | None = None) -> None:
    """Begin a game of two by a link, both with the same setup, up to the first move; `switch` is an option to switch
    off.
    """
    host.open()
    host.choose(mode="friend")
    if switch is not None:
        host.page.get_by_text("Side, clock, memory").click()
        host.page.locator(f"input[name={switch}]").uncheck()
    host.see(".setup .piece")
    host.give(setup)
    host.button("Make the link").click()
    link = host.see(".invitation input").input_value()
    host.picture("friend-light")
    assert link.startswith(host.address)
    guest.open(link.removeprefix(guest.address))
    guest.see(".setup .piece.blue")
    guest.give(setup)
    guest.button("Ready").click()
    host.see(".bottom-card.turn")


# ── By keyboard, for the ear ─────────────────────────────────────────────────────────────────────

LISTENER = """() => {
    const said = [];
    for (const region of [document.getElementById("live"), document.getElementById("alert")])
        new MutationObserver((changes) => said.push(...changes.flatMap(({addedNodes}) => [...addedNodes])
            .map(({textContent}) => textContent))).observe(region, {childList: true});
    return said;
}"""
"""Writes down what a screen reader would say."""


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until something of the kind has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
            return
    pytest.fail(f"{selector} cannot be reached by Tab")


def walk_to(page: Page, at: str) -> None:
    """Go with the arrow keys to a square and press Enter."""
    now = page.evaluate("document.activeElement.dataset.at")
    if now is None:
        page.keyboard.press("ArrowUp")  # brings the cursor back onto the board
        now = page.evaluate("document.activeElement.dataset.at")
    across, up = ord(at[0]) - ord(now[0]), int(at[1:]) - int(now[1:])
    for _ in range(abs(across)):
        page.keyboard.press("ArrowRight" if across > 0 else "ArrowLeft")
    for _ in range(abs(up)):
        page.keyboard.press("ArrowUp" if up > 0 else "ArrowDown")
    page.keyboard.press("Enter")


def standing(player: Player) -> dict[str, list[str]]:
    """Return the pieces by square, in the page's words, whatever is picked up just now."""
    passing = {"picked up", "can go here", "barred"}
    return {at: [word for word in words if word not in passing] for at, (words, _) in player.cells().items()}


def violations(page: Page, axe: str) -> list[str]:
    """Return what axe-core calls serious or critical on what is on the screen now."""
    # Handed over by the debugger: a script element would be refused by the page's own policy.
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate("axe.run({resultTypes: ['violations']}).then(each => each.violations)")
    return [
        f"{each['id']}: {node['html']}: {node['failureSummary']}"
        for each in found if each["impact"] in ("serious", "critical") for node in each["nodes"]
    ]  # fmt: skip
