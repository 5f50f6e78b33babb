"""Model files: nothing in them runs, and damage is told plainly."""

import bz2
import copy
import hashlib
import io
import json
import os
import pickle
import struct
import tempfile
import tracemalloc
import warnings
import zipfile
from unittest.mock import Mock

import numpy as np
import pytest

import nacre
from nacre.archive import FORMAT, ArchiveError, read, write
from nacre.errors import NameTaken


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "model.nacre"
    write(found, {"a": 1}, {"x": np.arange(3.0)})
    return found


def rewrite(path, change):
    """Write the archive again with one member changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def replace_array(path, data):
    """Put other bytes in the array's place, with the right checksum."""

    def change(members):
        members["arrays/x.npy"] = data
        document = json.loads(members["model.json"])
        document["sha256"]["arrays/x.npy"] = hashlib.sha256(data).hexdigest()
        members["model.json"] = json.dumps(document).encode()

    rewrite(path, change)


def header(descr, shape):
    buffer = io.BytesIO()
    said = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, said)
    return buffer.getvalue()


def refused(path, message="damaged"):
    """That a file is refused, and with how little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError, match=message):
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 23, f"{peak >> 20} MiB were taken"


def test_round_trip(path):
    document, arrays = read(path)
    assert document["a"] == 1
    assert arrays["x"].tolist() == [0, 1, 2]


def test_others_may_read_it_as_the_mask_says(path):
    assert path.stat().st_mode & 0o400
    assert not list(path.parent.glob(".model*")), "no temporary file is left"


def test_a_pickled_array_never_runs(path):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Exploding()], object), allow_pickle=True)

    replace_array(path, buffer.getvalue())
    with pytest.raises(ArchiveError, match="not a nacre model, or it is damaged"):
        read(path)


class Exploding:
    def __reduce__(self):
        return pytest.fail, ("a stranger's code ran",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a nacre model"),
        (b"hello", "not a nacre model"),
        (pickle.dumps([1]), "not a nacre model"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "x.nacre"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match=message):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ArchiveError, match=r"There is no file .*x\.nacre"):
        read(tmp_path / "x.nacre")


def test_a_changed_array_is_found(path):
    def change(members):
        members["arrays/x.npy"] = members["arrays/x.npy"][:-1] + b"\x01"

    rewrite(path, change)
    with pytest.raises(ArchiveError, match="checksum"):
        read(path)


def test_another_format_says_what_to_install(path):
    def change(members):
        document = json.loads(members["model.json"])
        members["model.json"] = json.dumps({**document, "nacre": FORMAT + 1}).encode()

    rewrite(path, change)
    with pytest.raises(ArchiveError, match="newer"):
        read(path)


def test_a_failing_write_leaves_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        write(path, {"a": float("nan")}, {})
    assert path.read_bytes() == before
    assert not list(path.parent.glob(".model*"))


# -- files that were made to do harm, or that rotted ---------------------------------------------


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_parts_are_refused_before_they_are_unpacked(path, method):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("model.json", bytes(1 << 25))
    refused(path, "compressed")


def test_a_part_that_lies_about_its_length_is_refused(path):
    data, name = bz2.compress(bytes(1 << 25)), b"model.json"
    sizes = (0, len(data), 100, len(name))
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 46, 0, 12, 0, 33, *sizes, 0) + name + data
    entry = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 46, 46, 0, 12, 0, 33, *sizes, 0, 0, 0, 0, 0, 0
    )
    entry += name
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local), 0)
    path.write_bytes(local + entry + end)
    refused(path, "compressed")


def test_parts_that_lie_over_each_other_are_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", "{}")
        archive.writestr("arrays/x.npy", bytes(1000))
        for place in range(1000):
            again = copy.copy(archive.getinfo("arrays/x.npy"))
            again.filename = f"arrays/{place}.npy"
            archive.filelist.append(again)
    refused(path, "more than its")


@pytest.mark.parametrize("name", ["model.json", "arrays/x.npy"])
def test_two_parts_of_one_name_are_refused(path, name):
    with zipfile.ZipFile(path) as archive:
        members = [(each, archive.read(each)) for each in archive.namelist()]
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own, about just this
        for each, data in [*members, *(member for member in members if member[0] == name)]:
            archive.writestr(each, data)
    refused(path, "two parts of one name")


@pytest.mark.parametrize(
    ("once", "twice"), [(b'"a": 1', b'"a": 1, "a": 2'), (b'"a": 1', b'"a": {"b": 1, "b": 1}')]
)
def test_a_description_that_says_something_twice_is_refused(path, once, twice):
    def change(members):
        assert once in members["model.json"]
        members["model.json"] = members["model.json"].replace(once, twice)

    rewrite(path, change)
    refused(path, "says something twice")


def test_a_description_without_end_is_refused(path, monkeypatch):
    monkeypatch.setattr("nacre.archive.TEXT", 1000)
    rewrite(path, lambda members: members.update({"model.json": b" " * 1001}))
    refused(path, "describes itself")


@pytest.mark.parametrize(
    "data",
    [
        header("<f8", (10**12,)),
        header("<f8", (1 << 24,)) + bytes(64),
        header("<f8", (4,)) + bytes(64),
        header("<f8", (-1, -8)) + bytes(64),
        header("<f4", (0, 1 << 40)),
        header("|V0", (1 << 40,)),
        header("<U1", (2,)) + b"1\0\0\0" * 2,
        header([("a", "<f8")], (1,)) + bytes(8),
        b"\x93NUMPY\x02" + header("<f8", (1,))[7:] + bytes(8),
        b"\x93NUMPY\x01\0\xff\xff" + b"(" * 9000,
        b"",
    ],
    ids=[
        *("eight terabytes", "longer", "shorter", "negative", "long and empty", "nothing"),
        *("text", "records", "version", "nested", "no header"),
    ],
)
def test_an_array_is_what_its_header_claims(path, data):
    replace_array(path, data)
    refused(path)


def test_an_empty_array_is_kept(tmp_path):
    path = tmp_path / "model.nacre"
    write(path, {}, {"x": np.zeros((3, 0), np.float32), "y": np.array(2.0), "z": np.ones((2, 3)).T})
    _, arrays = read(path)
    assert (arrays["x"].shape, arrays["y"].item(), arrays["z"].shape) == ((3, 0), 2.0, (3, 2))


@pytest.mark.parametrize(
    "text", [b"[" * 200_000, b"{", b"\xff", b'{"nacre": "\\ud800"}', b"[" + b"1" * 10_000 + b"]"]
)
def test_text_that_is_no_description_is_refused(path, text):
    rewrite(path, lambda members: members.update({"model.json": text}))
    refused(path)


@pytest.mark.parametrize("version", ['"1"', "null", "[]", '"\\u001b[2J"'])
def test_a_format_is_a_number(path, version):
    rewrite(
        path, lambda members: members.update({"model.json": b'{"nacre": %s}' % version.encode()})
    )
    refused(path, "is not a nacre model")


@pytest.mark.parametrize(
    ("local", "central", "value"), [(6, 8, 1), (8, 10, 9), (8, 10, 99)], ids=["key", "9", "99"]
)
def test_ways_of_packing_that_are_not_ours_are_refused(path, local, central, value):
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        start = -1
        while (start := data.find(mark, start + 1)) >= 0:
            data[start + place] = value
    path.write_bytes(data)
    refused(path, "damaged|compressed")


def test_any_byte_may_rot_and_any_end_be_missing(path):
    sound, (document, arrays) = path.read_bytes(), read(path)
    rng = np.random.default_rng(0)
    for _ in range(1000):
        data = bytearray(sound)
        for place in rng.integers(len(data), size=rng.integers(1, 4)):
            data[place] = rng.integers(256)
        path.write_bytes(data if rng.random() < 0.8 else data[: rng.integers(len(data))])
        try:
            found = read(path)
        except ArchiveError:
            continue
        assert found[0].keys() == document.keys() and (found[1]["x"] == arrays["x"]).all()


def test_folders_and_forbidden_files_are_named(path, monkeypatch):
    with pytest.raises(ArchiveError, match="is not a file"):
        read(path.parent)

    def forbidden(*_):
        raise PermissionError

    monkeypatch.setattr(zipfile, "ZipFile", forbidden)
    with pytest.raises(ArchiveError, match="permission denied"):
        read(path)


def test_too_little_memory_is_said(path, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(zipfile, "ZipFile", full)
    with pytest.raises(ArchiveError, match="does not fit into the memory"):
        read(path)


def test_a_file_is_not_replaced_unless_that_is_said(path):
    before = path.read_bytes()
    with pytest.raises(nacre.NacreError, match=r"model.nacre is there already.*replace=True"):
        write(path, {"a": 2}, {}, replace=False)
    assert path.read_bytes() == before
    write(path, {"a": 1}, {"x": np.arange(3.0)}, replace=False)  # the same may stay
    write(path, {"a": 2}, {}, replace=True)
    assert read(path)[0]["a"] == 2
    assert list(path.parent.iterdir()) == [path]


def test_what_comes_there_in_the_meantime_is_not_replaced(tmp_path, monkeypatch):
    """Also where there are no links, and a link that leads nowhere is a name that is taken."""
    path = tmp_path / "model.nacre"
    real = tempfile.mkstemp

    def late(**where):
        path.write_text("another's")
        return real(**where)

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "mkstemp", late)
        for refusal in (None, PermissionError):
            if refusal is not None:
                patch.setattr(os, "link", Mock(side_effect=refusal))
            path.unlink(missing_ok=True)
            with pytest.raises(NameTaken):
                write(path, {"a": 1}, {}, replace=False)
            assert path.read_text() == "another's"
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(NameTaken):
        write(path, {"a": 1}, {}, replace=False)
    assert [each.name for each in tmp_path.iterdir()] == ["model.nacre"]


def test_without_links_a_free_name_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
    write(tmp_path / "model.nacre", {"a": 1}, {}, replace=False)
    assert read(tmp_path / "model.nacre")[0]["a"] == 1
    assert len(list(tmp_path.iterdir())) == 1
