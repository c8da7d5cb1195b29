"""The scripted bots: their numbers and setups, drawn positions, whole games, and a second opinion on their moves."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from oracle_bots import ORACLES

from vauban.agents.base import RESIGNS, choose_move, set_up
from vauban.agents.compiled import Bot, CompiledAgent
from vauban.agents.options import make_options, split_text
from vauban.agents.setups import make_sampler
from vauban.agents.stratego.scripted import BOTS, charger, fox, hunter, prober, thermal
from vauban.agents.stratego.scripted.fox import expected
from vauban.agents.stratego.scripted.hunter import weigh
from vauban.agents.stratego.scripted.sight import STILL, look
from vauban.board import Board
from vauban.games.kernel import Record
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG, MINER, MOVABLE_TYPES, SPY
from vauban.games.stratego.setups import Row, check_army, random_setup, setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.sim.compile import CPU, compiled
from vauban.sim.simulator import Simulator

TEXTS = [*(bot.name for bot in BOTS), "hunter:finish=1", "thermal:refuse=1", "prober:retreat=1"]
CLASSIC = VARIANTS["classic"]


def make(text: str, seed: int = 0) -> CompiledAgent:
    name, settings = split_text(text)
    bot = next(bot for bot in BOTS if bot.name == name)
    return CompiledAgent(bot, make_options(bot.options, name, settings), seed)


def begun(bot: Bot, seed: int = 1, variant: str = "classic") -> Board:
    """Return a game whose two setups are the bot's own."""
    rng = random.Random(seed)
    agent = CompiledAgent(bot, bot.options())
    setups = [set_up(agent, Stratego(VARIANTS[variant]), player, rng) for player in (0, 1)]
    return Board.from_setups(*setups, variant)


def answer(text: str, position: str, seed: int = 0) -> str | None:
    """Return a bot's move in a position; None if it resigns."""
    board = Board.from_position(position, rules="ucc")
    move = choose_move(make(text, seed), board.view(board.turn))
    return None if move is None else "".join(map(board.variant.square_name, move))


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def start() -> Any:
    """Return red's view at the start of a classic game, all 40 enemies hidden."""
    view = begun(fox.BOT).view(0).snapshot()
    words, halves, bytes_ = (part[0] for part in view.numpy().store)
    record = Record(words.view(np.uint64), halves.view(np.uint16), bytes_, view.format.parameters)
    return compiled(look, CPU, TRACKS=False)(record)


def test_charger_prefers_a_scout_two_steps_away_to_a_lieutenant_beside_an_unknown_piece() -> None:
    """The chances that the original gives in its examples."""
    scout, sergeant, lieutenant, captain = 1, 3, 4, 5
    assert charger.PRICES[scout, STILL] / 3 == pytest.approx(0.1333, abs=1e-4)
    assert charger.PRICES[lieutenant, STILL] / 2 == pytest.approx(0.125)
    assert charger.PRICES[captain, sergeant] / 2 == pytest.approx(0.2)
    assert answer("charger", "5f/6/m4j/5L/O5/F5 r 0 0 -,- 0:-,0:-") == "a2a3"
    assert answer("charger", "5f/6/m1t'!2j/2P2L/O5/F5 r 0 0 -,- 0:-,0:-") == "c3c4"


def test_fox_expects_of_a_hidden_piece_what_the_document_says(start: Any) -> None:
    """From Spy to Marshal."""
    adjacent = [-0.305, 0.19, -0.1475, 0.445, 0.4625, 0.4575, 0.52125, 0.5225, 0.55, 0.555]
    two_away = [-0.34, *adjacent[1:9], 0.51]
    np.testing.assert_allclose(compiled(expected, CPU)(start), [adjacent, two_away], atol=1e-4)


def test_hunter_wants_of_a_hidden_piece_what_the_document_says(start: Any) -> None:
    """Attack and retreat, from Spy to Marshal."""
    attack = [0.0213, 0.06, 0.1417, 0.3062, 0.325, 0.3575, 0.3988, 0.4284, 0.4439, 0.4312]
    retreat = [0.1937, 0.06, 0.2138, 0.075, 0.0688, 0.0525, 0.035, 0.02, 0.0113, 0.0113]
    values, flees = compiled(weigh, CPU)(start)
    np.testing.assert_allclose(values[:, STILL], np.maximum(attack, retreat), atol=1e-4)
    assert [kind for kind in range(MOVABLE_TYPES) if flees[kind, STILL]] == [SPY, MINER]
    general = 8
    assert values[general, MINER] == pytest.approx(1.9)
    assert values[general, FLAG] == 1.0


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────

CORNER = "FBNSBJTOBN/BBCMPPPPNC/LTGJNONOTJ/OLTBLLOOOO"
RAID = "FBNSBOTOBN/BBOOPPPPNC/LTGJNONOTJ/BCMJLTLLOO"
OPEN_FRONT = "NBFBLTBTBT/JNBCNLGBNO/LCPOOPJNLP/OOTMPOSJOO"


