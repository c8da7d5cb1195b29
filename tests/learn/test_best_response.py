"""Learning best responses: oracles come close to what is best, duels are fair, and runs go on bit for bit."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_learn_run import without_times

from vauban.agents.net import NetAgent, NetOptions
from vauban.agents.opponents import Opponents, make_opponent
from vauban.agents.random import RandomAgent
from vauban.agents.tables import tabulated
from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.learn.base import Place
from vauban.learn.best_response.duels import Duel, Duels
from vauban.learn.best_response.oracle import Oracle
from vauban.learn.best_response.sac import SAC
from vauban.learn.buffers import Ring
from vauban.learn.config import load_config, parse_config
from vauban.learn.opponents import AgentPlayer, NetworkPlayer, NetworksPlayer, NoAgents
from vauban.learn.run import Run
from vauban.nets.plain import PlainNetwork
from vauban.nets.transformer import Size
from vauban.notation.stratego.ucc import parse_setup_rows
from vauban.sim.simulator import Simulator
from vauban.solve import build_tree, evaluate, joined

CPU = torch.device("cpu")
SMALL = {
    "sac": """
game = "kuhn"
algorithms = ["sac"]
iterations = 4
[sac]
opponents = ["uniform", "first"]
weights = [3.0, 1.0]
games = 32
rounds = 2
start = 40
capacity = 100
batch = 16
[sac.network]
kind = "plain"
depth = 1
width = 8
heads = 1
""",
    "ppo": """
game = "kuhn"
algorithms = ["ppo"]
iterations = 4
[ppo]
opponents = ["uniform", "first"]
weights = [3.0, 1.0]
games = 32
rounds = 2
batch = 16
[ppo.network]
kind = "plain"
depth = 1
width = 8
heads = 1
""",
}
ORACLES = sorted(SMALL)


def learner_of(run: Run) -> Oracle:
    learner = run.first
    assert isinstance(learner, Oracle)
    return learner


def share_reached(run: Run, opponent: str) -> float:
    """Return what the model of a run gains from an opponent, as a share of what a best response gains."""
    run.save_model(run.folder / "model")
    tree = build_tree(run.game)
    theirs = tabulated(tree, make_opponent(opponent, run.game))  # type: ignore[arg-type]
    mine = tabulated(tree, NetAgent(NetOptions(model=str(run.folder))))
    gains = evaluate(tree, joined(tree, mine, theirs)).value - evaluate(tree, joined(tree, theirs, mine)).value
    return gains / sum(evaluate(tree, theirs).best_responses)


def trained(preset: str, folder: Path, changes: list[str]) -> Run:
    run = Run.begin(load_config(preset, changes), folder, agents=Opponents())
    while run.goes_on():
        run.iterate()
    return run


# ── What they learn ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_response_to_uniform_play_comes_close_to_the_best_in_kuhn_poker(oracle: str, tmp_path: Path) -> None:
    run = trained(f"{oracle}-kuhn", tmp_path / "run", ["iterations=14"])
    assert share_reached(run, "uniform") >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("oracle", ORACLES)
def test_a_response_to_uniform_play_comes_close_to_the_best_in_leduc_poker(
    oracle: str, seed: int, tmp_path: Path
) -> None:
    run = trained(f"{oracle}-leduc", tmp_path / "run", [f"seed={seed}"])
    assert share_reached(run, "uniform") >= 0.95


def test_what_is_measured_is_what_the_model_gains_exactly(tmp_path: Path) -> None:
    run = trained("ppo-kuhn", tmp_path / "run", ["iterations=4"])
    measured = learner_of(run).measure(20_000)
    best = sum(evaluate(build_tree("kuhn"), tabulated(build_tree("kuhn"), RandomAgent())).best_responses) / 2
    assert abs(measured.score - share_reached(run, "uniform") * best) < 2 * measured.margin
    assert measured == learner_of(run).measure(20_000) and measured.games >= 20_000


# ── Duels ────────────────────────────────────────────────────────────────────────────────────────


def duels_of(name: str = "leduc", games: int = 256, **settings: Any) -> Duels:
    torch.manual_seed(1)
    network = PlainNetwork(game(name), Size(1, 8, 1))
    learner = NetworkPlayer("mine", network)
    return Duels(game(name), games, 3600, learner, CPU, 1, Opponents(), **settings)


def test_every_decision_is_made_by_the_one_whose_it_is() -> None:
    """The opponent always plays the first legal action; the learner's are drawn from a policy that plays all."""
    duels = duels_of()
    first = make_opponent("first", game("leduc"))
    duels.face([AgentPlayer(first)], [1.0])
    duel = duels.play(0)
    theirs = duel.played.there & ~duel.own
    assert (duel.played.sampled[theirs] == 1).all() and theirs.any()
    sampled = duel.played.sampled[duel.own]
    assert ((sampled > 0) & (sampled < 1)).all()
    assert torch.equal(duel.own, duel.played.there & (duel.played.players == duel.seats))
    rewards = torch.where(duel.seats == 0, 1.0, -1.0) * duel.played.rewards.sum(0)
    assert torch.equal(duel.utilities, rewards) and bool(duel.over.all())


