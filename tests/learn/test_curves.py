"""Learning curves: what is drawn is what was measured, where the axes say; and the copy of a run that is kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.learn.curves import COLOURS, MANY, Against, RunMetrics, curves_svg, make_panels, read_runs
from vauban.learn.journal import read_metrics
from vauban.learn.metrics import metrics

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import keep_run  # noqa: E402  (the script, not a module of the package)

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]
Metrics = dict[str, float]


def course(count: int, slope: float = 1.0, **more: float) -> list[Metrics]:
    """Lines of a run whose entropy wanders and whose other metrics stand still."""
    return [
        {
            "iteration": float(n), "minutes": n * 0.5, "moves": n * 250_000.0,
            "moves.entropy": 3 - slope * n / count + 0.1 * (n % 3), "play.draws": 0.25, **more,
        }
        for n in range(1, count + 1)
    ]  # fmt: skip


def belief(steps: Iterable[int]) -> list[Metrics]:
    """Lines of a belief in training."""
    return [
        {
            "iteration": 20.0, "minutes": 10.0, "moves": 5e6, "belief.steps": float(step),
            "belief.validation": 1 + 100 / step, "belief.marginal": 1.75, "belief.uniform": 1.5,
        }
        for step in steps
    ]  # fmt: skip


def write_run(folder: Path, lines: Sequence[Metrics]) -> Path:
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


class Picture:
    """A picture as somebody reads it: panels by title, lines by run, numbers by the labels of the axes."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        self.panels = {
            self.texts(panel, "title")[0][0]: panel for panel in self.root.iter(f"{SVG}g") if kind(panel) == "panel"
        }

    @staticmethod
    def texts(parent: ElementTree.Element, wanted: str) -> list[tuple[str, float, float, str]]:
        """Texts of a kind: what they say, where, and how they are anchored."""
        return [
            (each.text or "", float(each.attrib["x"]), float(each.attrib["y"]), each.get("text-anchor", "start"))
            for each in parent.iter(f"{SVG}text")
            if kind(each) == wanted
        ]

    @property
    def words(self) -> list[str]:
        return [each.text or "" for each in self.root.iter(f"{SVG}text")]

    def ticks(self, title: str, down: bool) -> list[Point]:
        """(number, place) along an axis of a panel."""
        anchor = "end" if down else "middle"
        found = [(text, y if down else x) for text, x, y, at in self.texts(self.panels[title], "soft") if at == anchor]
        return [(number, place) for text, place in found if (number := read(text)) is not None]

    def curve(self, title: str, run: str) -> list[Point]:
        """The points of a line, in the numbers of the axes."""
        x, y = (self._reader(title, down) for down in (False, True))
        return [(x(a), y(b)) for a, b in places(self._of_run(title, run), "polyline")]

    def band(self, title: str, run: str) -> list[Point]:
        x, y = (self._reader(title, down) for down in (False, True))
        return [(x(a), y(b)) for a, b in places(self._of_run(title, run), "polygon")]

    def runs(self, title: str) -> list[str]:
        return [label for label, _ in self._groups(title)]

    def _groups(self, title: str) -> list[tuple[str, ElementTree.Element]]:
        groups = [each for each in self.panels[title].iter(f"{SVG}g") if kind(each) == "run"]
        return [(group.findtext(f"{SVG}title") or "", group) for group in groups]

    def _of_run(self, title: str, run: str) -> ElementTree.Element:
        [found] = [group for label, group in self._groups(title) if label == run]
        return found

    def _reader(self, title: str, down: bool) -> Callable[[float], float]:
        """From a place to the number there, by the first and the last label of the axis."""
        (low, start), *_, (high, end) = self.ticks(title, down)
        # A label stands a little below the line that it belongs to.
        start, end = (start - 4, end - 4) if down else (start, end)
        return lambda place: low + (place - start) / (end - start) * (high - low)


def kind(element: ElementTree.Element) -> str:
    return element.get("class", "")


def read(text: str) -> float | None:
    found = re.fullmatch(r"([−\d.,]+)( %| k| M)?", text)
    if not found:
        return None
    number = float(found[1].replace("−", "-").replace(",", ""))
    return number * {" %": 0.01, " k": 1e3, " M": 1e6, None: 1}[found[2]]


def places(group: ElementTree.Element, shape: str) -> list[Point]:
    text = group.find(f"{SVG}{shape}").attrib["points"]  # type: ignore[union-attr]
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]


