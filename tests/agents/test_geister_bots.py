"""The agents of Geister: what they do in positions made for it, that none can peek, and minimax against a plain one."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from contenders import plain

from vauban.agents import FAMILIES, make_player, usual_opponent
from vauban.agents.base import Judge, set_up
from vauban.agents.geister import belief
from vauban.agents.geister.belief import marginals, odds_of
from vauban.agents.geister.terrain import survey
from vauban.arena.match import FORFEIT, Match, own_setups
from vauban.arena.play import play_games, play_in_batch, play_on_boards
from vauban.errors import ConfigurationError
from vauban.games.base import PLAYER
from vauban.games.geister import layout
from vauban.games.geister.game import Geister
from vauban.games.geister.variants import VARIANTS, Variant
from vauban.games.kernel import Record, kernel
from vauban.sim.compile import CPU, compiled
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

QUICK = {"mcts": "mcts:sims=12,time=0"}
POOL = [QUICK.get(name, name) for name in FAMILIES["geister"]] + ["runner:careful=1", "purple:depth=1"]


# ── Positions ────────────────────────────────────────────────────────────────────────────────────


def position(rows: str, turn: int = 0, rules: str = "", lost: str = "", plies: int = 0) -> Simulator:
    """Return one game with ghosts on these rows, divided by "/": G, E are the first player's good and evil ones, g, e
    the second's, "." is empty. `lost` names ghosts that were captured. The board is as large as the rows.
    """
    lines = rows.split("/")
    width, height = len(lines[0]), len(lines)
    counts = {letter: rows.count(letter) + lost.count(letter) for letter in "GEge"}
    assert counts["G"] == counts["g"] and counts["E"] == counts["e"], counts
    ghosts = counts["G"] + counts["E"]
    starts = tuple((n % width, height - 1 - n // width) for n in range(ghosts))
    game = Geister(Variant("made", width, height, starts, counts["G"], counts["E"]), rules or None)
    sim = Simulator(game, 1, seed=1, restart=False, arrays="numpy", threads=1)
    snapshot = sim.snapshot()
    words, _, bytes_ = snapshot.store
    board = "".join(lines)
    for player, letters in enumerate(("GE", "ge")):
        squares = [square for square, letter in enumerate(board) if letter in letters]
        captured = [letter for letter in lost if letter in letters]
        first = layout.PLACE + layout.MOST_GHOSTS * player
        bytes_[0, first : first + ghosts] = squares + [
            layout.CAPTURED_GOOD if letter == letters[0] else layout.CAPTURED_EVIL for letter in captured
        ]
        words[0, layout.PIECES + player] = sum(1 << square for square in squares)
        words[0, layout.EVIL + player] = sum(1 << square for square in squares if board[square] == letters[1])
    bytes_[0, PLAYER] = turn
    words[0, layout.PIECES - 1] = plies
    sim.restore(snapshot)
    return sim


def answers(agent: str, sim: Simulator, seeds: int = 8) -> set[str]:
    """Return the moves that an agent makes in a position, with several seeds."""
    player = int(sim.players[0])
    views = sim.views(player).repeat(seeds)
    chosen = make_player(agent, sim.game).choose(views, np.arange(seeds, dtype=np.uint64))
    return {sim.game.action_text(player, int(action)) for action in chosen}


@pytest.mark.parametrize("agent", POOL)
@pytest.mark.parametrize("rules", ["server", "escape=forced"])
def test_everyone_escapes_at_once(agent: str, rules: str) -> None:
    rows = "G.../..e./.g.E/E..e"
    assert answers(agent, position(rows, rules=rules)) <= {"a4n", "a4w"}
    assert answers(agent, position(rows[::-1].swapcase(), turn=1, rules=rules)) <= {"d1s", "d1e"}


def test_the_runner_takes_any_shortest_way_of_the_nearest_good_ghost() -> None:
    # a1 is as far from a5 as c3, but for the evil ghost in its way.
    assert answers("runner", position("...../E..../..G../..ge./Gg..."), 32) == {"c3b3", "c3c4", "c3d3"}


def test_the_runner_goes_round_its_own_ghosts_and_over_the_enemy() -> None:
    assert answers("runner", position(".eE/EGg/.../Gge"), 32) == {"b3b4"}


def test_the_runner_does_not_take_what_may_be_the_last_evil_ghost() -> None:
    assert answers("runner", position(".e./EGg/Ee./G.g"), 32) == {"b3b4", "b3c3"}
    assert not {"b3b4", "b3c3"} & answers("runner", position(".e./EGg/E../G.g", lost="e"), 32)


def test_the_careful_runner_keeps_away_from_enemies_while_it_can() -> None:
    rows = "...../...../g.G../E..../....e"
    assert answers("runner", position(rows), 32) == {"c3b3", "c3c4", "c3d3"}
    assert answers("runner:careful=1", position(rows), 32) == {"c3c4", "c3d3"}
    # Back, rather than beside an enemy; beside an enemy, rather than nowhere.
    assert answers("runner:careful=1", position("...../g.e../.G.../...../E...."), 32) == {"b3b2"}
    assert answers("runner:careful=1", position(".../g.e/.G./.E."), 32) == {"b2b3"}


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_purple_takes_who_would_escape(depth: int) -> None:
    rows = "....e/..e../G..../...../gE..E"
    assert answers(f"purple:depth={depth}", position(rows)) == {"b1a1"}
    assert answers(f"purple:depth={depth}", position(rows[::-1].swapcase(), turn=1)) == {"d5e5"}


def test_purple_does_not_take_the_last_evil_ghost_unless_it_is_known_to_be_good() -> None:
    sim = position("...../..G../..g../E..../....e", rules="escape=forced")
    assert "c4c3" not in answers("purple:depth=1", sim)
    snapshot = sim.snapshot()
    # The other one has stayed on an exit, so this one is the last good ghost.
    snapshot.store.bytes[0, layout.PROVEN + 1] = 0b10
    sim.restore(snapshot)
    assert answers("purple:depth=1", sim) == answers("mcts:sims=50,time=0", sim) == {"c4c3"}


def test_a_search_prefers_the_limit_if_that_wins() -> None:
    rows, rules = "..e../...../E.g../...../G....", "at_limit=second total_limit=40"
    for plies, value in ((39, -1.0), (0, None)):
        sim = position(rows, rules=rules, plies=plies)
        agent = make_player("purple:depth=2", sim.game)
        assert isinstance(agent, Judge)
        [found] = agent.judge(sim.views(0))
        assert found == value if value else abs(found) < 1


# ── Minimax against a plain one, written from docs/agents.md ─────────────────────────────────────

INFINITY = 10**6


class Plain:
    """Minimax over purple ghosts on sets of (x, y), without cuts."""

    def __init__(self, sim: Simulator) -> None:
        """Read a position without hidden colours; none of its ghosts is proven to be evil."""
        game = sim.game
        assert isinstance(game, Geister)
        self.width, self.height = game.board[1], game.board[0]
        self.player = int(sim.players[0])
        words = [int(word) & (2**64 - 1) for word in sim.snapshot().store.words[0]]

        def squares(word: int) -> frozenset[tuple[int, int]]:
            return frozenset((n % self.width, n // self.width) for n in range(64) if word >> n & 1)

        me, you = self.player, 1 - self.player
        own_evil, foe_evil = words[layout.EVIL + me], words[layout.EVIL + you]
        self.left = game.rules.total_limit - int(sim.plies[0])
        self.root = (
            squares(words[layout.PIECES + me] & ~own_evil), squares(own_evil), squares(words[layout.PIECES + you]),
            foe_evil.bit_count(),
        )  # fmt: skip

    def exits(self, player: int) -> list[tuple[int, int]]:
        row = 0 if player == 0 else self.height - 1
        return [(0, row), (self.width - 1, row)]

    def steps(self, own: frozenset[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        found = []
        for x, y in own:
            for to in ((x, y - 1), (x + 1, y), (x - 1, y), (x, y + 1)):
                if 0 <= to[0] < self.width and 0 <= to[1] < self.height and to not in own:
                    found.append(((x, y), to))
        return found

    def value(self, state: Any, ply: int, depth: int) -> int:
        """Return a position's worth to the player at the root."""
        good, evil, purple, _ = state
        if ply >= self.left:
            return 0
        mine = ply % 2 == 0
        if mine and good & set(self.exits(self.player)):
            return 100_000 - ply - 1
        if not mine and purple & set(self.exits(1 - self.player)):
            return -(100_000 - ply - 1)
        if ply == depth:
            return self.evaluate(state, mine)
        found = [self.after(state, step, ply, depth) for step in self.steps(good | evil if mine else purple)]
        return max(found) if mine else min(found)

    def after(self, state: Any, step: Any, ply: int, depth: int) -> int:
        good, evil, purple, left = state
        source, target = step
        won = 100_000 - ply - 1
        if ply % 2 == 0:
            if target in purple:
                left -= 1
                purple -= {target}
                if left == 0:
                    return -won
            if source in good:
                good = good - {source} | {target}
            else:
                evil = evil - {source} | {target}
        else:
            purple = purple - {source} | {target}
            if good == {target}:
                return -won
            if evil == {target}:
                return won
            good, evil = good - {target}, evil - {target}
        return self.value((good, evil, purple, left), ply + 1, depth)

    def evaluate(self, state: Any, mine: bool) -> int:
        good, evil, purple, left = state

        def parts(worth: int, count: int) -> int:
            return sum(worth // n for n in range(1, count + 1))

        def way(one: tuple[int, int], other: tuple[int, int]) -> int:
            return abs(one[0] - other[0]) + abs(one[1] - other[1])

        def near(ghosts: Any, exits: Any) -> int:
            return sum(60 // (1 + min(way(ghost, exit) for exit in exits)) for ghost in ghosts)

        def run(ghosts: Any, guards: Any, exits: Any, delay: int) -> int:
            moves = [
                min(way(ghost, exit) for ghost in ghosts) + 1
                for exit in exits
                if ghosts
                and min((way(guard, exit) for guard in guards), default=99)
                > min(way(ghost, exit) for ghost in ghosts) + delay
            ]
            return min(moves, default=99)

        own = good | evil
        ours, theirs = self.exits(self.player), self.exits(1 - self.player)
        score = parts(240, len(good)) - parts(120, len(evil)) + parts(120, left) - 40 * len(purple)
        score += near(good, ours) - near(purple, theirs)
        own_delay, foe_delay = (0, 1) if mine else (1, 0)
        own_run, foe_run = run(good, purple, ours, own_delay), run(purple, own, theirs, foe_delay)
        if own_run < 99 and own_run + own_delay <= foe_run:
            score += 800 - 20 * own_run
        elif foe_run < 99:
            score -= 800 - 20 * foe_run
        elif not mine and any(way(ghost, foe) == 1 for ghost in good for foe in purple):
            score -= 240 // len(good)
        return score + len(self.steps(own)) - len(self.steps(purple))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", ["geister", "geister-44", "geister-33b"])
def test_purple_chooses_as_plain_minimax_does(name: str, depth: int) -> None:
    rng = random.Random(f"{name} {depth}")
    agent = make_player(f"purple:depth={depth}", Geister(name))
    assert isinstance(agent, Judge)
    sim = Simulator(name, 1, seed=depth, restart=False, arrays="numpy", threads=1)
    compared = 0
    while compared < (25 if depth < 3 else 8):
        if sim.over[0]:
            sim.reset(first_number=rng.randrange(10**6))
        if rng.random() < 0.4:
            plain_one = Plain(sim)
            player = plain_one.player
            good = plain_one.root[0]
            if not good & set(plain_one.exits(player)):
                values = {
                    step: plain_one.after(plain_one.root, step, 0, depth)
                    for step in plain_one.steps(plain_one.root[0] | plain_one.root[1])
                }
                best = max(values.values())
                views = sim.views(player).repeat(4)
                chosen = agent.choose(views, np.arange(4, dtype=np.uint64))
                for action in chosen.tolist():
                    source, target = sim.game.moves[action].tolist()
                    if player == 1:
                        last = sim.game.board[0] * sim.game.board[1] - 1
                        source, target = last - source, last - target
                    step = tuple((square % plain_one.width, square // plain_one.width) for square in (source, target))
                    assert values[step] == best  # type: ignore[index]
                assert agent.judge(views).tolist() == [max(-1.0, min(1.0, best / 1000))] * 4
                compared += 1
        sim.step(sim.sample())


# ── Belief ───────────────────────────────────────────────────────────────────────────────────────


@kernel
def tell_belief(words, halves, bytes_, rules, viewer, prior, odds, chances):  # type: ignore[no-untyped-def]
    game = Record(words[0], halves[0], bytes_[0], rules)
    odds_of(game, survey(rules), viewer, prior, odds)
    return marginals(game, survey(rules), viewer, prior, chances)


def believed(views: Snapshot, viewer: int) -> tuple[Any, Any]:
    """Return the odds of every hidden ghost to be evil, and its chance."""
    words, halves, bytes_ = views.store
    odds, chances = np.zeros(layout.MOST_GHOSTS), np.zeros(layout.MOST_GHOSTS)
    count = compiled(tell_belief, CPU, TRACKS=True)(
        words.view(np.uint64), halves.view(np.uint16), bytes_, views.format.parameters, viewer, belief.weights(), odds,
        chances,
    )  # fmt: skip
    return odds[:count], chances[:count]


@pytest.mark.parametrize("tracks", [True, False])
def test_the_chances_of_ghosts_are_those_of_all_sets_of_the_right_size(tracks: bool) -> None:
    sim = Simulator("geister", 1, rules="escape=forced", seed=4, restart=False, tracks=tracks, arrays="numpy")
    compared = 0
    while not sim.over[0]:
        if sim.plies[0] % 7 == 0:
            evil = int(np.asarray(sim.hidden_values(0))[0].clip(0).sum())
            odds, chances = believed(sim.views(0), 0)
            sets = list(itertools.combinations(range(len(odds)), evil))
            sure = set(np.flatnonzero(odds == belief.SURE).tolist())
            weights = np.array([np.prod(odds[list(chosen)]) if sure <= set(chosen) else 0.0 for chosen in sets])
            wanted = [sum(w for w, s in zip(weights, sets, strict=True) if n in s) for n in range(len(odds))]
            assert chances == pytest.approx(np.array(wanted) / weights.sum())
            assert chances.sum() == pytest.approx(evil)
            compared += 1
        sim.step(sim.sample())
    assert compared > 5


def test_a_ghost_that_is_offered_again_and_again_is_thought_to_be_evil() -> None:
    sim = Simulator("geister", 1, seed=1, restart=False, arrays="numpy")
    snapshot = sim.snapshot()
    ghost = layout.MOST_GHOSTS + 2
    for kind in (layout.MOVED, layout.OFFERED):
        snapshot.store.bytes[0, kind + ghost] = 4
    sim.restore(snapshot)
    _, chances = believed(sim.views(0), 0)
    square = int(snapshot.store.bytes[0, layout.PLACE + ghost])
    offered = sim.game.hidden_squares(snapshot.record(), 0).index(square)
    assert chances.argmax() == offered and chances[offered] > 0.7


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def with_colours_exchanged(snapshot: Snapshot, player: int, rng: random.Random) -> Snapshot:
    """Return the same games with other colours of a player's ghosts on the board, as many of each."""
    words = snapshot.store.words.copy()
    for row in words.view(np.uint64):
        squares = [n for n in range(64) if int(row[layout.PIECES + player]) >> n & 1]
        count = int(row[layout.EVIL + player]).bit_count()
        row[layout.EVIL + player] = np.uint64(sum(1 << square for square in rng.sample(squares, count)))
    return Snapshot(snapshot.game, snapshot.format, snapshot.store._replace(words=words))


def hidden_changes(agent: Any, chosen: Any) -> int:
    """Count the answers that change when hidden colours do; `chosen` makes views of a simulator."""
    rng = random.Random(3)
    sim = Simulator("geister", 40, seed=3, restart=False, arrays="numpy", threads=1)
    seeds = np.arange(sim.n, dtype=np.uint64)
    changed = 0
    for ply in range(40):
        viewer = ply % 2
        live = np.flatnonzero(~sim.over)
        before = sim.snapshot()
        first = agent.choose(chosen(sim, viewer)[live], seeds[live])
        sim.restore(with_colours_exchanged(before, 1 - viewer, rng))
        changed += int((agent.choose(chosen(sim, viewer)[live], seeds[live]) != first).sum())
        sim.restore(before)
        sim.step(sim.sample())
    return changed


@pytest.mark.parametrize("agent", POOL)
def test_hidden_colours_change_no_choice(agent: str) -> None:
    assert hidden_changes(make_player(agent, Geister()), Simulator.views) == 0


def test_a_leak_would_be_seen() -> None:
    class Peeks:
        """Chooses by the colours of two enemy ghosts, if its views show them."""

        def choose(self, views: Snapshot, seeds: Any) -> Any:
            foes = views.store.words[:, layout.EVIL + 1 - int(views.store.bytes[0, PLAYER])]
            return np.where(foes & (1 << 8 | 1 << 26), 1, 2)

    assert hidden_changes(Peeks(), lambda sim, viewer: sim.snapshot()) > 0
    assert hidden_changes(Peeks(), Simulator.views) == 0


# ── Duties ───────────────────────────────────────────────────────────────────────────────────────

RULES = ["server", "paper", "escape=forced", "paper total_limit=7 at_limit=second", "total_limit=60"]


@pytest.mark.parametrize("agent", POOL)
@pytest.mark.parametrize("name", VARIANTS)
def test_everyone_plays_by_the_rules_to_the_end(agent: str, name: str) -> None:
    for number, rules in enumerate(RULES):
        other = ("random", "runner:careful=1")[number % 2]
        match = Match(agent, other, 6, Geister(name, rules), seed=number)
        for game in play_games(match, range(6)):
            assert game.result.end != FORFEIT, game.result.note


@pytest.mark.parametrize("agent", POOL)
def test_many_games_at_once_are_the_same_as_one_by_one(agent: str) -> None:
    match = Match(agent, "runner", 6, "geister", seed=4, setups=own_setups(Geister()))
    batch = play_in_batch(match, range(6))
    assert [plain(game) for game in batch] == [plain(game) for game in play_on_boards(match, range(6))]
    assert [plain(game) for game in batch] == [plain(game) for game in play_in_batch(match, range(6))]
    assert len({game.moves for game in batch}) > 3


@pytest.mark.parametrize("agent", POOL)
@pytest.mark.parametrize("name", VARIANTS)
def test_everyone_sets_up_and_not_always_alike(agent: str, name: str) -> None:
    game = Geister(name)
    rows = [set_up(make_player(agent, game), game, seed % 2, random.Random(seed)) for seed in range(40)]
    game.setups.check(np.array(rows))
    if name == "geister" and not agent.startswith("runner"):
        assert len({tuple(row) for row in rows}) > 20


def test_setups_are_as_asked_for() -> None:
    game = Geister()

    def setup(text: str, seed: int = 1) -> str:
        return game.setups.text(set_up(make_player(text, game), game, 0, random.Random(seed)))

    assert setup("purple:setups=fixed:ABCD") == "ABCD"
    assert len({setup("runner:setups=uniform", seed) for seed in range(30)}) > 20
    # Left and right exchanged: ghosts A to D and E to H stand in a row each.
    assert {setup("runner:setups=mirrored:fixed:ABCE", seed) for seed in range(20)} == {"ABCE", "BCDH"}
    # The runner's good ghosts are A and D, and two of those six that are equally near.
    assert all("A" not in setup("runner", seed) and "D" not in setup("runner", seed) for seed in range(20))
    with pytest.raises(ConfigurationError, match="no sampler of setups"):
        Match("purple:setups=nowhere", "random", 2, game)


def test_an_agent_of_a_name_that_several_families_have_is_that_of_the_game() -> None:
    assert Match("mcts:ahead=3,belief=0", "mcts:sims=9", 2, "geister").names == ("mcts:ahead=3,belief=0", "mcts:sims=9")
    assert Match("mcts:swaps=3", "random", 2, "barrage").names[0] == "mcts:swaps=3"
    with pytest.raises(ConfigurationError, match="agent 'mcts' has no option 'swaps'"):
        Match("mcts:swaps=3", "random", 2, "geister")
    with pytest.raises(ConfigurationError, match="'fox' plays Stratego, not 'geister'"):
        Match("fox", "random", 2, "geister")
    with pytest.raises(ConfigurationError, match="'runner' plays Geister, not 'barrage'"):
        Match("runner", "random", 2, "barrage")
    assert usual_opponent(Geister()) == "purple"


def test_each_is_as_strong_as_it_is_said_to_be() -> None:
    def score(first: str, second: str, games: int, rules: str = "paper total_limit=300") -> float:
        match = Match(first, second, games, "geister", rules, seed=1)
        winners = [game.result.winner for game in play_games(match, range(games))]
        wins = sum(winner == match.role(number, 0) for number, winner in enumerate(winners))
        return (wins + sum(winner is None for winner in winners) / 2) / games

    assert score("runner", "random", 1000) >= 0.99
    assert score("purple:depth=1", "random", 400) >= 0.9
    assert score("purple:depth=3", "purple:depth=1", 100, "server") > 0.55
    assert score("mcts:sims=100,time=0", "purple:depth=3", 40, "server") > 0.6
