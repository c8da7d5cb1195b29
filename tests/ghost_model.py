"""A model of Geister for tests: weights of no meaning, but of strong opinions."""

from __future__ import annotations

from pathlib import Path

import torch

from vauban.games.base import game
from vauban.nets.belief import BeliefNetwork
from vauban.nets.kinds import describe
from vauban.nets.move import MoveNetwork
from vauban.nets.store import Model, make_card, save_model
from vauban.nets.transformer import Size

SIZE = Size(depth=1, width=16, heads=2)


def make_model() -> Model:
    """Return a model with networks that move and believe."""
    geister = game("geister")
    with torch.random.fork_rng():
        torch.manual_seed(5)
        move, belief = MoveNetwork(geister, SIZE).eval(), BeliefNetwork(geister, SIZE, 1).eval()
        with torch.no_grad():
            move.source_and_target.weight *= 4
            move.outcome.weight *= 30
            belief.types.weight *= 12
    networks = {"move": describe(move), "belief": describe(belief)}
    card = make_card(geister, networks, name="strong-opinions", about="For tests.")
    return Model(Path("nowhere"), geister, {"move": move, "belief": belief}, None, card)


def keep_model(folder: Path) -> str:
    """Keep the model in a folder; return the text of an agent that searches with it."""
    model = make_model()
    save_model(folder, model.networks, model.card, torch.float32)
    return f"search:{folder},time=0.05"