def reflected(setup: str) -> str:
    return "/".join(row[::-1] for row in setup.split("/"))


@pytest.mark.parametrize(
    ("bot", "setup"), [(charger.BOT, CORNER), (fox.BOT, CORNER), (hunter.BOT, CORNER), (thermal.BOT, RAID)]
)
def test_a_bot_keeps_to_the_same_columns_as_red_and_as_blue(bot: Bot, setup: str) -> None:
    agent = CompiledAgent(bot, bot.options())
    rng = random.Random(1)
    assert setup_text(set_up(agent, Stratego(CLASSIC), 0, rng), CLASSIC) == setup
    assert setup_text(set_up(agent, Stratego(CLASSIC), 1, rng), CLASSIC) == reflected(setup)


def test_prober_sets_up_in_one_of_two_mirror_images_as_often() -> None:
    agent = CompiledAgent(prober.BOT, prober.BOT.options())
    rng = random.Random(1)
    for player in (0, 1):
        found = [setup_text(set_up(agent, Stratego(CLASSIC), player, rng), CLASSIC) for _ in range(200)]
        assert set(found) == {OPEN_FRONT, reflected(OPEN_FRONT)}
        assert 70 < found.count(OPEN_FRONT) < 130


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.name)
def test_a_bot_sets_up_a_whole_army_on_every_board(bot: Bot) -> None:
    rng = random.Random(2)
    for variant in VARIANTS.values():
        for player in (0, 1):
            check_army(set_up(CompiledAgent(bot, bot.options()), Stratego(variant), player, rng), variant)


# ── Drawn positions ──────────────────────────────────────────────────────────────────────────────

APART = "f1m1n/5/~~~~~/1L1O1/F4 r 0 0 -,- 0:-,0:-"
"""A position in which no piece can reach another."""


def test_charger_goes_around_its_own_bomb() -> None:
    assert answer("charger", "f4/1m3/1B3/1O3/F4 r 0 0 -,- 0:-,0:-") == "b2a2"


def test_charger_plays_at_random_where_it_reaches_nobody() -> None:
    found = {answer("charger", APART, seed) for seed in range(40)}
    assert found == {"b2a2", "b2c2", "b2b1", "d2c2", "d2e2", "d2d1"}


def test_fox_resigns_where_it_reaches_nobody() -> None:
    assert answer("fox", APART) is None


def test_fox_does_not_turn_back_for_what_it_would_have_gone_for() -> None:
    there = "1fF/3/3/1M1/3/3/3/3/m2 r 0 0 -,- 0:-,0:- moves b6b5 a1b1"
    alike = "1fF/3/3/3/1M1/3/3/3/1m1 r 0 0 -,- 0:-,0:-"
    assert answer("fox", alike) == "b5b6"
    assert answer("fox", there) == "b5b4"


def test_hunter_sends_its_general_after_a_known_miner_past_a_known_flag() -> None:
    position = "4n'!/5/5/f!G3/F4 r 0 0 -,- 0:-,0:-"
    assert answer("hunter", position) == "b2b3"
    assert answer("hunter:finish=1", position) == "b2a2"


def test_hunter_runs_from_a_far_enemy_and_with_finish_only_from_a_near_one() -> None:
    position = "4m'!/4f/5/2N2/F4 r 0 0 -,- 0:-,0:-"
    assert answer("hunter", position) == "c2c1"
    assert answer("hunter:finish=1", position) == "c2d2"


def test_thermal_strikes_a_known_bomb_with_its_miner_whatever_else_there_is() -> None:
    assert {answer("thermal", "4f/5/b!4/N1O2/F4 r 0 0 -,- 0:-,0:-", seed) for seed in range(20)} == {"a2a3"}


def test_thermal_runs_into_a_known_bomb_in_the_last_resort_and_resigns_if_it_refuses_to() -> None:
    position = "4f/5/5/b!4/OF3 r 0 0 -,- 0:-,0:-"
    assert answer("thermal", position) == "a1a2"
    assert answer("thermal:refuse=1", position) is None


def test_thermal_follows_chance_where_it_is_as_cold_everywhere() -> None:
    position = "11f/O11/F11 r 0 0 -,- 0:-,0:-"
    assert {answer("thermal", position, seed) for seed in range(20)} == {"a2a3", "a2b2"}


def test_thermal_plays_by_chance_for_seven_moves_from_its_126th_on() -> None:
    # Red makes its 126th move after 250 plies and its 132nd after 262; blue after one more.
    for side, board, late in (("r", "4f/5/2O2/5/F4", 0), ("b", "4f/5/2o2/5/F4", 1)):
        for plies, noisy in ((248, False), (250, True), (262, True), (264, False)):
            position = f"{board} {side} {plies + late} 0 -,- 0:-,0:-"
            found = {answer("thermal", position, seed) for seed in range(40)}
            assert len(found) == 4 if noisy else len(found) <= 2, position


