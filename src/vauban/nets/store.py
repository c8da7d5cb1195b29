"""Models on disk: a folder with a card and the weights of its networks (docs/models.md).

    model = load_model("runs/mine")  # or a shipped one, by its name
    choices, outcome = model.player(seen)
    belief = model.find(BeliefNetwork)

`card.json` says for which game the networks are, how they are built, which of them plays, what it sees, how they came
about and how well they play. Weights are safetensors files, which hold numbers and nothing that could run. The card
alone decides what is built; a file that does not fit it in every name and shape is refused.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from vauban import door
from vauban.errors import ConfigurationError, VaubanError
from vauban.files import write_whole
from vauban.games.base import Game, from_spec, nearest
from vauban.models import CARD, FOLDER
from vauban.nets.kinds import COUNTED, Kind, find_kind
from vauban.nets.policy import PolicyNetwork
from vauban.observe import base as observations

Network = TypeVar("Network")

FORMAT = 1
"""The version of the card."""
SETUPS = "setups.txt"
SHIPPED = FOLDER
HUB = "hf:"
"""The beginning of the address of a model on the Hugging Face hub."""

Card = dict[str, Any]
PLAYS = "move"
"""The part that plays by a card that does not say it."""
PART = re.compile("[a-z][a-z0-9_]*")
"""Names that a part of a model can have, which are names of files."""

_STORED = {torch.float32: "float32", torch.bfloat16: "bfloat16"}
_MOST_NAMED = 4
"""An error names so many weights, and counts the others."""


class ModelError(VaubanError, ValueError):
    """A model that is not there, cannot be read, or does not fit."""


@dataclass(frozen=True, eq=False)
class Model:
    """The networks of a folder, and its card."""

    folder: Path
    game: Game
    """The game that the networks were made for, by the rules of their training."""
    networks: Mapping[str, nn.Module]
    """By part, as the card names them."""
    setups: Path | None
    """A list of setups, one on a line, to be drawn from in place of a setup network."""
    card: Card

    @property
    def player(self) -> PolicyNetwork:
        """The network that plays."""
        network = self.networks[player_of(self.card)]
        assert isinstance(network, PolicyNetwork)
        return network

    def part(self, name: str) -> PolicyNetwork:
        """Return the network of this name, which is to play; the one that the card names, without a name."""
        if not name:
            return self.player
        network = self.networks.get(name)
        if not isinstance(network, PolicyNetwork):
            playing = [part for part, each in self.networks.items() if isinstance(each, PolicyNetwork)]
            raise ModelError(f"the model {self.card['name']!r} has no network {name!r} that plays: {_some(playing)}")
        return network

    def find(self, kind: type[Network]) -> Network | None:
        """Return the network of this kind, if the model has one."""
        return next((network for network in self.networks.values() if isinstance(network, kind)), None)

    @property
    def temperature(self) -> float:
        """The temperature at which it plays, unless somebody asks for another."""
        return float(self.card.get("temperature", 1.0))

    def plays(self, game: Game) -> bool:
        """Say whether the model is meant for a game; rules may differ from those of its training."""
        return game.name in self.card["variants"] and game.same_board(self.game)

    def check_plays(self, game: Game) -> None:
        """Refuse a game for which the model is not meant."""
        if not self.plays(game):
            raise ModelError(
                f"the model {self.card['name']!r} plays {' and '.join(self.card['variants'])}, not {game.name!r}"
            )


@dataclass(frozen=True)
class Training:
    """The training of a model, by what its run knows."""

    configuration: Mapping[str, Any]
    """All settings of the run, as they were resolved."""
    iterations: int
    moves: int
    """Moves played, by both sides together."""
    games: int
    """Games that were finished."""
    minutes: float
    machine: str
    commit: str
    """The commit of the code that ran."""
    command: str
    """The commands that make the model again."""
    date: str
    """Date of the run's end, as YYYY-MM-DD."""
    steps: Mapping[str, int] = field(default_factory=dict)
    """Gradient steps, by network."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """Last values of metrics of the later algorithms, by name: what a belief came to, say."""
    curve: Sequence[Mapping[str, float]] = ()
    """The course of the training: iteration, minutes and so on in each row, scores where they were measured."""


# ── Cards ────────────────────────────────────────────────────────────────────────────────────────


def make_card(
    game: Game,
    networks: Mapping[str, Mapping[str, Any]],
    *,
    name: str,
    about: str,
    variants: Sequence[str] = (),
    training: Training | None = None,
    source: Mapping[str, Any] | None = None,
    strength: Sequence[Mapping[str, Any]] = (),
    plays: str = PLAYS,
    temperature: float = 1.0,
) -> Card:
    """Return the card of a model, from facts.

    networks: by part, as `vauban.nets.kinds.describe` makes them. about: one sentence.
    variants: where the model plays, if not only at the variant of `game`.
    training: for a model of ours; source: for one that comes from elsewhere.
    strength: matches, as `strength_row` makes them.
    plays: the part that plays.
    temperature: at which it does, unless somebody asks for another: below 1, likely moves more often.
    """
    card: Card = {
        "format": FORMAT,
        "name": name,
        "about": about,
        "variant": game.definition(),
        "rules": game.rules_text,
        "variants": list(variants) or [game.name],
        "plays": plays,
        "networks": {part: dict(each) for part, each in networks.items()},
    }
    if temperature != 1:
        card["temperature"] = temperature
    if training is not None:
        card["training"] = asdict(training)
    if source is not None:
        card["source"] = dict(source)
    card["strength"] = [dict(row) for row in strength]
    check_card(card, f"the card of {name!r}")
    return card


STRENGTH = (
    "rules", "setups", "seed", "games", "score", "score_low", "score_high", "elo", "elo_low", "elo_high",
)  # fmt: skip
"""Entries that a row of strength takes over from a match."""
ENDS_OF_WINS = "ends_of_wins"
"""One more, of matches that tell it: by end, the share of the wins that ended so."""
FAILED = "failed"
"""The beginning of a match's note on a game that an agent lost by an error of its own."""


