"""The list of what a function of one row may be made of, and nothing else.

Every entry is an operation of JAX itself whose rule for being mapped over rows treats each row by
itself, and that runs no Python code and talks to nobody.  A primitive is known by its *identity*,
not by its name: one that a caller has made, with a mapping rule of its own, is not on the list
whatever it is called.

Left out on purpose: `rng_bit_generator` (mapped, it takes the first row's key for all),
`rng_uniform`, everything that names an axis or a device, callbacks, foreign calls and kernels,
uninitialized memory (`empty`), `approx_top_k` (its answer may depend on the shape of the batch),
and linear algebra (batches go to LAPACK or to loops whose rounding has not been examined).
Some entries are names of the same operation in neighboring versions of JAX.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import primitives as exported

ELEMENTWISE = (
    *("abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh"),
    *("bessel_i0e", "bessel_i1e", "cbrt", "ceil", "clamp", "clz", "complex", "conj", "copy"),
    *("copy_p", "cos", "cosh", "digamma", "div", "eq", "eq_to", "erf", "erf_inv", "erfc", "exp"),
    *("exp2", "expm1", "floor", "ge", "gt", "imag", "integer_pow", "is_finite", "le", "le_to"),
    *("lgamma", "log", "log1p", "logistic", "lt", "lt_to", "max", "min", "mul", "mulhi", "ne"),
    *("neg", "nextafter", "not", "or", "population_count", "pow", "real", "reduce_precision"),
    *("rem", "round", "rsqrt", "select_n", "shift_left", "shift_right_arithmetic"),
    *("shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "xor"),
    *("bitcast_convert_type", "convert_element_type", "stop_gradient", "name"),
)
SHAPES = (
    *("broadcast_in_dim", "concatenate", "iota", "optimization_barrier", "pad", "reshape", "rev"),
    *("slice", "split", "squeeze", "stack", "tile", "transpose", "unstack"),
)
PLACES = (
    *("dynamic_slice", "dynamic_update_slice", "gather", "scatter", "scatter-add", "scatter_add"),
    *("scatter-sub", "scatter_sub", "scatter-mul", "scatter_mul", "scatter-min", "scatter_min"),
    *("scatter-max", "scatter_max"),
)
REDUCTIONS = (
    *("argmax", "argmin", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum", "reduce_and"),
    *("reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum", "reduce_xor", "sort"),
    *("reduce_window_max", "reduce_window_min", "reduce_window_sum", "top_k"),
    *("select_and_gather_add", "select_and_scatter_add"),
)
PRODUCTS = ("dot_general", "conv_general_dilated", "fft")
# Keys are those of Threefry: `nacre.vault.tracing` looks at the type of every one.
RANDOM = (
    *("random_bits", "random_clone", "random_fold_in", "random_seed", "random_split"),
    *("random_unwrap", "random_wrap", "threefry2x32"),
)
KEPT = frozenset((*ELEMENTWISE, *SHAPES, *PLACES, *REDUCTIONS, *PRODUCTS, *RANDOM))
LOOPS = frozenset(("scan", "while", "cond"))  # kept, with programs inside that are checked alike
# Replaced by the program inside, so that no Python rule comes along with it.
CALLS = frozenset(
    (
        *("jit", "pjit", "call", "core_call", "closed_call", "core_closed_call"),
        *("remat", "remat2", "checkpoint"),
        *("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"),
    )
)
MOVES = frozenset(("device_put",))  # dropped: the vault decides where its programs run


def _witnesses(x: Any, key: Any) -> Any:
    """Stock functions that hold the primitives which `jax.extend` does not export."""
    data = jax.random.key_data(key)
    whole = jax.lax.bitcast_convert_type(x, jnp.int32)
    return (
        jax.random.clone(jax.random.wrap_key_data(data, impl="threefry2x32")),
        jax.lax.optimization_barrier(x).at[0].subtract(1.0),
        jax.lax.split(x, (1, 2)),
        jnp.stack([x, x]),
        jnp.unstack(x),
        jnp.tile(x, 2),
        jnp.copy(x),
        jax.lax.mulhi(whole, whole) if hasattr(jax.lax, "mulhi") else whole,
    )


@functools.cache
def known() -> dict[Any, str]:
    """JAX's own primitives that are on the list, and their names."""
    found = [value for name, value in vars(exported).items() if name.endswith("_p")]
    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    key = jax.eval_shape(functools.partial(jax.random.key, impl="threefry2x32"), 0)
    pending = [jax.make_jaxpr(_witnesses)(shape, key).jaxpr]
    while pending:
        for equation in pending.pop().eqns:
            found.append(equation.primitive)
            pending.extend(inner for inner, _ in inner_programs(equation))
    listed = KEPT | LOOPS | CALLS | MOVES
    return {primitive: primitive.name for primitive in found if primitive.name in listed}


def inner_programs(equation: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    """The programs inside an equation (of loops, branches, calls), with their constants."""
    found = []
    for value in equation.params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            consts = tuple(getattr(item, "consts", ()))
            item = getattr(item, "jaxpr", item)
            if hasattr(item, "eqns"):
                found.append((item, consts))
    return found
