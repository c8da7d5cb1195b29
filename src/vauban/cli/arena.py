"""`vauban match`, `vauban tournament` and `vauban agents`: who plays how well."""

from __future__ import annotations

import math
import secrets
import shlex
import time as clock
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from datetime import date
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from vauban import __version__
from vauban.cli.output import (
    Json,
    check_files,
    complain,
    complaining,
    console,
    ended_politely,
    errors,
    print_json,
    progress_bar,
    started_as,
    warn,
)
from vauban.errors import ConfigurationError
from vauban.families import folder_of

if TYPE_CHECKING:
    from vauban.arena.match import FinishedGame, Match
    from vauban.arena.results import GameResult
    from vauban.arena.sprt import Hypotheses
    from vauban.arena.tournament import Tournament
    from vauban.games import base as games
    from vauban.work.base import Executor

INTERRUPTED = 130
SHOWN = 3
"""Agents of a tournament that are named while it runs: as many as fit beside its progress."""
ANY_GAME, SOME = "any game", "some games"

Workers = Annotated[
    int | None, typer.Option(help="Processes on this machine (default: one for each core).", min=1, show_default=False)
]
Ray = Annotated[
    str | None,
    typer.Option(
        help="Play on a Ray cluster: its address, auto for the one of this machine, local for a new one here."
    ),
]
Game = Annotated[
    str | None,
    typer.Option(help="classic, barrage, kuhn, …, a .toml file or py:FILE.py:CLASS (vauban games; default: classic)."),
]
Rules = Annotated[str | None, typer.Option(help='A preset, switches, or both: "isf", "two_square=5 chase=off".')]
Setups = Annotated[
    str | None,
    typer.Option(
        help="Source of setups: human, uniform, list:FILE, … or own: agents choose (default: human where it is "
        "known how people set up, otherwise own, or uniform)."
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="Makes every game the same again (default: another every time, and printed).")
]
Time = Annotated[
    float | None, typer.Option(help="Seconds allowed for a move; an agent that needs more loses the game.")
]
BotTime = Annotated[
    float | None,
    typer.Option(
        help="Seconds that programs (bot:COMMAND) have for an answer (default: --time, or 2 where not given)."
    ),
]
Log = Annotated[Path | None, typer.Option(help="Add a line to this file whenever games are done.")]
Memory = Annotated[
    int | None,
    typer.Option(help="MiB for each process of a program, 0 for no limit (default: 1024).", min=0, show_default=False),
]
Html = Annotated[Path | None, typer.Option(help="Write the report as a page.")]


# ── vauban match ─────────────────────────────────────────────────────────────────────────────────


