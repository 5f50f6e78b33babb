"""A signature fits one file and one key, and covers every byte that is read."""

import stat
import zipfile

import numpy as np
import pytest

from nacre import archive, signature
from nacre.archive import ArchiveError
from nacre.errors import NacreError


@pytest.fixture
def key(tmp_path):
    signature.new_key(tmp_path / "holder.key")
    return tmp_path / "holder.key"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.nacre"
    archive.write(path, {"epsilon": 1.0}, {"a": np.arange(5.0)})
    return path


def parts_of(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewrite(path, parts):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)


def test_a_signed_file_is_read_as_before_and_names_its_key(model, key):
    before = archive.read(model)
    assert signature.signature_of(model) is None
    made = signature.sign(model, key)
    after = archive.read(model)
    assert after[0] == before[0] and np.array_equal(after[1]["a"], before[1]["a"])
    found = signature.signature_of(model)
    assert found == made
    assert found.key == signature.read_public_key(key.with_suffix(".pub"))
    signature.sign(model, key)  # again: the old signature gives way
    assert sorted(parts_of(model)) == ["arrays/a.npy", "model.json", "signature.json"]


def test_the_secret_key_is_its_owners_and_is_never_replaced(key):
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(NacreError, match="not replaced"):
        signature.new_key(key)


def test_a_changed_guarantee_is_found(model, key):
    signature.sign(model, key)
    parts = parts_of(model)
    parts["model.json"] = parts["model.json"].replace(b'"epsilon": 1.0', b'"epsilon": 0.5')
    rewrite(model, parts)
    with pytest.raises(ArchiveError, match="does not fit"):
        signature.signature_of(model)


def test_a_changed_array_is_found(model, key):
    signature.sign(model, key)
    parts = parts_of(model)
    parts["arrays/a.npy"] = parts["arrays/a.npy"][:-1] + b"\x00"
    rewrite(model, {**parts, "arrays/a.npy": parts["arrays/a.npy"][::-1]})
    with pytest.raises(ArchiveError, match="checksum"):
        signature.signature_of(model)


def test_parts_that_nobody_signed_are_refused(model, key):
    signature.sign(model, key)
    rewrite(model, {**parts_of(model), "arrays/b.npy": b"more"})
    with pytest.raises(ArchiveError, match="cover all"):
        signature.signature_of(model)


def test_a_signature_of_another_file_does_not_fit(model, key, tmp_path):
    other = tmp_path / "other.nacre"
    archive.write(other, {"epsilon": 9.0}, {"a": np.arange(5.0)})
    signature.sign(other, key)
    rewrite(model, {**parts_of(model), "signature.json": parts_of(other)["signature.json"]})
    with pytest.raises(ArchiveError, match="does not fit"):
        signature.signature_of(model)


@pytest.mark.parametrize("said", [b"", b"[]", b'{"key": 3}', b'{"key": "00", "signature": "zz"}'])
def test_signatures_that_are_none(said, model):
    rewrite(model, {**parts_of(model), "signature.json": said})
    with pytest.raises(ArchiveError, match="does not fit"):
        signature.signature_of(model)


def test_a_damaged_signature(model, key):
    signature.sign(model, key)
    data = model.read_bytes()
    place = data.index(b'"algorithm"')
    model.write_bytes(data[:place] + b"x" + data[place + 1 :])
    with pytest.raises(ArchiveError, match="does not fit"):
        signature.signature_of(model)


def test_files_that_are_no_keys(model, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"\xff\x00 nothing")
    with pytest.raises(NacreError, match="no public key"):
        signature.read_public_key(wrong)
    with pytest.raises(NacreError, match="no secret"):
        signature.sign(model, wrong)
    assert signature.signature_of(model) is None
