"""Models on disk: written, read back, refused; their cards; the command that shows them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import nn
from typer.testing import CliRunner

from vauban.cli.models import models
from vauban.games.base import Game, game
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.variants import Variant, parse_army
from vauban.learn.base import find_learner
from vauban.learn.card import load_trained
from vauban.learn.config import load_config
from vauban.learn.readme import README, readme_text
from vauban.nets import store
from vauban.nets.belief import BeliefNetwork
from vauban.nets.kinds import describe
from vauban.nets.move import MoveNetwork
from vauban.nets.plain import PlainNetwork
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import (
    Card,
    ModelError,
    Training,
    build_network,
    find_model,
    load_model,
    make_card,
    read_card,
    save_model,
    strength_row,
    write_card,
)
from vauban.nets.transformer import Size

SIZE = Size(depth=1, width=16, heads=2)
NETWORKS = {
    "move": describe(MoveNetwork(Stratego("tiny"), SIZE)),
    "setup": describe(SetupNetwork(Stratego("tiny"), SIZE, flag_side=True)),
    "belief": describe(BeliefNetwork(Stratego("tiny"), SIZE, decoder_depth=1)),
}
MATCH = {
    "agents": ["net:runs/mine", "cadet"], "variant": "tiny", "rules": "chase=off", "setups": "human", "seed": 7,
    "wins": 150, "draws": 10, "losses": 40, "games": 200, "score": 0.775, "score_low": 0.72, "score_high": 0.83,
    "elo": 214.8, "elo_low": 164.1, "elo_high": 275.5,
}  # fmt: skip


def example_card(game: Game, parts: tuple[str, ...] = ("move",), **facts: Any) -> Card:
    described = {part: NETWORKS[part] for part in parts}
    return make_card(game, described, **{"name": "mine", "about": "A small model for tests.", **facts})


def random_networks(card: Card, game: Game) -> dict[str, nn.Module]:
    return {part: build_network(each, game, "test") for part, each in card["networks"].items()}


def training() -> Training:
    return Training(
        configuration={"collect": {"games": 64}}, iterations=1200, moves=5_000_000, games=40_000, minutes=61.5,
        machine="one H200", commit="0123abc", command="vauban train tiny --seed 3", date="2026-01-31",
        steps={"move": 30_000}, facts={"belief.validation": 0.3417, "belief.marginal": 0.994, "belief.uniform": 0.931},
        curve=[{"iteration": 100.0 * step, "score": step / 20} for step in range(1, 13)],
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a model with all three networks."""
    played = Stratego("tiny")
    card = example_card(played, ("move", "setup", "belief"))
    save_model(tmp_path / "mine", random_networks(card, played), card)
    return tmp_path / "mine"


# ── Written and read back ────────────────────────────────────────────────────────────────────────


def test_weights_come_back_as_they_were_rounded_and_a_second_time_exactly(tmp_path: Path) -> None:
    played = Stratego("tiny", "total_limit=50")
    card = example_card(played, ("move", "setup", "belief"))
    networks = random_networks(card, played)
    save_model(tmp_path / "first", networks, card)
    first = load_model(tmp_path / "first")
    loaded = first.networks
    for part, network in networks.items():
        again = loaded[part]
        assert again is not None and not again.training
        for key, tensor in network.state_dict().items():
            assert again.state_dict()[key].dtype == torch.float32
            torch.testing.assert_close(again.state_dict()[key], tensor.bfloat16().float(), rtol=0, atol=0)
    save_model(tmp_path / "second", loaded, first.card)
    for part in loaded:
        assert (tmp_path / "second" / f"{part}.safetensors").read_bytes() == (
            tmp_path / "first" / f"{part}.safetensors"
        ).read_bytes()
    assert isinstance(first.game, Stratego)
    assert (first.game.name, first.game.rules.total_limit, first.setups) == ("tiny", 50, None)


def test_float32_is_kept_to_the_bit(tmp_path: Path) -> None:
    played = Stratego("tiny")
    card = example_card(played)
    networks = random_networks(card, played)
    save_model(tmp_path / "mine", networks, card, torch.float32)
    for key, tensor in load_model(tmp_path / "mine").player.state_dict().items():
        assert torch.equal(tensor, networks["move"].state_dict()[key])
    described = read_card(tmp_path / "mine")["networks"]["move"]
    assert described["dtype"] == "float32"
    assert described["parameters"] == sum(each.numel() for each in networks["move"].parameters())


