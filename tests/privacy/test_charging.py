"""Charges: shares are parts of one budget, and a draft is never free."""

import pyarrow as pa
import pytest
from tests.vaults import open_vault

from nacre.draft import private_draft
from nacre.fit import fit
from nacre.ledger import Ledger
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.schema import Integer, Schema
from nacre.vault import Bound, Segment, Sum

TABLE = pa.table({"x": list(range(10)) * 40})
SCHEMA = Schema({"x": Integer(low=0, high=9)})
BOUND = Bound(segments=(Segment(size=1, norm=9.0, signed=False),))


def ask(*shares):
    """Open a vault on questions with these shares, and ask them all."""
    questions = [
        Sum(name=f"x{place}", share=share, bound=BOUND) for place, share in enumerate(shares)
    ]
    vault = open_vault(TABLE, SCHEMA, *questions)
    for question in questions:
        vault.sum(question, lambda row: row.numbers)
    return vault


def test_shares_beyond_the_whole_are_refused_even_by_a_hair():
    with pytest.raises(ValueError, match="more than 1"):
        ask(0.5, 0.5000001)
    assert ask(0.5, 0.5).guarantee().epsilon <= 1


def test_a_draft_without_a_ledger_is_charged_with_the_fit(tmp_path):
    schema = private_draft(TABLE, epsilon=0.5, delta=1e-7, types={"x": "integer"})
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("d", epsilon=5, delta=1e-5)
    model = fit(
        TABLE,
        schema,
        method=Mosaic(),
        epsilon=2,
        delta=1e-6,
        bad_rows="zero",
        ledger=ledger,
        dataset="d",
    )
    assert ledger.balance("d").spent_epsilon >= model.guarantee.epsilon
    assert {r["name"] for r in schema.releases} <= {r.name for r in model.guarantee.releases}
