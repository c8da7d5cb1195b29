"""Answers in small letters at its second turn."""

import good

good.set_up()
good.play(lambda turn, moves: moves[0].lower() if turn == 1 else "")
