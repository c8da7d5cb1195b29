"""Signatures: one short hash for each part of what the program does (docs/signatures.md).

Whoever changes code and not behaviour changes no signature. Whoever changes behaviour sees here what else changed.
They are made of what can be seen from outside (actions, legal actions, outcomes, observations, metrics, weights) and
never of the bytes of a record, so that records may be laid out anew.

    games/…         random games of every game
    rules/…         games by every preset of a family's rules, and by every switch; rules/FAMILY/… likewise
    observations/…  every observation of every game
    agents/…        games of every agent that needs no model, in batches and on boards; agents/FAMILY/… for those of
                    other families than Stratego
    learners/…      ten iterations of a small run of every learner: its metrics, its weights or tables

All but the last are integers, or numbers that every machine computes alike. A learner's line holds for one kind of CPU
and one version of torch: see `learned_on`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from vauban.agents import AGENTS, FAMILIES, USUAL_FAMILY, make_agent
from vauban.agents.opponents import Opponents
from vauban.arena.match import FORFEIT, RESIGNED, Match, own_setups
from vauban.arena.play import play_games, play_on_boards
from vauban.errors import ConfigurationError
from vauban.families import family_part, family_parts, folder_of
from vauban.files import write_whole
from vauban.games import base
from vauban.games.base import Game, nearest
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.variants import Variant, parse_army
from vauban.learn.config import load_config
from vauban.learn.run import Run
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator

FILE = Path(__file__).with_name("signatures.json")
"""The stored signatures."""
COMMAND = "vauban bench signature --write"
"""The command that stores them anew."""
LEARNERS = "learners/"
"""Beginnings of the names of the parts that depend on the machine."""

Part = Callable[[], str]

GAMES = 4
"""Random games of each game."""
OBSERVED = 7
"""Every so many plies everybody's observation is taken. Odd, so that each player is on turn in some."""
LONG = 255
"""Plies that games without a bound are judged back; none of these comes to it."""
LIMITS = ("40",)
"""Values of the switches that are numbers."""
REPETITIVE = Variant("repetitive", 8, 4, (), 1, parse_army("F1 J2 P1"), total_limit=400)
"""Few pieces on a long board, which come to chase each other."""
OTHER_GAMES = 16
"""Random games by the rules of another family."""
REPETITIVE_GAMES, HABIT = 128, 4
"""Enough of them that every rule of chasing bars a move in some."""
AGENT_GAMES = 2
"""Games of each match of an agent: a pair, with the sides swapped."""
EFFORT = {"nodes": "nodes=300", "sims": "sims=12,time=0"}
"""By an option that an agent has: the settings that make it think by counting, and not by the clock."""
ITERATIONS = 10
"""Of each learner."""
BELIEF_ITERATIONS = 2
"""Of a belief, after those of the moves."""

_TINY = (
    "ataraxos.move_network.width=16", "ataraxos.setup_network.width=16", "ataraxos.moves.games=16",
    "ataraxos.moves.batch=64", "ataraxos.setups.per_player=16", "ataraxos.setups.batch=16",
)  # fmt: skip
SMALL_RUNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "kuhn": ("ataraxos-kuhn", ("ataraxos.moves.games=64", "ataraxos.moves.batch=128")),
    "rnad": ("rnad-kuhn", ("rnad.games=32", "rnad.chunk=64", "rnad.steps=2", "rnad.durations=[4]")),
    "deep_cfr": (
        "deep-cfr-kuhn",
        ("deep_cfr.traversals=64", "deep_cfr.capacity=400", "deep_cfr.batch=64", "deep_cfr.batches=20",
         "deep_cfr.strategy_batches=20", "deep_cfr.strategy_every=5", "deep_cfr.merge=false"),
    ),
    "psro": ("psro-kuhn-exact", ("psro.exact.rate=0.5", "psro.drawn=true", "psro.meta.random_start=true")),
    "sac": ("sac-kuhn", ("sac.games=32", "sac.rounds=2", "sac.start=200", "sac.batch=64")),
    "ppo": ("ppo-kuhn", ("ppo.games=64", "ppo.rounds=2", "ppo.batch=64")),
    "setups": ("laptop", _TINY),
    "belief": (
        "laptop",
        (*_TINY, "belief.minutes=1e6", "belief.width=16", "belief.games=16", "belief.pool=4", "belief.warmup=40",
         "belief.steps=5", "belief.validation=64", "belief.setups=16", "belief.strange=0.25"),
    ),
}  # fmt: skip
"""By name: the preset that a learner's line trains, and what makes it a matter of seconds."""