def test_loading_leaves_the_global_generator_alone(folder: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_model(folder)
    assert torch.equal(torch.rand(3), expected)


def test_a_game_without_a_board_has_a_plain_network(tmp_path: Path) -> None:
    played = game("kuhn")
    card = make_card(played, {"move": describe(PlainNetwork(played, SIZE))}, name="kuhn", about="For tests.")
    save_model(tmp_path / "kuhn", random_networks(card, played), card)
    model = load_model(tmp_path / "kuhn")
    assert (model.game.name, model.card["rules"], model.player.observation) == ("kuhn", None, "information_state")
    page = readme_text(model.card)
    assert "vauban exploitability kuhn net:kuhn" in page and "stratego" not in page


def test_a_model_is_a_dict_of_networks_of_which_the_card_says_which_plays(tmp_path: Path) -> None:
    played = game("kuhn")
    plain = describe(PlainNetwork(played, SIZE))
    card = make_card(
        played, {"value": plain, "mean": plain}, name="kuhn", about="For tests.", plays="mean",
    )  # fmt: skip
    networks = random_networks(card, played)
    save_model(tmp_path / "kuhn", networks, card, torch.float32)
    model = load_model(tmp_path / "kuhn")
    assert sorted(model.networks) == ["mean", "value"] and model.find(SetupNetwork) is None
    assert torch.equal(model.player.state_dict()["policy.weight"], networks["mean"].state_dict()["policy.weight"])
    assert model.card["networks"]["value"]["observation_version"] == 1


def test_a_variant_of_ones_own_is_kept_in_the_card(tmp_path: Path) -> None:
    own = Variant("skirmish", 6, 6, (14, 21), 2, parse_army("F1 O2 N1 M1 S1 B1"), 300, 100)
    played = Stratego(own)
    card = example_card(played, ("move", "setup"))
    save_model(tmp_path / "mine", random_networks(card, played), card)
    loaded = load_model(tmp_path / "mine")
    assert isinstance(loaded.game, Stratego) and loaded.game.variant == own
    loaded.check_plays(played)
    with pytest.raises(ModelError, match="the model 'mine' plays skirmish, not 'tiny'"):
        loaded.check_plays(Stratego("tiny"))
    other = Stratego(Variant("skirmish", 6, 6, (), 2, own.army, 300, 100))
    with pytest.raises(ModelError, match="plays skirmish"):
        loaded.check_plays(other)


def test_a_model_may_play_several_variants_of_one_board(tmp_path: Path) -> None:
    played = Stratego("barrage")
    card = example_card(played, variants=("barrage", "classic"))
    save_model(tmp_path / "mine", random_networks(card, played), card)
    load_model(tmp_path / "mine").check_plays(Stratego("classic", "isf"))


def test_a_network_that_the_new_card_does_not_have_is_removed(folder: Path) -> None:
    played = Stratego("tiny")
    card = example_card(played)
    save_model(folder, random_networks(card, played), card)
    assert sorted(path.name for path in folder.iterdir()) == ["card.json", "move.safetensors"]
    assert load_model(folder).find(SetupNetwork) is None


# ── Where models are ─────────────────────────────────────────────────────────────────────────────


def test_the_folder_of_a_run_has_its_model_inside(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "mine"
    run.mkdir(parents=True)
    folder.rename(run / "model")
    assert load_model(str(run)).folder == run / "model"
    assert find_model(run / "model") == run / "model"


def test_a_shipped_model_is_found_by_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SHIPPED", folder.parent)
    assert load_model("mine").folder == folder
    with pytest.raises(ModelError, match="there is no model 'mien': did you mean 'mine'?"):
        load_model("mien")


def test_a_folder_that_is_meant_as_one_is_told_from_a_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="the folder beside you is './mine'"):
        load_model("mine")
    assert load_model("./mine").folder == Path("mine")
    with pytest.raises(ModelError, match="nowhere/at/all: there is no such folder"):
        load_model("nowhere/at/all")
    with pytest.raises(ModelError, match="neither card.json nor model/card.json"):
        load_model(f"{tmp_path}/")


# ── Refused ──────────────────────────────────────────────────────────────────────────────────────


def change_weights(folder: Path, change: Any) -> None:
    path = folder / "move.safetensors"
    tensors = safetensors.torch.load(path.read_bytes())
    change(tensors)
    path.write_bytes(safetensors.torch.save(tensors))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda w: w.pop("norm.bias"), "move.safetensors: weights are missing: norm.bias"),
        (lambda w: w.update(more=torch.ones(2)), "weights that the network does not have: more"),
        (lambda w: w.update({"norm.bias": torch.ones(15)}), "norm.bias has the shape 15, and this network needs 16"),
        (lambda w: w.update({"norm.bias": torch.ones(16).int()}), "norm.bias holds torch.int32"),
        (
            lambda w: w.update({"norm.bias": torch.full((16,), torch.inf)}),
            "norm.bias holds numbers that are not finite",
        ),
    ],
)
def test_weights_that_do_not_fit_the_card_are_refused(folder: Path, change: Any, sentence: str) -> None:
    change_weights(folder, change)
    with pytest.raises(ModelError) as error:
        load_model(folder)
    assert sentence in str(error.value)


