"""Settings: what each means, in which range a fit can serve it, and values typed by a person."""

from __future__ import annotations

import dataclasses
import numbers
import types
import typing
from typing import Any

from nacre.errors import NacreError

MOST = 8  # numbers in a setting that is a list, such as the widths of layers
WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text"}


def setting(
    default: Any,
    meaning: str,
    *,
    low: float | None = None,
    high: float | None = None,
    or_zero: bool = False,
) -> Any:
    """A field of a method: its default, what it means in one line, and the range of a number.

    The CLI's options, the docs and `settle` are made from it.  With `or_zero` a number may also be
    zero, which means 'none of it'.
    """
    facts = {"meaning": meaning, "low": low, "high": high, "or_zero": or_zero}
    return dataclasses.field(default=default, metadata=facts)


def settle(method: Any) -> None:
    """Check each number against its range, both ends included, and each word, when it is made.

    A method whose settings were accepted must not stop for them later, when budget has been
    charged.  Whether a setting is whole follows from its default; NumPy's numbers become Python's.
    A list with a range is one of whole numbers.
    """
    kinds = typing.get_type_hints(type(method))
    for field in dataclasses.fields(method):
        words = kinds[field.name]
        if typing.get_origin(words) is typing.Literal:
            if getattr(method, field.name) not in typing.get_args(words):
                raise NacreError(
                    f"{field.name} must be {in_words(words)}, got {getattr(method, field.name)!r}."
                )
            continue
        low, high = field.metadata.get("low"), field.metadata.get("high")
        if low is None or high is None:
            continue
        value, default = getattr(method, field.name), field.default
        if isinstance(default, tuple):
            object.__setattr__(method, field.name, _several(field.name, value, low, high, default))
            continue
        kind = typing.cast("type[Any]", type(default))
        wanted = numbers.Integral if kind is int else numbers.Real
        number = isinstance(value, wanted) and not isinstance(value, bool)
        nothing = field.metadata["or_zero"]
        if not number or not (low <= value <= high or (nothing and value == 0)):
            raise NacreError(
                f"{field.name} must be {WORDS[kind.__name__]} from {low:,.10g} to {high:,.10g}"
                f"{' (or 0)' if nothing else ''}, got {value!r}. The default is {field.default}."
            )
        object.__setattr__(method, field.name, kind(value))


def _several(name: str, value: Any, low: float, high: float, default: Any) -> tuple[int, ...]:
    """A few whole numbers, each within the range."""
    listed = isinstance(value, (tuple, list)) and len(value) <= MOST
    whole = listed and all(
        isinstance(v, numbers.Integral) and not isinstance(v, bool) for v in value
    )
    if not whole or not all(low <= v <= high for v in value):
        raise NacreError(
            f"{name} must be at most {MOST} whole numbers from {low:,.10g} to {high:,.10g}, got "
            f"{value!r}. The default is {default}."
        )
    return tuple(int(v) for v in value)


def as_data(method: Any) -> dict[str, Any]:
    """The settings of a method as JSON has them: lists in place of tuples."""
    facts = dataclasses.asdict(method)
    return {name: list(v) if isinstance(v, tuple) else v for name, v in facts.items()}


def parse(text: str, kind: Any) -> Any:
    """A value typed by a person, as the type that a setting is annotated with; or ValueError.

    Examples:
        >>> parse("64,32", tuple[int, ...])
        (64, 32)
        >>> parse("none", int | None) is None
        True
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if type(None) in inner and text.lower() in ("none", "null", ""):
            return None
        return _first(text, [each for each in inner if each is not type(None)])
    if origin is typing.Literal:
        if text not in inner:
            raise ValueError(text)
        return text
    if origin is tuple:
        parts = [part.strip() for part in text.strip("()[] ").split(",") if part.strip()]
        return tuple(parse(part, inner[0]) for part in parts)
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(text)
        return text.lower() == "true"
    return kind(text)


def _first(text: str, kinds: list[Any]) -> Any:
    """The value as the first of some types that it can be."""
    for kind in kinds:
        try:
            return parse(text, kind)
        except ValueError:
            continue
    raise ValueError(text)


def in_words(kind: Any) -> str:
    """A type as people say it."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("none" if each is type(None) else in_words(each) for each in inner)
    if origin is typing.Literal:
        return " or ".join(map(str, inner))
    if origin is tuple:
        return f"a list such as 64,32, each {in_words(inner[0])}"
    return WORDS.get(getattr(kind, "__name__", ""), "text")
