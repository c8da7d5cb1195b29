"""Finds positions of recorded games that tell where the enemy's Flag stands: src/vauban/web/page/flags.json.

    vauban match cadet prober --game classic --setups human --games 60 --seed 5 --save classic.txt
    vauban match cadet prober --game barrage --setups human --games 60 --seed 6 --save barrage.txt
    python scripts/make_flag_puzzles.py classic.txt barrage.txt

A puzzle is a position as Red sees it, from the middle of a game: what has moved is marked, what was shown is open. Of
each game one position is looked at, with a fair number of pieces that have never moved and may be the Flag. The
evidence is counted twice, and neither count knows the answer. 1,000 setups are drawn as people set up
(docs/setups.md), among those alone that agree with everything that was seen; and the belief network of the variant,
which also goes by how Blue has moved, draws 400 armies. A puzzle is kept if both name the same square, and each gives
it three times the chance of any other; and if the Flag did stand there. How often it did not is printed.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.progress import track

from vauban.agents.stratego import priors
from vauban.agents.stratego.setups import settle
from vauban.board import Board
from vauban.games.stratego.pieces import BOMB, FLAG, LETTERS, MOVABLE_TYPES, TYPES
from vauban.games.stratego.setups import Row, parse_setup
from vauban.games.stratego.variants import Variant
from vauban.notation.records import read_games
from vauban.notation.stratego.moves import square_text
from vauban.sim.compile import CPU, compiled

FILE = Path("src/vauban/web/page/flags.json")
Rows = npt.NDArray[np.int8]
RED, BLUE = 0, 1
SUSPECTS = {"classic": (6, 14), "barrage": (3, 5)}
"""By game: how many pieces may be the Flag in a puzzle, at least and at most."""
CLEAR = 3.0
"""The square has to be so many times as likely as any other."""
DRAWS, STEPS, LOOKS = 1000, 4000, 400
EACH = {"classic": 10, "barrage": 6}
"""Puzzles of each game, those of most suspects."""


STILL, GONE_FORTH = "?", "!"
"""Letters of hidden pieces in what was seen of a setup: one that has never moved, and one that has."""


def seen(board: Board, setup: Row) -> str:
    """Return what Red has seen of Blue's setup, place by place: the letter of what was shown or has fallen, a dot for
    nothing, and a sign for what is hidden."""
    last = board.variant.squares - 1
    there = {last - piece.identity: piece for piece in board.view(RED).pieces(BLUE).values()}

    def letter(place: int) -> str:
        if place in there and there[place].kind is None:
            return GONE_FORTH if there[place].moved else STILL
        return "." if setup[place] == 0 else LETTERS[setup[place] - 1]

    return "".join(map(letter, range(len(setup))))


def drawn(known: str, left: Mapping[str, int], variant: Variant, number: int, seed: int) -> Rows:
    """Draw setups of people that agree with what was seen: number × places. `left` says which types are hidden."""
    allowed = np.zeros((len(known), len(TYPES) + 1), bool)
    fixed = np.zeros(len(known), np.int8)
    for place, letter in enumerate(known):
        if letter in (STILL, GONE_FORTH):
            allowed[place, 1 : 1 + (MOVABLE_TYPES if letter == GONE_FORTH else len(TYPES))] = True
        else:
            fixed[place] = 0 if letter == "." else 1 + LETTERS.index(letter)
            allowed[place, fixed[place]] = True
    model = priors.model(variant)
    # A code that cannot be there costs so much that no step leads to it.
    model = model._replace(single=np.where(allowed, model.single, -1e9))
    rng, settled = random.Random(seed), compiled(settle, CPU)
    rows = np.stack([_begun(known, fixed, left, rng) for _ in range(number)])
    for count, row in enumerate(rows):
        settled(row, variant.columns, model, STEPS, np.uint64(seed), np.uint64(count))
    return rows


def _begun(known: str, fixed: Row, left: Mapping[str, int], rng: random.Random) -> Row:
    """Return some setup that agrees with what was seen: what has moved takes of what can move, the others the rest."""
    row = fixed.copy()
    codes = [1 + TYPES.index(kind.capitalize()) for kind, count in left.items() for _ in range(count)]
    rng.shuffle(codes)
    codes.sort(key=lambda code: code > MOVABLE_TYPES)
    for place in sorted((p for p, letter in enumerate(known) if letter in (STILL, GONE_FORTH)), key=known.__getitem__):
        row[place] = codes.pop(0)
    return row


def chances(rows: Rows, known: str, board: Board) -> dict[int, float]:
    """Return by square of a hidden piece that has never moved the share of the setups in which it is the Flag."""
    shares = (rows == 1 + FLAG).mean(0)
    last = board.variant.squares - 1
    return {last - place: float(shares[place]) for place, letter in enumerate(known) if letter == STILL}


def believed(board: Board, seed: int) -> dict[int, float]:
    """Return by square of a hidden piece how likely the belief network thinks it to be the Flag."""
    import torch

    from vauban.agents.net import load
    from vauban.nets.belief import BeliefNetwork
    from vauban.search.opinion import look

    belief = load(board.variant.name, "cpu").find(BeliefNetwork)
    assert belief is not None
    view = board.view(RED)
    snapshot = view.snapshot(board.game.format(plies=board.quiet)).to("cpu")
    uniforms = np.random.default_rng(seed).random((1, LOOKS, belief.pieces), np.float32)
    with torch.inference_mode():
        values = belief.sample(look(snapshot, belief.observation, torch.float32), torch.from_numpy(uniforms))
    [chances] = belief.kinds.marginals(values).numpy()
    squares = board.game.hidden_squares(snapshot.record(), RED)
    flag = board.game.hidden_kinds.index("Flag")
    return {square: float(each[flag]) for square, each in zip(squares, chances, strict=False)}


def hidden_types(known: str, setup: Row) -> dict[str, int]:
    """Return how many there are of each type among what is hidden."""
    kinds = [TYPES[setup[place] - 1].lower() for place, letter in enumerate(known) if letter in (STILL, GONE_FORTH)]
    return dict(sorted(Counter(kinds).items()))


def clear(shares: Mapping[Any, float]) -> Any:
    """Return the square that is so much likelier than any other; None if there is none."""
    first, second, *_ = sorted(shares, key=shares.__getitem__, reverse=True)
    return first if shares[first] >= CLEAR * max(shares[second], 1 / LOOKS) else None


def positions(files: list[Path]) -> Iterator[tuple[Board, Row, int]]:
    """Yield of each game the latest position with a fair number of suspects and Red on turn, Blue's setup, a number."""
    games = [game for file in files for game in read_games(file.read_text(encoding="utf-8"))]
    for number, game in enumerate(track(games, "looking for Flags")):
        board = game.board
        least, most = SUSPECTS[board.variant.name]
        while board.history:
            board.pop()
            if board.turn != RED:
                continue
            view = board.view(RED)
            suspects = [each for each in view.pieces(BLUE).values() if each.kind is None and not each.moved]
            if len(suspects) > most:
                break
            if len(suspects) >= least and sum(each.kind is None for each in view.pieces(BLUE).values()) > len(suspects):
                yield board, parse_setup(game.headers["BlueSetup"], board.variant), number
                break


