"""Generators: distributions over encoded rows that a method fits to noisy answers."""

from nacre.nets.generator import AbstractGenerator
from nacre.nets.graphical import GraphicalGenerator
from nacre.nets.mixture import MixtureGenerator
from nacre.nets.mosaic import MosaicGenerator

GENERATORS: dict[str, type[AbstractGenerator]] = {
    "GraphicalGenerator": GraphicalGenerator,
    "MixtureGenerator": MixtureGenerator,
    "MosaicGenerator": MosaicGenerator,
}

__all__ = [
    "GENERATORS",
    "AbstractGenerator",
    "GraphicalGenerator",
    "MixtureGenerator",
    "MosaicGenerator",
]
