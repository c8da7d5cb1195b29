"""The command `vauban`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from vauban.cli.arena import agents, match, tournament
from vauban.cli.bench import bench
from vauban.cli.bots import bot, bot_check
from vauban.cli.games import observation, variants
from vauban.cli.output import complain
from vauban.cli.play import play
from vauban.cli.replay import replay
from vauban.cli.rules import perft, rules
from vauban.cli.solve import exploitability
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
for command in (
    play, replay, match, tournament, agents, bot, bot_check, exploitability, variants, observation, rules, perft, bench,
):  # fmt: skip
    app.command()(command)


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


def run() -> None:
    """Run the command line; what a user did wrong ends in one sentence and exit code 2."""
    try:
        app()
    except VaubanError as error:
        complain(str(error))
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)
