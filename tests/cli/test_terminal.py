"""The terminal game: whole games through its streams, and that it shows nothing it must not."""

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
from vauban.agents.adapter import adapted
from vauban.board.stratego import Board, Look, Played, View
from vauban.cli import terminal_picture as picture
from vauban.cli.terminal import resume, terminal
from vauban.cli.terminal_game import TerminalGame
from vauban.errors import VaubanError
from vauban.games.stratego.setups import Row, parse_setup, random_setup, setup_text
from vauban.games.stratego.variants import VARIANTS, Variant
from vauban.notation.records import read_games
from vauban.notation.stratego.moves import Move

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FRAME = re.compile(r"^Move \d+ ·.*?^(?:red|blue)> ", re.MULTILINE | re.DOTALL)
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
    """A person who types these lines, whatever he sees."""
    script = iter(lines)
    return Person(lambda _: next(script, None))


def at_random(seed: int, before: Iterable[str] = ("ready",)) -> Person:
    """A person who asks for the moves at every turn, and plays one of those that he is shown."""
    rng = random.Random(seed)
    script = iter(before)

    def answer(news: str) -> str | None:
        line = next(script, None)
        if line is not None:
            return line
        if news.rstrip().endswith("leave>"):
            return ""
        shown = re.findall(r"^  ([a-z]\d+) +\w+ \(\d+\) +(.*)$", news, re.MULTILINE)
        moves = [source + target for source, targets in shown for target in targets.split()]
        return rng.choice(moves) if moves else "moves"

    return Person(answer)


def sit_down(person: Person, agent: Any = None, side: int = 0, **settings: object) -> tuple[int, str]:
    """Play a game: the exit code, and all that was printed."""
    table = TerminalGame(
        adapted(agent or make_agent("cadet", 7)), side, 7, source=person, target=person.screen, **settings
    )  # type: ignore[arg-type]
    code = table.run()
    return code, person.screen.getvalue()


class Puppet:
    """Plays a setup and moves that are given to it."""

    name = "puppet"

    def __init__(self, setup: Row, moves: Iterable[Move]) -> None:
        self._setup = setup
        self._moves: Iterator[Move] = iter(moves)

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        return self._setup

    def choose_move(self, view: View) -> Move:
        return next(self._moves)


# ── Whole games ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("variant", ["barrage", "classic", "duel", "medium", "tiny", "nano"])
@pytest.mark.parametrize("side", [0, 1])
def test_a_whole_game_can_be_played_by_someone_who_only_reads_the_screen(variant: str, side: int) -> None:
    code, screen = sit_down(at_random(3), side=side, variant=variant)
    assert code == 0
    assert re.search(r"^(You win|You lose|A draw): .+\.$", screen, re.MULTILINE)
    opened = screen[screen.index("Both sides, open") :]
    assert "?" not in opened
    assert screen.endswith("Goodbye.\n")


