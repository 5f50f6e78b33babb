"""Settings that a method cannot use are refused when it is made; others: test_any_schema.py."""

import dataclasses
import itertools
import math

import pytest

import nacre
from nacre.errors import NacreError
from nacre.methods import METHODS, find


def fields(kind):
    """The settings that are numbers."""
    return [f.name for f in dataclasses.fields(kind) if type(f.default) in (int, float)]


@pytest.mark.parametrize("kind", [find(name) for name in METHODS], ids=METHODS)
def test_every_setting_has_a_range(kind):
    wrong = [math.nan, -math.inf, -3, "3", None, True, 10**30]
    for name, value in itertools.product(fields(kind), wrong):
        with pytest.raises(NacreError, match=f"{name} must be"):
            kind(**{name: value})


@pytest.mark.parametrize("kind", [find(name) for name in METHODS], ids=METHODS)
def test_every_word_is_one_of_a_list(kind):
    for field in dataclasses.fields(kind):
        if isinstance(field.default, str):
            with pytest.raises(NacreError, match=f"{field.name} must be .* or "):
                kind(**{field.name: "anything"})


@pytest.mark.parametrize("kind", [find(name) for name in METHODS], ids=METHODS)
def test_whole_settings_are_whole_and_defaults_pass(kind):
    defaults = kind()
    for name in fields(kind):
        if isinstance(getattr(defaults, name), int):
            with pytest.raises(NacreError, match="whole number"):
                kind(**{name: 4.5})


def test_the_steps_that_a_schedule_needs_are_asked_for_before_a_row_is_read():
    for kind in (nacre.PEARL, nacre.MERF):
        with pytest.raises(NacreError, match="steps must be a whole number from 2"):
            kind(steps=1)
