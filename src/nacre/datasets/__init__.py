"""Public tables to try things on: Adult is bundled, the other benchmarks are read from a folder."""

from nacre.datasets.benchmarks import NAMES, load
from nacre.datasets.bundled import Split, adult, adult_schema

__all__ = ["NAMES", "Split", "adult", "adult_schema", "load"]
