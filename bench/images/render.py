"""Our numbers for images beside the published ones, as Markdown between two marks of a page."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import versions
from bench.images.published import ROWS, Row, imagebench, merf, pearl
from bench.images.runs import DATASETS, EPSILONS, VARIANTS
from bench.tables.results import epsilon_of, select
from bench.tables.runs import REAL, show_epsilon
from nacre.evaluate.tables.classifiers import PUBLISHED

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}
NONE = "–"
MARK = "†"
ABOUT_PERCENT = ("cnn-accuracy", "residual-accuracy")

Results = Sequence[dict[str, Any]]
Column = tuple[str, float | None, str]
"""Data set, epsilon, metric."""


def render(results: Results) -> str:
    """All tables."""
    kept = [result for result in results if "failure" not in result]
    parts = [versions.said(kept), *_accuracy(results), *_residual(results), *_distances(results)]
    parts += [*_averages(results), *_classifiers(results), *_cost(results), *_unsound()]
    return "\n\n".join(parts)


def write(text: str, place: Path) -> None:
    """Put the tables between the marks of the page."""
    page = place.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{place} has no place for the tables: {BEGIN} and {END}.")
    place.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


# -- tables ------------------------------------------------------------------------------------


def _accuracy(results: Results) -> list[str]:
    wanted = _epsilons(results, EPSILONS, but=merf.EPSILONS)
    tables = [
        _table(results, [(dataset, epsilon, "cnn-accuracy") for epsilon in wanted])
        for dataset in DATASETS
    ]
    said = (
        "Percent of the real test images that the papers' CNN gets right after five epochs on "
        "60,000 synthetic ones, δ = 1e-5."
    )
    found = ["## Accuracy of the papers' CNN", said]
    for dataset, table in zip(DATASETS, tables, strict=True):
        found += [f"### {TITLES[dataset]}", table]
    return found


def _residual(results: Results) -> list[str]:
    said = (
        "For orientation: published numbers are by the protocol of DPImageBench (55,000 images, "
        "δ = 1.67e-6, networks like ResNet, up to 200 epochs); ours are of a small residual "
        "network after twenty epochs, 60,000 images, δ = 1e-5. Percent."
    )
    columns = [(d, e, "residual-accuracy") for d in DATASETS for e in EPSILONS]
    title = "## Accuracy of larger networks"
    return [title, said, _table(results, columns, sources=(imagebench.SOURCE,))]


def _distances(results: Results) -> list[str]:
    said = (
        "At (1, 1e-5), 60,000 synthetic images against the real test images, on the features of a "
        "LeNet that was trained on the real training images. The weights of PEARL's LeNet are not "
        "published, so its numbers and ours are on scales of their own. KID times 1,000; lower is "
        "better."
    )
    columns = [(d, 1.0, score) for d in DATASETS for score in ("fid", "kid")]
    return ["## FID and KID", said, _table(results, columns, sources=(pearl.SOURCE,))]


def _averages(results: Results) -> list[str]:
    said = (
        "DP-MERF, Table 3: the mean of twelve classifiers of pixels, trained on synthetic images "
        "and tested on real ones."
    )
    found = ["## The twelve classifiers", said]
    for score, title in (("accuracy", "Accuracy"), ("f1", "F1")):
        columns = [(d, e, score) for d in DATASETS for e in merf.EPSILONS]
        found += [f"{title}:", _table(results, columns)]
    return found


def _classifiers(results: Results) -> list[str]:
    """DP-MERF's Tables 9 and 10: accuracy by classifier."""
    found = []
    for dataset, number in zip(DATASETS, (9, 10), strict=True):
        theirs = [
            row
            for row in ROWS
            if row.dataset == dataset and row.classifier and row.score == "accuracy"
        ]
        ours: list[tuple[str, float | None]] = [
            (variant, epsilon)
            for variant in _ran(results)
            for epsilon in merf.EPSILONS
            if _values(results, dataset, variant, epsilon, "accuracy")
        ]
        if _values(results, dataset, REAL, None, "accuracy"):
            ours.insert(0, (REAL, None))
        head = ["classifier"]
        head += [_head(method, e, _mark(method, theirs)) for method, e in merf.COLUMNS]
        head += [f"{_head(variant, e)}, ours" for variant, e in ours]
        lines = []
        for model in PUBLISHED:
            row = [r for r in theirs if r.classifier == model]
            cells = [f"{_of(row, *column):.2f}" for column in merf.COLUMNS]
            cells += [_of_classifier(results, dataset, *column, model) for column in ours]
            lines.append([model, *cells])
        found += [
            f"### {TITLES[dataset]}, by classifier",
            f"Accuracy; DP-MERF, Table {number}.",
            _markdown(head, lines, text=1),
        ]
    return found


def _cost(results: Results) -> list[str]:
    lines = []
    for variant in _ran(results):
        for dataset in DATASETS:
            runs = [
                r
                for r in results
                if (r["dataset"], r["variant"]) == (dataset, variant) and "failure" not in r
            ]
            if runs:
                fit, sample = (
                    f"{np.mean([r[name] for r in runs]):,.0f}"
                    for name in ("fit_seconds", "sample_seconds")
                )
                lines.append(
                    [VARIANTS[variant].title, TITLES[dataset], fit, sample, str(len(runs))]
                )
    if not lines:
        return []
    head = ["method", "images", "seconds of the fit", "seconds of 60,000 samples", "fits"]
    return ["## What it costs", "CPU seconds, means over all ε.", _markdown(head, lines, text=2)]


def _unsound() -> list[str]:
    found = {row.method: row.unsound for row in ROWS if row.unsound}
    lines = [f"- {method}: {why}." for method, why in found.items()]
    said = f"{MARK} Not private as published, whatever ε it claims; no number to compare with:"
    return ["## Published, but not private", said, "\n".join(lines)]


