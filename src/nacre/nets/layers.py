"""Networks as plain data: a list of layers, and arrays for each of them.

The same few lines run under JAX, to train, and under NumPy, to sample: `xp` is the one or the
other.  So a model file holds an architecture in JSON and arrays by their path, and drawing rows
from it needs no JAX.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError

Arrays = Mapping[str, Any]
SMALL = 1e-5  # added to variances
LARGEST = 100.0  # no trained weight may be larger: so nothing overflows, whatever the rates
WIDEST = 1 << 20  # of a layer that a file may ask for


@dataclasses.dataclass(frozen=True)
class AbstractLayer(abc.ABC):
    """One layer: what its arrays are, and what it does to a batch (n, inputs)."""

    kind: ClassVar[str]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays that are trained."""
        return {}

    def fixed(self) -> dict[str, tuple[int, ...]]:
        """The arrays that are set when training has ended."""
        return {}

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Where training starts."""
        return {}

    def width(self, inputs: int) -> int:
        """The width of what comes out, for an input of a width; refuses others."""
        return inputs

    @abc.abstractmethod
    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """What comes out."""


@dataclasses.dataclass(frozen=True)
class Linear(AbstractLayer):
    """A matrix product, and a bias unless there is to be none."""

    kind = "linear"
    inputs: int
    outputs: int
    bias: bool = True

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Weight (inputs, outputs), bias."""
        found: dict[str, tuple[int, ...]] = {"weight": (self.inputs, self.outputs)}
        return found | ({"bias": (self.outputs,)} if self.bias else {})

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Uniform within one over the square root of the inputs."""
        reach = 1 / math.sqrt(max(self.inputs, 1))
        return {
            name: rng.uniform(-reach, reach, shape).astype(np.float32)
            for name, shape in self.shapes().items()
        }

    def width(self, inputs: int) -> int:
        """The outputs."""
        if inputs != self.inputs:
            raise NacreError(f"A layer for {self.inputs} inputs follows one of {inputs} outputs.")
        return self.outputs

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """x W + b."""
        product = x @ arrays["weight"]
        return product + arrays["bias"] if self.bias else product


@dataclasses.dataclass(frozen=True)
class AbstractNorm(AbstractLayer):
    """Places to mean 0 and variance 1, then scaled and shifted."""

    size: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Scale and shift."""
        return {"scale": (self.size,), "shift": (self.size,)}

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Scale one, shift zero."""
        return {"scale": np.ones(self.size, np.float32), "shift": np.zeros(self.size, np.float32)}

    def width(self, inputs: int) -> int:
        """As it was."""
        if inputs != self.size:
            raise NacreError(f"A norm of {self.size} places follows a layer of {inputs} outputs.")
        return inputs


@dataclasses.dataclass(frozen=True)
class BatchNorm(AbstractNorm):
    """Each place over the batch.

    For networks that see generated rows only: it couples the rows of a batch.  When training has
    ended, `freeze` sets the mean and variance that samples are drawn with.
    """

    kind = "batch-norm"

    def fixed(self) -> dict[str, tuple[int, ...]]:
        """Mean and variance."""
        return {"mean": (self.size,), "variance": (self.size,)}

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """By the arrays' own mean and variance if they have them, else by the batch's."""
        known = "mean" in arrays
        mean = arrays["mean"] if known else x.mean(axis=0)
        variance = arrays["variance"] if known else x.var(axis=0)
        return (x - mean) / xp.sqrt(variance + SMALL) * arrays["scale"] + arrays["shift"]


@dataclasses.dataclass(frozen=True)
class LayerNorm(AbstractNorm):
    """Each row over its places: couples no rows."""

    kind = "layer-norm"

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """Over the last axis."""
        mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        return (x - mean) / xp.sqrt(variance + SMALL) * arrays["scale"] + arrays["shift"]


@dataclasses.dataclass(frozen=True)
class LeakyReLU(AbstractLayer):
    """The larger of x and slope * x; slope 0 is ReLU."""

    kind = "leaky-relu"
    slope: float = 0.0

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """Elementwise."""
        return xp.where(x > 0, x, self.slope * x)


@dataclasses.dataclass(frozen=True)
class Tanh(AbstractLayer):
    """The hyperbolic tangent."""

    kind = "tanh"

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """Elementwise."""
        return xp.tanh(x)


@dataclasses.dataclass(frozen=True)
class Residual(AbstractLayer):
    """x + f(x), f being layers of their own; their arrays are named '0/weight' and so on."""

    kind = "residual"
    layers: tuple[AbstractLayer, ...]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the layers inside."""
        return _within(layer.shapes() for layer in self.layers)

    def fixed(self) -> dict[str, tuple[int, ...]]:
        """Those of the layers inside."""
        return _within(layer.fixed() for layer in self.layers)

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Those of the layers inside."""
        return _within([layer.start(rng) for layer in self.layers])

    def width(self, inputs: int) -> int:
        """As it was: the layers inside have to end where they began."""
        if widths(self.layers, inputs) != inputs:
            raise NacreError("What is added to a layer's input must be as wide as the input.")
        return inputs

    def inside(self, arrays: Arrays) -> list[Arrays]:
        """The arrays of each layer inside."""
        return [
            {name.partition("/")[2]: value for name, value in arrays.items() if _at(name) == place}
            for place in range(len(self.layers))
        ]

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """x + f(x)."""
        return x + run(self.layers, self.inside(arrays), x, xp)


KINDS: dict[str, type[AbstractLayer]] = {
    layer.kind: layer for layer in (Linear, BatchNorm, LayerNorm, LeakyReLU, Tanh, Residual)
}


def run(layers: Sequence[AbstractLayer], arrays: Sequence[Arrays], x: Any, xp: Any) -> Any:
    """A batch through all layers, under JAX's NumPy or NumPy itself."""
    for layer, own in zip(layers, arrays, strict=True):
        x = layer(own, x, xp)
    return x