def test_prober_takes_the_known_marshal_with_its_spy_before_anything_else() -> None:
    assert answer("prober", "4f/5/Sm'!3/O3n/F4 r 0 0 -,- 0:-,0:-") == "a3b3"


def test_probers_marshal_strikes_a_piece_that_has_moved_and_may_be_the_spy_and_runs_from_one_that_has_not() -> None:
    assert answer("prober", "f3n/5/2s'2/2M2/F4 r 0 0 -,- 0:-,0:-") == "c2c3"
    assert answer("prober", "f3n/5/2s2/2M2/F4 r 0 0 -,- 0:-,0:-") == "c2c1"


def test_prober_attacks_with_the_weakest_piece_that_surely_wins() -> None:
    assert answer("prober", "4f/1G3/Jl'!C2/1M3/F4 r 0 0 -,- 0:-,0:-") == "a3b3"


def test_prober_finds_out_with_a_scout_before_a_captain() -> None:
    assert answer("prober", "f4/1ml2/1PO2/5/F4 r 0 0 -,- 0:-,0:-") == "c3c4"


def test_prober_knows_a_piece_by_what_is_left_for_it_to_be() -> None:
    """The piece on c4 has moved, and the Lieutenant is the only type left that can: the Major need not ask."""
    assert answer("prober", "f1b2/2l'2/2J2/5/F3O r 0 0 -,- 0:-,0:-") == "c3c4"


def test_prober_runs_from_sure_death_only_when_it_is_told_to() -> None:
    position = "f4/3n1/5/2m'!2/2L'1O/F4 r 0 0 -,- 0:-,0:-"
    assert answer("prober", position) == "e2e5"
    assert answer("prober:retreat=1", position) == "c2b2"


def test_prober_makes_no_position_twice_and_resigns_when_there_is_no_other() -> None:
    board = Board.from_position("f3l/5/5/~~~~~/5/5/F3C r 0 0 -,- 0:-,0:-", rules="ucc")
    agent, seen = make("prober"), []
    while (move := choose_move(agent, board.view(0))) is not None:
        board.push(move)
        seen.append(frozenset((square, piece.kind) for square, piece in board.pieces().items()))
        board.push("e7d7" if board.piece_at("e7") else "d7e7")
    assert len(seen) > 10
    assert len(set(seen)) == len(seen)


# ── Many games ───────────────────────────────────────────────────────────────────────────────────


