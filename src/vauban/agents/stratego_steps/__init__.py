"""Parts that only agents of Stratego in steps have."""
