"""A complete client of the public Geister server: it plays random legal moves.

vauban match "geister:python3 examples/geister_bot.py {host} {port}" random --game geister --games 10
"""

import os
import random
import socket
import sys

STEPS = {"NORTH": (0, -1), "EAST": (1, 0), "WEST": (-1, 0), "SOUTH": (0, 1)}


def choose(board: str) -> str:
    ghosts = [board[place : place + 3] for place in range(0, 24, 3)]  # our eight: x, y, colour
    taken = {ghost[:2] for ghost in ghosts}
    moves = []
    for name, (x, y, colour) in zip("ABCDEFGH", ghosts, strict=True):
        for word, (dx, dy) in STEPS.items() if colour in "RB" else ():  # small letters: captured
            to = (int(x) + dx, int(y) + dy)
            inside = 0 <= to[0] <= 5 and 0 <= to[1] <= 5
            escapes = colour == "B" and x + y in ("00", "50") and word != "SOUTH"
            if f"{to[0]}{to[1]}" not in taken if inside else escapes:
                moves.append(f"MOV:{name},{word}")
    return rng.choice(moves)


rng = random.Random(os.environ.get("VAUBAN_SEED"))
host, port = sys.argv[1:] or ("127.0.0.1", "10000")
with socket.create_connection((host, int(port))) as server, server.makefile("rw", newline="\r\n") as lines:
    for line in lines:
        if line.startswith("SET?"):
            print("SET:" + "".join(rng.sample("ABCDEFGH", 4)), file=lines, flush=True)  # the four red (evil) ghosts
        elif line.startswith("MOV?"):
            print(choose(line[4:]), file=lines, flush=True)
        elif line.startswith("NG"):
            sys.exit("our line was refused")
        elif not line.startswith("OK"):  # WON:, LST: or DRW:, and the board
            break
