"""The networks while they are trained on noisy sums: all of it in front of the wall."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray

from nacre.nets.by_class import NetworksByClass
from nacre.nets.generator import AbstractGenerator
from nacre.nets.layers import AbstractLayer, mlp
from nacre.nets.minimize import Schedule
from nacre.nets.network import input_width
from nacre.nets.trained import TableNetwork, finished, table_network
from nacre.nets.vector import RowVector

Ask = Callable[[Any, Any], Any]  # (arrays, public key) -> what the coming step asks through
NARROWEST = 64  # of a hidden layer; those of DP-MERF, 4d and 2d, are narrow for few columns


class State(NamedTuple):
    """Where a step starts, all of it public.

    Attributes:
        arrays: the networks'.
        adam: Adam's.
        step: its number.
        asked: what the rows will be asked through: the key of frequencies, or points and their Gram
            matrix.
        memory: of what was released, if any is kept: `nacre.methods.minibatch.recall`.
    """

    arrays: Any
    adam: Any
    step: Any
    asked: Any
    memory: Any = ()


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Student:
    """One network for all classes, or one for each; and how rows and steps are made with them.

    Attributes:
        networks: one, or one a class.
        each: how many rows a step generates for each class.
        schedule: of Adam.
        weights: how much each class counts in the loss, (classes,), of sum one.
    """

    networks: tuple[TableNetwork, ...]
    each: int
    schedule: Schedule
    weights: NDArray[np.float32]

    @property
    def vector(self) -> RowVector:
        """What a row is."""
        return self.networks[0].vector

    def start(self, ask: Ask, key: Any) -> State:
        """Before the first step."""
        arrays = [network.network.arrays for network in self.networks]
        adam = self.schedule.descent().init(arrays)
        return State(arrays, adam, jnp.zeros((), jnp.int32), jax.jit(ask)(arrays, key))

    def rows(self, arrays: Any, key: Any) -> Any:
        """Generated rows (classes, each, d)."""
        return self._drawn(TableNetwork.rows, arrays, key)

    def chances(self, arrays: Any, key: Any) -> Any:
        """Generated rows before their categories are drawn, (classes, each, d)."""
        return self._drawn(TableNetwork.chances, arrays, key)

    def _drawn(self, draw: Callable[[TableNetwork, Any, Any], Any], arrays: Any, key: Any) -> Any:
        classes, parts = jnp.arange(self.vector.classes), []
        for place, (network, own) in enumerate(zip(self.networks, arrays, strict=True)):
            model = eqx.tree_at(lambda tree: tree.network.arrays, network, own)
            wanted = classes if len(self.networks) == 1 else classes[place : place + 1]
            drawn = draw(model, jnp.repeat(wanted, self.each), jax.random.fold_in(key, place))
            parts.append(drawn.reshape(len(wanted), self.each, -1))
        return jnp.concatenate(parts)

    def descend(self, state: State, loss: Callable[[Any], Any], ask: Ask, key: Any) -> State:
        """One step of Adam on `loss(arrays)`, a number a class; then what is asked next."""

        def total(arrays: Any) -> Any:
            return jnp.sum(self.weights * loss(arrays))

        slopes = jax.grad(total)(state.arrays)
        updates, adam = self.schedule.descent().update(slopes, state.adam, state.arrays)
        arrays = optax.apply_updates(state.arrays, updates)
        return state._replace(arrays=arrays, adam=adam, step=state.step + 1, asked=ask(arrays, key))

    def finished(
        self, state: State, shares: NDArray[np.float64], rng: np.random.Generator
    ) -> AbstractGenerator:
        """The generator, of classes with these shares."""
        parts = []
        for place, (network, own) in enumerate(zip(self.networks, state.arrays, strict=True)):
            model = eqx.tree_at(lambda tree: tree.network.arrays, network, own)
            # A batch norm is frozen at the rows that its network draws.
            own_shares = np.eye(len(shares))[place] if len(self.networks) > 1 else shares
            part = finished(model, own_shares, rng)
            parts.append(dataclasses.replace(part, weights=shares))
        return parts[0] if len(parts) == 1 else NetworksByClass(parts=tuple(parts))


def make_student(
    vector: RowVector,
    layers: tuple[AbstractLayer, ...] | None = None,
    *,
    parallel: bool,
    latent: int,
    each: int,
    schedule: Schedule,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> Student:
    """With its first weights; of the papers' dense layers if none are given."""
    if layers is None:
        d = vector.width
        sizes = (max(4 * d, NARROWEST), max(2 * d, NARROWEST), d)
        layers = mlp(input_width(latent, vector.classes), *sizes, batch_norm=True)
    number = vector.classes if parallel else 1
    return Student(
        networks=tuple(table_network(vector, layers, latent, rng) for _ in range(number)),
        each=each,
        schedule=schedule,
        weights=(weights / weights.sum()).astype(np.float32),
    )
