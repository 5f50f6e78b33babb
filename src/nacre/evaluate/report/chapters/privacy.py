"""The chapter of privacy: the releases behind the guarantee, the ledger, and some smoke alarms."""

from collections.abc import Mapping
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.report.chapters.common import Context
from nacre.evaluate.report.figures.canvas import drawn
from nacre.evaluate.report.figures.models import draw_closest
from nacre.report.builder import Cell, DataTable, right
from nacre.report.builder.text import number, significant

_HEADS = {
    "name": "release",
    "mechanism": "mechanism",
    "size": "numbers",
    "sensitivity": "sensitivity",
    "noise": "noise, σ",
    "steps": "steps",
    "rate": "rate",
    "theorem": "theorem",
}


def privacy(evaluation: Evaluation) -> Context:
    """What was released, what the data set has spent, and what attacks can do."""
    return {
        "several": len(evaluation.tables) > 1,
        "tables": [
            released(table, evaluation.guarantees.get(table, {})) for table in evaluation.tables
        ],
        "spent": evaluation.spent,
        "attacks": _attacks(evaluation),
        "closest": [
            {
                "name": table,
                "drawing": drawn(
                    draw_closest(comparison, place), f"Distance to the closest record, {table}"
                ),
            }
            for place, (table, comparison) in enumerate(evaluation.comparisons.items())
            if evaluation.score("closest-record", table) is not None
        ],
        "alarms": _alarms(evaluation),
    }


def released(table: str, guarantee: Mapping[str, Any]) -> Context:
    """The releases behind a guarantee, and what it rests on."""
    releases = [r for r in guarantee.get("releases") or () if isinstance(r, Mapping)]
    return {
        "name": table,
        "releases": _releases(releases) if releases else None,
        "assumptions": guarantee.get("assumptions") or (),
    }


def _releases(releases: list[Mapping[str, Any]]) -> DataTable:
    fields = [f for f in _HEADS if any(_says(f, r.get(f)) for r in releases)]
    numeric = {f for f in fields if any(isinstance(r.get(f), int | float) for r in releases)}
    kinds = {field: "n" if field in numeric else None for field in fields}

    def written(value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return f"{value:,}"
        return number(value) if isinstance(value, float) else str("" if value is None else value)

    return DataTable(
        [Cell(_HEADS[field], kind) for field, kind in kinds.items()],
        [
            [Cell(written(release.get(field)), kind) for field, kind in kinds.items()]
            for release in releases
        ],
    )


def _says(field: str, value: Any) -> bool:
    """Whether a field tells anything: one step over all rows is how every plain sum is made."""
    return value not in (None, "") and not (field in ("steps", "rate") and value == 1)


def _attacks(evaluation: Evaluation) -> list[Context]:
    """What membership inference reached, beside what the guarantee allows."""
    said = []
    for table in evaluation.tables:
        area = evaluation.score("membership", table)
        shown = evaluation.score("membership-epsilon", table)
        words = ""
        if area is not None:
            words += (
                f"An attacker who holds the synthetic table tells training rows from other real "
                f"rows with AUC {number(area.value)} ± {area.error or 0:.1g} (0.5 is guessing). "
            )
        if shown is not None:
            words += _allowed(shown.value, evaluation.guarantees.get(table))
        words += _regulators(evaluation, table)
        if words:
            words += " That attacks fail proves nothing: a better one may exist."
            said.append({"name": table, "words": words})
    return said


_RISKS = {
    "singling-out": "singles out {} more training rows than rows that were never there",
    "linkability": "ties {} more of them together from two halves",
    "inference": "guesses {} more of their values",
}


def _regulators(evaluation: Evaluation, table: str) -> str:
    """The three risks of the European regulators, each beyond the control, in a sentence."""
    said = []
    for metric, words in _RISKS.items():
        score = evaluation.score(metric, table)
        if score is not None:
            error = 2 * (score.error or 0.0)
            said.append(words.format(f"{100 * score.value:.1f} ± {100 * error:.1f}%"))
    return f" As regulators count it, the table {', '.join(said)}." if said else ""


def _allowed(shown: float, guarantee: Mapping[str, Any] | None) -> str:
    """The epsilon that the attack shows and the one that is guaranteed, in a sentence."""
    attack = f"As a bound on ε (95% confidence), the attack shows at least {shown:.1f}"
    if guarantee is None:
        return f"{attack}; no guarantee was given to compare it with."
    if guarantee["epsilon"] is None:
        return f"{attack}; there is no guarantee, as the table is NOT PRIVATE."
    return f"{attack}; the guarantee allows at most {significant(guarantee['epsilon'])}."


def _alarms(evaluation: Evaluation) -> DataTable | None:
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        known = [score for score in scores if score is not None]
        if metric.group == "privacy" and known:
            values = [None if score is None else score.value for score in scores]
            cells = [right(number(value)) for value in (*values, known[0].reference)]
            rows.append([Cell(metric.title), *cells])
    head = [Cell("Alarm"), *(right(name) for name in (*evaluation.tables, "held-out rows"))]
    return DataTable(head, rows) if rows else None
