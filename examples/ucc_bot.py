"""A complete bot for the line protocol: it strikes where it can, and else moves at random.

vauban bot-check "python3 examples/ucc_bot.py"
"""

import os
import random
import sys

SETUP = ["FB8sB479B8", "BB31555583", "6724898974", "967B669999"]  # the back row first
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def read() -> str:
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        sys.exit()
    return line.rstrip("\n")


def say(line: str) -> None:
    print(line, flush=True)  # without flush=True the line would wait in a buffer, and the game would be lost


def choose(rows: list[str]) -> str:
    moves = {}
    for y, row in enumerate(rows):
        for x, piece in enumerate(row):
            for word, (dx, dy) in STEPS.items() if piece in "123456789s" else ():
                if 0 <= x + dx < 10 and 0 <= y + dy < 10 and rows[y + dy][x + dx] in ".#":
                    moves[f"{x} {y} {word}"] = rows[y + dy][x + dx]
    strikes = [move for move, target in moves.items() if target == "#"]
    return rng.choice(strikes or list(moves) or ["SURRENDER"])


rng = random.Random(os.environ.get("VAUBAN_SEED"))
colour = read().split()[0]
for row in SETUP if colour == "RED" else reversed(SETUP):
    say(row)
while True:
    event = read()  # START, or the opponent's move and what came of it
    say(choose([read() for _ in range(10)]))
    echo = read()  # our own move, and what came of it
