"""An analysis board: moves of one's own after a finished game, positions put together, and what a network says."""

from __future__ import annotations

import asyncio
import http.client
import random
from typing import Any

import pytest
from web_server import RED, Server, wait_until

from vauban.agents import make_agent
from vauban.board import Board
from vauban.notation.records import read_games, write_game
from vauban.search.reviewing import look_at, look_back
from vauban.web import lines, reviews
from vauban.web.levels import learned_agents, levels
from vauban.web.show import TableError, show_of
from vauban.web.table import PERSON, Table, new_table


@pytest.fixture(scope="module")
def server():
    found = Server()
    yield found
    found.close()


def played(variant: str, seed: int, plies: int) -> Any:
    """A game at random that has gone on for so many plies."""
    board, rng = Board.random(variant, seed), random.Random(seed)
    while not board.is_over and len(board.history) < plies:
        board.push(rng.choice(list(board.legal_actions)))
    return board


def finished(board: Any) -> Table:
    headers = {} if board.is_over else {"Result": "*", "End": "unfinished"}
    record = write_game(board, headers)
    return Table.made(new_table(board.game.name, "import", (PERSON, PERSON), record=record))


class Imported:
    """A game on a server that was made of a record."""

    def __init__(self, server: Server, board: Any) -> None:
        self.server = server
        made = server.post("/api/import", text=write_game(board, {}))
        self.path, self.secret = f"/api/games/{made['game']}", made["seats"]["watch"]

    def get(self, what: str, secret: str | None = None) -> tuple[int, Any]:
        status, found, _ = self.server.ask("GET", f"{self.path}/{what}", secret=secret or self.secret)
        return status, found


# ── Lines ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("variant", ["barrage", "geister"])
def test_a_line_goes_its_own_way_and_leaves_the_game_as_it_was(server, variant):
    board = played(variant, 5, 20)
    game = Imported(server, board)
    there, line = board.copy(), []
    while len(there.history) > 12:
        there.pop()
    for _ in range(6):
        status, told = game.get(f"line?ply=12&moves={'.'.join(line)}")
        assert status == 200 and told["ply"] == 12 + len(line) and told["over"] is None
        assert told["turn"] == ("red", "blue")[there.turn]
        assert [move["ply"] for move in told["moves"]] == list(range(13, 13 + len(line)))
        assert None not in {piece["type"] for piece in told["pieces"]}, "all is open"
        ways = {move for targets in told["reach"].values() for move in targets.values()}
        assert ways <= set(told["legal"]) and ways
        line.append(sorted(ways)[0])
        there.push(line[-1])
    assert read_games(game.get("record")[1].decode())[0].board.text == board.text
    [recorded] = read_games(game.get(f"record?ply=12&moves={'.'.join(line)}")[1].decode())
    assert recorded.headers["Line"] == "own moves after move 12" and recorded.result == "*"
    assert recorded.board.text == there.text
    status, picture = game.get(f"picture.svg?ply=12&moves={'.'.join(line)}")
    assert status == 200 and picture == show_of(variant).picture(there).encode()


def test_what_is_no_line_is_refused_with_the_reason(server, monkeypatch):
    game = Imported(server, played("barrage", 5, 20))
    for query, code in [
        ("ply=21", "ply"),
        ("ply=x", "ply"),
        ("ply=3&moves=a1a9", "move"),
        ("ply=3&moves=nonsense", "move"),
        ("ply=3&moves=.", "move"),
    ]:
        status, found = game.get(f"line?{query}")
        assert (status, found["error"]["code"]) == (400, code), query
    assert game.get("line?ply=3", secret="x" * 32)[0] == 404
    assert game.get("line/look?ply=3", secret="x" * 32)[0] == 404
    monkeypatch.setattr(lines, "MOST_MOVES", 1)
    assert game.get("line?ply=3&moves=a1a2.a2a1")[1]["error"]["key"] == "line.long"
    running = server.level()
    [own] = running["seats"].values()
    status, found, _ = server.ask("GET", f"/api/games/{running['game']}/line?ply=0", secret=own)
    assert (status, found["error"]["code"]) == (409, "phase"), "nobody looks at both armies before the end"


def test_a_line_ends_where_its_game_does():
    board = played("fives", 1, 2000)
    assert board.is_over
    table, last = finished(board), show_of("fives").played_text(board, board.history[-1])
    there = lines.read_line(table, table.plies - 1, [last])
    assert there.outcome() is not None
    with pytest.raises(TableError, match="nothing is left to play"):
        lines.read_line(table, table.plies - 1, [last, "a1a2"])


