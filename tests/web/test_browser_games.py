"""Whole games in a real browser: by mouse, by keyboard, by touch; through reloads and restarts; behind the wall."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import LISTENER, PHONE, QUIET, Player, Serving, Visitor, standing, tab_to, walk_to
from playwright.sync_api import WebSocketRoute, expect

from vauban.board import Board
from vauban.games.stratego.pieces import TYPES

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-games")


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────

TOLD = {
    "say", "game", "seat", "kind", "variant", "phase", "turn", "ply", "pieces", "legal", "barred", "left",
    "battleless", "total", "last", "players", "clock", "offer", "took_back", "takebacks", "thinking",
    "ready", "commitment", "over", "rematch", "note", "invited", "eyes", "aids", "played_on", "watching",
    "n", "reach", "family", "rules", "elsewhere", "absence", "levels",
}  # fmt: skip
"""All that a sight may hold."""


def hidden_was_hidden(visitor: Visitor, seat: str = "red") -> int:
    """Search every byte that reached a browser before the end for what it could not know; how many messages there were.

    The end itself tells the truth: both setups, and the salt of the machine's seal.
    """
    said = [json.loads(frame) for frame in visitor.frames]
    last = next(number for number, told in enumerate(said) if told.get("over"))
    over = said[last]["over"]
    foe = "blue" if seat == "red" else "red"
    board = Board.from_setups(over["setups"]["red"], over["setups"]["blue"], "barrage")
    name = board.variant.square_name
    truth = {name(square): TYPES[piece.kind].lower() for square, piece in board.pieces().items()}
    secrets = (over["salts"][foe], over["setups"][foe], over["setups"][foe].lower(), over["setups"][foe][::-1])
    assert not any("/api/" in each for each in visitor.unread)
    asked = [body.decode() for path, bodies in visitor.bodies.items() if path.startswith("/api/") for body in bodies]
    for text in [*visitor.frames[:last], *asked]:
        assert not any(secret in text for secret in secrets), "the machine's setup was told before the end"
        assert "seed" not in text and "salt" not in text
    for told in said[:last]:
        assert set(told) <= TOLD or told["say"] != "sight", "a sight tells more than it should"
        for piece in told.get("pieces", ()):
            if piece["side"] == foe and piece["type"] is not None:
                assert piece["revealed"], f"{piece} was never shown"
                assert truth[piece["from"]] == piece["type"]
        assert set(told.get("reach", ())) <= {p["at"] for p in told.get("pieces", ()) if p["side"] == seat}
    return last


LEAKY = """
import sys
from vauban.web import sight as wall
honest = wall._look
def look(table, seat, eyes):
    found = honest(table, seat, eyes)
    wall._table = table
    return found
from vauban.games.stratego.pieces import TYPES
from vauban.web.stratego.show import SHOW
honest_position = SHOW.position
def position(look, viewer):
    found = honest_position(look, viewer)
    board = wall._table.board
    name = board.variant.square_name
    kinds = {name(s): TYPES[p.kind].lower() for s, p in board.pieces().items()}
    for piece in found["pieces"]:
        piece["type"] = kinds[piece["at"]]
    return found
wall._look, SHOW.position = look, position
if __name__ == "__main__":
    from vauban.cli.main import run
    run()
