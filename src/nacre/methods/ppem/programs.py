"""What PPEM asks of a row in each of its two phases, and what it learns from the noisy sums."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from nacre.methods.adversary import FAKES
from nacre.methods.ppem.energies import Ensemble, between, hinge
from nacre.methods.ppem.parts import Parts
from nacre.methods.ppem.ppem import PPEM
from nacre.methods.ppem.scaling import Scaling
from nacre.methods.ppem.stein import Anchors, Statistic, score_of, stein_value
from nacre.nets.descent import begin, descend, move
from nacre.nets.layers import AbstractLayer, run
from nacre.vault import Program

Layers = tuple[AbstractLayer, ...]


class Draws(NamedTuple):
    """What rows are made from, at random.

    Attributes:
        latent: normal numbers that go into a network, (n, latent).
        noise: normal numbers for zeros and ones, (n, width).
        codes: a key for categories.
    """

    latent: Any
    noise: Any
    codes: Any


def draws(key: Any, count: int, latent: int, width: int) -> Draws:
    """Normal numbers in one draw, as each call of a random generator takes long to compile."""
    first, codes = jax.random.split(key)
    drawn = jax.random.normal(first, (count, latent + width))
    return Draws(drawn[:, :latent], drawn[:, latent:], codes)


def marginal_program(
    method: PPEM,
    parts: Parts,
    scaling: Scaling,
    ensemble: Ensemble,
    statistic: Statistic,
    first: Any,
    *,
    expected: float,
    rng: np.random.Generator,
) -> Program:
    """Phase 1: the energies of x' and the generator of x'.

    Releases:
        a step, on one Poisson batch: for each energy (A, B) = sum_i (w_i, w_i^2), where w_i is row
        i's bounded Stein value against public anchors; then, given these, the sum of the rows'
        clipped gradients.

    Sensitivity:
        add-remove sqrt(2 K) for the sums of K energies, as |w| <= 1, and `marginal_clip` for the
        gradients, whatever the row.  Both stages are one event of the Poisson-subsampled Gaussian
        with 1/sigma^2 = 2 K / s1^2 + C^2 / s2^2.

    Public:
        generated rows, and so the anchors and the loss of generated rows; `expected`, the number
        of rows of a batch; the generator's steps.

    Args:
        method: the settings.
        parts: which columns are x'.
        scaling: of numbers; public, or bought.
        ensemble: the energies.
        statistic: how S is formed.
        first: the generator's first weights.
        expected: how many rows a batch has, about.
        rng: for the energies' first weights.
    """
    hidden = parts.hidden
    rules = _rules(method)
    layers, count = method.marginal_layers(parts), _made(method.marginal_batch)

    def make(weights: Any, drawn: Draws) -> Any:
        made = hidden.made(run(layers, weights, drawn.latent, jnp), drawn.latent, drawn.codes)
        return hidden.jittered(made, method.jitter * drawn.noise)

    def prepare(state: Any, key: Any) -> Any:
        weights, made = state["energy"], state["made"]
        anchors = []
        for energy, own in zip(ensemble.energies, weights, strict=True):
            points = energy.seen(made[: method.anchors])
            scores = jax.vmap(score_of(lambda x, e=energy, w=own: e(w, x)))(points)
            anchors.append(Anchors(points, scores))

        def loss(weights: Any) -> Any:
            return jnp.mean(ensemble.asked(weights, made, method.margin))

        return {
            "weights": weights,
            "made": made,
            "anchors": anchors,
            "center": jax.grad(loss)(weights),
        }

    def values(weights: Any, anchors: Any, x: Any) -> Any:
        """w of one row for each energy, (K,)."""
        found = []
        for energy, own, near in zip(ensemble.energies, weights, anchors, strict=True):
            seen = energy.seen(x)
            score = score_of(lambda x, e=energy, w=own: e(w, x))(seen)
            width = method.kernel_width * float(np.sqrt(len(energy.places)))
            found.append(statistic.bounded(stein_value(seen, score, near, width)))
        return jnp.stack(found)

    def see(row: Any, drawn: Any) -> Any:
        return hidden.jittered(hidden.of(row, scaling), method.jitter * drawn[2:])

    def draw(key: Any) -> Any:
        """Of one row: for the line's point and end, and for zeros and ones."""
        return jax.random.normal(key, (2 + hidden.width,))

    def sums(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        x = see(row, draw(key))
        found = values(shared["weights"], shared["anchors"], x)
        return jnp.stack([found, found**2], axis=1)

    def gradient(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        drawn = draw(key)
        x, (share, place) = see(row, drawn), jax.scipy.special.ndtr(drawn[:2])
        other = jnp.minimum((place * count).astype(jnp.int32), count - 1)
        point = between(x, shared["made"][other], share)

        def loss(weights: Any) -> Any:
            total = ensemble.total(weights, x)
            total = total + method.lipschitz * ensemble.steepness(weights, point)
            if not earlier:
                return total
            by_total, by_squares = statistic.slopes(earlier[0])
            found = values(weights, shared["anchors"], x)
            return total + jnp.sum(by_total * found + by_squares * found**2)

        # The public loss of generated rows is taken off before the clip: what rows and generated
        # rows have in common, most of a gradient, then takes no part of it.
        return jax.tree.map(jnp.add, jax.grad(loss)(shared["weights"]), shared["center"])

    def write(state: Any, weights: Any, drawn: Draws) -> Any:
        def loss(own: Any) -> Any:
            return jnp.mean(ensemble.total(weights, make(own, drawn)))

        return move(state, jax.grad(loss)(state["weights"]), rules[1], method.averaging)

    def update(state: Any, sums: Any, key: Any) -> Any:
        drawn = draws(key, count, method.latent, hidden.width)
        energy, inner = _descended(rules[0], sums[-1], expected, state)
        step = state["step"] + 1
        writer = jax.lax.cond(
            step % method.generator_every == 0,
            lambda own: write(own, energy, drawn),
            lambda own: own,
            state["writer"],
        )
        made = make(writer["weights"], drawn)
        return {"energy": energy, "rule": inner, "writer": writer, "made": made, "step": step}

    energy = ensemble.start(rng)
    drawn = draws(jax.random.key(int(rng.integers(2**31))), count, method.latent, hidden.width)
    return Program(
        state={
            "energy": energy,
            "rule": rules[0].init(ravel_pytree(energy)[0]),
            "writer": begin(first, rules[1]),
            "made": jax.jit(make)(first, drawn),
            "step": jnp.zeros((), jnp.int32),
        },
        prepare=prepare,
        per_row=(sums, gradient) if method.penalty else (gradient,),
        update=update,
    )


def conditional_program(
    method: PPEM,
    parts: Parts,
    scaling: Scaling,
    given: tuple[Layers, Any],
    first: Any,
    *,
    expected: float,
    rng: np.random.Generator,
) -> Program:
    """Phase 2: the energy of x* given x', and the generator of x* given x'.

    Releases:
        a step: the sum over a Poisson batch of the clipped gradients of each row's own loss: the
        energy of its x*, and that of an x* generated for *its* x', which is a function of the row.

    Sensitivity:
        add-remove `conditional_clip`, whatever the row.  No network here has a batch norm.

    Public:
        the generator's steps, as it is given x' of the marginal generator there, never a row's:
        the paper gives it real x', which would have to be paid for.

    Args:
        method: the settings.
        parts: the two parts of a row.
        scaling: of numbers; public, or bought.
        given: the marginal generator's layers and frozen arrays; none where x' is empty.
        first: the generator's first weights.
        expected: how many rows a batch has, about.
        rng: for the energy's first weights.
    """
    hidden, rest = parts
    rules, energy = _rules(method), method.conditional_energy(parts)
    layers, count = method.conditional_layers(parts), _made(method.conditional_batch)

    def fakes(weights: Any, condition: Any, drawn: Draws) -> Any:
        """Generated x* (n, d) for each x' of `condition`."""
        inputs = jnp.concatenate([drawn.latent, condition], axis=1)
        made = rest.made(run(layers, weights, inputs, jnp), drawn.latent, drawn.codes)
        return rest.jittered(made, method.jitter * drawn.noise)

    def conditions(drawn: Draws) -> Any:
        """x' of the marginal generator."""
        if not hidden.width:
            return jnp.zeros((count, 0))
        outputs = run(given[0], given[1], drawn.latent, jnp)
        made = hidden.made(outputs, drawn.latent, drawn.codes)
        return hidden.jittered(made, method.jitter * drawn.noise)

    def gradient(shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        drawn = draws(key, 1, method.latent, 1 + 2 * rest.width + hidden.width)
        share, *noises = jnp.split(drawn.noise[0], np.cumsum([1, rest.width, rest.width]).tolist())
        x = rest.jittered(rest.of(row, scaling), method.jitter * noises[0])
        condition = hidden.jittered(hidden.of(row, scaling), method.jitter * noises[2])
        drawn = drawn._replace(noise=noises[1][None])
        made = fakes(shared["writer"], condition[None], drawn)
        point = between(x, made[0], jax.scipy.special.ndtr(share[0]))

        def loss(weights: Any) -> Any:
            real, fake, middle = (
                jnp.concatenate([part, condition]) for part in (x, made[0], point)
            )
            steep = energy.steepness(weights, middle, moving=rest.width)
            asked = hinge(energy(weights, fake), method.margin)
            return energy(weights, real) + asked + method.lipschitz * steep

        return jax.grad(loss)(shared["energy"])

    def write(state: Any, weights: Any, key: Any) -> Any:
        first, second = jax.random.split(key)
        condition = conditions(draws(first, count, method.latent, hidden.width))
        drawn = draws(second, count, method.latent, rest.width)

        def loss(own: Any) -> Any:
            made = jnp.concatenate([fakes(own, condition, drawn), condition], axis=1)
            return jnp.mean(energy(weights, made))

        return move(state, jax.grad(loss)(state["weights"]), rules[1], method.averaging)

    def update(state: Any, sums: Any, key: Any) -> Any:
        weights, inner = _descended(rules[0], sums[-1], expected, state)
        step = state["step"] + 1
        writer = jax.lax.cond(
            step % method.generator_every == 0,
            lambda own: write(own, weights, key),
            lambda own: own,
            state["writer"],
        )
        return {"energy": weights, "rule": inner, "writer": writer, "step": step}

    start = energy.start(rng)
    return Program(
        state={
            "energy": start,
            "rule": rules[0].init(ravel_pytree(start)[0]),
            "writer": begin(first, rules[1]),
            "step": jnp.zeros((), jnp.int32),
        },
        prepare=lambda state, key: {
            "energy": state["energy"],
            "writer": state["writer"]["weights"],
        },
        per_row=(gradient,),
        update=update,
    )


def _rules(method: PPEM) -> tuple[Any, Any]:
    """The optimizers of energies and generators."""
    return (
        optax.adam(method.energy_rate, b1=0.5, b2=0.9),
        optax.adam(method.generator_rate, b1=0.5, b2=0.9),
    )


def _descended(rule: Any, sums: Any, expected: float, state: Any) -> tuple[Any, Any]:
    """The energies after a step on the noisy mean gradient."""
    mean = jax.tree.map(lambda value: value / expected, sums)
    return descend(rule, mean, state["rule"], state["energy"])


def _made(batch: int) -> int:
    """How many rows are generated a step: as many as a batch has, within reason."""
    return min(max(batch, 16), FAKES)
