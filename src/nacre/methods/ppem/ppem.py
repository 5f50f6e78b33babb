"""PPEM (Privacy-Preserving Energy-Based Generative Models): energies, and columns to be hidden.

A marginal energy and generator learn the protected columns x', a conditional pair the others, x*,
given x'.  A penalty on the marginal energy asks that a level-alpha test tell the energy's density
from the data (alpha-LMDP).  That hides an aggregate and protects no row: it is no differential
privacy, which is bought beside it, by noise.

The paper's training with noise is unsound in three ways, each mended here: its statistic couples
the rows of a batch (here: public anchors, `stein`); its conditional generator reads x' of private
rows without noise (here: it is given generated ones); its bandwidths and standardization come from
the rows (here: from the schema, or from histograms that are paid for).
"""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, final

from nacre.errors import NacreError
from nacre.methods.method import AbstractMethod
from nacre.methods.ppem.networks import half
from nacre.methods.ppem.parts import Parts
from nacre.methods.ppem.questions import questions_of
from nacre.methods.settings import setting, settle
from nacre.schema.protected import USUAL, Protected, as_sets
from nacre.vault import Hidden

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.rows import TableEncoder
    from nacre.vault import AbstractQuestion, Adjacency, Plan, Vault


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class PPEM(AbstractMethod):
    """Settings of PPEM; all of them public constants."""

    title: ClassVar[str] = "PPEM"
    paper: ClassVar[str] = "Privacy-Preserving Energy-Based Generative Models (under review)"
    summary: ClassVar[str] = "energy models; hides the distribution of chosen columns (alpha-LMDP)"
    proof: ClassVar[str] = "subsampled Gaussian steps"
    cost: ClassVar[str] = "140 s on Adult"
    when: ClassVar[str] = "where the distribution of some columns is itself a secret"

    protect: tuple[str, ...] = setting(
        (),
        "sets of columns whose joint distribution is to be hidden, such as V1+V2@0.01,age: names "
        "joined by +, after @ the level of the test",
    )
    alpha: float = setting(USUAL, "level of sets that name none", low=1e-6, high=0.5)
    scale: Literal["classes", "quantiles", "class-moments", "moments", "schema"] = setting(
        "class-moments",
        "how numbers are standardized: by noisy moments (protected columns always), less the noisy "
        "mean of each class or not (moments), by noisy quantiles, likewise (classes, quantiles), "
        "or by the schema's bounds alone",
    )
    scale_share: float = setting(
        0.1, "share of the budget that buys the histograms for it", low=0.001, high=0.45
    )
    means_share: float = setting(
        0.2, "share of the budget that buys the means of classes", low=0.001, high=0.45
    )
    noised: Literal["both", "marginal"] = setting(
        "both",
        "which energies get noise; with 'marginal' (the paper's D.4) no whole row is protected, "
        "and epsilon has to be inf",
    )
    marginal_epsilon: float = setting(
        1.0, "what the marginal energies cost by themselves, if they alone get noise",
        low=1e-4, high=100,
    )  # fmt: skip
    marginal_delta: float = setting(1e-6, "likewise", low=1e-15, high=0.01)
    latent: int = setting(32, "how many numbers go into each generator", low=1, high=4096)
    width: int = setting(64, "of the hidden layers of all networks", low=1, high=4096)
    depth: int = setting(2, "hidden layers of each network", low=1, high=8)
    condition: Literal["plain", "sampled"] = setting(
        "plain",
        "how the generator of other columns sees the protected ones: as they are, or through a "
        "random code about them (the paper's sampling layer); that needs latent >= width / 2",
    )
    jitter: float = setting(
        0.05, "standard deviation of noise on zeros and ones, so that they have a density",
        low=0, high=1,
    )  # fmt: skip

    margin: float = setting(10.0, "m of the energies' loss", low=0, high=1e6)
    lipschitz: float = setting(1.0, "weight of the Lipschitz penalty", low=0, high=1e6)
    penalty: float = setting(
        10.0, "weight of the penalty that asks for alpha-LMDP; 0: none", low=1e-6, high=1e6,
        or_zero=True,
    )  # fmt: skip
    anchors: int = setting(64, "generated rows that the statistic compares with", low=1, high=4096)
    kernel_width: float = setting(
        1.0, "of the statistic's kernel, in roots of the number of its places", low=0.01, high=100
    )
    statistic_most: float = setting(
        2.0, "beyond which a row's part in the statistic is clipped", low=1e-3, high=1e6
    )
    statistic_share: float = setting(
        0.1, "part of a marginal step's privacy cost that the statistic takes", low=0.001, high=0.9
    )

    marginal_share: float = setting(
        0.25, "part of the steps' budget that trains the marginal energies", low=0.01, high=0.95
    )
    marginal_steps: int = setting(200, "noisy steps of the marginal energies", low=1, high=10**6)
    marginal_batch: int = setting(512, "rows of a step, about", low=1, high=10**6)
    marginal_clip: float = setting(1.0, "of a row's gradient", low=1e-6, high=1e9)
    conditional_steps: int = setting(
        500, "noisy steps of the conditional energy", low=1, high=10**6
    )
    conditional_batch: int = setting(2048, "rows of a step, about", low=1, high=10**6)
    conditional_clip: float = setting(1.0, "of a row's gradient", low=1e-6, high=1e9)
    generator_every: int = setting(
        2, "steps of an energy for each of its generator", low=1, high=10**6
    )
    energy_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)
    generator_rate: float = setting(0.0005, "Adam's learning rate", low=1e-6, high=1)
    averaging: float = setting(
        0.98, "memory of the averages of generators' weights; 0: the last", low=0, high=0.9999
    )

    def __post_init__(self) -> None:
        sets = as_sets(self.protect, self.alpha)
        object.__setattr__(self, "protect", tuple(map(str, sets)))
        settle(self)
        if self.condition == "sampled" and self.latent < half(self.width):
            raise NacreError(
                f"condition='sampled' needs at least width // 2 = {half(self.width)} latent "
                f"numbers, got {self.latent}."
            )

    @property
    def sets(self) -> tuple[Protected, ...]:
        """The protected sets of columns."""
        return as_sets(self.protect, self.alpha)

    def hiding(self, protect: tuple[str, ...]) -> Self:
        """With the schema's sets, unless the settings name others."""
        if missing := sorted(set(protect) - set(self.protect)) if self.protect else ():
            raise NacreError(
                f"The schema protects {', '.join(missing)} and the settings do not: they name "
                f"{', '.join(self.protect)}. Name the schema's sets too, or none."
            )
        return self if self.protect else dataclasses.replace(self, protect=protect)

    @classmethod
    def as_published(cls) -> Self:
        """The paper's networks and settings, for fits without noise: no clip acts.

        Standardized by moments, bought where there is a budget.  The numbers of steps are those of
        Adult's size; the paper's are 100 epochs, of the same batches.
        """
        return cls(
            scale="moments",
            latent=128,
            width=256,
            depth=3,
            marginal_steps=25_000,
            marginal_batch=128,
            marginal_clip=1e6,
            conditional_steps=25_000,
            conditional_batch=128,
            conditional_clip=1e6,
            generator_every=5,
            energy_rate=0.001,
            generator_rate=0.0005,
            averaging=0.0,
        )

    @classmethod
    def without_noise(cls) -> Self:
        """For fits without noise: no clip acts, and more, smaller steps are taken."""
        return cls(
            marginal_batch=128,
            marginal_clip=1e5,
            conditional_steps=3000,
            conditional_batch=128,
            conditional_clip=1e5,
            averaging=0.99,
        )

    def small(self) -> Self:
        """A few steps of narrow networks."""
        return dataclasses.replace(
            self,
            latent=4,
            width=8,
            depth=1,
            anchors=4,
            marginal_steps=4,
            marginal_batch=64,
            conditional_steps=4,
            conditional_batch=64,
        )

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """Histograms for standardizing, or the number of rows; then the energies' steps."""
        return questions_of(self, encoder, rows)

    def parts(self, encoder: TableEncoder) -> Parts:
        """Which columns are x' and x*."""
        return Parts.of(encoder.layout, self.sets)

    @property
    def partly(self) -> bool:
        """Whether the marginal energies alone get noise."""
        return self.noised == "marginal"

    @property
    def by_class(self) -> bool:
        """Whether the mean of each class is taken off, if the label is not protected."""
        return self.scale in ("classes", "class-moments")

    @property
    def protected(self) -> tuple[Hidden, ...]:
        """The protected sets, unless there is no penalty that asks for anything."""
        sets = self.sets if self.penalty else ()
        return tuple(Hidden(one.columns, one.alpha) for one in sets)

    def check(self, *, delta: float | None, rows: int | None) -> None:
        """Refuse a delta with which publishing one row of the table would be allowed."""
        if not self.sets:
            warnings.warn(
                "PPEM is there to hide the joint distribution of some columns, and none is named: "
                "nothing is hidden beyond single rows. Say which, by protect=[('age', 'job')] or "
                "--set protect=age+job; or choose another method, such as Mosaic.",
                stacklevel=2,
            )
        given = self.marginal_delta if self.partly else delta
        if given is not None and rows is not None and given >= 1 / rows:
            raise NacreError(
                f"delta={given:g} is not below 1/{rows:,}, one over the number of rows: a "
                "mechanism that publishes a whole row at random would pass. The paper's "
                f"delta = 1/n is refused; take {0.1 / rows:.0e} or less. Nothing was spent."
            )

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Standardize, train the marginal pair, then the conditional one."""
        from nacre.methods.ppem.learn import learn

        return learn(self, vault, plan, key=key)
