"""peternlewis: the first of twelve rules that applies.

`retreat=True` brings the fifth rule to life, which never fires in the real program.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from vauban.board import View
from vauban.notation.stratego.moves import Move

from .common import DOWN, IMMOBILE, LEFT, RANKS, RIGHT, UNKNOWN, UP, Direction, Draws, Sight, Unit

ORDER = "123456789s"
"""Strength order; a rank's place in it is its strength order number."""
ALL = frozenset(RANKS)
LOWLY = "5679"
TURNS = (DOWN, LEFT, UP, RIGHT)
MARSHAL_TABLE = "RARROAOO" "RARRRARR" "XAXAOAOO" "XAXAXAXA"  # fmt: skip
MEMORY = 1000

Ranks = Collection[str]


# ── Sets of ranks ────────────────────────────────────────────────────────────────────────────────


def movable(ranks: Ranks) -> set[str]:
    return {rank for rank in ranks if rank not in IMMOBILE}


def could_kill(r: str, ranks: Ranks) -> bool:
    """Return whether one of the ranks takes r, or falls with it."""
    s = movable(ranks)
    if r == "1":
        return bool(s & {"1", "s"})
    return any(ORDER.index(rank) <= ORDER.index(r) for rank in s)


def could_kill_safely(r: str, ranks: Ranks) -> bool:
    """Return whether one of the ranks takes r and lives."""
    s = movable(ranks)
    if r == "1":
        return "s" in s
    return any(ORDER.index(rank) < ORDER.index(r) for rank in s)


def will_kill(r: str, ranks: Ranks) -> bool:
    """Return whether r wins against every one of the ranks."""
    if r == "8":
        return set(ranks) <= {"9", "B", "F"}
    if r == "s":
        return set(ranks) == {"1"}
    return "B" not in ranks and not any(ORDER.index(rank) <= ORDER.index(r) for rank in movable(ranks))


def will_kill_or_tie(r: str, ranks: Ranks) -> bool:
    """Return the same, with equal ranks allowed."""
    if r == "8":
        return set(ranks) <= {"8", "9", "B", "F"}
    if r == "s":
        return set(ranks) <= {"1", "s"}
    return "B" not in ranks and not any(ORDER.index(rank) < ORDER.index(r) for rank in movable(ranks))


def sure_death(ranks: Ranks, r: str) -> bool:
    """Return whether whatever the enemy is, if it can move, r does not survive it."""
    s = movable(ranks)
    return bool(s) and all(ORDER.index(rank) <= ORDER.index(r) for rank in s)


def possible_ranks(unknown: Mapping[int, bool], hidden: Mapping[str, int]) -> dict[int, set[str]]:
    """Return the ranks that each unknown enemy may have, by which have moved and how many of each rank are hidden.

    A rank of which none is left goes from every set; a set of one identifies its piece, which may use up its rank.
    """
    left = {rank: hidden.get(rank, 0) for rank in ALL}
    sets = {square: set(ALL) - (set(IMMOBILE) if moved else set()) for square, moved in unknown.items()}
    identified: set[int] = set()
    changed = True
    while changed:
        changed = False
        gone = {rank for rank, count in left.items() if count == 0}
        for square, ranks in sets.items():
            if square in identified:
                continue
            ranks -= gone
            if len(ranks) == 1:
                identified.add(square)
                left[next(iter(ranks))] -= 1
                changed = True
    return sets


# ── The positions that it remembers ──────────────────────────────────────────────────────────────

Place = tuple[int, int, str]
"""A square, a player, and the rank as the bot knows it."""
Picture = frozenset[Place]


@dataclass
class Actor:
    """A piece while the game is gone through again."""

    player: int
    rank: str
    """As it is known at the end."""
    known: bool
    moved: bool


def _start(view: View) -> dict[int, Actor]:
    """Return the board before the first move of the history, found by taking the moves back."""
    board = {
        square: Actor(piece.player, UNKNOWN if piece.kind is None else RANKS[piece.kind], True, piece.moved)
        for square, piece in view.pieces().items()
    }
    for played in reversed(view.history):
        source, target = played.move
        battle = played.battle
        if battle is None or battle.result == ">":
            board[source] = board.pop(target)
        else:
            board[source] = Actor(played.player, RANKS[battle.attacker], True, True)
        if battle is not None and battle.result != "<":
            board[target] = Actor(1 - played.player, RANKS[battle.defender], True, False)
    # The history's facts about a piece were not known before it; the others were from the beginning.
    current = dict(board)
    for played in view.history:
        source, target = played.move
        actor = current[source]
        actor.moved = False
        involved = [actor, current[target]] if played.battle else [actor] * _is_long(view, played.move)
        for each in involved:
            each.known = False
        _apply(current, played.move, played.battle.result if played.battle else None)
    for actor in board.values():
        actor.known = actor.player == view.player or (actor.known and actor.rank != UNKNOWN)
    return board


