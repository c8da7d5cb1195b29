"""Texts of Stratego: moves, positions, and the formats of others (docs/notation.md)."""
