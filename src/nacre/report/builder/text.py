"""Numbers and names as a page writes them."""

from typing import Any, NamedTuple


def printable(value: Any) -> Any:
    r"""Text without control characters: HTML does not allow them, and a name may hold any.

    Markup is left alone.

    Examples:
        >>> printable("a\nb\x07"), printable(3)
        ('a b ', '3')
    """
    if hasattr(value, "__html__"):
        return value
    return "".join(c if c.isprintable() else " " for c in str(value))


def short(value: str, most: int = 28) -> str:
    """A name cut to a length that fits a figure.

    Examples:
        >>> short("Married-civ-spouse", 10)
        'Married-c…'
    """
    value = printable(value).strip() or "(empty)"
    return value if len(value) <= most else value[: most - 1] + "…"


def number(value: float | None, digits: int = 3) -> str:
    """A number for tables; an em dash for none.

    Examples:
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


def significant(value: float) -> str:
    """A number to four digits, as ε is written.

    Examples:
        >>> significant(1.0), significant(0.30000001)
        ('1', '0.3')
    """
    return f"{value:.4g}"


def minute(moment: Any) -> str:
    """A moment up to its minute.

    Examples:
        >>> minute("2024-05-01T12:34:56.789")
        '2024-05-01 12:34'
    """
    return str(moment)[:16].replace("T", " ")


class Power(NamedTuple):
    """A number, and the power of ten that is written above its line, if any."""

    text: str
    exponent: str = ""


def power(value: float) -> Power:
    """A small number with its power of ten.

    Examples:
        >>> tuple(power(1e-6)), tuple(power(2.5e-7)), tuple(power(0.01))
        (('10', '−6'), ('2.5 × 10', '−7'), ('0.01', ''))
    """
    if not 0 < value < 1e-3:
        return Power(f"{value:.3g}")
    factor, _, exponent = f"{value:.2e}".partition("e")
    factor = factor.rstrip("0").rstrip(".")
    lead = "" if factor == "1" else f"{factor} × "
    return Power(f"{lead}10", f"−{-int(exponent)}")
