"""The guarantee in symbols and in words, and the releases behind it."""

import math

from nacre.evaluate.report.chapters.common import Context
from nacre.publish.images import PublicImages
from nacre.publish.public import PublicReport
from nacre.report.builder import Cell, DataTable, right
from nacre.report.builder.text import number, significant
from nacre.vault.guarantee import Guarantee
from nacre.vault.release import Release

CHECK = (
    "Whoever has the model can check these numbers: nacre show MODEL --verify computes ε again "
    "from the noise of the releases."
)

ONLY = "Nothing else was ever computed from the private rows for this page or for the model."
BUT_SCHEMA = (
    "Beside these, the schema’s bounds and values were read from the private rows; a person said "
    "that they are public (reviewed: true), and the guarantee does not cover them. Nothing else "
    "was computed from the private rows for this page or for the model."
)


def in_short(report: PublicReport | PublicImages) -> Context:
    """The findings; the guarantee, and its two parts if something was bought."""
    whole = report.together
    bought = report.bought is not None
    change = {
        "add-remove": f"Adding or removing any one {whole.unit}",
        "replace-one": f"Replacing any one {whole.unit} by another",
    }[whole.adjacency.value]
    everything = "this page, the model and every table drawn from it"
    title = "Both together: ε and δ add up" if bought else "Guarantee"
    return {
        "findings": report.findings,
        "whole": _box(title, whole),
        "change": change,
        "what": everything if bought else "this page",
        "factor": f"{math.exp(min(whole.epsilon, 50)):,.3g}",
        "parts": _parts(report),
    }


def _parts(report: PublicReport | PublicImages) -> list[Context]:
    """What the model cost, and what this page did; nothing if that was nothing."""
    if report.bought is None:
        return []
    return [
        _box("The model", report.guarantee, "What the model and every table drawn from it cost."),
        _box("This page", report.bought, "What the scores on this page cost on top of that."),
    ]


def _box(title: str, found: Guarantee, words: str = "") -> Context:
    epsilon = _epsilon(found.epsilon)
    return {"title": title, "epsilon": epsilon, "delta": found.delta, "words": words}


def _epsilon(value: float) -> str:
    """ε to four digits, rounded up: what is printed is believed."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return significant(math.ceil(value / unit * (1 - 1e-9)) * unit)


def releases(report: PublicReport | PublicImages) -> Context:
    """Everything that ever left the vault, and what the claim rests on."""
    rows = [_row(release, "the model") for release in report.guarantee.releases]
    if report.bought is not None:
        rows += [_row(release, "this page") for release in report.bought.releases]
    head = [
        Cell("Release"),
        Cell("for"),
        right("numbers"),
        right("noise: σ ÷ sensitivity"),
        Cell("theorem"),
    ]
    read = report.schema.from_rows
    rest = "these numbers and the schema" if read else "these numbers"
    return {
        "words": f"{BUT_SCHEMA if read else ONLY} All the rest is made from {rest}.",
        "table": DataTable(head, rows),
        "said": (*report.together.assumptions, CHECK),
    }


def _row(release: Release, what: str) -> list[Cell]:
    noise = number(release.multiplier) if release.noise else f"ε = {significant(release.epsilon)}"
    if release.steps > 1:
        noise += f", {release.steps:,} steps"
    size = f"{release.size:,}"
    return [Cell(release.name), Cell(what), right(size), right(noise), Cell(release.theorem)]
