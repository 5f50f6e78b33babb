"""No pair of neighboring tables moves a sum further than its bound says, and some come close.

A table's sum is the sum of its rows' contributions, so neighboring tables differ by one
contribution (add-remove) or by the difference of two (replace-one).  The searches below look at
all pairs of many rows, among them every extreme one, then climb from the worst pair.
"""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.embed.marginals import cell_places, single_features, table_features
from nacre.embed.rounds import round_features
from nacre.histograms.calendars import dated
from nacre.histograms.cells import NumberColumn, table_columns
from nacre.histograms.histograms import Histograms
from nacre.histograms.weights import NORM, column_weights
from nacre.methods.heaps import heaps_question
from nacre.methods.mosaic.finer import finer_question
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mosaic.shifts import (
    numbers_of,
    rank_scores,
    shift_features,
    shifts_question,
    unit_of,
)
from nacre.methods.mosaic.tables import WHOLE
from nacre.methods.mst import MST
from nacre.methods.standardize import CELLS, scale_questions
from nacre.rows import Label, Row, TableEncoder
from nacre.schema import Categorical, Datetime, Integer, Real, Schema
from nacre.vault import Adjacency, Bound, Segment, Sum
from nacre.vault.doors import sum as sum_door
from nacre.vault.exact_sum import ExactSum
from nacre.vault.products import Products

CLASSES = 3
UNIT = 65536.0
LABEL = Label("label", CLASSES)
ENCODER = TableEncoder(
    Schema(
        {
            "a": Integer(low=0, high=65536),
            "b": Integer(low=0, high=65536),
            "label": Categorical(values=("u", "v", "w")),
            "kind": Categorical(values=("p", "q", "r", "s")),
        }
    )
)


def signed_integers(row):
    return row.numbers - 32768


def non_negative_integers(row):
    return row.numbers


def wild_floats(row):
    x = row.numbers / UNIT
    return jnp.stack([1 / x[0], jnp.log(x[1]), jnp.where(x[0] < 0.5, 1e308, -1e308) * x[1] * 10])


def circle(row):
    angle = row.numbers[0] * (2 * jnp.pi / UNIT)
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def one_hot_and_circle(row):
    return jnp.concatenate([circle(row), (row.codes[1] == jnp.arange(4)).astype(float) * 1.5])


def pairs_of_codes(row):
    return jnp.stack([row.codes[1], 4 + row.codes[0]]), jnp.ones(2, jnp.int32)


def wild_sparse(row):
    first = row.numbers[0] // 8192 - 2  # also below zero and beyond the end
    return jnp.stack([first, first + row.codes[1] - 1]), (row.numbers - 32768) / 100.0


def wild_products(row):
    return Products(
        circle(row),
        jnp.stack([wild_floats(row), circle(row)[:1] * jnp.ones(3)]),
        jnp.stack([circle(row) * 1e200, circle(row)]),
    )


def products_of_circles(row):
    """Two products that point the same way, so that their sum is as long as both together."""
    twice = jnp.stack([circle(row), circle(row)]) / 2**0.5
    return Products(circle(row), twice, -twice)


def round_steps():
    """The steps that numbers are multiples of, as methods ask for them."""
    columns = table_columns(ENCODER.layout, None, 512)
    (question,) = heaps_question(columns, ENCODER.layout, 1.0, 1.0)
    places, weight = cell_places(ENCODER.layout, columns), int(NORM / 2**0.5)
    return round_features(places, columns, ENCODER.layout, (0, 1), weight), question.bound


def days_of_dates():
    """The days of a date and of one that is modeled by its distance, beside their steps."""
    ends = {"low": "1900-01-01", "high": "2079-06-07"}
    columns = {"begun": Datetime(**ends), "ended": Datetime(**ends, nullable=True)}
    layout = TableEncoder.of(Schema(columns, constraints=["begun <= ended"])).layout
    assert [number.ticks for number in layout.numbers] == [65536] * 2 and layout.numbers[1].tie
    columns = table_columns(layout, None, 512)
    (question,) = heaps_question(columns, layout, 1.0, 1.0)
    places = cell_places(layout, columns)
    # Of both a class of steps, a day of the month, and a month or (the distance) a day of the week.
    weight = int(NORM / 6**0.5)
    assert question.unit == pytest.approx(NORM / 6**0.5)
    dates = dated(columns, layout)
    return round_features(places, columns, layout, (0, 1), weight, dates), question.bound