def puzzle(
    board: Board, setup: Row, known: str, counted: dict[int, float], network: dict[int, float], answer: int
) -> dict[str, Any]:
    """Return a puzzle as the page reads it.

    Pieces are words such as "98i10u*": a number that stays with each, its square, its letter (red's capital, U or u for
    a hidden one), a star on what has moved. What the hidden ones are is apart.
    """
    variant, view = board.variant, board.view(RED)

    def name(square: int) -> str:
        return square_text(square, variant)

    def beside(square: int) -> list[int]:
        row, column = divmod(square, variant.columns)
        near = [(row + 1, column), (row - 1, column), (row, column - 1), (row, column + 1)]
        return [y * variant.columns + x for y, x in near if 0 <= y < variant.rows and 0 <= x < variant.columns]

    pieces = view.pieces()
    hidden = {square: piece for square, piece in pieces.items() if piece.kind is None}
    last = variant.squares - 1
    truth = {name(square): TYPES[setup[last - piece.identity] - 1].lower() for square, piece in hidden.items()}
    bombs = {last - place for place, code in enumerate(setup) if code == 1 + BOMB}
    shown = [square for square in beside(answer) if square in bombs and square not in hidden]
    return {
        "game": variant.name,
        "shape": {
            "columns": variant.columns,
            "rows": variant.rows,
            "lakes": [name(square) for square in sorted(variant.lakes)],
        },
        "pieces": " ".join(
            f"{piece.identity}{name(square)}{piece.letter}{'*' if piece.moved else ''}"
            for square, piece in pieces.items()
        ),
        "seen": known,
        "left": hidden_types(known, setup),
        "answer": name(answer),
        "truth": truth,
        "bombs": [name(square) for square in shown],
        "draws": DRAWS,
        "chances": {name(s): round(p, 3) for s, p in counted.items() if p >= 0.001},
        "network": round(network[answer], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", type=Path, help="files with recorded games")
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in EACH}
    tally: Counter[str] = Counter()
    for board, setup, number in positions(parser.parse_args().games):
        tally["positions"] += 1
        variant, known = board.variant, seen(board, setup)
        left = hidden_types(known, setup)
        if clear(chances(drawn(known, left, variant, DRAWS // 10, number), known, board)) is None:
            continue  # a few draws settle most positions
        shares = chances(drawn(known, left, variant, DRAWS, number), known, board)
        answer = clear(shares)
        if answer is None:
            continue
        network = believed(board, number)
        if clear(network) != answer:
            tally["the network does not agree"] += 1
            continue
        tally["clear"] += 1
        if setup[variant.squares - 1 - answer] != 1 + FLAG:
            tally["clear, and wrong"] += 1
            continue
        found[variant.name].append((known.count(STILL), puzzle(board, setup, known, shares, network, answer)))
    kept = []
    for name, puzzles in found.items():
        kept += [each for _, each in sorted(puzzles, key=lambda each: -each[0])[: EACH[name]]]
    FILE.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")
    print(", ".join(f"{what}: {count}" for what, count in tally.items()))
    print(f"{FILE}: {len(kept)} puzzles, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
