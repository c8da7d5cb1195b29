"""The wall, seen from the table: a sight depends on nothing that is hidden, and says all that the page needs."""

from __future__ import annotations

import itertools
import json
import random

import numpy as np
import pytest
from test_web_table import MACHINE, play, table
from web_server import BLUE, RED

from vauban.board import Board
from vauban.errors import VaubanError
from vauban.games.stratego.pieces import PLAYERS, TYPES
from vauban.games.stratego.setups import parse_setup, random_setup, setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.web import sight as wall
from vauban.web.stratego.show import SHOW
from vauban.web.table import PERSON, WATCH, Table, new_table

FRIENDS = new_table("barrage", "friend", (PERSON, PERSON))


def random_table(variant: str, seed: int, plies: int) -> Table:
    """A game of two people, played at random."""
    rng = random.Random(seed)
    v = VARIANTS[variant]
    while True:
        at = Table.made(new_table(variant, "friend", (PERSON, PERSON)))
        try:
            for seat in PLAYERS:
                at.give_setup(seat, setup_text(random_setup(v, rng), v))
        except Exception:
            continue
        for _ in range(plies):
            if at.phase == "play":
                move = rng.choice(list(at.board.legal_moves))
                at.move(PLAYERS[at.turn], "".join(map(v.square_name, move)))
        if at.phase == "play":
            return at


def twin_of(at: Table, viewer: int, rng: random.Random) -> Table | None:
    """The same game, but for the types of enemy pieces that the viewer has not seen; None if there is no other."""
    foe, v = 1 - viewer, at.board.variant
    setup = parse_setup(at.setups[foe], v)
    places: dict[bool, list[int]] = {False: [], True: []}
    for piece in at.board.pieces(foe).values():
        if not piece.revealed:
            places[piece.moved].append(piece.identity if foe == 0 else v.squares - 1 - piece.identity)
    changed = setup.copy()
    for group in places.values():
        mixed = list(group)
        rng.shuffle(mixed)
        changed[group] = setup[mixed]
    if np.array_equal(changed, setup):
        return None
    made = at.events[0]
    events = [made]
    for event in at.events[1:]:
        if event["what"] == "setup" and event["by"] == foe:
            event = event | {"setup": setup_text(changed, v)}
        events.append(event)
    try:
        return Table.replayed(events)
    except Exception:  # a Scout among them has run, say
        return None


def traffic(at: Table, viewer: int) -> str:
    """All that a player is sent in the course of a game, and a watcher who looks on with the player's eyes."""
    seat, said = PLAYERS[viewer], []
    now = Table.replayed(at.events[:3])
    v = now.board.variant
    for event in [*at.events[3:], None]:
        said += [wall.sight(now, seat), wall.sight(now, WATCH, eyes=seat), wall.moves(now, now.plies - 1)]
        for square in range(now.plies % 7, v.squares, 29):
            said.append(wall.explain(now, seat, v.square_name(square) + v.square_name((square + 10) % v.squares)))
        if event is not None:
            now.move(PLAYERS[now.turn], event["move"])
    return json.dumps(said)


def compare_twins() -> int:
    """Games and their twins must look the same; how many were compared."""
    rng, compared = random.Random(5), 0
    for variant, plies in (("barrage", 30), ("duel", 24), ("fives", 9), ("classic", 16)):
        for seed in range(3):
            at = random_table(variant, seed, plies)
            for viewer in (0, 1):
                twin = twin_of(at, viewer, rng)
                if twin is not None:
                    compared += 1
                    assert traffic(twin, viewer) == traffic(at, viewer), "what is hidden can be seen"
    return compared


def test_exchanging_hidden_pieces_changes_nothing_that_a_seat_is_sent():
    assert compare_twins() > 15


@pytest.mark.parametrize("leak", ["types", "order", "legal"])
def test_a_planted_leak_is_caught(monkeypatch, leak):
    honest = SHOW.position

    def leaky(look, viewer):
        found = honest(look, viewer)
        board = tables[0].board if tables else look
        viewer = look.player
        if leak == "types":
            found["pieces"][0]["hint"] = [piece.kind for piece in board.pieces(1 - viewer).values()]
        elif leak == "order":
            ranks = {board.variant.square_name(s): p.kind for s, p in board.pieces().items()}
            found["pieces"].sort(key=lambda piece: ranks[piece["at"]])
        else:
            found["threats"] = len(board.legal_moves)
        return found

    tables: list[Table] = []
    honest_look = wall._look

    def watched(at, seat, eyes):
        tables[:] = [at]
        return honest_look(at, seat, eyes)

    monkeypatch.setattr(wall, "_look", watched)
    monkeypatch.setattr(SHOW, "position", leaky)
    with pytest.raises(AssertionError, match="what is hidden can be seen"):
        compare_twins()


