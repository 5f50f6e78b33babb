"""Public data to try things on: Adult is bundled, other tables and images come from a folder."""

from nacre.datasets.benchmarks import NAMES, load
from nacre.datasets.bundled import Split, adult, adult_schema
from nacre.datasets.images import ImageSplit, celeba, digits, load_images

__all__ = [
    "NAMES",
    "ImageSplit",
    "Split",
    "adult",
    "adult_schema",
    "celeba",
    "digits",
    "load",
    "load_images",
]
