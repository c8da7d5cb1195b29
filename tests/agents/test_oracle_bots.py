"""The plain bots against what their description says of them: tables, check values, worked examples, whole games."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from oracle_bots import ORACLES, SeededDraws, asmodeus, celsius, hunter, peternlewis, setup_text, vixen
from oracle_bots.common import DOWN, LEFT, RIGHT, UP, Sight, find_path

from vauban import Board
from vauban.games.stratego.pieces import LETTERS, type_of
from vauban.games.stratego.setups import parse_setup
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.stratego.moves import Move

CLASSIC = VARIANTS["classic"]
FULL = {"B": 6, "1": 1, "2": 1, "3": 2, "4": 3, "5": 4, "6": 4, "7": 4, "8": 5, "9": 8, "s": 1, "F": 1}
ALL_HIDDEN = {rank: count / 40 for rank, count in FULL.items()}


def scene(places: str, known: str = "", moved: str = "", turn: int = 0, rules: str = "ucc") -> Board:
    """Set up a classic board: "Ma1 ub2" puts red's Marshal on a1; Flags far off unless given; hidden unless known."""
    pieces = {CLASSIC.square(word[1:]): (int(word[0].islower()), type_of(word[0])) for word in places.split()}
    if "F" not in places:
        pieces[CLASSIC.square("j1")] = (0, LETTERS.index("F"))
    if "f" not in {word[0] for word in places.split()}:
        pieces[CLASSIC.square("j10")] = (1, LETTERS.index("F"))
    board = Board.from_pieces(pieces, "classic", rules, turn)
    position = board.position()
    placed = tuple(
        replace(
            piece,
            moved=CLASSIC.square_name(piece.square) in moved.split(),
            revealed=CLASSIC.square_name(piece.square) in known.split(),
        )
        for piece in position.pieces
    )
    return Board.from_position(replace(position, pieces=placed), "classic", rules)


def answer(name: str, board: Board) -> str:
    move = ORACLES[name].choose(board.view(board.turn), SeededDraws(1))
    assert move in ORACLES[name].acceptable(board.view(board.turn))
    return "none" if move is None else board.move_text(move)


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("mirror", [False, True])
def test_setups_have_the_army_of_classic_and_the_same_columns_for_both_colours(name, mirror):
    rows = ORACLES[name].rows
    red, blue = (setup_text(rows, player, mirror=mirror) for player in (0, 1))
    board = Board.from_setups(parse_setup(red, CLASSIC), parse_setup(blue, CLASSIC))
    for y in range(4):
        for x in range(10):
            mine, theirs = board.piece_at(10 * y + x), board.piece_at(10 * (9 - y) + x)
            rank = rows[y][9 - x] if mirror else rows[y][x]
            assert mine is not None and theirs is not None
            assert mine.kind == theirs.kind == "s987654321FB".index(rank)


def test_the_flag_of_the_base_setup_stands_in_the_left_corner_of_both_sides():
    board = Board.from_setups(*(setup_text(ORACLES["fox"].rows, player) for player in (0, 1)))
    assert [board.piece_at(square).letter for square in ("a1", "b1", "a2", "b2")] == ["F", "B", "B", "B"]
    assert [board.piece_at(square).letter for square in ("a10", "b10", "a9", "b9")] == ["f", "b", "b", "b"]
    front = [(3, 2, "M"), (3, 1, "C"), (3, 0, "B")]
    thermal = Board.from_setups(*(setup_text(ORACLES["thermal"].rows, player) for player in (0, 1)))
    assert all(thermal.piece_at(10 * y + x).letter == letter for y, x, letter in front)


# ── The path search ──────────────────────────────────────────────────────────────────────────────


def test_a_path_goes_straight_where_it_can_and_keeps_the_order_left_right_up_down_among_equals():
    sight = Sight(scene("Ma1 lc3").view(0))
    # Right and down are equally near, and right comes first.
    assert find_path(sight, 0, 22) == [RIGHT, DOWN, RIGHT, DOWN]
    assert find_path(Sight(scene("Mc3 la1").view(0)), 22, 0) == [LEFT, UP, LEFT, UP]
    assert find_path(Sight(scene("Ma3 lc1").view(0)), 20, 2) == [RIGHT, UP, RIGHT, UP]
    assert find_path(Sight(scene("Ma1 la2").view(0)), 0, 10) == [DOWN]
    assert find_path(Sight(scene("Md4 lc4").view(0)), 33, 32) == [LEFT]
    assert find_path(Sight(scene("Md4 ld3").view(0)), 33, 23) == [UP]


