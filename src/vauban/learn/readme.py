"""The card of a model as a page for people: README.md, with the header that Hugging Face reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vauban.nets.kinds import settings_text
from vauban.nets.store import Card

README = "README.md"
"""In a model's folder, beside its card."""
OURS, OTHERS = "apache-2.0", "other"
"""Licences: of what is trained here from nothing, and of what began with somebody else's weights."""


def readme_text(card: Card) -> str:
    """Return a page with all that a card says: how to use the model, the game, networks, training, results, limits."""
    parts = [_header(card), f"# {card['name']}", card["about"], _use(card), _game(card), _networks(card)]
    if "training" in card:
        parts.append(_training(card["training"]))
    if "source" in card:
        parts.append(_source(card["source"]))
    parts += [_results(card["strength"]), _limits(card)]
    return "\n\n".join(parts) + "\n"


def _header(card: Card) -> str:
    of_stratego = ["stratego"] if card["rules"] is not None else []
    tags = [*of_stratego, *card["variants"], "reinforcement-learning", "self-play", "imperfect-information"]
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


def _use(card: Card) -> str:
    name, variant = card["name"], card["variants"][0]
    commands = [f"vauban exploitability {variant} net:{name}"]
    if card["rules"] is not None:
        commands = [
            f"vauban match net:{name} random --game {variant} --setups own --games 100",
            f"vauban terminal --opponent net:{name} --game {variant}",
        ]
    shown = "\n".join(f"$ {command}" for command in commands)
    return (
        f"## Use\n\n```console\n{shown}\n```\n\nA name alone is that of a model which comes with Vauban; of one in a "
        f"folder, give the path: `net:models/{name}`. `search:{name}` searches before it moves."
    )


def _game(card: Card) -> str:
    variant = card["variant"] if isinstance(card["variant"], str) else card["variant"]["name"]
    rules = f"`{card['rules']}`" if card["rules"] else "there are none to choose"
    rows = [("plays", ", ".join(card["variants"])), ("trained for", variant), ("rules of training", rules)]
    return f"## Game\n\n{_table(('', ''), rows)}"


def _networks(card: Card) -> str:
    rows = [
        (part, each["kind"], settings_text(each), f"{each['parameters']:,}", each["dtype"])
        for part, each in card["networks"].items()
    ]
    heading = ("network", "kind", "settings", "parameters", "stored as")
    return f"## Networks\n\n{_table(heading, rows)}"


def _training(training: Mapping[str, Any]) -> str:
    steps = ", ".join(f"{part} {count:,}" for part, count in training["steps"].items()) or "none"
    rows = [
        ("algorithm", "damped self-play after Ataraxos, for setups and for moves; then a belief, if it has one"),
        ("iterations", f"{training['iterations']:,}"),
        ("moves, games", f"{training['moves']:,}, {training['games']:,}"),
        ("gradient steps", steps),
        ("compute", f"{training['minutes']:g} minutes on {training['machine']}"),
        ("commit, date", f"{training['commit']}, {training['date']}"),
    ]
    if belief := training["belief"]:
        names = {"validation": "its own", "marginal": "marginals", "uniform": "uniform posterior",
                 "strange": "its own with uniform setups", "strange_uniform": "uniform posterior there"}  # fmt: skip
        told = ", ".join(f"{names[name]} {value:g}" for name, value in belief.items())
        rows.append(("belief, nats a hidden piece", told))
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
    if row["score_low"] is None:
        return f"{row['score']:.1%}"
    return f"{row['score']:.1%} ({row['score_low']:.1%} to {row['score_high']:.1%})"


def _limits(card: Card) -> str:
    limits = [
        f"It plays {' and '.join(card['variants'])}, and no other board.",
        "A score is against the agents in the table, with the setups there, and says nothing of people.",
    ]
    if not any(row["agent"].startswith("search:") for row in card["strength"]):
        limits.append("How much stronger a search makes it is not measured here.")
    if card.get("training", {}).get("belief") and "strange" not in card["training"]["belief"]:
        limits.append("Its belief has met no setups but its own, and may be wrong about others.")
    if "training" in card and "source" not in card:
        limits.append("It has learned from games against itself alone.")
    return "## Limits\n\n" + "\n".join(f"* {each}" for each in limits)


def _table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
