"""The environments for other libraries: PettingZoo and Gymnasium, every game through both."""

from __future__ import annotations

import copy
import importlib
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from pettingzoo.test import api_test, seed_test  # noqa: E402
from pettingzoo.test.render_test import render_test  # noqa: E402
from pettingzoo.utils.wrappers import OrderEnforcingWrapper, TerminateIllegalWrapper  # noqa: E402

from vauban.board import Board  # noqa: E402
from vauban.envs.gymnasium import SinglePlayerEnv, play_random, register  # noqa: E402
from vauban.envs.pettingzoo import RawEnv, env  # noqa: E402
from vauban.errors import ConfigurationError, IllegalActionError, SetupError  # noqa: E402
from vauban.games import base  # noqa: E402
from vauban.games.stratego.variants import VARIANTS  # noqa: E402

GAMES = base.names()


def identity(name: str) -> str:
    """Return the name by which Gymnasium knows a game."""
    return f"vauban/{name.replace(':', '-')}-v1"


TINY = ("FLPJ", "JFPL")
BARRAGE = "F........O/B........O/.S..N...../.G..M....."
SCRAMBLED = "O........F/O........B/.M..S...../.N..G....."

EXPECTED = (
    "Observation is not a NumPy array",  # it is {"observation", "action_mask"}, as in PettingZoo's board games
    "Observation space for each agent probably should be",
    "We recommend agents to be named",  # ours are called red and blue
    "Action mask numpy array is all zeros",  # when the game is over
)


def play(game: Any, rng: np.random.Generator, plies: int = 10**6) -> list[Any]:
    """Play at random until the game is over for both; return all that the agents were told."""
    told = []
    for agent in game.agent_iter(plies):
        last = game.last()
        told.append((agent, *last))
        game.step(None if last[2] else int(rng.choice(np.flatnonzero(last[0]["action_mask"]))))
    return told


def everything(game: Any) -> dict[str, Any]:
    """Return all that can be learnt from an environment."""
    names = ("agents", "rewards", "terminations", "truncations", "infos", "agent_selection", "_cumulative_rewards")
    return {name: copy.deepcopy(getattr(game, name)) for name in names} | {
        agent: game.observe(agent) for agent in game.possible_agents
    }


# ── PettingZoo ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", GAMES)
def test_every_game_passes_the_tests_of_pettingzoo(name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env(name), num_cycles=60)
        seed_test(lambda: env(name), num_cycles=30)
    assert not [str(each.message) for each in caught if not str(each.message).startswith(EXPECTED)]


@pytest.mark.parametrize(
    ("name", "observation", "squares"),
    [
        ("octa-barrage", "deepnash", 64), ("octa-barrage", "ataraxos", 64),
        ("geister", "geister", 36), ("geister", "geister-history", 36),
    ],
)  # fmt: skip
def test_any_observation_and_layout_will_do(name: str, observation: str, squares: int) -> None:
    game = env(name, observation=observation, layout="squares")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(game, num_cycles=20)
    shape = game.observation_space(game.possible_agents[0])["observation"].shape
    assert shape[0] == squares and len(shape) == 2


