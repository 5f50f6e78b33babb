"""What all tests share."""

import tempfile
from pathlib import Path

import jax
import pytest
from hypothesis import settings

# Times say nothing on a busy machine, and JAX compiles in between.
settings.register_profile("nacre", deadline=None)
settings.load_profile("nacre")

# Files and folders whose tests share something that takes long to make: one worker makes it once.
TOGETHER = (
    "cli/test_images.py",
    "docs",
    "evaluate/images/test_run.py",
    "methods/graphical",
    "methods/moments",
    "methods/test_toy_image.py",
    "privacy/test_publish.py",
    "privacy/test_rates.py",
    "publish",
    "report",
    "test_differences.py",
    "test_fit.py",
    "test_load.py",
    "vault/test_logistic.py",
    "vault/test_vault.py",
)
# Files and folders whose tests ask nothing of the last bits of a number and take few steps: their
# programs are compiled without the compiler's optimizations, which takes half as long.
UNOPTIMIZED = (
    "cli",
    "docs",
    "methods/ppem",
    "methods/test_any_schema.py",
    "methods/test_autogan.py",
    "methods/test_contract.py",
    "methods/test_functional.py",
    "methods/test_gan.py",
    "methods/test_image_contract.py",
    "methods/test_settings.py",
    "publish",
    "report",
    "test_fit.py",
    "test_load.py",
    "test_sample.py",
)
HERE = Path(__file__).parent
QUICKLY = pytest.StashKey[bool]()


def pytest_configure(config):
    """Keep what JAX compiles, each worker in a new folder of its own, until the run is over.

    Most of a small fit is compiling, and each fit asks anew for programs that an earlier test had
    compiled; what is kept under the hash of a program is what the compiler made of it, bit by bit.
    """
    folder = tempfile.TemporaryDirectory(prefix="nacre-compiled-")
    config.add_cleanup(folder.cleanup)
    jax.config.update("jax_compilation_cache_dir", folder.name)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def among(path, places):
    """The first of these places that the path is, or is in."""
    return next((p for p in places if path.is_relative_to(HERE / p)), None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Choose how the compiler works; what was compiled the other way must not be met again."""
    quickly = among(item.path, UNOPTIMIZED) is not None
    if item.config.stash.get(QUICKLY, False) is not quickly:
        item.config.stash[QUICKLY] = quickly
        jax.config.update("jax_disable_most_optimizations", quickly)
        jax.clear_caches()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give each of these a group; the tests of every method's contract one for each method."""
    for item in items:
        group = among(item.path, TOGETHER)
        if item.path.name.endswith("_contract.py") and "name" in getattr(item, "fixturenames", ()):
            group = f"{item.path.name} of {item.callspec.params['name']}"
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
