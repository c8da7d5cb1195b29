"""Texts of moves, positions and games, and the formats of others (docs/notation.md).

`moves` and `position` know no rules; `game` knows the shape of a record; `records` replays one on a
`Board`. `strados` and `gravon` read what other programs wrote.
"""
