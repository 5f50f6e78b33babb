"""Other people's tools on Adult's official split, beside ours, if they are installed.

Each adapter is given a table of small integers (20 equal-width bins of a number over its declared
bounds, a category's own codes) and gives back as many rows; so all peers see the same public
encoding.  They are no dependencies: install what you want to compare with.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pyarrow as pa

from bench.protocol import Split, auc, official_split
from nacre.schema import Encoded, Schema

BINS = 20
CLASSIFIERS = {"logistic": "logistic regression", "forest": "random forest", "boosting": "boosting"}
DISTANCES = ("tv1", "tv2", "tv3")

Peer = Callable[[pd.DataFrame, float, float], pd.DataFrame]


def _smartnoise(algorithm: str) -> Peer:
    """MST or AIM of smartnoise-synth, which reads from the rows which codes occur."""

    def peer(rows: pd.DataFrame, epsilon: float, delta: float) -> pd.DataFrame:
        from snsynth import Synthesizer  # type: ignore[import-not-found]

        model = Synthesizer.create(algorithm, epsilon=epsilon, delta=delta)
        model.fit(rows, categorical_columns=list(rows.columns), preprocessor_eps=0.0)
        return model.sample(len(rows))

    return peer


# Peers that cannot be installed beside nacre are not here: dpmm 0.1.9 needs NumPy 1.
PEERS: dict[str, tuple[Peer, str]] = {
    "smartnoise-mst": (_smartnoise("mst"), "smartnoise-synth"),
    "smartnoise-aim": (_smartnoise("aim"), "smartnoise-synth"),
}


def discretize(table: pa.Table, schema: Schema) -> pd.DataFrame:
    """A table as small integers."""
    encoded, layout = schema.encode(table), schema.layout
    columns = {}
    for place, number in enumerate(layout.numbers):
        count = min(BINS, number.ticks + 1)
        columns[f"number {place}"] = encoded.ticks[:, place] * count // (number.ticks + 1)
    for place in range(len(layout.codes)):
        columns[f"code {place}"] = encoded.codes[:, place].astype(np.int64)
    return pd.DataFrame(columns)


def restore(rows: pd.DataFrame, schema: Schema, rng: np.random.Generator) -> pa.Table:
    """The table that small integers stand for; a number is drawn evenly from its bin."""
    layout, found = schema.layout, rows.astype(np.int64)
    ticks = np.zeros((len(rows), len(layout.numbers)), np.int64)
    for place, number in enumerate(layout.numbers):
        count = min(BINS, number.ticks + 1)
        chosen = found[f"number {place}"].to_numpy()
        # The first tick of bin b is the least t with t * count // (ticks + 1) = b.
        low, high = (-(-b * (number.ticks + 1) // count) for b in (chosen, chosen + 1))
        ticks[:, place] = rng.integers(low, high)
    codes = np.zeros((len(rows), len(layout.codes)), np.int32)
    for place in range(len(layout.codes)):
        codes[:, place] = found[f"code {place}"]
    return schema.decode(Encoded(ticks, codes, np.ones(len(rows), bool), layout))


def run(name: str, split: Split, epsilon: float, delta: float, seed: int) -> pa.Table:
    """As many rows as there are to fit, by one peer."""
    peer, package = PEERS[name]
    rows = discretize(split.train, split.schema)
    try:
        found = peer(rows, epsilon, delta)
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"{name} is not installed (no {error.name}): pip install {package}."
        ) from None
    return restore(found, split.schema, np.random.default_rng(seed))


def main(arguments: list[str]) -> None:
    """Print one line for each peer and each method of ours."""
    from nacre.evaluate.run import evaluate
    from nacre.fit import fit
    from nacre.methods import METHODS

    parser = argparse.ArgumentParser(prog="python -m bench peers", description=__doc__)
    parser.add_argument("--against", default="", help=f"some of {', '.join(PEERS)}")
    parser.add_argument("--methods", default="mosaic", help=f"some of {', '.join(METHODS)}")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    names = [n for n in f"{options.methods},{options.against}".split(",") if n]
    if unknown := [n for n in names if n not in METHODS and n not in PEERS]:
        raise SystemExit(f"Unknown: {', '.join(unknown)}. There are: {', '.join(PEERS)}.")
    warnings.filterwarnings("ignore")
    split = official_split()
    print(f"{'':16}" + "".join(f"{c:>10}" for c in (*CLASSIFIERS, *DISTANCES, "CPU s")))
    for name in names:
        start = time.process_time()
        if name in PEERS:
            synthetic = run(name, split, options.epsilon, options.delta, options.seed)
        else:
            budget = {"epsilon": options.epsilon, "delta": options.delta, "seed": options.seed}
            model = fit(split.train, split.schema, method=name, **budget)
            synthetic = model.sample_arrow(split.train.num_rows, seed=options.seed)
        seconds = time.process_time() - start
        values = [auc(synthetic, split, c, options.seed) for c in CLASSIFIERS.values()]
        evaluation = evaluate(
            split.train, synthetic, split.schema, test=split.test, metrics=list(DISTANCES), jobs=1
        )
        found = {s.metric: s.value for s in evaluation.results if not s.part}
        values += [found[metric] for metric in DISTANCES]
        print(f"{name:16}" + "".join(f"{v:10.3f}" for v in values) + f"{seconds:10.0f}", flush=True)
