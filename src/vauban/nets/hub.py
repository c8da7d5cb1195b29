"""Models of others, by address: fetched whole, checked, and only then kept.

    fetch("hf:OWNER/NAME", Path("models/NAME"))      # the Hugging Face hub, at any revision: hf:OWNER/NAME@v2
    fetch("https://HOST/models/NAME", Path("…"))     # a folder on the web: its address and /card.json is the card
    fetch("/media/stick/NAME", Path("…"))            # a folder

Nothing of a stranger is run. The card says which files there are, and nothing else is fetched; weights are safetensors;
what is larger than it may be is refused before it is read, and what does not fit its card is not kept.
"""

from __future__ import annotations

import http.client
import re
import shutil
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from vauban.door import PREFIX as IN_A_FILE
from vauban.errors import MissingLibraryError, install_command
from vauban.models import CARD
from vauban.nets import store
from vauban.nets.kinds import find_kind
from vauban.nets.store import HUB, Card, ModelError
from vauban.sim.compile import cache_base

WEB = ("https://", "http://")
LARGEST = 2 * 2**30
"""Bytes that the networks of a model may have, in files and in memory."""
LARGEST_TEXT = 16 * 2**20
"""Bytes that a card, a page or a list of setups may have."""
LARGEST_SETTING = 1 << 14
"""No number that a network is built from, such as its width, may be larger."""
DEEPEST = 256
"""No setting called depth or blocks may be larger: each layer takes time to build, also where it takes no memory."""
README = "README.md"

Tell = Callable[[str], None]
_ADDRESS = re.compile(r"hf:(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>[A-Za-z0-9][\w./-]*))?")
_SECONDS = 60.0
"""Without a byte for so long, a folder on the web is taken for gone."""


def is_address(text: str) -> bool:
    """Say whether a text names a model of the hub, which can stand wherever a model is named."""
    return text.startswith(HUB)


def split_address(text: str) -> tuple[str, str]:
    """Return OWNER/NAME and the revision of `hf:OWNER/NAME@REVISION`; without one, the newest."""
    found = _ADDRESS.fullmatch(text)
    if found is None or ".." in text:
        raise ModelError(f"{text!r} names no model of the hub: write {HUB}OWNER/NAME, or {HUB}OWNER/NAME@REVISION")
    return found["repo"], found["revision"] or "main"


def own_name(address: str) -> str:
    """Return the name of the model at an address: its folder's, or that of its repository, whatever the revision."""
    place = split_address(address)[0] if is_address(address) else address.rstrip("/")
    return place.rpartition("/")[2]