def test_a_path_does_not_pass_lakes_or_pieces():
    sight = Sight(scene("Mc4 lc7").view(0))
    path = find_path(sight, 32, 62)
    assert path is not None and path[0] == LEFT
    square = 32
    for direction in path[:-1]:
        step = sight.step(square, direction)
        assert step is not None and sight.empty(step)
        square = step
    assert find_path(Sight(scene("Ma1 Bb1 Ba2 lc7").view(0)), 0, 62) is None


# ── asmodeus ─────────────────────────────────────────────────────────────────────────────────────


def test_asmodeus_prefers_a_scout_two_steps_away_to_a_lieutenant_beside_an_unknown():
    board = scene("Oa5 la7 Lf3 pf4", known="")
    best = asmodeus.best_pair(Sight(board.view(0)))
    assert best == (Move(CLASSIC.square("a5"), CLASSIC.square("a6")), pytest.approx(0.4 / 3))
    alone = asmodeus.best_pair(Sight(scene("Lf3 pf4").view(0)))
    assert alone is not None and alone[1] == pytest.approx(0.125)
    captain = asmodeus.best_pair(Sight(scene("Pf3 tf4", known="f4").view(0)))
    assert captain == (Move(CLASSIC.square("f3"), CLASSIC.square("f4")), pytest.approx(0.2))


def test_asmodeus_values_follow_the_table():
    assert asmodeus.base("8", "B") == 1.0 and asmodeus.base("9", "B") == 0.6 and asmodeus.base("s", "1") == 1.0
    assert asmodeus.base("7", "7") == asmodeus.base("7", "2") == 0.1
    assert asmodeus.base("2", "8") == 0.9 and asmodeus.base("1", "F") == 1.0 and asmodeus.base("s", "9") == 0.0


def test_asmodeus_moves_at_random_when_it_can_reach_nothing():
    board = scene("Ma1 Bb1 Bc2 Bb3 Ba3 lc7", known="")
    possible = ORACLES["charger"].acceptable(board.view(0))
    assert possible == {Move(0, 10)}
    assert ORACLES["charger"].choose(board.view(0), SeededDraws(5)) in possible


# ── vixen ────────────────────────────────────────────────────────────────────────────────────────

VIXEN_SUMS = {
    "1": 0.555, "2": 0.55, "3": 0.5225, "4": 0.52125, "5": 0.4575,
    "6": 0.4625, "7": 0.445, "8": -0.1475, "9": 0.19, "s": -0.305,
}  # fmt: skip


@pytest.mark.parametrize("rank", VIXEN_SUMS)
def test_vixen_sums_against_forty_hidden_enemies(rank):
    assert vixen.expected_combat(rank, ALL_HIDDEN, 1) == pytest.approx(VIXEN_SUMS[rank], abs=1e-9)
    at_two = {"1": 0.51, "s": -0.34}.get(rank, VIXEN_SUMS[rank])
    assert vixen.expected_combat(rank, ALL_HIDDEN, 2) == pytest.approx(at_two, abs=1e-9)


def test_vixen_counts_a_hundredth_for_a_path_that_begins_with_the_way_back():
    # The only way to the lieutenant on b5 is back over a5: .8 at two steps.
    fresh = dict(vixen.sums(Sight(scene("Ga6 Bb6 lb5", known="b5").view(0))))
    board = scene("Ga5 Bb6 lb4", known="b4")
    board.push("a5a6")
    board.push("b4b5")
    back = Move(CLASSIC.square("a6"), CLASSIC.square("a5"))
    after = dict(vixen.sums(Sight(board.view(0))))
    assert vixen.came_from(board.view(0), back.source) == back.target
    assert fresh.keys() == after.keys()
    assert fresh[back] - after[back] == pytest.approx(0.4 * 0.99)
    assert all(fresh[move] == after[move] for move in fresh if move != back)


def test_vixen_adds_up_all_enemies_whose_paths_begin_alike():
    board = scene("Ge2 lh2 ta2 fh3", known="h2 a2 h3")
    values = {board.move_text(move): value for move, value in vixen.sums(Sight(board.view(0)))}
    assert values["e2f2"] == pytest.approx(0.8 / 3 + 1 / 4) and values["e2d2"] == pytest.approx(0.8 / 4)
    assert answer("fox", board) == "e2f2"


