"""DP-MERF (Harder, Adamczewski and Park, 2021): match a private mean embedding.

One release where the paper composes C + 1: random Fourier features of the numbers and one-hot
codes, by class, with the class counts in the same sum.  Beyond the paper: a generator whose
embedding is exact, and Gaussian kernels of several widths, on one or two numbers each, at once.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.errors import NacreError
from nacre.histograms.cells import Cells, layout_cells
from nacre.methods.matching import (
    ask_scales,
    at_least_one,
    bandwidth_questions,
    label_place,
    public_rng,
    transforms,
    waves,
)
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import setting, settle
from nacre.rows import Label, TableEncoder
from nacre.schema import Layout
from nacre.vault import Adjacency, Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import FourierFeatures, Frequencies
    from nacre.nets.mixture import MixtureGenerator
    from nacre.nets.mixture_fit import Loss
    from nacre.vault import Plan, Sums, Vault


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class MERF(AbstractMethod):
    """Settings of DP-MERF; all of them public constants."""

    title: ClassVar[str] = "DP-MERF"
    paper: ClassVar[str] = "Harder, Adamczewski and Park (2021), DP-MERF, AISTATS"
    summary: ClassVar[str] = "matches a private mean embedding of the table"

    frequencies: int = setting(
        1000,
        "of the Fourier features, how many; rounded down to a multiple of `blocks`",
        low=1,
        high=100_000,
    )
    blocks: int = setting(
        4, "into which they are split; a step uses one block", low=1, high=100_000
    )
    pairs: float = setting(
        0.7, "part of the frequencies that touch two numbers, the others touch one", low=0, high=1
    )
    low: float = setting(
        2.0,
        "one over the widest kernel that is averaged, numbers being in [0, 1]",
        low=0.001,
        high=10_000,
    )
    high: float = setting(120.0, "one over the narrowest", low=0.001, high=10_000)
    bandwidth: float = setting(
        0.0,
        "share of the budget that buys the RMS distance, to start the widths there",
        low=0.001,
        high=0.999,
        or_zero=True,
    )
    components: int = setting(64, "how many products the mixture has", low=1, high=10_000)
    shrinkage: float = setting(
        0.3, "of the components towards what they share (a Gaussian prior)", low=0, high=10_000
    )
    steps: int = setting(2000, "how many steps of Adam fit the mixture", low=2, high=10**6)
    rate: float = setting(0.1, "Adam's learning rate", low=1e-6, high=1)

    def __post_init__(self) -> None:
        settle(self)
        if self.frequencies < self.blocks:
            raise NacreError("DP-MERF needs at least as many frequencies as blocks.")
        if not self.low <= self.high:
            raise NacreError(f"low={self.low} must not be above high={self.high}.")
        if self.bandwidth and self.high > 100 * self.low:
            raise NacreError(
                "With a bandwidth, which may move both up a hundredfold, high must be at most a "
                f"hundred times low, got {self.low} and {self.high}."
            )

    @property
    def _count(self) -> int:
        return self.frequencies // self.blocks * self.blocks

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        """The embedding by class, and the class counts; before it the bandwidth, if bought."""
        layout, label = encoder.layout, encoder.label
        first = bandwidth_questions(layout, self.bandwidth)
        last = Sum(
            name="mean embedding",
            bound=self._bound(layout, label, label_place(encoder), adjacency),
            share=1.0 - sum(question.share for question in first),
            unit=1.0,
            meaning="mean features of the row"
            + (f" for each value of '{label.name}'" if label else ""),
        )
        return (*first, last)

    def _bound(
        self, layout: Layout, label: Label | None, place: int | None, adjacency: Adjacency
    ) -> Bound:
        """Fourier features and one-hot codes, each weighted to norm 1."""
        from nacre.embed.fourier import feature_norm

        segments = []
        if layout.numbers:
            norm = feature_norm(self._count)
            segments.append(Segment(size=2 * self._count, norm=norm, weight=1 / norm))
        codes = [code for other, code in enumerate(layout.codes) if other != place]
        if codes:
            width, norm = sum(code.size for code in codes), math.sqrt(len(codes))
            segments.append(Segment(size=width, norm=norm, signed=False, weight=1 / norm))
        # Under replace-one a count of weight 1 costs nothing more.
        count = 1.0 if adjacency is Adjacency.REPLACE_ONE else 0.35
        return Bound(segments=tuple(segments), by=label, count=count)

    def small(self) -> Self:
        """Few frequencies, components and steps."""
        return dataclasses.replace(self, frequencies=40, components=6, steps=12)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> MixtureGenerator:
        """Release the embedding once, then fit the mixture to it."""
        from nacre.nets.mixture_fit import fit_mixture

        rng = public_rng(key)
        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        layout, label = encoder.layout, label_place(encoder)
        *first, question = self.questions(encoder, plan.adjacency, plan.rows)
        fourier = self._fourier(vault, encoder, first, rng)
        features = _features(layout, label, fourier)
        sums = vault.sum(question, features)
        cells = layout_cells(layout)
        return fit_mixture(
            layout,
            label,
            cells,
            self._loss(sums, fourier.frequencies if fourier else None, cells),
            codes_by_label=True,
            components=self.components,
            steps=self.steps,
            rate=self.rate,
            rng=rng,
            on_progress=lambda done: vault.report("fitting the generator", done),
        )

    def _fourier(
        self, vault: Vault, encoder: TableEncoder, first: list[Sum], rng: Any
    ) -> FourierFeatures | None:
        from nacre.embed.fourier import FourierFeatures, draw_frequencies

        if not encoder.layout.numbers:
            return None
        drawn = draw_frequencies(
            encoder.layout,
            width=self._count // self.blocks,
            blocks=self.blocks,
            columns=range(len(encoder.layout.numbers)),
            orders=((1, 1 - self.pairs), (2, self.pairs)),
            scales=ask_scales(vault, first, self.low, self.high),
            focus=encoder.target,
            rng=rng,
        )
        return FourierFeatures(drawn)

    def _loss(self, sums: Sums, frequencies: Frequencies | None, cells: list[Cells]) -> Loss:
        """Minus twice the log posterior: errors over their variances, and the components' prior."""
        import jax.numpy as jnp

        from nacre.exact import AMPLITUDE
        from nacre.nets.characteristic import mixture_characteristic
        from nacre.nets.mixture_fit import squared

        counts = at_least_one(sums)
        total = float(counts.sum())
        prior = jnp.asarray(counts / total, jnp.float32)
        count_variance = (sums.count_noise / total) ** 2 + 0.5 / total
        size = 0
        if frequencies is not None:
            size = 2 * frequencies.count
            support, found = transforms(frequencies, cells, range(len(cells)))
            characteristic = mixture_characteristic(support, found)
            real, imaginary = map(jnp.asarray, waves(sums.values[:, :size], frequencies, total))
            wave_variance = (sums.noise[0] / AMPLITUDE / total) ** 2 + 0.5 / total
        hot = jnp.asarray(sums.values[:, size:] / total, jnp.float32)
        hot_variance = (sums.noise[-1] / total) ** 2 + 0.5 / total

        def loss(model: Any, _: Any, step: Any) -> Any:
            weights, block = model.weights(), step % self.blocks
            label = weights.sum(1)
            error = squared(label - prior) / count_variance
            if given := model.label_columns():
                error += squared(label[:, None] * jnp.concatenate(given, 1) - hot) / hot_variance
            if frequencies is not None:
                a, b = characteristic(model.columns(), weights, block)
                wave = squared(a - real[block]) + squared(b - imaginary[block])
                error += self.blocks * wave / wave_variance
            return error + self.shrinkage * model.complexity()

        return loss


def _features(layout: Layout, label: int | None, fourier: FourierFeatures | None) -> Any:
    """Fourier features of the numbers and one-hot codes of one row, the label left out."""
    import jax.numpy as jnp

    sizes = [(p, code.size) for p, code in enumerate(layout.codes) if p != label]

    def features(row: Any) -> Any:
        parts = [] if fourier is None else [fourier(row)]
        for place, size in sizes:
            hot = row.codes[place] == jnp.arange(size, dtype=jnp.int32)
            parts.append(hot.astype(jnp.int32))
        return jnp.concatenate(parts)

    return features
