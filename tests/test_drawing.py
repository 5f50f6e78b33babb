"""Rows in chunks: the same for a seed whoever draws them, in memory that does not grow."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.test_sample import COLUMNS, model

from nacre import drawing, rejection
from nacre.errors import NacreError

pytestmark = pytest.mark.filterwarnings("ignore:.*NOT PRIVATE")


@pytest.fixture
def short(monkeypatch):
    """Chunks of a hundred rows."""
    for module in (drawing, rejection):
        monkeypatch.setattr(module, "CHUNK", 100)


def test_processes_change_no_row(tmp_path):
    few = {name: COLUMNS[name] for name in ("start", "end", "sex", "member")}
    made, n = model("start <= end", columns=few, kind="file"), rejection.CHUNK + 500
    one = made.write(tmp_path / "one.parquet", n, seed=3, where={"member": True}, workers=1)
    two = made.write(tmp_path / "two.parquet", n, seed=3, where={"member": True}, workers=2)
    tables = [pq.read_table(tmp_path / f"{name}.parquet") for name in ("one", "two")]
    assert tables[0].num_rows == n and tables[0].equals(tables[1])
    assert tables[0].equals(made.sample_arrow(n, seed=3, where={"member": True}))
    assert one.counts() == two.counts() and one.rate < 1
    assert one.describe() == two.describe()
    again = made.sample_arrow(100, seed=4, where={"member": True})
    assert not again.equals(tables[0].slice(0, 100))


def test_a_chunk_is_the_same_whatever_came_before(short):
    whole = pa.concat_tables(model("age < 5").drawing(350, seed=1))
    alone = pa.concat_tables(model("age < 5").drawing(350, seed=1).chunk(2))
    assert whole.slice(200, 100).equals(alone)
    assert not whole.slice(0, 100).equals(alone)
    assert whole.slice(0, 100).equals(model("age < 5").sample_arrow(100, seed=1))


def test_few_rows_are_as_they_were_before_there_were_chunks():
    import numpy as np

    made = model()
    plain = pa.concat_tables(made.rejection().batches(50, np.random.default_rng(7)))
    assert made.sample_arrow(50, seed=7).equals(plain)


def test_without_a_seed_rows_differ(short):
    assert not model().sample_arrow(250).equals(model().sample_arrow(250))


def test_as_many_processes_as_pay(short, monkeypatch):
    monkeypatch.setattr(drawing.os, "cpu_count", lambda: 4)
    assert drawing.workers_for(model().drawing(150), None) == 1
    assert drawing.workers_for(model().drawing(100 * drawing.PAYS), None) == 2
    assert drawing.workers_for(model().drawing(10**6), None) == 4
    assert drawing.workers_for(model().drawing(150), 9) == 2
    assert drawing.workers_for(model().drawing(0), 3) == 1
    with pytest.raises(NacreError, match="at least one process"):
        drawing.workers_for(model().drawing(5), 0)


def test_files_of_no_rows_and_of_wrong_names(tmp_path):
    model().write(tmp_path / "none.csv", 0)
    assert (tmp_path / "none.csv").read_text().startswith("age,start,end")
    with pytest.raises(NacreError, match="must end in"):
        model().write(tmp_path / "rows.txt", 5)


def test_a_file_is_replaced_by_all_rows_or_not_at_all(tmp_path, short):
    (tmp_path / "rows.csv").write_text("old")

    def stop(stage, done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model().write(tmp_path / "rows.csv", 250, workers=1, on_progress=stop)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("rows.csv", "old")]
