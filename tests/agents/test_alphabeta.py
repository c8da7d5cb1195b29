"""`alphabeta`: its play in small positions, its suspicions and values, and its search against a plain one."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from vauban import Simulator
from vauban.agents.base import choose_move
from vauban.agents.compiled import CompiledAgent, JudgingAgent
from vauban.agents.stratego.alphabeta import BOT, Options, plans, suspects, values
from vauban.agents.stratego.alphabeta import root as root_kernels
from vauban.agents.stratego.alphabeta import search as search_kernels
from vauban.agents.stratego.alphabeta import world as world_kernels
from vauban.agents.stratego.alphabeta.search import BETWEEN_LOOKS, ENDLESS, QUIET_DEPTH, RADIUS, WON
from vauban.agents.stratego.alphabeta.world import BOTH_GONE, FALLS, LONGEST, STAYS, WINS, World
from vauban.agents.stratego.belief import prior_table
from vauban.board import Board
from vauban.errors import VaubanError
from vauban.games.kernel import Record
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.stratego.moves import Move
from vauban.sim.compile import CPU, compiled

SPY, SCOUT, MINER, SERGEANT, LIEUTENANT, CAPTAIN, MAJOR, COLONEL, GENERAL, MARSHAL, FLAG, BOMB = range(12)
FULL_ARMY = VARIANTS["classic"].army
LAKES = "2~~2~~2/2~~2~~2"


def agent(nodes: int = 4000, seed: int = 0, **options: Any) -> CompiledAgent:
    return CompiledAgent(BOT, Options(nodes=nodes, **options), seed)


def red_plays(north: str, south: str, nodes: int = 4000) -> tuple[str, Board]:
    """Return its move for red, and the board: the four ranks above the lakes, and the four below them."""
    board = Board.from_position(f"{north}/{LAKES}/{south} r 40 0 -,- 0:-,0:-")
    move = choose_move(agent(nodes), board.view(0))
    assert move is not None
    return "".join(board.variant.square_name(square) for square in move), board


def is_attacked(board: Board, kind: int) -> bool:
    """Return whether blue, who is on turn, could strike red's piece of this type, or it is gone."""
    squares = [square for square, piece in board.pieces(0).items() if piece.kind == kind]
    return not squares or any(move.target in squares for move in board.legal_moves)


# ── What it plays ────────────────────────────────────────────────────────────────────────────────

NORTH = "fb4tlpj/bn7c/10/10"
"""Blue, hidden at home: a Flag behind Bombs, and one of most ranks."""
HOME = "4JTLPBF"
"""Red's back row, hidden too; a Bomb on j2 closes the Flag in."""


def test_it_takes_a_piece_that_is_free() -> None:
    move, _ = red_plays(NORTH, f"4l'!5/4P'!5/9B/{HOME}")
    assert move == "e3e4"


def test_it_does_not_attack_what_is_known_to_be_stronger() -> None:
    move, _ = red_plays(NORTH, f"4c'!5/4P'!5/9B/{HOME}")
    assert move != "e3e4"


def test_it_takes_the_better_of_two_pieces() -> None:
    move, _ = red_plays(NORTH, f"4j'!5/3l'!C'!5/9B/{HOME}")
    assert move == "e3e4"


@pytest.mark.parametrize("south", ["4s'!5/4M'!5/9B", "3s'!6/4M'!5/9B", "10/3Bs'!P4/4M'!4B"])
def test_it_saves_the_marshal_from_a_known_spy(south: str) -> None:
    move, board = red_plays(NORTH, f"{south}/{HOME}")
    board.push(move)
    assert not is_attacked(board, MARSHAL)


def test_a_miner_takes_the_known_bomb_beside_the_flag() -> None:
    move, _ = red_plays("fb!N'!3t!l!p!j!/b!8c!/10/10", f"10/10/9B/{HOME}")
    assert move == "c10b10"


def test_it_takes_the_flag_when_nothing_else_is_hidden() -> None:
    move, _ = red_plays("f9/P'!9/4t'!5/10", "10/2m'!7/2J'!7/FB8")
    assert move == "a9a10"


