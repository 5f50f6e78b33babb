"""publish(): from a model, a synthetic table and perhaps some budget to a page for everybody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nacre.answers import computed_measurements
from nacre.errors import NacreError
from nacre.histograms.measurement import Measurement
from nacre.ledger import Ledger
from nacre.model import Model
from nacre.publish.bands import bands
from nacre.publish.bins import cell_counts
from nacre.publish.buying import Bought, buy, order, together
from nacre.publish.findings import find
from nacre.publish.images import PublicImages, publish_images
from nacre.publish.predictor import Predictor, train
from nacre.publish.public import PublicReport
from nacre.publish.scores import PaidScore, binary_scores, class_scores
from nacre.publish.table import Table, synthetic_table
from nacre.rows import ImageEncoder, TableEncoder
from nacre.vault.budget import check_budget

OWN = "the model's own histograms"
ADDED_UP = (
    "these added up, where a fact of the schema computes a column: true as far as the private rows "
    "keep the fact"
)
BOUGHT = "histograms bought for this page"

ROWS = 50_000
SCORES = ("columns", "prediction")


def publish(
    model: Model,
    synthetic: Any = None,
    *,
    rows: int = ROWS,
    seed: int = 0,
    data: Any = None,
    epsilon: float | None = None,
    delta: float | None = None,
    scores: Sequence[str] | None = None,
    ledger: Ledger | str | Path | None = None,
    dataset: str | None = None,
    bad_rows: str = "check",
    on_progress: Callable[[str, float | None], None] | None = None,
) -> PublicReport | PublicImages:
    """A report on a model that is safe to publish.

    Of a model of images: its guarantee and synthetic images, at most 1,000 of them; nothing can be
    bought.

    Args:
        model: what it is about.
        synthetic: the table that is published, if it is not to be drawn here. It must have been
            drawn from the model; nothing can check that.
        rows: how many synthetic rows to draw otherwise.
        seed: of that draw, so that everybody who has the model can make the same page again.
        data: the private rows, to buy scores of them. Without it no row is read.
        epsilon: what the scores may cost, beyond what the model has cost.
        delta: likewise.
        scores: what to buy: "columns" (histograms of every column), "prediction" (a classifier
            trained on synthetic rows, tested on private ones), or both. If not given, prediction
            where there is a label with a list of values, and columns unless the model brings
            histograms of its own.
        ledger: where the data set's budget is kept; needs `dataset`, its name there.
        dataset: the name under which the budget was opened.
        bad_rows: "check" stops before anything is spent if a private row does not fit the schema;
            "zero" lets such rows count as nothing.
        on_progress: called with a stage's name and the part done (None if unknown).

    Guarantee:
        the model's, and with `data` that of one more release of (epsilon, delta); the report lists
        both and their sum. Everything else in it is post-processing.
    """
    _refuse_unsafe(model, paying=data is not None)
    if isinstance(model.encoder, ImageEncoder):
        if data is None:
            _paying(data, epsilon, delta, scores, ledger, dataset, bad_rows)
        return publish_images(model, synthetic, rows=rows, seed=seed, data=data)
    paying = _paying(data, epsilon, delta, scores, ledger, dataset, bad_rows)
    drawn = synthetic_table(model, synthetic, rows, seed, data)
    bought, predictor = None, None
    if paying:
        wanted = _wanted(model, scores)
        predictor = train(drawn.rows) if "prediction" in wanted else None
        if predictor is None and "prediction" in wanted:
            _without_prediction(scores, wanted)
        bought = buy(
            model,
            order(model, predictor, "columns" in wanted),
            data,
            epsilon=float(epsilon or 0),
            delta=float(delta or 0),
            ledger=ledger,
            dataset=dataset,
            bad_rows=bad_rows,
            on_progress=on_progress,
        )
    return _describe(model, drawn, bought, predictor)


def _describe(
    model: Model, drawn: Table, bought: Bought | None, predictor: Predictor | None
) -> PublicReport:
    """The report: from here on there are noisy answers and synthetic rows only."""
    measured: list[tuple[str, Measurement]] = [(OWN, m) for m in model.measurements]
    known = {m.column for _, m in measured}
    unknown = [name for name in model.schema.names if name not in known]
    measured += [
        (ADDED_UP, m)
        for m in computed_measurements(model.schema, model.released, unknown)
        if np.isclose(cell_counts(drawn.rows, m.column, m.low, m.high).sum(), drawn.rows.total)
    ]
    if bought is not None:
        measured += [(BOUGHT, m) for m in bought.histograms]
    found = bands(drawn.rows, measured, fresh=(BOUGHT,))
    told = _scores(bought, predictor)
    extra = () if bought is None else (bought.guarantee,)
    return PublicReport(
        schema=model.schema,
        method=model.method,
        versions=dict(model.versions),
        table=drawn,
        guarantee=model.guarantee,
        bought=None if bought is None else bought.guarantee,
        together=together(model.guarantee, extra),
        bands=found,
        scores=told,
        outcomes=None if bought is None else bought.outcomes,
        outcome_noise=0.0 if bought is None else bought.outcome_noise,
        predictor=predictor,
        findings=find(found, told, model.schema),
    )


def _scores(bought: Bought | None, predictor: Predictor | None) -> tuple[PaidScore, ...]:
    if bought is None or predictor is None or bought.outcomes is None:
        return ()
    given = (bought.outcomes, bought.outcome_noise, predictor.synthetic)
    if predictor.positive is not None:
        return tuple(binary_scores(*given, positive=predictor.positive, cut=predictor.cut))
    return tuple(class_scores(*given))


def _refuse_unsafe(model: Model, *, paying: bool) -> None:
    if not model.guarantee.private:
        raise NacreError(
            f"{model.guarantee}. Nothing about this model is safe to publish. Fit one with an "
            "epsilon and a delta."
        )
    model.guarantee.verify()
    if paying and (model.guarantee.hidden or getattr(model.encoder, "protect", ())):
        raise NacreError(
            "The distribution of some columns of this model is a secret (`protect`), and scores of "
            "the private rows would publish it. Leave `data` out."
        )


def _paying(
    data: Any,
    epsilon: float | None,
    delta: float | None,
    scores: Sequence[str] | None,
    ledger: Any,
    dataset: str | None,
    bad_rows: str,
) -> bool:
    """Whether something is to be bought; half of an order is refused before a row is read."""
    if data is None:
        given = {"epsilon": epsilon, "delta": delta, "scores": scores, "ledger": ledger}
        given["dataset"] = dataset
        if names := [name for name, value in given.items() if value is not None]:
            raise NacreError(
                f"{', '.join(names)} given without `data`: there is nothing to buy scores of. "
                "Give the private table too, or leave these out."
            )
        return False
    if epsilon is None or delta is None:
        raise NacreError(
            "Scores of private rows cost budget: give `epsilon` and `delta` with `data`, or leave "
            "`data` out."
        )
    check_budget(epsilon, delta)
    if bad_rows not in ("check", "zero"):
        raise NacreError(f"bad_rows must be 'check' or 'zero', got '{bad_rows}'.")
    if isinstance(scores, str) or not set(scores or SCORES) <= set(SCORES) or scores == ():
        raise NacreError(f"scores must be a list of {' or '.join(SCORES)}, got {scores!r}.")
    return True


def _wanted(model: Model, scores: Sequence[str] | None) -> set[str]:
    if scores is not None:
        return set(scores)
    label = TableEncoder(model.schema).label is not None
    wanted = {"prediction"} if label else {"columns"}
    return wanted if model.measurements else wanted | {"columns"}


def _without_prediction(scores: Sequence[str] | None, wanted: set[str]) -> None:
    """No classifier could be trained: an error if it was asked for, columns otherwise."""
    if scores is not None:
        raise NacreError(
            "There is nothing to predict: the schema needs a label with a list of values, and the "
            "synthetic table more than one of them. Leave 'prediction' out of `scores`."
        )
    wanted.add("columns")
