"""DP-auto-GAN's figures, drawn again: Adult, and patients by ICD-9 category.

The paper (Tantipongpipat et al., 2019) draws dimension-wise probability (its Figure 2) and
prediction (3, 4 and 6), the principal plane (5) and histograms of single columns (7), for several
epsilon side by side.  `icd` stands in for MIMIC-III, which may not be passed on.
"""

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nacre import datasets
from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.metrics.dimension_probability import probabilities
from nacre.evaluate.metrics.three_way_100 import distances
from nacre.evaluate.report.figures.canvas import drawing, write_svg
from nacre.evaluate.report.figures.columns import draw_column
from nacre.evaluate.report.figures.panels import (
    Point,
    draw_distances,
    draw_plane_panels,
    draw_point_panels,
)
from nacre.evaluate.run import evaluate
from nacre.evaluate.tables.rows import Rows
from nacre.fit import fit
from nacre.methods import find
from nacre.schema import Schema

RESULTS = Path(__file__).parent / "results" / "autogan"
EPSILONS = (math.inf, 3.12, 1.28, 0.94)
DELTA = 1e-5
METRICS = ["dimension-probability", "dimension-prediction-published", "three-way-100", "w2-pca"]
HISTOGRAMS = 3
"""Numbers of which a histogram is drawn: the paper's are Adult's capital gain, loss and hours."""
INDEPENDENT = "independent"


class Data(NamedTuple):
    """A table to fit, rows that were kept from it, and what is public about both."""

    train: pa.Table
    test: pa.Table
    schema: Schema


def read(name: str, rows: int | None = None) -> Data:
    """Adult in its official split, or another table split 80/20; at most `rows` of each part."""
    if name == "adult":
        train, test = datasets.adult()
        schema = datasets.adult_schema()
    else:
        table, schema = datasets.load(name)
        order = np.random.default_rng(0).permutation(table.num_rows)
        cut = table.num_rows * 4 // 5
        train, test = (table.take(pa.array(part)) for part in (order[:cut], order[cut:]))
    train, test = (part.select(schema.names) for part in (train, test))
    return Data(train.slice(0, rows), test.slice(0, rows), schema)


def synthesize(data: Data, method: str, epsilon: float, seed: int) -> pa.Table:
    """As many rows as were fitted. `independent` is no method: it shuffles each real column."""
    if method == INDEPENDENT:
        rng = np.random.default_rng(seed)
        order = {name: rng.permutation(data.train.num_rows) for name in data.schema.names}
        return pa.table({name: data.train[name].take(pa.array(o)) for name, o in order.items()})
    delta = None if math.isinf(epsilon) else DELTA
    model = fit(
        data.train, data.schema, method=find(method)(), epsilon=epsilon, delta=delta, seed=seed
    )
    return model.sample_arrow(data.train.num_rows, seed=seed)


def title(epsilon: float) -> str:
    """How a table is called.

    >>> title(math.inf), title(0.94)
    ('ε = ∞', 'ε = 0.94')
    """
    return f"ε = {'∞' if math.isinf(epsilon) else f'{epsilon:g}'}"


def draw_all(found: Evaluation, name: str, folder: Path) -> list[Path]:
    """Every figure that the table's columns allow, as SVG files."""
    first = next(iter(found.comparisons.values()))
    figures = {}
    with drawing():
        if any(not first.real.is_number(n) for n in first.real.names):
            points = {
                t: [Point(*found) for found in probabilities(c)]
                for t, c in found.comparisons.items()
            }
            axes = ("share in the real table", "share in the synthetic table")
            figures["probability"] = draw_point_panels(points, axes)
        axes = ("trained on real rows", "trained on synthetic rows")
        figures["prediction"] = draw_point_panels(_predictions(found), axes)
        figures["plane"], _ = draw_plane_panels(found.comparisons)
        # Held-out rows, as many as the tables have if there are so many.
        held = dataclasses.replace(first, synthetic=first.test)
        triples = {table: distances(c) for table, c in found.comparisons.items()}
        figures["three-way"] = draw_distances(triples, distances(held), "three columns")
        numbers = [n for n in first.real.names if first.real.is_number(n)]
        for column in numbers[-HISTOGRAMS:]:
            figure = figures[f"histogram-{column}"] = draw_column(column, found.comparisons)
            figure.axes[0].set_title(column, loc="left")
            figure.tight_layout(pad=0.4)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for kind, figure in figures.items():
            paths.append(folder / f"{name}-{kind}.svg")
            write_svg(figure, f"{name}: {kind}", paths[-1])
    return paths


