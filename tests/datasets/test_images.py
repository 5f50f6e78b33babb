"""Public images: as they come, on small stand-ins; the real ones if they are there."""

import os

import numpy as np
import pytest
from PIL import Image

import nacre
from nacre.datasets import celeba, digits, load_images
from nacre.rows import ImageEncoder


def test_digits():
    train, test, schema = digits()
    assert train.images.dtype == np.uint8 and train.images.max() == 255
    encoder = ImageEncoder(schema)
    for part in (train, test):
        assert encoder.count(encoder.open(part)).ok
        assert np.bincount(part.labels, minlength=10).min() > 20


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_images_from_a_folder(name, tmp_path, monkeypatch):
    (tmp_path / name).mkdir()
    images = np.arange(30 * 784).reshape(30, 28, 28).astype(np.uint8)
    labels = (np.arange(30) % 10).astype(np.uint8)
    parts = {"x_train": images[:20], "y_train": labels[:20]}
    np.savez(tmp_path / name / f"{name}.npz", x_test=images[20:], y_test=labels[20:], **parts)
    monkeypatch.setenv("NACRE_DATA", str(tmp_path))
    train, test, schema = load_images(name)
    assert np.array_equal(train.images, images[:20]) and np.array_equal(test.labels, labels[20:])
    encoder = ImageEncoder(schema)
    (batch,) = encoder.open(test).batches()
    assert encoder.encode(batch).rows.label.tolist() == labels[20:].tolist()


def test_images_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.delenv("NACRE_DATA", raising=False)
    with pytest.raises(nacre.NacreError, match="set NACRE_DATA to the folder that holds mnist/mn"):
        load_images("mnist")
    with pytest.raises(nacre.NacreError, match="There is no .*mnist.npz"):
        load_images("mnist", tmp_path)
    with pytest.raises(nacre.NacreError, match="There are: mnist, fashion_mnist"):
        load_images("cifar")


@pytest.fixture
def faces(tmp_path):
    (tmp_path / "img_align_celeba").mkdir()
    lines = ["4", "5_o_Clock_Shadow Male Young"]
    for number, answer in ((1, 1), (2, -1), (170_000, 1), (190_000, -1)):
        picture = Image.new("RGB", (178, 218), (number % 256, 0, 200))
        picture.save(tmp_path / "img_align_celeba" / f"{number:06d}.jpg", quality=95)
        lines.append(f"{number:06d}.jpg  -1  {answer:2d}  1")
    (tmp_path / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_celeba(faces):
    train, test, schema = celeba(faces)
    assert schema.shape == (32, 32, 3) and (schema.label, schema.crop) == ("Male", 178)
    assert train.labels.tolist() == ["yes", "no"] and test.labels.tolist() == ["no"]
    assert np.abs(train.images[1].astype(int) - [2, 0, 200]).max() <= 4
    encoder = ImageEncoder(schema)
    assert encoder.count(encoder.open(train)) == (2, 0, 0)
    (faces / "list_eval_partition.txt").write_text(
        "000001.jpg 2\n000002.jpg 0\n170000.jpg 0\n190000.jpg 1\n"
    )
    train, test, schema = celeba(faces, label="Young", size=8, most=1)
    assert train.images.shape == test.images.shape == (1, 8, 8, 3)
    assert train.labels.tolist() == ["yes"]


def test_celeba_that_is_not_whole(faces):
    with pytest.raises(nacre.NacreError, match="no attribute 'Smiling'. It has: 5_o_Clock"):
        celeba(faces, label="Smiling")
    (faces / "img_align_celeba" / "000002.jpg").write_bytes(b"")
    with pytest.raises(nacre.NacreError, match="000002.jpg cannot be read"):
        celeba(faces)
    (faces / "list_attr_celeba.txt").unlink()
    with pytest.raises(nacre.NacreError, match="must hold CelebA's own files"):
        celeba(faces)


@pytest.mark.data
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_the_published_ones(name):
    if not os.environ.get("NACRE_DATA"):
        pytest.skip("set NACRE_DATA to the folder of public benchmarks to run this")
    train, test, schema = load_images(name)
    encoder = ImageEncoder(schema)
    assert encoder.count(encoder.open(train)) == (60_000, 0, 0)
    assert encoder.count(encoder.open(test)) == (10_000, 0, 0)
