"""Compares all learners on games that need a GPU, in calls that stop after some time and go on in the next one.

    python scripts/compare_learners.py OUT micro geister barrage --device cuda --for 1500

| part | game | seeds × seconds | measured by |
| --- | --- | --- | --- |
| `micro` | Stratego on twelve squares, eight plies | 3 × 60 | Elo; at the end a best response of 30 seconds |
| `geister` | Geister on nine squares, five plies, then the second player wins | 3 × 60 | exploitability |
| `barrage` | Barrage | 1 × 1,200 | Elo; at the end a best response of 300 seconds |

Each part is a `vauban compare` of its own in OUT, which is printed before it is run, and leaves OUT/PART/index.html and
comparison.svg when it is whole. After `--for` seconds (0: no limit) what runs is stopped; the same call goes on from
its last measurement. `--seconds` and `--seeds` stand in for those of the table, `--learners` for those of a part.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from vauban.learn.presets import presets

OWN = Path(__file__).with_name("comparisons")
"""Configurations that are no presets."""
PATIENCE = 120
"""Seconds that a comparison has to end after it was interrupted."""


@dataclass(frozen=True)
class Part:
    """A comparison."""

    learners: tuple[str, ...]
    """Presets, or files of `OWN`; those that are not there are left out, and it is said."""
    options: tuple[str, ...]
    seconds: float
    seeds: int
    response: float = 0.0


PARTS = {
    "micro": Part(
        ("ataraxos-micro", "rnad-micro", "deep-cfr-micro.toml", "psro-micro"),
        ("--game", "micro", "--rules", "total_limit=8", "--against", "random", "--against", "charger", "--games", "400",
         "--points", "6"),
        60, 3, 30,
    ),
    "geister": Part(
        ("ataraxos-geister-33b.toml", "rnad-geister-33b", "deep-cfr-geister-33b.toml", "psro-leduc",
         "psro-leduc-exact"),
        ("--game", "geister-33b", "--rules", "paper total_limit=5 at_limit=second", "--points", "6"),
        60, 3,
    ),
    "barrage": Part(
        ("ataraxos-barrage.toml", "rnad-barrage", "psro-barrage"),
        ("--game", "barrage", "--against", "random", "--against", "charger", "--against", "thermal", "--against", "fox",
         "--games", "200", "--points", "8"),
        1200, 1, 300,
    ),
}  # fmt: skip


def command_of(name: str, given: argparse.Namespace) -> list[str]:
    """Return the words of a part's command."""
    part = PARTS[name]
    learners = []
    for each in given.learners or part.learners:
        if each in presets():
            learners.append(each)
        elif (OWN / each).exists() or Path(each).exists():
            learners.append(str(OWN / each if (OWN / each).exists() else each))
        else:
            print(f"{name}: there is no preset {each}, so it is left out", flush=True)
    share = (given.seconds or part.seconds) / part.seconds
    response = ("--response", f"{part.response * share:g}", "--responses", "1") if part.response else ()
    return [
        "vauban", "compare", *learners, *part.options, *response, "--seconds", f"{given.seconds or part.seconds:g}",
        "--seeds", str(given.seeds or part.seeds), "--device", given.device, "--out", str(given.out / name),
    ]  # fmt: skip


def run(words: list[str], until: float) -> bool:
    """Run a comparison until then; whether it came to its end."""
    print(f"$ {shlex.join(words)}", flush=True)
    with subprocess.Popen([sys.executable, "-m", *words]) as process:
        try:
            code = process.wait(None if until == 0 else max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
            print("stopped: the same call goes on from the last measurement", flush=True)
            return False
    if code:
        raise SystemExit(code)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--for", type=float, default=0.0, dest="limit", help="seconds of this call; 0: no limit")
    parser.add_argument("--seconds", type=float, help="of each run")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--learners", nargs="+")
    given = parser.parse_args()
    until = time.monotonic() + given.limit if given.limit else 0.0
    for name in given.parts:
        if not run(command_of(name, given), until):
            return


if __name__ == "__main__":
    main()