def strength_row(told: Mapping[str, Any], command: str, date: str) -> dict[str, Any]:
    """Return a match as a card has it. told: what `vauban match MODEL OPPONENT --json` printed; the model is the first.

    A match in which an agent broke down is refused: it says nothing about strength.
    """
    told = {**({"game": told["variant"]} if "variant" in told else {}), **told}  # as it was called before
    missing = [key for key in ("agents", "game", *STRENGTH) if key not in told]
    if missing:
        raise ModelError(f"a match without {', '.join(missing)}: give what `vauban match … --json` prints")
    for noted in told.get("notes", []):
        if noted["note"].startswith(FAILED):
            raise ModelError(
                f"{noted['agent']!r} broke down in {noted['games']} of the games ({noted['note']}), and games that end "
                "so say nothing about strength: play the match again with agents that can play it"
            )
    agent, opponent = told["agents"]
    kept = {"variant": told["game"], **{key: told[key] for key in (*STRENGTH, ENDS_OF_WINS) if key in told}}
    return {"agent": agent, "opponent": opponent, **kept, "command": command, "date": date}


def with_place(card: Card, place: str) -> Card:
    """Return a card whose matches name the model by its place: a folder, or an address."""
    rows = []
    for row in card["strength"]:
        kind, _, rest = row["agent"].partition(":")
        agent = f"{kind}:{place}{''.join(rest.partition(',')[1:])}"
        words = [agent if word == row["agent"] else word for word in shlex.split(row["command"])]
        rows.append({**row, "agent": agent, "command": shlex.join(words)})
    return {**card, "strength": rows}