def test_it_attacks_two_pieces_at_once_where_one_alone_would_run() -> None:
    move, _ = red_plays(NORTH, f"1p'!1p'!6/2C'!7/9B/{HOME}", nodes=20000)
    assert move == "c3c4"


def test_it_does_not_walk_into_a_piece_that_takes_it() -> None:
    move, board = red_plays(NORTH, f"4g'!5/10/4C'!4B/{HOME}")
    board.push(move)
    assert not is_attacked(board, COLONEL)


def test_it_does_not_repeat_a_position_when_it_is_not_chased() -> None:
    board = Board.from_position(f"f9/b9/9t/10/{LAKES}/10/10/4C5/FB8 r 40 0 -,- 0:-,0:-")
    seen = set()
    for _ in range(40):
        move = choose_move(agent(500), board.view(0))
        assert move is not None
        board.push(move)
        if board.is_over:
            return
        assert board.view(0).text.split()[0] not in seen or board.battleless < 2
        seen.add(board.view(0).text.split()[0])
        quiet = [m for m in board.legal_moves if m.target not in board.pieces(0)]
        board.push(quiet[0])
        if board.is_over:
            return


# ── Values ────────────────────────────────────────────────────────────────────────


def weighed(own: Any, enemy: Any, own_shown: Any = (0,) * 12, enemy_shown: Any = (0,) * 12) -> tuple[Any, Any]:
    """Return the values and the stealth of both sides."""
    worth, stealth = np.zeros((2, 12)), np.zeros((2, 12))
    counts, shown = np.array([own, enemy], np.int64), np.array([own_shown, enemy_shown], np.int64)
    compiled(values.weigh, CPU, TRACKS=False)(counts, shown, 4, 0.0, worth, stealth, np.zeros(2))
    return worth, stealth


def without(*kinds: int) -> list[int]:
    return [0 if kind in kinds else count for kind, count in enumerate(FULL_ARMY)]


def test_values_at_the_start_are_those_of_the_table_9_3() -> None:
    worth, stealth = weighed(FULL_ARMY, FULL_ARMY)
    assert worth[0, :10].tolist() == [60, 80, 250, 120, 200, 400, 800, 1600, 3200, 5760]  # 6400 · 0.9: a Spy lives
    assert worth[1, :10].tolist() == worth[0, :10].tolist()
    assert worth[0, FLAG] == 12800
    # Six pieces below the Marshal: an enemy General, an own hidden one at half, two enemy Colonels, two own at half.
    assert stealth[0, MARSHAL] == pytest.approx((3200 + 1600 + 2 * 1600 + 2 * 800) / 10)
    # Below the Captain: four enemy Lieutenants, two of the own at half.
    assert stealth[0, CAPTAIN] == pytest.approx((4 * 200 + 2 * 100) / 20)
    assert stealth[0, MAJOR] == pytest.approx((4 * 400 + 2 * 200) / 30)
    assert stealth[0, SCOUT] == pytest.approx(80 / 3)
    assert stealth[0, SPY] == stealth[0, MARSHAL]
    # The enemy's: the root, times 4, times the risk that it bluffs.
    assert stealth[1, MARSHAL] == pytest.approx(4 * 4 * 960**0.5)


def test_a_rank_that_only_the_enemy_has_lost_is_worth_no_more_than_the_next_9_3() -> None:
    own, enemy = np.zeros(12), np.zeros(12)
    function = compiled(values.set_values, CPU, TRACKS=False)
    function(np.array(FULL_ARMY), np.array(without(MARSHAL, GENERAL)), own)
    assert own[MARSHAL] == 3200  # as the General, which the enemy lacks too
    assert own[GENERAL] == 3200  # the enemy still has Colonels
    function(np.array(without(MARSHAL, GENERAL)), np.array(FULL_ARMY), enemy)
    assert enemy[COLONEL] == 1600


def test_stronger_ranks_move_down_where_both_sides_have_lost_one_9_3() -> None:
    own = np.zeros(12)
    left = without(SERGEANT)
    compiled(values.set_values, CPU, TRACKS=False)(np.array(left), np.array(left), own)
    assert own[LIEUTENANT : MARSHAL + 1].tolist() == [120, 200, 400, 800, 1600, 3200]
    # Barrage lacks five ranks. Three times at most: else a Marshal were worth no more than two Scouts.
    barrage = np.array(VARIANTS["barrage"].army)
    compiled(values.set_values, CPU, TRACKS=False)(barrage, barrage, own)
    assert (own[GENERAL], own[MARSHAL], own[MINER]) == (400, 800, 108)


