"""The screens of the page in a real browser: setups, people against people, learning, looks, and for the ear."""

from __future__ import annotations

import importlib.resources
import json
import math
import re
import signal
from typing import Any

import pytest
from browser import PHONE, QUIET, Player, Visitor
from playwright.sync_api import Locator, Page, Route, WebSocketRoute, expect

from vauban.board import Board
from vauban.games.stratego.pieces import BOMB, LETTERS
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.records import write_game
from vauban.search.moments import BATTLES, SENTENCES, Said

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-page")

BARRAGE = "F.......SO/B......G.O/....N..M../.........."


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


def _workshop(visitor: Visitor, setup: str = BARRAGE) -> Locator:
    """The setup editor with a setup in it, and the field that shows it as text."""
    visitor.open("#/setups")
    visitor.see(".setup .piece")
    return visitor.give(setup)


def _square(page: Page, at: str) -> Locator:
    return page.locator(f".setup .cell[data-at={at}]")


def test_a_setup_is_changed_by_dragging_by_two_clicks_and_by_keys(visit):
    visitor = visit()
    page, text = visitor.page, _workshop(visitor)
    # a1 is the Flag in the corner, e3 the Miner, h3 the Marshal.
    _square(page, "a1").drag_to(_square(page, "e3"))
    expect(text).to_have_value("N.......SO/B......G.O/....F..M../..........")
    _square(page, "h3").click()
    expect(page.locator(".setup .cell.selected")).to_have_count(1)
    visitor.picture("setups-light", whole=True)
    _square(page, "a4").click()
    expect(text).to_have_value("N.......SO/B......G.O/....F...../M.........")
    _square(page, "a4").click()
    page.keyboard.press("Escape")
    expect(page.locator(".setup .cell.selected")).to_have_count(0)
    page.keyboard.press("Enter")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(text).to_have_value("N.......SO/B......G.O/..M.F...../..........")
    expect(page.locator("#live")).to_contain_text("Exchanged marshal (10) and empty.")
    # Let go beside the board, or where it came from: nothing has changed.
    page.mouse.move(*_middle(_square(page, "a1")))
    page.mouse.down()
    page.mouse.move(5, 5, steps=3)
    page.mouse.up()
    expect(text).to_have_value("N.......SO/B......G.O/..M.F...../..........")


def _middle(thing: Locator) -> tuple[float, float]:
    box = thing.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_setups_are_drawn_mirrored_named_kept_and_read_from_text(visit):
    visitor = visit()
    page, text = visitor.page, _workshop(visitor)
    visitor.button("Mirror").click()
    expect(text).to_have_value("OS.......F/O.G......B/..M..N..../..........")
    visitor.button("Save").click()
    page.get_by_label("Name", exact=True).fill("My corner")
    page.keyboard.press("Enter")
    visitor.see(".toast", has_text="Saved as “My corner”.")
    for kind in ("Like people do", "Random", "From the network"):
        before = text.input_value()
        visitor.button(kind).click()
        expect(text).not_to_have_value(before)
        expect(page.locator(".setup .piece")).to_have_count(8)
    page.reload()
    visitor.see(".setup .piece")
    page.get_by_label("Saved setups").select_option("My corner")
    expect(text).to_have_value("OS.......F/O.G......B/..M..N..../..........")
    # The letters are explained, and what is wrong with a text is said precisely.
    expect(page.locator("#setup-letters")).to_contain_text(
        "M marshal, G general, N miner, O scout, S spy, B bomb, F flag"
    )
    expect(text).to_have_attribute("aria-describedby", "setup-letters")
    for wrong, words in (
        (BARRAGE.replace("M", "G"), "Too many: General (2 instead of 1). Missing: Marshal (0 instead of 1)."),
        (BARRAGE.replace("N", "C"), "Too many: Colonel (1 instead of 0). Missing: Miner (0 instead of 1)."),
        (BARRAGE.replace("/B", "/B."), "Row 2 (B.......G.O) has 11 squares instead of 10."),
        (BARRAGE.replace("N", "x"), "“x” in row 3 (....x..M..), place 5, is no piece."),
        ("FSO", "There are 1 rows, and this game has 4. Put a / between them."),
    ):
        text.fill(wrong)
        visitor.button("Use this text").click()
        expect(page.locator(".setup .error")).to_have_text(words)
        expect(text).to_have_attribute("aria-invalid", "true")
    visitor.picture("setup-faults")
    # Slashes may be left out.
    text.fill(BARRAGE.replace("/", ""))
    visitor.button("Use this text").click()
    expect(text).to_have_value(BARRAGE)
    expect(page.locator(".setup .error")).to_be_empty()
    visitor.give("........SO/B......G.O/....N..M../F.........")
    expect(page.locator(".warnings")).to_have_text("Your flag stands in the front row.")
    page.locator("input[name=variant][value=classic]").check()
    expect(page.locator(".setup .piece")).to_have_count(40)
    visitor.picture("setups-classic", whole=True)


class Slow:
    """Holds requests to a path back until they are let go, to the server or with an error."""

    def __init__(self, page: Page, path: str) -> None:
        self.held: list[Route] | None = []
        page.route(path, self._take)

    def _take(self, route: Route) -> None:
        if self.held is None:
            route.continue_()
        else:
            self.held.append(route)

    def release(self, error: str | None = None) -> None:
        assert self.held
        held, self.held = self.held, None
        for route in held:
            if error is None:
                route.continue_()
            else:
                route.fulfill(status=400, json={"error": {"code": "setup", "text": error}})


def test_a_game_waits_for_the_setup_that_was_asked_for_last(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(level="recruit")
    text = visitor.give(QUIET)
    slow = Slow(page, "**/api/setups/check")
    text.fill(BARRAGE)
    visitor.button("Use this text").click()
    visitor.button("Play").click()
    expect(page.locator(".play")).to_be_disabled()
    assert page.evaluate("location.hash") in ("", "#/")
    slow.release()
    visitor.see(".bottom-card.turn")
    # The Marshal stands where the text says, and not where it stood before.
    expect(page.locator(".table .cell[data-at=h3]")).to_have_attribute("aria-label", "h3, your marshal (10)")


def test_a_game_that_is_being_prepared_says_so_at_once(visit):
    visitor = visit()
    visitor.forgive("/api/games: 400|status of 400")
    page = visitor.open().page
    visitor.see(".setup .piece")
    play = page.locator(".play")
    for error in ("Not now.", None):
        slow = Slow(page, "**/api/games")
        play.click()
        expect(play).to_have_text("Preparing the game")
        expect(play).to_have_attribute("aria-busy", "true")
        expect(play).to_be_disabled()
        expect(page.locator("#live")).to_have_text("Preparing the game")
        visitor.picture("preparing-light")
        slow.release(error)
        if error is not None:
            visitor.see(".toast", has_text=error)
            expect(play).to_have_text("Play")
            expect(play).to_be_enabled()
            page.unroute("**/api/games")
    visitor.see(".bottom-card.turn")


def test_whoever_is_ready_waits_for_his_text_and_goes_nowhere_if_it_is_none(visit):
    visitor = visit()
    visitor.forgive("/api/setups/check: 400|status of 400")
    page = visitor.open().page
    visitor.choose(mode="hotseat")
    visitor.button("Play").click()
    visitor.see(".setup .piece.red")
    text = visitor.give(QUIET)
    slow = Slow(page, "**/api/setups/check")
    text.fill(BARRAGE)
    visitor.button("Use this text").click()
    visitor.button("Ready").click()
    expect(page.locator(".play")).to_be_disabled()
    slow.release("This is none.")
    expect(page.locator(".setup .error")).to_have_text("This is none.")
    expect(visitor.button("Ready")).to_be_enabled()
    expect(page.locator(".handover")).to_have_count(0)
    # Another press means what is on the board.
    visitor.button("Ready").click()
    _cross(visitor, "Blue")


# ── People against people, and machines against machines ─────────────────────────────────────────


def test_two_people_on_one_device_never_see_each_others_army(visit):
    visitor = visit()
    page, player = visitor.page, _hotseat(visitor)
    for ply, (side, other) in enumerate((("Red", "Blue"), ("Blue", "Red")) * 2, start=1):
        _cross(visitor, side)
        visitor.see(".bottom-card.turn")
        expect(page.locator(f".table .piece.{other.lower()}:not(.hidden)")).to_have_count(0)
        # A piece that has moved already has not fought, nor run: it stays unknown.
        player.press("e3" if side == "Red" else "f8")
        player.press("e4" if side == "Red" else "f7")
        expect(page.locator(".moves li")).to_have_count(ply)
        if ply == 2:
            break
        visitor.button(f"Hand over to {other}").click()
    page.reload()
    _cross(visitor, "Red")
    expect(page.locator(".table .piece.blue:not(.hidden)")).to_have_count(0)


def test_a_game_that_is_lost_by_time_while_the_board_is_covered_is_shown(visit):
    visitor = visit()

    def hurried(route: Route) -> None:
        asked = route.request.post_data_json | {"clock": {"kind": "bronstein", "minutes": 0.05, "seconds": 0}}
        route.continue_(post_data=json.dumps(asked))

    visitor.page.route("**/api/games", hurried)
    _hotseat(visitor)
    visitor.see("dialog.end", has_text="Blue won")
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(".handover")).to_have_count(0)
    visitor.see(".table .piece.red")
    visitor.see(".headline", has_text="Blue won")