@pytest.mark.parametrize("name", ["tiny", "geister-33a", "leduc"])
def test_every_game_passes_the_render_test(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    render_test(lambda render_mode: env(name, render_mode=render_mode), {"svg": lambda text: text.startswith("<svg")})
    assert "is on turn" in capsys.readouterr().out


@pytest.mark.parametrize("name", GAMES)
def test_a_random_game_comes_to_its_end_and_sums_to_zero(name: str) -> None:
    game = env(name)
    rng = np.random.default_rng(1)
    for seed in range(2 if name == "classic" else 4):
        game.reset(seed=seed)
        told = play(game, rng)
        assert game.agents == []
        ends = [each for each in told if each[3]]
        assert {each[0] for each in ends} == set(game.possible_agents)
        assert sum(each[2] for each in ends) == 0
        assert not any(each[2] for each in told if not each[3]), "a reward before the end"
        assert not any(each[4] for each in told), "a game was truncated"
        assert not any(each[1]["action_mask"].any() for each in ends)
        assert all(each[5]["end"] in game.unwrapped.game.ends[1:] for each in ends)
        for agent, seen, *_, info in told:
            assert seen in game.observation_space(agent)
            assert np.array_equal(seen["action_mask"], info["action_mask"])


@pytest.mark.parametrize("name", list(VARIANTS))
def test_the_mask_is_the_legal_moves_of_a_board_with_the_same_setups(name: str) -> None:
    setups = [torch.from_numpy(_setup(name, seed)) for seed in (1, 2)]
    game = RawEnv(name)
    game.reset(options={"setups": setups})
    board = Board.from_setups(setups[0].numpy(), setups[1].numpy(), name)
    rng = np.random.default_rng(3)
    while not board.is_over and board.plies < 300:
        assert game.agent_selection == ("red", "blue")[board.turn]
        mask = game.observe(game.agent_selection)["action_mask"]
        moves = {game.game.decode(board.turn, action): action for action in np.flatnonzero(mask).tolist()}
        assert set(moves) == set(board.legal_moves)
        assert not game.observe(("blue", "red")[board.turn])["action_mask"].any()
        if board.plies % 21 == 0:  # now red's turn, now blue's
            assert np.array_equal(game.observe(game.agent_selection)["observation"], board.observe().numpy())
        move = board.legal_moves[int(rng.integers(len(board.legal_moves)))]
        board.push(move)
        game.step(moves[move])
    assert all(game.terminations.values()) == board.is_over
    outcome = board.outcome()
    if outcome is not None:
        assert game.rewards == {"red": outcome.utility, "blue": -outcome.utility}
        assert game.infos["blue"]["end"] == outcome.end
    assert str(game.table.board()) == str(board)


def _setup(name: str, seed: int) -> Any:
    import random

    from vauban.games.stratego.setups import can_move_first, random_setup

    rng = random.Random(seed)
    while True:
        setup = random_setup(VARIANTS[name], rng)
        if can_move_first(setup, VARIANTS[name]):
            return setup


@pytest.mark.parametrize("name", ["barrage", "tiny", "kuhn", "leduc", "rps-x"])
@pytest.mark.parametrize("plies", [0, 1, 2, 3, 40])
def test_a_reset_leaves_nothing_of_the_game_before(name: str, plies: int) -> None:
    used = RawEnv(name)
    used.reset(seed=5)
    play(used, np.random.default_rng(5), plies)
    used.reset(seed=7)
    fresh = RawEnv(name)
    fresh.reset(seed=7)
    assert data_equivalence(everything(used), everything(fresh), exact=True)
    assert used.table.text() == fresh.table.text()
    first, second = (play(game, np.random.default_rng(8)) for game in (used, fresh))
    assert data_equivalence(first, second, exact=True)


def test_a_reset_between_the_last_steps_of_the_two_agents_leaves_nothing() -> None:
    used = RawEnv("matching-pennies")
    used.reset(seed=1)
    for action in (0, 0, None):
        used.step(action)
    assert len(used.agents) == 1
    used.reset(seed=2)
    assert data_equivalence(everything(used)["agents"], ["first", "second"])
    assert len(play(used, np.random.default_rng(1))) == 4


def test_seeds_repeat_games_and_resets_without_one_go_on_to_the_next() -> None:
    def starts(game: Any, seed: int | None) -> list[bytes]:
        texts = []
        for number in range(4):
            game.reset(seed=seed if number == 0 else None)
            texts.append(str(game.unwrapped.table.board()))
        return texts

    first, second = env("barrage"), env("barrage")
    assert starts(first, 3) == starts(first, 3) == starts(second, 3)
    assert len(set(starts(first, 3) + starts(first, 4))) == 8
    unseeded = starts(env("barrage"), None)
    assert unseeded != starts(env("barrage"), None)
    again = env("barrage")
    again.reset()
    drawn = again.unwrapped.table.seed
    assert starts(env("barrage"), drawn)[0] == str(again.unwrapped.table.board())


def test_what_was_handed_out_is_never_written_to_again() -> None:
    game = RawEnv("tiny")
    game.reset(seed=1)
    before = everything(game)
    kept = copy.deepcopy(before)
    play(game, np.random.default_rng(1))
    game.reset(seed=2)
    assert data_equivalence(before, kept, exact=True)


def test_hidden_pieces_change_nothing_that_the_other_agent_is_told() -> None:
    told = []
    for blue in (BARRAGE, SCRAMBLED):
        game = RawEnv("barrage")
        game.reset(seed=1, options={"setups": (BARRAGE, blue)})
        game.step(game.game.encode(0, 34, 44))
        told.append(everything(game))
    assert not np.array_equal(told[0]["blue"]["observation"], told[1]["blue"]["observation"])
    for each in told:
        # Blue is on turn; blue's possible moves are blue's secret.
        del each["blue"], each["infos"]["blue"]
    assert data_equivalence(told[0], told[1], exact=True)


def test_the_second_player_of_a_matrix_game_is_told_nothing_of_the_choice() -> None:
    told = []
    for choice in range(3):
        game = RawEnv("rock-paper-scissors")
        game.reset(seed=1)
        game.step(choice)
        told.append(everything(game))
    assert data_equivalence(told[0], told[1]) and data_equivalence(told[0], told[2])


def test_no_info_tells_the_seed() -> None:
    game = RawEnv("kuhn")
    game.reset(seed=987654321)
    for _ in play(game, np.random.default_rng(1)):
        assert "987654321" not in repr(game.infos)


def test_each_agent_sees_the_board_from_its_own_side() -> None:
    game = RawEnv("tiny")
    seen = []
    for setups in (TINY, TINY[::-1]):
        game.reset(options={"setups": setups})
        seen.append([game.observe(agent)["observation"] for agent in ("red", "blue")])
    assert np.array_equal(seen[0][0], seen[1][1]) and np.array_equal(seen[0][1], seen[1][0])
    assert not np.array_equal(seen[0][0], seen[0][1])


def test_in_leduc_an_agent_may_act_twice_running() -> None:
    game = RawEnv("leduc")
    game.reset(seed=1)
    on_turn = []
    for action in (1, 2, 1, 2, 0):
        on_turn.append(game.agent_selection)
        game.step(action)
    assert on_turn == ["first", "second", "first", "first", "second"]
    assert game.rewards == {"first": 3.0, "second": -3.0}
    assert game.infos["first"]["end"] == "fold"


def test_rules_and_pools_of_setups_are_used() -> None:
    game = RawEnv("tiny", rules={"total_limit": 2}, setups=["FLPJ"])
    for seed in range(3):
        game.reset(seed=seed)
        assert str(game.table.board()).splitlines()[3] == " 1 F L P J"
    for _ in range(2):
        game.step(int(np.flatnonzero(game.observe(game.agent_selection)["action_mask"])[0]))
    assert game.terminations == {"red": True, "blue": True} and game.rewards == {"red": 0, "blue": 0}
    rows = np.stack([_setup("tiny", seed) for seed in range(5)])
    RawEnv("tiny", setups=rows).reset()
    RawEnv("tiny", setups=(torch.from_numpy(rows), torch.from_numpy(rows[:1]))).reset()
    assert RawEnv("barrage", rules={"battleless_limit": 1000}).table.sim.format.history == 1001


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (0, "action 0 of red at ply 4: a1a2 is not legal: a Flag never moves"),
        (4, "there is no piece on a2"),
        (12, "a4 holds a blue piece, and red is on turn"),
        (96, "there is no action 96: actions go from 0 to 95"),
        (-1, "there is no action -1"),
        (2.5, "an action is a whole number from 0 to 95, not 2.5"),
        (None, "an action is a whole number from 0 to 95, not None"),
    ],
)
def test_an_illegal_action_is_refused_with_the_reason_and_changes_nothing(action: Any, reason: str) -> None:
    game = env("tiny")
    game.reset(options={"setups": TINY})
    for move in ((1, 5), (15, 11), (5, 1), (11, 15)):
        game.step(game.unwrapped.game.encode(game.unwrapped.table.player, *move))
    before = everything(game.unwrapped)
    with pytest.raises(IllegalActionError, match=re.escape(reason)):
        game.step(action)
    assert data_equivalence(everything(game.unwrapped), before, exact=True)


