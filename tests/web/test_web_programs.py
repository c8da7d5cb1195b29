"""Programs of others as opponents on the page: started with their game, and gone with it; faults end in a sentence."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from web_server import WALLED, Seat, Server, wait_until

from vauban.errors import ConfigurationError
from vauban.web import host as host_module
from vauban.web import programs as module
from vauban.web.host import Settings
from vauban.web.levels import Level, levels, own_levels

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="processes are looked for in /proc")

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "tests" / "bots"
UCC = f"bot:{sys.executable} {ROOT}/examples/ucc_bot.py"
GEISTER = f"geister:{sys.executable} {ROOT}/examples/geister_bot.py {{host}} {{port}}"

FICKLE = """
import sys
sys.path.insert(0, {bots!r})
from pathlib import Path
import good
starts = Path({file!r})
starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
good.SETUP = good.SETUP if len(starts.read_text()) == 1 else tuple(row[::-1] for row in good.SETUP)
good.set_up(good.SETUP)
good.play()
"""


def bot(name: str) -> str:
    return f"bot:{sys.executable} {BOTS}/{name}.py"


@contextmanager
def serving(
    *agents: str, shelf: Path | str = ":memory:", games: tuple[str, ...] = ("classic",), **options: Any
) -> Iterator[Server]:
    """Return a server with these agents as opponents."""
    own = own_levels(agents, games, lambda text: None)
    settings = Settings(delay=0.0, watch_delay=0.0, warm_up=False, bot_time=PATIENCE, **options)
    server = Server(shelf, settings, among=(*levels(), *own))
    try:
        yield server
    finally:
        server.close()


def begin(server: Server, agent: str, variant: str = "classic", side: str = "red", **wishes: Any) -> dict[str, Any]:
    [key] = [level.key for level in server.host.levels if level.agents.get("default") == agent]
    kind = "random" if variant == "geister" else "human"
    setup = server.post("/api/setups", variant=variant, kind=kind)["setup"]
    return server.post(
        "/api/games", variant=variant, against={"kind": "level", "level": key}, side=side, setup=setup, **wishes
    )


def sit(server: Server, made: dict[str, Any]) -> Seat:
    [(side, secret)] = made["seats"].items()
    return server.sit(made["game"], side, secret)


def play(seat: Seat, moves: int, rng: random.Random) -> None:
    """Make so many moves, and await the answer to each."""
    for _ in range(moves):
        if seat.my_turn()["over"] is None:
            ply = seat.sight["ply"]
            seat.do("move", move=rng.choice(sorted(seat.sight["legal"])))
            seat.until(lambda sight, ply=ply: sight["over"] is not None or sight["ply"] > ply)
    seat.my_turn()


def processes(server: Server) -> list[int]:
    """Return the processes of the seats of programs, with all that they have started."""
    found = [pid for seat in server.host.programs._seats.values() for pid in seat.pool.pids]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_program_plays_and_is_gone_with_its_game_and_its_command_is_told_to_nobody():
    with serving(f"{UCC} --password=open-sesame") as server:
        [told] = [level for level in server.ask("GET", "/api/offer")[1]["levels"] if level["own"]]
        assert (told["key"], told["name"], told["program"]) == ("own:ucc_bot.py", "ucc_bot.py", True)
        made = begin(server, f"{UCC} --password=open-sesame", takebacks=True)
        with sit(server, made) as seat:
            play(seat, 3, random.Random(1))
            assert seat.sight["ply"] == 6 and seat.sight["over"] is None
            assert seat.refused("take_back")["text"] == "Moves cannot be taken back in this game."
            seat.do("offer_draw")
            assert seat.until(lambda sight: sight["note"])["note"]["accept"] is False
            assert server.ask("GET", "/api/health")[1]["programs"] == 1
            there = processes(server)
            assert len(there) >= 3, "a process of ours, a guard and the program"
            seat.do("resign")
            over = seat.until(lambda sight: sight["over"] is not None)["over"]
            assert over["winner"] == "blue"
            wait_until(lambda: all(map(is_gone, there)))
            heard = "".join(seat.heard)
        _, record, _ = server.ask("GET", f"/api/games/{made['game']}/record", secret=made["seats"]["red"])
        assert b'[Blue "ucc_bot.py"]' in record
        everything = heard + record.decode() + json.dumps(server.ask("GET", "/api/offer")[1])
        assert "open-sesame" not in everything and str(ROOT) not in everything
        status, refused, _ = server.ask(
            "POST", f"/api/games/{made['game']}/play-on",
            {"secret": made["seats"]["red"], "ply": 2, "side": "red", "pieces": "true", "level": "own:ucc_bot.py"},
        )  # fmt: skip
        assert status == 400 and refused["error"]["key"] == "level.program"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("crashes", "It has ended, or closed its output, in the middle of the game."),
        ("illegal", "is not legal"),
    ],
)
def test_a_program_that_fails_loses_and_it_is_said_how_without_its_words_on_standard_error(name, sentence, caplog):
    with serving(bot(name)) as server, sit(server, begin(server, bot(name))) as seat:
        play(seat, 8, random.Random(1))
        over = seat.sight["over"]
        assert (over["winner"], over["end"]) == ("red", "illegal")
        assert sentence in over["detail"] and "Traceback" not in over["detail"] and str(BOTS) not in over["detail"]
        assert not server.host.programs.running
    if name == "crashes":
        assert "KeyError" in caplog.text, "its last words are for the host"


def test_a_program_that_cannot_set_up_begins_no_game():
    with serving(bot("crashes_at_setup")) as server:
        with pytest.raises(AssertionError, match="The game was not begun"):
            begin(server, bot("crashes_at_setup"))
        assert not server.host.programs.running


def test_a_game_with_a_program_goes_on_after_the_server_was_started_anew(tmp_path):
    shelf, rng = tmp_path / "games.sqlite", random.Random(2)
    with serving(UCC, shelf=shelf) as server:
        made = begin(server, UCC, side="blue")
        with sit(server, made) as seat:
            play(seat, 3, rng)
            before = seat.sight["ply"]
    with serving(UCC, shelf=shelf) as server, sit(server, made) as seat:
        assert len(seat.moves) == before
        play(seat, 2, rng)
        assert seat.sight["ply"] == before + 4 and seat.sight["over"] is None
        # The process that watches over the program is ended by the system: it is started anew once more.
        [pid] = [pid for each in server.host.programs._seats.values() for pid in each.pool.pids]
        os.kill(pid, signal.SIGKILL)
        play(seat, 1, rng)
        assert seat.sight["ply"] == before + 6 and seat.sight["over"] is None
    with serving(bot("good"), shelf=shelf) as server, sit(server, made) as seat:
        seat.do("move", move=min(seat.my_turn()["legal"]))
        over = seat.until(lambda sight: sight["over"] is not None)["over"]
        assert (over["winner"], over["end"]) == (None, "unfinished"), "the host does not name it any more"
        assert over["detail"] == "Ucc_bot.py is not offered here any more."


def test_a_program_that_plays_otherwise_when_it_is_started_anew_ends_the_game_without_a_result(tmp_path):
    file = tmp_path / "fickle.py"
    file.write_text(FICKLE.format(bots=str(BOTS), file=str(tmp_path / "starts")))
    agent, shelf = f"bot:{sys.executable} {file}", tmp_path / "games.sqlite"
    with serving(agent, shelf=shelf) as server:
        made = begin(server, agent)
        with sit(server, made) as seat:
            play(seat, 1, random.Random(1))
    with serving(agent, shelf=shelf) as server, sit(server, made) as seat:
        seat.do("move", move=min(seat.my_turn()["legal"]))
        over = seat.until(lambda sight: sight["over"] is not None)["over"]
        assert (over["winner"], over["end"]) == (None, "unfinished")
        assert "was started anew, and set up otherwise than before" in over["detail"]


def test_programs_play_armies_that_their_protocol_has_no_words_for_and_geister():
    with serving(UCC, GEISTER, games=("barrage", "geister")) as server:
        with sit(server, begin(server, UCC, "barrage")) as seat:
            play(seat, 2, random.Random(1))
            assert seat.sight["ply"] == 4 and seat.sight["over"] is None
        with sit(server, begin(server, GEISTER, "geister", "blue")) as seat:
            play(seat, 3, random.Random(1))
            assert seat.sight["ply"] == 7 and seat.sight["over"] is None


def test_two_machines_of_which_one_is_a_program_are_watched():
    with serving(UCC) as server:
        against = {"kind": "watch", "red": "recruit", "blue": "own:ucc_bot.py"}
        made = server.post("/api/games", variant="classic", against=against)
        with server.sit(made["game"], "watch", made["seats"]["watch"]) as watcher:
            watcher.until(lambda sight: sight["ply"] >= 6)
            watcher.do("pause", paused=True)
            ply = watcher.until(lambda sight: sight["watching"]["paused"])["ply"]
            for step in (1, 2):
                watcher.do("step")
                watcher.until(lambda sight, step=step: sight["ply"] == ply + step)
            watcher.do("stop")
            watcher.until(lambda sight: sight["over"] is not None)
        wait_until(lambda: not server.host.programs.running)
        # The other one cannot set up: no game is begun, and the program is not left behind.
        server.host.quick._most = 0
        with pytest.raises(AssertionError, match="try again in a moment"):
            server.post(
                "/api/games", variant="classic", against={**against, "red": "own:ucc_bot.py", "blue": "recruit"}
            )
        assert not server.host.programs.running


def test_there_is_room_for_so_many_programs_and_those_that_were_left_make_room(monkeypatch):
    with serving(UCC) as server:
        server.host.programs._most = 1
        with sit(server, begin(server, UCC)) as seat:
            play(seat, 1, random.Random(1))
            with pytest.raises(AssertionError, match="As many programs play here as there is room for"):
                begin(server, UCC)
        wait_until(lambda: not server.host.rooms)
        again = begin(server, UCC)
        assert [game for game, _ in server.host.programs._seats] == [again["game"]]
        assert host_module.Settings.absence < module.LEFT_SECONDS


def test_one_address_has_half_of_the_room_for_programs_and_sends_no_others_away_beyond_it():
    with serving(UCC) as server:
        server.host.programs._most = 3
        begin(server, UCC)  # nobody comes to this one
        seats = [sit(server, begin(server, UCC)) for _ in range(2)]
        with pytest.raises(AssertionError, match="As many programs play here as there is room for"):
            begin(server, UCC)
        assert server.host.programs.running == 3
        for seat in seats:
            seat.ws.close()


def test_an_agent_of_ones_own_that_listens_stays_with_its_game(tmp_path):
    (tmp_path / "counts.py").write_text(
        "class Counts:\n"
        "    heard = 0\n"
        "    def told(self, played):\n"
        "        self.heard += 1\n"
        "    def choose_move(self, view):\n"
        "        assert self.heard == view.plies, (self.heard, view.plies)\n"
        "        return view.legal_moves[0]\n"
    )
    agent = f"py:{tmp_path}/counts.py:Counts"
    with serving(agent, games=("barrage",)) as server:
        [own] = [level for level in server.host.levels if level.own]
        assert own.stays
        made = server.level(own.key, setup=WALLED)
        with sit(server, made) as seat:
            play(seat, 3, random.Random(1))
            assert seat.sight["ply"] == 6 and seat.sight["over"] is None


def test_programs_are_named_by_their_files_and_one_that_comes_by_itself_is_refused():
    named = own_levels([UCC, f"{UCC} -x", "bot:cat"], ("classic",), lambda text: None)
    assert [level.name for level in named] == ["ucc_bot.py", "ucc_bot.py (2)", "cat"]
    assert all(isinstance(level, Level) and level.stays for level in named)
    with pytest.raises(ConfigurationError, match="it comes by itself, and a page cannot wait for it"):
        own_levels(["geister-tcp:10000"], ("geister",), lambda text: None)
    with pytest.raises(ConfigurationError, match="cannot be found"):
        own_levels(["bot:./nowhere"], ("classic",), lambda text: None)
