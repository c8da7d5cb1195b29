"""`vauban models`: what is shipped, what a card says, models made of runs and of weights that others published."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from vauban.cli.output import Json, console, print_json
from vauban.errors import ConfigurationError

CURVE_ROWS = 8
"""Rows of a run's curve that are shown, evenly chosen."""
NONE_SHIPPED = """No model comes with this version. To get one:
  vauban train --help                                       trains one on your own machine
  vauban models import-ataraxos MODEL.pthm --out FOLDER     imports published weights (docs/models.md)"""


class NameOrCommand(TyperGroup):
    """Takes `vauban models` for `vauban models list`, and `vauban models NAME` for `vauban models show NAME`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in that was left out."""
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        elif args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["show", *args]
        return super().parse_args(ctx, args)


models = typer.Typer(
    cls=NameOrCommand,
    help="List the models that are shipped, show the card of one (vauban models NAME), make one of a run, fetch and "
    "publish models, import published weights.",
    epilog="Example: vauban models · vauban models runs/mine",
    rich_markup_mode=None,
)


@models.command("list", short_help="List the models that are shipped.")
def list_models(json: Json = False) -> None:
    """List the models that are shipped; `list` may be left out.

    Example: vauban models
    """
    from vauban.nets.store import read_card, shipped_models

    cards = {name: read_card(folder) for name, folder in shipped_models().items()}
    if json:
        print_json(
            {
                "models": [
                    {
                        "name": name, "about": card["about"], "variants": card["variants"],
                        "parameters": _parameters(card), "strength": card["strength"],
                    }
                    for name, card in cards.items()
                ]
            }
        )  # fmt: skip
        return
    if not cards:
        console.print(NONE_SHIPPED, highlight=False, markup=False, soft_wrap=True)
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("model", "plays", "parameters", "strength"):
        table.add_column(heading, justify="right" if heading == "parameters" else "left")
    for name, card in cards.items():
        line = _strength_line(card["strength"][0]) if card["strength"] else "not measured"
        table.add_row(Text(name, "bold"), ", ".join(card["variants"]), _rounded(_parameters(card)), Text(line))
    console.print(table)


@models.command(short_help="Show the card of a model.")
def show(
    name: Annotated[str, typer.Argument(help="A shipped model, or the folder of a model or a run, e.g. runs/mine.")],
    json: Json = False,
) -> None:
    """Show a model's card: networks, training, strength; `show` may be left out.

    Example: vauban models runs/mine
    """
    from vauban.nets.store import find_model, read_card

    card = read_card(find_model(name))
    if json:
        print_json(card)
    else:
        print_card(card)


@models.command(short_help="Make a model of published weights.")
def import_ataraxos(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="A move network (model….pthm or .pthw); a setup network (init_model….pthm) and setups "
            "(ema_arrangements….pkl) if wanted.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The folder of the model (default: models/ and the first file's name).")
    ] = None,
    game: Annotated[
        str, typer.Option(help="The game that the networks were trained for: classic or barrage.")
    ] = "classic",
    heads: Annotated[int, typer.Option(help="Heads of the networks, which the files do not say.", min=1)] = 8,
    json: Json = False,
) -> None:
    """Make a model of weights that were published with Ataraxos.

    The files are read without running anything in them. What they hold is known by the names of
    the weights; everything must fit, or the import says what does not. Where setups are given,
    the model draws its setups from them.

    Example: vauban models import-ataraxos model42400.pthm ema_arrangements42400.pkl --out models/ataraxos
    """
    from vauban.nets.store import read_card
    from vauban.nets.stratego import ataraxos

    folder = out or Path("models") / files[0].stem
    ataraxos.import_ataraxos(files, folder, date=time.strftime("%Y-%m-%d"), variant=game, heads=heads)
    card = read_card(folder)
    if json:
        print_json({"folder": str(folder), **card})
        return
    print_card(card)
    console.print(f"Written to {folder}.", highlight=False, markup=False, soft_wrap=True)


