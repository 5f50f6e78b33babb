"""What the embedding methods share: their settings, and what follows from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.methods.method import AbstractMethod
from nacre.methods.modes import find_modes, mode_questions, splittable
from nacre.methods.settings import setting, settle
from nacre.nets.modes import ModeSplit, split_layout
from nacre.rows import AbstractEncoder, TableEncoder
from nacre.schema import Layout
from nacre.vault import Sum

if TYPE_CHECKING:
    from nacre.vault import Vault

# Frequencies are so many at most that, were a class a quarter as large as an equal share of the
# public number of rows, the noise of its means at (1, 1e-5) under replace-one would be below one.
RAREST, MULTIPLIER = 1 / 4, 7.46


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractMatching(AbstractMethod):
    """Settings of methods that match released mean features; all of them public constants."""

    generator: Literal["auto", "mixture", "network"] = setting(
        "auto",
        "what is fitted: a mixture of products, in closed form, or the paper's network; auto: the "
        "mixture to tables, a network to images",
    )
    frequencies_on: Literal["auto", "pairs", "row"] = setting(
        "auto",
        "what a frequency touches: one or two columns, or, as in the paper, all of them; auto: "
        "pairs of columns, all of an image",
    )
    frequencies: int = setting(
        4000,
        "how many are asked about; rounded down to a multiple of `blocks`, fewer for few rows",
        low=1,
        high=100_000,
    )
    blocks: int = setting(
        8, "into which they are split; a step uses one block", low=1, high=100_000
    )
    pairs: float = setting(
        0.85, "part of the frequencies that touch two columns, the others touch one", low=0, high=1
    )
    low: float = setting(
        2.0,
        "smallest scale of a number's frequency, the number being in [0, 1]",
        low=0.001,
        high=10_000,
    )
    high: float = setting(120.0, "largest scale", low=0.001, high=10_000)
    scale: float = setting(
        0.0,
        "of frequencies on whole rows, over one by the distance between rows; 0: 1, or 2 for "
        "images",
        low=0.001,
        high=1000,
        or_zero=True,
    )
    bandwidth: float = setting(
        0.0,
        "share of the budget that buys the RMS distance between rows; 0: a public guess",
        low=0.001,
        high=0.999,
        or_zero=True,
    )
    projection: Literal["none", "random", "pca"] = setting(
        "none",
        "what frequencies on whole rows see of them: all, random directions, or private PCA's",
    )
    dimensions: int = setting(16, "how many directions a projection has", low=1, high=10_000)
    projection_share: float = setting(
        0.2, "of the budget that buys the covariance for private PCA", low=0.001, high=0.9
    )
    components: int = setting(64, "how many products the mixture has", low=1, high=10_000)
    shrinkage: float = setting(
        0.3, "of the components towards what they share (a Gaussian prior)", low=0, high=10_000
    )
    latent: int = setting(
        0,
        "how many numbers go into the network; 0: 10, or 20 for images",
        low=1,
        high=1000,
        or_zero=True,
    )
    batch: int = setting(
        0,
        "rows that the network generates a step; 0: 1,100, or 100 images",
        low=16,
        high=100_000,
        or_zero=True,
    )
    layers: Literal["classwise", "convolutions", "dense"] = setting(
        "classwise",
        "of a network that makes images: PEARL's with a first layer for each class, twice as wide; "
        "PEARL's; or DP-MERF's dense 200 and 100",
    )
    balance: Literal["precision", "class", "share"] = setting(
        "precision",
        "how the network's loss weights classes: by how well they are known, alike, or by share",
    )
    class_weights: tuple[float, ...] = setting(
        (), "public factors of the classes' shares in what is drawn, to under-sample some"
    )
    modes: int = setting(
        0, "modes of each number in the network's encoding, found privately", low=0, high=100
    )
    modes_share: float = setting(
        0.1, "of the budget that finds the modes, if there are any", low=0.001, high=0.9
    )
    mode_iterations: int = setting(12, "of the search for modes", low=1, high=100)
    steps: int = setting(
        0,
        "of Adam; 0: 3,000 for a mixture or images, 8,000 for a network",
        low=2,
        high=10**6,
        or_zero=True,
    )
    rate: float = setting(
        0.0, "Adam's; 0: 0.1 for a mixture, 0.01 for a network", low=1e-6, high=1, or_zero=True
    )

    def __post_init__(self) -> None:
        settle(self)
        if self.frequencies < self.blocks:
            raise NacreError(f"{self.title} needs at least as many frequencies as blocks.")
        if not self.low <= self.high:
            raise NacreError(f"low={self.low} must not be above high={self.high}.")
        if self.bandwidth and self.high > 100 * self.low:
            raise NacreError(
                "With a bandwidth, which may move both up a hundredfold, high must be at most a "
                f"hundred times low, got {self.low} and {self.high}."
            )
        if self.modes and self.generator != "network":
            raise NacreError("modes needs generator='network', whose encoding it is.")
        if self.projection != "none" and self.frequencies_on == "pairs":
            raise NacreError("A projection needs frequencies_on='row'.")
        if self.projection == "pca" and self.bandwidth:
            raise NacreError("bandwidth must be 0 with private PCA, which gives it, too.")
        first = self.bandwidth + self.modes_share * bool(self.modes)
        if first + self.projection_share * (self.projection == "pca") > 0.95:
            raise NacreError(
                "bandwidth, modes_share and projection_share must leave some budget for the rest."
            )
        if not all(0 < weight <= 1 for weight in self.class_weights):
            raise NacreError("class_weights must lie in (0, 1].")

    def small(self) -> Self:
        """Few frequencies, components and steps."""
        return dataclasses.replace(
            self, frequencies=40, components=6, steps=12, batch=32, mode_iterations=2
        )

    def suited(self, encoder: AbstractEncoder, steps: int = 0, rate: float = 0.0) -> Self:
        """The same settings, those that say 'auto' or 0 decided by the kind of data.

        `steps` and `rate` are the defaults of a release that is made anew at each step.
        """
        images = encoder.kind == "image"
        if images and (self.modes or self.generator == "mixture" or self.frequencies_on == "pairs"):
            raise NacreError(
                "Images need a network and frequencies on all pixels; leave `generator`, "
                "`frequencies_on` and `modes` at their defaults."
            )
        network = self.generator == "network" or (images and self.generator == "auto")
        whole = self.frequencies_on == "row" or (images and self.frequencies_on == "auto")
        return dataclasses.replace(
            self,
            generator="network" if network else "mixture",
            frequencies_on="row" if whole else "pairs",
            scale=self.scale or (2.0 if images else 1.0),
            latent=self.latent or (20 if images else 10),
            batch=self.batch or (100 if images else 1100),
            steps=self.steps or steps or (8000 if network and not images else 3000),
            rate=self.rate or rate or (0.01 if network else 0.1),
        )

    # -- questions -----------------------------------------------------------------------------

    def count(self, rows: int | None, classes: int) -> int:
        """How many frequencies are asked about: a multiple of the blocks."""
        most = self.frequencies
        if rows is not None:
            most = min(most, max(32, round((RAREST * rows / classes / MULTIPLIER) ** 2)))
        return max(most // self.blocks, 1) * self.blocks

    def seen(self, encoder: TableEncoder) -> Layout:
        """The layout of the rows whose features are asked for."""
        layout = encoder.layout
        if not self.modes:
            return layout
        return split_layout(layout, splittable(layout, self.modes), self.modes)

    def mode_questions(self, encoder: TableEncoder) -> tuple[Sum, ...]:
        """The search for modes, if there are to be any."""
        if not self.modes:
            return ()
        return mode_questions(
            encoder.layout,
            size=self.modes,
            iterations=self.mode_iterations,
            share=self.modes_share,
        )

    def find_split(self, vault: Vault, questions: Sequence[Sum]) -> ModeSplit | None:
        """How rows are split into modes, if they are."""
        if not questions:
            return None
        layout: Layout = vault.encoder.layout  # type: ignore[attr-defined]
        return ModeSplit(layout, find_modes(vault, questions, layout, self.modes))

    def check_classes(self, encoder: TableEncoder) -> None:
        """Refuse class weights for another number of classes."""
        classes = 0 if encoder.label is None else encoder.label.classes
        if self.class_weights and len(self.class_weights) != classes:
            raise NacreError(
                f"class_weights gives {len(self.class_weights)} factors, and the label has "
                f"{classes} values."
            )

    def shares(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """The classes' shares in what is drawn.

        To weight rows in the sum itself would only make the weighted classes noisier.
        """
        found = prior * np.asarray(self.class_weights) if self.class_weights else prior
        return np.asarray(found / found.sum(), np.float64)
