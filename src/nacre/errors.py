"""The errors that nacre raises itself: their messages are for people and hold no private value."""

from __future__ import annotations


class NacreError(ValueError):
    """What was given, what is needed and what to do; every error of ours is one of these."""


class MissingExtra(NacreError, ImportError):
    """A package that only some features need is not installed; the message names the extra."""


class NameTaken(NacreError):
    """Another file has the name already, and may not be replaced; nothing was written."""


class LedgerError(NacreError):
    """The ledger cannot do what was asked; the message says why and what to do."""


class BudgetExceeded(LedgerError):
    """A reservation would take a data set over its budget; nothing was charged."""


def a_kind(value: object) -> str:
    """What kind of thing was given, as a sentence names it.

    Examples:
        >>> a_kind(3), a_kind("three")
        ('an int', 'a str')
    """
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeio' else 'a'} {name}"


def in_words(error: BaseException) -> str:
    """What may be shown of an error: messages of other libraries may quote a private value."""
    if isinstance(error, NacreError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror}."
    return (
        f"nacre failed in {_origin(error)} ({type(error).__name__}). Its message is not "
        "shown, as it could quote private values. Set NACRE_TRACEBACK=1 to see it, and please "
        "report it."
    )


def _origin(error: BaseException) -> str:
    """The module in which the error came up."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "?" if trace is None else str(trace.tb_frame.f_globals.get("__name__", "?"))
