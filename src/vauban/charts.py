"""Charts as SVG: scales with round numbers, and the elements of a drawing.

    x = Scale.fitting(0, 250, start=40, end=600, about=8)
    parts = [line(x.at(tick), 10, x.at(tick), 200, "grid") for tick in x.ticks]
    picture = svg(640, 240, "Length of games", "Most games have 40 to 60 plies.", parts)

Colours and fonts belong to the page or the file that a drawing stands in: elements name classes of its style sheet.
Text is escaped here. `picture` makes a file of its own, with `STYLE` for its style sheet and a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

LETTER, WIDE_LETTER = 8.2, 14.0
"""Most pixels that a letter of 13 pixels is wide: most letters, and `WIDE_LETTERS`."""
WIDE_LETTERS = "MWmw@%—…"

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#c25b95", "#e69f00", "#4aa8dc", "#3d4147", "#882255")
"""Colours of curves, in order. Colour-blind readers can tell them apart (Okabe and Ito, for white paper)."""
MARGIN = 28.0
"""Around what stands in a picture."""
STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1f2328; }
.heading { font-size: 18px; font-weight: 600; }
.name { font-size: 13px; }
.title { font-size: 14px; font-weight: 600; }
.soft { font-size: 11px; fill: #59636e; font-variant-numeric: tabular-nums; }
.grid { stroke: #e8eaed; } .axis { stroke: #8c959f; }
.curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
.band { fill-opacity: 0.13; stroke-opacity: 0.13; stroke-width: 2; stroke-linejoin: round; }
"""
"""The style sheet of a picture."""

Point = tuple[float, float]
Wording = Callable[[float], str]
"""The text of a round number on an axis."""


# ── Scales ───────────────────────────────────────────────────────────────────────────────────────


def round_step(span: float, about: int) -> float:
    """Return the round number (1, 2 or 5 times a power of ten) that divides a span into at most `about` parts."""
    power: float = 10.0 ** math.floor(math.log10(span / about))
    return next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= about)


@dataclass(frozen=True)
class Scale:
    """A scale from the numbers of an axis to places in a drawing, and the round numbers on it."""

    low: float
    high: float
    start: float
    end: float
    step: float

    @classmethod
    def fitting(cls, low: float, high: float, start: float, end: float, about: int) -> Scale:
        """Return a scale from low to high, with about `about` round numbers."""
        return cls(low, high, start, end, round_step(high - low, about))

    @classmethod
    def rounded(cls, low: float, high: float, start: float, end: float, about: int) -> Scale:
        """Return a scale from the round number below the low to that above the high."""
        step = round_step((high - low) or 1, about)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, max(last, first + 1) * step, start, end, step)

    @property
    def ticks(self) -> list[float]:
        """The round numbers."""
        near = 1e-9
        first, last = math.ceil(self.low / self.step - near), math.floor(self.high / self.step + near)
        return [number * self.step for number in range(first, last + 1)]

    def at(self, value: float) -> float:
        """Return the place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class PowerScale:
    """A scale on which equal distances are equal ratios; of numbers above 0."""

    low: float
    high: float
    start: float
    end: float

    @property
    def ticks(self) -> list[float]:
        """Powers of ten, or 1, 2 and 5 times these where there are few."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        near = 1e-9
        for factors in ((1,), (1, 3), (1, 2, 5)):
            ticks = [factor * 10.0**power for power in powers for factor in factors]
            ticks = [each for each in ticks if self.low * (1 - near) <= each <= self.high * (1 + near)]
            if len(ticks) >= 4:
                break
        return ticks

    def at(self, value: float) -> float:
        """Return the place of a number."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


Axis = Scale | PowerScale


def power_text(value: float) -> str:
    """Return a number of a `PowerScale`."""
    return f"{value:.0e}".replace("e-0", "e-").replace("-", "−") if value < 1e-4 else short_text(value)


def tick_text(axis: Axis, tick: float, whole: bool = False) -> str:
    """Return a round number of an axis, as it is written beside it. whole: without digits behind the point."""
    if isinstance(axis, PowerScale):
        return power_text(tick)
    return number_text(tick, max(1.0, axis.step) if whole else axis.step)


def short_text(value: float) -> str:
    """Return a number in few letters: 0.05, 20 k, 3 M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"


def number_text(value: float, step: float, share: bool = False) -> str:
    """Return a round number of an axis with as many digits as its neighbours; a share in per cent."""
    if share:
        return f"{number_text(100 * value, 100 * step)} %"
    if step >= 1e5:
        return f"{number_text(value / 1e6, step / 1e6)} M"
    if step >= 1e4:
        return f"{number_text(value / 1e3, step / 1e3)} k"
    if step < 1e-4:
        return minus(f"{value:.2g}")
    # A step of 1 × 10ⁿ may have become 9.99… × 10ⁿ⁻¹ on its way through a product.
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return minus(f"{value + 0.0:,.{digits}f}")


def minus(figure: str) -> str:
    """Return a figure with a minus sign as it is printed, in place of the hyphen that programs write."""
    return figure.replace("-", "−")