@pytest.mark.parametrize("variant", ["barrage", "classic", "octa-barrage", "micro"])
@pytest.mark.parametrize("colours", [False, True])
def test_every_line_fits_into_80_columns_and_a_turn_into_24_lines(
    variant: str, colours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if colours:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
    turns = iter(["help", "ready", "help"])
    _, screen = sit_down(at_random(5, turns), make_agent("random", 1), variant=variant, rules="total_limit=120")
    assert ("\x1b[" in screen) == colours
    plain = ANSI.sub("", screen)
    assert max(len(line) for line in plain.splitlines()) <= 80
    frames = FRAME.findall(plain)
    assert frames and max(frame.count("\n") for frame in frames) < 24


def test_colours_add_nothing_that_the_plain_board_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["ready", "moves", "quit"]
    _, plain = sit_down(typing(lines))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    _, coloured = sit_down(typing(lines))
    assert ANSI.sub("", coloured).partition("setup> ")[2] == plain.partition("setup> ")[2]
    monkeypatch.setenv("NO_COLOR", "1")
    _, grey = sit_down(typing(lines))
    assert "38;5" not in grey and "48;5" not in grey and "48;2" not in grey


def test_with_16_colours_red_is_red_blue_is_blue_and_lakes_are_neither() -> None:
    def background(style: str) -> int | None:
        colour = Style.parse(style).bgcolor
        assert colour is not None
        return colour.downgrade(ColorSystem.STANDARD).number

    assert [background(style) for style in (*picture.STYLES, *picture.JUST_MOVED, picture.LAKE)] == [1, 4, 9, 12, 6]


def test_blue_sits_below_too() -> None:
    _, screen = sit_down(typing(["ready"]), side=1)
    frame = FRAME.findall(screen)[0]
    files, *rows = [line[:53] for line in frame.splitlines()[1:12]]
    assert files.split() == list("jihgfedcba")
    assert [row[:2].strip() for row in rows] == [str(number) for number in range(1, 11)]
    assert "(" not in "".join(rows[:5]) and "?" not in "".join(rows[6:])


# ── Setup ────────────────────────────────────────────────────────────────────────────────────────


def setup_after(lines: list[str], side: int = 0, variant: str = "barrage") -> tuple[str, str]:
    """The person's setup after these lines, and the screen."""
    person = typing([*lines, "ready"])
    table = TerminalGame(make_agent("cadet"), side, 7, variant, source=person, target=person.screen)
    table.run()
    assert table.board is not None
    v = VARIANTS[variant]
    room = v.setup_rows * v.columns
    codes = [0] * room
    for piece in table.board.start_position().pieces:
        if piece.player == side and piece.kind is not None:
            codes[piece.square if side == 0 else v.squares - 1 - piece.square] = 1 + piece.kind
    return setup_text(codes, v), person.screen.getvalue()


def test_a_setup_can_be_pasted_mirrored_and_swapped_by_red() -> None:
    assert setup_after([SETUP])[0] == SETUP
    assert setup_after([SETUP.lower().replace("/", "")])[0] == SETUP
    assert setup_after([SETUP, "mirror"])[0] == "O........F/O........B/.....N..S./.....M..G."
    assert setup_after([SETUP, "swap a1 b3", "SWAP J1 I1"])[0] == "S.......O./B........O/.F..N...../.G..M....."


def test_blue_swaps_by_the_squares_that_he_sees() -> None:
    # Blue's own left is the file j, his back row is 10.
    assert setup_after([SETUP, "swap j10 i8"], side=1)[0] == "S........O/B........O/.F..N...../.G..M....."


def test_random_and_suggested_setups_differ_and_can_be_had_again() -> None:
    assert setup_after(["random"])[0] != setup_after(["suggest"])[0]
    assert setup_after(["random"])[0] == setup_after(["random"])[0]
    _, screen = setup_after(["suggest", "suggest"])
    assert len(set(re.findall(r"As text: (\S+)", screen))) == 3


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("swap a1", "Swap needs two squares"),
        ("swap a1 z9", "'z9' is no square of this board"),
        ("swap a1 a9", "a9 is not in your setup rows"),
        ("F/O", "has 2 rows"),
        (SETUP.replace("N", "O"), "1 Miner is missing"),
        ("raedy", "did you mean 'ready'"),
        ("[bold]", "no command '[bold]'"),
        ("", "swap a1 b2"),
        ("help", "any setup at all"),
    ],
)
def test_a_line_that_is_no_setup_is_answered_with_a_sentence(line: str, answer: str) -> None:
    setup, screen = setup_after([SETUP, line])
    assert setup == SETUP
    assert answer in " ".join(screen.split("setup> ")[2].split())


def test_an_odd_setup_is_allowed_with_a_warning() -> None:
    _, screen = setup_after([SETUP, "swap a1 a4"])
    assert "Your Flag stands in the front row." in screen


def test_the_legend_and_the_help_name_the_letters_of_the_setups_text() -> None:
    _, screen = setup_after(["help"])
    said = " ".join(screen.split())
    assert "Army: 1 Spy (S), 2 Scout ×2 (O), 3 Miner (N), 9 General (G), 10 Marshal (M)" in said
    assert "by letters, as it is printed below the board: S Spy, O Scout, N Miner" in said
    assert re.search(r"^ {17}\S", screen, re.MULTILINE)  # what is too long goes on below its beginning


def test_examples_are_squares_of_this_board_and_this_side() -> None:
    for variant in VARIANTS.values():
        for side in (0, 1):
            lines = ["help", "swap", "ready", "help", "why", "nonsense"]
            _, screen = sit_down(typing(lines), side=side, variant=variant.name)
            for one, other in re.findall(r"swap ([a-z]\d+) ([a-z]\d+)", screen):
                places = [variant.square(name) for name in (one, other)]
                own = [place if side == 0 else variant.squares - 1 - place for place in places]
                assert len({*own}) == 2 and max(own) < variant.setup_rows * variant.columns
            moves = re.findall(r"(?:written|why|such as) ([a-z]\d+[a-z]\d+)", screen)
            assert len(moves) == 4 and len({*moves}) == 1
            _, screen = sit_down(typing(["ready", f"why {moves[0]}"]), side=side, variant=variant.name)
            assert f"{moves[0]} may be played" in screen


