"""What a fitted PPEM is: a generator of x', one of x* given x', and the energies of x'."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.methods.ppem.parts import Part, Parts
from nacre.methods.ppem.scaling import KNOTS, Scaling
from nacre.nets.generator import AbstractGenerator
from nacre.nets.layers import (
    AbstractLayer,
    Arrays,
    LeakyReLU,
    Linear,
    from_arrays,
    from_json,
    run,
    to_arrays,
    to_json,
    widths,
)
from nacre.schema import Encoded, Layout
from nacre.schema.protected import Protected, as_sets

CHUNK = 1 << 13  # rows that are drawn at once
MOST_SETS = 1000
LARGEST = 1e6  # of a standardized value


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Net:
    """Layers with their arrays, frozen; none of either where there is nothing to generate."""

    layers: tuple[AbstractLayer, ...]
    arrays: Sequence[Arrays]

    @classmethod
    def of(cls, layers: tuple[AbstractLayer, ...], arrays: Sequence[Any]) -> Self:
        """From JAX's arrays."""
        plain = [{name: np.asarray(v, np.float32) for name, v in own.items()} for own in arrays]
        return cls(layers, tuple(plain))

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """A batch through all layers."""
        found: NDArray[np.float32] = run(self.layers, self.arrays, x, np)
        return found

    def score(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Minus the gradient of the one output at each row: of linear layers and leaky ReLUs."""
        steps, value = [], np.asarray(x, np.float32)
        for layer, own in zip(self.layers, self.arrays, strict=True):
            steps.append((layer, own, value))
            value = layer(own, value, np)
        found = -np.ones((len(x), 1))
        for layer, own, value in reversed(steps):
            if isinstance(layer, LeakyReLU):
                found = found * np.where(value > 0, 1.0, layer.slope)
            else:
                found = found @ own["weight"].T.astype(np.float64)
        return found

    def check(self, inputs: int, outputs: int) -> None:
        """Refuse layers that do not lead from so many inputs to so many outputs."""
        if widths(self.layers, inputs) != outputs:
            raise NacreError("A network of the generator was made for another layout.")


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class PPEMGenerator(AbstractGenerator):
    """Two trained networks in a row; sampling is NumPy alone.

    Attributes:
        layout: of the rows.
        sets: the protected sets of columns.
        scaling: how numbers were standardized.
        latent: how many standard normal numbers go into each network.
        marginal: from latent numbers to x'.
        conditional: from latent numbers and x' to x*.
        energies: of the sets in their order, then of their union: for tests of alpha-LMDP.
    """

    layout: Layout
    sets: tuple[Protected, ...]
    scaling: Scaling
    latent: int
    marginal: Net
    conditional: Net
    energies: tuple[Net, ...]

    @property
    def parts(self) -> Parts:
        """Which columns are x' and x*."""
        return Parts.of(self.layout, self.sets)

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw x', then x* given x'."""
        ticks = np.zeros((n, len(self.layout.numbers)), np.int64)
        codes = np.zeros((n, len(self.layout.codes)), np.int32)
        for at in range(0, n, CHUNK):
            part = slice(at, min(n, at + CHUNK))
            parted, codes[part] = self._chunk(part.stop - part.start, rng)
            for own, numbers in parted:  # when the label, which maps may follow, is known
                units = self.scaling.backward(numbers, own.numbers, self._groups(codes[part]))
                limits = self.layout.limits[list(own.numbers)]
                ticks[part, own.numbers] = np.clip(np.rint(units * limits), 0, limits)
        return self.layout.encoded(ticks, codes)

    def standardized(
        self, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The numbers of x* of some rows before the maps back, means of classes added; codes."""
        own = list(self.parts.rest.numbers)
        found = []
        for at in range(0, n, CHUNK):
            parted, codes = self._chunk(min(CHUNK, n - at), rng)
            found.append((parted[-1][1] + self.scaling.means[self._groups(codes)][:, own], codes))
        numbers, codes = (np.concatenate(each) for each in zip(*found, strict=True))
        return numbers, codes

    def _chunk(
        self, count: int, rng: np.random.Generator
    ) -> tuple[list[tuple[Part, NDArray[np.float64]]], NDArray[np.int32]]:
        """Standardized numbers of both parts, and all codes."""
        hidden, rest = self.parts
        codes = np.zeros((count, len(self.layout.codes)), np.int32)
        condition, parted = np.zeros((count, 0), np.float32), []
        for own, net in ((hidden, self.marginal), (rest, self.conditional)):
            if own.width:
                latent = rng.standard_normal((count, self.latent), np.float32)
                outputs = net(np.concatenate([latent, condition], axis=1))
                numbers, found, condition = drawn(own, outputs, latent, rng)
                codes[:, own.codes] = found
                parted.append((own, numbers))
        return parted, codes

    def _groups(self, codes: NDArray[np.int32]) -> NDArray[Any]:
        """The class of each row, of which the mean was taken off."""
        label = self.scaling.label
        return np.zeros(len(codes), np.int64) if label is None else codes[:, label]

    # -- what a test of alpha-LMDP needs -------------------------------------------------------

    def hidden_scores(
        self, rows: Any
    ) -> tuple[tuple[NDArray[np.float32], Callable[[Any], NDArray[np.float64]]], ...]:
        """For each protected set the points of some rows, and the score of the set's energy.

        Zeros and ones are as they are, without noise on them.
        """
        import jax

        hidden = self.parts.hidden
        points = np.asarray(jax.vmap(lambda row: hidden.of(row, self.scaling))(rows), np.float32)
        return tuple(
            (points[:, hidden.places(one.columns)], energy.score)
            for one, energy in zip(self.sets, self.energies, strict=False)
        )

    # -- files ---------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Architectures as JSON, arrays led by the name of their network."""
        nets = self._nets()
        arrays: dict[str, NDArray[Any]] = {
            "positions": self.scaling.positions,
            "values": self.scaling.values,
            "means": self.scaling.means,
        }
        for name, net in nets.items():
            own = to_arrays(net.arrays).items()
            arrays |= {f"{name}_{path}": value for path, value in own}
        config = {
            "sets": [str(one) for one in self.sets],
            "label": self.scaling.label,
            "latent": self.latent,
            "nets": {name: to_json(net.layers) for name, net in nets.items()},
        }
        return config, arrays

    def _nets(self) -> dict[str, Net]:
        energies = {f"energy{place}": net for place, net in enumerate(self.energies)}
        return {"marginal": self.marginal, "conditional": self.conditional, **energies}

    @classmethod
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
    ) -> Self:
        """The inverse of `state`."""
        layout, latent, said = encoder.layout, config["latent"], config["sets"]
        if type(latent) is not int or not 1 <= latent <= 10_000:
            raise NacreError("A network needs some latent numbers.")
        if not isinstance(said, list) or len(said) > MOST_SETS:
            raise NacreError("The generator does not list its protected sets.")
        sets = as_sets([str(one) for one in said], 0.05)
        nets = {}
        for name, facts in config["nets"].items():
            layers, lead = from_json(facts), f"{name}_"
            own = {p.removeprefix(lead): v for p, v in arrays.items() if p.startswith(lead)}
            nets[name] = Net(layers, from_arrays(layers, own))
        found = cls(
            layout=layout,
            sets=sets,
            scaling=_scaling(config["label"], arrays, layout),
            latent=latent,
            marginal=nets.pop("marginal"),
            conditional=nets.pop("conditional"),
            energies=tuple(nets[f"energy{place}"] for place in range(len(nets))),
        )
        found._check()
        return found

    def _check(self) -> None:
        """Refuse networks that do not fit the layout and each other."""
        hidden, rest = self.parts
        names = {name for one in self.sets for name in one.columns}
        if names != set(hidden.columns):
            raise NacreError("The generator protects columns that the layout does not have.")
        if hidden.width:
            self.marginal.check(self.latent, hidden.width)
        if rest.width:
            self.conditional.check(self.latent + hidden.width, rest.width)
        if len(self.energies) != len(self.sets) + (len(self.sets) > 1):
            raise NacreError("The generator has not one energy for each protected set.")
        seen = [len(hidden.places(one.columns)) for one in self.sets]
        if len(seen) > 1:
            seen.append(hidden.width)
        for energy, inputs in zip(self.energies, seen, strict=True):
            energy.check(inputs, 1)
            if not all(isinstance(layer, Linear | LeakyReLU) for layer in energy.layers):
                raise NacreError("An energy has layers of which no score can be computed.")


