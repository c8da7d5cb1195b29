"""Write the ratings of the page's opponents, from tournaments of their agents: src/vauban/web/FAMILY/ratings.json.

    vauban tournament barrage.db random charger cadet prober fox hunter thermal alphabeta mcts:time=0.3 \\
        net:barrage search:barrage,time=0.5 --game barrage --setups own --games 10 --seed 1
    python scripts/rate_levels.py barrage.db classic.db

An agent that moves at random has 0. The variants of these tournaments are rated anew, others stay as they are; a level
whose agent took no part is not rated. Prints the ratings of all agents as a table of Markdown, for
docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from vauban.arena.report import report_json
from vauban.arena.tournament import Tournament
from vauban.web.levels import RATINGS, read_levels
from vauban.web.show import shows

ZERO = "random"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tournament", nargs="+", type=Path, help="a file of vauban tournament")
    for file in parser.parse_args().tournament:
        with Tournament.open(file) as tournament:
            played = tournament.settings.made
            variant = played.name
            rows = report_json(tournament.results(), anchor=(ZERO, 0.0))["ratings"][0]["agents"]
        print(f"\n| {variant} | rating | 95 % | games | score |\n| --- | --- | --- | --- | --- |")
        for row in rows:
            interval = "set" if row["agent"] == ZERO else f"{row['low']:+.0f} … {row['high']:+.0f}"
            print(f"| `{row['agent']}` | {row['rating']:+.0f} | {interval} | {row['games']} | {row['score']:.1%} |")
        rated = {row["agent"]: round(row["rating"]) for row in rows}
        [show] = (each for each in shows() if each.family == played.family)
        assert show.levels is not None, f"{played.family} has no levels to rate"
        playing = [level for level in read_levels(show.levels, show.offered) if level.plays(variant)]
        ratings = show.levels.with_name(RATINGS)
        found = json.loads(ratings.read_text(encoding="utf-8")) if ratings.exists() else {}
        found[variant] = {level.key: rated[level.agent(variant)] for level in playing if level.agent(variant) in rated}
        for level in playing:
            if level.key not in found[variant]:
                print(f"not rated: {level.name}, whose agent {level.agent(variant)} took no part")
        ratings.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
