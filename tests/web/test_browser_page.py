"""Setups, and all that is beside the board, in a real browser."""

from __future__ import annotations

import re

import pytest
from browser import PHONE, QUIET, TYPED, Player, Visitor, cross, friends, violations
from playwright.sync_api import Locator, Page, Route, expect

from vauban.board import Board
from vauban.notation.records import write_game
from vauban.search.stratego.moments import BATTLES, SENTENCES, Said

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
        (BARRAGE.replace("N", "X"), "“X” in row 3 (....X..M..), place 5, is no piece."),
        (BARRAGE.replace(".", "_"), "“_”, 32 times, is no piece."),
        ("FSO", "There is one row, and this game has 4. Put a / between them."),
    ):
        text.fill(wrong)
        visitor.button("Use this text").click()
        expect(page.locator(".setup .error")).to_have_text(words)
        expect(text).to_have_attribute("aria-invalid", "true")
    visitor.picture("setup-faults")
    # Slashes may be left out; people also write small letters, spaces, and a line for each row.
    for written in (BARRAGE.replace("/", ""), BARRAGE.lower(), f" {BARRAGE.replace('/', ' / ')} "):
        text.fill(written)
        visitor.button("Use this text").click()
        expect(text).to_have_value(BARRAGE)
        expect(page.locator(".setup .error")).to_be_empty()
    text.fill("")
    paste = "(field, text) => { const clipboardData = new DataTransfer(); clipboardData.setData('text', text);"
    paste += "field.dispatchEvent(new ClipboardEvent('paste', {clipboardData, cancelable: true, bubbles: true})); }"
    text.evaluate(paste, BARRAGE.replace("/", "\r\n") + "\n")
    expect(text).to_have_value(BARRAGE)
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


def test_whoever_is_ready_waits_for_the_text_and_goes_nowhere_if_it_is_none(visit):
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
    cross(visitor, "Blue")


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


def test_where_only_all_moves_are_limited_they_are_what_is_counted(visit):
    visitor = visit()
    player = visitor.start("FTLPJ", variant="fives")
    expect(visitor.page.locator(".counter")).to_have_text("0 of 60 moves; then it is a draw")
    player.step("b1", "b2")
    expect(visitor.page.locator(".counter")).to_have_text("2 of 60 moves; then it is a draw")
    visitor.page.keyboard.press("b")
    told = "2 moves without a battle. 2 of 60 moves; then it is a draw."
    expect(visitor.page.locator("#live :last-child")).to_have_text(told)


@pytest.mark.parametrize(("moved", "bombs"), [(False, 1), (True, 0)])
def test_a_piece_that_has_moved_is_not_noted_as_one_that_cannot(visit, moved, bombs):
    visitor = visit()
    visitor.open().page.evaluate(
        """async (moved) => {
            const {Notes, pieceSheet} = await import("/static/js/notes.js");
            const piece = {side: "blue", type: null, at: "e7", from: "e7", moved};
            pieceSheet({piece, known: "", left: {miner: 1, bomb: 1, flag: 1}, notes: new Notes("none")});
        }""",
        moved,
    )
    sheet = visitor.see("dialog.sheet")
    for kind, count in (("miner", 1), ("bomb", bombs), ("flag", bombs)):
        expect(sheet.get_by_role("button", name=f"Note: {kind}")).to_have_count(count)


def test_what_was_said_at_a_table_is_gone_when_one_leaves_it(visit):
    visitor = visit()
    visitor.start(QUIET)
    visitor.page.keyboard.press("w")
    visitor.see(".toast", has_text="1 marshal")
    visitor.page.get_by_role("link", name="Rules").click()
    visitor.see("body[data-screen=rules] h1")
    assert visitor.page.locator(".toast").count() == 0, "and not only after its six seconds"