def test_ones_own_army_stands_at_the_bottom_unless_one_does_not_want_it(visit):
    visitor = visit()
    visitor.start(QUIET, side="blue")
    page = visitor.page

    def height(piece: str) -> float:
        return visitor.see(f".table .piece.{piece}").bounding_box()["y"]

    assert height("blue") > height("red")
    visitor.button("Settings").click()
    page.get_by_label("Your army at the bottom").uncheck()
    page.locator("dialog").get_by_role("button", name="Close").click()
    for _ in range(2):
        assert height("blue") < height("red")
        page.reload()
        visitor.see(".table .piece.red")


def test_a_choice_that_was_kept_for_another_version_of_the_page_does_not_matter(visit):
    visitor = visit()
    kept = json.dumps({"variant": "gone", "level": "nobody", "mode": "level"})
    visitor.open().page.evaluate(f"localStorage.setItem('vauban.wish', {kept!r})")
    visitor.page.reload()
    visitor.see(".setup .piece")
    expect(visitor.page.locator("input[name=variant][value=barrage]")).to_be_checked()


def test_a_browser_that_keeps_nothing_plays_all_the_same(visit):
    visitor = visit()
    visitor.page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})")
    _hotseat(visitor)
    _cross(visitor, "Red")
    visitor.see(".bottom-card.turn")


SCOUTS = "F.......S./B......G../....N..M../O........O"
"""A setup with a Scout at either end of the front row."""


def _hotseat(visitor: Visitor, setup: str = SCOUTS) -> Player:
    """A game of two on one device, both with the same setup, up to the first hand-over."""
    visitor.open()
    visitor.choose(mode="hotseat")
    visitor.button("Play").click()
    for side in ("Red", "Blue"):
        if side == "Blue":
            _cross(visitor, side)
        visitor.see("h1", has_text=f"Set up your army: {side.lower()}")
        visitor.see(f".setup .piece.{side.lower()}")
        expect(visitor.page.locator(f".setup .piece:not(.{side.lower()})")).to_have_count(0)
        visitor.give(setup)
        visitor.button("Ready").click()
    return Player(visitor)


def _cross(visitor: Visitor, side: str) -> None:
    """The screen between two people: it shows nothing of either."""
    visitor.see(".handover h1", has_text=f"{side}, it is your turn")
    expect(visitor.page.locator(".piece, .moves, .card")).to_have_count(0)
    if side == "Blue":
        visitor.picture("handover-light")
    visitor.button(f"I am {side}").click()


def test_two_friends_play_by_a_link_and_agree_on_a_draw(visit):
    host, guest = visit(), visit(color_scheme="dark")
    _friends(host, guest)
    sides = (host, guest)
    for ply, (source, target) in enumerate((("f1", "g1"), ("e10", "d10"), ("g1", "h1"), ("d10", "c10"))):
        sides[ply % 2].see(".bottom-card.turn")
        player = Player(sides[ply % 2])
        player.press(source)
        player.press(target)
        expect(sides[1 - ply % 2].page.locator(".moves li")).to_have_count(ply + 1)
    expect(guest.page.locator(".table .piece.red:not(.hidden)")).to_have_count(0)
    # An own piece is at the bottom for both.
    assert guest.page.locator(".files").inner_text().split()[0] == "j"
    host.button("Offer a draw").click()
    host.page.locator("dialog").get_by_role("button", name="Offer a draw").click()
    guest.see(".offer", has_text="offers a draw")
    guest.picture("offer-dark")
    guest.button("Accept").click()
    for visitor in (host, guest):
        expect(visitor.see("dialog.end h2")).to_have_text("A draw")
    host.page.locator("dialog.end").get_by_role("button", name="Rematch").click()
    # The other is told, in the dialog and beside the board, and for the ear.
    expect(guest.page.locator("dialog.end .asked")).to_have_text("Friend would like a rematch.")
    expect(guest.page.locator("#live")).to_have_text("Friend would like a rematch.")
    expect(host.button("Rematch asked")).to_be_disabled()
    # Whoever is away when it is made finds the way when he comes back.
    old = host.page.url
    host.page.goto("about:blank")
    guest.page.locator("dialog.end").get_by_role("button", name="Rematch").click()
    guest.see(".setup .piece.red")  # colours are swapped; both set up anew
    host.page.goto(old)
    host.button("To the rematch").click()
    host.see(".setup .piece.blue")


def test_a_friend_whose_answer_was_lost_on_its_way_has_his_seat_all_the_same(visit):
    host, guest = visit(), visit()
    guest.forgive("502|409")
    host.open()
    host.choose(mode="friend")
    host.see(".setup .piece")
    host.button("Make the link").click()
    link = host.see(".invitation input").input_value()
    lost = []

    def lose(route: Route) -> None:
        lost.append(route.fetch().status)
        route.fulfill(status=502, body="Bad gateway")

    guest.page.route("**/join", lose)
    guest.page.goto(link)
    guest.see("h1", has_text="This invitation cannot be used")
    assert lost == [200]
    guest.page.unroute("**/join")
    guest.page.reload()
    guest.see(".setup .piece.blue")
    # What is gone for good leaves nothing behind.
    guest.page.evaluate("localStorage.clear()")
    guest.page.goto("about:blank")
    guest.page.goto(link)
    guest.see(".page p", has_text="This invitation has been taken")
    assert guest.page.evaluate("Object.keys(localStorage).filter(key => key.includes('joining'))") == []


def test_a_rematch_against_a_machine_is_with_the_same_setup_or_with_another(visit):
    visitor = visit()
    page = visitor.page
    visitor.start(QUIET)
    visitor.resign()
    end = page.locator("dialog.end")
    end.get_by_role("button", name="Rematch").click()
    visitor.picture("rematch-light")
    visitor.button("Cancel").click()
    expect(page.locator("dialog")).to_have_count(0)
    visitor.button("Rematch").click()
    visitor.button("Same setup").click()
    visitor.see(".bottom-card.turn .quiet", has_text="blue")
    assert page.locator(".table .cell[aria-label*='your flag']").get_attribute("data-at") == "j10"
    visitor.resign()
    end.get_by_role("button", name="Rematch").click()
    visitor.button("New setup").click()
    # It begins with the one that was, to be changed.
    visitor.see(".setup .piece.red")
    expect(page.locator(".setup input.code")).to_have_value(QUIET)
    visitor.button("Mirror").click()
    visitor.button("Ready").click()
    visitor.see(".bottom-card.turn")
    assert page.locator(".table .cell[aria-label*='your flag']").get_attribute("data-at") == "j1"


def test_a_friend_reads_the_terms_and_hears_what_was_declined(visit):
    host, guest = visit(), visit()
    host.open()
    host.choose(mode="friend", clock="bronstein")
    minutes = host.page.get_by_role("spinbutton", name="Minutes", exact=True)
    minutes.fill("500")
    minutes.press("Tab")
    expect(minutes).to_have_value("180")
    minutes.fill("7")
    host.page.get_by_role("spinbutton", name="Most minutes a move").fill("2")
    host.page.locator("input[name=takebacks]").uncheck()
    host.see(".setup .piece")
    host.give(QUIET)
    host.button("Make the link").click()
    guest.open(host.see(".invitation input").input_value().removeprefix(guest.address))
    guest.picture("terms-light")
    expect(guest.page.locator(".terms li").nth(0)).to_contain_text("moves without a battle")
    expect(guest.page.locator(".terms li").nth(1)).to_contain_text("7 minutes")
    expect(guest.page.locator(".terms li").nth(1)).to_contain_text("For one move there are at most 2 minutes.")
    expect(guest.page.locator(".terms li").nth(2)).to_have_text("Moves cannot be taken back.")
    guest.give(QUIET)
    guest.button("Ready").click()
    host.see(".bottom-card.turn")
    host.button("Offer a draw").focus()
    host.page.keyboard.press("Enter")
    host.page.locator("dialog").get_by_role("button", name="Offer a draw").click()
    guest.button("Decline").click()
    host.see(".toast", has_text="The draw was declined.")
    expect(host.page.locator("#live")).to_have_text("The draw was declined.")
    # What had the focus has it still, or the board does: never nothing.
    assert host.page.evaluate("document.activeElement.closest('.actions, .board') !== null")


