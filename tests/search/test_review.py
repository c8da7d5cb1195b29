"""Reviews of games: each side's forecasts and beliefs, the moments that decided the game, and the report of it."""

from __future__ import annotations

import itertools
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from typer.testing import CliRunner

from vauban.board import Board
from vauban.board.stratego import picture
from vauban.cli.analyse import analyse
from vauban.errors import ConfigurationError
from vauban.games.stratego.pieces import BOMB, FLAG, PLAYERS, TYPES
from vauban.nets.belief import BeliefNetwork
from vauban.nets.hidden import Kinds
from vauban.nets.kinds import describe
from vauban.nets.move import MoveNetwork
from vauban.nets.store import Model, make_card, save_model
from vauban.nets.transformer import Size
from vauban.notation.records import read_games, write_game
from vauban.notation.stratego.moves import Move
from vauban.search import moments as moments_module
from vauban.search import reviewing as module
from vauban.search import search as search_module
from vauban.search.moments import find_moments
from vauban.search.opinion import ask
from vauban.search.reviewing import all_positions, look_back
from vauban.search.search import Search, SearchConfig
from vauban.search.stratego.review import Review
from vauban.web.stratego.report import Report, report_html
from vauban.web.thinking import ReviewGame

SIZE = Size(depth=1, width=16, heads=2)

GAME = """
[Game "stratego"]
[Variant "barrage"]
[Red "fox <b>"]
[Blue "a network"]
[RedSetup ".G....OF../........../......O..B/.N..MS...."]
[BlueSetup "........BF/........GS/........N./....O...MO"]
[Result "0-1"]
[End "flag"]

1. e4e5 f7g7 2. e5e6 g7j7 3. e6e7 j7xj3(O<B) 4. e7d7 a7a3 5. d7c7 b7xc7(M=M)
6. b1b2 a3a7 7. b4b5 a7a8 8. b5b6 a8a3 9. b2a2 a3xg3(O=O) 10. b6b7 b8c8 11. b7b8
b9xb8(G>N) 12. a2a3 c8c7 13. a3a4 c7d7 14. a4a5 d7e7 15. a5a6 e7e6 16. a6a7 e6e5
17. a7b7 b8xb7(G=G) 18. g1g2 e5e4 19. f4xe4(S<N) e4e3 20. g2g3 e3f3 21. g3g4
f3g3 22. g4f4 g3g2 23. f4f5 g2h2 24. f5f6 h2xh1(N>F) 0-1
"""


def game() -> Board:
    """Return a short game that ends with the capture of red's flag."""
    [recorded] = read_games(GAME)
    assert recorded.board is not None
    return recorded.board


