"""The release of heaped numbers, for all methods that draw numbers inside cells."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from nacre.histograms.atoms import Atoms, Looked
from nacre.histograms.calendars import (
    Calendars,
    classes_of,
    dated,
    replaced,
    with_combs,
)
from nacre.histograms.cells import Column, NumberColumn
from nacre.histograms.day_counts import DayCounts
from nacre.histograms.heaps import Heaps, classes, find_heaps, heaped
from nacre.histograms.weights import NORM
from nacre.schema import Layout
from nacre.schema.calendar import MONTH, weekday
from nacre.vault import Bound, Segment, Sum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nacre.embed.marginals import Places
    from nacre.histograms.histograms import Histograms
    from nacre.vault import Vault

HEAPS = "round values"
MOST = 0.1  # of the budget, up to which days are counted without more noise for round values
PART = 0.5  # of what the histograms leave, likewise: pairs need some, too
MEANING = (
    "of what the histograms leave, the share for how many rows lie at multiples of round steps, "
    "where numbers have cells of several values (more with dates, for their days); 0 for none"
)


def heaps_question(
    columns: tuple[Column, ...], layout: Layout, part: float, left: float
) -> tuple[Sum, ...]:
    """The question, if there are numbers that may be heaped inside their cells.

    It gets a `part` of what is `left` of the budget, and more where days are counted.

    Sensitivity:
        a row touches one count of each of N numbers (of a date that of its day of the week), and
        two more of each of D dates: the day of the month, and the month of the year or, of a date
        that is a distance from another, the day of the week.  These are N + 2 D counts, each with
        the weight 4096 / sqrt(N + 2 D), rounded down.  The vault clips it to the norm 4096:
        add-remove 4096, replace-one sqrt(2) times that.
    """
    numbers = [place for place, number in enumerate(layout.numbers) if number.rounds]
    chosen, touched = heaped(columns, layout), _touched(columns, layout)
    if not touched or not part:
        return ()
    share, most = part * left, min(MOST, PART * left)
    # Room for all numbers: in a small table more of them have wide cells.
    size = sum(1 + len(layout.numbers[place].rounds) for place in numbers)
    dates = [classes_of(columns[place], layout) for place in dated(columns, layout)]
    counted = len({*chosen, *dated(columns, layout)})
    return (
        Sum(
            name=HEAPS,
            bound=Bound(segments=(Segment(size=size + sum(dates), norm=NORM, signed=False),)),
            share=max(share, min(share * touched / max(len(chosen), 1), most)),
            unit=NORM / math.sqrt(touched),
            meaning="how many rows lie at multiples of each round step or end just below a "
            "hundred (of dates: on each day of the week and of the month, and in each month), "
            f"inside the cells of {counted} number{'' if counted == 1 else 's'}",
        ),
    )


@final
@dataclasses.dataclass(frozen=True)
class Rounds:
    """What is known about how numbers are rounded, and about the days of dates.

    Attributes:
        heaps: the round steps that stand out.
        days: by column, noisy counts of the days of dates, and of dates that are distances.
        calendars: the weights of days, of what is a date by itself.
    """

    heaps: Heaps
    days: Mapping[int, DayCounts] = dataclasses.field(default_factory=dict)
    calendars: Calendars = dataclasses.field(default_factory=Calendars.none)

    @staticmethod
    def none() -> Rounds:
        """Nothing."""
        return Rounds(Heaps.none())

    def settled(
        self,
        histograms: Histograms,
        layout: Layout,
        atoms: Atoms,
        looked: Looked | None = None,
        fixed: int | None = None,
    ) -> tuple[Histograms, Atoms, Rounds]:
        """Histograms of dates that know of their days, and the single dates beside these."""
        import numpy as np

        columns = histograms.columns
        numbers = {p: c.number for p, c in enumerate(columns) if isinstance(c, NumberColumn)}
        own = {p: c for p, c in self.days.items() if layout.numbers[numbers[p]].tie is None}

        def singles(place: int, expected: NDArray[np.float64]) -> Any:
            column = columns[place]
            if looked is None or not isinstance(column, NumberColumn):
                return np.zeros(0, np.int64), np.zeros(0)
            return looked.beyond(column, place, expected)

        histograms, calendars, found = with_combs(histograms, layout, own, singles, fixed)
        atoms = replaced(atoms, {numbers[place]: each for place, each in found.items()})
        heaps = self.heaps.without(calendars.numbers.tolist())
        return histograms, atoms, Rounds(heaps, self.days, calendars)


def ask_heaps(
    vault: Vault,
    question: Sum,
    layout: Layout,
    histograms: Histograms,
    places: Places,
    atoms: Atoms,
) -> Rounds:
    """What is known about the heaps after the answer, and noisy counts of days."""
    import numpy as np

    from nacre.embed.rounds import round_features

    columns = histograms.columns
    chosen, dates = heaped(columns, layout), dated(columns, layout)
    weight = _weight(columns, layout)
    features = round_features(places, columns, layout, chosen, weight, dates)
    sums = vault.sum(question, features)
    sizes = [*classes(columns, layout, chosen), *(classes_of(columns[p], layout) for p in dates)]
    counts = np.split(sums.values[0] / weight, np.cumsum(sizes))[: len(sizes)]
    found = dict(zip(chosen, counts, strict=False))
    noise, days = sums.noise[0] / weight, {}
    for place, own in zip(dates, counts[len(chosen) :], strict=True):
        number = layout.numbers[columns[place].number]  # type: ignore[union-attr]
        week, year = own[MONTH:], np.zeros(0)
        if number.tie is None:  # its steps are the days of the week, from that of its first tick on
            week, year = np.roll(found[place][1:], weekday(number.day)), own[MONTH:]
        days[place] = DayCounts((week, own[:MONTH], year), noise)
    return Rounds(find_heaps(histograms, layout, atoms, found, noise), days)


def _touched(columns: tuple[Column, ...], layout: Layout) -> int:
    """How many counts a row touches: one of each number, two more of each date."""
    return len(heaped(columns, layout)) + 2 * len(dated(columns, layout))


def _weight(columns: tuple[Column, ...], layout: Layout) -> int:
    """Of each of these counts, so that all that a row touches have the norm `NORM`."""
    return math.floor(NORM / math.sqrt(_touched(columns, layout)))
