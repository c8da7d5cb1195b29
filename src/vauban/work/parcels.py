"""Parcels: folders that tasks take along and bring back, by links on one machine, as bytes to others."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Linked:
    """A folder of this machine, whose files are linked, or copied where that cannot be. Nobody may write into them."""

    path: Path
    without: str = ""

    def unpack(self, folder: Path) -> None:
        left_out = shutil.ignore_patterns(self.without) if self.without else None
        shutil.copytree(self.path, folder, copy_function=_link, ignore=left_out)


@dataclass(frozen=True)
class Packed:
    """The bytes of a folder, as a tar archive."""

    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, path: Path, without: str = "") -> Packed:
        """Pack a folder."""
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as archive:
            for each in sorted(path.iterdir()):
                if not fnmatch(each.name, without):
                    archive.add(each, each.name)
        return cls(np.frombuffer(stream.getbuffer(), np.uint8))

    def unpack(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(self.data.data)) as archive:
            archive.extractall(folder, filter="data")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