def test_whoever_looks_at_another_game_keeps_the_chosen_opponent(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(level="marshal")
    for variant, level in (("duel", "strategist"), ("barrage", "marshal")):
        visitor.choose(variant=variant)
        expect(page.locator("input[name=level]:checked")).to_have_value(level)


def test_a_newcomer_is_proposed_an_easy_opponent_in_every_game(visit):
    visitor = visit()
    page = visitor.open().page
    offer = page.evaluate("fetch('/api/offer').then(answer => answer.json())")
    for variant in (each["name"] for each in offer["variants"]):
        visitor.choose(variant=variant)
        listed = [each.get_attribute("value") for each in page.locator("input[name=level]").all()]
        chosen = page.locator("input[name=level]:checked").get_attribute("value")
        assert listed.index(chosen) <= (len(listed) - 1) / 3, (variant, chosen, listed)
    # Whoever was chosen stays.
    visitor.choose(variant="barrage")
    visitor.choose(level="fox")
    visitor.choose(variant="classic")
    expect(page.locator("input[name=level]:checked")).to_have_value("fox")


def test_side_clock_and_memory_stand_above_the_opponents_and_tell_what_is_chosen(visit):
    for look in ({}, PHONE):
        visitor = visit(**look)
        page = visitor.open().page
        box = visitor.see(".options-box", has_text="Side, clock, memory")
        chosen = box.locator(".chosen")
        expect(chosen).to_have_text("Red, first · no clock · the board remembers ranks and moves")
        tops = [page.locator(each).first.bounding_box()["y"] for each in (".options-box summary", ".against")]
        assert tops[0] < tops[1]
        visitor.choose(side="blue", clock="bronstein")
        box.locator("input[value=shown]").check()
        box.locator("summary").click()
        expect(chosen).to_have_text("Blue, second · 12 min, 4 s back · the board remembers ranks")
        visitor.fits()
        visitor.picture(f"home-options-{'phone' if look else 'desktop'}")
        visitor.choose(mode="hotseat")
        expect(chosen).to_have_text("12 min, 4 s back · the board remembers ranks")


def test_two_on_one_device_are_not_asked_which_side_they_play(visit):
    visitor = visit()
    page = visitor.open().page
    page.get_by_text("Side, clock, memory").click()
    for mode, seen in (("level", True), ("hotseat", False), ("friend", True)):
        visitor.choose(mode=mode)
        expect(page.locator("input[name=side]").first).to_be_visible(visible=seen)


def test_letters_tell_the_clocks_the_moves_without_a_battle_and_what_is_left(visit):
    visitor = visit()
    visitor.start(clock="strategus")
    left = "1 marshal, 1 general, 1 miner, 2 scouts, 1 spy, 1 bomb, 1 flag"
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
"""Return how far the page is scrolled when it has come to rest."""


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
    page.clock.install()

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
        page.clock.run_for(700)
        happen(*([later] if later else []), "pointerup", "click")
        expect(page.locator("dialog")).to_have_count(1)
        visitor.button("Close").click()
        expect(page.locator("dialog")).to_have_count(0)


def test_a_fight_is_still_there_to_be_read_out_when_the_answer_to_it_has_come(visit):
    host, guest = visit(), visit()
    friends(host, guest, "FB.NGS..../O.M......O/........../..........")
    fight = "a2 attacks a9. scout (2) against scout (2): both fall."
    heard = []
    for ply, (mover, move) in enumerate(((host, "a2a9"), (guest, "h9h8"), (host, "d1d2")), 1):
        Player(mover).type(move)
        for visitor in (host, guest):
            expect(visitor.page.locator(".moves li")).to_have_count(ply)
        heard.append(host.page.locator("#live").inner_text())
    assert [fight in each for each in heard] == [True, True, False], heard
    assert "The enemy moves h9 to h8." in heard[1]
    # A question in between takes neither away, and what one is told leaves with the next thing that one is told.
    host.page.keyboard.press("l")
    expect(host.page.locator("#live > *")).to_have_count(3)


def test_where_moves_are_confirmed_nothing_is_played_without_a_yes_and_a_prepared_move_asks_too(visit):
    host, guest = visit(), visit()
    friends(host, guest)
    host.button("Settings").click()
    host.page.get_by_label("Confirm each move").check()
    host.button("Close").last.click()
    red, blue = Player(host), Player(guest)
    moves = host.page.locator(".moves li")
    for give_up in (lambda: host.button("Cancel").click(), lambda: red.press("e5")):
        red.press("d1")
        red.press("c1")
        host.see(".confirm", has_text="Move d1 to c1?")
        expect(host.page.locator(".cell.pending")).to_have_attribute("data-at", "c1")
        give_up()
        expect(host.page.locator(".confirm")).to_have_count(0)
    expect(moves).to_have_count(0)
    # By the button, and by a second press on the square.
    for source, target, answer, play in (
        ("d1", "c1", "e10d10", lambda: host.button("Play it").click()),
        ("c1", "d1", "d10c10", lambda: red.press("d1")),
    ):
        before = moves.count()
        red.press(source)
        red.press(target)
        play()
        expect(moves).to_have_count(before + 1)
        blue.type(answer)
        expect(moves).to_have_count(before + 2)
    # A move that was prepared asks when its turn has come.
    red.type("f1g1")
    host.button("Play it").click()
    expect(moves).to_have_count(5)
    red.press("g1")
    red.press("h1")
    host.see(".confirm", has_text="Prepared: g1 to h1.")
    blue.type("c10b10")
    host.see(".confirm", has_text="Move g1 to h1?")
    expect(moves).to_have_count(6)
    host.button("Play it").click()
    expect(moves).to_have_count(7)


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
            const {remembered} = await import("/static/js/games/stratego/history.js");
            const sight = (last) => ({seat: "red", phase: "play", last});
            const piece = {side: "blue", type: "marshal", at: "e5"};
            const battle = {attacker: "marshal", defender: "miner", result: ">"};
            return [
                {from: "e6", to: "e5", battle, shows: true},
                {from: "e6", to: "e5", battle: null, shows: false},
                {from: "e9", to: "e5", battle: null, shows: true},
                {from: "a1", to: "a2", battle: null, shows: false},
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
    player.type("e5e6")  # nothing stands there
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


def test_a_move_that_only_a_search_has_tried_is_shown_with_its_weight_for_the_network(visit):
    found = (
        visit()
        .open()
        .page.evaluate(
            """async () => {
            const {considered} = await import("/static/js/analysis.js");
            const policy = [{from: "a4", to: "a5", p: 0.6}];
            const search = [{from: "b4", to: "b5", value: 0.1, visits: 24, before: 0.05, p: 0.9}];
            return considered({policy, search});
        }"""
        )
    )
    assert [(move["from"], move["p"], move.get("value")) for move in found] == [("a4", 0.6, None), ("b4", 0.05, 0.1)]


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
    expect(page.locator(".caption")).to_have_text("1. Red moves b2 to b3.")
    visitor.see(".graph-place", has_text="There is no network for this variant")
    # Whoever has pressed a square steps on with the arrows; whoever went there by keyboard goes over the board.
    page.locator(".review .cell[data-at=b3]").click()
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
    expect(friend.page.locator(".caption")).to_have_text("1. Red moves b2 to b3.")


@pytest.mark.parametrize("address", ["#/review/nothing/%/1", "#/game/%E0%A4%A/red/x", "#/%"])
def test_an_address_that_is_badly_written_leads_nowhere_in_words(visit, address):
    visitor = visit()
    page = visitor.open(address).page
    expect(page.locator("h1").first).to_be_visible()


KEYS = """() => JSON.parse(localStorage["vauban.games"] ?? "[]")
    .flatMap(({ id, seats }) => Object.entries(seats).map(([seat, secret]) => [secret, `#/game/${id}/${seat}`]))"""
"""In the page: the secrets of the seats that it has kept, each with the address of the seat."""


def keys(visitor: Visitor) -> list[list[str]]:
    return visitor.page.evaluate(KEYS)


def test_no_address_holds_the_key_to_a_seat(visit):
    host, guest, other = visit(), visit(), visit()
    addresses: list[str] = []
    for somebody in (host, guest, other):
        somebody.page.on("framenavigated", lambda frame: addresses.append(frame.url))
    friends(host, guest)
    [[red, at]], [[blue, _]] = keys(host), keys(guest)
    for somebody, address in ((host, at), (guest, at.replace("red", "blue"))):
        assert somebody.page.url == somebody.address + address
        # It goes on after a reload, and from the list of games.
        somebody.page.reload()
        somebody.see(".table .piece.red")
        somebody.page.goto(somebody.address)
        somebody.see(".games a").click()
        somebody.see(".table .piece.red")
    # No page that was visited, nor a link on one, tells it; an invitation is gone as soon as it is taken.
    links = host.open().page.evaluate("[...document.links].map(link => link.href)")
    invitation = host.page.evaluate("JSON.parse(localStorage['vauban.games'])[0].friend.invitation")
    assert any(at in link for link in links)
    assert not [each for each in addresses + links if red in each or blue in each]
    guest.page.go_back()
    assert invitation not in guest.page.url

    # Another browser has no seat by the address alone; by an old link, which holds the key, it has one.
    other.open(at)
    other.see(".page p", has_text="This browser has no seat in that game")
    other.open(f"{at}/{red}")
    other.see(".bottom-card.turn")
    assert other.page.url == other.address + at
    other.page.reload()
    other.see(".bottom-card.turn")
    # A wrong key is not kept in the place of the right one.
    other.open(f"{at}/wrong")
    other.see(".bottom-card.turn")
    other.resign()
    other.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    other.see(".review .board")
    assert not [each for each in addresses[-3:] if red in each]


def test_looking_back_too_early_leaves_no_key_in_the_address(visit):
    visitor = visit()
    visitor.start()
    [[secret, at]] = keys(visitor)
    visitor.open(at.replace("game", "review").replace("red", secret))
    visitor.see(".page p", has_text="The game is not over")
    assert secret not in visitor.page.url


def test_the_address_of_a_look_back_opens_no_seat(visit):
    visitor = visit()
    visitor.start()
    [(seat, _)] = keys(visitor)
    visitor.resign()
    visitor.page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review .board")
    assert seat not in visitor.page.url and "#/review/" in visitor.page.url
    game, secret = visitor.page.url.split("/")[-2:]
    visitor.page.goto(visitor.address + f"#/review/{game}/{secret}/-5")
    visitor.see(".caption", has_text="The start.")


def test_a_game_that_somebody_has_shown_is_not_among_ones_own(visit):
    visitor, guest, onlooker = visit(), visit(), visit()
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
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
    visitor.button("Copy link").click()
    visitor.see(".toast", has_text="Copied.")
    onlooker.open(visitor.page.evaluate("navigator.clipboard.readText()").removeprefix(visitor.address))
    onlooker.see(".moves li")
    # Whoever came by a link looks on, and does nothing else.
    assert onlooker.page.locator(".actions button").all_inner_texts() == ["Flip"]
    visitor.button("Stop").click()
    visitor.page.locator("dialog").get_by_role("button", name="Stop").click()
    onlooker.see("dialog.end")
    for somebody, games in ((visitor, 2), (guest, 0), (onlooker, 0)):
        somebody.open("#/import")
        expect(somebody.page.locator(".games li")).to_have_count(games)
    # What one has opened from a text oneself is, by the names of its players.
    guest.page.get_by_label("Or paste it here").fill(GAME)
    guest.button("Open").click()
    guest.see(".review .board")
    guest.open("#/import")
    expect(guest.page.locator(".games li")).to_have_text([re.compile(r"Red – Blue · Duel\s*red won")])


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
    expect(visitor.button("Take back")).to_be_disabled()
    Player(visitor).step("g7", "g6")
    visitor.see(".bottom-card.turn")
    expect(visitor.button("Take back")).to_be_enabled()
    visitor.resign()
    # Whoever plays on from that game is proposed the opponent of that game.
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.button("Play on from here").click()
    expect(page.locator("dialog.play-on select")).to_have_value("recruit")
    visitor.button("Cancel").click()
    visitor.open()
    expect(page.locator(".results")).to_have_count(0)


def test_moves_of_ones_own_leave_a_game_branch_are_kept_shown_to_others_and_played_on(visit, axe):
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open("#/import").page
    page.get_by_label("Or paste it here").fill(GAME)
    visitor.button("Open").click()
    caption, own, branch = (page.locator(each) for each in (".caption", ".moves > .own", ".moves > .branch"))

    def press(at: str) -> None:
        page.locator(f".review .cell[data-at={at}]").click()

    # After its end the game goes on: by the letters of a move, and by mouse.
    visitor.see(".own-line", has_text="Try moves of your own")
    page.keyboard.press("End")
    page.evaluate(TYPED, "b3b4")
    expect(caption).to_have_text("3. Red moves b3 to b4.")
    press("g6")
    expect(page.locator(".review .cell[data-at=g5]")).to_have_class(re.compile("target"))
    press("g5")
    expect(caption).to_have_text("4. Blue moves g6 to g5.")
    expect(own).to_have_count(2)
    # What cannot be played is explained; the scout may not go there, nor is it blue's turn.
    page.evaluate(TYPED, "a1a3")
    expect(caption).to_have_text("A Flag never moves.")
    page.evaluate(TYPED, "g5g4")
    expect(caption).to_have_text("The piece on g5 is not yours.")
    # Back to the first position, and another way: by dragging. Going on leads along the way that one came.
    page.keyboard.press("Home")
    page.locator(".review .cell[data-at=e2]").drag_to(page.locator(".review .cell[data-at=e3]"))
    expect(caption).to_have_text("1. Red moves e2 to e3.")
    expect(branch.locator("li")).to_have_text([re.compile("1.*e2–e3")])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(caption).to_have_text("1. Red moves e2 to e3.")
    visitor.see(".own-line", has_text="Your own moves, from the start.")
    visitor.picture("line-light")
    assert violations(page, axe) == []
    # They are kept in this browser, and a link shows one of them to others.
    visitor.button("Copy link").click()
    visitor.see(".toast", has_text="Copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("/0/e2e3")
    with page.expect_download() as saved:
        visitor.button("Notation").click()
    assert '[Line "own moves after move 0"]' in saved.value.path().read_text()
    visitor.open(page.url.removeprefix(visitor.address))
    expect(own).to_have_count(2)
    guest = visit(**PHONE).open(link.removeprefix(visitor.address))
    expect(guest.page.locator(".caption")).to_have_text("1. Red moves e2 to e3.")
    guest.fits()
    guest.page.locator(".review .cell[data-at=g7]").tap()
    guest.page.locator(".review .cell[data-at=g6].target").tap()
    expect(guest.page.locator(".caption")).to_have_text("2. Blue moves g7 to g6.")
    guest.picture("line-phone")
    guest.button("Play on from here").click()
    guest.see("dialog.play-on", has_text="played up to move 2")
    guest.page.locator("dialog select").select_option("recruit")
    guest.page.locator("dialog").get_by_role("button", name="Play").click()
    guest.see(".status", has_text="Played on from move 2 of another game")
    # One of them is removed, with all that was tried after it.
    branch.locator("button").click()
    visitor.button("Remove from here").click()
    expect(branch).to_have_count(0)
    expect(caption).to_have_text("The start.")
    expect(own).to_have_count(2)


def test_a_position_is_put_together_with_a_finger_and_analysed(visit):
    visitor = visit(**PHONE)
    page = visitor.open("#/import").page
    page.get_by_role("link", name="A position of your own").tap()
    visitor.see(".position .piece")
    page.locator(".picker summary").tap()
    page.locator("input[name=variant][value=fives]").check(force=True)
    visitor.button("Empty board").tap()
    expect(page.locator(".position .piece")).to_have_count(0)
    visitor.see(".error", has_text="Flag")
    expect(visitor.button("Analyse")).to_be_disabled()

    def put(tool: str, at: str) -> None:
        page.get_by_role("button", name=re.compile(f"^{tool}")).tap()
        page.locator(f".position .cell[data-at={at}]").tap()

    for tool, at in (("Red: Flag", "a1"), ("Blue: Flag", "e5"), ("Red: Sergeant", "b1"), ("Blue: Major", "d5")):
        put(tool, at)
    put("Is known", "b1")
    expect(page.locator(".position .mark.known")).to_have_count(1)
    page.locator("input[name=position-turn][value=blue]").check(force=True)
    page.get_by_text("As text").tap()
    expect(page.get_by_label("As text")).to_have_value("3jf/5/5/5/FT!3 b 0 0 -,- 0:-,0:-")
    visitor.fits()
    visitor.button("Analyse").tap()
    visitor.see("h1", has_text="Analysis")
    page.locator(".review .cell[data-at=d5]").tap()
    page.locator(".review .cell[data-at=d4].target").tap()
    expect(page.locator(".caption")).to_have_text("1. Blue moves d5 to d4.")
    page.locator("input[name=believer][value=red]").check(force=True)
    visitor.button("Edit position").tap()
    expect(page.locator(".position .piece")).to_have_count(4)
    expect(page.get_by_label("As text")).to_have_value(re.compile("^4f/3j'1/5/5/FT!3 r 1 1 "))


GAME = """[Variant "duel"]
[RedSetup "FBO..NS./BGO.M..N/........"]
[BlueSetup "FBO..NS./BGO.M..N/........"]
[Result "1-0"]
[End "resigned"]

1. b2b3 g7g6 1-0
"""


def test_an_address_that_names_no_screen_is_the_start_page(visit):
    visitor = visit()
    for fragment in ("constructor", "toString", "__proto__", "plain/review", "constructor/review"):
        visitor.open(f"#/{fragment}")
        visitor.see(".home .setup .piece")


def test_whoever_asks_to_look_back_on_no_game_chooses_one(visit):
    visitor = visit()
    for fragment in ("review", "geister/review"):
        visitor.open(f"#/{fragment}")
        visitor.see("body[data-screen=import] h1", has_text="Look back")
        assert visitor.page.url.endswith("#/import")
