"""Toy methods, each one file, named in the registry as the built-in ones are."""

import pytest

from nacre import registry

TOYS = {"toy-steps": "toy_steps:ToySteps", "toy-mean": "toy_image:ToyMean"}
GENERATORS = {"ToyHistograms": "toy_steps", "ToyPrototypes": "toy_image"}


@pytest.fixture(scope="module")
def toys():
    """Register them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, place in TOYS.items():
            patch.setitem(registry.METHODS, name, f"tests.methods.{place}")
        for name, place in GENERATORS.items():
            patch.setitem(registry.GENERATORS, name, f"tests.methods.{place}:{name}")
        yield
