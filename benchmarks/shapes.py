"""Gain of a search over the bare network, by its shape: a line of JSON for each.

    vauban match net:barrage cadet --game barrage --setups own --games 80 --seed 11 --save cadet.txt
    python benchmarks/shapes.py barrage cadet.txt thermal.txt --device cuda

From each recorded game a few positions are taken in which the network was on turn. The worth of a move there is found
by many rollouts from the true position: a cheating judge. The gain of a search that does not know what is hidden is the
worth of its policy less that of the network's, on a scale from a loss, −1, to a win, 1. Shapes that cost the same
number of plies (`rows`) stand side by side.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from vauban.nets.belief import UniformBelief
from vauban.nets.store import Model, load_model
from vauban.notation.records import read_games
from vauban.search.analysis import Analysis
from vauban.search.search import Search, SearchConfig
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

ROWS = (28, 120, 480, 2000)
"""Plies of all rollouts of a position: on one core of our machine those of about 0.15, 0.5, 2 and 8 seconds."""
DEPTHS = (2, 4, 10, 20)
JUDGE = SearchConfig(rollouts=400, depth=24, configurations=1)


class CheatingBelief(UniformBelief):
    """Knows what is hidden, in positions that come in a known order."""

    truth: Tensor

    def sample(self, seen: Tensor, uniforms: Tensor, *, wait: bool = True) -> Tensor:
        return self.truth[:, None].expand(-1, uniforms.shape[1], -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a shipped model or a folder")
    parser.add_argument("games", nargs="+", type=Path, help="files of games, in which net:… has played")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--each", type=int, default=4, help="positions of a game, at most")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    model = load_model(asked.model, device=asked.device)
    positions = taken(asked.games, asked.each, asked.seed)
    worths = [judged(model, each, asked.device) for each in positions]
    searches = {
        "learned": Search.of_model(model, device=asked.device),
        "uniform": Search(model.player, device=asked.device),
    }
    for rows, depth in ((rows, depth) for rows in asked.rows for depth in DEPTHS if rows // depth > 1):
        for belief, search in searches.items():
            search.config = SearchConfig(rows // depth, depth)
            gains = np.concatenate([gained(search, *each) for each in zip(positions, worths, strict=True)])
            found = {"rows": rows, "rollouts": rows // depth, "depth": depth, "belief": belief, "positions": len(gains)}
            gain, error = gains.mean(), gains.std() / len(gains) ** 0.5
            print(json.dumps(found | {"gain": round(float(gain), 4), "error": round(float(error), 4)}), flush=True)


def taken(files: list[Path], each: int, seed: int) -> list[Snapshot]:
    """Return positions in which the network is on turn, by the side that it plays; whole ones."""
    dice = random.Random(seed)
    found: list[list[Snapshot]] = [[], []]
    for path in files:
        for game in read_games(path.read_text()):
            side = 0 if game.headers["Red"].startswith("net") else 1
            board = game.board.copy()
            own = range(side, len(board.history), 2)
            wanted = set(dice.sample(own, min(each, len(own))))
            while board.history:
                board.pop()
                if len(board.history) in wanted:
                    found[side].append(board.snapshot())
    return [Snapshot.join(side) for side in found if side]


def judged(model: Model, whole: Snapshot, device: str) -> list[npt.NDArray[np.float64]]:
    """Return the worth of each legal move of each position."""
    belief = CheatingBelief(model.game)
    views, belief.truth = views_of(whole, device)
    search = Search(model.player, belief, JUDGE, device)
    return [found.values for found in search.analyse(views, range(len(views)))]


def gained(search: Search, whole: Snapshot, worths: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """Return the gain of a search in each position."""
    views, _ = views_of(whole, str(search.device))
    found: list[Analysis] = search.analyse(views, range(len(views)))
    return np.array([(each.policy - each.before) @ worth for each, worth in zip(found, worths, strict=True)])


def views_of(whole: Snapshot, device: str) -> tuple[Snapshot, Tensor]:
    """Return the view of the player on turn, the same in all positions, and the things hidden from it."""
    sim = Simulator(whole.game, len(whole), seed=0, restart=False)
    sim.restore(whole)
    [side] = set(sim.players.tolist())
    return sim.views(side).to(device), sim.hidden_values(side).to(torch.device(device))


if __name__ == "__main__":
    main()
