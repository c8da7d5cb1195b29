"""Weights of the published Ataraxos program (StrategoAI/ataraxos), made into a model of ours.

    import_ataraxos([Path("model42400.pthm"), Path("init_model42400.pthm")], Path("models/ataraxos"), date="2026-01-31")

Its files are flat dictionaries of tensors without a configuration: which network it is and how large follows from the
names and shapes; only the number of heads has to be known. There are two sets of names, those of the release and those
of the training script; both compute the same. Its move network sees 643 inputs a square where ours sees 487: the
identifier of the piece, one of 256, is our start square, one of 100, so that the weights fold without loss.
"""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import LETTERS
from vauban.games.stratego.setups import can_move_first, parse_setup, setup_text
from vauban.models import CARD
from vauban.nets.move import MoveNetworkConfig
from vauban.nets.setup import SetupNetworkConfig
from vauban.nets.store import (
    SETUPS,
    Card,
    ModelError,
    build_network,
    check_tensors,
    make_card,
    save_model,
)
from vauban.nets.transformer import Size
from vauban.notation.stratego.strados import EMPTY, RED_LETTERS

HEADS = 8
"""Sizes of the published networks."""
VARIANTS = ("classic", "barrage")
"""The rules that the published program plays by."""
RULES = "ataraxos"
LARGEST_PICKLE = 1 << 24
"""Bytes; the published lists of setups have 0.1 million."""

BOARD, MOVES, IDENTIFIERS = 355, 32, 256
"""A square's inputs in its files, in this order: what is on the board, the last moves, who the piece is."""
SQUARES = 100
EMPTY_CHANNEL, NO_PIECE = 38, 255
"""The channel that is 1 on an empty square, and the identifier that an empty square has."""

_PREFIXES = re.compile(r"module\.|_orig_mod\.")
"""Prefixes that distributed training and compilation put before names."""
_BUFFERS = {
    "feature_orchestrator.plane_mask", "feature_orchestrator.cell_mask", "feature_orchestrator.piece_id_onehot",
    "logit_converter.not_lake_move", "logit_converter.reparam_actions", "start_token", "piece_counts", "right_side",
}  # fmt: skip
"""Entries that are stored with the weights and are none."""


@dataclass(frozen=True)
class Architecture:
    """A network under one of its two sets of names."""

    part: str
    names: str
    """The origin of the names: the release, or the training script."""
    marks: tuple[str, ...]
    """Weights by which it is known."""
    projections: tuple[str, ...]
    """Queries, keys and values of a block, which we keep in one."""
    layers: dict[str, tuple[str, ...]]
    """Our layers outside the blocks: theirs, which are put together in this order."""


_FUSED, _SPLIT = ("mha.qkv_proj",), ("mha.q_proj", "mha.k_proj", "mha.v_proj")
_BOTH = {"embed": ("embedder",), "norm": ("norm_out",)}
ARCHITECTURES = (
    Architecture(
        "move", "release", ("qk_proj.weight",), _FUSED,
        {**_BOTH, "source_and_target": ("qk_proj",), "outcome": ("value_head",)},
    ),
    Architecture(
        "move", "training script", ("q_proj.weight",), _SPLIT,
        {**_BOTH, "source_and_target": ("q_proj", "k_proj"), "outcome": ("value_head",)},
    ),
    Architecture(
        "setup", "release", ("linear.weight", "reg_out.weight"), _FUSED,
        {**_BOTH, "piece": ("linear",), "outcome": ("value_out",), "entropy": ("reg_out",)},
    ),
    Architecture(
        "setup", "training script", ("policy_out.weight",), _SPLIT,
        {**_BOTH, "piece": ("policy_out",), "outcome": ("value_out",), "entropy": ("ent_out",)},
    ),
)  # fmt: skip
BLOCK_LAYERS = {
    "attention_norm": "layer_norm1",
    "attention.out": "mha.out_proj",
    "feedforward_norm": "layer_norm2",
    "feedforward.widen": "linear1",
    "feedforward.narrow": "linear2",
}
"""Our layers of a block, and theirs."""


