"""Files that are written whole, or stay as they were."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, data: bytes | str) -> None:
    """Write a file aside, then put it in its place: a process killed meanwhile leaves the old one as it was."""
    aside = path.with_name(f"{path.name}.new")
    aside.write_bytes(data.encode() if isinstance(data, str) else data)
    aside.replace(path)