def pairs_of_values():
    """Two tables of pairs of values, weighted as Mosaic does."""
    columns = table_columns(ENCODER.layout, None, 512)
    wide = tuple(dataclasses.replace(column, size=9) for column in columns[2:])
    question = finer_question(wide, 2, NORM, 1.0)
    sizes, weight = [column.size for column in columns], int(NORM / 2**0.5)
    every = np.concatenate([np.arange(size) for size in sizes])
    tables = [(2, 3), (3, 2)]
    places = cell_places(ENCODER.layout, columns)
    return table_features(places, every, sizes, tables, [weight] * 2), question.bound


def histograms_of_numbers():
    """A histogram of every number, by which networks standardize."""
    (question,) = scale_questions(ENCODER.layout, 0.1)
    columns = [c for c in table_columns(ENCODER.layout, None, CELLS) if isinstance(c, NumberColumn)]
    return single_features(cell_places(ENCODER.layout, tuple(columns))), question.bound


def weighted_histograms():
    """A histogram of every column with its own weight, as Mosaic, MST and AIM ask for them."""
    columns = table_columns(ENCODER.layout, None, 512)
    asked = [
        question.bound.segments[0].norm
        for method in (Mosaic(), MST())
        for question in method.questions(ENCODER, Adjacency.ADD_REMOVE, None)
        if question.name == "histograms"
    ]
    assert asked == [NORM, NORM]
    bound = block({"size": sum(c.size for c in columns), "norm": NORM, "signed": False})
    return single_features(cell_places(ENCODER.layout, columns), column_weights(columns)), bound


def histograms_of_all_rows():
    """What Mosaic counts over all classes, beside the same by class."""
    encoder, method = TableEncoder(dataclasses.replace(ENCODER.schema, label="label")), Mosaic()
    asked = method.questions(encoder, Adjacency.ADD_REMOVE, None)
    (question,) = (each for each in asked if each.name == WHOLE)
    columns = method.design(encoder).columns
    places = cell_places(encoder.layout, columns)
    return single_features(places, column_weights(columns)), question.bound


def shifts_of_numbers():
    """Polynomials of the ranks of two numbers, by class, as Mosaic asks for them in wide tables."""
    columns = table_columns(ENCODER.layout, None, 512)
    counts = np.ones((1, sum(column.size for column in columns)))
    histograms, numbers = Histograms.of(columns, 100 * counts, 0.0), numbers_of(columns, None)
    unit = unit_of(len(numbers), NORM)
    scores = [rank_scores(histograms, column) for column in numbers]
    places = cell_places(ENCODER.layout, columns)
    question = shifts_question(len(numbers), 1, LABEL, NORM, 1.0, "")
    return shift_features(places, columns, numbers, scores, unit), question.bound


def block(*segments, **more):
    return Bound(segments=tuple(Segment(**s) for s in segments), **more)


