"""How long it takes to start: import, --help, and the demo."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds(*command: str, cwd: str | None = None, repeats: int = 3) -> float:
    """The shortest wall time of a command."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True, cwd=cwd)
        times.append(time.perf_counter() - start)
    return min(times)


def main(arguments: list[str]) -> None:
    """Print the table; `--demo` runs the demo too."""
    bare = seconds("-c", "pass")
    start = "import sys; sys.argv[0] = 'nacre'; from nacre.cli import main; main()"
    rows = {
        "python alone": bare,
        "import nacre": seconds("-c", "import nacre"),
        "nacre --help": seconds("-c", start, "--help"),
        "nacre.fit, first use": seconds("-c", "import nacre; nacre.fit"),
    }
    if "--demo" in arguments:
        with tempfile.TemporaryDirectory() as folder:
            rows["nacre demo"] = seconds("-c", start, "demo", cwd=folder, repeats=1)
    for name, value in rows.items():
        print(f"{name:24} {value:7.2f} s")
    size = sum(f.stat().st_size for f in Path(__file__).parent.parent.glob("src/nacre/**/*"))
    print(f"{'package size':24} {size / 1e6:7.2f} MB")
