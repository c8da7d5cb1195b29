"""Resigns at its third turn and is gone at once."""

import os

import good


def answer(turn: int, _: list[str]) -> str:
    if turn == 2:
        good.say("SURRENDER")
        os._exit(0)
    return ""


good.set_up()
good.play(answer)
