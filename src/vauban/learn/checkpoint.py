"""Checkpoints: the folder `checkpoint` of a run, from which it goes on.

| file | what it holds | without it |
| --- | --- | --- |
| `progress.json` | how far the run is | there is no checkpoint |
| `networks.safetensors` | all networks, and their moving averages | there is no checkpoint |
| `optimiser.pt` | the moments of Adam | the optimiser begins anew |
| `ataraxos.setups.pt` | the setups that games under way began from | those games do not count for setups |
| `ataraxos.games.pt` | the games under way | new games begin |
| `belief.games.pt` | the games that a belief is learned from | new games begin |

Every algorithm has parts of its own, by its name.

A folder is written aside and then put in the place of the old one: whenever the run is killed, a whole one is there.
Of several workers each has games of its own (`ataraxos.games-0-of-2.pt`); all need the same folder.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from vauban.errors import VaubanError
from vauban.files import write_whole
from vauban.learn.workers import Workers

PROGRESS, NETWORKS = "progress.json", "networks.safetensors"


_OF_WORKER = re.compile(r"-\d+-of-\d+$")
"""The end of names of files that belong to one of several workers."""


class CheckpointError(VaubanError, RuntimeError):
    """A checkpoint that cannot be read."""


@dataclass
class Checkpoint:
    """A checkpoint, as one worker sees it."""

    source: Path
    """Its origin, for messages."""
    progress: dict[str, Any]
    """Numbers and texts."""
    networks: dict[str, Tensor]
    """Weights, by names such as move.average.embed.weight."""
    parts: dict[str, Any] = field(default_factory=dict)
    """By name: tensors in lists and tables. What is not there begins anew."""
    own: Sequence[str] = ()
    """The parts that each worker has for itself; the others are the same for all."""


def save_checkpoint(folder: Path, checkpoint: Checkpoint, workers: Workers) -> None:
    """Put a checkpoint in the place of the one before; all workers call it together."""
    new, old = _beside(folder)
    if workers.leads:
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
    workers.wait()
    for name, part in checkpoint.parts.items():
        if name in checkpoint.own:
            torch.save(part, new / _file(name, workers))
        elif workers.leads:
            torch.save(part, new / f"{name}.pt")
    if workers.leads:
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.networks.items()}
        (new / NETWORKS).write_bytes(safetensors.torch.save(weights))
    workers.wait()
    if workers.leads:
        # The last file: a folder that has it is whole.
        write_whole(new / PROGRESS, json.dumps(checkpoint.progress, indent=2) + "\n")
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(folder: Path, workers: Workers, own: Sequence[str] = ()) -> Checkpoint | None:
    """Return the checkpoint that was saved last, on the CPU; None if there is none. All workers call it together.

    own: the parts that each worker has for itself.
    """
    if workers.leads:
        _mend(folder)
    workers.wait()
    if not (folder / PROGRESS).exists():
        return None
    try:
        progress = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
        networks = safetensors.torch.load_file(folder / NETWORKS)
    except (OSError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"{folder}: the checkpoint cannot be read: {error}") from error
    shared = {path.stem: path for path in sorted(folder.glob("*.pt")) if path.stem not in own}
    files = shared | {name: folder / _file(name, workers) for name in own}
    files = {name: path for name, path in files.items() if name in own or not _OF_WORKER.search(name)}
    parts = {name: _load(path) for name, path in files.items() if path.exists()}
    # What one of them does not have, none can use: they would not be at the same place.
    for name in files:
        if workers.any(name not in parts):
            parts.pop(name, None)
    return Checkpoint(folder, progress, networks, parts, own)


def read_progress(folder: Path) -> dict[str, Any]:
    """Return the progress of a run, by its checkpoint."""
    try:
        progress: dict[str, Any] = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{folder}: there is no checkpoint that can be read: {error}") from error
    return progress


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _mend(folder: Path) -> None:
    """Finish what a kill between two renames has left."""
    for beside in _beside(folder):
        if not folder.exists() and (beside / PROGRESS).exists():
            beside.rename(folder)


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")


def _file(name: str, workers: Workers) -> str:
    return f"{name}.pt" if workers.count == 1 else f"{name}-{workers.rank}-of-{workers.count}.pt"


def _load(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a file that was cut off may raise anything here
        reason = str(error).partition("\n")[0]
        raise CheckpointError(
            f"{path} cannot be read ({reason}): delete it, and the run goes on without what it holds"
        ) from error
