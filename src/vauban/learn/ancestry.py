"""A run that goes on from a model, shipped or imported, whose own run nobody has any more.

The networks are there, and the card says how far they had come. Games, optimiser and moving averages begin anew; the
schedules go on where they were, and the card of what comes of it has the model's history before its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from vauban.errors import ConfigurationError
from vauban.learn.checkpoint import Checkpoint
from vauban.learn.config import RunConfig
from vauban.nets.store import COUNTED, Card, Model

if TYPE_CHECKING:
    from vauban.learn.run import Stage

FREE = ("kind", *COUNTED, "dropout")
"""Entries of a card that a run may differ in: they follow from the rest, or matter in training only."""

PUBLISHED = ("count_prior", "flag_side")
"""Options of imported setup networks, which are not trained here."""


def check_same(card: Card, wanted: Mapping[str, Mapping[str, Any]], keys: Mapping[str, str]) -> None:
    """Refuse a model whose networks a configuration would build in another way.

    wanted: its own networks, by part. keys: where the configuration says how they are built, by part.
    """
    differences, settings = [], []
    for part, description in wanted.items():
        key = keys[part]
        described = card["networks"].get(part)
        if described is None:
            raise ConfigurationError(f"the model {card['name']!r} has no {part} network: add --set {key}=false")
        has, wants = _options(described), _options(description)
        for name in has:
            if has[name] == wants.get(name):
                continue
            if name in PUBLISHED:
                raise ConfigurationError(
                    f"the setup network of the model {card['name']!r} sets up as the published program does ({name}), "
                    f"which is not trained here: add --set {key}=false, and only its moves are learned on"
                )
            differences.append(
                f"{name} of the {part} network is {has[name]} in the model {card['name']!r} and {wants.get(name)} in "
                "the configuration"
            )
            settings.append(f"--set {key}.{name}={has[name]}")
    if differences:
        raise ConfigurationError(
            f"{'; '.join(differences)}: a run that goes on from a model keeps its networks as they are, so add "
            f"{' '.join(settings)}"
        )


def model_checkpoint(model: Model, stages: Sequence[Stage], parts: Sequence[str], config: RunConfig) -> Checkpoint:
    """Return the checkpoint that the run of a model would have saved, as far as the model tells it."""
    history = model.card.get("training", {})
    begun = {stage.name: stage.kind.progress_of(stage.config, history) for stage in stages if stage.learner}
    seconds = [60 * moving_minutes(history), *(0.0 for _ in stages[1:])]
    progress: dict[str, Any] = {
        "iteration": history.get("iterations", 0),
        "moves": history.get("moves", 0),
        "games": history.get("games", 0),
        "played": [config.game, config.rules],
        "stages": {
            stage.name: {"seconds": each, "after": None, **begun[stage.name]}
            for stage, each in zip(stages, seconds, strict=True)
            if stage.name in begun
        },
        "before": {key: model.card[key] for key in ("training", "source") if key in model.card},
    }
    networks: dict[str, Tensor] = {}
    for part in parts:
        for key, tensor in model.networks[part].state_dict().items():
            networks |= {f"{part}.{name}.{key}": tensor.float() for name in ("network", "average")}
    return Checkpoint(model.folder, progress, networks, {})


def moving_minutes(history: Mapping[str, Any]) -> float:
    """Minutes of the first algorithm that made a model, by what its card says of its training."""
    curve = history.get("curve")
    return float(curve[-1]["minutes"] if curve else history.get("minutes", 0.0))


def _options(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a network is built from, by one name each."""
    flat = {**described, **described["size"]}
    return {name: value for name, value in flat.items() if name not in (*FREE, "size")}
