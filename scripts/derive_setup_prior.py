"""Derives statistics of how people set up from lists of human setups, and writes
src/vauban/agents/stratego/priors/*.json.

    python scripts/derive_setup_prior.py DATA                 (five minutes on one core)
    python scripts/derive_setup_prior.py DATA --describe      (looks, and writes nothing)

DATA is a folder with full_human_inits.dat.gz and barrage_human_inits.dat.gz (JBLanier/stratego_env, from
games of the Gravon archive; MIT licence): one setup on a line, 40 letters, front row first. Every line
counts, repeats too, together with its mirror image. The script writes counts, and the weights of a
log-linear model (`vauban.agents.stratego.priors.Model`) whose expected counts are those of the setups: weights
are raised where the model shows something more rarely than people do, and lowered where more often,
over many simulated setups at once (stochastic maximum likelihood; docs/setups.md). The same files give
the same answer.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vauban.agents.setups import make_sampler
from vauban.agents.stratego import priors
from vauban.agents.stratego.priors import CODES, GUARDS, Floats, around, assemble, place_of, used_codes
from vauban.agents.stratego.setups import guard_of, settle
from vauban.games.kernel import kernel
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import BOMB, FLAG, MARSHAL, MINER, SCOUT, SPY
from vauban.games.stratego.setups import check_setups
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.sim.compile import CPU, compiled

FILES = {"classic": "full_human_inits.dat.gz", "barrage": "barrage_human_inits.dat.gz"}
LETTERS = "ACDEFGHIJKLMB"
"""The files' letters in the order of our codes: nothing, Spy, Scout, …, Marshal, Flag, Bomb."""

CHAINS = 4096
ROUNDS = 900
STEPS = 300
"""The fit: simulated setups, Metropolis steps that change each of them in a round, and rounds."""

Setups = npt.NDArray[np.int8]


def read(path: Path, variant: Variant) -> Setups:
    """Return the setups of a file, as rows of codes from the back row on."""
    size = variant.setup_rows * variant.columns
    with gzip.open(path, "rt", encoding="ascii") as file:
        lines = [line.strip() for line in file]
    codes = np.full(128, -1, np.int8)
    codes[[ord(letter) for letter in LETTERS]] = np.arange(CODES)
    kept = [line for line in lines if len(line) == size and not line.startswith("#")]
    setups = codes[np.frombuffer("".join(kept).encode(), np.uint8).reshape(-1, size)[:, ::-1]]
    check_setups(np.unique(setups, axis=0), variant)
    return setups


def with_mirrors(setups: Setups, variant: Variant) -> Setups:
    """Return the setups and their mirror images."""
    grid = setups.reshape(-1, variant.setup_rows, variant.columns)
    return np.concatenate([grid, grid[:, :, ::-1]]).reshape(2 * len(setups), -1)


# ── Statistics to check by eye ───────────────────────────────────────────────────────────────────


def describe(setups: Setups, variant: Variant) -> dict[str, Any]:
    """Return the statistics by which lists of setups are compared: means over all setups."""
    grid = setups.reshape(-1, variant.setup_rows, variant.columns)
    flag, bomb = grid == 1 + FLAG, grid == 1 + BOMB
    guards = np.where(flag, _beside(bomb), 0).sum((1, 2))
    sides = np.where(flag, _beside(np.ones_like(bomb)), 0).sum((1, 2))
    front = flag[:, -1].any(1)
    facts: dict[str, Any] = {
        "setups": len(setups),
        "Flag in rows 1-4": flag.any(2).mean(0),
        "Flag in a back corner": flag[:, 0, [0, -1]].any(1).mean(),
        "Bombs next to the Flag": guards.mean(),
        "0 to 4 Bombs next to it": np.bincount(guards, minlength=5),
        "every neighbour a Bomb": ((guards == sides) & ~front).mean(),
        "Flag sealed": (~_reaches_front(flag, bomb)).mean(),
    }
    for name, kind in (("Scouts", SCOUT), ("Bombs", BOMB), ("Miners", MINER), ("Marshal", MARSHAL), ("Spy", SPY)):
        facts[f"{name} in rows 1-4"] = (grid == 1 + kind).sum(2).mean(0)
    return facts


