"""Matrix games by learning: fictitious play and regret matching+.

`payoffs[row, column]` is what the row player gets; the column player gets the negative.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vauban.errors import ConfigurationError
from vauban.sim.compile import CPU, compiled, progress
from vauban.solve.counting import count_answers
from vauban.solve.linear import Mix


def matrix_nash_conv(payoffs: npt.ArrayLike, row: npt.ArrayLike, column: npt.ArrayLike) -> float:
    """Return what both players together could gain by answering each other's mix as well as possible."""
    matrix, x, y = (np.asarray(each, np.float64) for each in (payoffs, row, column))
    return float((matrix @ y).max() - (x @ matrix).min())


def fictitious_play(payoffs: npt.ArrayLike, iterations: int, start: npt.ArrayLike | None = None) -> Mix:
    """Return the mix that a population playing against itself comes to; the game must be symmetric.

    Every strategy begins with an equal share of one count; in each iteration the best answer to the
    present average (the first of equals) gets one count more.

    start: a mix that is counted as the first play instead. Then the last play is not counted, as in the released
        program of pipeline PSRO.
    """
    matrix = np.ascontiguousarray(payoffs, np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.array_equal(matrix, -matrix.T):
        raise ConfigurationError("fictitious play is of a symmetric game: payoffs[i, j] must be -payoffs[j, i]")
    counts = np.full(len(matrix), 1 / len(matrix)) if start is None else np.array(start, np.float64)
    count = compiled(count_answers, CPU)
    with progress(count, "fictitious play"):
        count(matrix, matrix @ counts, counts, iterations if start is None else iterations - 1)
    mix: Mix = counts / counts.sum()
    return mix


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
