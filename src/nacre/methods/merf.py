"""DP-MERF (Harder, Adamczewski and Park, 2021): match a private mean embedding.

One release where the paper composes C + 1: random Fourier features of the numbers and one-hot
codes, by class, with the class counts in the same sum.  Beyond the paper: a generator whose
embedding is exact, and Gaussian kernels of several widths, on one or two numbers each, at once.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.methods.matching import AbstractMatching, label_place, make_targets, public_rng, see
from nacre.methods.settings import setting
from nacre.rows import TableEncoder
from nacre.schema import Layout
from nacre.vault import Adjacency, Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import FourierFeatures
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import Plan, Vault


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class MERF(AbstractMatching):
    """Settings of DP-MERF; all of them public constants."""

    title: ClassVar[str] = "DP-MERF"
    paper: ClassVar[str] = "Harder, Adamczewski and Park (2021), DP-MERF, AISTATS"
    summary: ClassVar[str] = "matches a private mean embedding of the table"

    frequencies: int = setting(
        1000,
        "of the numbers' Fourier features; rounded down to a multiple of `blocks`",
        low=1,
        high=100_000,
    )
    blocks: int = setting(
        4, "into which they are split; a step uses one block", low=1, high=100_000
    )
    pairs: float = setting(
        0.7, "part of the frequencies that touch two numbers, the others touch one", low=0, high=1
    )
    constant: float = setting(
        0.0, "c of the label kernel y.y' + c in the network's loss", low=0, high=1000
    )

    @classmethod
    def as_published(cls) -> Self:
        """The paper's own system: a network, one Gaussian kernel on all numbers."""
        return cls(
            generator="network",
            frequencies_on="row",
            frequencies=1000,
            blocks=1,
            balance="class",
        )

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        """The embedding by class, and the class counts; before it the bandwidth, if bought."""
        self.check_classes(encoder)
        label = encoder.label
        first = (
            *self.mode_questions(encoder),
            *self.bandwidth_questions(self.seen(encoder), ()),
        )
        last = Sum(
            name="mean embedding",
            bound=self._bound(encoder, adjacency, rows),
            share=1.0 - sum(question.share for question in first),
            unit=1.0,
            meaning="mean features of the row"
            + (f" for each value of '{label.name}'" if label else ""),
        )
        return (*first, last)

    def _bound(self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None) -> Bound:
        """Fourier features and one-hot codes, each weighted to norm 1."""
        from nacre.embed.fourier import feature_norm

        layout, label, place = self.seen(encoder), encoder.label, label_place(encoder)
        segments = []
        if layout.numbers:
            count = self.count(rows, label.classes if label else 1)
            norm = feature_norm(count)
            segments.append(Segment(size=2 * count, norm=norm, weight=1 / norm))
        codes = [code for other, code in enumerate(layout.codes) if other != place]
        if codes:
            width, norm = sum(code.size for code in codes), math.sqrt(len(codes))
            segments.append(Segment(size=width, norm=norm, signed=False, weight=1 / norm))
        # Under replace-one a count of weight 1 costs nothing more.
        count_weight = 1.0 if adjacency is Adjacency.REPLACE_ONE else 0.35
        return Bound(segments=tuple(segments), by=label, count=count_weight)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Release the embedding once, then fit the generator to it."""
        from nacre.embed.fourier import FourierFeatures

        rng = public_rng(key)
        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        layout, label = self.seen(encoder), label_place(encoder)
        *first, question = self.questions(encoder, plan.adjacency, plan.rows)
        searched = len(self.mode_questions(encoder))
        split = self.find_split(vault, first[:searched])
        columns, fourier = range(len(layout.numbers)), None
        if layout.numbers:
            count = question.bound.segments[0].size // 2
            fourier = FourierFeatures(
                self.draw(vault, first[searched:], split, columns, count, rng)
            )
        sums = vault.sum(question, see(split, _features(layout, label, fourier)))
        frequencies = fourier.frequencies if fourier else None
        hot = len(layout.codes) > (encoder.label is not None)
        return self.fit_to(
            vault,
            make_targets(sums, frequencies, hot=hot),
            frequencies,
            columns,
            split=split,
            constant=self.constant,
            codes_by_label=True,
            rng=rng,
            key=key,
        )


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
