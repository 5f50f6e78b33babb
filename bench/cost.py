"""What a piece of work costs: seconds and peak memory, each case in a process of its own."""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from joblib.externals.loky import get_reusable_executor

Cases = Mapping[str, tuple[str, Callable[[], Any]]]


def measure(work: Callable[[], Any]) -> dict[str, float]:
    """Wall and CPU seconds and peak memory; `work` may return the seconds that matter.

    Memory is that of the largest process, with the tables that it was given; seconds are those of
    all of them, without starting Python.
    """
    start = time.perf_counter(), _cpu()
    found = work()
    seconds = time.perf_counter() - start[0] if found is None else float(found)
    # A process counts only once it has ended.
    get_reusable_executor().shutdown(wait=True)
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(_cpu() - start[1], 1),
        "megabytes": round(max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024),
    }


def _cpu() -> float:
    times = [resource.getrusage(k) for k in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(t.ru_utime + t.ru_stime for t in times)


def main(name: str, cases: Cases, results: Path, arguments: list[str]) -> None:
    """python -m bench NAME [CASE ...]: print a table and keep it as JSON."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {name}")
    parser.add_argument("cases", nargs="*", help=f"some of: {', '.join(cases)}; all if none")
    parser.add_argument("--one", choices=cases, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(cases[options.one][1])))
        return
    unknown = [case for case in options.cases if case not in cases]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}. There are: {', '.join(cases)}.")
    kept = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else {}
    print(f"{'':42}{'wall s':>8}{'CPU s':>8}{'MB':>8}")
    for case in options.cases or cases:
        command = [sys.executable, "-m", "bench", name, "--one", case]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        kept[case] = {"what": cases[case][0], **found, "python": platform.python_version()}
        numbers = (found["seconds"], found["cpu_seconds"], found["megabytes"])
        print(f"{cases[case][0]:42}" + "".join(f"{n:>8,}" for n in numbers), flush=True)
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
