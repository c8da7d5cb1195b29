"""People against people, and machines against machines, in a real browser."""

from __future__ import annotations

import json
import math
import re
import signal
from contextlib import closing
from pathlib import Path

import pytest
from browser import CUT, PHONE, QUIET, SCOUTS, Player, Serving, cross, friends, hotseat
from playwright.sync_api import Route, WebSocketRoute, expect

from vauban.games.stratego.pieces import BOMB, LETTERS
from vauban.games.stratego.variants import VARIANTS
from vauban.web.shelf import Shelf

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-people")

BARRAGE = "F.......SO/B......G.O/....N..M../.........."


# ── People against people, and machines against machines ─────────────────────────────────────────


def test_two_people_on_one_device_never_see_each_others_army(visit):
    visitor = visit()
    page, player = visitor.page, hotseat(visitor)
    for ply, (side, other) in enumerate((("Red", "Blue"), ("Blue", "Red")) * 2, start=1):
        cross(visitor, side)
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
    cross(visitor, "Red")
    expect(page.locator(".table .piece.blue:not(.hidden)")).to_have_count(0)


def test_a_game_that_is_lost_by_time_while_the_board_is_covered_is_shown(visit):
    visitor = visit()

    def hurried(route: Route) -> None:
        asked = route.request.post_data_json | {"clock": {"kind": "bronstein", "minutes": 0.05, "seconds": 0}}
        route.continue_(post_data=json.dumps(asked))

    visitor.page.route("**/api/games", hurried)
    hotseat(visitor)
    visitor.see("dialog.end", has_text="Blue won")
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(".handover")).to_have_count(0)
    visitor.see(".table .piece.red")
    visitor.see(".headline", has_text="Blue won")


def test_ones_own_army_stands_at_the_bottom_unless_one_does_not_want_it(visit):
    visitor = visit()
    visitor.start(QUIET, side="blue")
    page = visitor.page

    def stands_below(lower: str, upper: str) -> None:
        """Pieces glide to their new places: sooner or later one army is below the other."""
        top = "(side) => document.querySelector(`.table .piece.${side}`)?.getBoundingClientRect().top"
        page.wait_for_function(f"([lower, upper]) => ({top})(lower) > ({top})(upper)", arg=[lower, upper])

    stands_below("blue", "red")
    visitor.button("Settings").click()
    page.get_by_label("Your army at the bottom").uncheck()
    page.locator("dialog").get_by_role("button", name="Close").click()
    for _ in range(2):
        stands_below("red", "blue")
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
    hotseat(visitor)
    cross(visitor, "Red")
    visitor.see(".bottom-card.turn")


def test_two_friends_play_by_a_link_and_agree_on_a_draw(visit):
    host, guest = visit(), visit(color_scheme="dark")
    friends(host, guest)
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
    expect(guest.page.locator("#live :last-child")).to_have_text("Friend would like a rematch.")
    expect(host.button("Rematch asked")).to_be_disabled()
    # Whoever is away when it is made finds the way after coming back.
    old = host.page.url
    host.page.goto("about:blank")
    guest.page.locator("dialog.end").get_by_role("button", name="Rematch").click()
    guest.see(".setup .piece.red")  # colours are swapped; both set up anew
    host.page.goto(old)
    host.button("To the rematch").click()
    host.see(".setup .piece.blue")


