"""A critic that alone sees rows, against a generator that never does: what the GANs share.

With noise on its sums the critic is trained by DP-SGD; without, by SGD.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.typing import NDArray

from nacre.nets.descent import begin, clipped_mean, descend, first_weights, move
from nacre.nets.layers import LARGEST, AbstractLayer, run
from nacre.nets.vector import RowVector
from nacre.vault import Program

FAKES = 4096  # generated rows a step, at most


class Writer(Protocol):
    """What makes rows; none of it sees one."""

    def start(self, rng: np.random.Generator) -> Any:
        """First weights."""

    def draw(self, key: Any) -> tuple[Any, ...]:
        """What rows are made from, at random and public."""

    def rows(self, weights: Any, *drawn: Any) -> Any:
        """Generated rows (n, d) as the critic sees real ones, with a gradient."""


def as_it_is(score: Any) -> Any:
    """The score itself: in a Wasserstein GAN both sides are judged by it."""
    return score


def first_output(outputs: Any, x: Any) -> Any:
    """The score of a network with one output."""
    return outputs[..., 0]


def looks_real(score: Any) -> Any:
    """The log of the chance that a row is real, where the score is its log-odds."""
    return -jax.nn.softplus(-score)


def looks_made(score: Any) -> Any:
    """Minus the log of the chance that it is made."""
    return jax.nn.softplus(score)


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """A network that gives a row a score, large if it looks real, and how it is trained.

    Attributes:
        layers: from what it sees of a row to what the score is made of.
        see: what that is, of one private row.
        rule: its optimizer.
        clip: of the gradient of one row.
        clamp: the largest weight that it may have.
        real: of a score; the critic raises it for real rows, the generator for those it makes.
        made: of a score; the critic lowers it for generated rows.
        score: from the network's outputs, and what went in.
        penalty: (weights, a real row, a generated row, a key) -> what the critic lowers, too.
    """

    layers: tuple[AbstractLayer, ...]
    see: Callable[[Any], Any]
    rule: Any
    clip: float
    clamp: float = LARGEST
    real: Callable[[Any], Any] = as_it_is
    made: Callable[[Any], Any] = as_it_is
    score: Callable[[Any, Any], Any] = first_output
    penalty: Callable[[Any, Any, Any, Any], Any] | None = None

    def start(self, rng: np.random.Generator) -> Any:
        """First weights, within the clamp."""
        weights = first_weights(self.layers, rng)
        return jax.tree.map(lambda value: jnp.clip(value, -self.clamp, self.clamp), weights)

    def believed(self, weights: Any, x: Any) -> Any:
        """What is raised for real rows."""
        return self.real(self.scored(weights, x))

    def doubted(self, weights: Any, x: Any) -> Any:
        """What is lowered for generated rows."""
        return self.made(self.scored(weights, x))

    def scored(self, weights: Any, x: Any) -> Any:
        """The score of one row or of many."""
        return self.score(run(self.layers, weights, x, jnp), x)


def to_convince(critic: Judge, judge: Any, made: Any) -> Any:
    """What a generator lowers: minus what the critic believes of its rows."""
    return -critic.believed(judge, made).mean()


def adversarial_program(
    critic: Judge,
    writer: Writer,
    *,
    rule: Any,
    every: int,
    averaging: float,
    expected: float,
    rng: np.random.Generator,
    aim: Callable[[Judge, Any, Any], Any] = to_convince,
) -> Program:
    """The critic by DP-SGD; generated rows, and the generator's steps, are public.

    Releases:
        a step: the sum over the batch of gradients of what the critic says of one real row, less
        its penalty between that row and one generated row.

    Sensitivity:
        add-remove `critic.clip`, whatever the row.  The gradient for generated rows is added in
        `update`, without noise: they are made from noisy answers and public random numbers.

    Public:
        the settings, and `expected`, the number of rows of a batch, from a public or noisy count.

    Args:
        critic: the network that judges, and its training.
        writer: what makes rows.
        rule: the writer's optimizer.
        every: how many steps of the critic there are for each of the writer.
        averaging: memory of the average of the writer's weights.
        expected: how many rows a batch has, about.
        rng: for first weights.
        aim: of the critic, its weights and generated rows; the writer lowers it.
    """
    penalty = critic.penalty

    def prepare(state: Any, key: Any) -> Any:
        if penalty is None:
            return state["critic"]
        return state["critic"], writer.rows(state["writer"]["weights"], *writer.draw(key))

    def gradient(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        if penalty is None:
            return jax.grad(critic.believed)(shared, critic.see(row))
        weights, made = shared
        first, second = jax.random.split(key)
        other = made[jax.random.randint(first, (), 0, len(made))]

        def value(weights: Any, x: Any) -> Any:
            return critic.believed(weights, x) - penalty(weights, x, other, second)

        return jax.grad(value)(weights, critic.see(row))

    def write(state: Any, judge: Any, drawn: Any) -> Any:
        def loss(weights: Any) -> Any:
            return aim(critic, judge, writer.rows(weights, *drawn))

        return move(state, jax.grad(loss)(state["weights"]), rule, averaging)

    def update(state: Any, sums: Any, key: Any) -> Any:
        drawn = writer.draw(key)
        made = writer.rows(state["writer"]["weights"], *drawn)
        fake = clipped_mean(critic.doubted, state["critic"], made, critic.clip)
        slope = jax.tree.map(lambda f, real: f - real / expected, fake, sums[0])
        judge, inner = descend(critic.rule, slope, state["rule"], state["critic"], critic.clamp)
        step = state["step"] + 1
        written = jax.lax.cond(
            step % every == 0,
            lambda state: write(state, judge, drawn),
            lambda state: state,
            state["writer"],
        )
        return {"critic": judge, "rule": inner, "writer": written, "step": step}

    first = begin(writer.start(rng), rule)
    judge = critic.start(rng)
    return Program(
        state={
            "critic": judge,
            "rule": critic.rule.init(ravel_pytree(judge)[0]),
            "writer": first,
            "step": jnp.zeros((), jnp.int32),
        },
        prepare=prepare,
        per_row=(gradient,),
        update=update,
    )


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class LabeledWriter:
    """A network from latent numbers, and a label where there is one, to rows.

    Attributes:
        vector: how a row is laid out.
        layers: the network's.
        latent: how many latent numbers go in.
        shares: of the classes, (classes,); public, or noisy.
        count: how many rows a step makes.
    """

    vector: RowVector
    layers: tuple[AbstractLayer, ...]
    latent: int
    shares: NDArray[np.float64]
    count: int

    def start(self, rng: np.random.Generator) -> Any:
        """First weights."""
        return first_weights(self.layers, rng)

    def draw(self, key: Any) -> tuple[Any, Any, Any]:
        """Latent numbers, one-hot labels (no places without a label), a key for categories."""
        first, second, third = jax.random.split(key, 3)
        latents = jax.random.normal(first, (self.count, self.latent))
        if self.vector.classes == 1:
            return latents, jnp.zeros((self.count, 0)), third
        chances = jnp.log(jnp.asarray(self.shares, jnp.float32))
        classes = jax.random.categorical(second, chances, shape=(self.count,))
        return latents, jax.nn.one_hot(classes, self.vector.classes), third

    def rows(self, weights: Any, latents: Any, labels: Any, key: Any) -> Any:
        """Generated rows, each followed by the label that it was made for."""
        outputs = run(self.layers, weights, jnp.concatenate([latents, labels], axis=1), jnp)
        return jnp.concatenate([self.vector.rows(outputs, key), labels], axis=1)


def with_label(vector: RowVector, row: Any) -> Any:
    """The vector of one row, followed by its one-hot label where there is one."""
    if vector.classes == 1:
        return vector.of(row)
    hot = row.codes[vector.label] == jnp.arange(vector.classes)
    return jnp.concatenate([vector.of(row), hot.astype(jnp.float32)])
