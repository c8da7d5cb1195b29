"""The contract that every game keeps, as checks that run on any game: those in this package, and yours.

    from vauban.games import kit
    kit.check("py:mine.py:Mine")            # or a Game; raises an AssertionError that says what does not hold

    $ python -m vauban.games.kit py:mine.py:Mine

It does not know your rules: count the tree by hand for a few plies, and write the numbers down in a test.
"""

from __future__ import annotations

import json
import pickle
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from vauban.errors import ConfigurationError, IllegalActionError, RecordError, SetupError, VaubanError
from vauban.games import base
from vauban.games.base import NUMBER, PLAYER, Game
from vauban.observe import base as observations
from vauban.sim.simulator import Simulator
from vauban.sim.store import Snapshot

N = 6
"""Games in a batch: few, so that the kit stays quick."""
PLIES = 40
"""Steps of a rollout; short games end and begin anew on the way."""
SEED = 11
MOST_SETUPS = 10_000
"""Setups that are all looked at; of games with more, some are drawn."""


def check(game: str | Game | type[Game], device: str = "cpu", tell: Callable[[str], None] = lambda _: None) -> None:
    """Run every check on a game; `tell` is told the name of each before it runs."""
    made = base.game(game)
    base.check_game(made)
    for each in CHECKS:
        tell(each.__name__.replace("_", " "))
        each(made, device)


@contextmanager
def _refused(error: type[Exception], pattern: str = "") -> Iterator[None]:
    """Something that must raise an error with such a message."""
    try:
        yield
    except error as raised:
        assert re.search(pattern, str(raised)), f"the error should say {pattern!r}, and says {str(raised)!r}"
        return
    raise AssertionError(f"{error.__name__} should have been raised")


def _same(one: Snapshot, other: Snapshot, number: bool = True) -> bool:
    """Return whether all records are equal in every bit, but for the games' numbers if these do not matter."""
    snapshots = [one.repeat(1), other.repeat(1)]  # copies
    if not number:
        for snapshot in snapshots:
            snapshot.store.words[:, NUMBER] = 0
    return torch.equal(snapshots[0].pack(), snapshots[1].pack())


def _all_observations(sim: Simulator, viewer: int | None = None) -> list[torch.Tensor]:
    """Observe a game by every observation that it has."""
    return [sim.observe(kind, viewer=viewer) for kind in observations.names(sim.game)]


def _positions(game: Game, device: str) -> Iterator[Simulator]:
    """Yield batches early and late in the game; some games of a late one are over."""
    sim = Simulator(game, N, device, SEED, restart=False)
    for ply in range(PLIES + 1):
        if ply in (0, 1, 2, 3, PLIES):
            yield sim
        sim.step(sim.sample())
    long = Simulator(game, N, device, SEED)
    long.play_random(300)
    yield long


# ── Legal actions ────────────────────────────────────────────────────────────────────────────────


def counts_masks_and_lists_of_legal_actions_agree(game: Game, device: str) -> None:
    for sim in _positions(game, device):
        mask, (lists, counts) = sim.legal_mask().cpu(), sim.legal_actions()
        for row in range(N):
            count, listed = int(counts[row]), lists[row].tolist()
            assert count == int(mask[row].sum()) <= sim.game.max_legal
            assert all(0 <= action < sim.game.action_count for action in listed[:count])
            assert set(listed[:count]) == set(mask[row].nonzero().flatten().tolist())
            assert set(listed[count:]) <= {-1}, "nothing but -1 stands behind the last legal action"
            assert (count == 0) == bool(sim.over[row]), "a game has legal actions until it is over"


def an_action_is_accepted_exactly_if_it_is_in_the_mask(game: Game, device: str) -> None:
    rows = [0, N - 1]
    for sim in _positions(game, device):
        chosen = sim.snapshot()[[row for row in rows if not sim.over[row]]]
        if len(chosen) == 0:
            continue
        actions = torch.arange(-1, sim.game.action_count + 1).repeat(len(chosen))
        trial = Simulator(sim.game, len(actions), device, sim.seed, restart=False)
        trial.restore(chosen.repeat(sim.game.action_count + 2))
        legal = torch.nn.functional.pad(trial.legal_mask().cpu(), (1, 1))[torch.arange(len(actions)), actions + 1]
        before = trial.snapshot().pack()
        trial.step(actions, check=False)
        accepted = (trial.snapshot().pack() != before).any(1).cpu()
        assert torch.equal(accepted, legal)
        with _refused(IllegalActionError):
            trial.check_step()


