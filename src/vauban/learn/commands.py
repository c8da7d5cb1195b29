"""The commands that make a run again, told from the record of its starts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from vauban.errors import ConfigurationError
from vauban.learn.config import RunConfig, config_table, load_config, toml_text


def commands_text(starts: Sequence[Mapping[str, Any]]) -> str:
    """Return the commands that were typed, in order; a plain --resume changes nothing and is left out.

    A preset can have changed since, and a run's config.toml can be changed by hand: what no command says is added to
    it, so that it does say it. A run's folder can have been moved: it is resumed in the folder where it begins.
    """
    if not starts:
        return ""
    first = starts[0]["command"]
    configurations = [with_newer_settings(start["configuration"]) for start in starts]
    commands: list[str] = []
    for start, has, had in zip(starts, configurations, [_configuration(first), *configurations], strict=False):
        command, known = _resumed_in(_folder(first), start["command"]), settings(had)
        for key, value in has.items():
            there = key in known or any(each.startswith(f"{key}.") for each in known)
            if there and known.get(key, ...) != value and not _says(command, key):
                text = value if value == "inf" else toml_text(value)  # which JSON has in quotes
                command += f" --set {shlex.quote(f'{key}={text}')}"
        if not commands or "--set" in command:
            commands.append(command)
    return " && ".join(commands)


def with_newer_settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a configuration, with the defaults of those that came after it: it was run as they say."""
    defaults, had = settings(json.loads(json.dumps(config_table(_defaults(configuration))))), settings(configuration)
    # A table of the defaults can be a single value there: no setup network, say.
    newer = {key: value for key, value in defaults.items() if not any(key.startswith(f"{each}.") for each in had)}
    return {**newer, **had}


def _defaults(configuration: Mapping[str, Any]) -> RunConfig:
    named = configuration.get("algorithms")
    return RunConfig(algorithms=tuple(named)) if named else RunConfig()


def _folder(command: str) -> str:
    """Return the folder in which a command begins a run."""
    words = shlex.split(command)
    named = [word for option, word in pairwise(words) if option in ("--out", "--resume")]
    return named[0] if named else str(Path("runs") / Path(words[words.index("train") + 1]).stem)


def _resumed_in(folder: str, command: str) -> str:
    words = shlex.split(command)
    return shlex.join(folder if before == "--resume" else word for before, word in pairwise(["", *words]))


def _configuration(command: str) -> dict[str, Any]:
    """Return the settings that a command which begins a run has today; empty where that cannot be told."""
    words = shlex.split(command)
    preset = words[words.index("train") + 1] if "train" in words[:-1] else ""
    changes = [word for option, word in pairwise(words) if option == "--set"]
    try:
        # Through JSON, as the configurations of a run's starts have gone.
        found: dict[str, Any] = json.loads(json.dumps(config_table(load_config(preset, changes))))
    except ConfigurationError:
        return {}
    return found


def settings(table: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return the values of a configuration by their whole keys."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= settings(value, f"{path}{name}.") if isinstance(value, Mapping) else {f"{path}{name}": value}
    return found


def _says(command: str, key: str) -> bool:
    """Return whether a command sets a key, or a table that it is in."""
    words = shlex.split(command)
    named = {word.partition("=")[0] for word in words} | {word.removeprefix("--") for word in words}
    parts = key.split(".")
    return any(".".join(parts[:length]) in named for length in range(1, len(parts) + 1))
