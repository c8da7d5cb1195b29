"""Geister at the server: what is sent of a position, the wall, exits, records, and playing on."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from web_server import Server

from vauban.board import Board
from vauban.games.geister import Geister
from vauban.web import sight as wall
from vauban.web.geister import sight as ghosts
from vauban.web.geister.show import SHOW
from vauban.web.levels import levels

RUN = "b2b3 e5e4 b3b4 e4e3 b4b5 e3e2".split()  # noqa: SIM905
"""Each side takes a ghost: on b5 and on e2, the D of the other."""


def played(first: str, second: str, moves: list[str], rules: str | None = None) -> Board:
    board: Board = Board("geister", rules, setups=(first, second))
    for move in moves:
        board.push(move)
    return board


@pytest.fixture(scope="module")
def server():
    found = Server()
    yield found
    found.close()


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def heard_by_red(server: Server, blue: str) -> str:
    """All bytes that red hears in a game, but for its id: captures on both sides, refusals, a move taken back."""
    red, friend = server.friends("ABCD", blue, "geister")
    with red, friend:
        for ply, move in enumerate([*RUN, "b5b6"]):
            mover, other = (red, friend) if ply % 2 == 0 else (friend, red)
            mover.move(move)
            other.until(lambda sight, ply=ply: sight["ply"] == ply + 1)
            red.do("explain", move="c5c6", n=ply)
            red.wait_for("why")
        red.do("take_back")
        friend.until(lambda sight: sight["offer"] is not None)
        friend.do("answer_take_back", accept=True)
        red.until(lambda sight: sight["ply"] == 6)
        return "\n".join(red.heard).replace(red.game, "GAME")


def test_two_games_that_differ_in_hidden_colours_sound_the_same_to_the_byte(server):
    # D, which is taken, is evil in both, and H good.
    assert heard_by_red(server, "ABCD") == heard_by_red(server, "CDEF")


def test_a_leak_of_colours_that_is_planted_in_the_server_is_heard(server, monkeypatch):
    monkeypatch.setattr(wall, "_look", lambda table, seat, eyes: table.board)
    assert heard_by_red(server, "ABCD") != heard_by_red(server, "CDEF")


@pytest.mark.parametrize("rules", ["server", "paper total_limit=300"])
def test_nothing_in_a_sight_depends_on_colours_that_could_be_others(rules):
    rng = random.Random(1)
    board: Board = Board("geister", rules, seed=5)
    while not board.is_over:
        for viewer in (0, 1):
            view = board.view(viewer)
            twin_setups = SHOW.setups_at(board, SHOW.draw_hidden(view, rng.randrange(1000)))
            twin = played(*twin_setups, [move.text for move in board.history], rules)
            assert SHOW.position(twin.view(viewer), viewer) == SHOW.position(view, viewer)
            assert ghosts.unknown(twin, viewer) == ghosts.unknown(view, viewer)
        board.push(rng.choice(board.legal_moves))


# ── What is sent ─────────────────────────────────────────────────────────────────────────────────


def test_a_ghost_has_its_letter_and_start_and_no_colour_for_the_enemy():
    board = played("ABCD", "EFGH", RUN)
    found = {piece["at"]: piece for piece in SHOW.position(board.view(0), 0)["pieces"]}
    assert len(found) == 14
    assert found["b5"] == {
        "at": "b5", "side": "red", "type": "evil", "letter": "A", "from": "b2", "revealed": False
    }  # fmt: skip
    assert found["e2"] == {
        "at": "e2", "side": "blue", "type": None, "letter": "A", "from": "e5", "revealed": False
    }  # fmt: skip


def test_a_capture_tells_the_colour_and_what_is_left():
    board = played("ABCD", "EFGH", RUN)
    told = SHOW.move(board, board.history[-1], 0)
    assert (told["from"], told["to"], told["captured"]) == ("e3", "e2", {"type": "evil", "letter": "D", "from": "e2"})
    assert SHOW.move(board, board.history[0], 0)["captured"] is None
    assert SHOW.position(board.view(1), 1)["left"] == {
        "red": {"good": 4, "evil": 3},
        "blue": {"good": 3, "evil": 4},
    }


ESCAPES = {
    0: ("EFGH", "ABCD", "b2a2 e5e4 a2a3 e4e5 a3a4 e5e4 a4a5 e4e5 a5a6 e5e4".split(), "a6", "a7", {"a6n", "a6w"}),  # noqa: SIM905
    1: ("ABCD", "EFGH", "b2b3 e5f5 b3b2 f5f4 b2b3 f4f3 b3b2 f3f2 b2b3 f2f1 b3b2".split(), "f1", "f0", {"f1s", "f1e"}),  # noqa: SIM905
}


@pytest.mark.parametrize("player", [0, 1])
def test_an_escape_is_one_target_beyond_the_corner(player):
    first, second, moves, corner, gate, texts = ESCAPES[player]
    board = played(first, second, moves)
    sent = SHOW.position(board.view(player), player)
    assert texts <= set(sent["legal"]) and gate in sent["reach"][corner]
    assert sent["reach"][corner][gate] in texts
    assert SHOW.offer("geister")["gates"][gate] == ("red", "blue")[player]
    # While the other side is on turn it can be prepared.
    board.pop()
    assert SHOW.position(board.view(player), player)["reach"].get(corner, {}).get(gate) in {None, *texts}
    board.push(moves[-1])
    for text in sorted(texts):
        board.push(SHOW.read_move(board, text))
        told = SHOW.move(board, board.history[-1], 1 - player)
        assert (told["from"], told["to"], told["escaped"], told["ghost"]["type"]) == (corner, gate, True, "good")
        assert board.outcome().end == "escape"
        over = SHOW.position(board, None)
        assert over["reach"] == {} and over["left"]["red"] == over["left"]["blue"] == {"good": 4, "evil": 4}
        board.pop()


@pytest.mark.parametrize(
    ("move", "code"),
    [
        ("z9a1", "square"), ("a9", "square"), ("c3c4", "no_piece"), ("b6b5", "enemy"), ("b2b3", "legal"),
        ("b2b4", "ghost_step"), ("b2c3", "ghost_step"), ("b2c2", "own"), ("b2a7", "gate_far"), ("b2a0", "gate_enemy"),
    ],
)  # fmt: skip
def test_why_a_move_cannot_be_played(move, code):
    assert SHOW.explain(played("ABCD", "EFGH", []).view(0), move)["code"] == code


def test_an_evil_ghost_may_not_leave_and_a_good_one_may_have_to():
    _, second, moves, *_ = ESCAPES[0]
    evil = played("ABCD", second, moves).view(0)
    assert SHOW.explain(evil, "a6a7")["code"] == "gate_evil" and "a7" not in SHOW.position(evil, 0)["reach"]["a6"]
    forced = played("EFGH", second, moves, "escape=forced").view(0)
    assert SHOW.explain(forced, "c2c3")["code"] == "forced"
    assert SHOW.explain(forced, "a6a7")["code"] == "legal"
    assert SHOW.explain(played("EFGH", second, moves).view(1), "e5e4")["code"] == "turn"


def test_a_ghost_that_stayed_where_escapes_are_forced_is_known_to_be_evil():
    _, second, moves, *_ = ESCAPES[0]
    board = played("ABCD", second, moves, "escape=forced")
    board.push("c2c3")
    [stayed] = [piece for piece in SHOW.position(board.view(1), 1)["pieces"] if piece["at"] == "a6"]
    assert (stayed["type"], stayed["revealed"]) == ("evil", True)
    hidden, evil = ghosts.unknown(board.view(1), 1)
    assert (len(hidden), evil) == (7, 3)
    assert "a6" not in map(board.game.square_name, hidden)


def test_a_draw_is_weighed_by_ghosts_and_by_how_long_nothing_was_captured():
    board = played("ABCD", "EFGH", RUN)
    assert SHOW.weigh(board.view(0)) == (0.25, False)  # an evil ghost is gone, and the enemy lacks a good one
    quiet = played("ABCD", "EFGH", ["b2b3", "e5e4", "b3b2", "e4e5"] * 10)
    assert SHOW.weigh(quiet.view(1)) == (0.0, True)
    quiet.pop()
    assert SHOW.weigh(quiet.view(1)) == (0.0, False)


@pytest.mark.parametrize("variant", SHOW.offered)
def test_every_board_that_is_offered_can_be_drawn_and_played(variant):
    board = SHOW.warm_up(variant)
    offer = SHOW.offer(variant)
    assert len(SHOW.position(board.view(0), 0)["pieces"]) == 2 * sum(offer["army"].values())
    assert len(offer["gates"]) == 4 and set(offer["homes"]) == set(board.game.variant.letters)
    for square, after in pairwise(offer["homes"].values()):
        assert square != after


def test_opponents_think_for_a_fixed_amount_since_by_a_clock_they_would_be_as_strong_as_the_machine():
    agents = [level.agent("geister") for level in levels() if level.plays("geister")]
    thinkers = [agent for agent in agents if agent.startswith(("mcts", "search"))]
    assert thinkers and all("time=0" in agent for agent in thinkers)


def test_opponents_have_ratings_on_the_full_board_counted_from_random_play():
    elo = {level.agent("geister"): level.elo.get("geister") for level in levels() if level.plays("geister")}
    assert None not in elo.values(), elo
    assert elo["random"] == 0 == min(elo.values()) and elo["net:geister"] > elo["purple:depth=3"]


# ── Setups, records, playing on ──────────────────────────────────────────────────────────────────


def test_where_chance_draws_the_colours_nothing_is_set_up(monkeypatch):
    assert SHOW.has_setups("geister")
    monkeypatch.setattr("vauban.games.base.game", lambda name, rules=None: Geister("geister", "paper"))
    assert not SHOW.has_setups("geister")


def test_a_game_is_kept_looked_back_on_and_played_on(server):
    red, friend = server.friends("ABCD", "CDEF", "geister")
    with red, friend:
        for ply, move in enumerate(RUN):
            (red, friend)[ply % 2].move(move)
            for seat in (red, friend):
                seat.until(lambda sight, ply=ply: sight["ply"] == ply + 1)
        red.do("resign")
        red.until(lambda sight: sight["over"] is not None)
        assert red.sight["over"]["setups"] == {"red": "ABCD", "blue": "CDEF"}
    _, text, _ = server.ask("GET", f"/api/games/{red.game}/record", secret=red.secret)
    again = server.post("/api/import", text=text.decode())
    assert again["family"] == "geister"
    recorded = SHOW.read_record(text.decode())
    assert (recorded.setups, recorded.winner, recorded.end) == (("ABCD", "CDEF"), 1, "resigned")
    review = SHOW.review(text.decode(), None, lambda share: None)
    assert len(review["plies"]) == len(RUN) + 1 and review["model"] is None
    assert review["plies"][-1]["belief"]["blue"]["b5"]["evil"] == 0.429
    for pieces in ("true", "drawn"):
        there = server.post(
            f"/api/games/{red.game}/play-on", secret=red.secret, ply=6, side="red", level="wisp", pieces=pieces
        )
        with server.sit(there["game"], "red", there["seats"]["red"]) as seat:
            assert seat.my_turn()["ply"] == 6 and seat.sight["left"]["red"] == {"good": 4, "evil": 3}


# ── Rules that were chosen ───────────────────────────────────────────────────────────────────────

RULES = {"escape": "forced", "colours": "chance", "total_limit": 40}


def test_the_rules_of_a_game_can_be_chosen_and_chance_may_choose_the_colours(server):
    _, offer, _ = server.ask("GET", "/api/offer")
    [geister] = [each for each in offer["variants"] if each["name"] == "geister"]
    assert [(each["key"], each["usual"]) for each in geister["switches"]] == [
        ("escape", "optional"), ("colours", "chosen"), ("total_limit", 300),
    ]  # fmt: skip
    assert all(each["switches"] == [] for each in offer["variants"] if each["family"] == "stratego")
    against = {"kind": "level", "level": "wisp"}
    made = server.post("/api/games", variant="geister", against=against, side="red", rules=RULES)
    with server.sit(made["game"], "red", made["seats"]["red"]) as seat:
        sight = seat.my_turn()
        assert sight["rules"] == RULES and sight["total"]["limit"] == 40
        assert sight["ready"] == {"red": True, "blue": True} and sight["commitment"]["blue"] is None
        mine = [piece["type"] for piece in sight["pieces"] if piece["side"] == "red"]
        assert sorted(mine) == ["evil"] * 4 + ["good"] * 4
        assert {piece["type"] for piece in sight["pieces"] if piece["side"] == "blue"} == {None}
        seat.do("resign")
        seat.until(lambda sight: sight["over"] is not None)
        seat.do("rematch")
        again = seat.wait_for("rematch")
        with server.sit(again["game"], "blue", seat.secret) as other:
            assert other.my_turn()["rules"] == RULES
        _, text, _ = server.ask("GET", f"/api/games/{made['game']}/record", secret=seat.secret)
    assert b"colours=chance total_limit=40" in text
    # It can be played on from, with the colours that it had.
    there = server.post(
        f"/api/games/{made['game']}/play-on", secret=seat.secret, ply=0, side="red", level="wisp", pieces="true"
    )
    with server.sit(there["game"], "red", there["seats"]["red"]) as seat:
        assert [piece["type"] for piece in seat.my_turn()["pieces"] if piece["side"] == "red"] == mine
        assert seat.sight["rules"] == RULES | {"colours": "chosen"}


def test_friends_play_by_the_rules_that_were_chosen_and_are_told_them_before_the_game(server):
    made = server.post(
        "/api/games", variant="geister-44", against={"kind": "friend"}, side="red", rules={"total_limit": 30}
    )
    seat = server.sit(made["game"], *server.join(made["game"], made["friend"]["invitation"]))
    with seat:
        assert seat.sight["phase"] == "setup" and seat.sight["rules"]["total_limit"] == 30


def test_two_machines_play_by_chosen_rules(server):
    against = {"kind": "watch", "red": "wisp", "blue": "runner"}
    made = server.post("/api/games", variant="geister", against=against, rules=RULES)
    with server.sit(made["game"], "watch", made["seats"]["watch"]) as seat:
        assert seat.until(lambda sight: sight["over"] is not None)["rules"] == RULES


@pytest.mark.parametrize(
    ("variant", "rules", "why"),
    [
        ("geister", {"escape": "never"}, "escape is optional or forced, not 'never'"),
        ("geister", {"escape": ["forced"]}, "escape is optional or forced"),
        ("geister", {"total_limit": 10**9}, "total_limit is a whole number from 20 to 1000, not '1000000000'"),
        ("geister", {"total_limit": 1}, "from 20 to 1000"),
        ("geister", {"total_limit": True}, "from 20 to 1000"),
        ("geister", {"total_limit": "40"}, "from 20 to 1000"),
        ("geister", {"at_limit": "second"}, "'at_limit' is no rule that can be chosen here: escape, colours, total_"),
        ("geister", "paper", "Rules are given by their names"),
        ("barrage", {"escape": "forced"}, "'escape' is no rule that can be chosen here: none can"),
    ],
)
def test_rules_that_cannot_be_are_refused(server, variant, rules, why):
    wanted = {"variant": variant, "against": {"kind": "hotseat"}, "rules": rules}
    status, told, _ = server.ask("POST", "/api/games", wanted)
    assert status == 400 and why in told["error"]["text"] and told["error"]["code"] == "rules"


def test_a_game_that_cannot_be_looked_back_on_is_not_imported(server):
    status, told, _ = server.ask("POST", "/api/import", {"text": '[Game "kuhn"]\n[Seed "1"]\n\n*'})
    assert status == 400 and "only these can be shown: barrage" in told["error"]["text"]


def test_a_log_of_the_public_server_is_imported(server):
    log = "player=0,SET:EFGH\r\nplayer=1,SET:ABCD\r\nplayer=0,MOV:A,NORTH\r\nplayer=1,MOV:E,S\r\n"
    again = server.post("/api/import", text=log)
    assert (again["family"], again["games"]) == ("geister", 1)
    with server.sit(again["game"], "watch", again["seats"]["watch"]) as seat:
        assert seat.sight["over"]["setups"] == {"red": "EFGH", "blue": "ABCD"}
        assert (seat.sight["over"]["winner"], seat.sight["over"]["end"]) == ("red", "illegal")
    status, told, _ = server.ask("POST", "/api/import", {"text": "player=0,SET:ABCD\nwinner=3\n"})
    assert status == 400 and "Line 2: 'winner=3' is no line of a log" in told["error"]["text"]
