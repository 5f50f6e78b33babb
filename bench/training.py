"""A step of `Vault.train` as ratios: against more rows, and against the same math in NumPy."""

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from nacre.rows import Row

WIDTHS = (106, 60, 15, 60, 106)
NUMBERS, VALUES = 6, (7, 16, 7, 14, 6, 5, 2, 41, 2)  # 106 encoded columns, as Adult has
SLOPE, CLIP, BATCH, STEPS = 0.2, 0.5, 64, 20
ADULT, FEW, MANY = 32_561, 32_000, 1_000_000


def best(
    run: Callable[[], Any], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of several runs: what the machine can do when nothing else is in the way."""
    times = []
    for _ in range(repeats):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def in_turn(*runs: Callable[[], Any], repeats: int = 60) -> list[float]:
    """The least CPU time of several short runs each, in turn, so that load hits them alike."""
    tries = ([best(run, 1, time.process_time) for run in runs] for _ in range(repeats))
    return [min(times) for times in zip(*tries, strict=True)]


def rows_of(count: int) -> Row:
    """Made-up rows."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 65537, (count, NUMBERS), np.int32)
    return Row(numbers, rng.integers(0, VALUES, (count, len(VALUES)), np.int32))


def weights_of(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """An autoencoder's layers."""
    return [
        ((rng.normal(size=(a, b)) / math.sqrt(a)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in itertools.pairwise(WIDTHS)
    ]


def our_steps(count: int) -> Callable[[], Any]:
    """`STEPS` DP-SGD steps of an autoencoder inside the vault's compiled loop."""
    import jax
    import jax.numpy as jnp

    from nacre.vault.loop import Loop, LoopStage

    def gradient(weights: Any, earlier: Any, row: Row, key: Any) -> Any:
        codes = [jax.nn.one_hot(row.codes[i], size) for i, size in enumerate(VALUES)]
        x = jnp.concatenate([row.numbers / 65536.0, *codes])

        def loss(weights: Any) -> Any:
            y = x
            for place, (w, b) in enumerate(weights):
                y = y @ w + b
                if place < len(weights) - 1:
                    y = jax.nn.leaky_relu(y, SLOPE)
            return jnp.sum(jax.nn.softplus(y) - x * y)

        return jax.grad(loss)(weights)

    def update(weights: Any, sums: Any, key: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.01 / BATCH * g, weights, sums[0])

    state = jax.tree.map(jnp.asarray, weights_of(np.random.default_rng(0)))
    rows = jax.tree.map(jnp.asarray, rows_of(count))
    shape = Row(
        jax.ShapeDtypeStruct((NUMBERS,), np.int32), jax.ShapeDtypeStruct((len(VALUES),), np.int32)
    )
    call = (
        Loop(
            prepare=lambda state, key: state,
            stages=(LoopStage(per_row=gradient, clip=CLIP),),
            update=update,
            threshold=math.ceil(BATCH / count * 2**32),
            multiplier=1.0,
            chunk=64,
        )
        .checked(state, shape, jax.random.key(0))
        .compiled()
    )
    arguments = (
        state,
        rows,
        jnp.ones(count, bool),
        jax.random.split(jax.random.key(1)),
        jax.random.key(2),
        jnp.arange(STEPS, dtype=jnp.int32),
    )

    def run() -> None:
        jax.block_until_ready(call(*arguments))

    run()
    return run


def numpy_steps() -> Callable[[], None]:
    """The same steps plainly: the gradient of one row after the other, clipped, summed, noised.

    Every run draws the same batches, as ours do: else the shortest run would be that of the
    smallest batches.
    """
    weights, rows = weights_of(np.random.default_rng(0)), rows_of(ADULT)
    codes = [np.eye(n, dtype=np.float32)[rows.codes[:, i]] for i, n in enumerate(VALUES)]
    table = np.concatenate([rows.numbers.astype(np.float32) / 65536, *codes], axis=1)

    def gradient(x: np.ndarray) -> list[np.ndarray]:
        values, last = [x], len(weights) - 1
        for place, (w, b) in enumerate(weights):
            y = values[-1] @ w + b
            values.append(y if place == last else np.where(y > 0, y, np.float32(SLOPE) * y))
        back = 1 / (1 + np.exp(-values[-1])) - x
        found: list[np.ndarray] = []
        for place in range(last, -1, -1):
            found += [np.outer(values[place], back), back]
            if place:
                slope = np.where(values[place] > 0, np.float32(1), np.float32(SLOPE))
                back = (weights[place][0] @ back) * slope
        return found

    def step(rng: np.random.Generator) -> None:
        sums = None
        for x in table[rng.random(ADULT) < BATCH / ADULT]:
            found = gradient(x)
            norm = math.sqrt(sum(float(np.vdot(g, g)) for g in found))
            factor = np.float32(min(1.0, CLIP / norm))
            found = [g * factor for g in found]
            sums = found if sums is None else [s + g for s, g in zip(sums, found, strict=True)]
        for total in sums or ():
            total + CLIP * rng.normal(size=total.shape)

    def run() -> None:
        rng = np.random.default_rng(1)
        for _ in range(STEPS):
            step(rng)

    return run


def main(arguments: list[str]) -> None:
    """Print both ratios."""
    ours, loop = (t / STEPS for t in in_turn(our_steps(ADULT), numpy_steps()))
    print(f"One DP-SGD step of an autoencoder {WIDTHS}, batch {BATCH} of {ADULT:,} rows")
    print(f"  ours, compiled                          {ours * 1e3:8.2f} ms")
    print(f"  a NumPy loop over the batch             {loop * 1e3:8.2f} ms")
    print(f"  ratio                                   {ours / loop:8.2f}     (wanted: <= 0.20)")
    small, large = (t / STEPS for t in in_turn(our_steps(FEW), our_steps(MANY)))
    print(f"The same step, batch {BATCH}, by the number of rows")
    print(f"  {FEW:>9,} rows                          {small * 1e3:8.2f} ms")
    print(f"  {MANY:>9,} rows                          {large * 1e3:8.2f} ms")
    print(f"  ratio                                   {large / small:8.2f}     (wanted: <= 2.00)")
