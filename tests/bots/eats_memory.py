"""Takes memory without end at its second turn."""

import good


def answer(turn: int, _: list[str]) -> str:
    eaten = []
    while turn == 1:
        eaten.append(bytearray(2**24))
    return ""


good.set_up()
good.play(answer)