"""


def test_a_server_that_tells_hidden_types_is_caught(visit, tmp_path):
    program = tmp_path / "leaky.py"
    program.write_text(LEAKY)
    with closing(Serving(tmp_path, (str(program),))) as leaky:
        visitor = visit(leaky)
        player = visitor.start()
        player.turns(2)
        if not player.over():
            visitor.resign()
        with pytest.raises(AssertionError, match="was never shown"):
            hidden_was_hidden(visitor)
        visitor.page.goto("about:blank")  # before the server ends: else the page would ask where it is


# ── Whole games ──────────────────────────────────────────────────────────────────────────────────


def test_a_whole_game_by_mouse_from_the_setup_to_looking_back(visit):
    visitor = visit()
    visitor.open()
    visitor.choose(level="recruit")
    visitor.see(".setup .piece")
    visitor.picture("home-light", whole=True)
    visitor.button("Mirror").click()
    player = _begin(visitor)
    player.find()
    expect(visitor.page.locator(".cell.selected")).to_have_count(1)
    visitor.picture("game-picked-light")
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(".cell.selected")).to_have_count(0)
    moves = player.to_the_end()
    end = visitor.see("dialog.end")
    visitor.picture("end-light")
    expect(end.locator(".promise.good")).to_have_text("✓Recruit's setup is the one that was sealed before the first "
                                                      "move: this browser has checked it.")  # fmt: skip
    assert hidden_was_hidden(visitor) > 2 * moves - 2
    _look_back(visitor)


def _begin(visitor: Visitor, **hand: Any) -> Player:
    visitor.button("Play").click()
    visitor.see(".bottom-card.turn")
    return Player(visitor, **hand)


def _look_back(visitor: Visitor) -> None:
    """Open the review of the game that has just ended, and look at everything in it."""
    page = visitor.page
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    plies = int(page.locator(".transport input").get_attribute("max"))
    assert page.locator(".moves li").count() == plies
    assert str(page.locator(".graph path.value.red").get_attribute("d")).count("L") >= plies - 2
    # Both sides are open, and every piece stands where it stood.
    expect(page.locator(".review .piece")).to_have_count(16)
    expect(page.locator(".review .piece.hidden")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator(".transport input")).to_have_value(str(plies))
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".caption")).to_contain_text("1. Red")
    page.keyboard.press("Home")  # the first move may have been the last
    visitor.see(".chances .bar .win")
    visitor.see(".review table tbody tr")
    visitor.see(".arrows .arrow")
    # Belief: all of one type as a map, and one piece as bars beside the truth.
    page.locator(".chip").first.click()
    visitor.see(".heat span")
    visitor.picture("review-light")
    page.keyboard.press("Home")
    page.locator(".cell[aria-label*='blue']").first.click()
    visitor.see(".bars li.true")
    page.locator("input[name=view][value=red]").check()
    expect(page.locator(".review .piece.blue.hidden").first).to_be_visible()
    with page.expect_download() as got:
        visitor.button("Notation").click()
    assert "barrage" in Path(got.value.path()).read_text().lower()
    with page.expect_download() as got:
        visitor.button("Picture").click()
    assert Path(got.value.path()).read_text().startswith("<svg")
    moment = page.locator(".moments button")
    if moment.count():
        moment.first.click()
        expect(page.locator(".transport input")).to_have_value(moment.first.locator(".number").inner_text())


def test_a_whole_game_by_keyboard_alone(visit):
    visitor = visit()
    keys = visitor.open().page.keyboard
    visitor.see(".setup .piece")
    tab_to(visitor.page, "input[name=level]")
    for _ in range(9):
        if visitor.page.locator("input[name=level]:checked").get_attribute("value") == "recruit":
            break
        keys.press("ArrowUp")
    tab_to(visitor.page, ".setup .cell")
    _swap_by_keys(visitor)
    tab_to(visitor.page, "button.play")
    keys.press("Enter")
    visitor.see(".bottom-card.turn")
    said = visitor.page.evaluate_handle(LISTENER)
    player = Player(visitor, lambda at: walk_to(visitor.page, at), seed=2)
    player.turns(3)
    # Moves can be typed too.
    if not player.over():
        before, (source, target) = player.plies(), player.find()
        keys.press("Escape")
        keys.type(source + target)
        player.answered(before)
        # The arrow keys go on from where the piece went, and that is where the focus is seen.
        if not player.over():
            expect(visitor.page.locator(f".table .cell[data-at={target}]")).to_be_focused()
    player.to_the_end()
    visitor.see("dialog.end")
    # Every fight was read out.
    fights = visitor.page.locator(".moves .fight").count()
    heard = said.evaluate("said => said.join(' ')")
    assert heard.count(" attacks ") >= fights > 0
    # The first answer of the dialog has the focus.
    keys.press("Enter")
    visitor.see(".review .board")


def _swap_by_keys(visitor: Visitor) -> None:
    """Exchange the first piece of the setup with its right (or left) neighbour."""
    page, keys = visitor.page, visitor.page.keyboard
    before = page.locator(".setup input.code").input_value()
    for key in ["ArrowLeft"] * 10 + ["ArrowUp"] * 4:
        keys.press(key)
    for _ in range(40):
        if not page.evaluate("document.activeElement.ariaLabel").startswith("empty"):
            break
        edge = page.evaluate("document.activeElement.dataset.at").startswith("j")
        for key in ["ArrowDown"] + ["ArrowLeft"] * 9 if edge else ["ArrowRight"]:
            keys.press(key)
    keys.press("Space")
    expect(page.locator(".setup .cell.selected")).to_have_count(1)
    held = page.evaluate("document.activeElement.ariaLabel").split(",")[0]
    for key in ("ArrowDown", "ArrowRight", "ArrowLeft"):
        keys.press(key)
        if page.evaluate("document.activeElement.ariaLabel").split(",")[0] != held:
            break
    keys.press("Space")
    expect(page.locator(".setup .cell.selected")).to_have_count(0)
    expect(page.locator(".setup input.code")).not_to_have_value(before)


def test_a_whole_game_by_touch_on_a_small_screen(visit):
    visitor = visit(**PHONE)
    visitor.open()
    visitor.see(".setup .piece")
    visitor.choose(level="recruit")
    visitor.fits()
    visitor.picture("home-phone")
    visitor.button("Play").tap()
    visitor.see(".bottom-card.turn")
    # A question about confirming moves stands there for some seconds: it may be gone before a finger gets to it.
    visitor.page.evaluate("document.querySelectorAll('.toast .close').forEach(each => each.click())")
    player = Player(visitor, seed=3)
    player.press = player.tap
    visitor.fits()
    player.turns(6)
    visitor.picture("game-phone")
    player.to_the_end()
    visitor.see("dialog.end")
    visitor.picture("end-phone")
    visitor.fits()
    visitor.page.locator("dialog.end").get_by_role("button", name="Look back").tap()
    visitor.see(".graph path.value.red")
    visitor.fits()
    visitor.picture("review-phone", whole=True)


# ── Through reloads and restarts ─────────────────────────────────────────────────────────────────


def test_a_newcomer_with_a_phone_is_refused_a_move_reloads_resigns_and_sees_both_armies(visit):
    visitor = visit(**PHONE, color_scheme="dark")
    page = visitor.open().page
    visitor.see(".setup .piece")
    text = visitor.give(QUIET)
    page.locator(".setup .cell[data-at=e1]").tap()
    page.locator(".setup .cell[data-at=f1]").tap()
    expect(text).to_have_value(QUIET.replace("GS", "SG"))
    visitor.choose(level="recruit")
    visitor.button("Play").tap()
    visitor.see(".bottom-card.turn")
    page.get_by_role("button", name="Yes, confirm").tap()
    player = Player(visitor)
    player.press = player.tap
    # Back and forth, with every move confirmed.
    for source, target in (("d1", "c1"), ("c1", "d1"), ("d1", "c1")):
        plies = player.plies()
        player.press(source)
        player.press(target)
        expect(page.locator(".cell.pending")).to_have_count(1)
        visitor.button("Play it").tap()
        player.answered(plies)
    player.press("c1")
    assert player.marked("barred") == {"d1"}
    player.press("d1")
    expect(page.locator(".reason-box")).to_contain_text("Two-square rule: this Miner has just gone d1–c1, c1–d1, d1–c1")
    expect(page.get_by_role("link", name="What the rule says")).to_have_attribute("href", "#/rules/two_square")
    visitor.picture("barred-phone-dark")
    visitor.button("OK").tap()

    seen, plies = standing(player), player.plies()
    page.reload()
    visitor.see(".bottom-card.turn")
    assert (standing(player), player.plies()) == (seen, plies)
    page.goto(visitor.address)
    visitor.see(".games a").tap()
    visitor.see(".bottom-card.turn")
    assert (standing(player), player.plies()) == (seen, plies)

    page.get_by_role("button", name="Resign").tap()
    page.locator("dialog").get_by_role("button", name="Resign").tap()
    page.locator("dialog.end").get_by_role("button", name="See the board").tap()
    expect(page.locator(".table .piece.hidden")).to_have_count(0)
    page.get_by_role("button", name="Look back").tap()
    visitor.see(".review .board")
    page.get_by_role("button", name="One move on").tap()
    expect(page.locator(".caption")).to_contain_text("Red moves d1 to c1")
    visitor.fits()


def test_a_game_goes_on_when_the_server_was_killed_and_started_again(visit, tmp_path):
    with closing(Serving(tmp_path)) as serving:
        visitor = visit(serving)
        visitor.forgive("WebSocket|ERR_CONNECTION")
        player = visitor.start(QUIET)
        # The Miner is out of reach of every Scout there.
        for source, target in pairwise(("d1", "c1", "d1")):
            player.step(source, target)
        seen, plies = standing(player), player.plies()
        serving.close()
        expect(visitor.page.locator(".banner")).to_have_text("Connection lost. Trying again …")
        player.press("d1")
        player.press("c1")
        visitor.see(".toast", has_text="nothing was sent")
        visitor.picture("lost")
        serving.start()
        expect(visitor.page.locator(".banner")).to_have_count(0)
        expect(visitor.page.locator(".bottom-card.turn")).to_be_visible()
        assert (standing(player), player.plies()) == (seen, plies)
        player.step("d1", "c1")
        assert player.plies() == plies + 2


# ── The seal ─────────────────────────────────────────────────────────────────────────────────────


def test_the_seal_is_computed_alike_where_the_browser_has_no_hash_of_its_own(visit):
    page = visit().open().page
    texts = ["", "salt:F..", "é" * 40, *("x" * length for length in (55, 56, 63, 64, 65, 119, 1000))]
    hashes = page.evaluate(
        """async texts => {
            const {plainSha256} = await import("/static/js/sha256.js");
            return texts.map(text => plainSha256(new TextEncoder().encode(text)));
        }""",
        texts,
    )
    assert hashes == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


@pytest.mark.parametrize("tampering", ["seal", "later", "setup", "salt"])
def test_a_seal_that_does_not_fit_is_shown_as_broken(visit, tampering):
    visitor = visit()
    sights: list[None] = []

    def bent(text: str) -> str:
        told = json.loads(text)
        if told["say"] != "sight":
            return text
        sights.append(None)
        over = told["over"]
        if tampering == "seal" or (tampering == "later" and len(sights) > 1):
            told["commitment"]["blue"] = "0" * 64
        if over and tampering == "later":
            told["commitment"]["blue"] = "0" * 64
        if over and tampering == "setup":
            over["setups"]["blue"] = over["setups"]["blue"][::-1]
        if over and tampering == "salt":
            over["salts"]["blue"] = None
        return json.dumps(told)

    def between(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        route.on_message(server.send)
        server.on_message(lambda text: route.send(bent(str(text))))

    visitor.page.route_web_socket("**/ws/*", between)
    visitor.start()
    visitor.resign()
    # A seal that was exchanged later changes nothing: the browser keeps the first.
    kind = "good" if tampering == "later" else "bad"
    visitor.see(f"dialog.end .promise.{kind}")
    expect(visitor.page.locator("dialog.end .promise")).to_have_count(1)
    if tampering == "seal":
        visitor.picture("seal-broken")
