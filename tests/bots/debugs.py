"""Prints its thoughts where its answers belong."""

import good

good.set_up()
good.play(lambda turn, _: "thinking about turn 2" if turn == 2 else "")
