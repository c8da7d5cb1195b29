"""The long description, as package indexes show it: README.md with absolute links. All else is in pyproject.toml."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent


def long_description() -> str:
    """Return README.md with links to files, and pictures, that work outside the repository."""
    home = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    text = (HERE / "README.md").read_text(encoding="utf-8")

    def absolute(found: re.Match[str]) -> str:
        before, target = found.groups()
        kind = "raw" if target.endswith((".png", ".svg", ".jpg")) else "blob"
        return f"{before}{home}/{kind}/main/{target}"

    return re.sub(r"(\]\(|src=\")(?!https?:|#|mailto:)([^)\"\s]+)", absolute, text)


setup(long_description=long_description(), long_description_content_type="text/markdown")
