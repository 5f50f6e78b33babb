"""An exact sum that other processes work off: the checked program travels, rows stay.

What travels is what `trace` has checked and `ExactSum` has put its clipping around, compiled down
to StableHLO: arithmetic on arrays, in which there is no Python to run.  What comes back is one
array of integers for each part of the table.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import platform
from pathlib import Path
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.errors import MissingExtra, NacreError
from nacre.rows.encoder import AbstractEncoder
from nacre.rows.parts import AbstractWork
from nacre.rows.source import Source
from nacre.rows.stream import Stream
from nacre.vault.exact_sum import ExactSum
from nacre.vault.noise import on_cpu

Integers = NDArray[np.int64]


class Partial(NamedTuple):
    """The integer sums of some parts of a table.  NOT private.

    Attributes:
        sums: (classes, size).
        counts: (classes,), of rows that count.
        machines: by which kinds of machine they were worked out.
    """

    sums: Integers
    counts: Integers
    machines: frozenset[str]


@final
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class RemoteSum(AbstractWork):
    """The sum of one row's features over the parts of a table, before noise.  NOT private.

    Releases:
        nothing; the door adds the noise, once, to the total.

    Adjacency:
        the plan's.

    Sensitivity:
        `Bound.sensitivity`, as for `ExactSum`: the same program clips the same integers row by row,
        and int64 addition does not depend on how rows are dealt out, in which order parts are
        added, or whether a part was worked off twice and one answer thrown away.

    Exactness:
        programs on integers give the same bits on every machine.  Those on floating-point numbers
        may not, if machines or versions of the compiler differ; then a row's contribution would
        hang on the machine that it came to, and so on other rows.  `finish` refuses that, before
        anything is charged.

    Public:
        program, constants, encoder, and the kinds of machines.

    Attributes:
        encoder: what a worker encodes its rows with.
        program: of one block, from `ExactSum.exported`.
        known: the program's constants and the public arrays.
        shape: (classes, size) of the sums.
        exact: whether the program is on integers alone.
        block: how many rows the program takes at once.
    """

    encoder: AbstractEncoder
    program: bytes
    known: tuple[NDArray[Any], ...]
    shape: tuple[int, int]
    exact: bool
    block: int

    @classmethod
    def of(cls, exact: ExactSum, public: Any) -> RemoteSum:
        """The work for one sum."""
        if not isinstance(exact.encoder, AbstractEncoder):
            raise NacreError("What a view shows cannot be summed in parts.")
        with jax.enable_x64(True), on_cpu():
            arrays = [*exact.features.constants, *map(jnp.asarray, jax.tree.leaves(public))]
            if any(jnp.issubdtype(array.dtype, jax.dtypes.extended) for array in arrays):
                raise NacreError("Features with random keys in them cannot be sent to workers.")
            known = tuple(np.asarray(array) for array in arrays)
            kinds = [jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays]
        try:
            program = exact.exported(kinds)
        except ImportError:
            raise MissingExtra(
                "Programs are sent to workers as flatbuffers. Install them: pip install "
                "'nacre-dp[dask]' or 'nacre-dp[spark]'. Nothing was spent."
            ) from None
        shape = (exact.bound.classes, exact.bound.size)
        return cls(exact.encoder, program, known, shape, exact.exact, exact.block)

    def __call__(self, source: Source) -> Partial:
        """See `AbstractWork`."""
        step = _loaded(self.program)
        with jax.enable_x64(True), on_cpu():
            known = [jnp.asarray(array) for array in self.known]
            totals = jnp.zeros(self.shape, jnp.int64), jnp.zeros(self.shape[0], jnp.int64)
            for block in Stream(self.encoder, source).blocks(self.block):
                totals = step(*known, *totals, *block.rows, block.valid)
            return Partial(np.array(totals[0]), np.array(totals[1]), frozenset([machine()]))

    def add(self, one: Partial, other: Partial) -> Partial:
        """See `AbstractWork`."""
        machines = one.machines | other.machines
        return Partial(one.sums + other.sums, one.counts + other.counts, machines)

    def finish(self, total: Partial) -> tuple[Integers, Integers]:
        """Sums and counts, unless what a row counts as could hang on where it was counted."""
        if not self.exact and len(total.machines) > 1:
            raise NacreError(
                f"The features are floating-point numbers, and workers of {len(total.machines)} "
                "kinds (processors or versions of JAX) may round them differently, so that one row "
                "could change what others count as. Use workers of one kind, or a method on whole "
                "numbers (mosaic, mst, aim). Nothing was spent."
            )
        return total.sums, total.counts


@functools.lru_cache(maxsize=8)
def _loaded(program: bytes) -> Any:
    """The program, compiled once in each process."""
    from jax import export

    found: Any = export.deserialize(bytearray(program))
    return jax.jit(found.call)


@functools.cache
def machine() -> str:
    """What decides how this process rounds: processor, its instructions, and the compiler.

    Examples:
        >>> machine() == machine()
        True
    """
    import jaxlib

    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    processor = sorted({x for x in lines if x.startswith(("flags", "Features", "model name"))})
    flags = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith(("XLA_", "JAX_")))
    said = [platform.machine(), platform.processor(), *processor, *flags, jax.__version__]
    return hashlib.sha256("\n".join([*said, jaxlib.__version__]).encode()).hexdigest()[:16]
