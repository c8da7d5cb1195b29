"""Agents of the pool as opponents, many games at once, and PettingZoo's parallel interface."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from pettingzoo.test import parallel_api_test  # noqa: E402

import vauban.envs.gymnasium  # noqa: E402, F401  (registers the games)
from vauban.arena.match import Match  # noqa: E402
from vauban.arena.schedule import play_match  # noqa: E402
from vauban.envs.gymnasium import SinglePlayerEnv  # noqa: E402
from vauban.envs.pettingzoo import parallel_env  # noqa: E402
from vauban.envs.vector import VectorEnv, make_vec  # noqa: E402
from vauban.errors import ConfigurationError, IllegalActionError  # noqa: E402


def play(game: SinglePlayerEnv, rng: np.random.Generator, seed: int | None = None) -> tuple[list[Any], float]:
    """Play one game at random; return the observations and the reward."""
    seen, info = game.reset(seed=seed)
    told, over, reward = [seen], False, 0.0
    while not over:
        seen, reward, over, _, info = game.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        told.append(seen)
    return told, reward


def sampled(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


# ── Agents of the pool ───────────────────────────────────────────────────────────────────────────


def test_an_agent_of_the_pool_is_the_opponent_and_repeats_with_the_seed() -> None:
    game = SinglePlayerEnv("tiny", "charger", side="alternate")
    told = [play(game, np.random.default_rng(1), 5)[0] for _ in range(2)]
    assert all(np.array_equal(one, other) for one, other in zip(*told, strict=True))
    rng = np.random.default_rng(2)
    scores = [play(game, rng)[1] for _ in range(40)]
    assert sum(scores) < -10  # whoever plays at random loses to it


def test_an_agent_made_beforehand_and_one_of_a_small_game_play_too() -> None:
    from vauban.agents import make_agent

    assert len(play(SinglePlayerEnv("tiny", make_agent("fox")), np.random.default_rng(1), 1)[0]) > 1
    assert len(play(SinglePlayerEnv("kuhn", "cfr+:iterations=10"), np.random.default_rng(1), 1)[0]) > 1


@pytest.mark.parametrize("make", [SinglePlayerEnv, VectorEnv])
@pytest.mark.parametrize(
    ("opponent", "words"),
    [
        ("foxx", "did you mean 'fox'"),
        ("runner", "plays Geister"),
        ("bot:true", "has to be told every move"),
        (3, "3 is no opponent: give an agent"),
    ],
)
def test_what_is_no_opponent_is_refused_at_once(make: Any, opponent: Any, words: str) -> None:
    options = {"opponent": opponent}
    with pytest.raises(ConfigurationError, match=words):
        make("tiny", **options)


# ── Many games at once ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["kuhn", "leduc", "tiny", "geister-44"])
@pytest.mark.parametrize("side", ["first", "alternate"])
def test_many_games_at_once_come_to_their_ends(name: str, side: str) -> None:
    games = make_vec(name, 8, side=side, threads=1)
    rng = np.random.default_rng(1)
    seen, infos = games.reset(seed=1)
    assert seen.shape == games.observation_space.shape and games.observation_space.contains(seen)
    ends = np.zeros(8, int)
    for _ in range(400):
        assert infos["action_mask"].any(1).all()  # the player is on turn in every game
        assert (games.sim.players == games.players).all()
        seen, rewards, ended, cut, infos = games.step(sampled(infos["action_mask"], rng))
        assert not cut.any() and (rewards[~ended] == 0).all()
        ends += ended
    assert (ends >= 3).all()


def test_many_games_at_once_are_the_games_of_one_at_a_time() -> None:
    """The same setups, the same opponent, the same actions: what is seen and won is the same."""
    games = make_vec("tiny", 4, "fox", side="first", threads=1)
    seen, infos = games.reset(seed=9)
    starts = games.sim.starts.copy()
    setups = games.game.setups
    assert setups is not None
    ones = [SinglePlayerEnv("tiny", "fox") for _ in range(4)]
    for row, one in enumerate(ones):
        red, blue = setups.of_starts(starts[row : row + 1])
        first, _ = one.reset(seed=1, options={"setups": (red[0], blue[0])})
        assert np.array_equal(first, seen[row])
    rng, going = np.random.default_rng(3), set(range(4))
    while going:
        actions = sampled(infos["action_mask"], rng)
        seen, rewards, ended, _, infos = games.step(actions)
        for row in list(going):
            alone, reward, over, _, _ = ones[row].step(int(actions[row]))
            assert (reward, over) == (rewards[row], ended[row])
            if over:
                going.remove(row)
            else:
                assert np.array_equal(alone, seen[row])


def test_a_seed_repeats_many_games_and_no_seed_goes_on_to_others() -> None:
    def told(seed: int | None) -> list[np.ndarray]:
        rng = np.random.default_rng(1)
        seen, infos = games.reset(seed=seed)
        found = [seen]
        for _ in range(30):
            seen, rewards, _, _, infos = games.step(sampled(infos["action_mask"], rng))
            found += [seen, rewards]
        return found

    games = make_vec("tiny", 6, "fox", threads=1)
    one, same, other = told(4), told(4), told(None)
    assert all(np.array_equal(a, b) for a, b in zip(one, same, strict=True))
    assert not np.array_equal(one[0], other[0])


def test_the_player_changes_sides_and_meets_the_strength_of_a_match() -> None:
    """Against `charger`, random actions win as often as the agent `random` in a match, within what chance allows."""
    games = make_vec("tiny", 64, "charger", threads=1)
    rng = np.random.default_rng(1)
    _, infos = games.reset(seed=2)
    rewards_seen, sides = [], []
    while len(rewards_seen) < 600:
        before = games.players.copy()
        _, rewards, ended, _, infos = games.step(sampled(infos["action_mask"], rng))
        rewards_seen += rewards[ended].tolist()
        sides += before[ended].tolist()
    assert 0.4 < np.mean(sides) < 0.6
    match = play_match(Match("random", "charger", 600, "tiny", seed=1, setups="uniform"))
    score = np.mean([game.result.outcome() for game in match])
    assert abs(score - np.mean(rewards_seen)) < 0.2


def test_a_function_answers_for_all_games_in_which_it_is_on_turn() -> None:
    asked = []

    def first_legal(observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        asked.append(len(masks))
        return masks.argmax(1)

    games = make_vec("tiny", 5, first_legal, side="first", threads=1)
    _, infos = games.reset(seed=1)
    games.step(infos["action_mask"].argmax(1))
    assert asked == [5]
    cheats = make_vec("tiny", 5, lambda *_: 0, side="second", threads=1)
    with pytest.raises(IllegalActionError, match="the opponent chose what is not legal: action 0 in game"):
        for _ in range(5):
            cheats.reset()


def test_an_illegal_action_is_refused_and_names_its_game() -> None:
    games = make_vec("tiny", 3, threads=1)
    games.reset(seed=1)
    with pytest.raises(IllegalActionError, match="game 0"):
        games.step([-1, 0, 0])


def test_gymnasium_makes_them_by_name() -> None:
    games = gymnasium.make_vec("vauban/tiny-v1", num_envs=7, vectorization_mode="vector_entry_point", opponent="fox")
    seen, _ = games.reset(seed=1)
    assert seen.shape[0] == 7 and isinstance(games.unwrapped, VectorEnv)


# ── PettingZoo in parallel ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["kuhn", "tiny"])
def test_the_parallel_interface_passes_the_test_of_pettingzoo(name: str) -> None:
    parallel_api_test(parallel_env(name), num_cycles=50)


def test_only_the_player_on_turn_acts_in_parallel() -> None:
    game = parallel_env("kuhn")
    seen, _ = game.reset(seed=1)
    masks = {agent: seen[agent]["action_mask"] for agent in game.agents}
    assert masks["first"].any() and not masks["second"].any()
    game.step({"first": 0, "second": 1})
    assert game.unwrapped.table.actions == [(0, 0)]


def test_the_example_with_maskable_ppo_trains() -> None:
    pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: pip install sb3-contrib")
    example = Path(__file__).parents[2] / "examples" / "maskable_ppo.py"
    small = ("--game", "tiny", "--opponent", "random", "--games", "8", "--steps", "1024", "--judged", "20")
    done = subprocess.run([sys.executable, example, *small], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["before", "after"]
