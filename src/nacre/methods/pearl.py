"""PEARL (Liew, Takahashi and Ueno, 2022): match a private characteristic function.

One release of the class-wise empirical characteristic function at public random frequencies; a
generator is then fitted to it for as long as one likes, against a critic that re-weights the
frequencies.  Beyond the paper: frequencies touch one or two columns each (the same sensitivity,
far less blur), and the generator is a mixture of products, whose characteristic function is exact.
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
from nacre.rows import TableEncoder
from nacre.vault import Adjacency, Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.nets.mixture import MixtureGenerator
    from nacre.nets.mixture_fit import Loss
    from nacre.vault import Plan, Sums, Vault


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class PEARL(AbstractMethod):
    """Settings of PEARL; all of them public constants."""

    title: ClassVar[str] = "PEARL"
    paper: ClassVar[str] = "Liew, Takahashi and Ueno (2022), PEARL, ICLR"
    summary: ClassVar[str] = "matches a private characteristic function of the table"

    frequencies: int = setting(
        4000,
        "how many are asked about; rounded down to a multiple of `blocks`",
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
    bandwidth: float = setting(
        0.0,
        "share of the budget that buys the RMS distance, to start the scales at its inverse",
        low=0.001,
        high=0.999,
        or_zero=True,
    )
    components: int = setting(64, "how many products the mixture has", low=1, high=10_000)
    shrinkage: float = setting(
        0.3, "of the components towards what they share (a Gaussian prior)", low=0, high=10_000
    )
    steps: int = setting(3000, "how many steps of Adam fit the mixture", low=2, high=10**6)
    rate: float = setting(0.1, "Adam's learning rate", low=1e-6, high=1)
    critic_every: int = setting(
        5, "steps between two of the critic; 0 for no critic", low=0, high=10**6
    )
    critic_rate: float = setting(0.01, "the critic's learning rate", low=0, high=1)

    def __post_init__(self) -> None:
        settle(self)
        if self.frequencies < self.blocks:
            raise NacreError("PEARL needs at least as many frequencies as blocks.")
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
        """One sum: the characteristic function by class, and the class counts."""
        from nacre.embed.fourier import feature_norm
        from nacre.exact import AMPLITUDE

        norm = feature_norm(self._count)
        label = encoder.label
        # Under replace-one a count as large as the features costs nothing more.
        weight = 1.0 if adjacency is Adjacency.REPLACE_ONE else 0.25
        bound = Bound(
            segments=(Segment(size=2 * self._count, norm=norm),), by=label, count=weight * norm
        )
        meaning = f"{self._count:,} cosines and sines of the row" + (
            f" for each value of '{label.name}', and how many rows have it" if label else ""
        )
        first = bandwidth_questions(encoder.layout, self.bandwidth)
        last = Sum(
            name="characteristic function",
            bound=bound,
            share=1.0 - sum(question.share for question in first),
            unit=AMPLITUDE,
            meaning=meaning,
        )
        return (*first, last)

    def small(self) -> Self:
        """Few frequencies, components and steps."""
        return dataclasses.replace(self, frequencies=40, components=6, steps=12)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> MixtureGenerator:
        """Release the characteristic function once, then fit the mixture to it."""
        from nacre.embed.fourier import FourierFeatures, draw_frequencies
        from nacre.nets.mixture_fit import fit_mixture, free_columns

        rng = public_rng(key)
        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        layout, label = encoder.layout, label_place(encoder)
        columns = free_columns(layout, label)
        if not columns:
            raise NacreError("PEARL needs a column beside the label.")
        *first, question = self.questions(encoder, plan.adjacency, plan.rows)
        drawn = draw_frequencies(
            layout,
            width=self._count // self.blocks,
            blocks=self.blocks,
            columns=columns,
            orders=((1, 1 - self.pairs), (2, self.pairs)),
            scales=ask_scales(vault, first, self.low, self.high),
            focus=encoder.target,
            rng=rng,
        )
        features = FourierFeatures(drawn)
        sums = vault.sum(question, features)
        cells = layout_cells(layout)
        return fit_mixture(
            layout,
            label,
            cells,
            self._loss(sums, features.frequencies, cells, columns),
            components=self.components,
            steps=self.steps,
            rate=self.rate,
            adversary=self._adversary(len(columns)),
            rng=rng,
            on_progress=lambda done: vault.report("fitting the generator", done),
        )

    def _adversary(self, columns: int) -> Any:
        import jax.numpy as jnp

        from nacre.nets.minimize import Adversary

        if not self.critic_every:
            return None
        return Adversary(
            start=jnp.zeros(columns),
            rate=self.critic_rate,
            every=self.critic_every,
            box=math.log(1.5),  # further out it chases noise
        )

    def _loss(
        self, sums: Sums, frequencies: Frequencies, cells: list[Cells], columns: list[int]
    ) -> Loss:
        """Minus twice the log posterior, each frequency weighted by the critic.

        sum_i r_i |R_i / n - Phi(t_i)|^2 / variance, the variance being that of the noise and of
        the rows as a sample; the same for the counts; and the components' prior.
        """
        import jax.numpy as jnp

        from nacre.exact import AMPLITUDE
        from nacre.nets.characteristic import mixture_characteristic
        from nacre.nets.mixture_fit import squared

        characteristic = mixture_characteristic(*transforms(frequencies, cells, columns))
        counts = at_least_one(sums)
        total = float(counts.sum())
        real, imaginary = map(jnp.asarray, waves(sums.values, frequencies, total))
        prior = jnp.asarray(counts / total, jnp.float32)
        variance = (sums.noise[0] / AMPLITUDE / total) ** 2 + 0.5 / total
        count_variance = (sums.count_noise / total) ** 2 + 0.5 / total
        terms = jnp.asarray(critic_terms(frequencies, columns))

        def loss(model: Any, critic: Any, step: Any) -> Any:
            block = step % self.blocks
            weights = model.weights()
            a, b = characteristic(model.columns(), weights, block)
            error = jnp.sum((a - real[block]) ** 2 + (b - imaginary[block]) ** 2, axis=1)
            if critic is not None:
                error = critic_weights(critic, terms)[block] * error
            return (
                self.blocks * error.sum() / variance
                + squared(weights.sum(1) - prior) / count_variance
                + self.shrinkage * model.complexity()
            )

        return loss


def critic_terms(frequencies: Frequencies, columns: list[int]) -> Any:
    """Each frequency's square by column, over the column's mean; 0 where it is not touched."""
    import numpy as np

    blocks, width, _ = frequencies.matrix.shape
    terms = np.zeros((blocks, width, len(columns)), np.float32)
    for place, column in enumerate(columns):
        touching = (frequencies.support == column).any(axis=1)
        if touching.any():
            square = (frequencies.of(column) ** 2).mean(axis=-1)
            terms[:, touching, place] = square / max(square.mean(), 1e-12)
    return terms


def critic_weights(log_scales: Any, terms: Any) -> Any:
    """The paper's density ratio of frequencies re-scaled by column, normalized to mean 1."""
    import jax
    import jax.numpy as jnp

    ratio = -0.5 * terms @ (jnp.exp(-2 * log_scales) - 1) - (terms > 0) @ log_scales
    return jax.nn.softmax(ratio.reshape(-1)).reshape(ratio.shape) * ratio.size
