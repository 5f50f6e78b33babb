"""The exact sum behind `Vault.sum`: one streaming pass, integers only, clipped row by row."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.encoder import AbstractEncoder, Block
from nacre.rows.stream import Stream
from nacre.rows.unit import MOST, WHOLE
from nacre.vault import products
from nacre.vault.bound import Bound
from nacre.vault.clipping import Clipping
from nacre.vault.noise import on_cpu
from nacre.vault.products import Products
from nacre.vault.tracing import RefusedFunction, trace

if TYPE_CHECKING:
    from nacre.vault.view import ViewRows

BLOCK = 512
SPARSE_BLOCK = 8192  # of programs on integers with few values a row: fewer and longer calls
AT_ONCE = 1 << 18  # values of such a block, about, so that they stay in a processor's cache
FEW = 1 << 27  # operations on all rows: to compile well takes longer than so many, done slowly
WIDE = 32  # values a row from which on they are put down value by value, not row by row

# The compiler at its least work, a fifth of the usual time; programs of it take five times as long.
QUICKLY: dict[str, Any] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_use_fusion_emitters": False,
}

Features = Callable[[Any], Any]


class ExactSum:
    """The sum of one row's features over a table, before noise.  NOT private by itself.

    Sensitivity:
        `Bound.sensitivity`, enforced: each segment of each row's contribution is clipped as
        integers, so the bound holds whatever `features` does.  Where a person may have several
        rows, each clipped contribution is weighed by `Persons.weight`, as integers too, and the
        bound is that of one person (docs/privacy.md, section 3).

    Exactness:
        a row's contribution is a function of the row alone.  Integer features are, in any order
        (`nacre.exact`); floating-point ones are computed one row at a time by the same
        instructions, then rounded to integers.  Integer sums do not depend on order, chunking or
        the number of machines.  How well a program of integer features is compiled may hang on how
        many rows there are by an earlier answer: which is public, so that neighbors run the same.

    Bad rows:
        a row that does not fit the schema, a feature that is not finite, or sparse indices that do
        not strictly increase make the contribution zero.
    """

    def __init__(
        self,
        features: Features,
        bound: Bound,
        encoder: AbstractEncoder | ViewRows,
        public: Any = None,
    ):
        self.bound, self.encoder = bound, encoder
        if bound.by is not None:
            encoder.classes(
                jax.tree.map(lambda leaf: np.zeros((1, *leaf.shape)), encoder.shape), bound.by
            )
        with jax.enable_x64(True), on_cpu():
            self._kinds = kinds_of(public)
            seen = () if public is None else (_shapes(public),)
            self.features = trace(features, encoder.shape, *seen)
        structure: Any = jax.tree.structure(self.features.shape)
        self.sparse = bool(structure == jax.tree.structure((0, 0)))
        self._single = bool(structure == jax.tree.structure(0))
        self._products = isinstance(self.features.shape, Products)
        outputs = self.features.outputs
        self._check_outputs(outputs)
        self.integer = bool(jnp.issubdtype(outputs[-1].dtype, jnp.integer))
        self.exact = self.features.exact
        self.block = self._block_rows(outputs)
        flat = all(len(leaf.shape) == 1 for leaf in jax.tree.leaves(encoder.shape))
        self._by_columns = self.sparse and self.exact and flat
        with jax.enable_x64(True), on_cpu():
            block = functools.partial(self._block, by_columns=self._by_columns)
            self._step = jax.jit(block, donate_argnums=(2, 3))
        self._clipping = Clipping(bound, integer=self.integer, has_products=self._products)
        # What a row that is a whole person counts as; features that are integers are divided among
        # a person's rows without a rest, floats are on a grid that is fine enough already.
        self.whole = 1 if encoder.unit is None else WHOLE
        finer = self.whole if self.integer else 1
        # One unit of the integer sums, by segment.
        self.units = [unit / finer for unit in self._clipping.units]
        largest = 2**50 if finer == 1 else ((2**63 - 1) // (finer * MOST)) ** 2
        if max(self._clipping.limits, default=0) >= largest:
            raise NacreError("The bound is too large for integer sums: scale the features down.")

    def _block_rows(self, outputs: list[Any]) -> int:
        """How many rows are worked on at once; sums are the same for any number, only slower."""
        if not (self.sparse and self.exact):
            return BLOCK
        rows = max(AT_ONCE // max(int(outputs[0].shape[0]), 1), 1)
        return min(max(1 << (rows.bit_length() - 1), BLOCK), SPARSE_BLOCK)

    def _check_outputs(self, outputs: list[Any]) -> None:
        if self._products:
            products.check(self.features.shape, self.bound)
            if self.encoder.unit is not None:
                raise RefusedFunction("Products are for tables in which a row is a person.")
            return
        if not (self._single or self.sparse) or any(getattr(o, "ndim", 0) != 1 for o in outputs):
            raise RefusedFunction(
                "features(row) must return one vector, (indices, values) of a sparse one, or "
                "Products."
            )
        if not any(jnp.issubdtype(outputs[-1].dtype, t) for t in (jnp.integer, jnp.floating)):
            raise RefusedFunction(f"Features must be real numbers, not {outputs[-1].dtype}.")
        if self.sparse and (
            outputs[0].shape != outputs[1].shape
            or not jnp.issubdtype(outputs[0].dtype, jnp.integer)
        ):
            raise RefusedFunction("Sparse features need integer indices, one for each value.")
        if not self.sparse and outputs[0].shape[0] != self.bound.size:
            raise RefusedFunction(
                f"features(row) returns {outputs[0].shape[0]} values, "
                f"the bound describes {self.bound.size}."
            )

    def over(
        self,
        stream: Stream | ViewRows,
        public: Any,
        on_pass: Callable[[], None] | None = None,
        told: float | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sums over all rows of a stream, on this machine or in parts on others.

        `told` is the number of rows as it was released before, by which the program is compiled.
        """
        if not isinstance(stream, Stream) or not stream.apart:
            few = public is None and self._few(told)
            return self(stream.blocks(self.block, on_pass), public, quickly=few)
        from nacre.vault.remote_sum import RemoteSum

        return stream.reduce(RemoteSum.of(self, public), on_pass)

    def exported(self, kinds: list[Any]) -> bytes:
        """The program of one block in a form that other processes can run, StableHLO.

        Its arguments are flat: the program's constants and the public arrays, of these kinds, then
        sums, counts, the leaves of rows, and which rows are valid.
        """
        from jax import export

        constants, leaves = len(self.features.constants), len(self.encoder.shape)
        row_type = type(self.encoder.shape)

        def block(*flat: Any) -> tuple[jax.Array, jax.Array]:
            known, rest = flat[: len(kinds)], flat[len(kinds) :]
            sums, counts, rows, valid = *rest[:2], rest[2 : 2 + leaves], rest[2 + leaves]
            given = list(known[constants:])
            return self._block(known[:constants], given, sums, counts, row_type(*rows), valid)

        classes = self.bound.classes
        with jax.enable_x64(True), on_cpu():
            shapes = [
                *kinds,
                jax.ShapeDtypeStruct((classes, self.bound.size), jnp.int64),
                jax.ShapeDtypeStruct((classes,), jnp.int64),
                *(
                    jax.ShapeDtypeStruct((self.block, *x.shape), x.dtype)
                    for x in self.encoder.shape
                ),
                jax.ShapeDtypeStruct((self.block,), jnp.bool_),
            ]
            program = jax.jit(block, donate_argnums=(len(kinds), len(kinds) + 1))
            return bytes(export.export(program, platforms=["cpu"])(*shapes).serialize())

    def _few(self, rows: float | None) -> bool:
        """Whether so many rows, if told, are worked off before a good program is compiled."""
        if rows is None or not (self.sparse and self.exact):
            return False
        return rows * self.features.operations <= FEW

    def __call__(
        self, stream: Iterable[Block], public: Any = None, *, quickly: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sums of shape (classes, size) in `units`, and the number of good rows in each class.

        `public` are arrays of the shapes that the sum was made for: one program serves them all.
        One that is compiled `quickly` gives the same integers, and is not kept.
        """
        with jax.enable_x64(True), on_cpu():
            classes = self.bound.classes
            constants = self.features.constants
            if kinds_of(public) != self._kinds:
                raise NacreError("The public arrays are of other kinds than those of the program.")
            given = [jnp.asarray(leaf) for leaf in jax.tree.leaves(public)]
            # Zeros of NumPy: for those of JAX a program would be compiled.
            sums: Any = np.zeros((classes, self.bound.size), np.int64)
            counts: Any = np.zeros(classes, np.int64)
            step: Any = None if quickly else self._step
            for block in stream:
                weight = None if block.persons is None else block.persons.weight
                if (weight is None) is not (self.whole == 1):
                    raise NacreError("The program of this sum does not know whose each row is.")
                rows = jax.tree.map(_columns, block.rows) if self._by_columns else block.rows
                block_arguments = constants, given, sums, counts, rows, block.valid, weight
                step = step or self._quick_step(block_arguments)
                sums, counts = step(*block_arguments)
            return np.array(sums), np.array(counts)

    def _quick_step(self, arguments: tuple[Any, ...]) -> Any:
        """The program of one block, compiled `QUICKLY` if this compiler knows how."""
        try:
            return self._step.lower(*arguments).compile(compiler_options=QUICKLY)
        except jax.errors.JaxRuntimeError:  # of another version, without these options
            return self._step

    def _block(
        self,
        constants: Any,
        given: list[jax.Array],
        sums: jax.Array,
        counts: jax.Array,
        rows: Any,
        valid: jax.Array,
        weight: jax.Array | None = None,
        *,
        by_columns: bool = False,
    ) -> tuple[jax.Array, jax.Array]:
        """Sums and counts with those of one block added; a row is a column, if `by_columns`."""
        contributions: Any
        axis = 1
        one_row = functools.partial(self._row, constants, given)
        if self.exact and self.sparse:
            axis = self._axis
            indices, values = self._outputs(constants, given, rows, valid, by_columns=by_columns)
            contributions, good = self._clipping.sparse(indices, values, axis)
        elif self.exact:
            contributions, good = jax.vmap(one_row)(rows)
        else:
            contributions, good = jax.lax.map(one_row, rows)
        good = good & valid
        by, classes = self.bound.by, self.bound.classes
        label = jnp.zeros(len(valid), jnp.int32)
        if by is not None:
            label = self.encoder.classes(
                jax.tree.map(jnp.transpose, rows) if by_columns else rows, by
            )
        label = jnp.clip(label, 0, classes - 1)
        # The count is of rows that fit; a row whose features fail is absent from both.
        shares = 1 if weight is None else weight.astype(jnp.int64)
        counts = counts.at[label].add(good.astype(jnp.int64) * shares)
        if self.sparse:
            indices, values = contributions
            values = self._weighed(values, weight, axis)
            return self._scattered(sums, label, indices, values, good, axis), counts
        if not self._products:
            contributions = self._weighed(contributions, weight)
            return sums + self._by_class(contributions, label, good), counts
        plain, left, right = contributions
        owner = (label == jnp.arange(classes)[:, None]) & good
        parts = [self._by_class(plain, label, good), products.summed(left, right, owner)]
        return sums + jnp.concatenate(parts, axis=1), counts

    def _outputs(
        self,
        constants: Any,
        given: list[jax.Array],
        rows: Any,
        valid: jax.Array,
        *,
        by_columns: bool,
    ) -> list[jax.Array]:
        """The features of each row, along `_axis`; zeros if no row of the block counts.

        Behind a condition, as the compiler would work them out again for everything that is asked
        of them, which takes many times as long.
        """

        def features(row: Any) -> list[Any]:
            return self.features(*row, *given, constants=constants)

        axis, n = self._axis, len(valid)
        shapes = [(n, *o.shape) if axis else (*o.shape, n) for o in self.features.outputs]
        kinds = [o.dtype for o in self.features.outputs]
        nothing = [jnp.zeros(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        found = jax.vmap(features, in_axes=int(by_columns), out_axes=1 - axis)
        return jax.lax.cond(jnp.any(valid), lambda: found(rows), lambda: nothing)

    @property
    def _axis(self) -> int:
        """The axis along which the values of a row lie.

        Tables of many pairs of columns are looked up column by column, and the compiler puts them
        down so: to go through them row by row would read memory across, and the cells of one table
        lie near each other.
        """
        return 0 if self.features.outputs[0].shape[0] >= WIDE else 1

    def _scattered(
        self,
        sums: jax.Array,
        label: jax.Array,
        indices: jax.Array,
        values: jax.Array,
        good: jax.Array,
        axis: int,
    ) -> jax.Array:
        """Each value added at its index in the block of its row's label, rows that count only.

        All classes are one vector for it, which the compiler adds to several times faster.  A row
        that counts has its indices in [0, size), so its places are in that vector; those of other
        rows are its end, where nothing is added.
        """
        size = self.bound.size
        wide = jnp.int32 if self.bound.classes * size < 2**31 else jnp.int64
        own, counts = jnp.expand_dims(label.astype(wide), axis), jnp.expand_dims(good, axis)
        places = jnp.where(counts, own * size + indices.astype(wide), sums.size).ravel()
        values = values.ravel()
        if sums.size > len(places):
            total = sums.ravel().at[places].add(values.astype(jnp.int64), mode="drop")
            return total.reshape(sums.shape)
        # A short vector is added to in fewer bits first; a row has an index once at most.
        kind = self._wide(len(label))
        part = jnp.zeros(sums.size, kind).at[places].add(values.astype(kind), mode="drop")
        return sums + part.reshape(sums.shape).astype(jnp.int64)

    def _by_class(self, contributions: jax.Array, label: jax.Array, good: jax.Array) -> jax.Array:
        """The sum of the rows of each class that count."""
        classes = self.bound.classes
        if classes > 4:
            # Integers below 2^53: the float64 product is exact in any order.
            owner = (label == jnp.arange(classes)[:, None]) & good
            part = owner.astype(jnp.float64) @ contributions.astype(jnp.float64)
            return part.astype(jnp.int64)
        kind = self._wide(len(label))
        owners = [good & (label == c) for c in range(classes)]
        parts = [jnp.where(own[:, None], contributions, 0).sum(0, dtype=kind) for own in owners]
        return jnp.stack(parts).astype(jnp.int64)

    def _weighed(
        self, contributions: jax.Array, weight: jax.Array | None, axis: int = 1
    ) -> jax.Array:
        """Clipped contributions, a row's along `axis`, as parts of their persons'; towards zero.

        A row of r that count has floor(WHOLE / r) of WHOLE.  Rounding shrinks every number and
        keeps its sign, so that r times what is left still is within the bound of one row.
        """
        if weight is None:
            return contributions
        parts = contributions.astype(jnp.int64) * jnp.expand_dims(weight.astype(jnp.int64), axis)
        return parts if self.integer else jax.lax.div(parts, jnp.int64(WHOLE))

    def _wide(self, rows: int) -> Any:
        """32 bits where no sum of that many rows can exceed them, by the public bounds."""
        largest = (math.isqrt(max(self._clipping.limits, default=0)) + 1) * self.whole
        return jnp.int32 if largest * rows < 2**31 else jnp.int64

    def _row(self, constants: Any, given: list[jax.Array], row: Any) -> tuple[Any, jax.Array]:
        """What one row contributes, in integers, and whether it counts."""
        outputs, clipping = self.features(*row, *given, constants=constants), self._clipping
        if self.sparse:
            indices, values = outputs
            found, good = clipping.sparse(indices[None], values[None])
            return (found[0][0], found[1][0]), good[0]
        good = jnp.all(jnp.stack([jnp.all(jnp.isfinite(values)) for values in outputs]))
        if not self._products:
            return clipping.plain(outputs[0]), good
        plain, left, right = outputs
        return (clipping.plain(plain), clipping.factor(left), clipping.factor(right)), good


def _columns(rows: NDArray[Any]) -> NDArray[Any]:
    """The columns of a matrix, each in one piece, as they were read."""
    return np.ascontiguousarray(rows.T)


def _shapes(public: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(*_kind(leaf)), public)


def kinds_of(public: Any) -> Any:
    """Structure, shapes and types of a tree of public arrays: what a program is made for."""
    leaves, structure = jax.tree.flatten(public)
    return structure, tuple(_kind(leaf) for leaf in leaves)


def _kind(leaf: Any) -> tuple[tuple[int, ...], Any]:
    with jax.enable_x64(True):
        return np.shape(leaf), jnp.asarray(leaf).dtype