def test_seats_and_opponents_are_drawn_by_game_as_often_as_they_should_be() -> None:
    duels = duels_of(games=4096)
    players = [AgentPlayer(RandomAgent()), NetworkPlayer("other", PlainNetwork(game("leduc"), Size(1, 8, 1)))]
    duels.face(players, [3.0, 1.0])
    seats = duels.play(0).seats
    assert 0.46 < float(seats.float().mean()) < 0.54
    others = duels.who.sum(1)
    assert 0.72 < float((others == 1).float().mean()) < 0.78 and set(others.tolist()) == {1, 2}
    assert (duels.who[torch.arange(4096), seats.long()] == 0).all()
    drawn = duels.who.clone()
    duels.play(4096)
    assert not torch.equal(duels.who, drawn)
    duels.play(0)
    assert torch.equal(duels.who, drawn)


def test_an_opponent_of_no_weight_never_plays() -> None:
    duels = duels_of(games=512)
    duels.face([AgentPlayer(RandomAgent()), AgentPlayer(RandomAgent())], [0.0, 2.0])
    duels.play(0)
    assert set(duels.who.flatten().tolist()) == {0, 2}


@pytest.mark.parametrize("weights", [[1.0], [0.0, 0.0], [-1.0, 2.0]])
def test_weights_that_cannot_be_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigurationError, match="2 opponents need as many weights"):
        duels_of(games=2).face([AgentPlayer(RandomAgent())] * 2, weights)


def test_an_agent_that_gives_up_is_refused_and_named() -> None:
    class Quitter:
        name = "quitter"

        def choose(self, views: Any, seeds: Any) -> Any:
            return np.full(len(views), -1)

    duels = duels_of(games=8)
    duels.face([AgentPlayer(Quitter())], [1.0])
    with pytest.raises(ConfigurationError, match="'quitter' gave a game up"):
        duels.play(0)


NOTES = """
from pathlib import Path

class Notes:
    told_of = asked = 0

    def choose_move(self, view):
        assert self.told_of == view.plies, "told of every move before"
        self.asked += 1
        return view.legal_moves[0]

    def told(self, played):
        self.told_of += 1

    def close(self):
        with Path(__file__).with_name("notes").open("a") as file:
            file.write(f"{self.told_of} {self.asked}\\n")
"""


