"""What is public about a table: column types, bounds and values; encode and decode, stateless."""

from nacre.schema.cast import as_types
from nacre.schema.check import Check
from nacre.schema.columns.category import Boolean, Categorical, Ordinal
from nacre.schema.columns.clock import Time
from nacre.schema.columns.column import Column
from nacre.schema.columns.moment import Datetime
from nacre.schema.columns.numeric import Integer, Real
from nacre.schema.constraints.constraint import Constraint
from nacre.schema.draft.draft import draft, survey
from nacre.schema.errors import SchemaError
from nacre.schema.images import ImageSchema, read_any
from nacre.schema.layout import Code, Encoded, Layout, Number, Tie
from nacre.schema.line import Line
from nacre.schema.schema import KEEP, Schema
from nacre.schema.stated import stated_types
from nacre.schema.unit import Unit

__all__ = [
    "KEEP",
    "Boolean",
    "Categorical",
    "Check",
    "Code",
    "Column",
    "Constraint",
    "Datetime",
    "Encoded",
    "ImageSchema",
    "Integer",
    "Layout",
    "Line",
    "Number",
    "Ordinal",
    "Real",
    "Schema",
    "SchemaError",
    "Tie",
    "Time",
    "Unit",
    "as_types",
    "draft",
    "read_any",
    "stated_types",
    "survey",
]
