"""Looking back on a game of Stratego: what was believed, what a search would have played, the moments that mattered."""
