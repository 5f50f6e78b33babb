"""Many processes at one ledger, all at once, until nothing is left."""

import time
from pathlib import Path

from bench.faults.children import spend
from bench.faults.processes import start, told


def crowd(processes: int, ledger: Path | str, *, share: float = 0.01) -> dict[str, float]:
    """So many processes at a ledger with a budget of 1: none may fail, none may overspend."""
    from nacre.ledger import Ledger

    book, began = Ledger(ledger), time.perf_counter()
    book.open("census", epsilon=1.0, delta=1e-6)
    running = [start(spend, str(ledger), share) for _ in range(processes)]
    granted = [entry for _, pipe in running for entry in told(pipe)]
    for child, _ in running:
        child.join()
    entries = book.history("census")
    return {
        "processes": processes,
        "failed": sum(child.exitcode != 0 for child, _ in running),
        "granted": len(granted),
        "lost records": len(set(granted) - {entry.id for entry in entries}),
        "spent": round(book.balance("census").spent_epsilon, 9),
        "seconds": round(time.perf_counter() - began, 1),
    }