def test_an_agent_that_is_told_of_moves_has_one_made_for_each_game(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(NOTES)
    played = game("tiny", "total_limit=9")
    duels = Duels(played, 5, 3600, AgentPlayer(RandomAgent()), CPU, 1, Opponents())
    duels.face([Opponents().player(f"py:{tmp_path}/mine.py:Notes", played, CPU)], [1.0])
    duel = duels.play(0)
    asked = (duel.played.there & ~duel.own).sum(0)
    expected = sorted(f"{plies} {mine}" for plies, mine in zip(duel.plies.tolist(), asked.tolist(), strict=True))
    assert sorted((tmp_path / "notes").read_text().splitlines()) == expected
    with pytest.raises(ConfigurationError, match="chance goes on in 'leduc'"):
        Opponents().player(f"py:{tmp_path}/mine.py:Notes", game("leduc"), CPU)


PROGRAMS_SETUP = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
"""That of tests/bots/good.py."""


def program(name: str) -> str:
    return f"bot:{sys.executable} {Path(__file__).parents[1] / 'bots' / name}.py"


def test_a_program_plays_a_process_to_each_game_with_its_own_setup() -> None:
    played = game("classic", "total_limit=6")
    assert played.setups is not None
    duels = Duels(played, 3, 3600, AgentPlayer(RandomAgent()), CPU, 1, Opponents())
    duels.face([Opponents().player(program("good"), played, CPU)], [1.0])
    duel = duels.play(0)
    assert duel.over.all() and (duel.plies == 6).all()
    rows = duels._draw_setups(np.arange(3), duels.who.numpy())
    duels.rise()
    assert rows is not None
    for number, seat in enumerate(duel.seats.tolist()):
        text = PROGRAMS_SETUP if seat == 1 else PROGRAMS_SETUP[::-1]  # red's rows come first
        assert (rows[1 - seat][number] == parse_setup_rows(text, 1 - seat, played.variant)).all()


def test_a_program_that_misbehaves_ends_the_run_with_a_sentence() -> None:
    played = game("classic", "total_limit=6")
    duels = Duels(played, 2, 3600, AgentPlayer(RandomAgent()), CPU, 1, Opponents())
    duels.face([Opponents().player(program("illegal"), played, CPU)], [1.0])
    with pytest.raises(ConfigurationError, match=r"'bot:.*illegal.py' lost a game by its own fault \(.* is not legal"):
        duels.play(0)
    duels.rise()


def test_a_network_as_an_opponent_plays_as_its_agent_does(tmp_path: Path) -> None:
    run = trained("ppo-kuhn", tmp_path / "run", ["iterations=1"])
    run.save_model(run.folder / "model")
    text = f"net:{run.folder},temperature=0.5"
    player = Opponents().player(text, game("kuhn"), CPU)
    assert isinstance(player, NetworkPlayer)
    duels = duels_of("kuhn", 64)
    sim = duels.games.sim
    mine = (sim.players == 0).nonzero().squeeze(1)
    legal, _ = sim.legal_actions()
    found = player.log_policy(sim, mine, legal[mine]).exp().numpy()
    agent = NetAgent(NetOptions(model=str(run.folder), temperature=0.5))
    np.testing.assert_allclose(found, agent.policy(sim.views(0, mine)), atol=1e-6)


def deterministic(action: int, width: int) -> PlainNetwork:
    """Return a network that plays this action wherever it is legal."""
    network = PlainNetwork(game("leduc"), Size(1, width, 1))
    with torch.no_grad():
        network.policy.weight.zero_()
        network.policy.bias.zero_()
        network.policy.bias[action] = 50.0
    return network


@pytest.mark.parametrize("width", [8, 400])  # asked together, and one by one
def test_of_several_networks_one_plays_a_whole_game_as_often_as_it_should(width: int) -> None:
    call, raise_ = 1, 2
    networks = [deterministic(action, width) for action in (call, raise_, call)]
    player = NetworksPlayer("several", networks, [1.0, 2.0, 0.0])
    sim = Simulator(game("leduc"), 3000, seed=1)
    rows = torch.arange(sim.n)
    asked = []
    for _ in range(2):
        legal = sim.legal_actions()[0]
        found = player.log_policy(sim, rows, legal)
        assert float(found.amax(1).exp().min()) > 0.99
        asked.append(legal.gather(1, found.argmax(1, keepdim=True)).squeeze(1))
        sim.step(torch.full((sim.n,), call, dtype=torch.int16))
    assert torch.equal(*asked) and set(asked[0].tolist()) == {call, raise_}
    assert 0.3 < float((asked[0] == call).float().mean()) < 0.37
    half = player.log_policy(sim, rows[1000:2000], sim.legal_actions()[0][1000:2000])
    torch.testing.assert_close(half, player.log_policy(sim, rows, sim.legal_actions()[0])[1000:2000])


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────


def test_setups_are_the_opponents_own_where_that_is_asked_for() -> None:
    played = game("tiny", "total_limit=4")
    assert played.setups is not None
    fixed = played.setups.draw(random.Random(3))
    duels = Duels(
        played, 16, 3600, AgentPlayer(RandomAgent()), CPU, 1, Opponents(), "own"
    )  # fmt: skip
    duels.face([AgentPlayer(RandomAgent(), lambda player, rng: fixed)], [1.0])
    duel = duels.play(0)
    first, second = duels._draw_setups(np.arange(16), duels.who.numpy())  # type: ignore[misc]
    theirs = np.where(duel.seats.numpy()[:, None] == 0, second, first)
    mine = np.where(duel.seats.numpy()[:, None] == 0, first, second)
    assert (theirs == fixed).all() and len(np.unique(mine, axis=0)) > 8


# ── The replay ───────────────────────────────────────────────────────────────────────────────────


def test_a_ring_keeps_the_newest() -> None:
    ring = Ring(4, {"x": ((), torch.int64)}, CPU)
    ring.add({"x": torch.arange(3)})
    assert ring.filled == 3 and ring.places(3).tolist() == [3, 0, 1]
    ring.add({"x": torch.arange(3, 6)})
    assert ring.columns["x"].tolist() == [4, 5, 2, 3] and (ring.filled, ring.seen) == (4, 6)
    ring.add({"x": torch.arange(6, 16)})
    assert sorted(ring.columns["x"].tolist()) == [12, 13, 14, 15]
    other = Ring(4, {"x": ((), torch.int64)}, CPU)
    assert other.fits(ring.state())
    other.load_state(ring.state())
    assert other.columns["x"].tolist() == ring.columns["x"].tolist() and other.seen == 16
    assert not Ring(5, {"x": ((), torch.int64)}, CPU).fits(ring.state())
    drawn = ring.draw(1000, torch.Generator().manual_seed(1))
    assert torch.bincount(drawn, minlength=4).min() > 180


def sac_of(capacity: int) -> SAC:
    config = load_config("sac-leduc", [f"sac.capacity={capacity}", "sac.start=10", "sac.games=64"]).stages["sac"]
    return SAC(game("leduc"), config, Place(CPU, agents=Opponents()))  # type: ignore[arg-type]


def test_the_replay_knows_every_decision_and_the_next_one_of_the_same_game() -> None:
    learner = sac_of(1000)
    duel = learner.duels.play(0)
    learner.remember(duel)
    columns, count = learner.replay.columns, int(duel.own.sum())
    assert learner.replay.filled == count

    rewards, following = columns["reward"][:count], columns["next"][:count]
    assert int((following < 0).sum()) == int(duel.own.any(0).sum()), "one last decision in each game with any"
    assert (rewards[following >= 0] == 0).all()
    chains = 0
    for place in range(count):
        if following[place] >= 0:
            chains += 1
            assert following[place] > place
            here, there = _row(columns, place), _row(columns, int(following[place]))
            assert here["number"] == there["number"] and there["plies"] > here["plies"]
    assert chains > 0
    games_with = duel.own.any(0)
    assert float(rewards.sum()) == pytest.approx(float(duel.utilities[games_with].sum()))


def test_a_replay_that_is_full_still_leads_to_the_next_decision() -> None:
    learner = sac_of(150)
    for number in range(5):
        learner.remember(learner.duels.play(64 * number))
    columns = learner.replay.columns
    linked = [place for place in range(150) if columns["next"][place] >= 0]
    assert len(linked) > 20
    for place in linked:
        here, there = _row(columns, place), _row(columns, int(columns["next"][place]))
        assert here["number"] == there["number"] and there["plies"] > here["plies"]


def _row(columns: Any, place: int) -> dict[str, int]:
    from vauban.games.base import NUMBER, PLIES

    words = columns["words"][place]
    return {"number": int(words[NUMBER]), "plies": int(words[PLIES])}


def test_a_sac_step_goes_where_the_formulas_say() -> None:
    """High rewards draw the values of the actions played up in both critics, and an aim of 0 the temperature down."""
    learner = sac_of(1000)
    learner.remember(learner.duels.play(0))
    batch = learner.draw(torch.Generator().manual_seed(1))
    wanted = torch.full_like(batch.rewards, 30.0)
    batch = batch._replace(rewards=wanted, goes_on=torch.zeros_like(batch.goes_on), there=learner.look(
        *(learner.replay.columns[name][:0] for name in ("words", "halves", "bytes"))))  # fmt: skip
    before = [learner._values(critic.network, batch.here).detach() for critic in learner.critics]
    targets_before = [[each.clone() for each in critic.average.parameters()] for critic in learner.critics]
    learner.update(batch)
    for critic, values, old in zip(learner.critics, before, targets_before, strict=True):
        after = learner._values(critic.network, batch.here).detach()
        taken = batch.places[:, None]
        assert float((after - values).gather(1, taken).mean()) > 0
        for target, was, now in zip(critic.average.parameters(), old, critic.network.parameters(), strict=True):
            torch.testing.assert_close(target, was + 0.01 * (now - was))
    assert float(learner.log_alpha.detach()) == pytest.approx(-0.002, rel=1e-3)


@pytest.mark.parametrize("oracle", ORACLES)
def test_steps_are_counted_over_all_rounds_of_an_iteration(oracle: str, tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL[oracle], [f"{oracle}.rounds=3"]), tmp_path / "run", agents=Opponents())
    steps: list[int] = []
    descend = learner_of(run).trainee.descend
    learner_of(run).trainee.descend = lambda *given: steps.append(1) or descend(*given)  # type: ignore[method-assign,func-returns-value]
    run.iterate()
    del steps[:]
    assert run.iterate()[f"{oracle}.updates"] == len(steps) >= 3