def parts() -> dict[str, Part]:
    """Return all parts of the package by name, each with the function that computes its signature."""
    found: dict[str, Part] = {}
    ours = [name for name in base.names() if type(base.game(name)).__module__.startswith(f"{__package__}.")]
    for name in ours:
        found[f"games/{name}"] = partial(_sign_game, name)
    for family in _families_first(part.__package__ for part in family_parts("games", "switches")):
        for rules in _rules_of(family):
            sign = _sign_rules if family == USUAL_FAMILY else partial(_sign_rules_of, family)
            found[f"rules/{_in_family(family, rules)}"] = partial(sign, rules)
    for name in ours:
        for seen in observations.names(base.game(name)):
            found[f"observations/{name}/{seen}"] = partial(_sign_observation, name, seen)
    for name in AGENTS:
        found[f"agents/{name}"] = partial(_sign_agent, name, USUAL_FAMILY)
    for family in _families_first(FAMILIES):
        for name in FAMILIES[family]:
            found[f"agents/{_in_family(family, name)}"] = partial(_sign_agent, name, family)
    for name, (preset, changes) in SMALL_RUNS.items():
        found[f"{LEARNERS}{name}"] = partial(_sign_learner, preset, changes)
    return found


def _families_first(names: Iterable[str | None]) -> list[str]:
    """Return families by the names of their packages, the usual one first."""
    families = [str(name).rpartition(".")[2] for name in names]
    return sorted(families, key=lambda family: family != USUAL_FAMILY)


def _in_family(family: str, name: str) -> str:
    return name if family == USUAL_FAMILY else f"{family}/{name}"


def _switches(family: str) -> Any:
    """Return the module with the switches of a family's rules, and its presets."""
    return family_part("games", family, "switches")


def _rules_of(family: str) -> list[str]:
    """Return every preset of a family's rules, and every value of every switch."""
    values = {switch: values or LIMITS for switch, values in _switches(family).SWITCHES.items()}
    return [*_switches(family).PRESETS, *(f"{switch}={value}" for switch in values for value in values[switch])]


def chosen(names: list[str]) -> dict[str, Part]:
    """Return the parts of these names; a name stands for all parts that begin with it, and no name for all."""
    known = parts()
    found: dict[str, Part] = {}
    for name in names or [""]:
        group = name.rstrip("/")
        mine = {each: part for each, part in known.items() if not group or _is_under(each, group)}
        if not mine:
            groups = [each.partition("/")[0] for each in known]
            raise ConfigurationError(f"there is no part {name!r}: {nearest(name, [*dict.fromkeys(groups), *known])}")
        found |= mine
    return {each: part for each, part in known.items() if each in found}


def _is_under(name: str, group: str) -> bool:
    return name == group or name.startswith((f"{group}/", f"{group} "))


# ── The stored ones ──────────────────────────────────────────────────────────────────────────────


def learned_on() -> str:
    """Return the kind of machine that a learner's line depends on, in words."""
    return f"torch {torch.__version__.partition('+')[0]}, {torch.backends.cpu.get_cpu_capability()}"


def stored() -> tuple[dict[str, str], str]:
    """Return the stored signatures by part, and what the learners' were learned on."""
    table = json.loads(FILE.read_text(encoding="utf-8"))
    return table["signatures"], table["learned_on"]


def comparable(name: str) -> bool:
    """Return whether the stored line of a part can be compared with one that is computed here."""
    return not name.startswith(LEARNERS) or stored()[1] == learned_on()


