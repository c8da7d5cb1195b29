"""Figures of games about setups: they are in order, and the page reads them as they were counted."""

from __future__ import annotations

import json
import random
import re
import sys
from typing import Any

import pytest
from browser import PHONE, violations
from conftest import HERE
from playwright.sync_api import expect

from vauban.agents.setups import make_sampler, usual_setups
from vauban.games.base import game as find_game
from vauban.web.files import PAGE, explored
from vauban.web.show import offered

sys.path.insert(0, str(HERE.parent / "scripts"))
import explore_setups as explore

pytest_plugins = ["browser_fixtures"]
pytestmark = pytest.mark.xdist_group("browser-puzzles")

FILES = sorted((PAGE / "explorer").glob("*.json"))
TOLD: dict[str, dict[str, Any]] = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FILES}
WORDS = (PAGE / "js/strings/en.js").read_text() + (PAGE / "js/games/geister/words.js").read_text()


# ── Figures ──────────────────────────────────────────────────────────────────────────────────────


def test_the_figures_are_found_and_they_are_small():
    assert set(explore.PLANS) >= set(TOLD) == {name for name in offered() if explored(name)}
    assert sum(file.stat().st_size for file in FILES) < 100_000


@pytest.mark.parametrize("name", TOLD)
def test_figures_are_in_order(name):
    told = TOLD[name]
    figures = [each["played"] for part in ("places", "patterns") for each in told[part] if "played" in each]
    for count, share, low, high in [told["all"], *figures]:
        assert count >= explore.LEAST
        assert 0 <= low <= share <= high <= 1
    if told["sampler"] == "human":
        assert told["all"][:2] == [2 * told["games"], 0.5]  # both sides count, and share the points
    else:
        assert told["all"][0] == told["games"]
    if told["kind"] == "flag":
        assert sum(each["played"][0] for each in told["places"] if "played" in each) <= told["all"][0]
        across = {each["edge"]: 1 if 2 * each["edge"] + 1 == told["columns"] else 2 for each in told["places"]}
        assert sum(across[each["edge"]] * each["share"] for each in told["places"]) == pytest.approx(1, abs=0.002)
    game = find_game(name)
    for each in told["examples"]:
        game.setups.parse(each["setup"])
    for each in told["patterns"]:
        assert f'"pattern.{each["key"]}"' in WORDS


def test_points_are_counted_for_those_whose_setups_are_tried():
    record = '[Game "stratego"]\n[Variant "fives"]\n[{one} "net:fives,setups=uniform"]\n[{other} "net:fives"]\n'
    record += '[RedSetup "TJPFL"]\n[BlueSetup "FJLPT"]\n[Result "{result}"]\n\n*\n\n'
    text = record.format(one="Red", other="Blue", result="0-1") + record.format(one="Blue", other="Red", result="0-1")
    text = text.replace("\n*\n", "\n0-1\n") + record.format(one="Red", other="Blue", result="1/2-1/2").replace(
        "\n*\n", "\n1/2-1/2\n"
    )
    assert explore.tried("fives", [text]) == (3, [("TJPFL", 0.0), ("FJLPT", 1.0), ("TJPFL", 0.5)])
    assert explore.figure([1.0, 0.0, 0.5, 0.5]) == [4, 0.5, 0.15, 0.85]


BARRAGE = "FB.S....../.G.O....../......N.M./O........."
PATTERNS = [
    ("FB.S....../.G.O....../......N.M./O.........", "flag.corner bombs.one marshal.third marshal.other scouts.front"),
    ("...S....../.....O..../.B.......F/GMON......", "flag.forward bombs.none marshal.front miners.front strong.apart"),
]


@pytest.mark.parametrize(("setup", "wanted"), PATTERNS)
def test_a_pattern_means_what_its_name_says(setup, wanted):
    game = find_game("barrage")
    laid = explore.places(game, game.setups.parse(setup))
    found = {key for key, when in explore.patterns(game).items() if explore.holds(when, laid, 10)}
    # General and Marshal stand on the same side in the second one.
    assert (set(wanted.split()) - {"strong.apart"}) <= found
    assert "strong.apart" not in found and "bombs.decoy" not in found
    assert ("bombs.one" in found) is not ("bombs.none" in found)


