"""Public sets of images: MNIST and Fashion-MNIST from a folder, scikit-learn's digits, CelebA."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nacre.errors import MissingExtra, NacreError
from nacre.rows.image import Pictures
from nacre.rows.image_files import read_npz
from nacre.rows.pictures import read_picture
from nacre.schema import ImageSchema

CLOTHES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
SCHEMAS = {
    "mnist": ImageSchema(height=28, width=28, classes=tuple("0123456789")),
    "fashion_mnist": ImageSchema(height=28, width=28, classes=CLOTHES),
}
DIGITS = ImageSchema(height=8, width=8, classes=tuple("0123456789"))
HELD = 5  # one in so many digits is kept for testing
LAST_TRAINING_FACE, FIRST_TEST_FACE = 162_770, 182_638  # of CelebA's own partition


class ImageSplit(NamedTuple):
    """The images to fit and the images to score with, and what is public about both."""

    train: Pictures
    test: Pictures
    schema: ImageSchema


def load_images(name: str, folder: str | os.PathLike[str] | None = None) -> ImageSplit:
    """MNIST or Fashion-MNIST in their official split: 60,000 images to fit, 10,000 to score with.

    Args:
        name: "mnist" or "fashion_mnist".
        folder: Where `<name>/<name>.npz` is; by default the environment variable NACRE_DATA.
    """
    if name not in SCHEMAS:
        raise NacreError(f"There is no set of images {name!r}. There are: {', '.join(SCHEMAS)}.")
    place = os.environ.get("NACRE_DATA") if folder is None else folder
    if not place:
        raise NacreError(
            f"The images {name!r} are not bundled. Give their folder, or set NACRE_DATA to the "
            f"folder that holds {name}/{name}.npz."
        )
    path = Path(place) / name / f"{name}.npz"
    if not path.is_file():
        raise NacreError(f"There is no {path}. NACRE_DATA or `folder` must lead to it.")
    train, test = (Pictures(*read_npz(path, part)) for part in ("train", "test"))
    return ImageSplit(train, test, SCHEMAS[name])


def digits() -> ImageSplit:
    """The 1,797 handwritten digits that come with scikit-learn; a fifth is kept to score with.

    Examples:
        >>> train, test, schema = digits()
        >>> train.images.shape, test.images.shape, schema.shape
        ((1437, 8, 8), (360, 8, 8), (8, 8, 1))
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingExtra(
            "The digits come with scikit-learn, which is not installed: "
            "pip install 'nacre-dp[evaluate]'."
        ) from None
    found = load_digits()
    pixels = np.rint(found.images * (255 / 16)).astype(np.uint8)
    held = np.arange(len(pixels)) % HELD == 0
    train, test = (Pictures(pixels[part], found.target[part]) for part in (~held, held))
    return ImageSplit(train, test, DIGITS)


def celeba(
    folder: str | os.PathLike[str], *, label: str = "Male", size: int = 32, most: int | None = None
) -> ImageSplit:
    """CelebA (Liu et al., 2015) as papers use it: cut to 178 x 178, then to 32 x 32, one attribute.

    Args:
        folder: with `img_align_celeba/*.jpg` and `list_attr_celeba.txt` in it. The split is the
            official one, from `list_eval_partition.txt` if it is there.
        label: the attribute that is the class, "no" or "yes".
        size: height and width in the end.
        most: images to read of each part, at most.
    """
    place = Path(folder)
    schema = ImageSchema(
        height=size,
        width=size,
        channels=3,
        classes=("no", "yes"),
        label=label,
        crop=178,
        resize=True,
    )
    answers = _attribute(place / "list_attr_celeba.txt", label)
    parts = _partition(place / "list_eval_partition.txt", answers)
    train, test = (
        _faces(place / "img_align_celeba", [n for n in answers if parts[n] == part][:most],
               answers, schema)
        for part in ("0", "2")
    )  # fmt: skip
    return ImageSplit(train, test, schema)


def _attribute(path: Path, label: str) -> dict[str, str]:
    """For each file, whether the attribute is present."""
    lines = _lines(path)
    next(lines, None)  # how many there are
    names = next(lines, [])
    if label not in names:
        raise NacreError(f"{path} has no attribute '{label}'. It has: {', '.join(names)}.")
    place = names.index(label) + 1
    return {line[0]: "yes" if line[place] == "1" else "no" for line in lines}


def _partition(path: Path, files: dict[str, str]) -> dict[str, str]:
    """For each file 0 (training), 1 (validation) or 2 (test)."""
    if path.is_file():
        return {line[0]: line[1] for line in _lines(path)}
    numbers = {name: int(Path(name).stem) for name in files}
    return {
        name: "0" if n <= LAST_TRAINING_FACE else "2" if n >= FIRST_TEST_FACE else "1"
        for name, n in numbers.items()
    }


def _lines(path: Path) -> Iterator[list[str]]:
    if not path.is_file():
        raise NacreError(f"There is no {path}. The folder must hold CelebA's own files.")
    with path.open(encoding="utf-8") as file:
        yield from (line.split() for line in file if line.strip())


def _faces(
    folder: Path, names: list[str], answers: dict[str, str], schema: ImageSchema
) -> Pictures:
    pixels = np.zeros((len(names), *schema.shape), np.uint8)
    for place, name in enumerate(names):
        content = (folder / name).read_bytes() if (folder / name).is_file() else b""
        found = read_picture(content, schema)
        if found is None:
            raise NacreError(f"{folder / name} cannot be read as a picture.")
        pixels[place] = np.frombuffer(found, np.uint8).reshape(schema.shape)
    return Pictures(pixels, np.array([answers[name] for name in names], np.str_))
