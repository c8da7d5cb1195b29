"""The command `vauban`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from vauban.cli.output import complain
from vauban.errors import VaubanError, install_command

COMMANDS: dict[str, tuple[str, str]] = {
    "play": ("play", "Play on a page, against the machine or a friend."),
    "terminal": ("terminal", "Play a game in this terminal."),
    "replay": ("replay", "Go through a recorded game, move by move."),
    "match": ("arena", "Let two agents play, and say who is better."),
    "tournament": ("arena", "Let many agents play each other, and rate them."),
    "agents": ("arena", "List the agents, or describe one."),
    "bot": ("stratego.bots", "Play one game in somebody else's manager."),
    "bot-check": ("stratego.bots", "Check that a bot speaks the line protocol."),
    "geister-client": ("geister.server", "Play on a public Geister server."),
    "geister-server": ("geister.server", "Let clients of the public Geister server play here."),
    "train": ("train", "Train networks by self-play."),
    "curves": ("curves", "Draw the learning curves of runs."),
    "compare": ("compare", "Compare learners with the same time."),
    "analyse": ("analyse", "Search a position, or look back on a game."),
    "exploitability": ("solve", "Say how much a perfect opponent gains."),
    "psro": ("psro", "Compare ways to train populations."),
    "best-response": ("best_response", "Train a player against an agent: how exploitable is it?"),
    "dynamics": ("dynamics", "Follow regularised Nash dynamics, and draw them."),
    "games": ("games", "List the games."),
    "observation": ("games", "Print every channel of an observation."),
    "rules": ("stratego.rules", "Replay recorded games, and compare every ply."),
    "perft": ("perft", "Count the sequences of legal actions."),
    "bench": ("bench", "Measure speed, compare behaviour with what is stored."),
    "models": ("models", "List the models, show a card, import weights."),
}
"""The commands: the module of `vauban.cli` that each is in, and a line short enough for a list of them."""


def make_app(wanted: str | None = None) -> typer.Typer:
    """Make the command line with one command, or with all: each needs imports of its own, which take time.

    The others are listed, and cannot be run.
    """
    app = typer.Typer(
        name="vauban",
        help="Board games of hidden information: Stratego in all its sizes, Geister, poker and matrix games.",
        epilog="Start with: vauban play · vauban games · vauban perft tiny-1 --depth 5",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
    )
    app.callback()(main)
    for name, (module, line) in COMMANDS.items():
        found: Any = _listed
        if wanted in (None, name):
            found = getattr(import_module(f"vauban.cli.{module}"), name.replace("-", "_"))
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name, short_help=line)
        else:
            app.command(name, short_help=line)(found)
    return app


def _listed() -> None:
    """Stand in a list for a command that is not loaded."""
    raise AssertionError("a command that was not asked for is run")


@cache
def __getattr__(name: str) -> typer.Typer:
    """`app`: the command line with all commands."""
    if name != "app":
        raise AttributeError(name)
    return make_app()


AGAIN_SECONDS = 0.05
"""After which a Ctrl-C comes again that could not be raised."""


def _print_version(asked: bool) -> None:
    if asked:
        from vauban import __version__

        print(__version__)
        raise typer.Exit


def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Board games of hidden information: Stratego in all its sizes, Geister, poker and matrix games."""


def _interrupt_again(unraised: sys.UnraisableHookArgs) -> None:
    """Raise a Ctrl-C again that came where Python cannot raise an error, only prints it and goes on.

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
        words = [word for word in sys.argv[1:] if not word.startswith("-")]
        make_app(words[0] if words else "")()
    except VaubanError as error:
        complain(str(error))
        sys.exit(2)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "torch":
            raise
        complain(f"this command needs torch, which is not installed: {install_command('learn')}")
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        file = error.filename
        complain(f"{file} cannot be used as asked ({error.strerror}): name another" if file else str(error))
        sys.exit(2)
