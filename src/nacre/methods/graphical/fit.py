"""The graphical model of least commitment that meets noisy marginals: Private-PGM, by `mbi`.

McKenna, Sheldon and Miklau (2019), "Graphical-model based estimation and inference for
differential privacy".
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nacre.errors import MissingExtra
from nacre.methods.graphical.tree import Network, Tree, align

Array = NDArray[np.float64]
Clique = tuple[int, ...]

LABEL = -1  # the class among the columns
MISSING = (
    "Marginals needs the package mbi (2.0 or later), which is not installed: "
    "pip install 'nacre-dp[marginals]'."
)


@dataclasses.dataclass(frozen=True)
class Measured:
    """Noisy counts (classes, bins of the columns), and the deviation of their noise."""

    columns: Clique
    counts: Array
    noise: Array


def require_mbi() -> Any:
    """The module `mbi`, or an error that says how to get it."""
    try:
        with warnings.catch_warnings():
            # About JAX's own settings, which are ours to choose.
            warnings.simplefilter("ignore")
            import mbi
    except ImportError:
        raise MissingExtra(MISSING) from None
    if not hasattr(mbi, "Estimator"):
        raise MissingExtra(MISSING)
    return mbi


class Graphical:
    """Bins of columns by class, and models of them; `sizes` are the columns' numbers of bins."""

    def __init__(self, sizes: Sequence[int], classes: int):
        self.mbi, self.classes = require_mbi(), classes
        self.attributes = (LABEL, *range(len(sizes))) if classes > 1 else tuple(range(len(sizes)))
        shape = (classes, *sizes) if classes > 1 else tuple(sizes)
        self.domain = self.mbi.Domain(self.attributes, shape)

    def megabytes(self, cliques: Sequence[Clique]) -> float:
        """How large a model over these cliques is, all tables of its junction tree together."""
        attributes = [self._clique(clique) for clique in cliques]
        return float(self.mbi.junction_tree.hypothetical_model_size(self.domain, attributes))

    def estimate(
        self, measured: Sequence[Measured], total: float, *, steps: int, start: Any = None
    ) -> Any:
        """The model whose marginals are nearest to what was measured; `start` from another."""
        import jax

        mbi = self.mbi
        with jax.enable_x64(True):
            data = tuple(
                mbi.LinearMeasurement(
                    np.asarray(m.counts, np.float64).reshape(-1),
                    self._clique(m.columns),
                    np.broadcast_to(m.noise, m.counts.shape).reshape(-1),
                )
                for m in measured
            )
            cliques = mbi.clique_utils.maximal_subset([m.clique for m in data])
            # Where the search for a step size starts.
            curvature = max(float(np.min(m.stddev)) ** -2 for m in data)
            loss = mbi.MarginalLossFn(cliques, _loss(), data, curvature)
            return mbi.estimation.MirrorDescent().estimate(
                self.domain, loss, total, iters=steps, warm_start=start, tol=1e-4
            )

    def network(self, model: Any) -> Network:
        """The model as a network of plain tables."""
        nodes = [self._clique(clique) for clique in model.potentials.cliques]
        graph, _ = self.mbi.junction_tree.make_junction_tree(self.domain, nodes)
        tree = Tree.of(
            [self._columns(node) for node in graph.nodes],
            [(self._columns(one), self._columns(other)) for one, other in graph.edges],
        )
        sizes = [[self.domain[c] for c in clique] for clique in tree.cliques]
        logs = [np.zeros([self.classes, *shape]) for shape in sizes]
        for clique in model.potentials.cliques:
            factor = model.potentials[clique]
            columns = self._columns(factor.domain.attributes)
            table = np.asarray(factor.values, np.float64)
            if self.classes == 1:
                table = table[None]
            else:
                table = np.moveaxis(table, factor.domain.attributes.index(LABEL), 0)
            place = tree.home(columns)
            logs[place] = logs[place] + align(table, columns, tree.cliques[place])
        return Network.of(tree, logs)

    def _clique(self, columns: Sequence[int]) -> Clique:
        """Columns as a clique of the model, the class among them."""
        known = tuple(c for c in columns if c != LABEL)
        return (LABEL, *known) if self.classes > 1 else known

    @staticmethod
    def _columns(clique: Sequence[int]) -> Clique:
        return tuple(c for c in clique if c != LABEL)


@functools.cache
def _loss() -> Any:
    """`_misfit`, compiled; always the same function, so that mbi's own compiling is not undone."""
    import jax

    return jax.jit(_misfit)


def _misfit(marginals: Any, data: Any) -> Any:
    """Half the squared errors over the noise's variances."""
    loss = 0.0
    for measured in data:
        error = marginals.project(measured.clique).datavector() - measured.noisy_measurement
        loss += 0.5 * ((error / measured.stddev) ** 2).sum()
    return loss
