"""The protocol of the public Geister server, both ways: byte for byte, over sockets, and between processes."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.base import RESIGNS, Program, Watcher, choose_action
from vauban.agents.external.geister.agent import Guest, make_caller, make_program
from vauban.agents.external.geister.client import Client, Resigned
from vauban.agents.external.geister.host import Host
from vauban.agents.external.geister.referee import Ending, Referee, Terms
from vauban.agents.external.geister.seen import SeenGame
from vauban.agents.external.geister.wire import MOST_REFUSED, Clock, Door, Lines, Wire
from vauban.agents.external.process import LONGEST_LINE, BotError
from vauban.agents.random import RandomAgent
from vauban.arena.match import Match
from vauban.arena.play import play_games
from vauban.board import Board
from vauban.cli.geister.server import connect, ending_words, play_game, record
from vauban.cli.main import make_app
from vauban.errors import ConfigurationError, NotationError
from vauban.games.base import game
from vauban.notation.geister import server
from vauban.notation.geister.formats import to_notation
from vauban.notation.records import read_games

ROOT = Path(__file__).parents[2]
EXAMPLE = f"{sys.executable} {ROOT}/examples/geister_bot.py"
FAULTY = f"{sys.executable} {ROOT}/tests/bots/geister_client.py"
START = "14R24R34R44R15B25B35B45B41u31u21u11u40u30u20u10u"
GAME = server.PUBLIC


def sent(referee: Referee) -> list[str]:
    """Take what the referee wants to send, as "PLAYER LINE"; every line must end as lines do."""
    found = []
    for player, data in referee.sent:
        assert data.endswith(b"\r\n") and data.count(b"\n") == 1
        found.append(f"{player} {data.decode().removesuffix(chr(13) + chr(10))}")
    referee.sent.clear()
    return found


def begun(terms: Terms | None = None, rules: str = "", first: str = "ABCD", second: str = "EFGH") -> Referee:
    """A game in which both players have set up, with nothing left to be sent."""
    referee = Referee(game("geister", rules), terms)
    for player, setup in enumerate((first, second)):
        referee.connect(player, 0.0)
        referee.receive(player, f"SET:{setup}\r\n".encode(), 0.0)
    referee.sent.clear()
    return referee


def forfeited(referee: Referee) -> tuple[int | None, str, str]:
    ending = referee.ending
    assert ending is not None and ending.end == "forfeit"
    return ending.winner, ending.kind, ending.sentence


# ── The referee, byte for byte ───────────────────────────────────────────────────────────────────


def test_a_short_game_is_conducted_as_on_the_public_server() -> None:
    referee = Referee()
    said: list[str] = []
    for player, data in ((0, b""), (1, b""), (0, b"SET:abcd\r\n"), (1, b"SET:EFGH\r\n"), (0, b"MOV:A,NORTH\r\n"),
                         (1, b"MOV:d,n\r\n"), (0, b"MOV:A,N\r\n"), (1, b"MOV:E,S\r\n")):  # fmt: skip
        if data:
            referee.receive(player, data, 0.0)
        else:
            referee.connect(player, 0.0)
        said += sent(referee)
    assert said == [
        "0 SET?",
        "1 SET?",
        "0 OK ",
        "1 OK ",
        f"0 MOV?{START}",
        "0 OK ",
        "1 MOV?14B24B34B44B15R25R35R45R42u31u21u11u40u30u20u10u",
        "1 OK ",
        "0 MOV?13R24R34R44R15B25B35B45B41u31u21u12u40u30u20u10u",
        "0 OKB",
        "1 MOV?14B24B34B99b15R25R35R45R43u31u21u11u40u30u20u10u",
        "1 NG ",
        "0 WON:12R24R34R44R15B25B35B45B41b31b21b99b40r30r20r10r",
        "1 LST:14B24B34B99b15R25R35R45R43r31r21r11r40b30b20b10b",
    ]
    assert forfeited(referee)[:2] == (0, "illegal")
    assert referee.log == [
        "player=0,SET:abcd", "player=1,SET:EFGH", "player=0,MOV:A,NORTH", "player=1,MOV:d,n", "player=0,MOV:A,N",
        "player=1,MOV:E,S",
    ]  # fmt: skip


def test_lines_may_come_in_any_pieces() -> None:
    whole = begun()
    for byte in b"MOV:A,NORTH\r\n":
        assert sent(whole) == []
        whole.receive(0, bytes([byte]), 0.0)
    assert sent(whole)[0] == "0 OK "


@pytest.mark.parametrize(
    "line",
    ["SET:AAAA", "SET:ABC", "SET:ABCDE", "SET:ABCI", "SET:", "set:ABCD", "MOV:A,NORTH", "SET:ABCD\n", "", "\x00", "é"],
)
def test_a_wrong_setup_is_refused_and_may_be_tried_again(line: str) -> None:
    referee = Referee()
    for player in (0, 1):
        referee.connect(player, 0.0)
    referee.sent.clear()
    referee.receive(0, f"{line}\r\n".encode(), 0.0)
    assert sent(referee) == ["0 NG "] and referee.ending is None
    referee.receive(0, b"SET:ABCD\r\n", 0.0)
    assert sent(referee) == ["0 OK "]
    # A reader of the log takes the first setup of each player, as the public server takes "SET:AAAA".
    referee.receive(1, b"SET:EFGH\r\n", 0.0)
    [read] = read_games(to_notation("\n".join(referee.log).encode()))
    assert [GAME.setups.text(row) for row in read.board.setups] == ["ABCD", "EFGH"]


def test_a_second_setup_is_refused_and_changes_nothing() -> None:
    referee = Referee()
    referee.connect(0, 0.0)
    referee.receive(0, b"SET:ABCD\r\nSET:EFGH\r\n", 0.0)
    assert sent(referee) == ["0 SET?", "0 OK ", "0 NG "]
    referee.connect(1, 0.0)
    referee.receive(1, b"SET:EFGH\r\n", 0.0)
    assert sent(referee)[-1] == f"0 MOV?{START}"


def test_a_move_out_of_turn_is_refused_and_has_no_other_effect() -> None:
    referee = begun()
    referee.receive(1, b"MOV:A,NORTH\r\nnonsense\r\nSET:ABCD\r\n", 0.0)
    assert sent(referee) == ["1 NG "] * 3 and referee.ending is None
    referee.receive(0, b"MOV:A,NORTH\r\n", 0.0)
    assert [line[:6] for line in sent(referee)] == ["0 OK ", "1 MOV?"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("MOV:E,NORTH", "illegal"), ("MOV:E,SOUTH", "illegal"), ("MOV:I,NORTH", "unintelligible"),
        ("MOV:A,UP", "unintelligible"), ("mov:A,N", "unintelligible"), ("", "unintelligible"),
        ("SET:ABCD", "unintelligible"), ("MOV:A,NORTH\n", "unintelligible"), ("\x1b[2J", "unintelligible"),
    ],
)  # fmt: skip
def test_what_is_no_legal_move_loses_at_once_or_may_be_tried_again(line: str, kind: str) -> None:
    referee = begun()
    referee.receive(0, f"{line}\r\nMOV:A,N\r\n".encode(), 0.0)
    assert [each[:6] for each in sent(referee)] == ["0 NG ", "1 WON:", "0 LST:"]
    assert forfeited(referee)[:2] == (1, kind) and referee.log[-1].isprintable()
    lenient = begun(Terms(illegal_loses=False))
    lenient.receive(0, f"{line}\r\nMOV:A,N\r\n".encode(), 0.0)
    assert [each[:6] for each in sent(lenient)] == ["0 NG ", "0 OK ", "1 MOV?"]


@pytest.mark.parametrize("word", ["NORTH", "north", "N", "n", "No"])
def test_directions_are_words_or_letters_in_any_case(word: str) -> None:
    referee = begun()
    referee.receive(0, f"MOV:a,{word}\r\n".encode(), 0.0)
    assert (referee.ending is None) == (word != "No")


def test_a_line_feed_alone_ends_no_line_and_half_a_line_is_named_when_time_is_up() -> None:
    referee = begun(Terms(budget=3, timeout=2))
    referee.receive(0, b"MOV:A,NORTH\n", 1.0)
    assert sent(referee) == [] and referee.deadline == 5.0
    referee.expire(5.0)
    assert referee.ending is None
    referee.expire(5.001)
    assert [each[:6] for each in sent(referee)] == ["1 WON:", "0 LST:"]
    assert forfeited(referee) == (1, "late", "it sent 'MOV:A,NORTH␊', and no end of the line (CR LF) within 5 s")
    referee.receive(0, b"\r\n", 6.0)
    assert sent(referee) == [] and referee.deadline is None


def test_a_line_without_end_loses_before_it_fills_the_memory() -> None:
    referee = begun()
    referee.receive(0, b"x" * (LONGEST_LINE + 1), 0.0)
    assert referee.ending is None
    referee.receive(0, b"x", 0.0)
    assert forfeited(referee)[:2] == (1, "babbling")
    out_of_turn = begun()
    out_of_turn.receive(1, b"MOV:A,N\r\n" * MOST_REFUSED, 0.0)
    assert out_of_turn.ending is None
    out_of_turn.receive(1, b"MOV:A,N\r\n", 0.0)
    assert forfeited(out_of_turn)[:2] == (0, "babbling")


def test_time_is_a_budget_in_whole_seconds_and_then_so_much_for_a_move() -> None:
    referee = begun(Terms(budget=5, timeout=2))
    now = 0.0
    for line, seconds in ((b"MOV:A,N\r\n", 0.999), (b"MOV:A,N\r\n", 3.9), (b"MOV:A,S\r\n", 5.5), (b"MOV:A,S\r\n", 1.0)):
        now += seconds
        referee.receive(referee.board.turn, line, now)
    assert referee.ending is None and referee.deadline == now + 2.0  # 5 s of the budget are gone
    referee.receive(0, b"MOV:A,N\r\n", now + 2.5)
    assert forfeited(referee) == (1, "late", "it sent nothing within 2 s")
    clock = Clock(1.0, 10.0)
    clock.spend(7.0)
    assert clock.allowed == 10.0


def test_a_setup_has_a_time_that_begins_when_both_players_are_there() -> None:
    referee = Referee(terms=Terms(budget=3, timeout=2))
    referee.connect(0, 0.0)
    referee.receive(0, b"SET:ABCD\r\n", 100.0)
    assert referee.deadline is None
    referee.connect(1, 200.0)
    assert referee.deadline == 205.0
    sent(referee)
    referee.expire(205.5)
    assert forfeited(referee)[:2] == (0, "late")
    assert sent(referee) == [f"0 WON:{START}", f"1 LST:{server.without_colours(START, opponents=False)[:24]}"
                             "41r31r21r11r40b30b20b10b"]  # fmt: skip


def test_who_leaves_before_the_other_has_come_may_come_again() -> None:
    referee = Referee()
    referee.connect(0, 0.0)
    referee.receive(0, b"SET:ABCD\r\nSET:AB", 0.0)
    referee.disconnect(0)
    assert referee.ending is None and referee.log == [] and referee.due == [0, 1]
    referee.connect(0, 0.0)
    referee.receive(0, b"SET:EFGH\r\n", 0.0)
    assert [each for each in sent(referee) if "OK" in each] == ["0 OK ", "0 OK "]


@pytest.mark.parametrize("stage", ["before the setup", "after the setup", "on turn", "out of turn", "in half a line"])
def test_who_leaves_a_game_has_lost_it(stage: str) -> None:
    referee = Referee()
    for player in (0, 1):
        referee.connect(player, 0.0)
    if stage != "before the setup":
        referee.receive(0, b"SET:ABCD\r\n", 0.0)
    if stage not in ("before the setup", "after the setup"):
        referee.receive(1, b"SET:EFGH\r\n", 0.0)
    if stage == "out of turn":
        referee.receive(0, b"MOV:A,N\r\n", 0.0)
    if stage == "in half a line":
        referee.receive(0, b"MOV:A", 0.0)
    sent(referee)
    referee.disconnect(0)
    [line] = sent(referee)
    assert line[:6] == "1 WON:" and server.parse_board(line[6:])
    assert forfeited(referee)[:2] == (1, "crashed")
    assert ("half a line" in forfeited(referee)[2]) == (stage == "in half a line")
    referee.disconnect(1)
    assert sent(referee) == [] and forfeited(referee)[0] == 1


def test_ends_on_the_board_are_told_to_the_winner_first() -> None:
    for first, second, rules, expected in (
        ("EFGH", "EFGH", "", ["0 OK ", "0 WON:", "1 LST:"]),
        ("ABCD", "EFGH", "total_limit=8", ["1 OK ", "0 DRW:", "1 DRW:"]),
    ):
        referee = begun(first=first, second=second, rules=rules)
        for line in ("A,W", "A,N", *["A,N", "A,S", "A,N", "A,N"] * 2, "A,W"):
            sent(referee)
            referee.receive(referee.board.turn, f"MOV:{line}\r\n".encode(), 0.0)
            if referee.ending:
                break
        assert [each[:6].rstrip("0123456789") for each in sent(referee)] == expected
        assert referee.log[-1] == ("winner=2" if rules else "winner=0")
        assert referee.ending is not None and ending_words(referee.ending).count("after") == 1


def test_a_player_who_is_no_connection_is_not_written_to() -> None:
    referee = Referee(remote=(True, False))
    referee.set_up(1, GAME.setups.parse("EFGH"), 0.0)
    referee.connect(0, 0.0)
    referee.receive(0, b"SET:ABCD\r\nMOV:A,N\r\n", 0.0)
    assert [line[:6] for line in sent(referee)] == ["0 SET?", "0 OK ", "0 MOV?", "0 OK "]
    referee.move(server.legal_action(referee.board, "MOV:A,N"), 0.0)
    assert [line[:6] for line in sent(referee)] == ["0 MOV?"] and referee.log[-1] == "player=1,MOV:A,NORTH"
    referee.receive(0, b"MOV:A,N\r\n", 0.0)
    referee.move(0, 10**6)
    assert forfeited(referee)[:2] == (0, "late")
    with pytest.raises(ConfigurationError, match="knows the full board"):
        Referee(game("geister-33a"))


# ── Our client ───────────────────────────────────────────────────────────────────────────────────


class Scripted:
    """An agent that plays the lines it is given."""

    name = "scripted"

    def __init__(self, *lines: str, setup: str = "ABCD") -> None:
        self.lines, self.setup, self.seen, self.closed = list(lines), setup, [], 0  # type: ignore[var-annotated]

    def set_up(self, game: Any, player: int, rng: random.Random) -> Any:
        return GAME.setups.parse(self.setup)

    def choose(self, views: Any, seeds: Any) -> Any:
        raise AssertionError("it is asked for one")

    def answer(self, view: Any) -> int:
        self.seen.append(view)
        return server.legal_action(view, self.lines.pop(0)) if self.lines else RESIGNS

    def close(self) -> None:
        self.closed += 1


class Transport:
    """Both ends of a connection: what the other side says is written beforehand."""

    def __init__(self, said: str, *, leaves: bool = True) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.ours = socket.create_connection(listener.getsockname())
            self._theirs, _ = listener.accept()
        self.say(said.encode())
        if leaves:
            self.leave()

    def say(self, said: bytes) -> None:
        self._theirs.sendall(said)

    def leave(self) -> None:
        self._theirs.shutdown(socket.SHUT_WR)

    def heard(self) -> str:
        """All that was written to the other side, once our end is closed."""
        said = bytearray()
        with self._theirs, suppress(ConnectionResetError):  # our end may leave some of what was said unread
            while more := self._theirs.recv(4096):
                said += more
        return said.decode()


def played_over(said: str, agent: Scripted, player: int = 0) -> tuple[Client, str, str]:
    transport = Transport(said)
    client = Client(agent, player)
    why = play_game(client, lambda: transport.ours)
    return client, why, transport.heard()


def lines(*each: str) -> str:
    return "".join(f"{line}\r\n" for line in each)


def test_our_client_plays_a_game_as_the_public_server_conducts_it() -> None:
    agent = Scripted("MOV:A,N", "MOV:A,N")
    client, why, heard = played_over(
        lines(
            "SET?", "OK ", f"MOV?{START}", "OK ", "MOV?13R24R34R44R15B25B35B45B41u31u21u12u40u30u20u10u", "OKB",
            "WON:12R24R34R44R15B25B35B45B41b31b21b99b40r30r20r10r",
        ),
        agent,
    )  # fmt: skip
    assert heard == lines("SET:ABCD", "MOV:A,NORTH", "MOV:A,NORTH")
    assert (client.result, why, client.player, client.plies, client.end, agent.closed) == ("won", "", 0, 3, "", 1)
    text = client.record(("scripted", "them"))
    assert text is not None
    [read] = read_games(text)
    assert (read.result, read.end, read.headers["Note"]) == ("1-0", "illegal", "ended by the server")
    assert GAME.setups.text(read.board.setups[1]) == "EFGH"
    assert [view.history[-1].player for view in agent.seen[1:]] == [1]


def test_our_client_plays_second_and_is_told_the_last_move_by_the_last_board() -> None:
    agent = Scripted("MOV:D,N", "MOV:E,W", setup="EFGH")
    client, _, heard = played_over(
        lines(
            "SET?", "OK ", "MOV?14B24B34B44B15R25R35R45R42u31u21u11u40u30u20u10u", "OK ",
            "MOV?14B24B34B99b15R25R35R45R43u31u21u11u40u30u20u10u", "NG ",
            "LST:14B24B34B99b15R25R35R45R43r31r21r11r40b30b20b10b",
        ),
        agent, 1,
    )  # fmt: skip
    assert heard == lines("SET:EFGH", "MOV:D,NORTH", "MOV:E,WEST")
    assert (client.result, client.player, client.plies, client.refused) == ("lost", 1, 3, "MOV:E,WEST")


def test_our_client_that_was_never_asked_for_a_move_was_the_second_player() -> None:
    """The first player is asked as soon as both have set up; our client cannot know the port of every server."""
    client, why, _ = played_over(
        lines("SET?", "OK ", "WON:14R24R34R44R15B25B35B45B41b31b21b11b40r30r20r10r"), Scripted()
    )
    assert (client.result, why, client.player, client.plies) == ("won", "", 1, 0)
    [read] = read_games(client.record(("ours", "theirs")) or "")
    assert (read.result, read.headers["Second"]) == ("0-1", "ours")
    assert [GAME.setups.text(row) for row in read.board.setups] == ["EFGH", "ABCD"]


def test_our_client_is_told_the_end_before_its_setup_is_taken() -> None:
    """The opponent may lose the game meanwhile, and leave."""
    referee = Referee()
    for player in (0, 1):
        referee.connect(player, 0.0)
    referee.receive(0, b"x" * 2000, 0.0)
    client, why, heard = played_over("".join(data.decode() for player, data in referee.sent if player == 1), Scripted())
    assert (client.result, why, heard) == ("won", "", lines("SET:ABCD"))
    assert client.record(("a", "b")) is None


def pump(referee: Referee, clients: Sequence[Client], quirk: Callable[[str], str] = lambda line: line) -> None:
    """Carry lines between a referee and clients until the game is over."""
    for player in (0, 1):
        referee.connect(player, 0.0)
    while referee.sent:
        player, data = referee.sent.pop(0)
        answer = clients[player].hear(quirk(data.decode().removesuffix("\r\n")))
        if answer is not None:
            referee.receive(player, f"{answer}\r\n".encode(), 0.0)


@pytest.mark.parametrize("seed", range(12))
def test_two_clients_follow_a_whole_game_though_the_server_repeats_old_captures(seed: int) -> None:
    """The public server says R or B behind OK again, after an escape for example: clients must not believe it."""
    rng = random.Random(seed)

    def quirk(line: str) -> str:
        return f"OK{rng.choice('RB ')}" if line.startswith("OK") else line

    referee = Referee()
    # Both expect to be the first player until they see the board.
    clients = [Client(RandomAgent(seed + player), seed=seed + player) for player in (0, 1)]
    pump(referee, clients, quirk)
    outcome = referee.board.outcome()
    for player, client in enumerate(clients):
        won = "drawn" if outcome.winner is None else "won" if outcome.winner == player else "lost"
        assert (client.player, client.result, client.end) == (player, won, outcome.end)
        text = client.record(("a", "b"))
        assert text is not None
        [read] = read_games(text)
        assert read.outcome == outcome and [*map(list, read.board.setups)] == [*map(list, referee.board.setups)]
        assert read.board.plies == referee.board.plies and client.agent is not None
    if outcome.end != "escape":  # by either of two directions, which look the same
        assert record(referee, ["a", "b"]).splitlines()[3:] == clients[0].record(("a", "b")).splitlines()[3:]  # type: ignore[union-attr]


def test_a_view_of_a_followed_game_is_the_view_of_the_game() -> None:
    """Whatever colours are dealt to the opponent's ghosts, the agent is handed what it would have here."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        board: Any = Board("geister", seed=seed)
        games = [SeenGame(board.setups[player], 0) for player in (0, 1)]
        while not board.is_over:
            player = board.turn
            games[player].look(server.board_text(board, player))
            seen, real = games[player].view(), board.view(player)
            assert seen.snapshot().pack().tobytes() == real.snapshot().pack().tobytes()
            assert seen.history == real.history
            action = int(rng.choice(board.legal_actions))
            games[player].made(action)
            board.push(action)


