"""Which columns of a table can be hidden by a model of them."""

from __future__ import annotations

from collections.abc import Sequence

from nacre.errors import NacreError
from nacre.rows import TableEncoder
from nacre.schema.protected import Protected, require_known


def require_columns(sets: Sequence[Protected], encoder: TableEncoder) -> None:
    """Refuse sets that name what is no column, or a column that is seen as a difference alone."""
    named = {name for one in sets for name in one.columns}
    require_known(sets, encoder.schema.names)
    for fact in encoder.schema.bound_facts:
        if fact.column in named and fact.column not in encoder.modeled.names:
            raise NacreError(
                f"'{fact.column}' follows from {', '.join(sorted(fact.sources))} by a fact of the "
                "schema, so that it is not modeled. Protect those instead, or leave the fact out."
            )
    for difference in encoder.differences:
        for one in sets:
            if difference.column in one.columns and difference.anchor not in one.columns:
                raise NacreError(
                    f"'{difference.column}' is modeled by its distance from '{difference.anchor}' "
                    f"(constraint {difference}), so its own distribution follows from both. "
                    f"Protect '{difference.anchor}' in the same set."
                )
    for name in encoder.times:
        if name in named:
            raise NacreError(
                f"'{name}' is modeled as a day and a time of day, unless the schema says that it "
                f"is to be hidden: write `protect: [{name}]` there, with all other sets."
            )