def make_model(board: Board, with_belief: bool = True) -> Model:
    """Return a model with weights of no meaning, but of strong opinions."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        move, belief = MoveNetwork(board.game, SIZE).eval(), BeliefNetwork(board.game, SIZE, 1).eval()
        with torch.no_grad():
            move.source_and_target.weight *= 4
            move.outcome.weight *= 30
            belief.types.weight *= 12
    networks = {"move": describe(move)}
    card = make_card(board.game, networks, name="strong-opinions", about="For tests.")
    return Model(Path("nowhere"), board.game, {"move": move} | ({"belief": belief} if with_belief else {}), None, card)


@pytest.fixture(scope="module")
def model() -> Model:
    return make_model(game())


@pytest.fixture(scope="module")
def looked(model: Model) -> Review:
    return look_back(game(), model)


# ── Forecasts ────────────────────────────────────────────────────────────────────────────────────


def test_every_position_is_foreseen_as_the_network_does_from_the_view_of_the_player_on_turn(
    model: Model, looked: Review
) -> None:
    boards = all_positions(looked.board)
    assert sorted(looked.outcomes) == list(range(len(boards) - 1))  # the last one is over
    for place in (0, 1, 20, 47):
        board = boards[place]
        opinion = ask(model.player, board.view(board.turn).snapshot())
        assert looked.outcomes[place] == pytest.approx(opinion.outcome[0].tolist(), abs=1e-5)
        policy = looked.policies[place]
        assert set(policy) == set(board.legal_moves) and sum(policy.values()) == pytest.approx(1, abs=1e-5)
        best = int(opinion.log_policy[0].argmax())
        assert next(iter(policy)) == Move(*board.game.decode(board.turn, int(opinion.legal[0, best])))


def test_a_side_off_turn_has_the_forecast_of_its_next_turn_and_in_the_end_the_result(looked: Review) -> None:
    plies = looked.to_json()["plies"]
    assert [each["ply"] for each in plies] == list(range(49))
    assert plies[10]["turn"] == "red" and plies[10]["values"]["blue"] == plies[11]["values"]["blue"]
    assert plies[11]["values"]["red"] == plies[12]["values"]["red"]
    loss, draw, win = plies[11]["wdl"]["blue"]
    assert loss + draw + win == pytest.approx(1, abs=2e-3)
    assert plies[11]["values"]["blue"] == pytest.approx(win - loss, abs=2e-3)
    assert plies[48]["values"] == {"red": -1.0, "blue": 1.0} and plies[48]["wdl"]["red"] == [1.0, 0.0, 0.0]


def test_in_an_unfinished_game_no_side_foresees_beyond_its_last_position(model: Model) -> None:
    board = game()
    for _ in range(18):
        board.pop()
    last = look_back(board, model).to_json()["plies"][-1]
    assert last["turn"] == "red" and last["values"]["red"] is not None and last["values"]["blue"] is None


# ── Beliefs ──────────────────────────────────────────────────────────────────────────────────────


def test_without_a_network_beliefs_are_the_chances_of_the_observation() -> None:
    found = look_back(game(), None)
    assert found.counted and found.summary_json()["belief_by"] == "counting"
    for place, board in enumerate(all_positions(found.board)[:-1]):
        seen = Kinds(board.game).read(board.view(board.turn).observe(layout="squares")[None])
        believed = found.beliefs[place][board.turn]
        assert list(believed) == board.view(board.turn).hidden()
        for row, shares in enumerate(believed.values()):
            assert shares == pytest.approx(seen.chances[0, row].numpy(), abs=1e-5)


@pytest.mark.parametrize("place", [0, 8, 21, 40])
def test_a_belief_network_is_asked_from_the_view_of_each_side(model: Model, looked: Review, place: int) -> None:
    board = all_positions(looked.board)[place]
    view = board.view(board.turn)
    belief = model.find(BeliefNetwork)
    assert belief is not None
    with torch.random.fork_rng():
        torch.manual_seed(1)
        uniforms = torch.rand(1, 3000, board.variant.pieces)
    expected = belief.kinds.marginals(belief.sample(view.observe(layout="squares")[None], uniforms))[0]
    believed = looked.beliefs[place][board.turn]
    assert list(believed) == view.hidden()
    shares = np.stack(list(believed.values()))
    assert np.abs(shares - expected[: len(shares)].numpy()).max() < 0.2
    assert shares.max() > 0.6, "the network must have opinions, or this test shows nothing"


@pytest.mark.parametrize("named", [100_000, 600])
def test_beliefs_fit_what_is_public_also_where_they_are_carried_on(
    model: Model, monkeypatch: pytest.MonkeyPatch, named: int
) -> None:
    monkeypatch.setitem(module.NAMED, "cpu", named)
    found = look_back(game(), model)
    for board, sides in zip(all_positions(found.board), found.beliefs, strict=True):
        for side, believed in enumerate(sides):
            view = board.view(side)
            assert list(believed) == view.hidden()
            for square, shares in believed.items():
                assert shares.sum() == pytest.approx(1)
                assert set(np.flatnonzero(shares).tolist()) <= set(view.hidden_types())
                if board.pieces()[square].moved:
                    assert shares[FLAG] == shares[BOMB] == 0


def test_in_a_long_game_the_network_looks_at_fewer_positions(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    sample = BeliefNetwork.sample
    monkeypatch.setattr(BeliefNetwork, "sample", lambda self, seen, u: drawn.append(len(seen)) or sample(self, seen, u))
    look_back(game(), model)
    every = sum(drawn)
    drawn.clear()
    monkeypatch.setitem(module.NAMED, "cpu", 600)
    look_back(game(), model)
    assert every >= 48 and 0 < sum(drawn) < every


def test_what_a_side_foresees_and_believes_does_not_depend_on_what_is_hidden_from_it(model: Model) -> None:
    start = all_positions(game())[0].start_position()
    kinds = {piece.square: (piece.player, piece.kind) for piece in start.pieces if piece.kind is not None}
    flag, bomb = (next(s for s, each in kinds.items() if each == (1, kind)) for kind in (FLAG, BOMB))
    exchanged = {**kinds, flag: kinds[bomb], bomb: kinds[flag]}
    found = []
    for pieces in (kinds, exchanged):
        board = Board.from_pieces(pieces, "barrage")
        for played in game().history[:40]:
            board.push(played.move)
        found.append(look_back(board, model))
    mine, other = (each.to_json()["plies"] for each in found)
    for place, (one, two) in enumerate(zip(mine, other, strict=True)):
        assert one["values"]["red"] == two["values"]["red"] and one["belief"]["red"] == two["belief"]["red"]
        if one["turn"] == "red":
            assert one["policy"] == two["policy"], f"ply {place}"
    assert any(one["belief"]["blue"] != {} for one in mine)
    assert any(one["values"]["blue"] != two["values"]["blue"] for one, two in zip(mine, other, strict=True))


# ── Moments ──────────────────────────────────────────────────────────────────────────────────────


def test_without_a_network_the_moments_are_those_that_can_be_counted() -> None:
    found = look_back(game(), None)
    assert [(each.ply, each.kind, PLAYERS[each.side]) for each in found.moments] == [
        (22, "loss", "red"), (37, "belief", "blue"), (48, "flag", "blue"),
    ]  # fmt: skip
    texts = [each.text for each in found.moments]
    assert texts[0] == "The battle that turned the game: blue's General took red's Miner on b8."
    assert "100% on h1" in texts[1]
    assert texts[2] == "Blue's Miner captured red's Flag on h1."
    summary = found.summary_json()
    assert summary["located"] == {"red": None, "blue": {"ply": 37, "at": "h1"}}
    assert summary["captured"]["blue"] == ["marshal", "general", "scout", "scout"]
    assert summary["moves"][5] == {
        "ply": 6, "side": "blue", "from": "j7", "to": "j3", "text": "j7xj3(O<B)",
        "battle": {"attacker": "scout", "defender": "bomb", "result": "<"},
    }  # fmt: skip


def foreseen(ply: int, before: float, after: float, chance: float) -> Review:
    """Return a review whose mover foresaw `before`, then `after` a move that the network plays with this chance."""
    found = look_back(game(), None)
    mover = found.turns[ply - 1]
    for place, turn in enumerate(found.turns[:-1]):
        value = (before if place < ply else after) * (1 if turn == mover else -1)
        found.outcomes[place] = ((1 - value) / 2, 0.0, (1 + value) / 2)
        policy = [(found.board.history[place].move, chance), (Move(0, 1), 1 - chance)]
        found.policies[place] = dict(sorted(policy, key=lambda each: -each[1]))
    return found


def test_a_move_after_which_the_movers_outlook_falls_is_a_moment_with_what_the_network_preferred() -> None:
    [loss] = [each for each in find_moments(foreseen(25, 0.4, -0.2, 0.03)) if each.ply == 25]
    assert (loss.kind, PLAYERS[loss.side]) == ("loss", "red")
    assert loss.text == (
        "Red's General went from a3 to a4. Red's outlook fell from 70% to 40%. "
        "The network preferred a1–b1 (97% against 3%)."
    )
    [loss] = [each for each in find_moments(foreseen(25, 0.4, -0.2, 0.9)) if each.ply == 25]
    assert "The network would have played it too (90%)." in loss.text
    assert not [each for each in find_moments(foreseen(25, 0.4, 0.3, 0.03)) if each.ply == 25]


def test_the_battle_that_turned_the_game_is_told_once_with_the_move_that_it_answered() -> None:
    found = find_moments(foreseen(21, 0.4, -0.4, 0.1))
    [loss] = [each for each in found if each.ply in (21, 22)]
    assert loss.ply == 21 and "The answer turned the game: blue's General took red's Miner on b8." in loss.text


def test_a_piece_that_was_hardly_believed_to_be_what_it_is_surprises() -> None:
    found = replace(foreseen(6, 0.5, -0.1, 0.9), counted=False)
    j3 = found.board.variant.square("j3")
    shares = np.zeros(len(TYPES))
    shares[[BOMB, TYPES.index("Scout")]] = 0.04, 0.96
    found.beliefs[5][1][j3] = shares
    [moment] = [each for each in find_moments(found) if each.ply == 6]
    assert moment.text.startswith("The battle that turned the game:") or moment.text.startswith("Blue's Scout ran into")
    assert "In blue's place the network had given the piece on j3 4% to be the Bomb." in moment.text
    assert moment.text.count("ran into") == 1, "a battle is told once"
    [moment] = [each for each in find_moments(replace(found, counted=True)) if each.ply == 6]
    assert "By counting, the piece on j3 was the Bomb with 4%." in moment.text
    shares[[BOMB, TYPES.index("Scout")]] = 0.14, 0.86
    assert not any("had given" in each.text for each in find_moments(found))


def test_guessing_the_flag_from_the_start_and_being_sure_and_wrong_are_told() -> None:
    found = look_back(game(), make_model(game()))
    for beliefs in found.beliefs:
        for side in (0, 1):
            for shares in beliefs[side].values():
                shares[:] = np.eye(len(TYPES))[TYPES.index("Scout")]
    h1, a10, a9, j3 = (found.board.variant.square(name) for name in ("h1", "a10", "a9", "j3"))
    found.beliefs[0][1][h1] = np.eye(len(TYPES))[FLAG] * 0.99
    found.beliefs[3][0][a9] = np.eye(len(TYPES))[FLAG] * 0.95
    # A prejudice that blue has from the start, and keeps: that it is wrong says little.
    for beliefs in found.beliefs:
        if j3 in beliefs[1]:
            beliefs[1][j3] = np.eye(len(TYPES))[FLAG] * 0.95
    found.beliefs[7][0][a10] = np.eye(len(TYPES))[FLAG] * 0.8
    told = {(each.ply, PLAYERS[each.side]): each.text for each in find_moments(found) if each.kind == "belief"}
    assert told[0, "blue"] == ("The network guessed red's Flag before the first move: in blue's place it gave h1 99%.")
    assert told[3, "red"] == (
        "The network was wrong about blue's Flag: in red's place it gave a9 95%, but the Spy stood there."
    )
    assert told[7, "red"] == "By now the network would have found blue's Flag: in red's place it gave a10 80%."
    assert sorted(told) == [(0, "blue"), (3, "red"), (7, "red")]
    page = report_html(replace(found, moments=find_moments(found)))
    assert "The start</a>" in page and "guessed red" in page


def test_a_battle_with_a_piece_taken_for_another_is_told_with_the_beginning_of_the_error(looked: Review) -> None:
    """Blue's Miner goes from b8, by d7 at move 26, to e4, where red's Spy attacks it at move 37."""
    spy = TYPES.index("Spy")

    def told(share: float, places: range) -> dict[int, str]:
        """Return a review's words on red's beliefs if red gives the Miner this share to be a Spy in these positions."""
        beliefs = []
        for place, pieces in enumerate(looked.pieces):
            vague = [
                {square: np.full(len(TYPES), 1 / len(TYPES)) for square in looked.beliefs[place][side]}
                for side in (0, 1)
            ]
            for square in vague[0]:
                if place in places and pieces[square].identity == looked.board.variant.square("b8"):
                    vague[0][square] = np.eye(len(TYPES))[spy] * share
            beliefs.append((vague[0], vague[1]))
        found = replace(looked, beliefs=beliefs)
        return {each.ply: each.text for each in find_moments(found) if "The network was wrong" in each.text}

    assert told(0.85, range(26, 37)) == {
        26: "The network was wrong about blue's piece on d7: in red's place it gave it 85% to be the Spy, "
        "but it was the Miner, as a battle showed."
    }
    assert told(0.75, range(26, 37)) == {}, "it was not sure"
    assert told(0.85, range(26, 36)) == {}, "it had become unsure before the battle"
    assert told(0.85, range(37)) == {}, "a prejudice from the start says little"


def test_a_game_that_was_resigned_has_a_result_and_the_side_that_lost_foresees_it(model: Model) -> None:
    board = game()
    while board.is_over:
        board.pop()
    [recorded] = read_games(write_game(board, {"Result": "0-1", "End": "resigned"}))
    found = look_back(board, model, ended=recorded.outcome)
    told = found.to_json()
    assert (told["winner"], told["end"]) == ("blue", "resigned")
    assert [found.value(side, len(board.history)) for side in (0, 1)] != [None, None]
    off_turn = 1 - board.turn
    assert found.value(off_turn, len(board.history)) == (1.0 if off_turn == 1 else -1.0)
    # No move brought it about, so the review blames none.
    last = len(board.history)
    assert found.swing(off_turn, last) is None
    assert all(each.ply < last for each in found.moments if each.kind == "loss" and each.side == off_turn)
    unfinished = look_back(board, model)
    assert unfinished.to_json()["winner"] is None and unfinished.value(off_turn, len(board.history)) is None


def test_there_are_few_moments_and_they_come_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board.random("classic", 3)
    rng = random.Random(3)
    while not board.is_over and len(board.history) < 400:
        board.push(rng.choice(list(board.legal_moves)))
    found = look_back(board, None)
    for place in range(len(found.turns) - board.is_over):
        value = rng.uniform(-1, 1)
        found.outcomes[place] = ((1 - value) / 2, 0.0, (1 + value) / 2)
        found.policies[place] = {Move(0, 1): 1.0}
    moments = find_moments(found)
    plies = [each.ply for each in moments]
    assert 3 <= len(moments) <= 7 and plies == sorted(set(plies))
    monkeypatch.setattr(moments_module, "MOST_MOMENTS", 2)
    assert len(find_moments(found)) == 2


# ── A search, progress ───────────────────────────────────────────────────────────────────────────


def test_a_search_looks_at_the_critical_positions_only(model: Model) -> None:
    search = Search(model.player, None, SearchConfig(rollouts=8, depth=2))
    found = look_back(game(), model, search=search)
    assert 47 in found.searches and len(found.searches) <= 7
    assert set(found.searches) >= {each.ply - 1 for each in found.moments}
    plies = found.to_json()["plies"]
    assert plies[30]["search"] is None or 30 in found.searches
    best = plies[47]["search"][0]
    assert set(best) == {"from", "to", "value", "visits", "before", "p"} and len(plies[47]["search"]) <= 5
    analysis = found.searches[47]
    chosen = found.board.game.action_text(1, int(analysis.actions[analysis.policy.argmax()]))
    assert best["from"] + best["to"] == chosen
    shares = {each["from"] + each["to"]: each["p"] for each in plies[47]["policy"]}
    same = [(each["before"], shares.get(each["from"] + each["to"])) for each in plies[47]["search"]]
    assert [share for share, other in same if other is not None] == [other for _, other in same if other is not None]
    assert any(other is not None for _, other in same)


def test_the_move_that_was_played_is_compared_with_the_likeliest_ones_by_enough_rollouts(model: Model) -> None:
    found = look_back(game(), model, search=Search(model.player, None, module.SEARCHED))
    for place, analysis in found.searches.items():
        moves = moments_module.searched_moves(found, place)
        assert found.board.history[place].move in moves
        assert len(moves) == min(module.COMPARED, len(analysis.actions))
        assert set(list(found.policies[place])[: module.COMPARED - 1]) <= set(moves)
        assert min(each.visits for each in moves.values()) >= moments_module.LEAST_VISITS
    told = [each["search"] for each in found.to_json()["plies"] if each["search"]]
    assert told and all(each["visits"] for moves in told for each in moves)


def test_the_same_game_and_seed_give_the_same_review_on_a_busy_machine(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at the clock finds that a second has passed, or two."""

    def told(step: float, seed: int) -> dict[str, Any]:
        ticks = itertools.count(0.0, step)
        for each in (module, search_module):
            monkeypatch.setattr(each, "perf_counter", lambda: next(ticks))
        search = Search.of_model(model, replace(module.SEARCHED, rollouts=40))
        found = look_back(game(), model, search=search, seed=seed).to_json()
        return {**found, "seconds": None}

    quiet = told(1.0, 3)
    assert any(each["search"] for each in quiet["plies"]) and quiet["unsearched"] == []
    assert told(2.0, 3) == quiet
    assert [each["search"] for each in told(1.0, 4)["plies"]] != [each["search"] for each in quiet["plies"]]


