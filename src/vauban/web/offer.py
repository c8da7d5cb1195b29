"""What can be played on the page: the variants, against which levels, by which clocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vauban import __version__
from vauban.games.base import nearest
from vauban.games.stratego.pieces import TYPES
from vauban.games.stratego.switches import default_rules
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.web.clocks import CLOCKS
from vauban.web.levels import Level, learned_agents
from vauban.web.table import TableError
from vauban.words import limit_words, plies_left

Json = dict[str, Any]

OFFERED = {
    "barrage": "Barrage",
    "classic": "Classic",
    "duel": "Duel",
    "octa-barrage": "Octa-Barrage",
    "medium": "Medium",
    "fives": "Fives",
}
"""The variants that can be played on the page, with their titles; the first is the usual one."""


def offer(levels: Sequence[Level]) -> Json:
    """All of it."""
    return {
        "version": __version__,
        "variants": [
            _variant(VARIANTS[name], title) | {"network": bool(learned_agents(name, levels))}
            for name, title in OFFERED.items()
        ],
        "levels": [
            {
                "key": level.key, "name": level.name, "sentence": level.sentence, "temper": level.temper,
                "seconds": level.seconds, "elo": dict(level.elo),
                "variants": [name for name in OFFERED if level.plays(name)],
            }
            for level in levels
        ],
        "clocks": list(CLOCKS),
    }  # fmt: skip


def find_offered(name: Any) -> Variant:
    """The variant of this name, if it can be played here."""
    if not isinstance(name, str) or name not in OFFERED:
        raise TableError("variant", f"There is no variant {name!r} here: {nearest(str(name), list(OFFERED))}.")
    return VARIANTS[name]


def _variant(variant: Variant, title: str) -> Json:
    rules = default_rules(variant)
    return {
        "name": variant.name,
        "title": title,
        "columns": variant.columns,
        "rows": variant.rows,
        "setup_rows": variant.setup_rows,
        "lakes": [variant.square_name(lake) for lake in variant.lakes],
        "army": {TYPES[kind].lower(): count for kind, count in enumerate(variant.army) if count},
        "rules": f"{variant.pieces} pieces each on {variant.columns} × {variant.rows} squares. {limit_words(rules)}",
        "battleless_limit": plies_left(0, rules.battleless_limit, rules),
        "total_limit": plies_left(0, rules.total_limit, rules),
    }
