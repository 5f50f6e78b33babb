"""Facts that the rows keep are suggested as comments, and those that one row breaks are not."""

import numpy as np
import pyarrow as pa
import pytest
import yaml

from nacre.schema import Schema, survey
from nacre.schema.draft import sample

N = 600
RNG = np.random.default_rng(1)


def houses(**changed) -> pa.Table:
    codes = RNG.choice(["A1", "A2", "B1"], N)
    gone = RNG.random(N) < 0.3
    above, basement, garage, garden = (RNG.integers(0, high, N) for high in (900, 500, 90, 70))
    opened = np.datetime64("2020-01-01") + RNG.integers(0, 300, N)
    columns = {
        "code": codes,
        "group": [code[0] for code in codes],
        "above": above,
        "basement": basement,
        "living": above + basement,
        "garage": garage,
        "garden": garden,
        "whole": above + basement + garage + garden,
        "status": np.where(gone, "open", "closed"),
        "opened": opened,
        "ended": pa.array(opened + RNG.integers(0, 90, N), pa.date32(), mask=gone),
        "price": pa.array(RNG.integers(1, 10**6, N), mask=gone),
    }
    return pa.table({**columns, **changed})


def uncommented(text: str) -> str:
    head, _, tail = text.partition("# Found in the rows")
    lines = tail.splitlines()[2:]
    return head + "\n".join(line.removeprefix("# ") for line in lines)


def test_every_kind_is_found_and_can_be_taken_over():
    table = houses()
    found = survey(lambda: table)
    assert found.suggested.facts == (
        "living = above + basement",
        "whole = above + basement + garage + garden",
        {"group determined by code": {"A1": "A", "A2": "A", "B1": "B"}},
        "ended, price are missing together",
        "ended is missing exactly when status = open",
    )
    assert found.suggested.constraints == ("opened <= ended",)
    text = found.to_yaml()
    assert Schema.parse(text) == found.schema  # comments say nothing to a fit
    confirmed = Schema.parse(uncommented(text))
    assert len(confirmed.facts) == 5
    assert not any(confirmed.check(table).facts.values())
    assert "Found to hold in all 600 rows; they stand at the end" in found.describe()
    assert "\n  group determined by code\n" in found.describe()


def test_one_row_that_breaks_a_fact_is_enough(monkeypatch):
    monkeypatch.setattr(sample, "MOST", 150)  # so that the sample does not hold the row
    table = houses()
    for name, value in (("group", "B"), ("living", 0), ("opened", "2021-12-31")):
        place = table["code"].to_pylist().index("A1", 1)
        place += 1 - place % 2  # no row with an odd number is in the sample
        codes = table["code"].to_pylist()
        codes[place] = "A1"
        cells = table[name].to_pylist()
        cells[place] = np.datetime64(value).item() if name == "opened" else value
        others = {
            "code": codes,
            "status": ["closed"] * N,
            "ended": pa.array([np.datetime64("2021-01-01").item()] * N, pa.date32()),
        }
        broken = houses(**{**{c: table[c] for c in table.column_names}, **others, name: cells})
        found = survey(lambda: broken).suggested  # noqa: B023
        said = found.constraints if name == "opened" else found.facts
        assert not any(name in str(each) for each in said), said
        assert not found.some
    found = survey(table.to_batches(max_chunksize=100)).suggested
    assert (found.rows, found.some) == (300, True)


def test_nothing_is_made_up_for_unrelated_columns():
    table = pa.table({name: RNG.integers(0, 6, N).astype(str) for name in "abcd"})
    assert survey(lambda: table).suggested.to_yaml() == ""


@pytest.mark.parametrize("name", ["a b", "no", "x-y", "über"])
def test_odd_names_are_quoted(name):
    values = RNG.choice(["yes", "no", "a, b"], N)
    table = pa.table({name: values, "same": values})
    text = survey(lambda: table).to_yaml()
    assert len(Schema.parse(uncommented(text)).facts) == 1
    assert yaml.safe_load(uncommented(text))["facts"]


def repairs(**changed) -> pa.Table:
    """Crashes are repaired in a shop of their town; thefts are not repaired at all."""
    rng = np.random.default_rng(2)
    shops = np.array([f"{town}{k}" for town in "ABC" for k in range(4)])
    shop = rng.choice(shops, 3000)
    kind = rng.choice(["crash", "theft"], 3000)
    columns = {
        "shop": pa.array(shop, mask=kind == "theft"),
        "town": np.array([each[0] for each in shop]),
        "area": np.where(np.char.startswith(shop, "C"), "S", "N"),
        "kind": kind,
    }
    return pa.table({**columns, **changed})


def test_codes_that_may_be_missing_tell_their_group_where_they_are_known():
    table = repairs()
    found = survey(lambda: table)
    head = "town determined by shop if known"
    lookup = {head: {f"{town}{k}": town for town in "ABC" for k in range(4)}}
    assert found.suggested.facts == (
        {"area determined by town": {"A": "N", "B": "N", "C": "S"}},
        lookup,
        "shop is missing exactly when kind = theft",
    )
    confirmed = Schema.parse(uncommented(found.to_yaml()))
    assert not any(confirmed.check(table).facts.values())
    towns = table["town"].to_pylist()
    crash = table["kind"].to_pylist().index("crash", 40)
    towns[crash] = "A" if towns[crash] != "A" else "B"
    areas = ["S" if town == "C" else "N" for town in towns]
    worse = repairs(town=towns, area=areas)
    assert head not in str(survey(lambda: worse).suggested.facts)


def test_a_number_a_label_and_a_name_for_each_code_are_not_told_if_known():
    table = repairs(name=repairs()["shop"].to_pylist())
    assert "determined by shop if known" in str(survey(lambda: table).suggested.facts)
    facts = survey(repairs, label="shop").suggested.facts
    assert "if known" not in str(facts)
    numbered = repairs(town=[ord(each) * 100 for each in repairs()["town"].to_pylist()])
    assert Schema.parse(uncommented(survey(lambda: numbered).to_yaml()))
