"""Tables on Dask: the partitions of a frame, or files that the workers of a cluster read.

A worker that dies takes its answers with it; Dask asks another for them.  What is added in the end
is one answer of each part, whichever worker gave it.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import pyarrow as pa

from nacre.errors import MissingExtra, NacreError
from nacre.rows.parts import AbstractParts, Task, tree
from nacre.rows.pieces import pieces_of
from nacre.rows.source import open_source


@final
class DaskParts(AbstractParts):
    """Parts of a table on Dask: delayed frames, or pieces of files."""

    def __init__(
        self,
        name: str,
        columns: tuple[str, ...],
        types: pa.Schema | None,
        parts: Sequence[Any],
        client: Any = None,
    ):
        self.name, self.columns, self.types = name, columns, types
        self._parts, self._client = list(parts), client

    def run(self, task: Task) -> Any:
        """See `AbstractParts`; one graph: the task, its answers, and a tree that adds them."""
        import dask

        if not self._parts:
            return None
        # A node of its own, so that a program of megabytes goes to each worker and not each part.
        shared = dask.delayed(task, traverse=False)
        answers = [dask.delayed(_work)(shared, part) for part in self._parts]
        total = tree(answers, lambda some: dask.delayed(_add)(shared, some))
        if self._client is None:
            return dask.compute(total)[0]
        return self._client.compute(total).result()


def _work(task: Task, part: Any) -> Any:
    return task(part)


def _add(task: Task, answers: Sequence[Any]) -> Any:
    return task.add(answers)


@contextlib.contextmanager
def frame_parts(frame: Any, engine: Any) -> Iterator[DaskParts]:
    """The partitions of a Dask frame, worked off where Dask would compute it."""
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise NacreError(f"Cannot read rows from Dask's {type(frame).__name__}: give a dataframe.")
    names = tuple(str(name) for name in frame.columns)
    if len(set(names)) != len(names):
        raise NacreError("Two columns of the frame have the same name. Rename one of them.")
    with client_of(engine) as client:
        yield DaskParts("Dask", names, None, frame.to_delayed(), client)


@contextlib.contextmanager
def file_parts(files: Sequence[Path], name: str, engine: Any) -> Iterator[DaskParts]:
    """Files that the workers read; every worker must see them under the same path."""
    head = open_source(files[0])
    with client_of(engine) as client:
        yield DaskParts(f"{name} on Dask", head.columns, head.types, pieces_of(files), client)


@contextlib.contextmanager
def client_of(engine: Any) -> Iterator[Any]:
    """The client of an address, or of new workers on this machine; None for Dask's own choice."""
    if engine is None or not isinstance(engine, str):
        yield engine
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtra(
            "`--engine dask` needs Dask's scheduler: pip install 'nacre-dp[dask]'."
        ) from None
    if engine != "dask":
        address = engine.replace("dask://", "tcp://", 1)
        try:
            client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError):
            raise NacreError(f"There is no Dask scheduler at {address}. Is it running?") from None
        with client:
            yield client
        return
    workers = os.cpu_count() or 1
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            security=True,  # an open scheduler would run anybody's code beside the rows
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