def test_a_side_that_is_ahead_counts_its_own_pieces_for_less_9_3() -> None:
    enemy = without(MARSHAL, GENERAL, SPY)
    worth, _ = weighed(FULL_ARMY, enemy)
    sums = []
    for army, value in ((FULL_ARMY, [120, 200, 400, 800, 1600, 3200, 3200]), (enemy, [120, 200, 400, 800, 1600, 0, 0])):
        small = army[SPY] * 10 + army[SCOUT] * 20 + army[MINER] * 30
        sums.append(small + sum(army[kind] * value[kind - SERGEANT] for kind in range(SERGEANT, FLAG)))
    assert worth[0, COLONEL] == pytest.approx(800 + 800 * sums[1] / sums[0])
    assert worth[1, COLONEL] == 1600


# ── Suspected ranks ───────────────────────────────────────────────────────────────


def bits(*kinds: int) -> int:
    return sum(1 << kind for kind in kinds)


UNKNOWN_PIECE = 15


@pytest.mark.parametrize(
    ("threatened", "evaded", "hidden", "guess"),
    [
        (bits(CAPTAIN), 0, FULL_ARMY, MAJOR),
        (bits(CAPTAIN), 0, without(MAJOR), COLONEL),
        (bits(CAPTAIN, UNKNOWN_PIECE), 0, FULL_ARMY, CAPTAIN),
        (bits(MARSHAL), 0, FULL_ARMY, SPY),
        (bits(MARSHAL), 0, without(SPY), -1),
        (bits(GENERAL), 0, without(MARSHAL), -1),
        (bits(MINER), 0, FULL_ARMY, -1),
        (bits(UNKNOWN_PIECE), 0, FULL_ARMY, -1),
        (bits(UNKNOWN_PIECE), 0, without(SCOUT, SERGEANT, LIEUTENANT), CAPTAIN),
        (bits(CAPTAIN), bits(LIEUTENANT), FULL_ARMY, -1),
        (bits(CAPTAIN), bits(COLONEL), FULL_ARMY, MAJOR),
    ],
)
def test_a_chaser_is_suspected_to_be_the_weakest_hidden_rank_that_wins_9_4(
    threatened: int, evaded: int, hidden: list[int], guess: int
) -> None:
    function = compiled(suspects.suspected_type, CPU, TRACKS=False)
    assert function(threatened, evaded, np.array(hidden)) == guess


def make_world(board: Board, suspicious: bool = True) -> tuple[World, Record]:
    """Return the world of the player on turn, and the record it comes from."""
    record = board.view(board.turn).snapshot().record()
    prior = prior_table(board.variant)
    return compiled(world_kernels.build, CPU, TRACKS=False)(record, suspicious, prior), record


def test_a_piece_that_chases_a_known_captain_again_and_again_is_taken_for_a_major() -> None:
    board = Board.from_position(f"fbn1t5/cgl7/4j5/10/{LAKES}/10/4P'!5/10/FM8 r 0 0 -,- 0:-,0:-")
    approach = ("b1b2", "e8e7", "b2b3", "e7e6", "b3b4", "e6e5", "b4a4", "e5e4")
    chase = ("e3e2", "e4e3", "e2d2", "e3d3", "d2d1", "d3d2")
    for move in approach + chase:
        board.push(move)
    world, _ = make_world(board)
    chaser = board.piece_at("d2")
    assert chaser is not None and chaser.kind == MAJOR
    assert world.suspected[chaser.identity] == MAJOR
    others = world.chances[chaser.identity].copy()
    others[MAJOR] = 0
    assert world.chances[chaser.identity, MAJOR] > 2 * others.max()
    blind, _ = make_world(board, suspicious=False)
    assert blind.suspected[chaser.identity] == -1
    assert blind.chances[chaser.identity, MAJOR] < world.chances[chaser.identity, MAJOR]


