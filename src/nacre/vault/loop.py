"""The compiled loop behind `Vault.train`: Poisson batches, clipped values, noise, update."""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nacre.errors import NacreError
from nacre.vault.integers import SCALE, discrete_gaussian
from nacre.vault.noise import on_cpu, secret_bits
from nacre.vault.outer import Factored, Parts
from nacre.vault.poisson import draw_batch
from nacre.vault.primitives import inner_programs
from nacre.vault.tracing import RefusedFunction, Traced, trace

LANES = 64  # rows of a chunk that every CPU of today works off alike, wherever they stand
ANCHOR = 1.5 * 2.0**52  # from here float64 counts in ones, 2^51 in either direction
MOST_UNITS = 2.0**51  # of as many clips as a chunk has rows
ANCHOR_BITS = struct.unpack("<q", struct.pack("<d", ANCHOR))[0]
TURN = 0x7475726E  # sets the draw of a person's row apart from what its function draws
AHEAD = 50  # keys are made for a multiple of so many steps, so that few programs are compiled


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoopStage:
    """One noisy sum per step: `per_row(shared, earlier, row, key)` clipped to L2 norm `clip`.

    `share` is this stage's part of the step's privacy cost; stages of one step see the same
    Poisson batch, and the noisy sums of those before it as `earlier`.
    """

    per_row: Callable[[Any, tuple[Any, ...], Any, Any], Any]
    clip: float
    share: float = 1.0

    def __post_init__(self) -> None:
        if not (1e-15 <= self.clip <= 1e15 and 0 < self.share <= 1):
            raise NacreError("A stage needs a clip from 1e-15 to 1e15 and a share in (0, 1].")


class StepKeys(NamedTuple):
    """The keys of some steps, which are their first axis; the first three are secret.

    Attributes:
        sampling: two for the batch.
        rows: one from which each row's own follows.
        noise: two for the noise of each stage.
        prepare: the caller's, before the rows are read.
        update: the caller's, after the noise was added.
    """

    sampling: Any
    rows: Any
    noise: Any
    prepare: Any
    update: Any