@pytest.mark.parametrize("lines", [[SETUP], [SETUP, "ready"], ["random", SETUP, "nonsense", "quit"]])
def test_a_setup_that_was_made_for_nothing_is_handed_back(lines: list[str]) -> None:
    _, screen = sit_down(typing(lines))
    assert screen.endswith(f"Goodbye. Your setup is not kept: to have it again, type this at setup>\n  {SETUP}\n")


# ── Commands ─────────────────────────────────────────────────────────────────────────────────────

CHASE = """[Variant "classic"]
[Rules "chase=ataraxos"]
[Person "red"]
[Opponent "random"]
[Seed "5"]
[Position "9f/10/10/10/2~~2~~2/2~~2~~2/2F5O1/1n8/9O/n3n5 r 0 0 -,- 0:-,0:-"]

1. j2b2 b3a3 2. b2a2 a3a4 3. a2e2 e1d1 4. e2d2 d1e1 *
"""


def on_with(text: str, lines: Iterable[str], tmp_path: Path) -> str:
    """What is printed when a saved game goes on with these lines."""
    path = tmp_path / "saved.txt"
    path.write_text(text, encoding="utf-8")
    person = typing(lines)
    resume(path, source=person, target=person.screen).run()
    return person.screen.getvalue()


@pytest.mark.parametrize("asked", ["d2a2", "why d2a2", "D2 A2", "d2-a2"])
def test_a_move_barred_by_the_chasing_rule_shows_the_position_it_would_repeat(asked: str, tmp_path: Path) -> None:
    screen = on_with(CHASE, [asked], tmp_path)
    answer = screen.split("red> ", 1)[1]
    assert "chasing rule: d2a2 would repeat the position after ply 4" in " ".join(answer.split())
    drawn = answer[answer.index("which it would repeat") :]
    rank = {line[:2].strip(): line[3:53] for line in drawn.splitlines() if re.match(r"[ \d]\d ", line)}
    assert [rank["2"][5 * column : 5 * column + 4].strip() for column in (0, 3)] == ["[ 2]", "·"]
    assert rank["4"].startswith("( ?)")


def test_a_move_barred_by_the_two_square_rule_is_explained(tmp_path: Path) -> None:
    game = '[Variant "tiny"]\n[RedSetup "FLPJ"]\n[BlueSetup "JPLF"]\n\n1. b1b2 b4b3 2. b2b1 b3b4 3. b1b2 b4b3 *\n'
    answer = on_with(game, ["b2b1", "moves b2", "moves"], tmp_path).split("red> ", 1)[1]
    said = " ".join(answer.split())
    assert "two-square rule: this Lieutenant has just gone b1–b2, b2–b1, b1–b2" in said
    assert "Barred by the two-square rule: b1 (ask why b2b1)" in said


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("b1b2", "Move 2"),
        ("b1 b2", "Move 2"),
        ("B1-B2", "Move 2"),
        ("why b1b2", "b1b2 may be played."),
        ("b1b3", "a Lieutenant moves one square; it may go to b2"),
        ("a1a2", "a Flag never moves"),
        ("b1c2", "not diagonally"),
        ("c4c3", "is not your move"),
        ("b2b3", "there is no piece on b2"),
        ("z1z2", "is no square of this board"),
        ("b1b2(J>F)", "Move 2"),
        ("why", "why needs a move"),
        ("why nothing", "is no move"),
        ("moves a4", "holds no piece of yours"),
        ("moves zz", "is no square"),
        ("undo", "no move of yours to take back"),
        ("save", "save needs a file's name"),
        ("save /no/such/folder/game.txt", "cannot be written: No such file"),
        ("save \x00", "cannot be written"),
        ("save ~nobody-here/game.txt", "cannot be written"),
        ("moev", "did you mean 'moves'"),
        ("[red]", "neither a move"),
        ("\x00\x1b[31m", "neither a move"),
        ("?", "give the game up"),
    ],
)
def test_every_line_is_answered_with_a_sentence_and_none_with_a_traceback(line: str, answer: str) -> None:
    agent = Puppet(parse_setup("JPLF", VARIANTS["tiny"]), [Move(14, 10)])
    code, screen = sit_down(typing(["FLPJ", "ready", line]), agent, variant="tiny")
    assert code == 0
    assert answer.lower() in " ".join(screen.split("red> ", 1)[1].split()).lower()


