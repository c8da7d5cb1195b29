#!/usr/bin/env python3
"""Count lines of code by room: Python without blank lines, comments and docstrings.

    scripts/code_lines.py                  # the working tree
    scripts/code_lines.py d9f7f4c HEAD     # revisions side by side, and the last less the first

A room is a folder of src/vauban, or a file that lies beside them.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
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
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", PACKAGE], capture_output=True, text=True, check=True
        )
        paths = [path for path in listed.stdout.split() if path.endswith(".py") and Path(path).exists()]
        return {path: Path(path).read_text(encoding="utf-8") for path in paths}
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", revision, PACKAGE], capture_output=True, text=True, check=True
    )
    paths = [path for path in listed.stdout.split() if path.endswith(".py")]
    shown = (["git", "show", f"{revision}:{path}"] for path in paths)
    found = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in shown)
    return dict(zip(paths, found, strict=True))


def by_room(files: dict[str, str]) -> Counter[str]:
    """Count lines of code by room."""
    rooms: Counter[str] = Counter()
    for path, source in files.items():
        rooms[path.removeprefix(PACKAGE).partition("/")[0].removesuffix(".py")] += count(source)
    return rooms


def main() -> None:
    revisions: list[str | None] = list(sys.argv[1:]) or [None]
    columns = [(each or "here", sources(each)) for each in revisions]
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