def test_why_a_move_of_a_line_cannot_be_played_is_told_to_the_side_on_turn(server):
    board = Board.from_setups(RED, RED, "barrage")
    game = Imported(server, board)
    assert game.get("line/why?ply=0&move=a1a2")[1]["code"] == "never"
    assert game.get("line/why?ply=0&move=a10a9")[1]["code"] == "enemy"
    move = board.legal_moves[0]
    text = show_of("barrage").played_text(board, board.push(move))
    assert game.get(f"line/why?ply=0&move={text}")[1]["code"] == "legal"


# ── Positions ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("variant", ["barrage", "duel", "geister", "geister-44"])
def test_a_position_is_the_same_as_text_and_as_pieces(server, variant):
    board = played(variant, 7, 10)
    text = show_of(variant).position_of(board)
    told = server.post("/api/positions", variant=variant, text=text)
    assert told["turn"] == ("red", "blue")[board.turn]
    again = server.post("/api/positions", variant=variant, pieces=told["pieces"], turn=told["turn"])
    standing = [sorted((each["at"], each["side"], each["type"]) for each in all["pieces"]) for all in (told, again)]
    assert standing[0] == standing[1]
    assert again["turn"] == told["turn"]
    made = server.post("/api/analysis", variant=variant, text=again["text"])
    status, line, _ = server.ask("GET", f"/api/games/{made['game']}/line?ply=0", secret=made["seats"]["watch"])
    assert status == 200 and line["text"] == again["text"] and line["legal"]


def test_the_pieces_of_a_setup_stand_where_a_game_would_have_them(server):
    told = [
        server.post("/api/positions", variant="barrage", setup=RED, side=side)["pieces"] for side in ("red", "blue")
    ]
    board = Board.from_setups(RED, RED, "barrage")
    whole = server.post("/api/positions", variant="barrage", pieces=[*told[0], *told[1]], turn="red")
    assert whole["text"] == show_of("barrage").position_of(board)


@pytest.mark.parametrize("wanted", [{"pieces": []}, {"text": "x"}, {}])
def test_a_game_without_positions_has_none_that_could_be_put_together(wanted):
    with pytest.raises(TableError, match="cannot be looked back on"):
        lines.read_position("kuhn", wanted)


def test_a_position_that_cannot_be_is_refused_with_the_reason(server):
    flags = [{"at": "a1", "side": "red", "type": "flag"}, {"at": "a10", "side": "blue", "type": "flag"}]
    scout = {"at": "b1", "side": "red", "type": "scout"}
    miner = {"at": "b10", "side": "blue", "type": "miner"}
    good = {"variant": "barrage", "pieces": [*flags, scout, miner], "turn": "red"}
    assert server.post("/api/positions", **good)["turn"] == "red"
    for wrong, key in [
        ({"pieces": [*flags, *({**scout, "at": f"{file}1"} for file in "bcd"), miner]}, "position.many"),
        ({"pieces": [*flags, miner]}, "position.over"),
        ({"pieces": [scout, miner]}, "position"),
        ({"pieces": [*flags, {**scout, "at": "a1"}, miner]}, "message"),
        ({"pieces": [*flags, {**scout, "at": "z1"}, miner]}, "message"),
        ({"pieces": [*flags, {**scout, "at": ["a1"]}, miner]}, "message"),
        ({"pieces": [*flags, {**scout, "type": "queen"}, miner]}, "message"),
        ({"pieces": [*flags, {**scout, "at": "c5"}, miner]}, "position"),
        ({"pieces": "abc"}, "message"),
        ({"turn": "green"}, "side"),
        ({"text": "10/10 r"}, "position"),
        ({"variant": "chess"}, "variant"),
        ({"setup": RED, "side": "green"}, "side"),
        ({"setup": "F", "side": "red"}, "setup"),
    ]:
        status, found, _ = server.ask("POST", "/api/positions", good | wrong)
        # What may become a position yet is no wrong request.
        error = found["wrong"] if status == 200 else found["error"]
        assert (status, error["key"]) == (200 if key.startswith("position") else 400, key), (wrong, found)
    evil = [{"at": f"{file}1", "side": "red", "type": "evil"} for file in "abcde"]
    status, found, _ = server.ask("POST", "/api/positions", {"variant": "geister", "pieces": evil, "turn": "red"})
    assert found["wrong"]["key"] == "position.many" and found["wrong"]["data"]["most"] == 4