# ── Elements ─────────────────────────────────────────────────────────────────────────────────────


def svg(width: float, height: float, title: str, about: str, parts: Iterable[str], key: str = "",
        attributes: str = "") -> str:  # fmt: skip
    """Make a drawing that a screen reader can name. key: tells several drawings of a page apart."""
    return (
        f'<svg role="img" aria-labelledby="title{key} about{key}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}"{_given(attributes)}><title id="title{key}">{escape(title)}</title>'
        f'<desc id="about{key}">{escape(about)}</desc>{"".join(parts)}</svg>'
    )


def picture(
    width: float, height: float, heading: str, about: str, parts: Iterable[str], title: str = ""
) -> str:  # fmt: skip
    """Make the file of a drawing, framed, and headed as its title says unless the heading is another one."""
    frame = rect(0.5, 0.5, width - 1, height - 1, attributes='rx="8" fill="#ffffff" stroke="#d1d9e0"')
    drawn = [f"<style>{STYLE}</style>", frame, text(MARGIN, 38, heading, "heading"), *parts]
    return svg(width, height, title or heading, about, drawn, attributes='xmlns="http://www.w3.org/2000/svg"') + "\n"


def grid(x: Axis, y: Axis, wording: Wording | None = None, ticks: Iterable[float] | None = None) -> list[str]:
    """Draw a line across for every round number of the vertical axis, and the number beside it.

    wording: of the numbers, if they are not what is measured. ticks: others than the round ones.
    """
    wording = wording or (lambda tick: tick_text(y, tick))
    return [
        part
        for tick in (y.ticks if ticks is None else ticks)
        for part in (
            line(x.start, y.at(tick), x.end, y.at(tick), "grid"),
            text(x.start - 7, y.at(tick) + 4, wording(tick), "soft", "end"),
        )
    ]


def axis(x: Axis, y: Axis, words: str, wording: Wording | None = None, whole: bool = False) -> list[str]:
    """Draw the horizontal axis with its round numbers, and below them what it measures.

    wording: as of `grid`. whole: no numbers between whole ones.
    """
    wording = wording or (lambda tick: tick_text(x, tick, whole))
    return [
        *(
            part
            for tick in x.ticks
            if not whole or tick == round(tick)
            for part in (
                line(x.at(tick), y.start, x.at(tick), y.start + 4, "axis"),
                text(x.at(tick), y.start + 18, wording(tick), "soft", "middle"),
            )
        ),
        line(x.start, y.start, x.end, y.start, "axis"),
        text((x.start + x.end) / 2, y.start + 35, words, "soft", "middle"),
    ]


def paint(colour: str) -> str:
    """Return the attributes of lines, bands and dots of a colour."""
    return f'stroke="{colour}" fill="{colour}"'


def curve(points: Sequence[Point], x: Axis, y: Axis, dotted: Iterable[Point] = (), attributes: str = "") -> list[str]:
    """Draw a line through points, with dots on some of them."""
    return [
        f'<polyline class="curve" points="{places(points, x, y)}"{_given(attributes)}/>',
        *(dot(x.at(a), y.at(b), 2.6, attributes='stroke="none"') for a, b in dotted),
    ]


def band(low: Sequence[Point], high: Sequence[Point], x: Axis, y: Axis) -> str:
    """Fill the space between two lines."""
    return f'<polygon class="band" points="{places([*high, *reversed(low)], x, y)}"/>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Write words at a place. anchor: start, middle or end."""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text{_kind(kind)} x="{x:.1f}" y="{y:.1f}"{anchored}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "", attributes: str = "") -> str:
    """Draw a line between two places."""
    ends = f'x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"'
    return f"<line{_kind(kind)} {ends}{_given(attributes)}/>"


def rect(x: float, y: float, width: float, height: float, kind: str = "", attributes: str = "") -> str:
    """Draw a rectangle."""
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f"<rect{_kind(kind)} {box}{_given(attributes)}/>"


def dot(x: float, y: float, radius: float, kind: str = "", attributes: str = "") -> str:
    """Draw a circle."""
    return f'<circle{_kind(kind)} cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"{_given(attributes)}/>'


def places(points: Iterable[Point], x: Axis, y: Axis) -> str:
    """Return points of two axes, for a polyline or a polygon."""
    return " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)


def group(parts: Iterable[str], title: str = "", kind: str = "", attributes: str = "") -> str:
    """Group elements that belong together. title: shown when the mouse rests on them."""
    said = f"<title>{escape(title)}</title>" if title else ""
    return f"<g{_kind(kind)}{_given(attributes)}>{said}{''.join(parts)}</g>"


def shortened(name: str, longest: int) -> str:
    """Shorten a name to at most `longest` letters."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def text_width(words: str) -> float:
    """Return the most pixels that words of 13 pixels are wide."""
    return sum(WIDE_LETTER if letter in WIDE_LETTERS else LETTER for letter in words)


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _given(attributes: str) -> str:
    return f" {attributes}" if attributes else ""
