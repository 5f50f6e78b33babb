"""What a model file says beside its arrays: read, and held against each other."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nacre.errors import NacreError
from nacre.nets.generator import AbstractGenerator
from nacre.rows import AbstractEncoder, TableEncoder
from nacre.vault.guarantee import Guarantee, unit_column, unit_name
from nacre.vault.release import Release


def check_together(
    guarantee: Guarantee, encoder: AbstractEncoder, generator: AbstractGenerator
) -> None:
    """Raise NacreError unless a guarantee is of such rows, and lists what the generator keeps."""
    unit = encoder.unit
    by = {release.by for release in guarantee.releases}
    mine = unit_name(unit), None if unit is None else unit.rows
    if (guarantee.unit, guarantee.most_rows) != mine or by - {unit_column(unit)}:
        raise NacreError("The guarantee is of another unit than the schema's.")
    names = set(encoder.schema.names) if isinstance(encoder, TableEncoder) else set()
    if any(not set(each.columns) <= names for each in guarantee.hidden):
        raise NacreError("The guarantee speaks of columns that the schema does not have.")
    bought = Counter(map(Release.from_dict, encoder.releases))
    if not bought <= Counter(guarantee.releases):
        raise NacreError("The guarantee leaves out what the schema was bought with.")
    if unpaid := set(generator.kept()) - {r.name for r in guarantee.releases}:
        raise NacreError(f"It holds '{min(unpaid)}', which the guarantee does not list.")


def doubt_of(guarantee: Guarantee) -> str | None:
    """Why a guarantee cannot be true, as far as can be told at once; steps take a while to add."""
    stepwise = any(release.mechanism == "subsampled-gaussian" for release in guarantee.releases)
    if guarantee.private and stepwise:
        return None
    try:
        guarantee.verify()
    except ValueError as error:
        return str(error)
    return None


def plain(said: Any) -> dict[str, Any]:
    """Settings or versions: names with single values or lists of them, and nothing deeper."""
    for value in dict(said).values():
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(part, dict | list) for part in parts):
            raise NacreError("Settings and versions are single values, or lists of them.")
    return dict(said)


def budget(said: Any, guarantee: Guarantee) -> float | None:
    """The epsilon that was asked for; None where nothing is promised."""
    if said is None:
        if guarantee.private:
            raise NacreError("It does not say which epsilon was asked for (`budget`).")
        return None
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise NacreError("The budget is no number.")
    return float(said)


def public_rows(said: Any) -> int | None:
    """The number of rows that a fit was planned with."""
    if said is not None and (type(said) is not int or said < 1):
        raise NacreError("The number of rows is no whole number.")
    return said


def ledger_entry(said: Any) -> dict[str, Any] | None:
    """Under which name and number the ledger holds the fit, if there was one."""
    return None if said is None else {"dataset": str(said["dataset"]), "entry": int(said["entry"])}