def match(
    agents: Annotated[
        list[str] | None,
        typer.Argument(metavar="A B", help="Two agents, e.g. cadet or fox:setups=human (vauban agents)."),
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option(help="The command of a program that plays in place of A or B (docs/external-bots.md)."),
    ] = None,
    games: Annotated[int, typer.Option(help="Number of games; with --sprt, the most.", min=1)] = 100,
    game: Game = None,
    rules: Rules = None,
    setups: Setups = None,
    seed: Seed = None,
    workers: Workers = None,
    ray: Ray = None,
    sprt: Annotated[
        str | None,
        typer.Option(metavar="ELO0,ELO1", help="Stop as soon as it is clear whether A is better by ELO1 or by ELO0."),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Share of tests that may wrongly find ELO1 (default: 0.05).")
    ] = None,
    beta: Annotated[
        float | None, typer.Option(help="Share of tests that may wrongly find ELO0 (default: 0.05).")
    ] = None,
    time: Time = None,
    bot_time: BotTime = None,
    memory: Memory = None,
    save: Annotated[
        Path | None, typer.Option(help="Write all games to a file, as they are done (vauban replay shows them).")
    ] = None,
    log: Log = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Let two agents play a match, and say how much better one of them is.

    Games are played in pairs: the same two setups, or the same deals, then the agents change sides. Score and Elo are
    A's; in games with stakes, such as poker, the mean of what A wins takes their place. A match that is ended early, by
    Ctrl-C or kill, reports what was played. Exit code 1 if --sprt accepts ELO0.

    Example: vauban match cadet random --games 200 --game barrage --seed 7

    Example: vauban match cadet --bot "python3 examples/ucc_bot.py" --rules ucc --save games.txt

    Example: vauban match fox charger --sprt 0,20 --games 10000 --json

    Example: vauban match py:mine.py:Striker fox

    Example: vauban match cfr+:iterations=1000 random --game kuhn
    """
    from vauban.arena.match import Match, repetition
    from vauban.arena.report import report_json, report_text, short_names
    from vauban.arena.schedule import play_match
    from vauban.arena.sprt import Sprt
    from vauban.arena.statistics import ends_of_wins, summary, utility_summary

    pair = [*(agents or []), *(f"bot:{command}" for command in bot or [])]
    if len(pair) != 2:
        raise ConfigurationError(f"a match is played by two agents, and these are {len(pair)}: {_listed(pair)}")
    hypotheses = _hypotheses(sprt, alpha, beta)
    seed = _fresh_seed() if seed is None else seed
    check_files(save=save, log=log, html=html)
    given = {"game": game, "setups": setups, "bot_time": bot_time, "memory": memory}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    played = Match(pair[0], pair[1], games, rules=rules, seed=seed, time=time, **chosen)
    if hypotheses and not played.game.drawn:
        raise ConfigurationError(
            f"--sprt tests Elo differences, and games of {played.game.name!r} are worth more than a win or a loss: "
            "leave it out"
        )
    test = Sprt(hypotheses) if hypotheses else None
    done: list[Any] = []
    interrupted = False
    begun = clock.perf_counter()
    short = short_names(played.names)
    names = (short[played.names[0]], short[played.names[1]])
    kept = _Kept(save, played) if save is not None else None
    with (
        ended_politely(),
        _executor(workers, ray, games) as executor,
        progress_bar(" – ".join(names), games, log) as move,
    ):

        def watch(so_far: list[Any]) -> None:
            if kept is not None:
                kept.add(so_far[len(done) :])
            done[:] = so_far
            move(len(done), _running_score(names, [each.result for each in done]))

        try:
            done = play_match(played, executor, test, watch)
        except KeyboardInterrupt:
            interrupted = True
    wall = clock.perf_counter() - begun
    if not done:
        errors.print("interrupted before a game was done")
        raise typer.Exit(INTERRUPTED)
    results = [each.result for each in done]
    report = report_json([results], hypotheses=hypotheses)
    conditions = _conditions(played.game, played.setups, seed, time, bot_time)
    different = len({(*each.setups, each.moves) for each in done})
    warning = repetition(played, len(done), different)
    if json:
        told = {
            "agents": list(played.names), "game": played.game.name, "rules": played.game.rules_text,
            "setups": played.setups, "seed": seed, "different": different,
            **(summary if played.game.drawn else utility_summary)(results),
            "ends": report["ends"], **({"ends_of_wins": ends_of_wins(results)} if played.game.drawn else {}),
            "notes": report["notes"], "verdict": report["matches"][0]["verdict"],
            "wall_seconds": round(wall, 3),
            "workers": executor.workers, "interrupted": interrupted,
        }  # fmt: skip
        print_json(told | ({"sprt": test.state()} if test is not None else {}))
    else:
        if warning is not None:
            warn(warning)
        console.print(report_text(report))
        _say(
            f"{_listed_conditions(conditions)}: {len(results)} games in {wall:.1f} s, "
            f"{executor.workers} {'worker' if executor.workers == 1 else 'workers'}."
        )
        if interrupted:
            _say(f"Interrupted after {len(results)} of {games} games.")
    if kept is not None:
        kept.put_in_order(done)
    _write_page(html, report, f"{played.names[0]} – {played.names[1]}", conditions)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if test is not None and test.decision == "H0":
        raise typer.Exit(1)


def _hypotheses(text: str | None, alpha: float | None, beta: float | None) -> Hypotheses | None:
    from vauban.arena.sprt import Hypotheses

    if text is None:
        if alpha is not None or beta is not None:
            raise ConfigurationError("--alpha and --beta belong to a test: give its hypotheses too, e.g. --sprt 0,20")
        return None
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise ConfigurationError(f"--sprt {text!r}: give two Elo differences, e.g. --sprt 0,20") from None
    given = {name: value for name, value in (("alpha", alpha), ("beta", beta)) if value is not None}
    return Hypotheses(elo0, elo1, **given)


class _Kept:
    """The file of a match's games. They are added as they are done, and put in order at the end."""

    def __init__(self, path: Path, match: Match) -> None:
        self.path = path
        self.match = match
        self.texts: dict[int, str] = {}
        with complaining(path):
            path.write_text("", encoding="utf-8")

    def add(self, games: Iterable[FinishedGame]) -> None:
        """Write games behind those that are there."""
        from vauban.arena.match import record_text

        with complaining(self.path), self.path.open("a", encoding="utf-8") as file:
            for game in games:
                text = record_text(self.match, game)
                if text is not None:
                    file.write(f"\n{text}" if self.texts else text)
                    self.texts[game.result.number] = text

    def put_in_order(self, games: Iterable[FinishedGame]) -> None:
        """Write these games alone, by their numbers."""
        numbers = sorted(game.result.number for game in games)
        with complaining(self.path), self.path.open("w", encoding="utf-8") as file:
            file.write("\n".join(self.texts[number] for number in numbers if number in self.texts))


def _running_score(names: tuple[str, str], results: list[GameResult]) -> str:
    from vauban.arena.results import tally

    if any(result.utility is not None for result in results):
        return f"{names[0]} {sum(result.worth() for result in results) / len(results):+.3f} {names[1]}"
    return f"{names[0]} {tally(results)} {names[1]}"


# ── vauban tournament ────────────────────────────────────────────────────────────────────────────


def tournament(
    file: Annotated[Path, typer.Argument(metavar="FILE.db", help="The file of the tournament, new or to go on with.")],
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="AGENT…", help="The agents that take part (vauban agents).")
    ] = None,
    gauntlet: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Only this agent plays against each of the others.")
    ] = None,
    games: Annotated[int | None, typer.Option(help="Between every two who meet (default: 100).", min=1)] = None,
    game: Game = None,
    rules: Rules = None,
    setups: Setups = None,
    seed: Seed = None,
    time: Time = None,
    bot_time: BotTime = None,
    memory: Memory = None,
    workers: Workers = None,
    ray: Ray = None,
    anchor: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT=RATING",
            help="Set one agent's rating; the others follow (default: their mean is 0).",
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write all games to a file (vauban replay shows them).")] = None,
    pgn: Annotated[
        Path | None, typer.Option(help="Write who won each game as PGN without moves, for Ordo or BayesElo.")
    ] = None,
    log: Log = None,
    html: Html = None,
    json: Json = False,
) -> None:
    """Let every agent play every other, or one all others, and rate them.

    All games are kept in FILE.db. A tournament that was interrupted, or killed, goes on when the file
    is named again, with nothing else or with the same settings; it ends with the same table. The
    standings are shown while it runs.

    Example: vauban tournament ladder.db cadet random fox hunter --games 200 --game barrage

    Example: vauban tournament ladder.db

    Example: vauban tournament ladder.db --anchor random=0 --pgn ladder.pgn

    Example: vauban tournament new.db fox hunter --gauntlet cadet --ray auto --html new.html
    """
    from vauban.arena.report import report_json, report_text
    from vauban.arena.results import results_pgn

    check_files(file, save=save, pgn=pgn, log=log, html=html)
    taking_part = tuple(agents or ())
    if gauntlet is not None and taking_part and gauntlet not in taking_part:
        taking_part = (gauntlet, *taking_part)
    options = {
        "agents": taking_part or None, "gauntlet": gauntlet, "games": games, "game": game, "rules": rules,
        "setups": setups, "seed": seed, "time": time, "bot_time": bot_time, "memory": memory,
    }  # fmt: skip
    given = {name: value for name, value in options.items() if value is not None}
    with _opened(file, given) as played:
        rating = None if anchor is None else _anchor(anchor, played)
        interrupted = False
        with (
            ended_politely(),
            _executor(workers, ray, played.games) as executor,
            progress_bar(file.name, played.games, log) as move,
        ):
            try:
                played.play(executor, lambda done: move(done, f"{file.name}: {_standings(played)}" if done else None))
            except KeyboardInterrupt:
                interrupted = True
        results = played.results()
        if interrupted:
            _say_how_to_go_on(file, played)
        if not results:
            raise typer.Exit(INTERRUPTED)
        report = report_json(results, rating)
        settings = played.settings
        conditions = _conditions(
            settings.made, played.matches[0].setups, settings.seed, settings.time, settings.bot_time
        )
        repeated = played.repetitions()
        if json:
            table = settings.table()
            told = {"file": str(file), "played": played.played, "missing": played.games - played.played}
            print_json(told | {"settings": table, "repeated": repeated, **report})
        else:
            for warning in repeated:
                warn(warning)
            console.print(report_text(report))
            _say(f"{_listed_conditions(conditions)}: {played.played} of {played.games} games, in {file}.")
        if save is not None:
            _write_games(save, played.records(), played.played)
        if pgn is not None:
            with complaining(pgn):
                pgn.write_text(results_pgn(results), encoding="utf-8")
        _write_page(html, report, file.stem, conditions)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _opened(file: Path, given: dict[str, Any]) -> Tournament:
    """Return the tournament of a file, after a comparison with the settings that were given; or a new one."""
    from vauban.arena.tournament import Settings, Tournament

    if file.exists() and file.stat().st_size:
        found = Tournament.open(file)
        try:
            found.check(replace(found.settings, **given))
        except BaseException:
            found.close()
            raise
        return found
    if "agents" not in given:
        raise ConfigurationError(f"there is no tournament {file} yet: name the agents that are to play")
    return Tournament.open(file, Settings(**{"seed": _fresh_seed(), **given}))