def start(
    layers: Sequence[AbstractLayer], rng: np.random.Generator
) -> list[dict[str, NDArray[np.float32]]]:
    """Where training starts, a dictionary a layer."""
    return [layer.start(rng) for layer in layers]


def freeze(
    layers: Sequence[AbstractLayer], arrays: Sequence[Arrays], x: Any
) -> list[dict[str, NDArray[np.float32]]]:
    """The arrays as NumPy's, the statistics of batch norms set to those of the batch `x`."""
    found = []
    for layer, own in zip(layers, arrays, strict=True):
        plain = {name: np.asarray(value, np.float32) for name, value in own.items()}
        if isinstance(layer, BatchNorm):
            plain |= {"mean": x.mean(axis=0), "variance": x.var(axis=0)}
        elif isinstance(layer, Residual):
            plain = _within(freeze(layer.layers, layer.inside(plain), x))
        x = layer(plain, x, np)
        found.append(plain)
    return found


def size(layers: Sequence[AbstractLayer]) -> int:
    """How many weights are trained."""
    return sum(math.prod(shape) for layer in layers for shape in layer.shapes().values())


def widths(layers: Sequence[AbstractLayer], inputs: int) -> int:
    """The width of what comes out; refuses layers that do not fit together."""
    for layer in layers:
        inputs = layer.width(inputs)
    return inputs


def mlp(
    *sizes: int, slope: float = 0.0, batch_norm: bool = False, bias: bool = True
) -> tuple[AbstractLayer, ...]:
    """Linear layers of these sizes, with a leaky ReLU (and a batch norm before it) between.

    Examples:
        >>> len(mlp(12, 40, 20, 10, batch_norm=True))
        7
    """
    layers: list[AbstractLayer] = []
    for inputs, outputs in itertools.pairwise(sizes[:-1]):
        layers += [Linear(inputs, outputs, bias), *([BatchNorm(outputs)] if batch_norm else [])]
        layers.append(LeakyReLU(slope))
    return (*layers, Linear(sizes[-2], sizes[-1], bias))


# -- files -------------------------------------------------------------------------------------


def to_json(layers: Sequence[AbstractLayer]) -> list[dict[str, Any]]:
    """The architecture as plain data."""
    found = []
    for layer in layers:
        facts = {field.name: getattr(layer, field.name) for field in dataclasses.fields(layer)}
        if isinstance(layer, Residual):
            facts["layers"] = to_json(layer.layers)
        found.append({"kind": layer.kind, **facts})
    return found


def from_json(said: Sequence[Mapping[str, Any]], depth: int = 0) -> tuple[AbstractLayer, ...]:
    """The inverse of `to_json`; raises ValueError for what is no architecture."""
    if depth > 3 or len(said) > 100:
        raise NacreError("An architecture of more layers than any that is made here.")
    layers = []
    for each in said:
        facts = dict(each)
        kind = _kind(facts.pop("kind"))
        if kind is Residual:
            facts["layers"] = from_json(facts["layers"], depth + 1)
        else:
            for name, value in facts.items():
                _check_fact(name, value)
        layers.append(kind(**facts))
    return tuple(layers)


def _kind(name: str) -> type[AbstractLayer]:
    if name == "convolution":
        from nacre.nets.conv import Convolution

        return Convolution
    if name == "beside":
        from nacre.nets.beside import Beside

        return Beside
    if name == "by-label":
        from nacre.nets.by_label import ByLabel

        return ByLabel
    if name == "sampling":
        from nacre.nets.sampling import Sampling

        return Sampling
    return KINDS[name]


def _check_fact(name: str, value: Any) -> None:
    """Refuse what a file says of a layer unless it has the type and the range that it needs."""
    if name == "bias":
        good = isinstance(value, bool)
    elif name == "slope":
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    else:
        good = type(value) is int and 1 <= value <= WIDEST
    if not good:
        raise NacreError(f"A layer cannot have {name}={value!r}.")


def to_arrays(arrays: Sequence[Arrays]) -> dict[str, NDArray[np.float32]]:
    """All arrays by path: '0.weight', '2.0/bias'."""
    return {
        f"{place}.{name.replace('/', '-')}": np.asarray(value, np.float32)
        for place, own in enumerate(arrays)
        for name, value in own.items()
    }


def from_arrays(
    layers: Sequence[AbstractLayer], arrays: Mapping[str, NDArray[Any]]
) -> list[dict[str, NDArray[np.float32]]]:
    """The inverse of `to_arrays`; raises ValueError unless all are there, finite and in shape."""
    found = []
    for place, layer in enumerate(layers):
        own = {}
        for name, shape in (layer.shapes() | layer.fixed()).items():
            value = np.asarray(arrays[f"{place}.{name.replace('/', '-')}"], np.float32)
            if value.shape != shape or not np.isfinite(value).all():
                raise NacreError(f"Layer {place} has a {name} of another shape, or not finite.")
            if name.endswith("variance") and (value < 0).any():
                raise NacreError(f"Layer {place} has a negative variance.")
            own[name] = value
        found.append(own)
    return found


def _at(name: str) -> int:
    return int(name.partition("/")[0])


def _within(parts: Any) -> dict[str, Any]:
    """Dictionaries of the layers inside a layer as one, names led by their place."""
    return {
        f"{place}/{name}": value for place, own in enumerate(parts) for name, value in own.items()
    }
