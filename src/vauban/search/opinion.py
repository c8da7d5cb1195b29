"""A network's opinion of views: the legal actions, its policy over them, the outcome it foresees."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.games.base import END, PLAYER, PLIES, STEP
from vauban.games.randomness import draw
from vauban.nets.actor import Thinker
from vauban.nets.policy import PolicyNetwork
from vauban.nets.positions import Edit, Recorded
from vauban.observe import base as observations
from vauban.sim.arrays import as_numpy
from vauban.sim.store import Snapshot

AT_ONCE = {"cpu": 256, "cuda": 8192}
"""Views that are looked at in one go: more only take more memory."""


Actions = npt.NDArray[np.int64]


class Opinion(NamedTuple):
    """One row for each view."""

    legal: Tensor
    """int16, the legal actions, −1 behind the last."""
    counts: Tensor
    """int32, the number of legal actions."""
    log_policy: Tensor
    """float32, −inf behind the last."""
    outcome: Tensor
    """float32, the probabilities of the outcomes (`game.utilities`) for the player on turn."""


def ask(network: PolicyNetwork, views: Snapshot, edit: Edit | None = None) -> Opinion:
    """Return the network's opinion of views of the player on turn, on the network's device and with its numbers.

    edit: changes what it sees.
    """
    check_views(views)
    device = next(network.parameters()).device
    most = AT_ONCE[device.type]
    with torch.inference_mode():
        parts = [_ask(network, views[start : start + most].to(device), edit) for start in range(0, len(views), most)]
        return Opinion(*(torch.cat(each) for each in zip(*parts, strict=True)))


def look(views: Snapshot, observation: str, dtype: torch.dtype) -> Tensor:
    """Return an observation of views, by squares, on the device where they are."""
    rows, columns = views.game.board
    channels = observations.find(views.game, observation).channels(views.game)
    seen = torch.empty((len(views), rows * columns, channels), dtype=dtype, device=views.store.words.device)
    Recorded(views).observe(observation, seen)
    return seen


def legal_actions(views: Snapshot) -> Actions:
    """Return the legal actions of each view, −1 behind the last, in the order in which policies have them."""
    legal = torch.empty((len(views), views.game.max_legal), dtype=torch.int16)
    Recorded(views.to("cpu")).legal_actions(legal, torch.empty(len(views), dtype=torch.int32))
    return legal.numpy().astype(np.int64)


def _ask(network: PolicyNetwork, views: Snapshot, edit: Edit | None) -> Opinion:
    legal, counts, log_policy, outcome = Thinker(network, Recorded(views, edit)).think()
    return Opinion(legal, counts, log_policy, outcome.float().softmax(-1))


def check_views(views: Snapshot) -> None:
    """Refuse whole games, and views in which the player is not on turn or the game is over."""
    if views.viewer is None:
        raise ConfigurationError("these are whole games, and players choose from their views: hand in `views(player)`")
    bytes_ = as_numpy(views.store.bytes)
    idle = (bytes_[:, PLAYER] != views.viewer) | (bytes_[:, END] != 0)
    if idle.any():
        name = views.game.players[views.viewer]
        raise ConfigurationError(f"view {int(idle.argmax())}: {name} is not on turn, or the game is over")


def uniforms(views: Snapshot, seeds: npt.NDArray[np.uint64], purpose: int) -> npt.NDArray[np.float64]:
    """Return a number between 0 and 1 for each view: a function of its seed, player and ply, and of the purpose."""
    return (bits(views, seeds, purpose).astype(np.float64) + 0.5) / 2**32


def bits(views: Snapshot, seeds: npt.NDArray[np.uint64], purpose: int) -> npt.NDArray[np.uint64]:
    """Return 32 random bits for each view: a function of its seed, player and ply, and of the purpose."""
    plies = as_numpy(views.store.words[:, PLIES]).astype(np.uint64)
    players = np.full(len(views), views.viewer, np.uint64)
    # The kernel works on whole arrays as well.
    throw: Callable[..., npt.NDArray[np.uint64]] = draw
    steps = as_numpy(views.store.bytes[:, STEP]).astype(np.uint64)
    return throw(np.asarray(seeds, np.uint64), players, plies, steps, purpose, 0)


def pick(policies: npt.NDArray[np.float64], chances: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return a place for each policy, by its probability; chances are above 0 and below 1."""
    sums = np.cumsum(policies, 1)
    places: npt.NDArray[np.int64] = (sums > chances[:, None] * sums[:, -1:]).argmax(1)
    return places
