"""The errors Vauban raises on purpose, by kind. Every message says what is wrong, where, and what would be right."""

from importlib.util import find_spec

DISTRIBUTION = "vauban-games"
"""The name that pip knows Vauban by; the import and the command are called `vauban`."""


def install_command(extra: str) -> str:
    """Return the command that installs the libraries of an extra of pyproject.toml; it works in any folder."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'


class VaubanError(Exception):
    """The base of all errors that Vauban raises on purpose."""


class MissingLibraryError(VaubanError, ImportError):
    """A library that is not installed, and that only a part of Vauban needs."""


def has_torch() -> bool:
    """Return whether torch is installed; it is not loaded."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):  # a module of this name that is none
        return False


def need_torch(what: str) -> None:
    """Refuse to go on without torch, which is not loaded yet; the sentence begins with what needs it."""
    if not has_torch():
        raise MissingLibraryError(f"{what} need torch, which is not installed: {install_command('learn')}")


class ConfigurationError(VaubanError, ValueError):
    """A variant, a set of rules or an option that cannot be used as given."""


class NotationError(VaubanError, ValueError):
    """A text that cannot be read: a move, a setup, a position or a game."""


class InvalidMoveError(NotationError):
    """A text or a pair of squares that is no move at all."""


class IllegalMoveError(VaubanError, ValueError):
    """A move that cannot be played here; the message says why."""


class NotYourTurnError(IllegalMoveError):
    """A move of the player who is not on turn, or in a game that is over."""


class SetupError(VaubanError, ValueError):
    """A setup that does not fit its variant."""


class IllegalActionError(VaubanError, ValueError):
    """An action in a batch that is not legal in its game; the message names both."""


class RecordError(VaubanError, ValueError):
    """A record, a snapshot or an assignment of hidden types that does not fit."""
