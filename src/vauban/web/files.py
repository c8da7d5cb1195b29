"""The page's files: its folder, the scripts of families of games, its languages, and the worker that keeps them all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).with_name("page")
WORKER = PAGE / "service-worker.js"
KEPT = (".html", ".js", ".css", ".svg", ".png", ".json", ".webmanifest")
"""Endings of the files that browsers keep: other files of a family's folder are none of the page."""


def scripts() -> Path:
    """Return the folder with the scripts of the families that are at home here."""
    return PAGE / "js" / "games"


def languages() -> list[str]:
    """Return the languages of the page: each is a file of texts, page/js/strings/LANGUAGE.js."""
    return sorted(file.stem for file in (PAGE / "js" / "strings").glob("*.js"))


def explored(game: str) -> bool:
    """Return whether there are figures about the setups of a game (scripts/explore_setups.py)."""
    return (PAGE / "explorer" / f"{game}.json").is_file()


def worker_script(folders: Mapping[str, Path]) -> str:
    """Return the service worker of the page as the files are now: it names each with a hash of what is in it.

    folders: by address, such as "/static"; all in them is kept by browsers, for when the server cannot be reached.
    """
    files = {
        f"{address}/{file.relative_to(folder).as_posix()}": file
        for address, folder in folders.items()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.suffix in KEPT and file.name != WORKER.name
    }
    hashes = {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in files.items()}
    # The page itself goes by another address.
    hashes = {"/": hashes.pop("/static/index.html"), **hashes}
    known = json.dumps(hashes, indent=0)
    version = hashlib.sha256(known.encode()).hexdigest()[:16]
    script = WORKER.read_text(encoding="utf-8")
    return script.replace("const FILES = {};", f"const FILES = {known};").replace("VERSION", version)
