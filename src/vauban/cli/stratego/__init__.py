"""What the commands have for Stratego only."""
