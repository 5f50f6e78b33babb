"""Products of matrices that are too small for several threads to pay."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """NumPy's products in one thread, where threadpoolctl (scikit-learn has it) can see to that.

    Threads that wait for each other between thousands of small products cost up to four times the
    processor time, and on a machine with other work also more time in all.  On the command line
    `nacre.cli` sees to it without any library.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
