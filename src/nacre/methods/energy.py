"""EnergyGAN (Zhao et al., 2017) and SteinGAN (Wang and Liu, 2016), without privacy: to compare.

The energy of a row is how far an autoencoder is from giving it back.  EnergyGAN's generator lowers
the energy of its rows.  SteinGAN's follows Stein's variational gradient, which also keeps its rows
apart.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, final

from nacre.methods.gan import SLOPE, AbstractGAN
from nacre.methods.settings import setting
from nacre.nets.layers import AbstractLayer, mlp
from nacre.nets.vector import FARTHEST

if TYPE_CHECKING:
    from nacre.methods.adversary import Judge
    from nacre.nets.vector import RowVector
    from nacre.rows import AbstractEncoder


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractEnergyGAN(AbstractGAN):
    """What the two share: a critic that is an autoencoder."""

    proof: ClassVar[str] = "none: not private"
    data: ClassVar[frozenset[str]] = frozenset({"table"})
    private: ClassVar[bool] = False

    critic_steps: int = setting(4000, "steps of the energy", low=1, high=10**6)
    critic_batch: int = setting(128, "rows of a step, about", low=1, high=10**6)
    code: int = setting(16, "how many numbers the energy's autoencoder keeps", low=1, high=4096)
    critic_clip: float = setting(100.0, "of a row's gradient", low=1e-6, high=1e6)
    critic_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)
    generator_rate: float = setting(0.001, "Adam's learning rate", low=1e-6, high=1)

    @abc.abstractmethod
    def doubt(self) -> Callable[[Any], Any]:
        """Of a score, minus the energy: what the energy lowers for generated rows."""

    def label(self, encoder: AbstractEncoder) -> None:
        """None: a label is a column like others."""
        return

    def critic_layers(self, vector: RowVector) -> tuple[AbstractLayer, ...]:
        """From a row's vector to itself, through a code."""
        return mlp(vector.width, self.critic, self.code, self.critic, vector.width, slope=SLOPE)

    def judge(self, vector: RowVector, see: Any) -> Judge:
        """An autoencoder whose score is minus the squared error of what it gives back."""
        import jax.numpy as jnp
        import optax

        from nacre.methods.adversary import Judge

        return Judge(
            layers=self.critic_layers(vector),
            see=see,
            rule=optax.adam(self.critic_rate, b1=0.5),
            clip=self.critic_clip,
            made=self.doubt(),
            score=lambda outputs, x: -jnp.sum((given_back(vector, outputs) - x) ** 2, axis=-1),
        )

    def generator_layers(
        self, encoder: AbstractEncoder, vector: RowVector
    ) -> tuple[AbstractLayer, ...]:
        """Dense."""
        return self.dense_layers(vector)


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class EnergyGAN(AbstractEnergyGAN):
    """Settings of EnergyGAN, which is not private; all of them public constants."""

    title: ClassVar[str] = "EnergyGAN"
    paper: ClassVar[str] = "Zhao et al. (2017), Energy-based GAN, arXiv:1609.03126"
    summary: ClassVar[str] = "a GAN whose critic is an autoencoder's error; not private"
    cost: ClassVar[str] = "60 s on Adult"

    margin: float = setting(10.0, "energy beyond which a row is not pushed", low=1e-6, high=1e6)

    def doubt(self) -> Callable[[Any], Any]:
        """[margin - energy]_+."""
        import jax

        return lambda score: jax.nn.relu(self.margin + score)


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class SteinGAN(AbstractEnergyGAN):
    """Settings of SteinGAN, which is not private; all of them public constants."""

    title: ClassVar[str] = "SteinGAN"
    paper: ClassVar[str] = "Wang and Liu (2016), Learning to Draw Samples, arXiv:1611.01722"
    summary: ClassVar[str] = "a generator that follows Stein's gradient of an energy; not private"

    discount: float = setting(0.7, "by which generated rows count less", low=0, high=1)

    def doubt(self) -> Callable[[Any], Any]:
        """(1 - discount) of the score, as in the paper."""
        return lambda score: (1 - self.discount) * score

    def aim(self) -> Any:
        """Rows are moved along Stein's direction, and the generator after them."""
        return toward_stein


def given_back(vector: RowVector, outputs: Any) -> Any:
    """What an autoencoder makes of a row: as rows are, but numbers bent to where they end.

    Cut off there, the farthest corner would be given back exactly, with no slope to leave it by.
    """
    import jax.numpy as jnp

    if vector.scale is None:
        return vector.chances(outputs)
    numbers = FARTHEST * jnp.tanh(outputs[..., : vector.numbers] / FARTHEST)
    return jnp.concatenate([numbers, vector.chances(outputs)[..., vector.numbers :]], axis=-1)


def toward_stein(critic: Judge, judge: Any, made: Any) -> Any:
    """A loss whose slope at generated rows is minus Stein's variational direction.

    phi(x_i) = mean_j [k(x_j, x_i) grad log p(x_j) + grad_{x_j} k(x_j, x_i)], log p = the score up
    to a constant, k a Gaussian kernel whose squared width is the median squared distance of the
    generated rows over the logarithm of their number: all of it is public.
    """
    import jax
    import jax.numpy as jnp

    rows = jax.lax.stop_gradient(made)
    slopes = jax.grad(lambda x: critic.scored(judge, x).sum())(rows)
    squares = jnp.sum((rows[:, None] - rows[None]) ** 2, axis=-1)
    width = jnp.median(squares) / jnp.log(len(rows) + 1.0) + 1e-6
    kernel = jnp.exp(-squares / width)
    # The sum over j of the kernel's slope in x_j is 2 / width sum_j k (x_i - x_j).
    apart = 2 / width * (rows * kernel.sum(1, keepdims=True) - kernel @ rows)
    direction = (kernel @ slopes + apart) / len(rows)
    return -jnp.sum(made * jax.lax.stop_gradient(direction)) / len(rows)
