"""A population in figures and as a picture: its meta-Nash, its payoff table, what each new policy gained.

portrait = Portrait.of(read_population(Path("runs/psro-leduc-exact")))
Path("population.svg").write_text(portrait_svg(portrait))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vauban import charts
from vauban.charts import COLOURS, MARGIN
from vauban.learn.population import PAYOFFS, Policy, Population
from vauban.learn.psro.ledger import read_entries
from vauban.learn.psro.workshop import Checkpoint, Floats

MOST = 60
"""Policies in a picture; of more, those that are drawn most often."""


@dataclass(frozen=True)
class Portrait:
    """A population, and what its policies get from each other."""

    population: Population
    payoffs: Floats
    """By row and column; not a number where it has not been measured."""

    @staticmethod
    def of(population: Population) -> Portrait:
        """Read the payoffs of a population."""
        places = {Checkpoint(each.number, each.updates): place for place, each in enumerate(population.policies)}
        payoffs = np.full((len(places), len(places)), np.nan)
        np.fill_diagonal(payoffs, 0.0)
        for entry in read_entries(population.folder / PAYOFFS):
            if entry.row in places and entry.column in places:
                row, column = places[entry.row], places[entry.column]
                payoffs[row, column], payoffs[column, row] = entry.payoff, -entry.payoff
        return Portrait(population, payoffs)

    @property
    def against_the_mix(self) -> Floats:
        """Each policy's payoff against the meta-Nash: 0 or less, where this is an equilibrium of the table."""
        found: Floats = np.nan_to_num(self.payoffs) @ np.array(self.population.chances)
        return found

    def chosen(self) -> list[int]:
        """Return the places of the policies of a picture."""
        chances = np.array(self.population.chances)
        return sorted(np.argsort(-chances, kind="stable")[:MOST].tolist())


# ── The picture ──────────────────────────────────────────────────────────────────────────────────

WIDTH, LEFT = 1000.0, 56.0
TOP, BARS, GAP, CURVE = 72.0, 90.0, 54.0, 150.0


def portrait_svg(portrait: Portrait) -> str:
    """Return the picture: chances above the payoffs of each column, and below what policies gained when finished."""
    population, places = portrait.population, portrait.chosen()
    policies = [population.policies[each] for each in places]
    size = min(24.0, (WIDTH - LEFT - 2 * MARGIN) / len(places))
    left, table = MARGIN + LEFT, TOP + BARS + 22
    parts = [*_bars(policies, left, size), *_cells(portrait, places, left, table, size)]
    below = table + size * len(places) + GAP
    parts += _gains([each for each in population.policies if each.performance is not None], left, below)
    height = below + CURVE + 52
    heading = f"The population of {population.run}: {population.game.name}, {population.scheme}"
    mix = ", ".join(f"policy {each.number} {each.chance:.3f}" for each in policies if each.chance >= 0.01)
    about = f"The meta-Nash of {len(population.policies)} policies: {mix}."
    return charts.picture(WIDTH, height, heading, about, parts)


def _bars(policies: Sequence[Policy], left: float, size: float) -> list[str]:
    """Draw the meta-Nash, a bar over the column of each policy."""
    y = charts.Scale.rounded(0, max(each.chance for each in policies), TOP + BARS, TOP, 3)
    parts = [charts.text(MARGIN, TOP - 8, "Chances in the meta-Nash, and payoffs of rows against columns", "title")]
    x = charts.Scale(0, len(policies), left, left + size * len(policies), 1)
    parts += charts.grid(x, y)
    for place, each in enumerate(policies):
        top = y.at(each.chance)
        bar = charts.rect(x.at(place) + 1, top, max(1.0, size - 2), y.start - top,
                          attributes=f'fill="{COLOURS[0]}"')  # fmt: skip
        parts.append(charts.group([bar], f"policy {each.number}: {each.chance:.4f}"))
    return parts


def _cells(portrait: Portrait, places: Sequence[int], left: float, top: float, size: float) -> list[str]:
    """Draw the payoff table: blue where the row wins, orange where it loses."""
    policies = portrait.population.policies
    payoffs = portrait.payoffs[np.ix_(places, places)]
    largest = max(float(np.nanmax(np.abs(payoffs))), 1e-12)
    every = max(1, math.ceil(12 / size))
    parts = []
    for row, place in enumerate(places):
        if row % every == 0:
            parts.append(
                charts.text(left - 6, top + size * (row + 0.5) + 4, str(policies[place].number), "soft", "end")
            )
        for column, payoff in enumerate(payoffs[row]):
            if not math.isfinite(payoff) or row == column:
                continue
            share = abs(payoff) / largest
            paint = f'fill="{COLOURS[0] if payoff > 0 else COLOURS[1]}" fill-opacity="{share:.2f}"'
            box = charts.rect(left + size * column, top + size * row, size, size, attributes=paint)
            said = f"{policies[place].number} gets {payoff:.3f} from {policies[places[column]].number}"
            parts.append(charts.group([box], said))
    return parts


def _gains(policies: Sequence[Policy], left: float, top: float) -> list[str]:
    """Draw what each policy got from its opponents when it was trained last."""
    if not policies:
        return []
    gains = [(float(each.number), each.performance) for each in policies if each.performance is not None]
    low, high = min(0.0, *(gain for _, gain in gains)), max(gain for _, gain in gains)
    x = charts.Scale.fitting(0, max(1.0, gains[-1][0]), left, WIDTH - 2 * MARGIN, 12)
    y = charts.Scale.rounded(low, high, top + CURVE, top, 5)
    parts = [charts.text(MARGIN, top - 14, "What each policy got from the meta-Nash that it learned to beat", "title")]
    parts += [*charts.grid(x, y), *charts.axis(x, y, "policies", whole=True)]
    return [*parts, charts.group(charts.curve(gains, x, y, gains), attributes=charts.paint(COLOURS[0]))]
