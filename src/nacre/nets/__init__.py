"""Generators: distributions over encoded rows that a method fits to noisy answers."""

from nacre.nets.generator import AbstractGenerator
from nacre.nets.mixture import MixtureGenerator

GENERATORS: dict[str, type[AbstractGenerator]] = {"MixtureGenerator": MixtureGenerator}

__all__ = ["GENERATORS", "AbstractGenerator", "MixtureGenerator"]
