"""Several families of games on the page, in a real browser: one of an installed package beside those at home here."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest
from browser import PHONE, Player, Serving
from patience import PATIENCE
from playwright.sync_api import expect

from vauban.web.files import PAGE

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-families")

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ENTRY_POINTS = "[vauban.games]\nambush = ambush:Ambush\n[vauban.shows]\nambush = ambush_show:SHOW\n"
ELSEWHERE = """
import sys
from pathlib import Path
from vauban.web import files
files.PAGE = Path(sys.argv.pop(1))
from vauban.cli.main import run
run()
"""
"""A server whose page lies in another folder."""


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """An installed package with examples/ambush.py and its show: the folder of its files."""
    package = tmp_path / "package"
    info = package / "ambush-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ambush\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    for name in ("ambush.py", "ambush_show.py"):
        shutil.copy(EXAMPLES / name, package)
    shutil.copytree(EXAMPLES / "ambush_page", package / "ambush_page")
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", f"{package}{os.pathsep}{known}" if known else str(package))
    return package


@pytest.fixture
def page_copy(tmp_path) -> Path:
    """A copy of the page's files, to be changed."""
    return Path(shutil.copytree(PAGE, tmp_path / "page"))


def elsewhere(tmp_path: Path, page: Path, *more: str) -> Serving:
    return Serving(tmp_path, ("-c", ELSEWHERE, str(page)), more)


def links(page) -> list[str]:
    """Return the links in the head of the page."""
    return [link.get_attribute("href") for link in page.locator("#header nav a").all()]


HOME = ["#/", "#/setups", "#/puzzles", "#/rules", "#/import"]


def test_a_second_family_is_chosen_drawn_and_played_beside_the_first(visit, tmp_path, package):
    with closing(Serving(tmp_path)) as serving:
        visitor = visit(serving)
        page = visitor.open().page
        expect(page.locator("h1")).to_have_text("Two armies, face down")
        expect(page.locator("input[name=variant]").first).to_have_value("barrage")
        assert links(page) == HOME
        visitor.see(".setup .piece")

        visitor.choose(variant="ambush")
        expect(page.locator("h1")).to_have_text("Nine squares, two secrets")
        assert links(page) == ["#/", "#/ambush/rules", "#/import"]
        visitor.see(".home .summary, .home .quiet", has_text="A King and a Guard each")
        visitor.picture("family-home")
        page.get_by_role("link", name="Rules").click()
        visitor.see("article p", has_text="in secret")
        expect(page.locator("#header nav [aria-current]")).to_have_text("Rules")
        visitor.see(".page", has_text="A King and a Guard each on 3 × 3 squares.")
        visitor.picture("family-rules")

        # Addresses without a family are those of the first one; and what was chosen is kept.
        visitor.open("#/setups")
        visitor.see(".workshop .setup .piece")
        assert page.locator("input[name=variant][value=ambush]").count() == 0
        visitor.open("#/rules")
        visitor.see("article.rules .ranking")
        assert links(page) == HOME
        visitor.open("#/puzzles")
        visitor.see(".page")

        visitor.open()
        assert links(page) == ["#/", "#/ambush/rules", "#/import"]
        expect(page.locator(".setup input")).not_to_have_value("")
        page.locator(".setup input").fill("K.G")
        visitor.button("Play").click()
        visitor.see(".bottom-card.turn")
        expect(page.locator(".table .cell")).to_have_count(9)
        expect(page.locator(".piece svg.ambush")).to_have_count(4)
        expect(page.locator(".piece.blue.hidden")).to_have_count(2)
        assert "your king" in page.locator(".cell[data-at=a1]").get_attribute("aria-label")
        page.locator(".cell[data-at=a1]").click()
        visitor.picture("family-game")
        page.locator(".cell[data-at=a2]").click()
        page.locator(".moves li:nth-child(2), dialog.end").first.wait_for()
        for _ in range(4):
            if page.locator("dialog.end").count():
                break
            before = page.locator(".moves li").count()
            page.locator(".cell.grip").first.click()
            page.locator(".cell.target, .cell.strike").first.click()
            page.locator(f".moves li:nth-child({before + 2}), dialog.end").first.wait_for()
        visitor.see("dialog.end .reason")
        visitor.picture("family-end")

        phone = visit(serving, **PHONE)
        phone.open().choose(variant="ambush")
        phone.fits()
        for each in (visitor, phone):
            each.page.goto("about:blank")
    assert serving.complaints() == ""