CASES = {
    "signed integers": (signed_integers, block({"size": 2, "norm": 20000.0})),
    "non-negative integers": (
        non_negative_integers,
        block({"size": 2, "norm": 50000.0, "signed": False}),
    ),
    "lying floats": (wild_floats, block({"size": 3, "norm": 1.0})),
    "lying non-negative floats": (wild_floats, block({"size": 3, "norm": 0.3, "signed": False})),
    "circle": (circle, block({"size": 2, "norm": 1.0})),
    "circle with a dear count": (circle, block({"size": 2, "norm": 1.0}, count=3.0)),
    "circle by label": (circle, block({"size": 2, "norm": 1.0}, by=LABEL, count=0.5)),
    "circle by label, dear count": (circle, block({"size": 2, "norm": 1.0}, by=LABEL, count=1.5)),
    "two weighted segments by label": (
        one_hot_and_circle,
        block(
            {"size": 2, "norm": 1.0, "weight": 0.3},
            {"size": 4, "norm": 1.5, "signed": False, "weight": 2.0},
            by=LABEL,
            count=0.25,
        ),
    ),
    "sparse": (
        pairs_of_codes,
        block(
            {"size": 4, "norm": 1.0, "signed": False},
            {"size": 3, "norm": 1.0, "signed": False, "weight": 0.5},
        ),
    ),
    "sparse by label": (
        pairs_of_codes,
        block({"size": 7, "norm": 2**0.5, "signed": False}, by=LABEL, count=1.0),
    ),
    "round steps": round_steps(),
    "days of dates": days_of_dates(),
    "pairs of values": pairs_of_values(),
    "histograms of numbers": histograms_of_numbers(),
    "weighted histograms": weighted_histograms(),
    "histograms of all rows": histograms_of_all_rows(),
    "shifts of numbers": shifts_of_numbers(),
    "wild sparse": (wild_sparse, block({"size": 2, "norm": 5.0}, {"size": 2, "norm": 7.0})),
    "lying products": (wild_products, block({"size": 2, "norm": 0.5}, {"size": 6, "norm": 1.0})),
    "products by label": (
        products_of_circles,
        block({"size": 2, "norm": 1.0, "weight": 0.3}, {"size": 4, "norm": 1.0}, by=LABEL),
    ),
}
# Features whose rows never point far enough apart to reach the bound of replacing one by another.
LOOSE = {
    ("lying non-negative floats", Adjacency.REPLACE_ONE),
    ("shifts of numbers", Adjacency.REPLACE_ONE),  # no square of a rank is far below its mean
    ("wild sparse", Adjacency.REPLACE_ONE),
    ("lying products", Adjacency.REPLACE_ONE),
    ("products by label", Adjacency.REPLACE_ONE),
}


def contributions(features, bound):
    """A compiled function from single-row tables to what each adds to the released vector."""
    exact, classes = ExactSum(features, bound, ENCODER), bound.classes

    def one(numbers, codes, valid):
        zeros = jnp.zeros((classes, bound.size), jnp.int64), jnp.zeros(classes, jnp.int64)
        rows = Row(numbers[None], codes[None])
        return exact._block(exact.features.constants, [], *zeros, rows, valid[None])

    compiled = jax.jit(jax.vmap(one))
    scale = np.concatenate(
        [np.full(s.size, s.weight * u) for s, u in zip(bound.segments, exact.units, strict=True)]
    )

    def run(rows):
        with jax.enable_x64(True):
            sums, counts = (np.asarray(v, np.float64) for v in compiled(*rows))
        return np.concatenate([(sums * scale).reshape(len(sums), -1), counts * bound.count], axis=1)

    return run


def extreme_rows(count=500):
    rng = np.random.default_rng(0)
    edges = (0, 1, 16384, 32767, 32768, 49152, 65536)
    corners = np.array(list(itertools.product(edges, edges)), np.int32)
    numbers = np.concatenate([corners, rng.integers(0, 65537, (count - len(corners), 2))])
    codes = np.stack([rng.integers(0, CLASSES, count), rng.integers(0, 4, count)], 1)
    valid = rng.random(count) > 0.05
    return numbers.astype(np.int32), codes.astype(np.int32), valid


def worst(vectors, adjacency):
    """The largest move, and the places of the two rows (or of one, twice) that make it."""
    squares = (vectors**2).sum(1)
    if adjacency is Adjacency.ADD_REMOVE:
        place = int(squares.argmax())
        return np.sqrt(squares[place]), (place, place)
    moves = squares[:, None] + squares[None] - 2 * vectors @ vectors.T
    first, second = np.unravel_index(int(moves.argmax()), moves.shape)
    return np.linalg.norm(vectors[first] - vectors[second]), (first, second)


