"""The report: one self-contained HTML page, confidential to the data holder."""

from nacre.evaluate.report.card import render_card
from nacre.evaluate.report.page import render

__all__ = ["render", "render_card"]
