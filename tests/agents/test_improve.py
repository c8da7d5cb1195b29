"""Improvements of a network's play: each acts in a position made for it, and does nothing elsewhere."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rough_models import rough_model

from vauban.agents import make_agent, make_player
from vauban.agents.improve import Wanted
from vauban.agents.net import NetAgent
from vauban.agents.stratego.improve import improve
from vauban.agents.stratego.improve.bounds import LIKELY, leaves, upper_bounds
from vauban.agents.stratego.improve.memory import ruled_out
from vauban.agents.stratego.improve.threats import pointless
from vauban.board import Board, View
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.games.stratego.pieces import BOMB, FLAG, GENERAL, MARSHAL, MINER, SCOUT, SPY
from vauban.games.stratego.variants import Variant, parse_army
from vauban.nets.processing import discretise, threshold
from vauban.observe import base as observations
from vauban.search.opinion import legal_actions, look
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot
from vauban.sim.stratego_steps import in_steps

CROWDED = Variant("crowded", 6, 6, (), 2, parse_army("F1 B1 M1 G1 C2 J1 N1 O2 S1"), total_limit=120)
SMALL = Variant("small", 5, 4, (), 2, parse_army("F1 B1 M1 S1 O1 N1"), total_limit=60)


def snapshot(board: Board) -> Snapshot:
    """Return the view of the player on turn."""
    return board.view(board.turn).snapshot()


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., NetAgent]:
    """Return what makes agents of rough models: (game, options) → the agent."""

    @cache
    def model(name: str, opinions: float, kind: str) -> str:
        return rough_model(tmp_path_factory.mktemp("rough"), name, opinions=opinions, kind=kind)

    def make(name: str, options: str = "", opinions: float = 15.0, kind: str = "pyramid") -> NetAgent:
        made = make_agent(",".join(filter(None, (model(name, opinions, kind), options))))
        assert isinstance(made, NetAgent)
        return made

    return make


LAKES = "2~~2~~2/2~~2~~2"
MODELS = [("barrage", "move"), ("barrage", "pyramid"), ("steps:barrage", "pyramid")]
"""Networks that see `ataraxos`, that see `deepnash`, and that choose in steps."""


# ── Threshold and levels ─────────────────────────────────────────────────────────────────────────


def views_of(name: str, count: int = 20, plies: int = 40, viewer: int = 0) -> Snapshot:
    sim = Simulator(name, count, seed=11, restart=False, threads=1, arrays="numpy")
    sim.play_random(plies)
    rows = np.flatnonzero((np.asarray(sim.players) == viewer) & ~np.asarray(sim.over))
    assert len(rows) > count // 2
    return sim.views(viewer)[rows]


@pytest.mark.parametrize(("name", "kind"), [("barrage", "move"), ("barrage", "pyramid"), ("geister", "move")])
def test_small_probabilities_go_and_the_others_become_parts_of_a_whole(agents: Any, name: str, kind: str) -> None:
    views = views_of(name)
    plain = agents(name, kind=kind).policy(views)
    cut = agents(name, "threshold=0.03", kind=kind).policy(views)
    parts = agents(name, "threshold=0.03,levels=16", kind=kind).policy(views)
    wanted = threshold(torch.from_numpy(plain), 0.03)
    np.testing.assert_allclose(cut, wanted.numpy(), atol=1e-9)
    np.testing.assert_allclose(parts, discretise(wanted, 16).numpy(), atol=1e-9)
    assert ((parts * 16) % 1 == 0).all() and (parts > 0).sum() < (plain > 0).sum()


def test_in_steps_both_steps_are_processed(agents: Any) -> None:
    views = views_of("barrage")
    agent, plain = agents("steps:barrage", "threshold=0.05,levels=8"), agents("steps:barrage")
    first = agent.policy(in_steps(views))
    np.testing.assert_allclose(first, discretise(threshold(torch.from_numpy(plain.policy(in_steps(views))), 0.05), 8))
    whole, legal = agent.policy(views), legal_actions(views)
    moves, pieces = game("barrage").moves, legal_actions(in_steps(views))
    assert moves is not None
    for row in range(len(views)):
        for place in np.flatnonzero(first[row]):
            piece = pieces[row, place]
            aimed = agent.policy(in_steps(views[row], np.array([piece])))[0]
            own = np.flatnonzero((legal[row] >= 0) & (moves[legal[row], 0] == piece))
            by_target = dict(zip(moves[legal[row, own], 1].tolist(), whole[row, own].tolist(), strict=True))
            targets = legal_actions(in_steps(views[row], np.array([piece])))[0]
            for target, chance in zip(targets.tolist(), aimed.tolist(), strict=True):
                if target >= 0:
                    assert by_target[target] == pytest.approx(first[row, place] * chance, abs=1e-9)
    assert whole.sum(1) == pytest.approx(1.0)


def test_a_deployment_has_levels_of_its_own(agents: Any) -> None:
    plain = game("barrage")
    one = [agents("steps:barrage", "setup_levels=1").set_up(plain, 0, random.Random(seed)) for seed in range(3)]
    assert (one[0] == one[1]).all() and (one[0] == one[2]).all()
    likeliest = agents("steps:barrage", "temperature=0").set_up(plain, 0, random.Random(0))
    assert (one[0] == likeliest).all()
    with pytest.raises(ConfigurationError, match="setup_levels=1 .* place their pieces one by one"):
        make_player(agents("barrage", "setup_levels=1").name, plain)


@pytest.mark.parametrize("name", ["geister", "kuhn"])
def test_games_of_other_families_refuse_what_knows_stratego(agents: Any, name: str, tmp_path: Path) -> None:
    if name == "kuhn":
        from vauban.nets.kinds import describe
        from vauban.nets.plain import PlainNetwork
        from vauban.nets.store import make_card, save_model
        from vauban.nets.transformer import Size

        network = PlainNetwork(game(name), Size(depth=1, width=8, heads=2)).eval()
        card = make_card(game(name), {"move": describe(network)}, name="rough", about="For tests.")
        save_model(tmp_path, {"move": network}, card, torch.float32)
        model = f"net:{tmp_path}"
    else:
        model = agents(name, kind="move").name
    make_player(f"{model},threshold=0.1,levels=4", game(name))
    for option in ("threats=0", "eagerness=2", "memory=1", "bounds=0.05"):
        word = option.partition("=")[0]
        with pytest.raises(ConfigurationError, match=f"{word} of agent .* no such improvement for '{name}'.*threshold"):
            make_player(f"{model},{option}", game(name))


def test_networks_in_steps_refuse_in_steps_what_needs_whole_moves(agents: Any) -> None:
    make_player(agents("steps:barrage", "eagerness=2,memory=1").name, game("steps:barrage"))
    with pytest.raises(ConfigurationError, match="threats and bounds"):
        make_player(agents("steps:barrage", "threats=0,bounds=0.1").name, game("steps:barrage"))
    make_player(agents("steps:barrage", "threats=0,bounds=0.1").name, game("barrage"))


# ── What networks see ────────────────────────────────────────────────────────────────────────────

SEEN = [
    ("barrage", "ataraxos"),
    ("barrage", "deepnash"),
    ("steps:barrage", "deepnash"),
    ("barrage", "deepnash-printed"),
]


def seen_by(views: Snapshot, name: str, observation: str, **wanted: Any) -> tuple[Any, Any, list[str]]:
    """Return an observation as it is and as it is improved, and the names of its channels."""
    seen_in = in_steps(views) if name.startswith("steps:") else views
    found = observations.find(game(name), observation)
    plain = look(seen_in.to("cpu"), observation, torch.float32)
    edited = plain.clone()
    edit = improve(Wanted(**wanted)).edit
    assert edit is not None
    edit(seen_in, found, edited)
    return plain, edited, found.channel_names(game(name))


@pytest.mark.parametrize(("name", "observation"), SEEN)
def test_an_eager_player_takes_a_draw_to_be_nearer(name: str, observation: str) -> None:
    golden = {0: 0.0, 20: 0.19, 50: 0.4375, 100: 0.75, 180: 0.99}
    for battleless, wanted in golden.items():
        board = Board.from_position(f"9f/10/10/10/{LAKES}/10/10/M9/F9 r 300 {battleless} -,- 0:-,0:-", "barrage",
                                    "battleless_limit=200")  # fmt: skip
        plain, edited, names = seen_by(snapshot(board), name, observation, eagerness=2.0)
        changed = {names[channel] for channel in (plain != edited).any(1)[0].nonzero().flatten().tolist()}
        plane = "max_num_moves_between_attacks_frac" if observation == "ataraxos" else "battleless_frac"
        assert edited[0, :, names.index(plane)].tolist() == pytest.approx([wanted] * 100, abs=1e-6)
        assert changed == ({plane} if battleless else set())


LURKING = "9f/10/10/10/2~~m'!1~~2/2~~S1~~2/4C'5/10/J9/F9 r 40 5 -,- 0:-,0:-"
"""A red Spy, which has not moved and is not known, beside a known Marshal, and a Colonel behind it."""


@pytest.mark.parametrize(("name", "observation"), SEEN)
def test_a_spy_that_leaves_a_marshal_alone_is_taken_for_none_by_both(name: str, observation: str) -> None:
    board = Board.from_position(LURKING, "barrage", "total_limit=400")
    for move in ("a2a3", "e6f6"):
        plain, edited, names = seen_by(snapshot(board), name, observation, memory=True)
        if move == "a2a3":  # nothing has been left undone yet
            assert torch.equal(plain, edited)
        board.push(move)
    for side in (0, 1):
        if side == 1:
            board.push("a3a4")
        before, after, names = seen_by(snapshot(board), name, observation, memory=True)
        square = 44 if side == 0 else 99 - 44
        channel = names.index("our_spy_prob" if side == 0 else "their_spy_prob")
        assert before[0, square, channel] > 0 and after[0, square, channel] == 0
        after[0, square, channel] = before[0, square, channel]
        assert torch.equal(before, after)  # and nothing else has changed


def test_a_marshal_is_taken_to_strike_a_general_that_nothing_guards() -> None:
    struck = f"9f/10/3sg'!5/4M'5/{LAKES}/10/10/J9/F9 r 40 5 -,- 0:-,0:-"
    for text, wanted in (
        (struck, 0),  # a hidden piece beside the General may be a Spy
        (struck.replace("3sg'!5", "3n'!g'!5"), 1 << MARSHAL),
        (struck.replace("3sg'!5", "3s'!g'!5"), 0),
        (struck.replace("3sg'!5", "3n'!c'!5"), 1 << MARSHAL | 1 << GENERAL),
        (struck.replace("3sg'!5", "3n'!g'5"), 0),  # it is not known to be the General
        (struck.replace("4M'5", "4M'!5"), 0),  # what is known is not in question
    ):
        board = Board.from_position(text, "barrage", "total_limit=400")
        board.push("a2a3")
        assert ruled_out(board.view(1).snapshot())[0, 99 - 64] == wanted, text


def test_types_are_ruled_out_as_by_a_slow_look_at_all_positions() -> None:
    found = 0
    for seed in range(60):
        board, dice = Board.random(CROWDED, seed=seed), random.Random(seed)
        marks: dict[int, int] = {}
        for _ in range(90):
            if board.is_over:
                break
            before, player = board.copy(), board.turn
            board.push(dice.choice(list(board.legal_moves)))
            if board.history[-1].battle is None:
                for identity, kinds in would_have_attacked(before, player):
                    marks[identity] = marks.get(identity, 0) | kinds
        for viewer in (0, 1):
            wanted = np.zeros(36, np.int64)
            for square, piece in board.pieces().items():
                if not piece.revealed:
                    wanted[square if viewer == 0 else 35 - square] = marks.get(piece.identity, 0)
            assert (ruled_out(board.view(viewer).snapshot())[0] == wanted).all()
            found += np.count_nonzero(wanted)
    assert found > 40


def beats(attacker: int, defender: int) -> int:
    """1 the attacker wins, 0 both fall, −1 it loses."""
    if attacker == defender:
        return 0
    if defender == BOMB:
        return 1 if attacker == MINER else -1
    return 1 if defender == FLAG or (attacker, defender) == (SPY, MARSHAL) or attacker > defender else -1


def around(square: int, columns: int = 6, rows: int = 6) -> Iterable[int]:
    row, column = divmod(square, columns)
    for r, c in ((row + 1, column), (row - 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= r < rows and 0 <= c < columns:
            yield r * columns + c


def would_have_attacked(board: Board, player: int) -> Iterable[tuple[int, int]]:
    """Tell of which types a player's hidden pieces would have attacked, by identity."""
    pieces = board.pieces()
    hidden = {each.kind for each in pieces.values() if each.player != player and not each.revealed}
    for square, prey in pieces.items():
        if prey.player == player or not prey.revealed:
            continue
        kinds = {MARSHAL: [SPY], GENERAL: [MARSHAL], 7: [MARSHAL, GENERAL]}.get(prey.kind, [])
        for kind in kinds:
            guards = [pieces[near] for near in around(square) if near in pieces and pieces[near].player != player]
            able = [{guard.kind} if guard.revealed else hidden for guard in guards]
            guarded = any(beats(taker, kind) >= 0 for some in able for taker in some if taker not in (FLAG, BOMB))
            if kind != SPY and guarded:
                continue
            for near in around(square):
                if near in pieces and pieces[near].player == player and not pieces[near].revealed:
                    yield pieces[near].identity, 1 << kind