def write_card(folder: Path, card: Card) -> None:
    """Write the card of a folder anew, e.g. with further rows of strength."""
    check_card(card, str(folder / CARD))
    write_whole(folder / CARD, json.dumps(card, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_card(folder: Path) -> Card:
    """Return the card of a model's folder."""
    path = folder / CARD
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: cannot be read as a card: {error}") from error
    if not isinstance(card, dict):
        raise ModelError(f"{path}: a card is a JSON object, not {type(card).__name__}")
    check_card(card, str(path))
    return card


def check_card(card: Card, where: str) -> None:
    """Refuse a card that lacks something, or is of another version."""
    wanted: dict[str, tuple[type, ...]] = {
        "format": (int,), "name": (str,), "about": (str,), "variant": (str, dict), "rules": (str, type(None)),
        "variants": (list,), "networks": (dict,), "strength": (list,),
    }  # fmt: skip
    for key, types in wanted.items():
        if key not in card:
            raise ModelError(f"{where}: the entry {key!r} is missing")
        if not isinstance(card[key], types):
            raise ModelError(f"{where}: the entry {key!r} must be {_named(types)}, not {card[key]!r}")
    if card["format"] != FORMAT:
        raise ModelError(f"{where}: a card of format {card['format']}, and this version of Vauban reads {FORMAT}")
    if not card["variants"] or not all(isinstance(each, str) for each in card["variants"]):
        raise ModelError(f"{where}: 'variants' must be the names of variants, not {card['variants']!r}")
    for part, description in card["networks"].items():
        _check_description(part, description, card, where)
    plays = player_of(card)
    if plays not in card["networks"]:
        raise ModelError(
            f"{where}: the network {plays!r} is to play, and 'networks' has {_some(list(card['networks']))}"
        )
    kind = kind_of(card, plays, where)
    if not issubclass(kind.network, PolicyNetwork):
        raise ModelError(f"{where}: the network {plays!r} is to play, and one of the kind {kind.name!r} cannot")
    temperature = card.get("temperature", 1.0)
    if not isinstance(temperature, (int, float)) or not 0 <= temperature < math.inf:
        raise ModelError(f"{where}: 'temperature' must be a number from 0, not {temperature!r}")
    for row in card["strength"]:
        for key in ("agent", "opponent", "variant", *STRENGTH, "command", "date"):
            if not isinstance(row, dict) or key not in row:
                raise ModelError(f"{where}: a row of 'strength' without {key!r}: {row!r}")


def player_of(card: Card) -> str:
    """Return the part of a model that plays."""
    return str(card.get("plays", PLAYS))


def kind_of(card: Card, part: str, where: str) -> Kind:
    """Return the kind of a part of a model."""
    try:
        return find_kind(card["networks"][part]["kind"])
    except ConfigurationError as error:
        raise ModelError(f"{where}, network {part!r}: {error}") from error


def game_of(card: Card, where: str) -> Game:
    """Return the game that a model was trained for.

    One in a file is not loaded for a model's sake: a stranger's model would run code.
    """
    found = re.search(f"{door.PREFIX}.*", card["variant"]) if isinstance(card["variant"], str) else None
    if found and not door.is_loaded(found[0]):
        raise ModelError(
            f"{where}: it plays {card['variant']!r}, a game in a file, which is not run for a model's sake: name the "
            f"game as well, --game {card['variant']}"
        )
    try:
        return from_spec({"game": card["variant"], "rules": card["rules"]})
    except VaubanError as error:
        raise ModelError(f"{where}: {error}") from error


def _check_description(part: str, description: Any, card: Card, where: str) -> None:
    if not PART.fullmatch(part):
        raise ModelError(f"{where}, network {part!r}: a part of a model is named by small letters, such as {PLAYS!r}")
    if not isinstance(description, dict) or not isinstance(description.get("kind"), str):
        raise ModelError(
            f"{where}, network {part!r}: a network is described by an object with its 'kind', not by {description!r}"
        )
    kind, where = kind_of(card, part, where), f"{where}, network {part!r}"
    known = get_type_hints(kind.config)
    for key in description:
        if key not in (*known, "kind", *COUNTED):
            raise ModelError(
                f"{where}: a network of the kind {kind.name!r} has no {key!r}: {nearest(key, list(known))}"
            )
    settings_of(kind, description, where)


def settings_of(kind: Kind, description: Mapping[str, Any], where: str) -> Any:
    """Return what a network is built from, by its description in a card."""
    known = get_type_hints(kind.config)
    try:
        return kind.config(**{key: _setting(hint, description.get(key), key, where) for key, hint in known.items()})
    except ConfigurationError as error:
        raise ModelError(f"{where}: {error}") from error


def _setting(hint: Any, given: Any, key: str, where: str) -> Any:
    """Return a setting of a network, of the type that it should have, from what JSON has."""
    if is_dataclass(hint):
        inside: dict[str, Any] = get_type_hints(hint)
        if not isinstance(given, dict):
            raise ModelError(f"{where}: {key!r} must be an object, not {given!r}")
        if sorted(given) != sorted(inside):
            raise ModelError(f"{where}: {key!r} must have {', '.join(inside)}, not {given!r}")
        made: Any = hint
        return made(**{each: _setting(inside[each], given[each], f"{key}.{each}", where) for each in inside})
    if get_origin(hint) is dict:
        if not isinstance(given, dict):
            raise ModelError(f"{where}: {key!r} must be an object, not {given!r}")
        return dict(given)
    if get_origin(hint) is tuple:
        if not isinstance(given, (list, tuple)):
            raise ModelError(f"{where}: {key!r} must be a list, not {given!r}")
        return tuple(_setting(get_args(hint)[0], each, key, where) for each in given)
    fits = isinstance(given, (int, float) if hint is float else hint)
    if not fits or (isinstance(given, bool) and hint is not bool):
        raise ModelError(f"{where}: {key!r} must be {_named((hint,))}, not {given!r}")
    return given


def _named(types: tuple[type, ...]) -> str:
    words = {
        int: "a whole number", float: "a number", str: "a text", bool: "true or false", list: "a list",
        dict: "an object", type(None): "null",
    }  # fmt: skip
    return " or ".join(words[kind] for kind in types)


# ── Where models are ─────────────────────────────────────────────────────────────────────────────


def shipped_models() -> dict[str, Path]:
    """Return the folders of the models that come with Vauban, by name."""
    return {path.name: path for path in sorted(SHIPPED.iterdir()) if (path / CARD).is_file()}


def find_model(name: str | Path) -> Path:
    """Return the folder of a model: a shipped one by its name, one of the hub (`hf:OWNER/NAME`) where it is kept; else,
    with a slash in it, a path of a model or of a run."""
    text = str(name)
    if isinstance(name, str) and name.startswith(HUB):
        from vauban.nets import hub

        return hub.kept(name, lambda sentence: print(sentence, file=sys.stderr, flush=True))
    if isinstance(name, str) and not any(separator in text for separator in ("/", os.sep)):
        shipped = shipped_models()
        if name in shipped:
            return shipped[name]
        near = nearest(name, list(shipped)) if shipped else "none is shipped"
        here = f"; the folder beside you is './{name}'" if Path(name).is_dir() and name else ""
        raise ModelError(f"there is no model {name!r}: {near} (a folder is written with a slash, e.g. runs/mine){here}")
    path = Path(text)
    for folder in (path, path / "model"):
        if (folder / CARD).is_file():
            return folder
    if not path.exists():
        raise ModelError(f"{text}: there is no such folder")
    raise ModelError(f"{text}: this is no model: there is neither {CARD} nor model/{CARD} in it")


# ── Weights ──────────────────────────────────────────────────────────────────────────────────────


def save_model(
    folder: Path, networks: Mapping[str, nn.Module], card: Card, dtype: torch.dtype = torch.bfloat16
) -> None:
    """Write a model's folder: weights rounded to `dtype` (bfloat16 or float32), then the card.

    networks: one for each that the card describes, and built as it says. Whoever reads the folder meanwhile finds whole
    files; numbers of parameters are filled into the card that is written.
    """
    where = str(folder)
    check_card(card, where)
    game = game_of(card, where)
    if dtype not in _STORED:
        raise ModelError(f"{where}: weights are stored in {' or '.join(_STORED.values())}, not in {dtype}")
    if set(networks) != set(card["networks"]):
        raise ModelError(
            f"{where}: the card describes {', '.join(sorted(card['networks']))}, and these are the networks "
            f"{', '.join(sorted(networks)) or 'none'}"
        )
    described = {part: dict(each) for part, each in card["networks"].items()}
    files = {}
    for part, network in networks.items():
        tensors = {key: tensor.detach().cpu() for key, tensor in network.state_dict().items()}
        built = build_network(described[part], game, where)
        check_tensors(tensors, built, f"{where}, network {part!r}")
        if seen := _observation(built, game):
            described[part]["observation_version"] = seen[1]
        described[part]["parameters"] = sum(tensor.numel() for tensor in tensors.values() if tensor.is_floating_point())
        described[part]["dtype"] = _STORED[dtype]
        files[part] = safetensors.torch.save({key: _rounded(tensor, dtype) for key, tensor in tensors.items()})
    folder.mkdir(parents=True, exist_ok=True)
    for part, data in files.items():
        write_whole(weights_file(folder, part), data)
    for path in folder.glob("*.safetensors"):
        if path.stem not in files:
            path.unlink()
    write_card(folder, {**card, "networks": described})


def load_model(name: str | Path, device: str | torch.device = "cpu") -> Model:
    """Return the model of this name or folder, ready to play: float32, in evaluation mode."""
    folder = find_model(name)
    card = read_card(folder)
    where = str(folder)
    game = game_of(card, where)
    networks = {}
    for part in card["networks"]:
        path = weights_file(folder, part)
        network = build_network(card["networks"][part], game, where)
        _check_observation(network, card["networks"][part], game, f"{where}, network {part!r}")
        tensors = _read(path)
        check_tensors(tensors, network, str(path))
        network.load_state_dict(tensors)
        networks[part] = network.to(device).eval()
    setups = folder / SETUPS
    return Model(folder, game, networks, setups if setups.is_file() else None, card)


def weights_file(folder: Path, part: str) -> Path:
    """Return the file with the weights of a part of a model."""
    return folder / f"{part}.safetensors"


def check_tensors(tensors: Mapping[str, Tensor], network: nn.Module, where: str) -> None:
    """Refuse weights that are not, name by name and shape by shape, those of the network; or not finite."""
    expected = network.state_dict()
    missing = [key for key in expected if key not in tensors]
    if missing:
        raise ModelError(f"{where}: weights are missing: {_some(missing)}")
    extra = [key for key in tensors if key not in expected]
    if extra:
        raise ModelError(f"{where}: there are weights that the network does not have: {_some(extra)}")
    for key, tensor in tensors.items():
        if tensor.shape != expected[key].shape:
            raise ModelError(
                f"{where}: {key} has the shape {_shape(tensor)}, and this network needs {_shape(expected[key])}"
            )
        if tensor.is_floating_point() != expected[key].is_floating_point():
            kind = "floating-point numbers" if expected[key].is_floating_point() else "whole numbers"
            raise ModelError(f"{where}: {key} holds {tensor.dtype}, and this network has {kind} there")
        if not tensor.isfinite().all():
            raise ModelError(f"{where}: {key} holds numbers that are not finite")


def build_network(description: Mapping[str, Any], game: Game, where: str) -> Any:
    """Return the network that a card describes, with meaningless weights; torch's global generator stays as it was."""
    try:
        kind = find_kind(description["kind"])
        with torch.random.fork_rng(devices=[]):
            return kind.build(game, settings_of(kind, description, where))
    except ModelError:
        raise
    except VaubanError as error:
        raise ModelError(f"{where}: {error}") from error


def _observation(network: nn.Module, game: Game) -> tuple[str, int] | None:
    """Return the name and the version of the observation that a network sees, if it sees one."""
    name = getattr(network, "observation", None)
    return None if name is None else (name, observations.find(game, name).version)


def _check_observation(network: nn.Module, description: Mapping[str, Any], game: Game, where: str) -> None:
    """Refuse a network that learned from another version of its observation."""
    known, seen = description.get("observation_version", 1), _observation(network, game)
    if seen and known != seen[1]:
        raise ModelError(
            f"{where}: it learned from version {known} of the observation {seen[0]!r}, and this is version {seen[1]}: "
            "play it with the version of Vauban that made it, or train it again"
        )


def _rounded(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a tensor as it is stored; whole numbers, such as counts, stay as they are."""
    return (tensor.to(dtype) if tensor.is_floating_point() else tensor).contiguous()


def _read(path: Path) -> dict[str, Tensor]:
    try:
        return safetensors.torch.load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise ModelError(f"{path}: cannot be read as weights in safetensors format: {error}") from error


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "()"
