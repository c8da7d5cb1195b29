"""Closes its output at its second turn, and lives on."""

import os
import time

import good


def answer(turn: int, _: list[str]) -> str:
    if turn == 1:
        os.close(1)
        time.sleep(600)
    return ""


good.set_up()
good.play(answer)