# ── Pointless threats ────────────────────────────────────────────────────────────────────────────

CHASE = f"9f/m9/10/10/{LAKES}/4t'!5/3J'!6/M9/F9 r 40 5 -,- 0:-,0:-"
"""A known Major beside the way of a known Sergeant, each with another piece that can wait."""
TO_AND_FRO = ["d3e3", "e4d4", "e3d3", "d4e4", "d3e3", "e4d4"]
WAIT = ["a2a3", "a9a8"]


@pytest.mark.parametrize(("name", "kind"), MODELS)
def test_after_three_threats_a_retreat_is_not_followed_at_once(agents: Any, name: str, kind: str) -> None:
    plain, improved = agents(name, kind=kind), agents(name, "threats=0", kind=kind)
    board = Board.from_position(CHASE, "barrage", "chase=off two_square=3 total_limit=400")
    moves = game("barrage").moves
    barred = []
    assert moves is not None
    for move in [*TO_AND_FRO, *WAIT, "e3d3", "d4e4", "d3e3", "e4d4"]:
        views = snapshot(board)
        legal = legal_actions(views)
        out = pointless(views, legal)[0]
        before, after = plain.policy(views)[0], improved.policy(views)[0]
        texts = [board.game.action_text(board.turn, int(a)) if a >= 0 else "" for a in legal[0]]
        if out.any():
            barred.append((len(board.history), [texts[place] for place in np.flatnonzero(out)]))
            assert (before[out] > 0).all() and (after[out] == 0).all()
            np.testing.assert_allclose(after, np.where(out, 0, before) / before[~out].sum(), atol=1e-6)
        else:
            np.testing.assert_allclose(after, before, atol=1e-9)
        board.push(move)
    # The fourth in a row is barred by the rules; one threat was allowed behind the others; the next at once is not.
    assert barred == [(10, ["d3e3"])]