def test_the_entropy_that_is_aimed_at_is_switched(tmp_path: Path) -> None:
    changes = ["sac.entropy=0.1", "sac.warm_entropy=0.4", "sac.start=1"]
    run = Run.begin(parse_config(SMALL["sac"], changes), tmp_path / "run", agents=Opponents())
    cool = run.iterate()["sac.wanted_entropy"]
    learner_of(run).warm_up(True)
    assert run.iterate()["sac.wanted_entropy"] == pytest.approx(4 * cool, rel=1e-6)
    assert cool == pytest.approx(0.1 * np.log(2), rel=1e-6)


# ── Runs ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("oracle", ORACLES)
def test_a_run_that_was_resumed_goes_on_bit_for_bit(oracle: str, tmp_path: Path) -> None:
    whole = Run.begin(parse_config(SMALL[oracle]), tmp_path / "whole", agents=Opponents())
    expected = [without_times(whole.iterate()) for _ in range(4)]
    run = Run.begin(parse_config(SMALL[oracle]), tmp_path / "run", agents=Opponents())
    for number in range(2):
        assert without_times(run.iterate()) == expected[number]
    run.save()
    again = Run.resume(tmp_path / "run", agents=Opponents())
    assert again.notes == []
    assert [without_times(again.iterate()) for _ in range(2)] == expected[2:]
    assert learner_of(again).latest_reward(10_000) == learner_of(whole).latest_reward(10_000)
    for name, trainee in whole.trainees().items():
        for one, other in zip(trainee.network.parameters(), again.trainees()[name].network.parameters(), strict=True):
            assert torch.equal(one, other)


