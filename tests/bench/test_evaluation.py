"""The benches of cost: their table is what it says, and what is measured is kept."""

import json
import subprocess

import pytest
from bench.made import hanging_together

from bench import __main__ as command
from bench import cost, evaluation, growth


def test_the_wide_table_fits_its_schema_and_hangs_together():
    from nacre.evaluate.run import evaluate

    real, schema = hanging_together(2000, 50, seed=0)
    assert len(schema.names) == 50 and schema.label is None
    assert schema.check(real).ok
    found = evaluate(real, hanging_together(2000, 50, seed=1)[0], schema, metrics=["tv2"])
    pairs = found.comparisons["synthetic"].pairs
    assert pairs.real[0, 10] > 0.15
    assert found.score("tv2").value == pytest.approx(found.score("tv2").reference, rel=0.2)


def test_pairs_alone_are_timed():
    assert 0 < evaluation.million_pairs(500) < 60


def test_measure_counts_seconds_and_memory():
    found = cost.measure(lambda: sum(range(10**6)) and None)
    assert set(found) == {"seconds", "cpu_seconds", "megabytes"}
    assert found["megabytes"] > 10


def test_results_are_kept_case_by_case(monkeypatch, tmp_path, capsys):
    kept = tmp_path / "results" / "evaluate.json"
    numbers = {"seconds": 1.5, "cpu_seconds": 2.0, "megabytes": 300}
    monkeypatch.setattr(evaluation, "RESULTS", kept)
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(command, 0, json.dumps(numbers)),
    )
    evaluation.main(["adult-quick"])
    evaluation.main(["million"])
    found = json.loads(kept.read_text())
    assert set(found) == {"adult-quick", "million"}
    assert found["million"]["megabytes"] == 300
    assert "1.5" in capsys.readouterr().out


def test_unknown_cases_are_refused():
    with pytest.raises(SystemExit):
        evaluation.main(["nonsense"])


def test_growth_fits_tables_of_the_size_it_says(monkeypatch):
    sizes = []
    monkeypatch.setattr(growth, "fit", lambda table, schema, **_: Sampled(sizes, table, schema))
    for _, work in growth.CASES.values():
        work.func(*(min(size, 200) for size in work.args))
    assert sizes == [(200, 10), (200, 50), (200, 200), (200, 200), *[(200, 20)] * 3]


class Sampled:
    def __init__(self, sizes, table, schema):
        assert schema.label == table.column_names[-1]
        sizes.append((table.num_rows, table.num_columns))

    def sample_arrow(self, rows, *, seed):
        assert rows == 200


def test_the_command_is_listed():
    assert "evaluate" in command.NAMES and "growth" in command.NAMES
    assert command.MODULES["evaluate"] == "evaluation"
