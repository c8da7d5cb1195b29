"""Does not end when it is told to."""

import time

import good

good.set_up()
try:
    good.play()
except SystemExit:
    time.sleep(600)
