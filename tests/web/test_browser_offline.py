"""The page when the server cannot be reached: what is kept works, no file is old, no secret is kept."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from browser import elsewhere, violations
from playwright.sync_api import expect

from vauban.board import Board
from vauban.notation.records import write_game
from vauban.web.files import PAGE, worker_script

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-families")

READY = "() => navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)"
KEPT = """async () => {
    const found = [];
    for (const name of await caches.keys()) {
        const store = await caches.open(name);
        for (const { url } of await store.keys()) {
            found.push([name, new URL(url).pathname, await (await store.match(url)).text()]);
        }
    }
    return found;
}"""
"""Return all that the browser has kept of answers: store, address, text."""
FRESH = """async () => {
    const [name, ...others] = (await caches.keys()).filter((name) => name.startsWith("vauban-page"));
    const found = await (await caches.open(name)).match("/static/js/strings/en.js");
    return others.length === 0 && (await found?.text())?.includes("Riddles");
}"""
"""Return whether the kept page is the new one, and no other is kept."""


def test_the_worker_names_every_file_by_what_is_in_it(tmp_path):
    script = worker_script({"/static": PAGE})
    files = json.loads(script.partition("const FILES = ")[2].partition(";")[0])
    assert {"/", "/static/js/main.js", "/static/puzzles.json", "/static/icons/192.png"} <= set(files)
    assert not any("service-worker" in path or path.startswith("/api") for path in files)
    assert worker_script({"/static": PAGE}) == script
    (tmp_path / "mine.js").write_text("1")
    with_one = worker_script({"/static": PAGE, "/static/games/mine": tmp_path})
    (tmp_path / "mine.js").write_text("2")
    assert len({script, with_one, worker_script({"/static": PAGE, "/static/games/mine": tmp_path})}) == 3


def record() -> str:
    """Return a game that no network plays, so that it is looked back on in no time."""
    board = Board.random("duel", seed=1)
    for _ in range(6):
        board.push(board.legal_moves[0])
    return write_game(board, {"Red": "A", "Blue": "B"})


def secrets(kept: dict[str, object]) -> set[str]:
    """Return all long random words in what the browser keeps about its games."""
    found = set()
    for name in ("vauban.games", "vauban.keys"):
        for game in json.loads(str(kept.get(name, "[]"))):
            values = game["seats"].values() if isinstance(game, dict) else game[2:]
            found |= set(values)
    return found


def test_without_the_server_the_kept_page_works_and_with_it_every_file_is_its_own(visit, axe, tmp_path, page_copy):
    with closing(elsewhere(tmp_path, page_copy)) as server:
        visitor = visit(server, service_workers="allow", reduced_motion="reduce")
        # The server is ended on purpose.
        visitor.forgive("ERR_CONNECTION_REFUSED|ERR_FAILED|Failed to fetch|WebSocket|failed: |502|404")
        page = visitor.open("#/import").page
        page.locator("textarea").fill(record())
        visitor.button("Open").click()
        visitor.see(".review .moves li")
        page.wait_for_function("() => localStorage.getItem('vauban.reviews') !== null")
        game = page.evaluate("JSON.parse(localStorage.getItem('vauban.reviews'))[0].id")
        page.wait_for_function(READY)

        # Nothing that opens a game is among what is kept of answers.
        kept = page.evaluate(KEPT)
        assert {store.rpartition("-")[0] for store, _, _ in kept} == {"vauban-page", "vauban-looks"}
        opening = secrets(page.evaluate("({...localStorage})")) | {
            page.url.rstrip("/").split("/review/")[1].split("/")[1]
        }
        assert opening
        assert not [path for _, path, text in kept if any(word in text for word in opening)]
        assert not [path for _, path, _ in kept if path.startswith("/api")]

        server.close()
        page.goto("about:blank")
        page.goto(visitor.address)
        visitor.see("h1", has_text="The server does not answer")
        visitor.picture("offline")
        assert violations(page, axe) == []
        page.get_by_role("link", name="Setups: make and save them").click()
        visitor.see(".away")
        visitor.see(".setup .piece")
        visitor.see(".explorer .quiet, .explorer .patterns")
        page.goto(f"{visitor.address}#/puzzles")
        visitor.see(".puzzle .piece")
        page.goto(f"{visitor.address}#/puzzles/flag")
        visitor.see(".puzzle .lead", has_text="Where is blue's flag?")
        page.goto(f"{visitor.address}#/learn")
        visitor.see(".lesson .piece")
        page.goto(f"{visitor.address}#/review/{game}")
        visitor.see(".review .moves li:nth-child(6)")
        page.keyboard.press("End")
        visitor.picture("offline-review")
        page.goto(f"{visitor.address}#/review/unknown")
        visitor.see("main", has_text="this browser has not kept it")

        # The server comes back with another file: the next page is its page, not the kept one.
        strings = page_copy / "js/strings/en.js"
        strings.write_text(strings.read_text().replace('"nav.puzzles": "Puzzles"', '"nav.puzzles": "Riddles"'))
        server.start()
        page.goto(f"{visitor.address}#/setups")
        page.reload()
        expect(page.locator("#header nav")).to_contain_text("Riddles")
        expect(page.locator(".away")).to_have_count(0)
        # And in the end the worker has taken it too, so that it is there without the server.
        page.wait_for_function(FRESH)
