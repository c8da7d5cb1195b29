"""Ratings of many agents: Bradley–Terry with draws, in Davidson's form, fitted to all games at once.

With d = θ_i − θ_j and one draw parameter ν, agent i wins, draws and loses against j in the
proportion e^(d/2) : ν : e^(−d/2). A rating is θ in Elo units. The log likelihood is concave, and at
its maximum everybody's expected score is the actual one, a draw being worth ½.

"rating (Davidson)": where there are draws, differences of ratings are larger than the Elo (score) of
`vauban.arena.statistics`. The two are different scales, and of course neither is that of any website.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vauban.arena.results import ResultsError
from vauban.arena.statistics import ELO_PER_NAT, Z
from vauban.errors import ConfigurationError

Floats = NDArray[np.float64]

LONGEST_STEP = 2.0
SMALL_STEP = 1e-12
MOST_STEPS = 200


@dataclass(frozen=True)
class Ratings:
    """The ratings of agents whose games connect them."""

    agents: tuple[str, ...]
    ratings: Floats
    """In Elo; their mean is 0, or that of the anchor is what it was set to."""
    covariance: Floats
    """In Elo²."""
    nu: float
    """The draw parameter; 0 if no game was drawn."""
    log_nu_error: float | None
    """The standard error of ln ν; None if no game was drawn."""
    log_likelihood: float
    prior: bool
    """Whether half a virtual win was added to each side of every two agents that have met."""
    anchor: str | None
    """The agent whose rating was set; None if the mean is 0."""

    @property
    def errors(self) -> Floats:
        """The standard error of each rating."""
        return np.asarray(np.sqrt(np.diag(self.covariance).clip(0)))

    def interval(self, agent: int) -> tuple[float, float]:
        """Return the 95 % interval of an agent's rating; of a difference, `difference` does (intervals do not
        subtract).
        """
        middle, reach = float(self.ratings[agent]), Z * float(self.errors[agent])
        return middle - reach, middle + reach

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Return the difference of two ratings, and its standard error."""
        c = self.covariance
        variance = c[one, one] + c[other, other] - 2 * c[one, other]
        return float(self.ratings[one] - self.ratings[other]), math.sqrt(max(0.0, variance))


def rate(
    agents: Sequence[str],
    wins: ArrayLike,
    draws: ArrayLike,
    anchor: tuple[str, float] | None = None,
    prior: bool | None = None,
) -> list[Ratings]:
    """Return the ratings of all agents: one table for each group that games connect, the largest first.

    `wins[i][j]` counts how often i beat j; `draws` is symmetric. An `anchor` (agent, rating) sets one
    rating; other groups keep the mean 0. A `prior` of half a virtual win for each side of every two
    agents that have met is added where the maximum would not be finite otherwise (`needs_prior`);
    True and False force it.
    """
    won, drawn = np.asarray(wins, np.float64), np.asarray(draws, np.float64)
    size = len(agents)
    if won.shape != (size, size) or drawn.shape != (size, size):
        raise ResultsError(f"{size} agents need two {size}×{size} tables, got {won.shape} and {drawn.shape}")
    if (drawn != drawn.T).any() or (won < 0).any() or (drawn < 0).any() or won.trace() or drawn.trace():
        raise ResultsError(
            "wins and draws have to be counts, draws the same from both sides, and no agent plays against itself"
        )
    if anchor and anchor[0] not in agents:
        raise ConfigurationError(f"there is no agent {anchor[0]!r} to anchor: there are {', '.join(agents)}")
    tables = []
    for group in components(won + won.T + drawn):
        names = tuple(agents[i] for i in group)
        inside = np.ix_(group, group)
        fitted = _fit(names, won[inside], drawn[inside], prior)
        tables.append(_anchored(fitted, *anchor) if anchor and anchor[0] in names else fitted)
    return tables


def components(games: ArrayLike) -> list[list[int]]:
    """Return the groups of agents that games connect, the largest first; those who met nobody are groups of one."""
    met = np.asarray(games) > 0
    reached = _reach(met | met.T)
    groups = {tuple(np.flatnonzero(row)) for row in reached}
    return [[int(i) for i in group] for group in sorted(groups, key=lambda group: (-len(group), group))]


def needs_prior(wins: ArrayLike, draws: ArrayLike) -> bool:
    """Return whether the maximum is not finite: strengths, or strengths and draws together, could grow without end.

    Strengths alone could, if someone, or some group, has a perfect score. The draw parameter can grow with
    them if no win speaks against it: strengths d with d_i ≥ d_j + 2 wherever i beat j, and at most 2 apart where
    they drew. Such strengths exist unless going round a circle of games costs less than nothing.
    """
    won, drawn = np.asarray(wins) > 0, np.asarray(draws) > 0
    if not _reach(won | drawn).all():
        return True
    cost = np.where(won, -2.0, np.where(drawn, 2.0, np.inf))
    for middle in range(len(cost)):
        cost = np.minimum(cost, cost[:, middle, None] + cost[None, middle])
    return bool(drawn.any() and not (np.diag(cost) < 0).any())


