"""Writes a lot to standard error with every move."""

import sys

import good


def answer(turn: int, _: list[str]) -> str:
    sys.stderr.write(f"turn {turn}: " + "thinking " * 20000 + "\n")
    return ""


good.set_up()
good.play(answer)
