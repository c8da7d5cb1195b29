"""The origin of a run's numbers: the commands that started it, the machine, the version of the code."""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from vauban import __version__
from vauban.learn.journal import read_lines, write_lines
from vauban.learn.workers import Workers

STARTS = "starts.jsonl"
"""In a run's folder: a line for each time that it was started."""


def note_start(
    folder: Path, command: str, configuration: Mapping[str, Any], device: torch.device, workers: Workers, iteration: int
) -> None:
    """Add a line on how a run was started, with which configuration, and at which iteration."""
    line = {
        "command": command,
        "configuration": configuration,
        "iteration": iteration,
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine_text(device, workers.count),
        "commit": commit_text(),
        "torch": torch.__version__,
    }
    # Written as a whole: behind a line that was cut off, this one could not be read.
    write_lines(folder / STARTS, [*read_starts(folder), line])


def read_starts(folder: Path) -> list[dict[str, Any]]:
    """Return the lines so far, the oldest first; one that was cut off when the machine went down is left out."""
    return read_lines(folder / STARTS)


def machine_text(device: torch.device, count: int = 1) -> str:
    """Return the GPUs or the processor that run."""
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        return f"{count} × {name}"
    return f"{_processor()}, {torch.get_num_threads() * count} threads"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit_text() -> str:
    """Return this code's commit, with a plus where files have been changed since; the version, if it is no checkout."""
    here = Path(__file__).parent
    try:
        commit = _git(here, "rev-parse", "--short=12", "HEAD")
        return commit + ("+" if _git(here, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return f"version {__version__}"


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10)
    done.check_returncode()
    return done.stdout.strip()