def an_illegal_action_is_refused_by_name_and_changes_nothing(game: Game, device: str) -> None:
    sim = Simulator(game, N, device, SEED)
    before, actions = sim.snapshot(), sim.sample()
    for action in (-1, sim.game.action_count, 2**40):
        wrong = actions.to(torch.int64)
        wrong[3] = action
        with _refused(IllegalActionError, rf"game 3: there is no action {action}: actions go from 0 to"):
            sim.step(wrong)
        if device == "cpu":
            assert _same(sim.snapshot(), before), "no game may move when one of them cannot"
        assert _same(sim.snapshot()[3], before[3])
        sim.restore(before)
    barred = (~sim.legal_mask()[3]).nonzero().flatten().tolist()
    if barred:
        actions[3] = barred[0]
        text = game.action_text(int(sim.players[3]), barred[0])
        with _refused(IllegalActionError, rf"game 3: action {barred[0]} \({text}\) is not legal"):
            sim.step(actions)


# ── Ends ─────────────────────────────────────────────────────────────────────────────────────────


def games_end_in_time_and_then_rest(game: Game, device: str) -> None:
    sim = Simulator(game, N, device, SEED, restart=False)
    for _ in range(sim.game.max_actions or 100_000):
        if sim.over.all():
            break
        sim.step(sim.sample())
    assert sim.over.all(), f"{game.name!r} says that no game is longer than {sim.game.max_plies} plies"
    assert not sim.legal_mask().any()
    assert sim.sample().tolist() == [-1] * N
    before, results = sim.snapshot(), [column.clone() for column in sim.results]
    for row in range(N):
        outcome = sim.outcome(row)
        assert outcome is not None and outcome.end in sim.game.ends[1:]
        sign = {0: 1, 1: -1, None: 0}[outcome.winner]
        assert np.sign(outcome.utility) == sign, "what one wins the other loses, and who wins has more than nothing"
        assert int(sim.results.plies[row]) == int(sim.plies[row])
    sim.step(torch.zeros(N, dtype=torch.int64))
    assert _same(sim.snapshot(), before), "an action leaves an ended game alone"
    assert not sim.results.ended.any(), "a game ends once"
    assert all(torch.equal(old, new) for old, new in zip(results[1:], sim.results[1:], strict=True))


def nobody_moves_more_often_in_a_row_than_the_game_says(game: Game, device: str) -> None:
    sim = Simulator(game, N, device, SEED, restart=False)
    before = sim.players.clone()
    row = torch.zeros(N, dtype=torch.int64, device=sim.device)
    longest = torch.zeros(N, dtype=torch.int64, device=sim.device)
    for _ in range(min(sim.game.max_plies or 60, 60)):
        playing = ~sim.over
        row = torch.where(sim.players == before, row + 1, 1)
        longest = torch.where(playing, torch.maximum(longest, row), longest)
        before = sim.players.clone()
        sim.step(sim.sample())
    most, said = int(longest.max()), game.moves_in_a_row
    assert most == said, f"nobody moves more often than {said} times in a row, the game says; it is {most} times"


# ── Texts, setups, making it again ───────────────────────────────────────────────────────────────


def legal_actions_have_texts_of_their_own_that_are_read_back(game: Game, device: str) -> None:
    for sim in _positions(game, device):
        lists, counts = sim.legal_actions()
        for row, player in enumerate(sim.players.tolist()):
            texts: dict[str, int] = {}
            for action in lists[row, : int(counts[row])].tolist():
                text = game.action_text(player, action)
                known = texts.setdefault(text, action)
                assert known == action, f"actions {known} and {action} of {game.players[player]} are both {text!r}"
            for text, action in texts.items():
                again = game.parse_action(player, text)
                assert again == action, f"{text!r} is action {action} of {game.players[player]}, and is read as {again}"


def setups_are_checked_written_and_read_back(game: Game, device: str) -> None:
    setups = game.setups
    if setups is None:
        return
    rng = random.Random(SEED)
    drawn = np.stack([setups.draw(rng) for _ in range(N)])
    assert drawn.shape == (N, setups.size), f"a setup is a row of {setups.size} numbers"
    setups.check(drawn)
    for row in drawn:
        text = setups.text(row)
        assert np.array_equal(setups.parse(text), row), f"{text!r} is read as another setup than it was written from"
    for number in (-1, 127):
        with _refused(SetupError):
            setups.check(np.full((1, setups.size), number, np.int8))
    with _refused(SetupError):
        setups.parse("?!")
    first, second = drawn, drawn[::-1]
    starts = setups.starts(first, second)
    again = setups.of_starts(starts)
    assert all(map(np.array_equal, again, (first, second))), "of_starts is the inverse of starts"
    game.check_starts(starts)
    if setups.count <= MOST_SETUPS:
        listed = setups.all()
        setups.check(listed)
        rows = {tuple(row) for row in listed.tolist()}
        assert len(listed) == len(rows) == setups.count, f"all() lists each of the {setups.count} setups once"
        assert {tuple(row) for row in drawn.tolist()} <= rows, "draw() draws one of all()"