def test_a_friend_whose_answer_was_lost_on_its_way_has_the_seat_all_the_same(visit):
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
    expect(host.page.get_by_role("spinbutton", name="Most minutes for the whole game")).to_have_value("50")
    host.page.locator("input[name=takebacks]").uncheck()
    host.see(".setup .piece")
    host.give(QUIET)
    host.button("Make the link").click()
    guest.open(host.see(".invitation input").input_value().removeprefix(guest.address))
    guest.picture("terms-light")
    expect(guest.page.locator(".terms li").nth(0)).to_contain_text("moves without a battle")
    expect(guest.page.locator(".terms li").nth(1)).to_contain_text("7 min, ")
    terms = "For one move there are at most 2 minutes. After 50 minutes in all the game is a draw."
    expect(guest.page.locator(".terms li").nth(1)).to_contain_text(terms)
    expect(guest.page.locator(".terms li").nth(2)).to_have_text("Moves cannot be taken back.")
    guest.give(QUIET)
    guest.button("Ready").click()
    host.see(".bottom-card.turn")
    host.see(".status .whole", has_text=re.compile(r"^Time for the whole game: \d\d:\d\d\. Then it is a draw\.$"))
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
        visitor.page.route_web_socket("**/ws/*", bent)
        visitor.page.route("**/api/**", refused)
        visitor.forgive("/join: 409|status of 409|/play-on: 400|status of 400")
    friends(host, guest)
    for _ in range(2):
        host.button("Offer a draw").click()
        host.page.locator("dialog").get_by_role("button", name="Offer a draw").click()
        if host.page.locator(".toast").count() == 0:
            guest.button("Decline").click()
            host.see(".toast", has_text="The draw was declined.")
    host.see(".toast", has_text="You have offered a draw not long ago: wait 20 more moves.")
    host.button("Take back").evaluate("each => { each.disabled = false; }")
    host.button("Take back").click()
    host.page.locator("dialog").get_by_role("button", name="Take back").click()
    host.see(".toast", has_text="There is no move of yours to take back.")
    game = host.page.url.split("/")[-2]
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
    assert page.locator(".actions button").all_inner_texts() == [
        "Pause", "One move", "Stop", "Copy link", "Flip",
    ]  # fmt: skip
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
    expect(moves).to_have_count(ply + 2)
    visitor.button("One move").click()
    expect(moves).to_have_count(ply + 3)
    visitor.picture("watch-paused-light")
    page.locator("input[name=pace][value=fast]").check()
    visitor.button("Go on").click()
    visitor.see(f".moves li:nth-child({ply + 6})")
    visitor.button("Stop").click()
    page.locator("dialog").get_by_role("button", name="Stop").click()
    expect(visitor.see("dialog.end h2")).to_have_text("No result")
    visitor.button("Look back").last.click()
    visitor.see(".review .board")
    visitor.open("#/import")
    expect(page.locator(".games li").first).to_contain_text("not finished")


def test_whoever_has_a_seat_is_told_of_another_browser_on_it(visit):
    visitor, tab, thief = visit(), visit(**PHONE), visit(**PHONE)
    visitor.start(QUIET)
    fragment = "#" + visitor.page.url.split("#")[1]
    game = fragment.split("/")[-2]
    [secret, name] = visitor.page.evaluate(
        """game => [JSON.parse(localStorage["vauban.games"]).find(({id}) => id === game).seats.red,
                    localStorage["vauban.browser"]]""",
        game,
    )
    said = "Your seat is open in another browser, too."
    # The same browser in another window.
    tab.context.add_init_script(f"if (location.host) localStorage['vauban.browser'] = {json.dumps(name)}")
    tab.open(f"{fragment}/{secret}")
    tab.see(".bottom-card.turn")
    expect(tab.page.locator(".status")).not_to_contain_text(said)
    thief.open(f"{fragment}/{secret}")
    for each in (visitor, thief):
        each.see(".toast", has_text=said)
        each.see(".status .warning", has_text=said)
        each.fits()
    visitor.picture("elsewhere-desktop")
    thief.picture("elsewhere-phone")


