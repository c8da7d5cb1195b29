"""The line protocol of Stratego, that of the UCC competition: our side of it, and a check for authors of bots."""
