"""A run that goes on from a model, shipped or imported, whose own run nobody has any more.

The networks are there, and the card says how far they had come. Games, optimiser and moving averages begin anew; the
schedules go on where they were, and the card of what comes of it has the model's history before its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from vauban.errors import ConfigurationError
from vauban.learn.checkpoint import Checkpoint
from vauban.learn.config import RunConfig, toml_text
from vauban.nets.kinds import describe, flat_settings, kind_of
from vauban.nets.store import Model

if TYPE_CHECKING:
    from vauban.learn.run import Stage

FREE = ("dropout",)
"""Settings that a run may differ in: they matter in training only."""

PUBLISHED = ("count_prior", "flag_side")
"""Options of imported setup networks, which are not trained here."""


def check_same(model: Model, wanted: Mapping[str, nn.Module], keys: Mapping[str, str]) -> None:
    """Refuse a model whose networks a configuration would build in another way.

    wanted: its own networks, by part. keys: where the configuration says how they are built, by part.
    """
    differences, settings, name = [], [], model.card["name"]
    for part, network in wanted.items():
        key = keys[part]
        if part not in model.networks:
            raise ConfigurationError(f"the model {name!r} has no {part} network: add --set {key}=false")
        had, wants = kind_of(model.networks[part]).name, kind_of(network).name
        has, asked = (_settings(each) for each in (model.networks[part], network))
        if had != wants:
            differences.append(f"the {part} network is of the kind {had} in the model {name!r} and {wants} in the "
                               "configuration")  # fmt: skip
            table = ", ".join(f"{each} = {toml_text(value)}" for each, value in {"kind": had, **has}.items())
            settings.append(f"--set {shlex.quote(f'{key}={{{table}}}')}")
            continue
        for setting in has:
            if has[setting] == asked[setting]:
                continue
            if setting in PUBLISHED:
                raise ConfigurationError(
                    f"the setup network of the model {name!r} sets up as the published program does ({setting}), "
                    f"which is not trained here: add --set {key}=false, and only its moves are learned on"
                )
            differences.append(
                f"{setting} of the {part} network is {has[setting]} in the model {name!r} and {asked[setting]} in "
                "the configuration"
            )
            settings.append(f"--set {shlex.quote(f'{key}.{setting}={toml_text(has[setting])}')}")
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
            number = tensor.float() if tensor.is_floating_point() else tensor
            networks |= {f"{part}.{name}.{key}": number for name in ("network", "average")}
    return Checkpoint(model.folder, progress, networks, {})


def moving_minutes(history: Mapping[str, Any]) -> float:
    """Return the minutes of the first algorithm that made a model, by what its card says of its training."""
    curve = history.get("curve")
    return float(curve[-1]["minutes"] if curve else history.get("minutes", 0.0))


def _settings(network: nn.Module) -> dict[str, Any]:
    """Return what a network is built from, by one name each."""
    return {name: value for name, value in flat_settings(describe(network)).items() if name not in FREE}
