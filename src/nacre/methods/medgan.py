"""medGAN (Choi et al., 2017), without privacy: a GAN that writes codes for an autoencoder.

It is DP-auto-GAN's ancestor and is built from the same parts: the autoencoder first, then a critic
by its cross-entropy, and a generator whose steps move the decoder, too.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from nacre.methods.autogan.autogan import AutoGAN
from nacre.methods.method import AbstractMethod
from nacre.methods.settings import setting, settle
from nacre.nets.layers import LARGEST

if TYPE_CHECKING:
    from nacre.nets.generator import AbstractGenerator
    from nacre.rows import TableEncoder
    from nacre.vault import AbstractQuestion, Adjacency, Plan, Vault

CLIP = 100.0  # of a row's gradient: there is no noise that a smaller one would save


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class MedGAN(AbstractMethod):
    """Settings of medGAN, which is not private; all of them public constants."""

    title: ClassVar[str] = "medGAN"
    paper: ClassVar[str] = "Choi et al. (2017), Generating Multi-label Records, arXiv:1703.06490"
    summary: ClassVar[str] = "a GAN that writes codes for an autoencoder's decoder; not private"
    proof: ClassVar[str] = "none: not private"
    cost: ClassVar[str] = "70 s on Adult"
    when: ClassVar[str] = "to see what noise costs"
    private: ClassVar[bool] = False

    hidden: int = setting(
        0, "width of the autoencoder's hidden layers; 0: none", low=1, high=4096, or_zero=True
    )
    code: int = setting(128, "how many numbers a row is encoded as", low=1, high=4096)
    latent: int = setting(128, "how many numbers go into the generator", low=1, high=4096)
    blocks: int = setting(2, "residual blocks of the generator", low=1, high=8)
    critic: int = setting(256, "width of the critic, then half of it", low=1, high=4096)
    autoencoder_steps: int = setting(2000, "steps of the autoencoder", low=1, high=10**6)
    autoencoder_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)
    critic_steps: int = setting(3000, "steps of the critic", low=1, high=10**6)
    critic_rate: float = setting(0.0005, "RMSProp's learning rate", low=1e-6, high=1)
    generator_every: int = setting(
        1, "steps of the critic for each of the generator", low=1, high=10**6
    )
    generator_rate: float = setting(0.0005, "RMSProp's learning rate", low=1e-6, high=1)
    batch: int = setting(128, "rows of a step, about", low=1, high=10**6)
    averaging: float = setting(
        0.95, "memory of the averages of weights; 0: the last weights", low=0, high=0.9999
    )

    def __post_init__(self) -> None:
        settle(self)

    def small(self) -> Self:
        """A few steps of narrow networks."""
        return dataclasses.replace(
            self, code=4, latent=6, blocks=1, critic=8, autoencoder_steps=4, critic_steps=4
        )

    @property
    def parts(self) -> AutoGAN:
        """The same as settings of DP-auto-GAN, which does the work."""
        return AutoGAN(
            loss="entropy",
            codes="tanh",
            hidden=self.hidden,
            code=self.code,
            latent=self.latent,
            blocks=self.blocks,
            critic=self.critic,
            autoencoder_steps=self.autoencoder_steps,
            autoencoder_batch=self.batch,
            autoencoder_clip=CLIP,
            autoencoder_rate=self.autoencoder_rate,
            critic_steps=self.critic_steps,
            critic_batch=self.batch,
            critic_clip=CLIP,
            critic_rate=self.critic_rate,
            critic_clamp=LARGEST,
            generator_every=self.generator_every,
            generator_rate=self.generator_rate,
            averaging=self.averaging,
        )

    def questions(
        self, encoder: TableEncoder, adjacency: Adjacency, rows: int | None
    ) -> tuple[AbstractQuestion, ...]:
        """Those of its parts, which are answered without noise."""
        return self.parts.questions(encoder, adjacency, rows)

    def learn(self, vault: Vault, plan: Plan, *, key: Any) -> AbstractGenerator:
        """Train the autoencoder, then critic and generator through its decoder."""
        return self.parts.learn(vault, plan, key=key)
