"""`vauban compare`: several learners on one game, with the same time, on one page."""

from __future__ import annotations

import json as json_text
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vauban.cli.best_response import check_oracle, learn_response
from vauban.cli.output import Json, complaining, console, print_json, progress_bar
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.learn.comparison import Contest, Measure, Point
    from vauban.learn.config import RunConfig

COMPARISON, PAGE, PICTURE = "comparison.json", "index.html", "comparison.svg"
RESPONSES = "responses"
"""In a run's folder: the players that have learned to beat it, by the number of the measurement."""


def compare(
    learners: Annotated[list[str], typer.Argument(metavar="LEARNER", help="Presets of vauban train, or .toml files.")],
    seconds: Annotated[float, typer.Option(help="Seconds that each run learns for.", min=0.1)] = 60.0,
    seeds: Annotated[int, typer.Option(help="Runs of each learner, with the seeds 1, 2, …", min=1)] = 3,
    points: Annotated[int, typer.Option(help="Measurements of each run, at equal distances.", min=1)] = 10,
    game: Annotated[str | None, typer.Option(help="Learn this game in place of that of the presets.")] = None,
    rules: Annotated[str | None, typer.Option(help="Its rules: a preset, switches, or both.")] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(help="Measure by Elo, in games against this agent; may be given several times."),
    ] = None,
    games: Annotated[
        int, typer.Option(help="Games against each of them, and of each best response, at a measurement.", min=2)
    ] = 200,
    response: Annotated[
        float, typer.Option(help="Measure by best responses that learn for so many seconds each.", min=0.0)
    ] = 0.0,
    responses: Annotated[
        int | None, typer.Option(help="At so many of the measurements, the last one among them (default: all).", min=1)
    ] = None,
    oracle: Annotated[str, typer.Option(help="The algorithm that learns best responses: ppo or sac.")] = "ppo",
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: a GPU if there is one.")] = "auto",
    workers: Annotated[int, typer.Option(help="Runs at the same time, each on one core.", min=1)] = 1,
    out: Annotated[Path, typer.Option(help="A folder for the runs, the page and the figures.")] = Path("compared"),
    json: Json = False,
) -> None:
    """Compare learners: the same game, the same time to learn, several seeds; one page with curves and intervals.

    Small games are judged by exploitability, which is computed exactly; larger ones by Elo against agents of your
    choice (--against), by what a player gains that learns to beat the model (--response, a lower bound of
    exploitability), or by both. On a CPU each run has one core, and its seconds are processor time, so that other
    programs do not matter; measuring and compiling count for nothing. OUT/index.html is the page, comparison.svg a
    picture, comparison.json has every figure, and the runs lie beside them, with their models. Kill it, and the same
    command goes on; name more learners or seeds, and they are added.

    Example: vauban compare ataraxos-kuhn deep-cfr-kuhn rnad-kuhn --seconds 60 --out compared/kuhn

    Example: vauban compare laptop mine.toml --game medium --against random --against fox --seconds 600 --seeds 1

    Example: vauban compare rnad-micro ataraxos-micro --seconds 600 --response 120 --responses 3 --device cuda
    """
    from vauban.arena.comparison import comparison_html, comparison_svg, final_headings, final_rows, summarise
    from vauban.learn.comparison import ContestTask, about, contests, label, read_points, settings
    from vauban.learn.workers import local_device
    from vauban.work.executors import Here, Processes

    place = local_device(device)
    if place.type == "cuda" and workers > 1:
        raise ConfigurationError("runs on one GPU take their turns: leave --workers away")
    changes = [*([f"game={game}"] if game else []), *([f"rules={rules}"] if rules is not None else [])]
    made = contests(learners, seeds, out, seconds, points, changes, place.type)
    check_oracle(oracle)
    if responses and not (response and responses <= points):
        raise ConfigurationError(f"--responses is for --response SECONDS, at no more than all {points} measurements")
    opponents = tuple(against or [])
    share = Fraction(points, responses or points)
    asked = tuple(int(each * share) for each in range(1, (responses or points) + 1)) if response else ()
    measurer = Measurer(opponents, games, response, asked, oracle, place.type)
    measures = {"opponents": list(opponents), "games": games, "response": response, "responses": list(asked),
                "oracle": oracle if response else ""}  # fmt: skip
    wanted = {**settings(made), **measures}
    for each in made[: len(learners)]:
        measurer(each.config)  # refuses what cannot be measured, now and not in an hour
    _begin(out, wanted)
    executor = Here() if workers == 1 else Processes(workers)
    with progress_bar("comparing", len(made)) as move:
        for done, (number, found) in enumerate(executor.run(ContestTask(each, measurer) for each in made), 1):
            move(done, f"{made[number]} is done")
            _check_whole(made[number], found)
    config = made[0].config
    comparison: dict[str, Any] = {
        "settings": wanted,
        "game": config.game,
        "rules": config.rules,
        "conditions": _conditions(made[0], workers),
        "learners": [
            {
                "name": label(name),
                "about": about(next(each for each in made if each.preset == name)),
                "runs": [
                    {"seed": each.seed, "points": [vars(point) for point in read_points(each.folder)]}
                    for each in made
                    if each.preset == name
                ],
            }
            for name in learners
        ],
    }
    summarise(comparison)
    title = f"Learners side by side: {config.game}" + (f", {config.rules}" if config.rules else "")
    with complaining(out):
        (out / COMPARISON).write_text(json_text.dumps(comparison, indent=1) + "\n", encoding="utf-8")
        (out / PICTURE).write_text(comparison_svg(comparison, title), encoding="utf-8")
        (out / PAGE).write_text(comparison_html(comparison, title, comparison["conditions"]), encoding="utf-8")
    if json:
        print_json(comparison)
        return
    _print_table(final_headings(comparison), final_rows(comparison))
    console.print(f"the page is {out / PAGE}", highlight=False, markup=False, soft_wrap=True)


