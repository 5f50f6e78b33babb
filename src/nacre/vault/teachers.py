"""Teachers: one traced program, run for one part of the rows after the other; nothing leaves."""

from __future__ import annotations

import functools
import secrets
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.encoder import Block
from nacre.vault.doors.votes import Teacher
from nacre.vault.noise import on_cpu
from nacre.vault.tracing import ONE_PART, RefusedFunction, Traced, trace


@final
class Teachers:
    """The states of all teachers, the rows of their parts, and how they learn and vote.

    NOT private by itself: votes are to be counted and noised (`Ballots`).

    Sensitivity:
        the vote of teacher j is a function of lane j (the rows of part j, in the table's order, as
        many as there is room for), of public values and of public keys.  So where one lane
        changes, one teacher's votes do.  Why that is so, to the bit:

        - Lanes are filled by NumPy before anything is computed.  Their shapes follow from public
          numbers alone, so that the same compiled program runs whatever the rows are.
        - In it, `lax.map` works off one lane after the other.  `learn` and `predict` are traced on
          the shapes of one lane and copied (`trace`): there is no way in for another lane, nothing
          is carried from one to the next, and neither callbacks nor effects are left.
        - Sums over the rows of a part may round as they like: what that moves is the same
          teacher.
        - Which rows a full lane leaves out depends on that lane alone.

    Bad rows:
        sit in no lane.  A part without rows has a teacher all the same, which votes.
    """

    def __init__(self, teacher: Teacher, parts: int, shape: Any, key: Any):
        self._parts, self._capacity, self._key = parts, teacher.capacity, key
        self._public, self._query = _kinds(teacher.public), _kinds(teacher.query)
        state = jax.tree.map(jnp.asarray, teacher.state)
        if any(not value.ndim or len(value) != parts for value in jax.tree.leaves(state)):
            raise NacreError(
                f"The first states need an axis of {parts} parts in front, one state for each."
            )
        one = jax.tree.map(lambda value: jax.ShapeDtypeStruct(value.shape[1:], value.dtype), state)
        self._shape = shape
        rows = type(shape)(
            *(jax.ShapeDtypeStruct((self._capacity, *leaf.shape), leaf.dtype) for leaf in shape)
        )
        there = jax.ShapeDtypeStruct((self._capacity,), jnp.bool_)
        own = jax.eval_shape(lambda: jax.random.key(0, impl="threefry2x32"))
        with jax.enable_x64(False), on_cpu():
            self._learn = trace(teacher.learn, one, rows, there, self._public, own, kind=ONE_PART)
            self._predict = trace(teacher.predict, one, self._query, kind=ONE_PART)
        if _kinds(self._learn.shape) != _kinds(one):
            raise NacreError(
                "learn(state, rows, valid, public, key) must return a state of the same "
                "structure, shapes and types as the one it got."
            )
        (*votes,) = self._predict.outputs
        if len(votes) != 1 or votes[0].shape or not jnp.issubdtype(votes[0].dtype, jnp.integer):
            raise RefusedFunction("predict(state, query) must return one whole number: a class.")
        self._state = jax.tree.leaves(state)

    def admit(self, block: Block) -> None:
        """Draw each row to a part and fill the lanes; parts never leave."""
        parts = draw_parts(len(block.valid), self._parts)
        rows, there = fill_lanes(block, parts, self._parts, self._capacity)
        with on_cpu():
            self._rows, self._there = [jnp.asarray(leaf) for leaf in rows], jnp.asarray(there)

    def check(self, queries: Any, public: Any, number: int) -> None:
        """Refuse what is of another shape than was said, before a round is used up."""
        shapes = jax.tree.map(
            lambda value: jax.ShapeDtypeStruct((number, *value.shape), value.dtype), self._query
        )
        if _kinds(queries) != shapes or _kinds(public) != self._public:
            raise NacreError(
                f"A round takes {number} queries, and what teachers are shown, of the shapes and "
                "types of the examples in `Teacher`."
            )

    def votes(self, queries: Any, public: Any, number: int) -> NDArray[np.int32]:
        """Learn, then vote: (parts, queries).  NOT private."""
        with jax.enable_x64(False), on_cpu():
            keys = _keys(self._key, number, self._parts)
            self._state, votes = self._round(
                self._state,
                self._rows,
                self._there,
                keys,
                [jnp.asarray(leaf) for leaf in jax.tree.leaves(public)],
                [jnp.asarray(leaf) for leaf in jax.tree.leaves(queries)],
                (self._learn.constants, self._predict.constants),
            )
        return np.asarray(votes)

    @functools.cached_property
    def _round(self) -> Any:
        """One compiled round; public shapes only."""
        return jax.jit(functools.partial(_one_round, self._learn, self._predict))


def _one_round(
    learn: Traced,
    predict: Traced,
    states: Any,
    rows: Any,
    there: Any,
    keys: Any,
    public: Any,
    queries: Any,
    constants: Any,
) -> Any:
    def lane(own: Any) -> Any:
        state, rows, there, key = own
        state = learn(*state, *rows, there, *public, key, constants=constants[0])

        def vote(query: Any) -> Any:
            (found,) = predict(*state, *query, constants=constants[1])
            return found.astype(jnp.int32)

        return state, jax.vmap(vote)(queries)

    return jax.lax.map(lane, (states, rows, there, keys))


def draw_parts(rows: int, parts: int) -> NDArray[np.int64]:
    """A part for each row, independently, from the operating system's bits.

    That all parts are equally likely (to 2^-48) is of use, and is not needed for the guarantee.
    """
    words = np.frombuffer(secrets.token_bytes(8 * rows), np.uint64)
    return (words % np.uint64(parts)).astype(np.int64)


def fill_lanes(
    block: Block, parts: NDArray[np.int64], number: int, capacity: int
) -> tuple[list[NDArray[Any]], NDArray[np.bool_]]:
    """Rows by part (parts, capacity, ...), in the table's order, and which places are taken."""
    good = np.flatnonzero(block.valid)
    order = good[np.argsort(parts[good], kind="stable")]
    own = parts[order]
    place = np.arange(len(order)) - np.searchsorted(own, own)  # within its part
    kept = place < capacity
    order, own, place = order[kept], own[kept], place[kept]
    there = np.zeros((number, capacity), np.bool_)
    there[own, place] = True
    lanes = []
    for leaf in block.rows:
        lane = np.zeros((number, capacity, *leaf.shape[1:]), leaf.dtype)
        lane[own, place] = leaf[order]
        lanes.append(lane)
    return lanes, there


@functools.partial(jax.jit, static_argnames="parts")
def _keys(key: Any, number: Any, parts: int) -> Any:
    """A Threefry key for each teacher of a round, from the caller's."""
    bits = jax.random.bits(jax.random.fold_in(key, number), (2,), jnp.uint32)
    return jax.random.split(jax.random.wrap_key_data(bits, impl="threefry2x32"), parts)


def _kinds(tree: Any) -> Any:
    """A tree with shapes and types in place of arrays."""

    def kind(value: Any) -> Any:
        if not isinstance(value, jax.ShapeDtypeStruct):
            value = jnp.asarray(value)
        return jax.ShapeDtypeStruct(value.shape, value.dtype)

    return jax.tree.map(kind, tree)
