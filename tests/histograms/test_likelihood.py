"""Likelihoods of rows by joint tables are those of one column after the other."""

from __future__ import annotations

import numpy as np
import pytest

from nacre.histograms import likelihood
from nacre.histograms.likelihood import MOST, class_weights, log_posterior

SIZES = (3, 5, 2, 7, 4)
COMPONENTS = 40


def mixture(sizes, seed=0):
    """Log probabilities of the bins of all columns, (D, R), and rows of their places."""
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.full(size, 0.3), COMPONENTS) for size in sizes]
    logs = np.log(np.concatenate(tables, axis=1) + 1e-9).astype(np.float32).T
    starts = np.cumsum([0, *sizes[:-1]])
    places = np.stack([rng.integers(0, size, 500) for size in sizes], axis=1) + starts
    return logs, places


def shares(found):
    return found / found.sum(1, keepdims=True)


@pytest.mark.parametrize("classes", [2, 6])
@pytest.mark.parametrize("room", [1 << 21, 40 * COMPONENTS, 1])
def test_products_of_tables_are_products_of_columns(monkeypatch, room, classes):
    monkeypatch.setattr(likelihood, "ROOMS", (room,))
    logs, places = mixture(SIZES)
    w = np.random.default_rng(2).dirichlet(np.ones(classes), COMPONENTS).astype(np.float32)
    found = class_weights(logs, w, places)
    assert found is not None
    wanted = np.exp(logs.astype(np.float64)[places].sum(1)) @ w
    np.testing.assert_allclose(shares(found), shares(wanted), atol=1e-5)


def test_few_tables_or_none(monkeypatch):
    monkeypatch.setattr(likelihood, "ROOMS", (1,))
    w = np.ones((COMPONENTS, 1), np.float32)
    for columns, fits in ((MOST, True), (MOST + 1, False)):
        logs, places = mixture((2,) * columns)
        assert (class_weights(logs, w, places) is not None) is fits


def test_unlikely_everywhere_is_not_lost():
    # No component likes both columns, so every product is tiny; their ratio is 2 all the same.
    logs = np.log(np.array([[1.0, 1e-9], [1e-9, 1.0], [1e-9, 0.5], [1.0, 1e-9]], np.float32))
    p, w = np.exp(logs).T, np.eye(2, dtype=np.float32)
    chance = np.exp(log_posterior(p, w, np.array([[0, 2]])))
    np.testing.assert_allclose(chance[0], [2 / 3, 1 / 3], atol=1e-3)


@pytest.mark.parametrize("room", [1 << 21, 1])
def test_posteriors_do_not_depend_on_the_way(monkeypatch, room):
    logs, places = mixture((3, 4, 5, 2, 3, 4, 2))
    rng = np.random.default_rng(1)
    p, w = np.exp(logs).T, rng.dirichlet(np.ones(3), COMPONENTS).astype(np.float32)
    usual = log_posterior(p, w, places)
    monkeypatch.setattr(likelihood, "ROOMS", (room,))
    np.testing.assert_allclose(log_posterior(p, w, places), usual, atol=2e-4)