def test_our_client_copes_with_an_opponent_whose_setup_is_none() -> None:
    """The public server lets a player name one red ghost four times."""
    client = Client(Scripted())
    for line in ("SET?", "OK ", "WON:14R24R34R44R15B25B35B45B41r31b21b11b40b30b20b10b"):
        client.hear(line)
    assert client.result == "won" and client.record(("a", "b")) is None and client.plies == 0
    with pytest.raises(NotationError, match="another than the one that we have followed"):
        SeenGame(GAME.setups.parse("ABCD")).look(START.replace("u", "b"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([], "the server has closed the connection"),
        (["SET?"], "the server has closed the connection"),
        (["SET?", "NG "], "the server has refused our setup, SET:ABCD"),
        (["OK "], "had not been asked for anything"),
        (["SET?", "OK ", "OK "], "had not been asked for anything"),
        ([f"LST:{START}"], "the server said 'LST.*which it does not say here"),
        ([f"MOV?{START}"], "the server said 'MOV\\?14R.*which it does not say here"),
        (["SET?", "OK ", "HELLO"], "the server said 'HELLO', which it does not say here"),
        (["SET?", "OK ", "MOV?14R"], "a board is 48 characters"),
        (["SET?", "OK ", f"MOV?{START.replace('14R', '13R')}"], "the board that is shown is another"),
        (["SET?", "OK ", f"MOV?{START}", "OK ", f"MOV?{START}"], "the board that is shown is another"),
        (["SET?", "OK ", f"MOV?{START}", "OK ", f"MOV?{START.replace('14R', '13R').replace('40u', '50u')}", "OK "],
         "the agent resigned, and has left"),
        (["x" * 2000], "without ending the line"),
    ],
)  # fmt: skip
def test_our_client_breaks_a_game_off_in_words(said: list[str], why: str) -> None:
    agent = Scripted("MOV:A,N")
    client, broken, _ = played_over(lines(*said), agent)
    assert client.result is None and agent.closed == 1 and client.record(("a", "b")) is None
    assert re.search(why, broken), broken


