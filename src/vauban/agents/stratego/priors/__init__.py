"""Human setups: statistics of how people set up, and what follows from them for every variant.

The files beside this one hold statistics of the setups that people played, classic and barrage, and
the weights of a model that was fitted to them; `scripts/derive_setup_prior.py` writes them, and
docs/setups.md says how. Variants without data of their own get the statistics of the nearer of the
two, stretched to their board and fitted to their army.

A *code* is 0 for an empty square and 1 + type for a piece, as in a setup's row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vauban.games.stratego.pieces import BOMB, TYPES
from vauban.games.stratego.variants import VARIANTS, Variant

Floats = npt.NDArray[np.float64]

CODES = len(TYPES) + 1
SOURCES = ("classic", "barrage")
"""The variants of which there are human setups."""
CORNER, BACK, SIDE, INSIDE, FRONT = range(5)
"""Places where a Flag can stand: its possible guards differ."""
PLACES = ("back corner", "back row", "side", "inside", "front row")
POCKET = 5
"""Number of the last way of guarding a Flag: 0 to 4 are the Bombs next to it; this one is walled in by Bombs together
with one other piece."""
GUARDS = 6
RESERVE = 0.001
"""Share of the marginals that is uniform: a player is free to set up otherwise than people do."""


@dataclass(frozen=True)
class Statistics:
    """Statistics derived from the human setups of one variant, or stretched from those."""

    marginals: Floats
    """By setup square: the frequency of each code."""
    single: Floats
    """Weight of a code on a square (squares × codes)."""
    along: Floats
    """By row, weight of two codes side by side (symmetric: left and right are exchangeable)."""
    ahead: Floats
    """By row but the front one, weight of a code with another right in front of it."""
    across: Floats
    """The same, with another diagonally in front of it."""
    guard: Floats
    """By the Flag's place, weight of each way of guarding it."""


class Model(NamedTuple):
    """A log-linear model of setups as its kernels take it: the log-probability of a setup is, up to a constant,

    Σ single[square, code] + Σ pairs[table, code, other code] over neighbours + guard[Flag's square, how it is guarded].
    """

    single: Any
    """float64, squares × codes."""
    near: Any
    """int64, squares × 8: the squares around a square, straight ones first; −1 where there is none."""
    table: Any
    """int64, squares × 8: the number of the table that holds for that neighbour."""
    pairs: Any
    """float64, tables × codes × codes."""
    guard: Any
    """float64, squares × 6."""


def source_of(variant: Variant) -> Variant:
    """Return the nearer variant with human setups: barrage if the army has no other types and leaves squares free."""
    barrage = VARIANTS["barrage"]
    sparse = variant.pieces < variant.setup_rows * variant.columns
    known = all(there or not here for here, there in zip(variant.army, barrage.army, strict=True))
    return barrage if sparse and known else VARIANTS["classic"]


@cache
def statistics(variant: Variant) -> Statistics:
    """Return the statistics for a variant: those of its own human setups, or the stretched ones of its source."""
    source = source_of(variant)
    found = read(source.name)
    if (variant.columns, variant.setup_rows, variant.army) == (source.columns, source.setup_rows, source.army):
        return found
    return Statistics(
        _fit_army(_stretch(found.marginals, source, variant), source, variant),
        _stretch(found.single, source, variant),
        _resample(found.along, _rows(source.setup_rows, variant.setup_rows)),
        _resample(found.ahead, _steps(source.setup_rows, variant.setup_rows)),
        _resample(found.across, _steps(source.setup_rows, variant.setup_rows)),
        found.guard,
    )


@cache
def model(variant: Variant) -> Model:
    """Return the model of human-like setups of a variant."""
    found = statistics(variant)
    return assemble(variant, found.single, found.along, found.ahead, found.across, found.guard)


def assemble(variant: Variant, single: Floats, along: Floats, ahead: Floats, across: Floats, guard: Floats) -> Model:
    """Return the model with these weights."""
    tables = [*along]
    for step in (*ahead, *across):
        tables += [step, step.T]
    near, table = around(variant)
    places = [place_of(square, variant) for square in range(len(near))]
    return Model(np.ascontiguousarray(single), near, table, np.stack(tables), guard[places])


