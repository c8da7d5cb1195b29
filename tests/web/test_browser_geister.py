"""Geister in a real browser: whole games by mouse, keyboard and touch; setups, gates, notes, reload and restart."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest
from browser import LISTENER, PHONE, TYPED, Player, Serving, Visitor, standing, tab_to, violations, walk_to
from ghost_model import keep_model
from playwright.sync_api import expect

from vauban.board import Board
from vauban.notation.records import write_game
from vauban.search.geister.moments import SENTENCES, Said

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-geister")

ENDS = ("escape", "good_captured", "evil_captured")
GOOD = "your good ghost"


class Runner(Player):
    """Brings good ghosts to the exits, and goes out."""

    def find(self) -> tuple[str, str]:
        """Return the best move that the page offers; its ghost is picked up."""
        cells = self.cells()
        gates = [at for at, (words, _) in cells.items() if words[0] == "exit for your pieces"]
        own = [at for at, (words, _) in cells.items() if words[0].startswith("your ")]

        def far(at: str) -> int:
            return min(abs(ord(at[0]) - ord(gate[0])) + abs(int(at[1:]) - int(gate[1:])) for gate in gates)

        self.rng.shuffle(own)
        for source in sorted(own, key=lambda at: (not cells[at][0][0].startswith(GOOD), far(at))):
            self.press(source)
            targets = sorted(self.marked("target", "strike"), key=far)
            if targets:
                return source, targets[0] if self.rng.random() < 0.9 else self.rng.choice(targets)
            self.press(source)
        raise AssertionError("the page shows no move")

    def to_the_end(self, most: int = 150) -> int:
        for played in range(most):
            if self.over():
                over = next(told["over"] for told in map(json.loads, reversed(self.visitor.frames)) if told.get("over"))
                assert over["end"] in ENDS, over
                return played
            self.turn()
        pytest.fail(f"after {most} moves the game is not over")


def begin(visitor: Visitor, setup: str | None = None, **wishes: str) -> Runner:
    """Begin a game against whoever moves at random."""
    visitor.open()
    visitor.choose(**({"mode": "level", "variant": "geister", "level": "wisp"} | wishes))
    visitor.see(".setup .ghost")
    if setup is not None:
        visitor.give(setup)
    visitor.button("Play").click()
    visitor.see(".bottom-card.turn")
    return Runner(visitor)


def hidden_was_hidden(visitor: Visitor) -> None:
    """Search every byte that reached red's browser before the end for colours that it could not know."""
    said = [json.loads(frame) for frame in visitor.frames]
    last = next(number for number, told in enumerate(said) if told.get("over"))
    over = said[last]["over"]
    for text in visitor.frames[:last]:
        assert over["setups"]["blue"] not in text and over["salts"]["blue"] not in text
    for told in said[:last]:
        assert all(piece["type"] is None for piece in told.get("pieces", ()) if piece["side"] == "blue")


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


