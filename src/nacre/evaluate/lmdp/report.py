"""α-LMDP of chosen sets of columns: which marginals of a synthetic table are not the real ones?"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.lmdp.fssd import fssd_test
from nacre.evaluate.lmdp.stein import Score, ksd, ksd_normalized
from nacre.evaluate.lmdp.two_sample import PERMUTATIONS, mmd_test
from nacre.evaluate.tables.features import Features
from nacre.evaluate.tables.randomness import generator
from nacre.evaluate.tables.reading import read
from nacre.evaluate.tables.rows import Rows
from nacre.rows import Stream
from nacre.schema import Schema

ROWS = 1_000
NO_DP = (
    "α-LMDP is no differential privacy: it hides an aggregate of these columns and protects no "
    "single row. The test reads private rows; its result is confidential to the data holder."
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DensityTest:
    """Are the real rows drawn from a learnt density? No evidence about samples, whatever it says.

    Attributes:
        stein: the normalized linear-time kernel Stein statistic (PPEM's Equation 17).
        stein_p: its p-value.
        ksd: the U-statistic of all pairs (Equation 14).
        ksd_p: its p-value, by the bootstrap.
        fssd: the finite set Stein statistic.
        fssd_p: its p-value.
    """

    stein: float
    stein_p: float
    ksd: float
    ksd_p: float
    fssd: float
    fssd_p: float

    @classmethod
    def of(cls, x: np.ndarray, score: Score, rng: np.random.Generator) -> "DensityTest":
        """The three tests of rows in random order."""
        stein, stein_p = ksd_normalized(x, score)
        pairs, pairs_p = ksd(x, score, rng=rng)
        places, places_p = fssd_test(x, score, rng=rng)
        return cls(
            stein=stein, stein_p=stein_p, ksd=pairs, ksd_p=pairs_p, fssd=places, fssd_p=places_p
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class LmdpTest:
    """The tests of one set of columns.

    Attributes:
        columns: the set.
        alpha: the level of the tests.
        mmd: squared maximum mean discrepancy of the synthetic and the real marginal.
        mmd_p: its p-value: how likely so large a one is if both marginals were the same.
        density: the tests of the real rows under the model's own density, where it has one.
        rows: how many real and synthetic rows were compared.
    """

    columns: tuple[str, ...]
    alpha: float
    mmd: float
    mmd_p: float
    density: DensityTest | None = None
    rows: tuple[int, int] = (0, 0)

    @property
    def lmdp_satisfied(self) -> bool:
        """Whether the *samples* are told apart. A learnt density alone is not evidence."""
        return self.mmd_p <= self.alpha

    def __str__(self) -> str:
        said, told = (
            ("satisfied", "≤ α, samples are told apart")
            if self.lmdp_satisfied
            else ("not satisfied", "> α, samples are not told apart")
        )
        found = self.density
        stein = (
            ""
            if found is None
            else (
                f"; of its energy alone, which decides nothing: Stein p = {found.stein_p:.3g}, "
                f"KSD p = {found.ksd_p:.3g}, FSSD p = {found.fssd_p:.3g}"
            )
        )
        return (
            f"{', '.join(self.columns)}: α-LMDP {said} at α = {self.alpha:g} "
            f"(MMD p = {self.mmd_p:.3g} {told}{stein})"
        )


@dataclasses.dataclass(frozen=True)
class LmdpReport:
    """α-LMDP of each set of columns. Confidential to the data holder."""

    tests: tuple[LmdpTest, ...]

    @property
    def lmdp_satisfied(self) -> bool:
        """Whether the samples' test rejects for every set."""
        return all(test.lmdp_satisfied for test in self.tests)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.tests), NO_DP])

    def to_dict(self) -> dict[str, Any]:
        """For programs: JSON's own types only."""
        tests = [
            {**dataclasses.asdict(test), "lmdp_satisfied": test.lmdp_satisfied}
            for test in self.tests
        ]
        return {"lmdp_satisfied": self.lmdp_satisfied, "tests": tests, "note": NO_DP}