def test_a_machine_that_is_far_too_slow_leaves_whole_searches_out_and_says_so(
    model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = SearchConfig(rollouts=40, depth=2)
    whole = look_back(game(), model, search=Search(model.player, None, config))
    ticks = itertools.count(0.0, module.MOST_SEARCH_SECONDS / 2)
    monkeypatch.setattr(module, "perf_counter", lambda: next(ticks))
    found = look_back(game(), model, search=Search(model.player, None, config))
    important = moments_module.critical_positions(replace(whole, searches={}))
    assert set(found.searches) == set(important[:2]) and found.unsearched == sorted(important[2:])
    for place, analysis in found.searches.items():
        assert np.array_equal(analysis.values, whole.searches[place].values)
    assert found.to_json()["unsearched"] == found.unsearched != []
    plies = ", ".join(str(place + 1) for place in found.unsearched)
    words = f"Time was short: no search was made before these moves: {plies}."
    assert found.unsearched_text == words and words in report_html(found)
    assert whole.unsearched_text == "" and "Time was short" not in report_html(whole)
    by_the_clock = replace(config, time=1e-6)
    assert look_back(game(), model, search=Search(model.player, None, by_the_clock)).unsearched == []


def judged(model: Model, worth: float, error: float, visits: int) -> list[str]:
    """Return what a review says of move 25 if a search gave it this worth, and all others 0, with these errors."""
    found = foreseen(25, 0.4, -0.2, 0.03)
    view = all_positions(game())[24].view(0)
    [analysis] = Search(model.player, None, SearchConfig(rollouts=100, depth=2)).analyse(view.snapshot(), [1])
    moves = [Move(*found.board.game.decode(0, int(action))) for action in analysis.actions]
    values = np.where([move == found.board.history[24].move for move in moves], worth, 0.0)
    found.searches[24] = replace(
        analysis,
        values=values,
        errors=np.full(len(moves), error),
        visits=np.full(len(moves), visits),
        # As a search would choose, but for the second one.
        policy=np.exp(values) / np.exp(values).sum(),
    )
    return [each.text for each in find_moments(found) if each.ply == 25]


@pytest.mark.parametrize(
    ("worth", "error", "visits", "kept", "blamed"),
    [
        (-0.5, 0.1, 24, True, True),  # worse by far more than luck
        (-0.5, 0.2, 24, True, False),  # which luck explains
        (-0.5, 0.0, 4, True, False),  # by a handful of rollouts
        (-0.01, 0.01, 24, False, False),  # hardly worse
        (-0.01, 0.1, 24, True, False),  # or so it seems: it may be much worse
        (0.5, 0.1, 24, False, False),  # the best
        (0.5, 0.3, 24, True, False),  # by luck, perhaps
        (0.5, 0.0, 4, True, False),
    ],
)
def test_a_search_acquits_or_blames_a_move_only_beyond_the_luck_of_its_rollouts(
    model: Model, worth: float, error: float, visits: int, kept: bool, blamed: bool
) -> None:
    told = judged(model, worth, error, visits)
    assert bool(told) == kept and any("A search chose" in each for each in told) == blamed


def test_a_move_without_an_alternative_is_acquitted(model: Model) -> None:
    found = foreseen(25, 0.4, -0.2, 0.03)
    view = all_positions(game())[24].view(0)
    only = found.board.game.encode(0, *found.board.history[24].move)
    search = Search(model.player, None, SearchConfig(rollouts=20, depth=2))
    [found.searches[24]] = search.analyse(view.snapshot(), [1], among=[[only]])
    assert not [each for each in find_moments(found) if each.ply == 25]


def test_progress_rises_to_one(model: Model) -> None:
    told: list[float] = []
    look_back(game(), model, progress=told.append)
    assert told == sorted(told) and told[-1] == 1 and len(told) >= 4


# ── The report, the command ──────────────────────────────────────────────────────────────────────


def test_the_report_needs_nothing_else_and_says_what_the_review_says(looked: Review) -> None:
    page = report_html(looked, {"Red": "<script>alert(1)</script>", "Blue": "b & c"})
    assert "<script>alert" not in page and "b &amp; c" in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|//|/)|@import|url\(", page)
    for moment in looked.moments:
        assert moment.text.replace("'", "&#x27;") in page
    assert page.count("<li><svg") == len(looked.moments)
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])
    assert len(data["says"]) == len(data["wdl"]) == len(data["considered"]) == 49
    tracks = {(piece["side"], piece["kind"], tuple(piece["at"][-1])) for piece in data["pieces"]}
    assert (0, FLAG, (48, -1)) in tracks, "the flag is captured at ply 48"
    general = next(each for each in data["pieces"] if (each["side"], TYPES[each["kind"]]) == (1, "General"))
    assert general["shown"] == 22


