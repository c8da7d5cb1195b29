"""`Simulator`: beginnings, results, snapshots and replays, refusals that change nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vauban.board import Board
from vauban.errors import ConfigurationError, IllegalActionError, RecordError, SetupError
from vauban.games.stratego import layout
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.setups import parse_setup, setup_text
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot


def boards(sim: Simulator) -> list[str]:
    """Return the position of every game."""
    from vauban.board.stratego import Look
    from vauban.games.kernel import Record
    from vauban.notation.stratego.position import position_text

    rules = sim.format.parameters
    texts = []
    for row in range(sim.n):
        words, halves, bytes_ = (part[row].numpy() for part in sim.store)
        record = Record(words.view(np.uint64), halves.view(np.uint16), bytes_, rules)
        texts.append(position_text(Look(sim.game, record).position()))
    return texts


# ── Beginnings ───────────────────────────────────────────────────────────────────────────────────


def test_games_begin_from_given_setups() -> None:
    tiny = VARIANTS["tiny"]
    red = np.stack([parse_setup("FLPJ", tiny), parse_setup("JPLF", tiny)])
    blue = np.stack([parse_setup("JFPL", tiny)] * 2)
    sim = Simulator("tiny", 2, seed=1)
    sim.reset(setups=(red, blue))
    assert boards(sim) == [Board.from_setups(r, "JFPL", "tiny").text for r in ("FLPJ", "JPLF")]


def test_games_begin_from_free_starts() -> None:
    start = np.zeros((1, 100), np.int8)
    start[0, [0, 55, 99, 54]] = [11, 10, 23, 3]
    with pytest.raises(SetupError, match="red"):
        sim = Simulator("barrage", 1, seed=1)
        start[0, 54] = 11
        sim.reset(starts=start)
    start[0, 54] = 15
    sim.reset(starts=start)
    assert int(sim.players[0]) == 0 and int(sim.legal_actions()[1][0]) == 3, "one of the four ways is a lake"


def test_setups_are_drawn_from_pools() -> None:
    tiny = VARIANTS["tiny"]
    red = torch.tensor(np.stack([parse_setup("FLPJ", tiny), parse_setup("JPLF", tiny)]))
    blue = torch.tensor(np.stack([parse_setup("JFPL", tiny)]))
    sim = Simulator("tiny", 64, seed=1, setups=(red, blue))
    for _ in range(3):
        rows = {text.split()[0] for text, plies in zip(boards(sim), sim.plies.tolist(), strict=True) if plies == 0}
        assert rows <= {"lpfj/4/4/FLPJ", "lpfj/4/4/JPLF"}
        sim.play_random(40)
    sim.reset()
    assert {text.split()[0] for text in boards(sim)} == {"lpfj/4/4/FLPJ", "lpfj/4/4/JPLF"}


def test_uniform_setups_are_uniform() -> None:
    """All 24 setups of tiny, for both players, within five standard deviations; games not over at once."""
    sim = Simulator("tiny", 24_000, seed=8)
    texts = [text.split()[0] for text in boards(sim)]
    for side in (slice(-4, None), slice(0, 4)):
        counts = {}
        for text in texts:
            counts[text[side]] = counts.get(text[side], 0) + 1
        assert len(counts) == 24
        assert max(abs(count - 1000) for count in counts.values()) < 5 * (1000 * 23 / 24) ** 0.5


def test_a_seed_gives_the_same_games_whatever_the_batch_and_the_threads() -> None:
    wide = Simulator("barrage", 300, seed=77, threads=2, restart=False)
    narrow = Simulator("barrage", 1, seed=77, threads=1, restart=False)
    for number in (0, 123, 299):
        wide.reset()
        narrow.reset(first_number=number)
        for _ in range(80):
            wide.step(wide.sample())
            narrow.step(narrow.sample())
        assert torch.equal(wide.snapshot()[number].pack(), narrow.snapshot().pack())
    other = Simulator("barrage", 300, seed=78)
    wide.reset()
    assert not torch.equal(wide.snapshot().pack(), other.snapshot().pack())


def test_a_game_that_is_over_at_once_has_its_result_at_once() -> None:
    """Red has only a Flag in the first game, and a Lieutenant beside it in the second."""
    sim = Simulator("micro", 2, seed=1)
    starts = np.zeros((2, 12), np.int8)
    starts[:, [0, 11, 10]] = [11, 23, 17]
    starts[1, 1] = 5
    sim.reset(starts=starts)
    assert sim.results.ended.tolist() == [1, 0] and sim.over.tolist() == [True, False]
    assert (sim.outcome(0).winner, sim.outcome(0).end, sim.outcome(1)) == (1, "no_moves", None)


# ── Results ──────────────────────────────────────────────────────────────────────────────────────


def test_final_results_are_not_lost_when_games_begin_anew() -> None:
    sim = Simulator("nano", 50, seed=3)
    alone = Simulator("nano", 50, seed=3, restart=False)
    while not alone.over.all():
        alone.step(alone.sample())
    seen = torch.zeros(50, dtype=torch.bool)
    for _ in range(8):
        sim.step(sim.sample())
        ended = sim.results.ended.bool() & ~seen
        assert torch.equal(sim.results.end[ended], alone.results.end[ended])
        assert torch.equal(sim.results.utility[ended], alone.results.utility[ended])
        assert torch.equal(sim.results.plies[ended], alone.results.plies[ended])
        assert bool((sim.plies[sim.results.ended.bool()] == 0).all()), "a new game stands there already"
        seen |= ended
    assert seen.all()
    assert not sim.over.any()


def test_ended_games_stay_as_they_are_without_restart() -> None:
    sim = Simulator("nano", 20, seed=3, restart=False)
    while not sim.over.all():
        sim.step(sim.sample())
    before = sim.snapshot().pack()
    assert torch.equal(sim.sample(), torch.full((20,), -1, dtype=torch.int16))
    sim.step(sim.sample())
    assert torch.equal(sim.snapshot().pack(), before)
    assert not sim.legal_mask().any() and not sim.results.ended.any()
    assert sim.outcome(0).end in ("flag", "both_immobile")


# ── Snapshots and replays ────────────────────────────────────────────────────────────────────────


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(["classic", "barrage", "medium", "tiny", "nano", "kuhn", "leduc"]),
    seed=st.integers(0, 2**63 - 1),
    before=st.integers(0, 60),
    length=st.integers(1, 30),
)
def test_a_rollout_comes_back_from_one_snapshot_and_its_actions(name: str, seed: int, before: int, length: int) -> None:
    sim = Simulator(name, 8, seed=seed, threads=1)
    observation = {"kuhn": "information_state", "leduc": "information_state"}.get(name, "ataraxos")
    sim.play_random(before)
    snapshot = sim.snapshot()
    rollout, actions = [], []
    for _ in range(length):
        ended = sim.results.ended.clone() if rollout else torch.zeros(8, dtype=torch.uint8)
        rollout.append((sim.observe(observation), sim.legal_mask(), ended, sim.results.utility.clone()))
        actions.append(sim.sample())
        sim.step(actions[-1])
    final = sim.snapshot().pack()
    other = Simulator(name, 8, seed=seed, threads=1)
    for t in other.replay(snapshot, torch.stack(actions)):
        seen, mask, ended, utility = rollout[t]
        assert torch.equal(other.observe(observation), seen)
        assert torch.equal(other.legal_mask(), mask)
        assert torch.equal(other.results.ended, ended)
        assert torch.equal(other.results.utility[ended.bool()], utility[ended.bool()])
    assert torch.equal(other.snapshot().pack(), final)


def test_snapshots_are_taken_apart_joined_and_packed() -> None:
    sim = Simulator("barrage", 6, seed=2)
    sim.play_random(50)
    whole = sim.snapshot()
    parts = Snapshot.join([whole[0], whole[1:3], whole[[3, 4, 5]]])
    assert torch.equal(parts.pack(), whole.pack())
    assert torch.equal(Snapshot.unpack(sim.game, whole.pack()).pack(), whole.pack())
    twice = whole[2].repeat(6)
    sim.restore(twice)
    assert len(set(boards(sim))) == 1
    assert whole.pack().shape[1] == sim.record_bytes <= 4096


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), plies=st.integers(0, 200))
@example(seed=537, plies=60)  # what is damaged looks as if it had been erased
def test_damaged_records_are_refused_or_harmless(seed: int, plies: int) -> None:
    """Bytes that came from somewhere never lead a kernel astray: whatever is accepted can be played."""
    rng = np.random.default_rng(seed)
    sim = Simulator("barrage", 1, seed=seed, threads=1, restart=False)
    for _ in range(plies):
        sim.step(sim.sample())
    rows = sim.snapshot().pack()
    for place in rng.integers(0, rows.shape[1], rng.integers(1, 6)):
        rows[0, place] = int(rng.integers(0, 256))
    try:
        snapshot = Snapshot.unpack(sim.game, rows)
    except RecordError as error:
        assert "row 0" in str(error)
        return
    sim.restore(snapshot)
    for _ in range(20):
        sim.observe("ataraxos")
        sim.step(sim.sample())


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_an_illegal_action_names_game_and_action_and_changes_nothing(dtype: torch.dtype) -> None:
    sim = Simulator("tiny", 5, seed=1)
    actions = sim.sample().to(dtype)
    actions[3] = 95
    before = sim.snapshot().pack()
    with pytest.raises(
        IllegalActionError, match=r"game 3: action 95 \([a-d][1-4][a-d][1-4]\) is not legal for red at ply 0"
    ):
        sim.step(actions)
    assert torch.equal(sim.snapshot().pack(), before)
    sim.step(sim.sample())


@pytest.mark.parametrize("action", [-1, 96, 40_000, 65_536 + 1, -32_768])
def test_numbers_that_are_no_actions_are_refused(action: int) -> None:
    sim = Simulator("tiny", 2, seed=1)
    actions = sim.sample().long()
    actions[1] = action
    with pytest.raises(IllegalActionError, match="game 1"):
        sim.step(actions)


def test_unchecked_illegal_actions_leave_their_game_alone_and_are_told_later() -> None:
    sim = Simulator("tiny", 3, seed=1)
    actions = sim.sample()
    actions[1] = 95
    before = sim.snapshot().pack()
    sim.step(actions, check=False)
    assert torch.equal(sim.snapshot().pack()[1], before[1])
    assert not torch.equal(sim.snapshot().pack()[0], before[0])
    with pytest.raises(IllegalActionError, match="game 1"):
        sim.check_step()
    sim.check_step()


@pytest.mark.parametrize("actions", [[1, 2], [0.5, 1.0, 2.0], [[1, 2, 3]], [True, False, True]])
def test_actions_of_the_wrong_shape_or_kind_are_refused(actions: list) -> None:
    with pytest.raises(ConfigurationError, match="3 whole numbers"):
        Simulator("tiny", 3, seed=1).step(actions)


def test_wrong_outputs_are_refused() -> None:
    sim = Simulator("tiny", 3, seed=1)
    for out in (torch.zeros(3, 95, dtype=torch.bool), torch.zeros(3, 96), torch.zeros(96, 3, dtype=torch.bool).t()):
        with pytest.raises(ConfigurationError, match="out must be a contiguous tensor"):
            sim.legal_mask(out)
    with pytest.raises(ConfigurationError, match="did you mean 'ataraxos'"):
        sim.observe("ataraxo")
    with pytest.raises(ConfigurationError, match="layout"):
        sim.observe("ataraxos", layout="rows")
    with pytest.raises(ConfigurationError, match="float32 or bfloat16"):
        sim.observe("ataraxos", dtype=torch.float64)


def test_rules_that_a_record_cannot_hold_are_refused_when_it_is_made() -> None:
    with pytest.raises(ConfigurationError, match="without a bound"):
        Simulator(Stratego("classic", "isf"), 1)
    unbounded = Stratego("classic", "isf")
    assert Simulator(unbounded, 1, format=unbounded.format(plies=600)).format.history == 1024


def test_a_record_keeps_as_many_moves_as_the_rules_look_back() -> None:
    for rules, history in (("battleless_limit=1000", 1001), ("battleless_limit=255", 256), ("chase=off", 256)):
        assert Simulator(Stratego("classic", f"strategus {rules}"), 1).format.history == history, rules


def test_observations_that_need_tracking_say_so() -> None:
    sim = Simulator("barrage", 2, seed=1, tracks=False)
    with pytest.raises(ConfigurationError, match="tracks=True"):
        sim.observe("ataraxos")
    assert sim.observe("deepnash").shape == (2, 82, 10, 10)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 0}, "at least one game"),
        ({"n": 2, "seed": -1}, "seed"),
        ({"n": 2, "device": "tpu"}, "device"),
        ({"n": 2, "setups": torch.zeros(3, 7)}, "rows of 4"),
        ({"n": 2, "setups": torch.zeros(3, 4, dtype=torch.int8)}, "setup 0"),
    ],
)
def test_simulators_that_cannot_be_are_refused(arguments: dict, words: str) -> None:
    with pytest.raises((ConfigurationError, SetupError, RuntimeError), match=words):
        Simulator("tiny", **arguments)


def test_a_snapshot_of_other_rules_does_not_fit() -> None:
    snapshot = Simulator(Stratego("barrage", "ataraxos"), 2, seed=1).snapshot()
    with pytest.raises(RecordError, match="does not fit"):
        Simulator("barrage", 2, seed=1).restore(snapshot)
    with pytest.raises(RecordError, match="cannot fill 3"):
        Simulator(Stratego("barrage", "ataraxos"), 3, seed=1).restore(snapshot)


def test_cuda_is_asked_for_where_there_is_none() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ConfigurationError, match="not available here"):
        Simulator("tiny", 2, device="cuda")


def test_setup_texts_round_trip() -> None:
    for name, variant in VARIANTS.items():
        sim = Simulator(name, 4, seed=6)
        for row in range(4):
            setup = sim._starts[row, : sim.game.setup_size].numpy()
            assert (parse_setup(setup_text(setup, variant), variant) == setup).all()


# ── Views, ended games, records from elsewhere ───────────────────────────────────────────────────


@pytest.mark.parametrize("viewer", [-1, 2, 100_000_000, None, "red", 1.0])
def test_a_viewer_is_a_player(viewer: object) -> None:
    sim = Simulator("tiny", 2, seed=1)
    views, values = sim.views(0), sim.hidden_values(0)
    for call in (sim.views, sim.hidden_counts, sim.hidden_values, lambda who: sim.determinise(views, who, values)):
        with pytest.raises(ConfigurationError, match="viewer is 0 or 1"):
            call(viewer)


def test_some_rows_are_what_all_of_them_have_there() -> None:
    sim = Simulator("micro", 8, seed=1)
    sim.play_random(3)
    rows = torch.tensor([6, 1, 1])
    for some, every in ((sim.views(1, rows), sim.views(1)), (sim.snapshot(rows), sim.snapshot())):
        assert some.viewer == every.viewer and len(some) == 3
        for mine, theirs in zip(some.store, every.store, strict=True):
            assert torch.equal(mine, theirs[rows])
    before = sim.snapshot()
    sim.snapshot(rows).store.words.zero_()
    assert torch.equal(sim.snapshot().store.words, before.store.words), "they are copies"


def test_views_are_observed_and_never_played() -> None:
    sim = Simulator("barrage", 4, seed=1)
    seen = sim.observe("ataraxos", viewer=0)
    sim.restore(sim.views(0))
    assert torch.equal(sim.observe("ataraxos", viewer=0), seen)
    for call in (sim.sample, lambda: sim.play_random(3), lambda: sim.step([0, 0, 0, 0])):
        with pytest.raises(RecordError, match="views cannot be played"):
            call()
    with pytest.raises(RecordError, match="views cannot be played on"):
        Board.from_snapshot(sim.views(0))
    with pytest.raises(RecordError, match="row 0: hidden things have been erased .* say whose view"):
        Snapshot.unpack(sim.game, sim.views(0).pack())
    sim.reset()
    sim.step(sim.sample())


def test_an_assignment_that_leaves_the_player_on_turn_no_move_is_refused_and_changes_nothing() -> None:
    """Blue is on turn and can move, so the front piece cannot be a Bomb between Bombs and the Flag."""
    variant = Variant("narrow", 5, 2, (), 2, parse_army("F1 B2 L1"), 100, 50)
    board = Board.from_setups("FB/LB", "FB/LB", variant)
    board.push(board.legal_moves[0])
    sim = Simulator(board.game, 1, seed=1)
    sim.restore(board.snapshot())
    before = sim.snapshot().pack()
    views = sim.views(0)
    with pytest.raises(RecordError, match="do not fit"):
        sim.determinise(views, 0, [[11, 11, 4, 10]])
    assert torch.equal(sim.snapshot().pack(), before)
    sim.determinise(views, 0, sim.hidden_values(0))
    assert np.array_equal(sim.snapshot().store.bytes, board.snapshot().store.bytes)


@pytest.mark.parametrize(
    "values", ["x", [[1, 2], [3]], None, torch.zeros(2, 4) + 0.7, torch.zeros(2, 4, dtype=torch.cfloat)]
)
def test_values_of_the_wrong_kind_change_nothing(values: object) -> None:
    sim = Simulator("tiny", 2, seed=1)
    views, before = sim.views(0), sim.snapshot().pack()
    with pytest.raises((RecordError, TypeError, ValueError, RuntimeError)):
        sim.determinise(views, 0, values)
    assert torch.equal(sim.snapshot().pack(), before)


def test_a_reset_that_is_refused_changes_nothing() -> None:
    sim = Simulator("tiny", 2, seed=1)
    before = sim.snapshot().pack()
    with pytest.raises(SetupError):
        sim.reset(starts=np.full((2, 16), 1, np.int8), first_number=77)
    assert torch.equal(sim.snapshot().pack(), before)


def test_a_game_that_is_over_begins_anew_with_the_next_step() -> None:
    ended = Simulator("nano", 3, seed=3, restart=False)
    while not ended.over.all():
        ended.step(ended.sample())
    sim = Simulator("nano", 3, seed=3)
    sim.restore(ended.snapshot())
    assert sim.over.all() and sim.outcome(0) == ended.outcome(0)
    sim.step(torch.zeros(3, dtype=torch.int16))
    assert not sim.over.any() and not sim.results.ended.any()


def test_results_belong_to_the_games_that_were_restored() -> None:
    sim = Simulator("nano", 3, seed=3, restart=False)
    first = sim.snapshot()
    while not sim.over.all():
        sim.step(sim.sample())
    sim.restore(first)
    assert sim.outcome(0) is None and not sim.results.end.any()


def test_pools_of_setups_that_nobody_can_move_are_refused() -> None:
    setup = np.full(40, 3, np.int8)
    army = [1] * 1 + [2] * 8 + [3] * 5 + [4] * 4 + [5] * 4 + [6] * 4 + [7] * 3 + [8] * 2 + [9, 10]
    setup[[30, 31, 34, 35, 38, 39]] = 12
    setup[0] = 11
    setup[[i for i in range(40) if i not in (0, 30, 31, 34, 35, 38, 39)]] = army
    with pytest.raises(SetupError, match="over at once"):
        Simulator("classic", 2, seed=1, setups=torch.tensor(setup[None]))


def test_a_record_that_claims_an_endless_chase_is_refused() -> None:
    board = Board.from_pieces({0: (0, 10), 44: (0, 9), 55: (1, 2), 99: (1, 10)}, "classic")
    board.push((44, 45))
    snapshot = board.snapshot()
    for word in (1, layout.BATTLELESS, layout.LENGTH, layout.RECORDED, layout.QUIET):
        snapshot.store.words[0, word] = 2**32
    with pytest.raises(RecordError, match="row 0"):
        Snapshot.unpack(board.game, snapshot.pack())


def test_snapshots_are_indexed_by_any_whole_number() -> None:
    snapshot = Simulator("tiny", 4, seed=1).snapshot()
    for row in (2, np.int64(2), torch.tensor(2)):
        assert len(snapshot[row]) == 1 and torch.equal(snapshot[row].pack(), snapshot.pack()[2:3])
    assert snapshot[0:0].pack().shape[0] == 0
    with pytest.raises(RecordError, match="nothing to join"):
        Snapshot.join([])


def test_copies_of_one_game_throw_dice_of_their_own() -> None:
    sim = Simulator("classic", 64, seed=1)
    sim.restore(sim.snapshot()[0])
    assert len(set(sim.sample().tolist())) > 1
    sim.determinise(sim.views(0)[0], 0, sim.hidden_values(0))
    assert len(set(sim.sample().tolist())) > 1


@pytest.mark.parametrize(
    "arguments",
    [{"n": 2.5}, {"n": True}, {"seed": 1.5}, {"seed": "a"}, {"threads": 0}, {"threads": -3}, {"device": "foo"}],
)
def test_arguments_of_the_wrong_kind_are_refused(arguments: dict) -> None:
    with pytest.raises(ConfigurationError):
        Simulator("tiny", **({"n": 2} | arguments))


def test_a_damaged_cache_of_kernels_is_as_good_as_none(tmp_path: Path) -> None:
    code = "from vauban.games.randomness import philox; from vauban.sim.compile import *; import numpy as np; "
    code += "print(int(compiled(philox, CPU)(*[np.uint64(0)] * 6)[0]))"
    for damage in (None, b"", b"junk"):
        for file in tmp_path.rglob("*.nb*"):
            if damage is not None:
                file.write_bytes(damage)
        environment = os.environ | {"VAUBAN_CACHE": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.stdout.strip() == str(0x6627E8D5), done.stderr
    environment = os.environ | {"VAUBAN_CACHE": "/proc/nothing"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == str(0x6627E8D5) and "not kept" in done.stderr


def test_actions_are_chosen_by_their_probabilities_and_the_same_again() -> None:
    sim = Simulator("barrage", 20_000, seed=5)
    legal, _ = sim.legal_actions()
    weights = torch.rand(legal.shape, generator=torch.Generator().manual_seed(1)) + 0.05
    weights[:, 1] = 0.0
    weights[legal < 0] = 0.0
    log_policy = weights.log() + 3.0  # any scale will do
    chosen = sim.choose(legal, log_policy)
    assert torch.equal(chosen, sim.choose(legal, log_policy))
    places = (legal == chosen[:, None]).int().argmax(1)
    assert (chosen == legal[torch.arange(sim.n), places]).all()
    policy = weights / weights.sum(1, keepdim=True)
    for place in range(6):
        seen, expected = (places == place).float().mean(), policy[:, place].mean()
        spread = (policy[:, place] * (1 - policy[:, place])).sum().sqrt() / sim.n
        assert abs(seen - expected) < 4.5 * spread + 1e-9
    sim.step(chosen)


def test_nothing_is_chosen_where_a_game_is_over() -> None:
    sim = Simulator("nano", 50, seed=5, restart=False)
    while not sim.over.all():
        legal, _ = sim.legal_actions()
        chosen = sim.choose(legal, torch.zeros(legal.shape))
        assert torch.equal(chosen == -1, sim.over)
        sim.step(chosen)


def test_new_games_come_from_new_pools() -> None:
    first = torch.as_tensor(parse_setup("FLPJ", VARIANTS["tiny"]))[None]
    other = torch.as_tensor(parse_setup("LFPJ", VARIANTS["tiny"]))[None]
    sim = Simulator("tiny", 8, seed=1, setups=first)
    sim.set_pools((other, other))
    ended = sim.play_random(150)
    assert (ended > 0).all()
    flags = sim.starts[:, :4]
    assert torch.equal(flags, other.expand(8, -1).to(torch.int8))


def test_two_simulators_share_the_games_of_one() -> None:
    whole = Simulator("tiny", 10, seed=3)
    parts = [Simulator("tiny", 5, seed=3, stride=10) for _ in range(2)]
    for index, part in enumerate(parts):
        part.reset(first_number=5 * index)
    whole.play_random(200)
    for part in parts:
        part.play_random(200)
    both = torch.cat([part.snapshot().pack() for part in parts])
    assert torch.equal(whole.snapshot().pack(), both)


def test_numpy_arrays_hold_the_same_games_as_tensors_do() -> None:
    tensors = Simulator("tiny", 16, seed=3, threads=1)
    arrays = Simulator("tiny", 16, seed=3, threads=1, arrays="numpy")
    for _ in range(60):
        actions = arrays.sample()
        assert isinstance(actions, np.ndarray) and np.array_equal(actions, tensors.sample())
        assert np.array_equal(arrays.legal_mask(), tensors.legal_mask())
        arrays.step(actions)
        tensors.step(actions)
    assert np.array_equal(arrays.observe("ataraxos"), tensors.observe("ataraxos"))
    assert np.array_equal(arrays.snapshot().pack(), tensors.snapshot().pack())
    for column, other in zip(arrays.results, tensors.results, strict=True):
        assert np.array_equal(column, other)
    arrays.restore(tensors.views(0))
    tensors.restore(arrays.snapshot())
    assert torch.equal(
        Snapshot.unpack(tensors.game, tensors.snapshot().pack(), viewer=0).pack(), arrays.snapshot().to("cpu").pack()
    )


def test_numpy_arrays_are_on_the_cpu_and_need_no_torch() -> None:
    with pytest.raises(ConfigurationError, match="NumPy arrays are on the device"):
        Simulator("tiny", 1, "cuda", arrays="numpy")
    with pytest.raises(ConfigurationError, match="arrays is"):
        Simulator("tiny", 1, arrays="lists")
    code = (
        "import sys; from vauban.sim.simulator import Simulator; "
        "sim = Simulator('kuhn', 2, seed=1, arrays='numpy'); sim.step(sim.sample()); sim.observe('observation'); "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
