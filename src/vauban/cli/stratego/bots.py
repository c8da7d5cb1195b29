"""`vauban bot` and `vauban bot-check`: the line protocol of the UCC competition, for other managers and other bots."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from vauban import door
from vauban.agents import make_agent, make_player
from vauban.agents.base import Agent, choose_move, close, set_up, tell
from vauban.agents.external import prefix_of
from vauban.agents.random import RandomAgent
from vauban.cli.output import Json, console, print_json, progress_bar
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import game as find_game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import Row
from vauban.games.stratego.variants import Variant
from vauban.notation.stratego import ucc
from vauban.notation.stratego.moves import Move

if TYPE_CHECKING:
    from vauban.agents.external.stratego.seen import SeenGame

GameName = Annotated[str, typer.Option("--game", help="What is played: a variant of Stratego, or a .toml file.")]


class _Quit(Exception):  # noqa: N818 – nothing went wrong
    """The manager has said QUIT, or has gone."""


class Speaker:
    """An agent of ours in somebody else's game: reads what the manager writes, and answers."""

    def __init__(self, agent: Agent, seed: int, source: TextIO, target: TextIO, variant: Variant = ucc.CLASSIC) -> None:
        self.agent = agent
        self.variant = variant
        self.seed = seed
        self._source, self._target = source, target
        self._told = 0

    def run(self) -> None:
        """Play one game, to its end."""
        try:
            line = self._read()
            player, _, asked = ucc.parse_setup_line(line)
            if (asked.place, asked.army) != (self.variant.place, self.variant.army):
                raise ConfigurationError(
                    f"the manager asks for another board or army than that of {self.variant.name!r}: {line!r}. "
                    "Name the game that it plays with --game"
                )
            setup = set_up(self.agent, Stratego(self.variant), player, random.Random(f"{self.seed} setup"))
            self._say(*ucc.setup_rows(setup, player, self.variant))
            event, rows = self._hear()
            self._game = _begun(player, setup, self.variant, rows, event)
            while True:
                self._follow(event, rows)
                self._answer()
                event, rows = self._hear()
        except _Quit:
            pass
        finally:
            close(self.agent)

    def _hear(self) -> tuple[str, list[str]]:
        """Read what has happened, and the board."""
        event = self._read()
        return event, [self._read() for _ in range(self.variant.rows)]

    def _follow(self, event: str, rows: list[str]) -> None:
        """Bring our game to where the manager's is; the board that is shown is always right."""
        try:
            if event.strip() != ucc.START:
                self._game.saw(ucc.parse_event(event))
            if self._game.agrees(rows):
                return
            why = "the board is another than ours"
        except VaubanError as error:
            why = str(error)
        print(f"after {event!r}: {why}. Going on from the board that is shown", file=sys.stderr)
        self._game.look_again(rows)
        self._told = 0

    def _answer(self) -> None:
        view = self._game.view()
        for played in view.history[self._told :]:
            tell(self.agent, played)
        self._told = len(view.history)
        move = choose_move(self.agent, view) if len(view.legal_moves) else None
        if move is None:
            self._say(ucc.SURRENDER)
            while True:  # who ends at once may be taken for one that crashed
                self._read()
        self._say(ucc.move_words(Move(*move), self.variant))
        words = self._read()
        echo = ucc.parse_event(words)
        if echo.outcome in ("OK", *ucc.OUTCOMES.values()):
            try:
                self._game.saw(echo)
            except VaubanError as error:  # the next board will show what has become of it
                print(f"after {words!r}: {error}. Waiting for the next board", file=sys.stderr)

    def _read(self) -> str:
        line = self._source.readline()
        if not line or line.split()[:1] == [ucc.QUIT]:
            raise _Quit
        return line.rstrip("\r\n")

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._target.write(f"{line}\n")
            self._target.flush()


def _begun(player: int, setup: Row, variant: Variant, rows: list[str], event: str) -> SeenGame:
    """Return the game as it stood before the first move, from the first board that is shown."""
    from vauban.agents.external.stratego.seen import SeenGame, enemies_at_the_start

    return SeenGame(player, setup, variant, enemies_at_the_start(rows, event, variant))


def _warm_up(agent: Agent, variant: Variant) -> None:
    """Have the rules and the agent compiled, or fetched from where they are kept, before a clock runs."""
    from vauban.agents.external.stratego.seen import SEEN_RULES
    from vauban.board.stratego import Board

    board = Board.random(variant, 0, SEEN_RULES)
    setup = set_up(agent, Stratego(variant), 0, random.Random(0))
    rows = ucc.board_rows(Board.from_setups(setup, setup, variant, SEEN_RULES), 0)
    board.push(board.legal_moves[0])
    choose_move(agent, _begun(0, setup, variant, rows, ucc.START).view())
    close(agent)


@contextmanager
def _without_scipy() -> Iterator[None]:
    """Let numba be loaded without scipy: it takes a third of a second, for linear algebra that no kernel uses."""
    absent = "scipy" not in sys.modules
    if absent:
        sys.modules["scipy"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if absent:
            del sys.modules["scipy"]


def _hasty(text: str) -> Agent:
    """Return the same agent without time to think; in place of a program, anyone."""
    if prefix_of(text):
        return RandomAgent(0)
    agent = make_agent(text)
    if not hasattr(getattr(agent, "options", None), "time"):
        return agent
    name, _, rest = text.partition(":")
    kept = [part for part in rest.split(",") if part and part.partition("=")[0].strip() != "time"]
    return make_agent(f"{name}:{','.join([*kept, 'time=0.01'])}")


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
    variant = ucc.variant_of(find_game(game))
    if time is not None and prefix_of(agent):
        raise ConfigurationError(f"--time is for agents of ours: {agent!r} is a program, which has its own ways")
    seed = random.SystemRandom().randrange(2**31) if seed is None else seed
    text = agent if time is None else f"{agent}{',' if ':' in agent else ':'}time={time:g}"
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    speaker = Speaker(make_player(text, Stratego(variant), seed), seed, sys.stdin, sys.stdout, variant)
    with _without_scipy():
        _warm_up(_hasty(text), variant)
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

    if command.startswith(door.PREFIX):
        raise ConfigurationError(
            f"{command!r} is a class of Python, which speaks no protocol: a match shows whether it plays, "
            f"vauban match {command} random --game {game} --games 20"
        )
    command = command.removeprefix("bot:")  # as matches name it
    if cwd == "":
        raise ConfigurationError("--cwd is empty: name a folder, or leave it out")
    variant = ucc.variant_of(find_game(game))
    _warm_up(RandomAgent(0), variant)
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