def test_the_report_lists_each_move_once_with_the_networks_share_and_what_a_search_found(model: Model) -> None:
    found = look_back(game(), model, search=Search(model.player, None, SearchConfig(rollouts=160, depth=2)))
    page = report_html(found)
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])
    assert data["searched"] == sorted(found.searches)
    for place in found.searches:
        rows = data["considered"][place]
        moves = [Move(source, target) for _, _, source, target, _, _ in rows]
        shares = [share for _, share, *_ in rows]
        first, chosen = next(iter(found.policies[place])), next(iter(moments_module.searched_moves(found, place)))
        assert moves[0] == first and chosen in moves and len(set(moves)) == len(moves)
        assert shares == sorted(shares, reverse=True)
        [row] = [row for row, move in zip(rows, moves, strict=True) if move == chosen]
        worth = moments_module.searched_moves(found, place)[chosen]
        assert row[4:] == [f"{worth.value:+.2f}".replace("-", "−"), f"{worth.visits} rollouts"]
    assert all(row[4:] == ["", ""] for row in data["considered"][1 if 1 not in found.searches else 4])


def test_the_report_puts_arrows_where_the_picture_has_its_squares() -> None:
    board = game()
    report = Report(look_back(board, None))
    for name in ("a1", "e4", "j10"):
        square = board.variant.square(name)
        x, y = report.centre(name)
        rectangles = re.findall(r'<rect x="(\d+)" y="(\d+)" width="40"', picture.svg(board))
        assert (x - 20, y - 20) == tuple(map(int, rectangles[square]))


