"""The card of a model as a page for people: README.md, with the header that Hugging Face reads."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vauban.errors import ConfigurationError, install_command
from vauban.games.base import Game
from vauban.learn.base import Learner, find_learner
from vauban.learn.metrics import facts_text
from vauban.nets.belief import uniform_belief
from vauban.nets.kinds import settings_text
from vauban.nets.store import ENDS_OF_WINS, HUB, Card, game_of

README = "README.md"
"""In a model's folder, beside its card."""
OURS, OTHERS = "apache-2.0", "other"
"""Licences: of what is trained here from nothing, and of what began with somebody else's weights."""


def readme_text(card: Card, where: str = "") -> str:
    """Return a page with all that a card says: how to use the model, the game, networks, training, results, limits.

    where: its place as commands name it, a folder or `hf:OWNER/NAME`; its name, if it comes with Vauban.
    """
    game, algorithms, where = game_of(card, card["name"]), _algorithms(card), where or card["name"]
    use = _use(card, game, where)
    parts = [_header(card, game), f"# {card['name']}", card["about"], use, _game(card), _networks(card)]
    if "training" in card:
        parts.append(_training(card["training"], algorithms))
    if "source" in card:
        parts.append(_source(card["source"]))
    parts += [_results(card["strength"]), _limits(card, algorithms)]
    return "\n\n".join(parts) + "\n"


def _algorithms(card: Card) -> dict[str, type[Learner] | None]:
    """Return the algorithms that have made a model, by name, one that is not known here as None."""
    named = card.get("training", {}).get("configuration", {}).get("algorithms", ())
    found: dict[str, type[Learner] | None] = {}
    for place, name in enumerate(named):
        try:
            kind = find_learner(name)
        except ConfigurationError:
            found[name] = None
            continue
        if place == 0 or set(kind.tables) & set(card["networks"]):  # a later one may have been left out
            found[name] = kind
    return found


def _header(card: Card, game: Game) -> str:
    tags = [game.family, *card["variants"], "reinforcement-learning", "self-play", "imperfect-information"]
    return "\n".join(
        [
            "---",
            f"license: {OTHERS if 'source' in card else OURS}",
            "library_name: vauban",
            "pipeline_tag: reinforcement-learning",
            "tags:",
            *(f"- {tag}" for tag in dict.fromkeys(tags)),
            "---",
            "",
            "<!-- Written by `vauban models card` from card.json: do not change it by hand. -->",
        ]
    )


def _use(card: Card, game: Game, where: str) -> str:
    model, spec = shlex.quote(f"net:{where}"), shlex.quote(_spec(card))
    commands = [f"vauban exploitability {spec} {model}"]
    if game.drawn:
        setups = " --setups own" if game.setups else ""
        commands = [
            f"vauban match {model} random --game {spec}{setups} --games 100",
            f"vauban terminal --opponent {model} --game {spec}",
        ]
    if where.startswith(HUB):
        commands = [install_command("learn,hub"), *commands]
    shown = "\n".join(f"$ {command}" for command in commands)
    searches = f" `search:{where}` searches before it moves." if uniform_belief(game) else ""
    return f"## Use\n\n```console\n{shown}\n```\n\n{_place(where)}{searches}"


def _place(where: str) -> str:
    if where.startswith(HUB):
        return (
            f"`{where}` stands wherever a model is named: it is fetched once, and kept; `vauban models fetch {where}` "
            "makes a folder of it. Weights are safetensors, and nothing in them can run."
        )
    if "/" in where:
        return f"A model in a folder is named by its path, with a slash in it: this one was made in `{where}`."
    return "A name alone is that of a model which comes with Vauban."


def _spec(card: Card) -> str:
    """Return the game as a command names it; one that a table describes by the file that the training had."""
    if isinstance(card["variant"], str):
        return card["variant"]
    configuration = card.get("training", {}).get("configuration", {})
    return str(configuration.get("game", f"{card['variants'][0]}.toml"))


