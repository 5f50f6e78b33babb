"""A first layer by which each class has latent numbers of its own."""

from __future__ import annotations

import dataclasses
from typing import Any

from nacre.errors import NacreError
from nacre.nets.layers import WIDEST, AbstractLayer, Arrays


@dataclasses.dataclass(frozen=True)
class ByLabel(AbstractLayer):
    """Latent numbers in the place of their class, zero in all others, and the one-hot class.

    A linear layer behind it has a matrix and a bias for each class.  Where a label only adds a bias
    to the first layer, the classes share most of what the latent numbers mean.

    Attributes:
        latent: how many numbers come in, before the one-hot class.
        classes: how many there are.
    """

    kind = "by-label"
    latent: int
    classes: int

    def width(self, inputs: int) -> int:
        """A place for each latent number of each class, and one for each class."""
        if inputs != self.latent + self.classes:
            raise NacreError(
                f"A layer for {self.latent} numbers and {self.classes} classes follows one of "
                f"{inputs} outputs."
            )
        found = (self.latent + 1) * self.classes
        if found > WIDEST:
            raise NacreError("A layer by label that is larger than any made here.")
        return found

    def __call__(self, arrays: Arrays, x: Any, xp: Any) -> Any:
        """(z of class 1, ..., z of class C, y)."""
        z, y = x[:, : self.latent], x[:, self.latent :]
        own = (y[:, :, None] * z[:, None, :]).reshape(len(x), -1)
        return xp.concatenate([own, y], axis=1)
