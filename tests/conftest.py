"""What all tests share."""

from pathlib import Path

import pytest
from hypothesis import settings

# Times say nothing on a busy machine, and JAX compiles in between.
settings.register_profile("nacre", deadline=None)
settings.load_profile("nacre")

# Files and folders whose tests share something that takes long to make: one worker makes it once.
TOGETHER = (
    "docs",
    "evaluate/images/test_run.py",
    "methods/graphical",
    "methods/test_toy_image.py",
    "privacy/test_publish.py",
    "privacy/test_rates.py",
    "report",
    "test_differences.py",
    "test_fit.py",
    "test_load.py",
    "test_publish.py",
    "vault/test_logistic.py",
    "vault/test_vault.py",
)
HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give each of these a group; the tests of every method's contract one for each method."""
    for item in items:
        path = item.path.as_posix()
        group = next((g for g in TOGETHER if path.startswith((HERE / g).as_posix())), None)
        if item.path.name == "test_contract.py" and "name" in getattr(item, "fixturenames", ()):
            group = f"contract of {item.callspec.params['name']}"
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