@partial(jax.jit, static_argnames="stages")
def step_keys(secret: Any, public: Any, numbers: Any, *, stages: int) -> StepKeys:
    """The keys of the steps with these numbers, from two secret ones and the caller's.

    A program of its own, which all loops share: random generators take long to compile.
    """

    def one(number: Any) -> StepKeys:
        fresh = jax.vmap(lambda key: jax.random.split(jax.random.fold_in(key, number), 3))
        sampling, rows, noise = (fresh(secret)[:, place] for place in range(3))
        bits = secret_bits(rows, (2,), jnp.uint32)
        row_key = jax.random.wrap_key_data(bits, impl="threefry2x32")
        of_stage = jax.vmap(jax.random.fold_in, in_axes=(0, None))
        by_stage = jnp.stack([of_stage(noise, place) for place in range(stages)])
        prepare, update = jax.random.split(jax.random.fold_in(public, number))
        return StepKeys(sampling, row_key, by_stage, prepare, update)

    with jax.enable_x64(False):
        return jax.lax.map(one, numbers)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loop:
    """All that one step needs, all of it public but the rows and the secret key.

    Releases:
        for each stage the sum over a Poisson batch of clipped contributions, plus discrete Gaussian
        noise of scale clip * multiplier / sqrt(share) in each place; both are whole multiples of
        one public unit, noise / SCALE.

    Sensitivity:
        add-remove: `clip` a stage, so over the stages of one step together sum (clip / noise)^2 =
        sum share / multiplier^2 = 1 / multiplier^2.

    Exactness:
        contributions are clipped in float64 and rounded towards zero to integers, as vectors whose
        outer product they are where they are one (`nacre.vault.outer`); sums and noise are
        integers.  That a row's contribution is a function of the row alone is proved with `exact`,
        where rows are worked off one at a time by the same instructions.  Without it programs are
        mapped in chunks, and it is an assumption about the compiler, tested by
        tests/privacy/test_places.py.  Clipping, rounding and adding up hang on no order in any
        case: they are maxima, sums of integers, and operations on single numbers.

    Batches:
        `poisson.draw_batch`; where the table is long, nothing in a step is as long as it.

    Bad rows:
        contribute zero, as does a contribution that is not finite.

    Persons:
        where a person may have several rows, persons join a batch in place of rows, and each that
        joins contributes one of its rows, drawn afresh for each step and the same in all of its
        stages.  So a person's contribution is clipped as a row's is, on average it is the mean of
        what its rows contribute, and the draws of different persons are independent.

    A multiplier of zero adds no noise: for tests, and for runs that promise nothing.
    """

    prepare: Callable[[Any, Any], Any]
    stages: Sequence[LoopStage]
    update: Callable[[Any, tuple[Any, ...], Any], Any]
    threshold: int  # a row joins a batch with probability threshold / 2^32
    multiplier: float
    chunk: int
    exact: bool = False

    def __post_init__(self) -> None:
        if self.chunk < 1 or (self.chunk % LANES and not self.exact):
            raise NacreError(
                f"chunk must be a multiple of {LANES}, got {self.chunk}: in other chunks the "
                "rounding of a row's values can depend on its place. Or ask for exact=True, which "
                "works off one row at a time."
            )
        if any(self.chunk * self._units(stage) > MOST_UNITS for stage in self.stages):
            raise NacreError(f"A noise multiplier of {self.multiplier:g} is hardly any noise.")

    def _units(self, stage: LoopStage) -> float:
        """One clip in units of the integer sums, so that the noise has the scale SCALE."""
        if not self.multiplier:  # as fine as float64 allows
            return MOST_UNITS / 2.0 ** self.chunk.bit_length()
        return SCALE * math.sqrt(stage.share) / self.multiplier

    def checked(self, state: Any, shape: Any, key: Any) -> Loop:
        """This loop with every per-row function replaced by its traced and checked program."""
        with jax.enable_x64(False), on_cpu():
            return self._checked(state, shape, key)

    def _checked(self, state: Any, shape: Any, key: Any) -> Loop:
        shared = jax.eval_shape(self.prepare, state, key)
        earlier: tuple[Any, ...] = ()
        stages = []
        # The keys that rows are given are the vault's own, whatever kind the caller's key is.
        secret = jax.eval_shape(lambda: jax.random.key(0, impl="threefry2x32"))
        for stage in self.stages:
            traced = trace(stage.per_row, shared, earlier, shape, secret)
            outputs = traced.outputs
            if not outputs or not all(jnp.issubdtype(v.dtype, jnp.floating) for v in outputs):
                raise RefusedFunction("per_row must return floating-point arrays.")
            if not self.exact and (found := mixed_places(traced.jaxpr)):
                raise RefusedFunction(
                    f"per_row contains {found}, whose rounding can depend on where in a chunk a "
                    "row stands. Say exact=True in the program, which works off one row at a time."
                )
            stages.append(dataclasses.replace(stage, per_row=traced))
            earlier = (*earlier, jax.tree.map(_single, traced.shape))
        before = jax.eval_shape(lambda: state)
        after = jax.eval_shape(self.update, state, earlier, key)
        shapes = [jax.tree.map(lambda v: (v.shape, v.dtype), tree) for tree in (before, after)]
        if shapes[0] != shapes[1]:
            raise NacreError(
                "update(state, sums, key) must return a state of the same structure, shapes and "
                "types as the one it got."
            )
        return dataclasses.replace(self, stages=tuple(stages))

    @property
    def size(self) -> int:
        """How many numbers a step of a checked loop releases, over all stages."""
        programs = [stage.per_row for stage in self.stages]
        if not all(isinstance(program, Traced) for program in programs):
            raise RefusedFunction("A loop knows its size once it is checked: use `Loop.checked`.")
        return sum(math.prod(v.shape) for program in programs for v in program.outputs)  # type: ignore[attr-defined]

    def compiled(self) -> Callable[..., Any]:
        """`run`, compiled for the CPU with 64-bit numbers, wherever its arguments come from.

        The function takes the state, the rows, which of them count, the two secret keys of
        `system_key`, the caller's key, and the numbers of the steps.  With `persons`, where the
        rows of each begin and how many there are, it is persons that count or do not.
        """
        compiled = jax.jit(self.run)

        def call(
            state: Any,
            rows: Any,
            valid: Any,
            secret: Any,
            public: Any,
            numbers: Any,
            persons: Any = None,
        ) -> Any:
            count = np.int32(len(numbers))
            # int32: fold_in is the same in 32- and 64-bit mode.
            numbers = np.pad(np.asarray(numbers, np.int32), (0, -len(numbers) % AHEAD))
            with jax.enable_x64(True), on_cpu():
                secret, public, numbers = on_device((secret, public, numbers))
                keys = step_keys(secret, public, numbers, stages=len(self.stages))
                return compiled(*on_device((state, rows, valid)), keys, count, on_device(persons))

        return call

    def run(
        self, state: Any, rows: Any, valid: Any, keys: StepKeys, count: Any, persons: Any = None
    ) -> Any:
        """Run the first `count` of the steps with these keys, with 64-bit numbers enabled.

        One program serves any number of steps.
        """

        def one(place: Any, state: Any) -> Any:
            own = jax.tree.map(lambda key: key[place], keys)
            return self._step(state, rows, valid, own, persons)

        return jax.lax.fori_loop(0, count, one, state)

    def _step(self, state: Any, rows: Any, valid: Any, keys: StepKeys, persons: Any) -> Any:
        with jax.enable_x64(False):
            shared = self.prepare(state, keys.prepare)
        batch, size = draw_batch(keys.sampling, valid, self.threshold)
        sums: tuple[Any, ...] = ()
        for place, stage in enumerate(self.stages):
            noisy = self._stage_sum(stage, (shared, sums), rows, persons, batch, size, keys.rows)
            if self.multiplier:
                noisy = noisy + discrete_gaussian(keys.noise[place], len(noisy))
            # From here on everything is public.
            values = noisy.astype(jnp.float64) * (stage.clip / self._units(stage))
            sums = (*sums, _unravel(values.astype(jnp.float32), stage.per_row))
        with jax.enable_x64(False):
            return self.update(state, sums, keys.update)

    def _stage_sum(
        self,
        stage: LoopStage,
        public: Any,
        rows: Any,
        persons: Any,
        batch: Any,
        size: Any,
        key: Any,
    ) -> Any:
        """The exact integer sum over the batch, in as many fixed-size chunks as it needs."""
        program = stage.per_row
        if not isinstance(program, Traced):
            raise RefusedFunction("A loop runs checked programs only: use `Loop.checked`.")
        leaves = jax.tree.leaves(public)  # here, as the caller's classes may not see rows
        total = len(rows[0]) if persons is None else len(persons[0])
        factored = Factored(program)

        def output(index: Any) -> Parts:
            place = jnp.minimum(index, total - 1)
            with jax.enable_x64(False):
                own = jax.random.fold_in(key, index)
            if persons is not None:
                place = _row_of(persons, place, own)
            row = [part[place] for part in rows]
            return factored(*leaves, *row, own)

        none = tuple(jnp.zeros(size, jnp.int64) for size in factored.sizes)
        if self.exact:

            def one(place: Any, sums: Any) -> Any:
                def add(parts: Parts, sums: Any) -> Any:
                    return _added(sums, self._clipped(stage, parts).arrays())

                return _held(add, output(batch[place]), sums, size - place)

            return factored.flat(jax.lax.fori_loop(0, size, one, none))
        padded = jnp.concatenate([batch, jnp.full(self.chunk, total, batch.dtype)])

        def body(carry: Any) -> Any:
            start, sums = carry
            part = jax.lax.dynamic_slice(padded, (start,), (self.chunk,))
            there = start + jnp.arange(self.chunk) < size  # none that is not in the batch

            def add(parts: Parts, sums: Any) -> Any:
                return _added(sums, jax.vmap(partial(self._clipped, stage))(parts, there).total())

            return start + self.chunk, _held(add, jax.vmap(output)(part), sums, size - start)

        begin = (jnp.zeros((), batch.dtype), none)
        return factored.flat(jax.lax.while_loop(lambda carry: carry[0] < size, body, begin)[1])

    def _clipped(self, stage: LoopStage, parts: Parts, there: Any = True) -> Parts:
        """One row's contribution in whole units: zero if it has anything that is not finite."""
        norms = parts.norms()
        norm = norms.whole
        # Shrunk so that no rounding, of the norm or below, can carry it over the clip: each of a
        # few operations is right to 2^-53.
        scale = jnp.minimum(1.0, stage.clip / norm) * (1 - 2.0**-40)
        most = self._units(stage)
        units = scale * (most / stage.clip)
        good = there & jnp.isfinite(norm) & (norm > 0) & jnp.isfinite(units)
        return parts.whole(norms, units, most, good)