def test_an_agent_that_resigns_leaves() -> None:
    client = Client(Scripted())
    client.hear("SET?")
    client.hear("OK ")
    with pytest.raises(Resigned):
        client.hear(f"MOV?{START}")


def test_a_board_that_follows_from_no_legal_move_is_refused() -> None:
    seen = SeenGame(GAME.setups.parse("ABCD"))
    seen.look(START)
    seen.made(server.legal_action(seen.view(), "MOV:A,N"))
    seen.look(START.replace("14R", "13R").replace("40u", "50u"))
    seen.made(server.legal_action(seen.view(), "MOV:A,S"))
    with pytest.raises(NotationError, match="follows from no legal move"):
        seen.look(START.replace("40u", "01u"))  # round the edge of the board


def test_a_server_that_is_not_there_is_waited_for() -> None:
    free = Door("127.0.0.1", 0)
    port = free.port
    free.close()
    doors: list[Door] = []
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            doors.append(Door("127.0.0.1", port))

    connect("127.0.0.1", port, 10.0, clock=lambda: 0.0, pause=pause).close()
    assert len(pauses) == 3
    doors[0].close()
    with pytest.raises(ConfigurationError, match=f"nobody listens on port {port}"):
        connect("127.0.0.1", port, 10.0, clock=itertools.count(0, 6).__next__, pause=lambda _: None)
    with pytest.raises(ConfigurationError, match="cannot be reached"):
        connect("no such host", port, 0.0)


