"""Agents: the duties of every one of the pool, the character of the cadet, and that none of them can peek."""

from __future__ import annotations

import random

import pytest

from vauban.agents import make_agent, shipped
from vauban.agents.base import Agent, choose_move, set_up, tell
from vauban.arena.match import FORFEIT, RESIGNED, Match
from vauban.arena.play import play_games
from vauban.board.stratego import Board, Played, View
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import BOMB, FLAG
from vauban.games.stratego.setups import can_move_first, check_army
from vauban.games.stratego.variants import VARIANTS, Variant


def play_out(red: Agent, blue: Agent, variant: str, seed: int) -> Board:
    """Return a game between two agents, from their own setups."""
    rng = random.Random(seed)
    setups = [set_up(agent, Stratego(VARIANTS[variant]), player, rng) for player, agent in enumerate((red, blue))]
    board = Board.from_setups(setups[0], setups[1], variant)
    while not board.is_over:
        board.push(choose_move((red, blue)[board.turn], board.view(board.turn)))
    return board


def score_against_random(variant: str, games: int) -> float:
    """Return the cadet's share of wins, draws counted as losses, with both colours in turn."""
    wins = 0
    for number in range(games):
        agents = [make_agent("cadet", number), make_agent("random", number)]
        side = number % 2
        outcome = play_out(agents[side], agents[1 - side], variant, number).outcome()
        assert outcome is not None
        wins += outcome.winner == side
    return wins / games


def with_types_exchanged(board: Board, one: int, other: int) -> Board:
    """Return the same game, had the pieces that began on two squares been each other's type."""
    start = {piece.square: (piece.player, piece.kind) for piece in board.start_position().pieces}
    start[one], start[other] = start[other], start[one]
    twin = Board.from_pieces(start, board.variant, board.rules)  # type: ignore[arg-type]
    for played in board.history:
        twin.push(played.move)
    return twin


QUICK = {"mcts": "sims=5,time=0", "mcts-louvain": "sims=5", "mcts-vanilla": "sims=5", "alphabeta": "nodes=300"}
"""Budgets with which searching agents answer at once, and always alike."""
POOL = [f"{name}:{QUICK[name]}" if name in QUICK else name for name in shipped(Stratego())]


@pytest.mark.parametrize("name", POOL)
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.name)
def test_every_agent_sets_up_the_whole_army_of_every_variant(name: str, variant: Variant) -> None:
    for seed in range(5):
        check_army(set_up(make_agent(name), Stratego(variant), seed % 2, random.Random(seed)), variant)


@pytest.mark.parametrize("name", POOL)
@pytest.mark.parametrize("variant", ["barrage", "tiny", "nano"])
def test_an_agent_gives_the_same_answers_for_the_same_seed(name: str, variant: str) -> None:
    games = [play_out(make_agent(name, 4), make_agent(name, 5), variant, 6) for _ in range(2)]
    assert games[0].history == games[1].history


def test_another_seed_gives_another_game() -> None:
    games = [play_out(make_agent("random", seed), make_agent("random", seed), "tiny", 6) for seed in (1, 2)]
    assert games[0].history != games[1].history


def test_an_unknown_agent_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'cadet'"):
        make_agent("cadett")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alphabeta:time=nan", "it must be at least 0"),
        ("alphabeta:depth=-1", "it must be at least 0"),
        ("alphabeta:nodes=99999999999999999999", "at most 9,007,199,254,740,992"),
        ("mcts:sims=99999999999999999999", "at least 0 and at most 20,000"),
        ("mcts:sims=-1", "at least 0"),
        ("mcts:time=-1", "at least 0"),
        ("mcts:time=inf", "at most"),
        ("mcts:prior=99", "at most 2"),
        ("mcts:ahead=-3", "at least 0"),
        ("mcts:rollouts=0", "at least 1"),
        ("mcts:explore=nan", "at least 0"),
        ("mcts:resample=-2", "at least 0"),
        ("mcts:swaps=-100", "at least -1"),
        ("mcts-vanilla:finished=0", "at least 0.01"),
        ("mcts:sims=5,sims=6", "'sims' is set twice"),
    ],
)
def test_options_out_of_bounds_are_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        make_agent(text)
    assert make_agent("mcts:sims=20000,swaps=-1,prior=0,ahead=0").name == "mcts:sims=20000,ahead=0,prior=0,swaps=-1"


def test_only_an_agent_that_listens_is_told_of_moves() -> None:
    class Scribe:
        name = "scribe"
        heard: list[Played] = []  # noqa: RUF012

        def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> object: ...
        def choose_move(self, view: View) -> object: ...
        def told(self, played: Played) -> None:
            self.heard.append(played)

    played = Board.random("tiny", 1).push(Board.random("tiny", 1).legal_moves[0])
    tell(Scribe(), played)  # type: ignore[arg-type]
    tell(make_agent("random"), played)
    assert Scribe.heard == [played]


