"""The chapters of the report: what each template shows, computed from an evaluation."""

from nacre.report.chapters.columns import columns
from nacre.report.chapters.overview import overall, scores
from nacre.report.chapters.pairs import pairs
from nacre.report.chapters.privacy import privacy
from nacre.report.chapters.structure import structure
from nacre.report.chapters.usefulness import usefulness

__all__ = ["columns", "overall", "pairs", "privacy", "scores", "structure", "usefulness"]