def _beside(marks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Count for each square its marked neighbours."""
    count = np.zeros(marks.shape, np.int64)
    count[:, 1:] += marks[:, :-1]
    count[:, :-1] += marks[:, 1:]
    count[:, :, 1:] += marks[:, :, :-1]
    count[:, :, :-1] += marks[:, :, 1:]
    return count


def _reaches_front(flag: npt.NDArray[np.bool_], bomb: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return whether a walk from the Flag over everything but Bombs comes to the front row."""
    reached = flag
    while True:
        wider = reached | ((_beside(reached) > 0) & ~bomb)
        if (wider == reached).all():
            return wider[:, -1].any(1)
        reached = wider


# ── The model ────────────────────────────────────────────────────────────────────────────────────


class Features(NamedTuple):
    """The things that the model counts in setups, and its weights: one number for each."""

    single: Floats
    along: Floats
    ahead: Floats
    across: Floats
    guard: Floats


def expected(setups: Setups, variant: Variant) -> Features:
    """Return the mean number of times that each feature occurs in a setup, over these and their mirror images."""
    rows, columns = variant.setup_rows, variant.columns
    grid = setups.reshape(-1, rows, columns).astype(np.int64)
    counts = np.stack([np.bincount(grid[:, r, c], minlength=CODES) for r in range(rows) for c in range(columns)])
    single = counts.reshape(rows, columns, CODES).astype(np.float64)
    single = (single + single[:, ::-1]) / 2

    def pairs(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Floats:
        return np.bincount((CODES * one + other).ravel(), minlength=CODES**2).reshape(CODES, CODES).astype(float)

    along = np.stack([pairs(grid[:, r, :-1], grid[:, r, 1:]) for r in range(rows)])
    ahead = np.stack([pairs(grid[:, r], grid[:, r + 1]) for r in range(rows - 1)])
    across = np.stack(
        [
            pairs(grid[:, r, :-1], grid[:, r + 1, 1:]) + pairs(grid[:, r, 1:], grid[:, r + 1, :-1])
            for r in range(rows - 1)
        ]
    )
    flag = (setups == 1 + FLAG).argmax(1)
    guards = np.empty(len(setups), np.int64)
    compiled(guard_all, CPU)(setups, around(variant)[0], flag, guards)
    places = np.array([place_of(square, variant) for square in range(rows * columns)])
    guard = np.bincount(GUARDS * places[flag] + guards, minlength=len(priors.PLACES) * GUARDS)
    found = Features(
        single.reshape(-1, CODES),
        (along + along.transpose(0, 2, 1)) / 2,
        ahead,
        across,
        guard.reshape(-1, GUARDS).astype(np.float64),
    )
    return Features(*(part / len(setups) for part in found))


@kernel
def guard_all(setups, near, flags, guards):
    """Find the guard of every setup's Flag."""
    for row in range(len(setups)):
        guards[row] = guard_of(setups[row], near, flags[row])


@kernel
def settle_all(setups, columns, model, steps, seed, round_):
    """Change every setup by Metropolis steps."""
    for row in range(len(setups)):
        settle(setups[row], columns, model, steps, seed, np.uint64(round_ * len(setups) + row))


def fit(setups: Setups, variant: Variant, rounds: int = ROUNDS) -> Iterator[tuple[int, Features, Features]]:
    """Fit weights under which the model's expectations are those of the setups; yield (round, weights, error) along the
    way.

    What is yielded last are the weights averaged over the second half of the rounds.
    """
    target = expected(setups, variant)
    # A feature seldom seen is known poorly: its weight is drawn to 0 as if 1 were its standard deviation.
    shrink = 1 / len(setups)
    weights = Features(*(np.zeros_like(part) for part in target))
    total = Features(*(np.zeros_like(part) for part in target))
    chains = setups[np.linspace(0, len(setups) - 1, CHAINS).astype(int)].copy()
    run = compiled(settle_all, CPU)
    for round_ in range(rounds):
        run(chains, variant.columns, assemble(variant, *weights), STEPS, np.uint64(1), round_)
        found = expected(chains, variant)
        error = Features(*(wanted - have for wanted, have in zip(target, found, strict=True)))
        rate = 0.3 / (1 + round_ / 60)
        for weight, wrong, wanted, have, summed in zip(weights, error, target, found, total, strict=True):
            # The variance of a rare count is about its mean, so this is a step of the diagonal Newton method.
            weight += rate * (wrong - shrink * weight) / (wanted + have + 0.004)
            if round_ >= rounds // 2:
                summed += weight
        yield round_, weights, error
    yield rounds, Features(*(part / (rounds - rounds // 2) for part in total)), error


def fitted(setups: Setups, variant: Variant) -> Features:
    """Return the weights that the fit ends with, centred; print the error on the way."""
    for round_, latest, error in fit(setups, variant):
        weights = latest
        if round_ % 100 == 0:
            worst = [f"{field} {abs(part).max():.4f}" for field, part in error._asdict().items()]
            print(f"  round {round_}: largest error of an expected count: {', '.join(worst)}", flush=True)
    return centred(weights, variant)


def centred(weights: Features, variant: Variant) -> Features:
    """Return the same model with the weights of each square about 0, so that they can be stretched to other boards."""
    share = np.array([len(weights.single) - variant.pieces, *variant.army]) / len(weights.single)
    return weights._replace(single=weights.single - (weights.single @ share)[:, None])


# ── Files ────────────────────────────────────────────────────────────────────────────────────────


def encode(setups: Setups, variant: Variant, weights: Features) -> str:
    """Return the text of a file of statistics."""
    codes = np.array(used_codes(variant))
    counts = np.rint(2 * len(setups) * expected(setups, variant).single).astype(int)
    parts: dict[str, Any] = {
        "what": json.dumps(f"statistics of human setups of {variant.name}: see docs/setups.md"),
        "setups": str(len(setups)),
        "codes": json.dumps(codes.tolist()),
        "counts": _lines(counts[:, codes]),
        "single": _lines(weights.single[:, codes].round(3)),
    }
    for name in ("along", "ahead", "across"):
        tables = getattr(weights, name)[:, codes[:, None], codes].round(3)
        parts[name] = "[\n" + ",\n".join(_lines(table) for table in tables) + "\n]"
    parts["guard"] = _lines(weights.guard.round(3))
    return "{\n" + ",\n".join(f'"{name}": {value}' for name, value in parts.items()) + "\n}\n"


def _lines(table: npt.NDArray[Any]) -> str:
    """Return a table as JSON, one row on a line."""
    rows = [json.dumps([0 if value == 0 else value for value in row], separators=(",", ":")) for row in table.tolist()]
    return "[" + ",\n".join(rows) + "]"


def show(title: str, facts: dict[str, Any]) -> None:
    """Print a description of setups."""
    print(title)
    for name, value in facts.items():
        numbers = np.atleast_1d(value)
        text = [f"{number:,}" if numbers.dtype.kind == "i" else f"{number:.4f}" for number in numbers]
        print(f"  {name:28s} {' / '.join(text)}")


def main() -> None:
    """Read, describe, fit, write."""
    parser = argparse.ArgumentParser(description="Derive the statistics of human setups.")
    parser.add_argument("data", type=Path, help=f"the folder with {' and '.join(FILES.values())}")
    parser.add_argument("--out", type=Path, default=Path(priors.__file__).parent, help="where the files go")
    parser.add_argument(
        "--describe", action="store_true", help="fit nothing: describe people's setups, and 2,000 drawn to be like them"
    )
    arguments = parser.parse_args()
    for file in FILES.values():
        if not (arguments.data / file).is_file():
            parser.error(f"there is no {file} in {arguments.data} (it is one of the files of JBLanier/stratego_env)")
    for name, file in FILES.items():
        variant = VARIANTS[name]
        setups = read(arguments.data / file, variant)
        show(f"{name}: all human setups", describe(setups, variant))
        show(f"{name}: distinct ones", describe(np.unique(setups, axis=0), variant))
        if arguments.describe:
            sampler, rng = make_sampler("human", Stratego(variant)), random.Random(11)
            drawn = np.stack([sampler(rng) for _ in range(2000)])
            show(f"{name}: 2,000 human-like ones", describe(drawn, variant))
            continue
        weights = fitted(setups, variant)
        path = arguments.out / f"{name}.json"
        path.write_text(encode(setups, variant, weights), encoding="utf-8")
        print(f"  wrote {path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
