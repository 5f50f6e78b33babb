"""The errors that nacre raises itself: their messages are for people and hold no private value."""

from __future__ import annotations


class NacreError(ValueError):
    """What was given, what is needed and what to do; every error of ours is one of these."""


class MissingExtra(NacreError, ImportError):
    """A package that only some features need is not installed; the message names the extra."""


class LedgerError(NacreError):
    """The ledger cannot do what was asked; the message says why and what to do."""


class BudgetExceeded(LedgerError):
    """A reservation would take a data set over its budget; nothing was charged."""
