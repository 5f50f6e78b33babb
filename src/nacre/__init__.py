"""nacre: differentially private synthetic data with a guarantee that can be checked.

Every name is imported when it is first used, so that `import nacre` waits for nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nacre.registry import METHODS
from nacre.version import __version__

if TYPE_CHECKING:
    from nacre import datasets as datasets
    from nacre.archive import ArchiveError as ArchiveError
    from nacre.draft import buy_lookups as buy_lookups
    from nacre.draft import draft as draft
    from nacre.draft import private_draft as private_draft
    from nacre.errors import BudgetExceeded as BudgetExceeded
    from nacre.errors import LedgerError as LedgerError
    from nacre.errors import NacreError as NacreError
    from nacre.evaluate import Evaluation as Evaluation
    from nacre.evaluate import ImageEvaluation as ImageEvaluation
    from nacre.evaluate import evaluate as evaluate
    from nacre.evaluate import lmdp_report as lmdp_report
    from nacre.fit import fit as fit
    from nacre.ledger import Ledger as Ledger
    from nacre.methods.aim import AIM as AIM
    from nacre.methods.autogan.autogan import AutoGAN as AutoGAN
    from nacre.methods.energy import EnergyGAN as EnergyGAN
    from nacre.methods.energy import SteinGAN as SteinGAN
    from nacre.methods.functional.functional import Functional as Functional
    from nacre.methods.gan import DPCGAN as DPCGAN
    from nacre.methods.gan import DPGAN as DPGAN
    from nacre.methods.medgan import MedGAN as MedGAN
    from nacre.methods.merf import MERF as MERF
    from nacre.methods.moments.moments import Moments as Moments
    from nacre.methods.mosaic.mosaic import Mosaic as Mosaic
    from nacre.methods.mst import MST as MST
    from nacre.methods.pategan.pategan import PATEGAN as PATEGAN
    from nacre.methods.pearl import PEARL as PEARL
    from nacre.methods.ppem.ppem import PPEM as PPEM
    from nacre.methods.wgan import WGAN as WGAN
    from nacre.model import Model as Model
    from nacre.model import load as load
    from nacre.plan import plan as plan
    from nacre.publish import PublicReport as PublicReport
    from nacre.publish import publish as publish
    from nacre.rows import SourceError as SourceError
    from nacre.schema import Boolean as Boolean
    from nacre.schema import Categorical as Categorical
    from nacre.schema import Datetime as Datetime
    from nacre.schema import ImageSchema as ImageSchema
    from nacre.schema import Integer as Integer
    from nacre.schema import Ordinal as Ordinal
    from nacre.schema import Real as Real
    from nacre.schema import Schema as Schema
    from nacre.schema import SchemaError as SchemaError
    from nacre.schema import Time as Time
    from nacre.vault import Adjacency as Adjacency
    from nacre.vault import Guarantee as Guarantee
    from nacre.vault import Plan as Plan

# Where each public name lives.  A room itself (`nacre.datasets`) is named by an empty attribute.
_PLACES = {
    "Adjacency": "nacre.vault:Adjacency",
    "ArchiveError": "nacre.archive:ArchiveError",
    "Boolean": "nacre.schema:Boolean",
    "BudgetExceeded": "nacre.errors:BudgetExceeded",
    "Categorical": "nacre.schema:Categorical",
    "Datetime": "nacre.schema:Datetime",
    "Evaluation": "nacre.evaluate:Evaluation",
    "Guarantee": "nacre.vault:Guarantee",
    "ImageEvaluation": "nacre.evaluate:ImageEvaluation",
    "ImageSchema": "nacre.schema:ImageSchema",
    "Integer": "nacre.schema:Integer",
    "Ledger": "nacre.ledger:Ledger",
    "LedgerError": "nacre.errors:LedgerError",
    "Model": "nacre.model:Model",
    "NacreError": "nacre.errors:NacreError",
    "Ordinal": "nacre.schema:Ordinal",
    "Plan": "nacre.vault:Plan",
    "PublicReport": "nacre.publish:PublicReport",
    "Real": "nacre.schema:Real",
    "Schema": "nacre.schema:Schema",
    "SchemaError": "nacre.schema:SchemaError",
    "SourceError": "nacre.rows:SourceError",
    "Time": "nacre.schema:Time",
    "buy_lookups": "nacre.draft:buy_lookups",
    "datasets": "nacre.datasets:",
    "draft": "nacre.draft:draft",
    "evaluate": "nacre.evaluate:",
    "fit": "nacre.fit:fit",
    "lmdp_report": "nacre.evaluate:lmdp_report",
    "load": "nacre.model:load",
    "plan": "nacre.plan:plan",
    "publish": "nacre.publish:",
    "private_draft": "nacre.draft:private_draft",
    "sites": "nacre.sites:",
}
# Verbs that share their name with the module they live in.
_VERBS = ("draft", "fit", "plan")

# The methods, by the names of their classes: "nacre.methods.pearl:PEARL" is nacre.PEARL.
_PLACES |= {place.partition(":")[2]: place for place in METHODS.values()}

__all__ = ["__version__", *_PLACES]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'nacre' has no attribute '{name}'")
    place, _, attribute = _PLACES[name].partition(":")
    module = import_module(place)
    value = getattr(module, attribute) if attribute else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `nacre.fit` the verb when something imports the module `nacre.fit`.

    Python sets a package's attribute to each submodule that it imports.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _VERBS and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
