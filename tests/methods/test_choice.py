"""Methods by name, and settings as a person types them."""

import dataclasses
from typing import Any, Literal

import pytest

import nacre
from nacre import registry
from nacre.methods import METHODS, AbstractMethod, choose, find, meanings, with_settings
from nacre.methods.settings import in_words, parse
from nacre.registry import AUTOMATIC, ENCODERS, GENERATORS, load_class


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12", int, 12),
        ("-3", int, -3),
        ("1e-3", float, 1e-3),
        ("2", float, 2.0),
        ("True", bool, True),
        ("false", bool, False),
        ("any thing", str, "any thing"),
        ("aim", Literal["aim", "mst"], "aim"),
        ("64,32", tuple[int, ...], (64, 32)),
        ("(64, 32,)", tuple[int, ...], (64, 32)),
        ("", tuple[int, ...], ()),
        ("0.5", tuple[float, ...], (0.5,)),
        ("none", int | None, None),
        ("NULL", int | None, None),
        ("", float | None, None),
        ("7", int | None, 7),
        ("7.5", int | float, 7.5),
        ("1,2", tuple[int, ...] | None, (1, 2)),
    ],
)
def test_text_becomes_what_the_setting_is(text, kind, value):
    found = parse(text, kind)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("1.5", int, "a whole number"),
        ("many", float, "a number"),
        ("1", bool, "true or false"),
        ("pgm", Literal["aim", "mst"], "aim or mst"),
        ("64,x", tuple[int, ...], "a list such as 64,32, each a whole number"),
        ("x", int | None, "a whole number or none"),
        ("none", int, "a whole number"),
    ],
)
def test_text_that_is_something_else_is_refused(text, kind, words):
    with pytest.raises(ValueError):
        parse(text, kind)
    assert in_words(kind) == words


def test_settings_are_set_by_name():
    method = with_settings("MOSAIC", {"steps": "25", "trust": "0.25"})
    assert method == nacre.Mosaic(steps=25, trust=0.25)
    assert with_settings("auto", {}) == nacre.Mosaic()


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        ("mosiac", {}, r"no method 'mosiac'.*aim.*mst.*mosaic"),
        ("mosaic", {"step": "3"}, r"Mosaic has no setting 'step'. It has: .*trust.*'steps'"),
        ("mosaic", {"steps": "3.5"}, r"steps=3.5: '3.5' is not a whole number.*default is 1200"),
        ("mosaic", {"trust": "high"}, "trust=high: 'high' is not a number. The default is 0.5"),
        ("mosaic", {"trust": "2"}, "trust must be a number from 0 to 1"),
        ("mosaic", {"title": "x"}, "no setting 'title'"),
    ],
)
def test_what_is_wrong_with_a_setting_is_said(method, settings, said):
    with pytest.raises(nacre.NacreError, match=said):
        with_settings(method, settings)


@pytest.mark.parametrize("name", METHODS)
def test_every_name_in_the_registry_leads_to_a_method(name):
    kind = find(name.upper())
    assert issubclass(kind, AbstractMethod) and dataclasses.is_dataclass(kind)
    assert getattr(nacre, kind.__name__) is kind
    assert all(choose(name, data)[0] == kind() for data in kind.data)
    assert kind.data and kind.data <= {"table", "image"}
    assert set(meanings(kind)) == {field.name for field in dataclasses.fields(kind)}
    assert type(kind().small()) is kind


def test_every_other_name_leads_to_its_class():
    for table in (ENCODERS, GENERATORS):
        for name, place in table.items():
            found: Any = load_class(table, name)
            assert place == f"{found.__module__}:{found.__name__}"
    assert all(load_class(GENERATORS, name).__name__ == name for name in GENERATORS)
    assert all(load_class(ENCODERS, kind).kind == kind for kind in ENCODERS)
    assert all(name in METHODS for name, _ in AUTOMATIC.values())
    with pytest.raises(KeyError):
        load_class(GENERATORS, "os:system")


def test_a_line_in_the_registry_is_all_that_a_name_needs(monkeypatch):
    monkeypatch.setitem(registry.METHODS, "same", "nacre.methods.mst:MST")
    assert choose("same")[0] == nacre.MST()
