"""The models that are shipped: a folder each, with a card and weights (docs/models.md)."""

from pathlib import Path

FOLDER = Path(__file__).parent
CARD = "card.json"


def is_shipped(name: str) -> bool:
    """Say whether a model of this name comes with Vauban."""
    return (FOLDER / name / CARD).is_file()
