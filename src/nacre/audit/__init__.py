"""Attacks on our own releases: bounds on epsilon from below, canaries, and negative controls.

A smoke alarm, not a certificate: what it shows is true, what it does not show proves nothing.
"""

from nacre.audit.bounds import LowerBound, counted, shifted, tradeoff
from nacre.audit.controls import CheckedControl, check_controls
from nacre.audit.method import MethodAudit, audit_method
from nacre.audit.one_run import one_run

__all__ = [
    "CheckedControl",
    "LowerBound",
    "MethodAudit",
    "audit_method",
    "check_controls",
    "counted",
    "one_run",
    "shifted",
    "tradeoff",
]