def test_a_piece_that_was_not_seen_has_no_type_until_the_end():
    at = random_table("barrage", 3, 40)
    for seat in PLAYERS:
        pieces = wall.sight(at, seat)["pieces"]
        hidden = [piece for piece in pieces if piece["side"] != seat and not piece["revealed"]]
        assert hidden and all(piece["type"] is None for piece in hidden)
        assert all(piece["type"] for piece in pieces if piece["side"] == seat)
        for piece in pieces:
            truth = at.board.piece_at(piece["at"])
            assert piece["type"] in (None, TYPES[truth.kind].lower())
            assert piece["from"] == at.board.variant.square_name(truth.identity)
    at.resign("red")
    for seat in PLAYERS:
        said = wall.sight(at, seat)
        assert all(piece["type"] for piece in said["pieces"])
        assert said["over"]["setups"] == dict(zip(PLAYERS, at.setups, strict=True))
        assert said["legal"] == []


def test_before_the_game_one_sees_ones_own_setup_and_nothing_else():
    at = Table.made(new_table("barrage", "friend", (PERSON, PERSON)))
    at.give_setup("blue", BLUE)
    assert wall.sight(at, "red")["pieces"] == []
    own = wall.sight(at, "blue")
    assert own["ready"] == {"red": False, "blue": True} and own["phase"] == "setup"
    assert {("h10", "flag"), ("h9", "bomb")} <= {(piece["at"], piece["type"]) for piece in own["pieces"]}
    assert len(own["pieces"]) == 8


def test_whoever_watches_machines_sees_both_armies_and_no_promise_is_hidden():
    at = table("watch", (MACHINE, MACHINE))
    said = wall.sight(at, "watch")
    assert all(piece["type"] for piece in said["pieces"])
    assert said["legal"] == [] and said["commitment"]["blue"]


@pytest.mark.parametrize("side", PLAYERS)
def test_whoever_watches_with_the_eyes_of_a_side_sees_its_pieces_and_is_offered_no_move(side):
    at = random_table("barrage", 3, 40)
    said, own = wall.sight(at, WATCH, eyes=side), wall.sight(at, side)
    assert (said["eyes"], own["eyes"]) == (side, None)
    assert said["pieces"] == own["pieces"] and any(piece["type"] is None for piece in said["pieces"])
    assert said["legal"] == [] and said["barred"] == []
    at.resign("red")
    assert all(piece["type"] for piece in wall.sight(at, WATCH, eyes=side)["pieces"])


def test_what_has_fallen_is_not_left():
    at = play(table(), "e3e4", "a9a2")
    said = wall.sight(at, "red")
    army = {TYPES[kind].lower(): count for kind, count in enumerate(at.board.variant.army) if count}
    fallen = [at.board.captured(player) for player in (0, 1)]
    assert any(fallen)
    for player, side in enumerate(PLAYERS):
        kinds = [TYPES[kind].lower() for kind in fallen[player]]
        assert said["left"][side] == {kind: count - kinds.count(kind) for kind, count in army.items()}


def test_the_legal_moves_are_ones_own_and_only_on_turn():
    at = play(table(), "e3e4")
    assert wall.sight(at, "red")["legal"] == [] and wall.sight(at, "red")["barred"] == []
    said = wall.sight(at, "blue")
    name = at.board.variant.square_name
    squares = {(name(move.source), name(move.target)) for move in at.board.legal_moves}
    assert sorted(said["legal"]) == sorted(source + target for source, target in squares)
    reached = [(source, target, text) for source, goals in said["reach"].items() for target, text in goals.items()]
    assert sorted(reached) == sorted((source, target, source + target) for source, target in squares)


def test_a_fight_and_a_long_run_show_what_a_piece_is():
    at = play(table(), "e3e4", "a9a5", "e4e3", "a5a2")
    assert [move["shows"] for move in wall.moves(at, 0)] == [False, True, False, True]
    assert [move["battle"] is None for move in wall.moves(at, 0)] == [True, True, True, False]


