"""`Table`: one game with its seats, setups, clock and offers; pure, synchronous, and made of events.

    table = Table.made(new_table("barrage", "friend", (PERSON, PERSON)))
    table.give_setup("red", text)
    table.move("red", "a4a5", spent=1200)
    Table.replayed(table.events)          # the same table

Whatever is asked for is checked first; if it cannot be, a `TableError` says why and nothing has changed. What can
be becomes an event, a plain table that JSON can hold, and only events change a table. So the events are all that has
to be kept. What a setup or a move is, the show of its game knows (`vauban.web.show`). A table knows what is hidden:
nothing of it goes to a player but through `vauban.web.sight`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from vauban.web.clocks import Banks, make_clock
from vauban.web.commitment import commit
from vauban.web.show import SIDES, TableError, show_of
from vauban.words import moves_word

Event = dict[str, Any]

WATCH = "watch"
SEATS = (*SIDES, WATCH)
PACES = {"slow": 3.0, "usual": 1.0, "fast": 0.2}
"""Pause between the moves of two watched machines, as a multiple of the usual one."""
TAKE_BACK_PAUSE = 2
"""Plies between two requests of one side to take back."""
ABSENCE = 60
"""Minutes that a friend on turn may be away, where nothing else was chosen."""
MOST_NAME = 30
"""Longest name of a person, in letters."""
HASH = "sha256:"
"""Begins the hash of a secret; no secret has a colon."""
OFFER_PAUSE = 20
"""Plies between two offers of a draw by one side: or an agent could be sounded out move by move."""


@dataclass(frozen=True)
class Sitter:
    """A player of one side."""

    who: str
    """"person" or "machine"."""
    name: str = ""
    """Name of a machine; a person's name where a record tells it."""
    level: str = ""
    agent: str = ""
    """The agent of a machine (`vauban.agents.make_agent`), its seed, and the usual time of a move."""
    seed: int = 0
    seconds: float = 0.0
    stays: bool = False
    """Whether the machine stays with its game, and is told of it move by move (`vauban.web.programs`)."""

    @property
    def is_machine(self) -> bool:
        return self.who == "machine"


PERSON = Sitter("person")


@dataclass(frozen=True)
class End:
    """The end of a game."""

    winner: int | None
    end: str
    """As in a record's header End (`vauban.notation.records`)."""
    text: str = ""
    """Details."""


@dataclass(frozen=True)
class Offer:
    """A question of one side to the other."""

    kind: str
    """"draw" or "take_back"."""
    by: int


def new_table(
    variant: str,
    kind: str,
    sitters: tuple[Sitter, Sitter],
    clock: Mapping[str, Any] | None = None,
    takebacks: bool = True,
    aids: bool = True,
    record: str | None = None,
    invited: str | None = None,
    rules: str | None = None,
    played_on: Mapping[str, Any] | None = None,
    start: str | None = None,
    hashes: Mapping[str, str] | None = None,
    absence: int = ABSENCE,
) -> Event:
    """Make the event that makes a table, with an id and secrets that nobody can guess.

    The secrets are for those who sit there; a table keeps hashes of them (`Table.made`). `hashes` are those of seats
    that are opened by a secret of another game. The seat that is `invited` has no secret yet: it gets one when the
    invitation is taken (`Table.join`). `played_on` tells from where in another game this one goes on (`Host.play_on`).
    `start` is a record at whose end the game begins, where no setups lead there.
    After `absence` minutes without a friend who is on turn the win may be claimed.
    """
    seats = [WATCH] if kind in ("watch", "import") else [seat for seat in _people(sitters) if seat != invited]
    return {
        "what": "made",
        "game": secrets.token_urlsafe(12),
        "kind": kind,
        "variant": variant,
        "rules": show_of(variant).rules_text(variant, rules),
        "seed": secrets.randbits(63),
        "sitters": [asdict(sitter) for sitter in sitters],
        "secrets": hashes or {seat: secrets.token_urlsafe(24) for seat in seats},
        "look": secrets.token_urlsafe(24),
        "invitation": None if invited is None else {"seat": invited, "token": secrets.token_urlsafe(24)},
        "clock": make_clock(clock).as_json(),
        "takebacks": takebacks,
        "aids": aids,
        "absence": absence,
        "at": int(time.time()),
        "record": record,
        "played_on": None if played_on is None else dict(played_on),
        "start": start,
    }


