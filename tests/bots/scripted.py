"""Answers with the lines of a file, and writes down every line it is sent.

scripted.py ANSWERS HEARD
"""

import sys
from pathlib import Path

answers = Path(sys.argv[1]).read_text().splitlines()
with Path(sys.argv[2]).open("w") as heard:

    def read() -> str:
        line = sys.stdin.readline()
        heard.write(line)
        heard.flush()
        if not line or line.startswith("QUIT"):
            sys.exit(0)
        return line

    colour = read().split()[0]
    for row in answers[:4]:
        print(row, flush=True)
    for answer in answers[4:]:
        for _ in range(11):
            read()
        print(answer, flush=True)
        read()
    while True:
        read()
