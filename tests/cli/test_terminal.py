"""The terminal game: whole games of any kind through its streams, and that it shows nothing it must not."""

from __future__ import annotations

import io
import json
import random
import re
import string
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.color import ColorSystem
from rich.style import Style
from typer.testing import CliRunner

from vauban.agents import make_agent
from vauban.agents.base import RESIGNS
from vauban.board.stratego import Board, Played
from vauban.cli import show
from vauban.cli.stratego import show as stratego_show
from vauban.cli.terminal import resume, terminal
from vauban.cli.terminal_game import TerminalGame
from vauban.errors import ConfigurationError, VaubanError
from vauban.games.base import Game, game
from vauban.games.stratego.setups import Row, parse_setup, setup_text
from vauban.games.stratego.variants import VARIANTS
from vauban.notation.records import read_games
from vauban.notation.stratego.moves import Move

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SETUP = "F........O/B........O/.S..N...../.G..M....."


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """80 columns, no colours, and nothing written outside the test's own folder."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Person(io.TextIOBase):
    """A person at the terminal: reads what was printed since the last answer, and answers."""

    def __init__(self, answer: Callable[[str], str | None]) -> None:
        self.screen = io.StringIO()
        self._answer = answer
        self._read = 0

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        text = self.screen.getvalue()
        news, self._read = text[self._read :], len(text)
        answer = self._answer(ANSI.sub("", news))
        return "" if answer is None else answer + "\n"

    def isatty(self) -> bool:
        return False


def typing(lines: Iterable[str]) -> Person:
    """Return a person who types these lines, whatever the screen shows."""
    script = iter(lines)
    return Person(lambda _: next(script, None))


def at_random(seed: int, before: Iterable[str] = ()) -> Person:
    """Return a person who asks for the moves at every turn, and plays one of those that are shown."""
    rng = random.Random(seed)
    script = iter(before)

    def answer(news: str) -> str | None:
        line = next(script, None)
        if line is not None:
            return line
        if news.rstrip().endswith("setup>"):
            return "ready"
        if news.rstrip().endswith("leave>"):
            return ""
        # The input is echoed, and the prompt follows the answer.
        shown = news.removeprefix("moves\n").rpartition("\n")[0] if news.startswith("moves\n") else ""
        return rng.choice(shown.replace("\n", " ").split(", ")).strip() if shown else "moves"

    return Person(answer)


def sit_down(
    person: Person, agent: Any = None, side: int = 0, name: str = "barrage", rules: str | None = None
) -> tuple[int, str]:
    """Play a game; return the exit code, and all that was printed."""
    table = TerminalGame(
        agent or make_agent("random", 7), side, 7, game(name, rules), source=person, target=person.screen
    )
    code = table.run()
    return code, person.screen.getvalue()


def test_an_opponent_that_does_not_play_the_game_is_refused_before_it_begins() -> None:
    for game_, opponent in (("kuhn", "fox"), ("barrage", "cfr+"), ("medium", "net:barrage")):
        done = CliRunner().invoke(app, ["--game", game_, "--opponent", opponent])
        assert isinstance(done.exception, VaubanError) and "plays" in str(done.exception), done.exception
        assert not done.stdout, "nothing is begun"


def test_help_at_the_setup_says_what_can_be_typed() -> None:
    _, screen = sit_down(typing(["help", "?", "quit"]))
    assert screen.count("draw another one") == 2 and "is no setup" not in screen


def test_a_kept_game_against_a_class_of_ones_own_goes_on_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text(
        "from vauban.games.kuhn import Kuhn\n\n\nclass Other(Kuhn):\n    name = 'other'\n\n\n"
        "class Passes:\n    name = 'passes'\n\n    def choose_move(self, view):\n        return 'pass'\n"
    )
    monkeypatch.chdir(tmp_path / "mine")
    options = ["--game", "py:mine.py:Other", "--opponent", "py:mine.py:Passes", "--colour", "second", "--seed", "1"]
    done = CliRunner().invoke(app, options, input="save ../game.txt\nquit\n")
    assert done.exit_code == 0, done.output
    monkeypatch.chdir(tmp_path)
    table = resume(tmp_path / "game.txt", source=io.StringIO(""), target=io.StringIO())
    assert table.game.name == "other" and table.agent.name == "passes"


class Puppet:
    """Plays a setup and moves that are given to it; resigns when there are no more."""

    name = "puppet"

    def __init__(self, setup: Row, moves: Iterable[Move] = ()) -> None:
        self._setup = setup
        self._moves: Iterator[Move] = iter(moves)

    def set_up(self, game: Game, player: int, rng: random.Random) -> Row:
        return self._setup

    def answer(self, view: Any) -> int:
        move = next(self._moves, None)
        return RESIGNS if move is None else view.action_of(move)


def puppet(setup: str, *moves: Move, variant: str = "tiny") -> Puppet:
    return Puppet(parse_setup(setup, VARIANTS[variant]), moves)


# ── Whole games ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["barrage", "duel", "tiny", "nano", "kuhn", "leduc", "matching-pennies", "rock-paper-scissors"]
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_whole_game_can_be_played_by_someone_who_only_reads_the_screen(name: str, side: int) -> None:
    code, screen = sit_down(at_random(3), side=side, name=name)
    assert code == 0
    assert re.search(r"^(You win|You lose|A draw)[ :].+\.$", screen, re.MULTILINE)
    assert "?" not in screen.rpartition("Ply")[2].partition("\nYou ")[2].partition("You ")[2]


@pytest.mark.parametrize("name", ["classic", "kuhn"])
@pytest.mark.parametrize("colours", [False, True])
def test_every_line_fits_into_80_columns(name: str, colours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if colours:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
    lines = ["ready", "help", "moves", "resign", "yes", ""] if name == "classic" else ["help", "resign", "yes", ""]
    _, screen = sit_down(typing(lines), name=name)
    assert ("\x1b[" in screen) == colours
    assert max(len(line) for line in ANSI.sub("", screen).splitlines()) <= 80


def test_colours_add_nothing_that_the_plain_board_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["ready", "moves", "quit"]
    _, plain = sit_down(typing(lines))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    _, coloured = sit_down(typing(lines))
    assert ANSI.sub("", coloured).partition("Goodbye")[0] == plain.partition("Goodbye")[0]
    monkeypatch.setenv("NO_COLOR", "1")
    _, grey = sit_down(typing(lines))
    assert "38;5" not in grey and "48;5" not in grey and "48;2" not in grey


def test_with_16_colours_red_is_red_blue_is_blue_and_lakes_are_neither() -> None:
    def background(style: str) -> int | None:
        colour = Style.parse(style).bgcolor
        assert colour is not None
        return colour.downgrade(ColorSystem.STANDARD).number

    styles = (*show.STYLES, *stratego_show.JUST_MOVED, stratego_show.LAKE)
    assert [background(style) for style in styles] == [1, 4, 9, 12, 6]


def test_the_person_sits_below_on_either_side() -> None:
    _, screen = sit_down(typing(["ready"]), side=1)
    files, *rows = [line[:53] for line in screen.rpartition("Ply")[2].splitlines()[1:12]]
    assert files.split() == list("jihgfedcba")
    assert [row[:2].strip() for row in rows] == [str(number) for number in range(1, 11)]
    assert "(" not in "".join(rows[:5]) and "?" not in "".join(rows[6:])


def test_an_opponent_is_introduced_by_its_own_line() -> None:
    _, screen = sit_down(typing([]), make_agent("charger"))
    assert "Charger: runs straight at the nearest piece that it might take." in screen


# ── Setup ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("side", [0, 1])
def test_a_setup_can_be_typed_and_is_drawn_from_its_owners_side(side: int) -> None:
    person = typing([SETUP.lower(), "ready"])
    table = TerminalGame(make_agent("random"), side, 7, game("barrage"), source=person, target=person.screen)
    table.run()
    assert table.board is not None
    assert setup_text(table.board.setups[side], VARIANTS["barrage"]) == SETUP


def test_setups_that_are_offered_differ_and_can_be_had_again() -> None:
    screens = [sit_down(typing(["random", "random"]))[1] for _ in range(2)]
    offered = re.findall(r"^[FSONGMB./]{43}$", screens[0], re.MULTILINE)
    assert len(set(offered)) == 3 and screens[0] == screens[1]


@pytest.mark.parametrize(
    ("line", "answer"),
    [("F/O", "has 2 rows"), (SETUP.replace("N", "O"), "1 Miner is missing"), ("raedy", "has 1 rows")],
)
def test_a_line_that_is_no_setup_is_answered_with_a_sentence(line: str, answer: str) -> None:
    _, screen = sit_down(typing([SETUP, line]))
    assert answer in " ".join(screen.split("setup> ")[2].split())


def test_an_odd_setup_is_allowed_with_a_warning() -> None:
    _, screen = sit_down(typing([".........O/B........O/.S..N...../FG..M....."]))
    assert "Your Flag stands in the front row." in screen


# ── Input ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("b1b2", "Ply 3"),
        ("b1 b2", "Ply 3"),
        ("B1-B2", "Ply 3"),
        ("b1b2(J>F)", "shows a battle without an x"),
        ("b1b3", "a Lieutenant moves one square; it may go to b2"),
        ("a1a2", "a Flag never moves"),
        ("b1c2", "not diagonally"),
        ("c4c3", "is not your move"),
        ("b2b3", "there is no piece on b2"),
        ("z1z2", "is no square of this board"),
        ("moves", "b1b2, c1c2, d1d2"),
        ("undo", "no move of yours to take back"),
        ("save", "save needs a file's name"),
        ("save /no/such/folder/game.txt", "cannot be written: No such file"),
        ("save \x00", "cannot be written"),
        ("save ~nobody-here/game.txt", "cannot be written"),
        ("moev", "is no move"),
        ("[red]", "help lists what else you can type"),
        ("?", "give the game up"),
    ],
)
def test_every_line_is_answered_with_a_sentence(line: str, answer: str) -> None:
    code, screen = sit_down(typing(["FLPJ", "ready", line]), puppet("JPLF", Move(14, 10)), name="tiny")
    assert code == 0
    assert answer.lower() in " ".join(screen.split("red> ", 1)[1].split()).lower()


def test_a_cat_on_the_keyboard_does_no_harm() -> None:
    rng = random.Random(9)
    words = ["moves", "undo", "help", "random", "e4", "a1", "e4e5", "(M>C)", "x", "-", "/"]
    lines = []
    for _ in range(400):
        noise = "".join(rng.choices(string.printable, k=rng.randrange(6))).replace("\n", "")
        lines.append(" ".join([*rng.choices(words, k=rng.randrange(4)), noise]))
    code, screen = sit_down(typing([*lines[:50], "ready", *lines[50:]]))
    assert code == 0 and screen.count("red> ") > 200


CHASE = """[Variant "classic"]
[Rules "chase=ataraxos"]
[Person "red"]
[Opponent "random"]
[Seed "5"]
[Position "9f/10/10/10/2~~2~~2/2~~2~~2/2F5O1/1n8/9O/n3n5 r 0 0 -,- 0:-,0:-"]

