"""An image method in one file, with its encoder: the noisy mean image of each class.

Nothing to recommend; it shows that images need no more than an encoder, a method, a generator.
"""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import setting, settle
from nacre.nets.generator import AbstractGenerator
from nacre.rows import AbstractEncoder, Block, Label, open_source
from nacre.vault import Bound, Segment, Sum


class Pixels(NamedTuple):
    """One image as a function of one row sees it, or many: int32."""

    pixels: Any
    label: Any


class LabelIs(NamedTuple):
    """A condition."""

    value: int

    @property
    def text(self):
        """As a message shows it."""
        return f"label = {self.value}"


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Images:
    """Images on their way out."""

    pixels: Any
    label: Any

    @property
    def valid(self):
        """All of them can be decoded."""
        return np.ones(len(self.label), bool)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, rows):
        return Images(self.pixels[rows], self.label[rows])


@final
@dataclasses.dataclass(frozen=True)
class ToyImages(AbstractEncoder):
    """Gray images of `side` x `side` pixels with a label below `classes`."""

    kind = "image"

    side: int
    number: int

    @property
    def shape(self):
        """Pixels, and a label."""
        import jax
        import jax.numpy as jnp

        pixels = jax.ShapeDtypeStruct((self.side**2,), jnp.int32)
        return Pixels(pixels, jax.ShapeDtypeStruct((), jnp.int32))

    @property
    def label(self):
        """The label."""
        return Label("label", self.number)

    @property
    def digest(self):
        """Of all there is."""
        return hashlib.sha256(json.dumps(self.to_dict()).encode()).hexdigest()

    def open(self, data):
        """Pairs of arrays: uint8 (n, side, side), and labels."""
        images, labels = data
        pixels = pa.FixedSizeListArray.from_arrays(
            pa.array(np.asarray(images, np.uint8).ravel()), self.side**2
        )
        return open_source(pa.table({"pixels": pixels, "label": pa.array(labels, pa.int64())}))

    def check(self, source, watch):
        """How many rows there are, if all labels are among the classes."""
        rows = bad = 0
        for batch in watch(source.batches()):
            rows += batch.num_rows
            bad += int(np.count_nonzero(~self.encode(batch).valid))
        if bad:
            raise NacreError(f"{bad} images have an unknown label; nothing was spent.")
        return rows

    def encode(self, batch):
        """Elementwise."""
        values = batch.column("pixels").flatten().to_numpy(zero_copy_only=False)
        label = batch.column("label").fill_null(-1).to_numpy(zero_copy_only=False)
        valid = (label >= 0) & (label < self.number)
        return Block(
            Pixels(
                values.reshape(-1, self.side**2).astype(np.int32),
                np.where(valid, label, 0).astype(np.int32),
            ),
            valid,
        )

    def classes(self, rows, label):
        """The one label there is."""
        if label != self.label:
            raise NacreError("There is no such label.")
        return rows.label

    def settle(self, drawn):
        """As they are."""
        return drawn

    def rules(self, where):
        """Only the label can be asked for."""
        if set(where or {}) - {"label"}:
            raise NacreError("Only 'label' can be asked for.")
        return tuple(LabelIs(int(value)) for value in (where or {}).values())

    def fixed(self, rules):
        """The label, if it was asked for."""
        return {"label": rules[0].value} if rules else {}

    def holds(self, rows, rules):
        """Which images have the label."""
        return [rows.label == rule.value for rule in rules]

    def decode(self, rows):
        """Pixels as lists, and the label."""
        flat = pa.array(rows.pixels.astype(np.uint8).ravel())
        pixels = pa.FixedSizeListArray.from_arrays(flat, self.side**2)
        return pa.table({"pixels": pixels, "label": pa.array(rows.label, pa.int64())})

    def to_dict(self):
        """Two numbers."""
        return {"side": self.side, "classes": self.number}

    @classmethod
    def from_dict(cls, said):
        """The inverse of `to_dict`."""
        return cls(int(said["side"]), int(said["classes"]))


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class ToyMean(AbstractMethod):
    """Settings; all of them public constants."""

    title: ClassVar[str] = "Toy mean"
    paper: ClassVar[str] = "none"
    summary: ClassVar[str] = "the mean image of each class"
    data: ClassVar[frozenset[str]] = frozenset({"image"})

    spread: float = setting(8.0, "deviation of a pixel from its mean", low=0, high=255)

    def __post_init__(self) -> None:
        settle(self)

    def questions(self, encoder, adjacency, rows):
        """Pixels by class, and the class counts."""
        (size,) = encoder.shape.pixels.shape
        norm = 255 * math.sqrt(size)
        pixels = Segment(size=size, norm=norm, signed=False, weight=1 / norm)
        bound = Bound(segments=(pixels,), by=encoder.label, count=0.5)
        return (Sum(name="mean images", meaning="pixels by class", share=1.0, bound=bound),)

    def learn(self, vault, plan, *, key):
        """One sum."""
        (question,) = (planned.question for planned in plan.asked)
        sums = vault.sum(question, lambda row: row.pixels)
        counts = np.maximum(sums.counts, 1.0)
        means = np.clip(sums.values / counts[:, None], 0, 255)
        return ToyPrototypes(means, counts / counts.sum(), self.spread)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class ToyPrototypes(AbstractGenerator):
    """The mean image of a class, and noise."""

    means: Any
    shares: Any
    spread: float
    only: int | None = None

    def given(self, fixed):
        """Exact, as the label comes first."""
        return dataclasses.replace(self, only=fixed["label"])

    def sample(self, n, rng):
        """Draw n images."""
        label = rng.choice(len(self.shares), n, p=self.shares)
        if self.only is not None:
            label = np.full(n, self.only)
        drawn = self.means[label] + rng.normal(0, self.spread, (n, self.means.shape[1]))
        return Images(np.clip(np.rint(drawn), 0, 255), label)

    def state(self):
        """Means and shares."""
        return {"spread": self.spread}, {"means": self.means, "shares": self.shares}

    @classmethod
    def restore(cls, config: Mapping[str, Any], arrays: Mapping[str, Any], encoder: Any) -> Self:
        """The inverse of `state`."""
        means, shares = arrays["means"], arrays["shares"]
        if means.shape != (encoder.number, encoder.side**2) or len(shares) != encoder.number:
            raise NacreError("The images do not fit the encoder.")
        return cls(means, shares, float(config["spread"]))
