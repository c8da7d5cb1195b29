"""Ignores every polite signal and QUIT, and has children: one in its group, one that has left it.

Writes the numbers of all three processes into the file named by its argument.
"""

import os
import signal
import sys
import time
from pathlib import Path

import good

for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
    signal.signal(polite, signal.SIG_IGN)
pids = [os.getpid()]
for leaves in (False, True):
    child = os.fork()
    if child == 0:
        if leaves:
            os.setsid()
        while True:
            time.sleep(600)
    pids.append(child)
Path(sys.argv[1]).write_text(" ".join(map(str, pids)))
good.set_up()
try:
    good.play()
except SystemExit:
    while True:
        time.sleep(600)
