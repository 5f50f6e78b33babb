"""python -m bench tables: the papers' tabular tables, run again with our methods beside them."""

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.tables import render, results
from bench.tables.plans import PLANS
from bench.tables.trial import REAL, measure
from nacre.evaluate.tables.classifiers import PUBLISHED, available
from nacre.methods import METHODS

DOCS = Path(__file__).parent.parent.parent / "docs" / "results.md"
NOTES = "notes.md"
"""Beside the results: what a person has to say about them; ends the page."""
QUICK = (
    "logistic regression",
    "Bernoulli naive Bayes",
    "decision tree",
    "LDA",
    "random forest",
    "XGBoost",
)


def main(arguments: list[str]) -> None:
    """Run what is missing, print the tables, and render them into the docs."""
    options = _parser().parse_args(arguments)
    methods = _chosen("method", options.methods, METHODS)
    datasets = _chosen("data set", options.datasets, PLANS)
    failed: list[str] = []
    if not options.render:
        classifiers = available(QUICK if options.quick else PUBLISHED)
        seeds = options.seeds or (1 if options.quick else 5)
        if options.quick:
            print(f"Quick: {seeds} seed(s), only {', '.join(classifiers)}.", flush=True)
        failed = run(options.results, datasets, methods, range(seeds), classifiers, options.jobs)
    kept = results.read_all(options.results)
    notes = options.results / NOTES
    said = notes.read_text(encoding="utf-8") if notes.is_file() else ""
    page = render.render(kept, list(METHODS), said)
    print(page)
    render.write(page, options.docs)
    if failed:
        raise SystemExit("These runs failed:\n" + "\n".join(f"  {line}" for line in failed))


def run(
    folder: Path,
    datasets: Iterable[str],
    methods: Sequence[str],
    seeds: Iterable[int],
    classifiers: Sequence[str],
    jobs: int,
) -> list[str]:
    """Measure what is not kept yet; a failure is reported and the others go on."""
    failed = []
    datasets = list(datasets)
    for seed in seeds:
        for name in datasets:
            for method in (REAL, *(m for m in methods if m != REAL)):
                if results.find(folder, name, method, seed, classifiers) is not None:
                    continue
                start = time.perf_counter()
                try:
                    result = measure(name, method, seed, classifiers, jobs)
                except Exception as error:  # one method's failure must not cost the others' hours
                    failed.append(f"{name}, {method}, seed {seed}: {type(error).__name__}: {error}")
                    print(failed[-1], flush=True)
                    continue
                results.keep(folder, result)
                seconds = time.perf_counter() - start
                print(f"{name}, {method}, seed {seed}: {seconds:.0f} s", flush=True)
    return failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench tables", description=__doc__)
    parser.add_argument("--seeds", type=int, help="how many: 5, or 1 with --quick")
    parser.add_argument("--quick", action="store_true", help="six fast classifiers, minutes")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--datasets", default=",".join(PLANS))
    parser.add_argument("--jobs", type=int, default=1, help="processes to train classifiers in")
    parser.add_argument("--render", action="store_true", help="run nothing, only render")
    parser.add_argument("--results", type=Path, default=results.FOLDER)
    parser.add_argument("--docs", type=Path, default=DOCS)
    return parser


def _chosen(kind: str, text: str, known: Iterable[str]) -> list[str]:
    """The names in a comma-separated list, each of them known; "real" is run anyway."""
    names, known = [name for name in text.split(",") if name], [*known]
    unknown = [name for name in names if name not in known and name != REAL]
    if unknown:
        raise SystemExit(f"No such {kind}: {', '.join(unknown)}. There are: {', '.join(known)}.")
    return names