def test_a_cat_on_the_keyboard_does_no_harm() -> None:
    rng = random.Random(9)
    words = ["moves", "why", "undo", "help", "swap", "save", "mirror", "e4", "a1", "e4e5", "(M>C)", "x", "-", "/"]
    lines = []
    for _ in range(400):
        noise = "".join(rng.choices(string.printable, k=rng.randrange(6)))
        lines.append(
            " ".join([*rng.choices(words, k=rng.randrange(4)), noise]).replace("save", "moves").replace("\n", "")
        )
    code, screen = sit_down(typing([*lines[:100], "ready", *lines[100:]]))
    assert code == 0 and "Goodbye." in screen


def test_what_a_typed_move_claims_about_a_hidden_piece_is_neither_confirmed_nor_denied() -> None:
    answers = set()
    for claim in ("", "x", "x(L>P)", "x(L<J)", "x(L>F)"):
        agent = Puppet(parse_setup("JLPF", VARIANTS["tiny"]), [Move(14, 10), Move(10, 6)])
        end = f"b2{claim.partition('(')[0]}b3" + ("(" + claim.partition("(")[2] if "(" in claim else "")
        _, screen = sit_down(typing(["FLPJ", "ready", "b1b2", f"why {end}"]), agent, variant="tiny")
        # Behind it is the name of the file that the game was kept in, which tells the time.
        answers.add(screen.rpartition("why ")[2].partition("\n")[2].partition("Goodbye")[0])
    assert len(answers) == 1


def test_battles_are_told_in_words() -> None:
    agent = Puppet(parse_setup("JPLF", VARIANTS["tiny"]), [Move(14, 10), Move(10, 6)])
    _, screen = sit_down(typing(["FLPJ", "ready", "b1b2", "d1d2"]), agent, variant="tiny")
    assert "Blue went c4–c3." in screen
    agent = Puppet(parse_setup("FLJP", VARIANTS["tiny"]), [Move(13, 9), Move(12, 8)])
    _, screen = sit_down(typing(["FLPJ", "ready", "b1b2", "b2b3"]), agent, variant="tiny")
    assert "Your Lieutenant (5) struck b3: a Major (7) — your Lieutenant fell." in screen
    assert "Lost: Lieutenant   Taken: nothing" in screen
    assert re.search(r"5 Lieutenant 0/1 +1/1", screen)
    assert screen.count("Blue went a4–a3.") == 1


def test_a_piece_that_won_as_it_was_struck_shows_both_marks() -> None:
    # Blue's Lieutenant has gone a4–a3–a2; after its end on a1 the Major there is known.
    _, screen = sit_down(
        typing(["JLPF", "ready", "b1b2", "b2b1", "b1b2", "help"]),
        Puppet(parse_setup("FPJL", VARIANTS["tiny"]), [Move(12, 8), Move(8, 4), Move(4, 0)]),
        variant="tiny",
    )
    assert " 1 [ 7<!" in screen
    answer = screen.rpartition("red> help")[2]
    assert "! your opponent knows it" in answer and "( ) blue" in answer


def test_the_limits_are_told_in_grammar() -> None:
    def begun(rules: str) -> str:
        return sit_down(typing(["ready"]), side=1, variant="tiny", rules=rules)[1]

    assert "Take the Flag. 100 moves in all are a draw.\n" in begun("total_limit=100")
    assert "Take the Flag. 9 moves without a battle, or 100 in all, are a draw.\n" in begun(
        "total_limit=100 battleless_limit=9"
    )
    assert "Move 1 · 1 move without a battle · 1 of 100 in all\n" in begun("total_limit=100")
    assert "Move 1 · 1 of 9 moves without a battle · 1 of 100 in all\n" in begun("total_limit=100 battleless_limit=9")
    assert "Take the Flag.\n" in begun("total_limit=none battleless_limit=none")


