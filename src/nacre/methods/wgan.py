"""WGAN with a gradient penalty (Gulrajani et al., 2017), without privacy: to compare with."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, final

from nacre.methods.gan import AbstractGAN
from nacre.methods.settings import setting

if TYPE_CHECKING:
    from nacre.methods.adversary import Judge
    from nacre.nets.layers import AbstractLayer
    from nacre.nets.vector import RowVector
    from nacre.rows import AbstractEncoder

FLAT = 1e-12  # under the root of a squared slope, so that it has a slope itself


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class WGAN(AbstractGAN):
    """Settings of WGAN-GP, which is not private; all of them public constants."""

    title: ClassVar[str] = "WGAN"
    paper: ClassVar[str] = "Gulrajani et al. (2017), Improved Training of WGANs, arXiv:1704.00028"
    summary: ClassVar[str] = "a Wasserstein GAN with a gradient penalty; not private"
    proof: ClassVar[str] = "none: not private"
    cost: ClassVar[str] = "90 s on Adult"
    when: ClassVar[str] = "to see what noise costs"
    data: ClassVar[frozenset[str]] = frozenset({"table"})
    private: ClassVar[bool] = False

    critic_steps: int = setting(5000, "steps of the critic", low=1, high=10**6)
    critic_batch: int = setting(128, "rows of a step, about", low=1, high=10**6)
    generator_every: int = setting(
        5, "steps of the critic for each of the generator", low=1, high=10**6
    )
    penalty: float = setting(10.0, "on a slope of the critic that is not one", low=0, high=1e4)
    critic_clip: float = setting(100.0, "of a row's gradient", low=1e-6, high=1e6)
    critic_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)
    generator_rate: float = setting(0.002, "Adam's learning rate", low=1e-6, high=1)

    def label(self, encoder: AbstractEncoder) -> None:
        """None: a label is a column like others."""
        return

    def judge(self, vector: RowVector, see: Any) -> Judge:
        """The mean score of real rows less that of generated ones, and the penalty."""
        import jax
        import jax.numpy as jnp
        import optax

        from nacre.methods.adversary import Judge
        from nacre.nets.layers import run

        layers = self.critic_layers(vector)

        def penalty(weights: Any, real: Any, made: Any, key: Any) -> Any:
            """The squared distance of the slope's norm from one, between the two rows."""
            part = jax.random.uniform(key)
            between = part * real + (1 - part) * made
            slope = jax.grad(lambda x: run(layers, weights, x, jnp)[0])(between)
            return self.penalty * (jnp.sqrt(jnp.sum(slope**2) + FLAT) - 1) ** 2

        return Judge(
            layers=layers,
            see=see,
            rule=optax.adam(self.critic_rate, b1=0.5, b2=0.9),
            clip=self.critic_clip,
            penalty=penalty,
        )

    def generator_layers(
        self, encoder: AbstractEncoder, vector: RowVector
    ) -> tuple[AbstractLayer, ...]:
        """Dense."""
        return self.dense_layers(vector)
