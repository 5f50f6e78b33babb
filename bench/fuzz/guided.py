"""Fuzzing that is steered by coverage: inputs that reach new code are kept and changed further.

atheris runs libFuzzer in a process that it ends itself, so each reader gets a process of its own,
and reports through a file.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 4_096


def guided(
    cases: int, seed: int, minutes: float, only: tuple[str, ...] = ()
) -> tuple[Counter, dict[str, str]]:
    """So many cases in all, shared by the readers; each at most its share of the minutes."""
    from bench.fuzz.readers import Readers

    if importlib.util.find_spec("atheris") is None:
        raise SystemExit(
            "Fuzzing by coverage needs atheris, which has wheels for Linux: "
            "pip install 'nacre-dp[fuzz]'. Without it leave out --guided."
        )
    outcomes: Counter = Counter()
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        seeds = Readers(Path(name)).seeds
    kinds = sorted(only or seeds)
    for kind in kinds:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            report, corpus = folder / "report.json", folder / "corpus"
            corpus.mkdir()
            for place, data in enumerate(seeds[kind]):
                (corpus / f"seed{place}").write_bytes(data)
            share = [f"-runs={cases // len(kinds)}", f"-seed={seed + 1}", f"-max_len={LONGEST}"]
            share.append(f"-max_total_time={max(1, int(60 * minutes / len(kinds)))}")
            done = subprocess.run(
                [sys.executable, "-m", "bench.fuzz.guided", kind, str(report), *share, str(corpus)],
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            if not report.exists():
                raise SystemExit(f"The fuzzer of {kind} stopped: {done.stderr[-800:]}")
            said = json.loads(report.read_text())
            outcomes.update({(kind, what): count for what, count in said["outcomes"].items()})
            found.update(said["found"])
    return outcomes, found


def one_reader(kind: str, report: Path, options: list[str]) -> None:
    """Fuzz one reader until libFuzzer has had enough; what was found so far is on disk."""
    import os
    import warnings

    import atheris

    with atheris.instrument_imports(include=["nacre", "yaml", "zipfile"]):
        import nacre.archive
        import nacre.cli
        import nacre.ledger
        import nacre.rows
        import nacre.schema
        import nacre.signature  # noqa: F401
        from bench.fuzz import try_one
        from bench.fuzz.readers import Readers

    warnings.simplefilter("ignore")
    folder = tempfile.TemporaryDirectory()
    readers, outcomes, found = Readers(Path(folder.name)), Counter(), {}
    outcomes_at = [0]

    def write() -> None:
        told = {what: count for (_, what), count in outcomes.items()}
        half = report.with_suffix(".part")
        half.write_text(json.dumps({"outcomes": told, "found": found}))
        half.replace(report)

    def one(data: bytes) -> None:
        try_one(readers, kind, data, outcomes, found)
        outcomes_at[0] += 1
        if outcomes_at[0] % 200 == 0 or outcomes_at[0] < 3:
            write()

    runs = next(int(o.removeprefix("-runs=")) for o in options if o.startswith("-runs="))
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=0"], _ending(one, write, runs))
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    atheris.Fuzz()


def _ending(one, write, runs):
    """libFuzzer ends the process at its last run, so the last cases are written before."""
    seen = [0]

    def call(data: bytes) -> None:
        one(data)
        seen[0] += 1
        if seen[0] >= runs - 1:
            write()

    return call


if __name__ == "__main__":
    one_reader(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
