"""Writes lines for ever after its setup, and does not listen."""

import sys

import good

good.set_up()
while True:
    sys.stdout.write("0 3 DOWN\n" * 1000)
