"""A project: one table, its reviewed schema, and the models made of it, in a folder of its own.

Everything is a file that is written whole, so that a server that ends in the middle of something
leaves what was there before, and the next one goes on.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import secrets
import shutil
import time
from pathlib import Path
from typing import Any, final

from nacre.app import folder
from nacre.app.confined import inside
from nacre.errors import NacreError

ID = re.compile(r"[0-9a-f]{16}")
PASSING = (".sample-", ".pinned-")  # files that live as long as a request or a process
LEFT = 24 * 3600.0  # seconds after which nobody works on them any more


@final
@dataclasses.dataclass(frozen=True, kw_only=True)
class Project:
    """What is known of a project from the start.

    Attributes:
        id: 64 random bits, its name in addresses and of its folder.
        name: the table's name, for people.
        kind: "root" for a table where it lies, "upload" or "demo" for a copy in the project.
        path: of the table, from the root or from the project's folder.
        owner: who made it; nobody else sees it.
        made: when, in UTC.
    """

    id: str
    name: str
    kind: str
    path: str
    owner: str
    made: str

    @property
    def demo(self) -> bool:
        """Whether its table is the public one that comes with nacre."""
        return self.kind == "demo"


@final
class Projects:
    """The folder of projects."""

    def __init__(self, state: Path, root: Path):
        self.path = state / "projects"
        self.root = root

    def all(self, owner: str) -> list[Project]:
        """A person's projects, the latest first."""
        found = (self._read(path.name) for path in self.path.iterdir() if ID.fullmatch(path.name))
        mine = [project for project in found if project is not None and project.owner == owner]
        return sorted(mine, key=lambda project: project.made, reverse=True)

    def find(self, identifier: str, owner: str) -> Project | None:
        """A person's project."""
        found = self._read(identifier) if ID.fullmatch(identifier) else None
        return found if found is not None and found.owner == owner else None

    def begin(self) -> str:
        """A new folder, which becomes a project by `settle`."""
        identifier = secrets.token_hex(8)
        folder.make(self.path / identifier)
        return identifier

    def settle(self, identifier: str, *, name: str, kind: str, path: str, owner: str) -> Project:
        """Make the folder a project."""
        made = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        project = Project(id=identifier, name=name, kind=kind, path=path, owner=owner, made=made)
        folder.make(self.folder(project) / "runs")
        folder.write_json(self.folder(project) / "project.json", dataclasses.asdict(project))
        return project

    def drop(self, identifier: str) -> None:
        """Remove a folder, with a copy of a table that is in it; never a table under the root."""
        if ID.fullmatch(identifier):
            shutil.rmtree(self.path / identifier, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what a server that was killed has left: half an upload, rows on their way."""
        old = time.time() - LEFT
        for path in (*self.path.iterdir(), *self.path.glob("*/runs/*/.*"), *self.path.glob("*/.*")):
            unfinished = ID.fullmatch(path.name) and not (path / "project.json").exists()
            passing = path.name.startswith(PASSING)
            if not (unfinished or passing) or path.lstat().st_mtime > old:
                continue
            if unfinished:
                self.drop(path.name)
            else:
                path.unlink(missing_ok=True)

    def folder(self, project: Project) -> Path:
        """Where a project's files are."""
        return self.path / project.id

    def root_of(self, project: Project) -> Path | None:
        """The folder that a project's table must lie below; None for a copy of our own."""
        return self.root if project.kind == "root" else None

    def table(self, project: Project) -> Path:
        """The project's table; refused if it is no longer where it was, or leads elsewhere now."""
        if project.kind != "root":
            return self.folder(project) / project.path
        real = inside(self.root, self.root / project.path)
        if real is None:
            raise NacreError(
                f"'{project.name}' is no longer in the folder that this page may read. Put it back "
                "there, or open it anew."
            )
        return real

    def _read(self, identifier: str) -> Project | None:
        said: Any = folder.read_json(self.path / identifier / "project.json")
        return None if said is None else Project(**said)
