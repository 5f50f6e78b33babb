"""Many rows in chunks, each with random numbers of its own: any process can draw any of them.

Which rows a seed gives does not hang on how many processes draw them, and memory holds a few
chunks, however many rows are drawn.
"""

from __future__ import annotations

import collections
import contextlib
import math
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, final

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.rejection import CHUNK, Rejection

PAYS = 8  # chunks from which a second process draws more than it takes to start it
AHEAD = 2  # chunks that each process may be ahead of the one that is wanted next


@final
class Drawing:
    """Rows of one seed, chunk by chunk; it tells what share of candidates was kept.

    Persons of several rows are drawn one after the other, as rows wait for others of their person:
    they are one chunk, however many.

    Attributes:
        rejection: how rows are drawn, and what became of all candidates so far.
    """

    def __init__(self, make: Callable[[], Rejection], n: int, seed: int | None = None):
        self.rejection, self._make, self._n = make(), make, n
        if seed is not None and seed < 0:
            raise NacreError(f"seed must be a whole number from 0 on, got {seed}.")
        self._entropy = np.random.SeedSequence(seed).entropy

    def __len__(self) -> int:
        """How many chunks there are."""
        return 1 if self.rejection.gathering is not None else math.ceil(self._n / CHUNK)

    def chunk(self, place: int) -> Iterator[pa.Table]:
        """The rows of one chunk; the same whoever draws it, and whatever was drawn before."""
        key = (place,) if place else ()  # the first one as a single draw of few rows would be
        rng = np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=key))
        drawing = self._make() if place else self.rejection
        size = self._n if len(self) == 1 else min(CHUNK, self._n - place * CHUNK)
        yield from drawing.batches(size, rng)
        if drawing is not self.rejection:
            self.rejection.include(drawing)

    def __iter__(self) -> Iterator[pa.Table]:
        for place in range(len(self)):
            yield from self.chunk(place)

    def parallel(
        self, save: Callable[[Path], None], load: Callable[[Path], Any], where: Any, workers: int
    ) -> Iterator[pa.Table]:
        """The same rows in the same order, drawn by `workers` processes.

        `save` writes the model to a file, and each process reads it by `load`; `where` is what
        `Model.rejection` takes.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.nacre"
            save(file)
            task = (load, file, where, self._n, self._entropy)
            with _pool(workers, task) as pool:
                waiting: collections.deque[Future[tuple[bytes, Mapping[str, Any]]]] = (
                    collections.deque()
                )
                for place in range(min(AHEAD * workers, len(self))):
                    waiting.append(pool.submit(_draw, place))
                for place in range(len(self)):
                    data, counts = waiting.popleft().result()
                    if place + AHEAD * workers < len(self):
                        waiting.append(pool.submit(_draw, place + AHEAD * workers))
                    self.rejection.include_counts(counts)
                    if not place:
                        self.rejection.weights = counts["weights"]
                    yield pa.ipc.open_stream(data).read_all()


def workers_for(drawing: Drawing, asked: int | None) -> int:
    """How many processes draw: as asked, or as many as pay and as there are cores."""
    chunks = len(drawing)
    if asked is not None:
        if asked < 1:
            raise NacreError(f"There must be at least one process to draw rows, got {asked}.")
        return min(asked, max(chunks, 1))
    return max(1, min(os.cpu_count() or 1, chunks // PAYS + 1)) if chunks >= PAYS else 1


@contextlib.contextmanager
def _pool(workers: int, task: tuple[Any, ...]) -> Iterator[ProcessPoolExecutor]:
    # New processes, not copies of this one: JAX's threads would not survive being copied.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_open, initargs=task)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_STATE: dict[str, Drawing] = {}


def _open(load: Callable[[Path], Any], file: Path, where: Any, n: int, entropy: Any) -> None:
    """In a process that draws: read the model, once."""
    model = load(file)
    _STATE["drawing"] = Drawing(lambda: model.rejection(where=where), n, entropy)


def _draw(place: int) -> tuple[bytes, dict[str, Any]]:
    """In a process that draws: one chunk, and what became of its candidates."""
    drawing = _STATE["drawing"]
    drawing.rejection = drawing._make()
    table = pa.concat_tables(drawing.chunk(place))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    counts = {**drawing.rejection.counts(), "weights": drawing.rejection.weights}
    return sink.getvalue().to_pybytes(), counts