def test_a_family_whose_script_has_next_to_nothing_is_plain_in_all_else(visit, tmp_path, package):
    """Two friends play it to the end, look at earlier positions, note guesses and use every key."""
    script = 'import { BoardPlay } from "/static/js/boardplay.js";\nexport default { Play: BoardPlay };\n'
    (package / "ambush_page" / "ambush.js").write_text(script)
    with closing(Serving(tmp_path)) as serving:
        visitor = visit(serving)
        page = visitor.open().page
        visitor.choose(mode="hotseat", variant="ambush")
        assert links(page) == ["#/", "#/import"]
        expect(page.locator("h1")).to_have_text("Games of hidden information")
        visitor.button("Play").click()
        for side in ("Red", "Blue"):
            if side == "Blue":
                visitor.button("I am Blue").click()
            visitor.see("h1", has_text=f"Set up your army: {side.lower()}")
            expect(page.locator(".setup input")).not_to_have_value("")
            page.locator(".setup input").fill("K.G")
            visitor.button("Ready").click()
        visitor.button("I am Red").click()
        visitor.see(".bottom-card.turn")
        expect(page.locator(".piece.red text").first).to_have_text("K")
        for key in "lospbwcn?":
            page.keyboard.press(key)
            page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
        page.locator(".cell:has(+ *), .cell[data-at=a3]").first.click()
        page.keyboard.press("Escape")
        visitor.picture("family-bare")
        for side, move in (("Red", "a1a2"), ("Blue", "a3b3")):
            visitor.see(".bottom-card.turn, .top-card.turn")
            page.locator(f".cell[data-at={move[:2]}]").click()
            page.locator(f".cell[data-at={move[2:]}]").click()
            if side == "Red":
                page.locator(".moves li:nth-child(1) button").click()
                page.get_by_role("button", name="Hand over to Blue").click()
                visitor.button("I am Blue").click()
        page.locator(".moves li:nth-child(2)").wait_for()
        page.goto("about:blank")


@pytest.mark.parametrize("broken", ["export default {", "throw new Error('mine')", None])
def test_a_family_whose_script_is_broken_is_plain_and_the_others_are_as_they_were(visit, tmp_path, page_copy, broken):
    with closing(elsewhere(tmp_path, page_copy, "--game", "kuhn")) as serving:
        script = page_copy / "js" / "games" / "stratego.js"
        if broken is None:
            script.unlink()
        else:
            script.write_text(broken)
        visitor = visit(serving)
        visitor.forgive("stratego.js|404|mine")
        page = visitor.open().page
        visitor.see(".toast", has_text="The games of the family stratego are shown as text")
        assert links(page) == ["#/", "#/import"]
        expect(page.locator(".setup input")).not_to_have_value("")
        visitor.button("Play").click()
        visitor.see(".plain pre", has_text="red: flag")
        visitor.picture("family-broken")
        page.locator(".plain button").first.click()
        page.locator(".moves li:nth-child(2)").wait_for()
        visitor.open().choose(variant="kuhn")
        visitor.button("Play").click()
        visitor.see(".plain pre", has_text="card[")
        page.goto("about:blank")


def test_an_error_of_the_page_is_told_from_a_server_that_has_ended(visit, tmp_path, page_copy):
    (page_copy / "js" / "importing.js").write_text("export function show() { throw new Error('out of order'); }")
    (page_copy / "js" / "joining.js").write_text("export default {")
    with closing(elsewhere(tmp_path, page_copy)) as serving:
        visitor = visit(serving)
        visitor.forgive("out of order|Unexpected end|ERR_|fetch")
        page = visitor.open("#/import").page
        visitor.see("p", has_text="could not be shown: out of order")
        assert "running" not in page.locator("main").inner_text()
        visitor.picture("page-error")
        visitor.open("#/friend/x/red/y")
        visitor.see("h1", has_text="An error in the page")
        visitor.open()
        visitor.see(".home")
        serving.close()
        page.get_by_role("link", name="Rules").click()
        visitor.see("p", has_text="The server does not answer. Is it still running?")


