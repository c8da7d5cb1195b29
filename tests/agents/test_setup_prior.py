"""Human setups: the statistics that were derived from them, and samplers that draw setups like them."""

from __future__ import annotations

import itertools
import json
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import HERE, shared_folder

from vauban.agents.setups import make_sampler
from vauban.agents.stratego import priors
from vauban.agents.stratego.priors import BACK, CORNER, FRONT, INSIDE, POCKET, SIDE, Model
from vauban.agents.stratego.setups import guard_of, settle
from vauban.errors import ConfigurationError, SetupError
from vauban.games.stratego.game import Stratego
from vauban.games.stratego.pieces import BOMB, FLAG, SCOUT
from vauban.games.stratego.setups import can_move_first, check_army, mirrored, parse_setup, random_setup, setup_text
from vauban.games.stratego.variants import VARIANTS, Variant, parse_army
from vauban.sim.compile import CPU, compiled

sys.path.insert(0, str(HERE.parent / "scripts"))
import derive_setup_prior as derive

CLASSIC, BARRAGE = VARIANTS["classic"], VARIANTS["barrage"]

GOLDEN = {
    "classic": {
        "setups": 64920,
        "Flag in rows 1-4": [0.8814, 0.0789, 0.0205, 0.0192],
        "Flag in a back corner": 0.2085,
        "Bombs next to the Flag": 1.6388,
        "0 to 4 Bombs next to it": [15674, 12259, 17147, 19525, 315],
        "every neighbour a Bomb": 0.4431,
        "Flag sealed": 0.4652,
        "Scouts in rows 1-4": [1.4338, 1.6703, 2.2650, 2.6309],
        "Bombs in rows 1-4": [2.4036, 1.9213, 0.9913, 0.6839],
        "Miners in rows 1-4": [2.3107, 1.4855, 0.7582, 0.4456],
        "Marshal in rows 1-4": [0.0189, 0.1569, 0.4663, 0.3578],
        "Spy in rows 1-4": [0.0464, 0.4080, 0.4126, 0.1330],
    },
    "barrage": {
        "setups": 3944,
        "Flag in rows 1-4": [0.6326, 0.1772, 0.0895, 0.1007],
        "Flag in a back corner": 0.3872,
        "Bombs next to the Flag": 0.5066,
        "0 to 4 Bombs next to it": [1946, 1998, 0, 0, 0],
        "every neighbour a Bomb": 0.0,
        "Flag sealed": 0.0,
        "Scouts in rows 1-4": [0.5254, 0.4604, 0.3400, 0.6742],
        "Bombs in rows 1-4": [0.4579, 0.2508, 0.1060, 0.1853],
        "Miners in rows 1-4": [0.2518, 0.2277, 0.1630, 0.3575],
        "Marshal in rows 1-4": [0.1085, 0.1729, 0.1775, 0.5411],
        "Spy in rows 1-4": [0.1466, 0.2221, 0.2051, 0.4262],
    },
}
DISTINCT = {
    "classic": {
        "setups": 47108,
        "Flag in rows 1-4": [0.8647, 0.0907, 0.0211, 0.0236],
        "Bombs next to the Flag": 1.6247,
        "Flag sealed": 0.4600,
        "Spy in rows 1-4": [0.0549, 0.4115, 0.4040, 0.1296],
    },
    "barrage": {"setups": 3646},
}


@pytest.fixture(scope="session")
def human() -> dict[str, derive.Setups]:
    """Return the human setups; tests that need them are skipped without."""
    folder = shared_folder()
    if folder is None or not (folder / "data").is_dir():
        pytest.skip("the human setups are not beside the checkout (../shared/data, or VAUBAN_SHARED)")
    return {name: derive.read(folder / "data" / file, VARIANTS[name]) for name, file in derive.FILES.items()}


@pytest.fixture(scope="session")
def drawn() -> dict[str, derive.Setups]:
    """2,000 human-like setups of each kind."""
    found = {}
    for name in priors.SOURCES:
        sampler, rng = make_sampler("human", Stratego(VARIANTS[name])), random.Random(11)
        found[name] = np.stack([sampler(rng) for _ in range(2000)])
    return found