def test_a_threat_that_is_the_only_move_stays(agents: Any) -> None:
    board = Board.from_position(CHASE.replace("M9/F9", "10/F9"), "barrage", "chase=off two_square=off total_limit=400")
    for move in [*TO_AND_FRO, "e3d3", "d4e4"]:
        board.push(move)
    views = snapshot(board)
    legal = legal_actions(views)
    assert pointless(views, legal).sum() == 1
    policy = np.where(pointless(views, legal), 1.0, 0.0)  # a policy that has nothing else

    class Found:
        chances = policy

    Found.legal = legal  # type: ignore[attr-defined]
    prune = improve(Wanted(threats=False)).pruning
    assert prune is not None
    assert (prune(views, Found, lambda views: np.zeros(len(views))) == policy).all()  # type: ignore[arg-type]


def test_a_piece_that_is_no_prey_can_be_followed(agents: Any) -> None:
    board = Board.from_position(CHASE.replace("t'!", "g'!"), "barrage", "chase=off two_square=off total_limit=400")
    for move in [*TO_AND_FRO, "e3d3", "d4e4"]:
        board.push(move)
    assert not pointless(snapshot(board), legal_actions(snapshot(board))).any()


# ── Value bounds ─────────────────────────────────────────────────────────────────────────────────

AJAR = f"9f/10/10/10/{LAKES}/10/J'!2J'!6/t'!M'!8/F9 r 40 5 -,- 0:-,0:-"
"""Red's Flag is the only piece that is not known, and a Sergeant stands before it; a Marshal can take the Sergeant."""