# ── A client in the arena ────────────────────────────────────────────────────────────────────────


class PromptWire(Wire):
    """A connection whose client answers at once, whenever it is asked: with what it was given to say.

    When it has said all it falls silent, or leaves. In a `hurry` ten minutes pass from then on whenever anybody looks
    at the clock.
    """

    def __init__(self, transport: Transport, replies: Sequence[bytes], leaves: bool, hurry: bool) -> None:
        super().__init__()
        self._transport, self._replies, self._leaves, self._hurry = transport, list(replies), leaves, hurry
        self.connect(transport.ours)

    def send(self, *words: str) -> None:
        super().send(*words)
        if "?" not in words[-1]:
            return
        if self._replies:
            self._transport.say(self._replies.pop(0))
        if not self._replies:
            if self._leaves:
                self._transport.leave()
            if self._hurry:
                self.clock = itertools.count(0, 611).__next__


class Arrivals:
    """Connections with such clients."""

    def __init__(self, replies: Sequence[bytes], leaves: bool, hurry: bool) -> None:
        self.transport = Transport("", leaves=False)
        self._wire = PromptWire(self.transport, replies, leaves, hurry)

    def await_client(self, seconds: float) -> Wire:
        return self._wire

    def close(self) -> None:
        pass


def guest(*replies: bytes, leaves: bool = False, hurry: bool = False) -> tuple[Guest, Transport]:
    arrivals = Arrivals(replies, leaves, hurry)
    return Guest("geister:script", arrivals, start_seconds=1.0), arrivals.transport


