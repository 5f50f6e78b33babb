"""An image method in one file: the noisy mean image of each class.

Nothing to recommend; it shows that images need no more than a method and a generator.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self, final

import numpy as np

from nacre.errors import NacreError
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import setting, settle
from nacre.nets.generator import AbstractGenerator
from nacre.rows import Images
from nacre.vault import Bound, Segment, Sum


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
        size = math.prod(encoder.schema.shape)
        norm = 255 * math.sqrt(size)
        pixels = Segment(size=size, norm=norm, signed=False, weight=1 / norm)
        bound = Bound(segments=(pixels,), by=encoder.label, count=0.5)
        return (Sum(name="mean images", meaning="pixels by class", share=1.0, bound=bound),)

    def learn(self, vault, plan, *, key):
        """One sum."""
        (question,) = (planned.question for planned in plan.asked)
        sums = vault.sum(question, lambda row: row.pixels.reshape(-1))
        counts = np.maximum(sums.counts, 1.0)
        means = np.clip(sums.values / counts[:, None], 0, 255)
        return ToyPrototypes(
            means.reshape(-1, *vault.encoder.schema.shape), counts / counts.sum(), self.spread
        )


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
        return dataclasses.replace(self, only=fixed[0])

    def sample(self, n, rng):
        """Draw n images."""
        label = rng.choice(len(self.shares), n, p=self.shares)
        if self.only is not None:
            label = np.full(n, self.only)
        drawn = self.means[label] + rng.normal(0, self.spread, (n, *self.means.shape[1:]))
        return Images(np.clip(np.rint(drawn), 0, 255).astype(np.uint8), label)

    def state(self):
        """Means and shares."""
        return {"spread": self.spread}, {"means": self.means, "shares": self.shares}

    @classmethod
    def restore(cls, config: Mapping[str, Any], arrays: Mapping[str, Any], encoder: Any) -> Self:
        """The inverse of `state`."""
        means, shares = arrays["means"], arrays["shares"]
        classes = encoder.label.classes
        if means.shape != (classes, *encoder.schema.shape) or len(shares) != classes:
            raise NacreError("The images do not fit the encoder.")
        return cls(means, shares, float(config["spread"]))