# ── hunter ───────────────────────────────────────────────────────────────────────────────────────

HUNTER_VALUES = {
    "1": (0.4312, 0.0113), "2": (0.4439, 0.0113), "3": (0.4284, 0.02), "4": (0.3988, 0.035), "5": (0.3575, 0.0525),
    "6": (0.325, 0.0688), "7": (0.3062, 0.075), "8": (0.1417, 0.2138), "9": (0.06, 0.06), "s": (0.0213, 0.1937),
}  # fmt: skip


@pytest.mark.parametrize("rank", HUNTER_VALUES)
def test_hunter_values_against_forty_hidden_enemies(rank):
    sums = hunter.against_unknown(rank, ALL_HIDDEN)
    # The document rounds to four places.
    assert (sums[hunter.ATTACK], sums[hunter.RETREAT]) == pytest.approx(HUNTER_VALUES[rank], abs=6e-5)


def test_hunter_opens_with_the_first_lieutenant_because_all_better_pieces_are_shut_in():
    board = Board.from_setups(*(setup_text(ORACLES["hunter"].rows, player) for player in (0, 1)), "classic", "ucc")
    assert answer("hunter", board) == "b4b5"


def test_hunter_prefers_a_miner_to_the_flag():
    assert hunter.action("2", "8") == (hunter.ATTACK, pytest.approx(1.9))
    assert answer("hunter", scene("Ge3 ne5 fa3", known="e5 a3")) == "e3e4"


def test_hunter_retreats_from_what_it_fears_even_onto_it_if_nothing_else_is_left():
    assert answer("hunter", scene("Me3 se5", known="e5")) == "e3e2"
    assert answer("hunter", scene("Me3 Be2 Bd3 Bf3 se4 fa10", known="e4")) == "e3xe4"


def test_hunter_goes_sideways_or_the_wrong_way_when_the_straight_way_is_shut():
    # Down is a lake and nothing is gained to either side: right comes before left.
    assert answer("hunter", scene("Gc4 nc8", known="c8")) == "c4d4"
    assert answer("hunter", scene("Gc4 Bd4 nc8", known="c8")) == "c4b4"
    assert answer("hunter", scene("Gc4 Bd4 Bb4 nc8", known="c8")) == "c4c3"


def test_the_intended_hunter_looks_at_the_distance():
    # The marshal's 9·(0.1 + 1/10) = 1.8 beats the general's 1.9 only when it is nearer.
    board = scene("Gi1 Ma7 na8", known="a8")
    assert answer("hunter", board) == "i1h1"
    assert answer("hunter:finish=1", board) == "a7xa8"


def test_the_intended_hunter_measures_the_distance_along_its_step_without_a_sign():
    pair = next(hunter.pairs(Sight(scene("Gc4 Bd4 Bb4 nc8", known="c8").view(0)), finish=True))
    assert pair.move == Move(CLASSIC.square("c4"), CLASSIC.square("c3"))
    assert pair.value == pytest.approx(1.9 * (1 - 4 / 10) ** 2)


# ── celsius ──────────────────────────────────────────────────────────────────────────────────────


def test_celsius_spreads_heat_a_fifth_at_a_time_and_over_lakes_but_not_over_own_pieces():
    board = scene("Ge4 ne6 fj10", known="e6 j10")
    sight = Sight(board.view(0))
    general = sight.own_at[CLASSIC.square("e4")]
    h = celsius.heat(sight, general)
    assert h[CLASSIC.square("e6")] == -2 and h[CLASSIC.square("j10")] == -9 and h[CLASSIC.square("j1")] == -5
    # Its own square keeps 0.2 (it stands where it began) but an own piece spreads nothing.
    assert h[CLASSIC.square("e4")] == pytest.approx(0.2)
    # In place, x before y: e5 hears e6 in the first sweep; the lake d6 too.
    assert h[CLASSIC.square("e5")] == pytest.approx(-0.4) and h[CLASSIC.square("d6")] == pytest.approx(-0.4)
    # The first sweep writes elsewhere, so d5 is reached in the second, from d6 and e5.
    assert h[CLASSIC.square("d5")] == pytest.approx(0.2 * (-0.4 - 0.4))
    assert answer("thermal", board) == "e4e5"


