"""`Host`: all tables of a server. The glue between tables, the shelf, thinking agents, and their clients.

A table that somebody sits at is in memory, in a `Room`; all others are on the shelf alone. Every change goes the
same way: a command changes the table, its new events go onto the shelf, then everybody at it is shown what they may
see, and whoever is to think now begins to. Runs in one event loop; nothing here waits for anything slow.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vauban import __version__
from vauban.errors import VaubanError
from vauban.web import sight as wall
from vauban.web.commitment import new_salt
from vauban.web.imports import imported
from vauban.web.levels import Level, find_level, has_learned, learned_agents, travels, with_anybody
from vauban.web.lines import position_json, read_line, read_position, setup_pieces
from vauban.web.logs import tell
from vauban.web.offer import find_offered
from vauban.web.programs import CannotGoOnError, NoRoomError, Programs
from vauban.web.reviews import Reviews, far_reviewers
from vauban.web.rooms import Client, Room, numbered
from vauban.web.shelf import ConflictError, Shelf, ShelfError, UnreadableError
from vauban.web.show import SIDES, Show, TableError, check_scripts, offered, show_of
from vauban.web.table import PACES, PERSON, SEATS, WATCH, Event, Sitter, Table, new_table
from vauban.web.thinking import ChooseMove, ChooseSetup, DrawHidden, WarmUp, WeighDraw, thinkers
from vauban.web.wishes import read_absence, read_rules, read_side, read_switch, read_words, read_yes
from vauban.words import sentence
from vauban.work.base import BusyError
from vauban.work.pool import Pool
from vauban.work.relay import Cluster, Relay, keep_connected

Json = dict[str, Any]

QUICK_SECONDS = 0.05
"""Agents that move within this time and load no network share processes of their own, so that they never wait long."""
SETUP_SECONDS = 120.0
"""For a setup: the first one may have to wait until kernels are compiled."""
MOVE_SECONDS = 120.0
"""For a move at least; else twenty times what the agent usually takes."""
RECENT_PLIES = 10_000
"""Plies of finished games kept in memory, all together: looking back on a game takes many requests."""

GAME_ID = re.compile(r"[A-Za-z0-9_-]{8,40}")
SECRET = re.compile(r"[A-Za-z0-9_-]{32,64}")
"""The form of a secret that a browser may choose."""

log = logging.getLogger("vauban.web")


class NoSuchGameError(VaubanError):
    """The game or the secret is wrong: the error does not tell which."""

    def __init__(self) -> None:
        super().__init__("There is no such game, or this link does not open it.")


@dataclass(frozen=True)
class Settings:
    """Settings of a server."""

    delay: float = 0.35
    """Seconds from when an agent is on turn before its move is shown, however quickly it was found."""
    watch_delay: float = 0.8
    """The same between moves of two agents."""
    absence: float = 5.0
    """Seconds before agents stop thinking when the last watcher has left: a page may be reloaded."""
    patience: float = 90.0
    """Seconds before a review that nobody asks for any more is given up: hidden pages ask once a minute."""
    bot_time: float = 2.0
    """Seconds that a program has for an answer."""
    prefix: str = ""
    """Beginning of the names of games made here: by it a proxy before several servers knows whose a game is."""
    workers: int = 2
    """Number of processes for agents that think long, and for the others."""
    warm_up: bool = True
    """Whether workers load agents before the first game."""


class Host:
    """All tables of a server."""

    def __init__(
        self,
        shelf: Shelf,
        levels: Sequence[Level],
        settings: Settings | None = None,
        more: Sequence[str] = (),
        cluster: Cluster | None = None,
    ) -> None:
        """`more`: games that are offered beside the usual ones, as `vauban.games.base.game` names them.

        `cluster`: where strong levels think and games are looked back on; the host leaves it in the end.
        """
        check_scripts()
        self.shelf = shelf
        self._closed = False
        self.games = tuple(dict.fromkeys((*offered(), *more)))
        for name in more:
            show_of(name)  # refuses what is no game, before anything is served
        self.levels = with_anybody(levels, self.games)
        self.settings = settings or Settings()
        # Long thinking and looking back have processes of their own: no other game waits for them.
        self.quick = thinkers(self.settings.workers, warm_ups=self._warm_ups(True))
        warm_ups = self._warm_ups(False)
        self.deep = thinkers(self.settings.workers, warm_ups=() if cluster else warm_ups)
        self.cluster = cluster
        self.far: Relay | None = None
        if cluster is not None:
            workers = max(1, cluster.workers - far_reviewers(cluster))
            self.far = Relay(cluster, thinkers(workers, warm_ups=warm_ups, hire=cluster.hire), self.deep)
        self.programs = Programs(
            {level.agent(name) for level in self.levels if level.stays for name in self.games if level.plays(name)},
            self.settings.bot_time,
        )
        self.reviews = Reviews(shelf, self.levels, self.settings.patience, cluster)
        self.rooms: dict[str, Room] = {}
        self._recent: OrderedDict[str, Table] = OrderedDict()
        """Finished games that somebody looked at not long ago."""
        self._reading: dict[str, asyncio.Task[Table]] = {}
        """Tables that are being read from the shelf, by game."""
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start the worker processes."""
        for each in self._thinkers():
            each.start()
        if self.cluster is not None:
            self._tell_of_cluster(True)
            self._spawn(keep_connected(self.cluster, self._tell_of_cluster))

    async def close(self) -> None:
        """Stop everything; all that matters is on the shelf."""
        for room in self.rooms.values():
            if room.flag is not None:
                room.flag.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for room in self.rooms.values():
            self._keep_time(room)
        for each in (*self._thinkers(), self.programs):
            await each.close()
        if self.cluster is not None:
            await asyncio.to_thread(self.cluster.close)
        self._closed = True
        self.shelf.close()

    def health(self) -> Json:
        """Return how busy the server is; raises a `ShelfError` if games cannot be read."""
        self.shelf.check()
        far, cluster = self.far.waiting if self.far else 0, None
        if self.cluster is not None:
            cluster = {"connected": self.cluster.connected, "workers": self.cluster.workers}
        waiting = {
            "quick": self.quick.waiting, "deep": self.deep.waiting + far, "reviews": self.reviews.waiting,
        }  # fmt: skip
        return {
            "version": __version__, "tables": len(self.rooms), "waiting": waiting, "programs": self.programs.running,
            "cluster": cluster,
        }  # fmt: skip

    def _thinkers(self) -> list[Pool | Relay | Reviews]:
        """Return all that thinks, in the order in which it can be closed."""
        return [*([self.far] if self.far else []), self.reviews, self.quick, self.deep]

    def _tell_of_cluster(self, connected: bool) -> None:
        assert self.cluster is not None
        tell("cluster", connected=connected, workers=self.cluster.workers)

    # ── Before a game ────────────────────────────────────────────────────────────────────────────

    async def draw_setup(self, wanted: Json, address: str = "") -> Json:
        """Draw a setup: at random, as people make them, or by a network, in the turn of this address."""
        variant, kind = find_offered(wanted.get("variant"), self.games), wanted.get("kind")
        seed = secrets.randbits(62)
        if kind in ("random", "human"):
            # A millisecond's work, and the first thing that every page asks for: no process has to start for it.
            return {"setup": await asyncio.to_thread(show_of(variant).draw_setup, variant, kind, seed)}
        if kind != "model":
            raise TableError("kind", f"There is no setup of the kind {kind!r}: random, human or model.")
        learned = learned_agents(variant, self.levels)
        if not learned:
            raise TableError("model", f"No network here has learned to set up {variant}.", "model")
        return {"setup": await self._choose_setup(learned[-1], seed, variant, 0, address)}

    def check_setup(self, wanted: Json) -> Json:
        """Check a setup: return how it should be written, and what is odd about it."""
        variant = find_offered(wanted.get("variant"), self.games)
        return show_of(variant).check_setup(variant, wanted.get("setup"))

    async def make_game(self, wanted: Json, address: str = "") -> Json:
        """Make a table, in the turn of this address; return the secrets of the seats that the client may take."""
        variant = find_offered(wanted.get("variant"), self.games)
        against = wanted.get("against")
        kind = against.get("kind") if isinstance(against, dict) else None
        if kind not in ("level", "friend", "hotseat", "watch"):
            raise TableError("against", f"Nobody can be played against by {kind!r}: level, friend, hotseat or watch.")
        assert isinstance(against, dict)
        clock = wanted.get("clock")
        if clock is not None and not isinstance(clock, dict):
            raise TableError("clock", 'A clock is given as {"kind": "none"}, for instance.')
        if kind == "watch" and clock is not None and clock.get("kind") != "none":
            # It would run on while they are paused, or nobody watches, and nobody thinks.
            raise TableError("clock", "Two machines play without a clock: leave it out.")
        takebacks, aids = read_switch(wanted, "takebacks"), read_switch(wanted, "aids")
        side = read_side(wanted.get("side", "red"))
        sitters = [PERSON, PERSON]
        if kind == "level":
            sitters[1 - side] = self._machine(against.get("level"), variant)
        elif kind == "watch":
            sitters = [self._machine(against.get(player), variant) for player in SIDES]
        invited = SIDES[1 - side] if kind == "friend" else None
        show = show_of(variant)
        # Protocols of programs have no message for a move that is taken back.
        takebacks = takebacks and not any(sitter.stays for sitter in sitters)
        rules = read_rules(wanted, show.switches(variant))
        made = new_table(
            variant, kind, (sitters[0], sitters[1]), clock, takebacks, aids,
            invited=invited, rules=rules, absence=read_absence(wanted),
        )  # fmt: skip
        own = None
        if kind == "level" and show.has_setups(variant, rules):
            own = show.read_setup(variant, wanted.get("setup"))
        table = await self._new_table(made, {side: own} if own is not None else {}, address=address)
        answer: Json = {"game": table.game, "seats": made["secrets"]}
        if invited is not None:
            answer["friend"] = made["invitation"] | {"invitation": made["invitation"]["token"]}
        return answer

    async def join(self, game: str, wanted: Json) -> Json:
        """Take a friend's seat by an invitation, which opens it once. The friend's browser chooses the secret.

        So nobody else ever sees it, and a browser that has lost the answer can ask again.
        """
        token, secret = read_words(wanted, "invitation"), read_words(wanted, "secret")
        if not SECRET.fullmatch(secret):
            raise TableError("message", "A secret has 32 to 64 letters, digits, - and _, drawn by lot.")
        table = await self._load(game)
        if table is None or not table.invites(token):
            raise NoSuchGameError
        room = self._room(table)
        try:
            seat = table.join(secret)
            self._changed(room)
        finally:
            self._tidy(room)
        return {"game": game, "seats": {seat: secret}}

    async def import_game(self, text: str) -> Json:
        """Make a table of a recorded game, to look back on."""
        found = await asyncio.to_thread(imported, text, self.games)
        sitters = (Sitter("person", found.names[0]), Sitter("person", found.names[1]))
        made = new_table(found.variant, "import", sitters, record=found.record)
        table = await self._new_table(made, {})
        return {"game": table.game, "seats": made["secrets"], "games": found.games, "family": table.show.family}

    async def analyse(self, wanted: Json) -> Json:
        """Make a table of a position that somebody has put together, to make moves on; return what imports do."""
        variant = find_offered(wanted.get("variant"), self.games)
        board = await asyncio.to_thread(read_position, variant, wanted)
        record = show_of(variant).record(board, {"Result": "*", "End": "unfinished"})
        made = new_table(variant, "import", (PERSON, PERSON), record=record)
        table = await self._new_table(made, {})
        return {"game": table.game, "seats": made["secrets"], "games": 1, "family": table.show.family}

    async def read_position(self, wanted: Json) -> Json:
        """Return a position that somebody puts together as text and pieces; or the pieces of one side's setup."""
        variant = find_offered(wanted.get("variant"), self.games)
        if "setup" in wanted:
            return setup_pieces(variant, wanted)
        return position_json(variant, await asyncio.to_thread(read_position, variant, wanted))

    async def play_on(self, table: Table, wanted: Json, address: str = "") -> Json:
        """Make a game against a level that goes on from a position of a finished one; return what `make_game` does.

        `moves` of one's own may have been made from there.
        """
        ply, pieces, own = wanted.get("ply"), wanted.get("pieces"), wanted.get("moves", [])
        if type(ply) is not int or not 0 <= ply <= table.plies:
            raise TableError("ply", f"The game has {table.plies} moves, and no move {str(ply)[:20]!r}.")
        if not isinstance(own, list) or not all(isinstance(move, str) for move in own):
            raise TableError("message", "'moves' are texts of moves.")
        if pieces not in ("true", "drawn"):
            raise TableError("pieces", f"Pieces are as they were, or drawn anew: true or drawn, not {pieces!r}.")
        side = read_side(wanted.get("side", "red"))
        sitters = [PERSON, PERSON]
        sitters[1 - side] = self._machine(wanted.get("level"), table.variant)
        if sitters[1 - side].stays:
            text = "A program plays a game from its beginning only: choose another opponent to play on."
            raise TableError("level", text, "level.program")
        show = table.show
        board = await asyncio.to_thread(read_line, table, ply, own)
        if board.outcome() is not None:
            raise TableError("ply", "The game is over here: nothing is left to play.", "ply.over")
        hidden: Mapping[int, int] = {}
        if pieces == "drawn":
            task = DrawHidden(table.variant, board.view(side), secrets.randbits(62))
            hidden = await self.quick.ask(task, SETUP_SECONDS, owner=address)
        players, origin = (sitters[0], sitters[1]), {"ply": len(board.history), "pieces": pieces}
        if None in show.setups_of(board):
            # It began in the middle of a game: no setups lead there.
            start = await asyncio.to_thread(_unfinished_record, show, board, hidden)
            made = new_table(
                table.variant, "level", players, rules=table.rules_played, played_on=origin, start=start
            )  # fmt: skip
            there = await self._new_table(made, {}, address=address)
            return {"game": there.game, "seats": made["secrets"]}
        setups = show.setups_at(board, hidden)
        rules = show.rules_with_setups(table.variant, table.rules_played)
        made = new_table(table.variant, "level", players, rules=rules, played_on=origin)
        moves = [show.played_text(board, played) for played in board.history]
        there = await self._new_table(made, dict(enumerate(setups)), moves, address)
        return {"game": there.game, "seats": made["secrets"]}

    def _machine(self, key: Any, variant: str) -> Sitter:
        level = find_level(key, variant, self.levels)
        agent, seed = level.agent(variant), secrets.randbits(62)
        return Sitter("machine", level.name, level.key, agent, seed, level.seconds, level.stays)

    def _warm_ups(self, quick: bool) -> list[WarmUp]:
        if not self.settings.warm_up:
            return []
        playing = [
            (level.agent(variant), variant, level.seconds)
            for variant in self.games
            for level in self.levels
            if level.plays(variant) and not level.stays
        ]
        wanted = [
            WarmUp(agent, variant)
            for agent, variant, seconds in playing
            # Of other games than the usual one, what takes seconds to load.
            if _is_quick(agent, seconds) == quick and (variant == self.games[0] or has_learned(agent))
        ]
        return list(dict.fromkeys(wanted))

    def _thinking(self, agent: str, variant: str, seconds: float = 0.0) -> Pool | Relay:
        """Return where an agent thinks about what usually takes it so long."""
        if _is_quick(agent, seconds):
            return self.quick
        return self.far if self.far and travels(variant, [agent], self.levels) else self.deep

    async def _choose_setup(self, agent: str, seed: int, variant: str, player: int, address: str) -> str:
        task = ChooseSetup(agent, seed, variant, player)
        return await self._thinking(agent, variant).ask(task, SETUP_SECONDS, owner=address)

    async def _new_table(
        self, made: Event, setups: Mapping[int, str], moves: Sequence[str] = (), address: str = ""
    ) -> Table:
        """Put a table on the shelf, with the known setups, those that its machines choose, and these moves."""
        made = made | {"game": self.settings.prefix + made["game"]}
        # A long game takes a while to read: not while all other games wait.
        table = await asyncio.to_thread(Table.made, made)
        try:
            await self._set_up(table, setups, address)
            if moves:
                await asyncio.to_thread(_make_moves, table, moves)
            self.shelf.append(table.game, 0, table.events)
        except BaseException:
            self.programs.end(table)  # nobody will ever come to this table
            raise
        self.programs.leave(table)  # until somebody comes
        # Of an agent that the host named no text is written down: it may be a command with a password.
        levels = ["own" if each.level.startswith("own:") else each.level or each.who for each in table.sitters]
        tell("game made", kind=table.kind, game=table.variant, levels=levels)
        self._remember(table)
        return table

    async def _set_up(self, table: Table, setups: Mapping[int, str], address: str) -> None:
        """Give a new table the known setups, and those that its machines choose."""
        known = dict(setups)
        for player, sitter in enumerate(table.sitters):
            if sitter.stays:
                setup = await self.programs.begin(table, player, address)
                known |= {} if setup is None else {player: setup}
            elif sitter.is_machine and player not in known and table.has_setups:
                known[player] = await self._choose_setup(sitter.agent, sitter.seed, table.variant, player, address)
        for player, setup in known.items():
            table.give_setup(SIDES[player], setup, new_salt() if table.sitters[player].is_machine else None)

    # ── After a game ─────────────────────────────────────────────────────────────────────────────

    async def finished(self, game: str, secret: str) -> Table:
        """Return a table whose game is over, for the secret of any of its seats; refuse all others."""
        table = await self._load(game)
        if table is None or not table.knows(secret):
            raise NoSuchGameError
        if table.over is None:
            raise TableError("phase", "The game is not over yet.", "phase.running")
        return table

    # ── At a table ───────────────────────────────────────────────────────────────────────────────

    async def sit(
        self,
        client: Client,
        game: str,
        seat: str,
        secret: str,
        have: int = 0,
        eyes: str | None = None,
        browser: str | None = None,
    ) -> None:
        """Seat a client at a table, by the secret of the seat; a watcher may look on with the eyes of a side.

        `browser` is a name by which a seat's owner is told of other browsers on the seat.
        """
        table = await self._load(game)
        if table is None or seat not in SEATS or not table.admits(seat, secret):
            raise NoSuchGameError
        if eyes is not None and (seat != WATCH or eyes not in SIDES):
            raise TableError("eyes", "Only an onlooker can choose the eyes of red or blue; a player sees its own side.")
        room = self._room(table)
        if client.room is not room:
            self.leave(client)
        client.sit(room, seat, table.owns(seat, secret), have, eyes, browser)
        room.clients.add(client)
        room.address = client.address
        self._note_presence(room)
        self._go_on(room)

    def leave(self, client: Client) -> None:
        """Remove a client from its table."""
        room, client.room = client.room, None
        if room is not None:
            room.clients.discard(client)
            self._note_presence(room)
            if room.table.kind == "watch" and room.thinking is not None:
                asyncio.get_running_loop().call_later(self.settings.absence, self._rest, room)
            self._tidy(room)

    def do(self, client: Client, message: Json) -> None:
        """Carry out a client's message, and answer it."""
        room, seat = client.room, client.seat
        if room is None:
            raise TableError("sit", "Sit down first.")
        table, what = room.table, message.get("do")
        number = message.get("n")
        number = number if isinstance(number, int | str) else None
        if what == "ping":
            client.reply(numbered({"say": "pong"}, number))
            return
        if what == "explain":
            client.reply(numbered(wall.explain(table, seat, read_words(message, "move")), number))
            return
        if not client.owns:
            text = "An onlooker by a link has no part in this game, nor in the next."
            raise TableError("seat", text, "seat.look")
        if what == "rematch":
            self._rematch(room, client, read_switch(message, "keep"), number)
            return
        if what == "step":
            self._step(room, client, number)
            return
        commands: dict[Any, Callable[[], None]] = {
            "setup": lambda: table.give_setup(seat, read_words(message, "setup")),
            "move": lambda: table.move(seat, read_words(message, "move"), self._spent(room)),
            "resign": lambda: table.resign(seat),
            "claim": lambda: table.claim(
                seat, room.absent(1 - SIDES.index(seat), time.time()) if seat in SIDES else None
            ),
            "name": lambda: table.give_name(seat, read_words(message, "name")),
            "offer_draw": lambda: table.offer_draw(seat),
            "answer_draw": lambda: table.answer(seat, "draw", read_yes(message, "accept")),
            "take_back": lambda: table.take_back(seat, self._spent(room)),
            "pause": lambda: table.pause(seat, read_yes(message, "paused")),
            "pace": lambda: table.set_pace(seat, read_words(message, "pace")),
            "stop": lambda: table.stop(seat),
            "answer_take_back": lambda: table.answer(
                seat, "take_back", read_yes(message, "accept"), spent=self._spent(room)
            ),
        }
        if not isinstance(what, str) or what not in commands:
            raise TableError("do", f"There is nothing to do by the name {str(what)[:40]!r}.")
        commands[what]()
        client.show(number)
        self._changed(room)

    def look(self, client: Client) -> Json:
        """Return what a client may see now."""
        room = client.room
        assert room is not None
        table, thinking = room.table, None
        if room.thinking is not None and table.phase == "play":
            expected = table.sitters[table.turn].seconds
            seconds = round(time.monotonic() - room.since, 2)
            thinking = {"side": SIDES[table.turn], "seconds": seconds, "expected": expected}
        now = round(time.time(), 3)
        elsewhere, absence = room.is_elsewhere(client), _absence(room, now)
        return wall.sight(
            table, client.seat, self._spent(room), thinking, now, client.eyes, client.owns, elsewhere, absence
        )

    # ── Going on ─────────────────────────────────────────────────────────────────────────────────

    async def _load(self, game: str) -> Table | None:
        """Return the table of a game, None if there is none. All who wait for it get the same one."""
        table = self._in_memory(game)
        if table is not None:
            return table
        if game not in self._reading:
            events = self._events(game)
            if not events:
                return None
            # A long game takes a while to read: not while all other games wait.
            self._reading[game] = asyncio.create_task(asyncio.to_thread(_read_table, game, events))
            self._reading[game].add_done_callback(lambda _: self._reading.pop(game))
        read = await asyncio.shield(
            self._reading[game]
        )  # a caller that gives up waiting must not cancel it for the others
        table = self._in_memory(game) or read
        self._remember(table)
        return table

    def _in_memory(self, game: str) -> Table | None:
        room = self.rooms.get(game)
        if room is not None:
            return room.table
        if game in self._recent:
            self._recent.move_to_end(game)
            return self._recent[game]
        return None

    def _events(self, game: str) -> list[Event]:
        return self.shelf.events(game) if GAME_ID.fullmatch(game) else []

    def _remember(self, table: Table) -> None:
        """Keep a finished game in memory for a while."""
        if table.over is None:
            return
        self._recent[table.game] = table
        plies = sum(each.plies for each in self._recent.values())
        while plies > RECENT_PLIES and len(self._recent) > 1:
            plies -= self._recent.popitem(last=False)[1].plies

    def _room(self, table: Table) -> Room:
        """Return the room of a table; `_changed` or `_tidy` forgets it when nothing goes on in it."""
        room = self.rooms.get(table.game)
        if room is None:
            began = time.monotonic() - table.used / 1000
            room = self.rooms[table.game] = Room(table, len(table.events), began, table.turn)
            if table.kind == "friend":
                room.away = self.shelf.absences(table.game)
                changed = self.shelf.changed(table.game)
                room.changed = time.time() if changed is None else changed
            self.programs.stay(table)
        return room

    def _spent(self, room: Room) -> int:
        return int((time.monotonic() - room.began) * 1000)

    def _keep_time(self, room: Room) -> None:
        """Note how long the side on turn has thought: the server that reads this table again goes on from there."""
        if room.ticks:
            room.table.keep_time(self._spent(room))
            try:
                self.shelf.append(room.table.game, room.stored, room.table.events[room.stored :])
            except (ConflictError, ShelfError) as error:
                log.error("the time of a move that is being thought about could not be kept: %s", error)

    def _changed(self, room: Room) -> None:
        """Keep, show and continue a table that has changed."""
        table = room.table
        fresh = table.events[room.stored :]
        if fresh:
            try:
                self.shelf.append(table.game, room.stored, fresh)
            except (ConflictError, ShelfError):
                self._abandon(room)
                raise
            room.stored = len(table.events)
            room.changed = time.time()
        happened = {event["what"] for event in fresh}
        if table.over is not None and happened & {"move", "end"}:
            tell("game over", kind=table.kind, game=table.variant, end=table.over.end, moves=table.plies)
        if "setup" in happened or "took_back" in happened or table.turn != room.turn:
            room.began, room.turn = time.monotonic() - table.used / 1000, table.turn
        if table.over is not None:
            self.programs.end(table)
        elif happened & {"move"}:
            self.programs.follow(table)
        if happened & {"took_back", "end"} or (table.paused and "paused" in happened):
            self._stop_thinking(room)
        if table.offer is None and room.weighing is not None:
            room.weighing.cancel()
            room.weighing = None
        for client in room.clients:
            if "took_back" in happened:
                client.rewind(table.plies)
            client.show()
        self._go_on(room)

    def _go_on(self, room: Room) -> None:
        """Let the machine on turn think, start the clock, show the table to all who sit here."""
        table = room.table
        if room.flag is not None:
            room.flag.cancel()
            room.flag = None
        if table.phase == "play":
            wanted = table.kind != "watch" or (room.clients and (room.stepping or not table.paused))
            if table.sitters[table.turn].is_machine and room.thinking is None and wanted:
                room.since = time.monotonic()
                room.thinking = self._spawn(self._think(room))
            if table.offer is not None and table.offer.kind == "draw" and room.weighing is None:
                asked = 1 - table.offer.by
                if table.sitters[asked].is_machine:
                    room.weighing = self._spawn(self._weigh(room, asked))
            left = table.time_left
            if left is not None:
                wait = max(0.0, room.began + left / 1000 - time.monotonic())
                room.flag = asyncio.get_running_loop().call_later(wait + 0.001, self._look_at_clock, room)
        for client in room.clients:
            client.show()
        self._tidy(room)

    def _note_presence(self, room: Room) -> None:
        """Note which of two friends is away, and tell who is there."""
        table, before = room.table, dict(room.away)
        if table.kind != "friend" or table.over is not None or self._closed:
            return
        here = {client.seat for client in room.clients if client.owns}
        for side in table.hashes:
            if side in here:
                room.away.pop(side, None)
            else:
                room.away.setdefault(side, time.time())
            if room.away.get(side) != before.get(side):
                try:
                    self.shelf.keep_absence(table.game, side, room.away.get(side))
                except ShelfError as error:
                    log.error("%s", error)
        if room.away != before:
            for client in room.clients:
                client.show()

    def _step(self, room: Room, client: Client, number: Any) -> None:
        """Play one move of two machines, which wait before it and after it."""
        room.table.pause(client.seat, True)
        client.show(number)
        self._changed(room)
        room.stepping = True
        self._go_on(room)

    def _stop_thinking(self, room: Room) -> None:
        room.stepping = False
        if room.thinking is not None:
            room.thinking.cancel()
            room.thinking = None

    def _rest(self, room: Room) -> None:
        """Stop thinking if the last watcher has left."""
        if not room.clients:
            self._stop_thinking(room)
            self._tidy(room)

    def _tidy(self, room: Room) -> None:
        """Forget a room in which nothing goes on; the shelf has its table."""
        if room.is_idle and self.rooms.get(room.table.game) is room:
            del self.rooms[room.table.game]
            self.programs.leave(room.table)

    def _abandon(self, room: Room) -> None:
        """Drop a table that differs from the shelf, and send its clients away: they come back to what the shelf has."""
        if self.rooms.get(room.table.game) is room:
            del self.rooms[room.table.game]
        self._recent.pop(room.table.game, None)
        self.programs.end(room.table)
        for waiting in (room.thinking, room.weighing, room.flag):
            if waiting is not None:
                waiting.cancel()
        for client in list(room.clients):
            client.dismiss()

    def _look_at_clock(self, room: Room) -> None:
        """End the game if a clock has run out."""
        table = room.table
        room.flag = None
        if table.phase == "play" and table.look_at_time(self._spent(room)):
            self._changed(room)
        else:
            self._go_on(room)

    async def _think(self, room: Room) -> None:
        """Have a machine choose its move, and play it."""
        table = room.table
        assert table.board is not None
        player = table.turn
        sitter, side = table.sitters[player], SIDES[player]
        begun = time.monotonic()
        try:
            answer = await self._patiently(table, player, room.address)
            pause = self.settings.delay
            if table.kind == "watch":
                pause = 0.0 if room.stepping else PACES[table.pace] * self.settings.watch_delay
            # Without a pause, do not even sleep for no time: that costs a turn of the loop in every game.
            if begun + pause > time.monotonic():
                await asyncio.sleep(begun + pause - time.monotonic())
            if room.weighing is not None:  # the answer to an offered draw comes before the move
                await asyncio.wait({room.weighing})
            room.thinking, room.stepping = None, False
            if answer is None:
                table.resign(side)
            else:
                # Charge the pause too: else the clock would tell how quickly a move was found.
                table.move(side, answer, self._spent(room))
        except CannotGoOnError as error:
            room.thinking, room.stepping = None, False
            if table.phase == "play":
                table.break_off(sentence(error))
        except Exception as error:
            room.thinking, room.stepping = None, False
            if table.phase == "play":
                table.forfeit(player, f"{sitter.name} gave no legal move: {_reason(error)}")
        self._changed(room)

    async def _patiently(self, table: Table, player: int, address: str) -> str | None:
        """Ask a machine for its move, and ask again while the queue is full."""
        assert table.board is not None
        sitter = table.sitters[player]
        task = ChooseMove(sitter.agent, sitter.seed, table.variant, table.board.view(player))
        while True:
            try:
                if sitter.stays:
                    return await self.programs.answer(table, player, address)
                limit = max(MOVE_SECONDS, 20 * sitter.seconds)
                thinking = self._thinking(sitter.agent, task.variant, sitter.seconds)
                return await thinking.ask(task, limit, owner=address)
            except (BusyError, NoRoomError):
                await asyncio.sleep(0.5)

    async def _weigh(self, room: Room, player: int) -> None:
        """Have a machine answer the offer of a draw, judging from its own last turn."""
        table = room.table
        assert table.board is not None
        board = table.board.copy()
        while board.turn != player and board.history:
            board.pop()
        sitter = table.sitters[player]
        try:
            task = WeighDraw(sitter.agent, sitter.seed, table.variant, board.view(player))
            thinking = self._thinking(sitter.agent, table.variant, sitter.seconds)
            accept, why = await thinking.ask(task, SETUP_SECONDS, owner=room.address)
        except Exception as error:
            log.error("%s cannot answer an offer: %s", sitter.name, _reason(error))
            accept, why = False, "unable"
        room.weighing = None
        if table.phase == "play" and table.offer is not None and table.offer.kind == "draw":
            table.answer(SIDES[player], "draw", accept, why)
            self._changed(room)

    # ── Playing again ────────────────────────────────────────────────────────────────────────────

    def _rematch(self, room: Room, client: Client, keep: bool, number: Any) -> None:
        table = room.table
        wanted = table.wish_rematch(client.seat, keep)
        client.show(number)
        self._changed(room)
        if table.follower is not None:
            self._tell_of_rematch(room, client)
        elif wanted and not room.matching:
            room.matching = True
            self._spawn(self._make_rematch(room))

    async def _make_rematch(self, room: Room) -> None:
        """Make a table with the colours changed, and tell all at this one."""
        try:
            there = await self._rematch_table(room.table, room.address)
        except VaubanError as error:
            for client in room.clients:
                client.reply({"say": "error", "code": "rematch", "key": "rematch", "data": {}, "text": sentence(error)})
        else:
            room.table.follow(there.game, _rematch_seats(room.table))
            self._changed(room)
            for client in room.clients:
                self._tell_of_rematch(room, client)
        finally:
            room.matching = False
            self._tidy(room)

    async def _rematch_table(self, table: Table, address: str) -> Table:
        """Make the same table with the colours changed; against a machine a person may keep the setup."""
        red, blue = (replace(sitter, seed=secrets.randbits(62)) for sitter in table.sitters[::-1])
        clock = table.clock.as_json()
        hashes = {new: table.hashes[old] for there in _rematch_seats(table).values() for new, old in there.items()}
        made = new_table(
            table.variant, table.kind, (red, blue), clock, table.takebacks, table.aids,
            rules=table.rules, hashes=hashes, absence=table.absence,
        )  # fmt: skip
        own = {
            1 - player: setup
            for player, setup in enumerate(table.setups)
            if table.kind == "level" and table.keeps_setup and not table.sitters[player].is_machine and setup
        }
        return await self._new_table(made, own, address=address)

    def _tell_of_rematch(self, room: Room, client: Client) -> None:
        assert room.table.follower is not None
        follower = room.table.follower
        seats = follower["seats"].get(client.seat)
        if seats is not None and client.owns:  # clients that only look back have no seat there
            client.reply({"say": "rematch", "game": follower["game"], "seats": seats})

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a game could not go on", exc_info=task.exception())


