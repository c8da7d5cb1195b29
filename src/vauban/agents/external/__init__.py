"""Agents that are programs of their own, in any language (docs/external-bots.md)."""
