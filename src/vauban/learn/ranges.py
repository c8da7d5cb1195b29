"""Ranges that settings of algorithms must lie in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vauban.errors import ConfigurationError

COUNT, NOT_NEGATIVE, POSITIVE = "1 or more", "0 or more", "more than 0"
FRACTION, PART, DECAY = "from 0 to 1", "above 0 and at most 1", "from 0 to below 1"

_FITS: dict[str, Callable[[float], bool]] = {
    COUNT: lambda value: value >= 1,
    NOT_NEGATIVE: lambda value: value >= 0,
    POSITIVE: lambda value: value > 0,
    FRACTION: lambda value: 0 <= value <= 1,
    PART: lambda value: 0 < value <= 1,
    DECAY: lambda value: 0 <= value < 1,
}


def check_ranges(settings: Any, whose: str, ranges: Mapping[str, str]) -> None:
    """Refuse settings that are out of their ranges; those of each range are named in one text."""
    for words, names in ranges.items():
        for name in names.split():
            value = getattr(settings, name)
            if not _FITS[words](value):
                raise ConfigurationError(f"{name} of {whose} must be {words}, not {value}")
