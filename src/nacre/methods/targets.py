"""Released sums as what generators are fitted to: means, transforms of cells, frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.histograms.cells import Cells
from nacre.nets.vector import RowVector

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.nets.match import Targets
    from nacre.vault import Sums


class Waves(Protocol):
    """Frequencies at which fixed-point cosines and sines were asked for."""

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Of rows or of codes, (blocks, width, places)."""

    @property
    def count(self) -> int:
        """How many there are."""


def make_targets(
    sums: Sums, frequencies: Waves | None, *, hot: bool = False, waves: bool = False
) -> Targets:
    """Released sums as means: cosines and sines first if there are frequencies, then one-hots.

    With `waves` what comes last is codes times waves of a target, of which only the noise is kept.
    """
    import jax.numpy as jnp

    from nacre.exact import AMPLITUDE
    from nacre.nets.match import Targets

    if sums.counts is None:
        raise NacreError("The sum was asked for without counts.")
    counts = np.maximum(sums.counts, 1.0)  # none below one row
    total, size = float(counts.sum()), 0
    real = imaginary = None
    if frequencies is not None:
        size = 2 * frequencies.count
        real, imaginary = _waves(sums.values[:, :size], frequencies, total)

    def single(value: Any) -> Any:
        return jnp.asarray(np.asarray(value, np.float32))

    return Targets(
        real=None if real is None else single(real),
        imaginary=None if imaginary is None else single(imaginary),
        hot=single(sums.values[:, size:] / total) if hot else None,
        prior=single(counts / total),
        total=single(total),
        noise=(
            single(sums.noise[0] / AMPLITUDE if frequencies is not None else 0.0),
            single(sums.noise[-1] / (AMPLITUDE if waves else 1) if hot or waves else 0.0),
            single(sums.count_noise),
        ),
    )


def characteristic(
    frequencies: Frequencies | None, cells: list[Cells], columns: Sequence[int]
) -> Any:
    """The characteristic function of a mixture at the frequencies, or None without any."""
    from nacre.nets.characteristic import MixtureCharacteristic

    if frequencies is None:
        return None
    return MixtureCharacteristic(*transforms(frequencies, cells, columns))


def matrix_of(frequencies: Frequencies | None, vector: RowVector) -> Any:
    """The frequencies over the places of the row's vector, which leaves the label out."""
    import jax.numpy as jnp

    if frequencies is None:
        return None
    matrix = frequencies.matrix
    if vector.label is not None:
        column = vector.numbers + vector.label
        start, end = frequencies.offsets[column : column + 2]
        matrix = np.delete(matrix, np.arange(start, end), axis=2)
    return jnp.asarray(matrix.astype(np.float32))


def transforms(
    frequencies: Frequencies, cells: list[Cells], columns: Sequence[int]
) -> tuple[NDArray[np.int64], list[NDArray[np.complex128]]]:
    """Support and E exp(i t x) over the cells of each column, for `MixtureCharacteristic`."""
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


def _waves(
    values: NDArray[np.float64], frequencies: Waves, total: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Noisy real and imaginary parts by block, as means over all rows: (blocks, width, labels)."""
    from nacre.exact import AMPLITUDE

    blocks, width, _ = frequencies.matrix.shape
    imaginary, real = (  # sines come first
        np.moveaxis((part / AMPLITUDE / total).reshape(-1, blocks, width), 0, -1)
        for part in np.split(values, 2, axis=1)
    )
    return real, imaginary
