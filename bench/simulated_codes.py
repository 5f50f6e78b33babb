"""How often a bought look-up table is wrong: codes of Zipf's law, counts with noise, many draws.

By rows and by codes, for codes that stand in the order of their groups and in any order, and the
same by the largest count alone.
"""

import argparse

import numpy as np

from nacre.draft.likeliest import likeliest
from nacre.vault.gaussian_dp import gaussian_mu

DELTA = 1e-7
CASES = ((10_000, 50, 10), (100_000, 50, 10), (100_000, 500, 20))  # rows, codes, groups


def draw(
    rng: np.random.Generator, shape: tuple[int, int, int], noise: float, *, ordered: bool
) -> list[float]:
    """Shares of rows and of codes in a wrong group: by `likeliest`, then by the largest count."""
    rows, codes, groups = shape
    sizes = 1 / rng.permutation(np.arange(1, codes + 1))
    held = rng.multinomial(rows, sizes / sizes.sum())
    truth = rng.integers(0, groups, codes)
    truth = np.sort(truth) if ordered else truth
    counts = rng.normal(0, noise, (codes, groups))
    counts[np.arange(codes), truth] += held
    found, _ = likeliest(counts, noise, np.ones(groups, bool))
    wrong = (found != truth, counts.argmax(axis=1) != truth)
    return [share for each in wrong for share in (held[each].sum() / rows, each.mean())]


def main(arguments: list[str]) -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(prog="python -m bench simulated-codes")
    parser.add_argument("--epsilons", default="0.05,0.1,0.2,0.3")
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args(arguments)
    for shape in CASES:
        for epsilon in map(float, options.epsilons.split(",")):
            noise = 1 / gaussian_mu(epsilon, DELTA)
            for ordered in (True, False):
                rng = np.random.default_rng(0)
                drawn = [draw(rng, shape, noise, ordered=ordered) for _ in range(options.draws)]
                rows, codes, plain_rows, plain_codes = np.mean(drawn, axis=0)
                print(
                    f"{shape} ε {epsilon:g} {'in order' if ordered else 'in any order'}: rows "
                    f"{rows:.1%}, codes {codes:.0%}; largest count {plain_rows:.1%}, "
                    f"{plain_codes:.0%}",
                    flush=True,
                )
