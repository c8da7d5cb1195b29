"""Plays the moves of the board that it was shown one turn before."""

import good

before: list[list[str]] = []


def answer(_: int, moves: list[str]) -> str:
    before.append(moves)
    return good.rng.choice(before[-2] if len(before) > 1 else moves)


good.set_up()
good.play(answer)
