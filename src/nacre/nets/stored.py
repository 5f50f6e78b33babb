"""What the fields of a generator may hold: how they are written to a model file, and read from it.

A field says it once, as in `stored.field(stored.Array("R", "C", low=0))`; that it is saved, and
that a file which says something else is refused in a sentence, follows.  Axes of one name are
equally long in all arrays of a generator.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import Any, final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nacre.errors import NacreError

PART, ENCODER = "part", "encoder"  # in the metadata of a field
LARGEST = float(np.finfo(np.float64).max)
ROUNDING = 1e-6  # by which a sum of shares may be below what it should be


def field(part: AbstractPart, **options: Any) -> Any:
    """A field that a model file keeps; `options` are those of `dataclasses.field`."""
    return dataclasses.field(metadata={PART: part}, **options)


def from_encoder(attribute: str) -> Any:
    """A field that is not kept, as it is an attribute of the encoder, which the file has too."""
    return dataclasses.field(metadata={ENCODER: attribute})


def record(cls: type) -> Record:
    """The fields of a generator that are kept."""
    fields = dataclasses.fields(cls)
    return Record(cls, {each.name: each.metadata[PART] for each in fields if PART in each.metadata})


def public(cls: type, encoder: Any) -> dict[str, Any]:
    """The fields of a generator that come from the encoder."""
    fields = [each for each in dataclasses.fields(cls) if ENCODER in each.metadata]
    return {each.name: getattr(encoder, each.metadata[ENCODER]) for each in fields}


@final
@dataclasses.dataclass(frozen=True)
class Arrays:
    """The arrays of a model file by name, and how long their named axes are, once one is read."""

    found: Mapping[str, NDArray[Any]]
    axes: dict[str, int] = dataclasses.field(default_factory=dict)


class AbstractPart(abc.ABC):
    """One value of a generator in a model file.  A stranger may have written the file.

    `path` is the value's place in the generator, and the name of its array if it has one.
    """

    @abc.abstractmethod
    def save(self, value: Any, path: str, arrays: dict[str, NDArray[Any]]) -> Any:
        """The value for JSON; what is too large for that is put into `arrays`."""

    @abc.abstractmethod
    def load(self, said: Any, path: str, arrays: Arrays) -> Any:
        """The inverse of `save`; raises ValueError for anything else."""


@final
class Array(AbstractPart):
    """An array of finite numbers; JSON has its name."""

    def __init__(
        self,
        *shape: str | int | EllipsisType | None,
        dtype: DTypeLike = np.float32,
        kept: DTypeLike | None = None,
        low: float = -math.inf,
        distribution: int = 0,
        optional: bool = False,
    ):
        """Say what the array may be.

        Args:
            *shape: a length, a name or None (of any length) for each axis; or `...` for
                axes of any number and length.
            dtype: of the array in memory.
            kept: of the array in the file, if that is another.
            low: what no entry is below.
            distribution: over how many of the last axes probabilities add up to one; they are
                made to.
            optional: whether there may be None instead.
        """
        self.shape, self.low, self.distribution, self.optional = shape, low, distribution, optional
        self.dtype, self.kept = np.dtype(dtype), np.dtype(kept or dtype)

    def save(self, value: Any, path: str, arrays: dict[str, NDArray[Any]]) -> str | None:
        """The name of the array, which is put into `arrays`."""
        if value is None and self.optional:
            return None
        arrays[path] = self._sound(np.asarray(value, self.kept), path)
        return path

    def _sound(self, array: NDArray[Any], path: str) -> NDArray[Any]:
        """What `load` will take: rounding below `low` is mended, anything else is a mistake."""
        if not np.isfinite(array).all() or (array < self.low - ROUNDING).any():
            raise NacreError(
                f"'{path}' of the generator holds something else than it should, so that the file "
                "could not be opened again. Please report it. The model in memory can be used."
            )
        return np.maximum(array, self.low) if self.low > -math.inf else array

    def load(self, said: Any, path: str, arrays: Arrays) -> NDArray[Any] | None:
        """The array of that name, if it is as it should be."""
        if said is None and self.optional:
            return None
        # No other name: many could share one array, and take far more memory than the file.
        if said != path or path not in arrays.found:
            raise NacreError(f"The generator has no array '{path}'.")
        given = arrays.found[path]
        self._check_shape(given.shape, path, arrays.axes)
        if not np.can_cast(given.dtype, self.dtype, "same_kind"):
            raise NacreError(f"'{path}' of the generator holds {given.dtype}, not {self.dtype}.")
        with np.errstate(over="ignore"):
            array = np.asarray(given, self.dtype)
        if not np.isfinite(array).all() or (array < self.low).any():
            raise NacreError(f"'{path}' of the generator holds something else than it should.")
        return self._normalized(array, path) if self.distribution else array

    def _check_shape(self, shape: tuple[int, ...], path: str, axes: dict[str, int]) -> None:
        if ... in self.shape:
            return
        if len(shape) != len(self.shape):
            raise NacreError(
                f"'{path}' of the generator has {len(shape)} axes, not {len(self.shape)}."
            )
        for side, wanted in zip(shape, self.shape, strict=True):
            if isinstance(wanted, str):
                wanted = axes.setdefault(wanted, side)
            if wanted not in (None, side):
                raise NacreError(
                    f"'{path}' of the generator has an axis of length {side}, not {wanted}."
                )

    def _normalized(self, array: NDArray[Any], path: str) -> NDArray[Any]:
        with np.errstate(over="ignore"):
            total = array.sum(tuple(range(-self.distribution, 0)), keepdims=True)
        if not ((total > 0) & (total < np.inf)).all():
            raise NacreError(f"'{path}' of the generator holds probabilities of no total.")
        return np.asarray(array / total)


@final
class Whole(AbstractPart):
    """A whole number from `low` to `high`, or None where that is allowed."""

    def __init__(self, *, low: float = -math.inf, high: float = math.inf, optional: bool = False):
        self.low, self.high, self.optional = low, high, optional

    def save(self, value: Any, path: str, arrays: dict[str, NDArray[Any]]) -> int | None:
        """The number itself."""
        return None if value is None else int(value)

    def load(self, said: Any, path: str, arrays: Arrays) -> int | None:
        """The number, if it lies in its range."""
        if said is None and self.optional:
            return None
        if isinstance(said, bool) or not isinstance(said, int) or not self.low <= said <= self.high:
            raise NacreError(f"'{path}' of the generator is not a whole number in its range.")
        return said


@final
class Real(AbstractPart):
    """A finite number from `low` to `high`, or None where that is allowed."""

    def __init__(self, *, low: float = -math.inf, high: float = math.inf, optional: bool = False):
        self.low, self.high, self.optional = low, high, optional

    def save(self, value: Any, path: str, arrays: dict[str, NDArray[Any]]) -> float | None:
        """The number itself."""
        return None if value is None else float(value)

    def load(self, said: Any, path: str, arrays: Arrays) -> float | None:
        """The number, if it lies in its range."""
        if said is None and self.optional:
            return None
        number = isinstance(said, int | float) and not isinstance(said, bool)
        # Compared before it is converted: a whole number may be too large for that.
        if not number or not max(self.low, -LARGEST) <= said <= min(self.high, LARGEST):
            raise NacreError(f"'{path}' of the generator is not a number in its range.")
        return float(said)


@final
class Many(AbstractPart):
    """Several values of one kind, in a tuple or a list."""

    def __init__(self, part: AbstractPart, kind: type[tuple] | type[list] = tuple):
        self.part, self.kind = part, kind

    def save(self, value: Iterable[Any], path: str, arrays: dict[str, NDArray[Any]]) -> list[Any]:
        """A list."""
        return [self.part.save(each, f"{path}.{place}", arrays) for place, each in enumerate(value)]

    def load(self, said: Any, path: str, arrays: Arrays) -> Any:
        """The values."""
        if not isinstance(said, list):
            raise NacreError(f"'{path}' of the generator is not a list.")
        return self.kind(
            self.part.load(each, f"{path}.{place}", arrays) for place, each in enumerate(said)
        )


@final
class Record(AbstractPart):
    """An instance of a class, made from its named parts."""

    def __init__(self, cls: type, parts: Mapping[str, AbstractPart]):
        self.cls, self.parts = cls, dict(parts)

    def save(self, value: Any, path: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """A mapping."""
        return {
            name: part.save(getattr(value, name), _join(path, name), arrays)
            for name, part in self.parts.items()
        }

    def load(self, said: Any, path: str, arrays: Arrays) -> Any:
        """The instance."""
        return self.cls(**self.values(said, path, arrays))

    def values(self, said: Any, path: str, arrays: Arrays) -> dict[str, Any]:
        """The parts of the instance."""
        if not isinstance(said, Mapping) or set(said) != set(self.parts):
            whole = f"'{path}' of the generator" if path else "The generator"
            raise NacreError(f"{whole} does not consist of {', '.join(sorted(self.parts))}.")
        return {
            name: part.load(said[name], _join(path, name), arrays)
            for name, part in self.parts.items()
        }


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