def import_ataraxos(
    files: Sequence[Path], out: Path, *, date: str, variant: str = "classic", heads: int = HEADS
) -> Card:
    """Make a model of published files, and give its card.

    files: a move network (.pthw, or .pthm for the average); also, if wanted, a setup network and a list of setups
        (.pkl), from which setups are then drawn in place of the network.
    heads: of each network; the files do not say.
    """
    if (out / CARD).exists():
        raise ModelError(f"{out}: there is a model already: name another folder, or remove this one")
    if variant not in VARIANTS:
        raise ModelError(f"the published program plays {' and '.join(VARIANTS)}, not {variant!r}")
    game = Stratego(variant, RULES)
    networks: dict[str, nn.Module] = {}
    described: dict[str, dict[str, Any]] = {}
    setups: list[str] = []
    sources = []
    for path in files:
        data = _bytes(path)
        if path.suffix == ".pkl":
            part, what, given = "setups", "setups", bool(setups)
            setups = read_setups(path, game)
        else:
            tensors = read_weights(path)
            architecture = recognise(tensors, path)
            part, what = architecture.part, f"{architecture.part} network, names of the {architecture.names}"
            given = part in networks
            description, network = convert(tensors, architecture, game, heads, path)
            networks[part], described[part] = network, description
        if given:
            raise ModelError(f"{path}: this is a second file with the {part} of a model: give one of them")
        sources.append({"file": path.name, "holds": what, "sha256": hashlib.sha256(data).hexdigest()})
    if "move" not in networks:
        named = ", ".join(path.name for path in files) or "no file"
        raise ModelError(f"a model needs a move network (model….pthw or model….pthm), and there is none in {named}")
    card = make_card(
        game, described, name=out.name, about=_about(described, setups),
        source={"program": "StrategoAI/ataraxos", "files": sources, "imported": date},
    )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    if setups:
        (out / SETUPS).write_text("".join(f"{setup}\n" for setup in setups), encoding="utf-8")
    save_model(out, networks, card, torch.float32)
    return card


def _about(described: Mapping[str, Any], setups: Sequence[str]) -> str:
    parts = [f"{part} network ({each['size']['depth']} × {each['size']['width']})" for part, each in described.items()]
    if setups:
        parts.append(f"{len(setups):,} setups")
    return f"From files of the published Ataraxos program: {', '.join(parts)}."


# ── Networks ─────────────────────────────────────────────────────────────────────────────────────