@dataclass(frozen=True)
class Measurer:
    """Makes what measures the models of a run: exactly, by games against opponents, or by best responses."""

    opponents: tuple[str, ...]
    games: int
    response: float
    """Seconds that a best response learns for."""
    asked: tuple[int, ...]
    """The measurements at which one does."""
    oracle: str
    device: str

    def __call__(self, config: RunConfig) -> Measure:
        import torch

        from vauban.cli.train import agent_text, make_evaluator
        from vauban.learn.comparison import Stopwatch, evaluation_of

        device = torch.device(self.device)
        exact = not self.opponents and not self.response
        evaluator = make_evaluator(evaluation_of(config, self.opponents, self.games, exact), device)
        assert evaluator is not None

        def measure(folder: Path, number: int) -> dict[str, float]:
            found = dict(evaluator(folder))
            if number in self.asked:
                scores = learn_response(
                    agent_text(config, folder, self.device), config, self.oracle, self.response, self.games, device,
                    folder.parent / RESPONSES / f"{number:02}", Stopwatch(device),
                )  # fmt: skip
                found |= {"response": scores.score, "response.margin": scores.margin}
            return found

        return measure


def _begin(out: Path, wanted: dict[str, Any]) -> None:
    """Go on with a comparison of the same settings, or begin one; refuse another one in the same folder."""
    path = out / COMPARISON
    if path.exists():
        there = json_text.loads(path.read_text(encoding="utf-8"))["settings"]
        other = [name for name in wanted if wanted[name] != there.get(name)]
        if other:
            said = ", ".join(f"{name} {there.get(name)} and not {wanted[name]}" for name in other)
            raise ConfigurationError(f"there is another comparison in {out} ({said}): name another folder with --out")
        return
    with complaining(out):
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text.dumps({"settings": wanted}) + "\n", encoding="utf-8")


def _check_whole(contest: Contest, found: Sequence[Point]) -> None:
    """Say when a run could not be measured, so that the page does not lack it in silence."""
    if not found or found[-1].number < contest.points:
        raise ConfigurationError(
            f"{contest}: it was over before its time, with {len(found)} of {contest.points} measurements: give the "
            "comparison fewer --seconds, or look into the run"
        )


def _conditions(contest: Contest, workers: int) -> dict[str, str]:
    import sys

    import torch

    from vauban.learn.origin import commit_text, machine_text

    return {
        "seconds": f"{contest.seconds:g} a run, {'processor time of one core' if contest.device == 'cpu' else 'GPU'}",
        "machine": machine_text(torch.device(contest.device)) + (f", {workers} at a time" if workers > 1 else ""),
        "date": time.strftime("%Y-%m-%d"),
        "code": commit_text(),
        "command": shlex.join(["vauban", *sys.argv[1:]]),
    }


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table(*headings)
    for row in rows:
        table.add_row(*row)
    console.print(table)
