"""One published number for images, and where it stands."""

import dataclasses
from collections.abc import Iterator, Mapping

MNIST, FASHION = "mnist", "fashion_mnist"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What a paper says of one method on one data set.

    Attributes:
        method: its name there.
        source: the paper and its table.
        dataset: by its name in `nacre.datasets`.
        epsilon: None for real images.
        score: a metric of `nacre.evaluate` for images.
        value: as printed, but shares in [0, 1] and KID not times 1,000.
        classifier: that the score is of, if it is of one of the twelve.
        unsound: why its guarantee does not hold as published; "" if no reason is known here.
    """

    method: str
    source: str
    dataset: str
    epsilon: float | None
    score: str
    value: float
    classifier: str = ""
    unsound: str = ""


def both(values: tuple[float | None, float | None], **facts: float | str | None) -> Iterator[Row]:
    """The rows of a method on MNIST and Fashion-MNIST; None where the paper has no number."""
    for dataset, value in zip((MNIST, FASHION), values, strict=True):
        if value is not None:
            yield Row(dataset=dataset, value=value, **facts)  # type: ignore[arg-type]


UNSOUND: Mapping[str, str] = {
    "functional": "the noise is on values of a function, not on the slopes that train the "
    "generator, and values are read at private images: no ε holds",
    "autoencoder": "the encoder is fitted to the private images without noise",
}
