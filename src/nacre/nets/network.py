"""A network as a generator of table rows: latent numbers and a label in, a row out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.nets.generator import AbstractGenerator
from nacre.nets.layers import (
    AbstractLayer,
    Arrays,
    from_arrays,
    from_json,
    run,
    to_arrays,
    to_json,
    widths,
)
from nacre.nets.modes import ModeSplit
from nacre.nets.vector import RowVector
from nacre.schema import Encoded

CHUNK = 1 << 13  # rows that are drawn at once
NARROWEST_SCALE, WIDEST_SCALE = 1e-6, 10.0  # of a number's range: what a file may standardize by


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class NetworkGenerator(AbstractGenerator):
    """A trained network; sampling is NumPy alone.

    Attributes:
        vector: what the outputs mean.
        layers: the architecture.
        arrays: of each layer, frozen.
        latent: how many standard normal numbers go in, before the label's one-hot.
        weights: the chance of each class, (classes,); one number without a label.
        sampled: whether codes are drawn from their chances, or the likeliest is taken.
        split: how numbers were split into modes, where they were: then `vector` is of split rows.
    """

    vector: RowVector
    layers: tuple[AbstractLayer, ...]
    arrays: Sequence[Arrays]
    latent: int
    weights: NDArray[np.float64]
    sampled: bool = True
    split: ModeSplit | None = None

    def given(self, fixed: Mapping[int, int]) -> Self | None:
        """Given its label; other codes are left to rejection."""
        label = self.vector.label
        if label is None or label not in fixed:
            return None
        weights = np.zeros(len(self.weights))
        weights[fixed[label]] = 1.0
        return dataclasses.replace(self, weights=weights)

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows; classes are stratified, so that their shares come out as they are."""
        vector, layout = self.vector, self.vector.layout
        classes = self.classes(n, rng)
        ticks = np.zeros((n, vector.numbers), np.int64)
        codes = np.zeros((n, len(layout.codes)), np.int32)
        for at in range(0, n, CHUNK):
            part = slice(at, min(n, at + CHUNK))
            inputs = latent_inputs(classes[part], len(self.weights), self.latent, rng)
            outputs = run(self.layers, self.arrays, inputs, np)
            ticks[part], codes[part] = vector.draw(outputs, rng, sampled=self.sampled)
        if vector.label is not None:
            codes[:, vector.label] = classes
        drawn = layout.encoded(ticks, codes)
        return drawn if self.split is None else self.split.backward(drawn)

    def classes(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The class of each of n rows, systematically sampled and then shuffled."""
        ends = np.cumsum(self.weights) / self.weights.sum()
        places = (np.arange(n) + rng.random()) / max(n, 1)
        found = np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)
        rng.shuffle(found)
        return found

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The architecture as JSON, arrays by path."""
        arrays: dict[str, NDArray[Any]] = {"weights": np.asarray(self.weights)}
        arrays |= to_arrays(self.arrays)
        if self.vector.scale is not None:
            arrays["scale"] = np.array(self.vector.scale).reshape(-1, 2)
        places = None
        if self.split is not None:
            places, arrays["modes"] = self.split.state()
        config = {
            "layers": to_json(self.layers),
            "latent": self.latent,
            "label": self.vector.label,
            "single": self.vector.single,
            "sampled": self.sampled,
            "modes": places,
        }
        return config, arrays

    @classmethod
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
    ) -> Self:
        """The inverse of `state`."""
        label, latent = config["label"], config["latent"]
        layout, layers, split = encoder.layout, from_json(config["layers"]), None
        if config["modes"] is not None:
            split = ModeSplit.restore(config["modes"], arrays, layout)
        if type(latent) is not int or not 1 <= latent <= 10_000:
            raise NacreError("A network needs some latent numbers.")
        if not all(isinstance(config[name], bool) for name in ("single", "sampled")):
            raise NacreError("A network says 'single' and 'sampled' by true or false.")
        if label is not None and not (type(label) is int and 0 <= label < len(layout.codes)):
            raise NacreError("The label of a network is none of the codes.")
        layout = split.layout if split else layout
        vector = RowVector(layout, label, config["single"], _scale(arrays, len(layout.numbers)))
        weights = np.asarray(arrays["weights"], np.float64)
        good = np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0
        if weights.shape != (vector.classes,) or not good:
            raise NacreError("The network's classes have no chances that could be.")
        if widths(layers, input_width(latent, len(weights))) != vector.width:
            raise NacreError("The network was made for another layout.")
        return cls(
            vector=vector,
            layers=layers,
            arrays=from_arrays(layers, arrays),
            latent=latent,
            weights=weights,
            sampled=config["sampled"],
            split=split,
        )


def _scale(arrays: Mapping[str, Any], numbers: int) -> tuple[tuple[float, float], ...] | None:
    """How the numbers of a file were standardized, if they were."""
    if "scale" not in arrays:
        return None
    found = np.asarray(arrays["scale"], np.float64)
    inside = found.shape == (numbers, 2) and (np.abs(found) <= WIDEST_SCALE).all()
    if not (inside and (found[:, 1] >= NARROWEST_SCALE).all()):
        raise NacreError("The network's numbers were standardized for another layout.")
    return tuple((float(mean), float(deviation)) for mean, deviation in found)


def input_width(latent: int, classes: int) -> int:
    """How many numbers go into a network: the latent ones, and a one-hot label if there is one."""
    return latent + (classes if classes > 1 else 0)


def latent_inputs(
    classes: NDArray[np.int64], number: int, latent: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Standard normal numbers, and the one-hot class of each row where there is a label."""
    found = rng.standard_normal((len(classes), latent), np.float32)
    if number == 1:
        return found
    return np.concatenate([found, np.eye(number, dtype=np.float32)[classes]], axis=1)
