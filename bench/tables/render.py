"""The papers' tables with our numbers beside theirs, as Markdown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import versions
from bench.tables.plans import PLANS
from bench.tables.published import AVERAGE, STATISTICS, TABLES, UNCOUNTED, Cell, Table
from bench.tables.results import comparable, epsilon_of, select
from bench.tables.runs import REAL, show_epsilon
from bench.tables.values import Results, beats, is_partial, value, why_not

WORDS = {"roc": "ROC", "prc": "PRC", "f1": "F1", "accuracy": "accuracy", "mmd": "MMD"}
WORDS |= {"range-queries": "range queries", "marginal-l1": "2-way marginals"}
WORDS |= {"w2-pca-score": "Wasserstein, main plane", "w2-score": "Wasserstein, whole table"}
NONE = "–"

HEAD = """# The papers' tables, run again

Made by `python -m bench tables`; the numbers are kept in `bench/results/tables`, one file a run.
`--methods`, `--datasets`, `--epsilons` and `--seeds` choose what is run, `--minutes` for how long
(cheap runs come first, and the next call goes on); `--again` measures again what another version
of the code made, `--fits-only` leaves out the real rows, and `--render` only writes this page.

Each table is cut as the papers cut it (undersampled, then split), fitted at the ε that the table
says (ε = 1 if it says none) and δ = 1e-5, and as many synthetic rows as fitted ones teach the
papers' classifiers, which are scored on real rows. Methods that ask once are fitted under
replace-one, those that train step by step under add-remove, as the papers' accountants have it; the
official split of Adult is under add-remove for all. At ε = ∞ no noise is added and nothing is
promised: what a method could do at best. A method whose name ends in `-network` or `-published` is
set up as in its paper, with DP-MERF's number of features for each table; the others have our
defaults.

"ROC" and "PRC" are those of *hard* predictions, as the papers compute them, so ROC is balanced
accuracy; F1 is weighted by class. In brackets: ours minus the best number of the papers in that row
under the same ε; **bold** where ours is better. A star marks an average over some of the paper's
classifiers only: it indicates, no more. "Not scored" is a classifier that a quick run leaves out.

Real-data scores, theirs and ours, say how alike the two protocols are. They differ where the
papers do not say how values reach the classifiers (theirs: category codes as numbers for DP-MERF;
ours: one-hot, and numbers standardized, on Adult scaled to [0, 1]), where they fill in missing
values (Cervical), and on Epileptic, which is split here by recording: by row, seconds of one
recording would be on both sides.
"""


def render(results: Results, variants: Sequence[str], notes: str = "") -> str:
    """The whole page; variants are in this order, and only where they were run."""
    ran = [name for name in variants if any(r["variant"] == name for r in results)]
    kept = [result for result in results if "failure" not in result]
    parts = [HEAD, versions.said(kept) + "\n", _summary(results, ran), _ran(results, ran)]
    parts += [_table(table, results, ran) for table in TABLES]
    return "\n".join([*parts, *([notes] if notes else [])]).rstrip() + "\n"


def _summary(results: Results, variants: Sequence[str]) -> str:
    """How many rows of the main tables each method wins, and which it does not."""
    lines = [
        "## In short",
        "",
        "Rows of DP-MERF's Table 2 and of PEARL's Tables 2 and 3 (ROC, PRC, F1) in which a method "
        "beats the papers' best differentially private number:",
        "",
    ]
    counted = [(t, cell) for t in TABLES if t.counted for cell in t.cells]
    cells = [(t, cell) for t, cell in counted if cell.score not in UNCOUNTED]
    for variant in variants:
        found = [(table, cell, value(results, variant, cell)) for table, cell in cells]
        ran = [(t, cell, ours) for t, cell, ours in found if ours is not None]
        lost = [(t, cell, ours) for t, cell, ours in ran if not beats(ours, cell)]
        if not ran:
            continue
        starred = sum(is_partial(results, variant, cell) for _, cell, _ in ran)
        lines.append(
            f"- **{variant}**: {len(ran) - len(lost)} of the {len(ran)} that were run"
            + f" ({starred} of them starred)" * bool(starred)
            + (f"; {len(cells) - len(ran)} were not" if len(ran) < len(cells) else "")
            + ("; not in:" if lost else "")
        )
        lines += [_loss(results, variant, *loss) for loss in lost]
    return "\n".join([*lines, ""])


def _loss(results: Results, variant: str, table: Table, cell: Cell, ours: float) -> str:
    place = table.title.split(":")[0] + ", " + cell.dataset
    place += "" if cell.row == AVERAGE else f", {cell.row}"
    star = _star(results, variant, cell)
    return f"    - {place}: {WORDS[cell.score]} {ours:.3f}{star} against {cell.to_beat:.3f}"


def _ran(results: Results, variants: Sequence[str]) -> str:
    """What was run: rows, seeds, classifiers, time."""
    lines = [
        "## What was run",
        "",
        "Seeds / classifiers, and CPU seconds of one fit and draw; fewer classifiers than in other "
        "cells of a row are a quick run.",
        "",
        "| data set | rows fitted | rows scored | ε | " + " | ".join([REAL, *variants]) + " |",
        "| --- | ---: | ---: | ---: |" + " --- |" * (len(variants) + 1),
    ]
    for name in PLANS:
        for epsilon in _epsilons(results, name):
            runs = {m: comparable(results, name, m, epsilon) for m in (REAL, *variants)}
            some = next((r[0] for r in runs.values() if r), None)
            if some is None:
                continue
            said = [_said(runs[m], select(results, name, m, epsilon)) for m in (REAL, *variants)]
            rows = f"{some['rows']['fitted']:,} | {some['rows']['scored']:,}"
            facts = f"{name} | {rows} | {show_epsilon(epsilon)}"
            lines.append(f"| {facts} | " + " | ".join(said) + " |")
    return "\n".join([*lines, ""])


def _epsilons(results: Results, dataset: str) -> list[float]:
    """The plan's, and what else was run."""
    found = {epsilon_of(r) for r in results if r["dataset"] == dataset} - {None}
    first = PLANS[dataset].epsilons
    return [*first, *sorted(epsilon for epsilon in found if epsilon not in first)]


