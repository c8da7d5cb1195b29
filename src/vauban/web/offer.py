"""What can be played on the page: the variants, against which levels, by which clocks. Words for it are the page's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vauban import __version__
from vauban.board.stratego.words import plies_left
from vauban.games.base import nearest
from vauban.games.stratego.pieces import TYPES
from vauban.games.stratego.switches import default_rules
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.web.clocks import CLOCKS
from vauban.web.levels import Level, learned_agents
from vauban.web.table import TableError

Json = dict[str, Any]

OFFERED = ("barrage", "classic", "duel", "octa-barrage", "medium", "fives")
"""The variants that can be played on the page; the first is the usual one."""


def offer(levels: Sequence[Level]) -> Json:
    """All of it."""
    return {
        "version": __version__,
        "variants": [
            _variant(VARIANTS[name]) | {"network": bool(learned_agents(name, levels))} for name in OFFERED
        ],
        "levels": [
            {
                "key": level.key, "name": level.name, "seconds": level.seconds, "elo": dict(level.elo),
                "variants": [name for name in OFFERED if level.plays(name)],
            }
            for level in levels
        ],
        "clocks": list(CLOCKS),
    }  # fmt: skip


def find_offered(name: Any) -> Variant:
    """The variant of this name, if it can be played here."""
    if not isinstance(name, str) or name not in OFFERED:
        raise TableError("variant", f"There is no variant {name!r} here: {nearest(str(name), OFFERED)}.")
    return VARIANTS[name]


def _variant(variant: Variant) -> Json:
    rules = default_rules(variant)
    return {
        "name": variant.name,
        "columns": variant.columns,
        "rows": variant.rows,
        "setup_rows": variant.setup_rows,
        "lakes": [variant.square_name(lake) for lake in variant.lakes],
        "army": {TYPES[kind].lower(): count for kind, count in enumerate(variant.army) if count},
        "battleless_limit": plies_left(0, rules.battleless_limit, rules),
        "total_limit": plies_left(0, rules.total_limit, rules),
    }
