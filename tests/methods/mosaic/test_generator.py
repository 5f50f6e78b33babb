"""Mosaic's generator: conditions hold exactly, files restore it, broken ones are refused."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from nacre.methods.mosaic import drawing
from nacre.methods.mosaic.generator import MosaicGenerator
from nacre.schema import Code, Layout, Number

LAYOUT = Layout(
    numbers=(Number("age", 20), Number("wage", 3)),
    codes=(Code("wage", 2, "missing"), Code("job", 3), Code("label", 2), Code("town", 4)),
)
ENCODER = SimpleNamespace(layout=LAYOUT)
SIZES = (21, 5, 3, 4)  # age; wage and missing; job; town, which is loose
BINS = np.r_[np.arange(21) // 7, [3, 3, 4, 4, 5], [6, 7, 7], [-1] * 4]


def generator(trust=None, seed=0, components=6):
    rng = np.random.default_rng(seed)
    blocks = [(0, 3), (3, 6), (6, 8)]
    parts = [rng.dirichlet(np.ones(b - a), components) for a, b in blocks]
    inside = rng.random((2, 33)) + 0.05
    for owner in range(-1, 8):
        mine = owner == BINS
        inside[:, mine] /= inside[:, mine].sum(1, keepdims=True)
    taught = trust is not None
    return MosaicGenerator(
        components=np.concatenate(parts, 1).astype(np.float32),
        weights=rng.dirichlet(np.ones(components * 2)).reshape(components, 2).astype(np.float32),
        bins=BINS,
        inside=inside.astype(np.float32),
        tilt=(taught * rng.normal(0, 1, (2, 33)) * (BINS >= 0)).astype(np.float32),
        pairs=np.array([[0, 2]] if taught else [], np.int64).reshape(-1, 2),
        pair_tilt=rng.normal(0, 1, (2, 6 if taught else 0)).astype(np.float32),
        sizes=SIZES,
        most=512,
        trust=trust,
        label=2,
        layout=LAYOUT,
    )


def exact_joint(model):
    """P(age cell, wage cell, job, label, town) by enumeration, from the definition."""
    shape = [21, 5, 3, 2, 4]
    joint = np.zeros(shape)
    start = np.cumsum([0, *SIZES])
    p = [
        model.components[:, model.bins[a:b]][:, None, :] * model.inside[:, a:b]
        for a, b in itertools.pairwise(start[:-1])
    ]  # each (R, C, cells)
    own = np.einsum("rc,rci,rcj,rck->ijkc", model.weights, *p)
    if model.trust is None:
        given = own
    else:
        every = np.array(list(np.ndindex(21, 5, 3, 1)))
        chance = model.posterior(every).reshape(21, 5, 3, 2)
        given = own.sum(-1, keepdims=True) * chance
    joint = given[..., None] * model.inside[:, start[3] :]
    return joint / joint.sum()


def empirical(model, n, fixed, seed=1):
    rows = model.given(fixed).sample(n, np.random.default_rng(seed))
    wage = np.where(rows.codes[:, 0] == 1, 4, rows.ticks[:, 1])
    assert (rows.ticks[rows.codes[:, 0] == 1, 1] == 0).all()
    cells = rows.ticks[:, 0], wage, rows.codes[:, 1], rows.codes[:, 2], rows.codes[:, 3]
    found = np.zeros((21, 5, 3, 2, 4))
    np.add.at(found, cells, 1 / n)
    return found


CONDITIONS = [{}, {2: 1}, {1: 2}, {3: 0}, {1: 1, 2: 0, 3: 3}]


@pytest.mark.parametrize("fixed", CONDITIONS, ids=str)
@pytest.mark.parametrize("trust", [None, 0.5], ids=["mixture", "taught"])
def test_samples_follow_the_model_given_any_values(trust, fixed, monkeypatch):
    # What a number leans to inside its bin has no closed form, and a test of its own below.
    monkeypatch.setattr(drawing, "_slope", lambda *_: None)
    model = generator(trust)
    wanted = exact_joint(model)
    for place, axis in ((1, 2), (2, 3), (3, 4)):
        if place in fixed:
            keep = np.arange(wanted.shape[axis]) == fixed[place]
            wanted = wanted * keep.reshape([-1 if a == axis else 1 for a in range(5)])
    wanted = wanted / wanted.sum()
    n = 40_000
    found = empirical(model, n, fixed)
    for axes in itertools.combinations(range(5), 2):
        others = tuple(a for a in range(5) if a not in axes)
        difference = found.sum(others) - wanted.sum(others)
        deviation = np.sqrt(wanted.sum(others) / n)
        assert np.abs(difference).max() < 5 * deviation.max() + 1e-4
        assert (np.abs(difference) <= 5 * deviation + 2 / n).all()


def test_numbers_lean_inside_their_bins_as_those_beside_say():
    model, n = generator(components=2), 40_000
    low, high = [0.39, 0.6, 0.01], [0.01, 0.6, 0.39]
    parts = np.array([[*low, *low, 0.5, 0.5], [*high, *high, 0.5, 0.5]], np.float32)
    model = dataclasses.replace(model, components=parts, weights=np.full((2, 2), 0.25, np.float32))
    found = empirical(model, n, {})
    # Bins, and cells by class, are what they are without it ...
    joint = np.add.reduceat(found.sum((2, 3, 4)), [0, 7, 14], axis=0)
    wanted = parts[:, :3].T @ parts[:, 3:6] / 2
    assert np.abs(np.add.reduceat(joint, [0, 2, 4], axis=1) - wanted).max() < 0.01
    age = found.sum((1, 2, 4))
    inside = model.inside[:, :21] * np.repeat(parts[:, :3].mean(0), 7) / 2
    assert np.abs(age - inside.T).max() < 0.002
    # ... but ages and wages that are high for their bins go together.
    middle = found.sum((2, 3, 4))[7:14, 2:4]
    upper = middle[:, 1] / middle.sum(1)
    assert upper[-1] > upper[0] + 0.05


def test_quotas_are_closer_than_chance():
    model = generator()
    wanted = exact_joint(model).sum((1, 2, 3, 4))
    rng = np.random.default_rng(3)
    ages = [model.sample(500, rng).ticks[:, 0] for _ in range(20)]
    errors = [np.abs(np.bincount(a, minlength=21) / 500 - wanted).sum() for a in ages]
    chance = [np.abs(rng.multinomial(500, wanted) / 500 - wanted).sum() for _ in range(20)]
    assert np.mean(errors) < 0.8 * np.mean(chance)


def test_a_rare_label_is_served_even_if_rejection_would_take_forever():
    model = generator(0.5)
    tilt = model.tilt.copy()
    tilt[1, :21] -= 14  # label 1 has a chance of about one in a million
    rare = dataclasses.replace(model, tilt=tilt)
    rows = rare.given({2: 1}).sample(50, np.random.default_rng(0))
    assert (rows.codes[:, 2] == 1).all()


def test_impossible_values_are_refused_and_numbers_cannot_be_fixed():
    model = generator()
    rng = np.random.default_rng(0)
    inside = model.inside.copy()
    inside[:, 31] = 0  # town 2
    nowhere = dataclasses.replace(model, inside=inside)
    with pytest.raises(ValueError, match="no probability"):
        nowhere.given({3: 2}).sample(5, rng)
    with pytest.raises(ValueError, match="list of values"):
        model.given({0: 1}).sample(5, rng)


@pytest.mark.parametrize("trust", [None, 0.5])
def test_a_restored_generator_draws_the_same_rows(trust):
    model = generator(trust)
    config, arrays = model.state()
    again = MosaicGenerator.restore(config, arrays, ENCODER)
    a, b = (m.given({2: 1}).sample(300, np.random.default_rng(5)) for m in (model, again))
    assert (a.ticks == b.ticks).all() and (a.codes == b.codes).all()


BROKEN = {
    "components": lambda a: a[:, :-1],
    "weights": lambda a: a * 0,
    "bins": lambda a: np.where(a == 4, 3, a),
    "inside": lambda a: a * 2,
    "tilt": lambda a: a * np.nan,
    "pairs": lambda a: a + 2,
    "pair_tilt": lambda a: a[:, 1:],
}


@pytest.mark.parametrize("name", BROKEN)
def test_arrays_that_do_not_fit_are_refused(name):
    config, arrays = generator(0.5).state()
    with pytest.raises(ValueError, match="mosaic|of the generator"):
        MosaicGenerator.restore(config, {**arrays, name: BROKEN[name](arrays[name])}, ENCODER)


def test_a_bin_far_away_is_refused_at_no_cost():
    config, arrays = generator(0.5).state()
    bins = np.where(arrays["bins"] == 7, 1 << 40, arrays["bins"])
    with pytest.raises(ValueError, match="not consecutive"):
        MosaicGenerator.restore(config, {**arrays, "bins": bins}, ENCODER)


@pytest.mark.parametrize(
    "change",
    [{"sizes": [21, 5, 3]}, {"most": 0}, {"most": 10**12}, {"trust": 7}, {"sizes": []}],
)
def test_settings_that_do_not_fit_are_refused(change):
    config, arrays = generator(0.5).state()
    with pytest.raises(ValueError):
        MosaicGenerator.restore({**config, **change}, arrays, ENCODER)


def test_another_layout_is_refused():
    other = Layout(numbers=LAYOUT.numbers[:1], codes=LAYOUT.codes)
    with pytest.raises(ValueError, match="another layout"):
        dataclasses.replace(generator(), layout=other).sample(1, np.random.default_rng(0))


# Bins of age and of job (two: its first value, the others); 0 where the pair cannot be.
LINKED = np.array([[0.3, 0.0], [0.0, 0.4], [0.2, 0.1]], np.float32)


def linked():
    return dataclasses.replace(
        generator(), links=np.array([[0, 2]], np.int64), linked=LINKED.ravel()
    )


@pytest.mark.parametrize("given", [{}, {2: 0}])
def test_linked_columns_never_meet_where_they_cannot(given):
    cells, _ = drawing.draw_rows(linked(), 4000, np.random.default_rng(0), given)
    joint = np.zeros((3, 2))
    np.add.at(joint, (cells[:, 0] // 7, np.minimum(cells[:, 2], 1)), 1 / 4000)
    assert joint[LINKED == 0].sum() == 0 < joint[LINKED > 0].sum()
    assert all((cells[:, column] == cell).all() for column, cell in given.items())
    without, _ = drawing.draw_rows(generator(), 4000, np.random.default_rng(0), given)
    assert not np.array_equal(without[:, 0] // 7, cells[:, 0] // 7) or not given


def test_linked_models_survive_a_file():
    model = linked()
    config, arrays = model.state()
    again = MosaicGenerator.restore(config, arrays, ENCODER)
    assert (again.links == model.links).all() and (again.linked == model.linked).all()
    with pytest.raises(ValueError, match="links"):
        MosaicGenerator.restore(config, {**arrays, "linked": arrays["linked"][1:]}, ENCODER)
