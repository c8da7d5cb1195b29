"""Writes the pages that are generated: record.md, observations.md, metrics.md and cli.md of docs/, and the README.md of
each shipped model.

    python scripts/write_docs.py

Tables come from the code; the sentences around them are here. `tests/house/test_docs.py` fails when a page
is not what this script would write.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import typer
from typer.models import ArgumentInfo, OptionInfo

from vauban.cli.main import app
from vauban.games.base import Game, game, names
from vauban.games.stratego import layout
from vauban.games.stratego.steps import layout as steps_layout
from vauban.learn.ataraxos.learner import COLLAPSED
from vauban.learn.metrics import metrics
from vauban.learn.readme import README, readme_text
from vauban.nets.store import read_card, shipped_models
from vauban.observe import base as observations

DOCS = Path(__file__).parent.parent / "docs"
MODELS = "../src/vauban/models"
NOTICE = "*Written by `make docs` (scripts/write_docs.py): change that, not this page.*"


def pages() -> dict[str, str]:
    """Return every generated page, by its path from docs/."""
    return {
        "record.md": record_page(),
        "observations.md": observations_page(),
        "metrics.md": metrics_page(),
        "cli.md": cli_page(),
        **{f"{MODELS}/{name}/{README}": readme_text(read_card(path)) for name, path in shipped_models().items()},
    }


def table(heading: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


# ── The record ───────────────────────────────────────────────────────────────────────────────────

RECORD = """# The record

{notice}

A record is one game: its position, and as much of its past as the rules and observations need. It has a fixed size and
holds no pointers, so it can be copied, stored, searched from and sent. `Simulator.snapshot()` copies records;
`Snapshot.pack` makes one row of bytes of each, and `Snapshot.unpack` checks such rows and reads them back.

A record has three parts: *words* (64 bits), *halves* (16 bits) and *bytes*. In a packed row they follow each other in
this order, each number with its lowest byte first. The table is for classic (100 squares) with the default history of
{history} moves and with tracks. `offset` counts units of its own part; `byte` is the place in a packed row.

{fields}

How to read it:

* A **set of squares** takes two words, squares 0–63 and 64–125. Sets of both players are red's two words, then blue's.
* Squares are absolute here (0 is a1, for both players). Actions and observations are in the mover's frame.
* A piece is known by its **identity**: the square on which it started. Identities are public and never change.
* 255 stands for no square, no piece, no type.
* Types count Spy 0, Scout 1, …, Marshal 9, Flag 10, Bomb 11. In the sets of types, bit 13 is an empty square and
  bit 15 a piece whose type is not known.
* Causes of death, as in the observation: 0 and 1 attacked a revealed piece that won, that tied; 2 attacked a hidden
  piece; 3 and 4 was revealed and lost, tied; 5 was hidden.
