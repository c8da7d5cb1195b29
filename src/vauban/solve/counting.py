"""Fictitious play as a kernel: counts of answers to the average of all answers before."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs, no-check-untyped-defs

from vauban.games.kernel import kernel


@kernel
def count_answers(payoffs, worths, counts, iterations):
    """Count the best answer to the average so far, again and again.

    payoffs: of a symmetric game. worths: of each strategy against the counts, which stays up to date.
    """
    size = worths.shape[0]
    for _ in range(iterations):
        best = 0
        highest = worths[0]
        for each in range(1, size):
            if worths[each] > highest:
                highest = worths[each]
                best = each
        counts[best] += 1.0
        # The column of the answer, which is its row negated.
        for each in range(size):
            worths[each] -= payoffs[best, each]
