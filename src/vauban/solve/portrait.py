"""Pictures of regularised Nash dynamics (SVG): paths through the plane, and NashConv where they rest.

portrait = Portrait.of(tree, eta=0.2, iterations=6, start=(0.999, 0.999))
Path("pennies.svg").write_text(portrait_svg(portrait))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vauban import charts
from vauban.charts import COLOURS, MARGIN
from vauban.errors import ConfigurationError
from vauban.solve.dynamics import RegularisedDynamics
from vauban.solve.evaluate import evaluate
from vauban.solve.policies import uniform
from vauban.solve.tree import Table, Tree

Point = tuple[float, float]

TIME_STEP = 0.02
"""Time between two points of a path; its steps are a tenth as long."""
NEAR = 2e-3
"""A path is drawn until both its probabilities are this near to where it rests."""
LONGEST = 20_000
"""Points of a path at most."""


@dataclass(frozen=True)
class Rest:
    """The first and the last point of the dynamics of one iteration."""

    nash_conv: float
    """Of the policy at rest."""
    distance: float
    """Σ KL(rest ‖ beginning) over all information sets; where each player chooses once, it falls along the path at rate
    η or faster."""
    probabilities: Point | None
    """Of the players' first actions at rest, in games of one choice between two actions each."""
    path: Sequence[Point]
    """The way there, in such games."""


@dataclass(frozen=True)
class Portrait:
    """The course of regularised Nash dynamics in a game."""

    game: str
    players: tuple[str, str]
    actions: tuple[str, str]
    """Names of the first of two actions, by player; empty where there is no plane to draw."""
    eta: float
    start: float
    """NashConv of the first policy."""
    rests: Sequence[Rest]

    @staticmethod
    def of(tree: Tree, eta: float, iterations: int, start: Point | None = None) -> Portrait:
        """Follow the dynamics for some iterations.

        start: probabilities of the players' first actions to begin with; uniform if not given.
        """
        plane = _first_slots(tree)
        table = uniform(tree)
        if start is not None:
            if plane is None:
                raise ConfigurationError(
                    f"{tree.game.name!r}: a start can be given where each player chooses once between two actions"
                )
            if not all(0 < chance < 1 for chance in start):
                raise ConfigurationError(f"a start is two probabilities between 0 and 1, not {start}")
            for slot, chance in zip(plane, start, strict=True):
                table[tree.slots_of(int(np.searchsorted(tree.groups.first_slot, slot, "right")) - 1)] = 1 - chance
                table[slot] = chance
        solver, rests = RegularisedDynamics(tree, eta, table), []
        for _ in range(iterations):
            before = solver.log_policy.copy()
            solver.run(1)
            after = solver.log_policy
            distance = float((np.exp(after) * (after - before)).sum())
            there = _place(solver.average(), plane)
            path = _path(tree, eta, before, plane, there) if plane and there else []
            rests.append(Rest(evaluate(tree, solver.average()).nash_conv, distance, there, path))
        names = tuple(tree.game.action_text(player, 0) for player in (0, 1)) if plane else ("", "")
        return Portrait(
            tree.game.name, tree.game.players, (names[0], names[1]), eta, evaluate(tree, table).nash_conv, rests
        )  # fmt: skip


def _first_slots(tree: Tree) -> tuple[int, int] | None:
    """Return the slots of both players' first actions, if each chooses once between two actions."""
    if tree.information_sets != (1, 1) or (tree.widths != 2).any():
        return None
    first, second = (int(np.flatnonzero((tree.slot_owners == player) & (tree.actions == 0))[0]) for player in (0, 1))
    return first, second


def _place(table: Table, plane: tuple[int, int] | None) -> Point | None:
    return (float(table[plane[0]]), float(table[plane[1]])) if plane else None


def _path(tree: Tree, eta: float, before: Table, plane: tuple[int, int], rest: Point) -> list[Point]:
    """Return the way from a policy, towards which play is regularised, to where the dynamics rest."""
    solver = RegularisedDynamics(tree, eta, np.exp(before))
    here = _place(solver.average(), plane)
    assert here is not None
    path = [here]
    while len(path) < LONGEST and max(abs(here[0] - rest[0]), abs(here[1] - rest[1])) > NEAR:
        solver.follow(TIME_STEP, TIME_STEP / 10)
        here = _place(solver.average(), plane)
        assert here is not None
        path.append(here)
    return [*path, rest]


# ── The picture ──────────────────────────────────────────────────────────────────────────────────

SIDE, LEFT, TOP, BOTTOM = 380.0, 58.0, 84.0, 56.0


def portrait_svg(portrait: Portrait) -> str:
    """Return the picture: the paths, where there is a plane to draw, and NashConv by iteration."""
    panels = ([_plane(portrait)] if portrait.rests[0].path else []) + [_distances(portrait)]
    step = LEFT + SIDE + MARGIN
    width, height = len(panels) * step + MARGIN, TOP + SIDE + BOTTOM
    heading = f"Regularised Nash dynamics of {portrait.game}, η = {portrait.eta:g}"
    drawn = [
        charts.group(parts, attributes=f'transform="translate({MARGIN + number * step:.1f} 0)"')
        for number, parts in enumerate(panels)
    ]
    rests = ", ".join(f"{rest.nash_conv:.3g}" for rest in portrait.rests)
    about = f"NashConv where the dynamics rest, by iteration: {rests}."
    return charts.picture(width, height, heading, about, drawn)


def _plane(portrait: Portrait) -> list[str]:
    """Draw the paths of all iterations, one colour each, with a dot where they rest."""
    x = charts.Scale.fitting(0, 1, LEFT, LEFT + SIDE, 5)
    y = charts.Scale.fitting(0, 1, TOP + SIDE, TOP, 5)
    words = [f"{player}: chance of {action}" for player, action in zip(portrait.players, portrait.actions, strict=True)]
    parts = [charts.text(LEFT, TOP - 16, "Paths, with dots where they rest", "title")]
    parts += [charts.line(x.at(tick), y.start, x.at(tick), y.end, "grid") for tick in x.ticks]
    parts += [*charts.grid(x, y), *charts.axis(x, y, words[0])]
    middle = (TOP + TOP + SIDE) / 2
    turned = f'<g transform="rotate(-90 14 {middle:.1f})">{charts.text(14, middle, words[1], "soft", "middle")}</g>'
    parts.append(turned)
    for number, rest in enumerate(portrait.rests):
        colour = COLOURS[number % len(COLOURS)]
        curve = charts.curve(rest.path, x, y, rest.path[-1:])
        parts.append(charts.group(curve, f"iteration {number}", attributes=charts.paint(colour)))
    return parts


def _distances(portrait: Portrait) -> list[str]:
    """Draw NashConv by iteration, that of the first policy before it, as powers of ten."""
    heights = [math.log10(max(each, 1e-16)) for each in (portrait.start, *(rest.nash_conv for rest in portrait.rests))]
    x = charts.Scale.fitting(0, len(portrait.rests), LEFT, LEFT + SIDE, 10)
    # Whole powers of ten.
    about = min(8, int(max(heights) - min(heights)) + 1)
    y = charts.Scale.rounded(min(heights), max(heights), TOP + SIDE, TOP, about)
    parts = [charts.text(LEFT, TOP - 16, "NashConv where they rest", "title")]
    parts += [*charts.grid(x, y, lambda tick: f"{10**tick:.2g}"), *charts.axis(x, y, "iterations", whole=True)]
    points = [(float(number), height) for number, height in enumerate(heights)]
    return [*parts, charts.group(charts.curve(points, x, y, points), attributes=charts.paint(COLOURS[0]))]
