"""Tables on Spark: a DataFrame by `mapInArrow`, or files that its executors read.

Spark runs a task again where an executor was lost, and takes one answer of each.
"""

from __future__ import annotations

import contextlib
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, final

import pyarrow as pa

from nacre.errors import MissingExtra, NacreError
from nacre.rows.parts import AbstractParts, Task
from nacre.rows.pieces import Passing, pieces_of
from nacre.rows.source import open_source

ANSWER = pa.schema([("answer", pa.binary())])
Batches = Iterable[pa.RecordBatch]


@final
class SparkFrame(AbstractParts):
    """The partitions of a Spark DataFrame, which pass through `mapInArrow`, with Connect too.

    Its types count as unknown: where Spark inferred them, rows decided them.
    """

    types = None

    def __init__(self, frame: Any):
        self.name, self.columns = "Spark", tuple(frame.columns)
        if len(set(self.columns)) != len(self.columns):
            raise NacreError("Two columns of the frame have the same name. Rename one of them.")
        self._frame = frame

    def run(self, task: Task) -> Any:
        """See `AbstractParts`; a tree of two levels, as wide at its foot as at its top."""
        wanted = _columns(task)
        chosen = self._frame.select(*(f"`{name.replace('`', '``')}`" for name in wanted))
        answers = chosen.mapInArrow(_on_partition(task, tuple(wanted)), "answer binary")
        some = max(1, math.isqrt(self._partitions()))
        added = answers.repartition(some).mapInArrow(_on_answers(task), "answer binary")
        return task.add([pickle.loads(bytes(row[0])) for row in added.collect()])

    def _partitions(self) -> int:
        """How many partitions there are; a guess where Connect does not say."""
        try:
            return int(self._frame.rdd.getNumPartitions())
        except Exception:  # pyspark.errors.PySparkNotImplementedError and its elders
            return 64


def _columns(task: Task) -> list[str]:
    """The columns that the parts are opened with."""
    names = getattr(task.wanted, "names", task.wanted)
    return [*names, *task.also]


def _on_partition(task: Task, columns: tuple[str, ...]) -> Callable[[Batches], Batches]:
    def work(batches: Batches) -> Batches:
        yield _packed(task(Passing(columns, iter(batches))))

    return work


def _on_answers(task: Task) -> Callable[[Batches], Batches]:
    def work(batches: Batches) -> Batches:
        found = (pickle.loads(cell) for batch in batches for cell in batch.column(0).to_pylist())
        if (total := task.add(found)) is not None:
            yield _packed(total)

    return work


def _packed(answer: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([pickle.dumps(answer)], pa.binary())], schema=ANSWER
    )


@final
class SparkFiles(AbstractParts):
    """Files that Spark's executors read with nacre's own reader, as one machine would."""

    def __init__(self, name: str, files: Sequence[Path], session: Any):
        head = open_source(files[0])
        self.name, self.columns, self.types = f"{name} on Spark", head.columns, head.types
        self._pieces, self._context = pieces_of(files), session.sparkContext

    def run(self, task: Task) -> Any:
        """See `AbstractParts`."""
        if not self._pieces:
            return None
        shared = self._context.broadcast(task)
        answers = self._context.parallelize(self._pieces, len(self._pieces)).map(
            lambda piece: shared.value(piece)
        )
        return answers.treeReduce(lambda one, other: shared.value.add([one, other]))


@contextlib.contextmanager
def spark_files(files: Sequence[Path], name: str, engine: Any) -> Iterator[SparkFiles]:
    """Files on a session: the one given, that of this process, or a new one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("`--engine spark` needs Spark: pip install 'nacre-dp[spark]'.") from None
    if not isinstance(engine, str):
        yield SparkFiles(name, files, engine)
        return
    running = SparkSession.getActiveSession()
    if running is not None:
        yield SparkFiles(name, files, running)
        return
    master = "local[*]" if engine == "spark" else engine
    builder = SparkSession.builder.master(master).appName("nacre")
    builder = builder.config("spark.ui.enabled", "false")
    if engine == "spark":  # nobody else has to reach it
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1")
    session = builder.getOrCreate()
    try:
        yield SparkFiles(name, files, session)
    finally:
        session.stop()
