"""Speed as ratios against references measured in the same run, and memory against the row count."""

import argparse
import itertools
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from bench import training
from bench.protocol import official_split
from bench.training import best
from nacre.rows import Source, Stream, TableEncoder
from nacre.vault import Bound, Plan, Segment, Sum, Vault

FEATURES, BATCH = 1000, 1100


def paper_step_in_numpy(width: int) -> Callable[[], None]:
    """PEARL's own step, plainly: a 4d-2d network on a batch, its characteristic function, back."""
    rng = np.random.default_rng(0)
    sizes = [12, 4 * width, 2 * width, width]
    layers = [rng.normal(size=s, scale=0.1).astype(np.float32) for s in itertools.pairwise(sizes)]
    frequencies = rng.normal(size=(width, FEATURES)).astype(np.float32)
    real, imaginary = rng.normal(size=(2, FEATURES)).astype(np.float32)

    def step() -> None:
        values = [rng.normal(size=(BATCH, sizes[0])).astype(np.float32)]
        for layer in layers:
            values.append(np.maximum(values[-1] @ layer, 0))
        angles = values[-1] @ frequencies
        cosine, sine = np.cos(angles), np.sin(angles)
        a, b = cosine.mean(0) - real, sine.mean(0) - imaginary
        gradient = (2 / BATCH / FEATURES) * (b * cosine - a * sine) @ frequencies.T
        for layer, value in zip(reversed(layers), reversed(values[:-1]), strict=True):
            through = gradient @ layer.T
            layer -= 0.01 * (value.T @ gradient)
            gradient = through * (value > 0)

    return step


def our_step() -> tuple[Callable[[], None], Callable[[], None], int]:
    """Our step on the same number of frequencies, and a NumPy rendering of exactly that step."""
    import jax
    import jax.numpy as jnp
    import optax

    from nacre.embed.fourier import draw_frequencies
    from nacre.histograms.cells import layout_cells
    from nacre.methods.targets import transforms
    from nacre.nets.characteristic import MixtureCharacteristic
    from nacre.nets.logits import MixtureLogits
    from nacre.nets.mixture_fit import free_columns

    encoder = TableEncoder(official_split().schema)
    layout, label = encoder.layout, encoder.place(encoder.label)
    columns, cells = free_columns(layout, label), layout_cells(layout)
    drawn = draw_frequencies(
        layout,
        width=FEATURES,
        blocks=1,
        columns=columns,
        orders=((1, 0.15), (2, 0.85)),
        scales=(2.0, 120.0),
        rng=np.random.default_rng(0),
    )
    support, found = transforms(drawn, cells, columns)
    characteristic = MixtureCharacteristic(support, found)
    sizes = [t.shape[2] for t in found]
    model = MixtureLogits(sizes, [], labels=2, components=64, rng=np.random.default_rng(0))
    optimizer = optax.adam(0.1)

    def loss(model: MixtureLogits) -> jax.Array:
        a, b = characteristic(model.some(characteristic.groups), model.weights(), 0)
        return jnp.sum((a - 0.1) ** 2) + jnp.sum((b - 0.1) ** 2)

    @jax.jit
    def several(model: MixtureLogits, state: Any) -> Any:
        def one(carry: Any, _: None) -> tuple[Any, None]:
            model, state = carry
            updates, state = optimizer.update(jax.grad(loss)(model), state)
            return (optax.apply_updates(model, updates), state), None

        return jax.lax.scan(one, (model, state), None, length=20)[0]

    carry = several(model, optimizer.init(model))
    jax.block_until_ready(carry)
    width = int(
        sum(1 if c < len(layout.numbers) else s for c, s in zip(columns, sizes, strict=True))
    )
    return (
        lambda: jax.block_until_ready(several(*carry)),
        closed_form_in_numpy(support, found, [np.asarray(p) for p in model.columns()]),
        width,
    )


