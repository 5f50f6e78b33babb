"""The guarantee in symbols and in words, and the releases behind it."""

import math
from collections.abc import Sequence
from typing import Any

from nacre.publish.public import PublicReport
from nacre.report.chapters.common import data_table, grid, lede
from nacre.report.markup import Markup, join, number, power, tag
from nacre.vault.accountant import Release
from nacre.vault.guarantee import Guarantee

CHECK = (
    "Whoever has the model can check these numbers: nacre show MODEL --verify computes ε again "
    "from the noise of the releases."
)


def guarantees(report: PublicReport) -> Markup:
    """One box, or three if something was bought: the model's, this page's, and both together."""
    if report.bought is None:
        return _box("Guarantee", report.guarantee, _in_words(report.guarantee, "this page"))
    boxes = [
        _box("The model", report.guarantee, "What the model and every table drawn from it cost."),
        _box("This page", report.bought, "What the scores on this page cost on top of that."),
    ]
    words = _in_words(report.together, "this page, the model and every table drawn from it")
    whole = _box("Both together: ε and δ add up", report.together, words)
    return join(whole, grid(boxes, "two"))


def _box(title: str, found: Guarantee, words: Any) -> Markup:
    symbols = join("ε = ", _epsilon(found.epsilon), ", δ = ", power(found.delta))
    return tag(
        "div",
        tag("h3", title),
        tag("p", symbols, class_="symbols"),
        tag("p", words),
        class_="guarantee",
    )


def _epsilon(value: float) -> str:
    """ε to four digits, rounded up: what is printed is believed."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / unit * (1 - 1e-9)) * unit:.4g}"


def _in_words(found: Guarantee, what: str) -> Markup:
    change = {
        "add-remove": f"Adding or removing any one {found.unit}",
        "replace-one": f"Replacing any one {found.unit} by another",
    }[found.adjacency.value]
    return join(
        f"Differential privacy. {change} of the private table changes the chance of any outcome "
        f"({what} included) at most by the factor e",
        tag("sup", "ε"),
        f" = {math.exp(min(found.epsilon, 50)):,.3g}, except with probability about δ. Whatever is "
        "computed from these is covered too.",
    )


def releases(report: PublicReport) -> Markup:
    """Everything that ever left the vault, and what the claim rests on."""
    rows = [_row(release, "the model") for release in report.guarantee.releases]
    if report.bought is not None:
        rows += [_row(release, "this page") for release in report.bought.releases]
    head = ["Release", "for", ("numbers", "n"), ("noise: σ ÷ sensitivity", "n"), "theorem"]
    said: Sequence[str] = report.together.assumptions
    return join(
        lede(
            "Nothing else was ever computed from the private rows for this page or for the model. "
            "All the rest is made from these numbers."
        ),
        data_table(head, rows),
        *(tag("p", each, class_="muted") for each in (*said, CHECK)),
    )


def _row(release: Release, what: str) -> list[Any]:
    noise = number(release.multiplier) if release.noise else f"ε = {release.epsilon:.4g}"
    if release.steps > 1:
        noise += f", {release.steps:,} steps"
    return [release.name, what, (f"{release.size:,}", "n"), (noise, "n"), release.theorem]
