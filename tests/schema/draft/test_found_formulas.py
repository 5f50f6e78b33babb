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


def visits(n: int = 3000) -> dict[str, np.ndarray]:
    """Stays in minutes, fees from short lists, codes of which some are rare, gaps."""
    rng = np.random.default_rng(5)
    codes = np.array([f"{chapter}{k}" for chapter in "ABCDEF" for k in range(10, 30)])
    code = codes[np.minimum(rng.geometric(0.04, n) - 1, len(codes) - 1)]
    arrival = np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 500_000, n) * 60
    wait, urgency = rng.integers(0, 200, n), rng.integers(1, 6, n)
    stay = wait + rng.integers(1, 300, n)
    fee = np.array([0, 900, 600, 350, 200, 120])[urgency]
    lab = np.where(rng.random(n) < 0.5, 0, 85)
    return {
        "urgency": urgency,
        "code": code,
        "chapter": np.array([each[0] for each in code]),
        "arrival": arrival,
        "wait": wait,
        "stay": stay,
        "discharge": arrival + 60 * stay,
        "hours": np.round(stay / 60, 1),
        "fee": fee,
        "lab": lab,
        "cost": np.round(fee + 1.75 * stay + lab, 2),
        "pain": rng.integers(0, 11, n),
    }


def test_stays_weighted_sums_orders_and_tables_with_rare_codes_are_found():
    columns = visits()
    table = pa.table(columns)
    found = survey(lambda: table)
    rare = sum(np.unique(columns["code"], return_counts=True)[1] < 10)
    assert 10 < rare < 60
    assert found.suggested.constraints == ("wait < stay",)  # not `pain < cost`, `stay <= cost`
    said = [each if isinstance(each, str) else next(iter(each)) for each in found.suggested.facts]
    assert said == [
        "discharge = arrival + stay minutes",
        "hours hours = discharge - arrival within 0.05",
        "cost = 1.75 * stay + fee + lab",
        "chapter determined by code",
        "fee determined by urgency",
    ]
    text = found.to_yaml()
    rare_codes = "told by fewer than 10 rows each: '"
    assert rare_codes in found.suggested.describe()
    assert rare_codes not in text  # a schema may be published
    start = text.index("# constraints:")
    meant = text[:start] + text[start:].replace("\n# ", "\n").removeprefix("# ")
    confirmed = Schema.parse(meant)
    assert len(confirmed.facts) == 5
    checked = confirmed.check(table)
    assert not any((*checked.facts.values(), *checked.constraints.values()))


def test_sums_are_said_as_people_say_them():
    rng = np.random.default_rng(6)
    flags, age = rng.random((N, 4)) < 0.4, np.tile(np.arange(40), N // 40)
    net, celsius = rng.integers(1000, 9000, N) / 100, rng.integers(0, 300, N) / 10
    columns = {f"flag{i}": flags[:, i].astype(int) for i in range(4)} | {
        "conditions": flags.sum(axis=1),
        "net": net,
        "tax": np.round(0.19 * net, 2),
        "shipping": rng.integers(3, 9, N),
        "celsius": celsius,
        "fahrenheit": np.round(1.8 * celsius + 32, 2),
        "age": age,
        "stage": np.where(age < 18, "child", "adult"),
    }
    columns["gross"] = np.round(net + columns["tax"] + columns["shipping"], 2)
    assert survey(lambda: pa.table(columns)).suggested.facts == (
        "gross = net + tax + shipping",
        "fahrenheit = 1.8 * celsius + 32",
        "conditions = flag0 + flag1 + flag2 + flag3",
        "tax = 0.19 * net within 0.005",
        {"stage determined by age": {"0..17": "child", "18..39": "adult"}},
    )


def test_bands_of_a_long_range_are_found_and_chance_is_not():
    """Numbers that hardly two rows share tell any column; stretches of them do not."""
    rng = np.random.default_rng(7)
    minutes = np.minimum(rng.exponential(40, N).astype(int), 600)
    minutes[:3] = 0, 15, 600
    table = {
        "minutes": minutes,
        "band": np.where(minutes < 15, "early", np.where(minutes < 60, "late", "very late")),
        "number": rng.permutation(N) % 900,
        "coin": rng.choice(["heads", "tails"], N),
    }
    facts = survey(lambda: pa.table(table)).suggested.facts
    assert [next(iter(fact)) for fact in facts] == ["band determined by minutes"]
    assert list(facts[0]["band determined by minutes"].values()) == ["early", "late", "very late"]


def test_sums_and_orders_that_hold_nearly_always_are_none():
    columns = visits()
    for name, more in (("cost", 1.0), ("stay", -300), ("discharge", 3600)):
        columns[name][17] += more
    columns["chapter"][17] = "Z"
    found = survey(lambda: pa.table(columns)).suggested
    said = [each if isinstance(each, str) else next(iter(each)) for each in found.facts]
    assert said == ["fee determined by urgency"]
    orders = [each for each in found.constraints if " if " not in each]
    assert orders == ["arrival <= discharge"]


def test_a_private_draft_goes_by_names_and_types_alone():
    date = Datetime(low="2024-01-01", high="2024-12-31")
    columns = {"check_in": date, "checkOut": date, "nights": Integer(low=0, high=30)}
    text = name_hints(Schema(columns))
    assert "# facts:\n#   - checkOut = check_in + nights\n" in text
    assert all(line.startswith("# ") for line in text.splitlines())
    assert "no row was looked at" in text
    minute = Datetime(low="2024-01-01", high="2024-12-31", step="1min")
    stay = {"arrival": minute, "discharge": minute, "stay_min": Integer(low=0, high=3000)}
    assert "#   - discharge = arrival + stay_min minutes\n" in name_hints(Schema(stay))
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
