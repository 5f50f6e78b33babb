"""What PATE-GAN's teachers do behind the wall, and what student and generator make of the votes."""

from __future__ import annotations

from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from nacre.methods.adversary import LabeledWriter, with_label
from nacre.methods.pategan.pategan import PATEGAN
from nacre.nets.descent import begin, descend, move
from nacre.nets.layers import run, start
from nacre.nets.vector import RowVector
from nacre.vault import Ballots, Teacher

REAL = 1  # the class of votes for 'real'


@final
class School:
    """Teachers, student and generator; only teachers see rows, and only behind the wall.

    Attributes:
        method: the settings.
        vector: how a row is laid out.
    """

    def __init__(
        self,
        method: PATEGAN,
        vector: RowVector,
        shares: NDArray[np.float64],
        rng: np.random.Generator,
    ):
        self.method, self.vector, self._rng = method, vector, rng
        self._writer = LabeledWriter(
            vector=vector,
            layers=method.generator_layers(vector),
            latent=method.latent,
            shares=shares,
            count=max(method.generator_batch, method.queries),
        )

    # -- behind the wall -----------------------------------------------------------------------

    def teacher(self, capacity: int) -> Teacher:
        """Steps on rows of its own part and on generated ones; then its verdicts."""
        method, layers = self.method, self.method.teacher_layers(self.vector)
        classes, width = self.vector.classes, self.vector.classes * (self.vector.width + 1)
        rule = optax.sgd(method.teacher_rate)

        def loss(weights: Any, real: Any, made: Any) -> Any:
            believed, doubted = (run(layers, weights, x, jnp)[:, 0] for x in (real, made))
            return jnp.mean(jax.nn.softplus(-believed)) + jnp.mean(jax.nn.softplus(doubted))

        def learn(state: Any, rows: Any, valid: Any, made: Any, key: Any) -> Any:
            # Rows that there are come first; a part without any learns from places that are empty.
            most = jnp.maximum(jnp.sum(valid.astype(jnp.int32)), 1)
            shape = (method.teacher_steps, method.teacher_batch)
            places = jax.random.randint(key, shape, 0, most)

            def step(weights: Any, shown: Any) -> Any:
                places, made = shown
                drawn = jax.tree.map(lambda leaf: leaf[places], rows)
                real = self._by_label(jax.vmap(lambda row: with_label(self.vector, row))(drawn))
                slope = jax.grad(loss)(weights, real, made)
                return descend(rule, slope, rule.init(weights), weights)[0], None

            kept = jax.tree.map(lambda leaf: method.teacher_memory * leaf, state["weights"])
            weights = jax.lax.scan(step, kept, (places, made))[0]
            shown = made.reshape(-1, width)
            scores = run(layers, weights, shown, jnp)
            own = shown.reshape(-1, classes, width // classes)[:, :, -1] > 0
            middles = jnp.nan_to_num(jnp.nanmedian(jnp.where(own, scores, jnp.nan), axis=0))
            return {"weights": weights, "middles": middles}

        def predict(state: Any, query: Any) -> Any:
            score = run(layers, state["weights"], query[None], jnp)[0, 0]
            own = query.reshape(classes, -1)[:, -1]
            return (score > own @ state["middles"]).astype(jnp.int32)

        each = [self._first(layers) for _ in range(method.teachers)]
        return Teacher(
            state={
                "weights": jax.tree.map(lambda *leaves: np.stack(leaves), *each),
                "middles": np.zeros((method.teachers, classes), np.float32),
            },
            learn=learn,
            predict=predict,
            public=jnp.zeros((method.teacher_steps, method.generator_batch, width)),
            query=jnp.zeros(width),
            capacity=capacity,
        )

    # -- in front of it: everything here is public ---------------------------------------------

    def run(self, ballots: Ballots, key: Any) -> Any:
        """Hold all rounds; the average of the generator's weights."""
        method = self.method
        rules = optax.adam(method.student_rate), optax.adam(method.generator_rate, b1=0.5)
        first = self._first(method.student_layers(self.vector))
        state = {
            "student": begin(jax.tree.map(jnp.asarray, first), rules[0]),
            "writer": begin(self._start(), rules[1]),
        }
        show, study = jax.jit(self._show), jax.jit(self._study)
        made, queries = show(state["writer"]["weights"], key)
        seen = jnp.zeros((method.memory, *queries.shape))
        shares = jnp.zeros((method.memory, method.queries))
        while ballots.left:
            number = method.rounds - ballots.left
            first, second = jax.random.split(jax.random.fold_in(key, number))
            made, queries = show(state["writer"]["weights"], first)
            counts = ballots(queries, made)
            place = number % method.memory
            seen = seen.at[place].set(queries)
            shares = shares.at[place].set(jnp.asarray(counts[:, REAL] / method.teachers))
            known = jnp.arange(method.memory) <= number
            state = study(state, seen, shares, known, second)
        return state["writer"]["average"]

    def _first(self, layers: Any) -> Any:
        """Weights at random, or zero where they are linear: what rows say is then all there is."""
        weights = start(layers, self._rng)
        return jax.tree.map(np.zeros_like, weights) if len(layers) == 1 else weights

    def _start(self) -> Any:
        return self._writer.start(self._rng)

    def _rows(self, weights: Any, key: Any) -> Any:
        return self._by_label(self._writer.rows(weights, *self._writer.draw(key)))

    def _by_label(self, rows: Any) -> Any:
        """Rows, and a one, in the block of their label: so a linear judge has weights for each."""
        ones = jnp.ones((len(rows), 1))
        if self.vector.classes == 1:
            return jnp.concatenate([rows, ones], axis=1)
        x, labels = rows[:, : self.vector.width], rows[:, self.vector.width :]
        blocks = labels[:, :, None] * jnp.concatenate([x, ones], axis=1)[:, None, :]
        return blocks.reshape(len(rows), -1)

    def _show(self, weights: Any, key: Any) -> tuple[Any, Any]:
        """Generated rows that teachers learn from, a batch for each step, and some to vote on."""
        method = self.method
        *teaching, asking = jax.random.split(key, method.teacher_steps + 1)
        made = jnp.stack([self._rows(weights, each)[: method.generator_batch] for each in teaching])
        return made, self._rows(weights, asking)[: method.queries]

    def _study(self, state: Any, seen: Any, shares: Any, known: Any, key: Any) -> Any:
        """Steps of the student on votes so far, then of the generator on the student's word.

        The student's loss is linear in the share of votes, so that noise of mean zero moves its
        slope by noise of mean zero: shares are neither rounded to a majority nor clipped.
        """
        method, layers = self.method, self.method.student_layers(self.vector)
        rules = optax.adam(method.student_rate), optax.adam(method.generator_rate, b1=0.5)

        def loss(weights: Any) -> Any:
            scores = run(layers, weights, seen.reshape(-1, seen.shape[-1]), jnp)[:, 0]
            each = jax.nn.softplus(scores) - shares.reshape(-1) * scores
            return jnp.mean(jnp.repeat(known, method.queries) * each)

        def learn(_: Any, student: Any) -> Any:
            return move(student, jax.grad(loss)(student["weights"]), rules[0], 0.0)

        student = jax.lax.fori_loop(0, method.student_steps, learn, state["student"])

        def write(step: Any, writer: Any) -> Any:
            def doubt(weights: Any) -> Any:
                rows = self._rows(weights, jax.random.fold_in(key, step))
                return jnp.mean(jax.nn.softplus(-run(layers, student["weights"], rows, jnp)[:, 0]))

            return move(writer, jax.grad(doubt)(writer["weights"]), rules[1], method.averaging)

        writer = jax.lax.fori_loop(0, method.generator_steps, write, state["writer"])
        return {"student": student, "writer": writer}
