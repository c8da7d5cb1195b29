"""A client of the public Geister server that plays by a script, and misbehaves as it is told: FAULT HOST PORT [FILE].

When it has nothing more to say it makes the file.
"""

import random
import socket
import sys
import time
from pathlib import Path

STEPS = {"N": (0, -1), "E": (1, 0), "W": (-1, 0), "S": (0, 1)}


def moves(board: str) -> list[str]:
    """Every legal move of a board but escapes."""
    ghosts = [board[place : place + 3] for place in range(0, 24, 3)]
    taken = {ghost[:2] for ghost in ghosts}
    found = []
    for name, (x, y, colour) in zip("ABCDEFGH", ghosts, strict=True):
        for word, (dx, dy) in STEPS.items():
            to = (int(x) + dx, int(y) + dy)
            if colour in "RB" and 0 <= to[0] <= 5 and 0 <= to[1] <= 5 and f"{to[0]}{to[1]}" not in taken:
                found.append(f"MOV:{name},{word}")
    return found


def idle() -> None:
    """Make the file, and wake who is waiting."""
    Path(sys.argv[4]).touch()
    print("idle", flush=True)


fault, host, port = sys.argv[1:4]
print("ready to", fault)
if fault == "refuse":
    sys.exit("it does not want to play")
if fault == "stay away":
    idle()
    time.sleep(10**6)
server = socket.create_connection((host, int(port)))
lines = server.makefile("rb")


def say(text: str) -> None:
    server.sendall(text.encode())


def leave(text: str) -> None:
    say(text)
    print("leaving", file=sys.stderr)
    server.close()
    lines.close()
    sys.exit(3)


rng = random.Random(1)
for line in (raw.decode().removesuffix("\r\n") for raw in lines):
    if line == "SET?":
        if fault == "leave before the setup":
            leave("")
        if fault == "half a setup":
            leave("SET:AB")
        if fault == "many setups":
            say("SET:AAAA\r\nSET:ABC\r\nhello\r\nSET:hgfe\r\n")
        else:
            say("SET:ABCD\r\n")
    elif line.startswith("MOV?"):
        if fault == "leave":
            leave("")
        if fault == "half a line":
            leave("MOV:A,NOR")
        if fault == "flood":
            say("x" * 100_000)
        elif fault == "babble":
            print("noise\n" * 100_000)
            say(rng.choice(moves(line[4:])) + "\r\n")
        elif fault == "illegal":
            say("MOV:E,NORTH\r\n")
        elif fault == "unintelligible":
            say("I pass\r\n")
        elif fault == "line feed":
            say("MOV:A,NORTH\n")
            idle()
        elif fault == "sleep":
            idle()
        else:
            say(rng.choice(moves(line[4:])) + "\r\n")
    elif line[:4] in ("WON:", "LST:", "DRW:"):
        sys.exit()
