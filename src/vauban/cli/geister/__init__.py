"""The terminal's part for Geister."""
