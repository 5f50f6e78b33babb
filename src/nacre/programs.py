"""Compiled programs that many fits of one kind share: audits and attacks make hundreds.

Every fit opens a new vault, which traces its questions anew; what comes out is the same program,
and to compile it took five sixths of the time.  So it is kept in a folder until the attack ends.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORTH = 0.1
"""Seconds of compiling from which on a program is kept: mbi makes many small ones."""


@contextlib.contextmanager
def shared_programs() -> Iterator[str]:
    """A folder for programs of this process, and of others that `use` it, while the block runs."""
    import jax

    before = {name: getattr(jax.config, name) for name in _settings("")}
    with tempfile.TemporaryDirectory(prefix="nacre-programs-") as folder:
        use(folder)
        try:
            yield str(Path(folder))
        finally:
            _set(before)


def use(folder: str) -> None:
    """Keep and find compiled programs in the folder."""
    _set(_settings(folder))


def _settings(folder: str) -> dict[str, Any]:
    return {
        "jax_compilation_cache_dir": folder,
        "jax_persistent_cache_min_compile_time_secs": WORTH,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }


def _set(values: dict[str, Any]) -> None:
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    for name, value in values.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()  # it remembers the folder that it saw first