def hashed(secret: str) -> str:
    """Return what is kept of a secret: its hash. No salt is needed, for secrets are 192 random bits."""
    return HASH + hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _kept(secret: str) -> str:
    """Return the hash of a secret that was kept as a hash, or as it was, as earlier versions did."""
    return secret if secret.startswith(HASH) else hashed(secret)


def _sealed(made: Event) -> Event:
    """Return the event that makes a table without the secrets that open seats: with their hashes."""
    invitation = made["invitation"]
    if invitation is not None:
        invitation = invitation | {"token": _kept(invitation["token"])}
    return made | {
        "secrets": {seat: _kept(secret) for seat, secret in made["secrets"].items()}, "invitation": invitation,
    }  # fmt: skip


def _same(right: str | None, given: str) -> bool:
    """Compare a text with the right one, if there is one. Takes equally long whatever is wrong."""
    same = hmac.compare_digest((right or "-" * 32).encode(), given.encode("utf-8", "replace"))
    return same and right is not None


def _people(sitters: tuple[Sitter, Sitter]) -> list[str]:
    return [seat for seat, sitter in zip(SIDES, sitters, strict=True) if not sitter.is_machine]


class Table:
    """One game."""

    def __init__(self, made: Event) -> None:
        """Use `made` or `replayed`."""
        self.events: list[Event] = [made]
        self.game: str = made["game"]
        self.kind: str = made["kind"]
        """"level": against an agent; "friend": two people by a link; "hotseat": two people at one device; "watch": two
        agents; "import": a recorded game to look back on."""
        self.variant: str = made["variant"]
        """The name of the game that is played."""
        self.show = show_of(self.variant)
        self.rules: str = made["rules"]
        self.has_setups = self.show.has_setups(self.variant, self.rules)
        """Whether the players set something up before the first move."""
        self.seed: int | None = made.get("seed")  # games that were kept before chance mattered have none
        self.sitters: tuple[Sitter, Sitter] = (Sitter(**made["sitters"][0]), Sitter(**made["sitters"][1]))
        self.hashes: dict[str, str] = dict(_sealed(made)["secrets"])
        """Hashes of the secrets that open seats."""
        self.look: str = made["look"]
        """The secret that opens the game to whoever looks on, and no seat to play on (`admits` says when). Kept
        as it is: everybody at the table is told it, and it opens nothing that the shelf does not show."""
        self.invitation: dict[str, str] | None = _sealed(made)["invitation"]
        self.clock = make_clock(made["clock"])
        self.takebacks: bool = made["takebacks"]
        self.aids: bool = made.get("aids", True)  # games that were kept before this could be chosen have them
        """Whether notes may be made, and the page may remember what was shown."""
        self.absence: int = made.get("absence", ABSENCE)
        """Minutes that a friend on turn may be away before the other side may claim the win."""
        self.played_on: dict[str, Any] | None = made.get("played_on")
        """From which ply of another game this one goes on, and how its hidden pieces came about."""
        self.at: int = made["at"]
        self.banks: Banks = self.clock.banks()
        self.times: list[tuple[int, int]] = []
        """Of each move, the bank of its side before it, and the milliseconds that it took."""
        self.elapsed = 0
        """Milliseconds that the game has taken without the move that is being thought about (`used` is of that)."""
        self.used = 0
        """Milliseconds of the move that is being thought about which were used before: when a server ended
        (`keep_time`), or on moves that were taken back."""
        self.setups: list[str | None] = [None, None]
        self.salts: list[str | None] = [None, None]
        self.board: Any = None
        """The game, from the moment that everybody and both setups are there."""
        self.offer: Offer | None = None
        self.offered: list[int | None] = [None, None]
        """After which ply each side last offered a draw."""
        self.asked_back: list[int | None] = [None, None]
        """After which ply each side last asked a friend to take back."""
        self.note: dict[str, Any] | None = None
        """The answer to the last offer, if there is something to tell, until the side that offered moves next."""
        self.took_back = False
        self.firm: int | None = None
        """Moves up to this one have never been taken back; None: no move has."""
        self.paused = False
        """Whether the machines of a game that is watched wait to be told to go on."""
        self.pace = "usual"
        self.over: End | None = None
        self.wishes: set[int] = set()
        """The sides that want to play again."""
        self.keeps_setup = True
        """Whether that is with the same setup, against a machine."""
        self.follower: dict[str, Any] | None = None
        """The table that they play again at: its game, and by seat here the seats there, each with the seat here that
        the same secret opens; or with a secret, as earlier versions kept it."""
        if made["record"] is not None:
            self._import(made["record"])
        elif made.get("start") is not None:  # games that were kept before there was such a thing have none
            self.has_setups = False
            self.board = self.show.read_record(made["start"]).board
        else:
            self._begin()

    @classmethod
    def made(cls, event: Event) -> Table:
        """Make a table from its first event (`new_table`); of its secrets it keeps hashes."""
        return cls(_sealed(event))

    @classmethod
    def replayed(cls, events: Iterable[Event]) -> Table:
        """Make the table again that these events have made."""
        first, *rest = events
        table = cls(first)
        for event in rest:
            table.events.append(event)
            table._apply(event)
        return table

    # ── What is the case ─────────────────────────────────────────────────────────────────────────

    @property
    def phase(self) -> str:
        """ "setup", "play" or "over"."""
        if self.over is not None:
            return "over"
        return "setup" if self.board is None else "play"

    @property
    def turn(self) -> int:
        """The player on turn; red before the game begins."""
        return 0 if self.board is None else int(self.board.turn)

    @property
    def plies(self) -> int:
        """Number of moves made at this table."""
        return 0 if self.board is None else len(self.board.history)

    @property
    def invited(self) -> str | None:
        """The seat that waits for an invited friend."""
        seat = None if self.invitation is None else self.invitation["seat"]
        return None if seat in self.hashes else seat

    def invites(self, token: str) -> bool:
        """Say whether this is the invitation to this table, open or taken."""
        return _same(None if self.invitation is None else self.invitation["token"], hashed(token))

    def owns(self, seat: str, secret: str) -> bool:
        """Say whether this is the secret of this seat. Takes equally long whatever is wrong."""
        return _same(self.hashes.get(seat), hashed(secret))

    def admits(self, seat: str, secret: str) -> bool:
        """Say whether this secret opens this seat: as its own, or to look on where all may be seen.

        That is a game that is over, or one of two machines.
        """
        look = self.look if seat == WATCH and (self.over is not None or self.kind == "watch") else None
        found = [self.owns(seat, secret), _same(look, secret)]  # both of them, so that the time tells nothing
        return any(found)

    def knows(self, secret: str) -> bool:
        """Say whether this secret opens any seat."""
        found = [self.admits(seat, secret) for seat in SEATS]  # all of them, so that the time tells nothing
        return any(found)

    def is_ready(self, player: int) -> bool:
        """Say whether nothing more is awaited from a player before the first move."""
        return self.setups[player] is not None or not self.has_setups

    def commitment(self, player: int) -> str | None:
        """Return the promise about a machine's setup."""
        setup, salt = self.setups[player], self.salts[player]
        return None if setup is None or salt is None else commit(setup, salt)

    def board_at(self, ply: int) -> Any:
        """Return a copy of the game as it was after so many plies."""
        assert self.board is not None
        board = self.board.copy()
        while len(board.history) > ply:
            board.pop()
        return board

    def move_texts(self, ply: int) -> list[str]:
        """Return the first moves of the game as `move` takes them, so many of them."""
        return [self.show.played_text(self.board, played) for played in self.board.history[:ply]]

    @property
    def rules_played(self) -> str:
        """Rules of the game as text; of an imported game, those of its record."""
        return self.rules if self.board is None else self.show.rules_of(self.board, self.rules)

    def record(self) -> str:
        """Return the whole game in our notation, once it is over."""
        if self.over is None or self.board is None:
            raise TableError("phase", "The game is not over: its record shows both armies, so it waits for the end.")
        result = "*" if self.over.end == "unfinished" else "1/2-1/2"
        if self.over.winner is not None:
            result = ("1-0", "0-1")[self.over.winner]
        headers = self._headers()
        if self.took_back:
            headers["TakenBack"] = str(sum(event["what"] == "took_back" for event in self.events))
        if self.played_on is not None:
            headers["PlayedOn"] = f"from ply {self.played_on['ply']} of another game"
        if self.board.outcome() is None:
            headers |= {"Result": result, "End": self.over.end}
        return self.show.record(self.board, headers)

    def line_record(self, board: Any, ply: int) -> str:
        """Return a line that leaves the game after so many moves (`vauban.web.lines`) in our notation."""
        headers = self._headers()
        if len(board.history) > ply:
            headers["Line"] = f"own moves after move {ply}"
        if board.outcome() is None:
            headers |= {"Result": "*", "End": "unfinished"}
        return self.show.record(board, headers)

    def _headers(self) -> dict[str, str]:
        assert self.board is not None
        return {
            # Records name players as their game does.
            **{name.title(): self._record_name(player) for player, name in enumerate(self.board.game.players)},
            "Date": time.strftime("%Y-%m-%d", time.localtime(self.at)),
        }

    def _record_name(self, player: int) -> str:
        sitter = self.sitters[player]
        return sitter.name or ("person" if not sitter.is_machine else sitter.agent)

    # ── What can be asked for ────────────────────────────────────────────────────────────────────

    def join(self, secret: str) -> str:
        """Take the seat of the invitation, which this secret opens from now on; return the seat.

        The same secret may ask again: the answer may have been lost on its way.
        """
        if self.invitation is None:
            raise TableError("invitation", "Nobody is invited to this game.")
        seat = self.invitation["seat"]
        if self.invited is not None:
            self._happen({"what": "joined", "by": SIDES.index(seat), "secret": hashed(secret)})
        elif not self.admits(seat, secret):
            raise TableError(
                "invitation", "This invitation has been taken: it opens the seat once, in the browser that came first."
            )
        return seat

    def give_name(self, seat: str, name: str) -> None:
        """Take a person's name, for the other side and for records."""
        player = self._player(seat)
        tidy = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())[:MOST_NAME]
        if self.kind not in ("level", "friend") or self.over is not None:
            raise TableError("name", "Nobody can take a name in this game, or not any more.")
        if tidy != self.sitters[player].name:
            self._happen({"what": "name", "by": player, "name": tidy})

    def give_setup(self, seat: str, text: str, salt: str | None = None) -> None:
        """Take a side's setup, in its own view; it may change until both are there. `salt`: for a machine's promise."""
        player = self._player(seat)
        if self.board is not None or self.over is not None:
            raise TableError("phase", "The game has begun: setups can no longer be changed.", "phase.begun")
        setup = self.show.read_setup(self.variant, text)
        self.show.check_first(self.variant, setup)
        self._happen({"what": "setup", "by": player, "setup": setup, "salt": salt})

    def move(self, seat: str, text: str, spent: int = 0) -> None:
        """Make a move, given as text; `spent` is how long it took, in milliseconds."""
        self._on_turn(seat)
        if self.look_at_time(spent):
            return
        self._happen({"what": "move", "move": self.show.read_move(self.board, text), "ms": spent})

    def resign(self, seat: str) -> None:
        """Give the game up."""
        player = self._playing(seat)
        self._end(End(1 - player, "resigned"))

    def claim(self, seat: str, away: float | None) -> None:
        """Claim the win: the other side has been on turn and away for so many seconds (None: it is there)."""
        player = self._playing(seat)
        if self.kind != "friend" or self.turn == player or away is None or away < 60 * self.absence:
            raise TableError(
                "claim", "The win can be claimed when a friend on turn has been away for as long as agreed."
            )
        self._end(End(player, "absent"))

    @property
    def whole_left(self) -> int | None:
        """Milliseconds that are left of the whole game, from the beginning of this move; None if there is no limit."""
        return None if self.clock.whole is None else max(0, self.clock.whole - self.elapsed)

    @property
    def time_left(self) -> int | None:
        """Milliseconds after which time ends the game, from the beginning of this move; None if there is no limit."""
        limits = (self.clock.left(self.banks, self.turn), self.whole_left)
        return min((limit for limit in limits if limit is not None), default=None)

    def look_at_time(self, spent: int) -> bool:
        """End the game if time is up after the side on turn has thought for so many milliseconds; say whether it is."""
        left = self.time_left
        if left is None or spent < left:
            return False
        self.flag_falls(self.turn if self.clock.left(self.banks, self.turn) == left else None)
        return True

    def flag_falls(self, player: int | None) -> None:
        """End the game: a player's time is up; None: that of the whole game is, and it is a draw."""
        self._playing(SIDES[self.turn])
        self._end(End(None if player is None else 1 - player, "time"))

    def keep_time(self, spent: int) -> None:
        """Note how many milliseconds the side on turn has thought, before the server ends."""
        self._playing(SIDES[self.turn])
        self._happen({"what": "spent", "ms": spent})

    def forfeit(self, player: int, text: str) -> None:
        """End the game: a machine gave no legal answer; `text` says what went wrong."""
        self._playing(SIDES[player])
        self._end(End(1 - player, "illegal", text))

    def break_off(self, text: str) -> None:
        """End the game without a result: a machine cannot go on with it, and nobody is to blame; `text` says why."""
        self._playing(SIDES[self.turn])
        self._end(End(None, "unfinished", text))

    def offer_draw(self, seat: str) -> None:
        """Ask for a draw."""
        player = self._playing(seat)
        if self.offer is not None:
            raise TableError("offer", "There is an offer already: it has to be answered first.")
        last = self.offered[player]
        if last is not None and self.plies - last < OFFER_PAUSE:
            wait = OFFER_PAUSE - (self.plies - last)
            text = f"You have offered a draw not long ago: wait {wait} more {moves_word(wait)}."
            raise TableError("offer", text, "offer.soon", wait=wait)
        self._happen({"what": "offer", "kind": "draw", "by": player})

    def take_back(self, seat: str, spent: int = 0) -> None:
        """Take back to this side's last turn: at once where no other person minds, else if the other agrees.

        `spent` is how long the side on turn has thought, in milliseconds.
        """
        player = self._playing(seat)
        assert self.board is not None
        if not self.takebacks:
            raise TableError("take_back", "Moves cannot be taken back in this game.")
        begun = 0 if self.played_on is None else self.played_on["ply"]
        if not any(played.player == player for played in self.board.history[begun:]):
            raise TableError("take_back", "There is no move of yours to take back.", "take_back.none")
        self._check_time(player, spent)
        if self.kind != "friend":
            self._happen({"what": "took_back", "by": player, "ms": spent})
            return
        if self.offer is not None:
            raise TableError("offer", "There is an offer already: it has to be answered first.")
        last = self.asked_back[player]
        if last is not None and self.plies - last < TAKE_BACK_PAUSE:
            wait = TAKE_BACK_PAUSE - (self.plies - last)
            text = f"You have asked to take back not long ago: wait {wait} more {moves_word(wait)}."
            raise TableError("offer", text, "take_back.soon", wait=wait)
        self._happen({"what": "offer", "kind": "take_back", "by": player})

    def answer(self, seat: str, kind: str, accept: bool, why: str | None = None, spent: int = 0) -> None:
        """Answer an offer of the other side; `why` is a machine's reason, in a word (`vauban.web.thinking`).

        `spent` is how long the side on turn has thought, in milliseconds.
        """
        player = self._playing(seat)
        if self.offer is None or self.offer.kind != kind or self.offer.by == player:
            raise TableError("offer", "There is no such offer to answer.", "offer.none")
        by = self.offer.by
        if accept and kind == "take_back":
            self._check_time(by, spent)
        self._happen({"what": "answer", "kind": kind, "by": player, "accept": accept, "why": why})
        if accept and kind == "draw":
            self._end(End(None, "agreed"))
        elif accept:
            self._happen({"what": "took_back", "by": by, "ms": spent})

    def pause(self, seat: str, paused: bool) -> None:
        """Let the machines wait, or go on."""
        self._watching(seat)
        if paused != self.paused:
            self._happen({"what": "paused", "paused": paused})

    def set_pace(self, seat: str, pace: str) -> None:
        """Have the machines play at one of the `PACES`."""
        self._watching(seat)
        if pace not in PACES:
            raise TableError("message", f"There is no pace {pace[:20]!r}: {', '.join(PACES)}.")
        if pace != self.pace:
            self._happen({"what": "pace", "pace": pace})

    def stop(self, seat: str) -> None:
        """End a game of two machines before its end: nobody has won."""
        self._watching(seat)
        self._end(End(None, "unfinished"))

    def wish_rematch(self, seat: str, keep: bool = True) -> bool:
        """Wish to play again; true if all people at the table do now, and none has been made yet.

        `keep`: against a machine, with the same setup; else one is asked for.
        """
        if self.over is None or self.kind == "import":
            raise TableError("phase", "There can be a rematch when the game is over.")
        player = 0 if seat == WATCH and self.kind == "watch" else self._player(seat)
        if player not in self.wishes:
            self._happen({"what": "wish", "by": player, "keep": keep})
        people = {place for place, sitter in enumerate(self.sitters) if not sitter.is_machine}
        wanted = people if self.kind == "friend" else {player}
        return self.follower is None and wanted <= self.wishes

    def follow(self, game: str, seats: Mapping[str, Mapping[str, str]]) -> None:
        """Note the table of the rematch; `seats`: by seat here, the seats there, each with the seat here that the same
        secret opens."""
        self._happen({"what": "follow", "game": game, "seats": {seat: dict(there) for seat, there in seats.items()}})

    # ── Inside ───────────────────────────────────────────────────────────────────────────────────

    def _player(self, seat: str) -> int:
        if seat not in SIDES:
            raise TableError("seat", "An onlooker cannot play.")
        return SIDES.index(seat)

    def _playing(self, seat: str) -> int:
        player = self._player(seat)
        if self.over is not None:
            raise TableError("over", "The game is over.")
        if self.board is None:
            raise TableError("phase", "The game has not begun: a setup is missing.", "phase.setup")
        return player

    def _watching(self, seat: str) -> None:
        if self.kind != "watch" or seat != WATCH:
            raise TableError("seat", "Only the person who began a game of two machines can hold it up.")
        if self.over is not None:
            raise TableError("over", "The game is over.")

    def _on_turn(self, seat: str) -> int:
        player = self._playing(seat)
        if self.turn != player:
            raise TableError("turn", "It is not your turn.")
        return player

    def _end(self, end: End) -> None:
        self._happen({"what": "end", **asdict(end)})

    def _happen(self, event: Event) -> None:
        self._apply(event)
        self.events.append(event)

    def _apply(self, event: Event) -> None:
        turn, what = self.turn, event["what"]
        if what == "setup":
            self._apply_setup(event)
        elif what == "joined":
            self.hashes[SIDES[event["by"]]] = _kept(event["secret"])
            self._begin()
        elif what == "name":
            red, blue = (
                replace(sitter, name=event["name"]) if player == event["by"] else sitter
                for player, sitter in enumerate(self.sitters)
            )
            self.sitters = (red, blue)
        elif what == "move":
            self._apply_move(event)
        elif what == "took_back":
            self._apply_take_back(event["by"], event.get("ms"))
        elif what == "offer":
            self.offer = Offer(event["kind"], event["by"])
            self.note = None
            if event["kind"] == "draw":
                self.offered[event["by"]] = self.plies
            else:
                self.asked_back[event["by"]] = self.plies
        elif what == "answer":
            self.offer = None
            told = {key: event[key] for key in ("kind", "accept", "why")} | {"by": SIDES[event["by"]]}
            self.note = None if told["accept"] and told["why"] is None else told
        elif what == "end":
            self.over = End(event["winner"], event["end"], event["text"])
            self.offer = None
        elif what == "paused":
            self.paused = event["paused"]
        elif what == "pace":
            self.pace = event["pace"]
        elif what == "spent":
            self.used = event["ms"]
        elif what == "wish":
            self.wishes.add(event["by"])
            self.keeps_setup = event["keep"]
        else:
            self.follower = {"game": event["game"], "seats": event["seats"]}
        if self.turn != turn and what != "took_back":
            self.used = 0

    def _apply_setup(self, event: Event) -> None:
        self.setups[event["by"]] = event["setup"]
        self.salts[event["by"]] = event["salt"]
        self._begin()

    def _begin(self) -> None:
        """Begin the game if nothing is missing: both setups, or, without setups, an invited friend."""
        if not self.has_setups:
            ready = self.invited is None
        else:
            ready = None not in self.setups
        if ready:
            self.board = self.show.begin(self.variant, self.rules, (self.setups[0], self.setups[1]), self.seed)
            self._judge()

    def _apply_move(self, event: Event) -> None:
        assert self.board is not None
        self.times.append((self.banks[self.turn], event["ms"]))
        self.banks = self.clock.spend(self.banks, self.turn, event["ms"])
        self.elapsed += event["ms"]
        # An offer lapses when the side that was asked moves instead; one to take a move back, with any move.
        if self.offer is not None and (self.offer.by != self.turn or self.offer.kind == "take_back"):
            self.offer = None
        # An answer counts even if its side moves right after it.
        if self.note is not None and self.note["by"] != SIDES[self.turn]:
            self.note = None
        # Games that were kept before moves were texts have two squares.
        self.board.push(event["move"] if "move" in event else event["from"] + event["to"])
        self._judge()

    def _taken_back(self, player: int, spent: int) -> tuple[int, int, int]:
        """Return how many moves a take-back takes, the bank of its player before them, and the time used since then."""
        assert self.board is not None
        number = next(n for n, played in enumerate(reversed(self.board.history), 1) if played.player == player)
        bank, ms = self.times[-number]
        return number, bank, ms + (spent if self.turn == player else 0)

    def _check_time(self, player: int, spent: int) -> None:
        """Refuse a take-back after which there would be no time left: what was thought is not given back."""
        _, bank, used = self._taken_back(player, spent)
        if self.clock.is_up((bank, bank), player, used):
            text = "What was thought about these moves counts, and no time would be left."
            raise TableError("take_back", text, "take_back.time")

    def _apply_take_back(self, player: int, spent: int | None) -> None:
        """Take moves back. Their player has used up their time all the same, as if still thinking about the first.

        The other side's time stays used, too. In games that were kept earlier (`spent` is None) the clock began anew.
        """
        assert self.board is not None
        turn = self.turn
        number, bank, used = self._taken_back(player, spent or 0)
        for _ in range(number):
            self.board.pop()
            self.times.pop()
        if spent is None:
            self.used = self.used if self.turn == turn else 0
        else:
            self.banks = (bank, self.banks[1]) if player == 0 else (self.banks[0], bank)
            self.elapsed += spent - used
            self.used = used
        self.took_back = True
        self.firm = self.plies if self.firm is None else min(self.firm, self.plies)
        self.offer = None
        self.note = None
        self.offered = [None if last is None else min(last, self.plies) for last in self.offered]
        self.asked_back = [None if last is None else min(last, self.plies) for last in self.asked_back]

    def _judge(self) -> None:
        assert self.board is not None
        outcome = self.board.outcome()
        if outcome is not None:
            self.over = End(outcome.winner, outcome.end)
            self.offer = None

    def _import(self, record: str) -> None:
        game = self.show.read_record(record)
        self.board, self.setups = game.board, list(game.setups)
        self.over = End(game.winner, game.end)
