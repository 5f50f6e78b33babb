"""The public frequencies of a matching method, and what is bought to scale them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nacre.methods.modes import see
from nacre.nets.modes import ModeSplit
from nacre.rows import TableEncoder
from nacre.schema import Layout
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    from nacre.embed.fourier import Frequencies
    from nacre.methods.matching import AbstractMatching
    from nacre.vault import Vault


def scale_questions(
    method: AbstractMatching, layout: Layout, columns: Sequence[int]
) -> tuple[Sum, ...]:
    """What the frequencies on `columns` are drawn from, if budget is set aside for it.

    The moments that give the RMS distance between rows, only of columns that frequencies of
    that scale touch: numbers, and codes where they touch whole rows; or the covariance.
    """
    from nacre.embed.covariance import ONE as PRODUCT
    from nacre.embed.covariance import covariance_segments
    from nacre.embed.distance import ONE, moment_segments

    if method.projection == "pca" and columns:
        return (
            Sum(
                name="covariance",
                bound=Bound(
                    segments=_unsigned(covariance_segments(layout, columns)), count=PRODUCT
                ),
                share=method.projection_share,
                unit=PRODUCT,
                meaning="means and products of the row's places, for private PCA",
            ),
        )
    used = _codes(method, layout, columns)
    if not method.bandwidth or not (layout.numbers or used):
        return ()
    return (
        Sum(
            name="bandwidth",
            bound=Bound(segments=_unsigned(moment_segments(layout, used)), count=ONE),
            share=method.bandwidth,
            unit=ONE,
            meaning="means and mean squares of the row, for the RMS distance between rows",
        ),
    )


def _codes(method: AbstractMatching, layout: Layout, columns: Sequence[int]) -> list[int]:
    """The codes whose spread counts for the distance between rows."""
    numbers = len(layout.numbers)
    whole = method.frequencies_on == "row"
    return [column - numbers for column in columns if column >= numbers and whole]


def draw(
    method: AbstractMatching,
    vault: Vault,
    first: Sequence[Sum],
    split: ModeSplit | None,
    columns: Sequence[int],
    count: int,
    rng: np.random.Generator,
) -> Frequencies:
    """The public frequencies on some columns, after the bandwidth is bought, if it is."""
    from nacre.embed.fourier import draw_frequencies

    encoder: TableEncoder = vault.encoder  # type: ignore[assignment]
    layout = encoder.layout if split is None else split.layout
    width = count // method.blocks
    if method.frequencies_on == "row":
        return _draw_on_rows(method, vault, first, split, layout, columns, width, rng)
    distance = _ask_distance(vault, first, layout, split, ())
    scales = (method.low, method.high)
    if distance is not None:  # they start at one over it
        scales = (1 / distance, method.high / method.low / distance)
    return draw_frequencies(
        layout,
        width=width,
        blocks=method.blocks,
        columns=columns,
        orders=((1, 1 - method.pairs), (2, method.pairs)),
        scales=scales,
        focus=encoder.target,
        rng=rng,
    )


def _draw_on_rows(
    method: AbstractMatching,
    vault: Vault,
    first: Sequence[Sum],
    split: ModeSplit | None,
    layout: Layout,
    columns: Sequence[int],
    width: int,
    rng: np.random.Generator,
) -> Frequencies:
    """Frequencies on whole rows, or on a projection of them."""
    from nacre.embed.covariance import covariance, covariance_features, places_of, principal
    from nacre.embed.distance import expected_distance
    from nacre.embed.fourier import row_frequencies

    codes, directions = _codes(method, layout, columns), None
    places = len(places_of(layout, columns))
    if method.projection == "pca":
        (question,) = first
        sums = vault.sum(question, see(split, covariance_features(layout, columns)))
        matrix = covariance(sums.values[0], sums.total, places)
        directions, variances = principal(matrix, method.dimensions)
        distance = max(0.01, math.sqrt(2 * float(variances.sum())))
    else:
        found = _ask_distance(vault, first, layout, split, codes)
        distance = found or expected_distance(layout, codes)
    if method.projection == "random":
        inner = min(method.dimensions, places)
        directions = np.linalg.qr(rng.normal(size=(places, inner)))[0].T
        distance *= math.sqrt(inner / places)
    return row_frequencies(
        layout,
        width=width,
        blocks=method.blocks,
        columns=columns,
        scale=method.scale / distance,
        rng=rng,
        directions=directions,
    )


def _unsigned(segments: Sequence[tuple[int, float]]) -> tuple[Segment, ...]:
    return tuple(Segment(size=size, norm=norm, signed=False) for size, norm in segments)


def _ask_distance(
    vault: Vault,
    questions: Sequence[Sum],
    layout: Layout,
    split: ModeSplit | None,
    codes: Sequence[int],
) -> float | None:
    """The RMS distance between rows, if it is bought."""
    from nacre.embed.distance import moment_features, rms_distance

    if not questions:
        return None
    (question,) = questions
    sums = vault.sum(question, see(split, moment_features(layout, codes)))
    return rms_distance(sums.values[0], sums.total, len(layout.numbers))