def test_the_reason_of_a_barred_move_names_the_rule() -> None:
    game = env("tiny")
    game.reset(options={"setups": TINY})
    encode = game.unwrapped.game.encode
    for move in ((1, 5), (15, 11), (5, 1), (11, 15), (1, 5), (15, 11)):
        game.step(encode(game.unwrapped.table.player, *move))
    with pytest.raises(IllegalActionError, match="ply 6: b2b1 is not legal: two-square rule"):
        game.step(encode(0, 5, 1))


def test_an_illegal_action_of_a_small_game_is_answered_with_the_legal_ones() -> None:
    game = env("leduc")
    game.reset()
    with pytest.raises(IllegalActionError, match=re.escape("legal are 1 (call), 2 (raise)")):
        game.step(0)


@pytest.mark.parametrize("wrap", [env, lambda name: OrderEnforcingWrapper(RawEnv(name)), RawEnv])
def test_with_the_wrapper_of_pettingzoo_an_illegal_action_loses(wrap: Any) -> None:
    game = TerminateIllegalWrapper(wrap("tiny"), illegal_reward=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(game, num_cycles=20)
        game.reset(seed=1)
        for agent in game.agent_iter():
            _, reward, termination, *_ = game.last()
            if termination:
                assert reward == (-1 if agent == "red" else 0)
            game.step(None if termination else 0)
    assert game.agents == []
    game.reset(seed=1)
    assert sum(each[2] for each in play(game, np.random.default_rng(1)) if each[3]) == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: env("barage"), "there is no game 'barage': did you mean 'barrage'?"),
        (lambda: env("tiny", observation="atarax"), "has no observation 'atarax': did you mean 'ataraxos'?"),
        (lambda: env("tiny", layout="rows"), "layout is 'planes' or 'squares', not 'rows'"),
        (lambda: env("kuhn", render_mode="gif"), "there is no render_mode 'gif': use 'human' or 'ansi' or 'svg'"),
        (lambda: env("tiny", setups=[]), "the pool of setups is empty"),
        (lambda: RawEnv("tiny").render(), "make the environment with render_mode="),
        (lambda: RawEnv("tiny").reset(seed=-1), "a seed is a number from 0"),
        (lambda: RawEnv("tiny").reset(options={"setup": TINY}), "no option 'setup': did you mean 'setups'?"),
        (lambda: RawEnv("tiny").reset(options={"setups": "FLPJ"}), "a pair, the setup of red and that of blue"),
        (lambda: RawEnv("kuhn").reset(options={"setups": TINY}), "'kuhn' has no setups"),
        (lambda: RawEnv("tiny").observe("green"), "there is no agent 'green'"),
        (lambda: SinglePlayerEnv("tiny", side="third"), "there is no side 'third'"),
    ],
)
def test_impossible_arguments_are_refused_with_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(sentence)):
        make()


