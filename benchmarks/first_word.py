"""Measure how long agents of ours take to answer a manager that has just started them (`vauban bot`).

    python benchmarks/first_word.py net:classic search:classic cadet [--times 9]
    python benchmarks/first_word.py net:barrage --game barrage

Prints for each agent, from the start of the program: seconds by the clock and of the processor until its setup
comes, and until its first move comes. Medians, and the best in brackets. What is compiled once for a machine is
compiled before. Linux only: the seconds of the processor are those that the system has counted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from vauban.board.stratego import Board
from vauban.games.stratego.variants import Variant, find_variant
from vauban.notation.stratego import ucc

PROGRAM = [sys.executable, "-c", "from vauban.cli.main import run; run()", "bot"]
TICKS = os.sysconf("SC_CLK_TCK")


def once(agent: str, variant: Variant) -> list[float]:
    """Return the seconds until the setup, by the clock and of the processor, and the same until the first move."""
    begun = time.monotonic()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*PROGRAM, agent, "--seed", "1", "--game", variant.name], **pipes) as process:

        def spent() -> list[float]:
            # Fields 14 and 15 of the file, counted after the program's name, which may have blanks.
            counted = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
            return [time.monotonic() - begun, (int(counted[11]) + int(counted[12])) / TICKS]

        def say(*lines: str) -> None:
            process.stdin.write("".join(f"{line}\n" for line in lines))
            process.stdin.flush()

        say(ucc.setup_line(0, "them", variant))
        rows = [process.stdout.readline().strip()]
        setup = spent()
        rows += [process.stdout.readline().strip() for _ in range(variant.setup_rows - 1)]
        own = ucc.parse_setup_rows(rows, 0, variant)
        board = Board.from_setups(own, own, variant, ucc.UCC_RULES)
        say(ucc.START, *ucc.board_rows(board, 0))
        process.stdout.readline()
        move = spent()
        say(ucc.QUIT)
        process.stdin.close()
        return [*setup, *move]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--game", default="classic")
    asked = parser.parse_args()
    variant = find_variant(asked.game)
    print(f"{'agent':<24}{'setup, clock':>16}{'processor':>16}{'move, clock':>16}{'processor':>16}")
    for agent in asked.agents:
        once(agent, variant)  # compiles
        columns = zip(*(once(agent, variant) for _ in range(asked.times)), strict=True)
        print(f"{agent:<24}" + "".join(f"{f'{statistics.median(each):.2f} ({min(each):.2f})':>16}" for each in columns))


if __name__ == "__main__":
    main()
