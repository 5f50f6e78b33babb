"""The schema of a set of images: their size, their colors and their classes, all of it public."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, final

from nacre.schema import document
from nacre.schema.columns.column import as_flag, as_whole, shown
from nacre.schema.errors import SchemaError
from nacre.schema.schema import Schema

KEYS = ("nacre", "label", "provenance", "reviewed", "images", "classes")
FACTS = ("height", "width", "channels", "crop", "resize")
LARGEST = 1024  # pixels along a side
MOST_CLASSES = 1000
PROVENANCES = ("declared", "data")


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class ImageSchema:
    """What is public about a set of images.  Every problem is reported at once.

    Attributes:
        height: of every image, in pixels.
        width: of every image, in pixels.
        channels: 1 for gray, 3 for red, green and blue.
        classes: the values of the label, in order; a number n means "0" to "n - 1". None if the
            images have no label.
        label: what the label is called.
        crop: files are cut to a square of so many pixels around their center first, if given.
        resize: files of another size are brought to this one; else they count as bad.
        provenance: "declared" (known without looking at the images) or "data" (read from them).
        reviewed: a person has found that facts read from the images are public anyway.

    Examples:
        >>> ImageSchema(height=28, width=28, classes=3).classes
        ('0', '1', '2')
    """

    height: int
    width: int
    channels: int = 1
    classes: tuple[str, ...] | None = None
    label: str = "label"
    crop: int | None = None
    resize: bool = False
    provenance: str = "declared"
    reviewed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", _as_classes(self.classes))
        if problems := self._problems():
            raise SchemaError(problems)

    def _problems(self) -> list[str]:
        found = []
        for name in ("height", "width"):
            size = getattr(self, name)
            if not _is_whole(size) or not 1 <= size <= LARGEST:
                found.append(f"{name}={shown(size)} must be a whole number from 1 to {LARGEST}.")
        if self.channels not in (1, 3):
            found.append(f"channels={shown(self.channels)} must be 1 (gray) or 3 (color).")
        if self.crop is not None and (not _is_whole(self.crop) or self.crop < 1):
            found.append(f"crop={shown(self.crop)} must be a whole number of pixels.")
        elif self.crop and self.resize is False and (self.crop,) * 2 != (self.height, self.width):
            found.append(
                f"crop={self.crop} leaves squares of another size than {shown(self.height)} x "
                f"{shown(self.width)}. Say `resize: true` too."
            )
        found += [
            f"{name}={shown(getattr(self, name))} must be true or false."
            for name in ("resize", "reviewed")
            if not isinstance(getattr(self, name), bool)
        ]
        if self.provenance not in PROVENANCES:
            found.append(
                f"provenance={shown(self.provenance)} must be one of {', '.join(PROVENANCES)}."
            )
        return found + self._label_problems()

    def _label_problems(self) -> list[str]:
        if not isinstance(self.label, str) or not self.label:
            return [f"label {shown(self.label)} must be text."]
        if self.label == "image":
            return ["label 'image' is the name of the pixels. Choose another."]
        if self.classes is None:
            return []
        if not isinstance(self.classes, tuple) or not 2 <= len(self.classes) <= MOST_CLASSES:
            return [
                f"classes must list 2 to {MOST_CLASSES} values, or say their number. Leave them "
                "out if the images have no label."
            ]
        empty = ["classes lists an empty value. Give it a name."] * ("" in self.classes)
        twice = sorted({value for value in self.classes if self.classes.count(value) > 1})
        return empty + [f"classes lists {shown(value)} twice." for value in twice]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        return self.height, self.width, self.channels

    @property
    def numbered(self) -> bool:
        """Whether all classes are whole numbers, so that labels are read and written as such.

        Otherwise a label that is a whole number is a place in the list.
        """
        return self.classes is not None and all(
            value.isascii() and value.isdecimal() and str(int(value)) == value
            for value in self.classes
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything the schema says."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def from_rows(self) -> bool:
        """Whether it was read from the images, and a person said or has to say it is public."""
        return self.provenance == "data"

    @property
    def unreviewed(self) -> bool:
        """Whether it was read from the images, and nobody has said yet that it is public."""
        return self.provenance == "data" and not self.reviewed

    def require_usable(self) -> None:
        """Refuse facts that were read from the images and that nobody has reviewed."""
        if self.unreviewed:
            raise SchemaError(
                "This schema was read from the images, so its classes may tell something about "
                "them. Check that size and classes are public, then set `reviewed: true`."
            )

    def with_label(self, label: str | None) -> ImageSchema:
        """The same with its label (by name), or without it (None)."""
        if label is None:
            return dataclasses.replace(self, classes=None)
        if self.classes is None or label != self.label:
            there = "no label" if self.classes is None else f"the label '{self.label}'"
            raise SchemaError(f"These images have {there}, not '{label}'.")
        return self

    # -- files ---------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | PathLike[str]) -> ImageSchema:
        """A schema from its YAML file."""
        return cls.from_dict(document.read(Path(path)))

    @classmethod
    def parse(cls, text: str) -> ImageSchema:
        """A schema from YAML text."""
        return cls.from_dict(document.load(text))

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> ImageSchema:
        """A schema from its plain form; raises `SchemaError`."""
        problems = [f"`{key}` is not known here." for key in map(str, said) if key not in KEYS]
        facts = said.get("images")
        if not isinstance(facts, Mapping):
            raise SchemaError("`images` must be a mapping such as {height: 28, width: 28}.")
        problems += [f"`images`: `{key}` is not known." for key in facts if key not in FACTS]
        problems += [
            f"`images` needs `{key}`." for key in ("height", "width") if facts.get(key) is None
        ]
        if as_whole(said.get("nacre", document.VERSION)) != document.VERSION:
            problems.append(f"nacre: {shown(said['nacre'])} is not a schema version known here.")
        sizes = {key: as_whole(facts[key]) for key in FACTS[:4] if facts.get(key) is not None}
        try:
            found = cls(
                **{"height": 1, "width": 1, **sizes},
                resize=as_flag(facts.get("resize", False)),
                classes=as_whole(said.get("classes")),
                label=said.get("label") or "label",
                provenance=said.get("provenance", "declared"),
                reviewed=as_flag(said.get("reviewed", False)),
            )
        except SchemaError as error:
            raise SchemaError([*problems, *error.problems]) from None
        if problems:
            raise SchemaError(problems)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as YAML and model files have it."""
        said: dict[str, Any] = {"nacre": document.VERSION}
        if self.classes is not None:
            said["label"] = self.label
        said |= {"provenance": self.provenance, "reviewed": self.reviewed}
        facts = {key: getattr(self, key) for key in FACTS}
        said["images"] = {key: value for key, value in facts.items() if value not in (None, False)}
        if self.classes is not None:
            said["classes"] = list(self.classes)
        return said

    def to_yaml(self) -> str:
        """The schema as YAML with comments that explain each field."""
        return document.dump_images(self.to_dict())

    def write(self, path: str | PathLike[str]) -> None:
        """Write the schema to a YAML file."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")


def read_any(path: str | PathLike[str]) -> Schema | ImageSchema:
    """The schema in a YAML file, of a table or of images."""
    said = document.read(Path(path))
    return ImageSchema.from_dict(said) if "images" in said else Schema.read(path)


def _as_classes(given: Any) -> Any:
    """A tuple of texts; what cannot be one is left for `problems` to report."""
    if _is_whole(given):
        given = range(min(given, MOST_CLASSES + 1))
    if isinstance(given, list | tuple | range):
        return tuple(map(str, given))
    return given


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
