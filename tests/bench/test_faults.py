"""A few kills and a few processes of what `python -m bench faults` does a hundred times."""

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import typer
from bench.faults import children

import nacre
from bench import faults, fuzz
from nacre.cli.fit import _save

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.mark.parametrize("kind", [kind for kind in faults.KINDS if kind != "fit"])  # noise is one
def test_killed_processes_lose_nothing(kind, tmp_path):
    found = faults.kills(kind, 1, tmp_path, span=1.0)
    assert found.pop("kills") == 1
    for harmless in ("reservations", "left open"):
        found.pop(harmless)
    assert not any(found.values()), found


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        yield tmp_path / "crowd.db"
        return
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(faults.server())
        except faults.Missing as missing:
            pytest.skip(f"PostgreSQL: {missing}")
        yield address


def test_a_crowd_at_one_ledger_never_overspends(place):
    found = faults.crowd(4, place, share=0.05)
    assert (found["failed"], found["granted"], found["spent"]) == (0, 20, 1.0)
    assert found["lost records"] == 0


def test_a_disk_without_room_loses_no_model_and_no_table(tmp_path):
    """By a limit on the size of files, which needs no rights: the model and the rows hit it."""
    rows, schema = children.table()
    model = nacre.fit(rows, schema, method=children.method(), epsilon=1, delta=1e-6)
    model.save(tmp_path / "m.nacre")
    before = (tmp_path / "m.nacre").read_bytes()
    (tmp_path / "old.csv").write_text("old\n")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    def run(words):
        return subprocess.run(
            [sys.executable, "-c", words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            preexec_fn=limit,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"},
        )

    done = run("import nacre; nacre.load('m.nacre').save('m.nacre', replace=True)")
    assert "OSError" in done.stderr and (tmp_path / "m.nacre").read_bytes() == before
    command = "from nacre.cli import main; import sys; sys.argv[1:] = {}; main()"
    for name in ("old.csv", "new.parquet"):
        done = run(command.format(["sample", "m.nacre", "-n", "5000", "--force", "-o", name]))
        assert done.returncode == 1 and f"{name}: File too large" in done.stderr
        assert "Traceback" not in done.stderr
    assert (tmp_path / "old.csv").read_text() == "old\n"
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"m.nacre", "old.csv"}


def test_a_model_that_was_paid_for_is_saved_elsewhere(tmp_path, monkeypatch):
    rows, schema = children.table()
    model = nacre.fit(rows, schema, method=children.method(), epsilon=1, delta=1e-6)
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(spare))
    with pytest.raises(typer.Exit) as stopped:
        _save(model, tmp_path / "gone" / "m.nacre", force=False)
    assert stopped.value.exit_code == 1
    assert nacre.load(next(spare.iterdir())).guarantee == model.guarantee


def test_hostile_input_is_refused_in_words():
    outcomes, found = fuzz.run(300, seed=1, minutes=5)
    assert sum(outcomes.values()) == 300
    assert not found, found
