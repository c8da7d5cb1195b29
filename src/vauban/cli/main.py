"""The command `vauban`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Annotated

import typer

from vauban.cli.analyse import analyse
from vauban.cli.arena import agents, match, tournament
from vauban.cli.bench import bench
from vauban.cli.bots import bot, bot_check
from vauban.cli.curves import curves
from vauban.cli.games import observation, variants
from vauban.cli.models import models
from vauban.cli.output import complain
from vauban.cli.play import play
from vauban.cli.replay import replay
from vauban.cli.rules import perft, rules
from vauban.cli.solve import exploitability
from vauban.cli.terminal import terminal
from vauban.cli.train import train
from vauban.errors import VaubanError

app = typer.Typer(
    name="vauban",
    help="Board games of hidden information: Stratego in all its sizes, and small exact games.",
    epilog="Start with: vauban play · vauban variants · vauban perft tiny-1 --depth 5",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
COMMANDS: dict[Callable[..., None], str] = {
    play: "Play on a page, against the machine or a friend.",
    terminal: "Play a game of Stratego in this terminal.",
    replay: "Go through a recorded game, move by move.",
    match: "Let two agents play, and say who is better.",
    tournament: "Let many agents play each other, and rate them.",
    agents: "List the agents, or describe one.",
    bot: "Play one game in somebody else's manager.",
    bot_check: "Check that a bot speaks the line protocol.",
    train: "Train networks by self-play.",
    curves: "Draw the learning curves of runs.",
    analyse: "Search a position, or look back on a game.",
    exploitability: "Say how much a perfect opponent gains.",
    variants: "List the games and variants.",
    observation: "Print every channel of an observation.",
    rules: "Replay recorded games, and compare every ply.",
    perft: "Count the sequences of legal moves.",
}
"""The commands, each in a line short enough for a list of them."""

for command, line in COMMANDS.items():
    app.command(short_help=line)(command)
app.add_typer(bench, name="bench", short_help="Measure speed, compare behaviour with what is stored.")
app.add_typer(models, name="models", short_help="List the models, show a card, import weights.")


AGAIN_SECONDS = 0.05
"""After which a Ctrl-C comes again that could not be raised."""


def _print_version(asked: bool) -> None:
    if asked:
        from vauban import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Board games of hidden information: Stratego in all its sizes, and small exact games."""


def _interrupt_again(unraised: sys.UnraisableHookArgs) -> None:
    """Where Python cannot raise an error it prints it and goes on. A Ctrl-C that comes there is not to be lost.

    The compiler calls Python back from its own code: an interrupt in such a call comes again a moment later, since
    nothing can be raised in here either.
    """
    if isinstance(unraised.exc_value, KeyboardInterrupt):
        threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraised)


def run() -> None:
    """Run the command line; what a user did wrong ends in one sentence and exit code 2."""
    # Threads of torch that wait for each other by turning round and round take the cores away from those they wait
    # for, as soon as anything else runs: training was seen to slow down tenfold. It is read when torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.unraisablehook = _interrupt_again
    try:
        app()
    except VaubanError as error:
        complain(str(error))
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        file = error.filename
        complain(f"{file} cannot be used as asked ({error.strerror}): name another" if file else str(error))
        sys.exit(2)
