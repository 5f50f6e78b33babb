"""What all pages share: settings, sessions, projects, and the processes that work for them."""

from __future__ import annotations

import asyncio
import collections
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from nacre.app import folder
from nacre.app.project import Project, Projects
from nacre.app.review import Review
from nacre.app.run import Run
from nacre.app.sessions import Sessions
from nacre.app.settings import Settings
from nacre.app.work import Work, list_methods
from nacre.errors import NacreError


@final
class Site:
    """One server."""

    def __init__(self, settings: Settings, executor: Executor | None = None):
        self.settings = settings
        self.sessions = Sessions()
        self.projects = Projects(settings.state, settings.root)
        self.work = Work(executor)
        # What is read, changed and written again, one request after the other.
        self.locks: dict[str, asyncio.Lock] = collections.defaultdict(asyncio.Lock)
        self._methods: list[dict[str, Any]] | None = None
        if not settings.root.is_dir():
            raise NacreError(f"There is no folder {settings.root} to open tables from.")
        for path in (settings.state, self.projects.path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.chmod(0o700)
        self.projects.sweep()

    async def methods(self) -> list[dict[str, Any]]:
        """The methods to choose from, asked for once."""
        if self._methods is None:
            self._methods = await self.work.do(list_methods)
        return self._methods


def site_of(request: Request) -> Site:
    """The server that was asked."""
    found: Site = request.app.state.site
    return found


def project_of(request: Request) -> Project:
    """The project in the address; not found if it is somebody else's."""
    site = site_of(request)
    found = site.projects.find(request.path_params["project"], request.state.session.user)
    if found is None:
        raise HTTPException(404)
    return found


def folder_of(request: Request) -> Path:
    """The folder of the project in the address."""
    return site_of(request).projects.folder(project_of(request))


def run_of(request: Request) -> Run:
    """The run in the address."""
    number = request.path_params["run"]
    found = Run(folder_of(request) / "runs" / str(number), number)
    if not found.there("task.json"):
        raise HTTPException(404)
    return found


def review_of(place: Path) -> Review:
    """A project's review."""
    return Review.from_dict(folder.read_json(place / "review.json"))


def keep_review(place: Path, review: Review, *, reviewed: bool = False) -> None:
    """Write a project's review; a change means that it has to be confirmed again."""
    folder.write_json(place / "review.json", review.to_dict())
    if reviewed:
        folder.write_json(place / "reviewed.json", review.finished().to_dict())
    else:
        (place / "reviewed.json").unlink(missing_ok=True)


def reviewed_schema(place: Path) -> dict[str, Any] | None:
    """The schema that was reviewed, in its plain form; None if that is still to be done."""
    found: dict[str, Any] | None = folder.read_json(place / "reviewed.json")
    return found
