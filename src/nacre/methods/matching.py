"""What the embedding methods share: bandwidths, counts, and transforms of a mixture's cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import Cells
from nacre.rows import TableEncoder
from nacre.schema import Layout
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.vault import Sums, Vault


def label_place(encoder: TableEncoder) -> int | None:
    """The class label's place among the codes, if there is one."""
    return encoder.place(encoder.label)


def public_rng(key: Any) -> np.random.Generator:
    """A NumPy generator for public randomness, from a JAX key."""
    import jax

    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def bandwidth_questions(layout: Layout, share: float) -> tuple[Sum, ...]:
    """The moments that give the RMS distance, if a share of the budget is set aside for it."""
    from nacre.embed.distance import ONE, moment_segments

    if not share or not layout.numbers:
        return ()
    segments = tuple(
        Segment(size=size, norm=norm, signed=False) for size, norm in moment_segments(layout)
    )
    return (
        Sum(
            name="bandwidth",
            bound=Bound(segments=segments, count=ONE),
            share=share,
            unit=ONE,
            meaning="means and mean squares of the row, for the RMS distance between rows",
        ),
    )


def ask_scales(
    vault: Vault, questions: Sequence[Sum], low: float, high: float
) -> tuple[float, float]:
    """The range of frequencies: public, or moved so that it starts at one over the RMS distance."""
    from nacre.embed.distance import moment_features, rms_distance

    if not questions:
        return low, high
    (question,) = questions
    layout = vault.encoder.layout  # type: ignore[attr-defined]
    sums = vault.sum(question, moment_features(layout))
    distance = rms_distance(sums.values[0], sums.total, len(layout.numbers))
    return 1 / distance, high / low / distance


def at_least_one(sums: Sums) -> NDArray[np.float64]:
    """The noisy class counts, none below one row."""
    if sums.counts is None:
        raise NacreError("The sum was asked for without counts.")
    return np.maximum(sums.counts, 1.0)


def transforms(
    frequencies: Frequencies, cells: list[Cells], columns: Sequence[int]
) -> tuple[NDArray[np.int64], list[NDArray[np.complex128]]]:
    """Support and E exp(i t x) over the cells of each column, for `mixture_characteristic`."""
    layout = frequencies.layout
    numbers = len(layout.numbers)
    found = []
    for column in columns:
        values = frequencies.of(column)
        if column < numbers:
            ticks = layout.numbers[column].ticks
            flat = cells[column].transform(values.reshape(-1), ticks)
            found.append(flat.reshape(*values.shape[:2], cells[column].size))
        else:
            found.append(np.exp(1j * values))
    renumbered = np.full(numbers + len(layout.codes) + 1, -1, np.int64)
    renumbered[list(columns)] = np.arange(len(columns))
    return renumbered[frequencies.support], found


def waves(
    values: NDArray[np.float64], frequencies: Frequencies, total: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Noisy real and imaginary parts by block, as means over all rows: (blocks, width, labels)."""
    from nacre.exact import AMPLITUDE

    blocks, width, _ = frequencies.matrix.shape
    shaped = (values / AMPLITUDE / total).astype(np.float32)
    imaginary, real = np.split(shaped, 2, axis=1)  # sines come first
    return tuple(np.moveaxis(p.reshape(-1, blocks, width), 0, -1) for p in (real, imaginary))  # type: ignore[return-value]