def test_undo_takes_back_the_move_and_the_reply_and_the_record_says_so(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    _, screen = sit_down(
        typing([SETUP, "ready", "e4e5", "undo", "undo", "b4b5", f"save {path}"]), make_agent("random", 3)
    )
    assert "no move of yours" in screen
    [game] = read_games(path.read_text())
    assert game.headers["TakenBack"] == "1"
    assert [move.move for move in game.moves[::2]] == [Move(31, 41)]


def test_a_draw_by_quiet_play_is_announced_before_it_comes() -> None:
    person = at_random(1, [SETUP, "ready"])
    _, screen = sit_down(person, make_agent("random", 1), variant="barrage", rules="battleless_limit=8")
    assert "6 more moves without a battle, and the game is a draw." in screen
    assert "A draw: too many moves without a battle." in screen


def test_an_opponent_is_introduced_by_its_own_line() -> None:
    _, screen = sit_down(typing(["ready"]), make_agent("charger"))
    assert "Charger: runs straight at the nearest piece that it might take." in screen


class Quitter:
    """Gives up as soon as it is asked."""

    name = "quitter"

    def choose_setup(self, variant: Variant, player: int, rng: random.Random) -> Row:
        return random_setup(variant, rng)

    def choose_move(self, view: View) -> None:
        return None


def test_an_opponent_that_resigns_has_lost(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    code, screen = sit_down(typing(["ready", str(path)]), Quitter(), side=1)  # type: ignore[arg-type]
    assert code == 0 and "You win: your opponent resigned." in screen
    (game,) = read_games(path.read_text())
    assert (game.result, game.end) == ("0-1", "resigned")


@pytest.mark.parametrize("answer", ["y", "Yes", "save"])
def test_a_yes_names_no_file_to_save_the_game_in(answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    code, screen = sit_down(typing(["ready", answer, "no"]), Quitter(), side=1)  # type: ignore[arg-type]
    assert code == 0 and screen.count("Type a file's name to save this game, or Enter to leave> ") == 2
    assert "Goodbye." in screen and sorted(tmp_path.iterdir()) == before


def test_resigning_needs_a_yes_and_opens_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "lost.txt"
    code, screen = sit_down(typing(["ready", "resign", "no", "resign", "yes", str(path)]))
    assert code == 0
    assert "The game goes on." in screen and "You lose: you resigned." in screen
    [game] = read_games(path.read_text())
    assert (game.result, game.end) == ("0-1", "resigned")


# ── Leaving, saving, going on ────────────────────────────────────────────────────────────────────


def test_a_saved_game_goes_on_exactly_as_it_would_have_gone(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    moves = ["e4e5", "e5e6", "b4b5", "b5b6"]
    whole, first = tmp_path / "whole.txt", [SETUP, "ready", *moves[:2], f"save {path}", "quit"]
    sit_down(typing([SETUP, "ready", *moves, f"save {whole}"]), make_agent("cadet", 7))
    _, screen = sit_down(typing(first), make_agent("cadet", 7))
    assert f"vauban terminal --load {path}" in screen.replace("\n", " ")
    person = typing([*moves[2:], f"save {path}"])
    resume(path, source=person, target=person.screen).run()
    assert path.read_text() == whole.read_text()


@pytest.mark.parametrize("ending", [None, "quit", KeyboardInterrupt])
def test_whoever_leaves_is_told_how_to_go_on(ending: object, tmp_path: Path) -> None:
    script = iter([SETUP, "ready", "e4e5", "i4i5"])

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
    person = typing([])
    table = resume(Path(kept[1]), source=person, target=person.screen)
    assert table.board is not None and table.board.plies == 2
    assert table.agent.name == "random" and table.person == 0


@pytest.mark.parametrize("lines", [[], ["ready"]])
def test_a_game_without_a_move_is_left_with_a_goodbye(lines: list[str], tmp_path: Path) -> None:
    code, screen = sit_down(typing(lines))
    assert code == 0 and screen.endswith("Goodbye.\n")
    assert not (tmp_path / "state").exists()


def test_the_command_that_goes_on_is_the_one_that_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "my bin" / "vauban"
    script.parent.mkdir()
    script.write_text("")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", [str(script), "terminal"])
    _, screen = sit_down(typing(["ready"]), side=1)
    assert f"\n  '{script}' terminal --load " in screen
    monkeypatch.setenv("PATH", str(script.parent))
    _, screen = sit_down(typing(["ready"]), side=1)
    assert "\n  vauban terminal --load " in screen


def test_a_file_is_written_over_only_when_asked_twice(tmp_path: Path) -> None:
    path = tmp_path / "precious.txt"
    path.write_text("precious")
    _, screen = sit_down(typing([SETUP, "ready", f"save {path}"]))
    assert path.read_text() == "precious" and "is there already" in " ".join(screen.split())
    sit_down(typing([SETUP, "ready", f"save {path}", f"save {path}"]))
    assert len(read_games(path.read_text())) == 1


app = typer.Typer()
app.command()(terminal)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--variant", "barage"], "did you mean 'barrage'"),
        (["--rules", "chase=maybe"], "chase must be"),
        (["--colour", "green"], "no colour 'green'"),
        (["--opponent", "deep blue"], "no agent 'deep blue'"),
        (["--load", "no-such-file.txt"], "cannot be read"),
        (["--load", "no-such-file.txt", "--seed", "1"], "leave --variant, --rules and --seed out"),
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


def test_the_command_plays_from_standard_input() -> None:
    result = CliRunner().invoke(
        app, ["--variant", "tiny", "--seed", "1", "--opponent", "random"], input="ready\nmoves\n"
    )
    assert result.exit_code == 0
    assert "Stratego, tiny: you are [red]" in result.output and result.output.endswith("Goodbye.\n")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", {"result": "*", "end": "unfinished", "plies": 0, "you": "blue"}),
        ("ready\n", {"result": "*", "end": "unfinished", "plies": 1, "you": "blue"}),
        ("ready\nresign\nyes\n", {"result": "1-0", "end": "resigned", "plies": 1, "you": "blue"}),
    ],
)
def test_json_is_the_last_line(lines: str, expected: dict[str, object]) -> None:
    result = CliRunner().invoke(app, ["--variant", "tiny", "--seed", "1", "--colour", "blue", "--json"], input=lines)
    assert result.exit_code == 0
    assert json.loads(result.output.splitlines()[-1]) == expected


def test_json_tells_the_end_of_a_whole_game() -> None:
    person = at_random(3)
    table = TerminalGame(make_agent("cadet", 7), 0, 7, "tiny", source=person, target=person.screen)
    table.run()
    assert table.board is not None
    outcome = table.board.outcome()
    assert outcome is not None
    result = {None: "1/2-1/2", 0: "1-0", 1: "0-1"}[outcome.winner]
    assert table.summary() == {"result": result, "end": outcome.end, "plies": table.board.plies, "you": "red"}


def test_the_commands_help_shows_every_default_and_an_example() -> None:
    plain = typer.Typer(rich_markup_mode=None)
    plain.command()(terminal)
    said = CliRunner().invoke(plain, ["--help"]).output
    for default in ("barrage", "strategus", "red", "cadet"):
        assert f"(default: {default})" in " ".join(said.split())
    assert re.search(r"^ *Example: vauban terminal", said, re.MULTILINE)


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def a_game_and_its_twin(variant: str, seed: int, plies: int) -> tuple[Board, Board]:
    """Two games with the same moves; in the second, blue's hidden pieces are of other types."""
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
    """All that red sees of a game in which he asks for everything at every turn."""
    v = board.variant
    start = board.start_position()
    rows = [[0] * v.setup_rows * v.columns for _ in (0, 1)]
    for piece in start.pieces:
        assert piece.kind is not None
        rows[piece.player][piece.square if piece.player == 0 else v.squares - 1 - piece.square] = 1 + piece.kind
    moves: list[list[Played]] = [[played for played in board.history if played.player == player] for player in (0, 1)]
    lines = [setup_text(rows[0], v), "ready"]
    for played in moves[0]:
        source, target = map(v.square_name, played.move)
        lines += ["moves", f"why {source}{target}", f"moves {source}", f"why {target}{source}", f"{source} {target}"]
    agent = Puppet(parse_setup(setup_text(rows[1], v), v), [played.move for played in moves[1]])
    _, screen = sit_down(typing([*lines, "help", "undo"]), agent, variant=v)
    assert screen.count("Move ") == len(moves[0]) + 2  # every turn, and the one taken back
    return re.sub(r"(?s)Go on with this game by.*", "", screen)


@pytest.mark.parametrize(("variant", "seed"), [("barrage", 1), ("barrage", 2), ("classic", 3), ("duel", 4)])
def test_the_screen_is_the_same_whatever_the_hidden_pieces_are(variant: str, seed: int) -> None:
    board, twin = a_game_and_its_twin(variant, seed, plies=40 if variant == "classic" else 14)
    assert screen_of(board) == screen_of(twin)


def test_a_planted_leak_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaky(_: TerminalGame, board: Board) -> Look:
        return board

    monkeypatch.setattr(TerminalGame, "_look", leaky)
    board, twin = a_game_and_its_twin("barrage", 1, plies=14)
    assert screen_of(board) != screen_of(twin)
