"""The chapters of the report: what each template shows, computed from an evaluation."""

from nacre.evaluate.report.chapters.columns import columns
from nacre.evaluate.report.chapters.hidden import hidden
from nacre.evaluate.report.chapters.overview import overall, scores
from nacre.evaluate.report.chapters.pairs import pairs
from nacre.evaluate.report.chapters.privacy import privacy
from nacre.evaluate.report.chapters.structure import structure
from nacre.evaluate.report.chapters.usefulness import usefulness

__all__ = ["columns", "hidden", "overall", "pairs", "privacy", "scores", "structure", "usefulness"]
