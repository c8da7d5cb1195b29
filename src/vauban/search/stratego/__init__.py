"""Reviews of games of Stratego: each side's beliefs, a search's choices, the moments that mattered."""
