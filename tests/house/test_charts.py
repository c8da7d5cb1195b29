"""Charts: round numbers, places, and elements that any reader of SVG takes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as some

from vauban import charts
from vauban.charts import Scale, number_text


@given(some.floats(-1e6, 1e6), some.floats(1e-3, 1e6), some.integers(2, 12))
def test_a_rounded_scale_reaches_around_its_numbers_with_few_round_ones(low: float, span: float, about: int) -> None:
    scale = Scale.rounded(low, low + span, 0, 100, about)
    slack = 1e-6 * scale.step
    assert scale.low - slack <= low and low + span <= scale.high + slack
    assert 2 <= len(scale.ticks) <= about + 3
    assert scale.at(scale.low) == 0 and scale.at(scale.high) == pytest.approx(100)
    leading = float(f"{scale.step:e}".partition("e")[0])
    assert leading in (1, 2, 5)


def test_numbers_of_an_axis_have_as_many_digits_as_their_neighbours() -> None:
    assert [number_text(each, 0.5) for each in (-0.5, 0, 1)] == ["−0.5", "0.0", "1.0"]
    assert [number_text(each, 1e5) for each in (0, 1e5)] == ["0.0 M", "0.1 M"]
    assert number_text(0.5, 0.25, share=True) == "50 %"


def test_whatever_is_said_in_a_drawing_it_can_be_read() -> None:
    words = 'a < b & "c"'
    parts = [
        charts.text(1, 2, words),
        charts.group([charts.rect(0, 0, 5, 5), charts.dot(1, 1, 2), charts.line(0, 0, 1, 1)], words, "run"),
    ]
    root = ElementTree.fromstring(charts.svg(10, 20, words, words, parts, "7"))
    assert [each.text for each in root.iter() if each.text] == [words] * 4
    assert root.get("aria-labelledby") == f"{root[0].get('id')} {root[1].get('id')}" == "title7 about7"


def test_axes_name_round_numbers_or_others_in_words_of_their_own() -> None:
    x, y = Scale.fitting(0, 4, 40, 200, 10), Scale.fitting(0, 2, 100, 10, 2)
    picture = charts.picture(240, 140, "a heading", "about it", [*charts.grid(x, y), *charts.axis(x, y, "moves")])
    assert words(picture) == ["a heading", "0", "1", "2", *(f"{half / 2:.1f}" for half in range(9)), "moves"]
    assert words(charts.svg(9, 9, "", "", charts.axis(x, y, "moves", whole=True))) == [*"01234", "moves"]
    powers = charts.grid(x, y, lambda tick: f"{10**tick:g}", [0, 2])
    assert words(charts.svg(9, 9, "", "", powers)) == ["1", "100"]
    assert [each.count("<line") for each in (picture, "".join(powers))] == [3 + 9 + 1, 2]


def words(drawing: str) -> list[str]:
    """Return the words that are drawn, in their order."""
    return [each.text or "" for each in ElementTree.fromstring(drawing).iter() if each.tag.endswith("text")]


@pytest.mark.parametrize(("name", "shown"), [("short", "short"), ("a long name", "a lo…")])
def test_names_are_shortened_to_fit(name: str, shown: str) -> None:
    assert charts.shortened(name, 5) == shown
    assert charts.text_width(shown) <= charts.text_width(name)
