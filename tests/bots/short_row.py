"""Its third row has nine pieces."""

import good

good.set_up((*good.SETUP[:2], "672489897", good.SETUP[3]))
good.play()
