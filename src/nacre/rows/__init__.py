"""From what people hold to rows that functions see, and back."""

from nacre.rows.errors import SourceError
from nacre.rows.source import Source, open_source

__all__ = ["Source", "SourceError", "open_source"]
