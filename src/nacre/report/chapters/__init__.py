"""The chapters of the report: figures and tables with the words between them."""

from nacre.report.chapters.columns import columns
from nacre.report.chapters.pairs import pairs
from nacre.report.chapters.privacy import privacy
from nacre.report.chapters.structure import structure
from nacre.report.chapters.usefulness import usefulness

__all__ = ["columns", "pairs", "privacy", "structure", "usefulness"]