def closed_form_in_numpy(
    support: np.ndarray, found: list[np.ndarray], tables: list[np.ndarray]
) -> Callable[[], None]:
    """The mixture's characteristic function and its gradient, one NumPy call at a time."""
    weights = np.full((2, tables[0].shape[0]), 0.5 / tables[0].shape[0])
    rows = [np.flatnonzero((support == c).any(1)) for c in range(len(found))]

    def step() -> None:
        product = np.ones((len(support), weights.shape[1]), complex)
        factors = [t[0] @ p.T for t, p in zip(found, tables, strict=True)]
        for place, factor in zip(rows, factors, strict=True):
            product[place] *= factor
        error = product @ weights.T - 0.1
        back = np.conj(error) @ weights
        for place, factor, transform, p in zip(rows, factors, found, tables, strict=True):
            gradient = 2 * np.real((back[place] * product[place] / factor).T @ transform[0])
            gradient = p * (gradient - (gradient * p).sum(1, keepdims=True))
            gradient / (np.sqrt(gradient**2) + 1e-8)

    return step


def repeated(rows: int) -> tuple[Source, Any]:
    """Adult's training rows over and over, streamed."""
    split = official_split()
    table = split.train.combine_chunks()

    def batches() -> Any:
        left = rows
        while left > 0:
            for batch in table.to_batches(max_chunksize=1 << 16):
                part = batch.slice(0, min(left, batch.num_rows))
                left -= part.num_rows
                yield part
                if left <= 0:
                    return

    columns = tuple(split.schema.columns)
    return Source("repeated Adult", "arrow", columns, None, lambda _: batches()), split.schema


def ask(rows: int, features: int) -> float:
    """Seconds for one `vault.sum` of Fourier features over the given number of rows."""
    from nacre.embed.fourier import FourierFeatures, draw_frequencies, feature_norm
    from nacre.nets.mixture_fit import free_columns

    source, schema = repeated(rows)
    encoder = TableEncoder(schema)
    columns = free_columns(encoder.layout, encoder.place(encoder.label))
    drawn = draw_frequencies(
        encoder.layout,
        width=features,
        blocks=1,
        columns=columns,
        orders=((2, 1.0),),
        scales=(2.0, 60.0),
        rng=np.random.default_rng(0),
    )
    bound = Bound(segments=(Segment(size=2 * features, norm=feature_norm(features)),), count=1e3)
    question = Sum(name="bench", share=1.0, bound=bound)
    vault = Vault(Stream(encoder, source), Plan.of([question], epsilon=1, delta=1e-9))
    start = time.perf_counter()
    vault.sum(question, FourierFeatures(drawn))
    return time.perf_counter() - start


def reference(rows: int, width: int) -> float:
    """Seconds for a float32 product with 1,000 frequencies and its sine and cosine, in blocks."""
    rng = np.random.default_rng(0)
    x = rng.random((4096, width), np.float32)
    w = rng.normal(size=(width, FEATURES)).astype(np.float32)

    def block() -> None:
        angles = x @ w
        np.sin(angles).sum(0)
        np.cos(angles).sum(0)

    return best(block) * rows / len(x)


def main(arguments: list[str]) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench speed")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.memory:
        ask(options.memory, 100)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
        return
    pa.set_cpu_count(2)
    step, same, width = our_step()
    ours, plain = best(step) / 20, best(same)
    paper = best(paper_step_in_numpy(width))
    print(f"One training step ({FEATURES:,} frequencies, {width} encoded columns)")
    print(f"  ours, compiled                          {ours * 1e3:8.2f} ms")
    print(f"  the same step in NumPy                  {plain * 1e3:8.2f} ms  {plain / ours:.1f} x")
    print(f"  the paper's step in NumPy (batch 1,100) {paper * 1e3:8.2f} ms  {paper / ours:.1f} x")
    training.main([])
    seconds, base = ask(options.rows, FEATURES), reference(options.rows, width)
    print(f"vault.sum over {options.rows:,} rows, {FEATURES:,} frequencies")
    print(
        f"  ours {seconds:.1f} s; product, sine, cosine alone {base:.1f} s: {seconds / base:.2f} x"
    )
    print("Peak memory of vault.sum, 100 frequencies, by rows streamed")
    for rows in (10**5, 10**6, 10**7):
        command = [sys.executable, "-m", "bench", "speed", "--memory", str(rows)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print(f"  {rows:>12,} rows: {found.split()[-1]} MB")
