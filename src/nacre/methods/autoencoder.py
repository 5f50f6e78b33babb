"""An autoencoder that DP-SGD trains: what DP-auto-GAN and DP-MERF ask of rows before all else.

Encoder *and* decoder get noise.  Both papers train the encoder without, which is not private: one
row then moves the codes of all others, and with them all that is made from codes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from nacre.nets.layers import AbstractLayer, run, size
from nacre.vault import Program, Stage, Steps

FAR = 1e-6  # under the root of a squared distance, so that it has a slope everywhere


class Loss(Protocol):
    """What one row's code and its reconstruction are worth."""

    def __call__(self, outputs: Any, x: Any, code: Any, own: Any) -> Any:
        """A number, from the decoder's outputs, the row's vector, its code and its class."""


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Autoencoder:
    """Two networks and how they are trained; all of it public constants.

    A row is whatever `read` makes a vector of, so that tables and images are encoded alike.

    Attributes:
        encoder: layers from a row's vector to its code.
        decoder: layers from a code to what a vector is made of.
        loss: of one row.
        steps: noisy steps.
        batch: the expected number of rows of a step.
        clip: of a row's gradient, over encoder and decoder together.
        rate: Adam's.
        averaging: memory of the average of weights.
        random: whether the encoder stays as it was drawn, public; then nothing of it is asked.
    """

    encoder: tuple[AbstractLayer, ...]
    decoder: tuple[AbstractLayer, ...]
    loss: Loss
    steps: int
    batch: int
    clip: float
    rate: float
    averaging: float
    random: bool = False

    def question(self, share: float, rows: int | None) -> Steps:
        """What is asked: noisy gradients of all weights that are trained."""
        trained = self.decoder if self.random else (*self.encoder, *self.decoder)
        return Steps(
            name="autoencoder",
            meaning="noisy gradients of an autoencoder of rows",
            share=share,
            steps=self.steps,
            size=size(trained),
            batch=self.batch,
            stages=(Stage(clip=self.clip),),
            rows=rows,
        )

    def program(
        self,
        read: Callable[[Any], tuple[Any, Any]],
        rows: float,
        rng: np.random.Generator,
    ) -> Program:
        """Encoder and decoder (or the decoder of a random encoder) by DP-SGD.

        `read` makes of one row its vector in [0, 1]^d, and its class (zero without a label).

        Releases:
            the sum over a Poisson batch of each row's clipped gradient, with noise.

        Sensitivity:
            add-remove `clip` a step, for encoder and decoder together: the gradient of one row's
            loss, clipped as one vector.  No layer and no term of the loss sees two rows.

        Public:
            the expected number of rows of a batch, by which sums are divided.
        """
        import jax
        import jax.numpy as jnp
        import optax

        from nacre.nets.descent import begin, first_weights, move

        weights = {
            "encoder": first_weights(self.encoder, rng),
            "decoder": first_weights(self.decoder, rng),
        }
        public = weights.pop("encoder") if self.random else None
        optimizer = optax.adam(self.rate)

        def loss(weights: Any, x: Any, own: Any) -> Any:
            code = run(self.encoder, weights["encoder"] if public is None else public, x, jnp)
            return self.loss(run(self.decoder, weights["decoder"], code, jnp), x, code, own)

        def gradient(weights: Any, earlier: Any, row: Any, key: Any) -> Any:
            return jax.grad(loss)(weights, *read(row))

        def update(state: Any, sums: Any, key: Any) -> Any:
            mean = jax.tree.map(lambda value: value / min(self.batch, rows), sums[0])
            return move(state, mean, optimizer, self.averaging)

        return Program(
            state=begin(weights, optimizer),
            prepare=lambda state, key: state["weights"],
            per_row=(gradient,),
            update=update,
        )


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Anchors:
    """Keeps the codes of classes apart, row by row: public points in place of other rows.

    The paper's siamese loss compares the codes of two rows, so that one row moves the gradients of
    others.  Here a code is to be within `margin` of its own class's anchor, and at least that far
    from all others.

    Attributes:
        points: an anchor for each class, (classes, code).
        margin: how near, and how far.
    """

    points: NDArray[np.float32]
    margin: float

    def __call__(self, code: Any, own: Any) -> Any:
        """[|e - a_y| - m]_+ + sum over other classes of [m - |e - a_c|]_+."""
        import jax.numpy as jnp

        distances = jnp.sqrt(jnp.sum((code - self.points) ** 2, axis=1) + FAR)
        mine = own == jnp.arange(len(self.points), dtype=jnp.int32)
        over = distances - self.margin
        return jnp.sum(jnp.maximum(jnp.where(mine, over, -over), 0.0))


def draw_anchors(
    classes: int, code: int, margin: float, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Two margins apart, at right angles; in codes with too few places for that, about so far."""
    drawn = rng.normal(size=(classes, code))
    if classes <= code:
        drawn = np.linalg.qr(drawn.T)[0].T * math.sqrt(2)
    else:
        drawn *= classes ** (1 / code)
    return np.asarray(drawn * margin, np.float32)


def by_place(outputs: Any, x: Any) -> Any:
    """The mean cross-entropy of places in [0, 1] and sigmoids of the outputs."""
    import jax

    return (jax.nn.softplus(outputs) - x * outputs).mean()
