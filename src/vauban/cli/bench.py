"""`vauban bench`: how fast it is, and whether it still does what it did."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from vauban.cli.output import Json, console, errors, print_json, progress_bar
from vauban.errors import ConfigurationError

if TYPE_CHECKING:
    from vauban.sim.simulator import Simulator


class Device(StrEnum):
    """The device to measure."""

    cpu = "cpu"
    cuda = "cuda"


DeviceOption = Annotated[Device, typer.Option(help="The device to measure.")]
GameOption = Annotated[str, typer.Option("--game", help="The game.")]
RulesOption = Annotated[str | None, typer.Option(help="The rules, if not the default ones.")]
GamesOption = Annotated[int | None, typer.Option(help="Number of games at once (cpu 4096, cuda 131072).", min=1)]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads on the CPU (all cores).", min=1)]
TracksOption = Annotated[bool, typer.Option(help="Keep what observations need, or the rules alone.")]
SecondsOption = Annotated[float, typer.Option(help="Seconds to measure.", min=0.1, max=3600)]

bench = typer.Typer(
    help="Measure the simulator (the median of seven runs, after games have been played on for a while), or compare "
    "what the program does with what it did.",
    epilog="Example: vauban bench sim · vauban bench signature games",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _add(what: str, unit: str, short: str, text: str) -> None:
    """Add the command of a measurement that takes a simulator and no more: `bench_<what>` of `vauban.bench`."""

    def command(
        device: DeviceOption = Device.cpu,
        variant: GameOption = "classic",
        rules: RulesOption = None,
        games: GamesOption = None,
        threads: ThreadsOption = None,
        tracks: TracksOption = True,
        seconds: SecondsOption = 3.0,
        json: Json = False,
    ) -> None:
        from vauban import bench as measure

        rate = partial(getattr(measure, f"bench_{what}"), seconds=seconds)
        _measure(what, unit, rate, device, variant, rules, games, threads, tracks, json)

    command.__doc__ = text
    bench.command(what, short_help=short)(command)


_add(
    "sim",
    "plies_per_second",
    "Measure random moves and steps.",
    """Measure random play: plies a second, each a legal move that is chosen and played.

    Example: vauban bench sim --game barrage --threads 1 --no-tracks
    """,
)
_add(
    "mask",
    "states_per_second",
    "Measure masks of legal actions.",
    """Measure masks of legal actions: positions a second.

    Example: vauban bench mask --games 65536 --device cuda
    """,
)


@bench.command(short_help="Measure observations.")
def observe(
    device: DeviceOption = Device.cpu,
    variant: GameOption = "classic",
    rules: RulesOption = None,
    games: GamesOption = None,
    threads: ThreadsOption = None,
    tracks: TracksOption = True,
    observation: Annotated[str | None, typer.Option(help="The observation (the game's default).")] = None,
    dtype: Annotated[str, typer.Option(help="bfloat16 or float32.")] = "bfloat16",
    layout: Annotated[str, typer.Option(help="planes or squares.")] = "planes",
    seconds: SecondsOption = 3.0,
    json: Json = False,
) -> None:
    """Measure observations: positions a second.

    Example: vauban bench observe --observation deepnash --layout squares
    """
    import torch

    from vauban import bench as measure
    from vauban.observe import base as observations

    kinds = {"bfloat16": torch.bfloat16, "float32": torch.float32}
    if dtype not in kinds:
        raise ConfigurationError(f"--dtype is bfloat16 or float32, not {dtype!r}")

    def rate(simulator: Simulator) -> float:
        seen = observation or observations.default(simulator.game).name
        return measure.bench_observe(simulator, seconds, seen, kinds[dtype], layout)

    _measure("observe", "states_per_second", rate, device, variant, rules, games, threads, tracks, json)


def _measure(
    what: str, unit: str, rate: Callable[[Simulator], float], device: Device, variant: str, rules: str | None,
    games: int | None, threads: int | None, tracks: bool, json: bool,
) -> None:  # fmt: skip
    """Make a simulator, measure it and print the figure."""
    from vauban import bench as measure
    from vauban.games.base import game

    count = games or measure.DEFAULT_GAMES[device]
    with errors.status(f"bench {what}: {count} games of {variant} on {device}"):
        simulator = measure.make(game(variant, rules), count, device, threads, tracks)
        found = rate(simulator)
    if json:
        print_json(
            {
                "bench": what, "variant": variant, unit: round(found), "games": count, "threads": simulator.threads,
                "device": device.value, "record_bytes": simulator.record_bytes, "tracks": tracks,
            }
        )  # fmt: skip
    else:
        console.print(
            f"{variant}, {count} games on {device} ({simulator.threads} thread{'s' * (simulator.threads > 1)}, "
            f"{simulator.record_bytes} bytes a record): [bold]{found:,.0f}[/] {unit.replace('_', ' ')}",
            highlight=False,
        )


@bench.command(short_help="Compare what the program does with what is stored.")
def signature(
    parts: Annotated[
        list[str] | None, typer.Argument(help="Parts, or how their names begin: games agents/fox (all).")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Store what was computed, if a change is meant.")] = False,
    json: Json = False,
) -> None:
    """Print a short hash of what each part of the program does, and say which differ from the stored ones.

    Exits with 1 if one differs or none is stored. Lines of learners are compared on the kind of machine that they were
    made on, and printed elsewhere.

    Example: vauban bench signature games agents/fox
    """
    from vauban import signature as signatures

    stored, learned_on = signatures.stored()
    found: dict[str, str] = {}
    marks: dict[str, str] = {}
    chosen = signatures.chosen(parts or [])
    with progress_bar("signatures", len(chosen)) as move:
        for done, (name, compute) in enumerate(chosen.items()):
            move(done, name)
            found[name] = compute()
            if not signatures.comparable(name):
                marks[name] = f"not compared: stored for {learned_on}"
            elif name not in stored:
                marks[name] = "not stored"
            elif stored[name] != found[name]:
                marks[name] = f"differs from {stored[name]}"
            if not json:
                console.print(f"{found[name]}  {name}  {marks.get(name, '')}".rstrip(), highlight=False, soft_wrap=True)
    differ = [name for name, mark in marks.items() if not mark.startswith("not compared")]
    if write:
        signatures.write(found)
    if json:
        print_json({"signatures": found, "learned_on": signatures.learned_on(), "differ": differ, "written": write})
    elif write:
        console.print(f"stored in {signatures.FILE}", highlight=False, soft_wrap=True)
    elif differ:
        console.print(
            f"{len(differ)} of {len(found)} differ from what is stored; if that is meant, {signatures.COMMAND}",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    if differ and not write:
        raise typer.Exit(1)