@pytest.mark.parametrize(("name", "kind"), MODELS)
def test_a_move_that_leaves_the_flag_to_be_taken_is_left_out(agents: Any, name: str, kind: str) -> None:
    plain, improved = agents(name, kind=kind, opinions=1), agents(name, "bounds=0.05", kind=kind, opinions=1)
    board = Board.from_position(AJAR, "barrage", "total_limit=400")
    views = snapshot(board)
    legal = legal_actions(views)[0]
    texts = [board.game.action_text(0, int(action)) if action >= 0 else "" for action in legal]
    before, after = plain.policy(views)[0], improved.policy(views)[0]
    assert (before[legal >= 0] >= LIKELY).all()
    kept = {text for text, chance in zip(texts, after, strict=True) if chance > 0}
    assert kept == {"b2a2", "a3a2"} and sum(chance > 0 for chance in before) > 8
    # A Sergeant that may be a Bomb makes no reply that can be relied on.
    board = Board.from_position(AJAR.replace("t'!", "t"), "barrage", "total_limit=400")
    np.testing.assert_allclose(improved.policy(snapshot(board)), plain.policy(snapshot(board)), atol=1e-9)


def judged(views: Snapshot) -> Any:
    """Judge views by their looks alone."""
    return np.array([worth_of(View.from_snapshot(views, row)) for row in range(len(views))])