def test_setups_that_do_not_fit_are_refused_and_the_game_before_goes_on() -> None:
    game = RawEnv("barrage")
    game.reset(seed=1)
    before = everything(game)
    with pytest.raises(SetupError, match="1 Marshal is missing"):
        game.reset(seed=2, options={"setups": (BARRAGE, BARRAGE.replace("M", "."))})
    assert data_equivalence(everything(game), before, exact=True)
    # Bombs stand before the open columns, lakes before the others.
    immobile = "FSGMCCJJJP/PPPLLLLTTT/TNOONNNNOO/BBOOBBOOBB"
    with pytest.raises(SetupError, match=r"the game is over at once \(.*\): give setups in which a piece can move"):
        RawEnv("classic").reset(options={"setups": (immobile, immobile)})
    with pytest.raises(SetupError, match="would be over at once"):
        RawEnv("classic", setups=[immobile]).reset()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
@pytest.mark.parametrize("name", ["barrage", "leduc"])
def test_a_copy_goes_its_own_way(name: str, clone: Any) -> None:
    game = RawEnv(name)
    game.reset(seed=1)
    play(game, np.random.default_rng(1), 2)
    other = clone(game)
    assert data_equivalence(everything(game), everything(other), exact=True)
    before = everything(game)
    first = play(other, np.random.default_rng(2))
    assert data_equivalence(everything(game), before, exact=True)
    assert data_equivalence(play(game, np.random.default_rng(2)), first, exact=True)


