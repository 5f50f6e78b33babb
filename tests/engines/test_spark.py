"""A real Spark of two executor threads with Python workers: the same bits as one process."""

import shutil

import pytest

pytest.importorskip("pyspark", reason="needs the extra `spark`: make test-engines")
pytest.importorskip("flatbuffers", reason="needs the extra `spark`: make test-engines")
if shutil.which("java") is None:
    pytest.skip(
        "Spark needs Java 17 (apt install openjdk-17-jre-headless)", allow_module_level=True
    )

from tests.engines.asking import Killing, answers, exact_waves, same
from tests.engines.conftest import ROWS, SCHEMA

from nacre.engines import on_engine
from nacre.errors import NacreError
from nacre.rows import Stream, TableEncoder, open_source

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    build = SparkSession.builder.master("local[2]").appName("nacre tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "512m",
        "spark.sql.session.timeZone": "UTC",
        "spark.task.maxFailures": "4",
    }
    for name, value in settings.items():
        build = build.config(name, value)
    session = build.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def test_a_frame_gives_the_same_bits(session, folder, whole):
    frame = session.read.parquet(str(folder)).repartition(5)
    with on_engine(frame) as parts:
        assert same(answers(parts), whole)
        assert Stream(TableEncoder.of(SCHEMA), parts).check() == ROWS


def test_files_give_the_same_bits(session, folder, whole):
    with on_engine(folder / "*.parquet", "spark") as parts:
        assert same(answers(parts), whole)


def test_an_empty_frame_is_a_table_without_rows(session, folder, table):
    with on_engine(session.read.parquet(str(folder)).limit(0)) as parts:
        assert open_source(parts, SCHEMA).check(SCHEMA).rows == 0


def test_a_killed_worker_does_not_count_twice(folder, session, tmp_path):
    # local[2] does not retry tasks, so a worker that dies stops the pass; nothing is half added.
    with on_engine(folder, session) as parts:
        source = open_source(parts, SCHEMA)
        killing = Killing(exact_waves(), tmp_path / "killed")
        with pytest.raises(NacreError, match="before all parts were worked off"):
            source.reduce(killing)
        found, expected = source.reduce(killing), source.reduce(exact_waves())
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))


def test_a_spark_frame_has_no_other_engine(session, folder):
    frame = session.read.parquet(str(folder))
    with pytest.raises(NacreError, match="its own session"), on_engine(frame, "dask"):
        pass
