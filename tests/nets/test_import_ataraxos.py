"""Published weights become a model that computes the same; other files are refused with a sentence."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from vauban.agents.setups import read_setups
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import FLAG
from vauban.nets.setup import SetupNetwork
from vauban.nets.store import Model, ModelError, load_model
from vauban.nets.stratego.ataraxos import import_ataraxos, read_weights

Weights = dict[str, Any]
REAL = os.environ.get("VAUBAN_ATARAXOS_MODEL")


@pytest.fixture(scope="module")
def move_arrays(vectors: Path) -> dict[str, np.ndarray]:
    return dict(np.load(vectors / "ataraxos_move_network.npz"))


@pytest.fixture(scope="module")
def setup_arrays(vectors: Path) -> dict[str, np.ndarray]:
    return dict(np.load(vectors / "ataraxos_setup_network.npz"))


@pytest.fixture
def move_weights(move_arrays: dict[str, np.ndarray]) -> Weights:
    return {key: torch.from_numpy(array) for key, array in move_arrays.items() if "/" not in key}


@pytest.fixture
def setup_weights(setup_arrays: dict[str, np.ndarray]) -> Weights:
    begin = "weights/"
    return {key.removeprefix(begin): torch.from_numpy(a) for key, a in setup_arrays.items() if key.startswith(begin)}


def saved(weights: object, path: Path) -> Path:
    torch.save(weights, path)
    return path


def imported(files: list[Path], out: Path, **options: Any) -> Model:
    import_ataraxos(files, out, date="2026-01-31", heads=4, **options)
    return load_model(out)


def split(weights: Weights) -> Weights:
    """Return the weights by the names of the training script: queries, keys and values apart."""
    apart: Weights = {}
    renamed = {"linear": "policy_out", "reg_out": "ent_out"}
    for key, tensor in weights.items():
        layer, _, kind = key.rpartition(".")
        if layer.endswith("qkv_proj"):
            for letter, part in zip("qkv", tensor.chunk(3), strict=True):
                apart[f"{layer.removesuffix('qkv_proj')}{letter}_proj.{kind}"] = part.clone()
        elif layer == "qk_proj":
            for letter, part in zip("qk", tensor.chunk(2), strict=True):
                apart[f"{letter}_proj.{kind}"] = part.clone()
        else:
            apart[f"{renamed.get(layer, layer)}.{kind}" if layer else key] = tensor
    return apart


MOVE_BUFFERS = {
    "feature_orchestrator.plane_mask": torch.ones(355, dtype=torch.bool),
    "feature_orchestrator.cell_mask": torch.ones(100, dtype=torch.bool),
    "feature_orchestrator.piece_id_onehot": torch.eye(256),
    "logit_converter.not_lake_move": torch.ones(1800, dtype=torch.bool),
    "logit_converter.reparam_actions": torch.arange(1544),
}
SETUP_BUFFERS = {
    "start_token": torch.zeros(1, 1, 14),
    "piece_counts": torch.tensor([1, 8, 5, 4, 4, 4, 3, 2, 1, 1, 1, 6, 0, 0]),
    "right_side": torch.ones(40, dtype=torch.bool),
}


def squares(planes: np.ndarray) -> Tensor:
    """Return observations n × channels × rows × columns as n × squares × channels."""
    return torch.from_numpy(planes).flatten(2).transpose(1, 2).contiguous()


def check_moves(model: Model, arrays: dict[str, np.ndarray]) -> None:
    """Check the six recorded positions: logits, probabilities and outcomes."""
    mask = arrays["in/legal_action_mask"]
    with torch.no_grad():
        choices, outcome = model.player(squares(arrays["in/observations_487"]))
    for row in range(len(mask)):
        actions = mask[row].nonzero()[0]
        legal = torch.from_numpy(np.append(actions, -1))[None]
        logits = choices[row, model.player.choice_of_action[legal[0, :-1]]].numpy()
        np.testing.assert_allclose(logits, arrays["out/policy_logits"][row, actions], atol=1e-4)
        policy = model.player.legal_log_policy(choices[row : row + 1], legal)[0, :-1].exp().numpy()
        np.testing.assert_allclose(policy, arrays["out/policy_probs"][row, actions], atol=1e-4)
    np.testing.assert_allclose(outcome.numpy(), arrays["out/value_logits"], atol=1e-4)
    np.testing.assert_allclose(outcome.softmax(1).numpy(), arrays["out/value_probs"], atol=1e-4)


# ── What is imported computes the same ───────────────────────────────────────────────────────────


def test_an_imported_move_network_gives_the_recorded_outputs(
    move_arrays: dict[str, np.ndarray], move_weights: Weights, tmp_path: Path
) -> None:
    model = imported([saved(move_weights, tmp_path / "model42400.pthw")], tmp_path / "out")
    assert (model.game.name, model.card["variants"], list(model.networks)) == ("classic", ["classic"], ["move"])
    assert model.card["networks"]["move"]["size"] == {"depth": 2, "width": 32, "heads": 4, "feedforward": 4}
    assert model.card["networks"]["move"]["dtype"] == "float32"
    check_moves(model, move_arrays)


def test_position_1_of_ref_17_8_has_the_printed_policy(
    move_arrays: dict[str, np.ndarray], move_weights: Weights, tmp_path: Path
) -> None:
    model = imported([saved(move_weights, tmp_path / "model1.pthm")], tmp_path / "out")
    legal = torch.tensor([[225, 331, 334, 338, 339, 1334, 1436]])
    choices, outcome = model.player(squares(move_arrays["in/observations_487"][1:2]))
    policy = model.player.legal_log_policy(choices, legal).exp()[0].tolist()
    printed = [0.2931426, 0.1472401, 0.1943653, 0.0225005, 0.0304016, 0.0760368, 0.2363132]
    assert policy == pytest.approx(printed, abs=1e-5)
    assert outcome.softmax(1)[0].tolist() == pytest.approx([0.1731371, 0.0463284, 0.7805345], abs=1e-5)


@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod.", "_orig_mod.module."])
def test_names_of_the_training_script_and_prefixes_make_no_difference(
    prefix: str, move_arrays: dict[str, np.ndarray], move_weights: Weights, tmp_path: Path
) -> None:
    named = {prefix + key: tensor for key, tensor in {**split(move_weights), **MOVE_BUFFERS}.items()}
    check_moves(imported([saved(named, tmp_path / "model7.pthw")], tmp_path / "out"), move_arrays)


def test_a_prefix_in_the_middle_of_a_name_is_taken_out_too(
    move_arrays: dict[str, np.ndarray], move_weights: Weights, tmp_path: Path
) -> None:
    inside = {key.replace("transformer.", "transformer._orig_mod."): tensor for key, tensor in move_weights.items()}
    check_moves(imported([saved(inside, tmp_path / "model7.pthw")], tmp_path / "out"), move_arrays)


@pytest.mark.parametrize("names", ["release", "training script"])
def test_an_imported_setup_network_gives_the_recorded_outputs(
    names: str, setup_arrays: dict[str, np.ndarray], move_weights: Weights, setup_weights: Weights, tmp_path: Path
) -> None:
    release = names == "release"
    weights = setup_weights if release else {**split(setup_weights), **SETUP_BUFFERS}
    files = [saved(move_weights, tmp_path / "model1.pthw"), saved(weights, tmp_path / "init_model1.pthw")]
    model = imported(files, tmp_path / "out")
    network = model.find(SetupNetwork)
    assert network is not None
    described = model.card["networks"]["setup"]
    # Only the release weighs what it places by how many are left; a converter that forgets it is wrong.
    assert (described["count_prior"], described["flag_side"]) == (release, True)
    pieces = torch.from_numpy(setup_arrays["setups"].astype(np.int64))
    with torch.no_grad():
        heads = network(pieces)
    expected = setup_arrays["out/log_probs"]
    allowed = expected > -1e9
    assert ((heads.log_policy > -torch.inf).numpy() == allowed).all()
    if release:
        np.testing.assert_allclose(heads.log_policy.numpy()[allowed], expected[allowed], atol=1e-4)
    else:
        assert np.abs(heads.log_policy.numpy()[allowed] - expected[allowed]).max() > 0.1
    np.testing.assert_allclose(heads.outcome.numpy(), setup_arrays["out/value_logits"], atol=1e-4)
    np.testing.assert_allclose(heads.entropy.numpy(), setup_arrays["out/entropy"], atol=1e-4)


@pytest.mark.skipif(REAL is None, reason="VAUBAN_ATARAXOS_MODEL does not name the published model42400.pthw")
def test_the_published_weights_give_the_published_outputs(move_arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    """The published inputs are random and have identifiers that no game has, so all 643 inputs are put back."""
    assert REAL is not None
    import_ataraxos([Path(REAL)], tmp_path / "out", date="2026-01-31")
    model = load_model(tmp_path / "out")
    assert model.card["networks"]["move"]["parameters"] == 14_716_419
    weights = read_weights(Path(REAL))
    whole = nn.Linear(643, 384)
    whole.load_state_dict({"weight": weights["embedder.weight"], "bias": weights["embedder.bias"]})
    model.player.embed = whole
    identifiers = torch.from_numpy(move_arrays["release_check/piece_ids"]).long().flatten(1)
    seen = torch.cat([squares(move_arrays["release_check/observations"]), nn.functional.one_hot(identifiers, 256)], 2)
    with torch.no_grad():
        choices, outcome = model.player(seen)
    dry = move_arrays["index/srcdst_of_action"] >= 0
    logits = choices[:, model.player.choice_of_action].numpy()[:, dry]
    np.testing.assert_allclose(logits, move_arrays["release_check/policy_logits"][:, dry], rtol=1e-4, atol=1e-4)
    foreseen = outcome.log_softmax(1).numpy()
    np.testing.assert_allclose(foreseen, move_arrays["release_check/value_log_probs"], rtol=1e-4, atol=1e-4)


# ── Files that are refused ───────────────────────────────────────────────────────────────────────


PROOF = Path(tempfile.gettempdir()) / f"this-must-not-run-{os.getpid()}"


class Malicious:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch {PROOF}",)


def without(weights: Weights, key: str) -> Weights:
    return {name: tensor for name, tensor in weights.items() if name != key}


def with_nan(weights: Weights) -> Weights:
    spoilt = weights["norm_out.bias"].clone()
    spoilt[3] = torch.nan
    return {**weights, "norm_out.bias": spoilt}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda w: {**w, "evil": Malicious()}, "it asks for posix.system, which is refused"),
        (lambda w: {"model": w, "step": 3}, "'model' holds dict: give the dictionary of the network alone"),
        (lambda w: list(w.values()), "weights are a dictionary of tensors, not list"),
        (lambda w: without(w, "transformer.1.linear2.bias"), "transformer.1.linear2.bias is missing (weights missing"),
        (lambda w: without(w, "qk_proj.weight"), "this is none of the published networks: they are known by qk_proj"),
        (lambda w: without(w, "embedder.weight"), "the size of the network is read off embedder.weight"),
        (lambda w: {**w, "extra": torch.ones(3)}, "extra is no weight of this network"),
        (lambda w: {**w, "module.norm_out.bias": w["norm_out.bias"]}, "norm_out.bias is there twice"),
        (lambda w: {**w, "value_head.bias": torch.ones(1)}, "value_head.bias has the shape (1,) instead of (3,)"),
        (
            lambda w: {**w, "value_head.bias": torch.ones(3).long()},
            "value_head.bias holds torch.int64, and weights are",
        ),
        (lambda w: {**w, "qk_proj.weight": torch.ones(64, 31)}, "qk_proj.weight has the shape (64, 31) instead of"),
        (lambda w: {**w, "embedder.weight": torch.ones(32, 539)}, "the network sees 539 inputs where 643 are known"),
        (with_nan, "norm.bias holds numbers that are not finite"),
        (lambda w: {"infostate_embed.weight": torch.ones(512, 441)}, "this is a belief network of the published"),
        (lambda w: {"decoder.0.linear1.weight": torch.ones(4, 4)}, "this is a belief network of the published"),
    ],
)
def test_a_file_that_is_no_published_network_is_refused(
    change: Any, sentence: str, move_weights: Weights, tmp_path: Path
) -> None:
    path = saved(change(move_weights), tmp_path / "model1.pthw")
    with pytest.raises(ModelError) as error:
        imported([path], tmp_path / "out")
    assert sentence in str(error.value) and str(path) in str(error.value)
    assert not (tmp_path / "out").exists()
    assert not PROOF.exists()


def test_a_file_that_torch_did_not_write_is_refused(tmp_path: Path, move_weights: Weights) -> None:
    good = saved(move_weights, tmp_path / "good.pthw").read_bytes()
    for number, data in enumerate((b"", b"hello", good[: len(good) // 2], pickle.dumps([1, 2], protocol=2))):
        path = tmp_path / f"model{number}.pthw"
        path.write_bytes(data)
        with pytest.raises(ModelError, match="this is no file of weights|a dictionary of tensors"):
            imported([path], tmp_path / "out")
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        imported([tmp_path / "missing.pthw"], tmp_path / "out")


def test_what_does_not_make_one_model_is_refused(move_weights: Weights, setup_weights: Weights, tmp_path: Path) -> None:
    move = saved(move_weights, tmp_path / "model1.pthw")
    setup = saved({**split(setup_weights), **SETUP_BUFFERS}, tmp_path / "arr_model1.pthw")
    with pytest.raises(ModelError, match="a model needs a move network .*none in arr_model1.pthw"):
        imported([setup], tmp_path / "out")
    with pytest.raises(ModelError, match="a second file with the move of a model"):
        imported([move, move], tmp_path / "out")
    with pytest.raises(ModelError, match="a width of 32 cannot be shared by 5 heads"):
        import_ataraxos([move], tmp_path / "out", date="", heads=5)
    with pytest.raises(ModelError, match="sets up another army than that of 'barrage'"):
        imported([move, setup], tmp_path / "out", variant="barrage")
    with pytest.raises(ModelError, match="plays classic and barrage, not 'duel'"):
        imported([move], tmp_path / "out", variant="duel")
    imported([move], tmp_path / "out")
    with pytest.raises(ModelError, match="there is a model already"):
        imported([move], tmp_path / "out")


# ── Setups ───────────────────────────────────────────────────────────────────────────────────────

SETUP = "BMBEDDCDEF" + "GBHDEDIGFB" + "DGHEJIDKFH" + "BBLEGIDJHF"
"""A whole army in the letters of the program, the Flag on b1."""


def test_published_setups_become_the_models_list(vectors: Path, move_weights: Weights, tmp_path: Path) -> None:
    listed = (vectors.parent / "data" / "published_setups_ema.txt").read_text().split()
    path = tmp_path / "ema_arrangements42400.pkl"
    path.write_bytes(pickle.dumps((listed, listed)))
    model = imported([saved(move_weights, tmp_path / "model1.pthw"), path], tmp_path / "out")
    assert model.setups is not None
    setups = np.stack(read_setups(model.setups, Stratego("classic")))
    assert setups.shape == (1000, 40)
    flags = (setups == 1 + FLAG).argmax(1)
    assert (flags % 10 < 5).sum() == 500
    assert (flags < 10).sum() == 984
    assert [entry["holds"] for entry in model.card["source"]["files"]][1] == "setups"


def test_red_and_blue_may_have_lists_of_their_own(move_weights: Weights, tmp_path: Path) -> None:
    path = tmp_path / "arrangements1.pkl"
    mirrored = "".join(SETUP[row : row + 10][::-1] for row in range(0, 40, 10))
    path.write_bytes(pickle.dumps(([SETUP, SETUP], [mirrored])))
    model = imported([saved(move_weights, tmp_path / "model1.pthw"), path], tmp_path / "out")
    assert model.setups is not None
    assert model.setups.read_text() == (
        "BFBNOOSONT/LBPONOJLTB/OLPNCJOGTP/BBMNLJOCPT\n" + "TNOSOONBFB/BTLJONOPBL/PTGOJCNPLO/TPCOJLNMBB\n"
    )


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        (Malicious(), "it asks for posix.system, which is refused"),
        (([np.float64(1.0)], []), "which is refused"),
        ([SETUP], "setups are stored as a pair of lists"),
        ((SETUP, SETUP), "setups are stored as a pair of lists"),
        (([], []), "there is no setup in these lists"),
        (([SETUP[:39]], []), "red's setup 0: a setup is 40 of the letters CDEFGHIJKLMBA"),
        (([SETUP], ["x" * 40]), "blue's setup 0: a setup is 40 of the letters"),
        (([SETUP, 7], []), "red's setup 1: a setup is 40 of the letters CDEFGHIJKLMBA, not 7"),
        (([SETUP.replace("L", "D")], []), "9 Scouts, 1 too many; 1 Marshal is missing"),
    ],
)
def test_a_pickle_that_holds_no_setups_is_refused(
    pair: object, sentence: str, move_weights: Weights, tmp_path: Path
) -> None:
    path = tmp_path / "arrangements1.pkl"
    path.write_bytes(pickle.dumps(pair))
    with pytest.raises(ModelError) as error:
        imported([saved(move_weights, tmp_path / "model1.pthw"), path], tmp_path / "out")
    assert sentence in str(error.value)
    assert not PROOF.exists()
