"""Measures how setups fare when the shipped models play them: src/vauban/web/page/explorer/GAME.json.

    python scripts/explore_setups.py play barrage --games 1024 --save barrage.txt
    python scripts/explore_setups.py count barrage barrage.txt

`play` lets a shipped model play both sides of many games, and adds them to a file, as records. Each game is of another
pair of setups (docs/setups.md says whose). Networks run in bfloat16, which plays the same for the purpose and three
times as fast. `count` makes of such files what the page's explorer shows: for every square of the Flag (of evil
ghosts) and every pattern how many setups had it, and the share of points that they made, draws half, with its 95 %
interval (Wilson's). A setup and its mirror image count as one. A pattern is a list of conditions, which the page reads
from the same file to tell what holds for a setup in its editor.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from vauban.arena.match import OWN, Match, record_text
from vauban.arena.play import play_in_batch
from vauban.games.base import Game
from vauban.games.base import game as find_game
from vauban.games.stratego.pieces import TYPES
from vauban.notation.game import parse_games

FOLDER = Path("src/vauban/web/page/explorer")
DRAWN = 2000
"""Setups that are drawn from the network, to tell how often it sets up so."""
LEAST = 20
"""Setups that a figure is made of at least."""
EXAMPLES = 6


class Plan(NamedTuple):
    """The players of an explorer's games."""

    tried: str
    """The agent whose setups count, and who makes them."""
    against: str
    sampler: str
    """Of both sides' setups; `own`: each agent has setups of its own."""


PLANS = {name: Plan(f"net:{name}", f"net:{name}", "human") for name in ("classic", "barrage")} | {
    name: Plan(f"net:{name},setups=uniform", f"net:{name}", OWN) for name in ("medium", "fives", "geister")
}
"""By game. Where it is known how people set up, both sides do, and both count. Elsewhere setups are drawn with equal
chances, and tried against the setups of the network."""


# ── Patterns ─────────────────────────────────────────────────────────────────────────────────────

Condition = dict[str, Any]
"""A number of squares that hold a piece `of` these types ("empty" too) in these `rows` (first and last, 0 the back
row), this far from the nearer `edge`, on the Flag's side of the board or the other (`side`), next to one of these
types (`near`): at least `least` (1 if not said) and at most `most`. What is left out does not matter."""
FLAG = "flag"
OTHERS = [kind.lower() for kind in TYPES if kind != "Bomb"]

