"""Texts of Geister: moves, positions, games, and the formats of others."""
