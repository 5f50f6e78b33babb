"""Processes that begin quickly: forked from a server that has imported nacre and done nothing."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

PRELOAD = ["nacre", "nacre.ledger", "nacre.fit", "nacre.cli", "nacre.methods.merf"]


def start(target: Callable[..., None], *arguments: Any) -> tuple[Any, Connection]:
    """A child that is ready, and the end of its pipe."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_quietly, args=(target, theirs, *arguments))
    child.start()
    theirs.close()
    return child, ours


def _quietly(target: Callable[..., None], *arguments: Any) -> None:
    os.environ["JAX_PLATFORMS"] = "cpu"
    target(*arguments)


def told(pipe: Connection) -> list[int]:
    """All numbers that a child has sent; what it was sending when it died is not among them."""
    found = []
    while True:
        try:
            said = pipe.recv()
        except (EOFError, OSError):
            return found
        except Exception:  # half of a message
            return found
        if said is not None:
            found.append(said)