def _anchor(text: str, played: Tournament) -> tuple[str, float]:
    """Return the agent whose rating is set, and the rating; refuse what cannot be one before anything is played."""
    agent, _, number = text.rpartition("=")
    try:
        rating = float(number)
    except ValueError:
        rating = math.nan
    if not agent or not math.isfinite(rating):
        raise ConfigurationError(f"--anchor {text!r}: give an agent and its rating, e.g. --anchor random=0")
    if agent not in played.settings.agents:
        taking_part = ", ".join(played.settings.agents)
        raise ConfigurationError(f"--anchor {text!r}: {agent!r} does not take part; those who do are {taking_part}")
    if not played.settings.made.drawn:
        raise ConfigurationError(
            f"--anchor sets a rating, and games of {played.settings.made.name!r} are worth more than a win or a loss: "
            "leave it out"
        )
    return agent, rating


def _standings(played: Tournament) -> str:
    """Return the best agents so far with their scores, or what they have won where games have stakes."""
    from vauban.arena.report import short_names

    short = short_names(played.settings.agents)
    form = "{:.0%}" if played.settings.made.drawn else "{:+.3f}"
    best = [f"{short[agent]} {form.format(score)}" for agent, score in played.standings()[:SHOWN]]
    return ", ".join(best)


def _say_how_to_go_on(file: Path, played: Tournament) -> None:
    errors.print(f"Interrupted after {played.played} of {played.games} games. Go on with")
    errors.print(Text(f"  {started_as()} tournament {shlex.quote(str(file))}"), soft_wrap=True)