def test_a_client_in_the_arena_is_talked_to_as_on_the_public_server() -> None:
    agent, transport = guest(b"SET:AAAA\r\nSET:abcd\r\n", b"MOV:A,NORTH\r\nMOV:B,N\r\n", b"MOV:a,n\r\n")
    assert isinstance(agent, Program) and isinstance(agent, Watcher)
    row = agent.set_up(GAME, 0, random.Random(0))
    assert GAME.setups.text(row) == "ABCD"
    board: Any = Board(GAME, setups=(row, "EFGH"))
    for line in ("MOV:A,NORTH", "MOV:D,N", "MOV:A,N", "MOV:E,W"):
        action = server.legal_action(board, line)
        assert board.turn == 1 or agent.answer(board.view(0)) == action
        board.push(action)
        agent.saw(board.view(0))
    agent.ended("resigned")
    agent.close()
    assert transport.heard() == lines(
        "SET?", "NG ", "OK ", f"MOV?{START}", "OK ", "NG ", "MOV?13R24R34R44R15B25B35B45B41u31u21u12u40u30u20u10u",
        "OKB", "WON:12R24R34R44R15B25B35B45B41u31u21u99b50u30u20u10u",
    )  # fmt: skip
    assert agent.transcript[0] == "> SET?" and agent.last_words() == ""


@pytest.mark.parametrize(
    ("said", "options", "kind", "reason", "heard"),
    [
        (b"", {"leaves": True}, "crashed", "failed", ["SET?"]),
        (b"SET:AB", {"leaves": True}, "crashed", "failed", ["SET?"]),
        (b"", {"hurry": True}, "silent", "time", ["SET?"]),
        (b"SET:ABCD\n", {"hurry": True}, "late", "time", ["SET?"]),
        (b"x" * 2000, {}, "babbling", "illegal", ["SET?"]),
        (b"SET:AAAA\r\n" * (MOST_REFUSED + 1), {}, "bad setup", "illegal", ["SET?", *["NG "] * (MOST_REFUSED + 1)]),
    ],
)
def test_a_client_that_does_not_set_up_has_lost(
    said: bytes, options: dict[str, bool], kind: str, reason: str, heard: list[str]
) -> None:
    agent, transport = guest(said, **options)
    with pytest.raises(BotError) as caught:
        agent.set_up(GAME, 0, random.Random(0))
    assert (caught.value.kind, caught.value.reason) == (kind, reason) and agent.fault is caught.value
    agent.ended("illegal")
    agent.close()
    assert transport.heard() == lines(*heard)