ARMIES: dict[str, list[Condition]] = {
    "flag.corner": [{"of": ["flag"], "rows": [0, 0], "edge": [0, 0]}],
    "flag.side": [{"of": ["flag"], "rows": [0, 0], "edge": [1, 2]}],
    "flag.middle": [{"of": ["flag"], "rows": [0, 0], "edge": [3, 4]}],
    "flag.second": [{"of": ["flag"], "rows": [1, 1]}],
    "flag.forward": [{"of": ["flag"], "rows": [2, 3]}],
    "bombs.walled": [
        {"of": ["flag"], "rows": [0, 2]},
        {"of": ["empty", *OTHERS], "near": ["flag"], "least": 0, "most": 0},
    ],
    "bombs.none": [{"of": ["bomb"], "near": ["flag"], "least": 0, "most": 0}],
    "bombs.one": [{"of": ["bomb"], "near": ["flag"], "most": 1}],
    "bombs.two": [{"of": ["bomb"], "near": ["flag"], "least": 2}],
    "bombs.decoy": [{"of": ["bomb"], "rows": [0, 1], "edge": [0, 1], "side": "other", "least": 2}],
    "bombs.front": [{"of": ["bomb"], "rows": [3, 3]}],
    "spy.general": [{"of": ["spy"], "near": ["general"]}],
    "spy.marshal": [{"of": ["spy"], "near": ["marshal"]}],
    "spy.back": [{"of": ["spy"], "rows": [0, 1]}],
    "spy.front": [{"of": ["spy"], "rows": [3, 3]}],
    "marshal.front": [{"of": ["marshal"], "rows": [3, 3]}],
    "marshal.third": [{"of": ["marshal"], "rows": [2, 2]}],
    "marshal.back": [{"of": ["marshal"], "rows": [0, 1]}],
    "marshal.same": [{"of": ["marshal"], "side": "flag"}],
    "marshal.other": [{"of": ["marshal"], "side": "other"}],
    "general.front": [{"of": ["general"], "rows": [3, 3]}],
    "general.back": [{"of": ["general"], "rows": [0, 1]}],
    "strong.apart": [
        {"of": ["marshal"], "side": "flag"},
        {"of": ["general"], "side": "other"},
    ],
    "miners.back": [{"of": ["miner"], "rows": [2, 3], "least": 0, "most": 0}],
    "miners.front": [{"of": ["miner"], "rows": [3, 3]}],
    "scouts.front": [{"of": ["scout"], "rows": [3, 3]}],
    "scouts.none": [{"of": ["scout"], "rows": [3, 3], "least": 0, "most": 0}],
    "scouts.many": [{"of": ["scout"], "rows": [3, 3], "least": 4}],
}
STRONG = ["marshal", "general", "colonel", "major"]
LINES: dict[str, list[Condition]] = {
    "guard.strongest": [{"of": ["flag"], "near": ["STRONGEST"]}],
    "guard.weakest": [{"of": ["flag"], "near": ["sergeant"]}],
    "guard.lieutenant": [{"of": ["flag"], "near": ["lieutenant"]}],
    "strongest.edge": [{"of": ["STRONGEST"], "edge": [0, 0]}],
    "strongest.centre": [{"of": ["STRONGEST"], "edge": [2, 2]}],
    "strongest.other": [{"of": ["STRONGEST"], "side": "other"}],
}
"""Of armies that stand in one row."""
GHOSTS: dict[str, list[Condition]] = {
    **{f"evil.front.{n}": [{"of": ["evil"], "rows": [1, 1], "least": n, "most": n}] for n in range(5)},
    **{f"evil.edge.{n}": [{"of": ["evil"], "edge": [0, 0], "least": n, "most": n}] for n in range(5)},
    "good.wings": [{"of": ["good"], "rows": [1, 1], "edge": [0, 0], "least": 2}],
    "evil.wings": [{"of": ["evil"], "rows": [1, 1], "edge": [0, 0], "least": 2}],
    "good.corners": [{"of": ["good"], "rows": [0, 0], "edge": [0, 0], "least": 2}],
    "evil.corners": [{"of": ["evil"], "rows": [0, 0], "edge": [0, 0], "least": 2}],
}


class Place(NamedTuple):
    """A square of a setup: its row (0 the back row), its column from the owner's left, and what stands there."""

    row: int
    column: int
    kind: str