# ── vauban agents ────────────────────────────────────────────────────────────────────────────────


def agents(
    name: Annotated[str | None, typer.Argument(help="An agent, for its full description and its options.")] = None,
    game: Annotated[
        str | None,
        typer.Option(help="A game: leave out agents of other families; of several of the same name, describe its own"),
    ] = None,
    json: Json = False,
) -> None:
    """List the agents, or describe one.

    An agent with options is written NAME:OPTION=VALUE,OPTION=VALUE wherever an agent is asked for; a class of your own
    py:FILE.py:CLASS,OPTION=VALUE; a program of your own bot:COMMAND.

    Example: vauban agents fox

    Example: vauban agents mcts --game geister
    """
    from vauban.agents import AGENTS, FAMILIES, GROUP, LEARNED, POPULATION, family_of, shipped
    from vauban.agents.external import PROTOCOLS
    from vauban.agents.solved import OPTIONS as SOLVED
    from vauban.door import PREFIX, entry_points
    from vauban.games import base as games

    played = None if game is None else games.game(game)
    if name is not None:
        name = name if name.startswith(PREFIX) else name.partition(":")[0]
        described = _description(name, family_of(name, played))
        if json:
            print_json(described)
            return
        console.print(Text.assemble((described["name"], "bold"), (f"  plays {described['plays']}", "dim")))
        for paragraph in described["description"].split("\n\n"):
            console.print(Text(" ".join(paragraph.split()) + "\n"))
        options = Table.grid(padding=(0, 2))
        for each in described["options"]:
            options.add_row(Text(f"  {each['name']}{_written(each['default'])}"), Text(each["help"], "dim"))
        if described["options"]:
            console.print(options)
        return
    families = [family for family in FAMILIES if played is None or family == folder_of(played.family)]
    described_all = [_description(each) for each in AGENTS]
    described_all += [_description(each, family) for family in families for each in FAMILIES[family]]
    described_all += [_description(each) for each in (*LEARNED, POPULATION, *SOLVED)]
    taken = {*shipped(), *LEARNED, POPULATION, *SOLVED}
    for each in entry_points(GROUP):
        if each in taken:
            complain(f"{each}: an installed package offers an agent of a name that Vauban's own has, which is taken")
            continue
        try:
            described_all.append(_description(each))
        except Exception as error:  # one package that is broken leaves the others to be listed
            complain(f"{each}: {error}")
    if json:
        print_json({"agents": described_all})
        return
    table = Table.grid(padding=(0, 2))
    for each in described_all:
        table.add_row(Text(each["name"], "bold"), Text(each["plays"], "dim"), each["description"].partition("\n")[0])
    table.add_row(Text("py:FILE.py:CLASS", "bold"), Text(ANY_GAME, "dim"), "A class of your own (docs/agents.md).")
    for prefix, protocol in PROTOCOLS.items():
        about = f"{protocol.about.removesuffix('.')} ({protocol.docs})."
        table.add_row(Text(prefix + protocol.given, "bold"), Text(protocol.plays, "dim"), about)
    console.print(table)


