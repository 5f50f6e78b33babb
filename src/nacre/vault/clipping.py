"""A row's features as integers, clipped to the bound segment by segment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from nacre.vault import products
from nacre.vault.bound import Bound

LOOKED_UP = 1 << 20  # indices whose segment is looked up, not searched for
FLOAT_BITS = 20  # features that are not integers are rounded to 2^-20 of their segment's bound


@final
class Clipping:
    """Makes one row's contribution out of its features, whatever they are.

    Sensitivity:
        the integers of a segment have norm at most its bound: they are compared as integers, and
        scaled down by truncation, which only shrinks.

    Attributes:
        segments: those that are clipped one by one; products are clipped by their factors.
        units: one unit of a row's integers, in the units of the features, by segment.
        limits: the largest square of a norm in such units, by segment.
    """

    def __init__(self, bound: Bound, *, integer: bool, has_products: bool):
        self.bound, self.integer = bound, integer
        self.segments = bound.segments[:-1] if has_products else bound.segments
        self.units = [
            1.0 if integer else 2.0 ** math.ceil(math.log2(s.norm)) * 2.0**-FLOAT_BITS
            for s in bound.segments
        ]
        if has_products:  # a unit of one factor times a unit of the other
            self.units[-1] = 4.0**-products.BITS
        self.limits = [
            math.floor(s.norm**2 / unit**2 * (1 + 1e-12))
            for s, unit in zip(self.segments, self.units, strict=False)
        ]

    def plain(self, values: jax.Array) -> jax.Array:
        """A dense row's values, segment by segment."""
        parts = []
        for place, segment in enumerate(self.segments):
            start = self.bound.offsets[place]
            part = self._integers(values[start : start + segment.size], place)
            square = jnp.sum(part.astype(jnp.float64) ** 2)
            parts.append(self._clip(part, square, self.limits[place]))
        return jnp.concatenate(parts) if parts else jnp.zeros(0, jnp.int32)

    def sparse(
        self, indices: jax.Array, values: jax.Array, axis: int = 1
    ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        """Indices and clipped values, those of a row along `axis`, and which rows count.

        Each row by itself: nothing is added up but along that axis.
        """
        calm = self._calm(indices, values, axis)
        if calm is None:
            clipped, good = self._each(indices, values, axis, calm_unknown=True)
        else:
            every = jnp.ones(indices.shape[1 - axis], jnp.bool_)
            clipped, good = jax.lax.cond(
                calm,
                lambda: (values, every),
                lambda: self._each(indices, values, axis, calm_unknown=False),
            )
        return (indices, clipped), good

    def _calm(self, indices: jax.Array, values: jax.Array, axis: int) -> jax.Array | None:
        """Whether all rows are seen at once to count and to be within the limits, as mostly.

        They are if indices increase, or each lies in a segment of its own, and all values are so
        small that they would be within the limits if all were as large.  None if that is not known.
        """
        count, segments = indices.shape[axis], len(self.limits)
        if values.dtype != jnp.int32 or not count or segments not in (1, count):
            return None
        if segments == 1:
            first, last = (jax.lax.index_in_dim(indices, k, axis) for k in (0, count - 1))
            inside = jnp.all(_grows(indices, axis)) & jnp.all(first >= 0)
            inside &= jnp.all(last < self.bound.size)
        else:
            ends = jnp.expand_dims(jnp.asarray(self.bound.offsets), 1 - axis)
            starts, ends = (jax.lax.slice_in_dim(ends, k, k + count, axis=axis) for k in (0, 1))
            inside = jnp.all((indices >= starts) & (indices < ends))
        most = min(math.isqrt(min(self.limits) * segments // count), 2**26)
        least = -most if all(s.signed for s in self.segments) else 0
        return inside & jnp.all((values >= least) & (values <= most))

    def _each(
        self, indices: jax.Array, values: jax.Array, axis: int, *, calm_unknown: bool
    ) -> tuple[jax.Array, jax.Array]:
        """Clipped values, and which rows count; rows may be calm, if that is not known yet."""
        good = jnp.all(jnp.isfinite(values), axis=axis)
        good &= jnp.all(_grows(indices, axis), axis=axis)
        good &= jnp.all((indices >= 0) & (indices < self.bound.size), axis=axis)
        if len(self.limits) == 1:
            part = self._integers(values, 0)
            square = jnp.sum(part.astype(jnp.float64) ** 2, axis=axis, keepdims=True)
            return self._clip(part, square, self.limits[0]), good
        owner = self._owners(indices)
        part = self._integers(values, owner)
        limit, own = _at(self.limits, owner), part.astype(jnp.float64) ** 2

        def clipped() -> jax.Array:
            return self._clip(part, self._squares(own, owner, axis), limit)

        if not calm_unknown:
            return clipped(), good
        # Mostly each value is alone in its segment and within the limit: nothing to do.
        calm = jnp.all(_grows(owner, axis)) & jnp.all(own <= limit)
        return jax.lax.cond(calm, lambda: part, clipped), good

    def _owners(self, indices: jax.Array) -> jax.Array:
        """The segment of each index; anything for an index that is in none."""
        size, segments = self.bound.size, self.bound.segments
        if size > LOOKED_UP:
            found = jnp.searchsorted(jnp.asarray(self.bound.offsets[1:]), indices, side="right")
            return jnp.minimum(found, len(segments) - 1)
        owners = np.repeat(np.arange(len(segments), dtype=np.int32), [s.size for s in segments])
        return jnp.asarray(owners)[jnp.clip(indices, 0, size - 1)]

    def _squares(self, own: jax.Array, owner: jax.Array, axis: int) -> jax.Array:
        """Of each value the sum of its row's squares in the same segment."""
        rows, segments = own.shape[1 - axis], len(self.limits)
        places = jnp.expand_dims(jnp.arange(rows), axis) * segments + owner
        return jnp.zeros(rows * segments).at[places.ravel()].add(own.ravel())[places]

    def _integers(self, values: jax.Array, place: Any) -> jax.Array:
        """The values in integer units; beyond 2^26 units they would be clipped anyway.

        `place` is their segment, or the segment of each.
        """
        low = _at([-(2**26) if s.signed else 0 for s in self.bound.segments], place)
        if self.integer:
            # Unsigned 64-bit numbers first lose what a signed one could not hold.
            if values.dtype == jnp.int32:
                return jnp.clip(values, low.astype(jnp.int32), jnp.int32(2**26))
            small = jnp.minimum(values, 2**26) if values.dtype == jnp.uint64 else values
            return jnp.clip(small.astype(jnp.int64), low, 2**26).astype(jnp.int32)
        return _whole(values, _at(self.units, place), low)

    def factor(self, values: jax.Array) -> jax.Array:
        """A factor of products in integers, of norm one at most."""
        part = _whole(values, 2.0**-products.BITS, -(2**26))
        return self._clip(part, jnp.sum(part.astype(jnp.float64) ** 2), products.LIMIT)

    @staticmethod
    def _clip(part: jax.Array, square: jax.Array, limit: Any) -> jax.Array:
        """Scale integers down to norm^2 <= limit where they are above; truncation only shrinks.

        `square` is exact (integers below 2^53 in float64), so the comparison is too.
        """
        scale = jnp.where(square > limit, jnp.sqrt(limit / square) * (1 - 2.0**-40), 1.0)
        scaled = jnp.trunc(part * scale).astype(part.dtype)
        return jnp.where(square > limit, scaled, part)


def _grows(values: jax.Array, axis: int) -> jax.Array:
    """Whether each value is above the one before it along the axis."""
    after = jax.lax.slice_in_dim(values, 1, values.shape[axis], axis=axis)
    return after > jax.lax.slice_in_dim(values, 0, max(values.shape[axis] - 1, 0), axis=axis)


def _at(by_segment: Sequence[float], place: Any) -> jax.Array:
    """What belongs to a segment, or to that of each place; one number if all have the same."""
    alike = len(set(by_segment)) == 1
    return jnp.asarray(by_segment[0]) if alike else jnp.asarray(by_segment)[place]


def _whole(values: jax.Array, unit: Any, low: Any) -> jax.Array:
    """In units, towards zero, from `low` to 2^26."""
    scaled = jnp.nan_to_num(values.astype(jnp.float64)) / unit
    return jnp.trunc(jnp.clip(scaled, jnp.asarray(low, jnp.float64), 2.0**26)).astype(jnp.int32)
