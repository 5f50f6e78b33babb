"""What the embedding methods share: the label, and transforms of a mixture's cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nacre.cells import Cells
from nacre.errors import NacreError
from nacre.methods.method import Question
from nacre.schema import Layout, Schema

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.vault import Sums, Vault


def class_label(schema: Schema) -> str | None:
    """The label if it has a list of values (a regression target is a column like others)."""
    if schema.label is None or len(schema.columns) == 1:
        return None
    is_class = any(c.name == schema.label and c.role == "value" for c in schema.layout.codes)
    return schema.label if is_class else None


def label_place(schema: Schema) -> int:
    """The class label's place among the codes, or -1."""
    label = class_label(schema)
    return -1 if label is None else schema.layout.code(label)


def target_column(schema: Schema) -> int | None:
    """The place among the numbers of a numeric label (a regression target), or None."""
    names = [number.name for number in schema.layout.numbers]
    return names.index(schema.label) if schema.label in names else None


def public_rng(key: Any) -> np.random.Generator:
    """A NumPy generator for public randomness, from a JAX key."""
    import jax

    return np.random.default_rng(np.asarray(jax.random.key_data(key)))


def bandwidth_questions(layout: Layout, share: float) -> tuple[Question, ...]:
    """The moments that give the RMS distance, if a share of the budget is set aside for it."""
    from nacre.embed.distance import ONE, moment_segments
    from nacre.vault import Bound, Segment

    if not share or not layout.numbers:
        return ()
    segments = tuple(
        Segment(size=size, norm=norm, signed=False) for size, norm in moment_segments(layout)
    )
    return (
        Question(
            name="bandwidth",
            bound=Bound(segments=segments, count=ONE),
            share=share,
            unit=ONE,
            meaning="means and mean squares of the row, for the RMS distance between rows",
        ),
    )


def ask_scales(
    vault: Vault, questions: Sequence[Question], low: float, high: float
) -> tuple[float, float]:
    """The range of frequencies: public, or moved so that it starts at one over the RMS distance."""
    from nacre.embed.distance import moment_features, rms_distance

    if not questions:
        return low, high
    (question,) = questions
    features = moment_features(vault.layout)
    sums = vault.sum(features, question.bound, share=question.share, name=question.name)
    distance = rms_distance(sums.values[0], sums.total, len(vault.layout.numbers))
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
