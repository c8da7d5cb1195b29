"""Fails with an exception after two rows."""

import good

good.read()
for row in good.SETUP[:2]:
    good.say(row)
raise ValueError("no more rows")