def it_is_made_again_from_its_description_and_in_another_process(game: Game, device: str) -> None:
    try:
        made = base.from_spec(json.loads(json.dumps(game.spec())))
    except ConfigurationError as error:
        raise AssertionError(
            f"spec() does not make the game again: {error} (register it, or name it py:FILE.py:NAME)"
        ) from error
    for again in (made, pickle.loads(pickle.dumps(game))):
        same = (again.name, again.family, again.rules_text) == (game.name, game.family, game.rules_text)
        assert same and again.format(plies=PLIES) == game.format(plies=PLIES), f"{again!r} is made in place of {game!r}"


def somebody_can_observe_it(game: Game, device: str) -> None:
    assert observations.names(game), f"the family {game.family!r} has no observation (vauban.observe.base.register)"


# ── Reproducing ──────────────────────────────────────────────────────────────────────────────────


def a_replay_shows_everything_again_bit_for_bit(game: Game, device: str) -> None:
    sim = Simulator(game, N, device, SEED)
    sim.play_random(7)
    start, actions, shown = sim.snapshot(), [], []

    def everything() -> list[torch.Tensor]:
        ended = sim.results.ended.bool()
        results = [sim.results.ended.clone(), *(column[ended] for column in sim.results)]
        return [*_all_observations(sim), sim.legal_mask(), *sim.legal_actions(), *results, sim.snapshot().pack()]

    sim.results.ended.zero_()
    for _ in range(PLIES):
        shown.append(everything())
        actions.append(sim.sample())
        sim.step(actions[-1])
    end = sim.snapshot()

    sim.play_random(5)
    for index in sim.replay(start, torch.stack(actions)):
        for old, new in zip(shown[index], everything(), strict=True):
            assert torch.equal(old, new), f"ply {index}"
    assert _same(sim.snapshot(), end)


def a_game_depends_on_seed_and_number_alone(game: Game, device: str) -> None:
    n, row = 130, 97  # enough games for several threads
    many = Simulator(game, n, device, SEED, restart=False)
    alone = Simulator(game, 1, device, SEED, restart=False)
    alone.reset(first_number=row)
    for _ in range(PLIES):
        assert _same(many.snapshot()[row], alone.snapshot())
        many.step(many.sample())
        alone.step(alone.sample())
    other = Simulator(game, n, device, SEED + 1, restart=False)
    other.play_random(1)
    many.reset()
    many.play_random(1)
    assert not _same(many.snapshot(), other.snapshot()), "another seed makes other games"


def a_new_game_keeps_nothing_of_what_was_there(game: Game, device: str) -> None:
    fresh, used = (Simulator(game, N, device, SEED) for _ in range(2))
    for part in used.store:
        part.fill_(77)
    used.reset()
    assert _same(used.snapshot(), fresh.snapshot())


def playing_at_random_is_stepping_with_samples(game: Game, device: str) -> None:
    quick, slow = (Simulator(game, N, device, SEED) for _ in range(2))
    counts = torch.zeros(N, dtype=torch.int64)
    for _ in range(PLIES):
        slow.step(slow.sample())
        counts += slow.results.ended.cpu()
    assert torch.equal(quick.play_random(PLIES).cpu().to(torch.int64), counts)
    assert _same(quick.snapshot(), slow.snapshot())


def records_can_be_packed_and_read_back(game: Game, device: str) -> None:
    for sim in _positions(game, device):
        for snapshot in (sim.snapshot(), sim.snapshot()[2], sim.views(0)):
            again = Snapshot.unpack(sim.game, snapshot.pack(), viewer=snapshot.viewer)
            assert _same(again, snapshot)
        with _refused(RecordError, "rows of"):
            Snapshot.unpack(sim.game, snapshot.pack()[:, 1:])


