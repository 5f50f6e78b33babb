"""evaluate(): read the tables, compute the metrics, say what they mean."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nacre.evaluate.classifiers import PUBLISHED, QUICK, available
from nacre.evaluate.comparison import CLASSIFIER_ROWS, DISTANCE_ROWS, Comparison
from nacre.evaluate.evaluation import Evaluation, Score
from nacre.evaluate.findings import find
from nacre.evaluate.guarantees import describe
from nacre.evaluate.metric import Metric, Value
from nacre.evaluate.metrics import choose
from nacre.evaluate.rows import Rows
from nacre.evaluate.tables import read
from nacre.schema import Schema

HELD_OUT = 0.2
FEWEST = 10

Progress = Callable[[float, str], None]


def evaluate(
    real: Any,
    synthetic: Any,
    schema: Schema,
    *,
    test: Any = None,
    label: str | None = None,
    metrics: str | list[str] | tuple[str, ...] = "quick",
    guarantee: Any = None,
    classifiers: Iterable[str] | None = None,
    seed: int = 0,
    jobs: int = 2,
    on_progress: Progress | None = None,
) -> Evaluation:
    """Compare synthetic tables with the real one. The result is confidential to the data holder.

    Args:
        real: the private table that the synthetic one was made from: a pandas, polars or Arrow
            frame, a CSV or Parquet file, or a folder of them.
        synthetic: the synthetic table, or a dictionary of several by name.
        schema: what the columns are.
        test: real rows that were not used to make the synthetic table. Without them a fifth of
            `real`, drawn by `seed`, is kept from the models that are trained on real rows.
        label: the column that models should predict; the schema's label if not given.
        metrics: "quick", "all" (with the papers' twelve classifiers), or names of metrics.
        guarantee: what is guaranteed about the synthetic table (a `Guarantee`, a certificate, or a
            dictionary), or a dictionary of these by the same names as `synthetic`.
        classifiers: names of classifiers to try instead of the default ones.
        seed: of everything that is sampled.
        jobs: processes to train models in.
        on_progress: called with the share of the work done and what comes next.
    """
    started = time.perf_counter()
    chosen = choose(metrics)
    label = schema.label if label is None else label
    if label is not None and label not in schema.names:
        raise ValueError(
            f"The label '{label}' is not a column of the schema. Its columns are: "
            f"{', '.join(schema.names)}."
        )
    tables = synthetic if isinstance(synthetic, Mapping) else {"synthetic": synthetic}
    if not tables:
        raise ValueError("No synthetic table was given: the dictionary is empty.")
    if classifiers is None:
        models = available(PUBLISHED if metrics == "all" else QUICK)
    else:
        models = available(tuple(classifiers))
    report = on_progress or (lambda share, what: None)
    report(0.0, "reading the tables")
    rows, notes = _read_all(real, tables, test, schema)
    comparisons = _compare(rows, list(tables), label, models, seed, jobs)
    first = comparisons[next(iter(tables))]
    usable = [metric for metric in chosen if _has_needs(metric, first)]
    if label is None and any(m.group == "usefulness" for m in chosen):
        notes.append("No label was given, so no model was trained to predict one.")
    results: list[Score] = []
    references: dict[str, dict[str, float]] = {}
    # What a perfect synthesizer would reach: fresh real rows in the place of synthetic ones.
    fresh = dataclasses.replace(first, name="held-out", real=first.train, synthetic=first.test)
    steps = [(metric, table) for metric in usable for table in tables]
    for step, (metric, table) in enumerate(steps):
        report(step / len(steps), metric.title)
        comparison = comparisons[table]
        if metric.name not in references:
            references[metric.name] = _reference(metric, comparison, fresh)
        results += _scores(metric, table, metric.compute(comparison), references[metric.name])
    report(1.0, "done")
    notes += _sampling_notes(comparisons, usable)
    guarantees = describe(guarantee, list(tables))
    return Evaluation(
        schema=schema,
        label=label,
        metrics=tuple(usable),
        results=tuple(results),
        findings={t: find(t, results, comparisons[t], guarantees.get(t)) for t in tables},
        notes=tuple(notes),
        guarantees=guarantees,
        comparisons=comparisons,
        seconds=round(time.perf_counter() - started, 2),
    )


def _read_all(
    real: Any, tables: Mapping[str, Any], test: Any, schema: Schema
) -> tuple[dict[str, Rows], list[str]]:
    """Every table by name ("real", "test" and the synthetic ones' own), and what to note."""
    rows = {f"synthetic {n}": read(t, schema, f"The table '{n}'") for n, t in tables.items()}
    rows["real"] = read(real, schema, "The real table")
    if test is not None:
        rows["test"] = read(test, schema, "The test table")
    for name, part in rows.items():
        if len(part) < FEWEST:
            raise ValueError(
                f"The table '{name.removeprefix('synthetic ')}' has {len(part)} rows that fit the "
                f"schema. At least {FEWEST} are needed to say anything about it."
            )
    notes = [
        f"Left out of the table '{name.removeprefix('synthetic ')}' because they do not fit the "
        f"schema: {part.left_out:,} of {len(part) + part.left_out:,} rows."
        for name, part in rows.items()
        if part.left_out
    ]
    if test is None:
        notes.append(
            f"No test rows were given: {HELD_OUT:.0%} of the real rows, drawn at random, were kept "
            f"for scoring from models trained on real rows. If the synthetic table was made from "
            f"all rows, it has seen them, and its scores are slightly too good."
        )
    return rows, notes


def _compare(
    rows: Mapping[str, Rows],
    names: Sequence[str],
    label: str | None,
    models: tuple[str, ...],
    seed: int,
    jobs: int,
) -> dict[str, Comparison]:
    train, test = rows["real"], rows.get("test")
    if test is None:
        train, test = train.split(HELD_OUT, np.random.default_rng([seed, 0]))
    real_trained = Comparison(
        name="real",
        real=train,
        synthetic=train,
        train=train,
        test=test,
        label=label,
        models=models,
        seed=seed,
        jobs=jobs,
    )
    return {
        name: dataclasses.replace(
            real_trained,
            name=name,
            real=rows["real"],
            synthetic=rows[f"synthetic {name}"],
            real_trained=real_trained,
        )
        for name in names
    }


def _has_needs(metric: Metric, comparison: Comparison) -> bool:
    met = {
        "label": comparison.label is not None,
        "classes": comparison.classes is not None,
        "number": comparison.label is not None and comparison.classes is None,
        "binary": comparison.classes == 2,
    }
    return all(met[need] for need in metric.needs)


def _reference(metric: Metric, comparison: Comparison, fresh: Comparison) -> dict[str, float]:
    if metric.reference is None:
        return {}
    other = fresh if metric.reference == "held-out" else comparison.real_trained
    return {} if other is None else {v.part: v.value for v in metric.compute(other)}


def _scores(
    metric: Metric, table: str, values: Iterable[Value], reference: Mapping[str, float]
) -> Iterable[Score]:
    for value in values:
        yield Score(
            table=table,
            metric=metric.name,
            part=value.part,
            value=value.value,
            error=value.error,
            reference=reference.get(value.part),
            goal=metric.goal,
        )


def _sampling_notes(
    comparisons: Mapping[str, Comparison], metrics: Sequence[Metric]
) -> Iterable[str]:
    largest = max(max(len(c.synthetic), len(c.train), len(c.test)) for c in comparisons.values())
    groups = {metric.group for metric in metrics}
    if "usefulness" in groups and largest > CLASSIFIER_ROWS:
        yield f"Models were trained and tested on random samples of {CLASSIFIER_ROWS:,} rows."
    if "privacy" in groups and largest > DISTANCE_ROWS:
        yield f"Distances were measured to a random sample of {DISTANCE_ROWS:,} real rows."
    for comparison in comparisons.values():
        for prediction in comparison.__dict__.get("predictions", ()):
            if prediction.problem:
                yield (
                    f"The {prediction.model} could not be trained on '{comparison.name}' "
                    f"({prediction.problem}); it counts as guessing."
                )
