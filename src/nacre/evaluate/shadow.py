"""Shadow models: the method fitted again and again, with and without a row that is attacked.

An attacker who knows the method, its settings and all other rows can do that at home, and learn
what a synthetic table looks like when a certain row was in the data (Stadler, Oprisanu and
Troncoso, 2022, "Synthetic data: anonymisation groundhog day").  For the data holder only: its rows
are read and nothing is released.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from nacre.errors import NacreError
from nacre.evaluate.findings.finding import Finding
from nacre.evaluate.metrics.attack import Attack, epsilon_shown
from nacre.evaluate.tables.features import Features
from nacre.evaluate.tables.randomness import generator
from nacre.evaluate.tables.rows import Rows
from nacre.fit import fit
from nacre.methods import AbstractMethod, choose
from nacre.model import Model
from nacre.programs import shared_programs
from nacre.rows import TableEncoder, open_source
from nacre.schema import Schema
from nacre.vault import Adjacency

OTHERS = 200
"""Rows beside the target: few, as then one weighs most, and a fit is quick."""
CANDIDATES = 2_000
"""Rows among which the targets are looked for."""
RUNS = 12
"""Fits with the target, and as many without it."""
DRAWN = 400
PROVES = "That this attack fails proves nothing: a better one may exist."


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shadow:
    """What shadow models told of the targets.

    Attributes:
        targets: how many rows were attacked.
        fits: how many models were made.
        area: the chance that a table with the target scores above one without; 0.5 is guessing.
        error: its standard error.
        epsilon: that a guarantee must allow at least, at 95 % confidence; 0 if nothing is shown.
        claimed: the epsilon of the fits that were attacked.
    """

    targets: int
    fits: int
    area: float
    error: float
    epsilon: float
    claimed: float

    def finding(self) -> Finding:
        """The result in plain words, and what it does not mean."""
        told = (
            f"{self.fits} models were fitted with and without {self.targets} "
            f"{'row' if self.targets == 1 else 'rows'} that stand out, to learn what they leave "
            f"behind in a synthetic table; guessing which was which was right with an AUC of "
            f"{self.area:.2f} ± {self.error:.2f}, where 0.50 is chance."
        )
        if self.epsilon > self.claimed:
            return Finding(
                "avoid",
                "Privacy",
                f"Do not publish this table: {told} That takes an ε of {self.epsilon:.2f} at "
                f"least, where {self.claimed:.4g} is guaranteed.",
                111,
            )
        if self.area - 4 * self.error > 0.52:
            return Finding("care", "Privacy", f"Rows that stand out are exposed: {told}", 97)
        return Finding("note", "Privacy", f"{told} {PROVES}")


def shadow_attack(
    data: Any,
    schema: Schema,
    model: Model,
    *,
    targets: int = 3,
    runs: int = RUNS,
    seed: int = 0,
    on_progress: Callable[[str, float | None], None] = lambda stage, done: None,
) -> Shadow:
    """Attack the rows that stand out most, by fits of the model's method at its quick settings.

    Each target is put into a small table of other rows by turns; one half of the fits teaches the
    attacker, the other half is guessed at.

    Args:
        data: the private rows, as for `fit`.
        schema: of them.
        model: whose method, ε, δ and adjacency are attacked.
        targets: how many rows to attack, those farthest from all others.
        runs: fits with each target, and as many without.
        seed: of what is drawn.
        on_progress: called with a stage's name and the part done.
    """
    if targets < 1 or runs < 4:
        raise NacreError("A shadow-model attack needs a target and four runs of each world.")
    if not isinstance(model.encoder, TableEncoder) or schema.unit is not None:
        raise NacreError("Shadow models attack tables in which a row is a person; leave them out.")
    rng = generator(seed, "shadow models")
    rows, table = _rows(schema, data, rng)
    if len(rows) < targets + 20:
        raise NacreError("There are too few rows for a shadow-model attack; leave it out.")
    method = choose(_named(model.method), "table")[0].small()
    features = Features.of(rows)
    members, strangers = [], []
    with shared_programs():
        for place, target in enumerate(_outliers(rows, features, targets)):
            others = rng.permutation(np.delete(np.arange(len(rows)), target))[: OTHERS + 1]
            known = others[:-1]
            # Where the number of rows is public, another row takes the target's place.
            replaced = model.guarantee.adjacency is Adjacency.REPLACE_ONE
            worlds = [
                [
                    _seen(
                        method,
                        table.take(index),
                        schema,
                        model,
                        features,
                        rows.take(np.array([target])),
                    )
                    for _ in _watched(runs, place * 2 + world, 2 * targets, on_progress)
                ]
                for world, index in enumerate(
                    (others if replaced else known, np.append(known, target))
                )
            ]
            scores = _guesses(*(np.array(world) for world in worlds))
            strangers.append(scores[0])
            members.append(scores[1])
    attack = Attack("shadow models", np.concatenate(members), np.concatenate(strangers))
    area, error = attack.area()
    # Of few runs all may be right by luck, and look certain: no less than that of pure guessing.
    guessing = math.sqrt((2 * len(attack.members) + 1) / (12 * len(attack.members) ** 2))
    return Shadow(
        targets=targets,
        fits=2 * runs * targets,
        area=area,
        error=max(error, guessing),
        epsilon=epsilon_shown([attack]),
        claimed=model.guarantee.epsilon,
    )


def _rows(schema: Schema, data: Any, rng: np.random.Generator) -> tuple[Rows, pa.Table]:
    """Some rows that fit the schema, as integers and as they are."""
    parts, tables = [], []
    for batch in open_source(data, schema).whole():
        encoded = schema.encode(batch)
        parts.append(Rows.narrow(schema, encoded))
        tables.append(pa.Table.from_batches([batch]).filter(pa.array(np.asarray(encoded.valid))))
    if not parts:
        raise NacreError("The table has no rows to attack.")
    rows, table = Rows.collect(schema, parts), pa.concat_tables(tables)
    chosen = np.sort(rng.permutation(len(rows))[:CANDIDATES])
    return rows.take(chosen), table.take(pa.array(chosen))


def _outliers(rows: Rows, features: Features, many: int) -> np.ndarray:
    """The rows that are farthest from their nearest neighbor: those with most to lose."""
    x = features.matrix(rows, float(np.sqrt(0.5)))
    squares = (x * x).sum(1)
    nearest = np.empty(len(x))
    for start in range(0, len(x), 256):
        part = x[start : start + 256]
        apart = squares[start : start + 256, None] + squares - 2 * part @ x.T
        apart[np.arange(len(part)), start + np.arange(len(part))] = np.inf
        nearest[start : start + 256] = apart.min(1)
    return np.argsort(-nearest)[:many]


def _seen(
    method: AbstractMethod,
    table: pa.Table,
    schema: Schema,
    model: Model,
    features: Features,
    target: Rows,
) -> np.ndarray:
    """What the attacker sees of a fit: means of columns, and how near rows come to the target."""
    claim = model.guarantee
    cost: dict[str, Any] = {"epsilon": claim.epsilon}
    if claim.private:
        cost["delta"] = claim.delta
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows: they are meant to be few
        shadow = fit(table, schema, method=method, adjacency=claim.adjacency, **cost)
        drawn = shadow.sample_arrow(DRAWN)
    parts = [Rows.narrow(schema, schema.encode(batch)) for batch in drawn.to_batches()]
    x = features.matrix(Rows.collect(schema, parts), float(np.sqrt(0.5)))
    apart = np.sort(((x - features.matrix(target, float(np.sqrt(0.5)))) ** 2).sum(1))
    return np.concatenate([x.mean(0), apart[: len(apart) // 2 : 20], [apart.mean()]])


def _guesses(without: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the second half of the fits, by what the first half taught."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    half = len(without) // 2
    learnt = np.concatenate([without[:half], present[:half]])
    scale = StandardScaler().fit(learnt)
    truth = np.repeat([0, 1], half)
    judge = LogisticRegression(C=0.1, max_iter=1000).fit(scale.transform(learnt), truth)
    zeros, ones = (
        judge.decision_function(scale.transform(world[half:])) for world in (without, present)
    )
    return zeros, ones


def _watched(
    runs: int, place: int, of: int, on_progress: Callable[[str, float | None], None]
) -> Iterator[int]:
    for run in range(runs):
        on_progress("fitting shadow models", (place + run / runs) / of)
        yield run


def _named(title: str) -> str:
    """The name of a method that a model was made by."""
    from nacre.registry import METHODS, load_class

    for name in METHODS:
        if load_class(METHODS, name).title == title:
            return name
    raise NacreError(f"The model was made by {title}, which cannot be fitted here.")
