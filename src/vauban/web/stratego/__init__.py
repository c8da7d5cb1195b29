"""The page's part for Stratego: what its pages draw, its opponents, and looking back on its games."""
