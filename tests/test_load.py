"""Loading a model: whatever a file says, it is a model or an ArchiveError, and cheap."""

import contextlib
import copy
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import nacre
from nacre.archive import read, write
from nacre.cli import app
from nacre.methods.aim import AIM
from nacre.methods.merf import MERF
from nacre.methods.mosaic.mosaic import Mosaic
from nacre.rows import TableEncoder

SCHEMA = nacre.Schema(
    {
        "age": nacre.Integer(low=0, high=49),
        "weight": nacre.Real(low=-3, high=3, decimals=2),
        "sex": nacre.Categorical(values=("F", "M")),
        "ill": nacre.Boolean(),
    },
    label="ill",
)
TYPES = pa.schema(
    {"age": pa.int32(), "weight": pa.float32(), "sex": pa.string(), "ill": pa.bool_()}
)
ENCODER = TableEncoder.of(SCHEMA, TYPES)
METHODS = {
    "mosaic": Mosaic(components=4, fits=1, steps=5),
    "aim": AIM(steps=5, rounds=1),
    "merf": MERF(frequencies=10, components=3, steps=5),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of each method, as its document and arrays."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(0, 50, 500),
            "weight": rng.normal(0, 1, 500).clip(-3, 3).round(2),
            "sex": rng.choice(["F", "M"], 500),
            "ill": rng.random(500) < 0.3,
        }
    )
    found = {}
    for name, method in METHODS.items():
        path = tmp_path_factory.mktemp(name) / "model.nacre"
        nacre.fit(table, ENCODER, method=method, epsilon=10, delta=1e-6, seed=0).save(path)
        found[name] = read(path)
    return found


def put(path, document, arrays):
    """Write a file whose checksums are right, whatever it says."""
    write(path, {key: part for key, part in document.items() if key != "nacre"}, arrays)
    return path


def refused(path):
    tracemalloc.start()
    try:
        with pytest.raises(nacre.ArchiveError, match="does not fit together"):
            nacre.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 25, f"{peak >> 20} MiB were taken"


@pytest.mark.parametrize("method", METHODS)
def test_what_is_sound_is_loaded(saved, tmp_path, method):
    document, arrays = saved[method]
    assert nacre.load(put(tmp_path / "x.nacre", document, arrays)).sample(3).shape == (3, 4)


CHANGES = {
    "many cells": {"generator": {"most": 10**12}, "schema": {"age": {"high": 2 * 10**8}}},
    "endless cells": {"generator": {"most": 1e300}},
    "noise": {"generator": {"noise": 10**400}},
    "label": {"generator": {"label": 10**30}},
    "sizes": {"generator": {"sizes": [10**15] * 3}},
    "sizes of text": {"generator": {"sizes": "abc"}},
    "no generator": {"generator": {"type": "os.system"}},
    "delta": {"guarantee": {"delta": 10**400}},
    "bound": {"schema": {"age": {"high": 10**400}}},
    "decimals": {"schema": {"weight": {"decimals": 10**9}}},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what", CHANGES)
def test_numbers_out_of_range_are_refused(saved, tmp_path, method, what):
    document, arrays = copy.deepcopy(saved[method])
    if method == "merf" and what in ("noise", "sizes", "sizes of text", "endless cells"):
        pytest.skip("this generator has no such number")
    change = CHANGES[what]
    document["generator"] |= change.get("generator", {})
    document["guarantee"] |= change.get("guarantee", {})
    for name, facts in change.get("schema", {}).items():
        document["encoder"]["schema"]["columns"][name] |= facts
        with contextlib.suppress(nacre.NacreError):  # so that it is not the digest that differs
            document["schema"] = nacre.Schema.from_dict(document["encoder"]["schema"]).digest
    refused(put(tmp_path / "x.nacre", document, arrays))


FREE = (  # any number will do
    *("tilt", "pair_tilt", "table_tilt", "counts", "pair_counts"),
    *("whole_counts", "whole_pair_counts"),
)
DAMAGES = {
    "a gap": lambda a: np.where(np.arange(a.size).reshape(a.shape) == 0, np.nan, a),
    "an axis more": lambda a: a[None],
    "no axes": lambda a: np.zeros((), a.dtype),
    "another kind": lambda a: a.astype(np.float64 if a.dtype.kind == "i" else np.int64),
    "far below": lambda a: a - 10**9,
    "one less": lambda a: a[..., 1:],
    "none left": lambda a: None,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what", DAMAGES)
def test_every_array_is_looked_at(saved, tmp_path, method, what):
    document, arrays = saved[method]
    for name, array in arrays.items():
        free = what == "far below" and name in FREE
        if not array.size or free or (what == "another kind" and array.dtype.kind != "i"):
            continue  # that may be so
        if what == "no axes" and array.shape == (1,):
            continue  # a file has one axis at least: it would be another single number
        others = {key: each for key, each in arrays.items() if key != name}
        if (damaged := DAMAGES[what](array)) is not None:
            others[name] = damaged
        refused(put(tmp_path / "x.nacre", document, others))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *(("ledger", value) for value in ("<b>", 5, {}, {"dataset": "x"})),
        *((part, value) for part in ("settings", "versions") for value in (3, {"a": {"b": 1}})),
        ("settings", {"a": [[1]]}),
        ("guarantee", []),
        ("schema", None),
        *(("encoder", value) for value in (None, 7, [], {"kind": "os.system"})),
        ("encoder", {"types": 7}),
        ("encoder", {"types": "xyz"}),
        ("encoder", {"types": "00" * 50}),
        ("encoder", {"types": "ffffffff"}),
    ],
)
def test_parts_of_another_kind_are_refused(saved, tmp_path, part, value):
    document, arrays = saved["mosaic"]
    if part == "encoder" and isinstance(value, dict):
        value = {**document["encoder"], **value}
    refused(put(tmp_path / "x.nacre", {**document, part: value}, arrays))


