"""Packages that are missing are asked for by the extra that brings them."""

import importlib

import pytest

from nacre.errors import MissingExtra
from nacre.evaluate.tables.extras import require


@pytest.mark.parametrize(
    ("module", "extra"),
    [("xgboost", "xgboost"), ("sklearn.metrics", "evaluate"), ("matplotlib", "evaluate")],
)
def test_the_extra_that_is_named_brings_the_package(module, extra, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name=name.partition(".")[0])

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtra, match=rf"nacre-dp\[{extra}\]"):
        require(module)
