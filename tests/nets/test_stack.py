"""The stack of convolutions: a choice for each move, the published size, games without a board refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from vauban.errors import ConfigurationError
from vauban.games.base import game
from vauban.nets.kinds import describe, find_kind
from vauban.nets.stack import StackNetwork
from vauban.observe import base as observations


@pytest.mark.parametrize("name", ["tiny", "barrage", "geister"])
def test_every_move_has_a_choice_of_its_own(name: str) -> None:
    played = game(name)
    network = StackNetwork(played, 4, 4, 2)
    channels = observations.default(played).channels(played)
    squares = played.board[0] * played.board[1]
    choices, outcome = network(torch.zeros(3, squares, channels))
    assert choices.shape == (3, squares**2) and outcome.shape == (3, len(played.utilities))
    moves = played.moves
    assert moves is not None
    # Moves of a scout along a line may be numbered more than once for one pair; different pairs never share a choice.
    pairs = {(int(a), int(b)): int(c) for (a, b), c in zip(moves, network.choice_of_action, strict=True) if b >= 0}
    assert len(set(pairs.values())) == len(pairs)
    assert all(choice % squares == source for (source, _), choice in pairs.items())


def test_a_filter_is_the_square_to_go_to() -> None:
    """A bias of one filter of the last convolution raises the moves to one square, and no others."""
    played = game("tiny")
    network = StackNetwork(played, 4, 4, 1)
    seen = torch.zeros(1, 16, observations.default(played).channels(played))
    before, _ = network(seen)
    with torch.no_grad():
        network.moves.bias[5] += 1.0
    after, _ = network(seen)
    raised = ((after - before)[0, network.choice_of_action] > 0.5).tolist()
    assert played.moves is not None
    assert raised == [int(target) == 5 for _, target in played.moves] and any(raised)


def test_it_has_the_published_size_and_is_described_by_its_settings() -> None:
    played = game("barrage")
    network = StackNetwork(played)
    channels = observations.default(played).channels(played)
    sizes = [channels, 128, *[256] * 6, 100]
    convolutions = sum(9 * before * after + after for before, after in pairwise(sizes))
    assert sum(each.numel() for each in network.parameters()) == convolutions + 257 * len(played.utilities)
    assert describe(network)["kind"] == "stack" and find_kind("stack").network is StackNetwork


def test_games_without_a_board_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="needs a board, and 'kuhn' has none"):
        StackNetwork(game("kuhn"))
