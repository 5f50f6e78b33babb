"""PEARL (Liew, Takahashi and Ueno, 2022): match a private characteristic function.

One release of the class-wise empirical characteristic function at public random frequencies; a
generator is then fitted to it for as long as one likes, against a critic that re-weights the
frequencies.  Beyond the paper: frequencies touch one or two columns each (the same sensitivity,
far less blur), and the generator is a mixture of products, whose characteristic function is exact.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np

from nacre.errors import NacreError
from nacre.methods.frequencies import draw, scale_questions
from nacre.methods.matching import AbstractMatching
from nacre.methods.modes import see
from nacre.methods.nearest import fit_to
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting
from nacre.methods.targets import make_targets
from nacre.rows import TableEncoder
from nacre.vault import Adjacency, Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.nets.generator import AbstractGenerator
    from nacre.nets.match import Critic
    from nacre.nets.minimize import Adversary
    from nacre.vault import Plan, Vault


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class PEARL(AbstractMatching):
    """Settings of PEARL; all of them public constants."""

    title: ClassVar[str] = "PEARL"
    paper: ClassVar[str] = "Liew, Takahashi and Ueno (2022), PEARL, ICLR"
    summary: ClassVar[str] = "matches a private characteristic function of the table"
    proof: ClassVar[str] = "one Gaussian sum"
    cost: ClassVar[str] = "20 s on Adult"
    data: ClassVar[frozenset[str]] = frozenset({"table", "image"})
    when: ClassVar[str] = "pairs of columns without cells; the paper's critic"

    critic: Literal["auto", "off", "scale", "free"] = setting(
        "auto",
        "what re-weights the frequencies: nothing, a scale by coordinate, free weights; auto: "
        "nothing for a mixture, a scale for a network",
    )
    critic_every: int = setting(5, "steps between two of the critic", low=1, high=10**6)
    critic_rate: float = setting(0.01, "the critic's learning rate", low=0, high=1)
    critic_box: float = setting(
        math.log(1.5), "how far from zero its logarithms may go", low=0, high=10
    )

    @classmethod
    def as_published(cls) -> Self:
        """The paper's own system: a network, frequencies on whole rows, a bought bandwidth."""
        return cls(
            generator="network",
            frequencies_on="row",
            frequencies=1000,
            blocks=1,
            scale=1.0,
            bandwidth=0.1,
            latent=10,
            layers="convolutions",
            critic="scale",
            critic_every=10,
        )

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        """One sum: the characteristic function by class, and the class counts."""
        return self.suited(encoder)._questions(encoder, adjacency, rows)

    def _questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        from nacre.embed.fourier import feature_norm
        from nacre.exact import AMPLITUDE
        from nacre.nets.mixture_fit import free_columns

        self.check_classes(encoder)
        label = encoder.label
        count = self.count(rows, label.classes if label else 1)
        norm = feature_norm(count)
        # Under replace-one a count as large as the features costs nothing more.
        weight = 1.0 if adjacency is Adjacency.REPLACE_ONE else 0.25
        bound = Bound(segments=(Segment(size=2 * count, norm=norm),), by=label, count=weight * norm)
        meaning = f"{count:,} cosines and sines of the row" + (
            f" for each value of '{label.name}', and how many rows have it" if label else ""
        )
        layout = self.seen(encoder)
        columns = free_columns(layout, encoder.place(encoder.label))
        first = (*self.mode_questions(encoder), *scale_questions(self, layout, columns))
        last = Sum(
            name="characteristic function",
            bound=bound,
            share=1.0 - sum(question.share for question in first),
            unit=AMPLITUDE,
            meaning=meaning,
        )
        return (*first, last)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Release the characteristic function once, then fit the generator to it."""
        return self.suited(vault.encoder)._learn(vault, plan, key=key)

    def _learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        from nacre.embed.fourier import FourierFeatures
        from nacre.nets.mixture_fit import free_columns

        rng = public_rng(key)
        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        columns = free_columns(self.seen(encoder), encoder.place(encoder.label))
        if not columns:
            raise NacreError("PEARL needs a column beside the label.")
        *first, question = self._questions(encoder, plan.adjacency, plan.rows)
        searched = len(self.mode_questions(encoder))
        split = self.find_split(vault, first[:searched])
        drawn = draw(self, vault, first[searched:], split, columns, question.bound.size // 2, rng)
        features = FourierFeatures(drawn)
        sums = vault.sum(question, see(split, features))
        frequencies = features.frequencies
        critic, adversary = self._critic(frequencies, columns, images=encoder.kind == "image")
        return fit_to(
            self,
            vault,
            make_targets(sums, frequencies),
            frequencies,
            columns,
            split=split,
            critic=critic,
            adversary=adversary,
            rng=rng,
            key=key,
        )

    def _critic(
        self, frequencies: Frequencies, columns: Sequence[int], *, images: bool
    ) -> tuple[Critic | None, Adversary | None]:
        """The critic, and how it is trained."""
        import jax.numpy as jnp

        from nacre.nets.match import Critic
        from nacre.nets.minimize import Adversary

        kind = self.critic
        if kind == "auto":
            # A mixture's means are exact: no batch hides an error that a critic would have to find.
            kind = "off" if self.generator == "mixture" else "scale"
        if kind == "off":
            return None, None
        terms, shape = None, frequencies.matrix.shape[:2]
        if kind == "scale":
            by_place = self.frequencies_on == "row"
            terms = (_place_terms if by_place else _column_terms)(frequencies, columns)
            shape = terms.shape[2:]
        return Critic(None if terms is None else jnp.asarray(terms)), Adversary(
            start=jnp.zeros(shape),
            rate=self.critic_rate,
            every=self.critic_every,
            # With a scale a pixel, a weight is a product of as many ratios.
            box=self.critic_box / (math.sqrt(len(columns)) if images and terms is not None else 1),
        )


def _place_terms(frequencies: Frequencies, columns: Sequence[int]) -> Any:
    """Each frequency's square by place of the row, over the variance that it was drawn with."""
    parts = [frequencies.of(column) for column in columns]
    square = np.concatenate(parts, axis=2) ** 2
    return (square / max(square.mean(), 1e-12)).astype(np.float32)


def _column_terms(frequencies: Frequencies, columns: Sequence[int]) -> Any:
    """Each frequency's square by column, over the column's mean; 0 where it is not touched."""
    blocks, width, _ = frequencies.matrix.shape
    terms = np.zeros((blocks, width, len(columns)), np.float32)
    for place, column in enumerate(columns):
        touching = (frequencies.support == column).any(axis=1)
        if touching.any():
            square = (frequencies.of(column) ** 2).mean(axis=-1)
            terms[:, touching, place] = square / max(square.mean(), 1e-12)
    return terms
