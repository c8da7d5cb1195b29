"""The docs: generated pages are up to date, links lead somewhere, code runs, tables are those of the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vauban.board import Board
from vauban.games.base import game, names
from vauban.games.stratego import layout
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.switches import DEFAULT_PRESET, PRESETS, SWITCHES
from vauban.games.stratego.variants import VARIANTS, load_variant
from vauban.learn.config import load_config, presets

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

sys.path.insert(0, str(ROOT / "scripts"))
import write_docs  # noqa: E402  (the script, not a module of the package)

SMALLER = {"1024": "64", "range(100)": "range(3)"}
"""Smaller numbers in place of the README's: its examples are for a larger machine than the one that tests them."""


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


ELSEWHERE_RUN = ("docs/adding-a-game.md", "docs/envs.md", "docs/external-bots.md", "docs/openspiel.md")
"""Pages whose code is run by the tests of what they are about."""
RUN = [
    name for page, name in zip(PAGES, NAMES, strict=True)
    if name not in ELSEWHERE_RUN and blocks(page.read_text(encoding="utf-8"), "python")
]  # fmt: skip


def test_generated_pages_are_up_to_date() -> None:
    # In a process of its own: other tests register games and observations that no page knows.
    check = [sys.executable, str(ROOT / "scripts" / "write_docs.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, f"out of date, run `make docs`: {done.stdout}{done.stderr}"


def test_an_observation_without_words_is_noticed() -> None:
    with pytest.raises(SystemExit, match="channel 1 .'b'. has no words"):
        write_docs.ranges(["a", "b"], [("a", "the first")], "letters")
    with pytest.raises(SystemExit, match="channel 0 is not 'b'"):
        write_docs.ranges(["a", "b"], [("b", "the second")], "letters")


@pytest.mark.parametrize("tracks", [True, False])
@pytest.mark.parametrize("name", ["classic", "duel", "nano"])
def test_the_table_of_the_record_has_every_part_of_it_once(name: str, tracks: bool) -> None:
    played = game(name)
    ends = {"word": 0, "half": 0, "byte": 0}
    for field in layout.fields(played.board[0] * played.board[1], 256, tracks):
        assert field.offset == ends[field.unit], f"{field.name} does not follow the field before it"
        ends[field.unit] += field.length
    assert tuple(ends.values()) == tuple(played.format(tracks=tracks).shape)


# ── Links ────────────────────────────────────────────────────────────────────────────────────────


def anchors(page: Path) -> set[str]:
    """Return the headings of a page, as links name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"(?:\]\(|src=\")([^)\"\s]+)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {link}, and there is no such file"
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {link}, and there is no such heading"


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        assert name == "README.md" or f"({name})" in index, f"docs/README.md does not link to {name}"


def test_the_site_has_every_page_once() -> None:
    """`make site` needs mkdocs; the navigation can be read without."""
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    _, _, navigation = site.partition("\nnav:\n")
    named = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", navigation, re.MULTILINE)
    assert len(named) == len([line for line in navigation.splitlines() if line.endswith(".md")]), "a line is not read"
    outside = re.findall(r'"([\w.]+\.md)": "([\w.]+\.md)"', (ROOT / "scripts" / "site_hooks.py").read_text("utf-8"))
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    brought = [place for source, place in outside if source != "README.md" and (ROOT / source).is_file()]
    assert sorted(named) == sorted(pages + brought), "mkdocs.yml: nav has other pages than docs/"


def glued(text: str) -> list[str]:
    """List the lines that begin a list without an empty line before it: GitHub shows a list, the site a paragraph."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    found, before = [], ""
    for line in text.splitlines():
        begins = re.match(r"(?:[*-]|1\.) ", line)
        inside = before.startswith((" ", "* ", "- ")) or re.match(r"\d+\. ", before)
        if begins and before and not inside:
            found.append(line)
        before = line
    return found


def test_a_list_that_the_site_would_run_together_is_noticed() -> None:
    assert glued("Two things:\n* one\n* two\n") == ["* one"]
    assert not glued("Two things:\n\n* one,\n  which goes on\n* two\n\n```\ntext\n- 3\n```\n")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_lists_are_lists_on_the_site(page: Path) -> None:
    assert not glued(page.read_text(encoding="utf-8")), page.name


# ── Code and tables ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", RUN)
def test_code_on_the_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page, in order, as one program; its TOML blocks lie beside it as files."""
    text = (ROOT / name).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in blocks(text, "toml"):
        variant = re.search(r'^name = "(.+)"', block, re.MULTILINE)
        file = Path(f"{variant[1]}.toml" if variant else "configuration.toml")
        file.write_text(block, encoding="utf-8")
        if variant is None:
            load_config(str(file))  # refuses what is no configuration of a run
    space: dict[str, object] = {}
    found = blocks(text, "python")
    assert found, f"{name} has no code"
    for number, block in enumerate(found, 1):
        for large, small in SMALLER.items():
            block = block.replace(large, small)
        exec(compile(block, f"{name}, block {number}", "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_timed_line_imports_is_there(page: Path) -> None:
    for line in re.findall(r"^.*-m timeit .*$", page.read_text(encoding="utf-8"), re.MULTILINE):
        for statement in re.findall(r"(?:from [\w.]+ )?import [^;\"]+", line):
            exec(statement, {})


def test_the_variant_in_the_rules_can_be_played(tmp_path: Path) -> None:
    [block] = blocks((DOCS / "rules.md").read_text(encoding="utf-8"), "toml")
    path = tmp_path / "skirmish.toml"
    path.write_text(block, encoding="utf-8")
    variant = load_variant(path)
    assert (variant.name, variant.rows, variant.columns, variant.lakes) == ("skirmish", 6, 6, (14, 21))
    assert (variant.army_text, variant.total_limit, variant.battleless_limit) == ("F1 S1 O2 N1 M1 B1", 300, 100)
    board = Board.random(str(path), seed=1)
    board.push(board.legal_moves[0])


def cells(page: str) -> dict[str, list[list[str]]]:
    """Return the rows of a page's tables, by the text in their first cell between backticks."""
    rows: dict[str, list[list[str]]] = {}
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\| `([\w-]+)` \|(.*)\|$", line):
            rows.setdefault(match[1], []).append([cell.strip() for cell in match[2].split("|")])
    return rows


def test_the_switches_in_the_rules_are_those_of_the_code() -> None:
    rows = cells("rules.md")
    defaults = Stratego("classic").rules
    for switch, values in SWITCHES.items():
        [[shown, default, _]] = rows[switch]
        assert shown == ("a number, none" if values is None else ", ".join(values)), switch
        assert default == ("the variant's" if values is None else str(getattr(defaults, switch))), switch


def test_the_presets_in_the_rules_are_those_of_the_code() -> None:
    rows = cells("rules.md")
    for preset, switches in PRESETS.items():
        assert list(switches.values()) in rows[preset], preset
    assert f"`{DEFAULT_PRESET}` is the default" in (DOCS / "rules.md").read_text(encoding="utf-8")


def test_the_variants_in_the_rules_are_those_of_the_code() -> None:
    rows = cells("rules.md")
    for name, v in VARIANTS.items():
        lakes = " ".join(v.square_name(lake) for lake in v.lakes) or "none"
        limits = [str(limit or "none") for limit in (v.total_limit, v.battleless_limit)]
        wanted = [f"{v.rows} × {v.columns}", lakes, str(v.setup_rows), v.army_text, *limits]
        assert wanted in rows[name], name
    assert set(VARIANTS) == {name for name in names() if isinstance(game(name), Stratego)}


def test_every_preset_is_in_the_docs_and_bears_the_name_of_its_algorithm() -> None:
    page = (DOCS / "training.md").read_text(encoding="utf-8")
    for name in presets():
        assert f"`{name}`" in page, f"the table of presets in docs/training.md lacks {name}"
        algorithm = load_config(name).algorithms[0].replace("_", "-")
        assert name == "laptop" or name.startswith(f"{algorithm}-"), f"{name} trains by {algorithm}"


# ── The repository ───────────────────────────────────────────────────────────────────────────────

HOMES = "|".join(("work", "home", "root", "Users"))
SOMEBODYS_PATH = re.compile(rb"(?<![\w.~}-])/(?:" + HOMES.encode() + rb")/[\w.-]*")
"""An absolute path below a person's home; pieced together, so that this file does not hold one."""


def test_a_path_of_a_persons_machine_is_noticed() -> None:
    for home in HOMES.split("|"):
        assert SOMEBODYS_PATH.search(f"see /{home}/anna/notes".encode()), home
        assert not SOMEBODYS_PATH.search(f"https://example.org/{home}/page, docs/{home}/page".encode()), home


def test_no_file_names_a_path_of_a_persons_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        found = SOMEBODYS_PATH.search(path.read_bytes()) if path.is_file() else None
        assert not found, f"{name} holds {found[0].decode()}" if found else ""


ELSEWHERE = "|".join(("RULES", "GAMES", "PROTOCOLS", "BOTS", "EQUILIBRIUM", "STATISTICS", "USERS", "DESIGN"))
CITED = re.compile(rf"\b(?:{ELSEWHERE})(?:\.md\b| §)|\bATARAXOS_REFERENCE_[12]")


def test_a_document_that_is_not_here_is_noticed() -> None:
    for cited in ("RULES" + ".md", "BOTS" + " §2", "ATARAXOS_REFERENCE" + "_1"):
        assert CITED.search(f"see {cited}"), cited
    assert not CITED.search("docs/rules.md, BOTS = 3")


def test_code_cites_documents_that_are_in_the_repository() -> None:
    for folder in ("src", "tests", "scripts", "benchmarks", "examples", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".py", ".md", ".js", ".toml") or path == Path(__file__):
                continue
            found = CITED.search(path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(ROOT)} cites {found[0]}" if found else ""


QUESTION = re.compile(r"(?:What|Who|Whom|Whose|How|Where|When|Which|Why)\b")
CONDITION = re.compile(r"(?:Whether|True if|True where)\b")


def questions(source: str) -> list[str]:
    """Return the first lines of docstrings that are indirect questions; of functions also conditions."""
    found = []
    for node in ast.walk(ast.parse(source)):
        inside = getattr(node, "body", None)
        for place, line in enumerate(inside if isinstance(inside, list) else []):
            if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)):
                continue
            said = line.value.value
            verbal = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
                "property" in ast.unparse(each) for each in node.decorator_list
            )
            if isinstance(said, str) and (
                QUESTION.match(said.strip()) or (verbal and place == 0 and CONDITION.match(said))
            ):
                found.append(said.strip().splitlines()[0])
    return found


def test_a_docstring_that_is_a_question_is_noticed() -> None:
    asked = '''"""What a game is worth."""
def right(x):
    """Whether it is."""
def worth(x):
    """Return whether it is. What it is worth comes later."""
class Game:
    name: str
    """How it is called."""
    @property
    def over(self):
        """Whether it is over."""
'''
    assert questions(asked) == ["What a game is worth.", "Whether it is.", "How it is called."]


def test_docstrings_are_no_questions() -> None:
    for folder in ("src", "tests", "scripts", "benchmarks", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found = questions(path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(ROOT)}: write a noun, or begin with a verb: {found}"