1. j2b2 b3a3 2. b2a2 a3a4 3. a2e2 e1d1 4. e2d2 d1e1 *
"""
SHUTTLE = '[Variant "tiny"]\n[RedSetup "FLPJ"]\n[BlueSetup "JPLF"]\n\n1. b1b2 b4b3 2. b2b1 b3b4 3. b1b2 b4b3 *\n'


@pytest.mark.parametrize(
    ("text", "move", "reason"),
    [
        (CHASE, "d2a2", "chasing rule: d2a2 would repeat the position after ply 4"),
        (SHUTTLE, "b2b1", "two-square rule: this Lieutenant has just gone b1–b2, b2–b1, b1–b2"),
    ],
)
def test_a_barred_move_is_refused_with_its_rule(text: str, move: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    path.write_text(text, encoding="utf-8")
    person = typing([move])
    resume(path, source=person, target=person.screen).run()
    assert reason in " ".join(person.screen.getvalue().split("red> ", 1)[1].split())


def test_what_a_typed_move_claims_about_a_hidden_piece_is_neither_confirmed_nor_denied() -> None:
    answers = set()
    for claim in ("b2b4", "b2xb4(L>P)", "b2xb4(L<J)", "b2xb4(L>F)"):  # too far, whatever is claimed
        agent = puppet("JLPF", Move(14, 10), Move(10, 6))
        _, screen = sit_down(typing(["FLPJ", "ready", "b1b2", claim]), agent, name="tiny")
        answers.add(screen.rpartition(f"red> {claim}\n")[2].partition("Saved")[0])
    assert len(answers) == 1 and "b2b4 is not legal: a Lieutenant moves one square" in answers.pop()


def test_battles_are_told_in_words() -> None:
    agent = puppet("FLJP", Move(13, 9), Move(12, 8))
    _, screen = sit_down(typing(["FLPJ", "ready", "b1b2", "b2b3"]), agent, name="tiny")
    assert "You b2xb3: Lieutenant (5) against a Major (7), blue won" in screen
    assert "red lost: Lieutenant" in screen and screen.count("Blue a4–a3") == 1


def test_a_piece_that_won_as_it_was_struck_shows_both_marks() -> None:
    # Blue's Lieutenant has gone a4–a3–a2; after its end on a1 the Major there is known.
    agent = puppet("FPJL", Move(12, 8), Move(8, 4), Move(4, 0))
    _, screen = sit_down(typing(["JLPF", "ready", "b1b2", "b2b1", "b1b2"]), agent, name="tiny")
    assert " 1 [ 7<!" in screen and "! your opponent knows it" in screen


def test_the_limits_and_a_draw_that_is_near_are_told() -> None:
    _, screen = sit_down(at_random(1), name="barrage", rules="battleless_limit=8")
    assert "0 of 8 moves without a battle" in screen
    assert "6 more moves without a battle, and the game is a draw." in screen
    assert "A draw: too many moves without a battle." in screen


def test_undo_takes_back_the_move_and_the_reply_and_the_record_says_so(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    lines = [SETUP, "ready", "e4e5", "undo", "undo", "b4b5", f"save {path}"]
    _, screen = sit_down(typing(lines), make_agent("random", 3))
    assert "no move of yours" in screen
    [found] = read_games(path.read_text())
    assert found.headers["TakenBack"] == "1"
    assert [move.move for move in found.moves[::2]] == [Move(31, 41)]


# ── The end, leaving, saving, going on ───────────────────────────────────────────────────────────


def test_an_opponent_that_resigns_has_lost(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    code, screen = sit_down(typing(["ready", str(path)]), puppet("FLPJ"), side=1, name="tiny")
    assert code == 0 and "You win: your opponent resigned." in screen
    (found,) = read_games(path.read_text())
    assert (found.result, found.end) == ("0-1", "resigned")


@pytest.mark.parametrize("name", ["barrage", "kuhn"])
def test_resigning_needs_a_yes_and_is_in_the_record(name: str, tmp_path: Path) -> None:
    path = tmp_path / "lost.txt"
    lines = ["resign", "no", "resign", "yes", str(path)]
    code, screen = sit_down(typing(["ready", *lines] if name == "barrage" else lines), name=name)
    assert code == 0 and "You lose" in screen
    [found] = read_games(path.read_text())
    assert (found.result, found.end, found.game.name) == ("0-1", "resigned", name)


@pytest.mark.parametrize("named", ["bot:touch", "geister:touch"])
def test_a_saved_game_does_not_choose_what_runs_on_a_persons_machine(named: str, tmp_path: Path) -> None:
    trace, path = tmp_path / "trace", tmp_path / "saved.txt"
    path.write_text(SHUTTLE.replace("[RedSetup", f'[Opponent "{named} {trace}"]\n[RedSetup'), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="names a program as the opponent"):
        resume(path, source=typing([]), target=io.StringIO())
    assert not trace.exists()
    found = resume(path, opponent="random", source=typing([]), target=io.StringIO())
    assert found.agent.name == "random"


@pytest.mark.parametrize("name", ["barrage", "leduc"])
def test_a_saved_game_goes_on_exactly_as_it_would_have_gone(name: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "game.txt", tmp_path / "whole.txt"
    before = [SETUP, "ready"] if name == "barrage" else []
    moves = ["e4e5", "e5e6", "b4b5", "b5b6"] if name == "barrage" else ["call", "call"]
    sit_down(typing([*before, *moves, f"save {whole}"]), make_agent("random", 7), name=name)
    sit_down(typing([*before, *moves[:-1], f"save {path}", "quit"]), make_agent("random", 7), name=name)
    person = typing([moves[-1], f"save {path}"])
    resume(path, source=person, target=person.screen).run()
    assert path.read_text() == whole.read_text()


@pytest.mark.parametrize("ending", [None, "quit", KeyboardInterrupt])
def test_a_person_who_leaves_is_told_how_to_go_on(ending: object, tmp_path: Path) -> None:
    script = iter([SETUP, "ready", "e4e5"])

    def answer(_: str) -> str | None:
        line = next(script, None)
        if line is None and ending is KeyboardInterrupt:
            raise KeyboardInterrupt
        return line if line is not None else ending  # type: ignore[return-value]

    person = Person(answer)
    code, screen = sit_down(person, make_agent("random", 2))
    assert code == (130 if ending is KeyboardInterrupt else 0)
    kept = re.search(r"vauban terminal --load (\S+)", screen)
    assert kept is not None and Path(kept[1]).is_relative_to(tmp_path)
    table = resume(Path(kept[1]), source=typing([]), target=io.StringIO())
    assert table.board.plies == 2 and table.agent.name == "random" and table.person == 0


@pytest.mark.parametrize("lines", [[], ["ready"]])
def test_a_game_without_a_move_is_left_with_a_goodbye(lines: list[str], tmp_path: Path) -> None:
    code, screen = sit_down(typing(lines))
    assert code == 0 and screen.endswith("Goodbye.\n")
    assert not (tmp_path / "state").exists()


def test_a_strange_file_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "precious.txt"
    path.write_text("precious")
    _, screen = sit_down(typing([SETUP, "ready", f"save {path}", f"save {path}.2", "e4e5", f"save {path}.2"]))
    assert path.read_text() == "precious" and "is there already" in " ".join(screen.split())
    assert len(read_games(Path(f"{path}.2").read_text())[0].moves) == 2


app = typer.Typer()
app.command()(terminal)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--game", "barage"], "did you mean 'barrage'"),
        (["--rules", "chase=maybe"], "chase must be"),
        (["--colour", "green"], "no player 'green'"),
        (["--opponent", "deep blue"], "no agent 'deep blue'"),
        (["--load", "no-such-file.txt"], "cannot be read"),
        (["--load", "no-such-file.txt", "--seed", "1"], "leave --game, --rules and --seed out"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(arguments: list[str], complaint: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, VaubanError)  # `vauban` prints it and exits with 2
    assert complaint in str(result.exception)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nonsense", "header"),
        ('[Variant "tiny"]\n[RedSetup "FLPJ"]\n[BlueSetup "UUUU"]\n\n1. b1b2 *\n', "not known"),
        ('[Variant "tiny"]\n[RedSetup "FLPJ"]\n[BlueSetup "JPLF"]\n[End "resigned"]\n\n1. b1b2 1-0\n', "finished"),
    ],
)
def test_a_file_that_cannot_be_gone_on_with_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_text(text)
    with pytest.raises(VaubanError, match=complaint):
        resume(path)


@pytest.mark.parametrize(
    ("name", "lines", "expected"),
    [
        ("tiny", "", {"result": "*", "end": "unfinished", "plies": 0, "you": "blue"}),
        ("tiny", "ready\n", {"result": "*", "end": "unfinished", "plies": 1, "you": "blue"}),
        ("tiny", "ready\nresign\nyes\n", {"result": "1-0", "end": "resigned", "plies": 1, "you": "blue"}),
        ("kuhn", "resign\nyes\n", {"result": "1-0", "end": "resigned", "plies": 1, "you": "second"}),
    ],
)
def test_json_is_the_last_line(name: str, lines: str, expected: dict[str, object]) -> None:
    side = "second" if name == "kuhn" else "blue"
    arguments = ["--game", name, "--seed", "1", "--opponent", "random", "--colour", side, "--json"]
    result = CliRunner().invoke(app, arguments, input=lines)
    assert result.exit_code == 0
    assert json.loads(result.output.splitlines()[-1]) == expected


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def a_game_and_its_twin(variant: str, seed: int, plies: int) -> tuple[Board, Board]:
    """Return two games with the same moves; in the second, blue's hidden pieces are of other types."""
    rng = random.Random(seed)
    while True:
        board = Board.random(variant, rng.randrange(10**6))
        while not board.is_over and board.plies < plies:
            board.push(rng.choice(board.legal_moves))
        start = {piece.square: (piece.player, piece.kind) for piece in board.start_position().pieces}
        for moved in (False, True):
            hidden = [p for p in board.pieces(1).values() if not p.revealed and p.moved == moved]
            kinds = [piece.kind for piece in hidden]
            rng.shuffle(kinds)
            start |= {piece.identity: (1, kind) for piece, kind in zip(hidden, kinds, strict=True)}
        twin = Board.from_pieces(start, variant)  # type: ignore[arg-type]
        try:
            for played in board.history:
                twin.push(played.move)
        except VaubanError:
            continue  # with these types the game would have been over earlier
        if not board.is_over and not twin.is_over and twin.position() != board.position():
            return board, twin


