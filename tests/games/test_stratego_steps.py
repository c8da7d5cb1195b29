"""Stratego in steps: the same game as plain Stratego from given setups, and a deployment that tells nothing."""

from __future__ import annotations

import math
import pickle
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vauban.board import Board
from vauban.board.stratego.records import list_moves
from vauban.errors import ConfigurationError, InvalidMoveError, RecordError, SetupError
from vauban.games import base, kit
from vauban.games.base import NUMBER, PLAYER, STEP
from vauban.games.stratego import StrategoSteps
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.layout import BYTES, SWITCH, WORDS
from vauban.games.stratego.pieces import TYPES
from vauban.games.stratego.steps.layout import CHOSEN, DEPLOYING, OPEN
from vauban.games.stratego.switches import PRESETS
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.sim.stratego_steps import in_steps, in_whole_moves

REPETITIVE = Variant("repetitive", 8, 4, (), 1, parse_army("F1 J2 P1"), total_limit=300)
NARROW = Variant("narrow", 9, 2, (), 2, parse_army("F1 J2 P1"), total_limit=300)
SCOUTS = Variant("scouts", 6, 7, (17, 24), 1, parse_army("F1 O3 J1"), total_limit=300)
"""Few pieces that come to chase each other; a board on which a barred piece may have no other move; and Scouts, of
whose long moves a rule may leave the short ones."""
WIDE = """
name = "wide"
rows = 9
columns = 14
lakes = ["c5", "l5"]
setup_rows = 4
army = "F1 B6 M1 G1 C2 J3 P4 L4 T4 N5 O8 S1"
total_limit = 300
"""


def arrays(snapshot: Snapshot) -> tuple[Any, Any, Any]:
    """Return words, halves and bytes of a snapshot, the words without the games' numbers."""
    words, halves, bytes_ = (np.asarray(part).copy() for part in snapshot.store)
    words[:, NUMBER] = 0
    return words, halves, bytes_


def deployed(game: StrategoSteps, n: int, seed: int) -> tuple[Simulator, list[Any]]:
    """Return games that have been deployed at random, and the actions."""
    sim = Simulator(game, n, seed=seed, restart=False, threads=1, arrays="numpy")
    actions = []
    for _ in range(2 * game.variant.pieces):
        assert (sim.steps >= DEPLOYING).all()
        actions.append(sim.sample())
        sim.step(actions[-1])
    return sim, actions


# ── The same game ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("variant", "rules"),
    [
        *((REPETITIVE, rules) for rules in (*PRESETS, "chase=off two_square=5", "strategus chase_compare=type")),
        (NARROW, "strategus"),
        (SCOUTS, "strategus"),
        (SCOUTS, "isf"),
        ("barrage", "strategus"),
        ("classic", "deepnash"),
        ("nano", "ataraxos"),
    ],
    ids=str,
)
def test_from_the_same_setups_the_same_records_are_visited_by_pairs_of_actions(
    variant: str | Variant, rules: str
) -> None:
    """A piece can be chosen if it has a legal move, then just its legal targets: under all rules of repetition."""
    plain = Stratego(variant, rules)
    game = StrategoSteps(variant, rules)
    n = 48
    whole = Simulator(plain, n, seed=5, format=plain.format(plies=400), restart=False, threads=1, arrays="numpy")
    steps = Simulator(game, n, seed=6, format=game.format(plies=400), restart=False, threads=1, arrays="numpy")
    steps.reset(starts=whole.starts)
    pieces, targets = np.array([game.pair_of(action) for action in range(plain.action_count)]).T
    ranks = np.arange(plain.action_count) * 2654435761 % 4093 + 1
    for ply in range(400):
        for mine, other in zip(arrays(steps.snapshot()), arrays(whole.snapshot()), strict=True):
            assert np.array_equal(mine[:, : other.shape[1]], other), f"ply {ply}"
        assert (np.asarray(steps.store.words)[:, CHOSEN] == 255).all()
        if whole.over.all():
            break
        legal = whole.legal_mask()
        offered = np.zeros((n, game.action_count), bool)
        offered[np.nonzero(legal)[0], pieces[np.nonzero(legal)[1]]] = True
        assert np.array_equal(steps.legal_mask(), offered), f"ply {ply}: a piece is offered if it has a legal target"
        actions = whole.sample()
        if ply // 2 % 4:  # who keeps to a habit goes round in circles until a rule bars the way
            actions = np.where(legal.any(1), (legal * ranks).argmax(1), actions)
        actions = np.where(actions < 0, 0, actions)
        steps.step(pieces[actions])
        offered = np.zeros((n, game.action_count), bool)
        same = legal & (pieces[None] == pieces[actions][:, None])
        offered[np.nonzero(same)[0], targets[np.nonzero(same)[1]]] = True
        assert np.array_equal(steps.legal_mask(), offered), f"ply {ply}: the targets are those of the chosen piece"
        steps.step(targets[actions])
        whole.step(actions)
    assert np.array_equal(steps.over, whole.over) and np.array_equal(steps.results.utility, whole.results.utility)


