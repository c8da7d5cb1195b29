"""What only agents of Stratego in steps have."""
