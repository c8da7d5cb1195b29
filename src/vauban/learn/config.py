"""Configurations of training runs: TOML files, presets, and changes on the command line."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from vauban import door
from vauban.errors import ConfigurationError
from vauban.games.base import game, nearest
from vauban.learn.base import StageConfig, find_learner, learners
from vauban.learn.networks import NetworkTable
from vauban.learn.presets import presets
from vauban.learn.schedules import PowerLaw
from vauban.learn.workers import PATIENCE
from vauban.nets.kinds import setting_types

Note = Callable[[str], None]
"""Is told sentences that whoever reads a configuration should know."""


@dataclass(frozen=True)
class EvaluationConfig:
    """Evaluations while a run goes on."""

    every: float = 0.0
    """Minutes between evaluations, of which the last is when the run ends; 0: none."""
    games: int = 400
    """Against each opponent."""
    ladder: tuple[str, ...] = ("random",)
    """The agents that it is measured against."""
    rules: str = ""
    """The rules of these games, if not those of the training."""
    earlier: bool = False
    """Play against the run's own model of half the iterations or fewer, too. A run that loses to it may be going round
    in circles."""
    exact: bool = False
    """Compute how far the model is from an equilibrium, too: in a game that is small enough."""

    def __post_init__(self) -> None:
        if self.every < 0 or self.games < 1:
            raise ConfigurationError(f"an evaluation has 1 game or more, and minutes from 0 between two: {self}")


@dataclass(frozen=True)
class RunConfig:
    """One training run."""

    about: str = ""
    """A line on what this run is for."""
    game: str = "classic"
    """The game: a name, the .toml file of a variant, or `py:FILE.py:NAME`, a game of one's own."""
    rules: str = ""
    """Its rules, if not the default ones."""
    seed: int = 1
    iterations: int = 0
    """Most iterations of the first algorithm; 0: no limit."""
    minutes: float = 0.0
    """Most minutes of the first algorithm; 0: no limit."""
    save_every: float = 5.0
    """Most minutes between checkpoints; while a run is young there are more."""
    keep_models: int = 0
    """Iterations of the first algorithm after which the model is kept as it is, in the run's folder `models`, each
    time; 0: it is not."""
    patience: float = PATIENCE
    """Minutes that one of several workers waits for others that give no sign of life before it takes one of them for
    dead. The first one's evaluations may take longer."""
    wandb: str = ""
    """The project of Weights & Biases that the metrics are sent to as well; empty: none. WANDB_MODE=offline keeps them
    in the run's folder."""
    algorithms: tuple[str, ...] = ("ataraxos",)
    """The stages of the run, one after the other: names, or `py:FILE.py:CLASS`. Each has a table by its name."""
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    stages: Mapping[str, StageConfig] = field(default_factory=dict)
    """The tables of the algorithms, by the names that these have, in their order."""

    def __post_init__(self) -> None:
        for name in ("iterations", "minutes", "save_every"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigurationError(f"{name} must be a number from 0, not {getattr(self, name)}")
        if self.keep_models < 0:
            raise ConfigurationError(f"keep_models must be 0 or more, not {self.keep_models}")
        if not self.patience > 0:
            raise ConfigurationError(f"patience must be more than 0 minutes, not {self.patience}")
        kinds = {find_learner(name).name: find_learner(name) for name in self.algorithms}
        if not self.algorithms or len(kinds) < len(self.algorithms):
            raise ConfigurationError(f"algorithms: name one or more, none of them twice, not {list(self.algorithms)}")
        for name in self.stages:
            if name not in kinds:
                raise ConfigurationError(
                    f"there is a table for {name!r}, and the algorithms are {list(self.algorithms)}: add it to "
                    "algorithms, or leave the table away"
                )
        made = {name: self.stages.get(name) or kind.config() for name, kind in kinds.items()}
        first = next(iter(made))
        if made[first].minutes:
            raise ConfigurationError(f"{first}.minutes: the first algorithm has the minutes of the run, so set minutes")
        object.__setattr__(self, "stages", made)

    def later_minutes(self) -> dict[str, float]:
        """Return the minutes of each algorithm after the first one, without those that are left out."""
        return {name: each.minutes for name, each in list(self.stages.items())[1:] if each.minutes}


def load_config(name: str, changes: Sequence[str] = (), note: Note = lambda sentence: None) -> RunConfig:
    """Return the configuration of a preset or a file, with changes `key=value` (keys of tables with dots:
    `ataraxos.moves.games=512`).

    note: is told what was left out since the changes name another game.
    """
    if name.endswith(".toml"):
        text = read_config(Path(name))
    else:
        known = presets()
        if name not in known:
            raise ConfigurationError(f"there is no preset {name!r}: {nearest(name, list(known))}; or give a .toml file")
        text = known[name]
    return parse_config(text, changes, name, note)


def read_config(path: Path) -> str:
    """Return the text of a configuration."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is no UTF-8, from byte {error.start} on: save it as UTF-8") from error


def parse_config(
    text: str, changes: Sequence[str] = (), where: str = "the configuration", note: Note = lambda sentence: None
) -> RunConfig:
    """Return a configuration from TOML and changes to it; files in it are named so that any folder finds them."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{where} is no TOML: {error}") from error
    was = table.get("game", RunConfig.game)
    for change in changes:
        _change(table, change)
    _leave_out_what_was_of(was, table, changes, note)
    if isinstance(table.get("algorithms"), list):
        for name in table["algorithms"]:
            find_learner(_build(str, name, f"{where}.algorithms"))
    known = learners()
    tables = {name: table.pop(name) for name in list(table) if name in known}
    for name in table:
        if name not in RunConfig.__dataclass_fields__ or name == "stages":
            keys = [*(each for each in RunConfig.__dataclass_fields__ if each != "stages"), *known]
            inside = [kind for kind in known if name in get_type_hints(known[kind].config)]
            hint = f"did you mean {f'{inside[0]}.{name}'!r}?" if inside else nearest(name, keys)
            raise ConfigurationError(f"{where} has no {name!r}: {hint}")
    for name, each in tables.items():
        table.setdefault("stages", {})[name] = _build(known[name].config, each, f"{where}.{name}")
    built: RunConfig = _build(RunConfig, table, where)
    algorithms = tuple(_from_anywhere(name, "an algorithm") for name in built.algorithms)
    return replace(built, game=_from_anywhere(built.game, "a game"), algorithms=algorithms)


