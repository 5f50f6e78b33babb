"""A table of DP-auto-GAN's width: 1,071 two-valued columns and no label."""

import pytest

import nacre
from nacre.schema import Boolean, Schema
from nacre.vault.doors.sum import LARGEST_RELEASE

SCHEMA = Schema({f"c{i}": Boolean() for i in range(1071)})


@pytest.mark.parametrize("method", ["auto", "merf", "pearl"])
def test_a_plan_stays_within_what_a_release_may_hold(method):
    plan = nacre.plan(SCHEMA, method=method, epsilon=1.0, delta=1e-6, rows=50_000)
    sizes = [release.size for release in plan.releases]
    assert sizes and max(sizes) <= LARGEST_RELEASE
    # All pairs of values would be 2.3 million numbers; Mosaic asks for those of few columns.
    assert sum(sizes) < 1_000_000
