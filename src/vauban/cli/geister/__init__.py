"""Commands, and parts of commands, for Geister only."""