@pytest.mark.parametrize(
    ("said", "options", "kind", "refused"),
    [
        (b"MOV:E,NORTH\r\n", {}, "illegal", True),
        (b"MOV:A,UP\r\n", {}, "unintelligible", True),
        (b"\r\n", {}, "unintelligible", True),
        (b"MOV:A,NORTH\nMOV:A,NORTH\r\n", {}, "unintelligible", True),
        (b"MOV:A,NORTH\n", {"hurry": True}, "late", False),
        (b"", {"hurry": True}, "late", False),
        (b"x" * 5000, {}, "babbling", False),
        (b"", {"leaves": True}, "crashed", False),
        (b"MOV:A", {"leaves": True}, "crashed", False),
    ],
)
def test_a_client_that_does_not_move_has_lost(said: bytes, options: dict[str, bool], kind: str, refused: bool) -> None:
    agent, transport = guest(b"SET:ABCD\r\n", said, **options)
    row = agent.set_up(GAME, 0, random.Random(0))
    board: Any = Board(GAME, setups=(row, "EFGH"))
    with pytest.raises(BotError) as caught:
        agent.answer(board.view(0))
    agent.ended("illegal")
    agent.close()
    assert caught.value.kind == kind
    last = lines(*(["NG "] if refused else []), f"LST:{START}")
    assert transport.heard() == lines("SET?", "OK ", f"MOV?{START}") + last


def test_lines_out_of_turn_are_refused_and_a_flood_of_them_loses() -> None:
    agent, transport = guest(b"SET:ABCD\r\nMOV:A,N\r\nMOV:A,N\r\n", b"", leaves=True)
    row = agent.set_up(GAME, 1, random.Random(0))
    board: Any = Board(GAME, setups=("EFGH", row))
    board.push(board.legal_actions[0])
    with pytest.raises(BotError) as caught:
        agent.answer(board.view(1))
    agent.close()
    assert caught.value.kind == "crashed"
    assert [line[:4] for line in transport.heard().split("\r\n")] == ["SET?", "OK ", "NG ", "NG ", "MOV?", ""]
    agent, _ = guest(b"SET:ABCD\r\n" + b"hi\r\n" * (2 * MOST_REFUSED))
    agent.set_up(GAME, 1, random.Random(0))
    with pytest.raises(BotError, match="lines out of turn"):
        agent.answer(board.view(1))
    agent.close()


def test_where_chance_draws_the_colours_a_client_is_shown_them() -> None:
    agent, transport = guest(b"SET:ABCD\r\n")
    paper = game("geister", "paper")
    agent.check_plays(paper)
    agent.give_setup(paper, GAME.setups.parse("EFGH"))
    assert GAME.setups.text(agent.set_up(paper, 0, random.Random(0))) == "EFGH"
    agent.close()
    transport.heard()


def test_games_and_texts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="plays Geister, not 'kuhn'"):
        Match("random", f"geister:{EXAMPLE}", 2, "kuhn")
    with pytest.raises(ConfigurationError, match="knows the full board of 'geister' only, not 'geister-33a'"):
        Match("random", f"geister:{EXAMPLE}", 2, "geister-33a")
    with pytest.raises(ConfigurationError, match="cannot be found"):
        make_agent("geister:no-such-program")
    for port in ("", "0", "65536", "x", "-1"):
        with pytest.raises(ConfigurationError, match="is no port: give a number"):
            make_agent(f"geister-tcp:{port}")
    door = Door("127.0.0.1", 0)
    with pytest.raises(ConfigurationError, match="cannot be opened .*--workers 1"):
        make_agent(f"geister-tcp:{door.port}")
    door.close()


def test_a_program_plays_a_match_and_is_gone_after_each_game() -> None:
    match = Match(f"geister:{EXAMPLE} {{host}} {{port}}", "random", 4, "geister", seed=5)
    assert match.programs == (True, False) and not match.in_batches
    games = play_games(match, range(4))
    assert all(each.result.end in GAME.ends and each.setups[0] for each in games), [each.result for each in games]
    again = play_games(match, range(4))
    assert [each.moves for each in games] == [each.moves for each in again]


def test_two_programs_play_each_other_and_end_by_themselves() -> None:
    [one] = play_games(Match(f"geister:{EXAMPLE}", f"geister:{EXAMPLE} {{host}} {{port}}", 1, "geister", seed=2), [0])
    assert one.result.end in GAME.ends


class Hurry:
    """A clock that stands still until a program says that it does nothing more, by making a file; from then on ten
    minutes pass whenever anybody looks at it.
    """

    def __init__(self, idle: Path) -> None:
        self._idle, self._now = idle, 0.0

    def __call__(self) -> float:
        if self._idle.exists():
            self._now += 611
        return self._now


@pytest.mark.parametrize(
    ("fault", "note"),
    [
        ("refuse", "failed: it did not connect to port [0-9]+: it ended with exit code 1.*it does not want to play"),
        ("leave before the setup", "failed: it closed the connection; it ended with exit code 3.*leaving"),
        ("half a setup", "failed: it closed the connection after 'SET:AB', which is half a line; .* exit code 3"),
        ("leave", "failed: it closed the connection; it ended with exit code 3.*leaving"),
        ("half a line", "failed: it closed the connection after 'MOV:A,NOR', which is half a line"),
        ("flood", "illegal: it sent more than 1,024 characters"),
        ("illegal", "illegal: 'MOV:E,NORTH' is not legal: another ghost of its own stands NORTH .*ready to illegal"),
        ("unintelligible", "illegal: 'I pass' is no move"),
        ("stay away", "time: nobody has connected to port"),
        ("sleep", "time: it sent nothing within"),
        ("line feed", "time: it sent 'MOV:A,NORTH␊', and no end of the line"),
    ],
)
def test_a_program_that_misbehaves_loses_one_game_and_the_report_says_why(
    fault: str, note: str, tmp_path: Path
) -> None:
    idle = tmp_path / "idle"
    command = [*FAULTY.split(), fault, "{host}", "{port}", str(idle)]

    def make(seed: int = 0) -> Guest:
        return make_program(command, seed, clock=Hurry(idle))

    games = play_games(Match(make, "random", 2, "geister", seed=1), [1])
    [lost] = games
    assert (lost.result.winner, lost.result.end) == (0, "forfeit")
    assert re.match(note, lost.result.note), lost.result.note


