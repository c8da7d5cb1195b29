"""Compilation: its messages to a person, and one place for the code of several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vauban.errors import ConfigurationError
from vauban.games.kernel import kernel
from vauban.sim import compile

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
    """Return the messages on standard error when a process uses a kernel."""
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


def test_a_clock_of_work_stands_still_while_a_kernel_is_compiled() -> None:
    @kernel
    def thrice(number):  # type: ignore[no-untyped-def]
        return number + number + number

    @kernel
    def squared(number):  # type: ignore[no-untyped-def]
        return number * number

    thrice.__module__ = squared.__module__ = "elsewhere"  # nothing of them is kept
    function, around = compile.compiled(thrice, compile.CPU), compile.compiled(squared, compile.CPU)
    with compile.progress(around, "products"):
        begun = compile.working_seconds()
        with compile.progress(function, "sums"):
            assert function(3) == 9
        assert compile.working_seconds() == pytest.approx(begun, abs=1e-6)
    assert compile.working_seconds() >= begun - 1e-6, "nothing is counted twice"
    with compile.progress(function, "sums"):
        begun = compile.working_seconds()
        while compile.working_seconds() == begun:
            function(3)


NAMES = """
import numpy as np
from vauban.games.randomness import philox
from vauban.sim.compile import CPU, compiled

function = compiled(philox, CPU)
function(*np.arange(6, dtype=np.uint64))
(result,) = function.overloads.values()
print(result.fndesc.mangled_name)
"""


def test_no_two_processes_give_a_compiled_function_the_same_name(tmp_path: Path) -> None:
    """Kept code is linked by name: numba's own numbers begin with 1 in every process, and clash."""
    names = []
    for folder in ("one", "other", "other"):
        environment = {**os.environ, "VAUBAN_CACHE": str(tmp_path / folder)}
        done = subprocess.run(
            [sys.executable, "-c", NAMES], env=environment, check=True, capture_output=True, text=True
        )
        names.append(done.stdout)
    compiled, compiled_elsewhere, loaded = names
    assert compiled != compiled_elsewhere
    assert loaded == compiled_elsewhere


VANISHED = """
import shutil
import numpy as np
from vauban.games.randomness import philox
from vauban.sim.compile import CPU, cache_folder, compiled, progress

function = compiled(philox, CPU)
shutil.rmtree(cache_folder())
with progress(function, "chance"):
    function(*np.arange(6, dtype=np.uint64))
print(len(function.overloads))
"""


def test_a_folder_of_kept_kernels_that_vanishes_is_no_misfortune(tmp_path: Path) -> None:
    environment = {**os.environ, "VAUBAN_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", VANISHED], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "1\n"


@kernel
def add_up(numbers):
    """Return the sum of numbers."""
    total = 0.0
    for number in numbers:
        total += number
    return total


@kernel
def add_up_squares(numbers):
    """Return the sum of their squares, by way of an array."""
    squares = np.empty(len(numbers))
    for index in range(len(numbers)):
        squares[index] = numbers[index] ** 2
    return add_up(squares)


@kernel
def add_up_doubles(numbers):
    """Return the sum of numbers taken twice, by way of an array that numba makes unseen."""
    return add_up(numbers + numbers)


def counts_references(function: object) -> bool:
    """Return whether compiled code counts the references to its arrays: it then calls numba's counter."""
    (code,) = function.inspect_llvm().values()  # type: ignore[attr-defined]
    return "NRT_incref" in code or "NRT_Allocate" in code or "NRT_MemInfo" in code


def test_references_are_counted_only_where_arrays_are_made() -> None:
    numbers = np.arange(4.0)
    sums, squares = compile.compiled(add_up, compile.CPU), compile.compiled(add_up_squares, compile.CPU)
    assert (sums(numbers), squares(numbers)) == (6.0, 14.0)
    assert (counts_references(sums), counts_references(squares)) == (False, True)


def test_a_kernel_that_makes_an_array_unseen_is_refused_with_a_hint() -> None:
    function = compile.compiled(add_up_doubles, compile.CPU)
    with pytest.raises(ConfigurationError, match="copies one to another in a loop"), compile.progress(function, "sums"):
        function(np.arange(4.0))