def test_rewards_and_episodes_are_counted_for_whoever_asks(tmp_path: Path) -> None:
    run = Run.begin(parse_config(SMALL["ppo"]), tmp_path / "run", agents=Opponents())
    learner = learner_of(run)
    seen: list[Duel] = []
    play = learner.duels.play
    learner.duels.play = lambda number: seen.append(play(number)) or seen[-1]  # type: ignore[method-assign,func-returns-value]
    sums: list[float] = []
    for _ in range(3):
        run.iterate()
        sums += [float(duel.utilities.sum()) for duel in seen[-1:]]
    assert learner.episodes == 3 * 2 * 32
    mean, count = learner.latest_reward(32)
    assert count == 32 and mean == pytest.approx(sums[-1] / 32)
    assert learner.latest_reward(10_000) == (pytest.approx(learner.reward_sum / 192), 192)


def test_a_learner_without_agents_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nobody here who makes the opponent 'uniform'"):
        Run.begin(parse_config(SMALL["ppo"]), tmp_path / "run")
    config = parse_config(SMALL["ppo"], ["ppo.opponents=[]", "ppo.weights=[]"])
    run = Run.begin(config, tmp_path / "run")
    with pytest.raises(ConfigurationError, match="nobody to play against"):
        run.iterate()
    learner_of(run).face([AgentPlayer(RandomAgent())], [1.0])
    assert run.iterate()["games"] == 64
    with pytest.raises(ConfigurationError, match="hand in agents"):
        NoAgents().sampler("human", game("tiny"))


@pytest.mark.parametrize(
    ("oracle", "change", "sentence"),
    [
        ("sac", "sac.start=101", "start of sac is 101, and the replay keeps 100"),
        ("sac", "sac.entropy=1.5", "entropy of sac must be from 0 to 1"),
        ("sac", "sac.target_rate=0.0", "target_rate of sac must be above 0"),
        ("sac", "sac.weights=[1.0]", "1 for 2 opponents"),
        ("ppo", "ppo.clip=0.0", "clip of ppo must be more than 0"),
        ("ppo", "ppo.games=0", "games of the oracle must be 1 or more"),
    ],
)
def test_settings_that_cannot_be_are_refused(oracle: str, change: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        parse_config(SMALL[oracle], [change])