def around(variant: Variant) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Describe the surroundings of each setup square: `near` and `table` of a `Model`."""
    rows, columns = variant.setup_rows, variant.columns
    ways = [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)]
    near = np.full((rows * columns, len(ways)), -1, np.int64)
    table = np.zeros((rows * columns, len(ways)), np.int64)
    for square in range(rows * columns):
        row, column = divmod(square, columns)
        for way, (forward, right) in enumerate(ways):
            if 0 <= row + forward < rows and 0 <= column + right < columns:
                near[square, way] = (row + forward) * columns + column + right
                if forward == 0:
                    table[square, way] = row
                else:
                    step = min(row, row + forward) + (rows - 1 if right else 0)
                    table[square, way] = rows + 2 * step + (forward < 0)
    return near, table


def place_of(square: int, variant: Variant) -> int:
    """Return the kind of place that a setup square is for a Flag."""
    row, column = divmod(square, variant.columns)
    at_side = column in (0, variant.columns - 1)
    if row == 0:
        return CORNER if at_side else BACK
    if row == variant.setup_rows - 1:
        return FRONT
    return SIDE if at_side else INSIDE


# ── Files ────────────────────────────────────────────────────────────────────────────────────────


@cache
def read(name: str) -> Statistics:
    """Return the statistics in one of the files."""
    text = resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return decode(json.loads(text), VARIANTS[name])


def decode(table: dict[str, Any], variant: Variant) -> Statistics:
    """Return the statistics behind the table of a file."""
    codes = np.array(used_codes(variant))
    counts = np.array(table["counts"], np.float64)
    marginals = np.zeros((len(counts), CODES))
    marginals[:, codes] = counts / (2 * table["setups"])
    single = np.zeros_like(marginals)
    single[:, codes] = table["single"]
    wide = []
    for name in ("along", "ahead", "across"):
        tables = np.array(table[name], np.float64)
        wide.append(np.zeros((len(tables), CODES, CODES)))
        wide[-1][:, codes[:, None], codes] = tables
    # Nothing is known of more Bombs than the army has: they count as all of them do.
    guard = np.array(table["guard"], np.float64)
    guard[:, variant.army[BOMB] : POCKET] = guard[:, [min(variant.army[BOMB], POCKET - 1)]]
    return Statistics(marginals, single, wide[0], wide[1], wide[2], guard)


def used_codes(variant: Variant) -> list[int]:
    """Return the codes that occur in a variant's setups, in order."""
    free = variant.setup_rows * variant.columns - variant.pieces
    return [0] * (free > 0) + [1 + kind for kind, count in enumerate(variant.army) if count]


# ── Other boards and armies ──────────────────────────────────────────────────────────────────────


def _rows(have: int, want: int) -> Floats:
    """Weigh each of `have` rows for each of `want` rows in the same relative places."""
    if want == 1:
        return np.full((1, have), 1 / have)  # back row and front row at once
    return _between(np.arange(want) * (have - 1) / (want - 1), have)


def _steps(have: int, want: int) -> Floats:
    """Return the same for the steps between rows."""
    if want == 1:
        return np.zeros((0, have - 1))
    return _between((np.arange(want - 1) + 0.5) * (have - 1) / (want - 1) - 0.5, have - 1)


def _between(places: Floats, have: int) -> Floats:
    """Interpolate linearly: return the weight of each of `have` whole numbers for each place."""
    clipped = np.clip(places, 0, have - 1)
    return np.maximum(0, 1 - abs(clipped[:, None] - np.arange(have)))


def _resample(tables: Floats, shares: Floats) -> Floats:
    mixed: Floats = np.einsum("wh,hab->wab", shares, tables)
    return mixed


def _stretch(values: Floats, source: Variant, variant: Variant) -> Floats:
    """Return values by setup square, interpolated by relative row and column."""
    grid = values.reshape(source.setup_rows, source.columns, CODES)
    rows = _rows(source.setup_rows, variant.setup_rows)
    columns = _rows(source.columns, variant.columns)
    wide: Floats = np.einsum("wr,vc,rck->wvk", rows, columns, grid)
    return wide.reshape(variant.setup_rows * variant.columns, CODES)


def _fit_army(marginals: Floats, source: Variant, variant: Variant) -> Floats:
    """Scale columns and rows in turn until every code comes as often as it does in the army."""
    squares = len(marginals)
    wanted = np.array([squares - variant.pieces, *variant.army], np.float64)
    table = np.where(wanted > 0, marginals + 1e-6, 0.0)
    if wanted[0] and source.pieces == source.setup_rows * source.columns:
        table[:, 0] = 1.0  # there, no square is empty
    for _ in range(1000):
        table *= np.divide(wanted, table.sum(0), out=np.zeros(CODES), where=wanted > 0)
        table /= table.sum(1, keepdims=True)
    return table
