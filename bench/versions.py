"""Which version of the code made a number, so that no table mixes versions unseen."""

import functools
import hashlib
import importlib.metadata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nacre.model import versions

SOURCE = Path(__file__).parent.parent / "src" / "nacre"
UNKNOWN = "unknown"


@functools.cache
def source() -> str:
    """A short digest of the package's code: the version number alone does not tell two apart."""
    digest = hashlib.sha256()
    for place in sorted(SOURCE.rglob("*.py")):
        digest.update(str(place.relative_to(SOURCE)).encode() + b"\0" + place.read_bytes() + b"\0")
    return digest.hexdigest()[:10]


def measured_with() -> dict[str, str]:
    """What is kept with each number."""
    found = versions() | {"source": source()}
    for package, names in {
        "scikit-learn": ("scikit-learn",),
        "xgboost": ("xgboost-cpu", "xgboost"),
    }.items():
        there = [name for name in names if _version(name)]
        found[package] = _version(there[0]) if there else "not installed"
    return found


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def said(results: Sequence[dict[str, Any]]) -> str:
    """One sentence: of which version the results are, or that several are mixed."""
    if not results:
        return "Nothing has been measured."
    found = Counter(_of(result) for result in results)
    if len(found) == 1:
        (only,) = found
        return f"All {len(results)} results are of one version of the code: {only}."
    parts = "; ".join(f"{count} of {version}" for version, count in found.most_common())
    return f"**Results of {len(found)} versions of the code are mixed:** {parts}."


def _of(result: dict[str, Any]) -> str:
    made = result.get("versions", {})
    return f"nacre {made.get('nacre', UNKNOWN)}, source {made.get('source', UNKNOWN)}"
