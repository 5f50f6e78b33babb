"""A real cluster of worker processes: the same bits as one process, also when a worker dies."""

import math

import pytest

pytest.importorskip("distributed", reason="needs the extra `dask`: make test-engines")
pytest.importorskip("flatbuffers", reason="needs the extra `dask`: make test-engines")

from tests.engines.asking import Killing, answers, exact_waves, same
from tests.engines.conftest import ROWS, SCHEMA

import nacre
from nacre.engines import on_engine
from nacre.engines.dask import client_of
from nacre.errors import NacreError
from nacre.rows import Stream, TableEncoder, open_source

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's and Tornado's own


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_files_give_the_same_bits(client, folder, whole):
    with on_engine(folder / "*.parquet", client) as parts:
        assert same(answers(parts), whole)
        assert Stream(TableEncoder.of(SCHEMA), parts).check() == ROWS


def test_a_frame_gives_the_same_bits(client, table, whole):
    frame = pytest.importorskip("dask.dataframe").from_pandas(table.to_pandas(), npartitions=5)
    with on_engine(frame) as parts:
        assert same(answers(parts), whole)


def test_an_address_is_an_engine(client, folder):
    address = client.scheduler.address.replace("tcp://", "dask://")
    with on_engine(str(folder), address) as parts:
        assert open_source(parts, SCHEMA).check(SCHEMA).rows == ROWS
    with pytest.raises(NacreError, match="no engine 'ray'"), on_engine(folder, "ray"):
        pass


def test_a_killed_worker_changes_nothing(client, folder, tmp_path):
    before = set(client.scheduler_info()["workers"])
    with on_engine(folder, client) as parts:
        source = open_source(parts, SCHEMA)
        work = exact_waves()
        expected = source.reduce(work)
        killing = Killing(work, tmp_path / "killed")
        found = source.reduce(killing)
    assert killing.mark.exists()
    client.wait_for_workers(2, timeout=60)
    assert set(client.scheduler_info()["workers"]) != before
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))


def test_a_fit_over_workers_and_its_samples(client, folder):
    model = nacre.fit(
        str(folder),
        SCHEMA,
        epsilon=1,
        delta=1e-5,
        method=nacre.MERF().small(),
        engine=client,
        seed=0,
    )
    assert model.guarantee.epsilon <= 1 and model.kind == "file"
    assert open_source(model.sample(50, seed=1), SCHEMA).check(SCHEMA).ok
    assert math.isfinite(model.guarantee.epsilon)


def test_a_cluster_of_our_own_lets_nobody_else_in(folder):
    from distributed import Client

    with client_of("dask") as own:
        address = own.scheduler.address
        assert address.startswith("tls://")
        with pytest.raises((OSError, TypeError)):
            Client(address.replace("tls://", "tcp://"), timeout="2s", set_as_default=False)
        with on_engine(folder, own) as parts:
            assert open_source(parts, SCHEMA).check(SCHEMA).rows == ROWS
