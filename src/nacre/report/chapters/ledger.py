"""What the data set has spent so far, as its ledger says."""

from collections.abc import Mapping
from typing import Any

from nacre.report.chapters.common import data_table
from nacre.report.markup import Markup, join, power, tag


def ledger(spent: Mapping[str, Any]) -> Markup:
    """The balance in a sentence, and a line for each fit."""
    words = tag(
        "p",
        *("Of the budget of ", tag("b", spent["dataset"]), " (", *_pair(spent, ""), ", "),
        f"{spent['adjacency']}) ",
        *_pair(spent, "spent_"),
        " are spent, and ",
        *_pair(spent, "left_"),
        " are left.",
    )
    rows = [
        [
            str(entry["reserved_at"])[:16].replace("T", " "),
            entry["method"],
            (f"{entry['epsilon']:.4g}", "n"),
            (power(entry["delta"]), "n"),
            (str(len(entry["releases"])), "n"),
            entry["status"],
            entry["note"],
        ]
        for entry in spent["history"]
    ]
    if not rows:
        return join(tag("h3", "What this data set has spent"), words)
    head = ["When (UTC)", "Method", ("ε", "n"), ("δ", "n"), ("releases", "n"), "Status", "Note"]
    return join(tag("h3", "What this data set has spent"), words, data_table(head, rows))


def _pair(spent: Mapping[str, Any], prefix: str) -> tuple[Any, ...]:
    epsilon, delta = spent[f"{prefix}epsilon"], float(spent[f"{prefix}delta"])
    return f"ε = {epsilon:.4g}, δ = ", power(delta)
