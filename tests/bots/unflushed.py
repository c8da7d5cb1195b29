"""Plays well, and forgets to flush: nothing arrives before it ends."""

import io

import good

buffered = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")))
good.say = lambda line: buffered.write(line + "\n")
good.set_up()
good.play()
