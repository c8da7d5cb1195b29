"""The models that are shipped: a folder each, with a card and weights (docs/models.md)."""
