"""A bot that does everything right, and the common parts of the misbehaving ones beside it.

It plays a random step; Scouts use their range now and then.
"""

import os
import random
import sys
from collections.abc import Callable

SETUP = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
rng = random.Random(os.environ.get("VAUBAN_SEED", "0"))


def read() -> str:
    """Return the next line; end the program at QUIT and at the end of the input."""
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        sys.exit(0)
    return line.rstrip("\n")


def say(line: str) -> None:
    print(line, flush=True)


def moves(rows: list[str]) -> list[str]:
    """Return all moves of a player who sees this board."""
    found = []
    for y, row in enumerate(rows):
        for x, piece in enumerate(row):
            if piece not in "123456789s":
                continue
            for word, (dx, dy) in STEPS.items():
                for squares in range(1, 10 if piece == "9" else 2):
                    to_x, to_y = x + squares * dx, y + squares * dy
                    if not (0 <= to_x < 10 and 0 <= to_y < 10) or rows[to_y][to_x] not in ".#":
                        break
                    found.append(f"{x} {y} {word}" + (f" {squares}" if squares > 1 else ""))
                    if rows[to_y][to_x] == "#":
                        break
    return found


def set_up(rows: tuple[str, ...] = SETUP) -> str:
    """Answer the first line; return our colour."""
    colour = read().split()[0]
    for row in rows if colour == "RED" else rows[::-1]:
        say(row)
    return colour


def play(answer: Callable[[int, list[str]], str] | None = None) -> None:
    """Play to the end; `answer` is called with the number of the turn and the possible moves."""
    turn = 0
    while True:
        read()
        found = moves([read() for _ in range(10)])
        move = rng.choice(found) if found else "SURRENDER"
        say(move if answer is None else answer(turn, found) or move)
        read()
        turn += 1


if __name__ == "__main__":
    set_up()
    play()
