"""The optional packages that evaluation stands on, asked for only when they are needed."""

import importlib
from types import ModuleType

from nacre.errors import MissingExtra

OWN = ("xgboost",)  # packages that have an extra of their own, of the same name


def require(module: str) -> ModuleType:
    """Import `module` of the extra `evaluate`, or of one of its own, or say how to get it.

    Examples:
        >>> require("json").__name__
        'json'
        >>> require("no_such_package.at_all")
        Traceback (most recent call last):
        ...
        nacre.errors.MissingExtra: Evaluation needs the package 'no_such_package', which is not...
        Install it with: pip install 'nacre-dp[evaluate]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        extra = package if package in OWN else "evaluate"
        raise MissingExtra(
            f"Evaluation needs the package '{package}', which is not installed.\n"
            f"Install it with: pip install 'nacre-dp[{extra}]'"
        ) from None
