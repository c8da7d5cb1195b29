"""Takes half a second for a move."""

import time

import good


def answer(*_: object) -> str:
    time.sleep(0.5)
    return ""


good.set_up()
good.play(answer)
