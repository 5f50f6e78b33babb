"""HTML that is safe by construction: whatever is not markup already is escaped."""

import html
from typing import Any


class Markup(str):
    """Text that is HTML already, made by `tag` or written by us."""

    __slots__ = ()


def text(value: Any) -> Markup:
    """`value` as HTML: markup stays, everything else is escaped.

    Example:
        >>> text("<script>"), text(Markup("<b>x</b>"))
        ('&lt;script&gt;', '<b>x</b>')
    """
    return value if isinstance(value, Markup) else Markup(html.escape(_printable(str(value))))


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """An element. A trailing underscore in an attribute's name is dropped; None leaves it out.

    Example:
        >>> tag("p", "a < b", class_="note", title='"')
        '<p class="note" title="&quot;">a &lt; b</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(text(child) for child in children)}</{name}>")


def join(*parts: Any) -> Markup:
    """Several pieces, one after the other."""
    return Markup("".join(text(part) for part in parts))


def _printable(value: str) -> str:
    """Without control characters: they are not allowed in HTML, and a name may hold any."""
    return "".join(c if c.isprintable() else " " for c in value)


def short(value: str, most: int = 28) -> str:
    """A name cut to a length that fits a figure.

    Example:
        >>> short("Married-civ-spouse", 10)
        'Married-c…'
    """
    value = _printable(value).strip() or "(empty)"
    return value if len(value) <= most else value[: most - 1] + "…"


def number(value: float | None, digits: int = 3) -> str:
    """A number for tables; an em dash for none.

    Example:
        >>> number(0.12345), number(None), number(1234.5), number(3e-4), number(-0.5)
        ('0.123', '—', '1,234', '0.0003', '−0.500')
    """
    if value is None or value != value:
        return "—"
    if abs(value) >= 1000:
        written = f"{value:,.0f}"
    elif 0 < abs(value) < 10**-digits:
        written = f"{value:.5f}".rstrip("0") if abs(value) >= 1e-5 else f"{value:.0e}"
    else:
        written = f"{value:.{digits}f}"
    return written.replace("-", "−", 1) if value < 0 else written


def power(value: float) -> Markup:
    """A small number with its power of ten.

    Example:
        >>> power(1e-6), power(2.5e-7), power(0.01)
        ('10<sup>−6</sup>', '2.5 × 10<sup>−7</sup>', '0.01')
    """
    if not 0 < value < 1e-3:
        return text(f"{value:.3g}")
    factor, _, exponent = f"{value:.2e}".partition("e")
    factor = factor.rstrip("0").rstrip(".")
    lead = "" if factor == "1" else f"{factor} × "
    return join(f"{lead}10", tag("sup", f"−{-int(exponent)}"))