def places(game: Game, setup: Any) -> list[Place]:
    """Return all squares of a setup."""
    variant: Any = game.variant  # type: ignore[attr-defined]
    if game.family == "geister":
        depth, left = max(y for _, y in variant.starts), min(x for x, _ in variant.starts)
        kinds = ("good", "evil")
        return [Place(depth - y, x - left, kinds[evil]) for (x, y), evil in zip(variant.starts, setup, strict=True)]
    names = ["empty", *(kind.lower() for kind in TYPES)]
    return [Place(at // variant.columns, at % variant.columns, names[code]) for at, code in enumerate(setup)]


def shape(game: Game) -> tuple[int, int]:
    """Return rows and columns of what is set up."""
    found = places(game, np.zeros(game.setup_size, np.int8))
    return 1 + max(place.row for place in found), 1 + max(place.column for place in found)


def holds(pattern: Sequence[Condition], setup: Sequence[Place], columns: int) -> bool:
    """Return whether a setup has a pattern."""
    return all(
        condition.get("least", 1) <= _count(condition, setup, columns) <= condition.get("most", len(setup))
        for condition in pattern
    )


def _count(condition: Condition, setup: Sequence[Place], columns: int) -> int:
    side = condition.get("side")
    flag = next((half(place, columns) for place in setup if place.kind == FLAG), 0)
    near = [place for place in setup if place.kind in condition.get("near", ())]

    def counts(place: Place) -> bool:
        first, last = condition.get("rows", (0, math.inf))
        outer, inner = condition.get("edge", (0, math.inf))
        return (
            place.kind in condition["of"]
            and first <= place.row <= last
            and outer <= edge(place, columns) <= inner
            and (side is None or half(place, columns) * flag == (1 if side == "flag" else -1))
            and ("near" not in condition or any(_apart(place, each) == 1 for each in near))
        )

    return sum(map(counts, setup))


def edge(place: Place, columns: int) -> int:
    """Return how far a place is from the nearer side of the board."""
    return min(place.column, columns - 1 - place.column)


def half(place: Place, columns: int) -> int:
    """Return −1 for the left half, 1 for the right one, 0 for the file between them."""
    return int(np.sign(2 * place.column - columns + 1))


def _apart(one: Place, other: Place) -> int:
    return abs(one.row - other.row) + abs(one.column - other.column)


def patterns(game: Game) -> dict[str, list[Condition]]:
    """Return the patterns that are counted in a game."""
    if game.family == "geister":
        return GHOSTS
    army = {kind.lower() for kind, count in zip(TYPES, game.variant.army, strict=True) if count}  # type: ignore[attr-defined]
    table = LINES if shape(game)[0] == 1 else ARMIES
    strongest = next(kind for kind in STRONG if kind in army)
    filled = json.loads(json.dumps(table).replace("STRONGEST", strongest))
    return {
        key: when
        for key, when in filled.items()
        if all(set(each["of"]) & army or "empty" in each["of"] for each in when)
    }


# ── Playing ──────────────────────────────────────────────────────────────────────────────────────


def play(name: str, games: int, first: int, block: int, seed: int, save: Path) -> None:
    """Play games of an explorer, and add them to a file as they are done."""
    import torch

    torch.set_num_threads(1)
    plan = PLANS[name]
    match = Match(plan.tried, plan.against, 2 * (first + games), name, seed=seed, setups=plan.sampler)
    begun = perf_counter()
    for start in range(first, first + games, block):
        pairs = range(start, min(start + block, first + games))
        with torch.autocast("cpu", torch.bfloat16):
            # One game of each pair: no two have the same setups. The first agent is red in every other one.
            finished = play_in_batch(match, [2 * pair + pair % 2 for pair in pairs])
        with save.open("a", encoding="utf-8") as file:
            file.writelines(f"{record_text(match, game)}\n" for game in finished)
        plies = sum(game.result.plies for game in finished) / len(finished)
        print(f"{pairs.stop:,} games, the last of {plies:.0f} plies, {perf_counter() - begun:,.0f} s", flush=True)


# ── Counting ─────────────────────────────────────────────────────────────────────────────────────


def tried(name: str, texts: Iterable[str]) -> tuple[int, list[tuple[str, float]]]:
    """Return the number of games, and each setup that counts with the points that it made."""
    plan = PLANS[name]
    first, second = (player.title() for player in find_game(name).players)
    found, games = [], 0
    for text in texts:
        for game in parse_games(text):
            games += 1
            points = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[game.headers["Result"]]
            for side, own in ((first, points), (second, 1 - points)):
                if game.headers[side] == plan.tried:
                    found.append((game.headers[f"{side}Setup"], own))
    return games, found


def figure(points: Sequence[float]) -> list[float]:
    """Return the number of setups, their share of the points, and the ends of its 95 % interval.

    The interval is Wilson's, a little wide where games are drawn.
    """
    n, z = len(points), 1.959964
    share = sum(points) / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    error = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return [n, round(share, 3), round(middle - error, 3), round(middle + error, 3)]


def count(name: str, files: Sequence[Path], seed: int) -> dict[str, Any]:
    """Return what the page shows of a game."""
    game = find_game(name)
    assert game.setups is not None
    rows, columns = shape(game)
    played, setups = tried(name, (file.read_text(encoding="utf-8") for file in files))
    laid = [(places(game, game.setups.parse(text)), points) for text, points in setups]
    drawn = drawn_by_network(name, seed)
    own = [places(game, game.setups.parse(text)) for text in drawn]

    kind = "evil" if game.family == "geister" else FLAG
    usual = own if PLANS[name].sampler == OWN else [setup for setup, _ in laid]
    return {
        "game": name,
        "sampler": PLANS[name].sampler,
        "games": played,
        "rows": rows,
        "columns": columns,
        "kind": kind,
        "all": figure([points for _, points in setups]),
        "places": of_squares(laid, usual, kind, columns),
        "patterns": of_patterns(patterns(game), laid, own, columns),
        "examples": examples(game, drawn, by_setup(game, setups)),
    }


Laid = Sequence[tuple[list[Place], float]]
"""Setups with the points that each made."""


def of_squares(laid: Laid, usual: Sequence[list[Place]], kind: str, columns: int) -> list[dict[str, Any]]:
    """Return for each square how often a piece of a kind stands there in usual setups, and how it fared there.

    A square and its mirror image are one.
    """
    found = []
    for row, far in sorted({(place.row, edge(place, columns)) for place in laid[0][0]}):
        points = [each for setup, each in laid for place in setup if _is(place, row, far, kind, columns)]
        both = 1 if 2 * far + 1 == columns else 2
        share = sum(_is(place, row, far, kind, columns) for setup in usual for place in setup) / len(usual) / both
        told: dict[str, Any] = {"row": row, "edge": far, "share": round(share, 4)}
        found.append(told | ({"played": figure(points)} if len(points) >= LEAST else {}))
    return found


def of_patterns(
    known: dict[str, list[Condition]], laid: Laid, own: Sequence[list[Place]], columns: int
) -> list[dict[str, Any]]:
    """Return for each pattern how setups with it fared, and how often the network has it in its own."""
    found = []
    for key, when in known.items():
        points = [each for setup, each in laid if holds(when, setup, columns)]
        if len(points) >= LEAST:
            share = sum(holds(when, setup, columns) for setup in own) / len(own)
            found.append({"key": key, "played": figure(points), "network": round(share, 3), "when": when})
    return found


def _is(place: Place, row: int, far: int, kind: str, columns: int) -> bool:
    return (place.row, edge(place, columns), place.kind) == (row, far, kind)


def by_setup(game: Game, setups: Sequence[tuple[str, float]]) -> dict[str, list[float]]:
    """Return the points of each setup, those of its mirror image too."""
    found: dict[str, list[float]] = {}
    for text, points in setups:
        found.setdefault(one_of_both(game, text), []).append(points)
    return found


def one_of_both(game: Game, text: str) -> str:
    """Return the setup or its mirror image, the same for both."""
    assert game.setups is not None
    if game.setups.mirror is None:
        return text
    return min(text, game.setups.text(game.setups.parse(text)[game.setups.mirror]))


def drawn_by_network(name: str, seed: int) -> list[str]:
    """Draw setups from the network."""
    from vauban.agents.net import DrawsSetups, load

    model = load(name, "cpu")
    assert model.game.setups is not None
    network = next(each for each in model.networks.values() if isinstance(each, DrawsSetups))
    drawn = network.draw(DRAWN, np.random.default_rng(seed)).setups.cpu().numpy()
    return [model.game.setups.text(row) for row in drawn]


def examples(game: Game, drawn: Sequence[str], played: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Return setups of the network: those it makes most often or, where hardly any comes twice, one for each of the
    places where it puts the Flag most often."""
    often = Counter(one_of_both(game, text) for text in drawn)
    if often.most_common(EXAMPLES)[-1][1] >= LEAST:
        return [
            {"setup": text, "network": round(number / len(drawn), 3)}
            | ({"played": figure(played[text])} if len(played.get(text, ())) >= LEAST else {})
            for text, number in often.most_common(EXAMPLES)
        ]
    assert game.setups is not None
    columns = shape(game)[1]
    flags: dict[tuple[int, int], list[str]] = {}
    for text in drawn:
        flag = next(place for place in places(game, game.setups.parse(text)) if place.kind == FLAG)
        flags.setdefault((flag.row, edge(flag, columns)), []).append(text)
    most = [texts for texts in sorted(flags.values(), key=len, reverse=True) if len(texts) >= LEAST][:EXAMPLES]
    chosen = [texts[turn : turn + 1] for turn in range(EXAMPLES) for texts in most]
    share = {text: round(len(texts) / len(drawn), 3) for texts in most for text in texts}
    return [{"setup": text, "network": share[text]} for texts in chosen for text in texts][:EXAMPLES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    playing = tasks.add_parser("play", help="play games, and add them to a file")
    playing.add_argument("game", choices=PLANS)
    playing.add_argument("--games", type=int, default=1024)
    playing.add_argument("--first", type=int, default=0, help="the number of the first, to go on with a file (0)")
    playing.add_argument("--block", type=int, default=256, help="games at once (256)")
    playing.add_argument("--seed", type=int, default=1)
    playing.add_argument("--save", type=Path, required=True)
    counting = tasks.add_parser("count", help="make the page's file of recorded games")
    counting.add_argument("game", choices=PLANS)
    counting.add_argument("files", nargs="+", type=Path)
    counting.add_argument("--seed", type=int, default=1, help="of the setups that are drawn from the network")
    args = parser.parse_args()
    if args.task == "play":
        play(args.game, args.games, args.first, args.block, args.seed, args.save)
        return
    file = FOLDER / f"{args.game}.json"
    file.write_text(json.dumps(count(args.game, args.files, args.seed), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
