"""What noisy counts allow to say about the synthetic table in public, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nacre.evaluate.findings.columns import AVOID_TV, CARE_TV
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.models import AVOID_AUC, CARE_AUC
from nacre.evaluate.findings.words import listed, percent
from nacre.publish.bands import Band
from nacre.publish.scores import PaidScore
from nacre.schema import Schema

SHOWN = 5
NOTHING = 0.9  # of the rows that may be in the wrong cell: a band that says no more says nothing
_ORDER = ("avoid", "care", "note", "good")


def find(bands: Sequence[Band], scores: Sequence[PaidScore], schema: Schema) -> tuple[Finding, ...]:
    """Everything worth saying, worst first."""
    known = [band for band in bands if band.at_most is not None]
    told = [band for band in known if not drowned(band)]
    found = [
        *_columns(told, every=len(told) == len(bands)),
        *_drowned([band for band in known if drowned(band)], every=not told),
        *_unknown(bands, known),
        *_persons(schema),
        *_counts(known),
        *_models(scores, schema),
    ]
    if len(schema.names) > 1:
        found.append(_links())
    return tuple(sorted(found, key=lambda f: (_ORDER.index(f.level), -f.weight)))


def _columns(known: Sequence[Band], *, every: bool) -> Iterator[Finding]:
    """What is surely wrong, what may be, and what is right."""
    wrong = sorted((b for b in known if _least(b) > CARE_TV), key=lambda b: -_least(b))
    if wrong:
        said = listed([f"{b.column} ({percent(_least(b))})" for b in wrong], SHOWN)
        level = "avoid" if _least(wrong[0]) > AVOID_TV else "care"
        yield Finding(
            level,  # type: ignore[arg-type]
            "Columns",
            f"These differ from the private table by at least this share of the rows: {said.text}. "
            "Do not count with them.",
            _least(wrong[0]),
            said.rest,
        )
    rest = sorted((b for b in known if b not in wrong), key=lambda b: -_most(b))
    doubtful = [b for b in rest if _most(b) > AVOID_TV]
    if doubtful:
        said = listed([f"{b.column} ({_told(b)})" for b in doubtful], SHOWN)
        yield Finding(
            "care",
            "Columns",
            f"Noise hides how right these are; they may be off by so much: {said.text}."
            f"{_seen(doubtful)}",
            _most(doubtful[0]),
            said.rest,
        )
    within = [b for b in rest if _most(b) <= AVOID_TV]
    yield from _in_cells([b for b in within if hidden(b)])
    fine = [b for b in within if not hidden(b)]
    if fine:
        whole = every and len(fine) == len(known)
        which = "Every column is" if whole else f"{len(fine)} columns are"
        least = f" ({fine[0].column} is the least certain), with 95% confidence for each."
        if len(fine) == 1:
            which, least = f"The column {fine[0].column} is", ", with 95% confidence."
        yield Finding(
            "good",
            "Columns",
            f"{which} right to within {percent(_most(fine[0]))} of the rows{least}",
        )


def _told(band: Band) -> str:
    """How far off a column may be, and in what that was told."""
    return f"{percent(_most(band))} {band.told_in}".rstrip()


def _seen(doubtful: Sequence[Band]) -> str:
    """Whether there is a difference beyond noise, and why the largest shares are so large."""
    seen = [band for band in doubtful if _least(band)]
    if not seen:
        return " What was counted shows no difference beyond noise."
    said = listed([f"{band.column} (at least {percent(_least(band))})" for band in seen], SHOWN)
    cells = any(band.stretches is None and band.cells is not None for band in seen)
    why = " That is seen in the cells that were counted, whose noise adds up." if cells else ""
    return f" A difference beyond noise shows in {said.text}.{why}"


def drowned(band: Band) -> bool:
    """Whether there is so much noise that a band says nothing about a column."""
    return _least(band) == 0 and _most(band) > NOTHING


def _drowned(some: Sequence[Band], *, every: bool) -> Iterator[Finding]:
    if not some:
        return
    columns = listed([band.column for band in some], SHOWN)
    which = "any column" if every else columns.text
    yield Finding(
        "care",
        "Columns",
        f"How right {which} may be cannot be told: the table has so few rows that there is as much "
        "noise as there are rows. A larger table, a larger ε or fewer columns would tell.",
        1.0,
        () if every else columns.rest,
    )


def _persons(schema: Schema) -> Iterator[Finding]:
    """What is counted where a person may have several rows."""
    unit = schema.unit
    if unit is not None and unit.rows > 1:
        yield Finding(
            "note",
            "Persons",
            f"A person (‘{unit.column}’) counts as one here, in the private table as in the "
            "synthetic one, and each of its rows as its part of that: where shares of rows are "
            f"named, they are weighed so. Of a person’s private rows {unit.rows} count at most, "
            "drawn at random. How rows of one person go together was not compared.",
        )


def hidden(band: Band) -> bool:
    """Whether so many rows lie in cells of several values that what is inside could be wrong."""
    return (band.inside or 0.0) > CARE_TV


def _in_cells(coarse: Sequence[Band]) -> Iterator[Finding]:
    """Numbers that are right as they were counted, of which nobody has seen the single values."""
    if not coarse:
        return
    ordered = sorted(coarse, key=lambda band: -(band.inside or 0.0))
    said = listed([f"{b.column} ({percent(b.inside or 0.0)})" for b in ordered], SHOWN)
    worst = max(map(_most, coarse))
    yield Finding(
        "note",
        "Inside cells",
        f"In the cells in which they were counted{_or_stretches(coarse)}, these are right to "
        f"within {percent(worst)} of the rows, with 95% confidence for each: "
        f"{said.text}. In parentheses: the largest share of the rows in cells of "
        "several values. Where in its cell a row lies was not compared, so a single value that "
        "many rows share may be lost or spread out.",
        worst,
        said.rest,
    )


def _or_stretches(coarse: Sequence[Band]) -> str:
    return ", or in stretches of these" if any(b.stretches is not None for b in coarse) else ""


def _unknown(bands: Sequence[Band], known: Sequence[Band]) -> Iterator[Finding]:
    if known:
        unknown = [band.column for band in bands if band not in known]
        if unknown:
            said = listed(unknown, SHOWN)
            yield Finding(
                "note",
                "Columns",
                f"How close {said.text} came to the private table was not measured: they are "
                "computed from other columns, by a fact of the schema or from a difference. The "
                "data holder can buy histograms for this page.",
                rest=said.rest,
            )
        return
    if not bands:
        return
    yield Finding(
        "note",
        "Columns",
        "How close the columns are to the private ones is not known here: the method kept no "
        "histograms that could tell. The data holder can buy them for this page.",
    )


def _counts(known: Sequence[Band]) -> Iterator[Finding]:
    """Below which size a count says nothing."""
    widths = [
        float(np.median(b.upper - b.lower)) / 2
        for b in known
        if b.lower is not None and b.upper is not None and b.measured is not None
    ]
    if widths:
        size = float(np.median(widths))
        yield Finding(
            "note",
            "Small groups",
            f"A share that was measured is off by up to about {percent(size)} of all rows, so "
            "groups of that size and below may be noise.",
        )


def _models(scores: Sequence[PaidScore], schema: Schema) -> Iterator[Finding]:
    """Whether what was learned from synthetic rows holds for private ones."""
    first = next(iter(scores), None)
    if first is None:
        return
    if first.value is None or first.error is None:
        yield Finding(
            "note",
            "Prediction",
            "The budget was too small to tell how well models trained on this table do: there is "
            "more noise than rows.",
        )
        return
    gap = first.synthetic - first.value
    sure = gap - first.error
    level = "avoid" if sure > AVOID_AUC else "care" if sure > CARE_AUC else "good"
    ending = {
        "avoid": "The synthetic rows promise more than they hold.",
        "care": "The synthetic rows promise a little more than they hold.",
        "good": "What is learned here holds for private rows.",
    }[level]
    yield Finding(
        level,  # type: ignore[arg-type]
        "Prediction",
        f"A model of {schema.label} trained on synthetic rows reaches {first.name} "
        f"{first.value:.3f} ± {first.error:.1g} on the private rows, and {first.synthetic:.3f} on "
        f"synthetic ones. {ending}",
        max(gap, 0.0),
    )


def _links() -> Finding:
    return Finding(
        "note",
        "Links",
        "How columns go together was not compared with the private table; what is drawn below is "
        "the synthetic table's own. The data holder's confidential evaluation knows.",
    )


def _least(band: Band) -> float:
    return band.at_least or 0.0


def _most(band: Band) -> float:
    return 1.0 if band.at_most is None else band.at_most
