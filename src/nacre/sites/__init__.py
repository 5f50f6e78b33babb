"""Rows that cannot be pooled: each site adds up its own, and noise is added to the total."""

from nacre.sites.answers import Answers
from nacre.sites.release import release, train
from nacre.sites.sketch import Sketch, merge, sketch

__all__ = ["Answers", "Sketch", "merge", "release", "sketch", "train"]
