"""evaluate(): read the tables, compute the metrics, say what they mean."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nacre.errors import NacreError
from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.findings.find import find
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.findings.persons import person_findings
from nacre.evaluate.guarantees import Named, by_table, describe
from nacre.evaluate.images.evaluation import ImageEvaluation
from nacre.evaluate.images.run import evaluate_images
from nacre.evaluate.lmdp.report import column_sets, compare_sets
from nacre.evaluate.measure import Progress, averaged, lacking, measure
from nacre.evaluate.metrics import METRICS, choose
from nacre.evaluate.notes import left_out, sampled, silence
from nacre.evaluate.origins import origin_findings
from nacre.evaluate.shadow import shadow_attack
from nacre.evaluate.spending import spending
from nacre.evaluate.tables.classifiers import PUBLISHED, QUICK, available
from nacre.evaluate.tables.persons import Whose, whose
from nacre.evaluate.tables.reading import read_all
from nacre.evaluate.tables.watch import watch
from nacre.model import Model
from nacre.rows import SourceError
from nacre.schema import KEEP, ImageSchema, Schema, SchemaError, read_any
from nacre.schema.suggest import suggest


def evaluate(
    real: Any,
    synthetic: Any,
    schema: Schema | ImageSchema | str | Path,
    *,
    test: Any = None,
    label: str | None = KEEP,
    metrics: str | list[str] | tuple[str, ...] = "quick",
    guarantee: Any = None,
    classifiers: Iterable[str] | None = None,
    lmdp: Any = None,
    ledger: Any = None,
    dataset: str | None = None,
    shadow: int = 0,
    seed: int = 0,
    jobs: int = 2,
    on_progress: Progress | None = None,
) -> Evaluation | ImageEvaluation:
    """Compare synthetic tables with the real one. The result is confidential to the data holder.

    With a schema of images, compare images; see `nacre.evaluate.images.evaluate_images`.

    Args:
        real: the private table that the synthetic one was made from: a pandas, polars or Arrow
            frame, a CSV or Parquet file, or a folder of them.
        synthetic: the synthetic table, or a dictionary of several by name.
        schema: what the columns are, or the path of a YAML file that says it.
        test: real rows that were not used to make the synthetic table. Without them a fifth of
            `real`, drawn by `seed`, is kept from the models that are trained on real rows.
        label: the column that models should predict, instead of the schema's; None for no label.
        metrics: "quick", "all" (with the papers' twelve classifiers), or names of metrics.
        guarantee: what is guaranteed about the synthetic table (a `Guarantee`, a certificate, a
            dictionary, or the model it was drawn from or the path of its file), or a dictionary
            of these by the same names as `synthetic`. A model of another schema is refused, and
            rows that it never draws are told; that the table came from it is your word.
        classifiers: names of classifiers to try instead of the default ones.
        lmdp: sets of columns whose α-LMDP is to be tested at α = 0.05, or a dictionary with an α
            for each; see `nacre.lmdp_report`. If not given, those that a guarantee names.
        ledger: a `Ledger` or its address, to show what the data set has spent; only read.
        dataset: the data set's name in the ledger.
        shadow: how many rows to attack by models fitted with and without them, a minute or so
            each; then `guarantee` must be the model itself. See `nacre.evaluate.shadow`.
        seed: of everything that is sampled.
        jobs: processes to train models in.
        on_progress: called with a stage's name and the part done (None if unknown).
    """
    schema = _as_schema(schema)
    if seed < 0:
        raise NacreError(f"seed must be a whole number from 0 on, got {seed}.")
    if isinstance(schema, ImageSchema):
        _refuse_columns(shadow, lmdp)
        return evaluate_images(
            real,
            synthetic,
            schema if label is KEEP else schema.with_label(label),
            test=test,
            metrics=metrics,
            guarantee=guarantee,
            classifiers=classifiers,
            ledger=ledger,
            dataset=dataset,
            seed=seed,
            jobs=jobs,
            on_progress=on_progress,
        )
    started = time.perf_counter()
    chosen, label, tables = choose(metrics), _label(label, schema), _by_name(synthetic)
    default = PUBLISHED if metrics == "all" else QUICK
    models = available(default if classifiers is None else tuple(classifiers))
    named = by_table(guarantee, list(tables))
    attacked = _attacked(named, tables, shadow)
    guarantees, spent = describe(named, schema, label), spending(ledger, dataset)
    sets = column_sets(lmdp, 0.05, schema) if lmdp is not None else _hidden(guarantees)
    report = on_progress or (lambda stage, done: None)
    report("reading", None)
    rows = read_all(real, tables, test, schema)
    comparisons = rows.compare(label, models, seed, jobs)
    first = next(iter(comparisons.values()))
    usable = [m for m in chosen if not lacking(m, first)]
    if any(metric.group == "pairs" for metric in usable):
        comparisons = watch(comparisons)
    results = measure(usable, comparisons, report)
    beside, unknown = _persons(real, tables, schema)
    for table, each in named.items():
        beside[table] = [*beside.get(table, ()), *origin_findings(tables[table], each.given)]
    if attacked is not None:
        attack = shadow_attack(
            real, schema, attacked, targets=shadow, seed=seed, on_progress=report
        )
        beside = {t: [*beside.get(t, ()), attack.finding()] for t in tables}
    return Evaluation(
        schema=schema,
        label=label,
        metrics=tuple(averaged(metric, results) for metric in usable),
        results=tuple(results),
        findings={
            t: find(t, results, comparisons[t], guarantees.get(t), beside.get(t, ()))
            for t in tables
        },
        notes=(*rows.notes(), *left_out(chosen, usable), *sampled(comparisons, usable), *unknown),
        guarantees=guarantees,
        comparisons=comparisons,
        lmdp={t: compare_sets(c.real, c.synthetic, sets, seed=seed) for t, c in comparisons.items()}
        if sets
        else {},
        spent=spent,
        silent=silence(m for m in METRICS.values() if m not in chosen and not lacking(m, first)),
        seconds=round(time.perf_counter() - started, 2),
    )


def _refuse_columns(shadow: int, lmdp: Any) -> None:
    """Refuse what is asked about columns, where there are images."""
    if shadow:
        raise NacreError("Shadow models attack rows of tables, not images. Leave out `shadow`.")
    if lmdp is not None:
        raise NacreError("α-LMDP is a test of columns; images have none. Leave out `lmdp`.")


def _label(given: str | None, schema: Schema) -> str | None:
    """The column that models are to predict."""
    label = schema.label if given is KEEP else given
    if label is not None and label not in schema.names:
        raise NacreError(
            f"The label '{label}' is not a column of the schema. Its columns are: "
            f"{', '.join(schema.names)}.{suggest(label, schema.names)}"
        )
    return label


def _by_name(given: Any) -> Mapping[str, Any]:
    """Several tables by name, or the only one."""
    tables = given if isinstance(given, Mapping) else {"synthetic": given}
    if not tables:
        raise NacreError("No synthetic table was given: the dictionary is empty.")
    return tables


def _attacked(named: Mapping[str, Named], tables: Mapping[str, Any], shadow: int) -> Model | None:
    """The model whose method shadow models are made by, if any are asked for."""
    if shadow < 0:
        raise NacreError(f"shadow must be a number of rows, got {shadow}.")
    if not shadow:
        return None
    given = [each.given for each in named.values()]
    if len(tables) > 1 or not given or not isinstance(given[0], Model):
        raise NacreError(
            "Shadow models are fits of the same method: give the model that the one synthetic "
            "table was drawn from (guarantee=model, --model)."
        )
    return given[0]


def _persons(
    real: Any, tables: Mapping[str, Any], schema: Schema
) -> tuple[dict[str, list[Finding]], list[str]]:
    """What is said of persons, by table, and of which tables nothing can be."""
    unit = schema.unit
    if unit is None or unit.rows == 1:
        return {}, []
    known: dict[str, Whose] = {}
    lacking: list[str] = []
    for name, table in {"": real, **tables}.items():
        try:
            known[name] = whose(table, schema)
        except (SchemaError, SourceError):
            lacking.append(f"'{name}'" if name else "the real one")
    said = f"Persons were not compared: {', '.join(lacking)} has no column '{unit.column}'."
    found = {
        name: list(person_findings(known[""], known[name], unit))
        for name in tables
        if {"", name} <= known.keys()
    }
    return found, [said] if lacking else []


def _hidden(guarantees: Mapping[str, Mapping[str, Any]]) -> list[tuple[tuple[str, ...], float]]:
    """The sets of columns that any of the tables' methods was asked to hide."""
    found = {
        tuple(map(str, said["columns"])): float(said["alpha"])
        for guarantee in guarantees.values()
        for said in guarantee.get("hidden") or ()
    }
    return list(found.items())


def _as_schema(given: Any) -> Schema | ImageSchema:
    """A schema, which is read if it is the path of one."""
    if isinstance(given, str | Path):
        return read_any(given)
    if isinstance(given, Schema | ImageSchema):
        return given
    raise NacreError(
        "schema must be a nacre.Schema, a nacre.ImageSchema or the path of a YAML file, got a "
        f"{type(given).__name__}."
    )
