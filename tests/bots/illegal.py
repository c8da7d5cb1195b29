"""Moves its Flag at its third turn."""

import good

colour = good.set_up()
good.play(lambda turn, _: ("0 0 DOWN" if colour == "RED" else "0 9 UP") if turn == 2 else "")