def test_chances_are_those_of_what_is_hidden() -> None:
    board = Board.random("classic", seed=3)
    rng = random.Random(4)
    while board.plies < 150:
        board.push(rng.choice(board.legal_moves))
    world, _ = make_world(board)
    hidden = board.view(board.turn).hidden_types()
    enemies = [piece for piece in board.pieces(1 - board.turn).values() if not piece.revealed]
    table = np.array([world.chances[piece.identity] for piece in enemies])
    assert table.sum(1) == pytest.approx(1.0)
    assert table.sum(0) == pytest.approx([hidden.get(kind, 0) for kind in range(12)], abs=0.2)
    for piece, row in zip(enemies, table, strict=True):
        assert not piece.moved or row[FLAG] + row[BOMB] == 0


# ── The search against a plain one ───────────────────────────────────────────────────────────────


@dataclass
class Plain:
    """Negamax without pruning, on the same world: no table, no order, no loops of its own making."""

    world: World
    turns: int
    quiet_limit: int
    total_left: int
    line: list[tuple[int, int, int]] = field(default_factory=list)

    def value(
        self, at: dict[int, int], worth: dict[int, int], score: int, side: int, depth: int, won: bool, quiet: int
    ) -> int:
        world, ply = self.world, len(self.line) - 12
        if won:
            return ply - WON
        if quiet >= self.quiet_limit or ply >= self.total_left:
            return 0
        movers = {square: who for square, who in at.items() if world.owner[who] == side and world.mobile[who]}
        if not movers:
            return ply - WON
        standing = score if side == 0 else -score
        if depth <= -QUIET_DEPTH:
            return standing
        region = {square for square, who in at.items() if world.owner[who] != side}
        for _ in range(min(depth, RADIUS) + 1 if depth > 0 else 1):
            region |= {int(near) for square in region for near in world.near[square] if near >= 0}
        moves = []
        for square, who in movers.items():
            for direction in range(4):
                target, steps = int(world.near[square, direction]), 1
                while world.mobile[who] == 2 and target >= 0 and target not in at:
                    target, steps = int(world.near[target, direction]), steps + 1
                if target in at and world.owner[at[target]] != side and (steps > 1 or square in region):
                    a, d = who, at[target]
                    lost = worth[a] - (worth[a] * int(world.keeps[a, d, 0]) >> 10)
                    gained = worth[d] - (worth[d] * int(world.keeps[a, d, 1]) >> 10)
                    if gained > lost or world.result[a, d] == WINS:
                        moves.append((square, target))
                step = int(world.near[square, direction])
                if depth > 0 and square in region and step >= 0 and step not in at:
                    moves.append((square, step))
        moves = [move for move in moves if not self.barred(at[move[0]], *move)]
        if depth > 0 and any(square not in region for square in movers):
            moves.append((-1, -1))
        if depth > 0 and not moves:
            free = any(near >= 0 and (int(near) not in at or world.owner[at[int(near)]] != side)
                       for square in movers for near in world.near[square])  # fmt: skip
            return standing if free else ply - WON
        best = standing if depth <= 0 else -ENDLESS
        for source, target in moves:
            best = max(best, -self.after(dict(at), dict(worth), score, side, depth, quiet, source, target))
        return best

    def barred(self, who: int, source: int, target: int) -> bool:
        latest = self.line[-2::-2][: self.turns]
        way = [(who, target, source) if index % 2 == 0 else (who, source, target) for index in range(self.turns)]
        return self.turns > 0 and latest == way

    def after(self, at: dict[int, int], worth: dict[int, int], score: int, side: int, depth: int, quiet: int,
              source: int, target: int) -> int:  # fmt: skip
        world, sign, won = self.world, 1 if side == 0 else -1, False
        quiet += 1
        mover = -1 if source < 0 else at[source]
        if source >= 0:
            place = int(world.plan[mover, target] - world.plan[mover, source])
            if target in at:
                quiet = 0
                victim = at[target]
                result = world.result[mover, victim]
                for who, part, gains in ((mover, 0, sign), (victim, 1, -sign)):
                    kept = worth[who] * int(world.keeps[mover, victim, part]) >> 10
                    score += gains * (kept - worth[who])
                    worth[who] = kept
                if result not in (FALLS, STAYS):
                    score -= int(world.plan[victim, target])
                    del at[target]
                if result in (BOTH_GONE, FALLS):
                    score -= int(world.plan[mover, source])
                    del at[source]
                elif result != STAYS:
                    at[target] = at.pop(source)
                    score += sign * place
                won = result == WINS
            else:
                at[target] = at.pop(source)
                score += sign * place
        self.line.append((mover, source, target))
        value = self.value(at, worth, score, 1 - side, depth - 1, won, quiet)
        self.line.pop()
        return value


