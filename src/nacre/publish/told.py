"""What a certificate says of a release, in the sentences that registries and checklists ask for."""

from __future__ import annotations

from nacre.publish.images import PublicImages
from nacre.publish.public import PublicReport
from nacre.schema import ImageSchema
from nacre.vault.guarantee import Guarantee, upwards
from nacre.vault.release import Release

Report = PublicReport | PublicImages

FLOATING = (
    "Contributions are clipped and summed as integers on a public grid, and noise is drawn as "
    "integers, so that no floating-point attack applies to what is released."
)
SIDE = (
    "No query can be timed from outside: the release is made once. Timing, memory and power of the "
    "fit itself are not hidden."
)
COMPOSED = (
    "All releases are composed in one accountant before conversion: Gaussian sums and choices as "
    "Gaussian differential privacy, subsampled steps by privacy-loss distributions."
)
AFTER = (
    "Everything after these releases, the generator's training and sampling included, sees noisy "
    "answers only."
)


def unit(found: Guarantee) -> str:
    """Whose privacy it is.

    Examples:
        >>> from nacre.vault import Adjacency
        >>> unit(Guarantee(epsilon=1, delta=1e-6, adjacency=Adjacency.ADD_REMOVE))
        'One row of the table'
    """
    if found.most_rows is None:
        return "One row of the table"
    return f"One person, with up to {found.most_rows} rows that count"


def neighbors(found: Guarantee) -> str:
    """Which tables must be hard to tell apart."""
    change = {
        "add-remove": "in that one {unit} is added or removed (unbounded differential privacy)",
        "replace-one": "in that one {unit} is replaced by another (bounded differential privacy)",
    }[found.adjacency.value].format(unit=found.unit)
    among = " Both tables fit the schema." if found.checked else ""
    return f"Two tables are adjacent if they differ {change}.{among}"


def mechanism(release: Release) -> str:
    """One release, its noise and its theorem."""
    kind = {
        "gaussian": "discrete Gaussian noise on a sum",
        "exponential": f"exponential mechanism, {release.steps:,} choices",
        "subsampled-gaussian": f"discrete Gaussian noise on sums over Poisson batches, "
        f"{release.steps:,} steps at rate {release.rate:.4g}",
        "approximate": "a mechanism that is private by itself",
    }[release.mechanism]
    noise = f"ε = {upwards(release.epsilon, 4):g}, δ = {release.delta:g}"
    if release.noise:
        noise = f"noise {release.noise:.6g} at sensitivity {release.sensitivity:.6g}"
    return f"{release.name}: {kind} ({release.size:,} numbers, {noise}). {release.theorem}"


def releases(report: Report) -> tuple[Release, ...]:
    """All that left the vault: for the model, and for the page."""
    bought = report.bought
    return (*report.guarantee.releases, *(() if bought is None else bought.releases))


def unprotected(report: Report) -> str:
    """What is believed to be public."""
    said = ["The schema (columns, bounds, lists of values) and all settings are public."]
    if report.schema.from_rows:
        said = ["The schema was read from the private data and declared public by a person."]
    if report.together.adjacency.value == "replace-one":
        said.append("So is the number of rows.")
    if report.together.checked:
        said.append("That all rows fit the schema is known, too.")
    return " ".join(said)


def product(report: Report) -> str:
    """What is given to everybody."""
    schema = report.schema
    if isinstance(schema, ImageSchema):
        what = f"Synthetic images of {schema.height} × {schema.width} pixels"
    else:
        what = f"A synthetic table of {len(schema.columns)} columns"
    return f"{what}, drawn from a model that was made by {report.method} (nacre)."


def domain(report: Report) -> str:
    """The data sets that the guarantee is about."""
    schema = report.schema
    if isinstance(schema, ImageSchema):
        return f"All sets of images of {schema.height} × {schema.width} pixels."
    names = ", ".join(_plain(name) for name in schema.columns)
    return f"All tables with the columns {names}, whatever their rows hold."


def software(report: Report) -> str:
    """What the numbers were computed with."""
    return ", ".join(f"{name} {version}" for name, version in report.versions.items())


def _plain(text: str) -> str:
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
