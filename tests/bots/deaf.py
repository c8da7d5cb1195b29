"""Closes its input after two turns, and hangs."""

import os
import time

import good


def answer(turn: int, _: list[str]) -> str:
    if turn == 2:
        os.close(0)
        time.sleep(600)
    return ""


good.set_up()
good.play(answer)
