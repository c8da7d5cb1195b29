"""`Show`: what the page needs to know of a family of games.

    show = show_of("barrage")             # that of Stratego
    board = show.begin("barrage", "", (red, blue), seed=7)
    show.position(board.view(0), 0)       # what red's page draws

A family has its show in `vauban.web.<family>.show`, and a script that draws it in `page/js/games/<family>.js`; both are
found by being there. An installed package offers shows by entry points of the group "vauban.shows", with scripts in a
folder of its own (docs/page.md). A game whose family has none is shown plainly (`vauban.web.plain`). The rest of the
page knows games by this interface alone.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from vauban import door
from vauban.errors import ConfigurationError, VaubanError
from vauban.games import base
from vauban.web.files import scripts

Json = dict[str, Any]
Setups = tuple[str | None, str | None]

GROUP = "vauban.shows"
"""The entry points by which installed packages offer shows."""

SIDES = ("red", "blue")
"""The page's names for the players of any game, the first one first."""


class TableError(VaubanError):
    """Something that cannot be done at a table now.

    `key` says which of the things with one code it is, and `data` what belongs to it: the page has its own words for
    whatever an ordinary player may meet. `text` is for all others.
    """

    def __init__(self, code: str, text: str, key: str | None = None, **data: Any) -> None:
        super().__init__(text)
        self.code = code
        self.key = key or code
        self.data = data


class Recorded(NamedTuple):
    """A game that was kept as text."""

    board: Any
    """At its end."""
    setups: Setups
    winner: int | None
    end: str


class Placed(NamedTuple):
    """A piece in a position that somebody has put together."""

    at: str
    """The name of its square."""
    player: int
    type: str
    """The name of its kind, as positions are sent."""
    moved: bool
    revealed: bool


@dataclass(frozen=True)
class Switch:
    """A rule that can be chosen: by a word, or a number of plies."""

    key: str
    usual: str | int
    values: tuple[str, ...] = ()
    """Empty for a number."""
    drawn: tuple[str, ...] = ()
    """Values by which chance sets up for both players."""
    least: int = 0
    most: int = 0

    def to_json(self) -> Json:
        """Return it as the page is told it."""
        told: Json = {"key": self.key, "usual": self.usual}
        if self.values:
            return told | {"values": list(self.values), "drawn": list(self.drawn)}
        return told | {"least": self.least, "most": self.most}


