"""A table in parts on several machines: work goes to the parts, small answers come back.

Only `rows` and `vault` write such work, so the wall is where it was: what a worker computes of its
part is what one machine would have computed of the same rows, and no row travels.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

from nacre.errors import NacreError
from nacre.rows.errors import SourceError
from nacre.rows.pieces import Passing

if TYPE_CHECKING:
    import pyarrow as pa

    from nacre.rows.source import Source

FAN = 8  # answers that are added at one place of the tree

APART = (
    "This needs all rows in one place, and they are in parts on {name}. Step-wise training, votes "
    "and views of rows read them many times over: there only the methods that ask for sums can be "
    "used (mosaic, pearl, merf, functional, mst, aim). Choose one of them; or fit a random part of "
    "the rows on one machine, without an engine. Nothing was spent."
)


class AbstractWork(abc.ABC):
    """What is done with each part of a table, and how two answers become one.

    Adding must not depend on order: integers, or counts by name.  Everything in it is public, and
    it can be pickled, so that it may be sent to workers.
    """

    @abc.abstractmethod
    def __call__(self, source: Source) -> Any:
        """The answer of one part.  NOT private."""

    @abc.abstractmethod
    def add(self, one: Any, other: Any) -> Any:
        """The answer of two parts together."""

    def finish(self, total: Any) -> Any:
        """The answer of all parts, looked at once more where it is wanted."""
        return total


class AbstractParts(abc.ABC):
    """A table in parts, on an engine that can run a function on each of them.

    Attributes:
        name: how messages call it.
        kind: what `Model.sample` gives back.
        columns: the names of its columns.
        types: the Arrow types that Parquet files declare, or None.
    """

    kind: ClassVar[str] = "file"
    name: str
    columns: tuple[str, ...]
    types: pa.Schema | None

    @abc.abstractmethod
    def run(self, task: Task) -> Any:
        """`task` on every part, and `task.add` in a tree until one answer is left."""


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Failure:
    """What went wrong at a part, in words without a private value."""

    said: str
    ours: bool


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Task:
    """Work on a part as an engine runs it: it opens the part, and it never raises.

    Engines write the arguments of a function that failed into their logs, and those of ours would
    be rows.  So an error comes back as an answer, and is raised where the work was asked for.

    Attributes:
        work: what is to be done.
        wanted: the schema or the columns with which each part is opened.
        also: columns that are needed beside those of the schema.
    """

    work: AbstractWork
    wanted: Any
    also: tuple[str, ...] = ()

    def __call__(self, part: Any) -> Any:
        """The answer of one part, or a `Failure`."""
        from nacre.rows.source import open_source

        try:
            return self.work(open_source(part, self.wanted, also=self.also))
        except NacreError as error:
            return Failure(str(error), ours=True)
        except Exception as error:  # in words of our own: others' messages may quote a row
            return Failure(type(error).__name__, ours=False)

    def add(self, answers: Iterable[Any]) -> Any:
        """Some answers as one; a failure stays one."""
        total: Any = None
        for answer in answers:
            if isinstance(answer, Failure):
                return answer
            total = answer if total is None else self.work.add(total, answer)
        return total


def reduce_parts(parts: AbstractParts, task: Task) -> Any:
    """The answer of the whole table.  NOT private."""
    try:
        total = parts.run(task)
    except NacreError:
        raise
    except Exception as error:  # the engine's own, whose message may quote a row of a frame
        raise SourceError(
            f"{parts.name} stopped with {type(error).__name__} before all parts were worked off. "
            "Its own logs say more. Nothing was spent."
        ) from None
    if total is None:  # no part at all: as a table without rows, which looks like any other
        total = task(Passing(parts.columns, iter(())))
    if isinstance(total, Failure):
        if total.ours:
            raise SourceError(total.said)
        raise SourceError(
            f"A worker of {parts.name} could not read its part of the table ({total.said}). Does "
            "it see the same files, and has it the same versions of nacre, JAX and pyarrow as this "
            "process? Nothing was spent."
        )
    return task.work.finish(total)


def tree(answers: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """One node of a graph from many, a few at a time; `add` makes a node of several."""
    while len(answers) > 1:
        answers = [add(answers[place : place + FAN]) for place in range(0, len(answers), FAN)]
    return answers[0]