* `number`, `plies`, `player`, `end` and `winner` lie where every game of Vauban has them.
* **Tracks** are the `sets`: only the observation `ataraxos` needs them. `Simulator(…, tracks=False)` leaves them out.
* **History** is how many moves are kept. It is as many as the rules look back, and at least 256
  ([simulator](simulator.md#how-much-history)).

## Stratego in steps

The record of [Stratego in steps](steps.md) is the same, with three words behind the others and another meaning of one
byte; so the offsets of words and bytes in their own parts are those above:

{steps}

## Sizes

Bytes a game, history {history}:

{sizes}
"""


def record_page() -> str:
    """Return docs/record.md."""
    classic = game("classic")
    squares = classic.board[0] * classic.board[1]
    format = classic.format()
    shape = format.shape
    begins = {"word": 0, "half": 8 * shape.words, "byte": 8 * shape.words + 2 * shape.halves}
    width = {"word": 8, "half": 2, "byte": 1}
    rows = [
        (f"`{each.name}`", each.unit, each.offset, each.length, begins[each.unit] + width[each.unit] * each.offset,
         each.meaning)
        for each in layout.fields(squares, format.history, tracks=True)
    ]  # fmt: skip
    sizes = []
    for name in names():
        each = game(name)
        board = "–" if each.board == (1, 1) else f"{each.board[0]} × {each.board[1]}"
        sizes.append((name, board, *(f"{each.format(tracks=tracks).shape.size:,}" for tracks in (True, False))))
    return RECORD.format(
        notice=NOTICE,
        history=format.history,
        fields=table(("name", "unit", "offset", "length", "byte", "meaning"), rows),
        steps=table(
            ("name", "unit", "offset", "length", "meaning"),
            [
                (f"`{each.name}`", each.unit, each.offset, each.length, each.meaning)
                for each in steps_layout.fields(squares, format.history, tracks=True)
                if each.name in ("open", "chosen", "step")
            ],
        ),
        sizes=table(("game", "board", "with tracks", "without"), sizes),
    )


# ── Observations ─────────────────────────────────────────────────────────────────────────────────

OBSERVATIONS = """# Observations

{notice}

An observation is what one player may know, as numbers. `Simulator.observe(name)` gives the observation of the player on
turn, or of a chosen `viewer`, as float32 or bfloat16 (rounded to nearest, ties to even), in one of two layouts:
`"planes"` is games × channels × rows × columns, `"squares"` is games × squares × channels. `vauban observation NAME
--game NAME` prints every channel by number.

Everything is in the viewer's frame: for blue the board is turned by 180°, so that its back row is row 0. *Our* is the
viewer, *their* the other player. Nothing in an observation depends on what is hidden from the viewer: `make test`
deals the hidden pieces anew and compares.

A piece is *hidden* until a battle, or a Scout's move of two squares or more, has shown its type; it then stays
*revealed*.
"""

Group = tuple[str, str]
"""A pattern that the names of neighbouring channels match, and what these channels mean."""

_KIND = "(?:spy|scout|miner|sergeant|lieutenant|captain|major|colonel|general|marshal|flag|bomb|empty|hidden)"
_CAUSES = (
    ("attacked_visible_stronger", "attacked a revealed piece and lost (a revealed Bomb counts)"),
    ("attacked_visible_tie", "attacked a revealed piece, and both fell"),
    ("attacked_hidden", "attacked a hidden piece, and lost or tied"),
    ("visible_defended_weaker", "was attacked when revealed, and lost"),
    ("visible_defended_tie", "was attacked when revealed, and both fell"),
    ("hidden_defended", "was attacked when hidden, and lost or tied"),
)
_CHANCES = (
    "for a revealed piece 1 at its type; for a hidden one the share of the assignments of the hidden types in which it "
    "is of this type (what has moved is no Flag and no Bomb; nothing else is concluded)"
)


def _deeds(side: str, whose: str) -> list[Group]:
    return [
        (f"{side}_threatened_{_KIND}", f"{whose} hidden piece has moved to an empty square next to a piece that showed "
         "this type, or was hidden"),
        (f"{side}_evaded_{_KIND}", f"{whose} hidden piece has moved away from beside a piece that had just moved, and "
         "showed this type, or was hidden"),
        (f"{side}_actively_adj_{_KIND}", f"{whose} hidden piece has stood, when its owner was on turn, next to a piece "
         "that showed this type, or was hidden; written when the owner moves"),
    ]  # fmt: skip


def _protection(side: str) -> list[Group]:
    return [
        (f"{side}_protected_{_KIND}", "this hidden piece has stood behind a square next to an enemy; on that square "
         "was a piece of its side showing this type, or nothing, or a hidden piece"),
        (f"{side}_protected_against_{_KIND}", "the enemy there showed this type, or was hidden (never empty)"),
        (f"{side}_was_protected_by_{_KIND}", "this hidden piece stood between such an enemy and a piece of its side "
         "that showed this type, or was hidden (never empty)"),
        (f"{side}_was_protected_against_{_KIND}", "the enemy there showed this type, or was hidden (never empty)"),
    ]  # fmt: skip


_AGAIN = "the same for their pieces"

_POSITION_OF_GEISTER: list[Group] = [
    ("our_good", "a good ghost of ours"),
    ("our_evil", "an evil ghost of ours"),
    ("their_ghosts", "a ghost of theirs"),
    ("their_good_captured", "their captured good ghosts / (number of good ghosts − 1), on every square"),
    ("their_evil_captured", "the same of their evil ghosts"),
]

_DEEPNASH_WORDS = """Types are in the order Flag, Spy, …, Marshal, Bomb. It needs no tracks. Counters are divided by the
game's own limits, 0 where there is none."""
_PRINTED = (
    "for a revealed piece 1 at its type; for a hidden one that has moved the share of the type among their hidden "
    "pieces that can move; for one that has not, its share among all their hidden pieces"
)
_STEPS_PLANES: list[Group] = [
    ("deployment", "1 on every square while armies are placed"),
    ("choosing_target", "1 on every square when a target is chosen, 0 when a piece is"),
    ("chosen_piece", "the piece whose target is chosen"),
]


def _deepnash_planes(chances: str) -> list[Group]:
    return [
        ("lake", "a lake"),
        (f"our_{_KIND}", "a piece of ours of this type"),
        (f"their_{_KIND}_prob", f"their pieces: {chances}"),
        (f"our_{_KIND}_prob", "the same for our pieces: what they can know of us"),
        (
            r"move\[-\d+\]",
            "a move, the newest first: +1 where it arrived; where it left −1, or −(2 + t / 12) if a piece of type t "
            "attacked (Flag 0, Spy 1, …)",
        ),
        ("plies_frac", "plies played / total_limit, on every square"),
        ("battleless_frac", "plies since the last battle / battleless_limit, on every square"),
    ]


EXPLAINED: dict[tuple[str, str], tuple[str, str, list[Group]]] = {
    ("stratego", "ataraxos"): (
        "classic",
        """The input of the published Ataraxos program: 355 channels of its simulator, bit for bit in float32, then one
channel for each square of the board, then the last 32 moves. Other boards have the same channels over their own
squares: 355 + squares + 32. It needs `tracks=True`.

What hidden pieces have done (threatened … protected) is shown only while they are hidden. Types are those shown at the
moment of the deed. All numbers are 0 or 1 but for the shares, the two counters and the moves. Lakes are 0 everywhere
except in the two counters.

Where the paper and the released program differ, this is the program. Where the program is silent: counters without a
limit are 0, and a game that began from a position in text has no deeds, no deaths and no moves from before it.""",
        [
            (f"our_{_KIND}", "a piece of ours of this type"),
            (f"their_{_KIND}_prob", f"their pieces: {_CHANCES}"),
            (f"our_{_KIND}_prob", "the same for our pieces: what they can know of us"),
            ("our_hidden_bool", "a hidden piece of ours"),
            ("their_hidden_bool", "a hidden piece of theirs"),
            ("empty_bool", "nothing stands here (no lake)"),
            ("our_moved_bool", "a piece of ours that has moved"),
            ("their_moved_bool", "a piece of theirs that has moved"),
            ("max_num_moves_frac", "plies played / total_limit, on every square"),
            ("max_num_moves_between_attacks_frac", "plies since the last battle / battleless_limit, on every square"),
            *_deeds("we", "our"),
            *_deeds("they", "their"),
            (f"our_dead_{_KIND}", "a piece of ours of this type began here, and has been taken"),
            (f"their_dead_{_KIND}", _AGAIN),
            *((f"our_deathstatus_{cause}_{_KIND}", f"here a piece of ours {what}") for cause, what in _CAUSES),
            *((f"their_deathstatus_{cause}_{_KIND}", f"here a piece of theirs {what}") for cause, what in _CAUSES),
            *_protection("our"),
            *_protection("their"),
            (r"start_square\[\d+\]", "the piece here began on this square"),
            (r"src_dst_cell\[-\d+\]", "a move, the oldest first: −1 where it left, +1 where it arrived"),
        ],
    ),
    ("stratego", "deepnash"): (
        "classic",
        f"""The 82 planes of DeepNash. {_DEEPNASH_WORDS}

The paper's formula for the shares of unmoved pieces is not exact once something has moved; these are exact, the same
numbers as in `ataraxos`. DeepNash deploys piece by piece and chooses a piece and its target in two steps, as
[Stratego in steps](steps.md) does; here games begin from setups and an action is a whole move, so the last three planes
are 0.""",
        [*_deepnash_planes(_CHANCES), *((name, "0") for name in ("deployment", "choosing_target", "chosen_piece"))],
    ),
    ("stratego", "deepnash-printed"): (
        "classic",
        """`deepnash` with the paper's formula for their hidden pieces and ours that have never moved. It forgets that
what has moved is no Flag and no Bomb, so the shares of a type no longer add up to the number of its pieces.""",
        [*_deepnash_planes(_PRINTED), *((name, "0") for name in ("deployment", "choosing_target", "chosen_piece"))],
    ),
    ("stratego-steps", "deepnash"): (
        "steps:classic",
        f"""The 82 planes of DeepNash in the game that they were made for; the default.
{_DEEPNASH_WORDS}

While armies are placed a player sees its own pieces so far, the lakes and that this is the deployment; all else is 0,
and placements are no moves. When a target is chosen, the last two planes tell of which piece, and all others are as
they were when it was chosen. In play the other planes are those of plain Stratego.""",
        [*_deepnash_planes(_CHANCES), *_STEPS_PLANES],
    ),
    ("stratego-steps", "deepnash-printed"): (
        "steps:classic",
        "The same with the paper's formula for hidden pieces that have never moved, as in plain Stratego.",
        [*_deepnash_planes(_PRINTED), *_STEPS_PLANES],
    ),
    ("geister", "geister-full"): (
        "geister",
        """Our own, and the default: all that the published ones show, the losses of each side, the last eight moves,
and how each ghost has behaved ([Geister](geister.md#the-record) says what is counted). It needs `tracks=True`.

Shares are of the ghosts of a colour whose capture does not end the game: captured / (number − 1), of at least 1.
Counters are 1/3 for once, 2/3 for two or three times, 1 for more. A ghost is *proven* evil if it stayed on an exit
where escapes are forced. A game that began from a position in text has no moves and no behaviour from before it.""",
        [
            ("our_good", "a good ghost of ours"),
            ("our_evil", "an evil ghost of ours"),
            ("our_proven_evil", "a ghost of ours that the other player can tell to be evil"),
            ("their_ghosts", "a ghost of theirs"),
            ("their_proven_evil", "a ghost of theirs that we can tell to be evil"),
            ("their_(?:good|evil)_chance", "how likely a ghost of theirs is to be of this colour, when all that is "
             "consistent is equally likely"),
            ("(?:our|their)_(?:good|evil)_captured", "the captured ghosts of a player and a colour as a share, on "
             "every square"),
            ("our_exits", "the two squares from which our good ghosts can leave the board"),
            ("their_exits", "the same of theirs"),
            ("escape_forced", "1 on every square where escapes are forced"),
            ("limit_worth", "what the game is worth to us at its limit, on every square: 0, or −1 and +1 where the "
             "second player wins it"),
            ("plies_frac", "plies played / total_limit, at most 1, on every square"),
            ("our_(?:moved|forward|offered|fled|stood)", "how often our ghost here has moved, gone forward, gone "
             "beside an enemy, fled from one, stood beside one"),
            ("their_(?:moved|forward|offered|fled|stood)", "the same of their ghost"),
            (r"(?:left|arrived|captured)\[-\d+\]", "a move, the latest first: where it left, where it arrived, and "
             "1 there if it captured"),
        ],
    ),
    ("geister", "geister"): (
        "geister",
        """Six planes, as published with Deep CFR for Geister. They need no tracks. The published divisor of captured
ghosts is 3, which on other boards is the number of ghosts of the colour less one, and at least 1. Progress is counted
by the limit in force and stops at 1.""",
        [*_POSITION_OF_GEISTER, ("plies_frac", "plies played / total_limit, at most 1, on every square")],
    ),
    ("geister", "geister-history"): (
        "geister",
        """Eleven planes, as published: the five of the position, the five of the position one ply earlier, progress.
Before the first move the planes of the earlier position are 0, and so are they right after a position in text. It needs
`tracks=True`.""",
        [
            *_POSITION_OF_GEISTER,
            (r"\w+\[-1\]", "the same five, one ply earlier"),
            ("plies_frac", "plies played / total_limit, at most 1, on every square"),
        ],
    ),
    ("kuhn", "information_state"): (
        "kuhn",
        "One square. Tells all information sets of a player apart; laid out as in OpenSpiel.",
        [
            (r"viewer\[\d\]", "who looks"),
            (r"card\[\d\]", "the viewer's card"),
            (r"(?:pass|bet)\[\d\]", "each action so far: pass, bet"),
        ],
    ),
    ("kuhn", "observation"): (
        "kuhn",
        "One square. Forgets the order of the actions; laid out as in OpenSpiel.",
        [
            (r"viewer\[\d\]", "who looks"),
            (r"card\[\d\]", "the viewer's card"),
            (r"chips\[\d\]", "what each has put in"),
        ],
    ),
    ("leduc", "information_state"): (
        "leduc",
        "One square. Tells all information sets of a player apart; laid out as in OpenSpiel.",
        [
            (r"viewer\[\d\]", "who looks"),
            (r"card\[\d\]", "the viewer's card"),
            (r"public\[\d\]", "the public card, once it lies there"),
            (r"(?:call|raise)\[\d\]\[\d\]", "each call and raise, by round; a fold ends the game and has no channel"),
        ],
    ),
    ("leduc", "observation"): (
        "leduc",
        "One square. Forgets the order of the actions; laid out as in OpenSpiel.",
        [
            (r"viewer\[\d\]", "who looks"),
            (r"card\[\d\]", "the viewer's card"),
            (r"public\[\d\]", "the public card, once it lies there"),
            (r"chips\[\d\]", "what each has put in"),
        ],
    ),
    ("matrix", "information_state"): ("rock-paper-scissors", "One square. There is nothing to see but who looks.",
                                      [(r"viewer\[\d\]", "who looks")]),
}  # fmt: skip
"""By family and observation: the game shown, sentences, and the meaning of every channel."""


def observations_page() -> str:
    """Return docs/observations.md."""
    parts = [OBSERVATIONS.format(notice=NOTICE)]
    families: dict[str, Game] = {}
    for name in names():
        each = game(name)
        families.setdefault(each.family, each)
    for family, first in families.items():
        for name in observations.names(first):
            if (family, name) not in EXPLAINED:
                raise SystemExit(f"the observation {name!r} of {family!r} has no words in scripts/write_docs.py")
            shown, text, groups = EXPLAINED[family, name]
            played = game(shown)
            channels = observations.find(played, name).channel_names(played)
            heading = f"## `{name}`" if family == "stratego" else f"## {family}: `{name}`"
            counted = f"On {shown}: {len(channels)} channels."
            rows = [(f"{a}–{b}" if b > a else a, _spelt(channels[a : b + 1]), what) for a, b, what in
                    ranges(channels, groups, name)]  # fmt: skip
            parts.append(f"{heading}\n\n{text}\n\n{counted}\n\n{table(('channels', 'names', 'meaning'), rows)}\n")
    return "\n".join(parts)


def ranges(channels: Sequence[str], groups: Sequence[Group], name: str) -> list[tuple[int, int, str]]:
    """Return first and last channel of each group, and its meaning; every channel is in one group."""
    found, channel = [], 0
    for pattern, meaning in groups:
        first = channel
        while channel < len(channels) and re.fullmatch(pattern, channels[channel]):
            channel += 1
        if channel == first:
            raise SystemExit(f"{name}: channel {first} is not {pattern!r}: mend EXPLAINED in scripts/write_docs.py")
        found.append((first, channel - 1, meaning))
    if channel < len(channels):
        raise SystemExit(f"{name}: channel {channel} ({channels[channel]!r}) has no words in scripts/write_docs.py")
    return found


def _spelt(channels: Sequence[str]) -> str:
    return f"`{channels[0]}`" + (f" … `{channels[-1]}`" if len(channels) > 1 else "")


# ── Metrics ──────────────────────────────────────────────────────────────────────────────────────

METRICS = """# Metrics

{notice}

A [training run](training.md) writes a line of `metrics.jsonl` for each iteration into its folder, and the same to
TensorBoard (`pip install "vauban-games[train]"`, then `tensorboard --logdir runs`). `vauban curves` draws them. A star
in a name stands for the name of an end or of an agent. Lines of an algorithm that comes after the first one repeat the
first one's last values and add metrics of their own, such as `belief.*`.

## What to look at

* **Is it learning?** `score.*`, if the configuration asks for evaluations (`evaluation.every`). In self-play both sides
  get better together, so nothing else here says how good the play is.
* **Does play stay mixed?** `moves.entropy` falls as bad moves are dropped. If it falls towards 0 in a few iterations,
  the magnet's weight (`ataraxos.moves.magnet_weight`) is too small; if it hardly moves, it is too large.
  `setups.entropy` likewise, with `ataraxos.setups.temperature`. Below {collapsed} nats (of two moves, one is then
  played 99 times of 100) the run warns, once, that play has collapsed. Healthy runs of barrage have dipped to 0.55 and
  come out again by themselves.
* **Does it go round in circles?** With `evaluation.earlier=true` it plays against what it was at half the iterations or
  fewer: `score.earlier`. Below a half, with all of its interval, the run warns: a larger
  `ataraxos.moves.magnet_weight`, or a smaller learning rate, keeps play from chasing its own last weakness.
* **Are steps of a fitting size?** `moves.update_kl` and `moves.clip_rate` say how far the policy moves in an iteration.
  If they grow from one to the next, lower the learning rate.
* **Does it foresee outcomes?** `moves.outcome_loss` starts near ln 3 = 1.099 where there are three outcomes, and falls.
  Better play can raise it again: games between equals are harder to foresee.
* **Are games decided?** `play.draws`, `play.plies`, and `play.end.*`: whether Flags are taken, or games run into a
  limit of the rules.
* **Where does the time go?** `seconds.*` and `speed.*`.

{groups}"""

GROUPS = (
    ("How far it is", ("iteration", "minutes", "moves", "games")),
    ("Speed", ("speed.", "seconds.", "memory.")),
    ("The games", ("play.",)),
    ("Learning to move", ("moves.",)),
    ("Learning to set up", ("setups.",)),
    ("Strength", ("score.", "score_low.", "score_high.")),
)
"""Headings of the page, and the metrics below each: by name, or, with a dot at the end, by how the name begins. What is
left has headings of its own, by the first part of the names."""


def metrics_page() -> str:
    """Return docs/metrics.md."""
    parts, left = [], {name: each.meaning for name, each in metrics().items()}
    more = dict.fromkeys(name.partition(".")[0] for name in left)
    known = [beginning.partition(".")[0] for _, beginnings in GROUPS for beginning in beginnings]
    own = [(name.capitalize(), (f"{name}.",)) for name in more if name not in known]
    for heading, beginnings in [*GROUPS, *own]:
        stems = tuple(each for each in beginnings if each.endswith("."))
        found = [name for name in left if name in beginnings or name.startswith(stems)]
        rows = [(f"`{name}`", left.pop(name)) for name in found]
        parts.append(f"## {heading}\n\n{table(('metric', 'meaning'), rows)}\n")
    return METRICS.format(notice=NOTICE, collapsed=COLLAPSED, groups="\n".join(parts))


# ── The command line ─────────────────────────────────────────────────────────────────────────────

CLI = """# The command line

{notice}

This page has the text of `vauban COMMAND --help` for every command. With `--json` the last line of the output is one
JSON object. Exit codes: 0 done; 1 the answer is no (`vauban rules`: something disagrees); 2 wrong usage, with a
sentence that says what is wrong.

{commands}
"""


def cli_page() -> str:
    """Return docs/cli.md."""
    return CLI.format(notice=NOTICE, commands="\n\n".join(_commands(app, "vauban")))


def _commands(group: typer.Typer, path: str) -> list[str]:
    parts = []
    for command in group.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__.replace("_", "-")
        parts.append(_command(f"{path} {name}", command.callback))
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        parts += _commands(inner.typer_instance, f"{path} {inner.name}")
    return parts


def _command(title: str, function: Callable[..., Any]) -> str:
    usage, rows = [title], []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind, info = _declared(parameter)
        spelt, value = f"--{parameter.name.replace('_', '-')}", _values(kind)
        required = parameter.default is inspect.Parameter.empty
        if isinstance(info, ArgumentInfo):
            spelt = parameter.name.upper() + ("…" if get_origin(kind) is list else "")
            usage.append(spelt if required else f"[{spelt}]")
        else:
            if declared := _spellings(info):
                spelt = ", ".join(declared)
            elif kind is bool:
                spelt = f"{spelt} / --no-{spelt[2:]}"
            if required:
                usage.append(f"{spelt} {value}")
        default = "" if required or parameter.default in (None, False, ()) else _default(parameter.default)
        rows.append((f"`{spelt}`", value, default, info.help or ""))
    options = any(row[0].startswith("`--") for row in rows)
    text = inspect.cleandoc(function.__doc__ or "")
    text = re.sub(r"^Example: (.+)$", r"```console\n$ \1\n```", text, flags=re.MULTILINE)
    text = text.replace("\n```\n\n```console\n", "\n")
    parts = [f"## `{title}`", f"    {' '.join(usage)}{' [OPTIONS]' if options else ''}", text]
    if rows:
        parts.append(table(("parameter", "value", "default", "meaning"), rows))
    return "\n\n".join(parts)


def _declared(parameter: inspect.Parameter) -> tuple[Any, ArgumentInfo | OptionInfo]:
    """Return a parameter's type, and its declaration to typer."""
    if get_origin(parameter.annotation) is Annotated:
        kind, *rest = get_args(parameter.annotation)
        for info in rest:
            if isinstance(info, ArgumentInfo | OptionInfo):
                return _bare(kind), info
    raise SystemExit(f"the parameter {parameter.name!r} of a command has no help: declare it with Annotated")


def _spellings(info: OptionInfo) -> list[str]:
    """Return the declared spellings of an option; typer keeps the first spelling as the default."""
    return [each for each in (info.default, *(info.param_decls or ())) if isinstance(each, str) and each[:1] == "-"]


def _bare(kind: Any) -> Any:
    """Return the type without "or None"."""
    if get_origin(kind) in (Union, UnionType):
        [kind] = [each for each in get_args(kind) if each is not type(None)]
    return kind


def _values(kind: Any) -> str:
    if get_origin(kind) is list:
        [kind] = get_args(kind)
    if kind is bool:
        return ""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(str(each.value) for each in kind)
    return {int: "number", float: "number", str: "text", Path: "file"}.get(kind, str(kind))


def _default(value: Any) -> str:
    if value is True:
        return "on"
    return str(value.value) if isinstance(value, Enum) else str(value)


def _stored(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


def main() -> None:
    """Write the pages; with --check, only say which of them are out of date."""
    stale = [(name, text) for name, text in pages().items() if _stored(DOCS / name) != text]
    for name, text in stale:
        if "--check" not in sys.argv:
            (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")
    sys.exit(1 if stale and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