def read_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file by their names without prefixes. Nothing in the file is run."""
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file makes torch raise almost anything
        asked = re.search(r"GLOBAL (\S+)", str(error)) if isinstance(error, pickle.UnpicklingError) else None
        why = f"it asks for {asked[1]}, which is refused" if asked else "it is damaged, or was not made by torch.save"
        raise ModelError(f"{path}: this is no file of weights: {why}") from error
    if not isinstance(loaded, dict):
        raise ModelError(f"{path}: weights are a dictionary of tensors, not {type(loaded).__name__}")
    tensors: dict[str, Tensor] = {}
    for key, tensor in loaded.items():
        if not isinstance(key, str) or not isinstance(tensor, Tensor) or tensor.layout is not torch.strided:
            raise ModelError(
                f"{path}: weights are a flat dictionary of names and tensors, and {key!r} holds "
                f"{type(tensor).__name__}: give the dictionary of the network alone"
            )
        name = _PREFIXES.sub("", key)
        if name in tensors:
            raise ModelError(f"{path}: {name} is there twice, with and without the prefix of {key!r}")
        tensors[name] = tensor
    return tensors


def recognise(tensors: Mapping[str, Tensor], path: Path) -> Architecture:
    """Return the kind of a network, by the names of its weights."""
    for architecture in ARCHITECTURES:
        if all(mark in tensors for mark in architecture.marks):
            return architecture
    if "infostate_embed.weight" in tensors or any(key.startswith("decoder.") for key in tensors):
        raise ModelError(
            f"{path}: this is a belief network of the published program, which sees 86 moves on all 100 squares and is "
            "none of ours (nor was one published): leave it out"
        )
    known = ", ".join(" and ".join(each.marks) for each in ARCHITECTURES)
    raise ModelError(f"{path}: this is none of the published networks: they are known by {known}")


def convert(
    tensors: Mapping[str, Tensor], architecture: Architecture, game: Stratego, heads: int, path: Path
) -> tuple[dict[str, Any], nn.Module]:
    """Return a network of ours with these weights, and what its card says of it."""
    size = _size(tensors, heads, path)
    if architecture.part == "move":
        description = {"kind": "move", **asdict(MoveNetworkConfig(size, "ataraxos"))}
    else:
        _check_army(tensors, game, path)
        # Only the release adds the logarithm of what is left to its logits. Both keep the Flag on the right.
        config = SetupNetworkConfig(size, count_prior=architecture.names == "release", flag_side=True)
        description = {"kind": "setup", **asdict(config)}
    network: nn.Module = build_network(description, game, str(path))
    plan = _plan(architecture, size)
    _check_names(tensors, plan, path)
    weights = {}
    for ours, theirs in plan.items():
        wanted = list(network.state_dict()[ours].shape)
        if ours == "positions":
            wanted = [1, *wanted]
        elif ours == "embed.weight" and architecture.part == "move":
            wanted[1] = BOARD + MOVES + IDENTIFIERS
        else:
            wanted[0] //= len(theirs)
        for name in theirs:
            _check_shape(name, tensors[name], wanted, path)
            if not tensors[name].is_floating_point():
                raise ModelError(f"{path}: {name} holds {tensors[name].dtype}, and weights are floating-point numbers")
        joined = torch.cat([tensors[name].float() for name in theirs])
        weights[ours] = joined[0] if ours == "positions" else joined
    if architecture.part == "move":
        weights["embed.weight"] = fold(weights["embed.weight"])
    check_tensors(weights, network, str(path))
    network.load_state_dict(weights)
    return description, network


def fold(embedder: Tensor) -> Tensor:
    """Return the weights of their 643 inputs as weights of our 487, which see the same.

    Identifiers 0 to 99 are start squares. The others never occur, but for the one of empty squares, which repeats a
    channel of the board.
    """
    board = embedder[:, :BOARD].clone()
    moves, identifiers = embedder[:, BOARD : BOARD + MOVES], embedder[:, BOARD + MOVES :]
    board[:, EMPTY_CHANNEL] += identifiers[:, NO_PIECE]
    return torch.cat([board, identifiers[:, :SQUARES], moves], 1)


def _size(tensors: Mapping[str, Tensor], heads: int, path: Path) -> Size:
    for name in ("embedder.weight", "transformer.0.linear1.weight"):
        if name not in tensors or tensors[name].dim() != 2:
            raise ModelError(f"{path}: the size of the network is read off {name}, which is missing or no matrix")
    width = len(tensors["embedder.weight"])
    inner = len(tensors["transformer.0.linear1.weight"])
    depth = len({match[1] for key in tensors if (match := re.match(r"transformer\.(\d+)\.", key))})
    if heads < 1 or width < 1 or width % heads:
        raise ModelError(f"{path}: a width of {width} cannot be shared by {heads} heads: give the right --heads")
    if inner < width or inner % width:
        raise ModelError(f"{path}: the inner layer of a block is {inner} wide, which is no multiple of {width}")
    return Size(depth, width, heads, inner // width)


def _plan(architecture: Architecture, size: Size) -> dict[str, list[str]]:
    """Return our weight names, and the published ones they come from."""
    layers = dict(architecture.layers)
    for block in range(size.depth):
        theirs = f"transformer.{block}."
        layers[f"blocks.{block}.attention.project"] = tuple(theirs + each for each in architecture.projections)
        for ours, name in BLOCK_LAYERS.items():
            layers[f"blocks.{block}.{ours}"] = (theirs + name,)
    plan = {"positions": ["positional_encoding"]}
    for ours, names in layers.items():
        for kind in ("weight", "bias"):
            plan[f"{ours}.{kind}"] = [f"{name}.{kind}" for name in names]
    return plan


def _check_names(tensors: Mapping[str, Tensor], plan: Mapping[str, Sequence[str]], path: Path) -> None:
    wanted = [name for names in plan.values() for name in names]
    missing = [name for name in wanted if name not in tensors]
    if missing:
        raise ModelError(f"{path}: {missing[0]} is missing (weights missing in all: {len(missing)})")
    extra = sorted(set(tensors) - set(wanted) - _BUFFERS)
    if extra:
        raise ModelError(f"{path}: {extra[0]} is no weight of this network (unknown in all: {len(extra)})")


def _check_shape(name: str, tensor: Tensor, wanted: Sequence[int], path: Path) -> None:
    shape = list(tensor.shape)
    if name == "embedder.weight" and len(shape) == 2 and shape[1] != wanted[1]:
        raise ModelError(
            f"{path}: the network sees {shape[1]} inputs where {wanted[1]} are known: it was trained with another "
            "observation than the published one (some plane groups off, or another number of last moves)"
        )
    if shape != list(wanted):
        raise ModelError(f"{path}: {name} has the shape {tuple(shape)} instead of {tuple(wanted)}")


def _check_army(tensors: Mapping[str, Tensor], game: Stratego, path: Path) -> None:
    """Refuse a setup network of another army: the training script stores its counts of types."""
    variant = game.variant
    army = [*variant.army, 0, game.setup_size - variant.pieces]
    if "piece_counts" in tensors and tensors["piece_counts"].flatten().tolist() != army:
        raise ModelError(f"{path}: this network sets up another army than that of {variant.name!r}: give --game")


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


class _PlainUnpickler(pickle.Unpickler):
    """Reads lists, tuples and strings; refuses whatever could run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is refused")


