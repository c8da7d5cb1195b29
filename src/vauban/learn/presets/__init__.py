"""The configurations that are shipped, each in a file called by its name. Importing this room costs nothing."""

from __future__ import annotations

from importlib import resources


def presets() -> dict[str, str]:
    """Return the presets that are shipped, as TOML."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda each: each.name)
    return {
        each.name.removesuffix(".toml"): each.read_text(encoding="utf-8")
        for each in files
        if each.name.endswith(".toml")
    }
