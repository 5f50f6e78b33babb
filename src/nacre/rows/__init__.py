"""From what people hold to rows that functions see, and back.

What rows are called, on their way in and out:

- a `Reading` is one column of a batch as integers, with what was wrong where;
- `Encoded` are whole rows of a table as integers, read or drawn, and which of them are valid;
- a `Row` is what a function of one row is given, for tables; an `Image`, for images;
- `Images` are images as generators draw them;
- a `Block` is what streams carry, for any encoder: such rows, and which of them count.
"""

from nacre.rows.encoder import AbstractEncoder, Block, Label
from nacre.rows.errors import SourceError
from nacre.rows.image import Image, ImageEncoder, Images
from nacre.rows.source import Source, open_source
from nacre.rows.stream import Stream
from nacre.rows.table import Row, TableEncoder

__all__ = [
    "AbstractEncoder",
    "Block",
    "Image",
    "ImageEncoder",
    "Images",
    "Label",
    "Row",
    "Source",
    "SourceError",
    "Stream",
    "TableEncoder",
    "open_source",
]
