"""Takes every step back with the next, as long as it can."""

import good

BACK = {"UP": "DOWN", "DOWN": "UP", "LEFT": "RIGHT", "RIGHT": "LEFT"}
steps: list[str] = []


def answer(_: int, moves: list[str]) -> str:
    if steps:
        x, y, word = steps[-1].split()
        dx, dy = good.STEPS[word]
        back = f"{int(x) + dx} {int(y) + dy} {BACK[word]}"
    else:
        back = ""
    steps.append(back if back in moves else good.rng.choice([move for move in moves if len(move.split()) == 3]))
    return steps[-1]


good.set_up()
good.play(answer)
