"""draft(): a first schema from the rows of a frame or a file, which a person has to review."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from nacre.draft.counted import as_unit, to_choose
from nacre.draft.persons import of_persons
from nacre.rows import open_source
from nacre.schema import Unit, survey
from nacre.schema.draft.found import Draft


def draft(
    data: Any,
    *,
    label: str | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    most_values: int | None = None,
    rare: str = "keep",
    unit: Unit | Mapping[str, Any] | None = None,
    every_rule: bool = False,
) -> Draft:
    """A first schema of `data`, read from its rows: not private, and to be reviewed by a person.

    `draft.schema` is the schema, which a fit refuses until it says `reviewed`; `draft.to_yaml()`
    and `draft.write(path)` give it with comments on what was guessed, what few rows hold, and
    which facts all rows keep; `draft.describe()` says in short what to look at.

    Args:
        data: a pandas, polars or Arrow table, or the path of a CSV or Parquet file or a folder.
        label: the column to be predicted; whole numbers there are taken as classes if they are
            few.
        drop: columns to leave out.
        keep: columns that are no identifiers, even if they look like it.
        most_values: text with more distinct values than this is left out, not listed. If not
            given, a tenth of the rows, but at least 100 and at most 1,000.
        rare: "keep" lists values that fewer than 10 rows hold, and marks them; "other" gathers
            them.
        unit: whose privacy it is, where a person may have several rows: {"column": "patient",
            "rows": 5}.  Then persons are counted instead of rows, and columns that do not change
            within a person are named.  With "rows": "auto" so many rows count as are enough for 95%
            of the persons, which is read from the rows like the rest.
        every_rule: offer all constraints that the rows keep, not only the first of each kind.

    Releases:
        bounds and values of the rows, so it is outside any privacy guarantee.
    """
    found = survey(
        open_source(data).whole,
        label=label,
        drop=drop,
        keep=keep,
        most_values=most_values,
        rare=rare,
        unit=as_unit(unit),
        every_rule=every_rule,
    )
    return of_persons(found, data, gather=rare == "other", choose=to_choose(unit))
