"""Which engine holds a table, or is to read its files: told from what was given."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nacre.errors import NacreError, a_kind
from nacre.rows.source import files_of

NAMES = (
    "'dask' (workers on this machine), 'dask://host:8786' (a scheduler), 'spark' (the session of "
    "this process, or a local one) or 'spark://host:7077' (a master)"
)


@contextlib.contextmanager
def on_engine(data: Any, engine: Any = None) -> Iterator[Any]:
    """`data` as `open_source` takes it: in parts, if it is on an engine or one is to read it.

    Args:
        data: a Dask or Spark frame; or with an `engine`, a file, a folder or a pattern of files
            that all workers see under the same path. Anything else is handed on as it is.
        engine: the engine by name or address, or a Dask `Client` or a `SparkSession`.
    """
    room = type(data).__module__.partition(".")[0]
    if engine is None and room not in ("dask", "dask_expr", "pyspark"):
        yield data
    elif room in ("dask", "dask_expr"):
        from nacre.engines.dask import frame_parts

        with frame_parts(data, engine) as parts:
            yield parts
    elif room == "pyspark":
        from nacre.engines.spark import SparkFrame

        if engine is not None and not _is_spark(engine):
            raise NacreError("A Spark frame stays on its own session: leave `engine` out.")
        yield SparkFrame(data)
    elif not isinstance(data, str | Path):
        raise NacreError(
            f"An engine reads files, and {a_kind(data)} is in this process's memory "
            "already: leave `engine` out, or give the path of the files."
        )
    elif _is_spark(engine):
        from nacre.engines.spark import spark_files

        with spark_files(files_of(Path(data)), str(data), engine) as parts:
            yield parts
    elif _is_dask(engine):
        from nacre.engines.dask import file_parts

        with file_parts(files_of(Path(data)), str(data), engine) as parts:
            yield parts
    else:
        raise NacreError(f"There is no engine {engine!r}. Give {NAMES}.")


def _is_spark(engine: Any) -> bool:
    if isinstance(engine, str):
        return engine == "spark" or engine.startswith("spark://")
    return type(engine).__module__.startswith("pyspark.")


def _is_dask(engine: Any) -> bool:
    if isinstance(engine, str):
        return engine == "dask" or engine.startswith(("dask://", "tcp://", "tls://"))
    return type(engine).__module__.startswith("distributed.")
