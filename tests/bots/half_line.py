"""Sends half a line at its second turn, and hangs."""

import sys
import time

import good


def answer(turn: int, _: list[str]) -> str:
    if turn == 1:
        sys.stdout.write("0 3 DO")
        sys.stdout.flush()
        time.sleep(600)
    return ""


good.set_up()
good.play(answer)