def _game(card: Card) -> str:
    variant = card["variant"] if isinstance(card["variant"], str) else card["variant"]["name"]
    rules = f"`{card['rules']}`" if card["rules"] else "there are none to choose"
    rows = [("plays", ", ".join(card["variants"])), ("trained for", variant), ("rules of training", rules)]
    if "temperature" in card:
        rows.append(("temperature of play", f"{card['temperature']:g}"))
    return f"## Game\n\n{_table(('', ''), rows)}"


def _networks(card: Card) -> str:
    rows = [
        (part, each["kind"], f"{settings_text(each)}{_version(each)}", f"{each['parameters']:,}", each["dtype"])
        for part, each in card["networks"].items()
    ]
    heading = ("network", "kind", "settings", "parameters", "stored as")
    return f"## Networks\n\n{_table(heading, rows)}"


def _version(described: Mapping[str, Any]) -> str:
    version = described.get("observation_version")
    return f" (version {version})" if version else ""


def _training(training: Mapping[str, Any], algorithms: Mapping[str, type[Learner] | None]) -> str:
    steps = ", ".join(f"{part} {count:,}" for part, count in training["steps"].items()) or "none"
    did = [kind.about if kind and kind.about else name for name, kind in algorithms.items()]
    rows = [
        *([("algorithm", "; then ".join(did))] if did else []),
        ("iterations", f"{training['iterations']:,}"),
        ("moves, games", f"{training['moves']:,}, {training['games']:,}"),
        ("gradient steps", steps),
        ("compute", f"{training['minutes']:g} minutes on {training['machine']}"),
        ("commit, date", f"{training['commit']}, {training['date']}"),
        *facts_text(training.get("facts", {})).items(),
    ]
    command = training["command"].replace(" && ", " &&\n  ")
    configuration = json.dumps(training["configuration"], indent=2, ensure_ascii=False)
    return (
        f"## Training\n\n{_table(('', ''), rows)}\n\nMade again by:\n\n```sh\n{command}\n```\n\n"
        "<details><summary>Configuration</summary>\n\n"
        f"```json\n{configuration}\n```\n\n</details>"
    )


def _source(source: Mapping[str, Any]) -> str:
    rows = [(each["file"], each["holds"], f"`{each['sha256']}`") for each in source.get("files", ())]
    table = f"\n\n{_table(('file', 'holds', 'sha256'), rows)}" if rows else ""
    return f"## Source\n\nWeights of {source['program']}, whose licence holds for them.{table}"


def _results(strength: Sequence[Mapping[str, Any]]) -> str:
    if not strength:
        return "## Results\n\nIts strength has not been measured."
    rows = [
        (f"`{row['agent']}`", f"`{row['opponent']}`", row["setups"], f"{row['games']:,}", _score(row), row["date"])
        for row in strength
    ]
    commands = "\n".join(f"$ {row['command']}" for row in strength)
    heading = ("agent", "against", "setups", "games", "score, draws half (95 %)", "date")
    return f"## Results\n\n{_table(heading, rows)}\n\n```console\n{commands}\n```"


def _score(row: Mapping[str, Any]) -> str:
    text = f"{row['score']:.1%}"
    if row["score_low"] is not None:
        text += f" ({row['score_low']:.1%} to {row['score_high']:.1%})"
    ends = sorted(row.get(ENDS_OF_WINS, {}).items(), key=lambda each: -each[1])
    return text + "".join(f"{',' if place else '; wins by'} {end.replace('_', ' ')} {share:.0%}"
                          for place, (end, share) in enumerate(ends))  # fmt: skip


def _limits(card: Card, algorithms: Mapping[str, type[Learner] | None]) -> str:
    limits = [
        f"It plays {' and '.join(card['variants'])}, and no other board.",
        "A score is against the agents in the table, with the setups there, and says nothing of people.",
    ]
    if not any(row["agent"].startswith("search:") for row in card["strength"]):
        limits.append("How much stronger a search makes it is not measured here.")
    if "source" not in card:
        facts = card.get("training", {}).get("facts", {})
        limits += [each for kind in reversed(list(algorithms.values())) if kind for each in kind.limits(facts)]
    return "## Limits\n\n" + "\n".join(f"* {each}" for each in limits)


def _table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