# -- cells -------------------------------------------------------------------------------------


def _table(
    results: Results, columns: Sequence[Column], sources: tuple[str, ...] | None = None
) -> str:
    """Ours, then the published rows, which have a number in some column."""
    by_data = len({column[0] for column in columns}) > 1
    by_score = len({column[2] for column in columns}) > 1
    head = ["method", "source", *(_title(c, by_data, by_score) for c in columns)]
    lines = []
    for variant in _shown(results, columns):
        title = "real images" if variant == REAL else f"**{VARIANTS[variant].title}**"
        lines.append([title, "ours", *(_ours(results, variant, column) for column in columns)])
    rows = [
        row for row in ROWS if not row.classifier and _column(row) in {*columns, *_real(columns)}
    ]
    rows = [row for row in rows if sources is None or row.source in sources]
    for method, source in dict.fromkeys((row.method, _paper(row)) for row in rows):
        own = [row for row in rows if (row.method, _paper(row)) == (method, source)]
        cells = [_published(own, column) for column in columns]
        lines.append([f"{method}{_mark(method, own)}", _places(own), *cells])
    note = [] if any(line[1] == "ours" for line in lines) else ["None of our methods was run.", ""]
    return "\n".join([*note, _markdown(head, lines, text=2)])


def _paper(row: Row) -> str:
    return row.source.partition(", Table ")[0]


def _places(rows: Sequence[Row]) -> str:
    """The paper, and the tables of it that these rows stand in."""
    numbers = sorted({row.source.partition(", Table ")[2] for row in rows} - {""})
    if not numbers:
        return rows[0].source
    return f"{_paper(rows[0])}, Table{'s' * (len(numbers) > 1)} {' and '.join(numbers)}"


def _column(row: Row) -> Column:
    return row.dataset, row.epsilon, row.score


def _real(columns: Iterable[Column]) -> set[Column]:
    return {(dataset, None, score) for dataset, _, score in columns}


def _title(column: Column, by_data: bool, by_score: bool) -> str:
    dataset, epsilon, score = column
    parts = [TITLES[dataset]] if by_data else []
    parts += [score.upper()] if by_score else [f"ε = {show_epsilon(epsilon or 0)}"]
    return ", ".join(parts)


def _head(method: str, epsilon: float | None, mark: str = "") -> str:
    title = VARIANTS[method].title if method in VARIANTS else method
    return f"{title}{mark}" + ("" if epsilon is None else f", ε = {show_epsilon(epsilon)}")


def _mark(method: str, rows: Iterable[Row]) -> str:
    return MARK if any(row.method == method and row.unsound for row in rows) else ""


def _of(rows: Sequence[Row], method: str, epsilon: float | None) -> float:
    (found,) = (row.value for row in rows if (row.method, row.epsilon) == (method, epsilon))
    return found


def _published(rows: Sequence[Row], column: Column) -> str:
    """A number; that of real images in the first column of each data set and score."""
    found = [row for row in rows if _column(row) == column]
    if not found:
        found = [r for r in rows if r.epsilon is None and _column(r) in _real([column])]
    return _number(found[0].value, column[2]) if found else NONE


def _ours(results: Results, variant: str, column: Column) -> str:
    dataset, epsilon, score = column
    values = _values(results, dataset, variant, epsilon, score)
    if values:
        spread = f" ± {_number(float(np.std(values, ddof=1)), score)}" if len(values) > 1 else ""
        return f"{_number(float(np.mean(values)), score)}{spread} ({len(values)})"
    tried = select(results, dataset, variant, epsilon)
    failed = [result for result in tried if "failure" in result]
    return f"failed ({failed[0]['failure'].split(':')[0]})" if failed else "not run"


def _values(
    results: Results, dataset: str, variant: str, epsilon: float | None, score: str
) -> list[float]:
    runs = select(results, dataset, variant, epsilon)
    return [r["statistics"][score] for r in runs if score in r.get("statistics", {})]


def _of_classifier(
    results: Results, dataset: str, variant: str, epsilon: float | None, model: str
) -> str:
    runs = select(results, dataset, variant, epsilon)
    found = [r["scores"][model]["accuracy"] for r in runs if model in r.get("scores", {})]
    return f"{np.mean(found):.2f}" if found else NONE


def _number(value: float, score: str) -> str:
    if score in ABOUT_PERCENT:
        return f"{100 * value:.1f}"
    if score == "kid":
        return f"{1000 * value:.3g}" if value < 1 else f"{1000 * value:.0f}"
    return f"{value:.3g}" if score == "fid" else f"{value:.2f}"


def _ran(results: Results) -> list[str]:
    return [name for name in VARIANTS if any(r["variant"] == name for r in results)]


def _shown(results: Results, columns: Sequence[Column]) -> list[str]:
    """Real images and variants that have a number, or a failure, in these columns."""

    def there(variant: str) -> bool:
        return any(_ours(results, variant, column) != "not run" for column in columns)

    return [name for name in (REAL, *_ran(results)) if there(name)]


def _epsilons(results: Results, first: Sequence[float], but: Sequence[float] = ()) -> list[float]:
    """The papers', and what else was run."""
    more = {epsilon_of(r) for r in results} - {None, *first, *but}
    return [*first, *sorted(epsilon for epsilon in more if epsilon is not None)]


def _markdown(head: Sequence[str], lines: Iterable[Sequence[str]], *, text: int) -> str:
    found = ["| " + " | ".join(head) + " |"]
    found.append("|" + " --- |" * text + " ---: |" * (len(head) - text))
    return "\n".join([*found, *("| " + " | ".join(line) + " |" for line in lines)])
