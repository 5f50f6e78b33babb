"""What may be said about a model in public: post-processing, and what is paid for.

Nothing here sees a private row except through the vault, and then only if budget is given.
"""

import sys
from types import ModuleType
from typing import Any

from nacre.publish.bands import Band
from nacre.publish.images import PublicImages
from nacre.publish.public import PublicReport
from nacre.publish.run import publish
from nacre.publish.scores import PaidScore

__all__ = ["Band", "PaidScore", "PublicImages", "PublicReport", "publish"]


class _Callable(ModuleType):
    """`nacre.publish` is both this room and the verb; importing one must not hide the other."""

    def __call__(self, *args: Any, **settings: Any) -> PublicReport | PublicImages:
        return publish(*args, **settings)


sys.modules[__name__].__class__ = _Callable