def screen_of(board: Board) -> str:
    """Return all that red sees of a game, asking for everything at every turn."""
    v = board.variant
    rows = [[0] * v.setup_rows * v.columns for _ in (0, 1)]
    for piece in board.start_position().pieces:
        assert piece.kind is not None
        rows[piece.player][piece.square if piece.player == 0 else v.squares - 1 - piece.square] = 1 + piece.kind
    moves: list[list[Played]] = [[played for played in board.history if played.player == player] for player in (0, 1)]
    lines = [setup_text(rows[0], v), "ready"]
    for played in moves[0]:
        source, target = map(v.square_name, played.move)
        lines += ["moves", f"{target}{source}", f"{source} {target}"]
    agent = Puppet(parse_setup(setup_text(rows[1], v), v), [played.move for played in moves[1]])
    _, screen = sit_down(typing([*lines, "help", "undo"]), agent, name=v.name)
    assert screen.count("Ply ") == len(moves[0]) + 2  # every turn, and the one taken back
    return re.sub(r"(?s)Saved as.*", "", screen)


@pytest.mark.parametrize(("variant", "seed"), [("barrage", 1), ("barrage", 2), ("classic", 3), ("duel", 4)])
def test_the_screen_is_the_same_whatever_the_hidden_pieces_are(variant: str, seed: int) -> None:
    board, twin = a_game_and_its_twin(variant, seed, plies=40 if variant == "classic" else 14)
    assert screen_of(board) == screen_of(twin)


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TerminalGame, "_look", lambda table: table.board)
    board, twin = a_game_and_its_twin("barrage", 1, plies=14)
    assert screen_of(board) != screen_of(twin)


@pytest.mark.parametrize("choice", ["heads", "tails"])
def test_a_hidden_choice_is_told_only_when_the_game_is_over(choice: str) -> None:
    class Chooser:
        name = "chooser"

        def answer(self, view: Any) -> int:
            return int(view.action_of(choice))

    _, screen = sit_down(typing(["moves", "heads", ""]), Chooser(), side=1, name="matching-pennies")
    before, after = screen.split("second> heads\n")
    assert choice not in before.replace("heads, tails", "").replace("such as heads", "")
    assert f"First: {choice}" in after
