#!/usr/bin/env python3
"""Release the version of src/vauban/__init__.py: check, test, build, tag. Uploading stays a person's step.

    python scripts/release.py --check     # only say what is in the way
    python scripts/release.py             # make lint test-all, build, tag vX.Y.Z

It refuses, with exit code 1, and names all that is in the way: changes that are not committed, a version that
CHANGELOG.md or CITATION.cff does not know or that is tagged already, links that are placeholders, tests that fail.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

PLACEHOLDER = "example.invalid"
"""The host of links that nobody has filled in."""


def git(root: Path, *arguments: str) -> str:
    """Return what git says."""
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def version_of(root: Path) -> str:
    """Return the version that stands in the package."""
    text = (root / "src/vauban/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit('src/vauban/__init__.py has no line __version__ = "…"')
    return found[1]


def faults(root: Path) -> list[str]:
    """List what is in the way of a release, tests aside."""
    version = version_of(root)
    found = []
    changed = git(root, "status", "--porcelain")
    if changed:
        found.append(f"there are changes that are not committed: {', '.join(changed.split()[1::2])}")
    if not re.search(rf"^## {re.escape(version)}\b", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading '## {version}': put one above what is new in it")
    if f"version: {version}" not in (root / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        found.append(f"CITATION.cff names another version than {version}")
    if git(root, "tag", "--list", f"v{version}"):
        found.append(f"v{version} is tagged already: raise __version__")
    urls = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    if any(PLACEHOLDER in url for url in urls.values()):
        found.append(f"the links in pyproject.toml are placeholders ({PLACEHOLDER}): write the project's own")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is in the way, tests aside")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the repository")
    given = parser.parse_args()
    in_the_way = faults(given.root)
    for fault in in_the_way:
        print(f"refused: {fault}", file=sys.stderr)
    if in_the_way:
        raise SystemExit(1)
    if given.check:
        print(f"nothing is in the way of {version_of(given.root)} but the tests")
        return
    for target in ("lint", "test-all"):
        if subprocess.run(["make", target], cwd=given.root).returncode:
            raise SystemExit(f"refused: make {target} fails")
    tag = f"v{version_of(given.root)}"
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist"], cwd=given.root, check=True)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", "dist/*"], cwd=given.root, check=True)
    git(given.root, "tag", "--annotate", tag, "--message", f"Vauban {tag[1:]}")
    print(f"built in dist/ and tagged {tag}. Look at it, then: git push origin {tag}; twine upload dist/*")


if __name__ == "__main__":
    main()
