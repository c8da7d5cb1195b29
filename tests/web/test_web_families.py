"""Families of games on the server: their order, their scripts, and the agents that were brought along."""

from __future__ import annotations

import sys

import pytest
from web_server import Server

from vauban.errors import ConfigurationError
from vauban.web import show as module
from vauban.web.host import Host
from vauban.web.levels import learned_agents, levels, own_levels, read_levels, with_anybody
from vauban.web.plain import PlainShow
from vauban.web.shelf import Shelf
from vauban.web.show import check_scripts, offered, shows


class Other(PlainShow):
    """A family that comes before Stratego by its name."""

    family = "another"


@pytest.fixture
def entry_point(monkeypatch):
    """Have an installed package offer a show."""

    def offer(what) -> None:
        monkeypatch.setattr(module.door, "entry_points", lambda group: {"theirs": lambda: what})
        shows.cache_clear()

    yield offer
    monkeypatch.undo()
    shows.cache_clear()


def test_the_order_of_families_is_a_number_of_theirs_and_stratego_is_first(entry_point):
    entry_point(Other())
    assert [show.family for show in shows()] == ["stratego", "geister", "another"] and offered()[0] == "barrage"


def test_a_show_without_its_script_is_refused_at_the_start(entry_point, tmp_path):
    other = Other()
    other.files = tmp_path
    entry_point(other)
    with pytest.raises(ConfigurationError, match=r"'another' cannot be drawn: there is no script .*another\.js"):
        Host(Shelf(":memory:"), levels())
    (tmp_path / "another.js").write_text("export default {};")
    check_scripts()


@pytest.mark.parametrize(
    ("what", "complaint"), [(PlainShow, "should name a Show"), (PlainShow(), "more than one show")]
)
def test_what_is_no_show_of_a_family_of_its_own_is_refused(entry_point, what, complaint):
    entry_point(what)
    with pytest.raises(ConfigurationError, match=complaint):
        shows()


def test_families_their_screens_and_languages_are_offered_and_their_files_served(entry_point, tmp_path):
    other = Other()
    other.files, other.screens = tmp_path, ("rules",)
    (tmp_path / "another.js").write_text("export default {};")
    entry_point(other)
    server = Server()
    try:
        offer = server.ask("GET", "/api/offer")[1]
        first, _, second, plain = offer["families"]
        assert first == {
            "name": "stratego", "script": "/static/js/games/stratego.js", "screens": ["setups", "puzzles", "rules"],
        }  # fmt: skip
        assert second == {"name": "another", "script": "/static/games/another/another.js", "screens": ["rules"]}
        assert plain["name"] == "plain" and offer["languages"] == ["de", "en"]
        for each in offer["families"]:
            status, _, headers = server.ask("GET", each["script"])
            assert status == 200 and headers["content-type"].startswith("text/javascript")
        assert server.ask("GET", "/static/games/another/../../show.py")[0] == 404
    finally:
        server.close()


def test_an_agent_is_offered_in_the_games_that_it_can_play_and_it_is_said_why_not_in_others():
    said: list[str] = []
    [own] = own_levels(["cfr+:iterations=20"], ("barrage", "classic", "kuhn"), said.append)
    assert (own.key, own.name, own.own) == ("own:cfr+:iterations=20", "cfr+:iterations=20", True)
    assert own.plays("kuhn") and not own.plays("barrage")
    [reason] = said
    assert reason.startswith("cfr+:iterations=20 is not offered in barrage, classic: "), "a sentence for a family"


def test_an_agent_that_says_itself_what_it_plays_is_not_asked_for_a_move(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from vauban.errors import ConfigurationError\n"
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def __init__(self, seed=0): pass\n"
        "    def choose(self, views, seeds): raise RuntimeError('asked')\n"
        "    def check_plays(self, game):\n"
        "        if game.name != 'duel': raise ConfigurationError(f'not {game.name}')\n"
    )
    said: list[str] = []
    [own] = own_levels([f"py:{tmp_path}/mine.py:Mine"], ("barrage", "duel"), said.append)
    assert own.plays("duel") and not own.plays("barrage") and "is not offered in barrage: not barrage" in said[0]


@pytest.mark.parametrize("agent", ["nobody", "py:nowhere.py:Mine", "cfr+:iterations=20"])
def test_an_agent_that_plays_nothing_here_is_refused(agent):
    with pytest.raises(ConfigurationError, match="plays none of the games that are offered here"):
        own_levels([agent], ("barrage",), lambda text: None)


def test_without_what_runs_networks_the_levels_that_play_by_one_are_left_out(monkeypatch):
    for show in shows():
        if show.levels is not None:
            named = read_levels(show.levels, show.offered)
            with monkeypatch.context() as patch:
                patch.setitem(sys.modules, "torch", None)
                left = read_levels.__wrapped__(show.levels, show.offered)
            assert left and {level.key for level in left} <= {level.key for level in named}
            assert not any(learned_agents(variant, left) for variant in show.offered)


def test_games_without_levels_keep_an_opponent_whatever_was_brought_along():
    own = own_levels(["random"], ("barrage", "kuhn"), lambda text: None)
    among = with_anybody((*levels(), *own), ("barrage", "kuhn"))
    assert [level.name for level in among if level.plays("kuhn")] == ["Random", "random"]
    usual = [level.key for level in levels() if level.plays("barrage")]
    assert [level.key for level in among if level.plays("barrage")] == [*usual, "own:random"]


def test_the_network_that_looks_back_is_that_of_a_level_and_not_one_that_was_brought_along():
    usual = learned_agents("barrage", levels())
    own = module_level("net:other")
    assert learned_agents("barrage", (*levels(), own)) == ["net:other", *usual]


def module_level(agent: str):
    from vauban.web.levels import DEFAULT, Level

    return Level(f"own:{agent}", agent, {DEFAULT: agent}, 0.1, own=True)
