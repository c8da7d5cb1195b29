"""Small models with weights of no meaning, for tests of how models are played by."""

from __future__ import annotations

from pathlib import Path

import torch

from vauban.games.base import game
from vauban.nets.kinds import describe
from vauban.nets.move import MoveNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.pyramid import PyramidNetwork
from vauban.nets.store import make_card, save_model
from vauban.nets.transformer import Size


def rough_model(folder: Path, name: str, seed: int = 3, opinions: float = 15.0, kind: str = "pyramid") -> str:
    """Keep a model of a game in a folder, with strong opinions or none; return the text of an agent that plays it."""
    played = game(name)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        network: PolicyNetwork
        if kind == "move":
            network = MoveNetwork(played, Size(depth=1, width=16, heads=2)).eval()
        else:
            network = PyramidNetwork(played, width=8, inner=12, outer_blocks=1, inner_blocks=1).eval()
            for head in ("deploy", "select", "aim", "move"):
                if hasattr(network, head):
                    getattr(network, head).logits.weight *= opinions
    card = make_card(played, {"move": describe(network)}, name="rough", about="For tests.")
    save_model(folder, {"move": network}, card, torch.float32)
    return f"net:{folder}"
