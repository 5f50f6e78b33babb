"""The papers' tables with our numbers beside theirs, as Markdown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.tables.plans import PLANS
from bench.tables.published import AVERAGE, STATISTICS, TABLES, Cell, Table
from bench.tables.results import comparable
from bench.tables.trial import REAL

Results = Sequence[dict[str, Any]]
WORDS = {"roc": "ROC", "prc": "PRC", "f1": "F1", "mmd": "MMD"}
WORDS |= {"range-queries": "range queries", "marginal-l1": "2-way marginals"}
NONE = "–"

HEAD = """# The papers' tables, run again

Made by `python -m bench tables`; the numbers are kept in `bench/results/tables`.

Each table is cut as the papers cut it (undersampled, then split), fitted at ε = 1, δ = 1e-5,
replace-one, and as many synthetic rows as fitted ones teach the papers' classifiers, which are
scored on real rows. "ROC" and "PRC" are those of *hard* predictions, as the papers compute them,
so ROC is balanced accuracy; F1 is weighted by class. In brackets: ours minus the best
differentially private number of the papers in that row; **bold** where ours is better. A star
marks an average over some of the paper's classifiers only: it indicates, no more.

Real-data scores, theirs and ours, say how alike the two protocols are. They differ where the
papers do not say how values reach the classifiers (theirs: category codes as numbers for DP-MERF;
ours: one-hot, and numbers standardized, on Adult scaled to [0, 1]), where they fill in missing
values (Cervical), and on Epileptic, which is split here by recording: by row, seconds of one
recording would be on both sides.
"""


def value(results: Results, method: str, cell: Cell) -> float | None:
    """Our number for a cell: over the classifiers that there are, and over seeds."""
    runs = comparable(results, cell.dataset, method)
    found = [v for v in (_of_run(run, cell) for run in runs) if v is not None]
    if not found:
        return None
    best = min if cell.lower else max
    return float(best(found) if cell.best else np.mean(found))


def _of_run(run: dict[str, Any], cell: Cell) -> float | None:
    if cell.row == "statistics":
        return run.get("statistics", {}).get(cell.score)
    if cell.row != AVERAGE:
        return run["scores"].get(cell.row, {}).get(cell.score)
    scores = [s[cell.score] for name, s in run["scores"].items() if name in cell.over]
    return float(np.mean(scores)) if scores else None


def is_partial(results: Results, method: str, cell: Cell) -> bool:
    """Whether our average is over fewer classifiers than the paper's."""
    runs = comparable(results, cell.dataset, method)
    return cell.row == AVERAGE and any(not set(cell.over) <= set(run["scores"]) for run in runs)


def beats(ours: float, cell: Cell) -> bool:
    """Whether our number is better than every differentially private one of the row."""
    return ours < cell.to_beat if cell.lower else ours > cell.to_beat


def render(results: Results, methods: Sequence[str], notes: str = "") -> str:
    """The whole page."""
    parts = [HEAD, _summary(results, methods), _ran(results, methods)]
    parts += [_table(table, results, methods) for table in TABLES]
    return "\n".join([*parts, *([notes] if notes else [])]).rstrip() + "\n"


def _summary(results: Results, methods: Sequence[str]) -> str:
    """How many rows of the main tables each method wins, and which it does not."""
    lines = [
        "## In short",
        "",
        "Rows of DP-MERF's Table 2 and of PEARL's Tables 2 and 3 (ROC, PRC, F1) in which a method "
        "beats the papers' best differentially private number:",
        "",
    ]
    cells = [(t, cell) for t in TABLES[:3] for cell in t.cells if cell.row != "statistics"]
    for method in methods:
        found = [(table, cell, value(results, method, cell)) for table, cell in cells]
        ran = [(t, cell, ours) for t, cell, ours in found if ours is not None]
        lost = [(t, cell, ours) for t, cell, ours in ran if not beats(ours, cell)]
        if not ran:
            continue
        starred = sum(is_partial(results, method, cell) for _, cell, _ in ran)
        lines.append(
            f"- **{method}**: {len(ran) - len(lost)} of the {len(ran)} that were run"
            + f" ({starred} of them starred)" * bool(starred)
            + (f"; {len(cells) - len(ran)} were not" if len(ran) < len(cells) else "")
            + ("; not in:" if lost else "")
        )
        lines += [_loss(results, method, *loss) for loss in lost]
    return "\n".join([*lines, ""])


