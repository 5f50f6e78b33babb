"""PEARL (Liew, Takahashi and Ueno, 2022): match a private characteristic function.

One release of the class-wise empirical characteristic function at public random frequencies; a
generator is then fitted to it for as long as one likes.  Beyond the paper: frequencies touch one
or two columns each (the same sensitivity, far less blur), and the generator is a mixture of
products, whose characteristic function is exact.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from nacre.methods.matching import class_label, label_place, public_rng, transforms
from nacre.methods.method import Question
from nacre.nets.cells import Cells, layout_cells
from nacre.nets.characteristic import mixture_characteristic
from nacre.nets.mixture import MixtureGenerator
from nacre.nets.mixture_fit import Loss, fit_mixture, free_columns
from nacre.schema import Schema

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.vault import Sums, Vault


@dataclasses.dataclass(frozen=True, kw_only=True)
class PEARL:
    """Settings of PEARL; all of them public constants."""

    title: ClassVar[str] = "PEARL"
    paper: ClassVar[str] = "Liew, Takahashi and Ueno (2022), PEARL, ICLR"
    summary: ClassVar[str] = "matches a private characteristic function of the table"

    frequencies: int = 2000
    components: int = 64
    steps: int = 1500
    rate: float = 0.05
    spread: float = 0.5

    def questions(self, schema: Schema) -> tuple[Question, ...]:
        """One sum: the characteristic function by class, and the class counts."""
        from nacre.embed.fourier import feature_norm
        from nacre.exact import AMPLITUDE
        from nacre.vault import Bound, Segment

        norm = feature_norm(self.frequencies)
        label = class_label(schema)
        bound = Bound(
            segments=(Segment(size=2 * self.frequencies, norm=norm),),
            by=label,
            count=0.25 * norm,
        )
        meaning = f"{self.frequencies:,} cosines and sines of the row" + (
            f" for each value of '{label}', and how many rows have it" if label else ""
        )
        return (
            Question(
                name="characteristic function",
                bound=bound,
                share=1.0,
                unit=AMPLITUDE,
                meaning=meaning,
            ),
        )

    def learn(self, vault: Vault, *, key: Any) -> MixtureGenerator:
        """Release the characteristic function once, then fit the mixture to it."""
        import jax

        from nacre.embed.fourier import FourierFeatures, draw_frequencies

        public, start = jax.random.split(key)
        label = label_place(vault.schema)
        drawn = draw_frequencies(
            vault.layout,
            self.frequencies,
            columns=free_columns(vault.layout, label),
            orders=((1, 0.15), (2, 0.85)),
            low=2.0,
            high=60.0,
            rng=public_rng(public),
        )
        features = FourierFeatures(drawn)
        (question,) = self.questions(vault.schema)
        sums = vault.sum(features, question.bound, share=question.share, name=question.name)
        cells = layout_cells(vault.layout)
        return fit_mixture(
            vault.layout,
            label,
            cells,
            self._loss(sums, features.frequencies, cells, label),
            components=self.components,
            spread=self.spread,
            steps=self.steps,
            rate=self.rate,
            key=start,
            on_progress=lambda done: vault.report("fitting the generator", done),
        )

    def _loss(self, sums: Sums, frequencies: Frequencies, cells: list[Cells], label: int) -> Loss:
        """Squared errors of all noisy numbers, each weighted by its noise."""
        import jax.numpy as jnp
        import numpy as np

        from nacre.exact import AMPLITUDE

        characteristic = mixture_characteristic(*transforms(frequencies, cells, label))
        counts = np.maximum(sums.counts, 1.0)
        total, k = counts.sum(), self.frequencies
        imaginary = jnp.asarray(sums.values[:, :k].T / AMPLITUDE / total, jnp.float32)
        real = jnp.asarray(sums.values[:, k:].T / AMPLITUDE / total, jnp.float32)
        prior = jnp.asarray(counts / total, jnp.float32)
        count_weight = (sums.noise[0] / AMPLITUDE / sums.count_noise) ** 2

        def loss(columns: Sequence[Any], weights: Any) -> Any:
            a, b = characteristic(columns, weights)
            error = jnp.sum((a - real) ** 2 + (b - imaginary) ** 2)
            return (error + jnp.sum((weights.sum(1) - prior) ** 2) * count_weight) / k

        return loss
