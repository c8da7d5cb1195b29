"""Reviews of games of Geister: forecasts, beliefs about ghosts, the moments that decided the game, and the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from ghost_model import keep_model, make_model
from typer.testing import CliRunner

from vauban.board import Board
from vauban.cli.analyse import analyse
from vauban.games.randomness import REVIEWED_BELIEF
from vauban.nets.belief import BeliefNetwork
from vauban.nets.hidden import Kinds
from vauban.nets.store import Model
from vauban.notation.records import write_game
from vauban.search.geister.review import Move, Review
from vauban.search.moments import MOST_MOMENTS, critical_positions, find_moments
from vauban.search.opinion import ask
from vauban.search.reviewing import SEARCHED, all_positions, look_back
from vauban.search.search import Search, SearchConfig
from vauban.web.geister.report import Report, report_html
from vauban.web.thinking import ReviewGame

TAKEN = "b2b3 e5e4 b3b4 e4e3 b4b5 e3e2"
"""Each side takes a ghost: on b5 and on e2, the D of the other."""
WALK = "b2a2 e5e4 a2a3 e4e5 a3a4 e5e4 a4a5 e4e5 a5a6"
"""Red's A walks into its corner; blue's h looks on from beside it, on b6."""


def played(first: str, second: str, moves: str, rules: str | None = None) -> Any:
    board: Any = Board("geister", rules, setups=(first, second))
    for move in moves.split():
        board.push(move)
    return board


def walk(last: str = "e5e4 a6n") -> Any:
    """Return a game in which red's good ghost A escapes from a6, with blue's last move and red's."""
    return played("EFGH", "ABCD", f"{WALK} {last}")


@pytest.fixture(scope="module")
def model() -> Model:
    return make_model()


@pytest.fixture(scope="module")
def looked(model: Model) -> Review:
    return look_back(walk(), model)


# ── Forecasts and policies ───────────────────────────────────────────────────────────────────────


def test_every_position_is_foreseen_as_the_network_does_from_the_view_of_the_player_on_turn(
    model: Model, looked: Review
) -> None:
    boards = all_positions(looked.board)
    assert sorted(looked.outcomes) == list(range(len(boards) - 1))
    for place in (0, 1, 9):
        board = boards[place]
        opinion = ask(model.player, board.view(board.turn).snapshot())
        assert looked.outcomes[place] == pytest.approx(opinion.outcome[0].tolist(), abs=1e-5)
        assert len(looked.policies[place]) == len(board.legal_actions)
        assert sum(looked.policies[place].values()) == pytest.approx(1, abs=1e-5)


def test_an_escape_is_one_move_whichever_of_its_two_directions_is_played(model: Model, looked: Review) -> None:
    corner = all_positions(looked.board)[10]
    assert {"a6n", "a6w"} <= set(corner.legal_moves)
    opinion = ask(model.player, corner.view(0).snapshot())
    chances = dict(zip(opinion.legal[0].tolist(), opinion.log_policy[0].exp().tolist(), strict=True))
    both = sum(chances[corner.action_of(text)] for text in ("a6n", "a6w"))
    policy = looked.policies[10]
    assert policy[Move("a6", "a7")] == pytest.approx(both, abs=1e-5)
    assert len(policy) == len(corner.legal_actions) - 1
    assert look_back(walk("e5e4 a6w"), model).move_made(11) == looked.move_made(11) == Move("a6", "a7")
    found = look_back(walk(), model, search=Search(model.player, None, SearchConfig(rollouts=160, depth=2)))
    [told] = [each for each in found.to_json()["plies"][10]["search"] if each["to"] == "a7"]
    assert told["from"] == "a6" and told["before"] == pytest.approx(both, abs=2e-3)


def test_the_result_of_a_game_is_told_for_both_sides(looked: Review) -> None:
    told = looked.to_json()
    assert (told["game"], told["winner"], told["end"]) == ("geister", "red", "escape")
    assert told["plies"][-1]["values"] == {"red": 1.0, "blue": -1.0}
    assert told["truth"] == {"red": "EFGH", "blue": "ABCD"}
    assert told["moves"][-1] == {
        "ply": 11, "side": "red", "from": "a6", "to": "a7", "text": "a6n", "captured": None, "escaped": True,
    }  # fmt: skip
    taken = look_back(played("ABCD", "EFGH", TAKEN), None).to_json()
    assert taken["moves"][4]["captured"] == {"type": "good", "letter": "d"}
    assert taken["captured"]["red"] == [{"side": "red", "type": "evil", "letter": "D"}]