def worth_of(view: View) -> float:
    return zlib.crc32(view.text.split()[0].encode()) / 2**31 - 1


def test_bounds_are_those_of_all_that_can_be() -> None:
    """A slow oracle: all hidden assignments, all replies that are safe under every one of them."""
    seen, attacks, safe = 0, 0, 0
    for seed in range(40):
        board, dice = Board.random(SMALL, seed, "chase=off"), random.Random(seed)
        for _ in range(6 + seed % 11):
            if not board.is_over:
                board.push(dice.choice(list(board.legal_moves)))
        if board.is_over:
            continue
        views = snapshot(board)
        legal = legal_actions(views)
        chances = np.where(legal >= 0, 1.0, 0.0)
        bounds = upper_bounds(views, legal, chances, judged)[0]
        for place in np.flatnonzero(legal[0] >= 0):
            wanted = slow_bound(board, int(legal[0, place]))
            assert bounds[place] == pytest.approx(wanted, abs=1e-6), (seed, board.text, place)
            seen += 1
            safe += np.isfinite(wanted)
            attacks += board.move_of(int(legal[0, place])).target in board.pieces()
    assert seen > 100 and attacks > 10 and safe > 40


def test_what_is_foreseen_is_to_the_byte_what_the_player_will_see() -> None:
    found = 0
    for seed in range(20):
        board, dice = Board.random(SMALL, seed, "chase=off"), random.Random(seed)
        while not board.is_over and len(board.history) < 40:
            views = snapshot(board)
            legal = legal_actions(views)
            keys, worth, ends = leaves(views, legal, np.where(legal >= 0, 1.0, 0.0))
            after = board.copy()
            after.push(dice.choice(list(after.legal_moves)))
            if after.is_over:
                break
            place = int(np.flatnonzero(legal[0] == after.actions[-1])[0])
            reply = dice.choice(list(after.legal_actions))
            safe = is_safe(after, reply)
            after.push(reply)
            if safe and not after.is_over:
                wanted = snapshot(after).pack()[0]
                lines = ends[np.flatnonzero((keys[:, 1] == place) & np.isnan(worth))].pack()
                assert (lines == wanted).all(1).any()
                found += 1
            board = after
    assert found > 30


def slow_bound(board: Board, action: int) -> float:
    viewer, move = board.turn, board.move_of(action)
    met = board.pieces().get(move.target)
    kinds = kinds_of(board, 1 - viewer)
    best = -np.inf
    for kind in kinds[move.target] if met is not None and not met.revealed else [None]:
        after = with_types(board, {} if kind is None else {move.target: kind})
        after.push(action)
        if after.is_over:
            best = max(best, utility(after, viewer))
            continue
        worst = np.inf
        for reply in list(after.legal_actions):
            if not is_safe(after, reply):
                continue
            source, target = after.move_of(reply)
            striker = after.pieces()[source]
            strikes = target in after.pieces() and not striker.revealed
            values = []
            for striking in kinds_of(after, 1 - viewer)[source] if strikes else [striker.kind]:
                given = {} if kind is None else {move.target: kind}
                lines = with_types(board, given | ({source: striking} if strikes else {}))
                lines.push(action)
                lines.push(reply)
                values.append(utility(lines, viewer) if lines.is_over else worth_of(lines.view(viewer)))
            worst = min(worst, max(values))
        best = max(best, worst)
    return best