def planned_world(board: Board) -> tuple[World, Record]:
    """Return the world of the player on turn with its plans, as it is searched."""
    world, record = make_world(board)
    compiled(plans.set_plans, CPU, TRACKS=False)(world)
    return world, record


def empty_tree(record: Record, entries: int = 1 << 15) -> Any:
    """Return a tree with the limits of a game, and with nodes enough."""
    tree = compiled(search_kernels.make_tree, CPU, TRACKS=False)(entries)
    compiled(root_kernels.set_limits, CPU, TRACKS=False)(record, tree)
    tree.numbers[search_kernels.NODE_LIMIT] = 10**9
    return tree


def plain_value(world: World, board: Board, depth: int) -> int:
    """Return the value of a position to a depth, by the plain search."""
    plain = Plain(world, board.rules.two_square, board.rules.battleless_limit or 10**9,
                  (board.rules.total_limit or 10**9) - board.plies)  # fmt: skip
    plain.line = [(int(row[0]), int(row[2]), int(row[3])) for row in world.line[:12]]
    at = {square: int(who) for square, who in enumerate(world.at) if who >= 0}
    worth = {who: int(world.worth[who]) for who in at.values()}
    return plain.value(at, worth, int(world.state[0]), 0, depth, False, board.battleless)


def searched(board: Board, depth: int) -> tuple[int, int]:
    """Return the value of a position to a depth: by the compiled search, and by the plain one."""
    world, record = planned_world(board)
    expected = plain_value(world, board, depth)
    function = compiled(search_kernels.search, CPU, TRACKS=False)
    before = [np.array(part).tolist() for part in (world.at, world.place, world.worth, world.pieces, world.movers)]
    value = function(world, empty_tree(record), record.rules, depth, -ENDLESS, ENDLESS)
    assert before == [
        np.array(part).tolist() for part in (world.at, world.place, world.worth, world.pieces, world.movers)
    ]
    return int(value), expected


@pytest.mark.parametrize("variant", ["nano", "micro", "tiny", "fives", "medium"])
def test_the_search_is_worth_what_a_plain_negamax_is_on_small_boards(variant: str) -> None:
    rng = random.Random(variant)
    for seed in range(4):
        board = Board.random(variant, seed)
        while not board.is_over and board.plies < 40:
            value, expected = searched(board, 5 if variant in ("nano", "micro") else 2 + (board.plies % 5 == 0))
            assert value == expected, board.text
            board.push(rng.choice(board.legal_moves))


def test_the_search_is_worth_what_a_plain_negamax_is_in_the_middle_of_barrage() -> None:
    rng = random.Random(5)
    compared = 0
    for seed in range(4):
        board = Board.random("barrage", seed)
        while not board.is_over and board.plies < 60:
            strikes = [move for move in board.legal_moves if move.target in board.pieces()]
            board.push(rng.choice(strikes or list(board.legal_moves)))
            if not board.is_over and board.plies % 12 == 0:
                value, expected = searched(board, 3)
                assert value == expected, board.text
                compared += 1
    assert compared >= 8


def test_the_search_counts_how_often_a_piece_went_back_and_forth() -> None:
    board = Board.from_position("3f/4/1J1l/F3 r 0 0 -,- 0:-,0:-")
    for move in ["b2b3", "d2d1", "b3b2", "d1d2", "b2b3", "d2d1"]:
        board.push(move)
        for depth in range(1, 7):
            value, expected = searched(board, depth)
            assert value == expected


