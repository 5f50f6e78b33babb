"""Codes of another group are drawn again, in rows of any method; groups and gaps stay."""

import numpy as np
import pytest

from nacre.rows import TableEncoder
from nacre.schema import Schema

COLUMNS = {
    "shop": {"type": "categorical", "values": ["s1", "s2", "s3", "s4"], "nullable": True},
    "town": {"type": "categorical", "values": ["A", "B", "C"], "nullable": True},
    "area": {"type": "categorical", "values": ["N", "S"]},
    "chain": {"type": "categorical", "values": ["x", "z"], "nullable": True},
    "kind": {"type": "categorical", "values": ["crash", "theft"]},
    "fee": {"type": "integer", "low": 0, "high": 9, "nullable": True},
    "y": {"type": "boolean"},
}
FACTS = [
    {"town determined by shop if known": {"s1,s2": "A", "s3": "B", "s4": "missing"}},
    {"area determined by town": {"A,C": "N", "B": "S", "missing": "S"}},
    {"chain determined by shop": {"s1": "x", "s2,s3,s4": "z", "missing": "missing"}},
    "shop is missing exactly when kind = theft",
    "fee is missing exactly when shop = s2",
]
SCHEMA = Schema.from_dict({"columns": COLUMNS, "label": "y", "facts": FACTS})


@pytest.fixture(scope="module")
def encoder():
    return TableEncoder.of(SCHEMA)


def drawn(encoder, n=6000, towns=3, shops=(0.6, 0.1, 0.2, 0.1)):
    """Rows without any idea of what goes together; the first towns only."""
    layout, rng = encoder.layout, np.random.default_rng(0)
    ticks = rng.integers(0, layout.limits, (n, len(layout.numbers)), endpoint=True)
    codes = rng.integers(0, layout.sizes, (n, len(layout.codes)))
    codes[:, layout.code("town")] = rng.integers(0, towns, n)
    known = rng.choice(4, n, p=shops)
    codes[:, layout.code("shop")] = np.where(rng.random(n) < 0.2, 4, known)
    return layout.encoded(ticks, codes)


def test_the_code_and_its_group_are_both_modeled(encoder):
    assert set(SCHEMA.names) - set(encoder.modeled.names) == {"area", "chain"}


def test_every_row_keeps_every_fact_and_its_group(encoder):
    rows = drawn(encoder, towns=4)
    found = encoder.settle(rows, np.random.default_rng(1))
    towns, kinds = (rows.codes[:, rows.layout.code(name)] for name in ("town", "kind"))
    # Of a town without shops no crash can be: there is nothing to draw.
    np.testing.assert_array_equal(found.valid, (towns != 2) | (kinds == 1))
    np.testing.assert_array_equal(found.codes[:, found.layout.code("town")], towns)
    table = encoder.decode(found[found.valid])
    assert SCHEMA.check(table).facts == dict.fromkeys(map(str, SCHEMA.facts), 0)
    assert table["town"].null_count > 0


def test_codes_keep_their_shares_within_their_group(encoder):
    found = encoder.settle(drawn(encoder, towns=2), np.random.default_rng(1))
    table = encoder.decode(found).to_pandas()
    shops = table[(table["town"] == "A") & table["shop"].notna()]["shop"]
    assert (shops == "s1").mean() == pytest.approx(6 / 7, abs=0.03)


def test_a_right_code_stays_as_it_was_drawn(encoder):
    rows = drawn(encoder, towns=2)
    found = encoder.settle(rows, np.random.default_rng(1))
    town, shop, kind = (rows.codes[:, rows.layout.code(n)] for n in ("town", "shop", "kind"))
    right = (kind == 0) & (((town == 0) & (shop < 2)) | ((town == 1) & (shop == 2)))
    np.testing.assert_array_equal(found.codes[right, found.layout.code("shop")], shop[right])


def test_where_no_row_has_a_code_of_the_group_any_is_as_likely(encoder):
    found = encoder.settle(drawn(encoder, shops=(0, 0, 1, 0), towns=2), np.random.default_rng(1))
    table = encoder.decode(found).to_pandas()
    shops = table[(table["town"] == "A") & table["shop"].notna()]["shop"]
    assert (shops == "s1").mean() == pytest.approx(1 / 2, abs=0.05)
    assert found.valid.all()


def test_a_condition_on_either_is_found_in_the_other(encoder):
    assert set(encoder.fixed(encoder.rules({"shop": "s3"}))) == {
        encoder.layout.code(name) for name in ("shop", "town", "kind")
    }
