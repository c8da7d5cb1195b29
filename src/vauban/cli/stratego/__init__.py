"""Commands, and parts of commands, for Stratego only."""