def kept(address: str, tell: Tell) -> Path:
    """Return the folder of a model of the hub that is kept on this machine; fetched when it is first named."""
    repo, revision = split_address(address)
    folder = cache_base() / "models" / f"{repo}@{revision.replace('/', '--')}"
    if not (folder / CARD).is_file():
        tell(f"fetching {address}; it is kept in {folder}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process has fetched it meanwhile
            fetch(address, folder)
    return folder


def fetch(address: str, out: Path) -> Card:
    """Copy a model from an address into a new folder; its card. What cannot be loaded here is not kept."""
    if out.exists():
        raise FileExistsError(out)
    source = _source(address)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetching-", dir=out.parent) as aside:
            folder = Path(aside) / "model"
            folder.mkdir()
            with _named(address, folder):
                card = _fetch(source, folder)
            folder.rename(out)
    except OSError as error:
        if isinstance(error, FileExistsError) or out.exists():
            raise FileExistsError(out) from error
        raise ModelError(f"{out}: cannot be written: {error.strerror or error}") from error
    return card


def _fetch(source: Source, folder: Path) -> Card:
    if not source.copy(CARD, folder / CARD, LARGEST_TEXT):
        raise ModelError(f"{folder}: this is no model of Vauban: there is no {CARD}")
    card = store.read_card(folder)
    check_stranger(card, str(folder))
    left = LARGEST
    for part in card["networks"]:
        path = store.weights_file(folder, part)
        if not source.copy(path.name, path, left):
            raise ModelError(f"{folder}: the card describes a network {part!r}, and there is no {path.name}")
        left -= path.stat().st_size
    for name in (store.SETUPS, README):
        source.copy(name, folder / name, LARGEST_TEXT)
    store.load_model(folder)
    return card


def check_stranger(card: Card, where: str) -> None:
    """Refuse a card that names files of this machine, or networks that would not fit into it."""
    variant = card["variant"]
    if isinstance(variant, str) and (IN_A_FILE in variant or variant.endswith(".toml")):
        raise ModelError(
            f"{where}: it plays {variant!r}, a game in a file of its author's machine: ask for the file, play it with "
            f"--game, and copy the model's folder by hand"
        )
    for name, number in _numbers({"networks": card["networks"]}):
        most = DEEPEST if name.endswith(("depth", "blocks")) else LARGEST_SETTING
        if number > most and not name.endswith(".parameters"):
            raise ModelError(f"{where}: {name} = {number:,}, and networks of such a size are not built here")
    game = store.game_of(card, where)
    total = 0
    for part, described in card["networks"].items():
        kind = find_kind(described["kind"])
        with torch.device("meta"):  # shapes alone: nothing of it takes memory
            network = kind.build(game, store.settings_of(kind, described, f"{where}, network {part!r}"))
        total += sum(4 * tensor.numel() for tensor in network.state_dict().values())
    if total > LARGEST:
        raise ModelError(f"{where}: its networks take {total / 2**30:,.1f} GB, and {_gigabytes(LARGEST)} is the most")


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _numbers(each, f"{path}.{name}" if path else str(name))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _numbers(each, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


@contextmanager
def _named(address: str, folder: Path) -> Iterator[None]:
    """Let errors name the address, and not the folder in which its files are looked at."""
    try:
        yield
    except ModelError as error:
        raise ModelError(str(error).replace(str(folder), address)) from error


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:g} GB" if size >= 2**30 else f"{size / 2**20:g} MB"


# ── Where files come from ────────────────────────────────────────────────────────────────────────


class Source(ABC):
    """A place that has the files of a model."""

    def __init__(self, address: str) -> None:
        self.address = address

    @abstractmethod
    def copy(self, name: str, to: Path, most: int) -> bool:
        """Copy a file of this name; False if there is none. One of more bytes than `most` is refused."""

    def refuse_size(self, name: str, size: int | None, most: int) -> None:
        """Refuse a file that is too large."""
        if size is not None and size > most:
            raise ModelError(f"{self.address}: {name} has {size:,} bytes, and {_gigabytes(most)} is the most")


def _source(address: str) -> Source:
    if is_address(address):
        return HubSource(address)
    return WebSource(address) if address.startswith(WEB) else FolderSource(address)


class FolderSource(Source):
    """A folder of a model, or of a run."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._folder = store.find_model(Path(address))

    def copy(self, name: str, to: Path, most: int) -> bool:
        path = self._folder / name
        if not path.is_file():
            return False
        self.refuse_size(name, path.stat().st_size, most)
        shutil.copyfile(path, to)
        return True


class WebSource(Source):
    """A folder on the web, of which nothing is asked but files by their names."""

    def copy(self, name: str, to: Path, most: int) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address.rstrip('/')}/{name}", timeout=_SECONDS) as answer:
                length = answer.headers.get("Content-Length")
                self.refuse_size(name, int(length) if length else None, most)
                with to.open("wb") as file:
                    while piece := answer.read(1 << 20):
                        file.write(piece)
                        self.refuse_size(name, file.tell(), most)
                    if length and file.tell() < int(length):
                        raise OSError(f"only {file.tell():,} of {int(length):,} bytes have come")
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                return False
            raise ModelError(f"{self.address}: {name} cannot be fetched: {error}") from error
        except ModelError:
            raise
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise ModelError(f"{self.address}: {name} cannot be fetched: {reason}") from error
        return True


class HubSource(Source):
    """A repository of the Hugging Face hub, at one revision; HF_ENDPOINT and HF_TOKEN hold for it."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self._repo, revision = split_address(address)
        hub = library()
        with refused(address):
            info = hub.HfApi().model_info(self._repo, revision=revision, files_metadata=True)
        self._revision = info.sha or revision
        self._sizes: dict[str, int | None] = {each.rfilename: each.size for each in info.siblings or ()}

    def copy(self, name: str, to: Path, most: int) -> bool:
        if name not in self._sizes:
            return False
        self.refuse_size(name, self._sizes[name], most)
        aside = to.parent.parent / "hub"
        with refused(self.address):
            path = Path(library().hf_hub_download(self._repo, name, revision=self._revision, local_dir=aside))
        self.refuse_size(name, path.stat().st_size, most)
        path.replace(to)
        return True


def library() -> Any:
    """Return the library of the hub, or an error that says how to get it."""
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingLibraryError(
            f"models of the Hugging Face hub need huggingface_hub, which is not installed: {install_command('hub')}"
        ) from error
    return huggingface_hub


@contextmanager
def refused(address: str) -> Iterator[None]:
    """Say in a sentence what the hub, or the way to it, has refused."""
    try:
        yield
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        status = getattr(getattr(error, "response", None), "status_code", None)
        hint = " (is it spelled so, or private? `hf auth login` shows the hub who you are)" if status in (
            401, 403, 404) else ""  # fmt: skip
        said = "the hub cannot be reached" if status is None else "the hub says"
        raise ModelError(f"{address}: {said}: {lines[0]}{hint}") from error
