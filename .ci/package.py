"""What was built holds everything that it should, and the wheel works where our source is not.

    python .ci/package.py DIST FOLDER

DIST holds one wheel and one sdist.  The wheel is installed into a new virtual environment in
FOLDER, without its dependencies: those are lent by the environment that runs this, whose own
(editable) nacre the new one cannot see.  So what is proved is that the wheel itself is whole: its
modules, data and command.  That its dependencies resolve is what `make setup` and `make
test-lowest` show.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("tests", "docs", "bench")  # what the sdist has beside the package
USE = """
import importlib.metadata, pathlib, sys
import nacre
assert pathlib.Path(nacre.__file__).is_relative_to(sys.prefix), nacre.__file__
assert importlib.metadata.version("nacre-dp") == nacre.__version__
assert nacre.datasets.adult_schema().label
assert len(nacre.datasets.adult()[0])
"""


def wanted() -> set[str]:
    """Every file of the package, as it is named in the wheel."""
    files = (path for path in (ROOT / "src/nacre").rglob("*") if path.is_file())
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in files
        if "__pycache__" not in path.parts
    }


def only(dist: Path, pattern: str) -> Path:
    """The one file of this kind."""
    (found,) = dist.glob(pattern)
    return found


def check_contents(dist: Path) -> None:
    """Both archives hold the whole package."""
    with zipfile.ZipFile(only(dist, "*.whl")) as wheel:
        missing = wanted() - set(wheel.namelist())
    with tarfile.open(only(dist, "*.tar.gz")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    missing |= {f"src/{name}" for name in wanted()} - names
    missing |= {folder for folder in BESIDE if not any(n.startswith(f"{folder}/") for n in names)}
    if missing:
        sys.exit(f"Not in what was built: {', '.join(sorted(missing))}.")


def check_use(dist: Path, folder: Path) -> None:
    """The command answers and the bundled data are found, from a folder without our source."""
    venv.create(folder, clear=True, symlinks=True)
    python = folder / "bin/python"
    # Not "-e" and no index: this very wheel, or nothing.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run([*pip, "install", "-qq", "--no-deps", "--no-index", str(only(dist, "*.whl"))], folder)
    ours = sysconfig.get_path("purelib", vars={"base": str(folder)})
    # A path in a .pth file is searched, but .pth files that lie there are not read.
    lent = Path(sysconfig.get_path("purelib"))
    (Path(ours) / "lent.pth").write_text(f"{lent}\n")
    run([str(folder / "bin/nacre"), "--help"], folder)
    run([str(python), "-c", USE], folder)


def run(command: list[str], folder: Path) -> None:
    """Run a command without what this environment adds to Python's path."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command[:4])} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    built, place = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    check_contents(built)
    check_use(built, place)
