"""Kinds of networks: registered from outside, they go through training, cards and commands like those we ship."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from typer.testing import CliRunner

from vauban.cli.main import app
from vauban.errors import ConfigurationError
from vauban.games.base import Game
from vauban.games.base import game as find_game
from vauban.learn.config import config_text, parse_config
from vauban.learn.readme import README
from vauban.learn.run import Run
from vauban.nets import kinds
from vauban.nets.kinds import describe, find_kind, register
from vauban.nets.move import MoveNetwork
from vauban.nets.policy import PolicyNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import load_model, read_card, shipped_models
from vauban.nets.transformer import Size
from vauban.observe import base as observations


@dataclass(frozen=True)
class ConvConfig:
    """Nothing that a transformer has: channels of each layer, and a share that is dropped."""

    channels: tuple[int, ...]
    dropout: float = 0.0
    observation: str = ""


class Conv(PolicyNetwork):
    """Convolutions over the board, and a layer from all of it to the actions and the outcome."""

    def __init__(self, game: Game, channels: tuple[int, ...], dropout: float = 0.0, observation: str = "") -> None:
        super().__init__()
        self.observation = observation or observations.default(game).name
        self.config = ConvConfig(channels, dropout, self.observation)
        self.board = game.board
        widths = (observations.find(game, self.observation).channels(game), *channels)
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths, channels, strict=False))
        squares = game.board[0] * game.board[1]
        self.policy = nn.Linear(channels[-1] * squares, game.action_count)
        self.outcome = nn.Linear(channels[-1] * squares, len(game.utilities))
        self.register_buffer("choice_of_action", torch.arange(game.action_count), persistent=False)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the actions and of the outcome."""
        x = seen.transpose(1, 2).unflatten(2, self.board)
        for layer in self.layers:
            x = functional.relu(layer(x))
        return self.policy(x.flatten(1)), self.outcome(x.flatten(1))


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """The kind above is known as long as a test runs."""
    kinds.kinds()
    before = dict(kinds._kinds)
    register("grid", ConvConfig)(Conv)
    yield
    kinds._kinds.clear()
    kinds._kinds.update(before)


CONFIG = """
about = "A small convolutional network."
game = "tiny"
rules = "battleless_limit=20,total_limit=60"
iterations = 2
[ataraxos]
setup_network = false
[ataraxos.move_network]
kind = "grid"
channels = [8, 4]
[ataraxos.moves]
games = 24
length = 14
batch = 16
"""


def told(*arguments: str) -> str:
    """Return what a command prints."""
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_a_kind_from_outside_is_trained_shown_made_a_card_of_played_and_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("conv.toml").write_text(CONFIG)
    told("train", "conv.toml", "--device", "cpu")
    shown = told("models", "runs/conv")
    assert "grid" in shown and "channels 8 4" in shown and "dropout 0.0" in shown
    told("models", "card", "runs/conv", "--name", "pyramid")
    page = Path("models/pyramid", README).read_text(encoding="utf-8")
    assert "| move | grid | channels 8 4, dropout 0.0, observation ataraxos (version 1) |" in page
    model = load_model("models/pyramid")
    assert isinstance(model.player, Conv) and model.player.config == ConvConfig((8, 4), 0.0, "ataraxos")
    assert model.card["networks"]["move"]["channels"] == [8, 4]
    match = ("match", "net:models/pyramid", "random", "--game", "tiny", "--games", "4", "--workers", "1", "--json")
    assert json.loads(told(*match).splitlines()[-1])["games"] == 4
    said = told("train", "conv.toml", "--device", "cpu", "--from", "models/pyramid", "--set", "iterations=3",
                "--out", "runs/more")  # fmt: skip
    assert "it goes on from the networks of 'pyramid', after iteration 2" in said
    assert Run.resume(Path("runs/more"), changes=["iterations=4"]).iterate()["iteration"] == 4
    other = parse_config(CONFIG, ["ataraxos.move_network={depth=1, width=16, heads=2}"])
    with pytest.raises(ConfigurationError, match="of the kind grid in the model 'pyramid' and move in") as refused:
        Run.begin(other, Path("runs/other"), model=model)
    change = 'ataraxos.move_network={kind = "grid", channels = [8, 4], observation = "ataraxos"}'
    assert str(refused.value).endswith(f"so add --set '{change}'")
    Run.begin(parse_config(CONFIG, [change]), Path("runs/other"), model=model)


def test_a_configuration_with_a_kind_is_written_back_and_its_settings_are_checked() -> None:
    config = parse_config(CONFIG)
    assert config.stages["ataraxos"].move_network.config == ConvConfig((8, 4))
    assert parse_config(config_text(config)) == config
    for change, words in (
        ("chanels=[3]", "ataraxos.move_network has no 'chanels': did you mean 'channels'"),
        ("channels=3", "ataraxos.move_network.channels is a list, not 3"),
        ("kind='gird'", "ataraxos.move_network.kind: there is no kind of network 'gird': did you mean 'grid'"),
        ("width=3", "ataraxos.move_network has no 'width'"),
    ):
        with pytest.raises(ConfigurationError, match=words):
            parse_config(CONFIG, [f"ataraxos.move_network.{change}"])
    with pytest.raises(ConfigurationError, match="ataraxos.move_network needs channels"):
        parse_config(CONFIG.replace("channels = [8, 4]\n", ""))


def test_a_kind_that_cannot_play_is_refused_as_the_network_that_moves(tmp_path: Path) -> None:
    change = 'ataraxos.move_network={kind="setup", depth=1, width=16, heads=2}'
    with pytest.raises(ConfigurationError, match=r"a network of the kind 'setup' cannot play"):
        Run.begin(parse_config(CONFIG, [change]), tmp_path / "run")


def test_kinds_do_not_take_each_others_names() -> None:
    with pytest.raises(ConfigurationError, match="there is a kind of network 'grid' already, Conv of"):
        register("grid", ConvConfig)(type("Other", (Conv,), {}))
    with pytest.raises(ConfigurationError, match=r"kind of network 'setup' already, SetupNetwork of"):
        register("setup", ConvConfig)(type("Other", (Conv,), {}))
    with pytest.raises(ConfigurationError, match="a card has other uses for 'dtype'"):
        register("odd", dataclass(type("Odd", (), {"__annotations__": {"dtype": str}})))(type("Other", (Conv,), {}))
    assert find_kind("setup").network is SetupNetwork


def test_networks_that_no_card_could_describe_are_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigurationError, match="Linear is no registered kind of network"):
        describe(nn.Linear(1, 1))
    network: Any = Conv(find_game("tiny"), (4,))
    del network.config
    with pytest.raises(ConfigurationError, match="Conv keeps no ConvConfig as `config`"):
        describe(network)


def test_a_network_says_what_it_is_built_from() -> None:
    described = describe(MoveNetwork(find_game("tiny"), Size(1, 16, 2)))
    size = {"depth": 1, "width": 16, "heads": 2, "feedforward": 4}
    assert described == {"kind": "move", "size": size, "observation": "ataraxos"}


@pytest.mark.parametrize("name", shipped_models())
def test_shipped_cards_that_say_setup_and_belief_go_on_loading(name: str) -> None:
    card = read_card(shipped_models()[name])
    assert [each["kind"] for each in card["networks"].values()] == ["move", "setup", "belief"]
    assert describe(load_model(name).networks["setup"])["kind"] == "setup"
