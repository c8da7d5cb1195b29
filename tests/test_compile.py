"""Compiling: what a person is told of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNEL = """
import sys
from vauban.games.kernel import kernel
from vauban.sim import compile

compile.PATIENCE = 0.0


@kernel
def double(number):
    return number + number


double.__module__ = sys.argv[1]
function = compile.compiled(double, compile.CPU)
with compile.progress(function, "sums"):
    assert function(3) == 6
"""


def said(tmp_path: Path, module: str) -> str:
    """What is said on standard error when a process uses a kernel."""
    file = tmp_path / "use.py"
    file.write_text(KERNEL)
    command = [sys.executable, str(file), module]
    environment = {**os.environ, "VAUBAN_CACHE": str(tmp_path / "cache")}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr


def test_compiling_is_announced_and_loading_what_was_kept_is_not(tmp_path: Path) -> None:
    first = said(tmp_path, "vauban.games.kernel")
    assert first.startswith("compiling what this command needs (kept for the next time)\n  double of sums …\n")
    assert said(tmp_path, "vauban.games.kernel") == ""


def test_a_kernel_that_is_not_kept_is_announced_every_time(tmp_path: Path) -> None:
    for _ in range(2):
        assert said(tmp_path, "elsewhere").startswith("compiling what this command needs\n  double of sums …\n")