def write(found: Mapping[str, str]) -> None:
    """Store these signatures, and keep the others that are stored, of parts that there are."""
    before, on = stored() if FILE.exists() else ({}, learned_on())
    known = parts()
    learners = [name for name in known if name.startswith(LEARNERS)]
    if on != learned_on() and any(name in found for name in learners):
        missing = [name for name in learners if name not in found]
        if missing:
            raise ConfigurationError(
                f"the stored lines of learners are of {on}, this is {learned_on()}: write all of them together, "
                "vauban bench signature learners --write"
            )
        on = learned_on()
    lines = {**before, **found}
    table = {"learned_on": on, "signatures": {name: lines[name] for name in known if name in lines}}
    write_whole(FILE, json.dumps(table, indent=2, ensure_ascii=False) + "\n")


# ── Hashing ──────────────────────────────────────────────────────────────────────────────────────


class _Hash:
    """A hash of numbers and texts, whatever types and devices hold them."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=6)

    def add(self, *values: Any) -> None:
        for value in values:
            if isinstance(value, str):
                self._hash.update(value.encode() + b"\0")
                continue
            array = np.asarray(value)
            floats = array.dtype.kind == "f"
            # Zero may carry a sign; it is the same number.
            self._hash.update(np.ascontiguousarray(array + 0.0 if floats else array, "<f4" if floats else "<i8").data)

    @property
    def text(self) -> str:
        return self._hash.hexdigest()


# ── Games ────────────────────────────────────────────────────────────────────────────────────────


def _simulator(game: Game, games: int, tracks: bool) -> Simulator:
    format = game.format(tracks=tracks, plies=LONG)
    return Simulator(game, games, seed=1, format=format, restart=False, threads=1)


def _sign_game(name: str) -> str:
    """Hash random games by the game's own rules."""
    hashed = _Hash()
    _play(base.game(name), GAMES, hashed)
    return hashed.text


def _sign_rules(rules: str) -> str:
    """Hash random games of barrage, which presets have limits for, and games that repeat themselves."""
    hashed = _Hash()
    barrage = Stratego("barrage", rules)
    if barrage.bounded:
        _play(barrage, GAMES, hashed)
    _play(Stratego(REPETITIVE, rules), REPETITIVE_GAMES, hashed, habit=HABIT)
    return hashed.text


def _sign_rules_of(family: str, rules: str) -> str:
    """Hash random games of the first game of a family, as long as they are, and with limits that they come to."""
    name = next(name for name in base.names() if folder_of(base.game(name).family) == family)
    numbers = [switch for switch, values in _switches(family).SWITCHES.items() if values is None]
    limits = [f"{switch}={LIMITS[0]}" for switch in numbers if switch not in rules]
    hashed = _Hash()
    for each in (rules, " ".join([rules, *limits])):
        game = base.game(name, each)
        hashed.add(game.setups_chosen)
        _play(game, OTHER_GAMES, hashed)
    return hashed.text


def _play(game: Game, games: int, hashed: _Hash, habit: int = 1) -> None:
    """Play to the end; hash at every ply who is on turn, what is legal, hidden and played, and then the outcomes.

    habit: at one of so many turns any move is played, at the others one that depends on nothing but what is legal. A
        player who keeps to a habit goes round in circles until the rules of repetition bar the way.
    """
    sim = _simulator(game, games, tracks=False)
    ranks = np.arange(game.action_count) * 2654435761 % 4093 + 1
    hashed.add(sim.starts)
    turn = 0
    while not bool(sim.over.all()):
        mask = np.asarray(sim.legal_mask())
        hashed.add(sim.players, sim.plies, sim.over, *np.nonzero(mask))
        for viewer in (0, 1):
            values = np.asarray(sim.hidden_values(viewer))
            hashed.add(sim.hidden_counts(viewer), values[values >= 0])
        actions = np.asarray(sim.sample())
        if turn // 2 % habit:
            actions = np.where(mask.any(1), (mask * ranks).argmax(1), actions)
        hashed.add(actions)
        sim.step(actions)
        turn += 1
    results = sim.results
    hashed.add(results.end, results.winner, results.plies, results.utility)
    hashed.add(*(f"{outcome.end} {outcome.winner}" for row in range(sim.n) if (outcome := sim.outcome(row))))