@models.command("card", short_help="Make a model of a run, with its card.")
def make_card(
    run: Annotated[Path, typer.Argument(help="The folder of a run, e.g. runs/laptop.")],
    name: Annotated[str, typer.Option("--name", help="The model's name.")],
    matches: Annotated[
        list[Path] | None,
        typer.Option("--matches", metavar="FILE", help="The output of `vauban match net:RUN … --json`."),
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="The temperature at which it plays; below 1: likely moves more often.", min=0.0)
    ] = 1.0,
    out: Annotated[Path | None, typer.Option(help="The folder of the model (default: models/NAME).")] = None,
    json: Json = False,
) -> None:
    """Make a model of a run: its weights in bfloat16, and a card that says how they came about.

    Everything in the card is from the run's folder: configuration, machine, commit, the command that
    makes it again, how the training went. Its strength is that of matches that have been played.
    Beside it lies README.md, which says the same to people, with the header that Hugging Face reads.

    Example: vauban models card runs/laptop --name beginner --matches strength.jsonl
    """
    from vauban.learn.card import make_model

    if name in ("", ".", "..") or Path(name).name != name:
        raise ConfigurationError(f"a model is called by a name that a folder can have, without slashes, not {name!r}")
    folder = out or Path("models") / name
    card = make_model(run, folder, name, matches or [], temperature)
    if json:
        print_json({"folder": str(folder), **card})
        return
    print_card(card)
    console.print(f"Written to {folder}.", highlight=False, markup=False, soft_wrap=True)


@models.command("fetch", short_help="Fetch a model from the Hugging Face hub, from the web, or from a folder.")
def fetch_model(
    address: Annotated[
        str, typer.Argument(help="hf:OWNER/NAME, hf:OWNER/NAME@REVISION, https://HOST/FOLDER, or a folder.")
    ],
    out: Annotated[Path | None, typer.Option(help="The folder of the model (default: models/ and its name).")] = None,
    json: Json = False,
) -> None:
    """Fetch somebody's model into a folder of its own, after a look at all of it.

    A model is numbers and a card, and nothing of it is run. What does not fit its card, is larger than
    it may be, or was made for another version of an observation is refused, and nothing is left. The
    hub needs pip install "vauban-games[hub]"; HF_ENDPOINT, HF_TOKEN and `hf auth login` hold for it.
    Where a model is named, hf:OWNER/NAME may stand too: it is then fetched once, and kept.

    Example: vauban models fetch hf:somebody/barrage-evening

    Example: vauban models fetch https://example.org/models/mine --out models/theirs
    """
    from vauban.nets.hub import fetch, own_name

    folder = out or Path("models") / own_name(address)
    try:
        card = fetch(address, folder)
    except FileExistsError:
        raise ConfigurationError(f"there is a folder {folder} already: name another with --out, or delete it") from None
    if json:
        print_json({"folder": str(folder), **card})
        return
    print_card(card)
    console.print(f"Fetched into {folder}.", highlight=False, markup=False, soft_wrap=True)


