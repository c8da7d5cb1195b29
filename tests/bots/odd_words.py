"""Answers with words that the manager must bear: a carriage return, blanks, junk after the number."""

import good

tails = [" 1", " 1 junk", "\r", "  ", " 1 \r"]
good.set_up()
good.play(lambda turn, moves: next(move for move in moves if len(move.split()) == 3) + tails[turn % len(tails)])