def test_weights_that_are_missing_or_cut_off_or_something_else_are_refused(folder: Path) -> None:
    path = folder / "move.safetensors"
    whole = path.read_bytes()
    for data in (b"", whole[: len(whole) // 2], b"hello" * 100):
        path.write_bytes(data)
        with pytest.raises(ModelError, match="move.safetensors: cannot be read as weights in safetensors format"):
            load_model(folder)
    path.unlink()
    with pytest.raises(ModelError, match="cannot be read as weights"):
        load_model(folder)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c.pop("variant"), "the entry 'variant' is missing"),
        (lambda c: c.update(format=2), "a card of format 2, and this version of Vauban reads 1"),
        (lambda c: c.update(variant="tinny"), "there is no game 'tinny': did you mean 'tiny'?"),
        (lambda c: c.update(variant="kuhn", rules=None), "a move network needs a board, and 'kuhn' has none"),
        (lambda c: c.update(variants=[]), "'variants' must be the names of variants"),
        (lambda c: c.update(networks=[]), "the entry 'networks' must be an object"),
        (lambda c: c["networks"].pop("move"), "the network 'move' is to play, and 'networks' has setup, belief"),
        (lambda c: c.update(plays="moev"), "the network 'moev' is to play, and 'networks' has move, setup, belief"),
        (
            lambda c: c.update(plays="setup"),
            "'setup' is to play, and one of the kind 'setup' cannot",
        ),
        (lambda c: c["networks"].update({"../move": {}}), "a part of a model is named by small letters"),
        (
            lambda c: c["networks"]["move"].update(kind="mvoe"),
            "there is no kind of network 'mvoe': did you mean 'move'",
        ),
        (
            lambda c: c["networks"]["move"].update(observation_version=7),
            "network 'move': it learned from version 7 of the observation 'ataraxos', and this is version 1",
        ),
        (
            lambda c: c["networks"]["move"].update(observe="x"),
            "a network of the kind 'move' has no 'observe': did you mean",
        ),
        (lambda c: c["networks"]["move"].update(observation="atraxos"), "no observation 'atraxos': did you mean"),
        (lambda c: c["networks"]["move"]["size"].pop("heads"), "'size' must have depth, width"),
        (lambda c: c["networks"]["move"]["size"].update(heads=3), "a network's width must be a multiple of its heads"),
        (lambda c: c["networks"]["setup"].pop("flag_side"), "'flag_side' must be true or false, not None"),
        (lambda c: c["networks"]["belief"].update(dropout=True), "'dropout' must be a number, not True"),
        (lambda c: c["strength"].append({"opponent": "cadet"}), "a row of 'strength' without 'agent'"),
    ],
)
def test_a_card_that_cannot_be_right_is_refused(folder: Path, change: Any, sentence: str) -> None:
    card = json.loads((folder / "card.json").read_text())
    change(card)
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(ModelError) as error:
        load_model(folder)
    assert sentence in str(error.value) and str(folder) in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "[" * 9999]
)
def test_a_card_that_is_no_json_object_is_refused(folder: Path, text: str) -> None:
    (folder / "card.json").write_text(text, encoding="latin-1")
    with pytest.raises(ModelError, match="card.json: "):
        load_model(folder)


def test_networks_that_are_not_those_of_the_card_are_not_written(tmp_path: Path) -> None:
    played = Stratego("tiny")
    card = example_card(played)
    larger = MoveNetwork(Stratego("tiny"), Size(2, 16, 2))
    with pytest.raises(ModelError, match="weights that the network does not have: blocks.1.attention_norm.weight"):
        save_model(tmp_path / "mine", {"move": larger}, card)
    with pytest.raises(ModelError, match="the card describes move, and these are the networks move, setup"):
        save_model(tmp_path / "mine", {"move": larger, "setup": larger}, card)
    spoilt = random_networks(card, played)
    with torch.no_grad():
        spoilt["move"].embed.bias[0] = torch.nan  # type: ignore[index, union-attr]
    with pytest.raises(ModelError, match="embed.bias holds numbers that are not finite"):
        save_model(tmp_path / "mine", spoilt, card)
    with pytest.raises(ModelError, match="stored in float32 or bfloat16, not in torch.float16"):
        save_model(tmp_path / "mine", random_networks(card, played), card, torch.float16)
    assert not (tmp_path / "mine").exists()