def test_before_ones_turn_a_piece_reaches_what_it_might_and_what_never_moves_has_no_reach():
    at = play(table(), "e3e4")
    reach = wall.sight(at, "red")["reach"]
    own = {piece["at"]: piece["type"] for piece in wall.sight(at, "red")["pieces"] if piece["side"] == "red"}
    assert set(reach) == {square for square, kind in own.items() if kind not in ("bomb", "flag")}
    # The Miner one square, whatever stands there; the Scout as far as the board and the lakes allow.
    assert set(reach["e4"]) == {"e3", "e5", "d4", "f4"}
    assert set(reach["j1"]) == {f"j{row}" for row in range(2, 11)} | {f"{column}1" for column in "abcdefghi"}
    assert set(reach["j1"].values()) == {f"j1{target}" for target in reach["j1"]}
    # Who looks on is offered nothing.
    assert wall.sight(at, WATCH, eyes="red")["reach"] == {}


def test_what_is_barred_is_what_the_board_bars_with_the_same_words_and_plies():
    """The board knows all; the sight finds the same from a view."""
    rng, seen = random.Random(1), {"two_square": 0, "chase": 0}
    for seed in range(40):
        at = random_table("fives", seed, 1)
        for _ in range(40):
            if at.phase != "play":
                break
            board: Board = at.board
            expected = {}
            for rule in ("two_square", "chase"):
                for move in board.barred_moves(rule):
                    expected[move] = board.why_barred(move)
            said = wall.sight(at, PLAYERS[at.turn])["barred"]
            assert len(said) == len(expected)
            for each in said:
                why = expected[at.board.variant.square(each["from"]), at.board.variant.square(each["to"])]
                assert (each["rule"], each["ply"], each["reason"]) == (why.rule, why.ply, why.reason)
                seen[why.rule] += 1
            legal = list(board.legal_moves)
            last = [played.move for played in board.history if played.player == at.turn]
            back = [move for move in legal if last and move == (last[-1].target, last[-1].source)]
            quiet = [move for move in legal if board.piece_at(move.target) is None]
            move = rng.choice(back or quiet or legal)
            at.move(PLAYERS[at.turn], "".join(map(at.board.variant.square_name, move)))
    assert seen["two_square"] > 20, seen


def test_a_chase_is_barred_with_the_position_that_it_would_repeat():
    """A Marshal chases a Miner around: the move that closes the circle is barred."""
    at = Table.made(new_table("barrage", "friend", (PERSON, PERSON)))
    at.give_setup("red", "F........N/B........./..S.....OO/....M..G..")
    at.give_setup("blue", "F........./B........S/OO......MG/....N.....")
    play(at, "j1j2", "f7f6", "j2j1", "f6f5")
    play(at, "e4e5", "f5f4", "e5e4", "f4f3", "e4e3", "f3f4", "e3e4", "f4f5")
    [barred] = wall.sight(at, "red")["barred"]
    assert (barred["from"], barred["to"], barred["rule"], barred["ply"]) == ("e4", "e5", "chase", 5)
    said = wall.explain(at, "red", "e4e5")
    assert (said["rule"], said["ply"]) == ("chase", 5) and said["code"] == "chase"
    move = next(iter(at.board.barred_moves("chase")))
    assert at.board.why_barred(move).ply == 5


def test_what_a_chase_bars_is_told_to_the_chaser_alone_and_depends_on_nothing_that_is_hidden():
    line = "j1j2 f7f6 j2j1 f6f5 e4e5 f5f4 e5e4 f4f3 e4e3 f3f4 e3e4 f4f5"
    # What blue runs with, and what stands still, are exchanged: red sees the same, and is barred the same.
    armies = ("F........./B........S/OO......MG/....N.....", "G........./F........B/OO......NS/....M.....")
    told = []
    for blue in armies:
        at = Table.made({**FRIENDS, "game": "same"})
        at.give_setup("red", "F........N/B........./..S.....OO/....M..G..")
        at.give_setup("blue", blue)
        play(at, *line.split())
        assert wall.sight(at, "blue")["barred"] == []
        red = wall.sight(at, "red")
        assert [(each["rule"], each["from"], each["to"]) for each in red["barred"]] == [("chase", "e4", "e5")]
        assert set(red["barred"][0]) == {"from", "to", "rule", "ply", "reason"}
        told.append(json.dumps([red, wall.explain(at, "red", "e4e5")]))
        # The other side, asking after the same squares, learns nothing of it.
        assert wall.explain(at, "blue", "e4e5")["code"] == "turn"
    assert told[0] == told[1]


