"""Kernels and oracle agree: every legal-move list, every state, every outcome, ply by ply.

The oracle (tests/oracle) is slow and plain and was written from the rules alone. `make test-all` and `make oracle`
compare 300,000 plies in each of the large variants; `make oracle PLIES=5000000` is the nightly size.
"""

from __future__ import annotations

import os
import random

import pytest
from oracle.rules import Oracle
from oracle.rules import Rules as OracleRules

from vauban.board.stratego import Look
from vauban.games.kernel import Record
from vauban.games.stratego import layout
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import LETTERS
from vauban.sim.simulator import Simulator

PLIES = int(os.environ.get("VAUBAN_ORACLE_PLIES", "100000"))
"""Plies compared in each of the large variants, of random and again of chasing play."""
GAMES = 24

LARGE = ["classic", "barrage", "medium", "tiny"]
OTHER_RULES = [
    ("barrage", "deepnash"),
    ("classic", "deepnash"),
    ("barrage", "strategus chase_compare=type"),
    ("barrage", "strategus two_square=5 chase=off"),
    ("barrage", "ataraxos-train battleless_limit=40"),
    ("duel", "strategus two_square=off"),
    ("octa-barrage", "strategus chase=isf battleless_limit=60"),
    ("fives", "strategus cannot_move=eager limits=exceeded"),
    ("micro", "strategus chase=isf"),
    ("nano", "strategus"),
]


class Pair:
    """A batch of games, and an oracle that follows each of them."""

    def __init__(self, game: Stratego, seed: int) -> None:
        self.game = game
        self.sim = Simulator(game, GAMES, seed=seed, threads=1)
        self.rng = random.Random(seed)
        self.oracles = [self.follow(row) for row in range(GAMES)]
        self.last_targets = [None] * GAMES

    def look(self, row: int) -> Look:
        """Return the record of one game, for reading."""
        words, halves, bytes_ = (part[row].numpy() for part in self.sim.store)
        rules = self.sim.format.parameters
        return Look(self.game, Record(words.view("uint64"), halves.view("uint16"), bytes_, rules))

    def follow(self, row: int) -> Oracle:
        """Return an oracle for the game that has just begun in this row."""
        v = self.game.variant
        pieces = {square: (piece.player, LETTERS[piece.kind]) for square, piece in self.look(row).pieces().items()}
        return Oracle(v.rows, v.columns, set(v.lakes), OracleRules(**self.game.rules.as_dict()), pieces)

    def compare_state(self, row: int) -> None:
        """Check that everything that the two have in common is the same."""
        oracle, look = self.oracles[row], self.look(row)
        assert (look.turn, look.plies, look.battleless) == (oracle.to_move, oracle.plies, oracle.battleless)
        for square in range(self.game.variant.squares):
            ours, theirs = look.piece_at(square), oracle.piece_at(square)
            assert (ours is None) == (theirs is None), f"square {square}"
            if ours is not None:
                assert (ours.player, LETTERS[ours.kind], ours.identity, ours.moved, ours.revealed) == (
                    theirs.owner, theirs.letter, theirs.identity, theirs.moved, theirs.revealed,
                ), f"square {square}"  # fmt: skip
        words = self.sim.store.words[row]
        assert [int(words[layout.LENGTH + player]) for player in (0, 1)] == list(oracle.chase_length)

    def choose(self, row: int, moves: list[tuple[int, int]], chasing: bool) -> tuple[int, int]:
        """Return a move: any, or one that chases or runs away, and hardly ever attacks."""
        if not chasing or self.rng.random() < 0.1:
            return self.rng.choice(moves)
        oracle = self.oracles[row]
        v = self.game.variant
        enemies = {
            square for square in range(v.squares) if (p := oracle.piece_at(square)) and p.owner != oracle.to_move
        }

        def close(square: int) -> bool:
            column = square % v.columns
            beside = [square + v.columns, square - v.columns]
            beside += [square - 1] if column else []
            beside += [square + 1] if column + 1 < v.columns else []
            return any(each in enemies for each in beside)

        quiet = [move for move in moves if move[1] not in enemies]
        wanted = [move for move in quiet if close(move[1]) or close(move[0])]
        return self.rng.choice(wanted or quiet or moves)

    def run(self, plies: int, chasing: bool) -> dict[str, int]:
        """Play and compare; return how often each end was seen."""
        seen: dict[str, int] = {}
        done = 0
        while done < plies:
            listed, counts = self.sim.legal_actions()
            actions = []
            for row in range(GAMES):
                oracle = self.oracles[row]
                codes = listed[row, : counts[row]].tolist()
                ours = {self.game.decode(oracle.to_move, code): code for code in codes}
                legal = oracle.legal()
                assert sorted(ours) == legal, f"legal moves differ at ply {oracle.plies}: {self.look(row).position()}"
                move = self.choose(row, legal, chasing)
                oracle.push(move)
                actions.append(ours[move])
            self.sim.step(actions)
            done += GAMES
            for row in range(GAMES):
                oracle = self.oracles[row]
                ended = bool(self.sim.results.ended[row])
                assert ended == oracle.over
                if ended:
                    outcome = self.sim.outcome(row)
                    winner = "draw" if outcome.winner is None else ("red", "blue")[outcome.winner]
                    assert (winner, outcome.end) == (oracle.winner, oracle.end)
                    assert int(self.sim.results.plies[row]) == oracle.plies
                    seen[outcome.end] = seen.get(outcome.end, 0) + 1
                    self.oracles[row] = self.follow(row)
                elif self.rng.random() < 0.02 or oracle.battleless == 0:
                    self.compare_state(row)
        return seen


@pytest.mark.parametrize("chasing", [False, True], ids=["random", "chasing"])
@pytest.mark.parametrize("variant", LARGE)
def test_kernels_and_oracle_agree_on_every_ply(variant: str, chasing: bool) -> None:
    seen = Pair(Stratego(variant), seed=7).run(PLIES, chasing)
    assert seen, "no game came to its end"


@pytest.mark.parametrize("chasing", [False, True], ids=["random", "chasing"])
@pytest.mark.parametrize(("variant", "rules"), OTHER_RULES)
def test_kernels_and_oracle_agree_under_other_rules(variant: str, rules: str, chasing: bool) -> None:
    Pair(Stratego(variant, rules), seed=11).run(PLIES // 20, chasing)