def lmdp_report(
    synthetic: Any,
    frame: Any,
    schema: Schema | None = None,
    *,
    columns: Any = None,
    alpha: float | Sequence[float] = 0.05,
    scores: Sequence[Score | None] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> LmdpReport:
    """Test α-LMDP: does the marginal of each set of columns differ from the real one?

    Satisfied means that a two-sample test of the synthetic rows against the real ones, at level α,
    rejects that the marginals are equal. It is no differential privacy and protects no single row.

    Args:
        synthetic: a synthetic table, or a model to sample one from.
        frame: the real table.
        schema: what the columns are; a model's own if not given.
        columns: names of columns, or a list of such lists, or a dictionary from tuples of names to
            their own α; if not given, the sets that the model was asked to hide, with their own α
            and the scores of its energies.
        alpha: the level, or one for each set.
        scores: for each set, the gradient of the log density of a model of it (or None), a
            function of rows as numbers: [0, 1] for numbers, one-hot categories. Adds the kernel
            Stein test of the real rows.
        permutations: of the two-sample test.
        seed: of samples and permutations.
    """
    if schema is None:
        schema = getattr(synthetic, "schema", None)
    if not isinstance(schema, Schema):
        raise NacreError("No schema was given, and the first argument is no model that has one.")
    own = columns is None
    if own:
        columns = {one.columns: one.alpha for one in hidden_by(synthetic)}
    sets = column_sets(columns, alpha, schema)
    real = read(frame, schema, "The real table")
    densities = _densities(synthetic, frame, seed) if own and scores is None else None
    if hasattr(synthetic, "sample_arrow"):
        synthetic = synthetic.sample_arrow(min(len(real), ROWS), seed=seed)
    found = read(synthetic, schema, "The synthetic table")
    report = compare_sets(real, found, sets, scores=scores, permutations=permutations, seed=seed)
    if not densities:
        return report
    tests = zip(report.tests, densities, strict=True)
    return LmdpReport(tuple(dataclasses.replace(test, density=found) for test, found in tests))


def hidden_by(model: Any) -> tuple[Any, ...]:
    """The sets of columns that a model was asked to hide, or an error if there are none."""
    found: tuple[Any, ...] = getattr(getattr(model, "guarantee", None), "hidden", ())
    if not found:
        raise NacreError(
            "No columns were given, and the first argument is no model that was asked to hide "
            "any. Name them: columns=['age', 'income']."
        )
    return found


def _densities(model: Any, frame: Any, seed: int) -> tuple[DensityTest, ...]:
    """The tests of the model's own energies, where it has kept any."""
    scores = getattr(model.generator, "hidden_scores", None)
    if scores is None:
        return ()
    block = Stream(model.encoder, frame).whole()
    rng = generator(seed, "lmdp energies")
    chosen = rng.permutation(np.flatnonzero(block.valid))[:ROWS]
    rows = type(block.rows)(*(part[chosen] for part in block.rows))
    return tuple(DensityTest.of(points, score, rng) for points, score in scores(rows))


def compare_sets(
    real: Rows,
    synthetic: Rows,
    sets: Sequence[tuple[tuple[str, ...], float]],
    *,
    scores: Sequence[Score | None] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> LmdpReport:
    """The tests of every set, on at most 1,000 random rows of each table."""
    functions = [None] * len(sets) if scores is None else list(scores)
    if len(functions) != len(sets):
        raise NacreError(f"{len(functions)} scores were given for {len(sets)} sets of columns.")
    tests = []
    for place, ((names, alpha), score) in enumerate(zip(sets, functions, strict=True)):
        rng = generator(seed, f"lmdp {place}")
        drawn = [rows.take(rng.permutation(len(rows))[:ROWS]) for rows in (real, synthetic)]
        # Laid out by both alike: were it by the real rows, the features would tell them apart.
        features = Features.of(Rows.collect(real.schema, drawn), only=names)
        x, y = (features.matrix(rows) for rows in drawn)
        mmd, mmd_p = mmd_test(x, y, rng=rng, permutations=permutations)
        density = None if score is None else DensityTest.of(x, score, rng)
        tests.append(
            LmdpTest(
                columns=names,
                alpha=alpha,
                mmd=mmd,
                mmd_p=mmd_p,
                density=density,
                rows=(len(x), len(y)),
            )
        )
    return LmdpReport(tuple(tests))


def column_sets(
    columns: Any, alpha: float | Sequence[float], schema: Schema
) -> list[tuple[tuple[str, ...], float]]:
    """Sets of columns with their levels, from any of the forms that `lmdp_report` takes.

    Examples:
        >>> from nacre.schema import Boolean
        >>> schema = Schema({"a": Boolean(), "b": Boolean()})
        >>> column_sets(["a", "b"], 0.05, schema)
        [(('a', 'b'), 0.05)]
        >>> column_sets([["a"], ["a", "b"]], [0.05, 0.01], schema)
        [(('a',), 0.05), (('a', 'b'), 0.01)]
        >>> column_sets({"a": 0.1}, 0.05, schema)
        [(('a',), 0.1)]
    """
    if isinstance(columns, Mapping):
        columns, alpha = list(columns), list(columns.values())
    elif isinstance(columns, str) or all(isinstance(name, str) for name in columns):
        columns = [columns]
    sets = [(one,) if isinstance(one, str) else tuple(one) for one in columns]
    levels = [alpha] * len(sets) if isinstance(alpha, int | float) else list(alpha)
    if len(levels) != len(sets):
        raise NacreError(f"{len(levels)} levels were given for {len(sets)} sets of columns.")
    if not sets or not all(sets):
        raise NacreError("A set of columns is empty. Name at least one column in each.")
    unknown = sorted({name for one in sets for name in one} - set(schema.names))
    if unknown:
        raise NacreError(
            f"Not columns of the schema: {', '.join(unknown)}. Its columns are: "
            f"{', '.join(schema.names)}."
        )
    for level in levels:
        if not 0 < level < 1:
            raise NacreError(f"alpha must lie strictly between 0 and 1, got {level}.")
    return [(names, float(level)) for names, level in zip(sets, levels, strict=True)]
