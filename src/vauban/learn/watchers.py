"""Programs that draw a run's metrics while it goes on: TensorBoard, Weights & Biases.

They are a picture of the run and no part of it. A watcher may raise whatever it likes: the journal tells it nothing
more, says so, and the run goes on.
"""

from __future__ import annotations

import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vauban.errors import MissingLibraryError, install_command
from vauban.files import write_whole


class Watcher(ABC):
    """A program that is told the metrics of a run."""

    name: str

    @abstractmethod
    def tell(self, part: str, metrics: Mapping[str, float], step: int, clock: str, purge: int | None) -> None:
        """Draw the metrics of an iteration.

        part: the later stage that they are of; empty for the first. step: the number of the iteration, which is that of
        the metric `clock`. purge: what was drawn from this one on is of a run that was killed, and is to be forgotten.
        """

    @abstractmethod
    def close(self) -> None:
        """End what runs beside the run."""


class TensorBoard(Watcher):
    """TensorBoard's files in the run's folder, one folder in it for each later stage."""

    name = "TensorBoard"

    def __init__(self, folder: Path) -> None:
        # It writes from a thread of its own, also when the program has gone to another folder.
        self._folder = (folder / "tensorboard").absolute()
        self._writers: dict[str, Any] = {}

    def tell(self, part: str, metrics: Mapping[str, float], step: int, clock: str, purge: int | None) -> None:
        if part not in self._writers:
            from torch.utils.tensorboard import SummaryWriter

            self._writers[part] = SummaryWriter(str(self._folder / part), purge_step=purge)
        writer = self._writers[part]
        for name, value in metrics.items():
            writer.add_scalar(name.replace(".", "/", 1), value, step)
        writer.flush()

    def close(self) -> None:
        writers, self._writers = self._writers, {}
        for writer in writers.values():
            writer.close()


class WeightsAndBiases(Watcher):
    """A run at Weights & Biases: sent there, or kept in the run's folder where WANDB_MODE is offline.

    A run that is resumed goes on in the same one. What had been drawn beyond its checkpoint is drawn again over it:
    curves are against the metrics that count iterations.
    """

    name = "Weights & Biases"
    PATIENCE = 60
    """Seconds that it may take to begin, and to send what is left when the run ends."""

    def __init__(self, folder: Path, project: str, configuration: Mapping[str, Any]) -> None:
        self._folder, self._project, self._configuration = folder.absolute(), project, configuration
        self._run: Any = None
        self._known: set[str] = set()

    def tell(self, part: str, metrics: Mapping[str, float], step: int, clock: str, purge: int | None) -> None:
        if self._run is None:
            self._run = self._begin()
        for name in metrics:
            if name not in self._known:
                self._known.add(name)
                self._run.define_metric(_title(name), step_metric=_title(clock))
        self._run.log({_title(name): value for name, value in metrics.items()} | {_title(clock): step})

    def close(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.finish()

    def _begin(self) -> Any:
        try:
            import wandb
        except ImportError as error:
            raise MissingLibraryError(f"it is not installed: {install_command('wandb')}") from error
        settings: dict[str, Any] = {"console": "off", "silent": True, "init_timeout": self.PATIENCE}
        known = set(dir(wandb.Settings()))
        # Without it, a service that cannot be reached would hold up a run that is over.
        settings |= {
            name: value
            for name, value in {"finish_timeout": self.PATIENCE, "finish_timeout_raises": True}.items()
            if name in known
        }
        if not _is_offline(wandb) and not _has_key(wandb):
            raise PermissionError("there is no key to it on this machine: `wandb login` asks for one, and "
                                  "WANDB_MODE=offline does without")  # fmt: skip
        return wandb.init(
            project=self._project, name=self._folder.name, id=self._id(), resume="allow", dir=str(self._folder),
            config=dict(self._configuration), settings=wandb.Settings(**settings),
        )  # fmt: skip

    def _id(self) -> str:
        """Return the name by which the service knows this run, the same whenever it is resumed."""
        path = self._folder / "wandb" / "id"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            write_whole(path, secrets.token_hex(4))
        return path.read_text(encoding="utf-8").strip()


def _title(name: str) -> str:
    """Return a metric's name as the service groups it; a dot would be a table within a table there."""
    return name.replace(".", "/")


def _is_offline(wandb: Any) -> bool:
    modes = {os.environ.get("WANDB_MODE", ""), str(wandb.setup().settings.mode)}
    return bool(modes & {"offline", "disabled", "dryrun"})


def _has_key(wandb: Any) -> bool:
    """Return whether this machine has a key; it must not be asked for, since nobody may be there to answer."""
    try:
        return bool(wandb.login(prompt=False))
    except TypeError:  # of versions that cannot be told not to ask
        return wandb.api.api_key is not None