def test_celsius_strikes_at_once_and_never():
    board = scene("Me4 me5 Sa4 Bb4 Ba3 ma5", known="e5 a5")
    assert celsius.at_once("s", "1") and not celsius.never("2", "3") and celsius.never("1", "1")
    assert ORACLES["thermal"].acceptable(board.view(0)) == {Move(CLASSIC.square("a4"), CLASSIC.square("a5"))}
    # A lone spy, shut in by a known lieutenant: the first version strikes as a last resort.
    board = scene("Sa1 Bb1 la2", known="a2")
    assert answer("thermal", board) == "a1xa2"
    assert answer("thermal:version=1.1", board) == "none"


def test_celsius_noise_comes_in_windows():
    assert [n for n in range(600) if celsius.noisy(n)] == [*range(251, 265), *range(500, 515)]


# ── peternlewis ──────────────────────────────────────────────────────────────────────────────────


def test_peternlewis_sets_of_ranks():
    full = peternlewis.ALL
    assert peternlewis.could_kill("5", {"5", "B"}) and not peternlewis.could_kill_safely("5", {"5", "F"})
    assert peternlewis.could_kill("1", {"1"}) and peternlewis.could_kill_safely("1", {"s"})
    assert not peternlewis.could_kill("1", {"2", "9"}) and not peternlewis.could_kill("4", {"5", "s", "B"})
    assert peternlewis.will_kill("8", {"9", "B", "F"}) and not peternlewis.will_kill("8", {"9", "s"})
    assert peternlewis.will_kill("s", {"1"}) and not peternlewis.will_kill("s", {"F"})
    assert peternlewis.will_kill("1", {"2", "s", "F"}) and not peternlewis.will_kill("1", {"2", "B"})
    assert peternlewis.will_kill_or_tie("8", {"8", "B"}) and peternlewis.will_kill_or_tie("s", {"s"})
    assert not any(peternlewis.will_kill_or_tie(rank, full) for rank in peternlewis.ORDER)
    assert peternlewis.sure_death({"B", "3"}, "3") and not peternlewis.sure_death({"B"}, "3")


def test_peternlewis_deduces_ranks_until_nothing_follows():
    # The one that moved is the lieutenant; then of flag and bomb nothing more follows.
    sets = peternlewis.possible_ranks({1: True, 2: False, 3: False}, {"6": 1, "B": 1, "F": 1})
    assert sets == {1: {"6"}, 2: {"B", "F"}, 3: {"B", "F"}}
    assert peternlewis.possible_ranks({1: False}, {"F": 1}) == {1: {"F"}}


@pytest.mark.parametrize(
    ("scenery", "known", "moved", "rule", "move"),
    [
        ("Sb4 mb5 Oa4 la5", "b5", "", 1, "b4xb5"),
        # u = 1, a refuge, nobody near: index 0 runs, straight back; moved (1) attacks.
        ("Me4 pe5 sa9", "", "", 2, "e4e3"),
        ("Me4 pe5 sa9", "", "e5", 2, "e4xe5"),
        # A lowly piece beside it (4) strikes.
        ("Me4 Lf5 pe5 sa9", "", "", 2, "f5xe5"),
        # The spy is known, so there is nothing to fear.
        ("Me4 pe5 sa9 Oa5 ta6 bb10", "a9", "", 4, "a5xa6"),
        # The weakest that surely wins; e5 could be taken back by the colonel on e6 only from the captain.
        ("Pe4 Mf5 te5", "e5", "", 3, "e4xe5"),
        ("Pe4 Mf5 te5 ce6", "e5 e6", "", 3, "f5xe5"),
        # Ranks in the order 9, 7, 6, 5.
        ("Pa4 ca5 Te4 ce5 Lj4 cj5 na10 sb10", "", "", 4, "e4xe5"),
        # Two unknown enemies beside a6 are more than one beside j6.
        ("Oa4 ca7 cb6 Oj4 cj7 sb10", "", "", 6, "a4a6"),
        ("Cb2 tb9 sa10 pe10", "b9", "", 7, "b2b3"),
        # The general hidden on c3 may take the colonel on b3 and on c2.
        ("Cb2 tb6 gc3", "b6", "", 7, "b2a2"),
        ("Ja2 Lb1 pb9 sa10 bc10", "", "", 8, "b1b2"),
        # A draw is sought only when there is nothing left to win or to learn.
        ("Ja2 Sj2 je9 fj10 bi10 bj9 bh10 bi9", "e9 j10 i10 j9 h10 i9", "", 9, "a2a3"),
    ],
)
def test_peternlewis_takes_the_first_rule_that_applies(scenery, known, moved, rule, move):
    board = scene(scenery, known, moved)
    number, chosen = peternlewis.decide(board.view(0))
    assert chosen is not None
    assert (number, board.move_text(chosen)) == (rule, move)