def drawn(*runs: RunMetrics, against: Against = Against.MOVES, metrics: Sequence[str] = ()) -> Picture:
    return Picture(curves_svg(runs, make_panels(runs, against, metrics)))


def close(found: Sequence[Point], wanted: Sequence[Point], x: float, y: float) -> bool:
    """Return whether points are where they should be, up to what a picture can show."""
    return len(found) == len(wanted) and all(
        abs(a - c) <= x and abs(b - d) <= y for (a, b), (c, d) in zip(found, wanted, strict=True)
    )


# ── Points and axes ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("against", "axis", "unit"),
    [
        ("moves", "moves played (millions)", 0.25),
        ("minutes", "minutes of training", 0.5),
        ("iterations", "iterations", 1),
    ],
)
def test_points_are_where_the_axes_say(against: str, axis: str, unit: float) -> None:
    lines = course(20)
    picture = drawn(RunMetrics("one", lines), RunMetrics("two", course(10, 2.5)), against=Against(against))
    wanted = [(line["iteration"] * unit, line["moves.entropy"]) for line in lines]
    found = picture.curve("Entropy of the moves", "one")
    assert close(found, wanted, unit * 0.05, 0.005), (found, wanted)
    assert not close(found, [(x, y + 0.02) for x, y in wanted], unit * 0.05, 0.005)
    assert len(picture.curve("Entropy of the moves", "two")) == 10
    assert axis in picture.words


def test_shares_are_in_per_cent() -> None:
    picture = drawn(RunMetrics("one", course(20)))
    assert any(text.endswith(" %") for text, *_ in picture.texts(picture.panels["Drawn games"], "soft"))
    assert {round(y, 3) for _, y in picture.curve("Drawn games", "one")} == {0.25}


def test_axes_have_round_numbers_and_few_of_them() -> None:
    for size in (0.00037, 0.42, 3.3, 77.0, 12_345.0, 8_640_000.0):
        run = RunMetrics("one", [{"iteration": n, "moves": n * size, "play.plies": n * size} for n in range(1, 9)])
        picture = drawn(run)
        for down in (False, True):
            numbers = [number for number, _ in picture.ticks("Length of a game", down)]
            step = numbers[1] - numbers[0]
            assert 3 <= len(numbers) <= 10, numbers
            assert float(f"{step:.0e}") in [pytest.approx(step)], numbers
            assert f"{step:.0e}"[0] in "125", numbers


@pytest.mark.parametrize("value", [0.0, 3e-5, -2.0, 1e9])
def test_a_metric_that_never_changes_is_a_level_line(value: float) -> None:
    picture = drawn(RunMetrics("one", course(400, **{"moves.learning_rate": value})), metrics=["moves.learning_rate"])
    [line] = [group for _, group in picture._groups("moves: learning rate")]
    assert len({y for _, y in places(line, "polyline")}) == 1
    labels = [text for text, _, _, at in picture.texts(picture.panels["moves: learning rate"], "soft") if at == "end"]
    assert len(labels) >= 3
    assert len(set(labels)) == len(labels)


def test_a_run_of_one_line_is_a_dot() -> None:
    picture = drawn(RunMetrics("one", course(1)))
    [group] = [group for _, group in picture._groups("Entropy of the moves")]
    [dot], [point] = list(group.iter(f"{SVG}circle")), places(group, "polyline")
    assert (float(dot.attrib["cx"]), float(dot.attrib["cy"])) == point


def test_what_is_not_a_number_is_left_out() -> None:
    lines = course(5)
    lines[2]["moves.entropy"] = float("nan")
    lines[3]["moves.entropy"] = float("inf")
    assert [round(x, 2) for x, _ in drawn(RunMetrics("one", lines)).curve("Entropy of the moves", "one")] == [
        0.25, 0.5, 1.25,
    ]  # fmt: skip


# ── Panels ───────────────────────────────────────────────────────────────────────────────────────────


def test_metrics_that_no_run_has_get_no_panel_and_those_that_one_has_get_one() -> None:
    one = RunMetrics("one", course(5))
    two = RunMetrics("two", course(5, **{"setups.entropy": 20.0}))
    assert list(drawn(one).panels) == ["Entropy of the moves", "Drawn games"]
    picture = drawn(one, two)
    assert list(picture.panels) == ["Entropy of the moves", "Drawn games", "Entropy of the setups"]
    assert picture.runs("Drawn games") == ["one", "two"]
    assert picture.runs("Entropy of the setups") == ["two"]


