"""PPEM's study of its statistic: a mixture of five normals, 10,000 sets of 128 rows (Figure 2).

The paper gives the mixture of the null hypothesis (its Appendix C.1) and says of the other only
that its parameters differ.  Here it is the same mixture with every mean 0.35 higher: a difference
that 128 rows show now and then, so that powers can be told apart.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2, norm

from nacre.evaluate.lmdp.stein import stein_kernel
from nacre.evaluate.metrics.mmd import median_distance

RESULTS = Path(__file__).parent / "results" / "lmdp.json"
DRAWS, ROWS, LEVEL, PLACES = 10_000, 128, 0.05, 16


@dataclasses.dataclass(frozen=True)
class Mixture:
    """Normals of equal weight on the line."""

    means: tuple[float, ...]
    variances: tuple[float, ...]

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Rows."""
        which = rng.integers(0, len(self.means), shape)
        deviations = np.sqrt(self.variances)
        return np.asarray(np.array(self.means)[which] + deviations[which] * rng.normal(size=shape))

    def _parts(self, x: np.ndarray) -> np.ndarray:
        apart, variances = x[..., None] - np.array(self.means), np.array(self.variances)
        return np.asarray(-0.5 * apart**2 / variances - 0.5 * np.log(2 * np.pi * variances))

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """Its logarithm."""
        return np.asarray(logsumexp(self._parts(x), axis=-1) - np.log(len(self.means)))


MIXTURE = Mixture(
    (6.9734, 7.1579, 2.4358, 9.2579, 3.0420), (0.2622, 0.9046, 0.4533, 0.0773, 0.7823)
)
ALTERNATIVE = Mixture(tuple(mean + 0.35 for mean in MIXTURE.means), MIXTURE.variances)


def score(x: np.ndarray, mixture: Mixture) -> np.ndarray:
    """The gradient of the log density."""
    parts = mixture._parts(x)
    shares = np.exp(parts - logsumexp(parts, axis=-1, keepdims=True))
    slopes = (np.array(mixture.means) - x[..., None]) / np.array(mixture.variances)
    return np.asarray((shares * slopes).sum(-1))


def study(
    null: Mixture, other: Mixture, *, draws: int, rows: int, seed: int, places: int = PLACES
) -> dict[str, dict[str, float]]:
    """How often each statistic rejects at level 5%, of rows of the null and of the other mixture.

    `anchors` is the statistic that PPEM is trained with here: each row against public points, drawn
    once from a normal as wide as the mixture.
    """
    rng = np.random.default_rng(seed)
    width = median_distance(null.draw((500, 1), rng))  # one for all sets: it is public
    center = np.mean(null.means)
    anchors = rng.normal(center, 3.0, places)
    return {
        name: _rejections(mixture.draw((draws, rows), rng), null, width, anchors)
        for name, mixture in (("type I", null), ("power", other))
    }


def _rejections(x: np.ndarray, null: Mixture, width: float, places: np.ndarray) -> dict[str, float]:
    """Of sets of rows (draws, rows)."""
    u = _kernel(x[:, ::2], x[:, 1::2], null, width)
    v = np.mean([_kernel(x, np.full_like(x, place), null, width) for place in places], axis=0)
    pairs = u.shape[1]
    linear = np.sqrt(pairs) * u.mean(1) / u.std(1, ddof=1)
    return {
        "normalized": float(np.mean(_normalized(u) > chi2.isf(LEVEL, 1))),
        "linear": float(np.mean(linear > norm.isf(LEVEL))),
        "anchors": float(np.mean(_normalized(v) > chi2.isf(LEVEL, 1))),
    }


def _kernel(x: np.ndarray, y: np.ndarray, null: Mixture, width: float) -> np.ndarray:
    found = stein_kernel(
        x.reshape(-1, 1), y.reshape(-1, 1), lambda points: score(points[:, 0], null)[:, None], width
    )
    return found.reshape(x.shape)


def _normalized(u: np.ndarray) -> np.ndarray:
    """(N-1)(Σu)²/(N Σu²) of each set."""
    count = u.shape[1]
    return np.asarray((count - 1) * u.sum(1) ** 2 / (count * (u**2).sum(1)))


def main(arguments: list[str]) -> None:
    """Print and keep the rates."""
    parser = argparse.ArgumentParser(prog="python -m bench lmdp")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    found = study(MIXTURE, ALTERNATIVE, draws=options.draws, rows=ROWS, seed=options.seed)
    kept = {"draws": options.draws, "rows": ROWS, "level": LEVEL, "seed": options.seed, **found}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    for name, rates in found.items():
        said = ", ".join(f"{statistic} {rate:.4f}" for statistic, rate in rates.items())
        print(f"{name:7} {said}")
