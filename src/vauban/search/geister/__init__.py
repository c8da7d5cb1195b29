"""Reviews of games of Geister: each side's beliefs, a search's choices, the moments that mattered."""
