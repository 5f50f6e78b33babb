"""What is public about a table: column types, bounds and values; encode and decode, stateless."""

from nacre.schema.cast import as_types
from nacre.schema.category import Boolean, Categorical, Ordinal
from nacre.schema.check import Check
from nacre.schema.column import Column
from nacre.schema.constraint import Constraint
from nacre.schema.draft import draft, survey
from nacre.schema.errors import SchemaError
from nacre.schema.layout import Code, Encoded, Layout, Number
from nacre.schema.moment import Datetime
from nacre.schema.numeric import Integer, Real
from nacre.schema.schema import KEEP, Schema
from nacre.schema.stated import stated_types

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
    "Integer",
    "Layout",
    "Number",
    "Ordinal",
    "Real",
    "Schema",
    "SchemaError",
    "as_types",
    "draft",
    "stated_types",
    "survey",
]
