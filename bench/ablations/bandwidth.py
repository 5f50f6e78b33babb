"""Whether to buy the bandwidth of the frequencies, and with how much of the budget."""

import dataclasses
from functools import partial

from bench.ablations.study import of_methods
from nacre.methods import AbstractMethod
from nacre.methods.pearl import PEARL

SHARES = (0.0, 0.05, 0.1, 0.2)


def pearl(share: float, published: bool) -> AbstractMethod:
    """PEARL with that share of the budget for the bandwidth; 0 for a public guess."""
    base = PEARL.as_published() if published else PEARL()
    return dataclasses.replace(base, bandwidth=share)


STUDY = of_methods(
    "The bandwidth: a public guess, or bought with a share of the budget",
    "PEARL, with the mixture of our defaults and with the paper's network; share 0 is public.",
    {
        f"{name}, share {share:g}": partial(pearl, share, published)
        for name, published in (("mixture", False), ("network", True))
        for share in SHARES
    },
)
