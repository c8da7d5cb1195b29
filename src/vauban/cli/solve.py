"""`vauban exploitability`: how much a perfect opponent could gain."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from vauban.cli.output import Json, console, print_json, progress_bar
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.games.base import Game
    from vauban.solve import Table, Tree


def exploitability(
    game: Annotated[str, typer.Argument(help="A game that is small enough: kuhn, leduc, nano, rps-x, …")],
    agent: Annotated[
        str,
        typer.Argument(
            help="uniform, first, lp, cfr, cfr+, external, outcome, r-nad, deep-cfr-table (cfr+:iterations=200), "
            "or an agent that gives probabilities."
        ),
    ],
    rules: Annotated[
        str | None, typer.Option(help='Rules: a preset, switches, or both ("total_limit=6 chase=off").')
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance, in sampling and in agents.", min=0)] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Most histories that the game may have (default: 60,000,000).", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Say how much a perfect opponent gains against an agent, exactly.

    The whole tree of the game is built, with setups drawn by chance, and the best response to the
    agent is computed for both players. NashConv is the sum of what the two best responses get,
    exploitability half of it: 0 for an equilibrium.

    uniform plays every legal action equally often, first the one with the lowest number; lp is an
    equilibrium by linear programming; cfr, cfr+, external and outcome approach one in so many
    iterations of counterfactual regret minimisation (the latter two by sampling); r-nad is regularised
    Nash dynamics, exactly (see vauban dynamics); deep-cfr-table is the algorithm of Deep CFR, with
    tables in place of networks.

    Example: vauban exploitability leduc cfr+:iterations=200
    """
    from vauban.games.base import game as find_game
    from vauban.solve import build_tree, evaluate
    from vauban.solve.tree import LIMIT

    played = find_game(game, rules)
    make_policy = _policy(agent, seed, played)
    begun = time.perf_counter()
    with progress_bar("histories") as move:
        tree = build_tree(played, limit=limit or LIMIT, tick=lambda histories: move(histories))
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
    """Return the game by its name, with its rules where it has some."""
    rules = tree.game.rules_text
    return tree.game.name if rules is None else f"{tree.game.name}, rules {rules}"


def _rounded(number: float) -> str:
    # Rounding errors below 0 are not worth a sign.
    return f"{round(number, 8) + 0.0:.8f}"


def _policy(text: str, seed: int, game: Game) -> Callable[[Tree], Table]:
    """Return what makes the table of an agent's text from a tree; refuse mistakes in the text, and other games, now."""
    from vauban.agents.external import prefix_of
    from vauban.agents.solved import OPTIONS, policy

    policies = ", ".join(OPTIONS)
    if prefix_of(text):
        raise ConfigurationError(
            f"{text!r} is a program, which chooses moves and does not say with what probabilities: no best response to "
            f"it can be computed. Take one of {policies}, or an agent with a method `policy`"
        )
    if text.partition(":")[0].strip() in OPTIONS:
        policy(text, seed)  # refuses what it cannot read, before a tree is built
        return lambda tree: _watched(text, seed, tree)
    return _agent_policy(text, seed, game, policies)


def _watched(text: str, seed: int, tree: Tree) -> Table:
    """Make the table of a policy, and show progress."""
    from vauban.agents.solved import policy

    with progress_bar(text) as move:
        return policy(text, seed, lambda name, done, total: move(done, name, total))(tree)


def _agent_policy(text: str, seed: int, game: Game, policies: str) -> Callable[[Tree], Table]:
    from vauban.agents import make_agent
    from vauban.agents.base import GivesPolicy, check_plays
    from vauban.agents.tables import tabulated

    try:
        agent = make_agent(text, seed, game=game)
    except ConfigurationError as error:
        raise ConfigurationError(f"{error} (and the policies {policies})") from error
    if not isinstance(agent, GivesPolicy):
        raise ConfigurationError(
            f"the agent {text!r} chooses moves and does not say with what probabilities, so no best response to it "
            f"can be computed: take one with a method `policy`, or {policies}"
        )
    check_plays(agent, game)

    def ask(tree: Tree) -> Table:
        with progress_bar("information sets", sum(tree.information_sets)) as move:
            return tabulated(tree, agent, move)

    return ask
