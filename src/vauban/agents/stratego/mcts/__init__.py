"""Monte-Carlo tree search (after the Louvain thesis): `mcts`, and the plain search it is compared with.

`knowledge` is what the player knows of hidden pieces, `prior` weighs the moves, `evaluate` judges positions, `search`
is the tree, `bots` the agents and their presets.
"""
