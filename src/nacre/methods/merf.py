"""DP-MERF (Harder, Adamczewski and Park, 2021): match a private mean embedding.

One release where the paper composes C + 1: random Fourier features of the numbers and one-hot
codes, by class, with the class counts in the same sum.  Beyond the paper: a generator whose
embedding is exact, and a kernel on several scales at once.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from nacre.methods.matching import class_label, label_place, public_rng, transforms
from nacre.methods.method import Question
from nacre.nets.cells import Cells, layout_cells
from nacre.nets.characteristic import mixture_characteristic
from nacre.nets.mixture import MixtureGenerator
from nacre.nets.mixture_fit import Loss, fit_mixture
from nacre.schema import Layout, Schema

if TYPE_CHECKING:
    from nacre.embed.fourier import FourierFeatures, Frequencies
    from nacre.vault import Bound, Sums, Vault

COUNT = 0.25  # weight of the count beside an embedding of norm 1: nearly free under add-remove


@dataclasses.dataclass(frozen=True, kw_only=True)
class MERF:
    """Settings of DP-MERF; all of them public constants.

    bandwidth  of the kernel on numbers in [0, 1]; 0 buys the RMS distance with `bandwidth_share`
    scales     the kernel is the mean of Gaussian kernels of width bandwidth / 2^j, j < scales
    order      how many numbers a random frequency touches at most
    """

    title: ClassVar[str] = "MERF"
    paper: ClassVar[str] = "Harder, Adamczewski and Park (2021), DP-MERF, AISTATS"
    summary: ClassVar[str] = "matches a private mean embedding of the table"

    frequencies: int = 1000
    bandwidth: float = 0.0
    bandwidth_share: float = 0.05
    scales: int = 6
    order: int = 2
    components: int = 64
    steps: int = 1000
    rate: float = 0.1
    spread: float = 0.5

    def questions(self, schema: Schema) -> tuple[Question, ...]:
        """The moments that give the bandwidth (unless it is set), then the embedding."""
        from nacre.embed.distance import moment_segments
        from nacre.vault import Bound, Segment

        asked = []
        if self._buys_bandwidth(schema.layout):
            segments = tuple(
                Segment(size=size, norm=norm, signed=False)
                for size, norm in moment_segments(schema.layout)
            )
            asked.append(
                Question(
                    name="bandwidth",
                    bound=Bound(segments=segments, count=2.0**10),
                    share=self.bandwidth_share,
                    unit=2.0**10,
                    meaning="means and mean squares of the row, for the RMS distance",
                )
            )
        label = class_label(schema)
        asked.append(
            Question(
                name="mean embedding",
                bound=self._bound(schema.layout, label),
                share=1.0 - sum(question.share for question in asked),
                unit=1.0,
                meaning="mean features of the row" + (f" for each '{label}'" if label else ""),
            )
        )
        return tuple(asked)

    def _buys_bandwidth(self, layout: Layout) -> bool:
        return not self.bandwidth and bool(layout.numbers)

    def _bound(self, layout: Layout, label: str | None) -> Bound:
        """Each of the two parts is weighted to norm 1."""
        from nacre.embed.fourier import feature_norm
        from nacre.vault import Bound, Segment

        segments = []
        if layout.numbers:
            norm = feature_norm(self.frequencies)
            segments.append(Segment(size=2 * self.frequencies, norm=norm, weight=1 / norm))
        codes = [code for code in layout.codes if code.name != label]
        if codes:
            width, norm = sum(code.size for code in codes), math.sqrt(len(codes))
            segments.append(Segment(size=width, norm=norm, signed=False, weight=1 / norm))
        return Bound(segments=tuple(segments), by=label, count=COUNT)

    def learn(self, vault: Vault, *, key: Any) -> MixtureGenerator:
        """Release the embedding once, then fit the mixture to it."""
        import jax

        from nacre.embed.distance import moment_features, rms_distance

        public, start = jax.random.split(key)
        layout, label = vault.layout, label_place(vault.schema)
        questions = self.questions(vault.schema)
        bandwidth = self.bandwidth
        if self._buys_bandwidth(layout):
            first = questions[0]
            moments = vault.sum(
                moment_features(layout), first.bound, share=first.share, name=first.name
            )
            bandwidth = rms_distance(moments.values[0], moments.total, len(layout.numbers))
        fourier = self._fourier(layout, bandwidth, public)
        last = questions[-1]
        sums = vault.sum(
            _features(layout, label, fourier), last.bound, share=last.share, name=last.name
        )
        cells = layout_cells(layout)
        return fit_mixture(
            layout,
            label,
            cells,
            self._loss(sums, fourier.frequencies if fourier else None, layout, cells, label),
            components=self.components,
            spread=self.spread,
            steps=self.steps,
            rate=self.rate,
            key=start,
            on_progress=lambda done: vault.report("fitting the generator", done),
        )

    def _fourier(self, layout: Layout, bandwidth: float, key: Any) -> FourierFeatures | None:
        """Frequencies of Gaussian kernels on the numbers, each scale with an equal share."""
        from nacre.embed.fourier import FourierFeatures, draw_frequencies

        if not layout.numbers:
            return None
        return FourierFeatures(
            draw_frequencies(
                layout,
                self.frequencies,
                columns=range(len(layout.numbers)),
                orders=((1, 0.5), (self.order, 0.5)),
                low=1 / bandwidth,
                high=2.0**self.scales / bandwidth,
                rng=public_rng(key),
            )
        )

    def _loss(
        self,
        sums: Sums,
        frequencies: Frequencies | None,
        layout: Layout,
        cells: list[Cells],
        label: int,
    ) -> Loss:
        """Squared errors of all noisy numbers in units of their noise."""
        import jax.numpy as jnp
        import numpy as np

        from nacre.exact import AMPLITUDE

        k, numbers = self.frequencies, len(layout.numbers)
        counts = np.maximum(sums.counts, 1.0)
        total = counts.sum()
        noise = iter(sums.noise)
        prior = jnp.asarray(counts / total, jnp.float32)
        values = sums.values / total
        if frequencies is not None:
            support, found = transforms(frequencies, cells, label)
            characteristic = mixture_characteristic(support, found[:numbers])
            imaginary = jnp.asarray(values[:, :k].T / AMPLITUDE, jnp.float32)
            real = jnp.asarray(values[:, k : 2 * k].T / AMPLITUDE, jnp.float32)
            wave = next(noise) / AMPLITUDE / total
            values = values[:, 2 * k :]
        one_hot = jnp.asarray(values, jnp.float32)
        hot = next(noise, 1.0) / total
        size = counts.size * (2 * k + one_hot.shape[1])

        def loss(columns: Sequence[Any], weights: Any) -> Any:
            error = jnp.sum((weights.sum(1) - prior) ** 2) / (sums.count_noise / total) ** 2
            if frequencies is not None:
                a, b = characteristic(columns[:numbers], weights)
                error += jnp.sum((a - real) ** 2 + (b - imaginary) ** 2) / wave**2
            if len(columns) > numbers:
                means = weights @ jnp.concatenate(columns[numbers:], axis=1)
                error += jnp.sum((means - one_hot) ** 2) / hot**2
            return error / size

        return loss


def _features(layout: Layout, label: int, fourier: FourierFeatures | None) -> Any:
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