# ── Gymnasium ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", GAMES)
def test_every_game_passes_the_check_of_gymnasium(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    # The check plays actions without asking for the mask, so illegal ones must end the game instead of raising.
    game = gymnasium.make(identity(name), illegal_reward=-1.0, side="alternate")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(game.unwrapped)


@pytest.mark.parametrize("name", ["kuhn", "rock-paper-scissors"])
def test_where_all_actions_are_legal_the_check_needs_no_help(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(identity(name), side="second").unwrapped)


@pytest.mark.parametrize("side", ["first", "second", "alternate"])
@pytest.mark.parametrize("name", ["octa-barrage", "nano", "leduc", "matrix-b3"])
def test_games_of_one_player_come_to_their_end(name: str, side: str) -> None:
    game = SinglePlayerEnv(name, side=side)
    rng = np.random.default_rng(1)
    for number in range(6):
        seen, info = game.reset(seed=1 if number == 0 else None)
        assert game.player == {"first": 0, "second": 1, "alternate": number % 2}[side]
        terminated, reward = False, 0.0
        while not terminated:
            assert reward == 0
            assert seen in game.observation_space
            assert info["action_mask"].any() and info["action_mask"].dtype == np.int8
            assert np.array_equal(game.action_masks(), info["action_mask"].astype(bool))
            seen, reward, terminated, truncated, info = game.step(rng.choice(np.flatnonzero(info["action_mask"])))
            assert not truncated
        assert reward == game.table.outcome.utility * (1, -1)[game.player]
        assert not game.action_masks().any()
        assert info["end"] == game.table.outcome.end
        with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
            game.step(0)


def test_a_seed_repeats_the_opponent_as_well() -> None:
    def record(game: Any, seed: int | None) -> list[Any]:
        seen, info = game.reset(seed=seed)
        told = [seen, info]
        terminated = False
        while not terminated:
            seen, reward, terminated, _, info = game.step(np.flatnonzero(info["action_mask"])[-1])
            told += [seen, reward, info]
        return told

    game = SinglePlayerEnv("octa-barrage", side="second")
    first = record(game, 5)
    other = record(game, None)
    assert not data_equivalence(first, other, exact=True)
    assert data_equivalence(record(game, 5), first, exact=True)
    assert data_equivalence(record(SinglePlayerEnv("octa-barrage", side="second"), 5), first, exact=True)
    unseeded = SinglePlayerEnv("octa-barrage", side="second")
    told = record(unseeded, None)
    again = SinglePlayerEnv("octa-barrage", side="second")
    assert data_equivalence(record(again, unseeded.np_random_seed), told, exact=True)


def test_the_opponent_is_told_its_own_view_and_no_more() -> None:
    told: list[Any] = []

    def watcher(observation: Any, action_mask: Any, rng: np.random.Generator) -> int:
        told.append((observation, action_mask))
        return play_random(observation, action_mask, rng)

    for setup in (BARRAGE, SCRAMBLED):
        SinglePlayerEnv("barrage", watcher, side="second").reset(seed=1, options={"setups": (BARRAGE, setup)})
    assert len(told) == 2 and data_equivalence(told[0], told[1], exact=True)
    zoo = RawEnv("barrage")
    zoo.reset(options={"setups": (BARRAGE, BARRAGE)})
    assert np.array_equal(told[0][0], zoo.observe("red")["observation"])


def test_a_game_that_ends_before_the_first_move_is_followed_by_the_next() -> None:
    # The Scout on j4 looks up an open column: at a Flag, which ends the game, or at a Bomb, which does not.
    quick = "F........O/B........./.S..N...../.G..M....O"
    open_flag = "B........O/F........O/.S..N...../.G..M....."
    safe = BARRAGE

    def taker(observation: Any, action_mask: Any, rng: np.random.Generator) -> int:
        return max(np.flatnonzero(action_mask), key=lambda action: (action % 100 == 39, action // 100 == 7))

    rows = [torch.from_numpy(RawEnv("barrage").game.setups.parse(text)) for text in (quick, open_flag, safe)]
    game = SinglePlayerEnv("barrage", taker, side="second", setups=(torch.stack(rows[:1]), torch.stack(rows[1:])))
    for seed in range(8):
        game.reset(seed=seed)
        assert not game.table.over and game.table.player == 1
    stuck = SinglePlayerEnv("barrage", taker, side="second", setups=(torch.stack(rows[:1]), torch.stack(rows[1:2])))
    with pytest.raises(ConfigurationError, match="games in a row were over before the player's first move"):
        stuck.reset(seed=1)


def test_an_opponent_that_cheats_is_named() -> None:
    game = SinglePlayerEnv("tiny", lambda *_: 0)
    _, info = game.reset(options={"setups": ("FLPJ", "FLPJ")})
    with pytest.raises(IllegalActionError, match=r"the opponent chose what is not legal\. action 0 of blue"):
        game.step(np.flatnonzero(info["action_mask"])[0])
    with pytest.raises(IllegalActionError, match=r"call reset\(\)"):
        game.step(0)


def test_illegal_actions_raise_unless_a_reward_is_set_for_them() -> None:
    game = SinglePlayerEnv("tiny")
    game.reset(options={"setups": TINY})
    with pytest.raises(IllegalActionError, match="a Flag never moves"):
        game.step(0)
    lenient = SinglePlayerEnv("tiny", illegal_reward=-2)
    lenient.reset(options={"setups": TINY})
    _, reward, terminated, truncated, info = lenient.step(0)
    assert (reward, terminated, truncated, info["end"]) == (-2.0, True, False, "illegal")
    assert not info["action_mask"].any()


@pytest.mark.parametrize("side", ["first", "second"])
def test_the_picture_of_one_player_shows_no_hidden_piece(side: str) -> None:
    game = SinglePlayerEnv("tiny", side=side, render_mode="ansi")
    game.reset(seed=1, options={"setups": TINY})
    text = "".join(line[3:] for line in game.render().splitlines()[:4])
    assert set(text) & set("flpjFLPJ") == (set("FLPJ") if side == "first" else set("flpj"))
    picture = SinglePlayerEnv("tiny", side=side, render_mode="svg")
    picture.reset(seed=1, options={"setups": TINY})
    assert picture.render().count(">?<") == 4
    second = SinglePlayerEnv("rock-paper-scissors", side="second", render_mode="ansi")
    second.reset(seed=1)
    assert second.render() == "second sees: viewer[1]\nply 1: second is on turn"


def test_a_small_game_is_shown_as_text() -> None:
    game = RawEnv("kuhn", observation="observation", render_mode="ansi")
    game.reset(seed=1)
    for action in (1, 1):
        game.step(action)
    lines = game.render().splitlines()
    assert re.fullmatch(r"first sees: viewer\[0\] card\[\d\] chips\[0\]=2 chips\[1\]=2", lines[0])
    assert lines[2:4] == ["first played bet", "second played bet"]
    assert re.fullmatch(r"over after 2 plies: showdown, (first|second) has won", lines[4])


def test_every_game_is_registered_and_may_be_so_twice() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
    assert {identity(name) for name in GAMES} <= set(gymnasium.registry)


# ── Both ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("module", "library"), [("pettingzoo", "PettingZoo"), ("gymnasium", "Gymnasium")])
def test_a_missing_library_is_reported_with_what_to_install(
    module: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"vauban.envs.{module}")
    with pytest.raises(ImportError, match=re.escape(f'needs {library}: pip install "vauban-games[envs]"')):
        importlib.import_module(f"vauban.envs.{module}")


def test_the_room_itself_imports_nothing_heavy() -> None:
    code = (
        "import sys, vauban.envs; print([n for n in ('torch', 'numba', 'gymnasium', 'pettingzoo') if n in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


PAGE = (Path(__file__).parents[2] / "docs" / "envs.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_examples_of_the_page_run(code: str) -> None:
    exec(compile(code, "docs/envs.md", "exec"), {"__name__": "example"})