TOY = """export default {
  language: "Zunge",
  "nav.play": "Spielo",
  headline: "Nichts",
  "list.running": "Weiter",
  "counter.plain": { of: "count", one: "{count} einzlo", two: "{count} doppelo", other: "{count} vielo" },
};
"""


@pytest.mark.parametrize(("locale", "lang", "word"), [("sl-SI", "sl", "Spielo"), ("fr-FR", "en", "Play")])
def test_a_language_is_one_file_and_the_browsers_own_is_taken(visit, tmp_path, page_copy, locale, lang, word):
    """Slovenian has a form of its own for two."""
    (page_copy / "js" / "strings" / "sl.js").write_text(TOY)
    with closing(elsewhere(tmp_path, page_copy)) as serving:
        visitor = visit(serving, locale=locale)
        page = visitor.open().page
        expect(page.locator("html")).to_have_attribute("lang", lang)
        expect(page.locator("#header nav a").first).to_have_text(word)
        # What a language leaves out is said in English.
        expect(page.locator("h1")).to_have_text("Two armies, face down")
        said = page.evaluate(
            "import('/static/js/strings.js').then(({ t, timeWords }) =>"
            " [...[1, 2, 102, 5].map((count) => t('counter.plain', { count })), timeWords(0)])"
        )
        forms = ["1 einzlo", "2 doppelo", "102 doppelo", "5 vielo"]
        assert said[:4] == forms if lang == "sl" else said[1] == "2 moves without a battle."
        assert said[4] == page.evaluate("lang => new Date(0).toLocaleString(lang)", lang)

        page.get_by_role("button", name="Settings").click()
        other = "en" if lang == "sl" else "sl"
        visitor.picture(f"language-{lang}")
        page.locator(f"input[name=language][value={other}]").evaluate("each => each.click()")
        expect(page.locator("html")).to_have_attribute("lang", other)
        visitor.open()
        expect(page.locator("#header nav a").first).to_have_text("Play" if other == "en" else "Spielo")
        page.goto("about:blank")


def test_with_one_language_there_is_nothing_to_choose(visit):
    visitor = visit()
    page = visitor.open().page
    page.get_by_role("button", name="Settings").click()
    visitor.see("dialog.settings")
    assert page.locator("input[name=language]").count() == 0


def test_an_agent_that_was_brought_along_is_played_beside_the_levels_and_in_a_plain_game(visit, tmp_path):
    program = f"bot:{sys.executable} {EXAMPLES}/ucc_bot.py"
    more = ("--game", "kuhn", "--opponent", "cfr+:iterations=20", "--opponent", program, "--bot-time", f"{PATIENCE:g}")
    with closing(Serving(tmp_path, more=more)) as serving:
        visitor = visit(serving)
        page = visitor.open().page
        names = page.locator("input[name=level]")
        assert "own:cfr+:iterations=20" not in [each.get_attribute("value") for each in names.all()]
        visitor.choose(variant="kuhn")
        values = [each.get_attribute("value") for each in names.all()]
        assert values == ["random", "own:cfr+:iterations=20"]
        page.locator("input[name=level]").nth(1).check(force=True)
        visitor.picture("opponent")
        visitor.button("Play").click()
        visitor.see(".top-card", has_text="cfr+:iterations=20")
        visitor.button("pass").click()
        page.locator(".moves li:nth-child(2), dialog.end").first.wait_for()

        # A program: moves cannot be taken back, which its choice says, and the option is not there.
        visitor.open()
        visitor.choose(variant="barrage")
        page.get_by_text("Side, clock, memory").click()
        takebacks = page.get_by_label("Moves may be taken back")
        expect(takebacks).to_be_visible()
        page.locator("input[name=level][value='own:ucc_bot.py']").check(force=True)
        expect(takebacks).to_be_hidden()
        visitor.see(".level-more, label", has_text="so moves cannot be taken back")
        visitor.picture("program", whole=True)
        visitor.button("Play").click()
        visitor.see(".top-card", has_text="ucc_bot.py")
        Player(visitor).turns(1)
        page.locator(".moves li:nth-child(2)").wait_for()
        assert page.get_by_role("button", name="Take back").count() == 0
        visitor.picture("program-game")
        page.goto("about:blank")
    assert "cfr+:iterations=20 is not offered in barrage, classic, " in serving.complaints()
