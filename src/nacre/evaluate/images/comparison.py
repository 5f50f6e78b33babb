"""Synthetic images beside real ones, and what is computed of them once for all metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from nacre.evaluate.images.reading import sampled
from nacre.evaluate.tables.randomness import generator
from nacre.rows import Images


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is computed; the defaults are the papers'.

    Attributes:
        steps: of training LeNet, in batches of 128.
        synthetic: images whose features are compared, at most; PEARL draws 60,000.
        bootstraps: of FID.
        subsets: of KID.
        epochs: of training the CNN.
        runs: of training the CNN.
        residual_epochs: of training the residual network.
        fewest: steps of training either, at least, so that small sets are learnt, too.
        neighbors: images among which neighbors are looked for, at most.
        classifiers: of pixels.
    """

    steps: int = 1_000
    synthetic: int = 60_000
    bootstraps: int = 10
    subsets: int = 100
    epochs: int = 5
    runs: int = 1
    residual_epochs: int = 20
    fewest: int = 500
    neighbors: int = 5_000
    classifiers: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class RealImages:
    """The real side, which all sets are compared with.

    Attributes:
        train: the private images that the synthetic ones were made from.
        test: real images that were not; None if there are none.
        classes: how many there are.
    """

    train: Images
    test: Images | None
    classes: int
    effort: Effort
    seed: int

    @property
    def base(self) -> Images:
        """What synthetic images are to be like: the test images, if there are any."""
        return self.train if self.test is None else self.test

    @cached_property
    def lenet(self) -> Callable[[Images], np.ndarray]:
        """Features by a LeNet that was trained on the private images."""
        # JAX is loaded only here: evaluating tables does without it.
        from nacre.evaluate.images.networks import LeNet
        from nacre.evaluate.images.training import features, train

        rng = np.random.default_rng(self.seed)
        network = LeNet(self.train.pixels.shape[1:], self.classes, rng=rng)
        trained = train(network, self.train, steps=self.effort.steps, seed=self.seed)
        return lambda images: features(trained, images)

    @cached_property
    def features(self) -> np.ndarray:
        """Of the base."""
        return self.lenet(self.base)

    def rng(self, purpose: str) -> np.random.Generator:
        """Randomness of its own for each purpose."""
        return generator(self.seed, purpose)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ImageComparison:
    """One set of synthetic images beside the real ones.

    Attributes:
        name: of the set.
        real: the real side.
        synthetic: the images.
        jobs: processes to train classifiers of pixels in.
    """

    name: str
    real: RealImages
    synthetic: Images
    jobs: int = 2
    _found: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def effort(self) -> Effort:
        """How much is computed."""
        return self.real.effort

    @property
    def features(self) -> np.ndarray:
        """LeNet's features of the synthetic images, of as many as are compared."""
        return self.once("features", lambda: self.real.lenet(self._compared()))

    def _compared(self) -> Images:
        return sampled(self.synthetic, self.effort.synthetic, self.real.rng("synthetic images"))

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, computed when it is first asked for."""
        if name not in self._found:
            self._found[name] = compute()
        return self._found[name]

    def of_real(self) -> ImageComparison:
        """Real images in the place of the synthetic ones, no more than there are of those."""
        rng = self.real.rng("real images")
        fewer = sampled(self.real.train, len(self.synthetic), rng)
        return dataclasses.replace(self, name="real", synthetic=fewer, _found={})
