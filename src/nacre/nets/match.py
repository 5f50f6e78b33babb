"""Losses that match released mean features: of a mixture in closed form, of a network by batches.

Features are cosines and sines at public frequencies and one-hot codes, by class.  All of it is
post-processing of one release.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from nacre.nets.characteristic import MixtureCharacteristic
from nacre.nets.logits import MixtureLogits
from nacre.nets.trained import TableNetwork
from nacre.nets.waves import cosine_sine, expected_wave, sum_of_tiles, tiles

Balance = Literal["precision", "class", "share"]
SHRUNK = 1e-9  # of a variance, where nothing is noisy


class Targets(eqx.Module):
    """What was released, as means over all rows.

    Attributes:
        real: mean cosines (blocks, width, classes); None without frequencies.
        imaginary: mean sines, likewise.
        hot: shares of the one-hot places, (classes, places); None if they were not asked for.
        prior: the share of each class, (classes,).
        total: the noisy number of rows.
        noise: the standard deviations of a sum of sines, of a share's sum and of a class count,
            in rows.
    """

    real: jax.Array | None
    imaginary: jax.Array | None
    hot: jax.Array | None
    prior: jax.Array
    total: jax.Array
    noise: tuple[jax.Array, jax.Array, jax.Array]

    def variance(self, kind: int) -> jax.Array:
        """Of a mean: that of its noise, and half a row's as the rows are a sample."""
        return (self.noise[kind] / self.total) ** 2 + 0.5 / self.total


class Critic(eqx.Module):
    """PEARL's critic: how much each frequency counts.

    Attributes:
        terms: each frequency's square by coordinate, over its variance, 0 where the frequency does
            not touch it: (blocks, width, coordinates); None for weights that are free.
    """

    terms: jax.Array | None

    def __call__(self, logs: Any, block: Any) -> Any:
        """The weights of a block's frequencies, of mean one over all blocks.

        With terms, the density ratio of frequencies whose scales were multiplied by exp(logs) to
        those that were drawn; without, exp(logs) itself.
        """
        ratio = logs
        if self.terms is not None:
            ratio = -0.5 * self.terms @ (jnp.exp(-2 * logs) - 1) - (self.terms > 0) @ logs
        return (jax.nn.softmax(ratio.reshape(-1)).reshape(ratio.shape) * ratio.size)[block]


class TargetWaves(eqx.Module):
    """One-hot codes times cosines and sines of a numeric target: a kernel on both (DP-MERF).

    Attributes:
        waves: released means of the codes times cosines, then sines: (2, frequencies, places).
        frequencies: of the target in [0, 1], in radians; the first is 0, for the codes alone.
        transforms: the cosines' and sines' means over the cells of the target, for a mixture:
            (2, cells, frequencies).
        number: the target's place among the numbers.
    """

    waves: jax.Array
    frequencies: jax.Array
    transforms: jax.Array
    number: int = eqx.field(static=True)

    def of_mixture(self, columns: list[jax.Array], numbers: int, weights: jax.Array) -> jax.Array:
        """How far a mixture is off, squared: the components are independent within."""
        codes = jnp.concatenate(columns[numbers:], axis=1)
        mine = columns[self.number]
        joint = weights.sum(0)[:, None] * codes
        found = jnp.stack([(mine @ part).T @ joint for part in self.transforms])
        return _squared(found - self.waves)

    def of_rows(self, rows: jax.Array, numbers: int) -> jax.Array:
        """How far generated rows are off, squared, over the frequencies."""
        phases = rows[:, self.number, None] * self.frequencies
        waves = jnp.stack(cosine_sine(phases))
        found = jnp.einsum("wnl,nh->wlh", waves, rows[:, numbers:]) / len(rows)
        return _squared(found - self.waves) / len(self.frequencies)


class MixtureMatch(eqx.Module):
    """Minus twice the log posterior of a mixture.

    Errors over their variances for frequencies (weighted by the critic), one-hot codes and class
    shares, and the components' Gaussian prior.
    """

    targets: Targets
    characteristic: MixtureCharacteristic | None
    critic: Critic | None
    target: TargetWaves | None
    shrinkage: float = eqx.field(static=True)
    numbers: int = eqx.field(static=True)

    def __call__(self, model: MixtureLogits, logs: Any, step: Any, key: Any) -> Any:
        """The loss on the step's block of frequencies."""
        targets, weights = self.targets, model.weights()
        label = weights.sum(1)
        error = _squared(label - targets.prior) / targets.variance(2)
        if targets.hot is not None and (given := model.label_columns()):
            shares = label[:, None] * jnp.concatenate(given, 1)
            error += _squared(shares - targets.hot) / targets.variance(1)
        if self.characteristic is not None:
            blocks = len(targets.real)  # type: ignore[arg-type]
            block = step % blocks
            tables = model.some(self.characteristic.groups)
            a, b = self.characteristic(tables, weights, block)
            real, imaginary = targets.real[block], targets.imaginary[block]  # type: ignore[index]
            wave = jnp.sum((a - real) ** 2 + (b - imaginary) ** 2, axis=1)
            if self.critic is not None:
                wave = self.critic(logs, block) * wave
            error += blocks * wave.sum() / targets.variance(0)
        if self.target is not None:
            off = self.target.of_mixture(model.columns(), self.numbers, weights)
            error += off / targets.variance(1)
        return error + self.shrinkage * model.complexity()


