"""The generator: known answers, and independence of its arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vauban.games import randomness
from vauban.games.randomness import CHANCE, MOVE, START, below, philox
from vauban.sim.compile import CPU, compiled

FULL = 0xFFFFFFFF


def draws(*words: int) -> list[int]:
    """Return Philox's numbers for this counter and these key words."""
    return [int(number) for number in compiled(philox, CPU)(*(np.uint64(word) for word in words))]


def test_philox_gives_the_known_answers() -> None:
    """The test vectors of the authors' Random123 library for philox4x32-10."""
    assert draws(0, 0, 0, 0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert draws(FULL, FULL, FULL, FULL, FULL, FULL) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert draws(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0) == [
        0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1,
    ]  # fmt: skip


def test_draws_are_even_and_depend_on_everything_they_are_asked() -> None:
    draw = compiled(below, CPU)
    counts = np.zeros(7, int)
    for ply in range(7000):
        counts[draw(7, np.uint64(5), np.uint64(9), np.int64(ply), np.int64(0), np.int64(0), np.int64(0))] += 1
    assert abs(counts - 1000).max() < 5 * (1000 * 6 / 7) ** 0.5
    base = [5, 9, 3, 0, 0, 0]
    seen = set()
    for changed in range(-1, 6):
        seed, number, *others = (value + (place == changed) for place, value in enumerate(base))
        seen.add(draw(10**9, np.uint64(seed), np.uint64(number), *map(np.int64, others)))
    assert len(seen) == 7


def test_every_purpose_has_a_number_of_its_own() -> None:
    """Two with the same one would throw the same dice."""
    numbers = [value for name, value in vars(randomness).items() if name.isupper() and type(value) is int]
    assert {MOVE, START, CHANCE} < set(numbers) and len(set(numbers)) == len(numbers) >= 14
    assert max(numbers) < 256, "the index of a draw begins at the ninth bit"


@pytest.mark.slow
def test_kept_code_of_different_games_and_settings_is_never_mixed_up(tmp_path: Path) -> None:
    """Kernels that were compiled and kept by several processes, each for itself, are loaded by one."""
    code = """
import sys
from vauban.sim.simulator import Simulator
for word in sys.argv[1:]:
    name, tracks = word.split(":")
    sim = Simulator(name, 50, seed=4, tracks=tracks == "tracks", threads=1)
    for _ in range(12):
        sim.step(sim.sample())
    print(word, sim.store.bytes.long().sum().item(), sim.results.utility.sum().item())
"""

    def outputs(*words: str) -> list[str]:
        environment = os.environ | {"VAUBAN_CACHE": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout.splitlines()

    words = ["tiny:tracks", "tiny:rules", "kuhn:tracks"]
    alone = [line for word in words for line in outputs(word)]
    assert outputs(*words) == alone
    assert outputs(*words[::-1]) == alone[::-1]