def _description(name: str, family: str | None = None) -> dict[str, Any]:
    """Return an agent in words, and its options: each with its default and what it means.

    family: of games, if it plays only those.
    """
    from vauban.agents import FAMILIES, LEARNED, POPULATION, make_agent
    from vauban.agents.base import Choosy, close, describe
    from vauban.agents.external import PROTOCOLS
    from vauban.agents.population import PopulationOptions
    from vauban.agents.solved import MEANINGS, OPTIONS

    protocol = PROTOCOLS.get(f"{name}:")
    if protocol is not None:
        raise ConfigurationError(
            f"{name} is no agent by itself: {name}:{protocol.given} is a program of your own, e.g. "
            f"{protocol.example!r} ({protocol.docs}; {protocol.check} says whether it is in order)"
        )
    if name in LEARNED:
        options = LEARNED[name].options_kind()
        text, plays = cleandoc(type(options).__doc__ or ""), "what its model plays"
    elif name == POPULATION:
        options = PopulationOptions()
        text, plays = cleandoc(PopulationOptions.__doc__ or ""), "what its run trained"
    elif name in OPTIONS:
        options, text, plays = OPTIONS[name](), MEANINGS[name], "small games"
    else:
        agent = make_agent(name) if family is None else FAMILIES[family][name]({}, 0)
        options, text = getattr(agent, "options", None), describe(agent)
        plays = family.capitalize() if family is not None else SOME if isinstance(agent, Choosy) else ANY_GAME
        close(agent)
    known = fields(options) if is_dataclass(options) else ()
    return {
        "name": name,
        "plays": plays,
        "description": text,
        "options": [
            {"name": each.name, "default": each.default, "help": each.metadata.get("help", "")} for each in known
        ],
    }


