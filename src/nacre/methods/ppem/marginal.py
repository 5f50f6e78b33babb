"""Phase 1 of PPEM: the energies of x' and the generator of x'."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from nacre.methods.ppem.energies import Ensemble, between
from nacre.methods.ppem.networks import marginal_layers
from nacre.methods.ppem.phase import Draws, Rules, at_turn, descended, draws, made_count, rules_of
from nacre.methods.ppem.scaling import Scaling
from nacre.methods.ppem.stein import Anchors, Statistic, score_of, stein_value
from nacre.nets.descent import begin, move
from nacre.nets.layers import AbstractLayer, run
from nacre.vault import Program

if TYPE_CHECKING:
    from nacre.methods.ppem.parts import Parts
    from nacre.methods.ppem.ppem import PPEM


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class MarginalPhase:
    """What is asked of a row, and what is learnt from the noisy sums.

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

    Attributes:
        method: the settings.
        parts: which columns are x'.
        scaling: of numbers; public, or bought.
        ensemble: the energies.
        statistic: how S is formed.
        expected: how many rows a batch has, about.
    """

    method: PPEM
    parts: Parts
    scaling: Scaling
    ensemble: Ensemble
    statistic: Statistic
    expected: float

    @cached_property
    def layers(self) -> tuple[AbstractLayer, ...]:
        """Of the generator."""
        return marginal_layers(self.method, self.parts)

    @cached_property
    def rules(self) -> Rules:
        """The optimizers."""
        return rules_of(self.method)

    def program(self, first: Any, rng: np.random.Generator) -> Program:
        """What the vault runs; `first` are the generator's first weights, `rng` the energies'."""
        energy = self.ensemble.start(rng)
        drawn = self._draws(jax.random.key(int(rng.integers(2**31))))
        return Program(
            state={
                "energy": energy,
                "rule": self.rules.energy.init(ravel_pytree(energy)[0]),
                "writer": begin(first, self.rules.generator),
                "made": jax.jit(self._make)(first, drawn),
                "step": jnp.zeros((), jnp.int32),
            },
            prepare=self._prepare,
            per_row=(self._sums, self._gradient) if self.method.penalty else (self._gradient,),
            update=self._update,
        )

    # -- generated rows, all of it public ------------------------------------------------------

    @property
    def _count(self) -> int:
        return made_count(self.method.marginal_batch)

    def _draws(self, key: Any) -> Draws:
        return draws(key, self._count, self.method.latent, self.parts.hidden.width)

    def _make(self, weights: Any, drawn: Draws) -> Any:
        hidden = self.parts.hidden
        outputs = run(self.layers, weights, drawn.latent, jnp)
        made = hidden.made(outputs, drawn.latent, drawn.codes)
        return hidden.jittered(made, self.method.jitter * drawn.noise)

    def _prepare(self, state: Any, key: Any) -> Any:
        weights, made = state["energy"], state["made"]
        anchors = []
        for energy, own in zip(self.ensemble.energies, weights, strict=True):
            points = energy.seen(made[: self.method.anchors])
            scores = jax.vmap(score_of(lambda x, e=energy, w=own: e(w, x)))(points)
            anchors.append(Anchors(points, scores))

        def loss(weights: Any) -> Any:
            return jnp.mean(self.ensemble.asked(weights, made, self.method.margin))

        center = jax.grad(loss)(weights)
        return {"weights": weights, "made": made, "anchors": anchors, "center": center}

    # -- of one row ----------------------------------------------------------------------------

    def _draw(self, key: Any) -> Any:
        """For the line's point and end, and for zeros and ones."""
        return jax.random.normal(key, (2 + self.parts.hidden.width,))

    def _see(self, row: Any, drawn: Any) -> Any:
        hidden = self.parts.hidden
        return hidden.jittered(hidden.of(row, self.scaling), self.method.jitter * drawn[2:])

    def _values(self, weights: Any, anchors: Any, x: Any) -> Any:
        """w of one row for each energy, (K,)."""
        found = []
        for energy, own, near in zip(self.ensemble.energies, weights, anchors, strict=True):
            seen = energy.seen(x)
            score = score_of(lambda x, e=energy, w=own: e(w, x))(seen)
            width = self.method.kernel_width * float(np.sqrt(len(energy.places)))
            found.append(self.statistic.bounded(stein_value(seen, score, near, width)))
        return jnp.stack(found)

    def _sums(self, shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        x = self._see(row, self._draw(key))
        found = self._values(shared["weights"], shared["anchors"], x)
        return jnp.stack([found, found**2], axis=1)

    def _gradient(self, shared: Any, earlier: Any, row: Any, key: Any) -> Any:
        drawn, count = self._draw(key), self._count
        x, (share, place) = self._see(row, drawn), jax.scipy.special.ndtr(drawn[:2])
        other = jnp.minimum((place * count).astype(jnp.int32), count - 1)
        point = between(x, shared["made"][other], share)

        def loss(weights: Any) -> Any:
            total = self.ensemble.total(weights, x)
            total = total + self.method.lipschitz * self.ensemble.steepness(weights, point)
            if not earlier:
                return total
            by_total, by_squares = self.statistic.slopes(earlier[0])
            found = self._values(weights, shared["anchors"], x)
            return total + jnp.sum(by_total * found + by_squares * found**2)

        # The public loss of generated rows is taken off before the clip: what rows and generated
        # rows have in common, most of a gradient, then takes no part of it.
        return jax.tree.map(jnp.add, jax.grad(loss)(shared["weights"]), shared["center"])

    # -- of the noisy sums ---------------------------------------------------------------------

    def _write(self, state: Any, weights: Any, drawn: Draws) -> Any:
        def loss(own: Any) -> Any:
            return jnp.mean(self.ensemble.total(weights, self._make(own, drawn)))

        slope = jax.grad(loss)(state["weights"])
        return move(state, slope, self.rules.generator, self.method.averaging)

    def _update(self, state: Any, sums: Any, key: Any) -> Any:
        drawn = self._draws(key)
        energy, inner = descended(self.rules.energy, sums[-1], self.expected, state)
        step = state["step"] + 1
        writer = at_turn(
            step,
            self.method.generator_every,
            lambda own: self._write(own, energy, drawn),
            state["writer"],
        )
        made = self._make(writer["weights"], drawn)
        return {"energy": energy, "rule": inner, "writer": writer, "made": made, "step": step}