def _rematch_seats(table: Table) -> dict[str, dict[str, str]]:
    """Return, by seat at a table, the seats of the rematch, each with the seat here that the same secret opens."""
    if table.kind == "hotseat":
        return {seat: {side: side for side in SIDES} for seat in SIDES}
    swapped = dict(zip(SIDES, SIDES[::-1], strict=True))
    return {seat: {swapped.get(seat, seat): seat} for seat in table.hashes}


def _absence(room: Room, now: float) -> Json | None:
    """Return what two friends are told of who is away: after how many seconds the win may be claimed, who is away, and
    how long the player on turn has been."""
    if room.table.kind != "friend":
        return None
    away = {side: side in room.away for side in SIDES}
    absent = room.absent(room.table.turn, now)
    return {"after": 60 * room.table.absence, "away": away, "absent": None if absent is None else round(absent, 1)}


def _read_table(game: str, events: Sequence[Event]) -> Table:
    try:
        return Table.replayed(events)
    except (VaubanError, KeyError, TypeError, ValueError) as error:
        log.error("game %s cannot be read from the shelf", game, exc_info=error)
        raise UnreadableError("This game was kept in a way that cannot be read any more.") from error


def _reason(error: Exception) -> str:
    """Return a sentence about an error; log one that was not expected."""
    if isinstance(error, VaubanError):
        return sentence(error)
    log.error("a machine could not go on", exc_info=error)
    return f"something went wrong at the server ({type(error).__name__})."


def _is_quick(agent: str, seconds: float) -> bool:
    return seconds <= QUICK_SECONDS and not has_learned(agent)


def _unfinished_record(show: Show, board: Any, hidden: Mapping[int, int]) -> str:
    """Return the record of a game that goes on with these hidden pieces."""
    return show.record(show.with_hidden(board, hidden), {"Result": "*", "End": "unfinished"})


def _make_moves(table: Table, moves: Sequence[str]) -> None:
    for move in moves:
        table.move(SIDES[table.turn], move)
