"""Matrix games by learning: deterministic fictitious play and regret matching+.

`payoffs[row, column]` is what the row player gets; the column player gets the negative.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.solve.linear import Mix


def matrix_nash_conv(payoffs: npt.ArrayLike, row: npt.ArrayLike, column: npt.ArrayLike) -> float:
    """Return what both players together could gain by answering each other's mix as well as possible."""
    matrix, x, y = (np.asarray(each, np.float64) for each in (payoffs, row, column))
    return float((matrix @ y).max() - (x @ matrix).min())


def fictitious_play(payoffs: npt.ArrayLike, iterations: int) -> Mix:
    """Return the mix that a population playing against itself comes to; the game must be symmetric.

    Every strategy begins with an equal share of one count; in each iteration the best answer to the
    present average (the first of equals) gets one count more.
    """
    matrix = np.asarray(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, -matrix.T):
        raise ConfigurationError("fictitious play is of a symmetric game: payoffs[i, j] must be -payoffs[j, i]")
    counts = np.full(len(matrix), 1 / len(matrix))
    worths = matrix @ counts
    for _ in range(iterations):
        best = worths.argmax()
        counts[best] += 1
        worths += matrix[:, best]
    return counts / (iterations + 1)


def regret_matching_plus(payoffs: npt.ArrayLike, iterations: int) -> tuple[Mix, Mix]:
    """Return both players' average mixes after alternating regret matching+.

    In each iteration the row player updates first and the column player answers the updated mix;
    averages are of the updated mixes, that of iteration t counted t times.
    """
    matrix = np.asarray(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or iterations < 1:
        raise ConfigurationError("regret matching needs a matrix of payoffs, and at least one iteration")
    rows, columns = matrix.shape
    row, column = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    row_regrets, column_regrets = np.zeros(rows), np.zeros(columns)
    row_sum, column_sum = np.zeros(rows), np.zeros(columns)
    for iteration in range(1, iterations + 1):
        row = _matched(row_regrets, matrix @ column, row)
        column = _matched(column_regrets, -(row @ matrix), column)
        row_sum += iteration * row
        column_sum += iteration * column
    return row_sum / row_sum.sum(), column_sum / column_sum.sum()


def _matched(regrets: Mix, worths: Mix, mix: Mix) -> Mix:
    """Add the regrets of not having played each strategy instead of the mix; set the mix in proportion to them."""
    regrets += worths - mix @ worths
    np.maximum(regrets, 0, out=regrets)
    total = regrets.sum()
    return regrets / total if total > 0 else np.full(len(regrets), 1 / len(regrets))
