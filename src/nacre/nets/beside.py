"""A first layer in two parts, each of which sees inputs of its own."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.nets.layers import AbstractLayer, Arrays


@dataclasses.dataclass(frozen=True)
class Beside(AbstractLayer):
    """Two matrix products side by side: of the first inputs, and of the others.

    Attributes:
        inputs: how many the first part sees.
        others: how many the second part sees.
        outputs: of each part.
    """

    kind = "beside"
    inputs: int
    others: int
    outputs: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The two weights, and a bias for both."""
        return {
            "weight": (self.inputs, self.outputs),
            "other": (self.others, self.outputs),
            "bias": (2 * self.outputs,),
        }

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Uniform within one over the square root of the inputs of a part."""
        reaches = {
            "weight": 1 / math.sqrt(self.inputs),
            "other": 1 / math.sqrt(self.others),
            "bias": 1 / math.sqrt(self.inputs + self.others),
        }
        return {
            name: rng.uniform(-reaches[name], reaches[name], shape).astype(np.float32)
            for name, shape in self.shapes().items()
        }

    def width(self, inputs: int) -> int:
        """Twice the outputs."""
        if inputs != self.inputs + self.others:
            raise NacreError(
                f"A layer for {self.inputs} and {self.others} inputs follows one of {inputs}."
            )
        return 2 * self.outputs

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """(x W, y V) + b."""
        first = x[..., : self.inputs] @ arrays["weight"]
        second = x[..., self.inputs :] @ arrays["other"]
        return xp.concatenate([first, second], axis=-1) + arrays["bias"]