def drawn(
    part: Part,
    outputs: NDArray[np.float32],
    latent: NDArray[np.float32],
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float32]]:
    """Standardized numbers, codes, and the vector that the next network is given."""
    vector = part.vector
    _, codes = vector.draw(outputs, rng)
    numbers = part.numbers_from(outputs, latent, np)
    blocks = [
        codes[:, [place]] if width == 1 else codes[:, [place]] == np.arange(width)
        for place, _, width in vector.blocks
    ]
    return (
        numbers.astype(np.float64),
        codes,
        np.concatenate([numbers, *blocks], axis=1, dtype=np.float32, casting="unsafe"),
    )


def _scaling(label: Any, arrays: Mapping[str, NDArray[Any]], layout: Layout) -> Scaling:
    """The maps of a file, if they are some."""
    if label is not None and not (type(label) is int and 0 <= label < len(layout.codes)):
        raise NacreError("The label of the maps is none of the codes.")
    groups = 1 if label is None else layout.codes[label].size
    numbers = len(layout.numbers)
    shapes = {"positions": (numbers, KNOTS), "values": (numbers, KNOTS), "means": (groups, numbers)}
    tables = {name: np.asarray(arrays[name], np.float64) for name in shapes}
    for name, shape in shapes.items():
        table = tables[name]
        if table.shape != shape or not (np.abs(table) <= LARGEST).all():
            raise NacreError("The maps of the generator's numbers were made for another layout.")
        if name != "means" and (np.diff(table, axis=1) < 0).any():
            raise NacreError("The maps of the generator's numbers do not increase.")
    return Scaling(**tables, label=label)
