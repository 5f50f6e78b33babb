"""The package's front door: quick to open, and its verbs stay verbs."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import nacre

HEAVY = ("jax", "pyarrow", "sqlalchemy", "pandas", "polars", "sklearn", "opendp", "scipy")


def run(script: str) -> str:
    """What a fresh interpreter prints; it finds the same nacre, installed or not."""
    environment = os.environ | {"PYTHONPATH": str(Path(nacre.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_after(code: str) -> list[str]:
    script = f"{code}\nimport sys\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    return run(script).splitlines()[-1].split()


@pytest.mark.parametrize("code", ["import nacre", "import nacre; dir(nacre)", "import nacre.cli"])
def test_import_waits_for_nothing(code):
    assert loaded_after(code) == []


def test_help_waits_for_nothing():
    code = (
        "import sys; sys.argv = ['nacre', 'fit', '--help']\n"
        "from nacre.cli import main\n"
        "try: main()\n"
        "except SystemExit as done: assert not done.code"
    )
    assert loaded_after(code) == []


def test_the_probe_sees_heavy_imports():
    assert "pyarrow" in loaded_after("import nacre; nacre.Schema")


@pytest.mark.parametrize("name", nacre.__all__)
def test_every_public_name_resolves(name):
    assert getattr(nacre, name) is not None
    assert name in dir(nacre)


def test_unknown_names_are_attribute_errors():
    assert not hasattr(nacre, "fti")


# One interpreter for all, as each would load JAX anew; nacre itself is imported afresh each time.
ORDERS = """
import sys, types

ORDERS = [
    "import nacre.{verb}",
    "import nacre; nacre.{verb}; import nacre.{verb}",
    "from nacre.{verb} import {verb}; import nacre",
    "import nacre.{verb} as module; import nacre",
    "import importlib, nacre; importlib.import_module('nacre.{verb}')",
    "import nacre.model, nacre.methods, nacre",
    "import nacre.{verb}, importlib; importlib.reload(sys.modules['nacre.{verb}']); import nacre",
]
for verb in ("fit", "plan"):
    for order in ORDERS:
        for name in [name for name in sys.modules if name.split(".")[0] == "nacre"]:
            del sys.modules[name]
        space = {"sys": sys}
        exec(order.format(verb=verb) + f"; from nacre import {verb} as found", space)
        assert isinstance(space["found"], types.FunctionType), (verb, order)
        assert getattr(space["nacre"], verb) is space["found"], (verb, order)
"""


def test_a_verb_is_a_function_whatever_was_imported_before():
    run(ORDERS)


def test_the_modules_are_still_there():
    module = importlib.import_module("nacre.fit")
    assert isinstance(module, ModuleType)
    assert isinstance(nacre.fit, FunctionType)
    assert module.fit is nacre.fit


def test_evaluate_is_a_verb_and_a_room():
    import nacre.evaluate.metrics as metrics

    assert callable(nacre.evaluate)
    assert isinstance(metrics, ModuleType)
    assert nacre.evaluate.evaluate.__module__.startswith("nacre.evaluate")