def _is_long(view: View, move: Move) -> bool:
    (ay, ax), (by, bx) = (divmod(square, view.variant.columns) for square in move)
    return abs(ax - bx) + abs(ay - by) > 1


def _apply(board: dict[int, Actor], move: Move, result: str | None) -> None:
    actor = board.pop(move.source)
    if result == "=":
        del board[move.target]
    elif result != "<":
        board[move.target] = actor


def _picture(board: Mapping[int, Actor], player: int, hidden: Mapping[str, int]) -> Picture:
    """Return the board with ranks as the player knows them then; `hidden` counts what is hidden at the end."""
    unknown = {s: actor for s, actor in board.items() if not actor.known}
    counts = Counter(hidden)
    counts.update(actor.rank for actor in unknown.values() if actor.rank != UNKNOWN)
    sets = possible_ranks({square: actor.moved for square, actor in unknown.items()}, counts)
    ranks = {square: actor.rank for square, actor in board.items() if actor.known}
    ranks |= {square: next(iter(found)) if len(found) == 1 else UNKNOWN for square, found in sets.items()}
    return frozenset((square, actor.player, ranks[square]) for square, actor in board.items())


def remembered(view: View) -> list[Picture]:
    """Return the positions after own moves since the own last attack, as they looked then, oldest first."""
    hidden = {RANKS[kind]: count for kind, count in view.hidden_types().items()}
    board = _start(view)
    pictures: list[Picture] = []
    for played in view.history:
        actor = board[played.move.source]
        actor.moved = True
        if played.battle is not None:
            actor.known = board[played.move.target].known = True
        elif _is_long(view, played.move):
            actor.known = True
        _apply(board, played.move, played.battle.result if played.battle else None)
        if played.player != view.player:
            continue
        if played.battle is not None:
            pictures.clear()
        else:
            pictures.append(_picture(board, view.player, hidden))
    return pictures[-MEMORY:]


# ── A turn ───────────────────────────────────────────────────────────────────────────────────────