def test_the_table_changes_how_long_a_search_takes_and_not_its_value() -> None:
    rng = random.Random(6)
    function = compiled(search_kernels.search, CPU, TRACKS=False)
    for seed in range(6):
        board = Board.random("barrage", seed)
        while not board.is_over and board.plies < 30:
            board.push(rng.choice(board.legal_moves))
        found, nodes = [], []
        for size in (1, 1 << 18):
            world, record = planned_world(board)
            tree = empty_tree(record, size)
            found.append(int(function(world, tree, record.rules, 6, -ENDLESS, ENDLESS)))
            nodes.append(int(tree.numbers[search_kernels.NODES]))
        assert found[0] == found[1], board.text
        assert nodes[1] <= nodes[0]


SURE = WON - LONGEST
"""Beyond this a value says that the game is won."""


@pytest.mark.parametrize("variant", ["micro", "tiny", "fives", "medium", "barrage"])
def test_one_table_serves_all_depths_and_windows_of_a_position(variant: str) -> None:
    # As in the bot's deepening, entries of one search meet the windows of another: what was proved only from one side
    # must not count as more. Equal depth then means an equal value, but for what hangs on the way to a position: with
    # no two-square rule and no limits that is only how many plies a won game took, so all won games count alike.
    rng = random.Random(variant)
    function = compiled(search_kernels.search, CPU, TRACKS=False)
    compared = 0
    for seed in range(6):
        board = Board.random(variant, seed, "two_square=off battleless_limit=none total_limit=none")
        for _ in range(40):
            strikes = [move for move in board.legal_moves if move.target in board.pieces()]
            board.push(rng.choice(strikes if strikes and rng.random() < 0.2 else list(board.legal_moves)))
            if board.is_over:
                break
            if board.plies % 5:
                continue
            world, record = planned_world(board)
            tree = empty_tree(record)
            for depth in (3, 1, 2):
                true = int(np.clip(plain_value(world, board, depth), -SURE, SURE))
                for _ in range(8):
                    alpha = true + rng.choice([-1000, -100, -8, -1, 0, 7, 99, 999])
                    beta = alpha + rng.choice([1, 8, 100, 1000])
                    value = np.clip(function(world, tree, record.rules, depth, alpha, beta), -SURE, SURE)
                    if value <= alpha:
                        assert true <= value, (board.text, depth, alpha, beta)
                    elif value >= beta:
                        assert true >= value, (board.text, depth, alpha, beta)
                    else:
                        assert true == value, (board.text, depth, alpha, beta)
                value = np.clip(function(world, tree, record.rules, depth, -ENDLESS, ENDLESS), -SURE, SURE)
                assert value == true, (board.text, depth)
                compared += 1
    assert compared >= 15


@pytest.mark.parametrize("variant", ["tiny", "barrage", "classic"])
def test_positions_have_one_hash_each_and_each_another(variant: str) -> None:
    rng = random.Random(variant)
    make, unmake, position_hash = (
        compiled(function, CPU, TRACKS=False)
        for function in (world_kernels.make, world_kernels.unmake, search_kernels.position_hash)
    )
    world, _ = planned_world(Board.random(variant, 1))
    positions: dict[int, Any] = {}
    hashes: dict[Any, int] = {}
    met_again = 0
    for _ in range(150):
        fought = False
        while world.state[world_kernels.PLY] < 16:
            side = world.state[world_kernels.SIDE]
            moves = [(0, 0)]
            for square, who in enumerate(world.at):
                if who >= 0 and world.owner[who] == side and world.mobile[who]:
                    steps = [int(near) for near in world.near[square] if near >= 0]
                    moves += [(square, to) for to in steps if world.at[to] < 0 or world.owner[world.at[to]] != side]
            source, target = rng.choice(moves)
            fights = source != target and world.at[target] >= 0
            if fights and world.result[world.at[source], world.at[target]] == WINS:
                break
            fought |= fights
            make(world, source, target)
            word = position_hash(world)
            rows = world.line[world_kernels.PAST + world.state[world_kernels.PLY] - 2 :][:2]
            turns = tuple(rows[:, world_kernels.TURNS_BACK].tolist())
            position = tuple(world.at), tuple(world.worth), int(world.state[world_kernels.SIDE]), turns
            assert positions.setdefault(word, position) == position
            # What a doubtful fight left of two pieces hangs on the order of the fights.
            if not fought:
                met_again += position in hashes
                assert hashes.setdefault(position, word) == word
        while world.state[world_kernels.PLY] > 0:
            unmake(world)
    assert met_again > 20