def utility(board: Board, viewer: int) -> float:
    outcome = board.outcome()
    assert outcome is not None
    return outcome.utility if viewer == 0 else -outcome.utility


def kinds_of(board: Board, player: int) -> dict[int, set[int]]:
    """Return what each of a player's pieces can be, by what both players know."""
    own = {square: piece for square, piece in board.pieces().items() if piece.player == player}
    hidden = [square for square, piece in own.items() if not piece.revealed]
    found: dict[int, set[int]] = {square: {piece.kind} if piece.revealed else set() for square, piece in own.items()}
    for kinds in set(permutations(sorted(own[square].kind for square in hidden))):
        if not any(kind in (FLAG, BOMB) and own[square].moved for square, kind in zip(hidden, kinds, strict=True)):
            for square, kind in zip(hidden, kinds, strict=True):
                found[square].add(kind)
    return found


def is_safe(board: Board, action: int) -> bool:
    player = board.turn
    pieces, (source, target) = board.pieces(), board.move_of(action)
    piece = pieces[source]
    if not piece.revealed and (not piece.moved or target not in around(source, 4, 5)):
        return False
    own, others = kinds_of(board, player), kinds_of(board, 1 - player)
    for kind in own[source] - {FLAG, BOMB}:
        met = others.get(target, set())
        if any(beats(kind, each) < 1 for each in met):
            return False
        if met == {FLAG}:
            continue
        after = {square: each.player for square, each in pieces.items() if square != source} | {target: player}
        for step in (1, -1, 4, -4):
            square, distance = target, 0
            while square + step in around(square, 4, 5):
                square, distance = square + step, distance + 1
                if square in after:
                    takers = others[square] if after[square] != player and square in others else set()
                    takers = {taker for taker in takers - {FLAG, BOMB} if distance == 1 or taker == SCOUT}
                    if any(beats(taker, kind) >= 0 for taker in takers):
                        return False
                    break
    return True


def with_types(board: Board, given: dict[int, int]) -> Board:
    """Return a game in which some of the hidden pieces of the player not on turn have these types."""
    player = 1 - board.turn
    own = {square: piece for square, piece in board.pieces().items() if piece.player == player and not piece.revealed}
    squares = sorted(own)
    for kinds in sorted(set(permutations(sorted(own[square].kind for square in squares)))):
        told = dict(zip(squares, kinds, strict=True))
        if any(told[square] != kind for square, kind in given.items()):
            continue
        if not any(kind in (FLAG, BOMB) and own[square].moved for square, kind in told.items()):
            position = board.position()
            pieces = tuple(replace(each, kind=told.get(each.square, each.kind)) for each in position.pieces)
            return Board.from_position(replace(position, pieces=pieces), board.variant, board.rules)
    raise AssertionError(f"{given} cannot be in {board.text}")


# ── All of them ──────────────────────────────────────────────────────────────────────────────────

ALL = "threshold=0.03,levels=16,threats=0,eagerness=2,memory=1,bounds=0.05"


@pytest.mark.parametrize(("name", "kind"), MODELS)
def test_many_views_get_the_same_answers_as_each_alone(agents: Any, name: str, kind: str) -> None:
    agent = agents(name, ALL, kind=kind)
    for viewer in (0, 1):
        views = views_of("barrage", 12, 60 + viewer, viewer)
        seeds = np.arange(len(views), dtype=np.uint64)
        alone = [int(agent.choose(views[row], seeds[row : row + 1])[0]) for row in range(len(views))]
        assert agent.choose(views, seeds).tolist() == alone
        np.testing.assert_allclose(agent.policy(views)[1], agent.policy(views[1])[0], atol=1e-6)


def test_where_nothing_is_taken_out_the_choices_are_those_without_pruning(agents: Any) -> None:
    views = views_of("barrage")
    seeds = np.arange(len(views), dtype=np.uint64)
    plain, improved = agents("steps:barrage"), agents("steps:barrage", "threats=0")
    assert not pointless(views, legal_actions(views)).any()
    assert (improved.choose(views, seeds) == plain.choose(views, seeds)).all()
    np.testing.assert_allclose(improved.policy(views), plain.policy(views), atol=1e-9)


def test_an_agent_tells_its_improvements_in_its_name(agents: Any) -> None:
    name = agents("barrage", ALL).name
    assert name.endswith("threshold=0.03,levels=16,threats=0,eagerness=2.0,memory=1,bounds=0.05")
    assert make_agent(name).name == name