def outputs_are_filled_in_place(game: Game, device: str) -> None:
    sim = Simulator(game, N, device, SEED)
    sim.play_random(1)
    for kind in observations.names(sim.game):
        seen = sim.observe(kind)
        out = torch.full_like(seen, 77)
        assert sim.observe(kind, out) is out
        assert torch.equal(out, seen)
    mask, lists, actions = sim.legal_mask(), sim.legal_actions(), sim.sample()
    assert torch.equal(sim.legal_mask(out := torch.ones_like(mask)), mask) and torch.equal(out, mask)
    buffers = torch.full_like(lists[0], 77), torch.full_like(lists[1], 77)
    sim.legal_actions(*buffers)
    assert torch.equal(buffers[0], lists[0]) and torch.equal(buffers[1], lists[1])
    assert torch.equal(sim.sample(out := torch.full_like(actions, 77)), actions) and torch.equal(out, actions)


# ── The wall ─────────────────────────────────────────────────────────────────────────────────────


def a_view_shows_its_player_what_the_game_shows_that_player(game: Game, device: str) -> None:
    for viewer in (0, 1):
        for sim in _positions(game, device):
            _shows_the_same(sim, device, viewer)


def _shows_the_same(sim: Simulator, device: str, viewer: int) -> None:
    seen, mask = _all_observations(sim, viewer), sim.legal_mask()
    mine = (sim.store.bytes[:, PLAYER] == viewer) & ~sim.over
    other = Simulator(sim.game, N, device, SEED, restart=False)
    other.restore(sim.views(viewer))
    assert not other.numbers.any(), "a game's number tells, with the seed, what is hidden"
    for kind, old, new in zip(observations.names(sim.game), seen, _all_observations(other, viewer), strict=True):
        assert torch.equal(old, new), f"{kind!r} shows what is hidden"
    assert torch.equal(other.legal_mask()[mine], mask[mine])
    assert torch.equal(other.hidden_counts(viewer), sim.hidden_counts(viewer))
    assert _same(other.views(viewer), other.snapshot()), "nothing is left to conceal in a view"


def a_view_is_the_same_whatever_is_hidden_and_becomes_the_game_again(game: Game, device: str) -> None:
    for viewer in (0, 1):
        for sim in _positions(game, device):
            _hides_alike(sim, device, viewer)


def _hides_alike(sim: Simulator, device: str, viewer: int) -> None:
    views, counts = sim.views(viewer), sim.hidden_counts(viewer).tolist()
    one = Simulator(sim.game, 1, device, SEED, restart=False)
    for row in (0, N - 1):
        truth, found = sim.snapshot()[row], False
        assert counts[row] <= sim.game.hidden_size
        one.restore(truth)
        for values in list(_guesses(one, viewer, counts[row])):
            try:
                one.determinise(views[row], viewer, torch.tensor([values], dtype=torch.int64))
            except RecordError:
                continue
            found |= _same(one.snapshot(), truth, number=False)
            assert _same(one.views(viewer), views[row]), f"a view tells whether {values} are hidden"
        assert found, "the true values bring the game back"


def _guesses(one: Simulator, viewer: int, count: int) -> Iterator[list[int]]:
    """Guess what may be hidden: the truth and some shuffles of it; every value there is, if one thing is hidden."""
    values = one.hidden_values(viewer)[0, :count].tolist()
    yield values
    shuffle = np.random.default_rng(SEED)
    for _ in range(10):
        yield shuffle.permutation(values).tolist()
    if count == 1:
        yield from ([value] for value in range(128))


CHECKS: tuple[Callable[[Game, str], None], ...] = (
    counts_masks_and_lists_of_legal_actions_agree,
    an_action_is_accepted_exactly_if_it_is_in_the_mask,
    an_illegal_action_is_refused_by_name_and_changes_nothing,
    games_end_in_time_and_then_rest,
    nobody_moves_more_often_in_a_row_than_the_game_says,
    a_replay_shows_everything_again_bit_for_bit,
    a_game_depends_on_seed_and_number_alone,
    a_new_game_keeps_nothing_of_what_was_there,
    playing_at_random_is_stepping_with_samples,
    records_can_be_packed_and_read_back,
    outputs_are_filled_in_place,
    a_view_shows_its_player_what_the_game_shows_that_player,
    a_view_is_the_same_whatever_is_hidden_and_becomes_the_game_again,
    legal_actions_have_texts_of_their_own_that_are_read_back,
    setups_are_checked_written_and_read_back,
    it_is_made_again_from_its_description_and_in_another_process,
    somebody_can_observe_it,
)
"""All of the contract."""

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m vauban.games.kit GAME    (a name, a .toml file, or py:FILE.py:NAME)")
    try:
        check(sys.argv[1], tell=lambda name: print(f"{name} …", flush=True))
    except VaubanError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    print("all of the contract holds")
