"""DP-MERF (Harder, Adamczewski and Park, 2021): match a private mean embedding.

One release where the paper composes C + 1: random Fourier features of the numbers and one-hot
codes, by class, with the class counts in the same sum.  Beyond the paper: a generator whose
embedding is exact, and Gaussian kernels of several widths, on one or two numbers each, at once.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np

from nacre.errors import NacreError
from nacre.methods.codes import code_questions, learn_on_codes
from nacre.methods.frequencies import draw, scale_questions
from nacre.methods.matching import AbstractMatching
from nacre.methods.minibatch.steps import step_questions
from nacre.methods.modes import see
from nacre.methods.nearest import fit_to
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting
from nacre.methods.targets import make_targets
from nacre.nets.vector import RowVector
from nacre.rows import AbstractEncoder, TableEncoder
from nacre.schema import Code, Layout
from nacre.vault import Adjacency, Bound, Segment, Steps, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import FourierFeatures, Frequencies
    from nacre.nets.generator import AbstractGenerator
    from nacre.nets.match import TargetWaves
    from nacre.vault import AbstractQuestion, Plan, Sums, Vault


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class MERF(AbstractMatching):
    """Settings of DP-MERF; all of them public constants."""

    title: ClassVar[str] = "DP-MERF"
    paper: ClassVar[str] = "Harder, Adamczewski and Park (2021), DP-MERF, AISTATS"
    summary: ClassVar[str] = "matches a private mean embedding of the table"
    proof: ClassVar[str] = "one Gaussian sum"
    cost: ClassVar[str] = "10 s on Adult"
    data: ClassVar[frozenset[str]] = frozenset({"table", "image"})
    when: ClassVar[str] = "numbers by class; the paper's kernel"

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
    release: Literal["once", "minibatch"] = setting(
        "once", "the embedding once, or afresh for each Poisson batch of rows, as for its images"
    )
    sample: int = setting(
        1000, "rows of the table in a step, about, with release='minibatch'", low=1, high=10**8
    )
    counts: float = setting(
        0.05, "share of the budget for the class counts, likewise", low=0.001, high=0.9
    )
    recall: int = setting(
        3000,
        "steps that follow, likewise, on the mean of all noisy embeddings; 0: none",
        low=0,
        high=10**6,
    )
    target_frequencies: int = setting(
        8,
        "of a numeric label's Fourier features, by which codes are asked for",
        low=1,
        high=1000,
    )
    target_scale: float = setting(
        6.0, "of those frequencies, the label being in [0, 1]", low=0.001, high=1000
    )
    constant: float = setting(
        0.0, "c of the label kernel y.y' + c in the network's loss", low=0, high=1000
    )

    # Wider than for the other methods, which read rows and not codes.
    projection: Literal["none", "random", "pca", "autoencoder"] = setting(  # type: ignore[assignment]
        "none",
        "what frequencies on whole rows see of them: all, random directions, private PCA's, or "
        "the codes of a private autoencoder",
    )
    dimensions: int = setting(
        16, "how many directions a projection has, or numbers a code", low=1, high=10_000
    )
    projection_share: float = setting(
        0.2,
        "of the budget that buys the covariance for private PCA, or trains the autoencoder",
        low=0.001,
        high=0.9,
    )
    steps: int = setting(
        0,
        "of Adam; 0: 3,000 for a mixture, 8,000 for a network, 2,000 for one that makes codes",
        low=2,
        high=10**6,
        or_zero=True,
    )
    encoder_hidden: tuple[int, ...] = setting(
        (60,), "widths of the autoencoder's hidden layers before the code", low=1, high=4096
    )
    decoder_hidden: tuple[int, ...] = setting((60,), "and after it", low=1, high=4096)
    code_hidden: tuple[int, ...] = setting(
        (), "of the code generator; (): two layers as wide as the encoded row", low=1, high=4096
    )
    separation: float = setting(
        0.1, "weight of the loss that keeps the codes of classes apart", low=0, high=1000
    )
    margin: float = setting(
        5.0, "how near a code is to be to its own class, and how far from others", low=0, high=1000
    )
    autoencoder_steps: int = setting(600, "noisy steps of the autoencoder", low=1, high=10**6)
    autoencoder_batch: int = setting(256, "rows of a step, about", low=1, high=10**6)
    autoencoder_clip: float = setting(0.05, "of a row's gradient", low=1e-6, high=1e6)
    autoencoder_rate: float = setting(0.005, "Adam's learning rate", low=1e-6, high=1)

    @classmethod
    def as_published(cls) -> Self:
        """The paper's own system: a network, one Gaussian kernel on all numbers, 1,000 features."""
        return cls(
            generator="network",
            frequencies_on="row",
            frequencies=500,
            blocks=1,
            scale=1.0,
            latent=10,
            layers="dense",
            balance="class",
            recall=0,
        )

    @classmethod
    def with_autoencoder(cls) -> Self:
        """The paper's form for wide rows, made private: codes are matched in place of rows."""
        return cls(generator="network", frequencies_on="row", projection="autoencoder")

    def small(self) -> Self:
        """Few frequencies, components and steps; narrow networks."""
        return dataclasses.replace(
            AbstractMatching.small(self),
            encoder_hidden=(8,),
            decoder_hidden=(8,),
            code_hidden=(8, 8),
            autoencoder_steps=4,
            autoencoder_batch=64,
            recall=min(self.recall, 5),
        )

    def __post_init__(self) -> None:
        AbstractMatching.__post_init__(self)
        if self.projection == "autoencoder":
            if self.generator != "network":
                raise NacreError("projection='autoencoder' needs generator='network'.")
            if self.bandwidth or self.modes:
                raise NacreError(
                    "bandwidth and modes must be 0 with an autoencoder: they are of rows, and what "
                    "is matched are codes. Set `scale` instead."
                )
        bought = self.bandwidth or self.modes or self.projection != "none"
        if self.release == "minibatch" and (bought or self.generator == "mixture"):
            raise NacreError(
                "release='minibatch' needs generator='network', and no bandwidth, modes or "
                "projection."
            )

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """The embedding by class, and the class counts; before it what scales it, if bought."""
        return self._suited(encoder)._questions(encoder, adjacency, rows)

    def _questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        self.check_classes(encoder)
        if self.release == "minibatch":
            return self._by_steps(encoder, rows)
        if self.projection == "autoencoder":
            return code_questions(self, encoder, adjacency, rows)
        return self._once(encoder, adjacency, rows)

    def _suited(self, encoder: AbstractEncoder) -> Self:
        """Decided by the kind of data; steps that have their own noise are fewer, and smaller."""
        if self.projection == "autoencoder":  # of codes, whatever they are made of
            return dataclasses.replace(self, scale=self.scale or 1.0).suited(encoder)
        if self.release == "once":
            return self.suited(encoder)
        if self.generator == "auto" and encoder.kind == "table":
            raise NacreError("release='minibatch' needs generator='network'.")
        return self.suited(encoder, steps=2000, rate=0.005)

    def _by_steps(self, encoder: TableEncoder, rows: int | None) -> tuple[Sum, Steps]:
        """The class counts, and a noisy embedding for each batch of rows."""
        vector = RowVector(encoder.layout, encoder.place(encoder.label))
        if not vector.width:
            raise NacreError(f"{self.title} needs a column beside the label.")
        waves = 2 * self.count(rows, vector.classes) if vector.numbers else 0
        return step_questions(
            encoder,
            vector.classes * (waves + vector.width - vector.numbers),
            "mean features of the row",
            counts=self.counts,
            steps=self.steps,
            batch=self.sample,
            rows=rows,
        )

    def _once(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        """One release of all of it."""
        label = encoder.label
        first = (
            *self.mode_questions(encoder),
            *scale_questions(self, self.seen(encoder), range(len(encoder.layout.numbers))),
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

        layout, label, place = self.seen(encoder), encoder.label, encoder.place(encoder.label)
        segments = []
        if layout.numbers:
            count = self.count(rows, label.classes if label else 1)
            norm = feature_norm(count)
            segments.append(Segment(size=2 * count, norm=norm, weight=1 / norm))
        codes = [code for other, code in enumerate(layout.codes) if other != place]
        if codes:
            segments.append(self._code_segment(encoder, codes))
        # Under replace-one a count of weight 1 costs nothing more.
        count_weight = 1.0 if adjacency is Adjacency.REPLACE_ONE else 0.35
        return Bound(segments=tuple(segments), by=label, count=count_weight)

    def _code_segment(self, encoder: TableEncoder, codes: list[Code]) -> Segment:
        """One-hot codes; with a numeric label, each times the label's cosines and sines.

        Sensitivity: a code has one one, so K codes have norm sqrt(K), times that of the waves.
        """
        from nacre.embed.fourier import feature_norm

        width, norm = sum(code.size for code in codes), math.sqrt(len(codes))
        if encoder.target is None:
            return Segment(size=width, norm=norm, signed=False, weight=1 / norm)
        waves = self.target_frequencies + 1  # with frequency zero, for the codes alone
        norm *= feature_norm(waves)
        return Segment(size=2 * waves * width, norm=norm, weight=1 / norm)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Release the embedding once, then fit the generator to it; or train by minibatches."""
        return self._suited(vault.encoder)._learn(vault, plan, key=key)

    def _learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        from nacre.embed.fourier import FourierFeatures

        if self.release == "minibatch":
            return self._learn_by_steps(vault, plan, key=key)
        if self.projection == "autoencoder":
            return learn_on_codes(self, vault, plan, key=key)
        rng = public_rng(key)
        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        layout, label = self.seen(encoder), encoder.place(encoder.label)
        *first, question = self._once(encoder, plan.adjacency, plan.rows)
        searched = len(self.mode_questions(encoder))
        split = self.find_split(vault, first[:searched])
        columns, fourier, by = range(len(layout.numbers)), None, None
        if layout.numbers:
            count = question.bound.segments[0].size // 2
            fourier = FourierFeatures(
                draw(self, vault, first[searched:], split, columns, count, rng)
            )
        hot = len(layout.codes) > (encoder.label is not None)
        if hot and encoder.target is not None:
            by = FourierFeatures(self._target_frequencies(layout, encoder.target, rng))
        sums = vault.sum(question, see(split, _features(layout, label, fourier, by)))
        frequencies = fourier.frequencies if fourier else None
        return fit_to(
            self,
            vault,
            make_targets(sums, frequencies, hot=hot and by is None, waves=by is not None),
            frequencies,
            columns,
            split=split,
            target=None if by is None else _target_waves(sums, by.frequencies, encoder.target or 0),
            constant=self.constant,
            codes_by_label=by is None,
            rng=rng,
            key=key,
        )

    def _learn_by_steps(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Train on a fresh noisy embedding of each batch of rows, the frequencies being fixed."""
        from nacre.methods.minibatch.features import FixedEmbedding
        from nacre.methods.minibatch.recall import learn_features

        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        vector, rng = RowVector(encoder.layout, encoder.place(encoder.label)), public_rng(key)
        questions = self._by_steps(encoder, plan.rows)
        frequencies = None
        if vector.numbers:
            columns = range(vector.numbers)
            count = self.count(plan.rows, vector.classes)
            matrix = draw(self, vault, (), None, columns, count, rng).matrix
            frequencies = matrix.reshape(count, -1)[:, : vector.numbers].astype(np.float32)
        features = FixedEmbedding(frequencies, vector.numbers, len(vector.blocks))
        return learn_features(
            self,
            vault,
            plan,
            vector,
            questions,
            features,
            recall=self.recall,
            each=max(self.batch // vector.classes, 8),
            rng=rng,
            key=key,
        )

    def _target_frequencies(
        self, layout: Layout, target: int, rng: np.random.Generator
    ) -> Frequencies:
        """Zero and some random frequencies of the target alone."""
        from nacre.embed.fourier import Frequencies, column_offsets

        count = self.target_frequencies + 1
        matrix = np.zeros((1, count, int(column_offsets(layout)[-1])))
        matrix[0, 1:, target] = rng.normal(size=count - 1) * self.target_scale
        return Frequencies(matrix, np.full((count, 1), target), layout)


def _features(
    layout: Layout, label: int | None, fourier: FourierFeatures | None, by: FourierFeatures | None
) -> Any:
    """Fourier features of the numbers and one-hot codes of one row, the label left out.

    The codes are multiplied by the waves of a numeric label, if it has any.
    """
    import jax.numpy as jnp

    sizes = [(p, code.size) for p, code in enumerate(layout.codes) if p != label]

    def features(row: Any) -> Any:
        parts = [] if fourier is None else [fourier(row)]
        waves = None if by is None else by(row)
        for place, size in sizes:
            hot = (row.codes[place] == jnp.arange(size, dtype=jnp.int32)).astype(jnp.int32)
            parts.append(hot if waves is None else (waves[:, None] * hot).reshape(-1))
        return jnp.concatenate(parts)

    return features


def _target_waves(sums: Sums, frequencies: Frequencies, target: int) -> TargetWaves:
    """The released codes by the target's waves, as means: they are the sums' last stretch."""
    import jax.numpy as jnp

    from nacre.exact import AMPLITUDE
    from nacre.histograms.cells import layout_cells
    from nacre.nets.match import TargetWaves

    layout, count = frequencies.layout, frequencies.count
    sizes = [code.size for code in layout.codes]
    last = sums.values[0, -2 * count * sum(sizes) :] / AMPLITUDE / max(sums.total, 1.0)
    ends = np.cumsum([2 * count * size for size in sizes])[:-1]
    # Sines come first, for each code by itself.
    by_code = [part.reshape(2, count, -1)[::-1] for part in np.split(last, ends)]
    values = frequencies.matrix[0, :, target]
    number, cells = layout.numbers[target], layout_cells(layout)[target]
    moved = cells.transform(values, number.ticks).reshape(count, cells.size).T
    return TargetWaves(
        waves=jnp.asarray(np.concatenate(by_code, axis=2), jnp.float32),
        frequencies=jnp.asarray(values, jnp.float32),
        transforms=jnp.asarray(np.stack([moved.real, moved.imag]), jnp.float32),
        number=target,
    )
