"""What can be named from outside, in text: methods, and what a model file may hold.

Each name leads to "module:Class", imported when it is asked for.  A new method is its own file and
one line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

METHODS = {
    "mosaic": "nacre.methods.mosaic.mosaic:Mosaic",
    "pearl": "nacre.methods.pearl:PEARL",
    "merf": "nacre.methods.merf:MERF",
    "functional": "nacre.methods.functional.functional:Functional",
    "autogan": "nacre.methods.autogan.autogan:AutoGAN",
    "dpgan": "nacre.methods.gan:DPGAN",
    "dpcgan": "nacre.methods.gan:DPCGAN",
    "pategan": "nacre.methods.pategan.pategan:PATEGAN",
    "wgan": "nacre.methods.wgan:WGAN",
    "energygan": "nacre.methods.energy:EnergyGAN",
    "steingan": "nacre.methods.energy:SteinGAN",
    "medgan": "nacre.methods.medgan:MedGAN",
    "ppem": "nacre.methods.ppem.ppem:PPEM",
    "aim": "nacre.methods.aim:AIM",
    "mst": "nacre.methods.mst:MST",
    "moments": "nacre.methods.moments.moments:Moments",
}

AUTOMATIC = {
    "table": ("mosaic", "Mosaic has scored best on tables"),
    "image": ("moments", "Moments has scored best on images"),
}
"""What 'auto' means for each kind of data, and why."""
HIDING = ("ppem", "the schema protects columns, and PPEM alone can hide their distribution")
"""What 'auto' means where a schema asks to hide the distribution of columns."""

ENCODERS = {
    "table": "nacre.rows.table:TableEncoder",
    "image": "nacre.rows.image:ImageEncoder",
}

GENERATORS = {
    "GraphicalGenerator": "nacre.methods.graphical.generator:GraphicalGenerator",
    "MixtureGenerator": "nacre.nets.mixture:MixtureGenerator",
    "MomentsGenerator": "nacre.methods.moments.generator:MomentsGenerator",
    "MosaicGenerator": "nacre.methods.mosaic.generator:MosaicGenerator",
    "NetworkGenerator": "nacre.nets.network:NetworkGenerator",
    "NetworksByClass": "nacre.nets.by_class:NetworksByClass",
    "PPEMGenerator": "nacre.methods.ppem.generator:PPEMGenerator",
}


def load_class(places: Mapping[str, str], name: str) -> Any:
    """The class of that name; KeyError if there is none."""
    module, _, attribute = places[name].partition(":")
    return getattr(import_module(module), attribute)