def _reach(steps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find the agents that can be reached from each agent, in any number of steps."""
    reached = steps | np.eye(len(steps), dtype=bool)
    for middle in range(len(steps)):
        reached |= reached[:, middle, None] & reached[None, middle]
    return reached


def _fit(agents: tuple[str, ...], won: Floats, drawn: Floats, prior: bool | None) -> Ratings:
    """Newton's method from zero; the mean of the ratings stays 0."""
    size = len(agents)
    if size == 1:
        return Ratings(agents, np.zeros(1), np.zeros((1, 1)), 0.0, None, 0.0, False, None)
    wanting = needs_prior(won, drawn)
    virtual = wanting if prior is None else prior
    if wanting and not virtual:
        raise ResultsError(
            f"the ratings of {', '.join(agents)} have no finite maximum: somebody won or lost everything, or no game "
            "was decided; allow the prior"
        )
    if virtual:
        won = won + 0.5 * ((won + won.T + drawn) > 0)
    with_draws = bool(drawn.any())
    # The unknowns: every θ, then ln ν if any game was drawn.
    at = np.zeros(size + with_draws)
    value, gradient, information = _likelihood(at, won, drawn)
    for _ in range(MOST_STEPS):
        step = _solve(information, size, gradient)
        step *= min(1.0, LONGEST_STEP / np.abs(step).max(initial=1e-300))
        new, *slopes = _likelihood(at + step, won, drawn)
        while new < value - 1e-9 * abs(value):  # concave: a step that leads down is too long
            step /= 2
            new, *slopes = _likelihood(at + step, won, drawn)
        at, value, (gradient, information) = at + step, new, slopes
        if np.abs(step).max() < SMALL_STEP:
            break
    covariance = np.asarray(np.linalg.inv(_bordered(information, size)), np.float64)
    return Ratings(
        agents,
        ratings=(at[:size] - at[:size].mean()) * ELO_PER_NAT,
        covariance=covariance[:size, :size] * ELO_PER_NAT**2,
        nu=math.exp(at[size]) if with_draws else 0.0,
        log_nu_error=math.sqrt(covariance[size, size]) if with_draws else None,
        log_likelihood=value,
        prior=virtual,
        anchor=None,
    )


def _likelihood(at: Floats, won: Floats, drawn: Floats) -> tuple[float, Floats, Floats]:
    """Return the log likelihood, its gradient, and the information (minus the second derivatives)."""
    size = len(won)
    with_draws = len(at) > size
    half = (at[:size, None] - at[None, :size]) / 2
    log_nu = at[size] if with_draws else -math.inf
    log_z = np.logaddexp(np.logaddexp(half, -half), log_nu)
    win, loss, draw = np.exp(half - log_z), np.exp(-half - log_z), np.exp(log_nu - log_z)
    expected = win + draw / 2
    played = won + won.T + drawn
    value = float((won * (half - log_z)).sum())
    if with_draws:
        value += float((drawn * (log_nu - log_z)).sum()) / 2  # every draw is in the table twice

    spread = win * (1 - expected) ** 2 + draw * (0.5 - expected) ** 2 + loss * expected**2
    information = np.zeros((len(at), len(at)))
    information[:size, :size] = -played * spread
    np.fill_diagonal(information[:size, :size], (played * spread).sum(1))
    gradient = np.zeros(len(at))
    gradient[:size] = (won + drawn / 2 - played * expected).sum(1)
    if with_draws:
        gradient[size] = (drawn - played * draw).sum() / 2
        information[:size, size] = information[size, :size] = (played * draw * (0.5 - expected)).sum(1)
        information[size, size] = (played * draw * (1 - draw)).sum() / 2
    return value, gradient, information


def _bordered(information: Floats, size: int) -> Floats:
    """Return the information with the condition that the θ sum to 0: without it only differences are settled."""
    total = len(information)
    bordered = np.zeros((total + 1, total + 1))
    bordered[:total, :total] = information
    bordered[:size, total] = bordered[total, :size] = 1
    return bordered


def _solve(information: Floats, size: int, gradient: Floats) -> Floats:
    return np.asarray(np.linalg.solve(_bordered(information, size), np.append(gradient, 0.0))[:-1])


def _anchored(table: Ratings, anchor: str, rating: float) -> Ratings:
    """Return the same ratings with one of them set: its error is 0 then, and the others' are those of differences."""
    index = table.agents.index(anchor)
    shift = np.eye(len(table.agents))
    shift[:, index] -= 1
    return Ratings(
        table.agents,
        ratings=shift @ table.ratings + rating,
        covariance=shift @ table.covariance @ shift.T,
        nu=table.nu,
        log_nu_error=table.log_nu_error,
        log_likelihood=table.log_likelihood,
        prior=table.prior,
        anchor=anchor,
    )