def play(text: str, other: str | None, games: int, seed: int) -> tuple[Simulator, npt.NDArray[np.int64]]:
    """Play whole classic games, the first half of them as red; None plays at random. Return them, and the bot's side in
    each.
    """
    agents = make(text), None if other is None else make(other)
    side = np.repeat([0, 1], games // 2)
    rng = random.Random(seed)
    rows: list[list[Row]] = [[], []]
    for me in side:
        for player in (0, 1):
            agent = agents[player ^ me]
            rows[player].append(set_up(agent, Stratego(CLASSIC), player, rng) if agent else random_setup(CLASSIC, rng))
    sim = Simulator("classic", games, seed=seed, restart=False, tracks=False, threads=1)
    sim.reset(setups=[torch.as_tensor(np.stack(each)) for each in rows])
    player = 0
    while not sim.over.all():
        actions, views = sim.sample(), sim.views(player)
        for agent, turn in zip(agents, (side == player, side != player), strict=True):
            here = np.flatnonzero(turn & ~sim.over.numpy())
            if agent is not None and len(here):
                chosen = agent.choose(views[torch.as_tensor(here)], here.astype(np.uint64))
                assert (chosen != RESIGNS).all(), f"{agent.name} resigned"
                actions[here] = torch.as_tensor(chosen, dtype=actions.dtype)
        sim.step(actions)
        player = 1 - player
    return sim, side


@pytest.mark.parametrize("text", ["charger", "fox", "hunter:finish=1", "thermal", "prober"])
def test_a_bot_beats_the_random_mover_in_95_of_100_games(text: str) -> None:
    sim, side = play(text, None, 100, seed=3)
    assert (sim.results.winner.numpy() == side).sum() >= 95


@pytest.mark.parametrize("text", TEXTS)
def test_a_bot_plays_the_same_game_twice(text: str) -> None:
    (first, _), (second, _) = (play(text, "charger", 4, seed=5) for _ in range(2))
    assert torch.equal(first.snapshot().pack(), second.snapshot().pack())


@pytest.mark.parametrize("text", ["charger", "fox", "hunter", "hunter:finish=1", "prober"])
def test_a_bot_without_chance_answers_the_same_whatever_its_seed(text: str) -> None:
    sim = Simulator("classic", 100, seed=8, threads=1)
    sim.play_random(80)
    views, zeros = sim.views(0), np.zeros(100, np.uint64)
    first = make(text).choose(views, zeros)
    assert (first == make(text).choose(views, zeros + np.uint64(77))).all()


@pytest.mark.parametrize("text", TEXTS)
def test_a_bot_never_makes_an_illegal_move(text: str) -> None:
    agent = make(text)
    for variant, rules in product(VARIANTS, (None, "ucc")):
        sim = Simulator(variant, 20, seed=11, rules=rules, threads=1)
        for plies in (0, 7, 20, 60):
            sim.play_random(plies)
            legal = sim.legal_mask()
            for player in (0, 1):
                turn = torch.nonzero(sim.players == player)[:, 0]
                actions = agent.choose(sim.views(player)[turn], np.arange(len(turn), dtype=np.uint64))
                for row, action in zip(turn.tolist(), actions.tolist(), strict=True):
                    assert action == RESIGNS or legal[row, action], f"{variant}, game {row}: action {action}"


@pytest.mark.parametrize("text", TEXTS)
def test_a_bot_answers_the_same_whatever_is_hidden_from_it(text: str) -> None:
    generator = np.random.default_rng(4)
    agent, seeds = make(text), np.arange(60, dtype=np.uint64)
    for variant, plies in (("classic", 120), ("barrage", 40), ("tiny", 4)):
        game = Stratego(variant)
        sim, twin = Simulator(game, 60, seed=13, threads=1), Simulator(game, 60, seed=13, threads=1)
        sim.play_random(plies)
        changed = 0
        for viewer in (0, 1):
            games, views, truth = sim.snapshot(), sim.views(viewer), sim.hidden_values(viewer).numpy()
            others = truth.copy()
            for row in range(60):
                view = Board.from_snapshot(games, row).view(viewer)
                moved = np.array([view.piece_at(square).moved for square in view.hidden()], bool)  # type: ignore[union-attr]
                for group in (np.flatnonzero(moved), np.flatnonzero(~moved)):
                    others[row, group] = generator.permutation(others[row, group])
            changed += int((others != truth).any(1).sum())
            twin.determinise(views, viewer, others)
            mine = (sim.players == viewer).numpy()
            one, other = agent.choose(views, seeds), agent.choose(twin.views(viewer), seeds)
            assert (one == other)[mine].all()
        assert changed > 60


# ── A second opinion ─────────────────────────────────────────────────────────────────────────────

PLAIN = {text: text for text in TEXTS if text != "hunter:finish=1"} | {"thermal:refuse=1": "thermal:version=1.1"}
"""By text: the name of its plain twin. (The one of hunter:finish=1 stops where ours goes on.)"""
OPPONENTS = ("charger", "thermal", "prober", None)
LONGEST = 600
"""Plies after which a game is left unfinished."""


def agree(text: str, variant: str, moves: int) -> None:
    """Compare a bot's answers with those of its plain twin, in games against others and itself."""
    board_variant = VARIANTS[variant]
    bot, twin = make(text), ORACLES[PLAIN[text]]
    rng = random.Random(f"{text} {variant}")
    compared = games = 0
    while compared < moves:
        me, opponent = games % 2, (*OPPONENTS, text)[games % 5]
        other = None if opponent is None else make(opponent, seed=games)
        games += 1
        setups = [set_up(bot, Stratego(board_variant), 0, rng), make_sampler("human", Stratego(board_variant))(rng)]
        if me == 1:
            setups = [setups[1], set_up(bot, Stratego(board_variant), 1, rng)]
        board = Board.from_setups(*setups, variant)
        while not board.is_over and compared < moves and board.plies < LONGEST:
            view = board.view(board.turn)
            if board.turn == me:
                move = choose_move(bot, view)
                # Where chance decides among all that is not much worse, there is nothing to compare.
                if not (bot.bot.name == "thermal" and board.plies >= 250 and (board.plies + 1) % 250 < 15):
                    compared += 1
                    allowed = twin.acceptable(view)
                    assert move in allowed, f"{text} plays {move}, its twin one of {allowed}: {view.text}"
            elif other is not None:
                move = choose_move(other, view)
            else:
                move = rng.choice(view.legal_moves)
            if move is None:
                break
            board.push(move)


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("variant", ["classic", "barrage", "tiny"])
def test_a_bot_plays_what_its_plain_twin_would(text: str, variant: str) -> None:
    agree(text, variant, 30)


@pytest.mark.slow
@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize(("variant", "moves"), [("classic", 500), ("barrage", 350), ("tiny", 350)])
def test_a_bot_plays_what_its_plain_twin_would_for_long(text: str, variant: str, moves: int) -> None:
    agree(text, variant, moves)
