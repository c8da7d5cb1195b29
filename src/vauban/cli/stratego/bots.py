"""`vauban bot` and `vauban bot-check`: the line protocol of the UCC competition, for other managers and other bots."""

from __future__ import annotations

import ctypes
import gc
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from vauban import door
from vauban.cli.output import Json, console, print_json, progress_bar
from vauban.errors import ConfigurationError

LEARNED = ("net", "search")
"""Agents that need torch."""
GameName = Annotated[str, typer.Option("--game", help="What is played: a variant of Stratego, or a .toml file.")]


@contextmanager
def _loading() -> Iterator[None]:
    """Load modules fast: a manager's clock runs from the start of the program.

    Collect no garbage meanwhile, since modules leave little. Load numba without scipy, which takes a third of a second
    for linear algebra that no kernel uses.
    """
    absent = "scipy" not in sys.modules
    if absent:
        sys.modules["scipy"] = None  # type: ignore[assignment]
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        if absent:
            del sys.modules["scipy"]


def _map_torch() -> None:
    """Begin to map torch's libraries into memory, so that importing torch finds them there.

    Mapping is a quarter of the import, and Python does other things meanwhile. Errors are left to the import.
    """
    found = find_spec("torch")
    if found is not None and found.origin is not None:
        library = Path(found.origin).parent / "lib" / "libtorch_python.so"

        def map_library() -> None:
            with suppress(OSError):
                ctypes.CDLL(str(library))

        Thread(target=map_library, daemon=True).start()


def bot(
    agent: Annotated[str, typer.Argument(help="The agent, e.g. cadet.")],
    seed: Annotated[
        int | None,
        typer.Option(envvar="VAUBAN_SEED", help="Makes it play the same again (default: another in every game)"),
    ] = None,
    time: Annotated[float | None, typer.Option(help="Seconds a move, short for AGENT:time=SECONDS")] = None,
    game: GameName = "classic",
) -> None:
    """Play one game in somebody else's manager, on standard input and output.

    The line protocol is that of the UCC programming competition of 2012, for any board (docs/external-bots.md).
    What it needs is compiled before it says its first line, once for a machine, which may take longer
    than a manager waits: run `vauban bot-check "vauban bot cadet"` first.

    Example: vauban bot cadet --seed 7
    """
    if agent.partition(":")[0] in LEARNED:
        _map_torch()
    with _loading():
        from vauban.agents import make_player
        from vauban.agents.external import prefix_of
        from vauban.cli.stratego.speaker import Speaker, hasty, mark_of, warm_up
        from vauban.games.base import game as find_game
        from vauban.notation.stratego.ucc import variant_of

        variant = variant_of(find_game(game))
        if time is not None and prefix_of(agent):
            raise ConfigurationError(f"--time is for agents of ours: {agent!r} is a program, which has its own ways")
        seed = random.SystemRandom().randrange(2**31) if seed is None else seed
        text = agent if time is None else f"{agent}{',' if ':' in agent else ':'}time={time:g}"
        speaker = Speaker(make_player(text, variant.as_game(), seed), seed, sys.stdin, sys.stdout, variant)

    def prepare() -> None:
        with _loading():
            warm_up(hasty(text), variant)

    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    mark = mark_of(text, variant)
    if mark is not None and mark.exists():
        # What was compiled before is loaded fast, and no setup needs it.
        speaker.run(prepare)
        return
    prepare()
    if mark is not None:
        with suppress(OSError):
            mark.touch()
    speaker.run()


def bot_check(
    command: Annotated[str, typer.Argument(help="The bot's command, in quotes; no shell is asked.")],
    game: GameName = "classic",
    games: Annotated[
        int, typer.Option(help="Whole games against a random mover, as red and as blue by turns.", min=1)
    ] = 2,
    seconds: Annotated[
        float, typer.Option(help="Seconds allowed for an answer; we wait three times as long.", min=0.01)
    ] = 2.0,
    plies: Annotated[int, typer.Option(help="A whole game is broken off after so many plies.", min=2)] = 400,
    memory: Annotated[int, typer.Option(help="MiB for each of its processes, 0 for no limit.", min=0)] = 1024,
    cwd: Annotated[str | None, typer.Option(help="The folder to start it in (default: this one)")] = None,
    seed: Annotated[int, typer.Option(help="Seed of our side of the games.")] = 0,
    json: Json = False,
) -> None:
    """Check that a bot speaks the line protocol, and say in plain words what it does wrong.

    It plays whole games and special situations in both colours. Exit code 1 if it does something
    that would lose it games; warnings do not count.

    Example: vauban bot-check "python3 examples/any_board_bot.py" --game medium
    """
    from dataclasses import asdict

    from vauban.agents.external.stratego.check import check
    from vauban.agents.random import RandomAgent
    from vauban.cli.stratego.speaker import warm_up
    from vauban.games.base import game as find_game
    from vauban.notation.stratego.ucc import variant_of

    if command.startswith(door.PREFIX):
        raise ConfigurationError(
            f"{command!r} is a class of Python, which speaks no protocol: a match shows whether it plays, "
            f"vauban match {command} random --game {game} --games 20"
        )
    command = command.removeprefix("bot:")  # as matches name it
    if cwd == "":
        raise ConfigurationError("--cwd is empty: name a folder, or leave it out")
    variant = variant_of(find_game(game))
    warm_up(RandomAgent(0), variant)
    with progress_bar("checking") as move:
        report = check(
            command, variant=variant, games=games, seconds=seconds, plies=plies, memory=memory, cwd=cwd, seed=seed,
            tell=lambda situation: move(0, situation),
        )  # fmt: skip
    if json:
        print_json({**asdict(report), "variant": variant.name, "ok": report.ok})
    else:
        for trial in report.trials:
            console.print(
                f"{trial.colour:<5}{trial.situation}: {trial.result}, {trial.plies} plies, "
                f"slowest answer {trial.slowest:.2f} s",
                highlight=False, markup=False, soft_wrap=True,
            )  # fmt: skip
        for finding in report.findings:
            console.print(f"\n{finding.level.upper()} {finding.situation}", style="bold red", highlight=False)
            console.print(f"  {finding.sentence}", highlight=False, markup=False, soft_wrap=True)
            for line in finding.transcript:
                console.print(f"    {line}", highlight=False, markup=False, soft_wrap=True)
            if finding.stderr.strip():
                last = finding.stderr.strip().splitlines()[-8:]
                console.print("  On standard error, at the end:", highlight=False)
                for line in last:
                    console.print(f"    {line}", highlight=False, markup=False, soft_wrap=True)
        verdict = "All is well, by the rules of the competition." if report.ok else "It would lose games by this."
        console.print(f"\n{verdict}", style="bold green" if report.ok else "bold red", highlight=False)
        if report.ok:
            console.print(_about_repetition(report.repeats, len(report.trials)), highlight=False, soft_wrap=True)
    if not report.ok:
        raise typer.Exit(1)


def _about_repetition(games: int, trials: int) -> str:
    """Tell a bot's author of the repetition rules, which matches have and the competition has not."""
    found = f"In {games} of {trials} games it made a move that they bar. " if games else ""
    return (
        f"There were no repetition rules. {found}A bot that does not know them would lose games by them: "
        "let it play with vauban match … --rules ucc."
    )
