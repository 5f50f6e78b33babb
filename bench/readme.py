"""python -m bench readme: what each method gives on Adult at epsilon = 1, into README.md.

Official split, add-remove, delta = 1e-5, means over seeds.  What this version of the code has
measured already is not measured again.
"""

import argparse
import dataclasses
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench import adult
from bench.choices import Deadline, chosen_variants, seeds
from bench.kept import Kept
from bench.variants import Variant, variants

README = Path(__file__).parent.parent / "README.md"
RESULTS = Path(__file__).parent / "results" / "readme.json"
BEGIN, END = "<!-- results -->", "<!-- /results -->"
DEFAULT, SMALL = "mosaic", 0.2
"""The default method is shown at a small epsilon, too."""
AUC = ("logistic", "forest", "boosting")
DISTANCES = ("tv1", "tv2", "tv3")


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table: a variant at an epsilon, or the real rows (None)."""

    title: str
    variant: str | None = None
    epsilon: float = 1.0

    def key(self, seed: int) -> str:
        """What its result is called."""
        return f"{self.variant} {self.epsilon:g} {seed}" if self.variant else f"real {seed}"


def rows(names: Iterable[str]) -> list[Row]:
    """The table's rows, the default first."""
    known = variants()
    found = [Row("real data")]
    for name in sorted(names, key=lambda name: name != DEFAULT):
        title = known[name].title
        if not known[name].private:
            found.append(Row(f"{title}, not private", name, math.inf))
        elif name == DEFAULT:
            found.append(Row(f"**{title}**, the default", name))
            found.append(Row(f"{title} at ε = {SMALL}", name, SMALL))
        else:
            found.append(Row(title, name))
    return found


def measure(row: Row, seed: int, known: Mapping[str, Variant]) -> dict[str, float]:
    """One fit, scored."""
    if row.variant is None:
        return adult.real(seed)
    return adult.official(known[row.variant].make(), seed, row.epsilon)


def run(
    kept: Kept,
    known: Mapping[str, Variant],
    wanted: Iterable[int],
    minutes: float | None = None,
    measure: Callable[..., dict[str, float]] = measure,
) -> list[str]:
    """Measure what this version has not measured, a seed of all rows at a time."""
    failed, deadline = [], Deadline(minutes)
    for seed in wanted:
        for row in rows(known):
            if kept.has(row.key(seed)):
                continue
            if deadline.over:
                print("Time is up; the next call goes on.", flush=True)
                return failed
            try:
                found = measure(row, seed, known)
            except Exception as error:  # one method's failure must not cost the others' hours
                failed.append(f"{row.key(seed)}: {type(error).__name__}: {error}")
                print(failed[-1], flush=True)
                continue
            kept.keep(row.key(seed), {"row": dataclasses.asdict(row), "seed": seed, **found})
            print(row.key(seed), {k: round(v, 4) for k, v in found.items()}, flush=True)
    return failed


def render(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The table, as Markdown."""
    lines = [
        "Means over the runs of `python -m bench readme`.",
        "",
        "| method | AUC (logistic, forest, boosting) | total variation (1, 2, 3 columns) | "
        "CPU seconds | runs |",
        "| --- | --- | --- | ---: | ---: |",
    ]
    for row in rows(variants()):
        wanted = (row.variant, row.epsilon)
        runs = [r for r in results.values() if (r["row"]["variant"], r["row"]["epsilon"]) == wanted]
        if runs:
            seconds = f"{_mean(runs, 'cpu_seconds'):.0f}" if row.variant else ""
            distances = _list(runs, DISTANCES) if row.variant else ""
            cells = [row.title, _list(runs, AUC), distances, seconds, str(len(runs))]
            lines.append("| " + " | ".join(cells) + " |")
    made = {r["versions"].get("source") for r in results.values()}
    if len(made) > 1:
        kept = f"`{RESULTS.relative_to(README.parent)}`"
        lines += ["", f"Measured with {len(made)} versions of the code; {kept} says which."]
    return "\n".join(lines)


def write(table: str, place: Path) -> None:
    """Put the table between the marks in README.md."""
    text = place.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{place} has no place for the table: {BEGIN} and {END}.")
    place.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def _mean(runs: Iterable[Mapping[str, Any]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


def _list(runs: list[Mapping[str, Any]], names: Iterable[str]) -> str:
    return ", ".join(f"{_mean(runs, name):.3f}".removeprefix("0") for name in names)


def main(arguments: list[str]) -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench readme", description=__doc__)
    parser.add_argument("--methods", help=f"some of {', '.join(variants())}; all if none")
    parser.add_argument("--seeds", type=seeds, default=[0, 1, 2], help="how many, or which: 3")
    parser.add_argument("--minutes", type=float, help="start no run after so many")
    parser.add_argument("--render", action="store_true", help="run nothing, only write the table")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--readme", type=Path, default=README)
    options = parser.parse_args(arguments)
    kept, failed = Kept(options.json), []
    if not options.render:
        warnings.filterwarnings("ignore")
        failed = run(kept, chosen_variants(options.methods), options.seeds, options.minutes)
    found = kept.read()
    if not found:
        raise SystemExit(f"{options.json} has no results: nothing to write.")
    print(render(found))
    write(render(found), options.readme)
    if failed:
        raise SystemExit("These runs failed:\n" + "\n".join(f"  {line}" for line in failed))
