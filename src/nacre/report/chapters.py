"""The chapters of the report: figures and tables with the words between them."""

from typing import Any

from nacre.evaluate.evaluation import Evaluation, Score
from nacre.evaluate.findings import AVOID_AUC, AVOID_TV, CARE_AUC, CARE_TV
from nacre.evaluate.metrics.dimension_probability import probabilities
from nacre.report.canvas import plate
from nacre.report.columns import draw_column
from nacre.report.markup import Markup, join, number, tag
from nacre.report.models import draw_closest, draw_curves
from nacre.report.pairs import draw_matrix, draw_pair, shown_columns
from nacre.report.structure import draw_diagonal, draw_plane

MOST_FIGURES = 60
WORST_PAIRS = 6


def key(evaluation: Evaluation, real: str = "real") -> Markup:
    """Which color is which table."""
    return tag(
        "p",
        tag("span", real, class_="area", style="--color: var(--real)"),
        *(
            tag("span", table, class_="dot", style=f"--color: var(--series-{place % 5 + 1})")
            for place, table in enumerate(evaluation.tables)
        ),
        class_="key",
    )


def columns(evaluation: Evaluation) -> Markup:
    """Every column, the worst first."""
    by_name: dict[str, list[Score]] = {}
    for table in evaluation.tables:
        for score in evaluation.parts("tv1", table):
            by_name.setdefault(score.part, []).append(score)
    names = sorted(by_name, key=lambda n: -max(s.value for s in by_name[n])) or list(
        evaluation.schema.names
    )
    figures = []
    for name in names[:MOST_FIGURES]:
        scores = by_name.get(name, [])
        said = [
            tag("span", f" {s.value:.1%}", class_=_level(s.value - (s.reference or 0)))
            for s in scores
        ]
        caption = join(tag("b", name), *said)
        figure = draw_column(name, evaluation.comparisons)
        figures.append(plate(figure, caption, f"Column {name}, real and synthetic"))
    rest = len(names) - len(figures)
    more = f" The {rest} best columns are not drawn." if rest else ""
    return join(
        tag(
            "p",
            "The percentage is the share of rows that would have to change for the column to be "
            f"right, worst first.{more}",
            class_="section-lede",
        ),
        key(evaluation),
        tag("div", *figures, class_="grid three"),
    )


def pairs(evaluation: Evaluation) -> Markup:
    """Matrices of association, their difference, and the worst pairs."""
    parts: list[Any] = [
        tag(
            "p",
            "How strongly any two columns go together: correlation of two numbers (teal if "
            "positive, plum if negative), Cramér’s V if either is a category. In the difference, "
            "orange links are weaker in the synthetic table than they should be, blue ones "
            "stronger.",
            class_="section-lede",
        )
    ]
    if len(evaluation.schema.names) < 2:
        return Markup("")
    for table, comparison in evaluation.comparisons.items():
        if len(evaluation.tables) > 1:
            parts.append(tag("h3", table))
        found, shown = comparison.pairs, shown_columns(comparison)
        names = [found.names[i] for i in shown]
        real, synthetic = (m[shown][:, shown] for m in (found.real, found.synthetic))
        matrices = (
            (real, "Real", "real"),
            (synthetic, "Synthetic", "synthetic"),
            (abs(synthetic) - abs(real), "Difference, to ±0.5", "difference"),
        )
        parts.append(
            tag(
                "div",
                *(
                    plate(
                        draw_matrix(values, names, kind),
                        tag("b", title),
                        f"Associations of {table}, {kind}",
                    )
                    for values, title, kind in matrices
                ),
                class_="grid three",
            )
        )
        worst = evaluation.parts("tv2", table)[:WORST_PAIRS]
        places = {f"{found.names[i]} × {found.names[j]}": (i, j) for i, j in found.list()}
        if not worst:
            continue
        parts.append(tag("h3", "The worst pairs"))
        parts.append(
            tag(
                "div",
                *(
                    plate(
                        draw_pair(comparison, *places[score.part]),
                        join(tag("b", score.part), f" {score.value:.1%} of rows misplaced"),
                        f"Cross-table of {score.part} in {table}",
                    )
                    for score in worst
                ),
                class_="grid three",
            )
        )
    return join(*parts)


def structure(evaluation: Evaluation) -> Markup:
    """The main plane, and each dimension against its real self."""
    figures = []
    for table, comparison in evaluation.comparisons.items():
        if len(comparison.real) < 3:
            continue
        figure, explained = draw_plane(comparison)
        caption = join(
            tag("b", table),
            f" on the real table’s two main directions, which hold {explained:.0%} of the variance",
        )
        figures.append(plate(figure, caption, f"Principal plane of {table}", wide=True))
    points = {t: list(probabilities(c)) for t, c in evaluation.comparisons.items()}
    if any(points.values()):
        figures.append(
            plate(
                draw_diagonal(
                    points, ("share in the real table", "share in the synthetic table"), roots=True
                ),
                join(tag("b", "Each value of each category"), " (square-root scales)"),
                "Dimension-wise probability",
            )
        )
    predicted = {
        table: [
            (s.part, s.reference, s.value)
            for s in evaluation.parts("dimension-prediction", table)
            if s.reference is not None
        ]
        for table in evaluation.tables
    }
    if any(predicted.values()):
        figures.append(
            plate(
                draw_diagonal(
                    predicted, ("trained on real rows", "trained on synthetic rows"), names=True
                ),
                join(
                    tag("b", "Each column predicted from the others"),
                    " (AUC, F1 or R², by its type)",
                ),
                "Dimension-wise prediction",
            )
        )
    if not figures:
        return Markup("")
    lede = "Does the table look right as a whole? On the lines, synthetic equals real."
    return join(
        tag("p", lede, class_="section-lede"),
        key(evaluation),
        tag("div", *figures, class_="grid two"),
    )


