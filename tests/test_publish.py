"""Public reports: what noise leaves open is told rightly, for every kind of table."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from typer.testing import CliRunner

import nacre
from nacre.cli import app
from nacre.embed.marginals import cell_places
from nacre.evaluate.tables.rows import Rows
from nacre.histograms.measurement import MISSING, Measurement
from nacre.methods.merf import MERF
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.publish import bands as bands_module
from nacre.publish import predictor, publish
from nacre.publish.bands import bands
from nacre.publish.bins import choose_bins, schema_cells
from nacre.publish.distance import distance_at_least, distance_at_most
from nacre.publish.scores import binary_scores, class_scores
from nacre.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema

COLUMNS = {
    "age": Integer(low=0, high=99),
    "wage": Real(low=0, high=1000, decimals=2, nullable=True),
    "height": Real(low=1.2, high=2.2),
    "job": Categorical(values=tuple("abcdefghijklmn"), other=True, nullable=True),
    "degree": Ordinal(values=("low", "mid", "high")),
    "member": Boolean(),
    "seen": Datetime(low="2000-01-01", high="2024-12-31", step="1d"),
    "income": Categorical(values=("<=50K", ">50K")),
}
SCHEMA = Schema(COLUMNS, label="income")
SMALL = Mosaic(steps=5, components=4, fits=1)
LOUD = MERF(frequencies=20, steps=5, components=4)


def people(n: int = 500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    days = rng.integers(0, 9000, n).astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "age": age,
            "wage": np.where(rng.random(n) < 0.2, np.nan, rng.random(n).round(2) * 900),
            "height": rng.uniform(1.2, 2.2, n),
            "job": rng.choice(np.array([*"aaaabbbcdef", "zzz", None], object), n),
            "degree": rng.choice(["low", "mid", "high"], n),
            "member": rng.random(n) < 0.3,
            "seen": np.datetime64("2000-01-01") + days,
            "income": np.where(rng.random(n) < (age / 100) ** 2, ">50K", "<=50K"),
        }
    )


def encoded(frame: pd.DataFrame, schema: Schema = SCHEMA) -> Rows:
    return Rows.narrow(schema, schema.encode(pa.Table.from_pandas(frame, preserve_index=False)))


@pytest.fixture(scope="module")
def model() -> nacre.Model:
    return nacre.fit(people(), SCHEMA, method=SMALL, epsilon=500, delta=1e-6)


# -- what a model measured ---------------------------------------------------------------------


def test_a_model_keeps_the_histograms_it_was_made_from(model, tmp_path):
    model.save(tmp_path / "people.nacre")
    again, rows = nacre.load(tmp_path / "people.nacre"), encoded(people())
    assert {m.column for m in again.measurements} == set(COLUMNS)
    for found, kept in zip(model.measurements, again.measurements, strict=True):
        np.testing.assert_array_equal(found.counts, kept.counts)
        assert found.noise == kept.noise < 1
        truth = bands_module.cell_counts(rows, kept.column, kept.low, kept.high)
        np.testing.assert_allclose(kept.counts, truth, atol=6 * kept.noise)
        assert kept.total == pytest.approx(500, abs=6 * kept.total_noise)
    wage = next(m for m in again.measurements if m.column == "wage")
    assert (wage.low[-1], wage.high[-1]) == (MISSING, MISSING)


def test_methods_of_fourier_features_keep_none():
    fitted = nacre.fit(people(), SCHEMA, method=LOUD, epsilon=1, delta=1e-6)
    assert fitted.measurements == ()
    page = publish(fitted, rows=300)
    assert all(band.at_most is None for band in page.bands)
    assert "not known here" in page.to_html()


def test_the_noise_of_the_label_is_what_it_is_said_to_be():
    rng, sizes = np.random.default_rng(0), (2, 5, 40)
    from nacre.histograms.cells import CodeColumn
    from nacre.histograms.measured import measured
    from nacre.schema.layout import Code, Layout

    layout = Layout((), tuple(Code(f"c{i}", size) for i, size in enumerate((*sizes, 2))))
    columns = tuple(CodeColumn(i, size) for i, size in enumerate(sizes))
    found = [
        measured(rng.normal(0, 3, (2, sum(sizes))).astype(np.float32), 3.0, columns, layout, 3)
        for _ in range(2000)
    ]
    for place in range(4):
        spread = np.std([each[place].counts for each in found])
        assert spread == pytest.approx(found[0][place].noise, rel=0.03)


# -- bands and bounds --------------------------------------------------------------------------


def test_bands_hold_the_whole_histogram_as_often_as_they_say():
    schema = SCHEMA.select(["degree", "age"]).with_label(None)
    rng, rows = np.random.default_rng(1), encoded(people(400)[["degree", "age"]], schema)
    codes, ticks = np.arange(3), np.arange(100)
    truth = {
        "degree": (codes, np.array([500.0, 300, 200])),
        "age": (ticks, rng.multinomial(1000, np.linspace(2, 0, 100) / 100).astype(np.float64)),
    }
    noise, missed = 8.0, {"degree": 0, "age": 0}
    for _ in range(300):
        measured = []
        for name, (cells, counts) in truth.items():
            noisy = counts + rng.normal(0, noise, len(cells))
            measured.append(("test", Measurement(name, cells, cells, noisy, noise)))
        for band in bands(rows, measured):
            if band.column in truth:
                shares = band.bins.add_up(truth[band.column][1]) / 1000
                missed[band.column] += not (
                    (band.lower <= shares).all() and (shares <= band.upper).all()
                )
    assert missed["degree"] <= 300 * 0.05 + 8
    # Wide columns are drawn in few bins, yet every cell counts: the band is careful there.
    assert missed["age"] <= 300 * 0.05
    width = (band.upper - band.lower).mean() if band.lower is not None else 0.1
    assert width < 0.12, "a band that is never left says nothing"


@pytest.mark.parametrize("shares", ["flat", "spike"])
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1])
def test_distances_lie_between_their_bounds(shares, shift):
    rng, size = np.random.default_rng(2), 12
    known = np.full(size, 1 / size) if shares == "flat" else np.r_[0.89, np.full(size - 1, 0.01)]
    truth = known + np.r_[-shift / 2, np.zeros(size - 2), shift / 2]
    noise, tail = np.full(size, 0.003), 0.05
    below = above = 0
    widths = []
    for _ in range(200):
        noisy = truth + rng.normal(size=size) * noise
        low = distance_at_least(known, noisy, noise, tail=tail)
        high = distance_at_most(known, noisy, noise, tail=tail)
        below, above = below + (low > shift / 2), above + (high < shift / 2)
        widths.append(high - low)
    assert below <= 200 * tail + 8 and above <= 200 * tail + 8
    assert np.mean(widths) < 0.05


def test_a_spike_is_known_better_than_its_many_empty_bins():
    known, noise = np.r_[0.97, np.full(23, 0.03 / 23)], np.full(24, 0.01)
    flat = np.full(24, 1 / 24)
    spike = distance_at_most(known, known, noise, tail=0.02)
    assert spike < 0.8 * distance_at_most(flat, flat, noise, tail=0.02)


def test_many_cells_are_bounded_by_the_triangle_inequality_alone():
    # The table may have been fitted to these very counts: then a ball around it proves nothing.
    known, noise = np.full(300, 1 / 300), np.full(300, 1e-3)
    noisy = known + np.random.default_rng(0).normal(0, 1e-3, 300)
    bound = distance_at_most(known, noisy, noise, tail=0.02)
    assert bound >= np.abs(noisy - known).sum() / 2 + 300 * 1e-3 * np.sqrt(2 / np.pi) / 2


def test_too_few_rows_leave_everything_open():
    rows, cells = encoded(people(100)), np.arange(3)
    lost = Measurement("degree", cells, cells, np.array([5.0, -3, 2]), 10.0)
    band = next(b for b in bands(rows, [("test", lost)]) if b.column == "degree")
    assert (band.at_least, band.at_most) == (0.0, 1.0)
    assert (band.lower == 0).all() and (band.upper == 1).all()


def test_of_two_measurements_the_less_noisy_is_taken():
    rows, cells = encoded(people(100)), np.arange(3)
    good = Measurement("degree", cells, cells, np.array([500.0, 300, 200]), 1.0)
    bad = Measurement("degree", cells, cells, np.array([400.0, 400, 200]), 50.0)
    for given in ([("good", good), ("bad", bad)], [("bad", bad), ("good", good)]):
        band = next(b for b in bands(rows, given) if b.column == "degree")
        assert band.source == "good"
        np.testing.assert_allclose(band.measured, [0.5, 0.3, 0.2])


def test_rows_are_counted_by_the_release_itself():
    # The rows that scores are bought of may be others, and fewer, than those behind the model.
    rows, cells = encoded(people(100)), np.arange(3)
    own = Measurement("member", np.arange(2), np.arange(2), np.array([5000.0, 5000]), 0.1)
    bought = Measurement("degree", cells, cells, np.array([50.0, 30, 20]), 1.0)
    found = {b.column: b for b in bands(rows, [("model", own), ("page", bought)])}
    np.testing.assert_allclose(found["degree"].measured, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(found["member"].measured, [0.5, 0.5])


@pytest.mark.parametrize("values", [[0, 0, 0, 1000], [1000] * 3, [500], [3, 40, 40, 41, 999]])
def test_bins_hold_every_row_once_wherever_they_lie(values):
    schema = Schema({"x": Integer(low=0, high=1000, nullable=True)})
    rows = encoded(pd.DataFrame({"x": pd.array([*values, None], dtype="Int64")}), schema)
    for low, high in (schema_cells(schema, "x"), (np.r_[0:1001, MISSING],) * 2):
        counts = bands_module.cell_counts(rows, "x", low, high)
        bins = choose_bins(schema, "x", low, high, counts)
        assert bins.add_up(counts).sum() == len(values) + 1
        assert bins.names[-1] == "missing" and not bins.drawn[-1]
        drawn = np.flatnonzero(bins.drawn)
        assert 1 <= len(drawn) <= 24
        assert (bins.low[drawn[1:]] == bins.high[drawn[:-1]] + 1).all()
        assert bins.add_up(counts)[drawn].sum() == len(values)


# -- scores ------------------------------------------------------------------------------------


def test_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    truth = rng.random(3000) < 0.3
    step = np.clip(np.rint(rng.normal(5 + 3 * truth, 2)), 0, 11).astype(int)
    counts = np.stack([np.bincount(step[truth == c], minlength=12) for c in (False, True)])
    auc, accuracy = binary_scores(counts * 1.0, 1e-9, counts * 1.0, positive=1, cut=7)
    assert auc.value == pytest.approx(roc_auc_score(truth, step))
    assert accuracy.value == pytest.approx(accuracy_score(truth, step >= 7))
    flipped, _ = binary_scores(counts[::-1] * 1.0, 1e-9, counts[::-1] * 1.0, positive=0, cut=7)
    assert flipped.value == auc.value
    guess = rng.integers(0, 3, 500)
    real = np.where(rng.random(500) < 0.5, guess, rng.integers(0, 3, 500))
    table = np.zeros((3, 3))
    np.add.at(table, (real, guess), 1)
    accuracy, balanced = class_scores(table, 1e-9, table)
    assert accuracy.value == pytest.approx(accuracy_score(real, guess))
    assert balanced.value == pytest.approx(balanced_accuracy_score(real, guess))


@pytest.mark.parametrize("classes", [2, 3])
def test_error_bars_are_as_wide_as_the_noise_makes_them(classes):
    rng = np.random.default_rng(4)
    counts = rng.integers(200, 2000, (classes, 20 if classes == 2 else classes)).astype(np.float64)
    counts[0] = np.sort(counts[0])[::-1]

    def scored(table):
        if classes == 2:
            return binary_scores(table, 15.0, counts, positive=1, cut=10)
        return class_scores(table, 15.0, counts)

    truth = scored(counts)
    drawn = [scored(counts + rng.normal(0, 15, counts.shape)) for _ in range(800)]
    for place, exact in enumerate(truth):
        inside = [abs(each[place].value - exact.value) <= each[place].error for each in drawn]
        assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_more_noise_than_rows_gives_no_score():
    counts = np.ones((2, 20))
    auc, accuracy = binary_scores(counts, 50.0, counts, positive=1, cut=10)
    assert (auc.value, auc.error, accuracy.value) == (None, None, None)


def test_the_classifier_in_whole_numbers_is_as_good_as_one_in_fractions():
    rows = encoded(people(6000))
    found = predictor.train(rows)
    assert found.table.dtype == np.int32 and found.positive == 1
    assert 0 in found.edges and 19 <= len(found.edges) <= 20
    counts = found.synthetic
    auc, accuracy = binary_scores(counts, 1e-9, counts, positive=1, cut=found.cut)

    places = cell_places(SCHEMA.layout, found.columns)
    cells = predictor._mapped(places, predictor._grid(rows))
    hot = np.eye(len(found.table))[cells].sum(1)
    truth, kept = rows.codes[found.label], 4800
    fractions = LogisticRegression(max_iter=300).fit(hot[:kept], truth[:kept])
    score = fractions.decision_function(hot[kept:])
    assert auc.value == pytest.approx(roc_auc_score(truth[kept:], score), abs=0.005)
    assert accuracy.value == pytest.approx(accuracy_score(truth[kept:], score > 0), abs=0.005)


# -- the whole road ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "adjacency"),
    [
        ("income", "add-remove"),
        ("job", "replace-one"),
        ("degree", "add-remove"),
        ("age", "replace-one"),
        (None, "add-remove"),
    ],
)
def test_every_kind_of_label(label, adjacency):
    table, cost = people(), {"epsilon": 500, "delta": 1e-6}
    fitted = nacre.fit(table, SCHEMA, method=LOUD, label=label, adjacency=adjacency, **cost)
    page = publish(fitted, rows=2000, data=table, **cost)
    rows = encoded(table)
    for band in page.bands:
        low, high = schema_cells(SCHEMA, band.column)
        assert band.source == "histograms bought for this page"
        assert band.lower is not None and (band.lower <= band.upper).all()
        assert 0 <= band.at_least <= band.at_most <= 1
        assert band.synthetic.sum() == pytest.approx(1)
        if rows.is_number(band.column):
            continue
        shares = band.bins.add_up(bands_module.cell_counts(rows, band.column, low, high)) / 500
        # A band holds with 95% only, but is never far off: one row is 0.002.
        assert (band.lower <= shares + 0.002).all() and (shares <= band.upper + 0.002).all()
        off = np.abs(shares - band.synthetic).sum() / 2
        assert band.at_least - 0.002 <= off <= band.at_most + 0.002
    assert len(page.scores) == (2 if label in ("income", "job", "degree") else 0)
    assert page.to_html().startswith("<!doctype html>")


@pytest.mark.parametrize("columns", [["age"], ["job", "member"], ["wage", "seen"]])
def test_narrow_tables(columns):
    schema = SCHEMA.select(columns).with_label(None)
    fitted = nacre.fit(people()[columns], schema, method=SMALL, epsilon=10, delta=1e-6)
    page = publish(fitted, rows=200, data=people()[columns], epsilon=10, delta=1e-6)
    assert [band.column for band in page.bands] == columns
    assert "Safe to publish" in page.to_html()


def test_a_schema_read_from_the_rows_is_not_said_to_be_known_without_them(model):
    declared, claims = publish(model, rows=300), ("without looking at", "Nothing else was ever")
    assert all(claim in declared.to_html() for claim in claims)
    read = dataclasses.replace(SCHEMA, provenance="data", reviewed=True)
    page = publish(nacre.fit(people(), read, method=SMALL, epsilon=500, delta=1e-6), rows=300)
    told = page.to_html()
    assert not any(claim in told for claim in (*claims, "other than the releases"))
    assert "read from the private rows" in told
    assert "a person said that they are public (reviewed: true)" in told
    assert page.first_line.startswith("Safe to publish if the schema, read from the rows, is")
    assert page.first_line != declared.first_line


def test_prediction_alone_is_bought_where_the_model_brings_histograms(model):
    page = publish(model, rows=1000, data=people(), epsilon=50, delta=1e-6)
    assert page.bought.releases[0].size == page.outcomes.size
    assert {band.source for band in page.bands} == {"the model's own histograms"}
    both = publish(
        model, rows=1000, data=people(), epsilon=1, delta=1e-6, scores=["columns", "prediction"]
    )
    assert both.bought.releases[0].size > page.outcomes.size
    auc = page.scores[0]
    assert auc.name == "AUC" and abs(auc.value - auc.synthetic) < 0.25


def test_a_wrong_table_is_found_out(model):
    wrong = model.sample(1000, seed=0)
    wrong["degree"] = "low"
    page = publish(model, wrong)
    band = next(band for band in page.bands if band.column == "degree")
    assert band.at_least > 0.4
    assert page.findings[0].level == "avoid" and "degree" in page.findings[0].text


def test_the_summary_of_a_wide_table_stays_short():
    schema = Schema({f"c{i}": Boolean() for i in range(30)})
    rng = np.random.default_rng(5)
    table = pa.table({name: rng.random(300) < 0.5 for name in schema.names})
    fitted = nacre.fit(table, schema, method=SMALL, epsilon=100, delta=1e-6)
    said = publish(fitted, rows=200).summary()
    assert "and 10 columns that are more certain" in said
    assert len(said.splitlines()) < 40


def test_json_says_all(model):
    page = publish(model, rows=500, data=people(), epsilon=5, delta=1e-6)
    said = json.loads(page.to_json())
    assert said["public"].startswith("Safe to publish")
    assert [column["name"] for column in said["columns"]] == list(COLUMNS)
    assert all(len(c["bins"]) == len(c["upper"]) for c in said["columns"])
    assert said["together"]["epsilon"] == page.together.epsilon
    assert said["synthetic"] == {"rows": 500, "seed": 0}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 1.0}, "epsilon given without `data`"),
        ({"dataset": "people"}, "dataset given without `data`"),
        ({"data": people()}, "cost budget"),
        ({"data": people(), "epsilon": 1, "delta": 1e-6, "scores": ["pairs"]}, "scores must be"),
        ({"data": people(), "epsilon": 1, "delta": 1e-6, "bad_rows": "drop"}, "bad_rows must be"),
        ({"data": people(), "epsilon": -1, "delta": 1e-6}, "epsilon must be"),
        ({"rows": 0}, "rows must be"),
    ],
)
def test_half_an_order_is_refused(model, settings, message):
    with pytest.raises(ValueError, match=message):
        publish(model, **settings)


def test_prediction_needs_something_to_predict(model):
    unlabeled = nacre.fit(people(), SCHEMA, method=SMALL, epsilon=1, delta=1e-6, label=None)
    cost = {"data": people(), "epsilon": 1, "delta": 1e-6}
    with pytest.raises(ValueError, match="nothing to predict"):
        publish(unlabeled, rows=100, scores=["prediction"], **cost)


def test_a_table_of_another_kind_is_refused(model):
    other = people()
    other.loc[0, "degree"] = "<secret>"
    with pytest.raises(nacre.SchemaError, match="not drawn from this model") as caught:
        publish(model, other)
    assert "secret" not in str(caught.value)


# -- from a terminal ---------------------------------------------------------------------------


def run(*arguments):
    return CliRunner(env={"NACRE_TRACEBACK": ""}).invoke(app, [str(a) for a in arguments])


def test_command_writes_the_page_and_charges_the_ledger(model, tmp_path):
    saved, page = tmp_path / "people.nacre", tmp_path / "public.html"
    model.save(saved)
    people().to_csv(tmp_path / "people.csv", index=False)
    done = run("publish", saved, "-o", page, "-n", "300")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Safe to publish") and "safe to publish" in done.stderr
    first = page.read_text(encoding="utf-8")
    assert run("publish", saved, "-o", page, "-n", "300", "--quiet").exit_code == 0
    assert page.read_text(encoding="utf-8") == first

    ledger = nacre.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1, delta=1e-5)
    options = ("--data", tmp_path / "people.csv", "--epsilon", "0.5", "--delta", "1e-6")
    account = ("--ledger", tmp_path / "budget.db", "--dataset", "people")
    done = run("publish", saved, "-o", page, "-n", "300", *options, *account, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["bought"]["epsilon"] == pytest.approx(0.5, abs=1e-3)
    assert ledger.balance("people").spent_epsilon == pytest.approx(0.5)


def test_commands_that_cannot_be_met_say_what_to_do(model, tmp_path):
    saved = tmp_path / "people.nacre"
    model.save(saved)
    done = run("publish", saved, "-o", saved)
    assert done.exit_code == 2 and "would replace it" in done.stderr
    table = tmp_path / "private.csv"
    table.write_text("a\n1\n")
    for command in (("publish", saved), ("evaluate", table, table, "-s", table)):
        done = run(*command, "-o", tmp_path / "other.csv")
        assert done.exit_code == 2 and "ends in .html" in done.stderr
    done = run("publish", saved, "-o", tmp_path / "p.html", "--data", tmp_path / "none.csv")
    assert done.exit_code == 2 and "There is no file" in done.stderr
    done = run("evaluate", "--public")
    assert done.exit_code == 2 and "nacre publish MODEL" in done.stderr
