"""Fails with an exception at its fourth turn."""

import good


def answer(turn: int, _: list[str]) -> str:
    return {}[turn] if turn == 3 else ""


good.set_up()
good.play(answer)