COMMAND = typer.Typer()
COMMAND.command()(analyse)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(COMMAND, list(arguments))


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "games.txt"
    path.write_text(GAME)
    return str(path)


def test_a_whole_game_is_analysed(file: str, tmp_path: Path, model: Model) -> None:
    networks = {"move": model.player}
    save_model(tmp_path / "model", networks, model.card, torch.float32)
    done = run(file, "--agent", f"net:{tmp_path / 'model'}", "--html", str(tmp_path / "out.html"))
    assert done.exit_code == 0, done.output
    for words in ("Blue won: the Flag was taken", "what each side foresaw", "captured red's Flag on h1", "fox <b>"):
        assert words in done.output
    assert "fox &lt;b&gt;" in (tmp_path / "out.html").read_text()
    lines = [
        json.loads(line) for line in run(file, "--agent", f"net:{tmp_path / 'model'}", "--json").stdout.splitlines()
    ]
    assert [line.get("ply") for line in lines] == [*range(49), None]
    assert lines[-1]["model"] == "strong-opinions" and lines[-1]["headers"]["Blue"] == "a network"
    assert lines[3]["policy"] and lines[3]["values"]["blue"] is not None


def test_a_whole_game_is_searched_by_the_seed_and_by_the_clock_only_if_that_is_asked_for(
    file: str, tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_model(tmp_path / "model", {"move": model.player}, model.card, torch.float32)
    configs: list[SearchConfig] = []
    seeds: list[int] = []
    analyse_ = Search.analyse

    def noted(self: Search, views: Any, given: Any, *rest: Any, **more: Any) -> Any:
        configs.append(self.config)
        seeds.extend(given)
        return analyse_(self, views, given, *rest, **more)

    monkeypatch.setattr(Search, "analyse", noted)
    for settings, expected in (
        ("", module.SEARCHED),
        (",depth=2", replace(module.SEARCHED, depth=2)),
        (",time=0.01", SearchConfig(time=0.01)),
    ):
        configs.clear(), seeds.clear()
        done = run(file, "--agent", f"search:{tmp_path / 'model'}{settings}", "--seed", "-5")
        assert done.exit_code == 0, done.output
        assert set(configs) == {expected} and set(seeds) == {2**64 - 5}


def test_the_page_and_the_command_say_the_same_of_a_game(file: str, tmp_path: Path, model: Model) -> None:
    save_model(tmp_path / "model", {"move": model.player}, model.card, torch.float32)
    agent = f"search:{tmp_path / 'model'}"
    lines = [json.loads(line) for line in run(file, "--agent", agent, "--json").stdout.splitlines()]
    page = ReviewGame("barrage", GAME, f"{agent},time=0.01").run(lambda share: None)
    assert any(each["search"] for each in page["plies"])
    assert page["plies"] == lines[:-1] and page["moments"] == lines[-1]["moments"]


def test_a_whole_game_is_analysed_without_a_network(file: str) -> None:
    done = run(file, "--agent", "none")
    assert done.exit_code == 0 and "The battle that turned the game" in done.output
    lines = [json.loads(line) for line in run(file, "--agent", "none", "--json").stdout.splitlines()]
    assert lines[3]["values"] == {"red": None, "blue": None} and lines[-1]["model"] is None


def test_what_cannot_be_analysed_is_said(file: str, tmp_path: Path) -> None:
    micro = tmp_path / "micro.txt"
    board = Board.random("micro", 1)
    board.push(board.legal_moves[0])
    micro.write_text(write_game(board))
    for arguments, words in (
        ((file, "--agent", "cadet"), "does not tell what it thinks: take net:MODEL or search:MODEL"),
        ((file, "--ply", "3", "--html", "x.html", "--agent", "none"), "--html is for a whole game"),
        ((file, "--html", "nowhere/x.html", "--agent", "none"), "nowhere/x.html cannot be written: No such file"),
        ((str(micro),), "say who looks at it, e.g. --agent"),
        ((board.text,), "a position does not tell its variant"),
    ):
        error = run(*arguments).exception
        assert isinstance(error, ConfigurationError) and words in str(error)


def test_setups_are_told_as_the_truth() -> None:
    board = game()
    truth = look_back(board, None).summary_json()["truth"]
    again = Board.from_setups(truth["red"], truth["blue"], "barrage")
    assert again.start_position() == board.start_position()
