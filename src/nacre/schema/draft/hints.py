"""What column names and types suggest, for a private draft: no row is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer
from nacre.schema.constraints.statement import Word
from nacre.schema.draft.names import words
from nacre.schema.draft.suggested import entry_lines
from nacre.schema.facts.understand import understand_facts
from nacre.schema.schema import Schema

STARTS = "arrival arrive arrived checkin admission admitted admit start started begin opened from"
ENDS = "departure depart departed checkout discharge discharged end ended finish closed until to"
LENGTHS = "nights days stay los duration length"
COUNTED = {"minutes": "min mins minute minutes", "hours": "h hr hrs hour hours"}  # days else
HEAD = """\
# By their names and types alone (no row was looked at): if it holds in every row and is public,
# take the `# ` away, and the column on the left is computed, exactly, and need not be learned.
"""


def name_hints(schema: Schema) -> str:
    """Comments to stand behind a private draft's YAML; nothing if the names suggest nothing."""
    facts = list(_stays(schema))
    lines = ["facts:", *(line for fact in facts for line in entry_lines(fact))]
    return HEAD + "".join(f"# {line}\n" for line in lines) if facts else ""


def _stays(schema: Schema) -> Iterator[str]:
    """`departure = arrival + nights`, where one date starts, one ends and one number counts.

    `stay_min` and `los_hours` say what they count.
    """
    dates = {n: c for n, c in schema.columns.items() if isinstance(c, Datetime)}
    counts = {n: c for n, c in schema.columns.items() if isinstance(c, Integer)}
    starts, ends = (_called(dates, those) for those in (STARTS, ENDS))
    lengths = _called(counts, LENGTHS)
    if len(starts) == len(ends) == len(lengths) == 1 and starts != ends:
        end, start, length = (Word.of_column(each[0]) for each in (ends, starts, lengths))
        units = [unit for unit, those in COUNTED.items() if _called(lengths, those)]
        fact = " ".join([f"{end} = {start} + {length}", *units[:1]])
        if not understand_facts([fact], schema.columns, schema.label, known=True)[2]:
            yield fact


def _called(columns: dict[str, Column] | Iterable[str], those: str) -> list[str]:
    """Columns one of whose words is one of those; `check_in` is one word, too."""
    meant = set(those.split())
    return [n for n in columns if meant & {*words(n), "".join(words(n)), "".join(words(n)[:2])}]