def _held(add: Callable[[Parts, Any], Any], parts: Parts, sums: Any, rest: Any) -> Any:
    """`add(parts, sums)` in a loop of one round, as `rest`, which the compiler cannot know, is > 0.

    What enters a loop lies in memory: so the norm is that of the very bits which are rounded and
    summed.  Otherwise the compiler may work out a value once for the norm and again for the sum,
    and round it differently.
    """
    return jax.lax.fori_loop(0, jnp.minimum(rest, 1), lambda _, sums: add(parts, sums), sums)


def _added(sums: Any, values: Any) -> Any:
    """Integer sums and whole numbers in float64."""
    return tuple(one + _integers(other) for one, other in zip(sums, values, strict=True))


def _row_of(persons: Any, place: Any, key: Any) -> Any:
    """The place of one row of a person, drawn with a key that is the person's own."""
    first, many = (part[place] for part in persons)
    with jax.enable_x64(False):
        bits = jax.random.bits(jax.random.fold_in(key, TURN), (), jnp.uint32)
    return first + (bits % many.astype(jnp.uint32)).astype(first.dtype)


def _integers(whole: Any) -> Any:
    """int64 of float64 that hold integers below 2^51, by their bits: CPUs have no quicker way."""
    return jax.lax.bitcast_convert_type(whole + ANCHOR, jnp.int64) - ANCHOR_BITS


