"""Days of the week and of the month, from rows to rows: dates by themselves and by distance."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import nacre
from nacre.archive import ArchiveError
from nacre.errors import NacreError
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.methods.mst import MST
from nacre.schema import Boolean, Categorical, Datetime, Schema

COST = {"epsilon": 2.0, "delta": 1e-5}
SMALL = Mosaic(fits=2, components=60, steps=300)
COLUMNS = {
    "signed": Datetime(low="2019-01-01", high="2024-12-31", nullable=True),
    "begun": Datetime(low="2019-01-01", high="2025-12-31"),
    "ended": Datetime(low="2019-01-01", high="2024-12-31", nullable=True),
    "seen": Datetime(low="2019-01-01", high="2024-12-31", step="1min"),
    "kind": Categorical(values=("a", "b")),
    "late": Boolean(),
}
ORDERS = ["signed <= begun", "begun <= ended"]
APART, TIED = Schema(COLUMNS, label="late"), Schema(COLUMNS, label="late", constraints=ORDERS)


def contracts(n, seed):
    """Signed on working days, begun on the first of a month, ended on the last of one."""
    rng = np.random.default_rng(seed)
    day = np.datetime64("2019-01-01") + rng.integers(0, 2100, n)
    day = np.where((day.astype(int) + 3) % 7 > 4, day + 2, day)
    begun = day + rng.gamma(1.6, 25, n).astype(int)
    first = (begun.astype("datetime64[M]") + 1).astype("datetime64[D]")
    begun = np.where(rng.random(n) < 0.7, first, begun)
    ended = begun + 30 + rng.gamma(1.5, 400, n).astype(int)
    last = (ended.astype("datetime64[M]") + 1).astype("datetime64[D]") - 1
    ended = np.where(rng.random(n) < 0.6, last, ended)
    gone = pd.Series(ended).where(ended <= np.datetime64("2024-12-31"))
    seen = np.datetime64("2019-01-01T00:00") + rng.integers(0, 2000 * 1440, n)
    return pd.DataFrame(
        {
            "signed": pd.Series(day).where(rng.random(n) > 0.05),
            "begun": begun,
            "ended": gone,
            "seen": seen,
            "kind": rng.choice(["a", "b"], n),
            "late": rng.random(n) < 0.4,
        }
    )


def shares(table):
    """Begun on a first, ended on a last day, signed at a weekend, ended not at all."""
    signed, begun, ended = (pd.to_datetime(table[n]) for n in ("signed", "begun", "ended"))
    return (
        (begun.dt.day == 1).mean(),
        ended.dropna().dt.is_month_end.mean(),
        (signed.dropna().dt.day_of_week > 4).mean(),
        ended.isna().mean(),
    )


@pytest.fixture(scope="module")
def table():
    return contracts(8000, 0)


@pytest.fixture(scope="module")
def tied(table):
    return nacre.fit(table, TIED, method=SMALL, seed=0, **COST)


@pytest.mark.parametrize("schema", [APART, TIED])
@pytest.mark.parametrize("method", [SMALL, MST(steps=200)])
def test_days_are_kept_by_dates_and_by_distances(schema, method, table):
    model = nacre.fit(table, schema, method=method, seed=0, **COST)
    first, last, weekend, gone = shares(table)
    found = shares(model.sample(8000, seed=0))
    assert found[0] == pytest.approx(first, abs=0.12)
    assert found[1] == pytest.approx(last, abs=0.12)
    assert found[2] < 0.06 and weekend == 0
    assert found[3] == pytest.approx(gone, abs=0.02)


def test_orders_and_bounds_hold_in_every_row(tied):
    drawn = tied.sample(5000, seed=1)
    signed, begun, ended = (pd.to_datetime(drawn[n]) for n in ("signed", "begun", "ended"))
    assert (signed <= begun)[signed.notna()].all() and (begun <= ended)[ended.notna()].all()
    assert ended.max() <= pd.Timestamp("2024-12-31") and signed.min() >= pd.Timestamp("2019-01-01")
    drawing = tied.rejection()
    list(drawing.batches(3000, np.random.default_rng(0)))
    assert drawing.rate > 0.97


def test_any_number_of_rows_and_conditions(tied):
    assert len(tied.sample(0, seed=0)) == 0 and len(tied.sample(1, seed=0)) == 1
    some = tied.sample(400, seed=0, where={"kind": "a", "late": True})
    assert (some["kind"] == "a").all() and some["late"].all()
    assert (pd.to_datetime(some["begun"]).dt.day == 1).mean() > 0.4
    late = tied.sample(200, seed=0, where={"ended": None})
    assert late["ended"].isna().all()


def test_dates_without_patterns_have_no_weights():
    rng = np.random.default_rng(0)
    day = np.datetime64("2019-01-01")
    begun = day + rng.integers(0, 2000, 6000)
    frame = pd.DataFrame({"begun": begun, "ended": begun + rng.integers(0, 190, 6000)})
    columns = {name: Datetime(low="2019-01-01", high="2024-12-31") for name in frame}
    schema = Schema(columns, constraints=["begun <= ended"])
    model = nacre.fit(frame, schema, method=SMALL, seed=0, **COST)
    drawn = pd.to_datetime(model.sample(6000, seed=0)["begun"])
    assert not len(model.generator.dates) or (drawn.dt.day == 1).mean() < 0.06


def test_bad_rows_and_hardly_any_rows_are_no_problem(table):
    frame = table.head(40).astype({"begun": object})
    frame.loc[frame.index[:9], "begun"] = "no date"
    model = nacre.fit(frame, TIED, method=SMALL, seed=0, bad_rows="zero", **COST)
    assert len(model.sample(60, seed=0)) == 60


def test_a_file_keeps_the_weights_and_refuses_others(tied, tmp_path):
    path = tmp_path / "model.nacre"
    tied.save(path)
    again = nacre.load(path)
    assert (again.generator.dates == tied.generator.dates).all()
    assert {0, 1, 2} <= {*again.generator.dates.tolist()}
    pd.testing.assert_frame_equal(again.sample(300, seed=2), tied.sample(300, seed=2))
    generator = tied.generator
    for name, bad, why in (
        ("dates", generator.dates + 9, "belong to no date"),
        ("date_weights", generator.date_weights * 0, "no weight at all"),
        ("date_weights", generator.date_weights[:, ::-1] * np.nan, "."),
        ("bins", generator.bins[::-1].copy(), "."),
    ):
        with pytest.raises((NacreError, ArchiveError), match=why):
            crafted(path, tmp_path / "bad.nacre", name, bad)


def crafted(path, target, name, array):
    """Load a file in which one array is another, with the right sums."""
    import hashlib
    import io

    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    place = next(each for each in parts if each.endswith(f"{name}.npy"))
    data = io.BytesIO()
    np.save(data, array)
    parts[place] = data.getvalue()
    head = next(each for each in parts if each.endswith(".json"))
    said = json.loads(parts[head])
    said["sha256"][place] = hashlib.sha256(parts[place]).hexdigest()
    parts[head] = json.dumps(said).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for each, content in parts.items():
            archive.writestr(each, content)
    return nacre.load(target)


@pytest.mark.parametrize("schema", [APART, TIED], ids=["apart", "tied"])
@pytest.mark.parametrize(
    "method",
    [
        Mosaic(first=0.9, heaps=0.5),
        MST(first=0.9, choosing=0.05, heaps=0.5),
    ],
    ids=lambda method: method.title,
)
def test_days_leave_a_share_for_all_that_is_asked(schema, method):
    """They get more of the budget than `heaps` says, which with little left had been all of it."""
    planned = nacre.plan(schema, method=method, rows=10_000, **COST)
    assert min(each.question.share for each in planned.asked) > 0