class Show(ABC):
    """A family of games on the page. A variant is the name of a game, a board whatever `begin` makes."""

    family: str
    """As its games have it; also the name of the script that draws them."""
    offered: tuple[str, ...] = ()
    """The games that can be chosen on the start screen, the usual one first."""
    order: int = 100
    """The place among the families on the page: smaller numbers come first, equal ones by name."""
    screens: tuple[str, ...] = ()
    """Screens of its own that the head of the page leads to, as its script names them."""
    files: Path | None = None
    """The folder with the family's script and all else of its own that browsers may have; None: `page/js/games`."""
    levels: Path | None = None
    """The file that names its opponents; None: whoever plays at random."""
    looks_back = False
    """Whether a finished game can be looked back on, and be played on from."""
    marks: tuple[str, ...] = ()
    """Marks that a piece of a position can have beside its type: `moved`, `revealed`."""

    @property
    def script(self) -> Path:
        """The script that draws the family's games."""
        return (self.files or scripts()) / f"{self.family}.js"

    # ── A game ───────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def has_setups(self, variant: str, rules: str | None = None) -> bool:
        """Return whether the players set something up before the first move, by the usual rules or by these."""

    @abstractmethod
    def rules_text(self, variant: str, rules: str | None) -> str:
        """Return the rules of a game as text, from which they can be made again; None stands for the usual ones."""

    def switches(self, variant: str) -> tuple[Switch, ...]:
        """Return the rules that people can choose."""
        return ()

    def rules_told(self, variant: str, rules: str) -> Json:
        """Return which of the rules that can be chosen a game is played by: {key: value}."""
        found = dict(word.split("=", 1) for word in rules.split() if "=" in word)
        return {each.key: found[each.key] if each.values else int(found[each.key]) for each in self.switches(variant)}

    def rules_with_setups(self, variant: str, rules: str) -> str:
        """Return the same rules for a game whose setups are given, also where chance would draw them."""
        return rules

    @abstractmethod
    def begin(self, variant: str, rules: str, setups: Setups, seed: int | None) -> Any:
        """Begin a game: a board, with `turn`, `history`, `outcome`, `push`, `pop`, `copy` and `view`."""

    @abstractmethod
    def read_setup(self, variant: str, text: Any) -> str:
        """Return a setup as it should be written; refuses what is none."""

    def check_first(self, variant: str, setup: str) -> None:
        """Refuse a setup with which no game can begin."""

    @abstractmethod
    def read_move(self, board: Any, text: str) -> str:
        """Return a legal move as it should be written; refuses what is none."""

    @abstractmethod
    def played_text(self, board: Any, played: Any) -> str:
        """Return the text of a move that was made, as `read_move` reads it."""

    def choose_move(self, agent: str, seed: int, view: Any) -> str | None:
        """Return an agent's move as text; None: it resigns."""
        from vauban.agents import make_player
        from vauban.agents.base import RESIGNS, choose_action, close

        made = make_player(agent, view.game, seed)
        try:
            action = choose_action(made, view)
        finally:
            close(made)
        return None if action == RESIGNS else str(view.game.action_text(view.turn, action))

    def rules_of(self, board: Any, rules: str) -> str:
        """Return the rules that a board goes by, as text; `rules` are those of its table."""
        return rules

    # ── What is sent ─────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def offer(self, variant: str) -> Json:
        """Return what the page draws a game's board and setups from."""

    @abstractmethod
    def position(self, look: Any, viewer: int | None) -> Json:
        """Return all about a position, from what may be looked at and nothing else. `legal` are texts of moves."""

    @abstractmethod
    def before(self, variant: str, setup: str | None, viewer: int | None) -> Json:
        """Return the same before the game begins: of one's own setup, if it has been given."""

    @abstractmethod
    def move(self, board: Any, played: Any, viewer: int | None) -> Json:
        """Return a move that was made, as a seat may know it (None: all of it)."""

    @abstractmethod
    def explain(self, view: Any, text: str) -> Json:
        """Say why a move cannot be played, or that it can: a code, and what belongs to it."""

    @abstractmethod
    def picture(self, look: Any) -> str:
        """Return a picture, as SVG."""

    # ── Setups and agents ────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def check_setup(self, variant: str, text: Any) -> Json:
        """Return a setup as it should be written, and what may be odd about it."""

    @abstractmethod
    def draw_setup(self, variant: str, kind: str, seed: int) -> str:
        """Return a setup that needs no agent: of the kind `random` or `human`. Takes no time to speak of."""

    @abstractmethod
    def choose_setup(self, agent: str, seed: int, variant: str, player: int) -> str:
        """Return an agent's own setup; it may have to think."""

    @abstractmethod
    def weigh(self, view: Any) -> tuple[float, bool]:
        """Estimate a game's worth to a player, −1 to 1, and whether nothing has happened in it for long."""

    @abstractmethod
    def warm_up(self, variant: str) -> Any:
        """Have the rules compiled; returns a board to try an agent on."""

    # ── Records, and what comes after a game ─────────────────────────────────────────────────────

    @abstractmethod
    def record(self, board: Any, headers: Mapping[str, str]) -> str:
        """Return a whole game as text."""

    def read_record(self, record: str) -> Recorded:
        """Return a game that was kept as text."""
        from vauban.notation.records import read_games

        if not self.looks_back:
            raise no_way_back()
        [game] = read_games(record)
        assert game.board is not None
        winner = {"1-0": 0, "0-1": 1}.get(game.result)
        return Recorded(game.board, self.setups_of(game.board), winner, game.end or "unfinished")

    def setups_of(self, board: Any) -> Setups:
        """Return the setups from which a game began, as texts; none where it did not begin from setups."""
        return None, None

    @abstractmethod
    def setups_at(self, board: Any, hidden: Mapping[int, int]) -> tuple[str, str]:
        """Return the setups from which a game came to where it is, if what is hidden is so."""

    def with_hidden(self, board: Any, hidden: Mapping[int, int]) -> Any:
        """Return the same game with other hidden pieces, where it did not begin from setups."""
        raise no_way_back()

    @abstractmethod
    def draw_hidden(self, view: Any, seed: int) -> dict[int, int]:
        """Return one way the hidden things of a view may be."""

    def open_position(self, board: Any) -> Json:
        """Return a position with all pieces open, and what the side on turn may do (docs/page-protocol.md)."""
        shown = self.position(board, None)
        if board.outcome() is not None:
            return shown
        own = self.position(board.view(board.turn), board.turn)
        return shown | {key: own[key] for key in ("legal", "reach", "barred") if key in own}

    def place(self, variant: str, text: str) -> Any:
        """Return a board on which a game begins from a position, given as text; refuses one that cannot be."""
        raise no_way_back()

    def position_of(self, board: Any) -> str:
        """Return the text of the position on a board, as `place` reads it, without the moves that led there."""
        raise no_way_back()

    def position_text(self, variant: str, pieces: Sequence[Placed], turn: int) -> str:
        """Return the text of a position with these pieces on it; all others have been captured."""
        raise no_way_back()

    def look_at(self, record: str, agent: str | None) -> Json:
        """Return what a network says about the last position of a game, or what can be counted without one."""
        from vauban.notation.records import read_games
        from vauban.search.reviewing import look_at

        if not self.looks_back:
            raise no_way_back()
        [game] = read_games(record)
        return look_at(game.board, _model_of(agent))

    def review(self, record: str, agent: str | None, tell: Callable[[float], None]) -> Json:
        """Return everything there is to say about a finished game; `agent` is whose network looks back."""
        from vauban.notation.records import read_games
        from vauban.search.reviewing import SEARCHED, look_back
        from vauban.search.search import Search

        if not self.looks_back:
            raise no_way_back()
        [game] = read_games(record)
        model = _model_of(agent)
        search = None if model is None else Search.of_model(model, SEARCHED)
        return look_back(game.board, model, search=search, ended=game.outcome, progress=tell).to_json()