def test_programs_may_try_setups_and_print_what_they_like() -> None:
    for fault in ("many setups", "babble"):
        made = make_program([*FAULTY.split(), fault, "{host}", "{port}"], 0)
        [one] = play_games(Match(lambda seed=0, made=made: made, "random", 1, "geister", "total_limit=20"), [0])
        assert one.result.end in GAME.ends, one.result
        assert one.setups[0] == ("EFGH" if fault == "many setups" else "ABCD")


def test_a_client_that_comes_by_itself_plays_game_after_game() -> None:
    door = Door("127.0.0.1", 0)
    port = door.port
    door.close()
    agent = make_caller(str(port), 0)
    found = []
    for number in range(2):
        process = subprocess.Popen([*EXAMPLE.split(), "127.0.0.1", str(port)])
        [one] = play_games(
            Match(lambda seed=0, agent=agent: agent, "random", 2, "geister", "total_limit=40", seed=3), [number]
        )
        assert process.wait(PATIENCE) == 0
        found.append(one.result.end)
        agent = make_caller(str(port), 0)
    agent.close()
    assert set(found) <= set(GAME.ends)


def test_a_client_that_never_comes_is_given_up() -> None:
    door = Door("127.0.0.1", 0)
    wire = Wire(clock=itertools.count(0, 100).__next__)
    with pytest.raises(BotError, match=f"nobody has connected to port {door.port} within 50 s") as caught:
        wire.await_client(door, 50.0)
    assert not caught.value.spoke and caught.value.kind == "silent"
    door.close()


def test_lines_are_cut_at_their_ends_and_made_harmless() -> None:
    cut = Lines()
    cut.add(b"a\r\n\r\nb\nc\r\n\x1b[2J\xff\r")
    assert [cut.next() for _ in range(4)] == ["a", "", "b␊c", None]
    cut.add(b"\n")
    assert cut.next() == "␛[2J\\xff" and cut.half == ""


# ── The server over sockets ──────────────────────────────────────────────────────────────────────


