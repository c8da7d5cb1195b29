"""Extension of griffe, which reads docstrings for the documentation site: parameters, one on a line, become a list."""

from __future__ import annotations

import re
from typing import Any

import griffe

PARAMETER = re.compile(r"^(\w+): ")


def listed(text: str) -> str:
    """Make lists of the lines `name: what it is`, and of the lines that go on with them."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if found := PARAMETER.match(line):
            lines += [] if inside else [""]
            line, inside = f"* `{found[1]}`: {line[found.end() :]}", True
        elif inside and line.strip():
            line = f"    {line.strip()}"
        else:
            inside = False
        lines.append(line)
    return "\n".join(lines).strip("\n")


class Parameters(griffe.Extension):
    """Rewrites the docstrings of classes, functions and methods."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring and (obj.is_function or obj.is_class):
            obj.docstring.value = listed(obj.docstring.value)
