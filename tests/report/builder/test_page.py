"""Templates escape whatever they are given, and say what they lack."""

import re
from importlib import resources

import jinja2
import pytest

from nacre.evaluate.findings.finding import Finding
from nacre.report.builder import fill

NASTY = '<"&\n\x07>'


def test_text_and_attributes_are_escaped():
    card = fill(
        "card.html",
        banner=NASTY,
        tables=[{"name": NASTY, "findings": [Finding("care", "x", NASTY)]}],
        guarantee=NASTY,
        head=[NASTY],
        rows=[[{"text": NASTY, "title": NASTY}]],
    )
    assert NASTY not in card and "\x07" not in card
    assert card.count("&lt;&#34;&amp;  &gt;") == 7
    assert 'title="&lt;&#34;&amp;' in card


def test_what_is_lacking_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        fill("card.html", banner="x")


def test_no_template_turns_escaping_off():
    folder = resources.files("nacre.report").joinpath("templates")
    names = [file.name for file in folder.iterdir()]
    assert {"page.html", "parts.html", "style.css", "public.css"} <= set(names)
    for name in names:
        if name.endswith(".html"):
            text = folder.joinpath(name).read_text("utf-8")
            assert not re.search(r"\|\s*safe|autoescape|Markup", text), name
