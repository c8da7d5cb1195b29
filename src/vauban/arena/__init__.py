"""Matches and tournaments between agents, and what their results are worth."""
