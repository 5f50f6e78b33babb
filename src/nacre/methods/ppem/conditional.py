"""Phase 2 of PPEM: the energy of x* given x', and the generator of x* given x'."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from nacre.methods.ppem.energies import Energy, between, hinge
from nacre.methods.ppem.networks import conditional_energy, conditional_layers
from nacre.methods.ppem.phase import Draws, Rules, at_turn, descended, draws, made_count, rules_of
from nacre.methods.ppem.scaling import Scaling
from nacre.nets.descent import begin, move
from nacre.nets.layers import AbstractLayer, run
from nacre.vault import Program

if TYPE_CHECKING:
    from nacre.methods.ppem.generator import Net
    from nacre.methods.ppem.parts import Parts
    from nacre.methods.ppem.ppem import PPEM


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ConditionalPhase:
    """What is asked of a row, and what is learnt from the noisy sums.

    Releases:
        a step: the sum over a Poisson batch of the clipped gradients of each row's own loss: the
        energy of its x*, and that of an x* generated for *its* x', which is a function of the row.

    Sensitivity:
        add-remove `conditional_clip`, whatever the row.  No network here has a batch norm.

    Public:
        the generator's steps, as it is given x' of the marginal generator there, never a row's:
        the paper gives it real x', which would have to be paid for.

    Attributes:
        method: the settings.
        parts: the two parts of a row.
        scaling: of numbers; public, or bought.
        marginal: the frozen generator of x'; of no layers where x' is empty.
        expected: how many rows a batch has, about.
    """

    method: PPEM
    parts: Parts
    scaling: Scaling
    marginal: Net
    expected: float

    @cached_property
    def layers(self) -> tuple[AbstractLayer, ...]:
        """Of the generator."""
        return conditional_layers(self.method, self.parts)

    @cached_property
    def energy(self) -> Energy:
        """Of x* and x'."""
        return conditional_energy(self.method, self.parts)

    @cached_property
    def rules(self) -> Rules:
        """The optimizers."""
        return rules_of(self.method)

    def program(self, first: Any, rng: np.random.Generator) -> Program:
        """What the vault runs; `first` are the generator's first weights, `rng` the energy's."""
        start = self.energy.start(rng)
        return Program(
            state={
                "energy": start,
                "rule": self.rules.energy.init(ravel_pytree(start)[0]),
                "writer": begin(first, self.rules.generator),
                "step": jnp.zeros((), jnp.int32),
            },
            prepare=lambda state, key: {
                "energy": state["energy"],
                "writer": state["writer"]["weights"],
            },
            per_row=(self._gradient,),
            update=self._update,
        )

    def _fakes(self, weights: Any, condition: Any, drawn: Draws) -> Any:
        """Generated x* (n, d) for each x' of `condition`."""
        rest = self.parts.rest
        inputs = jnp.concatenate([drawn.latent, condition], axis=1)
        made = rest.made(run(self.layers, weights, inputs, jnp), drawn.latent, drawn.codes)
        return rest.jittered(made, self.method.jitter * drawn.noise)

    def _conditions(self, drawn: Draws) -> Any:
        """x' of the marginal generator."""
        hidden = self.parts.hidden
        if not hidden.width:
            return jnp.zeros((len(drawn.latent), 0))
        outputs = run(self.marginal.layers, self.marginal.arrays, drawn.latent, jnp)
        made = hidden.made(outputs, drawn.latent, drawn.codes)
        return hidden.jittered(made, self.method.jitter * drawn.noise)

    def _gradient(self, shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        (hidden, rest), method = self.parts, self.method
        drawn = draws(key, 1, method.latent, 1 + 2 * rest.width + hidden.width)
        share, *noises = jnp.split(drawn.noise[0], np.cumsum([1, rest.width, rest.width]).tolist())
        x = rest.jittered(rest.of(row, self.scaling), method.jitter * noises[0])
        condition = hidden.jittered(hidden.of(row, self.scaling), method.jitter * noises[2])
        drawn = drawn._replace(noise=noises[1][None])
        made = self._fakes(shared["writer"], condition[None], drawn)
        point = between(x, made[0], jax.scipy.special.ndtr(share[0]))

        def loss(weights: Any) -> Any:
            real, fake, middle = (
                jnp.concatenate([part, condition]) for part in (x, made[0], point)
            )
            steep = self.energy.steepness(weights, middle, moving=rest.width)
            asked = hinge(self.energy(weights, fake), method.margin)
            return self.energy(weights, real) + asked + method.lipschitz * steep

        return jax.grad(loss)(shared["energy"])

    def _write(self, state: Any, weights: Any, key: Any) -> Any:
        (hidden, rest), method = self.parts, self.method
        first, second = jax.random.split(key)
        count = made_count(method.conditional_batch)
        condition = self._conditions(draws(first, count, method.latent, hidden.width))
        drawn = draws(second, count, method.latent, rest.width)

        def loss(own: Any) -> Any:
            made = jnp.concatenate([self._fakes(own, condition, drawn), condition], axis=1)
            return jnp.mean(self.energy(weights, made))

        slope = jax.grad(loss)(state["weights"])
        return move(state, slope, self.rules.generator, method.averaging)

    def _update(self, state: Any, sums: Any, key: Any) -> Any:
        weights, inner = descended(self.rules.energy, sums[-1], self.expected, state)
        step = state["step"] + 1
        writer = at_turn(
            step,
            self.method.generator_every,
            lambda own: self._write(own, weights, key),
            state["writer"],
        )
        return {"energy": weights, "rule": inner, "writer": writer, "step": step}