# ── Beliefs ──────────────────────────────────────────────────────────────────────────────────────


def test_without_a_network_beliefs_are_the_chances_of_the_observation() -> None:
    found = look_back(played("ABCD", "EFGH", TAKEN), None)
    assert found.counted
    for board, sides in zip(all_positions(found.board), found.beliefs, strict=True):
        seen = Kinds(board.game).read(board.view(board.turn).observe("geister-full", layout="squares")[None])
        for row, shares in enumerate(sides[board.turn].values()):
            assert shares == pytest.approx(seen.chances[0, row].numpy(), abs=1e-5)
    assert found.to_json()["plies"][-1]["belief"]["red"]["c5"] == {"evil": 0.571, "good": 0.429}


def test_a_belief_network_is_asked_from_the_view_of_each_side(model: Model, looked: Review) -> None:
    belief = model.find(BeliefNetwork)
    assert belief is not None
    for place in (0, 4, 9):
        board = all_positions(looked.board)[place]
        view = board.view(board.turn)
        dice = np.random.default_rng((REVIEWED_BELIEF, board.turn, place))
        uniforms = torch.from_numpy(dice.random((1, 128, 8), np.float32))
        expected = belief.kinds.marginals(belief.sample(view.observe("geister-full", layout="squares")[None], uniforms))
        believed = looked.beliefs[place][board.turn]
        assert list(believed) == board.game.hidden_squares(view.snapshot().record(), board.turn)
        assert np.stack(list(believed.values())) == pytest.approx(expected[0].numpy(), abs=0.05)


def test_a_ghost_that_everybody_can_tell_is_evil_is_believed_nothing_of(model: Model) -> None:
    board = played("ABCD", "EFGH", f"{WALK} e5e4 c2c3", "escape=forced")
    found = look_back(board, model)
    [corner] = [square for square, ghost in found.pieces[-1].items() if ghost.revealed]
    believed = found.beliefs[-1][1]
    assert corner not in believed and len(believed) == 7
    # Of the seven others three are evil.
    assert sum(shares[1] for shares in believed.values()) == pytest.approx(3)


def test_what_a_side_foresees_and_believes_does_not_depend_on_what_is_hidden_from_it(model: Model) -> None:
    mine, other = (look_back(played("ABCD", second, TAKEN), model).to_json()["plies"] for second in ("ABCD", "BCDE"))
    assert [each["belief"]["red"] for each in mine] == [each["belief"]["red"] for each in other]
    for one, two in zip(mine, other, strict=True):
        if one["turn"] == "red":
            assert (one["policy"], one["values"]["red"]) == (two["policy"], two["values"]["red"])
    assert any(one["policy"] != two["policy"] for one, two in zip(mine, other, strict=True))


# ── Moments ──────────────────────────────────────────────────────────────────────────────────────


def texts(found: Review) -> dict[tuple[int, str], str]:
    return {(each.ply, each.kind): each.text for each in found.moments}


def test_an_escape_that_could_have_been_stopped_is_told_with_the_capture_that_was_there() -> None:
    assert texts(look_back(walk(), None)) == {
        (10, "unstopped"): "Red's good ghost A stood in the corner a6, ready to escape, and blue could have taken it "
        "by b6–a6. By counting, it was good with 50%.",
        (11, "end"): "Red's good ghost A escaped from a6. By counting, it was good with 50%.",
    }
    # Where nobody stands beside the corner, it was too late.
    free = played("EFGH", "ABCD", "b2a2 b5b4 a2a3 b6b5 a3a4 e5e4 a4a5 e4e5 a5a6 e5e4 a6n")
    assert list(texts(look_back(free, None))) == [(11, "end")]