def _leave_out_what_was_of(was: str, table: dict[str, Any], changes: Sequence[str], note: Note) -> None:
    """Leave out what a configuration says of its game where changes name another, and do not say it anew.

    Rules and opponents of the same family of games stay: a preset for one board is one for others of its family.
    """
    now, changed = table.get("game", was), {change.partition("=")[0].strip() for change in changes}
    if now == was or not isinstance(now, str):
        return
    if "about" not in changed:
        table.pop("about", None)
    if game(was).family == game(now).family:
        return
    rules = table.get("rules")
    if rules and "rules" not in changed:
        del table["rules"]
        note(f"the rules {rules!r} are for {was!r}, so {now!r} is played by its own (--set rules=… for others)")
    evaluation, asked = table.get("evaluation"), any(each.split(".")[0] == "evaluation" for each in changed)
    if isinstance(evaluation, dict) and evaluation.get("every") and evaluation.get("ladder", True) and not asked:
        del table["evaluation"]
        note(f"its opponents are for {was!r}, so nothing is played against them (--set evaluation.every=… for others)")


def _from_anywhere(named: str, wanted: str) -> str:
    """Return the name of a game or an algorithm as any folder finds it."""
    if named.startswith(door.PREFIX):
        path, name, _ = door.split(named, wanted)
        return f"{door.PREFIX}{path.expanduser().absolute()}:{name}"
    return str(Path(named).absolute()) if named.endswith(".toml") else named


def _change(table: dict[str, Any], change: str) -> None:
    key, equals, value = change.partition("=")
    if not equals:
        raise ConfigurationError(f"a change is written key=value, such as seed=2, not {change!r}")
    *path, last = key.strip().split(".")
    for name in path:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise ConfigurationError(f"{change!r}: {name} is a value, not a table")
    try:
        table[last] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        table[last] = value.strip()