def test_peternlewis_does_not_make_a_position_again_until_it_has_attacked():
    board = scene("Ma1 Bb1 Bb2 Bb3 Bb4 Bb5 Bb6 me9", known="e9")
    seen = []
    while (move := peternlewis.decide(board.view(0))[1]) is not None and len(seen) < 20:
        board.push(move)
        assert board.position().pieces not in seen
        seen.append(board.position().pieces)
        board.push("e9e10" if board.piece_at("e9") else "e10e9")
    assert len(peternlewis.remembered(board.view(0))) == len(seen)


def test_peternlewis_forgets_positions_when_it_attacks_and_not_when_it_is_attacked():
    board = scene("Ta1 Pe4 le6 cb3")
    lengths = []
    for text in ("a1a2", "b3b2", "a2a3", "e6e5", "a3a4", "e5xe4", "a4a5", "b2b3"):
        board.push(text)
        lengths.append(len(peternlewis.remembered(board.view(0))))
    assert lengths == [1, 1, 2, 2, 3, 3, 4, 4]
    board = scene("Ta1 Pe4 le6 cb3")
    for text in ("a1a2", "e6e5", "e4xe5", "b3b4"):
        board.push(text)
    assert peternlewis.remembered(board.view(0)) == []
    assert len(peternlewis.remembered(board.view(1))) == 2


def test_peternlewis_remembers_positions_as_they_looked_then():
    board = Board.random("barrage", 4)
    rng = random.Random(4)
    while not board.is_over and board.plies < 300:
        view = board.view(board.turn)
        hidden = {"s987654321FB"[kind]: count for kind, count in view.hidden_types().items()}
        before = peternlewis._start(view)
        assert {s: p.player for s, p in before.items()} == {
            s: p.player for s, p in Board.from_position(board.start_position(), "barrage").pieces().items()
        }
        assert all(actor.known == (actor.player == view.player) for actor in before.values())
        assert sum(hidden.values()) == len(view.hidden())
        for earlier, later in pairwise(peternlewis.remembered(view)):
            assert earlier != later
        board.push(rng.choice(board.legal_moves))
        mine = 1 - board.turn
        if board.history[-1].battle is None:
            turn = peternlewis.Turn(board.view(mine))
            now = {(e.square, 1 - mine, "".join(turn.sets[e.square])) for e in turn.sight.enemies}
            now = {(square, player, rank if len(rank) == 1 else "?") for square, player, rank in now}
            now |= {(unit.square, mine, unit.rank) for unit in turn.sight.units}
            assert peternlewis.remembered(board.view(mine))[-1] == now


def test_only_the_variant_of_peternlewis_retreats():
    board = scene("Tb4 cb5 pe9 sa10 Pj3", known="b5", moved="b4")
    assert peternlewis.decide(board.view(0))[0] != 5
    number, move = peternlewis.decide(board.view(0), retreat=True)
    assert number == 5 and move is not None and move.source == CLASSIC.square("b4")


# ── Whole games ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(
    ("variant", "games", "plies"),
    [
        ("tiny", 4, 100),
        ("barrage", 2, 60),
        ("classic", 1, 24),
        pytest.param("barrage", 2, 4000, marks=pytest.mark.slow),
        pytest.param("classic", 1, 4000, marks=pytest.mark.slow),
    ],
)
def test_every_plain_bot_chooses_legal_moves_only(name, variant, games, plies):
    resigned = 0
    for seed in range(games):
        board, rng, draws = Board.random(variant, seed), random.Random(seed), SeededDraws(seed)
        player = seed % 2
        while not board.is_over and board.plies < plies:
            if board.turn != player:
                board.push(rng.choice(board.legal_moves))
                continue
            view = board.view(player)
            move = ORACLES[name].choose(view, draws)
            if board.plies < 8:
                assert move in ORACLES[name].acceptable(view)
            if move is None:
                resigned += 1
                break
            assert move in board.legal_moves
            board.push(move)
    assert resigned == 0 or name.startswith(("prober", "thermal"))
