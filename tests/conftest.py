"""What all tests share."""

import gc
import os
import tempfile
from pathlib import Path

# Before scikit-learn is loaded: there is a worker for each core, and threads that wait for one
# another on a busy core take more time than they save.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import jax
import pytest
from hypothesis import settings
from tests.compiling import quickly, share_contexts, shorten

# Times say nothing on a busy machine, and JAX compiles in between.
settings.register_profile("nacre", deadline=None)
settings.load_profile("nacre")

# What is imported and collected stays: until all of it is there no search would find garbage.
gc.disable()

# Folders whose files share something that takes long to make: one worker makes it once.
TOGETHER = (
    "docs",
    "methods/graphical",
    "methods/moments",
    "publish",
    "report",
    "sites/masked",
)
# Files whose tests share what is made for a method, by whose name each begins in brackets.
BY_METHOD = (
    "methods/test_any_schema.py",
    "methods/test_contract.py",
    "methods/test_image_contract.py",
    "methods/test_settings.py",
)
# Files and folders whose tests ask for what the compiler makes for users, to the last bit, or take
# so many steps that careless programs take longer than careful ones take to compile.
AS_FOR_USERS = (
    "engines",
    "evaluate/images",
    "privacy",
    "test_exact.py",
    "vault/test_exact_sum.py",
    "vault/test_integers.py",
    "vault/test_view.py",
)
# Of these, files that ask who may ask what, what is recorded, and where noise comes from, which no
# compiler decides; and one of networks that take few steps.
QUICKLY_ALL_THE_SAME = (
    "evaluate/images/test_networks.py",
    "privacy/test_audit.py",
    "privacy/test_bad_rows.py",
    "privacy/test_charging.py",
    "privacy/test_honest_programs.py",
    "privacy/test_not_private.py",
    "privacy/test_programs.py",
    "privacy/test_public_arrays.py",
    "privacy/test_public_constants.py",
    "privacy/test_publish.py",
    "privacy/test_seed.py",
)
HERE = Path(__file__).parent


def pytest_configure(config):
    """Keep what JAX compiles, each worker in a new folder of its own, until the run is over.

    Most of a small fit is compiling, and each fit asks anew for programs that an earlier test had
    compiled; what is kept under the hash of a program is what the compiler made of it, bit by bit.
    """
    folder = tempfile.TemporaryDirectory(prefix="nacre-compiled-")
    config.add_cleanup(folder.cleanup)
    jax.config.update("jax_compilation_cache_dir", folder.name)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    # Each operation would carry ten frames of Python that nobody reads.
    jax.config.update("jax_traceback_in_locations_limit", 0)
    shorten()
    share_contexts()


def pytest_collection_finish(session):
    """Leave thousands of tests out of every search for garbage, and search less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


def among(path, places):
    """The first of these places that the path is, or is in."""
    return next((p for p in places if path.is_relative_to(HERE / p)), None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Choose how the compiler works."""
    as_for_users = among(item.path, AS_FOR_USERS) and not among(item.path, QUICKLY_ALL_THE_SAME)
    quickly(not as_for_users)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Workers take files, or what stands above, one after the other and in the order of names.

    So what a module's tests share is made once, and the compiler's work changes seldom.  It is not
    done by marks of groups, as those of xdist 3.8 are lost under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return shared_by(nodeid)

    config.option.loadscopereorder = False
    return Together(config, log)


def shared_by(nodeid):
    """What a test shares its fixtures with: a folder, a file, or the tests of a method."""
    place, _, test = nodeid.partition("::")
    path = HERE.parent / place
    if among(path, BY_METHOD) and "[" in test:
        name = test.partition("[")[2].removesuffix("]")
        return "method " + name.removesuffix("-add-remove").removesuffix("-replace-one")
    return among(path, TOGETHER) or place
