"""Looks at the board once, at its first turn, and follows the game by the events alone, as the bots of 2012 do.

It counts the letters that battles show; a letter that does not fit ends it with an exception.
"""

import good

own: dict[tuple[int, int], str] = {}
enemies: set[tuple[int, int]] = set()
lakes: set[tuple[int, int]] = set()


def look(rows: list[str]) -> None:
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if cell == "#":
                enemies.add((x, y))
            elif cell == "+":
                lakes.add((x, y))
            elif cell != ".":
                own[x, y] = cell


def hear(line: str) -> None:
    words = line.split(" ")
    x, y, (dx, dy) = int(words[0]), int(words[1]), good.STEPS[words[2]]
    far = words[3].isdigit()
    squares, outcome, shown = int(words[3]) if far else 1, words[3 + far], words[4 + far :]
    assert len(line) <= 30 and squares > (1 if far else 0), line
    here, there = (x, y), (x + squares * dx, y + squares * dy)
    mine = here in own
    piece = own.pop(here) if mine else "#"
    if not mine:
        enemies.remove(here)
    if outcome == "OK":
        assert not shown and there not in own and there not in enemies, line
    else:
        attacker, defender = shown
        assert (piece if mine else own[there]) == (attacker if mine else defender), line
        assert there in (enemies if mine else own), line
        if outcome in ("KILLS", "BOTHDIE"):
            enemies.discard(there) if mine else own.pop(there)
    if outcome in ("OK", "KILLS"):
        if mine:
            own[there] = piece
        else:
            enemies.add(there)


def rows() -> list[str]:
    cells = {**dict.fromkeys(enemies, "#"), **dict.fromkeys(lakes, "+"), **own}
    return ["".join(cells.get((x, y), ".") for x in range(10)) for y in range(10)]


good.set_up()
first = True
while True:
    event = good.read()
    shown = [good.read() for _ in range(10)]
    if first:
        look(shown)  # the events before are in it
        first = False
    else:
        hear(event)
    assert rows() == shown, event
    moves = good.moves(rows())
    move = good.rng.choice(moves) if moves else "SURRENDER"
    good.say(move)
    hear(good.read())