def test_chosen_metrics_replace_the_usual_ones_and_a_star_stands_for_many() -> None:
    run = RunMetrics("one", course(5, **{"play.end.flag": 0.9, "play.end.no_moves": 0.1, "moves.clip_rate": 0.3}))
    picture = drawn(run, metrics=["moves.clip_rate", "play.end.*", "moves.clip_rate"])
    assert list(picture.panels) == ["moves: clip rate", "play: end.flag", "play: end.no moves"]
    assert "play.end.no_moves" in picture.words


def test_every_opponent_has_a_panel_with_the_intervals_of_the_scores() -> None:
    lines = course(8)
    for n in (3, 7):
        lines[n] |= {"score.cadet": 0.1 * n, "score_low.cadet": 0.1 * n - 0.05, "score_high.cadet": 0.1 * n + 0.05}
    lines[7]["score.fox:setups=human"] = 0.5
    picture = drawn(RunMetrics("one", lines))
    assert list(picture.panels)[:2] == ["Score against cadet", "Score against fox:setups=human"]
    assert close(picture.curve("Score against cadet", "one"), [(1.0, 0.3), (2.0, 0.7)], 0.02, 0.005)
    around = [(1.0, 0.35), (2.0, 0.75), (2.0, 0.65), (1.0, 0.25)]
    assert close(picture.band("Score against cadet", "one"), around, 0.02, 0.005)


def test_a_belief_is_drawn_against_its_own_steps_beside_what_it_is_compared_with() -> None:
    run = RunMetrics("one", [*course(20), *belief(range(100, 2100, 100))])
    picture = drawn(run)
    assert sorted(picture.runs("Loss of the belief")) == ["one", "one: marginal", "one: uniform"]
    found = picture.curve("Loss of the belief", "one")
    assert close(found, [(step, 1 + 100 / step) for step in range(100, 2100, 100)], 8, 0.005)
    assert {round(y, 2) for _, y in picture.curve("Loss of the belief", "one: marginal")} == {1.75}
    lines = picture.panels["Loss of the belief"].iter(f"{SVG}polyline")
    dashes = {line.get("stroke-dasharray") for line in lines}
    assert len(dashes) == 3
    # What a line of the belief says of moves and minutes has been said before.
    assert len(drawn(run, metrics=["minutes"]).curve("minutes", "one")) == 20


def test_panels_are_explained_by_the_meanings_of_their_metrics() -> None:
    picture = drawn(RunMetrics("one", course(5)))
    assert picture.panels["Drawn games"].findtext(f"{SVG}title") == metrics()["play.draws"].meaning


# ── Smoothing ────────────────────────────────────────────────────────────────────────────────────────


def test_lines_are_smoothed_only_if_points_are_close_and_then_the_picture_says_so() -> None:
    few, many = RunMetrics("few", course(MANY - 1)), RunMetrics("many", course(MANY * 2))
    assert not any("smoothed" in text for text in drawn(few).words)
    picture = drawn(many)
    assert "Lightly smoothed where points are close: many (means of 5 points)" in picture.words
    found = picture.curve("Entropy of the moves", "many")
    heights = [line["moves.entropy"] for line in many.lines]
    assert found[100][1] == pytest.approx(sum(heights[98:103]) / 5, abs=0.005)
    assert (found[0][1], found[-1][1]) == pytest.approx((heights[0], heights[-1]), abs=0.005)


