"""Thinks for ever at its third turn."""

import time

import good


def answer(turn: int, _: list[str]) -> str:
    if turn == 2:
        time.sleep(600)
    return ""


good.set_up()
good.play(answer)
