"""`vauban exploitability`: how much a perfect opponent could gain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vauban.agents.external.agent import PREFIX
from vauban.agents.options import make_options, option, split_text
from vauban.cli.output import Json, console, print_json, progress_bar
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.solve import Solver, Table, Tree


@dataclass(frozen=True)
class NoOptions:
    """Of a policy that leaves nothing to choose."""


@dataclass(frozen=True)
class Iterations:
    """Of a solver that goes through the whole tree."""

    iterations: int = option(1000, "how often it goes through the tree")


@dataclass(frozen=True)
class Samples:
    """Of a solver that samples the tree."""

    iterations: int = option(100_000, "how many samples for each player")


@dataclass(frozen=True)
class ExploringSamples(Samples):
    """Of one that also explores."""

    exploration: float = option(0.6, "share of own actions chosen uniformly")


OPTIONS: dict[str, type[Any]] = {
    "uniform": NoOptions,
    "first": NoOptions,
    "lp": NoOptions,
    "cfr": Iterations,
    "cfr+": Iterations,
    "external": Samples,
    "outcome": ExploringSamples,
}
"""The policies that are made here, and their options."""


def exploitability(
    game: Annotated[str, typer.Argument(help="A game that is small enough: kuhn, leduc, nano, rps-x, …")],
    agent: Annotated[
        str,
        typer.Argument(
            help="uniform, first, lp, cfr, cfr+, external, outcome (cfr+:iterations=200), "
            "or an agent that gives probabilities."
        ),
    ],
    rules: Annotated[
        str | None, typer.Option(help='Rules: a preset, switches, or both ("total_limit=6 chase=off").')
    ] = None,
    seed: Annotated[int, typer.Option(help="What chance depends on, in sampling and in agents.", min=0)] = 0,
    limit: Annotated[
        int | None, typer.Option(help="How many histories the game may have (default: 60,000,000).", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Say how much a perfect opponent gains against an agent, exactly.

    The whole tree of the game is built, with setups drawn by chance, and the best response to the
    agent is computed for both players. NashConv is the sum of what the two best responses get,
    exploitability half of it: 0 for an equilibrium.

    uniform plays every legal action equally often, first the one with the lowest number; lp is an
    equilibrium by linear programming; cfr, cfr+, external and outcome approach one in so many
    iterations of counterfactual regret minimisation (the latter two by sampling).

    Example: vauban exploitability leduc cfr+:iterations=200
    """
    from vauban.solve import build_tree, evaluate
    from vauban.solve.tree import LIMIT

    make_policy = _policy(agent, seed)
    begun = time.perf_counter()
    with progress_bar("histories") as move:
        tree = build_tree(game, rules, limit=limit or LIMIT, tick=lambda histories: move(histories))
    table = make_policy(tree)
    found = evaluate(tree, table)
    seconds = time.perf_counter() - begun
    if json:
        print_json(
            {
                "game": tree.game.name,
                "rules": rules,
                "agent": agent,
                "seed": seed,
                "histories": tree.histories,
                "information_sets": tree.information_sets,
                "value": found.value,
                "best_responses": found.best_responses,
                "nash_conv": found.nash_conv,
                "exploitability": found.exploitability,
                "bounds": found.bounds,
                "seconds": round(seconds, 3),
            }
        )
        return
    first, second = tree.game.players
    sets = tree.information_sets
    lines = [
        (f"value to {first}, by its own play", found.value),
        (f"{first} gets with a best response", found.best_responses[0]),
        (f"{second} gets with a best response", found.best_responses[1]),
        ("NashConv, the sum of the two", found.nash_conv),
        ("exploitability, half of it", found.exploitability),
    ]
    console.print(
        f"{agent} at {_game_words(tree)}\n{tree.histories:,} histories, {sets[0]:,} + {sets[1]:,} information sets",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    for text, number in lines:
        console.print(f"  {text:34}{_rounded(number):>12}", highlight=False)
    low, high = map(_rounded, found.bounds)
    console.print(f"So the game is worth {low} to {high} to {first}.", highlight=False)
    console.print(f"{seconds:.1f} s", highlight=False)


def _game_words(tree: Tree) -> str:
    """The game by its name, with its rules where it has some."""
    rules = getattr(tree.game, "rules", None)
    return tree.game.name if rules is None else f"{tree.game.name}, rules {rules.text}"


def _rounded(number: float) -> str:
    # Rounding errors below 0 are not worth a sign.
    return f"{round(number, 8) + 0.0:.8f}"


def _policy(text: str, seed: int) -> Callable[[Tree], Table]:
    """What makes the table of an agent's text, once there is a tree; mistakes in the text are found before."""
    from vauban import solve

    if text.startswith(PREFIX):
        raise ConfigurationError(
            f"{text!r} is a program, which chooses moves and does not say with what probabilities: no best response to "
            f"it can be computed. Take one of {', '.join(OPTIONS)}, or an agent with a method `probabilities`"
        )
    name, settings = split_text(text)
    if name not in OPTIONS:
        return _agent_policy(text, seed)
    options = make_options(OPTIONS[name], name, settings)
    if getattr(options, "iterations", 1) < 1:
        raise ConfigurationError(f"iterations={options.iterations} of {name!r}: there must be at least one")
    if name == "uniform":
        return solve.uniform
    if name == "first":
        return solve.first
    if name == "lp":
        return lambda tree: solve.solve_tree(tree).policy
    if name == "cfr":
        return lambda tree: _run(solve.CFR(tree), options.iterations)
    if name == "cfr+":
        return lambda tree: _run(solve.CFRPlus(tree), options.iterations)
    if name == "external":
        return lambda tree: _run(solve.ExternalSampling(tree, seed), options.iterations)
    return lambda tree: _run(solve.OutcomeSampling(tree, seed, options.exploration), options.iterations)


def _agent_policy(text: str, seed: int) -> Callable[[Tree], Table]:
    from vauban.agents import make_agent
    from vauban.solve import GivesProbabilities, tabulate

    try:
        agent = make_agent(text, seed)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error} (and the policies {', '.join(OPTIONS)})") from error
    if not isinstance(agent, GivesProbabilities):
        raise ConfigurationError(
            f"the agent {text!r} chooses moves and does not say with what probabilities, so no best response to it "
            f"can be computed: take one with a method `probabilities`, or {', '.join(OPTIONS)}"
        )

    def ask(tree: Tree) -> Table:
        with progress_bar("information sets", sum(tree.information_sets)) as move:
            # Networks answer for many views at once.
            return tabulate(tree, getattr(agent, "policies", agent), lambda done: move(done))

    return ask


PATIENCE = 0.3
"""Seconds between two moves of the progress bar."""


def _run(solver: Solver, iterations: int) -> Table:
    """Run a solver, in pieces short enough to show progress."""
    with progress_bar(solver.name, iterations) as move:
        piece = 1
        while solver.iterations < iterations:
            begun = time.perf_counter()
            solver.run(min(piece, iterations - solver.iterations))
            move(solver.iterations)
            if time.perf_counter() - begun < PATIENCE:
                piece *= 2
    return solver.average()
