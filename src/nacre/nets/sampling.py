"""A first layer that sees a condition through a random code, as variational autoencoders do."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.errors import NacreError
from nacre.nets.layers import AbstractLayer, Arrays

REACH = 2.0  # logarithms of a code's spread lie within this: it never vanishes


@dataclasses.dataclass(frozen=True)
class Sampling(AbstractLayer):
    """Latent numbers z through a matrix, and beside them a normal code whose law follows from x.

    The code is m(x) + exp(s(x)) z with the first latent numbers as z (Kingma and Welling, 2014), so
    that the layers behind it have seen something around every x, and not just the x that there
    were.  s is bounded in place of a penalty: a code cannot become certain.

    Attributes:
        inputs: how many latent numbers there are, standard normal; at least as many as outputs.
        others: how many numbers the condition has.
        outputs: of the matrix, and of the code.
    """

    kind = "sampling"
    inputs: int
    others: int
    outputs: int

    def __post_init__(self) -> None:
        if self.outputs > self.inputs:
            raise NacreError(
                f"A code of {self.outputs} numbers needs as many latent ones, and there are "
                f"{self.inputs}: ask for more, or for narrower layers."
            )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The matrix, those of the code's means and spreads, and biases."""
        return {
            "weight": (self.inputs, self.outputs),
            "mean": (self.others, self.outputs),
            "spread": (self.others, self.outputs),
            "bias": (3 * self.outputs,),
        }

    def start(self, rng: np.random.Generator) -> dict[str, NDArray[np.float32]]:
        """Uniform within one over the square root of the inputs of a part."""
        inputs = {
            "weight": self.inputs,
            "mean": self.others,
            "spread": self.others,
            "bias": self.inputs + self.others,
        }
        return {
            name: (rng.uniform(-1, 1, shape) / math.sqrt(inputs[name])).astype(np.float32)
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
        """(z W, m(x) + exp(s(x)) z) + b."""
        latent, condition = x[..., : self.inputs], x[..., self.inputs :]
        bias, count = arrays["bias"], self.outputs
        spread = condition @ arrays["spread"] + bias[2 * count :]
        code = condition @ arrays["mean"] + bias[count : 2 * count]
        code = code + xp.exp(REACH * xp.tanh(spread / REACH)) * latent[..., :count]
        return xp.concatenate([latent @ arrays["weight"] + bias[:count], code], axis=-1)
