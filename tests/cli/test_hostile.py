"""What nobody means to do, and some do: no traceback, a sentence, nothing spent or replaced."""

import gzip
import io
import math
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Folder

from nacre import archive
from nacre.rows import SourceError
from nacre.rows.image_files import read_idx, read_npz

SOURCE = Path(__file__).resolve().parents[2] / "src"


def refused(folder: Folder, *words: str | Path) -> str:
    done = folder.run(*words)
    assert done.exit_code == 2, done.output
    assert "please report it" not in done.output
    assert folder.spent() == (0, 0)
    return done.stderr


def test_a_device_is_not_replaced_by_a_model(folder):
    pipe = folder / "pipe.nacre"
    os.mkfifo(pipe)
    done = folder.fit("people.csv", "--force", output=str(pipe))
    assert done.exit_code == 2 and "no file" in done.stderr
    assert folder.spent() == (0, 0) and stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(archive.ArchiveError, match="not a file"):
        archive.write(pipe, {}, {})


def test_links_that_lead_in_a_circle(folder):
    (folder / "loop.csv").symlink_to("loop.csv")
    done = folder.fit("loop.csv")
    assert done.exit_code == 2 and "There is no file or folder" in done.stderr
    assert folder.spent() == (0, 0)
    refused(folder, "schema", "draft", folder / "loop.csv")


@pytest.mark.parametrize("epsilon", ["nan", "-1", "1e400", "0", "1e300", "٣"])
def test_budgets_that_are_no_numbers(folder, epsilon):
    done = folder.fit(epsilon=epsilon)
    assert done.exit_code == 2 and folder.spent() == (0, 0)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("steps=-1", "steps"),
        ("steps=nan", "steps"),
        ("steps", "name=value"),
        ("=3", "name=value"),
        ("nobody=1", "nobody"),
        ("frequencies=99999999999999999999999", "frequencies"),
    ],
)
def test_settings_that_mean_nothing(folder, setting, words):
    done = folder.fit("people.csv", "--set", setting, "--method", "merf")
    assert done.exit_code == 2 and words in done.stderr
    assert folder.spent() == (0, 0)


def test_tables_that_are_none(folder):
    (folder / "none.csv").write_text("")
    (folder / "twice.csv").write_text("age,age,sex,wage,income\n1,2,Male,3,>50K\n")
    (folder / "one.csv").write_text("age\n20\n30\n")
    (folder / "folder.csv").mkdir()
    (folder / "zero.csv").write_bytes(b"\0" * 5_000)
    for name in ("none.csv", "twice.csv", "one.csv", "folder.csv", "zero.csv"):
        done = folder.fit(name)
        assert done.exit_code == 2 and "please report it" not in done.output, name
        assert folder.spent() == (0, 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_table_that_may_not_be_read(folder):
    (folder / "people.csv").chmod(0)
    assert folder.fit().exit_code == 2


def test_a_seed_beyond_64_bits(folder):
    done = folder.fit("people.csv", "--seed", "9" * 23)
    assert done.exit_code == 2 and "64 bits" in done.stderr
    assert folder.spent() == (0, 0)


def test_seeds_below_zero(folder, fitted):
    for words in (
        ("sample", fitted / "out.nacre", "-n", "5", "-o", folder / "s.csv"),
        ("publish", fitted / "out.nacre", "-n", "5", "-o", folder / "p.html"),
    ):
        assert "from 0 on" in refused(folder, *words, "--seed", "-1")
    table = folder / "people.csv"
    words = ("evaluate", table, table, "-s", folder / "people.yaml", "-o", folder / "r.html")
    assert "from 0 on" in refused(folder, *words, "--seed", "-1")


@pytest.mark.parametrize("words", [("methods",), ("--help",)])
def test_a_reader_who_leaves(words):
    """`nacre methods | head -1`, where the pipe is closed before anything is written."""
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-c", "from nacre.cli import main; main()", *words],
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    os.close(theirs)
    assert "Traceback" not in done.stderr


# -- files that are larger inside --------------------------------------------------------------


def test_arrays_that_would_fill_the_memory_are_not_unpacked(tmp_path):
    bomb, one = tmp_path / "bomb.npz", io.BytesIO()
    np.lib.format.write_array_header_1_0(
        one, {"descr": "|u1", "fortran_order": False, "shape": (10**9, 28, 28)}
    )
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive_file,
        archive_file.open("images.npy", "w") as part,
    ):
        part.write(one.getvalue())
        for _ in range(80):
            part.write(bytes(2**20))
    assert bomb.stat().st_size < 200_000
    with pytest.raises(SourceError, match="would unpack to more than"):
        read_npz(bomb, "")
    packed = tmp_path / "images-idx3-ubyte.gz"
    with gzip.open(packed, "wb") as file:
        for _ in range(80):
            file.write(bytes(2**20))
    with pytest.raises(SourceError, match="would unpack to more than"):
        read_idx(packed)


def test_shapes_that_are_only_claimed_are_refused(tmp_path):
    """An array of 784 billion pixels, of which none is there."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "|u1", "fortran_order": False, "shape": (10**9, 28, 28)}
    )
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as archive_file:
        archive_file.writestr("images.npy", head.getvalue())
    with pytest.raises(SourceError, match="not a readable"):
        read_npz(tmp_path / "claims.npz", "")


@pytest.mark.parametrize("lengths", [[1] * 100, [0, 2**32 - 1, 2**32 - 1, 2**32 - 1]])
def test_axes_that_no_array_can_have_are_refused(lengths, tmp_path):
    path = tmp_path / "images-idx3-ubyte"
    sizes = b"".join(length.to_bytes(4, "big") for length in lengths)
    path.write_bytes(b"\0\0\x08" + bytes([len(lengths)]) + sizes + bytes(math.prod(lengths)))
    with pytest.raises(SourceError, match="not a complete IDX file"):
        read_idx(path)


def test_names_in_an_archive_lead_nowhere(tmp_path):
    """Nothing is ever unpacked to a path that a file names: what it does not list is not read."""
    model = tmp_path / "in" / "m.nacre"
    model.parent.mkdir()
    archive.write(model, {"a": 1}, {"x": np.arange(3)})
    with zipfile.ZipFile(model, "a", zipfile.ZIP_STORED) as file:
        file.writestr("../../escaped.npy", b"x")
        file.writestr("arrays/../../../escaped.npy", b"x")
        file.writestr("/tmp/nacre-escaped.npy", b"x")
    _, arrays = archive.read(model)
    assert set(arrays) == {"x"}
    assert not list(tmp_path.glob("**/*escaped*"))
    assert not Path("/tmp/nacre-escaped.npy").exists()
