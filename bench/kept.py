"""Numbers kept as one JSON file, each with the version of the code that made it."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from bench.versions import measured_with, source


@dataclasses.dataclass(frozen=True)
class Kept:
    """What was measured so far, by name.

    Attributes:
        place: the file.
    """

    place: Path

    def read(self) -> dict[str, dict[str, Any]]:
        """All of it."""
        if not self.place.is_file():
            return {}
        found: dict[str, dict[str, Any]] = json.loads(self.place.read_text(encoding="utf-8"))
        return found

    def has(self, name: str) -> bool:
        """Whether this version of the code measured it."""
        return self.read().get(name, {}).get("versions", {}).get("source") == source()

    def keep(self, name: str, found: dict[str, Any]) -> None:
        """Write one more; a reader never sees half a file."""
        everything = self.read() | {name: found | {"versions": measured_with()}}
        self.place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.place.with_suffix(".tmp")
        unfinished.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self.place)
