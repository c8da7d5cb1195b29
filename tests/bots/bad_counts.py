"""Sets up with a ninth Scout in place of a Miner."""

import good

good.set_up(("FB9sB479B8", *good.SETUP[1:]))
good.play()
