"""The tables that a model was made from, for people: counts with intervals, free of charge."""

from nacre.answers.answer import Answer, answer, answers, as_columns
from nacre.answers.computed import computed_measurements
from nacre.answers.measurements import as_measurements
from nacre.answers.told import told_measurements, told_tables

__all__ = [
    "Answer",
    "answer",
    "answers",
    "as_columns",
    "as_measurements",
    "computed_measurements",
    "told_measurements",
    "told_tables",
]