# ── Manners ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_it_plays_legal_moves_in_every_variant_to_the_end(variant: str) -> None:
    sim = Simulator(variant, 8, seed=1, restart=False, threads=1)
    one, seeds = agent(60), np.arange(8).astype(np.uint64)
    plies = 0
    while not sim.over.all() and plies < 300:
        player = plies % 2
        going = (~sim.over).nonzero()[:, 0]
        actions = np.asarray(sim.sample().numpy(), np.int64)
        # Blue goes to and fro at random every other time, so that the repetition rules have something to bar.
        if player == 0 or plies % 4 == 1:
            actions[going.numpy()] = one.choose(sim.views(player)[going], seeds[going.numpy()])
        sim.step(actions)
        plies += 1


def test_it_plays_legal_moves_where_rules_bar_repetition() -> None:
    for rules in ("two_square=3 chase=ataraxos", "two_square=5 chase=off", "two_square=3 chase=isf"):
        board = Board.from_position("3f/4/1J1l/F3 r 0 0 -,- 0:-,0:-", rules=rules)
        for _ in range(60):
            if board.is_over:
                break
            move = choose_move(agent(80), board.view(board.turn))
            assert move is not None and move in board.legal_moves
            board.push(move)


def test_the_same_view_and_seed_give_the_same_answer_alone_and_in_a_batch() -> None:
    sim = Simulator("classic", 6, seed=3, restart=False, threads=1)
    for _ in range(14):
        sim.step(sim.sample())
    assert not sim.over.any()
    views = sim.views(0)
    one = agent(700, seed=5)
    seeds = np.full(6, 5, np.uint64)
    together = one.choose(views, seeds)
    assert together.tolist() == one.choose(views, seeds).tolist()
    for row in range(6):
        assert one.choose(views[row], seeds[:1])[0] == together[row]


def test_it_stops_when_it_looks_at_the_clock_and_its_time_is_over() -> None:
    views = Board.random("classic", seed=1).view(0).snapshot()
    hasty, counted, thorough = (
        float(JudgingAgent(BOT, Options(depth=8, **limit)).judge(views)[0])
        for limit in ({"time": 1e-9}, {"nodes": BETWEEN_LOOKS}, {"nodes": 10**6})
    )
    assert hasty == counted != thorough


def test_what_is_hidden_changes_nothing() -> None:
    rng = random.Random(3)
    board = Board.random("barrage", 8)
    one = agent(500)
    compared = 0
    while not board.is_over and compared < 12:
        hidden = [piece for piece in board.pieces(1).values() if not piece.revealed]
        pairs = [(a, b) for a in hidden for b in hidden if a.moved == b.moved and (a.kind or 0) < (b.kind or 0)]
        if board.turn == 0 and pairs:
            first, second = rng.choice(pairs)
            start = {piece.square: (piece.player, piece.kind) for piece in board.start_position().pieces}
            start[first.identity], start[second.identity] = start[second.identity], start[first.identity]
            try:
                twin = Board.from_pieces(start, board.variant, board.rules)  # type: ignore[arg-type]
                for played in board.history:
                    twin.push(played.move)
            except VaubanError:  # with these types the game would have been over earlier
                break
            assert choose_move(one, twin.view(0)) == choose_move(one, board.view(0))
            compared += 1
        board.push(choose_move(one, board.view(board.turn)) or Move(0, 0))
    assert compared >= 5


@pytest.mark.slow
def test_it_beats_a_random_mover() -> None:
    from vauban.agents import make_agent

    wins = 0
    for seed in range(10):
        board = Board.random("barrage", seed)
        other = make_agent("random", seed)
        while not board.is_over:
            mine = board.turn == seed % 2
            board.push(choose_move((agent(2000) if mine else other), board.view(board.turn)) or Move(0, 0))
        outcome = board.outcome()
        wins += outcome is not None and outcome.winner == seed % 2
    assert wins >= 8
