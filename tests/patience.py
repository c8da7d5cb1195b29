"""Time limits of tests that wait for an event: patience, and no measure of anything."""

PATIENCE = 600.0
"""Seconds after which a test gives up waiting for an event: machines may be ten times slower than yours."""
ENDLESS = 100 * PATIENCE
"""Seconds that take longer than any test: for an agent whose thought ends only when it is ended."""