def test_a_setup_is_chosen_by_pressing_ghosts_saved_and_not_taken_before_it_is_whole(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(variant="geister", level="wisp")
    visitor.see(".setup .ghost")
    expect(page.locator(".setup .ghost.evil")).to_have_count(4)
    visitor.button("All good").click()
    expect(page.locator(".evil-left")).to_have_text("Choose 4 more evil ghosts.")
    for at in ("b2", "c1", "e1"):
        page.locator(f".setup .cell[data-at={at}]").click()
    expect(page.locator(".evil-left")).to_have_text("Choose one more evil ghost.")
    assert page.locator(".setup .cell[data-at=b2]").get_attribute("aria-label") == "your evil ghost A"
    visitor.button("Play").click()
    visitor.see(".toast", has_text="Choose one more evil ghost.")
    expect(page.locator(".home")).to_be_visible()
    page.locator(".setup .cell[data-at=d2]").click()
    expect(page.locator(".evil-left")).to_have_text("Ready: 4 ghosts are evil.")
    page.get_by_text("Saved setups, text").click()
    text = page.locator(".setup input.code")
    expect(text).to_have_value("ACFH")
    visitor.button("Save").click()
    page.locator("dialog input").fill("Flanks")
    visitor.button("OK").click()
    visitor.button("Mirror").click()
    expect(text).to_have_value("BDEG")
    text.fill("ABCC")
    visitor.button("Use this text").click()
    visitor.see(".setup .error", has_text="The letters of the 4 evil ghosts, each once")
    page.locator(".setup select").select_option("Flanks")
    expect(text).to_have_value("ACFH")
    expect(page.locator(".setup .error")).to_be_empty()
    visitor.button("Play").click()
    visitor.see(".bottom-card.turn")
    assert page.locator(".table .cell[data-at=b2]").get_attribute("aria-label") == "b2, your evil ghost A"
    assert page.locator(".table .cell[data-at=e5]").get_attribute("aria-label") == "e5, enemy ghost a"


def test_who_comes_from_another_family_is_proposed_an_easy_opponent(visit):
    visitor = visit()
    page = visitor.open().page
    level = page.locator("input[name=level]")

    def proposed() -> int:
        """Return the place of the opponent among all, the weakest first."""
        places = level.evaluate_all("all => [all.findIndex(each => each.checked), all.length]")
        assert places[0] < places[1] / 2
        return places[0]

    first = proposed()
    visitor.choose(variant="geister")
    visitor.see(".setup .ghost")
    assert proposed() > 0
    visitor.choose(mode="watch")
    strongest = page.locator("input[name=blue]").last
    expect(strongest).to_be_checked()
    visitor.choose(mode="level", level="purple5")
    visitor.choose(variant="barrage")
    visitor.see(".setup .piece:not(.ghost)")
    assert proposed() == first
    # Within a family only the strongest play some variants alone.
    visitor.choose(level="marshal")
    visitor.choose(variant="duel")
    expect(level.last).to_be_checked()


# ── Whole games ──────────────────────────────────────────────────────────────────────────────────


def test_a_whole_game_by_mouse_up_to_looking_back(visit):
    visitor = visit()
    player = begin(visitor)
    page = visitor.page
    visitor.picture("geister-game-light")
    player.turns(4)
    if not player.over():
        source, target = player.find()
        expect(page.locator(f".cell[data-at={source}].selected")).to_have_count(1)
        visitor.picture("geister-picked-light")
        before = player.plies()
        player.press(target)
        player.answered(before)
    player.to_the_end()
    end = visitor.see("dialog.end")
    visitor.picture("geister-end-light")
    expect(end.locator(".promise.good")).to_have_count(1)
    hidden_was_hidden(visitor)
    end.get_by_role("button", name="Look back").click()
    visitor.see(".review h2", has_text="Moments")
    plies = int(page.locator(".transport input").get_attribute("max"))
    assert page.locator(".moves li").count() == plies
    page.keyboard.press("Home")
    expect(page.locator(".review .ghost.evil")).to_have_count(8 + 1)  # on the board, and to choose a map by
    expect(page.locator(".review .ghost.hidden")).to_have_count(0)
    page.locator(".review .cell[data-at=b5]").click()
    expect(page.locator(".bars .share")).to_have_text([re.compile(r"^\d+ %$")] * 2)
    visitor.picture("geister-review-light")
    page.locator("input[name=view][value=red]").check()
    expect(page.locator(".review .piece.blue .ghost.hidden")).to_have_count(8)
    visitor.button("To the end").click()
    expect(page.locator(".transport input")).to_have_value(str(plies))
    with page.expect_download() as got:
        visitor.button("Picture").click()
    assert got.value.path().read_text().startswith("<svg")
    with page.expect_download() as got:
        visitor.button("Notation").click()
    text = got.value.path().read_text()
    visitor.open("#/import")
    page.locator("textarea").fill(text)
    page.locator(".answers .primary").click()
    visitor.see(".review .ghost")
    assert page.locator(".moves li").count() == plies


def test_a_whole_game_by_keyboard_alone(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(variant="geister", level="wisp")
    visitor.see(".setup .ghost")
    page.evaluate("document.activeElement.blur()")
    tab_to(page, ".setup .cell")
    evil = page.locator(".setup .ghost.evil")
    expect(evil).to_have_count(4)
    before = page.evaluate("document.activeElement.ariaLabel")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.ariaLabel") != before
    page.keyboard.press("Space")
    expect(evil).to_have_count(4)
    tab_to(page, "button.play")
    page.keyboard.press("Enter")
    visitor.see(".bottom-card.turn")
    said = page.evaluate_handle(LISTENER)
    player = Runner(visitor, lambda at: walk_to(page, at), seed=2)
    player.to_the_end()
    visitor.see("dialog.end")
    heard = said.evaluate("said => said.join(' ')")
    assert heard.count(" from ") >= page.locator(".moves .fight", has_not_text="out").count()
    page.keyboard.press("Enter")
    visitor.see(".review .board")


def test_a_whole_game_by_touch_on_a_small_screen(visit):
    visitor = visit(**PHONE)
    visitor.open()
    visitor.choose(level="recruit")
    page = visitor.page
    page.locator("details.picker summary").first.click()
    visitor.choose(variant="geister")
    visitor.see(".setup .ghost")
    visitor.fits()
    page.locator(".options-box summary").click()
    visitor.fits()
    visitor.picture("geister-home-phone", whole=True)
    page.locator(".options-box summary").click()
    visitor.button("Play").tap()
    visitor.see(".bottom-card.turn")
    page.evaluate("document.querySelectorAll('.toast .close').forEach(each => each.click())")
    player = Runner(visitor, seed=3)
    player.press = player.tap  # type: ignore[method-assign]
    visitor.fits()
    player.turns(3)
    visitor.picture("geister-game-phone")
    player.to_the_end()
    visitor.see("dialog.end")
    visitor.fits()
    page.locator("dialog.end").get_by_role("button", name="Look back").tap()
    visitor.see(".review .ghost")
    visitor.fits()


# ── Exits, notes ─────────────────────────────────────────────────────────────────────────────────


def test_a_gate_is_one_target_that_can_be_pressed_or_typed(visit):
    """Two people on one device: nobody is in the way."""
    visitor = visit()
    visitor.open()
    page = visitor.page
    visitor.choose(mode="hotseat", variant="geister")
    visitor.button("Play").click()
    for side, setup in (("Red", "EFGH"), ("Blue", "ABCD")):
        if side == "Blue":
            visitor.button("I am Blue").click()
        visitor.see(f".setup .piece.{side.lower()}")
        visitor.give(setup)
        visitor.button("Ready").click()
    player = Runner(visitor)
    for ply, move in enumerate("b2a2 e5e4 a2a3 e4e5 a3a4 e5e4 a4a5 e4e5 a5a6 e5e4".split()):  # noqa: SIM905
        side = ("Red", "Blue")[ply % 2]
        visitor.button(f"I am {side}").click()
        visitor.see(".table .piece")
        player.type(move)
        visitor.button(f"Hand over to {('Blue', 'Red')[ply % 2]}").click()
    visitor.button("I am Red").click()
    player.press("c2")
    player.press("a7")
    visitor.see(".reason-box", has_text="A ghost leaves by this exit from the corner before it.")
    page.keyboard.press("Escape")
    player.press("a6")
    assert player.marked("target", "strike") >= {"a7"} and page.locator(".gate.target").count() == 1
    visitor.picture("geister-gate")
    assert page.locator(".cell[data-at=a7]").get_attribute("aria-label") == "a7, exit for your pieces, can go here"
    page.keyboard.press("Escape")
    player.type("a6a7")
    visitor.see("dialog.end", has_text="Red won")
    expect(page.locator(".moves li").last).to_contain_text("a6→a7")


def test_a_guess_about_a_ghost_is_noted_and_goes_with_it(visit):
    visitor = visit()
    begin(visitor)
    page = visitor.page
    page.locator(".table .cell[data-at=c5]").click()
    visitor.see("dialog.sheet h2", has_text="c5")
    page.locator("dialog .note-types button", has_text="evil ghost").click()
    told = "c5, enemy ghost c, your note: evil ghost"
    expect(page.locator(".cell[data-at=c5]")).to_have_attribute("aria-label", told)
    expect(page.locator(".mark.note")).to_have_text("evil")


# ── Reload, restart, watching, learning ──────────────────────────────────────────────────────────


def test_a_game_goes_on_through_a_reload_and_when_the_server_was_killed(visit, tmp_path):
    with closing(Serving(tmp_path)) as serving:
        visitor = visit(serving)
        visitor.forgive("WebSocket|ERR_CONNECTION")
        player = begin(visitor, "ABCD")
        for source, target in (("b1", "a1"), ("a1", "b1")):
            player.step(source, target)
        seen, plies = standing(player), player.plies()
        visitor.page.reload()
        visitor.see(".bottom-card.turn")
        assert (standing(player), player.plies()) == (seen, plies)
        serving.close()
        expect(visitor.page.locator(".banner")).to_have_text("Connection lost. Trying again …")
        serving.start()
        expect(visitor.page.locator(".banner")).to_have_count(0)
        assert (standing(player), player.plies()) == (seen, plies)
        visitor.resign()
        expect(visitor.page.locator(".table .ghost.hidden")).to_have_count(2)  # those on the cards


def test_two_machines_are_watched_with_the_eyes_of_a_side(visit):
    visitor = visit()
    visitor.open()
    visitor.choose(mode="watch", variant="geister")
    visitor.button("Watch").click()
    visitor.see(".table .piece.red .ghost.evil")
    visitor.button("Pause").click()
    visitor.page.locator("input[name=eyes][value=red]").check()
    visitor.see(".table .piece.blue .ghost.hidden")
    expect(visitor.page.locator(".table .piece.blue .ghost:not(.hidden)")).to_have_count(0)


def test_the_first_minute_ends_with_an_escape(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(variant="geister")
    page.get_by_role("link", name="Learn it in a minute").click()
    moves = [("b1", "b2"), ("b2", "b3"), ("c2", "c3"), ("a3", "a4"), ("a4", "a5")]
    for number, (source, target) in enumerate(moves, 1):
        visitor.see(".lesson .quiet", has_text=f"{number} of 5")
        page.locator(f".cell[data-at={source}]").click()
        page.locator(f".cell[data-at={target}]").click()
        if number == 5:
            expect(page.locator(".lesson .piece.red")).to_have_count(0)  # it has left the board
            expect(page.get_by_role("link", name="Skip", exact=True)).to_be_hidden()
        visitor.button("Done" if number == 5 else "Next").click()
    visitor.see(".lesson", has_text="That is the whole game.")
    visitor.open()
    visitor.choose(variant="geister")
    expect(page.locator(".invite")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_a_serious_barrier(visit, axe, scheme):
    visitor = visit(color_scheme=scheme, reduced_motion="reduce")
    page = visitor.open().page
    visitor.choose(variant="geister", level="wisp")
    visitor.see(".setup .ghost")

    def check(name: str) -> None:
        visitor.picture(f"axe-geister-{name}-{scheme}", whole=True)
        assert violations(page, axe) == [], name

    page.locator(".options-box summary").click()
    check("home")
    for screen in ("rules", "learn", "setups"):
        visitor.open(f"#/geister/{screen}")
        visitor.see(".page .ghost")
        check(screen)
    player = begin(visitor)
    player.turns(3)
    player.find()
    check("game")
    page.keyboard.press("Escape")
    visitor.resign()
    check("end")
    page.locator("dialog.end").get_by_role("button", name="Look back").click()
    visitor.see(".review h2", has_text="Moments")
    check("review")


def test_marks_and_gates_are_seen_in_forced_colours(visit):
    visitor = visit(forced_colors="active")
    begin(visitor)
    visitor.see(".gate.red .arch")
    visitor.picture("geister-forced")


# ── Looking back with a network ──────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def learned(chromium, tmp_path_factory):
    """A server with a network that looks back on Geister, whatever is shipped."""
    folder = tmp_path_factory.mktemp("learned")
    found = Serving(folder, more=("--opponent", keep_model(folder / "model")))
    yield found
    found.close()


def test_looking_back_shows_values_moves_beliefs_and_moments_of_a_network(visit, learned, axe):
    visitor = visit(learned)
    page = visitor.open("#/import").page
    board = Board("geister", setups=("EFGH", "ABCD"))
    for move in ("b2a2", "e5e4", "a2a3", "e4e5", "a3a4", "e5e4", "a4a5", "e4e5", "a5a6", "e5e4", "a6n"):
        board.push(move)
    page.locator("textarea").fill(write_game(board))
    page.locator(".answers .primary").click()
    visitor.see(".graph .value.red")
    assert len(re.findall("[ML]", page.locator(".graph .value.blue").get_attribute("d") or "")) == 12
    moments = page.locator(".moments li")
    expect(moments.filter(has_text="Not stopped.")).to_contain_text(
        "Red's good ghost A stood in the corner a6, ready to escape, and blue could have taken it by b6–a6."
    )
    expect(moments.filter(has_text="The end.")).to_contain_text("Red's good ghost A escaped from a6.")
    # Before the escape: what red considers, the gate among it, and what it takes each of blue's ghosts for.
    moments.filter(has_text="Not stopped.").locator("button").click()
    expect(page.locator(".caption")).to_have_text("10. Blue moves e5 to e4.")
    expect(page.locator(".review table tr.played")).to_contain_text("a6–a7 (played)")
    assert page.locator(".arrow").count() == 5
    assert 1 <= page.locator(".heat").count() <= 8  # what is taken for none is left free
    page.locator("input[name=believer][value=blue]").check()
    label = page.locator(".review .cell[data-at=a6]").get_attribute("aria-label") or ""
    assert re.fullmatch(r"a6, red good ghost A, taken for evil ghost: (< )?\d+ %", label), label
    page.locator(".review .cell[data-at=a6]").click()
    expect(page.locator(".bars li.true")).to_contain_text("good ghost (true)")
    shown = page.locator(".heat").all_inner_texts()
    page.get_by_role("button", name="Heat map: good ghost").click()
    expect(page.locator(".heat")).not_to_have_text(shown)
    visitor.picture("geister-review-network")
    assert violations(page, axe) == []
    # Another move than the one that was played: the network is asked about what comes then.
    page.evaluate(TYPED, "c2c3")
    expect(page.locator(".caption")).to_have_text("11. Red moves c2 to c3.")
    visitor.see("h2", has_text="What blue would consider")
    expect(page.locator(".chances .who")).to_have_text("Blue")
    page.locator("input[name=believer][value=red]").check()
    assert 1 <= page.locator(".heat").count() <= 8
    visitor.picture("geister-line-network")
    assert violations(page, axe) == []


def test_the_page_says_of_a_moment_what_the_report_says(visit):
    visitor = visit()
    visitor.open()
    visitor.choose(variant="geister")
    visitor.see(".setup .ghost")
    data = {"side": "red", "from": "a5", "to": "a6", "at": "a6", "share": 0.934, "chance": 0.001, "before": 0.7}
    data |= {"after": 0.4, "value": 0.5, "other": 0.25}
    said = [
        Said(key, data | {"ghost": {"side": side, "type": kind, "letter": letter}})
        for key in SENTENCES
        for side, kind, letter in (("blue", "evil", "c"), ("red", "good", "A"), ("blue", None, "h"))
    ]
    told = visitor.page.evaluate(
        "async said => (await import('/static/js/words.js')).momentWords({said})", [each.to_json() for each in said]
    )
    assert told == " ".join(each.text for each in said).replace("under 1%", "< 1%").replace("%", " %")


# ── Rules, and words of its own ──────────────────────────────────────────────────────────────────


def test_rules_are_chosen_on_the_start_page_and_told_in_the_game(visit):
    visitor = visit()
    page = visitor.open().page
    visitor.choose(mode="level", variant="geister", level="wisp")
    visitor.see(".setup .ghost")
    page.locator(".options-box summary").click()
    page.locator("input[name=rule-escape][value=forced]").check()
    page.get_by_label("Moves until a draw").fill("24")
    page.get_by_label("Moves until a draw").blur()
    summary = page.locator(".choices > p.quiet")
    expect(summary).to_contain_text("24 moves in all are a draw. Who can escape must.")
    expect(page.locator(".setup")).to_be_visible()
    page.locator("input[name=rule-colours][value=chance]").check()
    expect(page.locator(".setup")).to_have_count(0)
    visitor.picture("geister-rules", whole=True)
    visitor.open()  # they are remembered
    expect(page.locator(".choices > p.quiet")).to_contain_text("Chance chooses which ghosts are evil.")
    visitor.button("Play").click()
    visitor.see(".bottom-card.turn")
    expect(page.locator(".status")).to_contain_text("Who can escape must. Chance chooses which ghosts are evil.")
    expect(page.locator(".status")).not_to_contain_text("Eight ghosts")
    expect(page.locator(".counter")).to_contain_text("0 of 24 moves")
    expect(page.locator(".table .piece.red .ghost.evil")).to_have_count(4)
    visitor.resign()
    page.locator("dialog.end").get_by_role("button", name="Rematch").click()
    visitor.see(".bottom-card")
    expect(page.locator(".counter")).to_contain_text("of 24 moves")
    # Games by other rules are not counted; other games are not touched by the choice.
    visitor.open()
    expect(page.locator(".results")).to_have_count(0)
    visitor.choose(variant="geister-44")
    told = "Four ghosts each on 4 × 4 squares, two good and two evil. 60 moves in all are a draw."
    expect(page.locator(".choices > p.quiet")).to_contain_text(told)
    visitor.see(".setup .ghost")
    visitor.choose(mode="watch")
    expect(page.locator(".options-box summary")).to_have_text("Rules")
    visitor.choose(variant="barrage")
    expect(page.locator(".options-box")).to_be_hidden()


def test_a_friend_is_told_the_rules_before_the_game(visit):
    visitor, friend = visit(), visit()
    page = visitor.open().page
    visitor.choose(mode="friend", variant="geister")
    visitor.see(".setup .ghost")
    page.locator(".options-box summary").click()
    page.locator("input[name=rule-escape][value=forced]").check()
    visitor.button("Make the link").click()
    link = visitor.see(".waiting input, .page input").first.input_value()
    friend.page.goto(link)
    friend.see(".setup .ghost")
    expect(friend.page.locator(".terms")).to_contain_text("300 moves in all are a draw. Who can escape must.")
    friend.button("Ready").click()
    for each in (visitor, friend):
        each.see(".table .piece")
    # Where chance chooses, the friend has only to come.
    visitor.open()
    visitor.choose(mode="friend", variant="geister")
    page.locator(".options-box summary").click()
    page.locator("input[name=rule-colours][value=chance]").check()
    visitor.button("Make the link").click()
    visitor.see(".waiting", has_text="The game begins as soon as your friend has come.")
    friend.page.goto(page.locator(".page input").first.input_value())
    for each in (visitor, friend):
        each.see(".table .piece .ghost.evil")
        expect(each.page.locator(".table .piece .ghost.hidden")).to_have_count(8)


def test_help_settings_and_offers_speak_of_ghosts_and_of_ranks_again_in_other_games(visit):
    visitor = visit()
    page = visitor.open().page
    dialogs = []
    for variant in ("geister", "barrage"):
        visitor.choose(variant=variant)
        visitor.see(".setup .piece")
        said = []
        for name in ("Help and keys", "Settings"):
            page.get_by_role("button", name=name, exact=True).click()
            said.append(visitor.see("dialog").inner_text())
            visitor.button("Close").click()
            expect(page.locator("dialog")).to_have_count(0)
        dialogs.append(" ".join(said))
    ghosts, ranks = dialogs
    stratego = ("Moves without a battle", "Ranks", "10 = marshal", "no bomb and no flag", "by type", "piece", "army")
    assert [word for word in stratego if word.lower() in ghosts.lower()] == []
    assert all(word in ranks for word in stratego)
    assert "Which ghosts both sides have left" in ghosts and "ghost" not in ranks
    visitor.choose(variant="geister")
    page.locator(".options-box summary").click()
    expect(page.locator(".options-box")).not_to_contain_text("rank")
