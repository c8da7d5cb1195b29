"""The magnet: a policy that moves anything anywhere, towards which learning and search are damped."""

from __future__ import annotations

import torch
from torch import Tensor

from vauban.games.base import Game


def action_sources(game: Game) -> Tensor:
    """Return what each action moves, for the magnet (int64): a square on a board; elsewhere the action itself."""
    if game.moves is not None:
        return torch.from_numpy(game.moves[:, 0].copy())
    return torch.arange(game.action_count)


def magnet_log_policy(sources: Tensor, legal: Tensor) -> Tensor:
    """Return the logarithm of the magnet over the legal actions: a movable piece uniformly, then one of its moves.

    sources: what each action moves (int64, one for each action). Actions of the same source share its probability;
        in a game where nothing is moved every action is its own source, and the magnet is uniform.
    legal: as `Simulator.legal_actions` lists them, −1 behind the last. −inf there.
    """
    absent = legal < 0
    source = sources[legal.long().clamp_min(0)]
    # There are far fewer sources than actions; but how many would have to be asked of the device.
    counts = torch.zeros(len(legal), len(sources), device=legal.device)
    counts.scatter_add_(1, source, (~absent).float())
    movable = (counts > 0).sum(1, keepdim=True)
    return (-(counts.gather(1, source) * movable).log()).masked_fill(absent, -torch.inf)
