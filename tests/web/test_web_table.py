"""Tables: what can be done at them and when, and that their events make them again."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from web_server import BLUE, RED

from vauban.games.stratego.setups import random_setup, setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.records import read_games, write_game
from vauban.web.commitment import commit, new_salt, verify
from vauban.web.shelf import ClearedError, ConflictError, Shelf
from vauban.web.table import PERSON, Sitter, Table, TableError, new_table

MACHINE = Sitter("machine", "Cadet", "cadet", "cadet", 7, 0.01)
SHUTTLE = ("e3e4", "d8d7", "e4e3", "d7d8")
"""Four moves that lead back to where they began."""


def table(kind="friend", sitters=(PERSON, PERSON), clock=None, takebacks=True) -> Table:
    found = Table.made(new_table("barrage", kind, sitters, clock, takebacks))
    found.give_setup("red", RED)
    found.give_setup("blue", BLUE, new_salt() if sitters[1].is_machine else None)
    return found


def play(at: Table, *moves: str) -> Table:
    for move in moves:
        at.move(("red", "blue")[at.turn], move)
    return at


def state(at: Table) -> dict[str, object]:
    """All that a table knows, comparable."""
    found = dict(vars(at))
    board = found.pop("board")
    return found | {"board": None if board is None else (board.text, board.history, board.variant, board.rules)}


def random_command(at: Table, rng: random.Random) -> None:
    seat = rng.choice(["red", "blue", "watch"])
    spent = rng.choice([0, 500, 4_000, 200_000 if rng.random() < 0.02 else 9_000])
    other = PLAYER_SETUPS[rng.randrange(len(PLAYER_SETUPS))]
    if at.phase == "setup":
        at.give_setup(seat, other, new_salt() if rng.random() < 0.3 else None)
    elif rng.random() < 0.7 and at.phase == "play":
        move = rng.choice(list(at.board.legal_moves))
        at.move(("red", "blue")[at.turn], "".join(map(at.board.variant.square_name, move)), spent)
    else:
        rng.choice(
            [
                lambda: at.offer_draw(seat),
                lambda: at.take_back(seat, spent),
                lambda: at.answer(seat, "draw", rng.random() < 0.1),
                lambda: at.answer(seat, "take_back", rng.random() < 0.7, spent=spent),
                lambda: at.wish_rematch(seat),
                lambda: at.keep_time(spent),
                lambda: at.move(seat, "a1a2"),
                lambda: at.give_setup(seat, other),
                lambda: rng.random() < 0.05 and at.resign(seat),
                lambda: rng.random() < 0.02 and at.forfeit(0, "It fell."),
                lambda: at.over and at.follow("another", {"red": {"blue": "red"}}),
            ]
        )()


PLAYER_SETUPS = [
    setup_text(random_setup(VARIANTS["fives"], random.Random(seed)), VARIANTS["fives"]) for seed in range(20)
]


@given(st.integers(0, 10**9), st.sampled_from(["level", "friend", "hotseat"]), st.sampled_from(["none", "strategus"]))
@settings(max_examples=60, deadline=None)
def test_a_table_made_again_from_its_events_is_the_same_table(seed, kind, clock):
    rng = random.Random(seed)
    at = Table.made(new_table("fives", kind, (PERSON, PERSON), {"kind": clock}))
    for _ in range(rng.randrange(80)):
        before = state(at) if rng.random() < 0.2 else None
        events = len(at.events)
        try:
            random_command(at, rng)
        except TableError:
            assert len(at.events) == events, "something refused has happened"
            assert before is None or state(at) == before
    kept = json.loads(json.dumps(at.events))
    assert state(Table.replayed(kept)) == state(at)


def test_the_game_begins_when_both_setups_are_there_and_they_may_change_before():
    at = Table.made(new_table("barrage", "friend", (PERSON, PERSON)))
    assert at.phase == "setup"
    at.give_setup("red", BLUE)
    at.give_setup("red", RED.replace("/", ""))
    assert (at.phase, at.setups) == ("setup", [RED, None])
    at.give_setup("blue", BLUE)
    assert at.phase == "play"
    with pytest.raises(TableError, match="has begun"):
        at.give_setup("red", BLUE)


@pytest.mark.parametrize(("setup", "reason"), [
    ("F", "has 1 rows"), (RED.replace("M", "."), "1 Marshal is missing"), (RED.replace("M", "x"), "is no piece"),
])  # fmt: skip
def test_a_setup_that_is_none_is_refused_with_the_reason(setup, reason):
    at = Table.made(new_table("barrage", "friend", (PERSON, PERSON)))
    with pytest.raises(TableError, match=reason) as refusal:
        at.give_setup("red", setup)
    assert refusal.value.code == "setup"


def test_only_whoever_is_on_turn_moves_and_only_legally():
    at = table()
    for seat, source, target, code in [
        ("blue", "d8", "d7", "turn"), ("watch", "e3", "e4", "seat"), ("red", "e3", "e9", "move"),
        ("red", "z3", "e4", "move"), ("red", "d8", "d7", "move"),
    ]:  # fmt: skip
        with pytest.raises(TableError) as refusal:
            at.move(seat, source + target)
        assert refusal.value.code == code
    play(at, "e3e4")
    at.resign("red")
    with pytest.raises(TableError, match="is over"):
        at.move("blue", "d8d7")


def test_a_take_back_leads_to_ones_own_last_turn_and_marks_the_game():
    at = play(table("level", (PERSON, MACHINE)), "e3e4", "d8d7", "e4e3")
    at.take_back("red")
    assert (at.plies, at.turn, at.took_back, at.firm) == (2, 0, True, 2)
    at.take_back("red")
    assert (at.plies, at.turn, at.firm) == (0, 0, 0)
    with pytest.raises(TableError, match="no move of yours"):
        at.take_back("red")
    play(at, "e3e4", "d8d7")
    assert [played.move for played in at.board.history] == [at.board.parse_move("e3e4"), (73, 63)]
    assert '[TakenBack "2"]' in end(at).record()


def end(at: Table) -> Table:
    at.resign("red")
    return at


def test_a_friend_is_asked_before_a_move_is_taken_back():
    at = play(table(), "e3e4", "d8d7")
    at.take_back("red")
    assert at.plies == 2
    with pytest.raises(TableError, match="no such offer"):
        at.answer("red", "take_back", True)
    at.answer("blue", "take_back", False)
    assert (at.plies, at.offer, at.took_back) == (2, None, False)
    play(at, "e4e3", "d7d8")
    at.take_back("red")
    at.answer("blue", "take_back", True)
    assert (at.plies, at.took_back) == (2, True)


def test_a_friend_is_not_asked_again_and_again_to_take_back():
    at = play(table(), "e3e4", "d8d7")
    at.take_back("red")
    at.answer("blue", "take_back", False)
    with pytest.raises(TableError, match="wait 2 more moves"):
        at.take_back("red")
    play(at, "e4e3")
    with pytest.raises(TableError, match="wait 1 more move"):
        at.take_back("red")
    at.take_back("blue")  # the other side has asked for nothing yet
    at.answer("red", "take_back", False)
    play(at, "d7d8")
    at.take_back("red")
    at.answer("blue", "take_back", True)
    assert (at.plies, at.phase) == (2, "play")


def test_the_win_is_claimed_when_a_friend_on_turn_has_been_away_for_as_long_as_agreed():
    for kind, claimer, away, fine in (
        ("friend", "red", 300.0, True), ("friend", "red", 299.9, False), ("friend", "red", None, False),
        ("friend", "blue", 300.0, False), ("hotseat", "red", 300.0, False),
    ):  # fmt: skip
        at = Table.made(new_table("barrage", kind, (PERSON, PERSON), absence=5))
        at.give_setup("red", RED)
        at.give_setup("blue", BLUE)
        play(at, "e3e4")
        if not fine:
            with pytest.raises(TableError, match="has been away for as long"):
                at.claim(claimer, away)
            assert at.phase == "play"
            continue
        at.claim(claimer, away)
        assert (at.over.winner, at.over.end) == (0, "absent")
        [read] = read_games(at.record())
        assert (read.result, read.end) == ("1-0", "absent")


def test_people_have_names_in_records():
    at = table()
    at.give_name("red", "  Ada \n King\x00 " + "x" * 50)
    at.give_name("blue", 'B"o]b')
    assert [sitter.name for sitter in at.sitters] == ["Ada King " + "x" * 21, 'B"o]b']
    assert state(Table.replayed(json.loads(json.dumps(at.events)))) == state(at)
    end(at)
    [read] = read_games(at.record())
    assert (read.headers["Red"], read.headers["Blue"]) == ("Ada King " + "x" * 21, 'B"o]b')
    with pytest.raises(TableError, match="not any more"):
        at.give_name("red", "Eve")


def test_where_take_backs_are_not_allowed_nobody_takes_back():
    at = play(table(takebacks=False), "e3e4")
    with pytest.raises(TableError, match="cannot be taken back in this game"):
        at.take_back("red")


def test_a_game_that_was_kept_before_aids_could_be_forbidden_has_them():
    made = new_table("barrage", "friend", (PERSON, PERSON), aids=False)
    assert not Table.made(made).aids
    del made["aids"]
    assert Table.made(made).aids


def test_a_draw_is_agreed_by_the_other_side_alone():
    at = play(table(), "e3e4")
    at.offer_draw("red")
    with pytest.raises(TableError, match="no such offer"):
        at.answer("red", "draw", True)
    at.answer("blue", "draw", True)
    assert (at.over.winner, at.over.end) == (None, "agreed")


def test_an_offer_lapses_with_the_move_of_whoever_was_asked():
    at = play(table(), "e3e4")
    at.offer_draw("red")
    play(at, "d8d7")
    assert at.offer is None
    with pytest.raises(TableError, match="wait 19 more moves"):
        at.offer_draw("red")
    at.offer_draw("blue")
    play(at, "e4e3")
    assert at.offer is None


def test_an_answer_is_told_until_whoever_offered_moves():
    at = play(table(), "e3e4")
    at.offer_draw("red")
    at.answer("blue", "draw", False)
    play(at, "d8d7")
    assert at.note == {"kind": "draw", "by": "blue", "accept": False, "why": None}
    play(at, "e4e3")
    assert at.note is None


def test_time_that_was_kept_is_of_the_move_that_is_being_thought_about():
    at = play(table("level", (PERSON, MACHINE), {"kind": "strategus"}), "e3e4", "d8d7")
    at.keep_time(7_000)
    at.take_back("red", 7_000)  # to red's own last turn: red thinks on
    assert (at.turn, at.used) == (0, 7_000)
    play(at, "e3e4")
    assert at.used == 0
    at.keep_time(5_000)
    at.take_back("red", 5_000)  # those were the machine's
    assert (at.turn, at.used) == (0, 0)
    at.resign("red")
    with pytest.raises(TableError, match="is over"):
        at.keep_time(1)


def test_a_taken_back_move_gives_no_time_back():
    at = table(clock={"kind": "strategus"}, kind="hotseat")
    bank = 15 * 60_000
    # Of each move three seconds are free: of a move that is made three times, three seconds and not nine.
    for number in (1, 2, 3):
        at.move("red", "e3e4", 2_500 * number)
        at.move("blue", "d8d7", 10_000)
        assert at.banks[0] == bank - max(0, 2_500 * number - 3_000)
        if number < 3:
            at.take_back("red", 0)
            assert (at.plies, at.used, at.banks[0]) == (0, 2_500 * number, bank)
    assert at.banks[1] == bank - 3 * 7_000, "the other side's time stays used"
    # What was thought about the next move counts, too; and where no time would be left nothing is taken back.
    at.take_back("red", 4_000)
    assert at.used == 11_500
    at.move("red", "e3e4", 150_000)
    at.move("blue", "d8d7", 1_000)
    with pytest.raises(TableError, match="no time would be left"):
        at.take_back("red", 40_000)
    assert (at.plies, at.phase) == (2, "play")
    assert state(Table.replayed(json.loads(json.dumps(at.events)))) == state(at)


def test_a_game_in_which_the_clock_began_anew_after_a_take_back_stands_as_it_stood():
    at = table(clock={"kind": "strategus"}, kind="hotseat")
    at.move("red", "e3e4", 9_000)
    at.take_back("red")
    kept = json.loads(json.dumps(at.events))
    del kept[-1]["ms"]
    found = Table.replayed(kept)
    assert (found.plies, found.used, found.banks[0]) == (0, 0, 15 * 60_000 - 6_000)


def test_when_the_time_of_the_whole_game_is_up_it_is_a_draw():
    clock = {"kind": "bronstein", "minutes": 1, "seconds": 4, "whole": 1.5}
    at = table(clock=clock, kind="hotseat")
    at.move("red", "e3e4", 40_000)
    at.move("blue", "d8d7", 30_000)
    assert (at.whole_left, at.time_left) == (20_000, 20_000)
    # What was thought about moves that are taken back was thought all the same, and no millisecond twice.
    at.take_back("red", 5_000)
    assert at.used == 45_000 and at.whole_left - at.used == 15_000
    at.move("red", "e3e4", 46_000)
    assert at.whole_left == 14_000
    assert not at.look_at_time(13_999) and at.look_at_time(14_000)
    assert (at.over.winner, at.over.end) == (None, "time")
    assert state(Table.replayed(json.loads(json.dumps(at.events)))) == state(at)
    [read] = read_games(at.record())
    assert (read.result, read.end) == ("1/2-1/2", "time")
    # Whose own time ends before that loses.
    at = table(clock=clock | {"whole": 3}, kind="hotseat")
    at.move("red", "e3e4", 60_000)
    assert (at.over.winner, at.over.end) == (1, "time")


def test_time_that_is_up_ends_the_game_even_with_a_move():
    at = table(clock={"kind": "bronstein", "minutes": 1, "seconds": 2})
    at.move("red", "e3e4", 59_999)
    assert at.banks == (2_001, 60_000)
    at.move("blue", "d8d7", 60_000)
    assert (at.phase, at.plies, at.over.winner, at.over.end) == ("over", 1, 0, "time")


def test_a_setup_is_promised_and_a_changed_one_is_caught():
    at = table("level", (PERSON, MACHINE))
    assert at.commitment(0) is None
    promise, salt = at.commitment(1), at.salts[1]
    assert promise == commit(BLUE, salt) and verify(promise, BLUE, salt)
    assert len(salt) == 64 and new_salt() != new_salt()
    swapped = BLUE.replace("M", "x").replace("G", "M").replace("x", "G")
    assert not verify(promise, swapped, salt)
    assert not verify(promise, BLUE, new_salt())


@pytest.mark.parametrize("seat", ["red", "blue", "watch", "", "RED"])
@pytest.mark.parametrize("secret", ["", "x", "ü" * 500, "\ud800", "-" * 32])
def test_a_wrong_secret_opens_no_seat(seat, secret):
    at = table("level", (PERSON, MACHINE))
    assert not at.admits(seat, secret) and not at.knows(secret)
    assert set(at.hashes) == {"red"}
    assert not at.knows(at.hashes["red"]), "what is kept of a secret opens nothing"


def test_secrets_and_ids_differ_from_table_to_table():
    tables = [new_table("barrage", "friend", (PERSON, PERSON)) for _ in range(50)]
    found = {each["game"] for each in tables} | {secret for each in tables for secret in each["secrets"].values()}
    assert len(found) == 150 and min(map(len, found)) >= 16


@pytest.mark.parametrize("ending", ["resign", "time", "draw", "illegal"])
def test_the_record_of_a_finished_game_is_read_back(ending):
    at = play(table("level", (PERSON, MACHINE)), *SHUTTLE)
    with pytest.raises(TableError, match="is not over"):
        at.record()
    if ending == "draw":
        at.offer_draw("red")
        at.answer("blue", "draw", True, "Cadet takes the draw.")
    else:
        {
            "resign": lambda: at.resign("blue"),
            "time": lambda: at.flag_falls(1),
            "illegal": lambda: at.forfeit(1, "It fell."),
        }[ending]()
    [game] = read_games(at.record())
    assert game.board.history == at.board.history
    assert (game.result, game.end) == (("1/2-1/2", "agreed") if ending == "draw" else ("1-0", at.over.end))
    assert (game.headers["Red"], game.headers["Blue"]) == ("person", "Cadet")


def test_an_imported_game_is_over_and_has_all_its_moves():
    board = play(table(), *SHUTTLE).board
    record = write_game(board, {"Red": "Anna", "Result": "0-1", "End": "resigned"})
    at = Table.made(new_table("barrage", "import", (Sitter("person", "Anna"), PERSON), record=record))
    assert (at.phase, at.plies, at.over.winner, at.setups) == ("over", 4, 1, [RED, BLUE])
    assert set(at.hashes) == {"watch"}
    assert state(Table.replayed(at.events)) == state(at)


def test_a_shelf_keeps_events_and_refuses_those_of_two_servers(tmp_path):
    file = tmp_path / "folder" / "games.sqlite"
    first, second = Shelf(file), Shelf(file)
    at = table()
    first.append(at.game, 0, at.events)
    assert second.events(at.game) == at.events
    assert second.events("nobody") == []
    second.append(at.game, 3, [{"what": "wish", "by": 0}])
    with pytest.raises(ConflictError, match="another server"):
        first.append(at.game, 3, [{"what": "wish", "by": 1}, {"what": "wish", "by": 0}])
    assert len(first.events(at.game)) == 4
    assert file.stat().st_mode & 0o077 == 0, "others can read the secrets"
    first.keep_review(at.game, {"plies": []})
    assert (second.review(at.game), second.review("nobody")) == ('{"plies":[]}', None)


def test_on_a_full_shelf_the_games_that_were_changed_longest_ago_make_room(tmp_path, monkeypatch):
    now = iter(range(10**6))
    monkeypatch.setattr("time.time", lambda: next(now))
    most = 300_000
    shelf = Shelf(tmp_path / "games.sqlite", most)
    event = {"what": "setup", "setup": "x" * 900}
    games = [f"game-{number:04}" for number in range(900)]
    for game in games[:150]:
        shelf.append(game, 0, [event])
    for game in games[:2]:
        shelf.keep_review(game, {"plies": []})
    shelf.append(games[0], 1, [event])  # somebody goes on with it
    for game in games[150:280]:
        shelf.append(game, 0, [event])
    assert len(shelf.events(games[0])) == 2 and shelf.events(games[279]) == [event]
    assert shelf.review(games[0]) is not None
    assert shelf.events(games[1]) == [] and shelf.review(games[1]) is None
    with pytest.raises(ClearedError, match="make room"):
        shelf.append(games[1], 1, [event])
    shelf.keep_review(games[1], {"plies": []})  # which was being made
    assert shelf.events(games[1]) == [] and shelf.review(games[1]) is None
    for game in games[280:]:
        shelf.append(game, 0, [event])
    assert (tmp_path / "games.sqlite").stat().st_size < 1.2 * most
    assert shelf.events(games[0]) == [] and shelf.events(games[-1]) == [event]
    shelf.close()
