"""How fast `nacre serve` answers while a model is made, beside idle; and the size of its extra.

A server in its own process, one browser's requests over one connection, the bundled Adult table.
Wall times hang on the machine: the ratio is what is to be read.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

EXTRA = ("starlette", "uvicorn", "python-multipart", "anyio", "h11", "idna", "sniffio")
PAGES = ("/", "/ledger", "{project}/schema", "{project}/r/1/progress")


@contextmanager
def server(folder: Path) -> Iterator[httpx.Client]:
    """A browser that has been let in."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root = folder / "root"
    root.mkdir()
    command = [sys.executable, "-m", "nacre", "serve", "--port", str(port), "--no-browser"]
    command += ["--root", str(root), "--state", str(folder / "state")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        opening = re.search(r"http://\S+", process.stderr.readline())[0]
        origin = opening.split("/enter")[0]
        own = {"origin": origin, "sec-fetch-site": "same-origin"}
        with httpx.Client(base_url=origin, headers=own, timeout=120) as client:
            while True:
                try:
                    client.get(opening)
                    break
                except httpx.ConnectError:
                    time.sleep(0.2)
            yield client
        process.terminate()


def post(client: httpx.Client, address: str, **fields: str) -> httpx.Response:
    """A form of the first page."""
    token = re.search(r'name="form_token" value="(\w+)"', client.get("/").text)[1]
    return client.post(address, data={"form_token": token, **fields})


def latency(client: httpx.Client, pages: list[str], rounds: int) -> list[float]:
    """Milliseconds of each request."""
    found = []
    for _ in range(rounds):
        for page in pages:
            start = time.perf_counter()
            client.get(page)
            found.append(1000 * (time.perf_counter() - start))
            time.sleep(0.02)
    return found


def main(arguments: list[str]) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m bench serve", description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as client:
        project = post(client, "/demo").headers["location"].removesuffix("/schema")
        post(client, project + "/reviewed", label="income")
        choices = {"epsilon": "1", "delta": "1e-5", "rows": "30000", "dataset": "adult"}
        choices |= {"budget_epsilon": "3", "budget_delta": "1e-4"}
        page = post(client, project + "/outline", **choices).text
        pages = [each.format(project=project) for each in PAGES]
        latency(client, pages, 3)
        idle = latency(client, pages, given.rounds)
        hidden = dict(re.findall(r'name="(run|shown)" value="([0-9a-f]+)"', page))
        run = post(client, project + "/fit", **choices, **hidden).headers["location"]
        while "Nothing has been spent yet" in client.get(run).text:
            time.sleep(0.5)
        busy = latency(client, pages, given.rounds)
        during = "A model is being made" in client.get(run).text
    print(f"{'':14} {'median':>8} {'95%':>8} {'most':>8}   milliseconds a page")
    for title, times in (("idle", idle), ("during a fit", busy)):
        cuts = statistics.quantiles(times, n=20)
        print(f"{title:14} {statistics.median(times):8.1f} {cuts[-1]:8.1f} {max(times):8.1f}")
    ratio = statistics.median(busy) / statistics.median(idle)
    print(f"ratio of medians {ratio:.2f}; the fit {'went on' if during else 'ended'} meanwhile")
    print(f"the extra `web` adds {size():.1f} MB, what it needs included")


def size() -> float:
    """Megabytes of the packages that the extra brings, without bytecode."""
    total = 0
    for name in EXTRA:
        try:
            files = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        here = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
        total += sum(path.stat().st_size for path in here if path.is_file())
    return total / 1e6