def test_an_escape_that_was_missed_is_told_of_whoever_did_not_win() -> None:
    board = played("EFGH", "ABCD", f"{WALK} e5e4 a6a5 e4e5 a5a4")
    text = "Red's good ghost A stood in the corner a6 and could have escaped, but red played a6–a5."
    assert texts(look_back(board, None)) == {(11, "missed"): text}
    won = played("EFGH", "ABCD", f"{WALK} e5e4 b1b2 e4e5 a6n")
    assert not [each for each in look_back(won, None).moments if each.kind == "missed"]
    evil = played("ABCD", "ABCD", f"{WALK} e5e4 a6a5")
    assert look_back(evil, None).moments == []


def test_a_side_that_is_down_to_one_ghost_of_a_colour_and_the_last_capture_are_told() -> None:
    board: Any = Board("geister-44", setups=("AC", "BC"))
    for move in ("c2c3", "c4c3", "b2b3", "b4b3", "c1c2", "b3a3", "c2c3"):
        board.push(move)
    left = "has one evil ghost left, and wins if it is taken."
    assert [(each.ply, each.kind, each.side, each.text) for each in look_back(board, None).moments] == [
        (1, "one_left", 1, "Red took blue's good ghost a on c3. Blue has one good ghost left."),
        (2, "one_left", 0, "Blue took red's good ghost B on c3. Red has one good ghost left."),
        (3, "one_left", 0, f"Red took blue's evil ghost b on b3. Blue {left}"),
        (4, "one_left", 1, f"Blue took red's evil ghost A on b3. Red {left}"),
        (
            7, "end", 1, "Red took blue's evil ghost c on c3, the last evil one, and so lost. "
            "By counting, it was evil with 50%.",
        ),
    ]  # fmt: skip


def sure(found: Review, places: range, square_of: str, kind: int, share: float) -> Review:
    """Return a review in which red is sure of a ghost, by the square it started from, in these positions."""
    identity = next(s for s in range(36) if found.board.game.square_name(s) == square_of)
    beliefs = []
    for place, pieces in enumerate(found.pieces):
        red = {square: np.full(2, 0.5) for square in found.beliefs[place][0]}
        for square in red:
            if place in places and pieces[square].identity == identity:
                red[square] = np.array([share, 1 - share]) if kind == 0 else np.array([1 - share, share])
        beliefs.append((red, {square: np.full(2, 0.5) for square in found.beliefs[place][1]}))
    return replace(found, beliefs=beliefs, counted=False, moments=[])


def test_being_sure_of_a_ghost_and_wrong_or_right_is_told_where_it_began() -> None:
    # Blue's d on b5, which is good, is taken at move 5; c on c5 is evil or good and stays.
    found = look_back(played("ABCD", "EFGH", TAKEN), None)

    def beliefs(*case: Any) -> list[tuple[int, str]]:
        return [(each.ply, each.text) for each in find_moments(sure(found, *case)) if each.kind == "belief"]

    wrong = (
        "The network was wrong about blue's ghost d on b5: in red's place it gave it 85% to be evil, but it was good."
    )
    assert beliefs(range(3, 6), "b5", 1, 0.85) == [(3, wrong)]
    assert beliefs(range(3, 6), "b5", 1, 0.75) == [], "it was not sure"
    assert beliefs(range(3, 4), "b5", 1, 0.85) == [], "it had become unsure before the capture"
    assert beliefs(range(6), "b5", 1, 0.85) == [], "a prejudice from the start says little"
    assert [ply for ply, _ in beliefs(range(2, 4), "c5", 1, 0.95)] == [2], "all but sure is told in any case"
    seen = "By now the network would have seen through blue's ghost c on c5: in red's place it gave it 95% to be good."
    assert beliefs(range(2, 4), "c5", 0, 0.95) == [(2, seen)]


def test_a_captured_ghost_that_was_hardly_believed_to_be_what_it_was_surprises_who_is_harmed() -> None:
    found = look_back(played("ABCD", "ABCD", TAKEN), None)  # blue's d is evil
    found = sure(found, range(4, 5), "b5", 0, 0.9)
    for place, turn in enumerate(found.turns):
        value = (0.2 if place < 5 else -0.2) * (1 if turn == 0 else -1)
        found.outcomes[place] = ((1 - value) / 2, 0.0, (1 + value) / 2)
        move = found.move_made(place + 1) if place < len(found.board.history) else Move("a1", "a2")
        found.policies[place] = {move: 1.0}
    text = " ".join(each.text for each in find_moments(found) if each.ply == 5)
    assert "red took blue's evil ghost d on b5" in text.replace("Red", "red")
    assert "In red's place the network had given it 10% to be evil." in text


