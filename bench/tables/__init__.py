"""python -m bench tables: the papers' tabular tables, run again with our methods beside them."""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bench.choices import Deadline, chosen, chosen_variants, epsilons, seeds
from bench.tables import render, results
from bench.tables.plans import PLANS
from bench.tables.runs import REAL, Run, cheapest_first, make_runs
from bench.tables.trial import measure
from bench.variants import variants
from bench.versions import source
from nacre.evaluate.tables.classifiers import available

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
    failed: list[str] = []
    if not options.render:
        datasets = chosen("data set", options.datasets, PLANS)
        names = chosen_variants(options.methods)
        wanted = options.seeds or list(range(1 if options.quick else 5))
        todo = make_runs(datasets, names, wanted, options.epsilons)
        if options.fits_only:
            todo = [each for each in todo if each.variant != REAL]
        if options.quick:
            print(f"Quick: {len(wanted)} seed(s), only {', '.join(available(QUICK))}.", flush=True)
        failed = run(
            options.results,
            todo,
            options.jobs,
            quick=options.quick,
            again=options.again,
            minutes=options.minutes,
        )
    notes = options.results / NOTES
    said = notes.read_text(encoding="utf-8") if notes.is_file() else ""
    page = render.render(results.read_all(options.results), list(variants()), said)
    print(page)
    render.write(page, options.docs)
    if failed:
        raise SystemExit("These runs failed:\n" + "\n".join(f"  {line}" for line in failed))


def run(
    folder: Path,
    runs: Iterable[Run],
    jobs: int = 1,
    *,
    quick: bool = False,
    again: bool = False,
    minutes: float | None = None,
    measure: Callable[..., dict] = measure,
) -> list[str]:
    """Measure what is not kept yet, cheapest first; a failure is kept and the others go on.

    With `again`, what another version of the code made counts as not kept.
    """
    failed, wanted = [], source() if again else None
    kept = [result for result in results.read_all(folder) if "failure" not in result]
    todo = [
        (each, classifiers)
        for each in cheapest_first(runs, kept)
        if results.find(folder, each, classifiers := _classifiers(each, quick), wanted) is None
    ]
    deadline = Deadline(minutes)
    for done, (each, classifiers) in enumerate(todo):
        if deadline.over:
            print(f"Time is up: {len(todo) - done} runs are left for the next call.", flush=True)
            break
        start = time.perf_counter()
        try:
            result = measure(each, classifiers, jobs)
        except Exception as error:  # one method's failure must not cost the others' hours
            failed.append(results.keep_failure(folder, each, error))
            print(failed[-1], flush=True)
            continue
        results.keep(folder, each, result)
        print(f"{each}: {time.perf_counter() - start:.0f} s", flush=True)
    return failed


def _classifiers(run: Run, quick: bool) -> Sequence[str]:
    """Those of the table's plan; the fast ones among them if there are any."""
    all_of_them = available(PLANS[run.dataset].classifiers)
    fast = tuple(name for name in all_of_them if name in QUICK)
    return fast if quick and fast else all_of_them


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench tables", description=__doc__)
    parser.add_argument("--methods", help=f"some of {', '.join(variants())}; all if none")
    parser.add_argument("--datasets", default=",".join(PLANS))
    parser.add_argument("--epsilons", type=epsilons, help="such as 0.8,1,inf; those of the papers")
    parser.add_argument(
        "--seeds", type=seeds, help="how many, or which, such as 3,4; 5, or 1 with --quick"
    )
    parser.add_argument("--quick", action="store_true", help="six fast classifiers, minutes")
    parser.add_argument(
        "--again", action="store_true", help="measure again what another version of the code made"
    )
    parser.add_argument(
        "--fits-only", action="store_true", help="leave out scores of the real rows themselves"
    )
    parser.add_argument("--minutes", type=float, help="start no run after so many")
    parser.add_argument("--jobs", type=int, default=1, help="processes to train classifiers in")
    parser.add_argument("--render", action="store_true", help="run nothing, only render")
    parser.add_argument("--results", type=Path, default=results.FOLDER)
    parser.add_argument("--docs", type=Path, default=DOCS)
    return parser
