"""The metrics of all learners, and of the run itself, by name."""

from __future__ import annotations

from collections.abc import Mapping

from vauban.learn.base import Metric, learners


def metrics() -> dict[str, Metric]:
    """Return every metric, by its name; a star stands for what varies."""
    from vauban.learn import run

    declared = [*run.METRICS, *(each for kind in learners().values() for each in kind.metrics)]
    return {each.name: each for each in declared}


def find_metric(name: str) -> Metric | None:
    """Return the declaration of a metric; None if nobody has declared it."""
    known = metrics()
    stem = name.rpartition(".")[0]
    return known.get(name) or known.get(f"{stem}.*") or known.get(f"{name.split('.', 1)[0]}.*")


def facts_text(facts: Mapping[str, float]) -> dict[str, str]:
    """Return values of metrics in words, by the first part of their names."""
    found: dict[str, list[str]] = {}
    for name, value in facts.items():
        group, _, rest = name.partition(".")
        metric = find_metric(name)
        shown = metric.shown if metric and metric.shown else f"{rest.replace('_', ' ')} {{:g}}"
        found.setdefault(group, []).append(shown.format(value))
    return {group: ", ".join(said) for group, said in found.items()}


def clock_of(name: str) -> str:
    """Return the metric that counts the iterations in which this one is measured."""
    for kind in learners().values():
        if any(each.name == name for each in kind.metrics):
            return kind.clock
    return "iteration"


def clocks() -> list[str]:
    """Return all metrics that count the iterations of learners which come after others."""
    return [kind.clock for kind in learners().values() if kind.clock != "iteration"]