def mutated(rows, places, rng, count=200):
    """Neighbors of the worst rows found so far, and the rows themselves."""
    numbers, codes, valid = (np.repeat(part[list(places)], count, axis=0) for part in rows)
    reach = rng.choice([1, 100, 10000], (len(numbers), 1))
    moved = np.clip(numbers + rng.integers(-1, 2, numbers.shape) * reach, 0, 65536)
    changed = np.where(rng.random(codes.shape) < 0.1, rng.integers(0, CLASSES, codes.shape), codes)
    moved[:1], changed[:1] = numbers[:1], codes[:1]
    moved[count : count + 1], changed[count : count + 1] = numbers[count], codes[count]
    return moved.astype(np.int32), changed.astype(np.int32), valid


@pytest.mark.parametrize("case", CASES)
def test_no_pair_of_rows_beats_the_bound(case):
    features, bound = CASES[case]
    run = contributions(features, bound)
    for adjacency in Adjacency:
        rows, rng = extreme_rows(), np.random.default_rng(1)
        allowed = bound.sensitivity(adjacency) * (1 + 1e-9)
        found, places = worst(run(rows), adjacency)
        for _ in range(4):
            assert found <= allowed
            rows = mutated(rows, places, rng)
            again, places = worst(run(rows), adjacency)
            found = max(found, again)
        assert found <= allowed
        if (case, adjacency) not in LOOSE:
            assert found >= 0.999 * bound.sensitivity(adjacency), "the bound is never reached"


# -- the same through the door itself, with tables as people have them --------------------------

SCHEMA = Schema(
    columns={
        "label": Categorical(values=("a", "b"), nullable=True),
        "x": Real(low=-1, high=1),
        "y": Real(low=0, high=2, nullable=True),
        "kind": Categorical(values=("u", "v"), other=True),
    }
)
HOSTILE = [
    {"label": "a", "x": 1.0, "y": 2.0, "kind": "u"},
    {"label": "b", "x": -1.0, "y": 0.0, "kind": "v"},
    {"label": "a", "x": -1.0, "y": 0.0, "kind": "v"},
    {"label": None, "x": 0.0, "y": None, "kind": "w"},
    {"label": "a", "x": np.nan, "y": 1.0, "kind": "u"},
    {"label": "a", "x": np.inf, "y": -np.inf, "kind": None},
    {"label": "b", "x": 1e308, "y": -1e308, "kind": "u"},
    {"label": "nobody knows", "x": 0.5, "y": 0.5, "kind": "u"},
]


@pytest.fixture
def released(monkeypatch):
    """What the vault would add noise to, in whole grid steps, and the scale of that noise."""
    kept = {}

    def keep(sums, scale):
        kept.update(sums=np.array(sums), scale=scale)
        return sums

    monkeypatch.setattr(sum_door, "add_discrete_gaussian", keep)
    return kept


def features_of_the_door(row):
    numbers = TableEncoder(SCHEMA).units(row) * 2 - 1
    kinds = row.codes[2] == jnp.arange(4)
    return jnp.concatenate([numbers * 1e3, kinds.astype(float) * 1e3])


def test_hostile_rows_through_the_door(released):
    bound = block(
        {"size": 2, "norm": 1.5},
        {"size": 4, "norm": 0.7, "signed": False, "weight": 1.3},
        by=Label("label", 3),
        count=0.4,
    )
    fields = pa.schema(
        [("label", pa.string()), ("x", pa.float64()), ("y", pa.float64()), ("kind", pa.string())]
    )

    def steps(*rows):
        """What the table of these rows would get noise added to, in units of one."""
        data = pa.Table.from_pylist([*rows], fields)
        question = Sum(name="test", share=1.0, bound=bound)
        vault = open_vault(data, SCHEMA, question, adjacency="replace-one")
        vault.sum(question, features_of_the_door)
        (release,) = vault.releases
        # The noise itself is as large as this sensitivity asks for.
        assert release.sensitivity >= bound.sensitivity(Adjacency.REPLACE_ONE)
        return released["sums"].astype(np.float64).ravel() / (released["scale"] / release.noise)

    assert not steps().any()
    vectors = np.array([steps(row) for row in HOSTILE])
    assert not vectors[4].any() and not vectors[7].any()  # NaN and an unknown label count zero
    for adjacency in Adjacency:
        found, allowed = worst(vectors, adjacency)[0], bound.sensitivity(adjacency)
        assert 0.99 * allowed <= found <= allowed * (1 + 1e-9)