class NetworkMatch(eqx.Module):
    """The squared distance between released and generated mean features, class by class.

    A row is taken before its categories are drawn, and its features are their expectation, in
    closed form: so the network is trained on what it will output on average, without sampling.

    Attributes:
        targets: what was released.
        matrix: the frequencies over the places of the row's vector, (blocks, width, d), or None.
        critic: that weights the frequencies, or None.
        target: codes by a numeric target, or None.
        batch: how many rows are generated a step.
        balance: how classes are weighted: by how well their means are known ('precision'), all
            alike ('class'), or by the square of their shares ('share').
        constant: c of the label kernel y.y' + c: adds the distance of the means over all classes.
    """

    targets: Targets
    matrix: jax.Array | None
    critic: Critic | None
    target: TargetWaves | None
    batch: int = eqx.field(static=True)
    balance: Balance = eqx.field(static=True)
    constant: float = eqx.field(static=True)

    def __call__(self, model: TableNetwork, logs: Any, step: Any, key: Any) -> Any:
        """The loss on the step's block of frequencies, and rows that are generated afresh."""
        targets, vector = self.targets, model.vector
        classes = len(targets.prior)
        each = max(self.batch // classes, 8)
        rows = model.chances(jnp.repeat(jnp.arange(classes), each), key)
        error = jnp.zeros(())
        if self.matrix is not None:
            block = step % len(self.matrix)
            chosen = jnp.ones(self.matrix.shape[1])
            if self.critic is not None:
                chosen = self.critic(logs, block)
            released = (targets.real[block], targets.imaginary[block])  # type: ignore[index]
            own, (frequencies, *both) = tiles((chosen, (self.matrix[block], *released)), len(rows))
            # Cut into blocks here, not tile by tile.
            fixed = (jax.vmap(vector.factors)(frequencies), *both)
            # As a function of its own: bound methods of two traces are equal, their arrays are not.
            part = partial(self._waves)
            error += sum_of_tiles(part, vector.parts(rows), own, fixed) / len(chosen)
        if targets.hot is not None:
            hot = rows[:, vector.numbers :].reshape(classes, each, -1)
            error += self._weighed(hot, targets.hot, 1) / len(vector.blocks)
        if self.target is not None:
            error += self.target.of_rows(rows, vector.numbers) / len(vector.blocks)
        return error

    def _waves(self, parts: Any, chosen: Any, tile: Any) -> Any:
        """What some frequencies add to the loss."""
        factors, *released = tile
        classes, error = len(self.targets.prior), jnp.zeros(())
        for wave, target in zip(expected_wave(parts, factors), released, strict=True):
            found = wave.reshape(classes, -1, len(chosen))
            error += self._weighed(found, target.T, 0, chosen)
        return error

    def _weighed(self, found: Any, joint: Any, kind: int, chosen: Any = 1.0) -> Any:
        """`distance` with what the network's loss is set to."""
        return distance(self.targets, found, joint, kind, self.balance, self.constant, chosen)


def distance(
    targets: Targets,
    found: Any,
    joint: Any,
    kind: int,
    balance: Balance,
    constant: float,
    chosen: Any = 1.0,
) -> Any:
    """Squared distances to the released means, weighted by class, and added up.

    `found` are features of generated rows (classes, each, places), `joint` the released ones
    (classes, places), over all rows; `kind` says which noise they have, `chosen` how much each
    place counts.
    """
    prior = targets.prior
    wanted = joint / prior[:, None]
    if balance == "class":
        weights = jnp.ones_like(prior)
    elif balance == "share":
        weights = prior**2
    else:
        rows = targets.total * prior
        weights = 1 / ((targets.noise[kind] / rows) ** 2 + 0.5 / rows + SHRUNK)
    mean = sum_rows(found) / found.shape[1]
    squares = squares_apart(found) + wanted**2 - 2 * mean * wanted
    error = jnp.sum(weights / weights.sum() * jnp.sum(chosen * squares, axis=1))
    if constant:
        error += constant * jnp.sum(chosen * (prior @ (mean - wanted)) ** 2)
    return error


def square_apart(found: Any) -> Any:
    """The squared length of a mean, without bias, from features (classes, each, places)."""
    return jnp.sum(squares_apart(found), axis=1)


def squares_apart(found: Any) -> Any:
    """The square of each place of a mean, without bias: (classes, places).

    The mean of f_i f_j over pairs of different rows: a row with itself would add its own square.
    """
    each = found.shape[1]
    return (sum_rows(found) ** 2 - sum_rows(found**2)) / (each * (each - 1))


def sum_rows(found: Any) -> Any:
    """Sums over the rows of a class, (classes, each, places) to (classes, places).

    By a matrix product: on a CPU a sum over an axis that is not the last is several times slower,
    and so is what its slope is multiplied with.
    """
    classes, each, _ = found.shape
    own = np.repeat(np.eye(classes, dtype=np.float32), each, axis=1)
    return jnp.asarray(own) @ found.reshape(classes * each, -1)


def _squared(values: Any) -> jax.Array:
    return jnp.sum(jnp.square(values))