def _build(kind: Any, value: Any, where: str) -> Any:
    """Return a value of a dataclass's field, from what TOML has."""
    if get_origin(kind) in (Union, types.UnionType):
        options = [each for each in get_args(kind) if each is not type(None)]
        return None if value is False and type(None) in get_args(kind) else _build(options[0], value, where)
    if isinstance(value, float) and math.isnan(value):
        raise ConfigurationError(f"{where} is a number, not {value}")
    if kind is PowerLaw and isinstance(value, (int, float)) and not isinstance(value, bool):
        return PowerLaw(float(value))
    if get_origin(kind) is Mapping:
        return value
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise ConfigurationError(f"{where} is a table, not {value!r}")
        if kind is NetworkTable:
            return _build_network(value, where)
        hints = get_type_hints(kind)
        _check_names(value, hints, where)
        return _made(kind, {name: _build(hints[name], each, f"{where}.{name}") for name, each in value.items()}, where)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise ConfigurationError(f"{where} is a list, not {value!r}")
        return tuple(_build(get_args(kind)[0], each, where) for each in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise ConfigurationError(f"{where} is {_NAMES.get(kind, kind)}, not {value!r}")
    return value


def _build_network(table: Mapping[str, Any], where: str) -> NetworkTable:
    """Return the network that a table asks for."""
    kind = _build(str, table.get("kind", ""), f"{where}.kind")
    try:
        config = NetworkTable.config_of(kind)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}.kind: {error}") from error
    types = setting_types(config)
    _check_names(table, ["kind", *types], where)
    given = {name: _build(types[name], each, f"{where}.{name}") for name, each in table.items() if name != "kind"}
    return NetworkTable(_built_of(config, given, where), kind)


def _built_of(kind: Any, given: Mapping[str, Any], where: str) -> Any:
    """Return a dataclass of settings that stand beside each other, those of a dataclass inside it among them."""
    values: dict[str, Any] = {}
    for each in dataclasses.fields(kind):
        hint = get_type_hints(kind)[each.name]
        if not dataclasses.is_dataclass(hint):
            values |= {name: value for name, value in given.items() if name == each.name}
        elif _is_required(each) or set(given) & set(setting_types(hint)):  # type: ignore[arg-type]
            values[each.name] = _built_of(hint, given, where)
    return _made(kind, values, where)


def _made(kind: Any, given: dict[str, Any], where: str) -> Any:
    try:
        return kind(**given)
    except TypeError as error:
        missing = [each.name for each in dataclasses.fields(kind) if _is_required(each) and each.name not in given]
        raise ConfigurationError(f"{where} needs {', '.join(missing)}") from error


def _check_names(table: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for name in table:
        if name not in known:
            raise ConfigurationError(f"{where} has no {name!r}: {nearest(name, list(known))}")


_NAMES = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "true or false"}


def _is_required(each: dataclasses.Field[Any]) -> bool:
    return each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING


def config_text(config: RunConfig) -> str:
    """Return a configuration as TOML, complete: what a run folder keeps."""
    return "\n".join(_lines(_table(config), ""))


def _table(config: RunConfig) -> dict[str, Any]:
    """Return a configuration as a file has it: the tables of the algorithms beside the others."""
    table: dict[str, Any] = _plain(config)
    stages = table.pop("stages")
    return {**table, **stages}


def _plain(value: Any) -> Any:
    """Return a value of a configuration in tables and lists."""
    if isinstance(value, NetworkTable):
        return value.table()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if dataclasses.is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    return value


def _lines(table: Mapping[str, Any], path: str) -> list[str]:
    plain = {name: value for name, value in table.items() if not isinstance(value, dict)}
    lines = [f"{name} = {toml_text(value)}" for name, value in plain.items()]
    for name, value in table.items():
        if isinstance(value, dict):
            lines += ["", f"[{path}{name}]", *_lines(value, f"{path}{name}.")]
    return lines


def config_table(config: RunConfig) -> dict[str, Any]:
    """Return a configuration for JSON, which has no infinity: as TOML writes it, in quotes."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: plain(each) for name, each in value.items()}
        return str(value) if isinstance(value, float) and math.isinf(value) else value

    table: dict[str, Any] = plain(_table(config))
    return table


def toml_text(value: Any) -> str:
    """Return a value as TOML writes it."""
    if value is None:
        return "false"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "inf" if value == math.inf else repr(value)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(toml_text(each) for each in value) + "]"
    if isinstance(value, str):
        # What JSON escapes, TOML does in the same way; and one character more.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)