def test_friends_have_names_are_seen_to_be_away_and_who_stays_away_loses(visit, tmp_path):
    with closing(Serving(tmp_path)) as serving:
        host, guest = visit(serving), visit(serving, **PHONE)
        guest.forgive("WebSocket|ERR_CONNECTION|status of 5")
        host.forgive("WebSocket|ERR_CONNECTION|status of 5")
        host.open().choose(mode="friend")
        host.page.get_by_label("Your name").fill("Ada")
        host.page.get_by_text("Side, clock, memory").click()
        host.page.locator("input[name=absence][value='5']").check()
        host.picture("friend-home-desktop")
        host.give(SCOUTS)
        host.button("Make the link").click()
        guest.open(host.see(".invitation input").input_value().removeprefix(guest.address))
        terms = "Who is on turn and stays away for 5 minutes may lose the game by that."
        guest.see(".terms li", has_text=terms)
        guest.page.get_by_label("Your name").fill("Bob")
        guest.give(SCOUTS)
        guest.fits()
        guest.button("Ready").click()
        host.see(".bottom-card.turn")
        expect(host.page.locator(".top-card")).to_contain_text("Bob")
        expect(guest.page.locator(".top-card")).to_contain_text("Ada")
        expect(guest.page.locator(".bottom-card")).to_contain_text("You")
        expect(host.page.locator(".presence")).to_have_text("here")
        guest.picture("presence-phone")
        # Who asks to take back after a fight: the other is told that there was one, and is not asked again at once.
        Player(host).type("a4a7")
        expect(guest.page.locator(".moves li")).to_have_count(1)
        fought = "There was a fight in it: what it has shown stays known."
        for text in (fought, "You have asked to take back not long ago: wait 2 more moves."):
            host.button("Take back").click()
            host.page.locator("dialog").get_by_role("button", name="Take back").click()
            if text is fought:
                guest.see(".offer", has_text=f"Ada asks to take back a move. {fought}")
                guest.button("Decline").click()
        host.see(".toast", has_text=text)
        # Away, and away for long: time passes on the shelf, while there is no server.
        guest.page.goto("about:blank")
        expect(host.page.locator(".presence")).to_have_text("away")
        host.see(".status", has_text="Bob is on turn and away. After 5 minutes of that you may claim the win.")
        host.picture("away-desktop")
        serving.close()
        shelf = Shelf(tmp_path / "games.sqlite")
        game = host.page.url.split("/")[-2]
        shelf.keep_absence(game, "blue", 1.0)
        shelf._base.execute("UPDATE changes SET seconds = 1")
        shelf.close()
        serving.start()
        host.page.reload()
        host.see(".offer", has_text="Bob has been on turn and away for 5 minutes or longer.")
        host.picture("claim-desktop")
        host.button("Claim the win").click()
        host.see("dialog.end", has_text="your opponent stayed away")
        host.page.locator("dialog.end").get_by_role("button", name="Look back").click()
        with host.page.expect_download() as download:
            host.button("Notation").click()
        record = Path(download.value.path()).read_text()
        assert '[Red "Ada"]' in record and '[Blue "Bob"]' in record and '[End "absent"]' in record
        # One's games have dates.
        host.open("#/import")
        today = host.page.evaluate("import('/static/js/strings.js').then(({dateWords}) => dateWords(Date.now()))")
        host.see(".games li", has_text=today)


def test_a_move_is_prepared_while_the_other_side_thinks(visit):
    host, guest = visit(), visit()
    friends(host, guest)
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
        red.type("h1i1" if moves.count() == 3 else "i1j1")
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
    friends(host, guest)
    red, blue = Player(host), Player(guest)
    for ply, move in enumerate(("f1g1", "e10d10", "g1f1", "d10c10", "f1g1"), 1):
        (red if ply % 2 else blue).type(move)
        for visitor in (host, guest):
            expect(visitor.page.locator(".moves li")).to_have_count(ply)
    red.press("g1")
    red.press("f1")
    host.see(".status", has_text="Prepared: g1 to f1.")
    blue.type("c10b10")
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
    page.route_web_socket("**/ws/*", impatient)
    again()
    visitor.see(".bottom-card.turn")
    visitor.resign()
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    again()
    visitor.see(".review .board")


def test_a_game_without_aids_has_no_notes_and_remembers_nothing_for_either_side(visit):
    host, guest = visit(), visit()
    friends(host, guest, SCOUTS, switch="aids")
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
    friends(host, guest, SCOUTS)
    red, blue = Player(host), Player(guest)
    for player, other, source, target in ((red, blue, "a4", "a6"), (blue, red, "f8", "f7")):
        player.press(source)
        player.press(target)
        other.visitor.see(".bottom-card.turn")
    expect(red.cell("a6")).to_have_attribute("aria-label", "a6, your scout (2), has moved, known to the enemy")
    expect(blue.cell("a6")).to_have_attribute("aria-label", "a6, enemy scout (2), has moved")
    expect(host.page.locator(".mark.known")).to_have_count(1)
    expect(host.page.locator(".mark.moved")).to_have_count(1)
    # Whoever wants to remember unaided is told none of it.
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

    visitor.page.route_web_socket("**/ws/*", slower)
    player = visitor.start(QUIET)
    player.press("f1")
    player.press("g1")
    # The seconds are counted on: whichever was seen first, another follows.
    thinking = visitor.see(".top-card .thinking", has_text=re.compile(r"thinking for \d+ s"))
    shown = thinking.inner_text()
    expect(thinking).not_to_have_text(shown)
    first, later = (int(re.findall(r"\d+", text)[0]) for text in (shown, thinking.inner_text()))
    assert later > first >= 41


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
    # Taking back teaches what the player could not know: that does not count.
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