@pytest.mark.parametrize("variant", ["classic", "barrage", "duel"])
def test_the_cadet_hides_its_flag_in_the_back_row_behind_bombs_and_can_move(variant: str) -> None:
    v = VARIANTS[variant]
    for seed in range(20):
        setup = set_up(make_agent("cadet"), Stratego(v), 0, random.Random(seed))
        [flag] = [square for square, code in enumerate(setup) if code == 1 + FLAG]
        sides = (
            [flag - 1] * (flag % v.columns > 0) + [flag + 1] * (flag % v.columns < v.columns - 1) + [flag + v.columns]
        )
        bombs = sum(setup[square] == 1 + BOMB for square in sides)
        assert flag < v.columns
        assert bombs == min(len(sides), v.army[BOMB])
        assert can_move_first(setup, v)


def test_the_cadet_beats_random_play_in_barrage() -> None:
    assert score_against_random("barrage", 60) >= 0.85


def test_the_cadet_beats_random_play_in_classic() -> None:
    assert score_against_random("classic", 20) > 0.85


@pytest.mark.parametrize(
    ("own", "enemy", "expected"),
    [
        pytest.param("M", "c'!", "e4xe5", id="takes a known weaker piece"),
        pytest.param("S", "m'!", "e4xe5", id="takes the known Marshal with the Spy"),
        pytest.param("N", "b!", "e4xe5", id="digs out a known Bomb with a Miner"),
        pytest.param("P", "t", "e4xe5", id="tries an unknown piece with a middling rank"),
        pytest.param("C", "m'!", "e4d4 e4f4 e4e3", id="runs from a known stronger piece"),
        pytest.param("M", "b!", "e4d4 e4f4 e4e3", id="leaves a known Bomb alone"),
    ],
)
def test_the_cadet_plays_by_the_book(own: str, enemy: str, expected: str) -> None:
    rows = f"f9/o9/10/10/2~~2~~2/2~~{enemy}1~~2/4{own}5/10/10/F9"
    board = Board.from_position(f"{rows} r 20 0 -,- 0:-,0:-", "classic")
    for seed in range(5):
        assert board.move_text(choose_move(make_agent("cadet", seed), board.view(0))) in expected.split()


def check_answers_alike(agent: Agent, variant: str, positions: int, rng: random.Random) -> None:
    """Check that an agent's answers against random play stay the same when two hidden pieces change places."""
    other = make_agent("random", 2)
    board = Board.random(variant, 8)
    compared = 0
    while not board.is_over and compared < positions:
        hidden = [piece for piece in board.pieces(1).values() if not piece.revealed]
        pairs = [(a, b) for a in hidden for b in hidden if a.moved == b.moved and (a.kind or 0) < (b.kind or 0)]
        if board.turn == 0 and pairs:
            one, two = rng.choice(pairs)
            try:
                twin = with_types_exchanged(board, one.identity, two.identity)
            except VaubanError:  # with these types the game would have been over earlier
                break
            assert twin.text != board.text and twin.view(0).text == board.view(0).text
            assert choose_move(agent, twin.view(0)) == choose_move(agent, board.view(0))
            compared += 1
        board.push(choose_move((agent, other)[board.turn], board.view(board.turn)))
    assert compared >= 5


@pytest.mark.parametrize("name", POOL)
@pytest.mark.parametrize("variant", ["barrage", "classic"])
def test_an_agent_answers_alike_whatever_the_hidden_pieces_are(name: str, variant: str) -> None:
    check_answers_alike(make_agent(name, 1), variant, 40, random.Random(f"{name} {variant}"))


# ── Every agent, every variant ───────────────────────────────────────────────────────────────────


def check_many_games(name: str, variant: str, games: int) -> None:
    """Check that no agent fails, is late or answers illegally; resigning is an agent's right."""
    match = Match(name, "random", games, variant, seed=11)
    for game in play_games(match, range(games)):
        result = game.result
        assert result.end != FORFEIT or result.note.startswith(RESIGNED), f"game {result.number}: {result.note}"


@pytest.mark.parametrize("name", POOL)
@pytest.mark.parametrize("variant", ["barrage", "medium", "tiny", "nano"])
def test_an_agent_plays_by_the_rules_to_the_end(name: str, variant: str) -> None:
    check_many_games(name, variant, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", POOL)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_agent_plays_a_thousand_games_by_the_rules(name: str, variant: str) -> None:
    check_many_games(name, variant, 1000)
