"""Hooks of the documentation site (mkdocs.yml): take in files outside docs/, under links that work everywhere.

Pages link to each other, and to files of the repository, by relative paths, so that the links work in a checkout and on
a code host. On the site a page outside docs/ that the navigation names gets a place there (`PAGES`), and any other file
that a page links to is copied below `repository/`.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]

PAGES = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
"""Pages outside docs/ by their path in the repository, and their place on the site."""
HOME = {"README.md": "README.md"}
"""The readme's links lead to the site's first page."""

LINK = re.compile(r"(\]\()([^)#\s:]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def place_of(path: str) -> str:
    """Return the place on the site of a file, by its path in the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return (PAGES | HOME).get(path, f"repository/{path}")


def linked(markdown: str, page: str) -> list[str]:
    """List the files of the repository outside docs/ that a page links to; `page` is its path in the repository."""
    targets = [posixpath.normpath(posixpath.join(posixpath.dirname(page), found[2]))
               for found in LINK.finditer(FENCE.sub("", markdown))]  # fmt: skip
    return [target for target in targets if not target.startswith("docs/") and (ROOT / target).is_file()]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/, and every file that a page links to."""
    for source, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    pages = {f"docs/{file.src_uri}": file.abs_src_path for file in files.documentation_pages()}
    pages |= {source: str(ROOT / source) for source in PAGES}
    targets = {
        target
        for page, path in pages.items() if Path(path).is_file()
        for target in linked(Path(path).read_text(encoding="utf-8"), page)
    }  # fmt: skip
    for target in sorted(targets - PAGES.keys() - HOME.keys()):
        files.append(File.generated(config, place_of(target), abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links at the site's places."""
    here = page.file.src_uri
    source = next((path for path, place in PAGES.items() if place == here), f"docs/{here}")
    if here.startswith("repository/"):
        source = here.removeprefix("repository/")

    def moved(found: re.Match[str]) -> str:
        begin, target, anchor, end = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if not (ROOT / path).is_file():
            return found[0]  # mkdocs says that it leads nowhere
        return begin + posixpath.relpath(place_of(path), posixpath.dirname(here) or ".") + (anchor or "") + end

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(moved, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(moved, markdown[end:])])
