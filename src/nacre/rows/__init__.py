"""From what people hold to rows that functions see, and back."""

from nacre.rows.source import Source, SourceError, open_source

__all__ = ["Source", "SourceError", "open_source"]