def _loss(results: Results, method: str, table: Table, cell: Cell, ours: float) -> str:
    place = table.title.split(":")[0] + ", " + cell.dataset
    place += "" if cell.row == AVERAGE else f", {cell.row}"
    star = _star(results, method, cell)
    return f"    - {place}: {WORDS[cell.score]} {ours:.3f}{star} against {cell.to_beat:.3f}"


def _ran(results: Results, methods: Sequence[str]) -> str:
    """What was run: rows, seeds, classifiers, time."""
    lines = [
        "## What was run",
        "",
        "Seeds / classifiers, and CPU seconds of one fit and draw; fewer than twelve classifiers "
        "are a quick run.",
        "",
        "| data set | rows fitted | rows scored | " + " | ".join([REAL, *methods]) + " |",
        "| --- | ---: | ---: |" + " --- |" * (len(methods) + 1),
    ]
    for name in PLANS:
        runs = {m: comparable(results, name, m) for m in (REAL, *methods)}
        some = next((r[0] for r in runs.values() if r), None)
        if some is None:
            continue
        said = [_said(runs[m]) for m in (REAL, *methods)]
        rows = f"{some['rows']['fitted']:,} | {some['rows']['scored']:,}"
        lines.append(f"| {name} | {rows} | " + " | ".join(said) + " |")
    return "\n".join([*lines, ""])


def _said(runs: list[dict[str, Any]]) -> str:
    if not runs:
        return NONE
    quick = f"{len(runs)} / {len(runs[0]['scores'])}"
    if runs[0]["method"] == REAL:
        return quick
    return f"{quick}, {np.mean([r['fit_seconds'] for r in runs]):.0f} s"


def _table(table: Table, results: Results, methods: Sequence[str]) -> str:
    theirs = sorted({name for cell in table.cells for name in cell.dp})
    has_real = any(cell.real is not None for cell in table.cells)
    head = ["data set", "classifier", "score"]
    if all(cell.row == AVERAGE for cell in table.cells):
        head.remove("classifier")
    head += ["real, paper"] * has_real + ["real, ours"] + [f"{name}, paper" for name in theirs]
    head += [f"{method}, ours" for method in methods]
    lines = [f"## {table.title}", ""]
    lines += [table.remark, ""] if table.remark else []
    text = 3 if "classifier" in head else 2
    lines.append("| " + " | ".join(head) + " |")
    lines.append("|" + " --- |" * text + " ---: |" * (len(head) - text))
    for cell in table.cells:
        row = [cell.dataset, *([cell.row] if text == 3 else []), WORDS[cell.score]]
        row += [_number(cell.real, cell)] * has_real
        row.append(_number(value(results, REAL, cell), cell) + _star(results, REAL, cell))
        row += [_number(cell.dp.get(name), cell) for name in theirs]
        row += [
            _ours(value(results, method, cell), cell) + _star(results, method, cell)
            for method in methods
        ]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join([*lines, ""])


def _star(results: Results, method: str, cell: Cell) -> str:
    return r"\*" if is_partial(results, method, cell) else ""


def _number(found: float | None, cell: Cell) -> str:
    if found is None:
        return NONE
    return f"{found:.1e}" if cell.score == "mmd" else f"{found:.3f}"


def _ours(found: float | None, cell: Cell) -> str:
    if found is None:
        return NONE
    if cell.score in STATISTICS:  # for orientation only: no winner is declared
        return _number(found, cell)
    text = f"{found:.3f} ({found - cell.to_beat:+.3f})"
    return f"**{text}**" if beats(found, cell) else text


def write(page: str, place: Path) -> None:
    """Put the page into the docs."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(page, encoding="utf-8")
