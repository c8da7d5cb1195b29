"""Geister on the page."""
