"""Generators: distributions over encoded rows that a method fits to noisy answers."""

from nacre.nets.generator import AbstractGenerator

__all__ = ["AbstractGenerator"]
