"""The report as one page that needs nothing else: styles and drawings are inside, in light and dark.

Every drawing has a title and a description, and stands beside a table with the same figures.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import count

from vauban import charts
from vauban.arena.report import (
    LOPSIDED,
    NOT_LOST,
    SCALES,
    WEALTH,
    Report,
    chance_text,
    elo_text,
    is_lopsided,
    not_lost_text,
    p_value_text,
    scale_text,
    sprt_text,
    tally_text,
    utility_text,
    wealth_text,
)
from vauban.charts import minus

COLOURS = 8
"""Number of colours that the styles have for kinds of ends."""
WIDTH = 992.0
"""Of a drawing: as wide as the page."""
LONGEST_NAME = 30
ROW = 34.0
"""Height of an agent in the drawing of the ratings."""

STYLE = """
:root { color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --ink: #1b2130; --soft: #5d6677; --line: #dde1e8; --faint: #eef0f4;
  --accent: #2c66d4; --good: #3f7fe0; --bad: #e0773f;
  --c0: #3b74d1; --c1: #e08a3c; --c2: #4aa383; --c3: #8d66c4;
  --c4: #cf5270; --c5: #b79a2c; --c6: #4ba3c3; --c7: #8a8f9c; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12151b; --card: #1a1f28; --ink: #e6e9ef; --soft: #9aa4b5; --line: #2f3643; --faint: #232934;
  --accent: #7aa7ff; --good: #4f8df0; --bad: #e27d45;
  --c0: #6a9cf0; --c1: #eba163; --c2: #66bf9f; --c3: #ac8ae0;
  --c4: #e47a94; --c5: #d2b84f; --c6: #6fbfdc; --c7: #9aa0ad; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 36px 20px 60px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 20px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
.conditions { color: var(--soft); margin: -10px 0 20px; overflow-wrap: anywhere; }
.conditions b { color: var(--ink); font-weight: 500; }
h2 { font-size: 18px; margin: 0 0 4px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px 22px; margin: 18px 0; }
section > p { color: var(--soft); margin: 0 0 14px; max-width: 75ch; }
section > p:last-child { margin: 12px 0 0; }
.scroll:has(table) + p, .scroll + h2 { margin-top: 22px; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; margin: 0; }
dl div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; }
dt { color: var(--soft); font-size: 13px; }
dd { margin: 0; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 10px 0 4px; }
th, td { padding: 6px 10px; text-align: right; border-bottom: 1px solid var(--faint); white-space: nowrap; }
thead th { color: var(--soft); font-weight: 500; border-bottom-color: var(--line); vertical-align: bottom; }
th.name { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 90px; }
tbody th { font-weight: 600; }
tfoot th, tfoot td { border-top: 1px solid var(--line); border-bottom: 0; font-weight: 600; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
svg { display: block; max-width: 100%; min-width: 680px; height: auto; margin: 6px 0 10px; font-size: 13px;
  font-variant-numeric: tabular-nums; }
svg text { fill: var(--ink); }
svg .soft { fill: var(--soft); font-size: 12px; }
svg .small { font-size: 11px; fill: var(--ink); opacity: 0.75; }
svg .strong { font-weight: 600; }
svg .grid { stroke: var(--faint); }
svg .axis { stroke: var(--line); }
svg .bar { stroke: var(--accent); stroke-width: 2; }
svg .dot, svg .column { fill: var(--accent); }
svg .mark { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .none { fill: none; stroke: var(--faint); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 6px; padding: 0; list-style: none;
  font-size: 13px; }
.legend span { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 7px; }
ul.said { margin: 12px 0 0; padding-left: 20px; color: var(--soft); }
footer { color: var(--soft); font-size: 13px; }
@media print { body { background: none; } section { break-inside: avoid; } }
"""


def report_html(
    report: Report, title: str = "Arena report", conditions: Mapping[str, str] | None = None,
    portraits: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """Return the page of a report that `report_json` made.

    conditions: how the games were played, by name. portraits: SVG pictures of agents, by agent.
    """
    several = len(report["agents"]) > 2
    numbers = count(1)

    def draw(width: float, height: float, name: str, what: str, parts: Iterable[str]) -> str:
        """Return a drawing that scrolls where the page is narrow."""
        return f'<div class="scroll">{charts.svg(width, height, name, what, parts, str(next(numbers)))}</div>'

    if report["stakes"]:
        sections = [_stakes(report)]
    else:
        sections = [_ratings(report, draw)]
        if several:
            sections.append(_matrices(report, draw))
        sections += [_matches(report), _evidence(report)]
    if any("sprt" in row for row in report["matches"]):
        sections.append(_sprt(report))
    sections += [_ends(report, draw), _lengths(report, draw)]
    if report["notes"]:
        sections.append(_notes(report))
    sections += [_portrait(agent, picture) for agent, picture in (portraits or {}).items()]
    body = "\n".join([_overview(report), *sections])
    return html_page(title, conditions or {}, body, "" if report["stakes"] else SCALES)


Draw = Callable[[float, float, str, str, Iterable[str]], str]


# ── Parts of the page ────────────────────────────────────────────────────────────────────────────────


def _conditions(conditions: Mapping[str, str]) -> str:
    said = " · ".join(f"{escape(name)} <b>{escape(value)}</b>" for name, value in conditions.items())
    return f'<p class="conditions">{said}</p>\n' if said else ""


def _portrait(agent: str, picture: str) -> str:
    """Return the section of an agent's picture, which keeps its own styles to itself."""
    data = b64encode(picture.encode()).decode()
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="Portrait of {escape(agent)}" style="max-width: 100%">'
    return section(agent, f'<div class="scroll">{image}</div>')


def _overview(report: Report) -> str:
    facts = {
        "agents": str(len(report["agents"])),
        "games": f"{report['games']:,}",
        "median plies": f"{report['plies']['median']:,.0f}",
        "playing time": _time(report["seconds"]),
    }
    if report["stakes"]:
        facts["mean to the first player"] = minus(f"{report['first_utility']:+.4f}")
    else:
        facts["the first player scored"] = f"{report['first_score']:.1%}"
    return "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items()) + "</dl>"


def _ratings(report: Report, draw: Draw) -> str:
    parts = []
    for number, table in enumerate(report["ratings"], 1):
        about = f"{scale_text(table)}."
        if len(report["ratings"]) > 1:
            about = f"Group {number}, which met nobody of the others and cannot be compared with them: {about}"
        rows = [
            [
                row["agent"],
                minus(f"{row['rating']:+.1f}"),
                "set" if row["agent"] == table["anchor"] else minus(f"{row['low']:+.1f} … {row['high']:+.1f}"),
                str(row["games"]),
                f"{row['score']:.1%}",
            ]
            for row in table["agents"]
        ]
        headings = ["agent", "rating (Davidson)", "95 %", "games", "score"]
        parts += [f"<p>{escape(_capital(about))}</p>", _rating_plot(table, draw), html_table(headings, 1, rows)]
    return section("Rating (Davidson)", *parts)


def _rating_plot(table: Report, draw: Draw) -> str:
    """Return a dot for every rating, and a bar as wide as its 95 % interval."""
    rows = table["agents"]
    left = 14 + max(charts.text_width(_short(row["agent"])) for row in rows)
    bottom = 12 + ROW * len(rows)
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    x = charts.Scale.rounded(low, high, left, WIDTH - 70, 8)
    parts = []
    for tick in x.ticks:
        parts.append(charts.line(x.at(tick), 6, x.at(tick), bottom, "grid"))
        parts.append(charts.text(x.at(tick), bottom + 18, charts.number_text(tick, x.step), "soft", "middle"))
    for number, row in enumerate(rows):
        y = 12 + ROW * (number + 0.5)
        a, b = x.at(row["low"]), x.at(row["high"])
        said = f"{row['agent']}: {row['rating']:+.1f}, 95 % from {row['low']:+.1f} to {row['high']:+.1f}"
        bar = f'<path class="bar" fill="none" d="M{a:.1f} {y}H{b:.1f}M{a:.1f} {y - 5}v10M{b:.1f} {y - 5}v10"/>'
        parts.append(charts.text(left - 14, y + 4.5, _short(row["agent"]), "", "end"))
        parts.append(charts.group([bar, charts.dot(x.at(row["rating"]), y, 5.5, "dot")], said))
        parts.append(charts.text(WIDTH, y + 4.5, minus(f"{row['rating']:+.0f}"), "strong", "end"))
    return draw(
        WIDTH,
        bottom + 28,
        "Ratings (Davidson) with their 95 % intervals",
        "From the strongest agent to the weakest: " + ", ".join(f"{r['agent']} {r['rating']:+.0f}" for r in rows),
        parts,
    )


def _matrices(report: Report, draw: Draw) -> str:
    wins, draws = report["wins"], report["draws"]

    def tally(i: int, j: int) -> str:
        return f"{wins[i][j]}–{draws[i][j]}–{wins[j][i]}"

    parts = [
        "<p>Each row against each column, the strongest first. Blue: the row is ahead; orange: it is behind. "
        "A rating puts everybody on one line; what does not fit on a line shows here.</p>",
        _heat(report, "scores", "Score of the row, won–drawn–lost", lambda v: f"{v:.0%}", tally, draw),
        "<h2>Likelihood of superiority</h2>",
        "<p>How likely the row is stronger than the column, by their decided games.</p>",
        _heat(report, "los", "Likelihood that the row is superior", chance_text, None, draw),
    ]
    if report["cycles"]:
        parts.append("<p>Cycles, each step with a 95 % interval that excludes 0 Elo (score):</p><ul class='said'>")
        parts += [f"<li>{escape(' beats '.join([*cycle, cycle[0]]))}</li>" for cycle in report["cycles"]]
        parts.append("</ul>")
    return section("Who beat whom", *parts)


def _heat(
    report: Report,
    key: str,
    name: str,
    shown: Callable[[float], str],
    below: Callable[[int, int], str] | None,
    draw: Draw,
) -> str:
    """Return a matrix of shares as colours, with the share in every cell."""
    agents, values = report["agents"], report[key]
    labels = [f"{number}  {_short(agent)}" for number, agent in enumerate(agents, 1)]
    left = 14 + max(map(charts.text_width, labels))
    wide = min(96.0, max(52.0, (WIDTH - left) / len(agents)))
    high = 44.0 if below else 30.0
    small = below if wide >= 66 else None
    parts = []
    for j in range(len(agents)):
        parts.append(charts.text(left + wide * (j + 0.5), 16, str(j + 1), "soft", "middle"))
    for i, label in enumerate(labels):
        top = 24 + high * i
        parts.append(charts.text(left - 14, top + high / 2 + 4.5, label, "", "end"))
        for j, value in enumerate(values[i]):
            box = (left + wide * j + 1, top + 1, wide - 2, high - 2)
            middle = left + wide * (j + 0.5)
            if value is None:
                parts.append(charts.rect(*box, "none", 'rx="3"'))
                continue
            said = f"{agents[i]} against {agents[j]}: {shown(value)}" + (f", {below(i, j)}" if below else "")
            cell = [charts.rect(*box, attributes=f'rx="3" style="fill:{_mixed(value)}"')]
            cell.append(charts.text(middle, top + high / 2 + (-2 if small else 4.5), shown(value), "strong", "middle"))
            if small:
                cell.append(charts.text(middle, top + high / 2 + 13, small(i, j), "small", "middle"))
            parts.append(charts.group(cell, said))
    about = "Rows and columns are the agents, numbered from the strongest. " + "; ".join(
        f"{agents[i]} against {agents[j]} {shown(value)}"
        for i, row in enumerate(values)
        for j, value in enumerate(row)
        if value is not None and i < j
    )
    return draw(left + wide * len(agents), 28 + high * len(agents), name, about, parts)


def _mixed(share: float) -> str:
    """Return a colour from orange (0) over the page's own (½) to blue (1); never so deep that text is lost on it."""
    towards = "--good" if share >= 0.5 else "--bad"
    return f"color-mix(in srgb, var({towards}) {120 * abs(share - 0.5):.0f}%, var(--faint))"


def _matches(report: Report) -> str:
    rows, said = [], []
    for row in report["matches"]:
        point, interval = elo_text(row)
        mark = " †" if is_lopsided(row) else ""
        figures = [tally_text(row), f"{row['score']:.1%}", minus(point), minus(interval) + mark]
        rows.append([*row["agents"], *figures])
        pair = f"{row['agents'][0]} – {row['agents'][1]}"
        if len(report["matches"]) == 1:
            said.append(row["verdict"])
        if row["note"]:
            said.append(f"{pair}: {row['note']}")
    if any(map(is_lopsided, report["matches"])):
        said.append(LOPSIDED)
    return section(
        "Matches",
        "<p>From the first agent's point of view. Elo (score) and its interval come from pairs of games with the same "
        "setups and sides swapped.</p>",
        html_table(["first", "second", "won–drawn–lost", "score", "Elo (score)", "95 %"], 2, rows),
        _list(said),
    )


def _stakes(report: Report) -> str:
    """Return a table of mean utilities, in games that are worth more than a win or a loss."""
    rows, said = [], []
    for row in report["matches"]:
        rows.append([*row["agents"], str(row["games"]), *map(minus, utility_text(row))])
        pair = f"{row['agents'][0]} – {row['agents'][1]}"
        said += [f"{pair}: {line}" for line in (row["verdict"], row["note"]) if line]
    standings = [[each["agent"], str(each["games"]), minus(f"{each['utility']:+.4f}")] for each in report["standings"]]
    return section(
        "What games were worth",
        "<p>The mean utility of a game to the first agent. Its interval comes from pairs of games with the same deals "
        "and sides swapped.</p>",
        html_table(["first", "second", "games", "mean", "95 %"], 2, rows),
        _list(said),
        html_table(["agent", "games", "mean"], 1, standings) if len(standings) > 2 else "",
    )


def _evidence(report: Report) -> str:
    rows = [
        [
            *row["agents"],
            chance_text(row["los"]),
            chance_text(row["los_exact"]),
            minus(p_value_text(row["sign_test_two_sided"])),
            minus(wealth_text(row, 0)),
            minus(wealth_text(row, 1)),
            not_lost_text(row),
        ]
        for row in report["matches"]
    ]
    headings = ["first", "second", "LOS", "LOS exact", "sign test p", "KT wealth, 1st", "2nd", "not lost, 95 %"]
    about = f"LOS: likelihood of superiority, draws left out. The sign test is two-sided. {WEALTH} {_capital(NOT_LOST)}"
    return section("Who is stronger", f"<p>{escape(about)}</p>", html_table(headings, 2, rows))


def _sprt(report: Report) -> str:
    tests = [row["sprt"] for row in report["matches"]]
    one = tests[0]
    about = (
        f"H0: {one['elo0']:g}, H1: {one['elo1']:g} Elo (score); α = {one['alpha']:g}, β = {one['beta']:g}; "
        f"{one['model']}, over the finished prefix of pairs."
    )
    rows = [
        [*row["agents"], str(sum(row["sprt"]["counts"])), minus(sprt_text(row["sprt"]))] for row in report["matches"]
    ]
    return section(
        "Sequential test (SPRT)",
        f"<p>{escape(minus(about))}</p>",
        html_table(["first", "second", "pairs", "state"], 2, rows),
    )


def _ends(report: Report, draw: Draw) -> str:
    ends = list(report["ends"])
    legend = "".join(
        f'<li><span style="background:var(--c{number % COLOURS})"></span>{escape(_words(end))}</li>'
        for number, end in enumerate(ends)
    )
    bars = [("in all", report["ends"], report["games"])] if len(report["matches"]) > 1 else []
    bars += [(f"{row['agents'][0]} – {row['agents'][1]}", row["ends"], row["games"]) for row in report["matches"]]
    rows = [[*row["agents"], *(str(row["ends"].get(end, 0)) for end in ends)] for row in report["matches"]]
    foot = [["in all", "", *(str(number) for number in report["ends"].values())]]
    return section(
        "How games ended",
        f'<ul class="legend">{legend}</ul>',
        _end_plot(bars, ends, draw),
        html_table(["first", "second", *map(_words, ends)], 2, rows, foot if len(rows) > 1 else []),
    )


def _end_plot(bars: list[tuple[str, dict[str, int], int]], ends: list[str], draw: Draw) -> str:
    """Return a bar for every match, cut into the shares of its ends."""
    longest = 44
    left = 14 + max(charts.text_width(_short(name, longest)) for name, _, _ in bars)
    width, line = WIDTH, 26.0
    scale = width - left - 1
    parts = []
    for number, (name, counts, games) in enumerate(bars):
        top, start = 4 + line * number, left
        parts.append(
            charts.text(left - 14, top + 15, _short(name, longest), "strong" if name == "in all" else "", "end")
        )
        for colour, end in enumerate(ends):
            size = counts.get(end, 0) / games * scale
            if size:
                said = f"{name}: {_words(end)} {counts[end]} of {games}"
                colour_of = f'style="fill:var(--c{colour % COLOURS})"'
                parts.append(charts.group([charts.rect(start, top, size, line - 6, attributes=colour_of)], said))
            start += size
    bottom = 6 + line * len(bars)
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            charts.text(left + share * scale, bottom + 14, f"{share:.0%}", "soft", "end" if share == 1 else "middle")
        )
    what = "; ".join(f"{name}: " + ", ".join(f"{_words(e)} {n}" for e, n in counts.items()) for name, counts, _ in bars)
    return draw(width, bottom + 22, "How games ended, as shares of each match", what, parts)


def _lengths(report: Report, draw: Draw) -> str:
    rows, foot = [], []
    for row in report["matches"]:
        rows.append([*row["agents"], *_length_cells(row["plies"], row["seconds"] / row["games"])])
    if len(rows) > 1:
        foot.append(["in all", "", *_length_cells(report["plies"], report["seconds"] / report["games"])])
    headings = ["first", "second", "mean", "median", "10 % … 90 %", "least … most", "seconds"]
    return section(
        "How long games lasted",
        "<p>In plies; seconds are those of one game, on average.</p>",
        _histogram(report["plies"], draw),
        html_table(headings, 2, rows, foot),
    )


def _length_cells(plies: Report, seconds: float) -> list[str]:
    return [
        f"{plies['mean']:.1f}",
        f"{plies['median']:.0f}",
        f"{plies['tenth']:.0f} … {plies['ninetieth']:.0f}",
        f"{plies['least']} … {plies['most']}",
        f"{seconds:.3g}",
    ]


def _histogram(plies: Report, draw: Draw) -> str:
    start: int = plies["histogram"]["start"]
    size: int = plies["histogram"]["width"]
    counts: list[int] = plies["histogram"]["counts"]
    width, top, bottom, left = WIDTH, 40.0, 240.0, 50.0
    end = start + size * len(counts)
    y = charts.Scale.rounded(0, max(counts), bottom, top, 4)
    x = charts.Scale.fitting(start, end, left, width - 10, 10)
    parts = []
    for level in (each for each in y.ticks if each == int(each)):
        parts.append(charts.line(left, y.at(level), width, y.at(level), "grid"))
        parts.append(charts.text(left - 8, y.at(level) + 4, f"{level:g}", "soft", "end"))
    for number, games in enumerate(counts):
        a, b = start + size * number, start + size * (number + 1)
        if games:
            span = f"{a} plies" if size == 1 else f"{a} to {b - 1} plies"
            wide = max(1.0, x.at(b) - x.at(a) - 2)
            column = charts.rect(x.at(a) + 1, y.at(games), wide, bottom - y.at(games), "column")
            parts.append(charts.group([column], f"{span}: {games} {'game' if games == 1 else 'games'}"))
    parts.append(charts.line(left, bottom, width, bottom, "axis"))
    parts += [charts.text(x.at(tick), bottom + 18, f"{tick:g}", "soft", "middle") for tick in x.ticks]
    # A game of p plies lies in the middle of its own ply, which matters where a column is one ply wide.
    middle = x.at(plies["median"] + 0.5 if size == 1 else plies["median"])
    parts.append(charts.line(middle, top - 22, middle, bottom, "mark"))
    aside, anchor = (6, "start") if middle < width * 0.8 else (-6, "end")
    # Above the highest column.
    parts.append(charts.text(middle + aside, top - 12, f"median {plies['median']:.0f}", "soft", anchor))
    what = (
        f"Median {plies['median']:.0f}, mean {plies['mean']:.1f}, from {plies['least']} to {plies['most']} plies; "
        f"eight in ten games between {plies['tenth']:.0f} and {plies['ninetieth']:.0f}"
    )
    return draw(width, bottom + 26, "Number of games by their length in plies", what, parts)


def _notes(report: Report) -> str:
    said = [
        f"{note['games']} × {_words(note['end'])}"
        + (f", lost by {note['agent']}" if note["agent"] else "")
        + f": {note['note']}"
        for note in report["notes"]
    ]
    return section("What was noted", _list(said))


# ── Pieces ───────────────────────────────────────────────────────────────────────────────────────────


def html_page(title: str, conditions: Mapping[str, str], body: str, footer: str) -> str:
    """Return a page that needs nothing else: its styles are inside."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n{_conditions(conditions)}{body}\n"
        f"<footer>{escape(footer)}</footer>\n</main>\n</body>\n</html>\n"
    )


def section(heading: str, *parts: str) -> str:
    """Return a part of a page under its heading; parts that are empty are left out."""
    return f"<section>\n<h2>{escape(heading)}</h2>\n" + "\n".join(part for part in parts if part) + "\n</section>"


def _list(said: Sequence[str]) -> str:
    return "<ul class='said'>" + "".join(f"<li>{escape(each)}</li>" for each in said) + "</ul>" if said else ""


def html_table(
    headings: Sequence[str], names: int, rows: Sequence[Sequence[str]], foot: Sequence[Sequence[str]] = ()
) -> str:
    """Return a table whose first columns are names, in cells that head their row."""

    def line(cells: Sequence[str]) -> str:
        heads = "".join(f'<th class="name" scope="row">{escape(cell)}</th>' for cell in cells[:names])
        return f"<tr>{heads}" + "".join(f"<td>{escape(cell)}</td>" for cell in cells[names:]) + "</tr>"

    head = "".join(
        f'<th scope="col"{" class=name" if number < names else ""}>{escape(heading)}</th>'
        for number, heading in enumerate(headings)
    )
    body = "".join(map(line, rows))
    end = f"<tfoot>{''.join(map(line, foot))}</tfoot>" if foot else ""
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>{end}</table></div>'


def _short(name: str, longest: int = LONGEST_NAME) -> str:
    return charts.shortened(name, longest)


def _words(end: str) -> str:
    return end.replace("_", " ")


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
