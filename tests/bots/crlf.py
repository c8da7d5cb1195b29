"""Ends its lines with a carriage return and a line feed."""

import sys

import good


def say(line: str) -> None:
    sys.stdout.write(f"{line}\r\n")
    sys.stdout.flush()


good.say = say
good.set_up()
good.play()