def test_the_rules_of_repetition_leave_some_pieces_without_a_move_and_these_are_not_offered() -> None:
    """So the test above has something to tell apart."""
    plain = Stratego(NARROW, "strategus")
    shut = 0
    for seed in range(6):
        board, rng = Board(plain, seed=seed), random.Random(seed)
        while not board.is_over:
            legal = {move.source for move in board.legal_moves}
            bars = (SWITCH["two_square"], SWITCH["chase"])
            barred = {source for which in bars for source, _ in list_moves(board._record, which)}
            shut += len(barred - legal)
            habit = max(board.legal_actions, key=lambda action: action * 2654435761 % 4093)
            board.push(habit if board.plies // 2 % 4 else rng.choice(board.legal_actions))
    assert shut > 10


@pytest.mark.parametrize("name", ["barrage", "duel", "tiny", "nano"])
def test_a_deployment_leads_to_the_record_of_the_setups_it_made(name: str) -> None:
    game = base.game(f"steps:{name}")
    assert isinstance(game, StrategoSteps)
    n = 20
    sim, actions = deployed(game, n, seed=1)
    pieces = game.variant.pieces
    setups = [
        np.stack([game.setup_of([int(step[row]) for step in actions[first : first + pieces]]) for row in range(n)])
        for first in (0, pieces)
    ]
    game.setups.check(np.concatenate(setups))
    given = Simulator(game, n, seed=2, restart=False, threads=1, arrays="numpy")
    given.reset(setups=setups)
    plain = Simulator(game.plain, n, seed=2, restart=False, threads=1, arrays="numpy")
    plain.reset(setups=setups)
    for mine, other in zip(arrays(sim.snapshot()), arrays(given.snapshot()), strict=True):
        assert np.array_equal(mine, other)
    for mine, other in zip(arrays(sim.snapshot()), arrays(plain.snapshot()), strict=True):
        assert np.array_equal(mine[:, : other.shape[1]], other)


def test_armies_are_placed_from_the_flag_to_the_spy_red_before_blue() -> None:
    game = base.game("steps:classic")
    board = Board(game, seed=1)
    order = "Flag " + "Bomb " * 6 + "Marshal General " + "Colonel " * 2 + "Major " * 3 + "Captain " * 4
    order += "Lieutenant " * 4 + "Sergeant " * 4 + "Miner " * 5 + "Scout " * 8 + "Spy"
    rng = random.Random(2)
    for player, rows in ((0, range(40)), (1, range(60, 100))):
        for placed, name in enumerate(order.split()):
            assert board.turn == player and board.plies == 0
            free = set(rows) - set(board.pieces())
            names = {game.square_name(square) for square in free}
            assert set(board.legal_moves) == names, "the empty squares of the own rows"
            assert name in board.phase_text and f"{placed + 1} of 40" in board.phase_text
            move = rng.choice(board.legal_moves)
            board.push(move)
            piece = board.pieces()[board.game.variant.square(move)]
            assert (piece.player, TYPES[piece.kind or 0]) == (player, name)
    assert board.turn == 0 and not board.is_deployment and board.phase_text == "red chooses a piece"


def test_a_deployment_without_a_move_loses_at_once() -> None:
    """Nobody draws another start then: the players have chosen it."""
    game = Variant("shut", 4, 2, (), 2, parse_army("F1 B2 P1"), total_limit=8).as_game()
    board = Board(StrategoSteps(game), seed=1)  # type: ignore[arg-type]
    for square in (
        "a2",
        "b2",
        "b1",
        "a1",
        "b4",
        "a4",
        "b3",
        "a3",
    ):  # red's Flag and a Bomb in front, the Captain behind
        board.push(square)
    assert board.is_over and board.outcome().winner == 1 and board.outcome().end == "no_moves"


# ── Deployment at random ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("army", ["F1 L1 P1", "F1 O2", "F1 O3", "F1 B1 O2"])
def test_uniform_deployment_makes_every_setup_equally_often_by_enumeration(army: str) -> None:
    game = StrategoSteps(Variant("few", 3, 4, (), 1, parse_army(army), total_limit=8))
    chances: Counter[str] = Counter()

    def place(board: Any, chance: Fraction, squares: list[int]) -> None:
        if board.turn == 1:
            chances[game.setups.text(game.setup_of(squares))] += chance  # type: ignore[assignment]
            return
        for action in board.legal_actions:
            after = board.copy()
            after.push(action)
            place(after, chance / len(board.legal_actions), [*squares, action])

    place(Board(game, seed=0), Fraction(1), [])
    assert len(chances) == game.setups.count
    assert set(chances.values()) == {Fraction(1, game.setups.count)}


def test_uniform_deployment_makes_every_setup_of_medium_equally_often_by_chi_square() -> None:
    game = base.game("steps:medium")
    assert isinstance(game, StrategoSteps)
    n = 36_000
    sim, _ = deployed(game, n, seed=7)
    kinds = np.asarray(sim.store.bytes)[:, BYTES + 36 : BYTES + 72].astype(int) & 15
    for own in (kinds[:, :6], kinds[:, 30:]):
        seen = Counter(map(tuple, own.tolist()))
        assert len(seen) == game.setups.count == 720
        expected = n / 720
        chi = sum((count - expected) ** 2 / expected for count in seen.values())
        # Chi-square with 719 degrees of freedom: mean 719, standard deviation 37.9; five of them each way.
        assert 719 - 5 * math.sqrt(2 * 719) < chi < 719 + 5 * math.sqrt(2 * 719)


def test_no_two_actions_of_a_game_throw_the_same_dice() -> None:
    """Dice depend on ply and step, so a pair must not come twice: placing the Flag and choosing a piece, say."""
    game = base.game("steps:barrage")
    sim = Simulator(game, 1, seed=1, restart=False, threads=1, arrays="numpy")
    seen = set()
    for _ in range(60):
        moment = int(sim.plies[0]), int(sim.steps[0])
        assert moment not in seen
        seen.add(moment)
        sim.step(sim.sample())


# ── What is hidden ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["barrage", "tiny"])
@pytest.mark.parametrize("viewer", [0, 1])
def test_a_deployment_leaks_nothing_but_how_far_it_is(name: str, viewer: int) -> None:
    """Games in which only the other side's placements differ look alike in every way, until both armies stand."""
    game = base.game(f"steps:{name}")
    assert isinstance(game, StrategoSteps)
    n, pieces = 16, game.variant.pieces
    sim = Simulator(game, n, seed=3, restart=False, threads=1, arrays="numpy")
    for placed in range(2 * pieces):
        told = {row.tobytes() for row in sim.views(viewer).pack()}
        seen = {row.tobytes() for row in sim.observe("deepnash", viewer=viewer)}
        assert len(told) == len(seen) == 1, f"{placed} pieces stand, and the viewer can tell games apart"
        begun = placed > pieces if viewer == 0 else placed > 0
        assert sim.hidden_counts(viewer).tolist() == [game.setup_size if begun else 0] * n
        actions = sim.sample()
        if int(sim.players[0]) == viewer:
            actions[:] = actions[0]
        sim.step(actions)
    assert len({row.tobytes() for row in sim.views(viewer).pack()}) > 1 or name == "tiny", "then the squares are seen"
    assert len({row.tobytes() for row in sim.views(1 - viewer).pack()}) > 1, "who has placed them knows them apart"


def test_a_player_sees_no_piece_and_no_move_of_the_other_army_while_it_is_placed() -> None:
    board, rng = Board("steps:barrage", seed=1), random.Random(1)
    for _ in range(11):
        board.push(rng.choice(board.legal_moves))
    first, second = board.view(0), board.view(1)
    assert len(first.pieces()) == len(first.history) == 8 and len(second.pieces()) == len(second.history) == 3
    assert first.legal_actions == [] and second.legal_actions == board.legal_actions


def test_what_is_placed_can_be_dealt_anew_in_the_deployment() -> None:
    game = base.game("steps:micro")
    board = Board(game, seed=1)
    for move in ("b1", "d1"):
        board.push(move)
    truth, view = board.snapshot(), board.view(1).snapshot()
    one = Simulator(game, 1, restart=False, threads=1, arrays="numpy")
    one.restore(truth)
    flag, lieutenant, nothing = TYPES.index("Flag"), TYPES.index("Lieutenant"), len(TYPES)
    captain = TYPES.index("Captain")
    # Captains are stronger than Lieutenants, and placed before them. Blue counts red's squares from the other end.
    assert one.hidden_values(1).tolist() == [[captain, nothing, flag, nothing]]
    assert game.hidden_squares(board._record, 1) == [3, 2, 1, 0] and game.hidden_kinds[nothing] == "Nothing"
    for values in (
        [captain, flag, flag, nothing], [lieutenant, nothing, flag, nothing], [nothing] * 4, [captain, flag, 99, -1]
    ):  # fmt: skip
        with pytest.raises(RecordError, match="do not fit"):
            one.determinise(view, 1, np.array([values]))
    one.determinise(view, 1, np.array([[flag, nothing, nothing, captain]]))
    other = Board.from_snapshot(one.snapshot())
    assert {game.square_name(square): piece.kind for square, piece in other.pieces().items()} == {
        "d1": flag, "a1": captain,
    }  # fmt: skip
    assert set(other.legal_moves) == {"b1", "c1"}
    board.push("a1")
    assert np.array_equal(one.hidden_values(0), [[-1] * 4]), "red has nothing to guess while blue has placed nothing"


def test_a_chosen_piece_can_be_nothing_that_has_no_move() -> None:
    game = base.game("steps:micro")
    board = Board.from_setups("FLP.", "P.FL", game)
    board.push("c1"), board.push("c2")
    blue = board.legal_moves
    assert blue == ["d3", "b3"] or set(blue) <= {"a3", "b3", "c3", "d3"}
    piece = "d3"
    board.push(piece)
    view = board.view(0)
    assert view.chosen == game.variant.square(piece) and view.legal_actions == []
    one = Simulator(game, 1, restart=False, threads=1, arrays="numpy")
    order = game.hidden_squares(board._record, 0)
    at = order.index(game.variant.square(piece))
    kinds = [TYPES.index(name) for name in ("Flag", "Lieutenant", "Captain")]
    for first in range(3):
        values = [kind for kind in kinds if kind != kinds[first]]
        values.insert(at, kinds[first])
        if first == 0:
            with pytest.raises(RecordError, match="do not fit"):
                one.determinise(view.snapshot(), 0, np.array([values]))
        else:
            one.determinise(view.snapshot(), 0, np.array([values]))
            assert one.legal_actions()[1][0] > 0


# ── Records from elsewhere ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("moments", [3, 11, 17, 20], ids=["red places", "blue places", "a target", "later"])
def test_records_that_cannot_be_are_refused(moments: int) -> None:
    game = base.game("steps:barrage")
    board, rng = Board(game, seed=1), random.Random(moments)
    for _ in range(moments):
        board.push(rng.choice(board.legal_moves))
    packed = board.snapshot().pack()
    Snapshot.unpack(game, packed)
    words = board.snapshot().format.shape.words

    def damaged(place: int, bits: int) -> Any:
        changed = packed.copy()
        changed[0, place] ^= bits
        return changed

    step = 8 * words + 2 * board.snapshot().format.shape.halves + STEP
    turn = step - STEP + PLAYER
    for place, bits in ((8 * OPEN, 1), (8 * OPEN + 12, 1), (8 * CHOSEN, 3), (step, 1), (step, 64), (turn, 1)):
        with pytest.raises(RecordError):
            Snapshot.unpack(game, damaged(place, bits))
    with pytest.raises(RecordError, match="hidden things have been erased"):
        Snapshot.unpack(game, board.view(1).snapshot().pack())


# ── Names, texts ─────────────────────────────────────────────────────────────────────────────────


def test_every_variant_has_its_game_in_steps_also_one_of_a_file(tmp_path: Path) -> None:
    assert {f"steps:{name}" for name in VARIANTS} <= set(base.names())
    file = tmp_path / "wide.toml"
    file.write_text(WIDE)
    game = base.game(f"steps:{file}", "deepnash")
    assert game.name == "steps:wide" and game.family == "stratego-steps" and game.action_count == 9 * 14
    for again in (base.from_spec(game.spec()), pickle.loads(pickle.dumps(game))):
        assert isinstance(again, StrategoSteps) and again.variant == game.variant and again.rules == game.rules
    kit.check(game)
    file.write_text("steps = true\n" + WIDE)
    assert base.game(str(file)).name == "steps:wide"
    file.write_text('steps = "yes"\n' + WIDE)
    with pytest.raises(ConfigurationError, match="the entry 'steps' of a variant is true or false, not 'yes'"):
        base.game(str(file))
    file.write_text(WIDE)
    assert base.game(str(file)).name == "wide", "without the word it is plain Stratego"


def test_what_is_no_stratego_cannot_be_played_in_steps() -> None:
    with pytest.raises(ConfigurationError, match="only Stratego can be played in steps, and 'kuhn' is none"):
        base.game("steps:kuhn")
    with pytest.raises(ConfigurationError, match="did you mean 'barrage'"):
        base.game("steps:barage")


def test_moves_are_squares_and_what_is_none_is_told_in_a_sentence() -> None:
    board = Board("steps:tiny", seed=1)
    assert board.legal_moves == ["a1", "b1", "c1", "d1"]
    board.push(" B1 ")
    assert board.move_text(0) == "a1" and board.history[0].text == "b1"
    with pytest.raises(InvalidMoveError, match="square by square, a piece and then its target: 'e9' is no square of"):
        board.push("e9")
    with pytest.raises(InvalidMoveError, match="'a1a2' is no square"):
        board.push("a1a2")
    for square in ("a1", "c1", "d1"):
        board.push(square)
    assert board.legal_moves == ["d4", "c4", "b4", "a4"], "blue counts from its own side"
    assert board.game.parse_action(1, "d4") == 0 and board.game.action_text(1, 15) == "a1"


def test_views_show_moves_of_both_and_placements_of_ones_own() -> None:
    board = Board("steps:nano", seed=1)
    for move in ("a1", "b1", "a3", "b3", "b1", "b2"):
        board.push(move)
    texts = [[played.text for played in board.view(player).history] for player in (0, 1)]
    assert texts == [["a1", "b1", "b1", "b2"], ["a3", "b3", "b1", "b2"]]


# ── From plain Stratego and back ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["barrage", "micro"])
def test_a_plain_view_becomes_one_in_steps_before_each_of_the_two_steps(name: str) -> None:
    game = base.game(f"steps:{name}")
    assert isinstance(game, StrategoSteps)
    n = 24
    whole = Simulator(game.plain, n, seed=1, restart=False, threads=1, arrays="numpy")
    whole.play_random(13)
    steps = Simulator(game, n, seed=1, restart=False, threads=1, arrays="numpy")
    steps.restore(in_steps(whole.snapshot()))
    actions = whole.sample()
    pairs = [game.pair_of(max(int(action), 0)) for action in actions]
    assert all(action < 0 or game.action_of(*pair) == action for pair, action in zip(pairs, actions, strict=True))
    going = actions >= 0
    chosen = np.where(going, [piece for piece, _ in pairs], -1)
    for viewer in (0, 1):
        first = in_steps(whole.views(viewer))
        assert first.viewer == viewer and np.array_equal(first.pack(), steps.views(viewer).pack())
        assert np.array_equal(in_whole_moves(first).pack(), whole.views(viewer).pack())
    steps.step(np.where(going, chosen, 0))
    for viewer in (0, 1):
        mine = np.flatnonzero(going & (np.asarray(whole.players) == viewer))
        second = in_steps(whole.views(viewer)[mine], chosen[mine])
        assert np.array_equal(second.pack(), steps.views(viewer)[mine].pack())
        assert np.array_equal(in_whole_moves(second).pack(), whole.views(viewer)[mine].pack())


def test_a_piece_without_a_legal_move_cannot_be_chosen_in_a_plain_record() -> None:
    from vauban.errors import IllegalActionError

    board = Board.from_setups("FLPJ", "JFPL", "tiny")
    assert len(in_steps(board.snapshot(), np.array([1]))) == 1
    with pytest.raises(IllegalActionError, match="game 0: there is no piece of red with a legal move on square 0"):
        in_steps(board.snapshot(), np.array([0]))
    with pytest.raises(RecordError, match="the armies do not stand yet"):
        in_whole_moves(Board("steps:tiny", seed=1).snapshot())
    with pytest.raises(RecordError, match="not of plain Stratego"):
        in_steps(Board("kuhn", seed=1).snapshot())
    with pytest.raises(RecordError, match="not of Stratego in steps"):
        in_whole_moves(board.snapshot())


def test_placed_squares_make_a_setup_and_a_setup_is_placed() -> None:
    game = base.game("steps:barrage")
    assert isinstance(game, StrategoSteps)
    rng = random.Random(1)
    for _ in range(20):
        setup = game.setups.draw(rng)
        squares = game.squares_of(setup)
        assert np.array_equal(game.setup_of(squares), setup)
        board = Board(game, seed=1)
        for action in [*squares, *squares]:
            board.push(action)
        given = Board.from_setups(setup, setup, game)
        assert board.pieces() == given.pieces()
    for wrong, said in (
        ([0, 1], "8 different squares"),
        ([0] * 8, "8 different squares"),
        (range(35, 43), "square 40"),
    ):
        with pytest.raises(SetupError, match=said):
            game.setup_of(list(wrong))


def test_words_of_the_plain_record_come_first() -> None:
    game = base.game("steps:classic")
    assert isinstance(game, StrategoSteps)
    mine, other = game.format(), game.plain.format()
    assert mine.shape.words == WORDS + 3 and mine.shape[1:] == other.shape[1:] and mine.history == other.history
