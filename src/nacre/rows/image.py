"""Images through their schema: pixels as bytes, and a class."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.rows.encoder import AbstractEncoder, Block, Label
from nacre.rows.image_batches import PIXELS
from nacre.rows.image_labels import labels_of
from nacre.rows.image_source import open_images
from nacre.rows.source import Source, Watch
from nacre.schema import Code, Encoded, ImageSchema, Layout, Number, SchemaError


class Image(NamedTuple):
    """One image as a function of one row sees it, or many: integers only, hence exact.

    Attributes:
        pixels: uint8, [height, width, channels].
        label: int32, the place of its class in the public list; 0 where there is no label.
    """

    pixels: Any
    label: Any

    @property
    def numbers(self) -> Any:
        """The pixels of one image as the numbers of a row of a table, int32."""
        return self.pixels.reshape(-1).astype("int32")

    @property
    def codes(self) -> Any:
        """The class of one image as the codes of a row of a table."""
        return self.label[None]


class IsClass(NamedTuple):
    """What is asked of images: to be of one of these classes."""

    name: str
    codes: frozenset[int]
    text: str


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Images:
    """Images as generators draw them.

    Attributes:
        pixels: uint8, [n, height, width, channels].
        labels: the place of each one's class in the public list; None if they have none.
    """

    pixels: NDArray[np.uint8]
    labels: NDArray[np.integer] | None

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, rows: Any) -> Images:
        return Images(self.pixels[rows], None if self.labels is None else self.labels[rows])

    @property
    def valid(self) -> NDArray[np.bool_]:
        """All of them can be decoded."""
        return np.ones(len(self), np.bool_)


class ImageCheck(NamedTuple):
    """How many images there are, cannot be read, and have no label among the classes."""

    rows: int
    unreadable: int
    strange: int

    @property
    def ok(self) -> bool:
        """Whether all of them fit."""
        return not self.unreadable and not self.strange

    def describe(self, schema: ImageSchema) -> str:
        """The same in words."""
        if self.ok:
            return f"All {self.rows:,} images fit."
        lines = [f"Of {self.rows:,} images"]
        if self.unreadable:
            other = "" if schema.resize else " Say `resize: true` if other sizes may be."
            size = f"{schema.height} x {schema.width}"
            lines.append(f"  {self.unreadable:,} cannot be read as {size} pixels.{other}")
        if self.strange:
            lines.append(f"  {self.strange:,} have a label that is not among the classes, or none.")
        return "\n".join(lines)


class Pictures(NamedTuple):
    """Images as people hold them.

    Attributes:
        images: uint8, [n, height, width], and channels as a last axis if there are three.
        labels: whole numbers if all classes are such, text otherwise; None if there are none.
    """

    images: NDArray[np.uint8]
    labels: NDArray[Any] | None


def as_arrays(table: pa.Table, schema: ImageSchema) -> Pictures:
    """What `ImageEncoder.decode` made, as arrays."""
    shape = schema.shape if schema.channels > 1 else schema.shape[:2]
    column = table[PIXELS]
    flat = [part.flatten().to_numpy() for part in column.chunks]
    images = np.concatenate([np.zeros(0, np.uint8), *flat]).reshape(-1, *shape)
    if schema.classes is None:
        return Pictures(images, None)
    kind = np.int64 if schema.numbered else np.str_
    return Pictures(images, np.asarray(table[schema.label].to_pylist(), kind))


@final
@dataclasses.dataclass(frozen=True)
class ImageEncoder(AbstractEncoder):
    """Images of one size, gray or in color, with a class each or without.

    Attributes:
        schema: what is public about them.
    """

    kind = "image"

    schema: ImageSchema

    @property
    def at_once(self) -> int:
        """As many as have 2^25 pixels; a generator holds each of them as a number or several."""
        return max(1, min(1 << 16, (1 << 25) // math.prod(self.schema.shape)))

    @property
    def shape(self) -> Image:
        """One image."""
        import jax
        import jax.numpy as jnp

        pixels = jax.ShapeDtypeStruct(self.schema.shape, jnp.uint8)
        return Image(pixels, jax.ShapeDtypeStruct((), jnp.int32))

    @property
    def label(self) -> Label | None:
        """The class, if there are classes."""
        schema = self.schema
        return None if schema.classes is None else Label(schema.label, len(schema.classes))

    @cached_property
    def layout(self) -> Layout:
        """An image as a row of a table: a number a pixel, and the class as the one code."""
        pixels = tuple(
            Number(f"pixel {place}", 255) for place in range(math.prod(self.schema.shape))
        )
        label = self.label
        return Layout(pixels, () if label is None else (Code(label.name, label.classes),))

    def place(self, label: Label | None) -> int | None:
        """The label's place among the codes of the layout."""
        return None if label is None else 0

    @property
    def target(self) -> None:
        """No pixel is a label."""
        return

    @property
    def digest(self) -> str:
        """The schema's own."""
        return self.schema.digest

    def require_usable(self) -> None:
        """Refuse a schema that was read from the images and that nobody has reviewed."""
        self.schema.require_usable()

    # -- the way in ----------------------------------------------------------------------------

    def open(self, data: Any) -> Source:
        """A stream over arrays, a file or a folder."""
        return open_images(data, self.schema)

    def count(self, source: Source, watch: Watch = iter) -> ImageCheck:
        """How many images there are, and how many cannot be used.  The holder's view."""
        rows = unreadable = strange = 0
        for batch in watch(source.batches()):
            rows += batch.num_rows
            there = np.asarray(batch.column(PIXELS).is_valid())
            unreadable += int(np.count_nonzero(~there))
            strange += int(np.count_nonzero(there & ~self.encode(batch).valid))
        return ImageCheck(rows, unreadable, strange)

    def check(self, source: Source, watch: Watch) -> int:
        """How many images there are, or how many cannot be used and why."""
        found = self.count(source, watch)
        if not found.ok:
            raise SchemaError(
                f"{source.name} does not fit the schema; nothing was spent. "
                f"{found.describe(self.schema)}\n"
                "Correct the schema or the images; or pass bad_rows='zero' (--bad-rows zero) "
                "to go on with the images as they are."
            )
        return found.rows

    def encode(self, batch: pa.RecordBatch) -> Block:
        """Bytes and places in the list of classes; elementwise."""
        column = batch.column(PIXELS)
        valid = np.asarray(column.is_valid())
        size = int(np.prod(self.schema.shape))
        flat = np.zeros((batch.num_rows, size), np.uint8)
        if column.null_count == 0:
            # A slice of a column keeps its whole buffer.
            start, count = column.offset * size, batch.num_rows * size
            flat[:] = np.frombuffer(column.buffers()[1], np.uint8, count, start).reshape(-1, size)
        else:
            for place in np.flatnonzero(valid):
                flat[place] = np.frombuffer(column[int(place)].as_buffer(), np.uint8)
        label = np.zeros(batch.num_rows, np.int32)
        if self.schema.classes is not None:
            label, known = labels_of(batch.column(self.schema.label), self.schema)
            valid = valid & known
        return Block(Image(flat.reshape(-1, *self.schema.shape), label), valid)

    def classes(self, rows: Image, label: Label) -> Any:
        """The class of each image."""
        if label != self.label:
            raise NacreError(f"'{label.name}' with {label.classes} classes is not the label here.")
        return rows.label

    def units(self, row: Image) -> Any:
        """The pixels of one image in [0, 1], as float32."""
        import jax.numpy as jnp

        return row.pixels.astype(jnp.float32) / 255

    # -- the way out ---------------------------------------------------------------------------

    def settle(self, drawn: Images | Encoded, rng: np.random.Generator) -> Images:
        """Images; also from rows of the layout."""
        if isinstance(drawn, Images):
            return drawn
        pixels = drawn.ticks.astype(np.uint8).reshape(-1, *self.schema.shape)
        return Images(pixels, None if self.label is None else drawn.codes[:, 0])

    def rules(self, where: Mapping[str, Any] | None) -> tuple[IsClass, ...]:
        """Only the label can be asked for, by one value or several."""
        found = []
        for name, wanted in (where or {}).items():
            if self.schema.classes is None or name != self.schema.label:
                there = "nothing" if self.schema.classes is None else f"'{self.schema.label}'"
                raise NacreError(f"Images can be asked for by {there} only, not by '{name}'.")
            values = wanted if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
            codes = frozenset(self._code(value) for value in values)
            if not codes:
                raise NacreError(f"No class is asked for: give '{name}' at least one value.")
            found.append(IsClass(name, codes, f"{name} = {', '.join(map(str, values))}"))
        return tuple(found)

    def _code(self, value: Any) -> int:
        classes = self.schema.classes or ()
        text = str(value)
        if text not in classes:
            shown = ", ".join(classes[:12]) + (", ..." if len(classes) > 12 else "")
            raise NacreError(f"There is no class '{text}'. The classes are: {shown}.")
        return classes.index(text)

    def fixed(self, rules: Sequence[IsClass]) -> dict[Any, int]:
        """The label, if one value is left, by its place among the layout's codes."""
        if not rules:
            return {}
        left = frozenset.intersection(*(rule.codes for rule in rules))
        if not left:
            raise NacreError("No image can be drawn: the classes that are asked for exclude.")
        return {0: next(iter(left))} if len(left) == 1 else {}

    def holds(self, rows: Images, rules: Sequence[IsClass]) -> list[NDArray[np.bool_]]:
        """For each rule, which images satisfy it."""
        labels = np.zeros(len(rows)) if rows.labels is None else rows.labels
        return [np.isin(labels, list(rule.codes)) for rule in rules]

    def decode(self, rows: Images) -> pa.Table:
        """Pixels as lists of bytes, and the class as the schema writes it."""
        pixels = np.ascontiguousarray(rows.pixels, np.uint8)
        if pixels.shape[1:] != self.schema.shape:
            raise NacreError("The images are not of the schema's size.")
        flat = pa.array(pixels.reshape(-1))
        columns = {PIXELS: pa.FixedSizeListArray.from_arrays(flat, int(np.prod(pixels.shape[1:])))}
        if self.schema.classes is not None:
            values: list[Any] = list(self.schema.classes)
            if self.schema.numbered:
                values = [int(value) for value in values]
            columns[self.schema.label] = pa.array(values).take(pa.array(rows.labels, pa.int32()))
        return pa.table(columns)

    # -- files ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The schema."""
        return {"schema": self.schema.to_dict()}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls(ImageSchema.from_dict(said["schema"]))