def test_what_the_server_refuses_is_said_in_the_pages_own_words(visit):
    """Texts of errors are exchanged on their way: none of them may be seen."""
    host, guest, stranger = visit(), visit(), visit()
    theirs = "The server's own words."

    def bent(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        route.on_message(server.send)

        def on(text: str | bytes) -> None:
            told = json.loads(text)
            route.send(json.dumps(told | {"text": theirs} if told["say"] == "error" else told))

        server.on_message(on)

    def refused(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        if "error" in told:
            told["error"]["text"] = theirs
        route.fulfill(status=answer.status, json=told)

    for visitor in (host, guest, stranger):
        visitor.page.route_web_socket("**/ws", bent)
        visitor.page.route("**/api/**", refused)
        visitor.forgive("/join: 409|status of 409|/play-on: 400|status of 400")
    _friends(host, guest)
    for _ in range(2):
        host.button("Offer a draw").click()
        host.page.locator("dialog").get_by_role("button", name="Offer a draw").click()
        if host.page.locator(".toast").count() == 0:
            guest.button("Decline").click()
            host.see(".toast", has_text="The draw was declined.")
    host.see(".toast", has_text="You have offered a draw not long ago. Moves to wait: 20.")
    host.button("Take back").evaluate("each => { each.disabled = false; }")
    host.button("Take back").click()
    host.page.locator("dialog").get_by_role("button", name="Take back").click()
    host.see(".toast", has_text="There is no move of yours to take back.")
    game = host.page.url.split("/")[-3]
    stranger.open(f"#/game/{game}/red/wrong")
    stranger.see(".page p", has_text="There is no such game, or this link does not open it.")
    link = host.page.evaluate("game => JSON.parse(localStorage['vauban.games']).find(each => each.id === game)", game)
    stranger.page.goto(f"{stranger.address}#/friend/{game}/blue/{link['friend']['invitation']}")
    stranger.see(".page p", has_text="This invitation has been taken")
    guest.resign()
    guest.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    guest.see(".review .board")
    for visitor in (host, guest, stranger):
        assert theirs not in visitor.page.locator("body").inner_text()


def test_a_setup_that_cannot_begin_is_asked_for_again(visit):
    visitor = visit()
    visitor.open()
    visitor.choose(mode="friend", variant="classic")
    visitor.see(".setup .piece")
    others = "".join(letter * count for letter, count in zip(LETTERS, VARIANTS["classic"].army, strict=True))
    others = others.replace(LETTERS[BOMB], "")
    rows = [others[:10], others[10:20], others[20:30], f"BB{others[30:32]}BB{others[32:]}BB"]
    visitor.give("/".join(rows))
    visitor.button("Make the link").click()
    visitor.see(".toast", has_text="None of these pieces could make a first move")
    visitor.see(".setup .piece")
    visitor.page.reload()
    visitor.see(".setup .piece")
    visitor.see(".invitation input")


def test_two_machines_are_watched(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(variant="classic", mode="watch", red="charger", blue="fox")
    visitor.button("Watch").click()
    visitor.see(".moves li:nth-child(3)")
    expect(page.locator(".table .piece.hidden")).to_have_count(0)
    assert page.locator(".actions button").all_inner_texts() == ["Pause", "One move", "Stop", "Flip"]
    # With the eyes of a side: the server sends no more than that side may know, also after a reload.
    for side, other in (("red", "blue"), ("blue", "red")):
        page.locator(f"input[name=eyes][value={side}]").check()
        expect(page.locator(f".table .piece.{side}.hidden")).to_have_count(0)
        expect(page.locator(f".table .piece.{other}.hidden").first).to_be_visible()
    visitor.picture("watch-eyes-light")
    page.reload()
    visitor.see(".table .piece.red.hidden")
    expect(page.locator("input[name=eyes][value=blue]")).to_be_checked()
    for told in map(json.loads, visitor.frames):
        if told.get("eyes") and not told["over"]:
            seen = [piece for piece in told["pieces"] if piece["side"] != told["eyes"] and piece["type"]]
            assert all(piece["revealed"] for piece in seen)
    page.locator("input[name=eyes][value=all]").check()
    expect(page.locator(".table .piece.hidden")).to_have_count(0)
    before = page.locator(".files").inner_text().split()
    visitor.button("Flip").click()
    assert page.locator(".files").inner_text().split() == before[::-1]
    visitor.picture("watch-light")
    page.set_viewport_size({"width": 360, "height": 740})
    visitor.fits()
    assert page.evaluate(CUT) == []
    visitor.picture("watch-phone", whole=True)


def test_two_machines_that_are_watched_are_paused_stepped_and_stopped(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(variant="classic", mode="watch", red="fox", blue="fox")
    visitor.button("Watch").click()
    moves = page.locator(".moves li")
    visitor.see(".moves li:nth-child(2)")
    visitor.button("Pause").click()
    visitor.see(".headline", has_text="Paused")
    expect(visitor.button("Go on")).to_be_focused()
    expect(page.locator(".thinking")).to_have_count(0)
    ply = moves.count()
    for more in (1, 2):
        visitor.button("One move").click()
        expect(moves).to_have_count(ply + more)
    # It stays so through a reload, and nothing moves meanwhile.
    page.reload()
    visitor.see(".headline", has_text="Paused")
    page.wait_for_timeout(1500)
    expect(moves).to_have_count(ply + 2)
    visitor.picture("watch-paused-light")
    page.locator("input[name=pace][value=fast]").check()
    visitor.button("Go on").click()
    visitor.see(f".moves li:nth-child({ply + 5})")
    visitor.button("Stop").click()
    page.locator("dialog").get_by_role("button", name="Stop").click()
    expect(visitor.see("dialog.end h2")).to_have_text("No result")
    visitor.button("Look back").last.click()
    visitor.see(".review .board")
    visitor.open("#/import")
    expect(page.locator(".games li").first).to_contain_text("not finished")


def _friends(host: Visitor, guest: Visitor, setup: str = QUIET, switch: str | None = None) -> None:
    """A game of two by a link, both with the same setup, up to the first move; `switch` is an option to switch off."""
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


def test_a_move_is_prepared_while_the_other_side_thinks(visit):
    host, guest = visit(), visit()
    _friends(host, guest)
    red, blue = Player(host), Player(guest)
    moves = host.page.locator(".moves li")

    def send(player: Player, source: str, target: str) -> None:
        player.press(source)
        player.press(target)

    def waits(ply: int) -> None:
        expect(moves).to_have_count(ply)
        expect(guest.page.locator(".moves li")).to_have_count(ply)

    # Prepared, shown, and played when the turn comes.
    send(red, "f1", "g1")
    waits(1)
    send(red, "g1", "h1")
    expect(host.page.locator(".cell.pending")).to_have_attribute("data-at", "h1")
    host.see(".status", has_text="Prepared: g1 to h1.")
    host.picture("prepared-light")
    send(blue, "e10", "d10")
    waits(3)
    expect(red.cell("h1")).to_have_attribute("aria-label", "h1, your spy (1), has moved")
    # Given up by Escape, or by touching the board: nothing is played.
    for give_up in (lambda: host.page.keyboard.press("Escape"), lambda: red.press("f5")):
        host.page.keyboard.type("h1i1" if moves.count() == 3 else "i1j1")
        host.see(".status", has_text="Prepared: ")
        give_up()
        expect(host.page.locator(".cell.pending")).to_have_count(0)
        send(blue, *(("d10", "c10") if moves.count() == 3 else ("c10", "b10")))
        host.see(".bottom-card.turn")
        ply = moves.count()
        send(red, *(("h1", "i1") if ply == 4 else ("i1", "j1")))
        waits(ply + 1)
    # What cannot be played when the turn comes is dropped with a word: the Miner's way is not free.
    send(red, "d1", "e1")
    host.see(".status", has_text="Prepared: d1 to e1.")
    send(blue, "b10", "a10")
    host.see(".reason-box", has_text="Your prepared move d1 to e1 cannot be played now.")
    waits(8)
    host.see(".bottom-card.turn")
    # What never moves cannot be prepared, and a piece that was picked up stays so when the turn comes.
    send(red, "j1", "i1")
    waits(9)
    red.press("a1")
    host.see(".reason-box", has_text="A Flag never moves.")
    red.press("d1")
    send(blue, "a10", "b10")
    waits(10)
    assert red.marked("selected") == {"d1"}
    red.press("c1")
    waits(11)


def test_a_prepared_move_that_a_rule_bars_is_dropped_with_the_rule(visit):
    host, guest = visit(), visit()
    _friends(host, guest)
    red, blue = Player(host), Player(guest)
    for ply, move in enumerate(("f1g1", "e10d10", "g1f1", "d10c10", "f1g1"), 1):
        (red if ply % 2 else blue).page.keyboard.type(move)
        for visitor in (host, guest):
            expect(visitor.page.locator(".moves li")).to_have_count(ply)
    red.press("g1")
    red.press("f1")
    host.see(".status", has_text="Prepared: g1 to f1.")
    guest.page.keyboard.type("c10b10")
    dropped = "Your prepared move g1 to f1 cannot be played now. Two-square rule: this Spy has just gone"
    box = host.see(".reason-box", has_text=dropped)
    expect(box.get_by_role("link", name="What the rule says")).to_be_visible()


def test_a_refusal_that_passes_is_not_the_end_of_a_game(visit):
    visitor = visit()
    page = visitor.page
    patient: list[bool] = []

    def impatient(route: WebSocketRoute) -> None:
        if patient:
            route.connect_to_server()
            return
        patient.append(True)

        def refuse(_: str | bytes) -> None:
            route.send(json.dumps({"say": "error", "code": "slow", "key": "slow", "data": {}, "text": ""}))
            route.close()

        route.on_message(refuse)

    def again() -> None:
        patient.clear()
        page.reload()
        visitor.see(".toast", has_text="That is too much at once. Wait a little.")

    visitor.start(QUIET)
    page.route_web_socket("**/ws", impatient)
    again()
    visitor.see(".bottom-card.turn")
    visitor.resign()
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    again()
    visitor.see(".review .board")


def test_a_game_without_aids_has_no_notes_and_remembers_nothing_for_either_side(visit):
    host, guest = visit(), visit()
    _friends(host, guest, SCOUTS, switch="aids")
    red, blue = Player(host), Player(guest)
    for visitor, player, enemy in ((host, red, "j7"), (guest, blue, "a4")):
        visitor.see(".status", has_text="This game is played without notes and memory aids.")
        visitor.page.locator(f".table .cell[data-at={enemy}]").click(button="right")
        visitor.see(".reason-box")
        expect(visitor.page.locator("dialog")).to_have_count(0)
        assert player.cells()[enemy][0] == ["enemy piece"]
    # A Scout that has run is known, until the next move.
    for player, other, source, target in ((red, blue, "a4", "a6"), (blue, red, "j7", "j5")):
        player.press(source)
        player.press(target)
        expect(other.cell(target)).to_have_attribute("aria-label", f"{target}, enemy scout (2)")
    expect(blue.cell("a6")).to_have_attribute("aria-label", "a6, enemy piece")
    # Nor is it told which pieces have moved, or which of one's own the enemy knows: not in letters, not by marks.
    expect(red.cell("a6")).to_have_attribute("aria-label", "a6, your scout (2), has moved")
    blue.press("a6")
    guest.page.keyboard.press("o")
    expect(guest.page.locator("#live")).to_contain_text("Row 6: a6 enemy piece; c6 lake")
    for visitor in (host, guest):
        expect(visitor.page.locator(".mark")).to_have_count(0)


def test_a_board_that_remembers_marks_what_has_moved_and_what_the_enemy_knows(visit):
    host, guest = visit(), visit()
    _friends(host, guest, SCOUTS)
    red, blue = Player(host), Player(guest)
    for player, other, source, target in ((red, blue, "a4", "a6"), (blue, red, "f8", "f7")):
        player.press(source)
        player.press(target)
        other.visitor.see(".bottom-card.turn")
    expect(red.cell("a6")).to_have_attribute("aria-label", "a6, your scout (2), has moved, known to the enemy")
    expect(blue.cell("a6")).to_have_attribute("aria-label", "a6, enemy scout (2), has moved")
    expect(host.page.locator(".mark.known")).to_have_count(1)
    expect(host.page.locator(".mark.moved")).to_have_count(1)
    # Whoever wants to remember for himself is told none of it.
    host.page.evaluate("async () => (await import('/static/js/settings.js')).change('memory', 'tournament')")
    expect(host.page.locator(".mark")).to_have_count(0)
    expect(red.cell("a6")).to_have_attribute("aria-label", "a6, your scout (2), has moved")
    expect(red.cell("f7")).to_have_attribute("aria-label", "f7, enemy piece")


def test_a_connection_that_has_died_in_silence_is_given_up_and_made_anew(visit, serving):
    visitor = visit()
    page = visitor.page
    visitor.start(QUIET)
    page.clock.install()
    page.reload()
    visitor.see(".bottom-card.turn")
    serving.process.send_signal(signal.SIGSTOP)
    try:
        page.clock.run_for(20_000)  # it asks whether anybody is there
        expect(page.locator(".banner")).to_have_count(0)
        page.clock.run_for(8_000)
        visitor.see(".banner", has_text="connection")
    finally:
        serving.process.send_signal(signal.SIGCONT)
    page.clock.run_for(2_000)
    expect(page.locator(".banner")).to_have_count(0)


def test_a_machine_that_takes_longer_than_usual_is_seen_to_think(visit):
    visitor = visit()

    def slower(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        route.on_message(server.send)

        def on(text: str | bytes) -> None:
            told = json.loads(text)
            if told.get("thinking"):
                told["thinking"] |= {"seconds": 41.8 if told["ply"] else 0, "expected": 1.0}
            # The answer never comes.
            if max(told.get("ply", 0), told.get("first", 0) + len(told.get("moves", ()))) < 2:
                route.send(json.dumps(told))

        server.on_message(on)

    visitor.page.route_web_socket("**/ws", slower)
    player = visitor.start(QUIET)
    player.press("f1")
    player.press("g1")
    for seconds in (42, 43):
        expect(visitor.page.locator(".top-card .thinking")).to_contain_text(f"thinking for {seconds} s")


def test_opponents_stand_in_the_order_of_their_ratings_in_a_game(visit):
    visitor = visit()

    def rated(route: Route) -> None:
        offered = route.fetch().json()
        for level in offered["levels"]:
            level["elo"] = {"barrage": {"fox": 5, "recruit": 9, "charger": -3}.get(level["key"], 3000)}
            if level["key"] == "prober":
                level["elo"] = {}
        route.fulfill(json=offered)

    visitor.page.route("**/api/offer", rated)
    page = visitor.open().page
    shown = page.locator("input[name=level]").evaluate_all("fields => fields.map((field) => field.value)")
    assert shown[:5] == ["charger", "fox", "prober", "recruit", "cadet"]
    # Where none is measured, they stand as the server has them.
    visitor.choose(variant="duel")
    shown = page.locator("input[name=level]").evaluate_all("fields => fields.map((field) => field.value)")
    assert shown[:4] == ["recruit", "charger", "prober", "fox"]


def test_a_wait_that_can_be_felt_is_announced_in_tenths(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(level="marshal")
    expect(page.locator("label:has(input[name=level][value=marshal])")).to_contain_text("About 0.5 s a move.")
    expect(page.locator("label:has(input[name=level][value=general])")).not_to_contain_text("a move.")
    said = page.evaluate(
        """async () => {
            const {ThinkingTime} = await import("/static/js/clock.js");
            return [0.05, 0.2, 0.35, 0.5, 1, 30.04].map((expected) => {
                const time = new ThinkingTime();
                time.set({seconds: 0, expected});
                time.close();
                return time.words.textContent;
            });
        }"""
    )
    assert said == ["thinking", *(f"thinking, about {figure} s" for figure in ("0.2", "0.4", "0.5", "1", "30"))]


def test_a_clock_of_ones_own_begins_with_the_numbers_that_are_offered(visit):
    visitor = visit()

    def other(route: Route) -> None:
        offered = route.fetch().json()
        offered["clocks"][-1] |= {"minutes": 7, "seconds": 3}
        route.fulfill(json=offered)

    visitor.page.route("**/api/offer", other)
    visitor.open()
    visitor.choose(clock="bronstein")
    for name, value in (("Minutes", "7"), ("Seconds back", "3")):
        expect(visitor.page.get_by_role("spinbutton", name=name, exact=True)).to_have_value(value)


def test_results_are_counted_by_game_and_level_and_can_be_forgotten(visit):
    visitor = visit()
    page = visitor.open().page
    expect(page.locator(".results")).to_have_count(0)
    for _ in range(2):
        visitor.start()
        visitor.resign()
        page.reload()  # the end is told again, and counted once
        visitor.see(".headline", has_text="You lose")
    # Who takes back has learnt what he could not know: that does not count.
    player = visitor.start(QUIET, level="charger")
    player.step("d1", "c1")
    visitor.button("Take back").click()
    page.locator("dialog").get_by_role("button", name="Take back").click()
    expect(page.locator(".moves li")).to_have_count(0)
    visitor.resign()
    visitor.open()
    page.get_by_text("Your results").click()
    expect(page.locator(".results tbody tr")).to_have_text(["BarrageRecruit002"])
    expect(page.locator(".results .games li")).to_have_count(3)
    visitor.picture("results-light")
    page.locator(".results .games a").first.click()
    visitor.see(".review .board")
    visitor.open()
    page.get_by_text("Your results").click()
    visitor.button("Forget all results").click()
    page.locator("dialog").get_by_role("button", name="Forget all results").click()
    expect(page.locator(".results")).to_have_count(0)
    page.reload()
    visitor.see(".setup .piece")
    expect(page.locator(".results, .games")).to_have_count(0)


def test_results_tell_how_saved_setups_did(visit):
    visitor = visit()
    page = visitor.open().page
    kept = json.dumps([{"name": "My corner", "setup": QUIET}, {"name": "Never played", "setup": BARRAGE}])
    page.evaluate("kept => localStorage.setItem('vauban.setups.barrage', kept)", kept)
    for setup in (QUIET, QUIET, None):
        visitor.start(setup)
        visitor.resign()
    visitor.open()
    page.get_by_text("Your results").click()
    expect(page.locator(".results tbody tr")).to_have_text(["BarrageRecruit003", "BarrageMy corner002"])


RATED = [
    # Level with an opponent; better than one; a mixed record; all won, all lost.
    ([(1500, 10, 0, 10)], 1500),
    ([(1500, 15, 0, 5)], 1680),
    ([(1200, 8, 2, 2), (1600, 3, 0, 9)], 1400),
    ([(1500, 6, 0, 0)], 1946),
    ([(1500, 0, 0, 6)], 1054),
]


@pytest.mark.parametrize(("results", "expected"), RATED)
def test_a_persons_strength_is_the_most_likely_one(visit, results, expected):
    """Found here by trying every figure, in steps of one point."""
    average = sum(elo * (won + draw + lost) for elo, won, draw, lost in results) / sum(
        won + draw + lost for _, won, draw, lost in results
    )

    def logarithm(own: int) -> float:
        found = 0.0
        for elo, won, draw, lost in [*results, (average, 0, 1, 0)]:
            chance = 1 / (1 + 10 ** ((elo - own) / 400))
            found += (won + draw / 2) * math.log(chance) + (lost + draw / 2) * math.log(1 - chance)
        return found

    likeliest = max(range(-500, 3500), key=logarithm)
    curvature = logarithm(likeliest + 1) + logarithm(likeliest - 1) - 2 * logarithm(likeliest)
    told = [{"elo": elo, "won": won, "draw": draw, "lost": lost} for elo, won, draw, lost in results]
    found = visit().open().page.evaluate("async told => (await import('/static/js/rating.js')).rate(told)", told)
    assert likeliest == expected
    assert found["elo"] == pytest.approx(likeliest, abs=1)
    assert found["error"] == pytest.approx(1.96 / math.sqrt(-curvature), abs=1)
    assert found["games"] == sum(sum(each[1:]) for each in results)


def test_ones_own_strength_is_told_when_it_says_something(visit):
    visitor = visit()
    page = visitor.page

    def measured(route: Route) -> None:
        offered = route.fetch().json()
        for level in offered["levels"]:
            level["elo"] = {"barrage": 1500}
        route.fulfill(json=offered)

    page.route("**/api/offer", measured)
    visitor.open()
    counted = {
        "barrage": {"cadet": {"won": 3, "draw": 1, "lost": 2}},
        "classic": {"cadet": {"won": 9, "draw": 0, "lost": 9}},
    }
    page.evaluate("counted => localStorage.setItem('vauban.results', JSON.stringify(counted))", counted)
    page.reload()
    page.get_by_text("Your results").click()
    expect(page.locator(".rating")).to_have_text([re.compile("Barrage: not yet rated")])
    counted["barrage"]["cadet"] = {"won": 15, "draw": 0, "lost": 15}
    page.evaluate("counted => localStorage.setItem('vauban.results', JSON.stringify(counted))", counted)
    page.reload()
    page.get_by_text("Your results").click()
    expect(page.locator(".rating")).to_have_text(["Barrage: your Elo is 1500 ± 122, from 30 games."])


# ── Beside the board ─────────────────────────────────────────────────────────────────────────────


def test_notes_letters_numbers_and_taking_back(visit):
    visitor = visit()
    player = visitor.start(QUIET, clock="strategus")
    page, keys = visitor.page, visitor.page.keyboard
    # A note on an enemy piece stays on it, and stays here.
    enemy = next(at for at, (words, _) in player.cells().items() if words[0] == "enemy piece")
    player.press(enemy)
    page.get_by_role("button", name="Note: marshal").click()
    expect(player.cell(enemy)).to_have_attribute("aria-label", f"{enemy}, enemy piece, your note: marshal")
    expect(page.locator(".mark.note")).to_have_text("10")
    visitor.picture("note-light")
    # Letters ask for something.
    for letter, words in (("l", "No move has been made."), ("s", "marshal (10): "), ("p", "No enemy piece is known.")):
        keys.press(letter)
        expect(page.locator("#live")).to_contain_text(words)
    expect(page.locator(".clock.running")).to_contain_text(re.compile(r"1[45]:\d\d"))
    # Ranks by the other numbering; no motion; coordinates off.
    visitor.button("Settings").click()
    visitor.picture("settings-light")
    page.get_by_text("1 = marshal").locator("xpath=ancestor::label").click()
    page.get_by_label("Coordinates on the board").uncheck()
    visitor.button("Close").last.click()
    expect(page.locator(".table .piece.red.marshal text.rank")).to_have_text("1")
    expect(page.locator(".table .files")).to_be_hidden()
    # A move is taken back, and the game is casual from then on.
    player.step("d1", "c1")
    visitor.button("Take back").click()
    page.locator("dialog").get_by_role("button", name="Take back").click()
    expect(page.locator(".moves li")).to_have_count(0)
    visitor.see(".status", has_text="Moves were taken back: a casual game.")
    # The machine weighs an offer; whatever it says, somebody hears of it.
    visitor.button("Offer a draw").click()
    page.locator("dialog").get_by_role("button", name="Offer a draw").click()
    expect(page.locator(".toast, dialog.end").first).to_be_visible()


def test_letters_tell_the_clocks_the_moves_without_a_battle_and_what_is_left(visit):
    visitor = visit()
    visitor.start(clock="strategus")
    left = "1 marshal, 1 general, 1 miner, 2 scout, 1 spy, 1 bomb, 1 flag"
    for letter, words in (
        ("c", re.compile(r"^Red: 1[45] min \d+ s, Blue: 1[45] min \d+ s$")),
        ("b", "0 moves without a battle."),
        ("w", f"Red: {left}. Blue: {left}"),
    ):
        visitor.page.keyboard.press(letter)
        expect(visitor.page.locator("#live")).to_have_text(words)


def test_a_piece_is_dragged_to_where_it_goes(visit):
    visitor = visit()
    player = visitor.start(QUIET)
    moves = visitor.page.locator(".moves li")
    # Let go on its own square, or beside the board: nothing is played.
    for end in (_middle(player.cell("d1")), (5.0, 5.0)):
        _drag(visitor.page, player.cell("d1"), end)
        expect(visitor.page.locator(".piece.dragged")).to_have_count(0)
    _drag(visitor.page, player.cell("d1"), _middle(player.cell("c1")))
    visitor.see(".moves li:nth-child(2)")
    expect(moves.first).to_have_text(re.compile("d1.*c1"))


def _drag(page: Page, thing: Locator, end: tuple[float, float]) -> None:
    page.mouse.move(*_middle(thing))
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def test_a_finger_that_drags_a_piece_does_not_scroll_the_page(visit):
    visitor = visit(**PHONE)
    visitor.open()
    visitor.choose(level="recruit")
    visitor.give(QUIET)
    visitor.button("Play").tap()
    visitor.see(".bottom-card.turn")
    player, page = Player(visitor), visitor.page
    # Over an empty square the same finger scrolls.
    for source, target, scrolls in (("e3", "e6", True), ("a2", "a5", False)):
        page.evaluate("scrollTo(0, 0)")
        _swipe(visitor, _middle(player.cell(source)), _middle(player.cell(target)))
        assert (page.evaluate(RESTED) > 0) == scrolls
    expect(page.locator(".moves li").first).to_have_text(re.compile("a2.*a5"))


RESTED = """new Promise((done) => {
    let still = 0, last = scrollY;
    const look = () => {
        still = scrollY === last ? still + 1 : 0;
        last = scrollY;
        if (still < 10) requestAnimationFrame(look);
        else done(last);
    };
    look();
})"""
"""How far the page is scrolled when it has come to rest."""


def _swipe(visitor: Visitor, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A finger that is put down, goes somewhere in small steps, and is lifted."""
    finger = visitor.context.new_cdp_session(visitor.page)
    for kind, share in (("touchStart", 0.0), *(("touchMove", step / 10) for step in range(1, 11)), ("touchEnd", 1.0)):
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_near_a_draw_the_moves_that_are_left_are_shown_and_said(visit):
    """Both sides have gone back and forth; no Scout has a free way to the other side."""
    visitor = visit()
    page = visitor.open("#/import").page
    board = Board.from_setups("FBO..NS./BGO.M..N/........", "FBO..NS./BGO.M..N/........", "duel")
    for number in range(89):
        for moves in (("g1h1", "f1e1", "h1g1", "e1f1"), ("b8a8", "c8d8", "a8b8", "d8c8")):
            board.push(moves[number % 4])
    page.get_by_label("Or paste it here").fill(write_game(board))
    visitor.button("Open").click()
    visitor.see(".review .board")
    page.keyboard.press("End")
    visitor.button("Play on from here").click()
    page.locator("dialog select").select_option("recruit")
    page.locator("dialog").get_by_role("button", name="Play").click()
    visitor.see(".bottom-card.turn")
    counter, warning = page.locator(".counter"), page.locator(".status .warning")
    expect(counter).to_have_text("178 of 200 moves without a battle")
    expect(counter).not_to_have_class(re.compile("near"))
    expect(warning).to_have_count(0)
    Player(visitor).step("f1", "e1")
    expect(counter).to_have_text("180 of 200 moves without a battle")
    expect(counter).to_have_class(re.compile("near"))
    expect(warning).to_have_text("20 more moves without a battle, and the game is a draw.")
    expect(page.locator("#live")).to_contain_text("20 more moves without a battle, and the game is a draw.")
    visitor.picture("near-a-draw-light")


def test_a_long_press_opens_one_sheet_however_the_browser_tells_of_it(visit):
    visitor = visit()
    player = visitor.start(QUIET)
    page = visitor.page
    enemy = next(at for at, (words, _) in player.cells().items() if words[0] == "enemy piece")

    def happen(*kinds: str) -> None:
        for kind in kinds:
            page.evaluate(
                """([at, kind]) => {
                    const what = {bubbles: true, cancelable: true, pointerType: "touch", pointerId: 7, button: 0};
                    document.querySelector(`.table .cell[data-at=${at}]`).dispatchEvent(new PointerEvent(kind, what));
                }""",
                [enemy, kind],
            )

    for first, later in (("contextmenu", None), (None, "contextmenu")):
        happen("pointerdown", *([first] if first else []))
        page.wait_for_timeout(700)
        happen(*([later] if later else []), "pointerup", "click")
        expect(page.locator("dialog")).to_have_count(1)
        visitor.button("Close").click()
        expect(page.locator("dialog")).to_have_count(0)


def test_a_move_is_typed_with_a_space_between_its_squares(visit):
    visitor = visit()
    player = visitor.start(QUIET)
    page = visitor.page
    player.cell("e1").focus()
    page.keyboard.type("d1 c")
    expect(page.locator(".typed")).to_have_text("d1 c")
    assert player.marked("selected") == set(), "the space has pressed something"
    page.keyboard.type("1")
    expect(page.locator(".moves li").first).to_have_text(re.compile("d1.*c1"))


def test_who_wants_no_single_letters_gets_no_help_by_one(visit):
    visitor = visit()
    page = visitor.open().page
    for wanted in (False, True):
        visitor.button("Settings").click()
        page.get_by_label("Single-letter commands").set_checked(wanted)
        visitor.button("Close").last.click()
        page.keyboard.press("?")
        expect(page.locator("dialog")).to_have_count(int(wanted))


def test_a_known_piece_that_only_moves_is_not_shown_again_in_tournament_style(visit):
    page = visit().open().page
    shown = page.evaluate(
        """async () => {
            const {remembered} = await import("/static/js/state.js");
            const sight = (last) => ({seat: "red", phase: "play", last});
            const piece = {side: "blue", type: "marshal", at: "e5"};
            const battle = {attacker: "marshal", defender: "miner", result: ">"};
            return [
                {from: "e6", to: "e5", battle},
                {from: "e6", to: "e5", battle: null},
                {from: "e9", to: "e5", battle: null},
                {from: "a1", to: "a2", battle: null},
            ].map((last) => remembered(piece, sight(last), "tournament"));
        }"""
    )
    assert shown == ["marshal", None, "marshal", None]


def test_a_move_typed_while_looking_at_an_earlier_position_leads_back(visit):
    visitor = visit()
    player = visitor.start(QUIET)
    player.step("d1", "c1")
    page = visitor.page
    visitor.see(".bottom-card.turn")
    page.locator(".moves button").first.click()
    visitor.see(".look")
    page.keyboard.type("e5e6")  # nothing stands there
    visitor.see(".reason-box", has_text="There is no piece on e5")
    expect(page.locator(".look")).to_have_count(0)
    expect(page.locator(".board.past")).to_have_count(0)
    # And nothing is in the hand: an enemy piece is pressed to note something.
    enemy = next(at for at, (words, _) in player.cells().items() if words[0] == "enemy piece")
    player.press(enemy)
    visitor.see("dialog.sheet")


def test_what_was_shown_is_hidden_again_in_tournament_style(visit):
    visitor = visit()
    visitor.open()
    visitor.choose(**{"memory-home": "tournament"})
    player = visitor.start(level="charger")
    for _ in range(8):
        if player.over():
            break
        player.turn()
        # Only on the square of the last move may an enemy's rank be seen.
        shown = page_ranks(visitor.page)
        last = {at for at, (_, marks) in player.cells().items() if "last" in marks}
        assert player.over() or set(shown) <= last


def page_ranks(page: Page) -> list[str]:
    """The squares on which an enemy piece shows its rank."""
    labels: list[str] = page.evaluate("[...document.querySelectorAll('.table .cell')].map(cell => cell.ariaLabel)")
    found = [label.split(", ") for label in labels]
    return [words[0] for words in found if words[1].startswith("enemy ") and words[1] != "enemy piece"]


def test_shares_that_round_to_nothing_are_not_told_as_nothing(visit):
    page = visit().open().page
    tags, shares = page.evaluate(
        """async () => {
            const {Board} = await import("/static/js/board.js");
            const {beliefBars} = await import("/static/js/analysis.js");
            const board = new Board({columns: 3, rows: 1, lakes: []}, {label: "x"});
            board.setHeat({a1: 0.004, b1: 0.2, c1: 0});
            const tags = [...board.element.querySelectorAll(".heat span")].map((each) => each.textContent);
            const bars = beliefBars({at: "a1", side: "red", type: "spy"}, {a1: {spy: 0.001, scout: 0.006, flag: 0.99}});
            return [tags, bars.flatMap((each) => [...each.querySelectorAll(".share")].map((one) => one.textContent))];
        }"""
    )
    assert tags == ["20%"]
    assert shares == ["1 %", "< 1 %", "99 %"]


def test_the_first_minute_teaches_the_game(visit):
    visitor = visit()
    page = visitor.open().page
    page.get_by_role("link", name="Learn it in a minute").click()
    visitor.picture("learn-light")
    for number in range(1, 7):
        visitor.see(".lesson .quiet", has_text=f"{number} of 6")
        page.locator(".lesson .cell.last").click()
        page.locator(".lesson .cell.target, .lesson .cell.strike").first.click()
        if number == 3:
            visitor.picture("learn-fight-light")
        visitor.button("Next" if number < 6 else "Done").click()
    page.get_by_role("link", name="Play", exact=True).last.click()
    visitor.see(".home")
    expect(page.locator(".invite")).to_have_count(0)


FIGHT = {"attacker": {"side": "red", "type": "miner"}, "defender": {"side": "blue", "type": "bomb"}, "at": "e7"}
FILLED = {
    "side": "red", "whose": "blue", "at": "e7", "from": "a4", "to": "a10", "piece": FIGHT["attacker"], "share": 0.424,
    "chance": 0.002, "before": 0.5, "after": 1.0, "value": 0.0, "other": 0.25, "battle": FIGHT | {"battle": "took"},
    "kind": {"type": "general", "only": True}, "taken": {"type": "scout", "only": False},
}  # fmt: skip


def test_the_page_says_of_a_moment_what_the_report_says(visit):
    page = visit().open().page
    said = [Said(key, FILLED) for key in SENTENCES]
    said += [Said("battle", {"battle": FIGHT | {"battle": how}}) for how in BATTLES]
    said += [Said("believed", FILLED | {"kind": {"type": "scout", "only": False}})]
    told = page.evaluate(
        "async said => (await import('/static/js/words.js')).momentWords({said})", [each.to_json() for each in said]
    )
    assert told == " ".join(each.text for each in said).replace("under 1%", "< 1%").replace("%", " %")


def test_a_recorded_game_is_imported_and_one_that_is_none_is_refused(visit):
    visitor = visit()
    page = visitor.open("#/import").page
    visitor.forgive("/api/import: 400|status of 400")
    page.get_by_label("Or paste it here").fill("this is no game")
    visitor.button("Open").click()
    expect(page.locator(".error")).not_to_be_empty()
    page.get_by_label("Or paste it here").fill(GAME)
    visitor.button("Open").click()
    visitor.see(".review .board")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".caption")).to_have_text("1. Red moves b1 to b2.")
    visitor.see(".graph-place", has_text="There is no network for this variant")
    # Whoever has pressed a square steps on with the arrows; whoever went there by keyboard goes over the board.
    page.locator(".review .cell[data-at=b2]").click()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".caption")).to_have_text("The start.")
    page.keyboard.press("End")
    expect(page.locator(".caption")).not_to_have_text("The start.")
    # Of several games the first is shown, and that is said.
    visitor.open("#/import")
    page.get_by_label("Or paste it here").fill(f"{GAME}\n\n{GAME}")
    visitor.button("Open").click()
    visitor.see(".toast", has_text="There are 2 games in it. This is the first.")


def test_a_copied_link_opens_the_look_back_at_the_same_move(visit):
    visitor, friend = visit(), visit()
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open("#/import").page
    page.get_by_label("Or paste it here").fill(GAME)
    visitor.button("Open").click()
    visitor.see(".review .board")
    page.keyboard.press("ArrowRight")
    visitor.button("Copy link").click()
    visitor.see(".toast", has_text="Copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(re.escape(visitor.address) + r"#/review/[\w-]+/[\w-]+/1", link)
    friend.open(link.removeprefix(friend.address))
    expect(friend.page.locator(".caption")).to_have_text("1. Red moves b1 to b2.")


@pytest.mark.parametrize("address", ["#/review/nothing/%/1", "#/game/%E0%A4%A/red/x", "#/%"])
def test_an_address_that_is_badly_written_leads_nowhere_in_words(visit, address):
    visitor = visit()
    page = visitor.open(address).page
    expect(page.locator("h1").first).to_be_visible()


def test_the_address_of_a_look_back_opens_no_seat(visit):
    visitor = visit()
    visitor.start()
    seat = visitor.page.url.rpartition("/")[2]
    visitor.resign()
    visitor.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    assert seat not in visitor.page.url and "#/review/" in visitor.page.url
    game, secret = visitor.page.url.split("/")[-2:]
    visitor.page.goto(visitor.address + f"#/review/{game}/{secret}/-5")
    visitor.see(".caption", has_text="The start.")


def test_a_game_that_somebody_has_shown_is_not_among_ones_own(visit):
    visitor, guest, onlooker = visit(), visit(), visit()
    visitor.start()
    visitor.resign()
    visitor.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    guest.open(visitor.page.url.removeprefix(visitor.address))
    guest.see(".review .board")
    # Nor is one of two machines that somebody else has begun to watch.
    visitor.open()
    visitor.choose(variant="classic", mode="watch", red="fox", blue="fox")
    visitor.button("Watch").click()
    visitor.see(".moves li")
    onlooker.open(visitor.page.url.removeprefix(visitor.address))
    onlooker.see(".moves li")
    onlooker.button("Stop").click()
    onlooker.page.locator("dialog").get_by_role("button", name="Stop").click()
    onlooker.see("dialog.end")
    for somebody, games in ((visitor, 2), (guest, 0), (onlooker, 0)):
        somebody.open("#/import")
        expect(somebody.page.locator(".games li")).to_have_count(games)
    # What one has opened from a text oneself is, by the names of its players.
    guest.page.get_by_label("Or paste it here").fill(GAME)
    guest.button("Open").click()
    guest.see(".review .board")
    guest.open("#/import")
    expect(guest.page.locator(".games li")).to_have_text([re.compile(r"Red – Blue · Fives\s*red won")])


def test_a_game_is_played_on_from_where_one_looks_back(visit):
    visitor = visit()
    page = visitor.open("#/import").page
    page.get_by_label("Or paste it here").fill(GAME)
    visitor.button("Open").click()
    visitor.see(".review .board")
    page.keyboard.press("ArrowRight")
    visitor.button("Play on from here").click()
    visitor.see("dialog.play-on", has_text="played up to move 1")
    visitor.picture("play-on-light")
    page.locator("dialog input[value=blue]").check(force=True)
    page.locator("dialog select").select_option("recruit")
    page.locator("dialog input[value=drawn]").check(force=True)
    page.locator("dialog").get_by_role("button", name="Play").click()
    visitor.see(".bottom-card.turn")
    expect(page.locator(".moves li")).to_have_count(1)
    visitor.see(".status", has_text="Played on from move 1 of another game")
    visitor.button("Take back").click()
    page.locator("dialog").get_by_role("button", name="Take back").click()
    visitor.see(".toast", has_text="There is no move of yours to take back.")
    Player(visitor).step("b5", "b4")
    visitor.see(".bottom-card.turn")
    visitor.resign()
    visitor.open()
    expect(page.locator(".results")).to_have_count(0)


GAME = """[Variant "fives"]
[RedSetup "FTLPJ"]
[BlueSetup "FTLPJ"]
[Result "1-0"]
[End "resigned"]

1. b1b2 b5b4 1-0
"""


# ── Looks ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_the_systems_until_somebody_chooses(visit, scheme):
    visitor = visit(color_scheme=scheme)
    page = visitor.open().page
    root, other = page.locator("html"), "dark" if scheme == "light" else "light"
    expect(root).to_have_attribute("data-theme", scheme)
    ground = "getComputedStyle(document.body).backgroundColor"
    first = page.evaluate(ground)
    visitor.button(f"Switch to {other}").click()
    expect(root).to_have_attribute("data-theme", other)
    assert page.evaluate(ground) != first
    page.reload()
    expect(root).to_have_attribute("data-theme", other)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_nothing_glides_for_who_wants_no_motion(visit, motion):
    visitor = visit(reduced_motion=motion)
    visitor.open()
    visitor.see(".setup .piece")
    glide = visitor.page.evaluate("getComputedStyle(document.querySelector('.piece')).transitionDuration")
    assert (glide == "0s") == (motion == "reduce"), glide


SHOWN = """async () => {
    const {Board} = await import("/static/js/board.js");
    const board = new Board({columns: 5, rows: 2, lakes: ["e1"]}, {label: "x"});
    document.getElementById("main").replaceChildren(board.element);
    const [plain, dark] = ["a1", "b1"].map((at) => board.cells.get(at));
    board.setPieces([
        {id: 1, at: "c1", side: "red", type: null, marks: {moved: true}},
        {id: 2, at: "d1", side: "blue", type: null, marks: {moved: true}},
        {id: 3, at: "c2", side: "red", type: "spy", marks: {known: true}},
        {id: 4, at: "d2", side: "blue", type: "spy", marks: {known: true}},
    ]);
    const style = (each, part) => getComputedStyle(each, part);
    const colours = (cell) => {
        const own = style(cell), after = style(cell, "::after");
        const drawn = after.content === "none" ? [] : [after.borderTopColor, after.backgroundColor];
        return [own.backgroundColor, own.boxShadow, ...drawn].map(String);
    };
    const usual = colours(plain);
    const marks = {};
    for (const kind of ["selected", "target", "strike", "barred", "last", "pending", "fought"]) {
        board.setMarks({[kind]: ["a1"]});
        marks[kind] = colours(plain).filter((each) => !usual.includes(each));
    }
    board.setMarks({});
    const outline = (frame) => document.querySelector(`${frame.getAttribute("href")} path`).getAttribute("d");
    const pieces = [...board.element.querySelectorAll(".piece")].map((piece) => {
        const frame = piece.querySelector(".frame"), mark = piece.querySelector(".mark");
        return {
            side: piece.classList.contains("red") ? "red" : "blue",
            outline: outline(frame),
            fill: style(frame).color,
            stroke: style(frame).stroke,
            figure: style(piece.querySelector(".figure")).color,
            mark: [style(mark).backgroundColor, style(mark).borderTopColor],
        };
    });
    const grounds = {plain: usual[0], dark: colours(dark)[0], last: marks.last[0], selected: marks.selected[0]};
    const waves = style(board.element.querySelector(".waves"));
    const lake = {waves: waves.color, opacity: waves.opacity, ground: colours(board.cells.get("e1"))[0]};
    return {marks, pieces, grounds, lake};
}"""
"""A board with every mark in turn: its colours where they differ from a plain square's, those of pieces, and below."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_and_sides_are_told_apart_by_who_sees_no_colours(visit, scheme):
    visitor = visit(color_scheme=scheme, reduced_motion="reduce")
    shown = visitor.open().page.evaluate(SHOWN)
    grounds = shown["grounds"]
    for kind, colours in shown["marks"].items():
        for ground in ("plain", "dark"):
            assert max(contrast(each, grounds[ground]) for each in colours) >= 3, f"{kind} on {ground}"
    lake = shown["lake"]
    assert lake["opacity"] == "1" and contrast(lake["waves"], lake["ground"]) >= 3
    outlines = {side: {each["outline"] for each in shown["pieces"] if each["side"] == side} for side in ("red", "blue")}
    assert outlines["red"].isdisjoint(outlines["blue"]), "the sides have one shape, hidden or known"
    for piece in shown["pieces"]:
        assert contrast(piece["figure"], piece["fill"]) >= 3
        assert contrast(*piece["mark"]) >= 3
        for name, ground in grounds.items():
            # A line around the piece parts it from what it stands on, if it can be told from both.
            line = min(contrast(piece["stroke"], each) for each in (piece["fill"], ground))
            assert max(contrast(piece["fill"], ground), line) >= 3, f"{piece['side']} on {name}"


def contrast(one: str, other: str) -> float:
    """Of two colours as CSS computes them, by WCAG 2; a transparent one has none."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    if any(not each.startswith("rgb(") for each in (one, other)):
        return 1.0
    darker, brighter = sorted(map(luminance, (one, other)))
    return (brighter + 0.05) / (darker + 0.05)


SCREENS = {
    "": ".setup .piece",
    "setups": ".setup .piece",
    "puzzles": ".puzzle .piece",
    "import": "textarea",
    "learn": ".piece",
    "rules": ".diagram",
}
"""The screens that need no game, by their fragment, and something on each."""


def _go(visitor: Visitor, screen: str) -> None:
    visitor.page.goto(f"{visitor.address}#/{screen}")
    visitor.see(f"body[data-screen={screen or 'home'}] {SCREENS[screen]}")


SIZES = {"phone": (360, 740), "tablet": (820, 1180), "phone on its side": (740, 360), "large text": (640, 400)}


@pytest.mark.parametrize("size", SIZES)
def test_every_screen_fits(visit, size):
    width, height = SIZES[size]
    visitor = visit(viewport={"width": width, "height": height})
    visitor.open()
    for screen in SCREENS:
        _go(visitor, screen)
        visitor.fits()
    visitor.start()
    visitor.fits()
    visitor.picture(f"game-{size.replace(' ', '-')}")
    assert _side(visitor.page.locator(".table .cell").first) >= 24, "squares are too small for a finger"
    visitor.resign()
    visitor.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    visitor.fits()
    assert _side(visitor.page.locator(".review .cell").first) >= 20


def _side(thing: Locator) -> float:
    box = thing.bounding_box()
    assert box is not None
    return min(box["width"], box["height"])


# ── For the ear ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def axe() -> str:
    return importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()


def _violations(page: Page, axe: str) -> list[str]:
    """What axe-core calls serious or critical on what is on the screen now."""
    # Handed over by the debugger: a script element would be refused by the page's own policy.
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate("axe.run({resultTypes: ['violations']}).then(each => each.violations)")
    return [
        f"{each['id']}: {node['html']}: {node['failureSummary']}"
        for each in found if each["impact"] in ("serious", "critical") for node in each["nodes"]
    ]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_a_serious_barrier(visit, axe, scheme):
    visitor = visit(color_scheme=scheme, reduced_motion="reduce")
    page = visitor.open().page
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        visitor.picture(f"axe-{name}-{scheme}")
        problems = _violations(page, axe)
        if problems:
            found[name] = problems

    for screen in SCREENS:
        _go(visitor, screen)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        look(screen or "home")
    player = _hotseat(visitor)
    look("handover")
    for side, source, target in (("Red", "a4", "a7"), ("Blue", "j7", "j4")):
        _cross(visitor, side)
        player.press(source)
        player.press(target)
        visitor.see(".battle")
        look(f"fight-{side.lower()}")
        if side == "Red":
            visitor.button("Hand over to Blue").click()
    player = visitor.start(clock="strategus")
    player.find()
    look("picked")
    for name in ("Settings", "Help and keys"):
        visitor.button(name).click()
        look(name.split()[0].lower())
        visitor.button("Close").last.click()
    player.press(player.marked("selected").pop())
    player.press(next(at for at, (words, _) in player.cells().items() if words[0] == "enemy piece"))
    look("note")
    page.keyboard.press("Escape")
    player.turns(2)
    if not player.over():
        visitor.resign()
    look("over")
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    page.keyboard.press("ArrowRight")
    visitor.see(".chip").click()
    look("review")
    visitor.button("Play on from here").click()
    look("play-on")
    page.keyboard.press("Escape")
    visitor.open()
    page.get_by_text("Your results").click()
    look("results")
    assert found == {}


def test_axe_finds_a_barrier_that_is_planted(visit, axe):
    visitor = visit()
    page = visitor.open().page
    page.evaluate("document.getElementById('main').append(document.createElement('textarea'))")
    assert any(each.startswith("label: ") for each in _violations(page, axe))


CUT = """[...document.querySelectorAll("button:not(.cell), .face")]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"""


def test_no_words_are_cut_off_on_a_phone(visit):
    """No button is narrower than what stands on it."""
    visitor = visit(**PHONE)
    visitor.open()
    visitor.see(".setup .piece")
    assert visitor.page.evaluate(CUT) == []
    visitor.choose(level="recruit")
    visitor.button("Play").tap()
    visitor.see(".bottom-card.turn")
    assert visitor.page.evaluate(CUT) == []


def test_a_question_about_moves_is_not_asked_any_more_when_the_game_is_left(visit):
    visitor = visit(**PHONE)
    visitor.open()
    visitor.choose(level="recruit")
    visitor.button("Play").tap()
    visitor.see(".toast", has_text="Confirm each move before it is played?")
    visitor.page.get_by_role("link", name="Vauban, start page").tap()
    visitor.see(".home")
    assert visitor.page.locator(".toast").count() == 0


COVERED = """() => {
    const toast = document.querySelector(".toast").getBoundingClientRect();
    const over = ({left, right, top, bottom}) =>
        left < toast.right && right > toast.left && top < toast.bottom && bottom > toast.top;
    const pressed = ".board, .status button, .actions button, .play, .answers button, dialog button";
    return [...document.querySelectorAll(pressed)].filter((each) => over(each.getBoundingClientRect()))
        .map((each) => each.className + each.textContent);
}"""
"""What a message covers of the things that are to be pressed."""
TOAST = "text => import('/static/js/dom.js').then(({toast}) => void toast(text, {seconds: 60}))"


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_messages_cover_nothing_that_is_to_be_pressed(visit, size):
    look: dict[str, Any] = {"viewport": {"width": 360, "height": 740}} if size == "phone" else {}
    host, guest = visit(**look), visit()
    _friends(host, guest)
    page = host.page

    def settled() -> list[str]:
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found: list[str] = page.evaluate(COVERED)
        return found

    page.evaluate(TOAST, "A message of some length, which takes two lines on a phone.")
    assert settled() == []
    # It gives way to an offer that comes later, and to what one scrolls below it.
    guest.button("Offer a draw").click()
    guest.page.locator("dialog").get_by_role("button", name="Offer a draw").click()
    host.see(".offer")
    assert settled() == []
    host.picture(f"toast-{size}")
    if size == "phone":
        for down in (40, 90, 160, 240, 1000):
            page.evaluate("down => scrollTo(0, down)", down)
            assert settled() == []
    host.button("Decline").click()
    # On the start screen, neither.
    host.open()
    host.see(".setup .piece")
    page.evaluate(TOAST, "A message.")
    assert settled() == []


def test_on_a_phone_the_opponents_are_folded_and_the_setup_is_on_the_first_screen(visit, axe):
    visitor = visit(**PHONE)
    page, keys = visitor.open().page, visitor.page.keyboard
    visitor.see(".setup .piece")
    top = page.locator(".setup").bounding_box()
    assert top is not None and top["y"] < 740
    picker = page.locator(".picker", has=page.locator("input[name=level]"))
    expect(picker.locator("input").first).to_be_hidden()
    expect(picker.locator("summary")).to_contain_text("Opponent")
    # By keyboard: it opens, stays open while one goes through the list, and shows who is chosen.
    picker.locator("summary").focus()
    keys.press("Enter")
    picker.locator("input:checked").focus()
    for name in ("recruit", "marshal"):
        picker.locator("input:checked").press("ArrowUp")
        for _ in range(9):
            if picker.locator("input:checked").get_attribute("value") == name:
                break
            keys.press("ArrowUp")
        expect(picker.locator("summary strong")).to_have_text(name.capitalize())
        expect(picker).to_have_attribute("open", "")
    assert _violations(page, axe) == []
    visitor.picture("opponents-phone")
    # By touch: one press chooses and folds it, and the focus is not lost.
    picker.locator("input[value=cadet]").tap()
    expect(picker.locator("input").first).to_be_hidden()
    expect(picker.locator("summary")).to_contain_text("Cadet")
    assert page.evaluate("document.activeElement.matches('.picker summary')")
    visitor.fits()
    # Where there is room nothing is folded.
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(picker.locator("input[value=cadet]")).to_be_visible()
    expect(picker.locator("summary")).to_be_hidden()


# ── For the README ───────────────────────────────────────────────────────────────────────────────


def test_pictures_are_taken_of_a_game_and_of_looking_back_on_it(visit):
    """What `make pictures` puts into docs/pictures, beside those of other tests."""
    visitor = visit()
    page = visitor.open().page
    visitor.choose(level="general")
    visitor.give("BF.......O/GS......../N........./OM........")
    page.get_by_text("Saved setups, text").click()
    page.evaluate("scrollTo(0, 0)")
    visitor.picture("readme-start")
    visitor.button("Play").click()
    visitor.see(".bottom-card.turn")
    player = Player(visitor, seed=5)
    # A fight that has just been makes a better picture.
    for turn in range(12):
        player.turns(1)
        if turn > 3 and page.locator(".battle").count():
            break
    if not player.over():
        player.find()
        visitor.picture("readme-game")
        visitor.resign()
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".graph path.value.red")
    visitor.button("Switch to dark").click()
    for _ in range(9):
        visitor.button("One move on").click()
    page.locator(".chip").first.click()
    page.evaluate("scrollTo(0, 0)")
    visitor.picture("readme-review")
