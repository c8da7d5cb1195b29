"""Ataraxos: damped self-play for setups and moves, and a belief about hidden pieces afterwards.

To be read from top to bottom like the paper:

    learner         the loop: draw setups, collect a window, learn to move, learn to set up
    collect         many games at once, played by the network that learns
    setups          the pool of setups, and learning to set up (section D.3)
    moves, filter   learning to move from the moves that matter (section D.4)
    targets, setup_targets   the formulas of both, as pure functions
    belief, positions        learning what hidden pieces are
    estimate        how long an iteration will take
"""
