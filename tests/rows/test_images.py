"""Images from arrays, files and folders: the same pixels and classes, whatever they come in."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.rows import ImageEncoder, SourceError
from nacre.rows.image_source import is_images, open_images
from nacre.rows.pictures import folder_names, picture_bytes, write_folder
from nacre.schema import ImageSchema, SchemaError

GRAY = ImageSchema(height=4, width=5, classes=3)
COLOR = ImageSchema(height=4, width=5, channels=3, classes=("cat", "dog", "a/b"), label="kind")
PLAIN = ImageSchema(height=4, width=5)


def images(schema, n=300, seed=0):
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (n, *schema.shape), np.uint8)
    return pixels, rng.integers(0, 3, n)


def read(data, schema):
    """Pixels, labels and validity of all images."""
    encoder = ImageEncoder(schema)
    blocks = [encoder.encode(batch) for batch in encoder.open(data).batches()]
    pixels, labels = (
        np.concatenate([getattr(b.rows, k) for b in blocks]) for k in ("pixels", "label")
    )
    return pixels, labels, np.concatenate([b.valid for b in blocks])


def assert_same(data, schema, pixels, labels):
    found, codes, valid = read(data, schema)
    assert valid.all() and found.dtype == np.uint8 and codes.dtype == np.int32
    assert np.array_equal(found, pixels) and np.array_equal(codes, labels)


def as_idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return head + array.tobytes()


def bytes_of(pixels):
    return [picture_bytes(image) for image in pixels]


# -- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", [GRAY, COLOR], ids=["gray", "color"])
@pytest.mark.parametrize("n", [1, 4096, 5000])
def test_arrays(schema, n):
    pixels, labels = images(schema, n)
    assert_same((pixels, labels), schema, pixels, labels)
    if schema is GRAY:
        assert_same((pixels[..., 0], labels), schema, pixels, labels)


def test_no_images_at_all():
    encoder = ImageEncoder(GRAY)
    source = encoder.open((np.zeros((0, 4, 5), np.uint8), np.zeros(0, int)))
    assert encoder.check(source, iter) == 0
    batch = pa.RecordBatch.from_arrays(
        [pa.array([], pa.binary(20)), pa.array([], pa.int64())], ["image", "label"]
    )
    assert encoder.encode(batch).rows.pixels.shape == (0, 4, 5, 1)


def test_a_label_is_what_its_text_says():
    pixels, labels = images(GRAY, 60)
    for kind in ("i1", "u8", "f4", "U1", "S1"):
        assert_same((pixels, labels.astype(kind)), GRAY, pixels, labels)
    assert_same((pixels, labels.tolist()), GRAY, pixels, labels)
    assert_same((pixels, labels.astype(str).astype(object)), GRAY, pixels, labels)
    assert_same((pixels, labels[:, None]), GRAY, pixels, labels)
    colored, labels = images(COLOR, 60)
    names = np.array(COLOR.classes)[labels]
    assert_same((colored, names), COLOR, colored, labels)
    assert_same((colored, labels), COLOR, colored, labels)  # places in the list


def test_numbers_that_are_no_places():
    schema = ImageSchema(height=4, width=5, classes=("7", "3"))
    pixels, _ = images(schema, 4)
    _, codes, valid = read((pixels, np.array([3, 7, 0, 1])), schema)
    assert codes.tolist() == [1, 0, 0, 0] and valid.tolist() == [True, True, False, False]


STRANGE = [None, True, "\ud800", b"\xff", float("nan"), 1.5, -1, 3, 2**70, "cat ", (1,), 1 + 2j]


def test_strange_labels_are_bad_and_no_others():
    pixels, _ = images(GRAY, len(STRANGE) + 2)
    held = np.empty(len(pixels), object)
    held[:] = [0, *STRANGE, "2"]
    found, codes, valid = read((pixels, held), GRAY)
    assert codes[[0, -1]].tolist() == [0, 2] and valid.tolist() == [True, *[False] * 12, True]
    assert np.array_equal(found, pixels)
    numbers = np.array([2**64 - 1, 2**63, 3, 2], np.uint64)
    for schema in (GRAY, COLOR):
        got = read((images(schema, 4)[0], numbers), schema)
        assert got[2].tolist() == [False, False, False, True] and got[1][3] == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((3, 4, 5)), "NumPy array of uint8, got float64. Scale"),
        ([[[0] * 5] * 4] * 3, "NumPy array of uint8, got list"),
        (np.zeros((3, 5, 4), np.uint8), r"shape \[3, 5, 4\]; the schema says \[n, 4 x 5 x 1\]"),
        (np.zeros((3, 4, 5), np.uint8), "come without labels"),
        ((np.zeros((3, 4, 5), np.uint8), np.zeros(2, int)), "3 images need as many labels"),
        ((np.zeros((3, 4, 5), np.uint8), np.zeros(3, bool)), "text or whole numbers, not bool"),
    ],
)
def test_what_arrays_must_be(data, message):
    with pytest.raises(SourceError, match=message):
        open_images(data, GRAY)


# -- files ---------------------------------------------------------------------------------------


def test_npz_and_its_parts(tmp_path):
    path, (x, y), (u, v) = tmp_path / "a#b.npz", images(GRAY, 30), images(GRAY, 20, 1)
    np.savez(path, x_train=x[..., 0], y_train=y, x_test=u, y_test=v)
    assert_same(path, GRAY, x, y)
    assert_same(f"{path}#train", GRAY, x, y)
    assert_same(f"{path}#test", GRAY, u, v)
    with pytest.raises(SourceError, match="no arrays called images_other and labels_other or x_"):
        open_images(f"{path}#other", GRAY)
    np.savez_compressed(tmp_path / "plain.npz", images=x, labels=y)
    assert_same(tmp_path / "plain.npz", GRAY, x, y)
    # A part that is not there is not quietly the whole.
    with pytest.raises(SourceError, match="images_test"):
        open_images(f"{tmp_path / 'plain.npz'}#test", GRAY)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"\x93NUMPY", b"cells: secret"])
def test_a_damaged_npz_is_refused_in_our_words(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(SourceError, match="is not a readable .npz file"):
        open_images(tmp_path / "a.npz", GRAY)


def test_a_single_array_is_no_npz(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.zeros((2, 4, 5), np.uint8))
    with pytest.raises(SourceError, match="is not a readable .npz file"):
        open_images(tmp_path / "a.npz", GRAY)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_idx(tmp_path, pack):
    pixels, labels = images(GRAY, 50)
    end = ".gz" if pack is gzip.compress else ""
    path = tmp_path / f"t10k-images-idx3-ubyte{end}"
    path.write_bytes(pack(as_idx(pixels[..., 0])))
    with pytest.raises(SourceError, match="labels-idx1-ubyte.*which is not there"):
        open_images(path, GRAY)
    beside = tmp_path / f"t10k-labels-idx1-ubyte{end}"
    beside.write_bytes(pack(as_idx(labels.astype(np.uint8))))
    assert_same(path, GRAY, pixels, labels)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(SourceError, match="not a complete IDX file"):
        open_images(path, GRAY)


@pytest.mark.parametrize("schema", [GRAY, COLOR], ids=["gray", "color"])
def test_folders_by_class(tmp_path, schema):
    pixels, labels = images(schema, 12)
    names = folder_names(schema.classes)
    write_folder(tmp_path, pixels, [names[label] for label in labels])
    order = np.argsort([f"{names[label]}/{i:06d}" for i, label in enumerate(labels)])
    assert_same(tmp_path, schema, pixels[order], labels[order])
    # A picture in no class's folder is not passed over: it is a row that does not fit.
    write_folder(tmp_path, pixels[:1], None)
    write_folder(tmp_path / "wolf" / "deep", pixels[:1], None)
    _, _, valid = read(tmp_path, schema)
    assert len(valid) == 14 and valid.sum() == 12


def test_folders_without_classes(tmp_path):
    pixels, _ = images(PLAIN, 5)
    write_folder(tmp_path / "any", pixels, None)
    (tmp_path / "notes.txt").write_text("no picture")
    assert_same(tmp_path, PLAIN, pixels, np.zeros(5))
    (tmp_path / "empty").mkdir()
    assert list(open_images(tmp_path / "empty", PLAIN).batches()) == []


PARQUET = {
    "fixed lists": lambda x: pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), x[0].size),
    "lists": lambda x: pa.array(x.reshape(len(x), -1).tolist(), pa.list_(pa.int64())),
    "bytes": lambda x: pa.array(bytes_of(x), pa.binary()),
    "large bytes": lambda x: pa.array(bytes_of(x), pa.large_binary()),
    "structs": lambda x: pa.array([{"bytes": b, "path": "a.png"} for b in bytes_of(x)]),
}


@pytest.mark.parametrize("kind", PARQUET)
@pytest.mark.parametrize("schema", [GRAY, COLOR], ids=["gray", "color"])
def test_parquet(tmp_path, kind, schema):
    pixels, labels = images(schema, 300)  # more than are read at once
    text = pa.array(labels).cast(pa.string())
    stored = {
        "whole": pa.array(labels, pa.int8()),
        "real": pa.array(labels, pa.float32()),
        "text": text,
        "words": text.dictionary_encode(),
        "numbers": pa.array(labels).dictionary_encode(),
    }
    for held in stored.values():
        table = pa.table({"extra": labels, "image": PARQUET[kind](pixels), schema.label: held})
        pq.write_table(table, tmp_path / "a.parquet")
        assert_same(tmp_path / "a.parquet", schema, pixels, labels)
    assert is_images(tmp_path / "a.parquet")


def test_parquet_of_other_things(tmp_path):
    path, (pixels, labels) = tmp_path / "a.parquet", images(GRAY, 3)
    good = PARQUET["bytes"](pixels)

    def refused(message, **columns):
        pq.write_table(pa.table(columns), path)
        with pytest.raises(SourceError, match=message):
            open_images(path, GRAY)

    refused("no column 'label'. It has: image", image=good)
    refused("pictures as bytes, or lists of pixels; it holds int64", image=labels, label=labels)
    refused("'label' must hold text or whole", image=good, label=pa.array([True] * 3))
    twice = pa.Table.from_arrays([good, pa.array(labels), good], names=["image", "label", "image"])
    pq.write_table(twice, path)
    with pytest.raises(SourceError, match="two columns 'image'"):
        open_images(path, GRAY)
    path.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(SourceError, match="not a readable Parquet file"):
        open_images(path, GRAY)


def test_paths_that_are_none(tmp_path):
    with pytest.raises(SourceError, match="no file or folder"):
        open_images(tmp_path / "mnist.npz", GRAY)
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(SourceError, match=".npz and .parquet files, IDX files"):
        open_images(tmp_path / "a.txt", GRAY)
    with pytest.raises(SourceError, match="only .npz files have parts. Leave out #test"):
        open_images(f"{tmp_path / 'a.txt'}#test", GRAY)


def test_which_paths_are_images(tmp_path):
    assert is_images("mnist.npz") and is_images("mnist.npz#test")
    assert is_images("train-images-idx3-ubyte.gz")
    pq.write_table(pa.table({"image": [1], "b": [2]}), tmp_path / "a.parquet")
    (tmp_path / "people.csv").write_text("a\n1\n")
    for path in (tmp_path, tmp_path / "a.parquet", tmp_path / "people.csv", "people.csv"):
        assert not is_images(path)
    write_folder(tmp_path / "kinds" / "cat", images(GRAY, 1)[0], None)
    assert is_images(tmp_path / "kinds")
    assert not is_images(tmp_path)  # tables, and a picture somewhere below


# -- the check -----------------------------------------------------------------------------------


def test_the_check_counts_and_quotes_nothing(tmp_path):
    pixels, labels = images(GRAY, 9)
    held = bytes_of(pixels)
    held[1] = held[1][:40]
    held[2] = picture_bytes(np.zeros((9, 9, 1), np.uint8))
    held[3] = None
    words = [*labels.astype(str)[:7], "secret", None]
    table = pa.table({"image": held, "label": words})
    pq.write_table(table, tmp_path / "a.parquet")
    encoder = ImageEncoder(GRAY)
    source = encoder.open(tmp_path / "a.parquet")
    assert encoder.count(source) == (9, 3, 2)
    with pytest.raises(SchemaError) as caught:
        encoder.check(source, iter)
    said = str(caught.value)
    assert "Of 9 images\n  3 cannot be read as 4 x 5 pixels. Say `resize: true`" in said
    assert "2 have a label that is not among the classes, or none" in said
    assert "secret" not in said
    found, codes, valid = read(tmp_path / "a.parquet", GRAY)
    assert np.flatnonzero(~valid).tolist() == [1, 2, 3, 7, 8]
    assert not found[1:4].any() and not codes[7:].any()