def test_a_short_run_beside_a_long_one_is_close_as_well() -> None:
    picture = drawn(RunMetrics("short", course(MANY // 2)), RunMetrics("long", course(2 * MANY)))
    assert "Lightly smoothed where points are close: short, long (means of 5 points)" in picture.words


def test_a_run_of_many_thousand_iterations_is_still_a_small_picture() -> None:
    runs = [RunMetrics("one", course(20_001))]
    svg = curves_svg(runs, make_panels(runs))
    assert len(svg) < 30_000
    found = Picture(svg).curve("Entropy of the moves", "one")
    for number in (0, -1):
        line = runs[0].lines[number]
        assert found[number][0] == pytest.approx(line["moves"] / 1e6, abs=2)
        assert found[number][1] == pytest.approx(line["moves.entropy"], abs=0.005)


# ── The picture as a whole ───────────────────────────────────────────────────────────────────────────


def test_the_runs_are_named_in_the_legend_with_their_colours() -> None:
    names = [f"run {number}" for number in range(8)]
    picture = drawn(*(RunMetrics(name, course(5)) for name in names))
    assert [text for text, *_ in picture.texts(picture.root, "name")] == names
    swatches = [each.attrib["stroke"] for each in picture.root.iter(f"{SVG}line") if each.get("stroke")]
    of_lines = [group.attrib["stroke"] for _, group in picture._groups("Drawn games")]
    assert swatches == of_lines == list(COLOURS)
    assert len(set(COLOURS)) == 8


def test_names_are_escaped_and_the_picture_can_be_read_aloud() -> None:
    picture = drawn(RunMetrics('<b> & "c"', course(4, **{"score.<i>": 0.5})))
    assert '<b> & "c"' in picture.words
    assert "Score against <i>" in picture.panels
    title, about = picture.root.find(f"{SVG}title"), picture.root.find(f"{SVG}desc")
    assert title is not None and title.text == 'Learning curves of <b> & "c"'
    assert about is not None and 'Entropy of the moves: <b> & "c" from 2.85 to 2.1.' in (about.text or "")
    assert picture.root.attrib["aria-labelledby"].split() == [title.get("id"), about.get("id")]


def test_everything_is_inside_the_picture_whatever_the_names() -> None:
    picture = drawn(*(RunMetrics(f"{n} {'long ' * 30}", course(5)) for n in range(8)))
    _, _, width, height = map(float, picture.root.attrib["viewBox"].split())
    for text, x, y, _ in picture.texts(picture.root, "name"):
        assert x + 6 * len(text) < width
        assert y < height
    assert len({(x, y) for _, x, y, _ in picture.texts(picture.root, "name")}) == 8
    panel_tops = [float(each.attrib["transform"].split()[1][:-1]) for each in picture.panels.values()]
    assert max(y for _, _, y, _ in picture.texts(picture.root, "name")) < min(panel_tops)


# ── Reading runs ─────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_called_as_its_folder_and_a_file_as_itself(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "runs" / "v1.2", course(3))
    file = tmp_path / "kept.jsonl"
    file.write_text((folder / "metrics.jsonl").read_text())
    other = write_run(tmp_path / "runs" / "other", course(3))
    runs = read_runs([folder, file, other / "metrics.jsonl"])
    assert [run.name for run in runs] == ["v1.2", "kept", "other"]
    assert all(run.lines == course(3) for run in runs)


def test_folders_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    paths = [write_run(tmp_path / each, course(3)) for each in ("x/a/run", "y/a/run", "y/b/run", "z")]
    assert [run.name for run in read_runs(paths)] == ["x/a/run", "y/a/run", "b/run", "z"]


def test_a_run_that_was_killed_while_writing_is_read_up_to_there(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", course(3))
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 4.0, "minu')
    for path in (folder, folder / "metrics.jsonl"):
        assert len(read_runs([path])[0].lines) == 3


def test_what_is_no_run_is_refused_with_what_to_do(tmp_path: Path) -> None:
    run = write_run(tmp_path / "runs" / "first", course(3))
    empty = write_run(tmp_path / "empty", [])
    games = tmp_path / "games.jsonl"
    games.write_text('{"agent": "fox"}\n')
    text = tmp_path / "notes.txt"
    text.write_text("nothing")
    wrong = {
        tmp_path / "nowhere": "there is no .*nowhere: name the folder of a run",
        run.parent: f"it has no metrics.jsonl: did you mean {re.escape(str(run))}?",
        tmp_path: "it has no metrics.jsonl: .*",
        empty: "empty has no metrics yet",
        games: "games.jsonl: line 1 is not one of a run's metrics, .*fox",
        text: "notes.txt cannot be read as metrics",
    }
    for path, sentence in wrong.items():
        with pytest.raises(ConfigurationError, match=sentence):
            read_runs([path])
    with pytest.raises(ConfigurationError, match="first is given twice"):
        read_runs([run, run / "metrics.jsonl"])
    with pytest.raises(ConfigurationError, match="colours for 8 runs, and these are 9"):
        read_runs([run] * 9)


def test_metrics_that_are_not_there_are_refused_with_what_to_do() -> None:
    runs = [RunMetrics("one", course(3))]
    with pytest.raises(ConfigurationError, match="no run has a metric 'moves.entropi': did you mean 'moves.entropy'"):
        make_panels(runs, metrics=["moves.entropi"])
    with pytest.raises(ConfigurationError, match="none of the runs has measured 'belief.loss'"):
        make_panels(runs, metrics=["belief.loss"])
    with pytest.raises(ConfigurationError, match="nothing to draw; .*--metric: iteration, moves, odd"):
        make_panels([RunMetrics("one", [{"iteration": 1, "moves": 2, "odd": 3}])])


# ── The command ──────────────────────────────────────────────────────────────────────────────────────


def test_the_command_writes_the_picture_and_says_what_is_in_it(tmp_path: Path) -> None:
    first, second = (write_run(tmp_path / name, course(4)) for name in ("first", "second"))
    out = tmp_path / "curves.svg"
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["curves", str(first), str(second), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "curves.svg: 2 panels, 2 runs (first, second)" in done.output
    assert list(Picture(out.read_text(encoding="utf-8")).panels) == ["Entropy of the moves", "Drawn games"]
    options = ["--metric", "minutes", "--against", "iterations", "--json"]
    done = CliRunner().invoke(app, ["curves", str(first), "--out", str(out), *options])
    told = json.loads(done.output.splitlines()[-1])
    assert told == {"out": str(out), "runs": ["first"], "panels": [["minutes"]]}
    picture = Picture(out.read_text(encoding="utf-8"))
    assert close(picture.curve("minutes", "first"), [(1, 0.5), (2, 1), (3, 1.5), (4, 2)], 0.05, 0.02)


def test_the_command_refuses_in_a_sentence_and_writes_nothing(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", course(4))
    wrong = {
        ("run", "--out", "curves.png"): "error: --out curves.png: the picture is SVG",
        ("run", "--out", "no/where.svg"): "error: --out no/where.svg: it cannot be written",
        ("run", "--out", "a.svg", "--metric", "play.drawn"): "did you mean 'play.draws'?",
        ("ran", "--out", "a.svg"): "error: there is no ran",
    }
    for arguments, sentence in wrong.items():
        command = [sys.executable, "-m", "vauban", "curves", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [run.name]


# ── The copy that is kept ────────────────────────────────────────────────────────────────────────────


def test_a_kept_run_has_few_lines_evenly_spread_with_all_that_was_scored_and_believed() -> None:
    lines = course(1000)
    lines[500]["score.cadet"] = 0.512345678
    kept = keep_run.thinned([*lines, *belief(range(100, 400, 100))])
    moves = [line for line in kept if "belief.steps" not in line]
    assert len(kept) == 80 + 1 + 3
    assert (moves[0]["iteration"], moves[-1]["iteration"]) == (1, 1000)
    assert {line["iteration"] for line in moves if "score.cadet" in line} == {501}
    spread = [line["iteration"] for line in moves if line["iteration"] != 501]
    assert {int(b - a) for a, b in pairwise(spread)} == {12, 13}
    assert len(keep_run.thinned(course(30))) == 30
    assert len(keep_run.thinned(course(1))) == 1


def test_a_kept_line_has_the_metrics_that_matter_in_five_digits() -> None:
    line = {
        "iteration": 3.0, "moves": 123_456_789.0, "moves.entropy": 1.23456789, "moves.learning_rate": 0.000123456,
        "moves.policy_loss": 1.0, "seconds.collect": 2.0, "setups.entropy": 15.49707, "setups.loss": 1.0,
        "score.fox": 0.123456, "score_low.fox": 0.1, "score_high.fox": 0.2,
    }  # fmt: skip
    assert keep_run.thinned([line]) == [
        {
            "iteration": 3, "moves": 123_460_000, "moves.entropy": 1.2346, "moves.learning_rate": 0.00012346,
            "setups.entropy": 15.497, "score.fox": 0.12346, "score_low.fox": 0.1, "score_high.fox": 0.2,
        }
    ]  # fmt: skip


def test_a_kept_run_can_be_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, out = write_run(tmp_path / "run", course(200)), tmp_path / "kept" / "mine.jsonl"
    monkeypatch.setattr(sys, "argv", ["keep_run.py", str(folder), str(out)])
    keep_run.main()
    [run] = read_runs([out])
    assert (run.name, len(run.lines)) == ("mine", 80)
    whole = {line["moves"]: line["moves.entropy"] for line in read_metrics(folder)}
    for x, y in drawn(run).curve("Entropy of the moves", "mine"):
        assert y == pytest.approx(whole[round(x * 4) * 250_000], abs=0.005)