def test_there_are_few_moments_in_their_order_and_critical_positions_are_searched(model: Model) -> None:
    found = look_back(walk(), model, search=Search(model.player, None, SearchConfig(rollouts=80, depth=2)))
    plies = [each.ply for each in found.moments]
    assert plies == sorted(set(plies)) and len(plies) <= MOST_MOMENTS
    assert set(found.searches) == set(critical_positions(replace(found, searches={})))
    for place, analysis in found.searches.items():
        assert found.move_made(place + 1) in [found.move_of(analysis.player, int(each)) for each in analysis.actions]


# ── The report, the command, the page ────────────────────────────────────────────────────────────

COMMAND = typer.Typer()
COMMAND.command()(analyse)


def run(*arguments: str) -> Any:
    done = CliRunner().invoke(COMMAND, list(arguments))
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "game.txt"
    path.write_text(write_game(walk(), {"First": "somebody <b>", "Second": "a network"}))
    return str(path)


def test_the_page_and_the_command_say_the_same_of_a_game(file: str, tmp_path: Path) -> None:
    agent = keep_model(tmp_path / "model").partition(",")[0]
    lines = [json.loads(line) for line in run(file, "--agent", agent, "--json").stdout.splitlines()]
    page = ReviewGame("geister", Path(file).read_text(), f"{agent},time=0.01").run(lambda share: None)
    assert any(each["search"] for each in page["plies"])
    assert page["plies"] == lines[:-1] and page["moments"] == lines[-1]["moments"]
    assert SEARCHED.time == 0


def test_a_game_is_told_of_on_the_terminal_and_written_as_a_page(file: str, tmp_path: Path) -> None:
    done = run(file, "--agent", "none", "--html", str(tmp_path / "out.html"))
    assert "Red's good ghost A escaped from a6." in " ".join(done.output.split())
    assert "somebody &lt;b&gt; (red)" in (tmp_path / "out.html").read_text()


def test_the_report_needs_nothing_else_and_says_what_the_review_says(looked: Review) -> None:
    page = report_html(looked)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:|//|/)|@import|url\(", page.replace("http://www.w3.org", ""))
    for moment in looked.moments:
        assert moment.text.replace("'", "&#x27;") in page
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])
    assert len(data["says"]) == len(data["wdl"]) == len(data["considered"]) == 12
    assert data["says"][-1] == "11. red a6–a7: the ghost escapes"
    [gone] = [piece for piece in data["pieces"] if piece["at"][-1][1] == -1]
    assert (gone["side"], gone["name"], gone["at"][-1]) == (0, "good ghost A", [11, -1])
    # The escape leads off the board, over the corner from which it starts.
    source, target = data["moves"][11]
    (x0, y0), (x1, y1) = data["corners"][source], data["corners"][target]
    assert (x1 - x0, y1 - y0) == (0, -data["cell"])
    assert any((row[2], row[3]) == (source, target) for row in data["considered"][10])


def test_the_report_puts_ghosts_and_arrows_where_the_picture_has_its_squares(looked: Review) -> None:
    report = Report(looked)
    svg = report.picture(report.boards[0], 480)
    rectangles = [tuple(map(float, each)) for each in re.findall(r'<rect class="vg-sq2?" x="(\d+)" y="(\d+)"', svg)]
    assert [report.corner(square) for square in range(36)] == rectangles
    groups = re.findall(r'<g class="vg-(\w+)" transform="translate\((\d+) (\d+)\)"><title>(\w+):', svg)
    pieces = sorted(looked.pieces[0].items())
    assert [name for *_, name in groups] == [looked.board.game.square_name(square) for square, _ in pieces]
    for (_, x, y, _), (square, _) in zip(groups, pieces, strict=True):
        left, top = report.corner(square)
        assert (float(x) - left, float(y) - top) == report.offset