def _said(runs: list[dict[str, Any]], tried: list[dict[str, Any]]) -> str:
    if not runs:
        return "failed" if tried else "not run"
    quick = f"{len(runs)} / {len(runs[0]['scores'])}"
    if runs[0]["variant"] == REAL:
        return quick
    return f"{quick}, {np.mean([r['fit_seconds'] for r in runs]):.0f} s"


def _table(table: Table, results: Results, variants: Sequence[str]) -> str:
    shown = [name for name in variants if _tried(results, name, table)]
    theirs = sorted({name for cell in table.cells for name in cell.theirs})
    has_real = any(cell.real is not None for cell in table.cells)
    by_row = any(cell.row != AVERAGE for cell in table.cells)
    by_epsilon = len({cell.epsilon for cell in table.cells}) > 1
    head = ["data set", *["classifier"] * by_row, "score", *["ε"] * by_epsilon]
    text = len(head)
    head += ["real, paper"] * has_real + ["real, ours"] + [f"{name}, paper" for name in theirs]
    head += [f"{variant}, ours" for variant in shown]
    lines = [f"## {table.title}", ""]
    lines += [table.remark, ""] if table.remark else []
    lines += ["None of our methods was run.", ""] if not shown else []
    lines.append("| " + " | ".join(head) + " |")
    lines.append("|" + " --- |" * text + " ---: |" * (len(head) - text))
    for cell in table.cells:
        row = [cell.dataset, *[cell.row] * by_row, WORDS[cell.score]]
        row += [show_epsilon(cell.epsilon)] * by_epsilon
        row += [_number(cell.real, cell)] * has_real
        row.append(_real(results, cell))
        row += [_number(cell.theirs.get(name), cell) for name in theirs]
        row += [_ours(results, variant, cell) for variant in shown]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join([*lines, ""])


def _tried(results: Results, variant: str, table: Table) -> bool:
    """Whether the variant was run on any table of it, with any luck."""
    places = {(cell.dataset, cell.epsilon) for cell in table.cells}
    return any(select(results, dataset, variant, epsilon) for dataset, epsilon in places)


def _star(results: Results, variant: str, cell: Cell) -> str:
    return r"\*" if is_partial(results, variant, cell) else ""


def _number(found: float | None, cell: Cell) -> str:
    if found is None:
        return NONE
    return f"{found:.1e}" if cell.score == "mmd" else f"{found:.3f}"


def _real(results: Results, cell: Cell) -> str:
    """Our number with real data to learn from; their distance to themselves is not asked."""
    found = value(results, REAL, cell)
    if found is None:
        return NONE if cell.row == STATISTICS else why_not(results, REAL, cell)
    return _number(found, cell) + _star(results, REAL, cell)


def _ours(results: Results, variant: str, cell: Cell) -> str:
    found = value(results, variant, cell)
    if found is None:
        return why_not(results, variant, cell)
    if cell.score in UNCOUNTED:  # for orientation only: no winner is declared
        return _number(found, cell)
    text = f"{found:.3f} ({found - cell.to_beat:+.3f})"
    return (f"**{text}**" if beats(found, cell) else text) + _star(results, variant, cell)


def write(page: str, place: Path) -> None:
    """Put the page into the docs."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(page, encoding="utf-8")
