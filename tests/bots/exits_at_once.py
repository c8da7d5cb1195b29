"""Ends before it has read anything."""