class Caller:
    """A client over a real socket, that waits for what it is told."""

    def __init__(self, port: int | None) -> None:
        assert port is not None
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")

    def hear(self) -> str:
        return self.file.readline().decode().removesuffix("\r\n")

    def say(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def leave(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture
def host() -> Iterator[Host]:
    with Host("127.0.0.1", (0, 0)) as house:
        yield house


def hosted(house: Host, referee: Referee, agents: tuple[Any, Any] = (None, None)) -> threading.Thread:
    thread = threading.Thread(target=house.play, args=(referee, agents))
    thread.start()
    return thread


def test_a_client_that_goes_before_its_game_leaves_its_place_to_another(host: Host) -> None:
    referee = Referee()
    thread = hosted(host, referee)
    early = Caller(host.ports[0])
    assert early.hear() == "SET?"
    early.say("SET:ABCD\r\n")
    assert early.hear() == "OK "
    early.leave()
    first = Caller(host.ports[0])
    assert first.hear() == "SET?"
    second = Caller(host.ports[1])
    assert second.hear() == "SET?"
    second.say("SET:EF")
    first.say("SET:EFGH\r\n")
    assert first.hear() == "OK "
    second.leave()
    assert first.hear()[:4] == "WON:" and first.hear() == ""
    first.leave()
    thread.join()
    assert forfeited(referee)[:2] == (0, "crashed")


def test_an_event_of_the_other_player_ends_a_game_whose_time_is_up() -> None:
    now = [0.0]
    with Host("127.0.0.1", (0, 0), clock=lambda: now[0]) as house:
        referee = Referee()
        thread = hosted(house, referee)
        callers = [Caller(port) for port in house.ports]
        for caller in callers:
            assert caller.hear() == "SET?"
            caller.say("SET:ABCD\r\n")
            assert caller.hear() == "OK "
        assert callers[0].hear()[:4] == "MOV?"
        callers[1].say("MOV:A,N\r\n")
        assert callers[1].hear() == "NG "
        now[0] = 611.0
        callers[1].say("MOV:A,N\r\n")
        assert [callers[1].hear()[:4], callers[0].hear()[:4]] == ["WON:", "LST:"]
        thread.join()
        for caller in callers:
            caller.leave()
    assert forfeited(referee) == (1, "late", "it sent nothing within 610 s")


def test_time_runs_out_without_any_event() -> None:
    """Whenever the server looks at its clock, more time has passed than both players have."""
    with Host("127.0.0.1", (0, 0), clock=itertools.count(0, 611).__next__) as house:
        referee = Referee()
        thread = hosted(house, referee)
        callers = [Caller(port) for port in house.ports]
        heard = [[caller.hear()[:4] for _ in range(2)] for caller in callers]
        assert heard == [["SET?", "LST:"], ["SET?", "WON:"]]
        thread.join()
        for caller in callers:
            caller.leave()
    assert forfeited(referee) == (1, "late", "it sent nothing within 610 s")


def test_a_client_plays_an_agent_of_ours_on_our_server() -> None:
    with Host("127.0.0.1", (None, 0)) as house:
        assert house.remote == (False, True) and house.ports[0] is None
        referee = Referee(remote=house.remote)
        thread = hosted(house, referee, (RandomAgent(1), None))
        client = Client(RandomAgent(2), 1, 2)
        assert play_game(client, lambda: connect("127.0.0.1", house.ports[1] or 0, PATIENCE)) == ""
        thread.join()
    assert referee.ending is not None and referee.ending.kind == ""
    assert (client.player, client.end) == (1, referee.ending.end)
    log = [line for line in referee.log if line.startswith("player=")]
    assert len(log) == 2 + referee.ending.plies and referee.log[-1].startswith("winner=")


class Wrecked(Scripted):
    def answer(self, view: Any) -> int:
        raise RuntimeError("no more")


@pytest.mark.parametrize(("agent", "kind"), [(Scripted(), "resigned"), (Wrecked(), "crashed")])
def test_an_agent_of_ours_that_gives_up_or_fails_has_lost(agent: Scripted, kind: str) -> None:
    with Host("127.0.0.1", (None, 0)) as house:
        referee = Referee(remote=house.remote)
        thread = hosted(house, referee, (agent, None))
        caller = Caller(house.ports[1])
        caller.say("SET:ABCD\r\n")
        assert [caller.hear()[:4] for _ in range(3)] == ["SET?", "OK ", "WON:"]
        caller.leave()
        thread.join()
    assert forfeited(referee)[:2] == (1, kind)
    [read] = read_games(record(referee, ["ours", "theirs"]))
    assert (read.result, read.end) == ("0-1", "resigned" if kind == "resigned" else "illegal")


# ── Commands ─────────────────────────────────────────────────────────────────────────────────────


def vauban(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "vauban", *arguments]


def begin_server(*arguments: str) -> tuple[subprocess.Popen[str], list[str]]:
    """Start a server on free ports; returns it and its ports, as it says them."""
    count = 1 if {"--first", "--second"} & set(arguments) else 2
    command = vauban("geister-server", "--port", "0", *arguments)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"})
    assert process.stdout is not None
    return process, [process.stdout.readline().split("port ")[1].split()[0] for _ in range(count)]


def test_two_client_processes_play_whole_games_on_our_server(tmp_path: Path) -> None:
    files = ("--log", str(tmp_path / "logs"), "--save", str(tmp_path / "games.txt"))
    process, ports = begin_server("--games", "2", "--json", *files)
    saved = tmp_path / "mine.txt"
    options = ("--games", "2", "--json", "--seed", "4", "--save", str(saved))
    command = vauban("geister-client", "random", "--port", ports[0], *options)
    ours = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for _ in range(2):
        assert subprocess.run([*EXAMPLE.split(), "127.0.0.1", ports[1]], check=False).returncode == 0
    told = json.loads(ours.communicate(timeout=PATIENCE)[0].splitlines()[-1])
    table = json.loads(process.communicate(timeout=PATIENCE)[0].splitlines()[-1])
    assert process.returncode == ours.returncode == 0
    assert [each["end"] for each in told["games"]] == [each["end"] for each in table["games"]]
    assert [each["plies"] for each in told["games"]] == [each["plies"] for each in table["games"]]
    assert told["won"] == sum(each["winner"] == 0 for each in table["games"])
    games, mine = (read_games(path.read_text()) for path in (tmp_path / "games.txt", saved))
    for logged, one, other in zip(sorted((tmp_path / "logs").iterdir()), games, mine, strict=True):
        assert one.board.actions[:-1] == other.board.actions[:-1] and one.outcome == other.outcome
        log = logged.read_text().splitlines()
        assert logged.name.startswith("log-") and len(log) == 2 + one.board.plies + 1
        board: Any = Board(GAME, setups=one.board.setups)
        for line in log[2:-1]:
            board.push(server.legal_action(board, line.split(",", 1)[1]))
        assert board.outcome() == one.outcome


def test_a_server_ends_cleanly_when_it_is_interrupted_in_a_game() -> None:
    process, [port] = begin_server("--second", "random", "--json", "--seed", "1")
    caller = Caller(int(port))
    assert caller.hear() == "SET?"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and json.loads(out.splitlines()[-1]) == {"games": []}
    assert caller.hear() == ""
    caller.leave()


def test_the_server_says_what_a_client_does_wrong() -> None:
    process, [port] = begin_server("--second", "random", "--games", "1", "--seed", "1")
    subprocess.run([*FAULTY.split(), "illegal", "127.0.0.1", port], check=True)
    out, _ = process.communicate(timeout=PATIENCE)
    assert "game 1: the first player lost after 0 plies (illegal): 'MOV:E,NORTH' is not legal: another ghost" in out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["geister-server", "--first", "random", "--second", "random"], "play each other with vauban match"),
        (["geister-server", "--first", f"geister:{EXAMPLE}"], "let it connect by itself"),
        (["geister-server", "--rules", "paper"], "players choose their setups"),
        (["geister-server", "--first", "nobody"], "there is no agent 'nobody'"),
        (["geister-client", "nobody"], "there is no agent 'nobody'"),
    ],
)
def test_commands_refuse_what_cannot_be(arguments: list[str], why: str) -> None:
    done = CliRunner().invoke(make_app(arguments[0]), arguments)
    assert why in str(done.exception)


def test_a_client_whose_game_is_broken_off_says_so_and_fails() -> None:
    door = Door("127.0.0.1", 0)
    process = subprocess.Popen(
        vauban("geister-client", "random", "--port", str(door.port), "--json", "--games", "3"),
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    while True:  # it comes when it is ready
        try:
            door.accept().close()
            break
        except BlockingIOError:
            select.select([door], [], [], PATIENCE)
    out, _ = process.communicate(timeout=PATIENCE)
    door.close()
    table = json.loads(out.splitlines()[-1])
    assert process.returncode == 1 and [each["result"] for each in table["games"]] == ["broken off"]


def test_an_ending_is_one_sentence() -> None:
    assert ending_words(Ending(None, "total_limit", 300)) == "a draw after 300 plies (total_limit)"
    assert ending_words(Ending(1, "escape", 9)) == "the second player won after 9 plies (escape)"
    assert choose_action(RandomAgent(1), Board(GAME, seed=1).view(0)) >= 0
