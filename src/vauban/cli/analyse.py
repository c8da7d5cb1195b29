"""`vauban analyse`: what a searching agent finds out about a position, and what a model sees in a whole game."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from vauban.cli.output import check_files, complaining, console, print_json, progress_bar
from vauban.errors import ConfigurationError
from vauban.families import family_part

if TYPE_CHECKING:
    from vauban.agents.net import ModelAgent
    from vauban.agents.search import SearchAgent
    from vauban.board import Board
    from vauban.notation.records import RecordedGame
    from vauban.search.review import Review
    from vauban.search.search import SearchConfig

LIKELY = 4
"""Types of a hidden piece that are shown."""
NOBODY = "none"
"""In place of an agent: a game is looked back on without a network."""
BARS = "▁▂▃▄▅▆▇█"
NARROWEST, WIDEST = 20, 100
"""Width of the line of values, in columns."""


def analyse(
    position: Annotated[
        str,
        typer.Argument(
            help="A position as text, or a file of recorded games (also Strados, UCC, Gravon, Geister logs)."
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(help="search:MODEL; for a whole game also net:MODEL, or none (default: a shipped model, if any)."),
    ] = None,
    number: Annotated[int, typer.Option(help="Number of the game in the file, from 1.", min=1)] = 1,
    ply: Annotated[
        int | None, typer.Option(help="The position after so many plies (default: the whole game).", min=0)
    ] = None,
    top: Annotated[int, typer.Option(help="Number of moves of a position to show.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the searches, also in a whole game.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write the look back on a game as one page.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON: of a game, a line for each position and a last one about it.")
    ] = False,
) -> None:
    """Search a position, or look back on a whole game.

    Of a position: moves, values, outcomes, and what is believed to be hidden. The player on turn is the one who thinks,
    and knows only what a player may know. A position that is given as text is played by the variant and the rules of
    the agent's model.

    Of a game, without --ply: what each side foresaw and believed when it was on turn, and the moments that decided it.
    Games of Stratego and Geister can be looked back on; the first player is called red there, and the second blue.
    A search looks at those moments too, at each for as long as it takes to make a fixed number of rollouts, so that the
    same game and the same seed give the same; an agent with a time, such as search:MODEL,time=2, searches by the clock.
    With --json there is a line for each position, then one about the game.

    Example: vauban analyse games.txt --number 2 --ply 40 --agent search:runs/mine,time=2

    Example: vauban analyse games.txt --agent net:runs/mine --html game.html
    """
    file = Path(position)
    if _is_file(file) and ply is None:
        _look_back(file, number, agent, seed, html, json)
        return
    if html is not None:
        raise ConfigurationError("--html is for a whole game: give a file of recorded games, without --ply")
    recorded = _recorded(file, number) if _is_file(file) else None
    thinker = _searching(agent, None if recorded is None else recorded.game.name, seed)
    board = _from_text(position, thinker, ply) if recorded is None else _at(recorded, file, number, ply)
    if board.is_over:
        raise ConfigurationError("the game is over in this position: there is nothing to analyse")
    view = board.view(board.turn)
    found = thinker.analyse(view)
    told = {"agent": thinker.name, "seed": seed, "position": view.text, **found.to_json()}
    if json:
        print_json(told)
        return
    console.print(str(view), markup=False, highlight=False)
    _print(told, top)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a position can be too long for the name of a file
        return False


# ── Who thinks ───────────────────────────────────────────────────────────────────────────────────


def _searching(text: str | None, variant: str | None, seed: int) -> SearchAgent:
    from vauban.agents import make_agent
    from vauban.agents.search import SearchAgent

    text = f"search:{_shipped(variant)}" if text is None else text
    found = make_agent(text, seed)
    if not isinstance(found, SearchAgent):
        raise ConfigurationError(f"the agent {text!r} does not tell what it thinks: take search:MODEL")
    return found


def _looking_back(text: str | None, variant: str, seed: int, size: SearchConfig) -> ModelAgent | None:
    """Choose the agent whose networks look back on a game; without a time of its own it makes searches of this size."""
    from vauban.agents import make_agent
    from vauban.agents.net import ModelAgent

    if text == NOBODY:
        return None
    text = f"search:{_shipped(variant)}" if text is None else text
    found = make_agent(_of_fixed_size(text, size), seed)
    if not isinstance(found, ModelAgent):
        raise ConfigurationError(
            f"the agent {text!r} does not tell what it thinks: take net:MODEL or search:MODEL, or {NOBODY}"
        )
    return found


def _of_fixed_size(text: str, size: SearchConfig) -> str:
    """Return the text of an agent that, if it searches and no time is set, makes searches of this size."""
    from vauban.agents.options import split_text

    if not text.startswith("search:"):
        return text
    _, settings = split_text(text)
    wanted = {"rollouts": size.rollouts, "depth": size.depth, "time": 0}
    missing = {} if "time" in settings else {key: value for key, value in wanted.items() if key not in settings}
    return ",".join([text, *(f"{key}={value}" for key, value in missing.items())])


def _shipped(variant: str | None) -> str:
    """Return the name of a shipped model that plays a variant; a position that is given as text may name none."""
    from vauban.nets.store import read_card, shipped_models

    for name, folder in shipped_models().items():
        if variant is not None and variant in read_card(folder)["variants"]:
            return name
    lacking = "a position does not tell its variant" if variant is None else f"no shipped model plays {variant!r}"
    raise ConfigurationError(f"say who looks at it, e.g. --agent search:runs/mine: {lacking}")


# ── One position ─────────────────────────────────────────────────────────────────────────────────


def _from_text(text: str, thinker: SearchAgent, ply: int | None) -> Any:
    from vauban.board import Board

    if ply is not None:
        raise ConfigurationError("--ply is a place in a recorded game, and a position is given")
    return Board.from_position(text, thinker.model.game)


def _recorded(file: Path, number: int) -> RecordedGame:
    from vauban.cli.replay import read_game

    return read_game(file, number)[0]


def _at(recorded: RecordedGame, file: Path, number: int, ply: int | None) -> Board:
    """Return a recorded game after so many plies, or at its end."""
    if recorded.board is None:
        raise ConfigurationError(f"game {number} of {file} has pieces that are not known (U): it cannot be replayed")
    board: Board = recorded.board.copy()
    plies = len(board.history)
    if ply is not None and ply > plies:
        raise ConfigurationError(f"game {number} of {file} has {plies} plies, and no ply {ply}")
    while ply is not None and len(board.history) > ply:
        board.pop()
    return board


def _print(told: dict[str, Any], top: int) -> None:
    cut = f", cut: {' and '.join(told['cut'])}" if told["cut"] else ""
    worlds = "one configuration" if told["configurations"] == 1 else f"{told['configurations']} configurations"
    console.print(
        f"{told['player']} to move at ply {told['ply']}: worth {told['value']:+.3f} to {told['player']}\n"
        f"{told['rollouts']} rollouts of {told['depth']} plies, {worlds}, "
        f"{told['moves_searched']} of {len(told['moves'])} moves{cut}; {told['seconds']:.2f} s",
        highlight=False,
        markup=False,
    )
    forecast = Table(box=SIMPLE_HEAD)
    forecast.add_column("outcome")
    names = {-1.0: "loss", 0.0: "draw", 1.0: "win"}
    for worth in told["utilities"]:
        forecast.add_column(names.get(worth, f"{worth:+g}"), justify="right")
    for label, key in (("at sight", "forecast_before"), ("after the search", "forecast")):
        forecast.add_row(label, *(f"{share:.1%}" for share in told[key]))
    console.print(forecast)
    moves = Table(box=SIMPLE_HEAD)
    for heading in ("move", "value", "rollouts", "at sight", "after the search"):
        moves.add_column(heading, justify="left" if heading == "move" else "right")
    for each in told["moves"][:top]:
        value = f"{each['value']:+.3f}" if each["visits"] else "–"
        moves.add_row(each["move"], value, str(each["visits"]), f"{each['before']:.1%}", f"{each['policy']:.1%}")
    console.print(moves)
    if not told["belief"]:
        return
    belief = Table(box=SIMPLE_HEAD)
    belief.add_column("hidden")
    belief.add_column("most likely")
    for square, kinds in told["belief"].items():
        likely = sorted(kinds.items(), key=lambda item: -item[1])[:LIKELY]
        belief.add_row(square, "  ".join(f"{kind} {share:.0%}" for kind, share in likely))
    console.print(belief)


# ── A whole game ─────────────────────────────────────────────────────────────────────────────────


def _look_back(file: Path, number: int, agent: str | None, seed: int, html: Path | None, as_json: bool) -> None:
    from vauban.agents.search import SearchAgent
    from vauban.cli.replay import Replay
    from vauban.search.reviewing import SEARCHED, look_back, review_of

    check_files(html=html)
    recorded = _recorded(file, number)
    review_of(recorded.game)  # or it is refused here
    report = family_part("web", recorded.game.family, "report")
    if html is not None and report is None:
        raise ConfigurationError(f"there is no page about a game of {recorded.game.name!r}: leave --html out")
    board = _at(recorded, file, number, None)
    thinker = _looking_back(agent, recorded.game.name, seed, SEARCHED)
    search = thinker.search if isinstance(thinker, SearchAgent) else None
    with progress_bar("looking back", 100) as move:
        found = look_back(
            board,
            None if thinker is None else thinker.model,
            search=search,
            seed=seed,
            ended=recorded.outcome,
            progress=lambda share: move(round(100 * share)),
        )
    replay = Replay(recorded)
    if html is not None and report is not None:
        page = report.report_html(found, recorded.headers, replay.verdict().rstrip("."))
        with complaining(html):
            html.write_text(page, encoding="utf-8")
    if as_json:
        for each in found.plies_json():
            print(json_module.dumps(each, allow_nan=False))
        print_json({"headers": recorded.headers, "result": recorded.result, **found.summary_json()})
        return
    replay.introduce()
    console.print(Text(f"{len(board.history)} plies. {replay.verdict()}"))
    _print_values(found)
    _print_moments(found)
    if html is not None:
        console.print(Text(f"The page: {html}"))


def _print_values(found: Review) -> None:
    """Print what each side foresaw, as a line of bars from 0 to 100 percent."""
    from vauban.search.moments import SIDES

    if not found.outcomes:
        return
    plies = len(found.turns)
    width = min(plies, max(NARROWEST, min(console.width - 16, WIDEST)))
    console.print()
    for side, name in enumerate(SIDES):
        values = [found.value(side, column * (plies - 1) // max(width - 1, 1)) for column in range(width)]
        line = "".join(" " if value is None else BARS[min(int(4 * (value + 1)), 7)] for value in values)
        console.print(Text.assemble(f"{name:>5} ", (line, "red" if side == 0 else "blue")))
    console.print(Text(f"      what each side foresaw for itself, ply 0 to {plies - 1}: ▁ a loss, █ a win", "dim"))


def _print_moments(found: Review) -> None:
    from vauban.search.moments import SIDES

    table = Table(box=SIMPLE_HEAD)
    for heading in ("ply", "kind", "side", "what happened"):
        table.add_column(heading, justify="right" if heading == "ply" else "left")
    for each in found.moments:
        table.add_row(str(each.ply), each.kind, SIDES[each.side], Text(each.text))
    console.print(table if found.moments else Text("No single moment decided this game."))
    if found.unsearched_text:
        console.print(Text(found.unsearched_text))
