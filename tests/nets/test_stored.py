"""What a generator keeps in a file: it comes back as it was, and anything else is refused."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from nacre.errors import NacreError
from nacre.nets import stored
from nacre.nets.generator import AbstractGenerator


@dataclasses.dataclass(frozen=True)
class Box:
    low: np.ndarray
    size: int


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Toy(AbstractGenerator):
    """One field of each kind."""

    weights: np.ndarray = stored.field(
        stored.Array("R", "C", dtype=np.float64, kept=np.float32, low=0, distribution=2)
    )
    inside: np.ndarray = stored.field(stored.Array("C", None, low=0))
    tables: tuple = stored.field(stored.Many(stored.Array(..., low=0)))
    boxes: list = stored.field(
        stored.Many(
            stored.Record(
                Box, {"low": stored.Array(2, dtype=np.int64, low=-1), "size": stored.Whole(low=1)}
            ),
            list,
        )
    )
    label: int | None = stored.field(stored.Whole(low=0, optional=True))
    trust: float | None = stored.field(stored.Real(low=0, high=1, optional=True))
    counts: np.ndarray | None = stored.field(stored.Array("C", optional=True), default=None)
    layout: str = stored.from_encoder("layout")
    fixed: dict = dataclasses.field(default_factory=dict)

    def sample(self, n, rng):
        """Nothing."""

    def _check(self):
        if self.label is not None and self.label >= len(self.inside):
            raise NacreError("The label has another class.")


ENCODER = SimpleNamespace(layout="of the encoder")
TOY = Toy(
    weights=np.array([[0.25, 0.25, 0.0], [0.5, 0.0, 0.0]]),
    inside=np.ones((3, 4), np.float32),
    tables=(np.ones(2, np.float32), np.ones((2, 3, 1), np.float32)),
    boxes=[Box(np.array([-1, 5]), 3)],
    label=1,
    trust=0.5,
    layout="its own",
    fixed={1: 2},
)


def test_it_comes_back_as_it_was():
    config, arrays = TOY.state()
    assert set(arrays) == {"weights", "inside", "tables.0", "tables.1", "boxes.0.low"}
    assert arrays["weights"].dtype == np.float32
    again = Toy.restore(config, arrays, ENCODER)
    assert again.weights.dtype == np.float64 and (again.weights == TOY.weights).all()
    assert [table.shape for table in again.tables] == [(2,), (2, 3, 1)]
    assert isinstance(again.boxes, list) and again.boxes[0].size == 3
    assert (again.boxes[0].low == [-1, 5]).all()
    assert (again.label, again.trust, again.counts) == (1, 0.5, None)
    assert (again.layout, again.fixed) == ("of the encoder", {})


def test_nothing_is_kept_as_null():
    config, arrays = dataclasses.replace(
        TOY, label=None, trust=None, counts=np.ones(3, np.float32)
    ).state()
    again = Toy.restore(config, arrays, ENCODER)
    assert (again.label, again.trust, again.counts.tolist()) == (None, None, [1, 1, 1])


def test_probabilities_are_made_to_add_up_to_one():
    config, arrays = TOY.state()
    again = Toy.restore(config, arrays | {"weights": 8 * arrays["weights"]}, ENCODER)
    assert (again.weights == TOY.weights).all()


def test_what_could_not_be_opened_again_is_not_saved():
    below = dataclasses.replace(TOY, inside=np.full((3, 4), -3.6e-17, np.float32))
    again = Toy.restore(*below.state(), ENCODER)  # a rounding error is mended
    assert (again.inside == 0).all()
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(NacreError, match="'inside' .* could not be opened again"):
            dataclasses.replace(TOY, inside=np.full((3, 4), wrong, np.float32)).state()


ARRAYS = {
    "has 1 axes, not 2": {"inside": np.ones(3)},
    "has an axis of length 2, not 3": {"inside": np.ones((2, 4))},
    "has an axis of length 3, not 2": {"boxes.0.low": np.zeros(3, np.int64)},
    "holds float64, not int64": {"boxes.0.low": np.zeros(2)},
    "'tables.1' of the generator holds something else": {"tables.1": np.array([1, np.nan])},
    "'inside' of the generator holds something else": {"inside": np.full((3, 4), 1e300)},
    "'boxes.0.low' of the generator holds something else": {"boxes.0.low": np.array([-2, 0])},
    "of no total": {"weights": np.zeros((2, 3))},
    "no total": {"weights": np.full((2, 3), 1e308)},
}


@pytest.mark.parametrize("message", ARRAYS)
def test_other_arrays_are_refused(message):
    config, arrays = TOY.state()
    with pytest.raises(NacreError, match=message):
        Toy.restore(config, arrays | ARRAYS[message], ENCODER)


def test_missing_arrays_are_refused():
    config, arrays = TOY.state()
    for name in arrays:
        left = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(NacreError, match=f"no array '{name}'"):
            Toy.restore(config, left, ENCODER)


CONFIGS = [
    *({"label": label} for label in (-1, True, 1.0, "1", [1], 10**30)),
    *({"trust": trust} for trust in (-0.1, 1.1, float("nan"), 10**400, "0", True)),
    *({"tables": tables} for tables in (None, 2, "tables.0", ["tables.1"], ["tables.0"] * 2)),
    *({"boxes": boxes} for boxes in (None, [None], [{}], [{"low": "boxes.0.low", "size": 0}])),
    {"boxes": [{"low": "boxes.0.low", "size": 1, "more": 1}]},
    {"weights": None},
    {"weights": "inside"},
    {"more": 1},
]


@pytest.mark.parametrize("change", CONFIGS, ids=lambda change: str(change)[:40])
def test_other_descriptions_are_refused(change):
    config, arrays = TOY.state()
    with pytest.raises(NacreError, match="generator|another class"):
        Toy.restore(config | change, arrays, ENCODER)


def test_one_array_cannot_be_taken_many_times():
    config, arrays = TOY.state()
    with pytest.raises(NacreError, match=r"no array 'tables.1'"):
        Toy.restore(config | {"tables": ["tables.0"] * 1000}, arrays, ENCODER)