class Turn:
    """All data of the rules, and the rules."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.sight = Sight(view)
        unknown = {enemy.square: enemy.moved for enemy in self.sight.enemies if enemy.rank == UNKNOWN}
        self.sets: dict[int, set[str]] = {e.square: {e.rank} for e in self.sight.enemies if e.rank != UNKNOWN}
        self.sets |= possible_ranks(unknown, self.sight.hidden)
        self.memory = frozenset(remembered(view))

    # The places of pieces.

    def home_first(self, pieces: Iterable[Unit]) -> list[Unit]:
        """List pieces from the own back row to the far row, columns from left to right."""
        away = 1 if self.view.player == 0 else -1

        def place(unit: Unit) -> tuple[int, int]:
            x, y = self.sight.xy(unit.square)
            return away * y, x

        return sorted(pieces, key=place)

    def far_first(self, pieces: Iterable[Unit]) -> list[Unit]:
        """List pieces from the far row to the own back row, columns from left to right."""
        away = 1 if self.view.player == 0 else -1

        def place(unit: Unit) -> tuple[int, int]:
            x, y = self.sight.xy(unit.square)
            return -away * y, x

        return sorted(pieces, key=place)

    def own(self, ranks: str = ORDER) -> list[Unit]:
        """Return the own pieces of some ranks."""
        return [unit for unit in self.sight.units if unit.rank in ranks]

    def identified(self, enemy: Unit) -> bool:
        return len(self.sets[enemy.square]) == 1

    def enemies_beside(self, square: int) -> list[Unit]:
        near = self.sight.beside(square, TURNS)
        return [self.sight.enemy_at[each] for each in near if each in self.sight.enemy_at]

    def own_beside(self, square: int, ranks: str = ORDER) -> list[Unit]:
        near = self.sight.beside(square, TURNS)
        units = [self.sight.own_at[each] for each in near if each in self.sight.own_at]
        return [unit for unit in units if unit.rank in ranks]

    def unknown_beside(self, square: int) -> list[Unit]:
        return [enemy for enemy in self.enemies_beside(square) if not self.identified(enemy)]

    def d(self, square: int) -> set[str]:
        """Return the movable ranks that enemies beside a square may have."""
        return {rank for enemy in self.enemies_beside(square) for rank in movable(self.sets[enemy.square])}

    def k(self, square: int) -> set[str]:
        """Return the same of identified enemies only."""
        known = [enemy for enemy in self.enemies_beside(square) if self.identified(enemy)]
        return {rank for enemy in known for rank in movable(self.sets[enemy.square])}

    # Playable moves.

    def legal(self, piece: Unit, target: int) -> Move | None:
        move = Move(piece.square, target)
        return move if move in self.sight.legal else None

    def ok(self, piece: Unit, target: int) -> Move | None:
        """Return the move if it is legal and either attacks or makes a position that is not remembered."""
        move = self.legal(piece, target)
        if move is None or target in self.sight.enemy_at:
            return move
        own = {(unit.square, unit.rank) for unit in self.sight.units} - {(piece.square, piece.rank)}
        places = {(square, self.view.player, rank) for square, rank in own | {(target, piece.rank)}}
        for enemy in self.sight.enemies:
            rank = next(iter(self.sets[enemy.square])) if self.identified(enemy) else UNKNOWN
            places.add((enemy.square, 1 - self.view.player, rank))
        return None if frozenset(places) in self.memory else move

    def slide(self, piece: Unit, direction: Direction) -> Iterator[int]:
        """Yield the empty squares in a direction: the next one; for a scout any distance."""
        square = self.sight.step(piece.square, direction)
        while square is not None and self.sight.empty(square):
            yield square
            if piece.rank != "9":
                return
            square = self.sight.step(square, direction)

    def safe_square(self, piece: Unit) -> int | None:
        """Return the first square to run to: backwards, then on in the cycle of directions."""
        backwards = TURNS.index(UP if self.view.player == 0 else DOWN)
        for number in range(4):
            for square in self.slide(piece, TURNS[(backwards + number) % 4]):
                if not could_kill(piece.rank, self.d(square)):
                    return square
        return None

    def path(self, piece: Unit, target: int, very_safe: bool, ties_ok: bool) -> tuple[int, int] | None:
        """Return the length of the way to a square next to the target, and the square of its first step."""
        danger = self.d if very_safe else self.k
        kills = could_kill_safely if ties_ok else could_kill
        # For each square reached: its distance, and the square of the first step there.
        reached: dict[int, tuple[int, int]] = {piece.square: (0, target)}
        queue = deque([piece.square])
        while queue:
            square = queue.popleft()
            length, first = reached[square]
            if target in self.sight.beside(square):
                return length, first
            for near in self.sight.beside(square, TURNS):
                if near in reached or not self.sight.empty(near) or kills(piece.rank, danger(near)):
                    continue
                reached[near] = (length + 1, near if square == piece.square else first)
                queue.append(near)
        return None

    def manhattan(self, a: int, b: int) -> int:
        (ax, ay), (bx, by) = self.sight.xy(a), self.sight.xy(b)
        return abs(ax - bx) + abs(ay - by)

    def nearest(
        self,
        pairs: Iterable[tuple[Unit, Unit]],
        may: Callable[[Unit, int], Move | None],
        very_safe: bool,
        ties_ok: bool,
    ) -> Move | None:
        """Return the first step of the shortest path among pairs of an own piece and an enemy.

        A pair is passed over only if even the straight way is longer than the best path so far;
        one that is looked at and has a path becomes the best, even if its path is the longer one.
        """
        best: int | None = None
        chosen: Move | None = None
        for piece, enemy in pairs:
            if best is not None and self.manhattan(piece.square, enemy.square) > best:
                continue
            found = self.path(piece, enemy.square, very_safe, ties_ok)
            if found is None:
                continue
            move = may(piece, found[1])
            if move is not None:
                best, chosen = found[0], move
        return chosen

    # The rules.

    def spy_takes_marshal(self) -> Move | None:
        """Apply rule 1."""
        for spy in self.home_first(self.own("s")):
            for enemy in self.enemies_beside(spy.square):
                if self.sets[enemy.square] == {"1"} and (move := self.legal(spy, enemy.square)):
                    return move
        return None

    def marshal_in_danger(self) -> Move | None:
        """Apply rule 2."""
        spy_unidentified = any("s" in self.sets[e.square] and not self.identified(e) for e in self.sight.enemies)
        for marshal in self.home_first(self.own("1")):
            unknown = self.unknown_beside(marshal.square)
            if not spy_unidentified or not unknown:
                continue
            refuge = self.safe_square(marshal)
            for e in unknown:
                lowly = self.own_beside(e.square, LOWLY)
                index = (
                    16 * (refuge is None)
                    + 8 * (len(unknown) > 1)
                    + 4 * bool(lowly)
                    + 2 * bool(self.unknown_beside(e.square))
                    + e.moved
                )
                attackers = {"A": [marshal], "O": lowly}.get(MARSHAL_TABLE[index], [])
                for attacker in attackers:
                    if move := self.legal(attacker, e.square):
                        return move
            if refuge is not None and (move := self.ok(marshal, refuge)):
                return move
        return None

    def attack_weaker(self) -> Move | None:
        """Apply rule 3."""
        for enemy in self.home_first(self.sight.enemies):
            danger = self.d(enemy.square)
            able = [
                piece
                for piece in self.own_beside(enemy.square)
                if will_kill(piece.rank, self.sets[enemy.square]) and not could_kill(piece.rank, danger)
                if self.legal(piece, enemy.square)
            ]
            if able:
                weakest = max(able, key=lambda piece: ORDER.index(piece.rank))
                return self.legal(weakest, enemy.square)
        return None

    def explore_attack(self) -> Move | None:
        """Apply rule 4."""
        for rank in "9765":
            for piece in self.far_first(self.own(rank)):
                for enemy in self.unknown_beside(piece.square):
                    if move := self.legal(piece, enemy.square):
                        return move
        return None

    def retreat(self) -> Move | None:
        """Apply rule 5, of the variant only."""
        for piece in self.far_first(self.own()):
            threatened = any(sure_death(self.sets[e.square], piece.rank) for e in self.enemies_beside(piece.square))
            if not piece.moved or not threatened:
                continue
            goals = [
                (piece, enemy)
                for enemy in self.home_first(self.sight.enemies)
                if not self.identified(enemy) or will_kill(piece.rank, self.sets[enemy.square])
            ]
            if move := self.nearest(goals, self.legal, very_safe=False, ties_ok=True):
                return move
        return None

    def scout(self) -> Move | None:
        """Apply rule 6."""
        most, chosen = 0, None
        for piece in self.home_first(self.own("9")):
            for direction in TURNS:
                for square in self.slide(piece, direction):
                    unknown = len(self.unknown_beside(square))
                    if unknown < len(self.enemies_beside(square)) or unknown <= most:
                        continue
                    if move := self.ok(piece, square):
                        most, chosen = unknown, move
        return chosen

    def attack_distant(self, wins: Callable[[str, Ranks], bool], ties_ok: bool) -> Move | None:
        """Apply rules 7 and 9."""
        pairs = [
            (piece, enemy)
            for enemy in self.home_first(self.sight.enemies)
            if not {"B", "1"} <= self.sets[enemy.square]
            for piece in self.home_first(self.own())
            if wins(piece.rank, self.sets[enemy.square])
            if ORDER.index(piece.rank) >= ORDER.index("5") or not could_kill(piece.rank, self.d(enemy.square))
        ]
        return self.nearest(pairs, self.ok, very_safe=True, ties_ok=ties_ok)

    def explore_distant(self) -> Move | None:
        """Apply rule 8."""
        pairs = [
            (piece, enemy)
            for enemy in self.home_first(self.sight.enemies)
            if not self.identified(enemy)
            for piece in self.home_first(self.own(LOWLY))
        ]
        return self.nearest(pairs, self.ok, very_safe=False, ties_ok=True)

    def any_step(self, directions: tuple[Direction, ...]) -> Move | None:
        """Apply rules 10 and 11."""
        for piece in self.far_first(self.own()):
            for square in self.sight.beside(piece.square, directions):
                if move := self.ok(piece, square):
                    return move
        return None

    def rules(self, retreat: bool) -> dict[int, Callable[[], Move | None]]:
        """Return the rules by number, in order; the twelfth is to surrender."""
        rules: dict[int, Callable[[], Move | None]] = {
            1: self.spy_takes_marshal,
            2: self.marshal_in_danger,
            3: self.attack_weaker,
            4: self.explore_attack,
            5: self.retreat,
            6: self.scout,
            7: lambda: self.attack_distant(will_kill, ties_ok=False),
            8: self.explore_distant,
            9: lambda: self.attack_distant(will_kill_or_tie, ties_ok=True),
            10: lambda: self.any_step((self.sight.forward,)),
            11: lambda: self.any_step(TURNS),
        }
        if not retreat:
            del rules[5]
        return rules


def decide(view: View, *, retreat: bool = False) -> tuple[int, Move | None]:
    """Return the number of the rule that applies, and its move."""
    for number, rule in Turn(view).rules(retreat).items():
        if move := rule():
            return number, move
    return 12, None


def choose(view: View, draws: Draws, *, retreat: bool = False) -> Move | None:
    """Return the move it plays; None if it surrenders. It draws nothing."""
    return decide(view, retreat=retreat)[1]


def acceptable(view: View, *, retreat: bool = False) -> set[Move | None]:
    """Return the only move that it could play: nothing is left to chance or rounding."""
    return {decide(view, retreat=retreat)[1]}
