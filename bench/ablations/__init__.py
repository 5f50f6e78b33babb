"""python -m bench ablations [STUDY ...]: what each part of a method is good for, in tables."""

import argparse
import warnings
from collections.abc import Mapping
from pathlib import Path

from bench.ablations import bandwidth, critic, generator, power, shrinkage
from bench.ablations.study import Study
from bench.choices import Deadline, seeds
from bench.kept import Kept

RESULTS = Path(__file__).parent.parent / "results" / "ablations"
STUDIES: Mapping[str, Study] = {
    "critic": critic.STUDY,
    "bandwidth": bandwidth.STUDY,
    "generator": generator.STUDY,
    "power": power.STUDY,
    "shrinkage": shrinkage.STUDY,
}


def main(arguments: list[str]) -> None:
    """Run what is missing of the studies, print their tables, and keep the numbers as JSON."""
    options = _parser().parse_args(arguments)
    warnings.filterwarnings("ignore")
    if unknown := [name for name in options.studies if name not in STUDIES]:
        raise SystemExit(f"No such study: {', '.join(unknown)}. There are: {', '.join(STUDIES)}.")
    deadline, failed = Deadline(options.minutes), []
    for name in options.studies or STUDIES:
        study, kept = STUDIES[name], Kept(options.results / f"{name}.json")
        if not options.render:
            failed += run(study, kept, options.seeds, deadline, options.only)
        print(study.render(kept.read()))
    if failed:
        raise SystemExit("These runs failed:\n" + "\n".join(f"  {line}" for line in failed))


def run(
    study: Study, kept: Kept, wanted: list[int], deadline: Deadline, only: str = ""
) -> list[str]:
    """Measure what this version of the code has not, seed by seed; say what failed.

    Of cases whose names hold `only`.
    """
    failed = []
    for seed in wanted:
        for case in (each for each in study.cases if only in each):
            key = f"{case}, seed {seed}"
            if kept.has(key):
                continue
            if deadline.over:
                print("Time is up; the next call goes on.", flush=True)
                return failed
            try:
                found = study.measure(case, seed)
            except Exception as error:  # one case's failure must not cost the others' hours
                failed.append(f"{key}: {type(error).__name__}: {error}")
                print(failed[-1], flush=True)
                continue
            kept.keep(key, {"case": case, "seed": seed, "numbers": found})
            print(f"{key}: {study.said(found)}", flush=True)
    return failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench ablations", description=__doc__)
    meanings = "; ".join(f"{name}: {study.title}" for name, study in STUDIES.items())
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"{meanings}. All if none.")
    parser.add_argument("--seeds", type=seeds, default=[0, 1, 2], help="how many, or which: 3")
    parser.add_argument("--only", default="", help="cases with this in their names: mixture")
    parser.add_argument("--minutes", type=float, help="start no run after so many")
    parser.add_argument("--render", action="store_true", help="run nothing, only print the tables")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser
