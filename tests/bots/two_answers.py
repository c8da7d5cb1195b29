"""Sends the answers to two turns at once: the second is for the next turn."""

import good

colour = good.set_up()
first, second = ("4 3 DOWN\n4 4 UP", "5 3 DOWN") if colour == "RED" else ("4 6 UP\n4 5 DOWN", "5 6 UP")
good.read()
[good.read() for _ in range(10)]
good.say(first)
for _ in range(2):
    good.read()
    good.read()
    [good.read() for _ in range(10)]
good.say(second)
good.read()
good.play()
