"""Texts of Geister: moves, positions, headers, and the logs of the public server (docs/geister.md)."""
