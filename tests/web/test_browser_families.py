"""Several families of games on the page, in a real browser: one of an installed package beside those at home here."""

from __future__ import annotations

import os
import re
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest
from browser import PHONE, Player, Serving, elsewhere
from patience import PATIENCE
from playwright.sync_api import expect

from vauban.search.geister.moments import SENTENCES as GHOST_SENTENCES
from vauban.search.review import Said
from vauban.search.stratego.moments import SENTENCES

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-families")

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
ENTRY_POINTS = "[vauban.games]\nambush = ambush:Ambush\n[vauban.shows]\nambush = ambush_show:SHOW\n"


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


def links(page) -> list[str]:
    """Return the links in the head of the page."""
    return [link.get_attribute("href") for link in page.locator("#header nav a").all()]


HOME = ["#/", "#/setups", "#/puzzles", "#/rules", "#/import", "#/analysis"]


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
        assert links(page) == ["#/", "#/ambush/rules", "#/import", "#/analysis"]
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
        assert links(page) == ["#/", "#/ambush/rules", "#/import", "#/analysis"]
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
        assert links(page) == ["#/", "#/import", "#/analysis"]
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
        assert links(page) == ["#/", "#/import", "#/analysis"]
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
    page.evaluate("import('/static/js/menu.js').then(({ openSettings }) => void openSettings(['en']))")
    visitor.see("dialog.settings")
    assert page.locator("input[name=language]").count() == 0


ENGLISH = re.compile(r"\b(the|and|your|you|with|not|this|of|are|been|which|that|their|cannot|moves?|piece|is)\b", re.I)
"""Words that stand in nearly every English sentence, and in no German one."""

SAID = """() => [document.body.innerText, ...[...document.querySelectorAll("[aria-label], [title], [placeholder]")]
    .flatMap((each) => [each.ariaLabel, each.title, each.placeholder])].filter(Boolean)"""
"""All that can be read on the page, or is read out."""


MINER, BOMB = {"side": "red", "type": "miner"}, {"side": "blue", "type": "bomb"}
FILLED = {
    "side": "red", "whose": "blue", "at": "e7", "from": "a4", "to": "a10", "piece": MINER, "share": 0.424,
    "chance": 0.002, "before": 0.5, "after": 1.0, "value": 0.0, "other": 0.25,
    "battle": {"battle": "took", "attacker": MINER, "defender": BOMB, "at": "e7"},
    "kind": {"type": "general", "only": True}, "taken": {"type": "bomb", "only": False},
    "ghost": {"side": "blue", "type": "evil", "letter": "c"},
}  # fmt: skip
"""Subjects of the sentences about moments, of either family."""


