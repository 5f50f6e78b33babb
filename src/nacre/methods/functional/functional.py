"""Functional Renyi DP (Jiang, Sun and Yu, 2023): noise in the kernel's own space.

A row is the function k(x, .) of norm one; what is released of the sum of these functions has noise
with the kernel as its covariance, so that the cost does not depend on how much is read of it.  As
published the function is read at private rows, and its gradient without noise; here it is read at
generated rows only, value and slope with one joint noise (`exact`), or through fresh random
features (`features`), or once for all (`one-shot`).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

import numpy as np

from nacre.errors import NacreError
from nacre.methods.frequencies import draw
from nacre.methods.matching import AbstractMatching
from nacre.methods.minibatch.steps import learn_by_steps, step_questions
from nacre.methods.modes import see
from nacre.methods.nearest import fit_to
from nacre.methods.randomness import public_rng
from nacre.methods.settings import setting
from nacre.methods.targets import make_targets
from nacre.nets.vector import RowVector
from nacre.rows import AbstractEncoder, TableEncoder
from nacre.vault import Adjacency, Steps, Sum

if TYPE_CHECKING:
    from nacre.embed.spectrum import PairSpectrum, RowSpectrum
    from nacre.nets.generator import AbstractGenerator
    from nacre.vault import AbstractQuestion, Plan, Vault

LARGEST = 600  # numbers that `exact` reads a class: their Gram matrix is inverted at each step


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Functional(AbstractMatching):
    """Settings of the functional mechanism; all of them public constants."""

    title: ClassVar[str] = "Functional"
    paper: ClassVar[str] = "Jiang, Sun and Yu (2023), Functional Renyi DP, ICML workshop"
    summary: ClassVar[str] = "matches a function of the table in a kernel's space"
    proof: ClassVar[str] = "one Gaussian sum, or subsampled Gaussian steps"
    cost: ClassVar[str] = "16 s on Adult; by steps 250 s"
    data: ClassVar[frozenset[str]] = frozenset({"table", "image"})
    when: ClassVar[str] = "to compare kernels' own noise with features"

    release: Literal["one-shot", "features", "exact"] = setting(
        "one-shot",
        "what is read of the function: many features once, fresh ones at each step, or its values "
        "and slopes at generated rows",
    )
    steps: int = setting(
        0,
        "of Adam; 0: 3,000 for a mixture, 8,000 for a network, 1,000 where each has its own noise, "
        "100 if they are remembered",
        low=2,
        high=10**6,
        or_zero=True,
    )
    rate: float = setting(
        0.0,
        "Adam's; 0: 0.1 for a mixture, 0.01 for a network, 0.005 where each step has its own noise",
        low=1e-6,
        high=1,
        or_zero=True,
    )
    sample: int = setting(
        0,
        "rows of the table in a step, about; 0: 4,000, or 8,000 if steps are remembered; not for "
        "one-shot",
        low=1,
        high=10**8,
        or_zero=True,
    )
    recall: int = setting(
        3000,
        "steps that follow those of features, on all their noisy sums, which are remembered; 0: "
        "none",
        low=0,
        high=10**6,
    )
    points: int = setting(
        16, "generated rows a class where exact reads the function", low=2, high=LARGEST
    )
    widths: int = setting(
        1,
        "how many kernels on whole rows are averaged, each half as wide as the one before",
        low=1,
        high=10,
    )
    counts: float = setting(
        0.05,
        "share of the budget for the number of rows of each class; one-shot has them anyway",
        low=0.001,
        high=0.9,
    )
    parallel: bool = setting(False, "whether each class has a network of its own; not for one-shot")

    def __post_init__(self) -> None:
        AbstractMatching.__post_init__(self)
        if type(self.parallel) is not bool:
            raise NacreError(f"parallel must be true or false, got {self.parallel!r}.")
        if self.release == "one-shot" and self.parallel:
            raise NacreError(
                "parallel must be false with release='one-shot', which fits each class to its own "
                "sums anyway. Choose release='features' for networks by class."
            )
        bought = self.bandwidth or self.modes or self.projection != "none"
        if self.release != "one-shot" and bought:
            raise NacreError(
                f"release='{self.release}' needs bandwidth=0, modes=0 and no projection, which are "
                "for release='one-shot'. Set `scale` instead."
            )

    @classmethod
    def as_published(cls, rows: int = 60_000) -> Self:
        """The paper's schedule for one network: 200,000 steps on a thousandth of the rows each.

        Its noise multipliers (0.60, 1.95 and 8.0 for epsilon 10, 1 and 0.2) are not settings: the
        plan finds the noise.
        """
        return cls(
            release="features",
            generator="network",
            frequencies_on="row",
            frequencies=1000,
            blocks=1,
            scale=1.0,
            latent=10,
            layers="convolutions",
            balance="share",
            sample=max(1, rows // 1000),
            steps=200_000,
            rate=5e-5,
            recall=0,
        )

    @classmethod
    def as_published_by_class(cls, rows: int = 60_000) -> Self:
        """Its schedule for a network a class: 20,000 steps on a hundredth of the rows each.

        The paper's multipliers are 1.0, 5.75 and 25.
        """
        return dataclasses.replace(
            cls.as_published(), parallel=True, sample=max(1, rows // 100), steps=20_000
        )

    def small(self) -> Self:
        """Few frequencies, points, components and steps."""
        once = self.release == "one-shot"
        return dataclasses.replace(
            self,
            frequencies=40,
            blocks=min(self.blocks, 8),
            components=6,
            steps=12 if once else 3,
            batch=32,
            points=4,
            sample=50,
            recall=min(self.recall, 5),
            rate=self.rate or (0.0 if once else 0.01),
        )

    # -- questions -----------------------------------------------------------------------------

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """One sum; or the class counts, and then the steps."""
        self.check_classes(encoder)
        suited = self._suited(encoder)
        if self.release == "one-shot":
            return suited._once(encoder, adjacency, rows)
        return suited._by_steps(encoder, adjacency, rows)

    def _once(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, ...]:
        """PEARL's release, which is DP-MERF's for the product kernel on whole rows."""
        from nacre.methods.pearl import PEARL

        shared = [field.name for field in dataclasses.fields(AbstractMatching)]
        pearl = PEARL(**{name: getattr(self, name) for name in shared})
        *first, last = pearl.questions(encoder, adjacency, rows)
        return (*first, dataclasses.replace(last, name="mean embedding"))

    def _by_steps(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[Sum, Steps]:
        """The class counts, and then the steps."""
        vector = _vector(encoder)
        if self.parallel and adjacency is Adjacency.REPLACE_ONE:
            raise NacreError(
                "Networks by class cost no more than one only under add-remove, where a row is in "
                "one class: a replaced row may leave one class and enter another. Choose "
                "adjacency='add-remove', or parallel=False."
            )
        meaning = (
            "cosines and sines of the row, fresh ones at each step"
            if self.release == "features"
            else "values and slopes, at generated rows, of the rows' kernel function"
        )
        return step_questions(
            encoder,
            vector.classes * self._read(vector),
            meaning,
            counts=self.counts,
            steps=self.steps,
            batch=self.sample,
            rows=rows,
        )

    def _read(self, vector: RowVector) -> int:
        """How many numbers a step reads of a class's function."""
        if self.release == "features":
            return 2 * self._fresh
        size = self.points * (1 + vector.width)
        if size > LARGEST:
            raise NacreError(
                f"release='exact' would read {size:,} numbers a class and step, values and slopes "
                f"in {vector.width:,} places at {self.points} points; it serves up to {LARGEST}. "
                "Choose fewer points, or release='features'."
            )
        return size

    @property
    def _fresh(self) -> int:
        """The frequencies of a step: as many as one-shot uses in one."""
        return max(1, self.frequencies // self.blocks)

    # -- learning ------------------------------------------------------------------------------

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Release, and fit a generator: at once, or step by step."""
        suited = self._suited(vault.encoder)
        if self.release == "one-shot":
            return suited._learn_once(vault, plan, key=key)
        return suited._learn_by_steps(vault, plan, key=key)

    def _suited(self, encoder: AbstractEncoder) -> Self:
        """Steps that have their own noise are fewer, and smaller; fewest if they are remembered."""
        if self.release == "one-shot":
            return self.suited(encoder)
        steps, sample = (100, 8000) if self._recalls else (1000, 4000)
        suited = self.suited(encoder, steps=steps, rate=0.005)
        return dataclasses.replace(suited, sample=self.sample or sample)

    @property
    def _recalls(self) -> bool:
        return self.release == "features" and self.recall > 0

    def _learn_once(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Release many features once, then fit the generator to them."""
        from nacre.embed.fourier import FourierFeatures
        from nacre.nets.mixture_fit import free_columns

        rng = public_rng(key)
        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        columns = free_columns(self.seen(encoder), encoder.place(encoder.label))
        *first, question = self._once(encoder, plan.adjacency, plan.rows)
        searched = len(self.mode_questions(encoder))
        split = self.find_split(vault, first[:searched])
        drawn = draw(self, vault, first[searched:], split, columns, question.bound.size // 2, rng)
        if self.frequencies_on == "row":  # the kernels' bandwidths in turn
            narrower = 2.0 ** (np.arange(drawn.matrix.shape[1]) % self.widths)
            drawn = dataclasses.replace(drawn, matrix=drawn.matrix * narrower[:, None])
        features = FourierFeatures(drawn)
        sums = vault.sum(question, see(split, features))
        frequencies = features.frequencies
        targets = make_targets(sums, frequencies)
        return fit_to(self, vault, targets, frequencies, columns, split=split, rng=rng, key=key)

    def _learn_by_steps(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Count, then train on noisy sums over Poisson batches."""
        from nacre.embed.kernel import GaussianKernels
        from nacre.methods.functional.exact import exact_program
        from nacre.methods.minibatch.features import FreshWaves
        from nacre.methods.minibatch.recall import learn_features

        encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
        vector, rng = _vector(encoder), public_rng(key)
        questions = self._by_steps(encoder, plan.adjacency, plan.rows)
        if self.release == "features":
            return learn_features(
                self,
                vault,
                plan,
                vector,
                questions,
                FreshWaves(self._spectrum(encoder), self._fresh),
                recall=self.recall,
                each=max(self.batch // vector.classes, 8),
                parallel=self.parallel,
                rng=rng,
                key=key,
            )
        kernels = GaussianKernels(self._bandwidths(encoder))
        return learn_by_steps(
            self,
            vault,
            plan,
            vector,
            questions,
            lambda student, expected, key: exact_program(student, kernels, expected, key=key),
            each=self.points,
            parallel=self.parallel,
            rng=rng,
            key=key,
        )

    def _bandwidths(self, encoder: TableEncoder) -> tuple[float, ...]:
        """Of the kernels on whole rows: public guesses."""
        from nacre.embed.distance import expected_distance

        codes = [place for place, _, _ in _vector(encoder).blocks]
        widest = expected_distance(encoder.layout, codes) / self.scale
        return tuple(widest / 2**place for place in range(self.widths))

    def _spectrum(self, encoder: TableEncoder) -> PairSpectrum | RowSpectrum:
        """From which a step draws its frequencies."""
        from nacre.embed.spectrum import PairSpectrum, RowSpectrum

        vector = _vector(encoder)
        if self.frequencies_on == "row":
            return RowSpectrum(vector.width, self._bandwidths(encoder))
        sizes = [1] * vector.numbers + [width for _, _, width in vector.blocks]
        columns = np.repeat(np.arange(len(sizes)), sizes)
        return PairSpectrum(columns, vector.numbers, self.pairs, (self.low, self.high))


def _vector(encoder: TableEncoder) -> RowVector:
    return RowVector(encoder.layout, encoder.place(encoder.label))
