"""Writes a thinned copy of a run's metrics, small enough to be kept in the repository.

    python scripts/keep_run.py runs/barrage docs/tuning/barrage.jsonl
    vauban curves docs/tuning/barrage.jsonl --out docs/tuning/barrage.svg

A run of days has thousands of lines with sixty numbers each, and lives in a folder that others do not have. The copy
lets others draw its curves again, and compare their own with them: 80 iterations evenly spread with the last among
them, every line with a score and every line of the belief; of each, the metrics that say how the run went; numbers
rounded to five digits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from vauban.learn.journal import read_metrics

LINES = 80
DIGITS = 5
KEPT = (
    "iteration", "minutes", "moves", "games", "speed.moves_per_second",
    "play.plies", "play.draws", "play.first_mover",
    "moves.entropy", "moves.magnet_kl", "moves.update_kl", "moves.outcome_loss", "moves.clip_rate", "moves.kept",
    "moves.gradient_norm", "moves.learning_rate", "moves.magnet_weight",
    "setups.entropy", "score.*", "score_low.*", "score_high.*", "belief.*",
)  # fmt: skip
"""Metrics that are kept; a star stands for anything."""
ALWAYS = ("score.", "belief.")
"""A line with a metric that begins so is always kept."""


def thinned(lines: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return the lines to keep, with the metrics to keep."""
    always = {number for number, line in enumerate(lines) if any(name.startswith(ALWAYS) for name in line)}
    moves = [number for number, line in enumerate(lines) if "belief.steps" not in line]
    count = min(LINES, len(moves))
    spread = {moves[round(step * (len(moves) - 1) / max(count - 1, 1))] for step in range(count)}
    return [_kept(lines[number]) for number in sorted(always | spread)]


def _kept(line: Mapping[str, float]) -> dict[str, float]:
    wanted = {name: value for name, value in line.items() if any(fnmatchcase(name, kept) for kept in KEPT)}
    return {name: _rounded(value) for name, value in wanted.items()}


def _rounded(value: float) -> float:
    """Return a number rounded to five digits; whole numbers are counts, rounded too and written without a point."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def main() -> None:
    """Read a run's folder, write the copy."""
    parser = argparse.ArgumentParser(description="Writes a thinned copy of a run's metrics, to be kept.")
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("out", type=Path, help="the file to write (.jsonl)")
    given = parser.parse_args()
    lines = read_metrics(given.run)
    if not lines:
        parser.error(f"{given.run} has no metrics: name the folder of a run, in which metrics.jsonl is")
    kept = thinned(lines)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
    print(f"{given.out}: {len(kept)} of {len(lines)} lines")


if __name__ == "__main__":
    main()
