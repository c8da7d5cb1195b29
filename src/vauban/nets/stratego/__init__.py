"""Networks of Stratego that were published elsewhere."""
