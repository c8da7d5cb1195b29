"""Thinks that it is RED, whatever the manager says."""

import good

good.read()
for row in good.SETUP:
    good.say(row)
while True:
    good.read()
    found = good.moves([good.read() for _ in range(10)])
    red = [move for move in found if move[2] in "01234"]
    good.say(red[0] if red else "0 3 DOWN")
    good.read()
