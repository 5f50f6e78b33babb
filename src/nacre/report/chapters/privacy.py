"""The chapter of privacy: the releases behind the guarantee, the ledger, and some smoke alarms."""

from collections.abc import Mapping
from typing import Any

from nacre.evaluate.evaluation import Evaluation
from nacre.evaluate.lmdp.report import NO_DP
from nacre.report.chapters.common import data_table, grid, lede
from nacre.report.chapters.ledger import ledger
from nacre.report.figures.canvas import plate
from nacre.report.figures.models import draw_closest
from nacre.report.markup import Markup, join, number, tag

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
_FIELDS = tuple(_HEADS)


def privacy(evaluation: Evaluation) -> Markup:
    """What was released, what the data set has spent, and what attacks can do."""
    parts: list[Any] = [
        lede(
            "Only the guarantee protects people. Distances and attacks are smoke alarms: one that "
            "is silent proves nothing."
        )
    ]
    for table in evaluation.tables:
        found = evaluation.guarantees.get(table, {})
        releases = [r for r in found.get("releases") or () if isinstance(r, Mapping)]
        if releases:
            title = "What was released" + (f" for {table}" if len(evaluation.tables) > 1 else "")
            parts += [tag("h3", title), _releases(releases)]
        parts += [tag("p", said, class_="muted") for said in found.get("assumptions") or ()]
    if evaluation.spent is not None:
        parts.append(ledger(evaluation.spent))
    figures = [
        plate(
            draw_closest(comparison, place),
            join(tag("b", f"{table}"), " distance to the closest record; held-out rows in gray"),
            f"Distance to the closest record, {table}",
        )
        for place, (table, comparison) in enumerate(evaluation.comparisons.items())
        if evaluation.score("closest-record", table) is not None
    ]
    alarms = _alarms(evaluation)
    shown = grid([*figures, alarms] if alarms else figures, "two")
    return join(*parts, _attacks(evaluation), shown, _lmdp(evaluation))


def _releases(releases: list[Mapping[str, Any]]) -> Markup:
    fields = [f for f in _FIELDS if any(_says(f, r.get(f)) for r in releases)]
    numeric = {f for f in fields if any(isinstance(r.get(f), int | float) for r in releases)}

    def cell(value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            return f"{value:,}"
        return number(value) if isinstance(value, float) else str("" if value is None else value)

    return data_table(
        [(_HEADS[field], "n") if field in numeric else _HEADS[field] for field in fields],
        [
            [(cell(r.get(f)), "n") if f in numeric else cell(r.get(f)) for f in fields]
            for r in releases
        ],
    )


def _says(field: str, value: Any) -> bool:
    """Whether a field tells anything: one step over all rows is how every plain sum is made."""
    return value not in (None, "") and not (field in ("steps", "rate") and value == 1)


def _attacks(evaluation: Evaluation) -> Markup:
    """What membership inference reached, beside what the guarantee allows."""
    said = []
    for table in evaluation.tables:
        area = evaluation.score("membership", table)
        shown = evaluation.score("membership-epsilon", table)
        if area is None and shown is None:
            continue
        words: list[Any] = [tag("b", f"{table}: ")] if len(evaluation.tables) > 1 else []
        if area is not None:
            words.append(
                f"An attacker who holds the synthetic table tells training rows from other real "
                f"rows with AUC {number(area.value)} ± {area.error or 0:.1g} (0.5 is guessing). "
            )
        if shown is not None:
            words.append(_allowed(shown.value, evaluation.guarantees.get(table)))
        said.append(tag("p", *words))
    if not said:
        return Markup("")
    caution = (
        "This shows what these two attacks find out about typical rows. It does not show that a "
        "better attack, or one on an unusual row, would fail: only the guarantee does."
    )
    return join(tag("h3", "Membership inference"), *said, tag("p", caution, class_="muted"))


def _allowed(shown: float, guarantee: Mapping[str, Any] | None) -> str:
    """The epsilon that the attack shows and the one that is guaranteed, in a sentence."""
    attack = f"As a bound on ε (95% confidence), the attack shows at least {shown:.1f}"
    if guarantee is None:
        return f"{attack}; no guarantee was given to compare it with."
    if guarantee["epsilon"] is None:
        return f"{attack}; there is no guarantee (ε = ∞)."
    return f"{attack}; the guarantee allows at most {guarantee['epsilon']:.4g}."


def _alarms(evaluation: Evaluation) -> Markup:
    rows = []
    for metric in evaluation.metrics:
        scores = [evaluation.score(metric.name, table) for table in evaluation.tables]
        known = [score for score in scores if score is not None]
        if metric.group == "privacy" and known:
            values = [(number(None if s is None else s.value), "n") for s in scores]
            rows.append([metric.title, *values, (number(known[0].reference), "n")])
    if not rows:
        return Markup("")
    return data_table(
        ["Alarm", *((table, "n") for table in evaluation.tables), ("held-out rows", "n")], rows
    )


def _lmdp(evaluation: Evaluation) -> Markup:
    """The α-LMDP tests that were asked for, and what they are not."""
    rows = [
        [
            table,
            ", ".join(test.columns),
            (f"{test.alpha:g}", "n"),
            (number(test.mmd_p), "n"),
            (number(test.stein_p), "n"),
            "satisfied" if test.lmdp_satisfied else "not satisfied",
        ]
        for table, report in evaluation.lmdp.items()
        for test in report.tests
    ]
    if not rows:
        return Markup("")
    head = ["Table", "Columns", ("α", "n"), ("p, MMD of samples", "n"), ("p, Stein", "n"), "α-LMDP"]
    return join(
        tag("h3", "Marginals that should not be the real ones (α-LMDP)"),
        data_table(head, rows),
        tag("p", NO_DP, class_="muted"),
    )