def _sign_observation(name: str, seen: str) -> str:
    """Hash what each player sees of random games."""
    game, hashed = base.game(name), _Hash()
    sim = _simulator(game, GAMES, tracks=True)
    hashed.add(*observations.find(game, seen).channel_names(game))
    ply = 0
    while not bool(sim.over.all()):
        if ply % OBSERVED == 0 or ply < OBSERVED:
            for viewer in (None, 0, 1):
                hashed.add(sim.observe(seen, viewer=viewer))
        sim.step(sim.sample())
        ply += 1
    return hashed.text


# ── Agents ───────────────────────────────────────────────────────────────────────────────────────


def _sign_agent(name: str, family: str) -> str:
    """Return an agent against itself, many games at once if it can, and against `random`, one by one on boards.

    family: of the games in which it is signed, which that family names.
    """
    signed = getattr(family_part("agents", family), "SIGNED", None)
    if signed is None:
        raise ConfigurationError(f"vauban.agents.{family} does not say in which games its agents are signed: SIGNED")
    (own, own_rules), (other, other_rules) = signed
    chosen = base.game(own, own_rules)
    known = getattr(make_agent(name, game=chosen), "options", None)
    settings = [effort for option, effort in EFFORT.items() if hasattr(known, option)]
    text = name + ":" * bool(settings) + ",".join(settings)
    itself = Match(text, text, AGENT_GAMES, chosen, seed=1, setups=own_setups(chosen))
    others = Match(text, "random", AGENT_GAMES, other, other_rules, seed=2)
    hashed = _Hash()
    for game in (*play_games(itself, range(AGENT_GAMES)), *play_on_boards(others, range(AGENT_GAMES))):
        result = game.result
        if result.end == FORFEIT and result.note != RESIGNED:
            raise ConfigurationError(f"agent {name!r} lost a game by an error, which is not signed: {result.note}")
        hashed.add(*game.setups, game.moves, result.end, str(result.winner), str(result.plies), result.note)
    return hashed.text


# ── Learners ─────────────────────────────────────────────────────────────────────────────────────


def _sign_learner(preset: str, changes: tuple[str, ...]) -> str:
    """Return two hashes of some iterations of a run: its metrics that are not times, and its weights or tables."""
    config = load_config(preset, (*changes, f"iterations={ITERATIONS}", "minutes=0", "evaluation.every=0"))
    metrics, weights = _Hash(), _Hash()
    with _reproducible(), tempfile.TemporaryDirectory() as folder:
        run = Run.begin(config, Path(folder) / "run", agents=Opponents())
        for _ in range(ITERATIONS + (BELIEF_ITERATIONS if config.later_minutes() else 0)):
            assert run.goes_on()
            told = run.iterate()
            for key in sorted(told):
                if not _is_time(key):
                    metrics.add(key, repr(float(told[key])))
        run.close()
        tensors = [
            tensor.detach().cpu().float().numpy().tobytes()
            for trainee in run.trainees().values()
            for network in (trainee.network, trainee.average)
            for tensor in network.state_dict().values()
        ]
        # A population has tables in place of networks.
        tensors += [np.load(table).astype("<f4").tobytes() for table in run.player.rglob("*.npy")]
    # By what they hold and not by their names, which may change.
    weights.add(*sorted(hashlib.blake2b(each, digest_size=8).hexdigest() for each in tensors))
    return f"metrics {metrics.text} weights {weights.text}"


def _is_time(metric: str) -> bool:
    return metric.startswith(("speed.", "seconds.", "memory.")) or metric.endswith("minutes")


@contextmanager
def _reproducible() -> Iterator[None]:
    """Give a run one thread, deterministic algorithms and random numbers of its own; then restore everything."""
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        try:
            torch.set_num_threads(1)
            torch.use_deterministic_algorithms(True)
            torch.manual_seed(1)
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
            torch.set_num_threads(threads)
