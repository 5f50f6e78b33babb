"""Many tables: scores before verdicts, and of each table only what is wrong in sentences."""

import dataclasses

from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.report.chapters.overview import MANY, overall
from nacre.evaluate.report.page import ordered
from nacre.report.builder import Chapter

FOUND = (
    Finding("avoid", "Numbers", "Do not use averages."),
    Finding("note", "Told apart", "A classifier tells them apart."),
    Finding("good", "Pairs", "Links are kept."),
    Finding("good", "Columns", "Columns are right."),
)


def told(evaluation, tables):
    """The first chapter of as many tables, all the same."""
    names = [f"copy {n}" for n in range(tables)]
    first = next(iter(evaluation.comparisons.values()))
    many = dataclasses.replace(
        evaluation, findings=dict.fromkeys(names, FOUND), comparisons=dict.fromkeys(names, first)
    )
    return overall(many)["tables"]


def test_what_is_fine_is_one_line(evaluation):
    for table in told(evaluation, MANY):
        assert [found.level for found in table["findings"]] == ["avoid", "note", "good"]
        assert table["findings"][-1].text == "Pairs, Columns."
        assert table["count"] == "1 use to avoid, 2 that are fine"
    for table in told(evaluation, MANY - 1):
        assert table["findings"] == FOUND


def test_scores_of_many_come_first():
    shown = [Chapter(name, name, {}) for name in ("overall", "scores", "columns")]
    assert [each.anchor for each in ordered(shown, MANY)] == ["scores", "overall", "columns"]
    assert ordered(shown, MANY - 1) == shown
