"""What PEARL's critic, which re-weights the frequencies, is good for."""

import dataclasses
from functools import partial

from bench.ablations.study import of_methods
from nacre.methods import AbstractMethod
from nacre.methods.pearl import PEARL

CRITICS = ("off", "scale", "free")


def pearl(critic: str, published: bool) -> AbstractMethod:
    """PEARL with one of the critics."""
    base = PEARL.as_published() if published else PEARL()
    return dataclasses.replace(base, critic=critic)


STUDY = of_methods(
    "PEARL's critic: off, a scale by coordinate, free weights",
    "With the mixture of our defaults and with the paper's network.",
    {
        f"{name}, {critic}": partial(pearl, critic, published)
        for name, published in (("mixture", False), ("network", True))
        for critic in CRITICS
    },
)
