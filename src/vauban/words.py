"""Words for people that fit any game: a text with a capital, an error as a sentence, a long text cut short."""

from __future__ import annotations


def sentence(error: Exception) -> str:
    """Return an error's message as a sentence; the name of a square at its beginning stays as it is."""
    text = str(error).rstrip(".") + "."
    return capital(text) if text[:2].isalpha() else text


def moves_word(count: int) -> str:
    """Return "move" or "moves" for a count of plies: people call a ply a move."""
    return "move" if count == 1 else "moves"


def capital(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def shortened(text: str, longest: int = 60) -> str:
    """Shorten a text to at most a line, to quote it in a message."""
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")
