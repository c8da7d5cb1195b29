"""Best responses: a player who learns to beat fixed opponents, which bounds from below how exploitable they are.

Read `duels` (whole games against opponents) and `oracle` (the loop), then one of the two oracles: `sac` (discrete soft
actor-critic on a replay of records) or `ppo` (proximal policy optimisation on whole games), with `targets` beside them.
"""
