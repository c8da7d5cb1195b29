#!/usr/bin/env python3
"""Count lines of code by room: Python without blank lines, comments and docstrings.

    scripts/code_lines.py                            # the working tree
    scripts/code_lines.py d9f7f4c HEAD               # revisions side by side, and the last less the first
    scripts/code_lines.py --only "*/geister*" HEAD   # only files whose paths below src/vauban fit a pattern

A room is a folder of src/vauban, or a file that lies beside them.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tokenize
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

PACKAGE = "src/vauban/"
SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def count(source: str) -> int:
    """Count the lines of a file that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A text that stands alone is a docstring, of whatever stands above it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def sources(revision: str | None) -> dict[str, str]:
    """Return the package's Python files by path, of a revision or of the working tree."""
    if revision is None:
        paths = _git("ls-files", "-co", "--exclude-standard", PACKAGE).split()
        return {path: Path(path).read_text(encoding="utf-8") for path in _python(paths) if Path(path).exists()}
    paths = _git("ls-tree", "-r", "--name-only", revision, PACKAGE).split()
    return {path: _git("show", f"{revision}:{path}") for path in _python(paths)}


def _python(paths: list[str]) -> list[str]:
    return [path for path in paths if path.endswith(".py")]


def _git(*words: str) -> str:
    told = subprocess.run(["git", *words], capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"error: {told.stderr.strip()}")
    return told.stdout


def by_room(files: dict[str, str]) -> Counter[str]:
    """Count lines of code by room."""
    rooms: Counter[str] = Counter()
    for path, source in files.items():
        rooms[path.removeprefix(PACKAGE).partition("/")[0].removesuffix(".py")] += count(source)
    return rooms


def main() -> None:
    about, examples = (__doc__ or "").split("\n\n", 1)
    parser = argparse.ArgumentParser(
        description=about, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revisions", nargs="*", help="revisions of git; without one the working tree is counted")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="may be repeated")
    asked = parser.parse_args()

    def wanted(path: str) -> bool:
        return not asked.only or any(fnmatch("/" + path.removeprefix(PACKAGE), pattern) for pattern in asked.only)

    columns = [
        (each or "here", {path: source for path, source in sources(each).items() if wanted(path)})
        for each in asked.revisions or [None]
    ]
    counted = [by_room(files) for _, files in columns]
    heads = [name for name, _ in columns] + (["more"] if len(columns) > 1 else [])
    print(f"{'room':14}" + "".join(f"{head:>12}" for head in heads))

    def row(name: str, numbers: list[int]) -> None:
        more = [numbers[-1] - numbers[0]] if len(numbers) > 1 else []
        print(f"{name:14}" + "".join(f"{number:12,}" for number in numbers) + "".join(f"{each:+12,}" for each in more))

    for room in sorted(set().union(*counted)):
        row(room, [each[room] for each in counted])
    row("all", [sum(each.values()) for each in counted])
    row("files", [len(files) for _, files in columns])


if __name__ == "__main__":
    main()
