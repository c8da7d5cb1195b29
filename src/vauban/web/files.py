"""The page's files: its folder, the script of each family of games, and its languages."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).with_name("page")


def scripts() -> Path:
    """Return the folder with the scripts of the families that are at home here."""
    return PAGE / "js" / "games"


def languages() -> list[str]:
    """Return the languages of the page: each is a file of texts, page/js/strings/LANGUAGE.js."""
    return sorted(file.stem for file in (PAGE / "js" / "strings").glob("*.js"))
