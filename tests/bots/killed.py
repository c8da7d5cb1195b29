"""Dies by a signal at its second turn, as a C program does."""

import os
import signal

import good


def answer(turn: int, _: list[str]) -> str:
    if turn == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    return ""


good.set_up()
good.play(answer)
