"""Exact regularised Nash dynamics: the worked places of rest, the flow towards them, the command that draws them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from vauban.agents.solved import policy
from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.solve import RegularisedDynamics, Table, build_tree, evaluate
from vauban.solve.portrait import Portrait

PENNIES = [
    # chance of heads of the first player and of the second, Σ KL to the place of rest, Σ KL(½ ‖ rest)
    (0.89690413360891, 0.26282674531095, 4.89770836, 0.624753058605),
    (0.47160956325021, 0.38615131439597, 0.5965192003, 0.0282338583473),
    (0.47662296516355, 0.50100538319381, 0.02713766891, 0.00109618944077),
    (0.49929354652013, 0.50453752737685, 0.001054011282, 4.21781591724e-5),
    (0.50084545403022, 0.50031038175719, 4.055589839e-5, 1.62226078566e-6),
    (0.50009220630165, 0.49984935029334, 1.559866111e-6, 6.23946747108e-8),
]
KUHN = [0.102221, 0.037830, 0.025931, 0.012630, 0.003049, 0.001143, 0.000384, 0.000163, 0.000098, 0.000035]


def divergence(one: Table, other: Table) -> float:
    return float((one * np.log(one / other)).sum())


def test_matching_pennies_rests_where_the_fixed_point_equations_say() -> None:
    portrait = Portrait.of(build_tree("matching-pennies"), 0.2, 6, (0.999, 0.999))
    for rest, (first, second, distance, from_even) in zip(portrait.rests, PENNIES, strict=True):
        assert rest.probabilities == pytest.approx((first, second), abs=2e-9)
        assert rest.distance == pytest.approx(distance, rel=1e-6)
        there = np.array([first, 1 - first, second, 1 - second])
        assert divergence(np.full(4, 0.5), there) == pytest.approx(from_even, rel=1e-6)


def test_along_the_flow_the_distance_to_rest_falls_at_the_rate_of_the_regularisation() -> None:
    tree, eta = build_tree("matching-pennies"), 0.2
    begin = np.where(tree.actions == 0, 0.999, 0.001)
    rest = RegularisedDynamics(tree, eta, begin)
    rest.run(1)
    solver, step = RegularisedDynamics(tree, eta, begin), 1e-3
    before = divergence(rest.average(), solver.average())
    for _ in range(200):
        solver.follow(0.1, step)
        after = divergence(rest.average(), solver.average())
        assert after <= before * np.exp(-eta * 0.1) * (1 + 1e-3)
        before = after


def test_kuhn_poker_rests_nearer_to_an_equilibrium_each_time() -> None:
    tree = build_tree("kuhn")
    solver = RegularisedDynamics(tree, 0.2)
    found = []
    for _ in KUHN:
        solver.run(1)
        found.append(evaluate(tree, solver.average()).nash_conv)
    assert found == pytest.approx(KUHN, abs=6e-7)


def test_the_policy_of_its_name_is_what_the_solver_comes_to() -> None:
    tree = build_tree("kuhn")
    assert evaluate(tree, policy("r-nad:iterations=3", 0)(tree)).nash_conv == pytest.approx(KUHN[2], abs=6e-7)
    with pytest.raises(ConfigurationError, match="eta=0.0 of agent 'r-nad': it must be more than 0"):
        policy("r-nad:eta=0", 0)


def test_a_start_without_an_action_and_one_where_there_is_no_plane_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="two probabilities between 0 and 1"):
        Portrait.of(build_tree("matching-pennies"), 0.2, 1, (1.0, 0.5))
    with pytest.raises(ConfigurationError, match="'kuhn': a start can be given where each player chooses once"):
        Portrait.of(build_tree("kuhn"), 0.2, 1, (0.5, 0.5))
    with pytest.raises(ConfigurationError, match="none with probability 0"):
        RegularisedDynamics(build_tree("matching-pennies"), 0.2, np.array([1.0, 0, 0.5, 0.5]))


def test_the_command_draws_the_paths_and_says_where_they_rest(tmp_path: Path) -> None:
    out = tmp_path / "pennies.svg"
    told = CliRunner().invoke(
        app,
        ["dynamics", "matching-pennies", "--start", "0.999 0.999", "--iterations", "3", "--out", str(out), "--json"],
    )
    assert told.exit_code == 0, told.output
    rests = json.loads(told.output.splitlines()[-1])["rests"]
    assert rests[0]["probabilities"] == pytest.approx(PENNIES[0][:2], abs=2e-9)
    picture = ElementTree.fromstring(out.read_text(encoding="utf-8"))
    curves = [each for each in picture.iter() if each.tag.endswith("polyline")]
    assert len(curves) == 3 + 1, "a path for each iteration, and NashConv"
    assert curves[0].attrib["points"].count(",") > 100
    told = CliRunner().invoke(app, ["dynamics", "kuhn", "--iterations", "2", "--out", str(tmp_path / "kuhn.svg")])
    assert told.exit_code == 0 and "0.037830" in told.output.replace("0.03783 ", "0.037830 ")
    assert str(CliRunner().invoke(app, ["dynamics", "kuhn", "--out", "kuhn.png"]).exception).endswith(".svg")
