"""`vauban best-response`: train a player against fixed agents, and say what it gains from them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vauban.cli.output import Json, complaining, console, errors, print_json, progress_bar
from vauban.errors import ConfigurationError, VaubanError
from vauban.learn.presets import presets

if TYPE_CHECKING:
    import torch

    from vauban.learn.config import RunConfig
    from vauban.learn.response import Point, Sample, SeatScores
    from vauban.learn.run import Run
    from vauban.solve import Table, Tree

BOARD, TABLE = "barrage", "leduc"
"""Games whose presets serve others: those with a board, and those without."""
LARGEST = 2_000_000
"""Histories of a game in which the best response is computed exactly, unless more are allowed."""
PROGRAMS = 16
"""Games at once where there are programs among the agents, each of which has a process in every game."""
POINTS = 12
"""Rows of the table."""
SMALLEST = 1e-9
"""A best response that gains less is not divided by."""


def best_response(
    agents: Annotated[
        list[str] | None,
        typer.Argument(metavar="AGENT", help="An agent or a policy of the solver; several are a mixture."),
    ] = None,
    game: Annotated[str, typer.Option(help="The game.")] = "",
    rules: Annotated[str | None, typer.Option(help="Its rules, if not the default ones.")] = None,
    weight: Annotated[
        list[float] | None, typer.Option(help="How often each agent plays, in proportion: once for each of them.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Train for so many minutes, not as long as the preset says.", min=0.01)
    ] = None,
    oracle: Annotated[str, typer.Option(help="The algorithm that learns: ppo or sac.")] = "ppo",
    preset: Annotated[str | None, typer.Option(help="Its configuration: a preset or a .toml file.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change it: ppo.games=1024.")
    ] = None,
    setups: Annotated[
        str | None,
        typer.Option(help="How both sides set up: own, human, uniform, list:FILE, … (default: own; uniform where the "
                     "game is solved).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance.", min=0)] = 1,
    games: Annotated[
        int, typer.Option(help="Games that the response is measured by, both seats together.", min=2)
    ] = 2_000,
    limit: Annotated[
        int, typer.Option(help="Most histories of a game whose exact best response is computed too.", min=0)
    ] = LARGEST,
    out: Annotated[Path | None, typer.Option(help="The run's folder (default: runs/best-response-GAME).")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    plot: Annotated[Path | None, typer.Option(help="The picture (default: response.svg in the run's folder).")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: a GPU if there is one.")] = "auto",
    json: Json = False,
) -> None:  # fmt: skip
    """Train a player against a fixed agent, and say what it gains: a lower bound of how exploitable the agent is.

    One network learns both seats, which are drawn for every game. What it gains over time is printed as a table and
    drawn as a picture, with 95 % intervals; in the end new games measure it. Where the game is small enough and the
    agent says its probabilities, the best possible gain is computed as well, and the share of it that was reached.

    AGENT is any agent (charger, mcts:sims=20, net:barrage, population:RUN, bot:COMMAND), or a policy of the solver
    (uniform, cfr+:iterations=200). Of several one is drawn for each game. Programs are slow opponents: each game has a
    process, and only a few games are played at once. ppo learns from the games of now, sac
    from a replay of them. The run can be killed and resumed; its model is an agent like any other: net:RUN.

    Example: vauban best-response uniform --game leduc

    Example: vauban best-response charger --game barrage --minutes 20 --out runs/against-charger

    Example: vauban best-response fox thermal --weight 2 --weight 1 --game barrage --minutes 20

    Example: vauban best-response --resume runs/against-charger --minutes 40
    """
    from vauban.agents.opponents import Opponents
    from vauban.cli.train import INTERRUPTED, command_text, go, room_for
    from vauban.learn.config import load_config
    from vauban.learn.run import Run, run_config
    from vauban.learn.workers import local_device

    agents = agents or []
    place = local_device(device)
    if resume is not None:
        if agents or game or preset or out:
            raise ConfigurationError(
                f"the run in {resume} knows its agents and its game: give --minutes or --set alone"
            )
        changes = [*([] if minutes is None else _for_minutes(minutes)), *(change or [])]
        config, folder = run_config(resume, changes), resume
        exact = _Exact.of(config, limit)
    else:
        if not agents or not game:
            raise ConfigurationError("name the agent and its game: vauban best-response AGENT --game GAME")
        check_oracle(oracle)
        named = preset or _preset(oracle, game)
        changes = _changes(named, agents, game, rules, weight, minutes, seed, change or [])
        exact = _Exact.of(load_config(named, changes), limit)
        if setups is None:
            setups = "uniform" if isinstance(exact, _Exact) else "own"
        changes.append(f'{_algorithm(load_config(named, changes))}.setups="{setups}"')
        config = load_config(named, changes)
        folder = out or Path("runs") / f"best-response-{Path(game).stem}"
    with room_for(config, place, folder):
        if resume is None:
            run = Run.begin(config, folder, place, agents=Opponents())
        else:
            run = Run.resume(folder, place, changes=changes, agents=Opponents())
        with room_for(config, place, folder, run):
            go(run, command_text(None if resume else named, resume, changes, 1, out))
    if run.stopping:
        errors.print(f"vauban best-response --resume {folder} goes on too, and measures it in the end", markup=False,
                     highlight=False, soft_wrap=True)  # fmt: skip
        raise typer.Exit(INTERRUPTED)
    _report(run, games, exact, plot or folder / "response.svg", json)


def learn_response(
    agent: str, played: RunConfig, oracle: str, seconds: float, games: int, device: torch.device, folder: Path,
    clock: Callable[[], float],
) -> SeatScores:  # fmt: skip
    """Train a response to an agent of a run for some seconds of a clock, in a folder; what it gains in new games."""
    from vauban.agents.opponents import Opponents
    from vauban.learn.config import load_config
    from vauban.learn.response import Responds
    from vauban.learn.run import Run

    named = _preset(oracle, played.game)
    changes = _changes(named, [agent], played.game, played.rules, None, seconds / 60, played.seed,
                       [f'{oracle}.setups="own"'])  # fmt: skip
    shutil.rmtree(folder, ignore_errors=True)  # of a measurement that was killed
    with closing(Run.begin(load_config(named, changes), folder, device, clock=clock, agents=Opponents())) as run:
        while run.goes_on():
            run.iterate()
        run.save()
        assert isinstance(run.first, Responds)
        return run.first.measure(games)


def check_oracle(name: str) -> None:
    """Refuse a name that is not of an algorithm that learns responses."""
    if name not in _oracles():
        raise ConfigurationError(f"--oracle is {' or '.join(_oracles())}, not {name!r}")


def _oracles() -> list[str]:
    """Return the algorithms that learn responses."""
    from vauban.learn.base import learners

    return sorted(name for name, kind in learners().items() if hasattr(kind.config, "opponents"))


def _preset(oracle: str, game: str) -> str:
    """Return the preset for a game: its own, or that of a game of the same make."""
    from vauban.games.base import game as find_game

    own = f"{oracle}-{game}"
    return own if own in presets() else f"{oracle}-{TABLE if find_game(game).moves is None else BOARD}"


def _for_minutes(minutes: float) -> list[str]:
    return ["iterations=0", f"minutes={minutes}"]


def _algorithm(config: RunConfig) -> str:
    """Return the name of the table that names the opponents of the run."""
    from vauban.learn.base import find_learner

    name = find_learner(config.algorithms[0]).name
    if not hasattr(config.stages[name], "opponents"):
        raise ConfigurationError(f"{name!r} plays against itself: name a preset of {' or '.join(_oracles())}")
    return name


def _changes(
    named: str, agents: Sequence[str], game: str, rules: str | None, weights: Sequence[float] | None,
    minutes: float | None, seed: int, more: Sequence[str],
) -> list[str]:  # fmt: skip
    """Return what is changed in the preset, as `vauban train` takes it."""
    from vauban.agents.external import prefix_of
    from vauban.learn.config import load_config, toml_text

    name = _algorithm(load_config(named))
    words = " and ".join(agents)
    return [
        f"about={toml_text(f'A best response to {words}')}",
        f"game={toml_text(game)}",
        *([] if rules is None else [f"rules={toml_text(rules)}"]),
        f"seed={seed}",
        *([] if minutes is None else _for_minutes(minutes)),
        *([f"{name}.games={PROGRAMS}"] if any(map(prefix_of, agents)) else []),
        f"{name}.opponents={toml_text(list(agents))}",
        f"{name}.weights={toml_text([float(each) for each in weights or ()])}",
        *more,
    ]


# ── The outcome ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Exact:
    """The most that can be gained from the agents, computed on the tree of the game."""

    tree: Tree
    table: Table
    """The play of the mixture of agents."""
    best: tuple[float, float]

    @classmethod
    def of(cls, config: RunConfig, limit: int) -> _Exact | str:
        """Compute it, or say why it cannot be computed."""
        from vauban.agents.base import GivesPolicy
        from vauban.agents.opponents import make_opponent
        from vauban.agents.tables import tabulated
        from vauban.games.base import game as find_game
        from vauban.solve import build_tree, evaluate, mixed

        table: Any = config.stages[_algorithm(config)]
        played = find_game(config.game, config.rules or None)
        agents = [make_opponent(text, played) for text in table.opponents]
        silent = next((each for each in agents if not isinstance(each, GivesPolicy)), None)
        if silent is not None:
            return f"{silent.name!r} does not say with what probabilities it plays"
        try:
            tree = build_tree(played, limit=limit)
        except VaubanError as error:
            return str(error)
        tables = [tabulated(tree, agent) for agent in agents if isinstance(agent, GivesPolicy)]
        whole = mixed(
            tree, tables, [each / sum(table.weights) for each in table.weights] or [1 / len(tables)] * len(tables)
        )
        return cls(tree, whole, evaluate(tree, whole).best_responses)

    def gains(self, folder: Path) -> tuple[float, float]:
        """Return what a model gains from the agents in each seat."""
        from vauban.agents.net import NetAgent, NetOptions
        from vauban.agents.tables import tabulated
        from vauban.solve import evaluate, joined

        mine = tabulated(self.tree, NetAgent(NetOptions(model=str(folder.absolute()))))
        first = evaluate(self.tree, joined(self.tree, mine, self.table)).value
        return first, -evaluate(self.tree, joined(self.tree, self.table, mine)).value


def _report(run: Run, games: int, exact: _Exact | str, plot: Path, as_json: bool) -> None:
    """Measure what a run has learned, print it, and draw its course."""
    from vauban.learn.journal import read_metrics
    from vauban.learn.response import Responds, course, course_svg

    learner = run.first
    assert isinstance(learner, Responds)
    with progress_bar("measuring", games) as move:
        measured = learner.measure(games, move)
    points = course(read_metrics(run.folder), POINTS)
    found: dict[str, Any] = {}
    if isinstance(exact, _Exact):
        gains = exact.gains(run.folder / "model")
        best, gained = sum(exact.best) / 2, sum(gains) / 2
        share = gained / best if best > SMALLEST else None
        found = {"score": gained, "first": gains[0], "second": gains[1], "best": best,
                 "best_responses": exact.best, "share": share}  # fmt: skip
    opponents = run.config.stages[run.stages[0].name].opponents  # type: ignore[attr-defined]
    title = f"Response to {' and '.join(opponents)} at {run.game.name}"
    with complaining(plot):
        plot.write_text(course_svg(title, points, measured, found.get("best")), encoding="utf-8")
    if as_json:
        print_json(
            {
                "game": run.game.name, "rules": run.config.rules or None, "agents": list(opponents),
                "oracle": run.stages[0].name, "seed": run.config.seed, "score": measured.score,
                "interval": _interval(measured.score, measured.margin),
                "first": _sample_table(measured.first), "second": _sample_table(measured.second),
                "seconds": round(60 * run.minutes, 1), "episodes": learner.episodes, "exact": found or None,
                "model": str(run.folder / "model"), "plot": str(plot),
                "course": [
                    {"minutes": round(each.minutes, 4), "episodes": int(each.games), "score": each.scores.score,
                     "interval": _interval(each.scores.score, each.scores.margin), "first": each.scores.first.mean,
                     "second": each.scores.second.mean}
                    for each in points
                ],
            }
        )  # fmt: skip
        return
    _print(run, points, measured, found, learner.episodes)
    if isinstance(exact, str):
        errors.print(f"There is no exact value: {exact}.", markup=False, highlight=False, soft_wrap=True)
    console.print(f"The picture is in {plot}; the response plays as net:{run.folder}.", highlight=False, markup=False,
                  soft_wrap=True)  # fmt: skip


def _interval(score: float, margin: float) -> list[float] | None:
    """Return both ends of an interval; None where there were too few games for one, since JSON has no infinity."""
    return [score - margin, score + margin] if math.isfinite(margin) else None


def _sample_table(sample: Sample) -> dict[str, Any]:
    from vauban.learn.response import SIGMAS

    return {"score": sample.mean, "interval": _interval(sample.mean, SIGMAS * sample.error), "games": sample.games}


def _print(run: Run, points: Sequence[Point], measured: SeatScores, exact: dict[str, Any], episodes: int) -> None:
    first, second = run.game.players

    def row(where: str, count: int, scores: SeatScores) -> None:
        margin = f"± {scores.margin:.4f}" if math.isfinite(scores.margin) else ""
        numbers = f"{scores.score:+12.4f} {margin:10}{scores.first.mean:+12.4f}{scores.second.mean:+12.4f}"
        console.print(f"{where:>14}{count:12,}{numbers}", highlight=False, soft_wrap=True)

    heads = f"{'minutes':>14}{'games':>12}{'score':>12}{'':11}{f'as {first}'[:11]:>12}{f'as {second}'[:11]:>12}"
    console.print(heads, highlight=False, soft_wrap=True)
    for point in points:
        row(f"{point.minutes:.2f}", int(point.games), point.scores)
    row("measured", measured.games, measured)
    means = "a lower bound of exploitability"
    if measured.score <= 0:
        means = "it has not learned to beat them, which says nothing of how exploitable they are"
    known = f" ± {measured.margin:.4f}" if math.isfinite(measured.margin) else ""
    said = [
        f"It gains {measured.score:+.4f}{known} a game, after {episodes:,} games in {60 * run.minutes:,.0f} seconds: "
        f"{means} (the mean of both seats; 95 % interval)."
    ]
    if exact:
        share = "" if exact["share"] is None else f", {max(0.0, exact['share']):.1%} of it"
        said.append(
            f"Exactly, it gains {exact['score']:+.6f} ({exact['first']:+.6f} as {first}, {exact['second']:+.6f} as "
            f"{second}); a best response gains {exact['best']:.6f}{share}."
        )
    for sentence in said:
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
