"""How an image is read never depends on another one: not on its being there, damaged or strange."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.rows import ImageEncoder
from nacre.rows.image_labels import label_column, labels_of
from nacre.rows.pictures import picture_bytes, write_folder
from nacre.schema import ImageSchema

SCHEMA = ImageSchema(height=3, width=4, classes=("cat", "dog", "7"))
N = 20


def images():
    rng = np.random.default_rng(3)
    return rng.integers(0, 256, (N, 3, 4, 1), np.uint8), rng.integers(0, 2, N)


def read(data):
    encoder = ImageEncoder(SCHEMA)
    rows = []
    for batch in encoder.open(data).batches():
        block = encoder.encode(batch)
        rows += zip(block.rows.pixels, block.rows.label, block.valid, strict=True)
    return [(pixels.tobytes(), int(label), bool(valid)) for pixels, label, valid in rows]


def in_arrays(folder, pixels, labels):
    return pixels, labels


def in_npz(folder, pixels, labels):
    np.savez(folder / "a.npz", images=pixels, labels=labels)
    return folder / "a.npz"


def in_parquet(column):
    def write(folder, pixels, labels):
        held = np.asarray(labels).tolist()
        kind = None if len({type(label) for label in held}) == 1 else pa.string()
        stored = pa.array(held if kind is None else [str(label) for label in held], kind)
        pq.write_table(pa.table({"image": column(pixels), "label": stored}), folder / "a.parquet")
        return folder / "a.parquet"

    return write


def as_lists(pixels):
    return pa.FixedSizeListArray.from_arrays(pa.array(pixels.reshape(-1)), 12)


def as_files(pixels):
    return pa.array([picture_bytes(image) for image in pixels])


STORES = {
    "arrays": in_arrays,
    "npz": in_npz,
    "lists": in_parquet(as_lists),
    "files": in_parquet(as_files),
}


@pytest.mark.parametrize("store", STORES)
def test_order_and_strangers_change_no_other_image(store, tmp_path):
    pixels, labels = images()
    alone = read(STORES[store](tmp_path, pixels, labels))
    assert len(set(alone)) == N and all(valid for _, _, valid in alone)
    order = np.random.default_rng(0).permutation(N)
    assert read(STORES[store](tmp_path, pixels[order], labels[order])) == [alone[i] for i in order]
    longer = np.concatenate([pixels[:1], pixels]), np.concatenate([[99], labels])
    assert read(STORES[store](tmp_path, *longer))[1:] == alone


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("stranger", ["wolf", 1.5, "dog", 7])
def test_a_label_of_another_type_changes_no_other(store, stranger, tmp_path):
    # NumPy makes text of all labels if one is text, and floats of all if one is a float.
    pixels, labels = images()
    alone = read(STORES[store](tmp_path, pixels, labels))
    mixed = np.array([*labels.tolist(), stranger])
    if not isinstance(stranger, int):
        assert mixed.dtype.kind != labels.dtype.kind
    found = read(STORES[store](tmp_path, np.concatenate([pixels, pixels[:1]]), mixed))
    assert found[:N] == alone
    assert found[N][1:] == {"dog": (1, True), 7: (2, True)}.get(stranger, (0, False))


def test_a_damaged_picture_changes_no_other(tmp_path):
    pixels, labels = images()
    write_folder(tmp_path, pixels, [SCHEMA.classes[label] for label in labels])
    before = read(tmp_path)
    first = sorted(tmp_path.rglob("*.png"))[0]
    for content in (b"", first.read_bytes()[:40], b"%!PS-Adobe-3.0 EPSF-3.0\n"):
        first.write_bytes(content)
        after = read(tmp_path)
        assert after[0] == (bytes(12), before[0][1], False)
        assert after[1:] == before[1:]
    (tmp_path / "dog" / "000000a.png").mkdir()  # no file, though it is called so
    assert [row for row in read(tmp_path) if row[2]] == [row for row in after if row[2]]


@pytest.mark.parametrize("gap", ["whole", "pixel", "length", "range"])
def test_a_gap_in_lists_changes_no_other(gap, tmp_path):
    pixels, labels = images()
    before = read(in_parquet(as_lists)(tmp_path, pixels, labels))
    lists = pixels.reshape(N, -1).tolist()
    lists[4] = {"whole": None, "pixel": [None] * 12, "length": [1] * 11, "range": [256] * 12}[gap]
    kind = pa.list_(pa.uint8(), 12) if gap in ("whole", "pixel") else pa.list_(pa.int16())
    after = read(in_parquet(lambda _: pa.array(lists, kind))(tmp_path, pixels, labels))
    assert after[4] == (bytes(12), before[4][1], False)
    assert after[:4] + after[5:] == before[:4] + before[5:]


def test_a_label_means_the_same_whatever_type_its_column_has():
    schema = ImageSchema(height=1, width=1, classes=("3", "12345678901"))
    numbers = [3, 12345678901, 3]
    columns = [
        pa.array(numbers),
        pa.array([float(n) for n in numbers]),
        pa.array([f"{n}.0" for n in numbers]),
        pa.array([str(n) for n in numbers]),
        label_column(np.array([3, 12345678901, 3.0], object)),
    ]
    for column in columns:
        places, known = labels_of(column, schema)
        assert known.all() and places.tolist() == [0, 1, 0]
    places, known = labels_of(label_column(np.array([3, 10**5000, None], object)), schema)
    assert known.tolist() == [True, False, False]