# ── Cards and the command ────────────────────────────────────────────────────────────────────────


def told(*arguments: str) -> str:
    """Return the output of the command."""
    done = CliRunner(env={"COLUMNS": "160"}).invoke(models, list(arguments))
    if done.exception:
        raise done.exception
    return done.stdout


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of shipped models with one in it, trained and measured."""
    played = Stratego("tiny")
    row = strength_row(MATCH, "vauban match net:mine cadet --games 200 --seed 7", "2026-02-01")
    card = example_card(played, training=training(), strength=[row])
    save_model(tmp_path / "mine", random_networks(card, played), card)
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    return tmp_path


def test_a_card_says_how_the_model_came_about_and_how_well_it_plays(shipped: Path) -> None:
    shown = told("mine")
    for words in (
        "A small model for tests.", "1,200", "5,000,000, 40,000", "62 minutes on one H200", "2026-01-31, 0123abc",
        "vauban train tiny --seed 3", "move 30,000", "unseen games 0.3417 nats", "0.9310", "bfloat16",
        "77.5 (72.0–83.0)", "+164.1 … +275.5",
        "$ vauban match net:mine cadet --games 200 --seed 7",
    ):  # fmt: skip
        assert words in shown, words
    assert told("show", "mine") == told(f"{shipped}/mine") == shown
    card = json.loads(told("mine", "--json"))
    assert card == read_card(shipped / "mine")
    assert card["training"]["configuration"] == {"collect": {"games": 64}}


def test_long_curves_are_shown_in_eight_rows_from_the_first_to_the_last(shipped: Path) -> None:
    lines = told("mine").split("How the training went")[1].split("Strength")[0].splitlines()
    rows = [line.split() for line in lines if line.split() and line.split()[0].replace(",", "").isdigit()]
    assert len(rows) == 8
    assert (rows[0], rows[-1]) == (["100", "0.05"], ["1,200", "0.6"])


def test_shipped_models_are_listed_with_a_line_each(shipped: Path) -> None:
    [line] = [line for line in told().splitlines() if "mine" in line]
    assert "tiny" in line and "77.5% (72.0% to 83.0%) against cadet, 200 games" in line
    assert told("list") == told()
    [row] = json.loads(told("--json"))["models"]
    assert (row["name"], row["variants"], row["strength"][0]["games"]) == ("mine", ["tiny"], 200)
    assert row["parameters"] == read_card(shipped / "mine")["networks"]["move"]["parameters"]


def test_with_no_shipped_model_the_list_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SHIPPED", tmp_path)
    assert "vauban models import-ataraxos" in told()
    assert json.loads(told("--json")) == {"models": []}


def test_further_strength_can_be_added_to_a_card(shipped: Path) -> None:
    card = read_card(shipped / "mine")
    every_game_won = {**MATCH, "agents": ["net:mine", "random"], "elo": None, "elo_high": None, "score": 1.0}
    card["strength"].append(strength_row(every_game_won, "vauban match net:mine random", "2026-02-02"))
    write_card(shipped / "mine", card)
    assert "+inf" in told("mine")
    with pytest.raises(ModelError, match="a match without agents, game"):
        strength_row({}, "", "")


def test_a_model_that_was_never_measured_says_so(folder: Path) -> None:
    assert "Its strength has not been measured." in told(str(folder))


def test_models_are_shipped_with_three_networks_of_five_million_parameters_at_most() -> None:
    shipped = store.shipped_models()
    assert sorted(shipped) == ["barrage", "classic", "fives", "geister", "medium"]
    for path in shipped.values():
        weights = {part: safetensors.torch.load_file(path / f"{part}.safetensors") for part in NETWORKS}
        counted = {part: sum(tensor.numel() for tensor in each.values()) for part, each in weights.items()}
        assert all(0 < count <= 5_000_000 for count in counted.values()), counted
        described = read_card(path)["networks"]
        assert counted == {part: each["parameters"] for part, each in described.items()}
        for part, network in load_model(path).networks.items():
            seen = getattr(network, "observation", None)
            assert seen is None or described[part]["observation_version"] == 1, f"{path.name}: version of {seen}"


EARLIER = Path(__file__).parents[1] / "data" / "card_d9f7f4c.json"
"""The card of `barrage` as commit d9f7f4c had it, with fewer rows of its curve and its strength. Its weights are those
that are still shipped."""


def test_a_model_with_a_card_of_d9f7f4c_plays_tells_of_itself_and_is_trained_further(tmp_path: Path) -> None:
    folder = tmp_path / "earlier"
    shutil.copytree(store.shipped_models()["barrage"], folder)
    shutil.copy(EARLIER, folder / store.CARD)
    earlier, now = load_trained(folder), load_model("barrage")
    assert earlier.networks.keys() == now.networks.keys() and earlier.plays(game("barrage"))
    for part, network in now.networks.items():
        theirs = earlier.networks[part].state_dict()
        assert all(torch.equal(tensor, theirs[key]) for key, tensor in network.state_dict().items()), part
    page = readme_text(earlier.card)
    assert "gradient steps | move 78,216, setup 11,610, belief 7,600" in page and "39.48 minutes" in page
    config = load_config("ataraxos-h200-barrage")
    for name, count in (("ataraxos", 688), ("belief", 7600)):
        progress = find_learner(name).progress_of(config.stages[name], earlier.card["training"])
        assert count in progress.values(), progress


@pytest.mark.parametrize("name", store.shipped_models())
def test_the_page_of_a_shipped_model_says_what_its_card_does(name: str) -> None:
    path = store.shipped_models()[name]
    assert (path / README).read_text(encoding="utf-8") == readme_text(read_card(path)), "run `make docs`"


def test_the_readme_says_for_how_many_minutes_the_shipped_models_were_trained() -> None:
    minutes = {name: read_card(path)["training"]["minutes"] for name, path in store.shipped_models().items()}
    text = " ".join((Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").split())
    assert f"trained for {minutes.pop('barrage'):.0f} and {minutes.pop('classic'):.0f} minutes" in text
    assert f"and `geister`, which had {('six', 'seven', 'eight')[round(minutes.pop('geister')) - 6]}" in text
    assert {round(each) for each in minutes.values()} == {5} and "five minutes each" in text


def test_a_page_has_the_header_of_a_hub_and_what_the_card_says(shipped: Path) -> None:
    text = readme_text(read_card(shipped / "mine"))
    _, header, page = text.split("---\n", 2)
    assert "license: apache-2.0\nlibrary_name: vauban\n" in header and "- tiny\n" in header
    for words in (
        "# mine", "A small model for tests.", "observation ataraxos", "61.5 minutes on one H200",
        "vauban train tiny --seed 3", '"games": 64', "77.5% (72.0% to 83.0%)",
        "$ vauban match net:mine cadet --games 200 --seed 7", "## Limits",
    ):  # fmt: skip
        assert words in page, words


def test_a_page_on_others_weights_does_not_give_them_our_licence(shipped: Path) -> None:
    source = {"program": "another", "files": [{"file": "a.pth", "holds": "moves", "sha256": "00"}], "imported": "today"}
    text = readme_text({**read_card(shipped / "mine"), "source": source, "strength": []})
    assert "license: other" in text and "Weights of another, whose licence holds for them" in text
    assert "Its strength has not been measured." in text


def test_shipped_cards_can_be_read_and_their_weights_are_there() -> None:
    for name, path in store.shipped_models().items():
        card = read_card(path)
        assert card["name"] == name
        assert all((path / f"{part}.safetensors").is_file() for part in card["networks"])
        assert card["strength"], f"{name} is shipped without a measured strength"


def test_the_command_imports_published_weights(vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    arrays = np.load(vectors / "ataraxos_move_network.npz")
    torch.save({key: torch.from_numpy(arrays[key]) for key in arrays if "/" not in key}, tmp_path / "model1.pthm")
    out = tmp_path / "imported"
    shown = told("import-ataraxos", str(tmp_path / "model1.pthm"), "--out", str(out), "--heads", "4")
    assert "StrategoAI/ataraxos" in shown and "move network, names of the release" in shown and str(out) in shown
    assert json.loads(told(str(out), "--json"))["networks"]["move"]["size"]["heads"] == 4
    monkeypatch.chdir(tmp_path)
    assert "Written to models/model1." in told("import-ataraxos", "model1.pthm", "--heads", "4")
    assert load_model("models/model1").card["name"]
    with pytest.raises(ModelError, match="cannot be shared by 7 heads"):
        told("import-ataraxos", str(tmp_path / "model1.pthm"), "--out", str(tmp_path / "other"), "--heads", "7")