def _written(value: Any) -> str:
    """Return a default as it would be typed behind its name; nothing where there is none."""
    return "" if value is None else f"={int(value) if isinstance(value, bool) else value}"


# ── What they share ──────────────────────────────────────────────────────────────────────────────


@contextmanager
def _executor(workers: int | None, ray: str | None, games: int) -> Iterator[Executor]:
    """Make the executor that the options ask for."""
    from vauban.work.cluster import RayExecutor
    from vauban.work.executors import Here, Processes
    from vauban.work.processes import cores

    if ray is not None:
        cluster = RayExecutor(None if ray == "local" else ray, workers)
        try:
            yield cluster
        finally:
            cluster.close()
        return
    count = min(workers or cores(), max(1, games // 2))
    yield Here() if count == 1 else Processes(count)


def _write_games(path: Path, texts: Iterable[str], count: int) -> None:
    """Write records, an empty line between them; each game has to be gone through once more for its battles."""
    with (
        complaining(path),
        path.open("w", encoding="utf-8") as file,
        progress_bar(f"writing {path.name}", count) as move,
    ):
        for number, text in enumerate(texts, 1):
            file.write(text if number == 1 else f"\n{text}")
            move(number)


def _conditions(game: games.Game, setups: str, seed: int, time: float | None, bot_time: float | None) -> dict[str, str]:
    """Say how the games of a report were played, besides by whom; enough to play them again."""
    from vauban.arena.match import NONE

    found = {"game": game.name}
    if game.rules_text is not None:
        found["rules"] = game.rules_text
    if setups != NONE:
        found["setups"] = setups
    found["seed"] = str(seed)
    if time is not None:
        found["time"] = f"{time:g} s a move"
    if bot_time is not None:
        found["time of programs"] = f"{bot_time:g} s an answer"
    return found | {"Vauban": __version__, "date": f"{date.today():%Y-%m-%d}"}


def _listed_conditions(conditions: dict[str, str]) -> str:
    """Return the conditions for a terminal, which knows what day it is."""
    named = [f"{name} {value}" for name, value in conditions.items() if name not in ("game", "seed", "date")]
    return ", ".join([conditions["game"], *named, f"seed {conditions['seed']}"])


def _write_page(path: Path | None, report: dict[str, Any], title: str, conditions: dict[str, str]) -> None:
    if path is not None:
        from vauban.arena.report_html import report_html
        from vauban.cli.psro import portraits

        page = report_html(report, title, conditions, portraits(report["agents"]))
        with complaining(path):
            path.write_text(page, encoding="utf-8")


def _fresh_seed() -> int:
    return secrets.randbelow(2**31)


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "name two, e.g. vauban match cadet random"


def _say(line: str) -> None:
    console.print(Text(line, "dim"), soft_wrap=True)
