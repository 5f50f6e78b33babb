"""The one page that both reports are: a banner, a header, chapters, and a footer."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
import markupsafe

from nacre.report.builder.text import minute, number, power, printable, significant


@dataclasses.dataclass(frozen=True, eq=False)
class Chapter:
    """A part of the page.

    Attributes:
        anchor: its identifier; the template is the one of this name.
        title: its heading.
        view: what the template shows; nothing if the chapter is to be left out.
        family: what the template's name begins with.
    """

    anchor: str
    title: str
    view: Mapping[str, Any] | None
    family: str = ""

    @property
    def template(self) -> str:
        """The file that lays it out."""
        return f"{self.family}{self.anchor}.html"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Page:
    """What a reader sees.

    Attributes:
        title: of the window.
        banner: the first words.
        kicker: the line above the heading.
        heading: the large words.
        lede: the sentence below.
        chapters: in the order of what matters.
        footer: a paragraph each.
        public: whether everybody may read it.
        note: what a reader has to know before all else, below the lede; none if empty.
    """

    title: str
    banner: str
    kicker: str
    heading: str
    lede: str
    chapters: Sequence[Chapter]
    footer: Sequence[str]
    public: bool
    note: str = ""

    @property
    def style(self) -> markupsafe.Markup:
        """The style sheets, which are ours."""
        sheets = ["style.css", "public.css"] if self.public else ["style.css"]
        folder = resources.files("nacre.report").joinpath("templates")
        return markupsafe.Markup("".join(folder.joinpath(s).read_text("utf-8") for s in sheets))


def build(page: Page) -> str:
    """The page as HTML, without the chapters that have nothing to show."""
    shown = [chapter for chapter in page.chapters if chapter.view is not None]
    return fill("page.html", page=dataclasses.replace(page, chapters=shown))


def fill(template: str, **values: Any) -> str:
    """A template with its values, each escaped unless it is markup made here."""
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    return environment("nacre.report")


def environment(*packages: str) -> jinja2.Environment:
    """Where templates of these packages are filled, the first that has one: all of it escaped."""
    found = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "number": number,
        "power": power,
        "significant": significant,
        "minute": minute,
    }
    return found
