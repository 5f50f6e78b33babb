"""What noisy steps have released, kept: it is public, and may be looked at again for free."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp

MOST = 1 << 28  # bytes of means that are kept; of more, the last


class Memory(NamedTuple):
    """Noisy means, and the keys of the features that they are of; all of it public.

    Attributes:
        keys: (slots,).
        means: (slots, classes, places).
    """

    keys: Any
    means: Any

    @classmethod
    def empty(cls, slots: int, shape: tuple[int, int], key: Any) -> Self:
        """Before the first step."""
        return cls(jax.random.split(key, slots), jnp.zeros((slots, *shape)))

    def add(self, slot: Any, key: Any, means: Any, weight: Any) -> Self:
        """With a release in a slot, of which it becomes this part."""
        mixed = weight * means + (1 - weight) * self.means[slot]
        return self._replace(keys=self.keys.at[slot].set(key), means=self.means.at[slot].set(mixed))


def slots(steps: int, size: int, fresh: bool) -> int:
    """How many releases of `size` numbers are kept: one mean of all where all ask for the same.

    Examples:
        >>> slots(1000, 10_000, True), slots(200_000, 20_000, True), slots(1000, 10_000, False)
        (1000, 3355, 1)
    """
    return min(steps, max(1, MOST // (4 * size))) if fresh else 1