def test_whoever_speaks_german_meets_no_english_sentence(visit):
    visitor = visit(locale="de-AT")
    visitor.forgive("/api/import: 400|status of 400")
    page, keys = visitor.page, visitor.page.keyboard

    def german(where: str) -> None:
        for text in page.evaluate(SAID):
            for line in text.splitlines():
                assert not ENGLISH.search(line), f"{where}: {line}"

    visitor.open()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    visitor.see(".setup .piece")
    german("start page")
    for name, value in (("mode", "friend"), ("mode", "watch"), ("variant", "geister"), ("mode", "hotseat")):
        visitor.choose(**{name: value})
        german(f"start page, {value}")
    visitor.choose(mode="level")
    visitor.see("#header nav", has_text="Regeln")
    for name in ("Einstellungen", "Hilfe und Tasten"):
        page.get_by_role("button", name=name).click()
        visitor.see("dialog")
        german(name)
        keys.press("Escape")
    for screen in ("setups", "rules", "geister/rules", "geister/learn", "learn", "puzzles"):
        visitor.open(f"#/{screen}")
        visitor.see(".board, .diagram")
        german(screen)

    # A game: refusals, single letters, a note, a fight, an offer that a machine declines, the end.
    visitor.open()
    visitor.choose(variant="duel", level="recruit")
    page.get_by_text("Gespeicherte Aufstellungen, Text").click()
    field = page.locator(".setup input.code")
    field.fill("FBO/X")
    visitor.button("Diesen Text übernehmen").click()
    visitor.see(".setup .error", has_text="Da sind 2 Reihen, und dieses Spiel hat 3.")
    field.fill("FBO..NS./BGO.M..N/........")
    visitor.button("Diesen Text übernehmen").click()
    expect(page.locator("#live")).to_have_text("Die Aufstellung wurde aus dem Text übernommen.")
    visitor.button("Spielen").click()
    visitor.see(".bottom-card.turn", has_text="Du")
    expect(page.locator(".top-card strong")).to_have_text("Rekrut")
    expect(page.locator(".cell[data-at=b1]")).to_have_attribute("aria-label", "b1, deine Bombe")
    expect(page.locator(".cell[data-at=c1]")).to_have_attribute("aria-label", "c1, dein Aufklärer (2)")
    page.locator(".cell[data-at=b1]").click()
    visitor.see(".reason-box", has_text="Eine Bombe zieht nie.")
    page.locator(".cell[data-at=e2]").click()
    page.locator(".cell[data-at=e4]").click()
    visitor.see(".reason-box", has_text="Ein Marschall zieht ein Feld weit. Möglich: ")
    for letter in "lospbw":
        keys.press(letter)
    german("refusals and letters")
    expect(page.locator("#live")).to_contain_text("2 Aufklärer, 1 Spion, 2 Bomben, 1 Fahne")
    keys.type("e2e3")
    expect(page.locator(".moves li")).to_have_count(2)
    expect(page.locator("#live")).to_contain_text("Der Gegner")
    german("a move")
    visitor.button("Remis anbieten").click()
    german("a question")
    page.locator("dialog").get_by_role("button", name="Remis anbieten").click()
    visitor.see(".toast", has_text="Rekrut")
    german("an answer")
    visitor.button("Aufgeben").click()
    page.locator("dialog").get_by_role("button", name="Aufgeben").click()
    visitor.see("dialog.end", has_text="Du hast aufgegeben.")
    german("the end")
    page.locator("dialog.end").get_by_role("button", name="Rückblick").click()
    visitor.see(".graph-place", has_text="Für dieses Spiel gibt es kein Netz")
    page.locator(".moves button").first.click()
    german("looking back")
    visitor.button("Ab hier weiterspielen").click()
    german("playing on")
    keys.press("Escape")

    visitor.open("#/import")
    today = page.evaluate("new Date().toLocaleDateString('de', { dateStyle: 'medium' })")
    visitor.see(".games li", has_text=f"verloren · {today}")
    page.get_by_label("Oder füge es hier ein").fill(" ")
    visitor.button("Öffnen").click()
    visitor.see(".error", has_text="Das lässt sich nicht lesen. Darin ist kein Spiel.")
    german("a refused import")

    # All that may be said of moments, and numbers as Germans write them.
    told = page.evaluate(
        """async ([said, ghosts]) => {
            const { momentWords } = await import("/static/js/words.js");
            const { show } = await import("/static/js/family.js");
            const { decimals, t } = await import("/static/js/strings.js");
            const each = (list) => list.map((one) => momentWords({ said: [one] }));
            show("stratego");
            const first = each(said);
            show("geister");
            return [...first, ...each(ghosts), decimals(1.25, 2), t("level.seconds", { sentence: "", seconds: 0.4 })];
        }""",
        [[Said(key, FILLED).to_json() for key in SENTENCES], [Said(key, FILLED).to_json() for key in GHOST_SENTENCES]],
    )
    for text in told:
        assert not ENGLISH.search(text) and "{" not in text, text
    assert told[-2:] == ["1,25", " Etwa 0,4 s pro Zug."]
    assert "Rots Mineur zog von a4 nach a10." in told


def test_an_agent_that_was_brought_along_is_played_beside_the_levels_and_in_a_plain_game(visit, tmp_path):
    program = f"bot:{sys.executable} {EXAMPLES}/ucc_bot.py"
    more = ("--game", "kuhn", "--opponent", "cfr+:iterations=20", "--opponent", program, "--bot-time", f"{PATIENCE:g}")
    with closing(Serving(tmp_path, more=more)) as serving:
        visitor = visit(serving)
        page = visitor.open().page
        names = page.locator("input[name=level]")
        # Whoever names an opponent wants to play it: it is proposed, in a game that it plays.
        expect(page.locator("input[name=variant]:checked")).to_have_value("kuhn")
        assert [each.get_attribute("value") for each in names.all()] == ["random", "own:cfr+:iterations=20"]
        expect(page.locator("input[name=level]:checked")).to_have_value("own:cfr+:iterations=20")
        visitor.picture("opponent")
        visitor.choose(variant="barrage")
        expect(page.locator("input[name=level]:checked")).to_have_value("prober")
        assert "own:cfr+:iterations=20" not in [each.get_attribute("value") for each in names.all()]
        # What is chosen afterwards stays, also if it is another opponent.
        visitor.choose(level="fox")
        visitor.open()
        expect(page.locator("input[name=level]:checked")).to_have_value("fox")
        visitor.choose(variant="kuhn")
        page.locator("input[name=level]").nth(1).check(force=True)
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
