"""Writes for ever without ending a line, from its second turn on."""

import sys

import good


def answer(turn: int, _: list[str]) -> str:
    while turn == 1:
        sys.stdout.write("x" * 4096)
    return ""


good.set_up()
good.play(answer)
