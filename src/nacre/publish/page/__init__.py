"""The public report: one self-contained HTML page that is safe to publish."""

from nacre.publish.page.card import render_card
from nacre.publish.page.page import render

__all__ = ["render", "render_card"]
