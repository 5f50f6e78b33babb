"""One network for each class, as one generator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.nets.generator import AbstractGenerator
from nacre.nets.network import NetworkGenerator
from nacre.schema import Encoded


@final
@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class NetworksByClass(AbstractGenerator):
    """Trained networks, each of which draws the rows of its own class.

    Attributes:
        parts: the networks; all have the chances of all classes, and the part of a class is only
            ever asked for rows of that class.
    """

    parts: tuple[NetworkGenerator, ...]

    def given(self, fixed: Mapping[int, int]) -> Self | None:
        """Given the label; other codes are left to rejection."""
        found = [part.given(fixed) for part in self.parts]
        narrowed = tuple(part for part in found if part is not None)
        return dataclasses.replace(self, parts=narrowed) if len(narrowed) == len(found) else None

    def sample(self, n: int, rng: np.random.Generator) -> Encoded:
        """Draw rows; classes are stratified, then shuffled."""
        first = self.parts[0]
        classes = first.classes(n, rng)
        layout, label = first.vector.layout, first.vector.label
        ticks = np.zeros((n, len(layout.numbers)), np.int64)
        codes = np.zeros((n, len(layout.codes)), np.int32)
        for place, part in enumerate(self.parts):
            own = np.flatnonzero(classes == place)
            alone = None if label is None else part.given({label: place})
            if alone is not None and len(own):
                drawn = alone.sample(len(own), rng)
                ticks[own], codes[own] = drawn.ticks, drawn.codes
        return layout.encoded(ticks, codes)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Those of the networks, arrays led by the class."""
        states = [part.state() for part in self.parts]
        arrays = {
            f"{place}_{name}": value
            for place, (_, own) in enumerate(states)
            for name, value in own.items()
        }
        return {"parts": [config for config, _ in states]}, arrays

    @classmethod
    def restore(
        cls, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
    ) -> Self:
        """The inverse of `state`."""
        parts = []
        for place, own in enumerate(config["parts"]):
            lead = f"{place}_"
            named = {
                name.removeprefix(lead): value
                for name, value in arrays.items()
                if name.startswith(lead)
            }
            parts.append(NetworkGenerator.restore(own, named, encoder))
        labels = {part.vector.label for part in parts}
        if len(labels) != 1 or labels == {None} or len(parts) != parts[0].vector.classes:
            raise NacreError("Networks by class need one network for each value of one label.")
        return cls(parts=tuple(parts))