@models.command("publish", short_help="Put a model on the Hugging Face hub.")
def publish_model(
    model: Annotated[str, typer.Argument(help="A model or a run: its folder, e.g. models/mine or runs/mine.")],
    address: Annotated[str, typer.Argument(help="hf:OWNER/NAME; made if it is not there.")],
    private: Annotated[bool, typer.Option("--private", help="Let nobody else see it.")] = False,
    json: Json = False,
) -> None:
    """Put a model on the Hugging Face hub: its weights, its card, and a page of it.

    The page (README.md, with the header that the hub reads) is written from the card: game, rules,
    observation, algorithm, configuration, compute, results with their commands, limits. Of a run, its
    model is published, in bfloat16; for one with matches on its card, make it by `vauban models card`
    first. It needs pip install "vauban-games[hub]" and a key: `hf auth login`, or HF_TOKEN.

    Example: vauban models publish models/beginner hf:somebody/beginner
    """
    from vauban.learn.publish import publish

    page = publish(model, address, private)
    if json:
        print_json({"address": address, "page": page})
        return
    console.print(f"Published at {page}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"It plays as net:{address}", highlight=False, markup=False, soft_wrap=True)


def print_card(card: Mapping[str, Any]) -> None:
    """Print a card for a person."""
    console.print(Text(card["name"], "bold"))
    console.print(Text(card["about"]), soft_wrap=True)
    facts = Table.grid(padding=(0, 2))
    facts.add_column()
    facts.add_column(overflow="fold")
    for key, value in _facts(card):
        facts.add_row(Text(f"  {key}", "dim"), Text(value))
    console.print(facts)
    console.print(_networks_table(card["networks"]))
    training = card.get("training")
    if training and training["curve"]:
        console.print(_curve_table(training["curve"]))
    if card["strength"]:
        console.print(_strength_table(card["strength"]))
        for row in card["strength"]:
            console.print(Text(f"  $ {row['command']}", "dim"), soft_wrap=True)
    else:
        console.print("Its strength has not been measured.", highlight=False)


def _facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    from vauban.learn.metrics import facts_text

    facts = [("plays", ", ".join(card["variants"]))]
    if "temperature" in card:
        facts.append(("temperature", f"{card['temperature']:g}"))
    if card["rules"] is not None:
        facts.append(("rules of training", card["rules"]))
    if training := card.get("training"):
        facts += [
            ("iterations", f"{training['iterations']:,}"),
            ("moves, games", f"{training['moves']:,}, {training['games']:,}"),
            ("gradient steps", ", ".join(f"{part} {steps:,}" for part, steps in training["steps"].items()) or "none"),
            ("time", f"{training['minutes']:,.0f} minutes on {training['machine']}"),
            ("date, commit", f"{training['date']}, {training['commit']}"),
            ("made again by", training["command"]),
        ]
        facts += list(facts_text(training.get("facts", {})).items())
    if source := card.get("source"):
        facts += [("from", source["program"]), ("imported", source["imported"])]
        facts += [(each["file"], f"{each['holds']}, sha256 {each['sha256'][:16]}…") for each in source["files"]]
    return facts


def _networks_table(networks: Mapping[str, Mapping[str, Any]]) -> Table:
    from vauban.nets.kinds import settings_text

    table = Table(box=SIMPLE_HEAD)
    for heading in ("network", "kind", "parameters", "stored as", "settings"):
        table.add_column(heading, justify="right" if heading == "parameters" else "left")
    for part, each in networks.items():
        parameters = f"{each['parameters']:,}" if "parameters" in each else "?"
        table.add_row(part, each["kind"], parameters, each.get("dtype", "?"), Text(settings_text(each)))
    return table


def _curve_table(curve: Sequence[Mapping[str, float]]) -> Table:
    table = Table(box=SIMPLE_HEAD, title="How the training went", title_justify="left")
    keys = list(dict.fromkeys(key for row in curve for key in row))
    for key in keys:
        table.add_column(Text(key.replace("_", " ").replace("score.", "against ")), justify="right")
    last = len(curve) - 1
    shown = {round(step * last / (CURVE_ROWS - 1)) for step in range(CURVE_ROWS)} if last else {0}
    for number in sorted(shown):
        table.add_row(*(_number(curve[number][key]) if key in curve[number] else "" for key in keys))
    return table


def _number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:,.1f} M"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"


def _strength_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    from vauban.arena.report import elo_text

    table = Table(box=SIMPLE_HEAD, title="Strength, with 95 % intervals", title_justify="left")
    # What is the same in all rows is in the commands below.
    differs = [key for key in ("agent", "variant") if len({row[key] for row in rows}) > 1]
    for heading in (*differs, "against", "games", "score, %", "Elo", "from … to"):
        words = heading in ("agent", "against", "variant")
        table.add_column(heading, justify="left" if words else "right", no_wrap=True)
    for row in rows:
        score = _score(row).replace("%", "").replace(" to ", "–")
        who = [Text(row[key]) for key in (*differs, "opponent")]
        table.add_row(*who, f"{row['games']:,}", score, *elo_text(dict(row)))
    return table


def _score(row: Mapping[str, Any]) -> str:
    if row["score_low"] is None:
        return f"{row['score']:.1%}"
    return f"{row['score']:.1%} ({row['score_low']:.1%} to {row['score_high']:.1%})"


def _strength_line(row: Mapping[str, Any]) -> str:
    searching = "" if row["agent"].startswith("net:") else f" as {row['agent']}"
    return f"{_score(row)}{searching} against {row['opponent']}, {row['games']:,} games"


def _parameters(card: Mapping[str, Any]) -> int:
    return sum(each.get("parameters", 0) for each in card["networks"].values())


def _rounded(number: int) -> str:
    return f"{number / 1e6:.1f} million" if number >= 10**5 else f"{number:,}"