def read_setups(path: Path, game: Stratego) -> list[str]:
    """Return the different setups of a published pair of lists, red's and blue's, in our notation. Nothing is run."""
    if path.stat().st_size > LARGEST_PICKLE:
        raise ModelError(f"{path}: a list of setups has at most {LARGEST_PICKLE:,} bytes")
    try:
        with path.open("rb") as file:
            pair = _PlainUnpickler(file).load()
    except Exception as error:  # a damaged pickle raises almost anything
        why = str(error) if isinstance(error, pickle.UnpicklingError) else "it is damaged, or no pickle"
        raise ModelError(f"{path}: this is no list of setups: {why}") from error
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(each, list) for each in pair):
        raise ModelError(f"{path}: setups are stored as a pair of lists, red's and blue's")
    found = {}
    for side, listed in zip(game.players, pair, strict=True):
        for number, text in enumerate(listed):
            found[_our_setup(text, game, f"{path}, {side}'s setup {number}")] = True
    if not found:
        raise ModelError(f"{path}: there is no setup in these lists")
    return list(found)


def _our_setup(text: Any, game: Stratego, where: str) -> str:
    letters = dict(zip(RED_LETTERS + EMPTY, LETTERS + ".", strict=True))
    if not isinstance(text, str) or len(text) != game.setup_size or not set(text) <= set(letters):
        raise ModelError(f"{where}: a setup is {game.setup_size} of the letters {''.join(letters)}, not {text!r:.60}")
    try:
        setup = parse_setup("".join(letters[letter] for letter in text), game.variant)
    except ValueError as error:
        raise ModelError(f"{where}: {error}") from error
    if not can_move_first(setup, game.variant):
        raise ModelError(f"{where}: no piece could make a first move")
    return setup_text(setup, game.variant)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
