"""The public report: one self-contained HTML page that is safe to publish."""

from nacre.report.public.card import render_card
from nacre.report.public.page import render

__all__ = ["render", "render_card"]
