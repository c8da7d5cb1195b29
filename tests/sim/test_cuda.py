"""CPU and CUDA agree bit for bit (run on a machine with a GPU by scripts/check-gpu)."""

from __future__ import annotations

import pytest
import torch

from vauban.games.base import game as find_game
from vauban.games.base import names
from vauban.observe.base import names as observation_names
from vauban.sim.simulator import Simulator

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device here: scripts/check-gpu runs these tests on one"
)

RULES = {
    "classic": ["strategus", "ataraxos-train", "deepnash", "louvain", "strategus chase_compare=type"],
    "barrage": ["strategus", "ataraxos", "strategus two_square=5", "ucc"],
    "geister": ["server", "paper total_limit=300"],
    "geister-33b": ["paper at_limit=second"],
    "steps:barrage": ["strategus", "deepnash", "strategus chase_compare=type"],
}


def cases() -> list[tuple[str, str | None]]:
    """Return every registered game, some of them under other rules, or several."""
    return [(name, rules) for name in names() for rules in RULES.get(name, [None])]


def pair(name: str, rules: str | None, n: int) -> tuple[Simulator, Simulator]:
    """Return the same games on the CPU and on the GPU."""
    game = find_game(name, rules)
    return Simulator(game, n, "cpu", seed=5), Simulator(game, n, "cuda", seed=5)


def assert_same(cpu: Simulator, gpu: Simulator, when: str) -> None:
    """Check that all records and results are the same."""
    mine, theirs = cpu.snapshot().pack(), gpu.snapshot().to("cpu").pack()
    assert torch.equal(mine, theirs), (
        f"records differ {when}: games {torch.nonzero((mine != theirs).any(1))[:5].tolist()}"
    )
    for column, other in zip(cpu.results, gpu.results, strict=True):
        assert torch.equal(column, other.cpu()), f"results differ {when}"


@pytest.mark.parametrize(("name", "rules"), cases())
def test_long_games_are_the_same_on_both_devices(name: str, rules: str | None) -> None:
    cpu, gpu = pair(name, rules, 257)
    assert_same(cpu, gpu, "at the start")
    for ply in range(1500):
        chosen, other = cpu.sample(), gpu.sample()
        assert torch.equal(chosen, other.cpu()), f"chosen actions differ at ply {ply}"
        cpu.step(chosen)
        gpu.step(other)
        if ply % 100 == 0 or ply < 5:
            assert_same(cpu, gpu, f"after ply {ply}")
            assert torch.equal(cpu.legal_mask(), gpu.legal_mask().cpu())
            for mine, theirs in zip(cpu.legal_actions(), gpu.legal_actions(), strict=True):
                assert torch.equal(mine, theirs.cpu())
    cpu.play_random(500)
    gpu.play_random(500)
    assert_same(cpu, gpu, "after random play in one call")


EVERY_FORM = [(layout, dtype) for layout in ("planes", "squares") for dtype in (torch.float32, torch.bfloat16)]


@pytest.mark.parametrize("name", names())
def test_observations_are_the_same_on_both_devices(name: str) -> None:
    # Kernels are compiled for each board and form; boards of even and odd size stand for the others.
    forms = EVERY_FORM if name in ("barrage", "fives", "leduc") else [("planes", torch.bfloat16)]
    cpu, gpu = pair(name, None, 64)
    for _ in range(6):
        for seen in observation_names(cpu.game):
            for layout, dtype in forms:
                for viewer in (None, 0, 1):
                    mine = cpu.observe(seen, dtype=dtype, layout=layout, viewer=viewer)
                    theirs = gpu.observe(seen, dtype=dtype, layout=layout, viewer=viewer).cpu()
                    assert torch.equal(mine, theirs), f"{seen} {layout} {dtype} {viewer}"
        cpu.play_random(37)
        gpu.play_random(37)


@pytest.mark.parametrize("name", names())
def test_views_and_determinised_games_are_the_same_on_both_devices(name: str) -> None:
    cpu, gpu = pair(name, None, 64)
    cpu.play_random(3)
    gpu.play_random(3)
    for viewer in (0, 1):
        mine, theirs = cpu.views(viewer), gpu.views(viewer)
        assert torch.equal(mine.pack(), theirs.to("cpu").pack())
        assert torch.equal(cpu.hidden_counts(viewer), gpu.hidden_counts(viewer).cpu())


def test_an_illegal_action_is_named_and_changes_nothing() -> None:
    from vauban.errors import IllegalActionError

    _, gpu = pair("barrage", None, 8)
    actions = gpu.sample()
    actions[3] = 1799 if not gpu.legal_mask()[3, 1799] else 0
    before = gpu.snapshot().pack()[3]
    with pytest.raises(IllegalActionError, match="game 3"):
        gpu.step(actions)
    assert torch.equal(gpu.snapshot().pack()[3], before)


def test_the_hot_loop_can_be_captured_into_a_graph() -> None:
    cpu, gpu = pair("classic", None, 300)
    actions = gpu.sample()
    gpu.step(actions, check=False)
    cpu.step(cpu.sample())
    seen = gpu.observe("ataraxos", dtype=torch.bfloat16)
    mask = gpu.legal_mask()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        gpu.observe("ataraxos", seen)
        gpu.legal_mask(mask)
        gpu.sample(actions)
        gpu.step(actions, check=False)
    for _ in range(200):
        graph.replay()
        cpu.step(cpu.sample())
    torch.cuda.synchronize()
    assert_same(cpu, gpu, "after 200 replays")
