"""Folders of checkpoints: one for each, written aside and then put in its place, so that it is whole or not there."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from vauban.learn.psro.workshop import Checkpoint

ASIDE = ".new"
"""The end of the name of a folder that is not whole yet."""


def folder_name(checkpoint: Checkpoint) -> str:
    """Return the name of a checkpoint's folder."""
    return f"{checkpoint.number:04}-{checkpoint.version}"


@contextmanager
def published(folder: Path, checkpoint: Checkpoint) -> Iterator[Path]:
    """Give a folder to write a checkpoint into; afterwards it is in its place."""
    place = folder / folder_name(checkpoint)
    aside = place.with_name(f"{place.name}{ASIDE}")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    yield aside
    shutil.rmtree(place, ignore_errors=True)  # of an update that was killed
    aside.rename(place)


def keep_only(folder: Path, checkpoints: Collection[Checkpoint]) -> None:
    """Delete the folders of all other checkpoints."""
    kept = {folder_name(each) for each in checkpoints}
    for path in folder.iterdir():
        if path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