@pytest.mark.parametrize(("seat", "source", "target", "words"), [
    ("red", "e3", "e4", "legal"),
    ("red", "e3", "e5", "one"),
    ("red", "e3", "d4", "line"),
    ("red", "e3", "e3", "own"),
    ("red", "a1", "a2", "never"),
    ("red", "j1", "j2", "own"),
    ("red", "j1", "j5", "way"),
    ("red", "i1", "c5", "lake"),
    ("red", "e5", "e6", "no_piece"),
    ("red", "d8", "d7", "enemy"),
    ("red", "x9", "d7", "square"),
    ("blue", "d8", "d7", "turn"),
    ("blue", "a1", "a2", "turn"),
    ("watch", "a1", "a2", "nothing"),
])  # fmt: skip
def test_a_move_is_explained_by_a_code(seat, source, target, words):
    said = wall.explain(table(), seat, source + target)
    assert (said["say"], said["move"], said["code"]) == ("why", source + target, words)
    if words not in ("nothing", "square"):
        assert (said["from"], said["to"]) == (source, target)


SENTENCES = {
    "no_piece": "there is no piece on", "enemy": "holds a blue piece", "never": "never moves", "lake": "is a lake",
    "own": "holds a piece of your own", "line": "along a row or a column", "one": "moves one square",
    "way": "cannot pass over pieces or lakes", "two_square": "two-square rule", "chase": "chasing rule",
}  # fmt: skip


def test_the_code_of_a_refused_move_is_what_the_rules_say_in_a_sentence():
    """Every pair of squares, against what `Board.push` says."""
    at = play(table(), "e3e4", "d8d7", "e4e3", "d7d8", "e3e4", "d8d7")
    seen = set()
    for move in itertools.product(range(at.board.variant.squares), repeat=2):
        said = wall.explain(at, "red", "".join(map(at.board.variant.square_name, move)))
        if said["code"] == "legal":
            assert move in at.board.legal_moves
            continue
        with pytest.raises(VaubanError, match=SENTENCES[said["code"]]) as refused:
            at.board.copy().push(move)
        if said.get("targets"):
            assert f"it may go to {', '.join(said['targets'])}" in str(refused.value)
        seen.add(said["code"])
    assert seen == set(SENTENCES) - {"chase"}


def test_when_a_game_is_over_or_has_not_begun_there_is_nothing_to_play():
    at = table()
    at.resign("blue")
    early = Table.made(FRIENDS)
    for now in (at, early):
        assert wall.explain(now, "red", "e3e4")["code"] == "nothing"


def test_the_two_square_rule_is_explained_with_the_squares():
    at = play(table(), "e3e4", "d8d7", "e4e3", "d7d8", "e3e4", "d8d7")
    said = wall.explain(at, "red", "e4e3")
    steps = [["e3", "e4"], ["e4", "e3"], ["e3", "e4"]]
    assert (said["code"], said["rule"], said["type"], said["steps"]) == ("two_square", "two_square", "miner", steps)
    [barred] = wall.sight(at, "red")["barred"]
    assert barred == {key: said[key] for key in ("from", "to", "rule", "ply", "type", "steps", "reason")}


def test_clocks_are_told_as_they_stand():
    at = play(table(clock={"kind": "strategus"}), "e3e4")
    said = wall.sight(at, "red", spent=13_000, now=5.0)["clock"]
    assert said["running"] == "blue" and said["now"] == 5.0
    assert said["blue"] == {"bank": 890.0, "move": 167.0} and said["red"] == {"bank": 900.0, "move": 180.0}
    assert "whole" not in said and wall.sight(table(), "red")["clock"] is None
    at = play(table(clock={"kind": "bronstein", "minutes": 12, "seconds": 4, "whole": 50}), "e3e4")
    assert wall.sight(at, "red", spent=13_000)["clock"]["whole"] == 2_987.0


def test_the_end_is_told_with_what_opens_the_seal():
    at = table("level", (PERSON, MACHINE))
    at.resign("red")
    over = wall.sight(at, "red")["over"]
    assert (over["winner"], over["end"], over["detail"]) == ("blue", "resigned", "")
    assert wall.sight(at, "red")["over"]["salts"] == {"red": None, "blue": at.salts[1]}
    other = table()
    other.resign("red")
    assert wall.sight(other, "blue")["over"]["winner"] == "blue"
    assert other.setups[0] == RED