# ── Reading and deriving ─────────────────────────────────────────────────────────────────────────


def test_human_setups_are_read_from_the_back_row_on(human) -> None:
    assert setup_text(human["classic"][0], CLASSIC) == "LBNPBJNCBJ/OOBPNSFNPN/LTJOGLCMTP/BOOOTOTLOB"


@pytest.mark.parametrize("name", priors.SOURCES)
def test_statistics_of_the_human_setups_are_the_golden_ones(human, name: str) -> None:
    variant = VARIANTS[name]
    for setups, golden in ((human[name], GOLDEN), (np.unique(human[name], axis=0), DISTINCT)):
        facts = derive.describe(setups, variant)
        for fact, value in golden[name].items():
            assert facts[fact] == pytest.approx(value, abs=5.1e-5), fact


@pytest.mark.parametrize("name", priors.SOURCES)
def test_shipped_counts_are_those_of_the_human_setups(human, name: str) -> None:
    variant = VARIANTS[name]
    both = derive.with_mirrors(human[name], variant)
    counts = np.stack([np.bincount(column, minlength=priors.CODES) for column in both.T])
    assert np.array_equal(counts / len(both), priors.statistics(variant).marginals)


@pytest.mark.parametrize("name", priors.SOURCES)
def test_shipped_files_are_small_and_hold_sums_only(name: str) -> None:
    path = Path(priors.__file__).parent / f"{name}.json"
    assert path.stat().st_size < 30_000
    table = json.loads(path.read_text())
    variant = VARIANTS[name]
    counts = np.array(table["counts"])
    assert (counts.sum(1) == 2 * table["setups"]).all(), "every setup and its mirror image counts once on each square"
    army = [40 - variant.pieces, *variant.army]
    assert (counts.sum(0) == [2 * table["setups"] * army[code] for code in table["codes"]]).all()
    grid = counts.reshape(4, 10, -1)
    assert np.array_equal(grid, grid[:, ::-1]), "left and right are exchangeable"


