"""A complete bot for every variant of Stratego: it strikes where it can, and else moves at random.

vauban bot-check "python3 examples/any_board_bot.py" --game medium
"""

import os
import random
import sys

CLASSIC = "SETUP 4 ARMY 1=1 2=1 3=2 4=3 5=4 6=4 7=4 8=5 9=8 s=1 B=6 F=1"  # what is played if nothing is said
STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def read() -> str:
    line = sys.stdin.readline()
    if not line or line.startswith("QUIT"):
        sys.exit()
    return line.rstrip("\n")


def say(line: str) -> None:
    print(line, flush=True)


def set_up(colour: str, columns: int, rows: int, words: list[str]) -> list[str]:
    """Return our rows: the army in any order, the Flag in the back row, empty squares behind it."""
    letters = [letter for word in words if "=" in word for letter in word[0] * int(word[2:])]
    movable = [letter for letter in letters if letter not in "FB"]
    rng.shuffle(movable)
    fixed = ["F"] + ["."] * (columns * rows - len(letters)) + ["B"] * letters.count("B")  # from the back row on
    text = "".join(fixed + movable)
    text = text if colour == "RED" else text[::-1]
    return [text[start : start + columns] for start in range(0, len(text), columns)]


def choose(board: list[str]) -> str:
    moves = {}
    for y, row in enumerate(board):
        for x, piece in enumerate(row):
            for word, (dx, dy) in STEPS.items() if piece in "123456789s" else ():
                if 0 <= x + dx < len(row) and 0 <= y + dy < len(board) and board[y + dy][x + dx] in ".#":
                    moves[f"{x} {y} {word}"] = board[y + dy][x + dx]
    strikes = [move for move, target in moves.items() if target == "#"]
    return rng.choice(strikes or list(moves) or ["SURRENDER"])


rng = random.Random(os.environ.get("VAUBAN_SEED"))
words = read().split()
if "SETUP" not in words:
    words += CLASSIC.split()
about = words.index("SETUP")
columns, height = int(words[about - 2]), int(words[about - 1])
for row in set_up(words[0], columns, int(words[about + 1]), words[about:]):
    say(row)
while True:
    event = read()  # START, or the opponent's move and what came of it
    say(choose([read() for _ in range(height)]))
    echo = read()  # our own move, and what came of it
