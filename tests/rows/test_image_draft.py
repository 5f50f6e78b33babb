"""A first schema of images, from wherever they are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.rows import SourceError
from nacre.rows.image_draft import draft_images
from nacre.rows.pictures import picture_bytes, write_folder

RNG = np.random.default_rng(0)


def images(*shape):
    return RNG.integers(0, 256, (30, *shape), np.uint8)


def told(schema):
    return schema.shape, schema.classes


def test_arrays():
    numbers = np.arange(30) % 11 + 1
    words = tuple(str(value) for value in range(1, 12))
    assert told(draft_images((images(4, 5), numbers))) == ((4, 5, 1), words)
    assert told(draft_images((images(4, 5, 3), np.array(["b", "a"] * 15)))) == (
        (4, 5, 3), ("a", "b"),
    )  # fmt: skip
    assert told(draft_images(images(4, 5))) == ((4, 5, 1), None)
    found = draft_images((images(4, 5), numbers), label="digit")
    assert (found.label, found.provenance, found.reviewed) == ("digit", "data", False)


def test_idx_with_and_without_labels(tmp_path):
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 30, 0, 0, 0, 2, 0, 0, 0, 3]) + bytes(180))
    assert told(draft_images(path)) == ((2, 3, 1), None)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(
        bytes([0, 0, 8, 1, 0, 0, 0, 30, *(n % 2 for n in range(30))])
    )
    assert told(draft_images(path)) == ((2, 3, 1), ("0", "1"))


def test_folders(tmp_path):
    write_folder(tmp_path, images(6, 7, 3), [("10", "9", "2")[n % 3] for n in range(30)])
    (tmp_path / "empty").mkdir()
    (tmp_path / "10" / "000000.png").write_bytes(b"damaged")
    assert told(draft_images(tmp_path)) == ((6, 7, 3), ("2", "9", "10"))


def test_parquet(tmp_path):
    path, labels = tmp_path / "a.parquet", pa.array(["x", None, "y"] * 10).dictionary_encode()
    files = pa.array([None, *(picture_bytes(image) for image in images(4, 5, 1)[1:])])
    pq.write_table(pa.table({"image": files, "kind": labels}), path)
    assert told(draft_images(path)) == ((4, 5, 1), None)
    assert told(draft_images(path, label="kind")) == ((4, 5, 1), ("x", "y"))
    lists = pa.array(images(4, 4, 3).reshape(30, -1).tolist(), pa.list_(pa.uint8(), 48))
    pq.write_table(pa.table({"image": lists}), path)
    assert told(draft_images(path)) == ((4, 4, 3), None)
    pq.write_table(pa.table({"image": pa.array([[1, 2]])}), path)
    with pytest.raises(SourceError, match="lists of 2 pixels are no square. Write the schema by"):
        draft_images(path)


def test_what_cannot_be_drafted(tmp_path):
    with pytest.raises(SourceError, match=r"\[30, 4, 5, 2\]. Give \[n, height, width\]"):
        draft_images(images(4, 5, 2))
    with pytest.raises(SourceError, match="no label 'kind' with at least two values"):
        draft_images((images(4, 5), np.zeros(30, int)), label="kind")
    (tmp_path / "a.png").write_bytes(b"damaged")
    with pytest.raises(SourceError, match="no picture in it can be read"):
        draft_images(tmp_path)