# ── Playing on ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("pieces", ["true", "drawn"])
@pytest.mark.parametrize("variant", ["barrage", "geister"])
def test_a_line_is_played_on_also_where_its_game_began_in_the_middle(server, variant, pieces):
    show = show_of(variant)
    start = show.place(variant, show.position_of(played(variant, 11, 20)))
    for board in (played(variant, 11, 20), start):
        game = Imported(server, board)
        plies = len(board.history)
        own = show.played_text(board, board.push(sorted(board.legal_actions)[0]))
        wish = {"secret": game.secret, "ply": plies, "moves": [own], "level": "random", "pieces": pieces}
        level = {"barrage": "recruit", "geister": "wisp"}[variant]
        made = server.post(f"{game.path}/play-on", **wish | {"level": level, "side": ("red", "blue")[board.turn]})
        [(seat, secret)] = made["seats"].items()
        with server.sit(made["game"], seat, secret) as player:
            assert player.sight["ply"] == player.sight["played_on"]["ply"] == plies + 1
            view, hidden = board.view(board.turn), {each["at"] for each in player.sight["pieces"] if not each["type"]}
            assert hidden == {each["at"] for each in show.position(view, board.turn)["pieces"] if not each["type"]}
            player.move(player.my_turn()["legal"][0])
            player.do("take_back")
            player.until(lambda sight: sight["ply"] == sight["played_on"]["ply"])
            assert "no move of yours" in player.refused("take_back")["text"]
            player.do("resign")
            player.until(lambda sight: sight["over"])
            [recorded] = read_games(server.ask("GET", f"/api/games/{made['game']}/record", secret=secret)[1].decode())
            assert recorded.end == "resigned" and len(recorded.board.history) == plies + 1


# ── What a network says ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("variant", ["barrage", "geister"])
def test_of_one_position_the_same_is_told_as_in_a_review_of_the_whole_game(variant):
    from vauban.agents.net import ModelAgent

    agent = make_agent(learned_agents(variant, levels())[-1])
    assert isinstance(agent, ModelAgent)
    board = played(variant, 3, 7)
    alone, last = look_at(board, agent.model), look_back(board, agent.model).to_json()["plies"][-1]
    assert alone["ply"] == 7 and alone["model"] == variant and alone["belief_by"] == "network"
    for key in ("turn", "values", "wdl"):
        assert alone[key] == last[key]
    assert [move | {"p": 0} for move in alone["policy"]] == [move | {"p": 0} for move in last["policy"]]
    for side in ("red", "blue"):
        assert set(alone["belief"][side]) == set(last["belief"][side])
        for at, shares in alone["belief"][side].items():
            for kind in {*shares, *last["belief"][side][at]}:
                # Both are drawn, from 128 samples or fewer.
                assert abs(shares.get(kind, 0) - last["belief"][side][at].get(kind, 0)) < 0.4
    counted = look_at(board, None)
    assert counted["policy"] == [] and counted["model"] is None and counted["belief_by"] == "counting"
    assert set(counted["belief"]["red"]) == set(alone["belief"]["red"])


def test_before_the_first_move_and_after_the_last_there_is_something_to_say():
    start = look_at(Board.from_setups(RED, RED, "barrage"), None)
    assert start["ply"] == 0 and len(start["belief"]["red"]) == len(start["belief"]["blue"]) == 8
    board = played("fives", 1, 2000)
    over = look_at(board, None)
    assert over["ply"] == len(board.history) and over["policy"] == []


def test_a_position_is_looked_at_beside_a_whole_game_in_the_turn_of_its_address(server):
    game = Imported(server, played("duel", 5, 6))  # which no network has learned: it takes no time
    status, told = game.get("line/look?ply=4")
    assert status == 200 and told["ply"] == 4 and told["belief_by"] == "counting" and told["model"] is None
    pool = server.host.reviews.positions.near
    assert (pool._most, pool._most_each) == (reviews.QUEUE, reviews.EACH)


def test_a_position_that_nobody_waits_for_any_more_is_given_up(server, monkeypatch):
    game = Imported(server, played("duel", 5, 6))
    begun, ended = [], []

    async def forever(*_: Any, **__: Any) -> Any:
        begun.append(True)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    monkeypatch.setattr(server.host.reviews.positions.near, "ask", forever)
    asking = http.client.HTTPConnection("127.0.0.1", server.port)
    asking.request("GET", f"{game.path}/line/look?ply=4", headers={"Vauban-Secret": game.secret})
    wait_until(lambda: bool(begun))
    assert not ended
    asking.close()
    wait_until(lambda: bool(ended))
