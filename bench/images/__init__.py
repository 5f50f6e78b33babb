"""python -m bench images: MNIST and Fashion-MNIST by our methods, beside the papers' numbers."""

import argparse
import dataclasses
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bench.choices import Deadline, chosen, epsilons, seeds
from bench.images import render
from bench.images.runs import (
    DATASETS,
    EPSILONS,
    METRICS,
    USUAL,
    VARIANTS,
    cheapest_first,
    make_runs,
)
from bench.images.trial import measure
from bench.tables import results
from bench.tables.runs import Run
from bench.versions import source
from nacre.evaluate.images.metrics import METRICS as KNOWN

FOLDER = Path(__file__).parent.parent / "results" / "images"
DOCS = Path(__file__).parent.parent.parent / "docs" / "results-images.md"


def main(arguments: list[str]) -> None:
    """Run what is missing, print the tables, and write them into the docs."""
    options = _parser().parse_args(arguments)
    failed: list[str] = []
    if not options.render:
        todo = make_runs(
            chosen("data set", options.datasets, DATASETS),
            chosen("method", options.methods, VARIANTS),
            options.epsilons,
            options.seeds,
            chosen("metric", options.metrics, KNOWN),
        )
        failed = run(
            options.results, todo, options.jobs, again=options.again, minutes=options.minutes
        )
    text = render.render(results.read_all(options.results))
    print(text)
    render.write(text, options.docs)
    if failed:
        raise SystemExit("These runs failed:\n" + "\n".join(f"  {line}" for line in failed))


def run(
    folder: Path,
    runs: Iterable[Run],
    jobs: int = 1,
    *,
    again: bool = False,
    minutes: float | None = None,
    measure: Callable[..., dict[str, Any]] = measure,
) -> list[str]:
    """Measure what is not kept yet; a failure is kept and the others go on.

    With `again`, what another version of the code made counts as not kept.  Where some metrics of a
    run are kept and others are wanted, all are measured on a new fit, so that the numbers of a file
    are those of one model.
    """
    failed, deadline, wanted = [], Deadline(minutes), source() if again else None
    kept = [result for result in results.read_all(folder) if "failure" not in result]
    todo = [
        _with_kept_metrics(folder, each)
        for each in cheapest_first(runs, kept)
        if results.find(folder, each, (), wanted) is None
    ]
    for done, each in enumerate(todo):
        if deadline.over:
            print(f"Time is up: {len(todo) - done} runs are left for the next call.", flush=True)
            break
        start = time.perf_counter()
        try:
            found = measure(each, jobs)
        except Exception as error:  # one method's failure must not cost the others' hours
            failed.append(results.keep_failure(folder, each, error))
            print(failed[-1], flush=True)
            continue
        results.keep(folder, each, found)
        said = ", ".join(f"{name} {value:.4g}" for name, value in found["statistics"].items())
        print(f"{each}: {said}; {time.perf_counter() - start:.0f} s", flush=True)
    return failed


def _with_kept_metrics(folder: Path, run: Run) -> Run:
    there = results.find(folder, dataclasses.replace(run, metrics=()), ())
    measured = () if there is None else tuple(there["statistics"])
    return dataclasses.replace(run, metrics=tuple(dict.fromkeys((*measured, *run.metrics))))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench images", description=__doc__)
    parser.add_argument(
        "--methods", default=",".join(USUAL), help=f"some of {', '.join(VARIANTS)}; the usual four"
    )
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument(
        "--epsilons", type=epsilons, default=EPSILONS, help="such as 1,9.6,inf; 10,1,0.2"
    )
    parser.add_argument("--seeds", type=seeds, default=[0, 1, 2], help="how many, or which: 3,")
    parser.add_argument(
        "--metrics", default=",".join(METRICS), help=f"some of {', '.join(KNOWN)}; cnn-accuracy"
    )
    parser.add_argument(
        "--again", action="store_true", help="measure again what another version of the code made"
    )
    parser.add_argument("--minutes", type=float, help="start no run after so many")
    parser.add_argument("--jobs", type=int, default=1, help="processes to train classifiers in")
    parser.add_argument("--render", action="store_true", help="run nothing, only render")
    parser.add_argument("--results", type=Path, default=FOLDER)
    parser.add_argument("--docs", type=Path, default=DOCS)
    return parser
