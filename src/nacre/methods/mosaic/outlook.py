"""What a plan of Mosaic lets expect: which links and values noise will hide."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from nacre.histograms.cells import CodeColumn
from nacre.histograms.weights import column_weights
from nacre.methods.method import Outlook
from nacre.methods.mosaic.design import Design
from nacre.methods.mosaic.mosaic import AGAIN
from nacre.methods.mosaic.tables import HISTOGRAMS, PAIRS, WHOLE
from nacre.methods.outlook import plain_numbers
from nacre.rows import TableEncoder
from nacre.vault import Sum

if TYPE_CHECKING:
    from nacre.vault import Plan
    from nacre.vault.plan import Planned

FEW_VALUES = 20  # of a category: nobody is warned of so few
HIDDEN = 0.1  # correlations that noise hides: beyond it people are warned


def outlook_of(design: Design, encoder: TableEncoder, plan: Plan, rows: int) -> Outlook:
    """The weakest links that noise leaves visible among so many rows, and hidden values.

    Two columns of two halves each that correlate by r differ from independent ones by r n / 4
    rows in each of four cells; their contrast has the noise of four counts, for each class.  So
    at two deviations r = 4 noise sqrt(classes) / n.  Of a category with so many values that
    one has fewer rows on average than a count's noise, hardly any can be told from another.
    """
    classes, label, pairs = design.classes, 0.0, 0.0
    long: list[str] = []
    for asked in plan.asked:
        if asked.question.name == HISTOGRAMS:
            weights = column_weights(design.columns)
            typical = asked.release.noise / float(np.median(weights))
            label = 4 * typical / rows if classes > 1 else 0.0
            every = [a for a in plan.asked if a.question.name in (HISTOGRAMS, WHOLE)]
            # A numeric label's classes are no blocks of the release.
            noise = _summed(every, classes) / weights
            long = [
                f"{encoder.layout.codes[column.code].name} ({column.size:,} values)"
                for column, own in zip(design.columns, noise.tolist(), strict=True)
                if isinstance(column, CodeColumn)
                and column.size > FEW_VALUES
                and column.size * own > rows
            ]
    every = [a for a in plan.asked if a.question.name in (PAIRS, AGAIN)]
    if every and isinstance(every[0].question, Sum):
        pairs = 4 * _summed(every) / every[0].question.unit / rows
    counted = _together(every)
    said = [
        f"{what} that correlate by less than about {min(weakest, 1.0):.2g}"
        for what, weakest in (("two columns", pairs), ("a column and the label", label))
        if weakest
    ]
    words = [f"noise will hide the link of {', and of '.join(said)}"] if said else []
    if long:
        words.append(f"noise will hide which values are common in {', '.join(long)}: group them")
    histograms = [asked for asked in plan.asked if asked.question.name == HISTOGRAMS]
    return Outlook(
        words="; ".join(words),
        plain=plain_numbers(encoder, plan, rows, histograms=histograms, pairs=counted),
        weak=max(pairs, label) > HIDDEN or bool(long),
    )


def _summed(asked: list[Planned], classes: int | None = None) -> float:
    """The deviation of what a cell's counts add up to over the classes, of all releases together.

    Releases over all classes count this sum itself; the first one is by so many `classes`.
    """
    found = 0.0
    for place, each in enumerate(asked):
        if not (isinstance(each.question, Sum) and each.release.noise):
            return 0.0
        sides = each.question.bound.classes if place or classes is None else classes
        found += 1 / (sides * each.release.noise**2)
    return found**-0.5


def _together(asked: list[Planned]) -> list[Planned]:
    """The pairs as if counted once, with the noise of the mean: what a typical table has.

    By class, where some releases are not.
    """
    if not asked:
        return []
    classes = [each.question.bound.classes for each in asked if isinstance(each.question, Sum)]
    asked = [each for each, own in zip(asked, classes, strict=True) if own == classes[0]]
    noise = [each.release.noise for each in asked]
    both = sum(each**-2 for each in noise) ** -0.5 if min(noise) > 0 else 0.0
    return [
        dataclasses.replace(asked[0], release=dataclasses.replace(asked[0].release, noise=both))
    ]
