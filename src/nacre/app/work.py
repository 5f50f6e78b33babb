"""What takes longer than a page may: drafts, plans and samples, in processes beside the server.

Functions take and give plain data, as they run elsewhere; errors come back as text for people.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, final

from nacre.app.pinned import pinned
from nacre.errors import NacreError, in_words

WORKERS = 2
LONGEST = 1800.0  # seconds of one task: a small file can unpack to terabytes
PART = 0.5  # of the machine's memory that one process may have
LEAST = 4 << 30  # bytes that it may ask for on any machine; libraries ask for more than they use


@final
class Work:
    """Processes that are started when they are first needed, and again if one was killed."""

    def __init__(self, executor: concurrent.futures.Executor | None = None):
        self._given = executor
        self._own: concurrent.futures.ProcessPoolExecutor | None = None

    async def do(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """The task's result; NacreError with what may be said of an error in it."""
        for attempt in (1, 2):
            try:
                future = self._executor().submit(_safely, task, arguments)
                found, message = await asyncio.wait_for(asyncio.wrap_future(future), LONGEST)
                break
            except TimeoutError:
                self.end()  # what others wait for is begun again
                raise NacreError(
                    f"This took longer than {LONGEST / 60:.0f} minutes and was ended. Nothing was "
                    "spent. Use the command line for tables that are so large."
                ) from None
            except BrokenProcessPool:
                self.end()
                if attempt == 2:
                    raise NacreError(
                        "The process that worked on this was ended from outside, perhaps for want "
                        "of memory. Nothing was spent. Try again."
                    ) from None
        if message is not None:
            raise NacreError(message)
        return found

    def _executor(self) -> concurrent.futures.Executor:
        if self._given is not None:
            return self._given
        if self._own is None:
            # Or a process that is begun in a folder of tables would import modules from there.
            os.environ["PYTHONSAFEPATH"] = "1"
            self._own = concurrent.futures.ProcessPoolExecutor(
                WORKERS, multiprocessing.get_context("spawn"), initializer=_begin
            )
        return self._own

    def end(self) -> None:
        """Stop the processes."""
        if self._own is not None:
            processes = list((self._own._processes or {}).values())
            # Not cancelled: whoever waits is told of the death, and asks again.
            self._own.shutdown(wait=False)
            for process in processes:  # or the server would wait for what nobody waits for
                process.terminate()
            self._own = None


def _begin() -> None:
    """Behind the server itself, and deaf to the terminal's Ctrl-C, which the server answers."""
    import signal

    os.umask(0o077)
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bound_memory()


def _bound_memory() -> None:
    """A stranger's table may unpack to more than the machine has; then only this process fails."""
    import resource

    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = max(int(whole * PART), LEAST)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _safely(task: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, str | None]:
    try:
        return task(*arguments), None
    except MemoryError:
        return None, "This needs more memory than one task may have here. Nothing was spent."
    except Exception as error:
        return None, in_words(error)


def draft_table(path: str, root: str | None, beside: str, keep: tuple[str, ...]) -> dict[str, Any]:
    """A first review of a table, read from its rows: the holder's own view."""
    from nacre.app.review import Review
    from nacre.draft import draft

    below = None if root is None else Path(root)
    with pinned(Path(path), below, Path(beside)) as table:
        return Review.of_draft(draft(table, keep=keep)).to_dict()


def count_persons(
    path: str, root: str | None, beside: str, column: str, keep: tuple[str, ...]
) -> dict[str, Any]:
    """What few persons hold, and how many rows nearly all of them have; the holder's own view."""
    from nacre.draft import draft

    below = None if root is None else Path(root)
    unit = {"column": column, "rows": "auto"}
    with pinned(Path(path), below, Path(beside)) as table:
        found = draft(table, keep=keep, unit=unit)
    names = found.schema.names
    return {
        "rows": found.schema.unit.rows if found.schema.unit else 1,
        "same": list(found.constant),
        "rare": {name: list(found.rare.get(name, ())) for name in names},
        "facts": {name: found.schema.columns[name].to_dict() for name in names},
    }


def outline_plan(schema: dict[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    """What a fit would release."""
    from nacre.app.planning import outline

    return outline(schema, choices)


def list_methods() -> list[dict[str, Any]]:
    """The methods to choose from."""
    from nacre.app.method import offered

    return offered()


def sample_rows(model: str, output: str, rows: int, where: dict[str, str]) -> None:
    """Draw rows into a file, whose name says its form; CSV as a spreadsheet may open it."""
    from nacre.model import load
    from nacre.schema.constraints.given import read_given

    loaded, path = load(model), Path(output)
    given = read_given(where, loaded.schema.columns)
    loaded.write(path, rows, where=given, workers=1, safe_csv=True)
    path.chmod(0o600)


def write_demo(folder: str) -> dict[str, Any]:
    """The bundled Adult table into a project's folder, and its review, which is done."""
    import pyarrow.parquet as pq

    from nacre.app.review import Review
    from nacre.datasets import adult, adult_schema

    pq.write_table(adult().train, Path(folder) / "table.parquet")
    return Review.of_schema(adult_schema()).to_dict()
