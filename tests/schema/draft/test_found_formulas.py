"""Drafts suggest dates that are days later, products and multiples; private ones go by names."""

import numpy as np
import pyarrow as pa
import pytest

from nacre.schema import Categorical, Datetime, Integer, Schema, survey
from nacre.schema.draft.hints import name_hints

N = 600
RNG = np.random.default_rng(2)


def stays() -> pa.Table:
    arrival = np.datetime64("2024-01-01") + RNG.integers(0, 300, N)
    nights, price = RNG.integers(0, 30, N), RNG.integers(4000, 20000, N) / 100
    total = np.round(nights * price, 2)
    columns = {
        "arrival": arrival,
        "nights": nights,
        "departure": arrival + nights,
        "price": price,
        "total": total,
        "tax": np.round(0.07 * total, 2),
        "lead": RNG.integers(0, 400, N),
        "cents": np.rint(100 * price).astype(int),
    }
    return pa.table(columns)


def test_dates_products_and_multiples_are_found():
    table = stays()
    assert survey(lambda: table).suggested.facts == (
        "departure = arrival + nights",
        "cents = 100 * price",
        "tax = 0.07 * total within 0.005",
        "total = nights * price",
    )


def test_one_other_row_is_enough_to_find_none():
    table = stays()
    late = table["departure"].to_numpy().copy()
    late[7] += 1
    total = table["total"].to_numpy().copy()
    total[7] += 5
    table = table.set_column(2, "departure", pa.array(late))
    table = table.set_column(4, "total", pa.array(total))
    found = survey(lambda: table).suggested.facts
    assert found == ("cents = 100 * price",)


def test_a_private_draft_goes_by_names_and_types_alone():
    date = Datetime(low="2024-01-01", high="2024-12-31")
    columns = {"check_in": date, "checkOut": date, "nights": Integer(low=0, high=30)}
    text = name_hints(Schema(columns))
    assert "# facts:\n#   - checkOut = check_in + nights\n" in text
    assert all(line.startswith("# ") for line in text.splitlines())
    assert "no row was looked at" in text
    other = {"check_in": date, "booked": date, "nights": Integer(low=0, high=30)}
    assert name_hints(Schema(other)) == ""
    words = {**columns, "nights": Categorical(values=["1", "2"])}
    assert name_hints(Schema(words)) == ""


@pytest.mark.parametrize("start", ["Arrival date", "arrival\ndate", "arrival\nreviewed: true\n#"])
def test_hints_stay_comments_and_can_be_taken_at_their_word(start):
    date = Datetime(low="2024-01-01", high="2024-12-31")
    columns = {start: date, "Departure date": date, "nights": Integer(low=0, high=30)}
    schema = Schema(columns, provenance="data")
    text, hints = schema.to_yaml(), name_hints(schema)
    assert Schema.parse(text + hints).to_dict() == schema.to_dict()
    said = hints[hints.index("# facts:") :]
    meant = "".join(line.removeprefix("# ") for line in said.splitlines(keepends=True))
    assert len(Schema.parse(text + meant).facts) == 1
