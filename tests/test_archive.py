"""Model files: nothing in them runs, and damage is told plainly."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from nacre.archive import FORMAT, ArchiveError, read, write


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

    def change(members):
        import hashlib

        members["arrays/x.npy"] = buffer.getvalue()
        document = json.loads(members["model.json"])
        document["sha256"]["arrays/x.npy"] = hashlib.sha256(buffer.getvalue()).hexdigest()
        members["model.json"] = json.dumps(document).encode()

    rewrite(path, change)
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
