"""Models that reports are made of: fitted once for all tests."""

import functools

import pytest
from tests.publish.people import SCHEMA, SMALL, people

import nacre
from nacre.methods.merf import MERF


@pytest.fixture(scope="session")
def model() -> nacre.Model:
    """A model that brings histograms."""
    return nacre.fit(people(), SCHEMA, method=SMALL, epsilon=500, delta=1e-6)


@pytest.fixture(scope="session")
def silent():
    """Models under an adjacency that bring no histograms, so that all of them are bought."""

    @functools.cache
    def fit(adjacency):
        method = MERF(frequencies=20, steps=5, components=4)
        cost = {"epsilon": 500, "delta": 1e-6, "adjacency": adjacency}
        return nacre.fit(people(), SCHEMA, method=method, **cost)

    return fit
