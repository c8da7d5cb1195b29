"""Says NO_MOVE, as some bots of 2012 do when they find no move."""

import good

good.set_up()
good.play(lambda turn, _: "NO_MOVE")
