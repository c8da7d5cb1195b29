"""Words are the page's: the server sends codes, and strings/en.js a text for each that an ordinary player may meet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web_server import RED, Server

from vauban.board.stratego import FAULTS
from vauban.board.stratego.words import ENDS, ENDS_SEEN, ODD
from vauban.games.geister import game as geister
from vauban.games.stratego.switches import WHY
from vauban.models import is_shipped
from vauban.search.geister.moments import SENTENCES as GHOST_SENTENCES
from vauban.search.stratego.moments import BATTLES, SENTENCES
from vauban.web import sight
from vauban.web.files import PAGE
from vauban.web.geister import sight as ghosts
from vauban.web.geister.show import QUIET as QUIET_GHOSTS
from vauban.web.levels import has_learned, levels
from vauban.web.show import offered
from vauban.web.stratego import sight as positions
from vauban.web.stratego.show import QUIET
from vauban.web.table import PACES
from vauban.web.thinking import REASONS

STRINGS = (PAGE / "js" / "strings" / "en.js").read_text()
GHOSTS = (PAGE / "js" / "games" / "geister" / "words.js").read_text()
KNOWN = set(re.findall(r'^  "?([\w.-]+)"?:', STRINGS + GHOSTS, re.MULTILINE))
SOURCE = "".join(file.read_text() for file in Path(PAGE).parent.rglob("*.py"))
REFUSED = set(re.findall(r'TableError\((?:[^()]|\([^()]*\))*?"([a-z_]+(?:\.[a-z_]+)*)"(?:, \w+=\w+)?\)', SOURCE))
"""Keys that are given to errors beside their codes: each is something that a player can meet."""


def test_there_is_a_text_for_all_that_the_server_may_say():
    wanted = {f"variant.{name}" for name in offered()} | {f"pace.{pace}" for pace in PACES}
    wanted |= {key for level in levels() for key in (f"level.{level.key}", f"level.{level.key}.temper")}
    wanted |= {f"answer.draw.{why}" for reasons in REASONS.values() for why in reasons} | {"answer.draw.unable"}
    wanted |= {f"setup.odd.{code}" for code in ODD}
    wanted |= {f"said.{key}" for key in SENTENCES | GHOST_SENTENCES} | {f"fought.{how}" for how in BATTLES}
    wanted |= {"end.stopped" if end == "unfinished" else f"end.{end}" for end in ENDS_SEEN}
    wanted |= {f"end.{end}.{how}" for end, (won, _, _) in ENDS.items() if won for how in ("won", "lost")}
    wanted |= {f"end.{end}" for end in geister.ENDS[1:]}
    wanted |= {f"end.{end}.{how}" for end in geister.ENDS[1:-1] for how in ("won", "lost")}
    wall = "".join(Path(each.__file__).read_text() for each in (sight, positions, ghosts))
    codes = set(re.findall(r'"code": "(\w+)"', wall)) | set(FAULTS)
    assert {"nothing", "enemy", "way"} <= codes
    wanted |= {f"why.{code}" for code in codes | {"two_square", "chase"}}
    assert {"offer.soon", "setup.stuck", "take_back.none", "games", "ply.over"} <= REFUSED
    wanted |= {f"error.{key}" for key in REFUSED if "." in key}
    wanted |= {f"error.{code}" for code in ("turn", "over", "offer", "take_back", "invitation", "game", "busy", "slow")}
    assert wanted <= KNOWN, wanted - KNOWN


def test_no_text_is_left_that_nobody_says():
    """Every key of strings/en.js is asked for somewhere, as it stands or with its end filled in."""
    texts = {*(PAGE / "js" / "strings").glob("*.js"), *(PAGE / "js" / "games").rglob("words*.js")}
    scripts = "".join(file.read_text() for file in (PAGE / "js").rglob("*.js") if file not in texts)
    said = set(re.findall(r'"([\w.-]+)"', scripts))
    begun = set(re.findall(r"`([\w.]+\.)\$\{", scripts))
    unsaid = {key for key in KNOWN if key not in said and not any(key.startswith(begin) for begin in begun)}
    assert unsaid == set()


def text(key: str, strings: str = STRINGS) -> str:
    """Return what strings/en.js has behind a key, or a family in its place."""
    [found] = re.findall(rf'^  "?{re.escape(key)}"?:\s+"(.*)",$', strings, re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("variant", ["barrage", "classic", "medium", "fives", "geister"])
def test_looking_back_names_the_levels_that_play_by_the_network_that_is_shown(variant):
    if not is_shipped(variant):
        pytest.skip(f"no model of {variant} is shipped yet")
    learned = {level.name: level.agent(variant) for level in levels() if level.plays(variant)}
    learned = {name: agent for name, agent in learned.items() if has_learned(agent)}
    assert len({re.split("[:,]", agent)[1] for agent in learned.values()}) == 1, "they play by one network"
    told = [text("review.model", GHOSTS)] if variant == "geister" else map(text, ("review.model", "rules.fair.text"))
    for each in told:
        assert f"{' and '.join(learned)} play by" in each


def test_whoever_offers_a_draw_is_told_how_long_the_machine_waits_for_a_battle():
    assert QUIET == QUIET_GHOSTS
    assert f"after {QUIET} moves without a battle" in text("draw.sure.machine")
    assert f"after {QUIET} moves without a capture" in text("draw.sure.machine", GHOSTS)


@pytest.fixture(scope="module")
def server():
    found = Server()
    yield found
    found.close()


SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:]? [a-zA-Z]{2,}")


def sentences(told: Any, where: str = "") -> Iterator[str]:
    """All texts in what was sent that a person would read.

    But for the reason of a rule that bars a move, which a page uses that has no words for the rule.
    """
    if isinstance(told, dict):
        for key, value in told.items():
            if not (key == "reason" and told["rule"] in WHY):
                yield from sentences(value, f"{where}.{key}")
    elif isinstance(told, list):
        for each in told:
            yield from sentences(each, where)
    elif isinstance(told, str) and SENTENCE.search(told):
        yield f"{where}: {told}"


def test_no_sentence_is_sent_in_a_game_from_the_offer_to_the_end(server):
    _, offer, _ = server.ask("GET", "/api/offer")
    assert list(sentences(offer)) == []
    odd = "........SO/B......G.O/....N..M../F........."
    assert list(sentences(server.post("/api/setups/check", variant="barrage", setup=odd))) == []
    heard: list[str] = []
    red, blue = server.friends()
    with red, blue:
        red.do("explain", move="a1a2")
        assert red.wait_for("why")["code"] == "never"
        # Back and forth, until the two-square rule bars it.
        for ply, move in enumerate(("h3h4", "d8d7", "h4h3", "d7d8", "h3h4", "d8d7"), 1):
            (red if ply % 2 else blue).move(move)
            red.until(lambda sight, ply=ply: sight["ply"] == ply)
        assert red.sight["barred"]
        red.do("offer_draw")
        blue.until(lambda sight: sight["offer"] is not None)
        blue.do("answer_draw", accept=False)
        red.until(lambda sight: sight["note"] is not None)
        red.do("resign")
        red.until(lambda sight: sight["over"] is not None)
        heard += red.heard
    made = server.level("cadet", "red", setup=RED)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        seat.do("offer_draw")  # a machine has its reasons
        seat.until(lambda sight: sight["note"] is not None)
        heard += seat.heard
    assert [each for text in heard for each in sentences(json.loads(text))] == []
