"""`vauban bench`: how fast is it?"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from vauban.cli.output import Json, console, errors, print_json
from vauban.errors import ConfigurationError


class What(StrEnum):
    """What is measured."""

    sim = "sim"
    observe = "observe"
    mask = "mask"


class Device(StrEnum):
    """Where it runs."""

    cpu = "cpu"
    cuda = "cuda"


def bench(
    what: Annotated[
        What, typer.Argument(help="sim: random moves and steps; observe: observations; mask: legal masks.")
    ],
    device: Annotated[Device, typer.Option(help="Where to run.")] = Device.cpu,
    variant: Annotated[str, typer.Option(help="The game or variant.")] = "classic",
    rules: Annotated[str | None, typer.Option(help="The rules, if not the default ones.")] = None,
    games: Annotated[int | None, typer.Option(help="How many games at once (cpu 4096, cuda 131072).", min=1)] = None,
    threads: Annotated[int | None, typer.Option(help="Threads on the CPU (all cores).", min=1)] = None,
    tracks: Annotated[bool, typer.Option(help="Keep what observations need, or the rules alone.")] = True,
    observation: Annotated[str | None, typer.Option(help="For observe: which one (the game's first).")] = None,
    dtype: Annotated[str, typer.Option(help="For observe: bfloat16 or float32.")] = "bfloat16",
    layout: Annotated[str, typer.Option(help="For observe: planes or squares.")] = "planes",
    seconds: Annotated[float, typer.Option(help="How long to measure.", min=0.1, max=3600)] = 3.0,
    json: Json = False,
) -> None:
    """Measure the simulator: the median of seven runs, after games have been played on for a while.

    Example: vauban bench sim --variant barrage --threads 1 --no-tracks
    """
    import torch

    from vauban import bench as measure
    from vauban.games.base import game
    from vauban.observe import base as observations

    kinds = {"bfloat16": torch.bfloat16, "float32": torch.float32}
    if dtype not in kinds:
        raise ConfigurationError(f"--dtype is bfloat16 or float32, not {dtype!r}")
    count = games or measure.DEFAULT_GAMES[device]
    with errors.status(f"bench {what}: {count} games of {variant} on {device}"):
        simulator = measure.make(game(variant, rules), count, device, threads, tracks)
        if what == What.sim:
            rate, unit = measure.bench_sim(simulator, seconds), "plies_per_second"
        elif what == What.mask:
            rate, unit = measure.bench_mask(simulator, seconds), "states_per_second"
        else:
            seen = observation or observations.names(simulator.game)[0]
            rate = measure.bench_observe(simulator, seconds, seen, kinds[dtype], layout)
            unit = "states_per_second"
    result = {
        "bench": what.value,
        "variant": variant,
        unit: round(rate),
        "games": count,
        "threads": simulator.threads,
        "device": device.value,
        "record_bytes": simulator.record_bytes,
        "tracks": tracks,
    }
    if json:
        print_json(result)
    else:
        console.print(
            f"{variant}, {count} games on {device} ({simulator.threads} thread{'s' * (simulator.threads > 1)}, "
            f"{simulator.record_bytes} bytes a record): [bold]{rate:,.0f}[/] {unit.replace('_', ' ')}",
            highlight=False,
        )