def _model_of(agent: str | None) -> Any:
    """Return the model that an agent plays by; None without one."""
    from vauban.agents import make_agent
    from vauban.agents.net import ModelAgent

    found = None if agent is None else make_agent(agent)
    return found.model if isinstance(found, ModelAgent) else None


def no_way_back() -> TableError:
    """Return the refusal to look back on a game of a kind that cannot be looked back on."""
    return TableError("review", "Games of this kind cannot be looked back on, nor be played on.", "review.none")


def too_many(side: str, kind: str, have: int, most: int) -> TableError:
    """Return the refusal of a position with more pieces of a kind than a side has at the start."""
    text = f"{side} has {have} of the kind {kind} here, and {most} at the start of a game."
    return TableError("position", text, "position.many", side=side, type=kind, have=have, most=most)


def show_modules() -> tuple[str, ...]:
    """Return the names of the modules with the shows that are at home here, without importing them."""
    import vauban.web

    return tuple(f"vauban.web.{each.name}.show" for each in pkgutil.iter_modules(vauban.web.__path__) if each.ispkg)


@cache
def shows() -> tuple[Show, ...]:
    """Return the shows of all families that have one, in their order on the page."""
    found: list[Show] = [importlib.import_module(name).SHOW for name in show_modules()]
    for name, load in door.entry_points(GROUP).items():
        show = load()
        if not isinstance(show, Show):
            raise ConfigurationError(f"the entry point {name!r} of {GROUP} should name a Show, not {show!r}")
        found.append(show)
    families = [show.family for show in found]
    for family in families:
        if families.count(family) > 1 or family == "plain":
            raise ConfigurationError(f"the page has more than one show of the family {family!r}: remove one of them")
    return tuple(sorted(found, key=lambda show: (show.order, show.family)))


def check_scripts() -> None:
    """Refuse a show without the script that draws its games."""
    for show in shows():
        if not show.script.is_file():
            raise ConfigurationError(
                f"the games of the family {show.family!r} cannot be drawn: there is no script {show.script}"
            )


@cache
def show_of(variant: str) -> Show:
    """Return the show of a game: that of its family, or the one that shows any game plainly."""
    from vauban.web.plain import PLAIN

    family = base.game(variant).family
    return next((show for show in shows() if show.family == family), PLAIN)


def offered() -> tuple[str, ...]:
    """Return the games that can be chosen on the start screen, the usual one first."""
    return tuple(name for show in shows() for name in show.offered)