def _predictions(found: Evaluation) -> dict[str, list[Point]]:
    """Each column's score by models of real and of synthetic rows; how many have none."""
    points: dict[str, list[Point]] = {}
    for table, comparison in found.comparisons.items():
        real = comparison.real
        kept = [
            Point(str(s.part), s.reference, s.value, _kind(str(s.part), comparison.label, real))
            for s in found.parts("dimension-prediction-published", table)
            if s.reference is not None
        ]
        gone = len(real.names) - len(kept)
        points[f"{table} ({gone} left out)" if gone else table] = kept
    return points


def _kind(name: str, label: str | None, rows: Rows) -> str:
    if name == label:
        return "label, F1"
    if rows.is_number(name):
        return "numbers, R²"
    return "categories" if any(map(rows.is_number, rows.names)) else "two values, AUC"


def run(
    name: str, method: str, epsilons: tuple[float, ...], rows: int | None, seed: int
) -> tuple[Evaluation, dict[str, float]]:
    """Fit at each epsilon and evaluate all tables at once; CPU seconds of each, in one process."""
    data, tables, seconds = read(name, rows), {}, {}
    for epsilon in epsilons:
        start = time.process_time()
        tables[title(epsilon)] = synthesize(data, method, epsilon, seed)
        seconds[title(epsilon)] = round(time.process_time() - start, 1)
        print(f"{name}, {title(epsilon)}: fitted, {seconds[title(epsilon)]} CPU s", flush=True)
    start = time.process_time()
    found = evaluate(
        data.train, tables, data.schema, test=data.test, metrics=METRICS, seed=seed, jobs=1
    )
    print(f"{name}: evaluated, {time.process_time() - start:.0f} CPU s", flush=True)
    return found, seconds


def table_of(found: Evaluation, seconds: Mapping[str, float]) -> dict[str, dict[str, float | None]]:
    """The overall scores of each table, and of real data."""
    scores = {table: {m: found.score(m, table) for m in METRICS} for table in found.tables}
    first = next(iter(scores.values()))
    real = {m: None if s is None else s.reference for m, s in first.items()}
    return {
        **{
            table: {m: None if s is None else s.value for m, s in each.items()}
            | {"cpu_seconds": seconds[table]}
            for table, each in scores.items()
        },
        "real": real,
    }


def main(arguments: list[str]) -> None:
    """Print the scores, keep them as JSON, and draw the figures if asked."""
    parser = argparse.ArgumentParser(prog="python -m bench autogan")
    parser.add_argument("--datasets", default="adult,icd")
    parser.add_argument("--method", default="autogan", help=f"or {INDEPENDENT}, to try the figures")
    parser.add_argument("--epsilons", default=",".join(map(str, EPSILONS)))
    parser.add_argument("--rows", type=int, default=None, help="at most, of each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--folder", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    epsilons = tuple(float(text) for text in options.epsilons.split(","))
    for name in options.datasets.split(","):
        found, seconds = run(name, options.method, epsilons, options.rows, options.seed)
        scores = table_of(found, seconds)
        options.folder.mkdir(parents=True, exist_ok=True)
        kept = options.folder / f"{name}.json"
        kept.write_text(json.dumps(scores, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{name}, {options.method}: {', '.join(METRICS)}")
        for table, each in scores.items():
            row = "".join(
                f"{'' if each[m] is None else format(each[m], '.4f'):>10}" for m in METRICS
            )
            print(f"  {table:12}{row}")
        if options.figures:
            for path in draw_all(found, name, options.folder):
                print(f"  {path}")