def test_a_flag_is_walled_in_when_nothing_but_bombs_and_the_edge_is_beside_it():
    game = find_game("classic")
    walled = "FBBOOOOOOO/BSOTTTTLLL/LPPPPJJJCC/GMNNNNNBBB"
    for setup, holds in ((walled, True), (walled.replace("FBB", "FOB").replace("BSO", "BSB"), False)):
        laid = explore.places(game, game.setups.parse(setup))
        assert explore.holds(explore.ARMIES["bombs.walled"], laid, 10) is holds


# ── On the page ──────────────────────────────────────────────────────────────────────────────────

HOLDS = """async ([told, setups]) => {
    const { holds } = await import("/static/js/explorer.js");
    const found = (places) => told.patterns.filter(({ when }) => holds(when, places, told.columns));
    return setups.map((places) => found(places).map(({ key }) => key));
}"""
"""Return which patterns the page finds in setups."""


def drawn(name: str, number: int) -> list[list[explore.Place]]:
    game, rng = find_game(name), random.Random(3)
    sampler = make_sampler(usual_setups(game) or "uniform", game)
    return [explore.places(game, sampler(rng)) for _ in range(number)]


def test_the_page_finds_the_patterns_that_were_counted_and_an_example_goes_into_the_editor(visit, axe):
    visitor = visit(reduced_motion="reduce")
    page = visitor.open("#/setups/fives").page
    visitor.see(".explorer .examples .piece")
    for name, told in TOLD.items():
        setups = drawn(name, 40)
        found = page.evaluate(HOLDS, [told, [[list(place) for place in each] for each in setups]])
        wanted = [
            [each["key"] for each in told["patterns"] if explore.holds(each["when"], setup, told["columns"])]
            for setup in setups
        ]
        assert found == wanted, name
        assert any(wanted)
    told = TOLD["fives"]
    number = told["all"][0]
    expect(page.locator(".explorer > p").first).to_contain_text(f"{number:,} games")
    assert page.locator(".place-map td").count() == told["rows"] * told["columns"]
    assert page.locator(".patterns tbody tr").count() == len(told["patterns"])
    # An example is taken over by one press, and the advice is about it.
    page.locator(".examples figure").nth(1).get_by_role("button", name="Into the editor").click()
    setup = told["examples"][1]["setup"]
    expect(page.locator(".setup input.code")).to_have_value(setup)
    game = find_game("fives")
    laid = explore.places(game, game.setups.parse(setup))
    words = [
        re.search(rf'"pattern\.{re.escape(each["key"])}": "(.*)"', WORDS)[1]
        for each in told["patterns"]
        if explore.holds(each["when"], laid, 5)
    ]
    expect(page.locator(".advice li .name").filter(has_text=re.compile("^(?!The flag on)"))).to_have_count(len(words))
    for each in words:
        expect(page.locator(".advice li .name", has_text=re.compile(f"^{re.escape(each)}$"))).to_have_count(1)
    assert violations(page, axe) == []
    visitor.picture("explorer", whole=True)
    # A game whose setups were not counted says so, and leads to those that were.
    visitor.choose(variant="duel")
    visitor.see(".explorer .quiet", has_text="No games of Duel")
    expect(page.locator(".advice")).to_be_hidden()
    page.locator(".explorer a", has_text="Fives").click()
    visitor.see(".explorer .examples .piece")
    expect(page.locator("input[name=variant][value=fives]")).to_be_checked()


def test_ghosts_are_advised_too_and_on_a_phone_it_all_fits(visit):
    visitor = visit(**PHONE)
    page = visitor.open("#/geister/setups").page
    visitor.see(".explorer .patterns")
    visitor.see(".advice li")
    visitor.fits()
    visitor.picture("explorer-phone", whole=True)
    page.locator(".setup .cell[data-at=b1]").tap()
    visitor.see(".advice p", has_text="As soon as the setup is complete")
