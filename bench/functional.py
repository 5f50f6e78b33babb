"""The functional mechanism's three forms on a toy in the plane, and two of them on Adult.

python -m bench functional [--only toy] [--forms B]: everything at delta 1e-5, add-remove.
"""

import argparse
import time
import warnings

import numpy as np

from bench.adult import official
from nacre.fit import fit
from nacre.methods.functional.functional import Functional
from nacre.methods.merf import MERF
from nacre.schema import Categorical, Real, Schema

PLANE = Schema(
    {
        "x": Real(low=0, high=1),
        "y": Real(low=0, high=1),
        "side": Categorical(values=("in", "out")),
    },
    label="side",
)
TOY = {
    "A, exact": Functional(release="exact", points=60, widths=3, steps=500, sample=1000),
    "B, features": Functional(
        release="features", frequencies_on="row", widths=3, steps=500, sample=1000, batch=120
    ),
    "C, one-shot, network": Functional(
        frequencies_on="row", widths=3, generator="network", steps=500
    ),
    "C, one-shot, mixture": Functional(),
}
ADULT = {
    "B, features, rows": Functional(release="features", frequencies_on="row", widths=3),
    "B, features, pairs": Functional(release="features", high=20.0),
    "C, one-shot, network": Functional(generator="network"),
    "C, one-shot, mixture": Functional(),
    "DP-MERF, network": MERF.as_published(),
}


def ring(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Class 'out' on a ring, class 'in' in two spots within it."""
    out = rng.random(n) < 0.6
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.normal(0.4, 0.02, n)
    circle = 0.5 + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    spots = np.where(rng.random((n, 1)) < 0.3, [0.4, 0.6], [0.6, 0.4])
    spots = spots + rng.normal(0, 0.03, (n, 2))
    return np.clip(np.where(out[:, None], circle, spots), 0, 1), out.astype(int)


def distance(a: np.ndarray, b: np.ndarray, width: float = 0.1) -> float:
    """The unbiased squared kernel distance of two sets of points, its root; at least 0."""

    def mean(x: np.ndarray, y: np.ndarray, same: bool) -> float:
        k = np.exp(-0.5 * ((x[:, None] - y[None]) ** 2).sum(2) / width**2)
        return float((k.sum() - len(x)) / (len(x) * (len(x) - 1)) if same else k.mean())

    return float(np.sqrt(max(0.0, mean(a, a, True) + mean(b, b, True) - 2 * mean(a, b, False))))


def toy(method: Functional, epsilon: float, seed: int, rows: int = 5000) -> dict[str, float]:
    """Kernel distance to fresh points of the same law, by class, and CPU seconds."""
    rng = np.random.default_rng(seed)
    points, side = ring(rows, rng)
    table = PLANE.decode(PLANE.layout.from_units(points, side[:, None]))
    start = time.process_time()
    model = fit(table, PLANE, method=method, epsilon=epsilon, delta=1e-5, seed=seed)
    seconds = time.process_time() - start
    drawn = PLANE.encode(model.sample_arrow(2000, seed=seed))
    fresh, other = ring(2000, rng)
    found = {
        f"distance, {name}": distance(
            drawn.units()[drawn.codes[:, 0] == place], fresh[other == place]
        )
        for place, name in enumerate(("in", "out"))
    }
    return found | {"cpu_seconds": seconds}


def show(title: str, rows: dict[str, dict[str, float]]) -> None:
    """A table in Markdown."""
    names = list(next(iter(rows.values())))
    print(f"\n{title}\n\n| form | {' | '.join(names)} |\n|{' --- |' * (len(names) + 1)}")
    for form, found in rows.items():
        print(f"| {form} | {' | '.join(f'{found[name]:.3g}' for name in names)} |", flush=True)


def main(arguments: list[str]) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench functional")
    parser.add_argument("--only", choices=["toy", "adult"])
    parser.add_argument("--forms", default="", help="only forms whose names begin so, such as B")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    toys = {name: method for name, method in TOY.items() if name.startswith(options.forms)}
    tables = {name: method for name, method in ADULT.items() if name.startswith(options.forms)}
    if options.only != "adult" and toys:
        rows = {name: toy(method, options.epsilon, options.seed) for name, method in toys.items()}
        show(f"5,000 points in the plane, epsilon {options.epsilon:g}", rows)
    if options.only != "toy" and tables:
        rows = {
            name: official(method, options.seed, options.epsilon) for name, method in tables.items()
        }
        show(f"Adult, official split, epsilon {options.epsilon:g}", rows)
