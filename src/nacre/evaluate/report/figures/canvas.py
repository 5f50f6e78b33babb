"""Matplotlib figures as inline SVG whose colors follow the page, in light and in dark."""

import contextlib
import io
import re
import warnings
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import markupsafe
import numpy as np

from nacre.errors import NacreError
from nacre.evaluate.tables.extras import require
from nacre.report.builder.parts import Drawing

# Figures are drawn with these colors, each then replaced by a variable of the page's style sheet.
ROLES = {
    "ink": "#010203",
    "muted": "#020304",
    "line": "#030405",
    "real": "#040506",
    "paper": "#050607",
    "series-1": "#060708",
    "series-2": "#070809",
    "series-3": "#08090a",
    "series-4": "#090a0b",
    "series-5": "#0a0b0c",
    "series-6": "#0b0c0d",
    "series-7": "#0c0d0e",
    "series-8": "#0d0e0f",
    "series-9": "#0e0f10",
    "series-10": "#0f1011",
}
INK, MUTED, LINE, REAL, PAPER = (ROLES[k] for k in ("ink", "muted", "line", "real", "paper"))
SERIES = tuple(color for role, color in ROLES.items() if role.startswith("series"))

# Pixels cannot follow the style sheet, so these are legible on paper and on a dark page alike.
RASTER = {
    "real": "#7f8a96",
    "plus": "#1b9a96",
    "minus": "#a3568f",
    "less": "#d0682c",
    "more": "#3f7fd0",
    "cells": "#5d6fc4",
}
RASTER_SERIES = (
    *("#1b9a96", "#b061a2", "#c98425", "#5b8bd8", "#d05f78"),
    *("#86a53a", "#8f72d6", "#a57852", "#3fa5d2", "#e5754b"),
)

_STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.8,
    "axes.titlesize": 8.5,
    "axes.titlecolor": INK,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.size": 0,
    "xtick.major.pad": 5,
    "ytick.major.size": 0,
    "text.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def series(place: int) -> str:
    """The color of the n-th synthetic table."""
    return SERIES[place % len(SERIES)]


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Our style, for the time of drawing only; the caller's own is left alone."""
    matplotlib = require("matplotlib")
    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        # A name may hold letters that the measuring font lacks; the reader's browser has them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        warnings.filterwarnings("ignore", message=".*[Tt]ight.?layout.*")
        yield


def new_figure(width: float, height: float, **settings: Any) -> tuple[Any, Any]:
    """A figure of this size in inches, with axes as `Figure.subplots` makes them.

    Made without pyplot, so that nothing of the caller's session is touched.
    """
    figure = require("matplotlib.figure").Figure(figsize=(width, height))
    return figure, figure.subplots(**settings)


def drawn(figure: Any, label: str) -> Drawing:
    """The figure as SVG to be put into the page.

    Args:
        figure: a Matplotlib figure.
        label: what it shows, for readers who cannot see it.
    """
    matplotlib = require("matplotlib")
    # Identifiers inside the SVG are hashes of content and salt: one salt for each figure keeps
    # two figures of a page from sharing, and the page the same from run to run.
    with matplotlib.rc_context({"svg.hashsalt": label}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", dpi=144, metadata={"Date": None, "Creator": None})
    written = buffer.getvalue()
    image = re.search(r'<svg[^>]*viewBox="([^"]*)"[^>]*>(.*)</svg>', written, flags=re.DOTALL)
    if image is None:
        raise NacreError("Matplotlib wrote no SVG image. Install matplotlib 3.10.8 or later.")
    box, content = image.groups()
    content = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", content, flags=re.DOTALL)
    content = re.sub(r'<g id="[^"]*"', "<g", content)
    content = re.sub(r'style="[^"]*"', lambda found: _follow_page(found[0]), content)
    content = re.sub(r' d="[^"]*"', lambda found: _shorten(found[0]), content)
    content = re.sub(r"\n\s*", "\n", content).strip()
    # Matplotlib escapes the text that it draws; the rest is ours.
    return Drawing(box, markupsafe.Markup(content), label)


def write_svg(figure: Any, label: str, path: Path) -> None:
    """The figure as an SVG file of its own, in the colors of the page by day.

    Args:
        figure: a Matplotlib figure.
        label: what it shows, for readers who cannot see it.
        path: where to write it.
    """
    found = drawn(figure, label)
    sheet = resources.files("nacre.report").joinpath("templates", "style.css")
    # The first block of the style sheet names the colors; dark ones follow it.
    names = sheet.read_text(encoding="utf-8").split("}", 1)[0]
    colors = dict(re.findall(r"--([\w-]+): ([^;]+);", names))
    # Names of fonts have quotation marks, which would end the attribute that they are put into.
    content = re.sub(
        r"var\(--([\w-]+)\)", lambda role: colors[role[1]].replace('"', "'"), str(found.content)
    )
    width, height = found.box.split()[2:]
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{found.box}" width="{width}pt" height="{height}pt" role="img">\n'
        f"<title>{markupsafe.escape(label)}</title>\n"
        f'<rect width="100%" height="100%" fill="{colors["paper"]}"/>\n{content}\n</svg>\n',
        encoding="utf-8",
    )


def _follow_page(style: str) -> str:
    for role, color in ROLES.items():
        style = style.replace(color, f"var(--{role})")
    # Matplotlib before 3.11 writes one `font`, later ones a `font-family`.
    style = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font: \1 var(--sans)", style)
    return re.sub(r"font-family: [^;\"]*", "font-family: var(--sans)", style)


def _shorten(path: str) -> str:
    """A hundredth of a point is finer than any screen."""
    return re.sub(r"(\d+\.\d\d)\d+", r"\1", path).replace("\n", " ")


def fading(color: str) -> Any:
    """A color map from nothing to `color`, so that zero is the page itself, light or dark."""
    colors = require("matplotlib.colors")
    red, green, blue = colors.to_rgb(color)
    ramp = np.linspace(0, 1, 256)
    table = np.column_stack([np.full((256, 3), (red, green, blue)), ramp])
    return colors.ListedColormap(table)


def diverging(low: str, high: str) -> Any:
    """A color map from `low` through nothing to `high`."""
    colors = require("matplotlib.colors")
    ramp = np.linspace(-1, 1, 257)
    table = np.array([(*colors.to_rgb(low if r < 0 else high), abs(r)) for r in ramp])
    return colors.ListedColormap(table)
