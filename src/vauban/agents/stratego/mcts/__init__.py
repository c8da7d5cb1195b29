"""Monte-Carlo tree search (after the Louvain thesis): `mcts`, and the plain search it is compared with.

`knowledge` is what the player knows of hidden pieces, `prior` which moves are worth a thought,
`evaluate` what a position is worth, `search` the tree, `bots` the agents and their presets.
"""