def test_the_fit_is_deterministic(human) -> None:
    def weights():
        return list(derive.fit(human["barrage"], BARRAGE, rounds=3))[-1][1]

    for one, other in zip(weights(), weights(), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_fitting_again_gives_the_shipped_weights(human) -> None:
    """Up to the noise of a shorter fit, for what people do often enough to be known."""
    *_, (_, weights, _) = derive.fit(human["barrage"], BARRAGE, rounds=400)
    again, shipped = derive.centred(weights, BARRAGE), priors.statistics(BARRAGE)
    common = shipped.marginals > 0.02
    assert common.sum() > 60
    assert abs(again.single - shipped.single)[common].max() < 0.4
    assert np.corrcoef(again.single[common], shipped.single[common])[0, 1] > 0.99


# ── The model ────────────────────────────────────────────────────────────────────────────────────


def score(setup, model: Model, variant: Variant) -> float:
    """Return the log-probability of a setup up to a constant, computed plainly."""
    total = sum(model.single[square, code] for square, code in enumerate(setup))
    for square, way in itertools.product(range(len(setup)), range(8)):
        if model.near[square, way] > square:
            total += model.pairs[model.table[square, way]][setup[square], setup[model.near[square, way]]]
    flag = list(setup).index(1 + FLAG)
    return total + model.guard[flag, plain_guard(setup, flag, variant)]


def plain_guard(setup, flag: int, variant: Variant) -> int:
    """Return a Flag's guard, found by walking: the pocket has two squares and does not touch the front row."""

    def beside(square: int) -> list[int]:
        row, column = divmod(square, variant.columns)
        steps = [(row + 1, column), (row - 1, column), (row, column - 1), (row, column + 1)]
        return [r * variant.columns + c for r, c in steps if 0 <= r < variant.setup_rows and 0 <= c < variant.columns]

    pocket = {flag}
    while True:
        wider = pocket | {near for square in pocket for near in beside(square) if setup[near] != 1 + BOMB}
        if wider == pocket:
            break
        pocket = wider
    if len(pocket) == 2 and max(pocket) < (variant.setup_rows - 1) * variant.columns:
        return POCKET
    return sum(setup[near] == 1 + BOMB for near in beside(flag))


def test_guards_of_a_flag_are_counted_as_a_walk_would() -> None:
    rng = random.Random(2)
    sampler = make_sampler("human", Stratego(CLASSIC))
    near = priors.around(CLASSIC)[0]
    seen = set()
    for _ in range(400):
        setup = sampler(rng)
        flag = int((setup == 1 + FLAG).argmax())
        assert compiled(guard_of, CPU)(setup, near, flag) == plain_guard(setup, flag, CLASSIC)
        seen.add(plain_guard(setup, flag, CLASSIC))
    assert {0, 1, 2, 3, POCKET} <= seen


def test_a_flag_has_five_kinds_of_places() -> None:
    places = [priors.place_of(square, CLASSIC) for square in (0, 9, 4, 10, 29, 15, 30, 35)]
    assert places == [CORNER, CORNER, BACK, SIDE, SIDE, INSIDE, FRONT, FRONT]


def test_metropolis_steps_lead_to_the_distribution_of_the_model() -> None:
    """On a small board with random weights, against the sum over all 2,520 setups."""
    variant = Variant("small", 6, 3, (), 3, parse_army("F1 N1 B4"))
    rng = np.random.default_rng(4)
    along = rng.normal(0, 0.7, (3, 13, 13))
    model = priors.assemble(
        variant,
        rng.normal(0, 0.7, (9, 13)),
        along + along.transpose(0, 2, 1),
        rng.normal(0, 0.7, (2, 13, 13)),
        rng.normal(0, 0.7, (2, 13, 13)),
        rng.normal(0, 1.0, (5, 6)),
    )
    codes = [1 + FLAG, 3, *[1 + BOMB] * 4, 0, 0, 0]
    setups = sorted(set(itertools.permutations(codes)))
    assert len(setups) == 2520
    weights = np.exp([score(setup, model, variant) for setup in setups])
    weights /= weights.sum()
    every = np.array(setups)
    guards = np.array([plain_guard(setup, setup.index(1 + FLAG), variant) for setup in setups])
    assert set(guards) == {0, 1, 2, 3, 4, POCKET}

    number = 12_000
    rows = np.empty((number, 9), np.int8)
    draw, shuffle = compiled(settle, CPU), random.Random(1)
    for index in range(number):
        rows[index] = random_setup(variant, shuffle)
        draw(rows[index], 3, model, 1000, np.uint64(9), np.uint64(index))
    found = np.array([plain_guard(row, list(row).index(1 + FLAG), variant) for row in rows.tolist()])
    for guard in range(6):
        wanted = weights[guards == guard].sum()
        assert abs((found == guard).mean() - wanted) < 4.5 * (wanted / number) ** 0.5, f"guard {guard}"
    for square, code in itertools.product(range(9), (0, 3, 1 + FLAG, 1 + BOMB)):
        wanted = weights[every[:, square] == code].sum()
        assert abs((rows[:, square] == code).mean() - wanted) < 4.5 * (wanted / number) ** 0.5, (square, code)
    # Two squares at once: single squares cannot tell this.
    for one, other in itertools.combinations(range(9), 2):
        wanted = weights[(every[:, one] == 1 + BOMB) & (every[:, other] == 1 + BOMB)].sum()
        have = ((rows[:, one] == 1 + BOMB) & (rows[:, other] == 1 + BOMB)).mean()
        assert abs(have - wanted) < 4.5 * (wanted / number) ** 0.5, (one, other)


@pytest.mark.parametrize("name", priors.SOURCES)
def test_human_like_setups_have_the_statistics_of_human_ones(drawn, name: str) -> None:
    """2,000 setups: shares within 0.03, mean numbers of pieces within 0.1 (4 standard errors are less)."""
    facts = derive.describe(drawn[name], VARIANTS[name])
    golden = GOLDEN[name]
    shares = np.array(golden["0 to 4 Bombs next to it"]) / golden["setups"]
    assert facts["0 to 4 Bombs next to it"] / 2000 == pytest.approx(shares, abs=0.035)
    for fact in ("Flag in rows 1-4", "Flag in a back corner", "every neighbour a Bomb", "Flag sealed"):
        assert facts[fact] == pytest.approx(golden[fact], abs=0.03), fact
    assert facts["Bombs next to the Flag"] == pytest.approx(golden["Bombs next to the Flag"], abs=0.1)
    for fact in ("Scouts", "Bombs", "Miners", "Marshal", "Spy"):
        assert facts[f"{fact} in rows 1-4"] == pytest.approx(golden[f"{fact} in rows 1-4"], abs=0.1), fact


@pytest.mark.parametrize("name", priors.SOURCES)
def test_neighbours_in_human_like_setups_are_those_of_human_ones(human, drawn, name: str) -> None:
    """Every count of single squares and pairs of neighbours, in standard errors of 2,000 setups."""
    variant = VARIANTS[name]
    wanted, have = derive.expected(human[name], variant), derive.expected(drawn[name], variant)
    for part, one, other in zip(wanted._fields, wanted, have, strict=True):
        errors = (other - one)[one > 0] / (one[one > 0] / 2000) ** 0.5
        assert (errors**2).mean() ** 0.5 < 1.5, part


def test_squares_drawn_one_by_one_would_not_do() -> None:
    """Without the model's weights of neighbours the Flag stands almost alone (people: 1.64 Bombs)."""
    found = priors.statistics(CLASSIC)
    with np.errstate(divide="ignore"):
        single = np.maximum(np.log(found.marginals), -9)
    none = [np.zeros_like(part) for part in (found.along, found.ahead, found.across, found.guard)]
    model = priors.assemble(CLASSIC, single, *none)
    rng = random.Random(3)
    setups = np.stack([random_setup(CLASSIC, rng) for _ in range(500)])
    for number, row in enumerate(setups):
        compiled(settle, CPU)(row, 10, model, 6000, np.uint64(1), np.uint64(number))
    assert derive.describe(setups, CLASSIC)["Bombs next to the Flag"] < 1.1


# ── Samplers ─────────────────────────────────────────────────────────────────────────────────────


SKIRMISH = Variant("skirmish", 6, 6, (), 2, parse_army("F1 O2 N1 M1 S1 B1 L2"))


@pytest.mark.parametrize("variant", [*VARIANTS.values(), SKIRMISH], ids=lambda variant: variant.name)
@pytest.mark.parametrize("text", ["uniform", "human", "mirrored:human"])
def test_every_variant_has_samplers_of_whole_armies_that_can_move(variant: Variant, text: str) -> None:
    sampler = make_sampler(text, Stratego(variant))
    rng, again = random.Random(5), random.Random(5)
    setups = [sampler(rng) for _ in range(30)]
    for setup in setups:
        assert setup.dtype == np.int8 and setup.shape == (variant.setup_rows * variant.columns,)
        check_army(setup, variant)
        assert can_move_first(setup, variant)
    assert all(np.array_equal(setup, sampler(again)) for setup in setups), "same seed, same setups"
    assert len({setup.tobytes() for setup in setups}) > 1


def test_stretched_statistics_fit_board_and_army() -> None:
    for variant in (*VARIANTS.values(), SKIRMISH):
        table = priors.statistics(variant).marginals
        assert table.sum(1) == pytest.approx(1)
        army = [len(table) - variant.pieces, *variant.army]
        assert table.sum(0) == pytest.approx(army, abs=1e-3), variant.name


def test_on_boards_without_data_people_are_thought_to_set_up_as_elsewhere() -> None:
    duel = VARIANTS["duel"]
    assert priors.source_of(duel) is BARRAGE and priors.source_of(VARIANTS["medium"]) is CLASSIC
    rng, sampler = random.Random(8), make_sampler("human", Stratego(duel))
    grid = np.stack([sampler(rng) for _ in range(500)]).reshape(-1, 3, 8)
    flags = (grid == 1 + FLAG).any(2).mean(0)
    assert flags[0] > 0.5 and flags[0] > flags[1] > 0
    assert derive.describe(grid.reshape(500, -1), duel)["Bombs next to the Flag"] > 0.6  # evenly: about 0.3


def test_mirrored_setups_are_turned_half_of_the_time() -> None:
    text = "F" + "." * 8 + "O/" + "B" + "." * 8 + "O/.S..N...../.G..M....."
    plain = parse_setup(text, BARRAGE)
    sampler, rng = make_sampler(f"mirrored:fixed:{text}", Stratego(BARRAGE)), random.Random(1)
    turned = 0
    for _ in range(400):
        setup = sampler(rng)
        assert np.array_equal(setup, plain) or np.array_equal(setup, mirrored(plain, BARRAGE))
        turned += not np.array_equal(setup, plain)
    assert 150 < turned < 250


def test_setups_are_drawn_from_a_file(tmp_path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# what I play\nFLPJ   # Flag in the corner\n\nJFPL\n")
    sampler, rng = make_sampler(f"list:{path}", Stratego(VARIANTS["tiny"])), random.Random(1)
    assert {setup_text(sampler(rng), VARIANTS["tiny"]) for _ in range(40)} == {"FLPJ", "JFPL"}
    path.write_text("FLPJ\nJFPL\n" + "JFPL\n" * 2)
    sampler = make_sampler(f"list:{path}", Stratego(VARIANTS["tiny"]))
    drawn = [setup_text(sampler(rng), VARIANTS["tiny"]) for _ in range(400)]
    assert 260 < drawn.count("JFPL") < 340, "three lines of four"


def test_changing_a_drawn_setup_changes_no_later_one(tmp_path) -> None:
    (tmp_path / "one.txt").write_text("FLPJ\n")
    for text in ("fixed:FLPJ", f"list:{tmp_path / 'one.txt'}"):
        sampler = make_sampler(text, Stratego(VARIANTS["tiny"]))
        sampler(random.Random(1))[:] = 0
        assert setup_text(sampler(random.Random(1)), VARIANTS["tiny"]) == "FLPJ"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("humans", ConfigurationError, "there is no sampler of setups 'humans'"),
        ("list", ConfigurationError, "needs a file"),
        ("human:3", ConfigurationError, "takes nothing after a colon"),
        ("list:nowhere.txt", ConfigurationError, "nowhere.txt: cannot be read"),
        ("mirrored:human:3", ConfigurationError, "takes nothing after a colon"),
        ("fixed:FLLJ", SetupError, "fixed: setup has 4 pieces"),
    ],
)
def test_samplers_that_cannot_be_are_refused(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_sampler(text, Stratego(VARIANTS["tiny"]))


def test_a_bad_line_in_a_file_is_named(tmp_path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("FLPJ\nFLP\n")
    with pytest.raises(SetupError, match="mine.txt, line 2: "):
        make_sampler(f"list:{path}", Stratego(VARIANTS["tiny"]))
    path.write_text("# nothing\n")
    with pytest.raises(ConfigurationError, match="there is no setup in this file"):
        make_sampler(f"list:{path}", Stratego(VARIANTS["tiny"]))


def test_a_setup_that_could_not_move_is_refused() -> None:
    front = "BBBBBB"
    text = "FSOOOOOOOO/ONNNNNTTTT/LLLLPPPPJJ/" + front + "JCCG"
    with pytest.raises(SetupError):
        make_sampler(f"fixed:{text}", Stratego(CLASSIC))  # not the army: M is missing
    walled = Variant("walled", 4, 3, (), 1, parse_army("F1 B1 O1"))
    assert make_sampler("fixed:FBO", Stratego(walled))
    blocked = Variant("blocked", 6, 2, (), 2, parse_army("F1 B1 O2"))
    with pytest.raises(SetupError, match="could make a first move"):
        make_sampler("fixed:OO/FB", Stratego(blocked))
    rng = random.Random(1)
    for text in ("uniform", "human"):
        setups = [make_sampler(text, Stratego(blocked))(rng) for _ in range(50)]
        assert all((setup[2:] == 1 + SCOUT).any() for setup in setups)
