"""Each method on Adult at (1, 1e-5), in the papers' protocol and on the official split."""

import argparse
import json
import math
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.protocol import Split, auc, hard_scores, official_split, papers_split
from nacre.evaluate.run import evaluate
from nacre.evaluate.tables.classifiers import PEARL, PUBLISHED
from nacre.fit import fit
from nacre.methods import AbstractMethod
from nacre.model import versions

# The papers' own numbers (PEARL Table 2; DP-MERF Table 2) and the bar set for this project.
PAPER = {"pearl": (0.721, 0.618), "merf": (0.650, 0.564)}
WANTED = {"pearl": (0.74, 0.63, 0.86), "merf": (0.70, 0.58, 0.82), "mosaic": (0.74, 0.63, 0.905)}


def papers(method: str, seed: int) -> dict[str, float]:
    """Hard-label ROC and PRC, averaged over the classifiers that the method's paper uses."""
    split = papers_split(seed)
    start = time.process_time()
    model = fit(
        split.train,
        split.schema,
        method=method,
        epsilon=1,
        delta=1e-5,
        adjacency="replace-one",
        seed=seed,
    )
    seconds = time.process_time() - start
    synthetic = model.sample_arrow(split.train.num_rows, seed=seed)
    names = PUBLISHED if method == "merf" else PEARL
    scores = np.array(list(hard_scores(synthetic, split, names, seed).values()))
    roc, prc = scores.mean(0)
    return {"roc": roc, "prc": prc, "classifiers": len(scores), "cpu_seconds": seconds}


def official(method: str | AbstractMethod, seed: int, epsilon: float = 1.0) -> dict[str, float]:
    """AUC from scores and total variation on the official split, add-remove."""
    split = official_split()
    start = time.process_time()
    delta = None if math.isinf(epsilon) else 1e-5
    model = fit(split.train, split.schema, method=method, epsilon=epsilon, delta=delta, seed=seed)
    synthetic = model.sample_arrow(split.train.num_rows, seed=seed)
    seconds = time.process_time() - start
    names = ["tv1", "tv2", "tv3"]
    evaluation = evaluate(split.train, synthetic, split.schema, test=split.test, metrics=names)
    distances = {name: evaluation.score(name).value for name in names}
    return aucs(split, synthetic, seed) | {"cpu_seconds": seconds} | distances


def real(seed: int) -> dict[str, float]:
    """AUC on the official split if models learn from the real rows."""
    split = official_split()
    return aucs(split, split.train, seed)


def aucs(split: Split, rows: pa.Table, seed: int) -> dict[str, float]:
    """Of three models that learn from `rows`."""
    return {
        "logistic": auc(rows, split, "logistic regression", seed),
        "forest": auc(rows, split, "random forest", seed),
        "boosting": auc(rows, split, "boosting", seed),
    }


def main(arguments: list[str]) -> None:
    """Print the tables and keep them as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench adult")
    parser.add_argument("--methods", default="mosaic,pearl,merf")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0, help="of the official split")
    parser.add_argument("--only", choices=["papers", "official"])
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    results: dict[str, list[dict[str, float]]] = {}
    for method in options.methods.split(","):
        for name, run in (("papers", papers), ("official", official)):
            if options.only not in (None, name):
                continue
            extra = {"epsilon": options.epsilon} if name == "official" else {}
            rows = []
            for seed in range(options.seeds):
                rows.append(run(method, seed, **extra))
                print(method, name, seed, {k: round(v, 4) for k, v in rows[-1].items()}, flush=True)
            results[f"{method} {name}"] = rows
    print()
    for title, rows in results.items():
        method = title.split()[0]
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        said = ", ".join(f"{key} {value:.3f}" for key, value in mean.items())
        print(f"{title}: {said}")
        if title.endswith("papers") and method in PAPER:
            print(f"  paper {PAPER[method]}, wanted {WANTED[method][:2]}")
        elif title.endswith("papers") and method in WANTED:
            print(f"  wanted {WANTED[method][:2]} (PEARL's bar)")
        elif method in WANTED:
            print(f"  wanted boosting {WANTED[method][2]}")
    if options.json:
        document = {"versions": versions(), "seeds": options.seeds, "results": results}
        options.json.write_text(json.dumps(document, indent=1))