def on_device(values: Any) -> Any:
    """The values as arrays of the CPU, without copying those that are."""
    return jax.device_put(values, jax.devices("cpu")[0])


def _single(value: Any) -> Any:
    return jax.ShapeDtypeStruct(value.shape, jnp.float32)


def _unravel(flat: Any, program: Any) -> Any:
    """Noisy numbers in the structure that the caller's function returned."""
    parts, start = [], 0
    for value in program.outputs:
        size = math.prod(value.shape)
        parts.append(flat[start : start + size].reshape(value.shape))
        start += size
    return jax.tree.unflatten(jax.tree.structure(program.shape), parts)


def mixed_places(jaxpr: Any) -> str | None:
    """An operation for which chunks of `LANES` rows are not known to round every row alike.

    A product of a matrix of one row with another matrix becomes, mapped over rows, one product in
    which a row's numbers take other places for other rows; measured, it rounds by place.  So does
    what Fourier transforms are followed by.  Products with a vector on one side do not.
    """
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "fft":
            return "a Fourier transform"
        if name == "dot_general":
            (left, right), (left_batch, right_batch) = equation.params["dimension_numbers"]
            sides = zip(equation.invars, (left, right), (left_batch, right_batch), strict=True)
            free = [
                math.prod(
                    size
                    for axis, size in enumerate(variable.aval.shape)
                    if axis not in contracted and axis not in batch
                )
                for variable, contracted, batch in sides
            ]
            summed = math.prod(equation.invars[0].aval.shape[axis] for axis in left)
            if summed > 1 and min(free) > 1:
                return "a product of two matrices"
        for inner, _ in inner_programs(equation):
            if found := mixed_places(inner):
                return found
    return None