def usefulness(evaluation: Evaluation) -> Markup:
    """Models trained on synthetic rows and tested on real ones."""
    names = [m for m in evaluation.metrics if m.group == "usefulness"]
    if not names or evaluation.label is None:
        return Markup("")
    first = next(iter(evaluation.comparisons.values()))
    parts: list[Any] = [
        tag(
            "p",
            f"Models that predict {evaluation.label}, trained on synthetic rows and tested on "
            f"{len(first.test):,} real rows kept for this.",
            class_="section-lede",
        )
    ]
    measured = "auc" if any(m.name == "auc" for m in names) else "r2"
    ranked = [
        s for s in evaluation.parts(measured, evaluation.tables[0]) if s.reference is not None
    ]
    if measured == "auc" and ranked and first.classes == 2:
        best = max(ranked, key=lambda s: s.reference or 0).part
        curves = draw_curves(evaluation.comparisons, best)
        titles = ("ROC curve", "Precision and recall")
        parts += [
            key(evaluation, "trained on real rows"),
            tag(
                "div",
                *(
                    plate(figure, join(tag("b", title), f" {best}"), f"{title} of {best}")
                    for figure, title in zip(curves, titles, strict=True)
                ),
                class_="grid two",
            ),
        ]
    parts += [_model_table(evaluation, m.name, m.title) for m in names]
    return join(*parts)


def _model_table(evaluation: Evaluation, metric: str, title: str) -> Markup:
    models: dict[str, dict[str, Score]] = {}
    for table in evaluation.tables:
        for score in evaluation.results:
            if score.metric == metric and score.table == table and score.part:
                models.setdefault(score.part, {})[table] = score
    if not models:
        return Markup("")
    rows = []
    for model, scores in models.items():
        real = next(iter(scores.values())).reference
        cells = []
        for table in evaluation.tables:
            score = scores.get(table)
            gap = 0.0 if score is None or real is None else real - score.value
            level = {"bad": "n worse", "doubt": "n doubt"}.get(
                _level(gap, AVOID_AUC, CARE_AUC) or "", "n"
            )
            cells.append(tag("td", number(None if score is None else score.value), class_=level))
        rows.append(tag("tr", tag("td", model), *cells, tag("td", number(real), class_="n")))
    head = tag(
        "tr",
        tag("th", title),
        *(tag("th", table, class_="n") for table in evaluation.tables),
        tag("th", "trained on real", class_="n"),
    )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll")


def privacy(evaluation: Evaluation) -> Markup:
    """The releases behind the guarantee, and distances to the closest record."""
    parts: list[Any] = [
        tag(
            "p",
            "Only the guarantee protects people. What follows the releases are smoke alarms: a "
            "quiet one proves nothing.",
            class_="section-lede",
        )
    ]
    for table in evaluation.tables:
        releases = evaluation.guarantees.get(table, {}).get("releases") or []
        if releases:
            parts += [tag("h3", f"What was released to make {table}"), _releases(releases)]
    figures = [
        plate(
            draw_closest(comparison),
            join(
                tag("b", f"Distance to the closest record, {table}"),
                " compared with held-out real rows (gray)",
            ),
            f"Distance to the closest record, {table}",
        )
        for table, comparison in evaluation.comparisons.items()
        if evaluation.score("closest-record", table) is not None
    ]
    return join(*parts, tag("div", *figures, class_="grid two") if figures else "")


def _releases(releases: list[Any]) -> Markup:
    """A table of the releases, whatever is recorded about each."""
    records = [r for r in releases if isinstance(r, dict)]
    fields = [
        f
        for f in ("name", "mechanism", "size", "sensitivity", "noise", "steps", "rate", "theorem")
        if any(r.get(f) not in (None, "") for r in records)
    ]
    rows = [
        tag(
            "tr",
            *(
                tag(
                    "td",
                    number(v) if isinstance(v := r.get(f, ""), float) else v,
                    class_="n" if isinstance(r.get(f), int | float) else None,
                )
                for f in fields
            ),
        )
        for r in records
    ]
    numeric = {f for f in fields if any(isinstance(r.get(f), int | float) for r in records)}
    head = tag("tr", *(tag("th", f, class_="n" if f in numeric else None) for f in fields))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll")


def _level(gap: float, bad: float = AVOID_TV, doubt: float = CARE_TV) -> str | None:
    return "bad" if gap > bad else "doubt" if gap > doubt else None