def test_types_may_rot(saved, tmp_path):
    document, arrays = saved["mosaic"]
    sound, rng = bytes.fromhex(document["encoder"]["types"]), np.random.default_rng(1)
    for _ in range(150):
        data = bytearray(sound)
        for place in rng.integers(8, len(data), size=rng.integers(1, 5)):
            data[place] = rng.integers(256)
        rotten = {**document["encoder"], "types": data.hex()}
        put(tmp_path / "x.nacre", {**document, "encoder": rotten}, arrays)
        try:
            nacre.load(tmp_path / "x.nacre").sample(2)
        except nacre.ArchiveError as error:
            assert "does not fit together" in str(error)


@pytest.mark.parametrize("kind", [pa.binary((1 << 31) - 1), pa.list_(pa.int8(), (1 << 31) - 1)])
def test_types_of_any_width_take_no_room(saved, tmp_path, kind):
    document, arrays = saved["mosaic"]
    types = pa.schema(dict.fromkeys(SCHEMA.columns, kind)).serialize().to_pybytes().hex()
    wide = {**document["encoder"], "types": types}
    put(tmp_path / "x.nacre", {**document, "encoder": wide}, arrays)
    before = pa.default_memory_pool().max_memory()
    with contextlib.suppress(nacre.ArchiveError):  # Arrow may refuse to read such a type
        nacre.load(tmp_path / "x.nacre")
    assert pa.default_memory_pool().max_memory() - before < 1 << 24


def run(*arguments):
    return CliRunner(env={"NACRE_TRACEBACK": ""}).invoke(app, [str(a) for a in arguments])


def test_a_terminal_says_it_in_a_sentence(saved, tmp_path):
    document, arrays = copy.deepcopy(saved["mosaic"])
    document["generator"]["noise"] = 10**400
    path = put(tmp_path / "x.nacre", document, arrays)
    for command in (("show", path), ("sample", path, "-n", "5", "-o", tmp_path / "x.csv")):
        done = run(*command)
        assert done.exit_code == 2
        assert "x.nacre is a nacre file but its content does not fit together" in done.stderr
    path.write_bytes(path.read_bytes()[:-100])
    assert run("show", path).exit_code == 2
    assert "damaged" in run("show", path).stderr


def test_names_in_a_file_do_not_steer_the_terminal(saved, tmp_path):
    document, arrays = copy.deepcopy(saved["mosaic"])
    evil = "\x1b[2J\x9b1m[/nothing][bold]evil"
    document["method"] = evil
    document["settings"] = {evil: evil}
    document["versions"] = {evil: evil}
    document["ledger"] = {"dataset": evil, "entry": 1}
    document["guarantee"]["releases"][0] |= {"name": evil, "theorem": evil}
    path = put(tmp_path / "x.nacre", document, arrays)
    done = run("show", path)
    assert done.exit_code == 0, done.stderr
    assert not set("\x1b\x9b") & set(done.stdout)
    assert done.stdout.count("[/nothing]") > 5
    done = run("sample", path, "-n", "5", "-o", tmp_path / "x.csv", "--where", f"{evil}=3")
    assert done.exit_code == 2 and not set("\x1b\x9b") & set(done.stderr)


@pytest.mark.parametrize("name", ["\x1b[2K(ε = 0.1, δ = 1e-09)", "nobody"])
def test_a_guarantee_speaks_only_of_columns_that_there_are(saved, tmp_path, name):
    document, arrays = copy.deepcopy(saved["mosaic"])
    document["guarantee"]["hidden"] = [{"columns": [name], "alpha": 0.05}]
    done = run("show", put(tmp_path / "x.nacre", document, arrays))
    assert done.exit_code == 2 and "does not fit together" in done.stderr


@pytest.mark.parametrize("change", [{"epsilon": 1e-3}, {"releases": []}])
def test_a_claim_that_its_releases_contradict_is_doubted(saved, tmp_path, change):
    document, arrays = copy.deepcopy(saved["merf"])  # which keeps no answers
    document["guarantee"] |= change
    path = put(tmp_path / "x.nacre", document, arrays)
    with pytest.warns(UserWarning, match="x.nacre: The (releases listed cost|guarantee lists no)"):
        nacre.load(path)
    done = run("show", path)
    assert done.exit_code == 0 and "Warning:" in done.stderr
