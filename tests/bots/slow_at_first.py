"""Takes four seconds to begin when it is started for the first time: until a file that it makes is there."""

import sys
import time
from pathlib import Path

import good

unpacked = Path(sys.argv[1])
if not unpacked.exists():
    time.sleep(4.0)
    unpacked.touch()
good.set_up()
good.play()
