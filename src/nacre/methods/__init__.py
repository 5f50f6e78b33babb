"""The methods, one file each; the registry names them."""

from nacre.methods.choice import choose, find, meanings, with_settings
from nacre.methods.method import AbstractMethod
from nacre.registry import METHODS

__all__ = ["METHODS", "AbstractMethod", "choose", "find", "meanings", "with_settings"]
