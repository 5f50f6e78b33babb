"""From what people hold to rows that functions see, and back."""

from nacre.rows.encoder import AbstractEncoder, Block, Label
from nacre.rows.errors import SourceError
from nacre.rows.source import Source, open_source
from nacre.rows.stream import Stream
from nacre.rows.table import Row, TableEncoder

__all__ = [
    "AbstractEncoder",
    "Block",
    "Label",
    "Row",
    "Source",
    "SourceError",
    "Stream",
    "TableEncoder",
    "open_source",
]
